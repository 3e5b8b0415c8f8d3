// stablehlo.constant
func.func @main() -> tensor<2x2x$T> {
  %output = stablehlo.constant dense<[[$zero, $one], [$one, $zero]]> : tensor<2x2x$T>
  return %output : tensor<2x2x$T>
}

// stablehlo.iota
func.func @main() -> tensor<2x3x$T> {
  %output = stablehlo.iota dim = 1 : tensor<2x3x$T>
  return %output : tensor<2x3x$T>
}
