// stablehlo.reduce
func.func @main(%input: tensor<2x3x$T>, %init: tensor<$T>) -> tensor<2x$T> {
  %result = stablehlo.reduce(%input init: %init) applies stablehlo.add across dimensions = [1]
      : (tensor<2x3x$T>, tensor<$T>) -> tensor<2x$T>
  return %result : tensor<2x$T>
}

// stablehlo.reduce_window
func.func @main(%input: tensor<6x$T>, %init: tensor<$T>) -> tensor<3x$T> {
  %result = "stablehlo.reduce_window"(%input, %init) <{
    window_dimensions = array<i64: 2>, window_strides = array<i64: 2>
  }> ({
    ^bb0(%a: tensor<$T>, %b: tensor<$T>):
      %larger = stablehlo.maximum %a, %b : tensor<$T>
      stablehlo.return %larger : tensor<$T>
  }) : (tensor<6x$T>, tensor<$T>) -> tensor<3x$T>
  return %result : tensor<3x$T>
}

// stablehlo.select_and_scatter
func.func @main(%operand: tensor<6x$T>, %source: tensor<3x$T>, %init: tensor<$T>) -> tensor<6x$T> {
  %result = "stablehlo.select_and_scatter"(%operand, %source, %init) <{
    window_dimensions = array<i64: 2>, window_strides = array<i64: 2>
  }> ({
    ^bb0(%a: tensor<$T>, %b: tensor<$T>):
      %keep = stablehlo.compare GE, %a, %b : (tensor<$T>, tensor<$T>) -> tensor<i1>
      stablehlo.return %keep : tensor<i1>
  }, {
    ^bb0(%a: tensor<$T>, %b: tensor<$T>):
      %sum = stablehlo.add %a, %b : tensor<$T>
      stablehlo.return %sum : tensor<$T>
  }) : (tensor<6x$T>, tensor<3x$T>, tensor<$T>) -> tensor<6x$T>
  return %result : tensor<6x$T>
}

// stablehlo.sort
func.func @main(%input: tensor<2x4x$T>) -> tensor<2x4x$T> {
  %result = "stablehlo.sort"(%input) <{dimension = 1 : i64, is_stable = true}> ({
    ^bb0(%a: tensor<$T>, %b: tensor<$T>):
      %first = stablehlo.compare LT, %a, %b : (tensor<$T>, tensor<$T>) -> tensor<i1>
      stablehlo.return %first : tensor<i1>
  }) : (tensor<2x4x$T>) -> tensor<2x4x$T>
  return %result : tensor<2x4x$T>
}

// chlo.top_k
func.func @main(%operand: tensor<2x4x$T>) -> (tensor<2x2x$T>, tensor<2x2xi32>) {
  %values, %indices = chlo.top_k(%operand, k = 2) : tensor<2x4x$T> -> (tensor<2x2x$T>, tensor<2x2xi32>)
  return %values, %indices : tensor<2x2x$T>, tensor<2x2xi32>
}

// chlo.scan
func.func @main(%input: tensor<4x$T>, %init: tensor<$T>) -> (tensor<4x$T>, tensor<$T>) {
  %output, %carry = chlo.scan(%input) inits(%init) dimension = 0 {
    ^bb0(%x: tensor<$T>, %sum: tensor<$T>):
      %next = stablehlo.add %sum, %x : tensor<$T>
      stablehlo.return %next, %next : tensor<$T>, tensor<$T>
  } : (tensor<4x$T>, tensor<$T>) -> (tensor<4x$T>, tensor<$T>)
  return %output, %carry : tensor<4x$T>, tensor<$T>
}

// stablehlo.dot
func.func @main(%lhs: tensor<2x3x$T>, %rhs: tensor<3x2x$T>) -> tensor<2x2x$T> {
  %result = stablehlo.dot %lhs, %rhs : (tensor<2x3x$T>, tensor<3x2x$T>) -> tensor<2x2x$T>
  return %result : tensor<2x2x$T>
}

// stablehlo.dot_general
func.func @main(%lhs: tensor<2x2x3x$T>, %rhs: tensor<2x3x2x$T>) -> tensor<2x2x2x$T> {
  %result = stablehlo.dot_general %lhs, %rhs, batching_dims = [0] x [0], contracting_dims = [2] x [1]
      : (tensor<2x2x3x$T>, tensor<2x3x2x$T>) -> tensor<2x2x2x$T>
  return %result : tensor<2x2x2x$T>
}

// chlo.ragged_dot
func.func @main(%lhs: tensor<3x2x$T>, %rhs: tensor<2x2x2x$T>) -> tensor<3x2x$T> {
  %group_sizes = stablehlo.constant dense<[1, 2]> : tensor<2xi64>
  %result = "chlo.ragged_dot"(%lhs, %rhs, %group_sizes) <{
    ragged_dot_dimension_numbers = #chlo.ragged_dot<
      lhs_batching_dimensions = [], rhs_batching_dimensions = [],
      lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1],
      lhs_ragged_dimensions = [0], rhs_group_dimensions = [0]>,
    precision_config = [#chlo<precision DEFAULT>, #chlo<precision DEFAULT>]
  }> : (tensor<3x2x$T>, tensor<2x2x2x$T>, tensor<2xi64>) -> tensor<3x2x$T>
  return %result : tensor<3x2x$T>
}

// stablehlo.einsum
func.func @main(%lhs: tensor<2x3x$T>, %rhs: tensor<3x2x$T>) -> tensor<2x2x$T> {
  %result = "stablehlo.einsum"(%lhs, %rhs) <{einsum_config = "ij,jk->ik"}>
      : (tensor<2x3x$T>, tensor<3x2x$T>) -> tensor<2x2x$T>
  return %result : tensor<2x2x$T>
}

// stablehlo.unary_einsum
func.func @main(%operand: tensor<2x3x$T>) -> tensor<3x$T> {
  %result = "stablehlo.unary_einsum"(%operand) <{einsum_config = "ij->j"}> : (tensor<2x3x$T>) -> tensor<3x$T>
  return %result : tensor<3x$T>
}

// stablehlo.convolution
func.func @main(%lhs: tensor<1x4x4x1x$T>, %rhs: tensor<2x2x1x1x$T>) -> tensor<1x2x2x1x$T> {
  %result = stablehlo.convolution(%lhs, %rhs)
      dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f],
      window = {stride = [2, 2], pad = [[0, 0], [0, 0]]}
      {batch_group_count = 1 : i64, feature_group_count = 1 : i64}
      : (tensor<1x4x4x1x$T>, tensor<2x2x1x1x$T>) -> tensor<1x2x2x1x$T>
  return %result : tensor<1x2x2x1x$T>
}

// stablehlo.batch_norm_training
func.func @main(%operand: tensor<4x2x$T>, %scale: tensor<2x$T>, %offset: tensor<2x$T>)
    -> (tensor<4x2x$T>, tensor<2x$T>, tensor<2x$T>) {
  %output, %mean, %variance = "stablehlo.batch_norm_training"(%operand, %scale, %offset) <{
    epsilon = 1.0e-03 : f32, feature_index = 1 : i64
  }> : (tensor<4x2x$T>, tensor<2x$T>, tensor<2x$T>) -> (tensor<4x2x$T>, tensor<2x$T>, tensor<2x$T>)
  return %output, %mean, %variance : tensor<4x2x$T>, tensor<2x$T>, tensor<2x$T>
}

// stablehlo.batch_norm_inference
// positive: 4
func.func @main(%operand: tensor<4x2x$T>, %scale: tensor<2x$T>, %offset: tensor<2x$T>, %mean: tensor<2x$T>,
                %variance: tensor<2x$T>) -> tensor<4x2x$T> {
  %output = "stablehlo.batch_norm_inference"(%operand, %scale, %offset, %mean, %variance) <{
    epsilon = 1.0e-03 : f32, feature_index = 1 : i64
  }> : (tensor<4x2x$T>, tensor<2x$T>, tensor<2x$T>, tensor<2x$T>, tensor<2x$T>) -> tensor<4x2x$T>
  return %output : tensor<4x2x$T>
}

// stablehlo.batch_norm_grad
// positive: 3
func.func @main(%operand: tensor<4x2x$T>, %scale: tensor<2x$T>, %mean: tensor<2x$T>, %variance: tensor<2x$T>,
                %grad_output: tensor<4x2x$T>) -> (tensor<4x2x$T>, tensor<2x$T>, tensor<2x$T>) {
  %grad_operand, %grad_scale, %grad_offset =
      "stablehlo.batch_norm_grad"(%operand, %scale, %mean, %variance, %grad_output) <{
    epsilon = 1.0e-03 : f32, feature_index = 1 : i64
  }> : (tensor<4x2x$T>, tensor<2x$T>, tensor<2x$T>, tensor<2x$T>, tensor<4x2x$T>)
      -> (tensor<4x2x$T>, tensor<2x$T>, tensor<2x$T>)
  return %grad_operand, %grad_scale, %grad_offset : tensor<4x2x$T>, tensor<2x$T>, tensor<2x$T>
}

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
