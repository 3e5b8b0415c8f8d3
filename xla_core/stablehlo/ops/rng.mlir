// stablehlo.rng
// values: random
func.func @main() -> tensor<4x$T> {
  %a = stablehlo.constant dense<$zero> : tensor<$T>
  %b = stablehlo.constant dense<$four> : tensor<$T>
  %shape = stablehlo.constant dense<[4]> : tensor<1xi64>
  %result = stablehlo.rng %a, %b, %shape, distribution = UNIFORM
      : (tensor<$T>, tensor<$T>, tensor<1xi64>) -> tensor<4x$T>
  return %result : tensor<4x$T>
}

// stablehlo.rng_bit_generator
// shown: ui32
func.func @main(%state: tensor<2xui64>) -> (tensor<2xui64>, tensor<4x$T>) {
  %next_state, %output = stablehlo.rng_bit_generator %state, algorithm = THREE_FRY
      : (tensor<2xui64>) -> (tensor<2xui64>, tensor<4x$T>)
  return %next_state, %output : tensor<2xui64>, tensor<4x$T>
}
