// stablehlo.convert
func.func @main(%operand: tensor<4x$T>) -> tensor<4xf32> {
  %result = stablehlo.convert %operand : (tensor<4x$T>) -> tensor<4xf32>
  return %result : tensor<4xf32>
}

// stablehlo.bitcast_convert
func.func @main(%operand: tensor<4x$T>) -> tensor<4x$B> {
  %result = stablehlo.bitcast_convert %operand : (tensor<4x$T>) -> tensor<4x$B>
  return %result : tensor<4x$B>
}

// stablehlo.reduce_precision
func.func @main(%operand: tensor<4x$T>) -> tensor<4x$T> {
  %output = stablehlo.reduce_precision %operand, format = e5m2 : tensor<4x$T>
  return %output : tensor<4x$T>
}
