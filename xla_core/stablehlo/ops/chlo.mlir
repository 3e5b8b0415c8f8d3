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
