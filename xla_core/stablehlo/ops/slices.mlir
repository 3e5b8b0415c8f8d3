// stablehlo.real_dynamic_slice
func.func @main(%operand: tensor<6x$T>) -> tensor<?x$T> {
  %start = stablehlo.constant dense<[1]> : tensor<1xi32>
  %limit = stablehlo.constant dense<[6]> : tensor<1xi32>
  %strides = stablehlo.constant dense<[2]> : tensor<1xi32>
  %result = stablehlo.real_dynamic_slice %operand, %start, %limit, %strides
      : (tensor<6x$T>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<?x$T>
  return %result : tensor<?x$T>
}

// stablehlo.slice
func.func @main(%operand: tensor<3x8x$T>) -> tensor<2x2x$T> {
  %result = stablehlo.slice %operand [1:3, 2:8:3] : (tensor<3x8x$T>) -> tensor<2x2x$T>
  return %result : tensor<2x2x$T>
}

// stablehlo.dynamic_slice
func.func @main(%operand: tensor<4x4x$T>, %i: tensor<i32>, %j: tensor<i32>) -> tensor<2x2x$T> {
  %result = stablehlo.dynamic_slice %operand, %i, %j, sizes = [2, 2]
      : (tensor<4x4x$T>, tensor<i32>, tensor<i32>) -> tensor<2x2x$T>
  return %result : tensor<2x2x$T>
}

// stablehlo.dynamic_update_slice
func.func @main(%operand: tensor<3x4x$T>, %update: tensor<1x2x$T>, %i: tensor<i32>, %j: tensor<i32>) -> tensor<3x4x$T> {
  %result = stablehlo.dynamic_update_slice %operand, %update, %i, %j
      : (tensor<3x4x$T>, tensor<1x2x$T>, tensor<i32>, tensor<i32>) -> tensor<3x4x$T>
  return %result : tensor<3x4x$T>
}
