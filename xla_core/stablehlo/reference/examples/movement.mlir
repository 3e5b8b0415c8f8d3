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

// stablehlo.broadcast_in_dim
func.func @main(%operand: tensor<1x3x$T>) -> tensor<2x3x2x$T> {
  %result = stablehlo.broadcast_in_dim %operand, dims = [2, 1] : (tensor<1x3x$T>) -> tensor<2x3x2x$T>
  return %result : tensor<2x3x2x$T>
}

// stablehlo.reshape
func.func @main(%operand: tensor<2x3x$T>) -> tensor<3x2x$T> {
  %result = stablehlo.reshape %operand : (tensor<2x3x$T>) -> tensor<3x2x$T>
  return %result : tensor<3x2x$T>
}

// stablehlo.transpose
func.func @main(%operand: tensor<2x3x$T>) -> tensor<3x2x$T> {
  %result = stablehlo.transpose %operand, dims = [1, 0] : (tensor<2x3x$T>) -> tensor<3x2x$T>
  return %result : tensor<3x2x$T>
}

// stablehlo.reverse
func.func @main(%operand: tensor<2x3x$T>) -> tensor<2x3x$T> {
  %result = stablehlo.reverse %operand, dims = [1] : tensor<2x3x$T>
  return %result : tensor<2x3x$T>
}

// stablehlo.concatenate
func.func @main(%a: tensor<2x2x$T>, %b: tensor<2x1x$T>) -> tensor<2x3x$T> {
  %result = stablehlo.concatenate %a, %b, dim = 1 : (tensor<2x2x$T>, tensor<2x1x$T>) -> tensor<2x3x$T>
  return %result : tensor<2x3x$T>
}

// stablehlo.pad
func.func @main(%operand: tensor<2x3x$T>, %padding_value: tensor<$T>) -> tensor<3x6x$T> {
  %result = stablehlo.pad %operand, %padding_value, low = [0, 1], high = [1, 0], interior = [0, 1]
      : (tensor<2x3x$T>, tensor<$T>) -> tensor<3x6x$T>
  return %result : tensor<3x6x$T>
}

// stablehlo.tuple
func.func @main(%a: tensor<2x$T>, %b: tensor<3xi32>) -> tensor<2x$T> {
  %result = stablehlo.tuple %a, %b : tuple<tensor<2x$T>, tensor<3xi32>>
  %first = stablehlo.get_tuple_element %result[0] : (tuple<tensor<2x$T>, tensor<3xi32>>) -> tensor<2x$T>
  return %first : tensor<2x$T>
}

// stablehlo.get_tuple_element
func.func @main(%operand: tuple<tensor<2x$T>, tensor<3xi32>>) -> tensor<2x$T> {
  %result = stablehlo.get_tuple_element %operand[0] : (tuple<tensor<2x$T>, tensor<3xi32>>) -> tensor<2x$T>
  return %result : tensor<2x$T>
}

// stablehlo.slice
func.func @main(%operand: tensor<3x8x$T>) -> tensor<2x2x$T> {
  %result = stablehlo.slice %operand [1:3, 2:8:3] : (tensor<3x8x$T>) -> tensor<2x2x$T>
  return %result : tensor<2x2x$T>
}

// stablehlo.dynamic_slice
func.func @main(%operand: tensor<4x4x$T>, %i: tensor<i32>, %j: tensor<i32>) -> tensor<2x2x$T> {
  %result = stablehlo.dynamic_slice %operand, %i, %j, sizes = [2, 2]
      : (tensor<4x4x$T>, tensor<i32>, tensor<i32>) -> tensor<2x2x$T>
  return %result : tensor<2x2x$T>
}

// stablehlo.dynamic_update_slice
func.func @main(%operand: tensor<3x4x$T>, %update: tensor<1x2x$T>, %i: tensor<i32>, %j: tensor<i32>) -> tensor<3x4x$T> {
  %result = stablehlo.dynamic_update_slice %operand, %update, %i, %j
      : (tensor<3x4x$T>, tensor<1x2x$T>, tensor<i32>, tensor<i32>) -> tensor<3x4x$T>
  return %result : tensor<3x4x$T>
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

// stablehlo.torch_index_select
func.func @main(%operand: tensor<3x2x$T>, %index: tensor<2xi32>) -> tensor<2x2x$T> {
  %result = "stablehlo.torch_index_select"(%operand, %index) <{dim = 0 : i64, batch_dims = 0 : i64}>
      : (tensor<3x2x$T>, tensor<2xi32>) -> tensor<2x2x$T>
  return %result : tensor<2x2x$T>
}

// stablehlo.broadcast
func.func @main(%operand: tensor<3x$T>) -> tensor<2x3x$T> {
  %result = stablehlo.broadcast %operand, sizes = [2] : (tensor<3x$T>) -> tensor<2x3x$T>
  return %result : tensor<2x3x$T>
}
