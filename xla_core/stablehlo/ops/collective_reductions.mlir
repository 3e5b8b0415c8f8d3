// stablehlo.all_reduce
// replicas: 2
func.func @main(%operand: tensor<4x$T>) -> tensor<4x$T> {
  %result = "stablehlo.all_reduce"(%operand) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
    ^bb0(%a: tensor<$T>, %b: tensor<$T>):
      %sum = stablehlo.add %a, %b : tensor<$T>
      stablehlo.return %sum : tensor<$T>
  }) : (tensor<4x$T>) -> tensor<4x$T>
  return %result : tensor<4x$T>
}

// stablehlo.reduce_scatter
// replicas: 2
func.func @main(%operand: tensor<4x$T>) -> tensor<2x$T> {
  %result = "stablehlo.reduce_scatter"(%operand) <{
    scatter_dimension = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>
  }> ({
    ^bb0(%a: tensor<$T>, %b: tensor<$T>):
      %sum = stablehlo.add %a, %b : tensor<$T>
      stablehlo.return %sum : tensor<$T>
  }) : (tensor<4x$T>) -> tensor<2x$T>
  return %result : tensor<2x$T>
}

// stablehlo.collective_reduce
// replicas: 2
func.func @main(%operand: tensor<4x$T>) -> tensor<4x$T> {
  %result = "stablehlo.collective_reduce"(%operand) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
    ^bb0(%a: tensor<$T>, %b: tensor<$T>):
      %sum = stablehlo.add %a, %b : tensor<$T>
      stablehlo.return %sum : tensor<$T>
  }) : (tensor<4x$T>) -> tensor<4x$T>
  return %result : tensor<4x$T>
}

// stablehlo.cross-replica-sum
// replicas: 2
func.func @main(%operand: tensor<4x$T>) -> tensor<4x$T> {
  %result = "stablehlo.cross-replica-sum"(%operand) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}>
      : (tensor<4x$T>) -> tensor<4x$T>
  return %result : tensor<4x$T>
}
