// stablehlo.dynamic_gather
func.func @main(%operand: tensor<4x3x$T>, %start_indices: tensor<2x1xi32>) -> tensor<2x3x$T> {
  %sizes = stablehlo.constant dense<[1, 3]> : tensor<2xi32>
  %result = "stablehlo.dynamic_gather"(%operand, %start_indices, %sizes) <{
    dimension_numbers = #stablehlo.gather<
      offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>
  }> : (tensor<4x3x$T>, tensor<2x1xi32>, tensor<2xi32>) -> tensor<2x3x$T>
  return %result : tensor<2x3x$T>
}

// stablehlo.gather
func.func @main(%operand: tensor<4x3x$T>, %start_indices: tensor<2x1xi32>) -> tensor<2x3x$T> {
  %result = "stablehlo.gather"(%operand, %start_indices) <{
    dimension_numbers = #stablehlo.gather<
      offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>,
    slice_sizes = array<i64: 1, 3>
  }> : (tensor<4x3x$T>, tensor<2x1xi32>) -> tensor<2x3x$T>
  return %result : tensor<2x3x$T>
}
