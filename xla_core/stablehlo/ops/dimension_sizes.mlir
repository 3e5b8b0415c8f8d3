// stablehlo.get_dimension_size
func.func @main(%operand: tensor<2x3x$T>) -> tensor<i32> {
  %result = stablehlo.get_dimension_size %operand, dim = 1 : (tensor<2x3x$T>) -> tensor<i32>
  return %result : tensor<i32>
}

// stablehlo.set_dimension_size
func.func @main(%operand: tensor<4x$T>) -> tensor<i32> {
  %size = stablehlo.constant dense<3> : tensor<i32>
  %result = stablehlo.set_dimension_size %operand, %size, dim = 0
      : (tensor<4x$T>, tensor<i32>) -> tensor<?x$T, #stablehlo.bounds<4>>
  %count = stablehlo.get_dimension_size %result, dim = 0 : (tensor<?x$T, #stablehlo.bounds<4>>) -> tensor<i32>
  return %count : tensor<i32>
}
