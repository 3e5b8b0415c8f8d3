func.func @main(%state: tensor<2xui64>, %logits: tensor<5x12xf32>) -> (tensor<2xui64>, tensor<5x3xf32>, tensor<5x3xi32>, tensor<5xi32>) {
  %next, %bits = stablehlo.rng_bit_generator %state, algorithm = THREE_FRY : (tensor<2xui64>) -> (tensor<2xui64>, tensor<5x12xui32>)
  %nine = stablehlo.constant dense<9> : tensor<5x12xui32>
  %one_bits = stablehlo.constant dense<1065353216> : tensor<5x12xui32>
  %mantissa = stablehlo.shift_right_logical %bits, %nine : tensor<5x12xui32>
  %pattern = stablehlo.or %mantissa, %one_bits : tensor<5x12xui32>
  %shifted = stablehlo.bitcast_convert %pattern : (tensor<5x12xui32>) -> tensor<5x12xf32>
  %two = stablehlo.constant dense<2.000000e+00> : tensor<5x12xf32>
  %uniform = stablehlo.subtract %two, %shifted : tensor<5x12xf32>
  %log = stablehlo.log %uniform : tensor<5x12xf32>
  %minus = stablehlo.negate %log : tensor<5x12xf32>
  %tiny = stablehlo.constant dense<1.000000e-10> : tensor<5x12xf32>
  %safe = stablehlo.add %minus, %tiny : tensor<5x12xf32>
  %loglog = stablehlo.log %safe : tensor<5x12xf32>
  %noisy = stablehlo.subtract %logits, %loglog : tensor<5x12xf32>
  %numbers = stablehlo.iota dim = 1 : tensor<5x12xi32>
  %sorted:2 = "stablehlo.sort"(%noisy, %numbers) <{dimension = 1 : i64, is_stable = true}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>, %i: tensor<i32>, %j: tensor<i32>):
      %more = stablehlo.compare GT, %a, %b, TOTALORDER : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %more : tensor<i1>
  }) : (tensor<5x12xf32>, tensor<5x12xi32>) -> (tensor<5x12xf32>, tensor<5x12xi32>)
  %beam = stablehlo.slice %sorted#0 [0:5, 0:3] : (tensor<5x12xf32>) -> tensor<5x3xf32>
  %tokens = stablehlo.slice %sorted#1 [0:5, 0:3] : (tensor<5x12xi32>) -> tensor<5x3xi32>
  %first = stablehlo.slice %tokens [0:5, 0:1] : (tensor<5x3xi32>) -> tensor<5x1xi32>
  %best = stablehlo.reshape %first : (tensor<5x1xi32>) -> tensor<5xi32>
  return %next, %beam, %tokens, %best : tensor<2xui64>, tensor<5x3xf32>, tensor<5x3xi32>, tensor<5xi32>
}
