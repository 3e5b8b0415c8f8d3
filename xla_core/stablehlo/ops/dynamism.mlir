// stablehlo.dynamic_broadcast_in_dim
func.func @main(%operand: tensor<3x$T>) -> tensor<?x?x$T> {
  %sizes = stablehlo.constant dense<[2, 3]> : tensor<2xi32>
  %result = stablehlo.dynamic_broadcast_in_dim %operand, %sizes, dims = [1]
      : (tensor<3x$T>, tensor<2xi32>) -> tensor<?x?x$T>
  return %result : tensor<?x?x$T>
}

// stablehlo.dynamic_iota
func.func @main() -> tensor<?x$T> {
  %sizes = stablehlo.constant dense<[4]> : tensor<1xi32>
  %result = stablehlo.dynamic_iota %sizes, dim = 0 : (tensor<1xi32>) -> tensor<?x$T>
  return %result : tensor<?x$T>
}

// stablehlo.dynamic_reshape
func.func @main(%operand: tensor<2x3x$T>) -> tensor<?x?x$T> {
  %sizes = stablehlo.constant dense<[3, 2]> : tensor<2xi32>
  %result = stablehlo.dynamic_reshape %operand, %sizes : (tensor<2x3x$T>, tensor<2xi32>) -> tensor<?x?x$T>
  return %result : tensor<?x?x$T>
}
