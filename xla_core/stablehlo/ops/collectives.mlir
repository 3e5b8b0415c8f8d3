// stablehlo.collective_broadcast
// replicas: 2
func.func @main(%operand: tensor<4x$T>) -> tensor<4x$T> {
  %result = "stablehlo.collective_broadcast"(%operand) <{replica_groups = dense<[[1, 0]]> : tensor<1x2xi64>}>
      : (tensor<4x$T>) -> tensor<4x$T>
  return %result : tensor<4x$T>
}

// stablehlo.all_gather
// replicas: 2
func.func @main(%operand: tensor<2x$T>) -> tensor<4x$T> {
  %result = "stablehlo.all_gather"(%operand) <{
    all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>
  }> : (tensor<2x$T>) -> tensor<4x$T>
  return %result : tensor<4x$T>
}

// stablehlo.all_to_all
// replicas: 2
func.func @main(%operand: tensor<2x4x$T>) -> tensor<4x2x$T> {
  %result = "stablehlo.all_to_all"(%operand) <{
    split_dimension = 1 : i64, concat_dimension = 0 : i64, split_count = 2 : i64,
    replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>
  }> : (tensor<2x4x$T>) -> tensor<4x2x$T>
  return %result : tensor<4x2x$T>
}

// stablehlo.collective_permute
// replicas: 2
func.func @main(%operand: tensor<4x$T>) -> tensor<4x$T> {
  %result = "stablehlo.collective_permute"(%operand) <{
    source_target_pairs = dense<[[0, 1]]> : tensor<1x2xi64>
  }> : (tensor<4x$T>) -> tensor<4x$T>
  return %result : tensor<4x$T>
}
