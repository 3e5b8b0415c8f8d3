// stablehlo.uniform_quantize
func.func @main(%operand: tensor<4x$T>) -> tensor<4x!quant.uniform<i8:$T, 0.5:-1>> {
  %result = stablehlo.uniform_quantize %operand : (tensor<4x$T>) -> tensor<4x!quant.uniform<i8:$T, 0.5:-1>>
  return %result : tensor<4x!quant.uniform<i8:$T, 0.5:-1>>
}

// stablehlo.uniform_dequantize
func.func @main(%operand: tensor<4x$T>) -> tensor<4xf32> {
  %result = stablehlo.uniform_dequantize %operand : (tensor<4x$T>) -> tensor<4xf32>
  return %result : tensor<4xf32>
}
