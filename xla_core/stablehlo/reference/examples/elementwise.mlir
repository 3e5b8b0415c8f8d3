// stablehlo.abs
func.func @main(%operand: tensor<4x$T>) -> tensor<4x$R> {
  %result = stablehlo.abs %operand : (tensor<4x$T>) -> tensor<4x$R>
  return %result : tensor<4x$R>
}

// stablehlo.real
func.func @main(%operand: tensor<4x$T>) -> tensor<4x$R> {
  %result = stablehlo.real %operand : (tensor<4x$T>) -> tensor<4x$R>
  return %result : tensor<4x$R>
}

// stablehlo.imag
func.func @main(%operand: tensor<4x$T>) -> tensor<4x$R> {
  %result = stablehlo.imag %operand : (tensor<4x$T>) -> tensor<4x$R>
  return %result : tensor<4x$R>
}

// stablehlo.complex
func.func @main(%lhs: tensor<4x$T>, %rhs: tensor<4x$T>) -> tensor<4xcomplex<$T>> {
  %result = stablehlo.complex %lhs, %rhs : tensor<4xcomplex<$T>>
  return %result : tensor<4xcomplex<$T>>
}

// stablehlo.is_finite
func.func @main(%x: tensor<4x$T>) -> tensor<4xi1> {
  %y = stablehlo.is_finite %x : (tensor<4x$T>) -> tensor<4xi1>
  return %y : tensor<4xi1>
}

// stablehlo.compare
func.func @main(%lhs: tensor<4x$T>, %rhs: tensor<4x$T>) -> tensor<4xi1> {
  %result = stablehlo.compare $order, %lhs, %rhs : (tensor<4x$T>, tensor<4x$T>) -> tensor<4xi1>
  return %result : tensor<4xi1>
}

// stablehlo.select
func.func @main(%pred: tensor<4xi1>, %on_true: tensor<4x$T>, %on_false: tensor<4x$T>) -> tensor<4x$T> {
  %result = stablehlo.select %pred, %on_true, %on_false : tensor<4xi1>, tensor<4x$T>
  return %result : tensor<4x$T>
}

// stablehlo.clamp
func.func @main(%min: tensor<$T>, %operand: tensor<4x$T>, %max: tensor<$T>) -> tensor<4x$T> {
  %result = stablehlo.clamp %min, %operand, %max : (tensor<$T>, tensor<4x$T>, tensor<$T>) -> tensor<4x$T>
  return %result : tensor<4x$T>
}

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

// stablehlo.map
func.func @main(%a: tensor<4x$T>, %b: tensor<4x$T>) -> tensor<4x$T> {
  %result = "stablehlo.map"(%a, %b) <{dimensions = array<i64: 0>}> ({
    ^bb0(%x: tensor<$T>, %y: tensor<$T>):
      %larger = stablehlo.maximum %x, %y : tensor<$T>
      stablehlo.return %larger : tensor<$T>
  }) : (tensor<4x$T>, tensor<4x$T>) -> tensor<4x$T>
  return %result : tensor<4x$T>
}

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

// chlo.is_inf
func.func @main(%operand: tensor<4x$T>) -> tensor<4xi1> {
  %result = chlo.is_inf %operand : tensor<4x$T> -> tensor<4xi1>
  return %result : tensor<4xi1>
}

// chlo.is_pos_inf
func.func @main(%operand: tensor<4x$T>) -> tensor<4xi1> {
  %result = chlo.is_pos_inf %operand : tensor<4x$T> -> tensor<4xi1>
  return %result : tensor<4xi1>
}

// chlo.is_neg_inf
func.func @main(%operand: tensor<4x$T>) -> tensor<4xi1> {
  %result = chlo.is_neg_inf %operand : tensor<4x$T> -> tensor<4xi1>
  return %result : tensor<4xi1>
}

// chlo.constant
func.func @main() -> tensor<2x$T> {
  %output = chlo.constant dense<[$zero, $one]> : tensor<2x$T>
  return %output : tensor<2x$T>
}

// chlo.constant_like
func.func @main(%operand: tensor<2x3x$T>) -> tensor<2x3x$T> {
  %result = "chlo.constant_like"(%operand) <{value = $one : $T}> : (tensor<2x3x$T>) -> tensor<2x3x$T>
  return %result : tensor<2x3x$T>
}

// chlo.broadcast_complex
func.func @main(%lhs: tensor<2x3x$T>, %rhs: tensor<3x$T>) -> tensor<2x3xcomplex<$T>> {
  %result = chlo.broadcast_complex %lhs, %rhs : (tensor<2x3x$T>, tensor<3x$T>) -> tensor<2x3xcomplex<$T>>
  return %result : tensor<2x3xcomplex<$T>>
}

// chlo.broadcast_compare
func.func @main(%lhs: tensor<2x3x$T>, %rhs: tensor<3x$T>) -> tensor<2x3xi1> {
  %result = chlo.broadcast_compare %lhs, %rhs {comparison_direction = #chlo<comparison_direction $order>}
      : (tensor<2x3x$T>, tensor<3x$T>) -> tensor<2x3xi1>
  return %result : tensor<2x3xi1>
}

// chlo.broadcast_select
func.func @main(%pred: tensor<3xi1>, %on_true: tensor<2x3x$T>, %on_false: tensor<$T>) -> tensor<2x3x$T> {
  %result = chlo.broadcast_select %pred, %on_true, %on_false
      : (tensor<3xi1>, tensor<2x3x$T>, tensor<$T>) -> tensor<2x3x$T>
  return %result : tensor<2x3x$T>
}
