// stablehlo.partition_id
func.func @main() -> tensor<ui32> {
  %result = stablehlo.partition_id : tensor<ui32>
  return %result : tensor<ui32>
}

// stablehlo.replica_id
// replicas: 2
func.func @main() -> tensor<ui32> {
  %result = stablehlo.replica_id : tensor<ui32>
  return %result : tensor<ui32>
}
