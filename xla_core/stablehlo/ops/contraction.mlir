// stablehlo.dot_general
func.func @main(%lhs: tensor<2x2x3x$T>, %rhs: tensor<2x3x2x$T>) -> tensor<2x2x2x$T> {
  %result = stablehlo.dot_general %lhs, %rhs, batching_dims = [0] x [0], contracting_dims = [2] x [1]
      : (tensor<2x2x3x$T>, tensor<2x3x2x$T>) -> tensor<2x2x2x$T>
  return %result : tensor<2x2x2x$T>
}
