// stablehlo.dynamic_pad
func.func @main(%operand: tensor<3x$T>, %padding_value: tensor<$T>) -> tensor<?x$T> {
  %low = stablehlo.constant dense<[1]> : tensor<1xi32>
  %high = stablehlo.constant dense<[2]> : tensor<1xi32>
  %interior = stablehlo.constant dense<[0]> : tensor<1xi32>
  %result = stablehlo.dynamic_pad %operand, %padding_value, %low, %high, %interior
      : (tensor<3x$T>, tensor<$T>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<?x$T>
  return %result : tensor<?x$T>
}

// stablehlo.reshape
func.func @main(%operand: tensor<2x3x$T>) -> tensor<3x2x$T> {
  %result = stablehlo.reshape %operand : (tensor<2x3x$T>) -> tensor<3x2x$T>
  return %result : tensor<3x2x$T>
}

// stablehlo.transpose
func.func @main(%operand: tensor<2x3x$T>) -> tensor<3x2x$T> {
  %result = stablehlo.transpose %operand, dims = [1, 0] : (tensor<2x3x$T>) -> tensor<3x2x$T>
  return %result : tensor<3x2x$T>
}

// stablehlo.reverse
func.func @main(%operand: tensor<2x3x$T>) -> tensor<2x3x$T> {
  %result = stablehlo.reverse %operand, dims = [1] : tensor<2x3x$T>
  return %result : tensor<2x3x$T>
}

// stablehlo.concatenate
func.func @main(%a: tensor<2x2x$T>, %b: tensor<2x1x$T>) -> tensor<2x3x$T> {
  %result = stablehlo.concatenate %a, %b, dim = 1 : (tensor<2x2x$T>, tensor<2x1x$T>) -> tensor<2x3x$T>
  return %result : tensor<2x3x$T>
}

// stablehlo.pad
func.func @main(%operand: tensor<2x3x$T>, %padding_value: tensor<$T>) -> tensor<3x6x$T> {
  %result = stablehlo.pad %operand, %padding_value, low = [0, 1], high = [1, 0], interior = [0, 1]
      : (tensor<2x3x$T>, tensor<$T>) -> tensor<3x6x$T>
  return %result : tensor<3x6x$T>
}
