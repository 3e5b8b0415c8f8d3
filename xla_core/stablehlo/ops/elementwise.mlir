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
