// stablehlo.scatter
func.func @main(%input: tensor<4x3x$T>, %scatter_indices: tensor<2x1xi32>, %update: tensor<2x3x$T>) -> tensor<4x3x$T> {
  %result = "stablehlo.scatter"(%input, %scatter_indices, %update) <{
    scatter_dimension_numbers = #stablehlo.scatter<
      update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>
  }> ({
    ^bb0(%old: tensor<$T>, %new: tensor<$T>):
      %sum = stablehlo.add %old, %new : tensor<$T>
      stablehlo.return %sum : tensor<$T>
  }) : (tensor<4x3x$T>, tensor<2x1xi32>, tensor<2x3x$T>) -> tensor<4x3x$T>
  return %result : tensor<4x3x$T>
}
