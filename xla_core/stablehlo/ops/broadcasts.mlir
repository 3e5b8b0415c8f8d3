// stablehlo.broadcast_in_dim
func.func @main(%operand: tensor<1x3x$T>) -> tensor<2x3x2x$T> {
  %result = stablehlo.broadcast_in_dim %operand, dims = [2, 1] : (tensor<1x3x$T>) -> tensor<2x3x2x$T>
  return %result : tensor<2x3x2x$T>
}
