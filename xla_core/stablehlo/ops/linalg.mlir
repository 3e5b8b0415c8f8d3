// stablehlo.cholesky
func.func @main(%x: tensor<3x3x$T>) -> tensor<3x3x$T> {
  %identity = stablehlo.constant dense<[[$four, $zero, $zero], [$zero, $four, $zero], [$zero, $zero, $four]]>
      : tensor<3x3x$T>
  %a = stablehlo.add %x, %identity : tensor<3x3x$T>
  %result = stablehlo.cholesky %a, lower = true : tensor<3x3x$T>
  return %result : tensor<3x3x$T>
}

// stablehlo.triangular_solve
// positive: 0
func.func @main(%a: tensor<3x3x$T>, %b: tensor<3x2x$T>) -> tensor<3x2x$T> {
  %result = "stablehlo.triangular_solve"(%a, %b) <{
    left_side = true, lower = true, unit_diagonal = false, transpose_a = #stablehlo<transpose NO_TRANSPOSE>
  }> : (tensor<3x3x$T>, tensor<3x2x$T>) -> tensor<3x2x$T>
  return %result : tensor<3x2x$T>
}

// stablehlo.fft
func.func @main(%operand: tensor<4x$T>) -> tensor<4x$T> {
  %result = stablehlo.fft %operand, type = FFT, length = [4] : (tensor<4x$T>) -> tensor<4x$T>
  return %result : tensor<4x$T>
}
