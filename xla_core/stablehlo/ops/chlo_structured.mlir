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
