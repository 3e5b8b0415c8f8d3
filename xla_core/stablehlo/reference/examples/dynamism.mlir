// stablehlo.dynamic_broadcast_in_dim
func.func @main(%operand: tensor<3x$T>) -> tensor<?x?x$T> {
  %sizes = stablehlo.constant dense<[2, 3]> : tensor<2xi32>
  %result = stablehlo.dynamic_broadcast_in_dim %operand, %sizes, dims = [1]
      : (tensor<3x$T>, tensor<2xi32>) -> tensor<?x?x$T>
  return %result : tensor<?x?x$T>
}

// stablehlo.dynamic_iota
func.func @main() -> tensor<?x$T> {
  %sizes = stablehlo.constant dense<[4]> : tensor<1xi32>
  %result = stablehlo.dynamic_iota %sizes, dim = 0 : (tensor<1xi32>) -> tensor<?x$T>
  return %result : tensor<?x$T>
}

// stablehlo.dynamic_reshape
func.func @main(%operand: tensor<2x3x$T>) -> tensor<?x?x$T> {
  %sizes = stablehlo.constant dense<[3, 2]> : tensor<2xi32>
  %result = stablehlo.dynamic_reshape %operand, %sizes : (tensor<2x3x$T>, tensor<2xi32>) -> tensor<?x?x$T>
  return %result : tensor<?x?x$T>
}

// stablehlo.dynamic_pad
func.func @main(%operand: tensor<3x$T>, %padding_value: tensor<$T>) -> tensor<?x$T> {
  %low = stablehlo.constant dense<[1]> : tensor<1xi32>
  %high = stablehlo.constant dense<[2]> : tensor<1xi32>
  %interior = stablehlo.constant dense<[0]> : tensor<1xi32>
  %result = stablehlo.dynamic_pad %operand, %padding_value, %low, %high, %interior
      : (tensor<3x$T>, tensor<$T>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<?x$T>
  return %result : tensor<?x$T>
}

// stablehlo.real_dynamic_slice
func.func @main(%operand: tensor<6x$T>) -> tensor<?x$T> {
  %start = stablehlo.constant dense<[1]> : tensor<1xi32>
  %limit = stablehlo.constant dense<[6]> : tensor<1xi32>
  %strides = stablehlo.constant dense<[2]> : tensor<1xi32>
  %result = stablehlo.real_dynamic_slice %operand, %start, %limit, %strides
      : (tensor<6x$T>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<?x$T>
  return %result : tensor<?x$T>
}

// stablehlo.dynamic_gather
func.func @main(%operand: tensor<4x3x$T>, %start_indices: tensor<2x1xi32>) -> tensor<2x3x$T> {
  %sizes = stablehlo.constant dense<[1, 3]> : tensor<2xi32>
  %result = "stablehlo.dynamic_gather"(%operand, %start_indices, %sizes) <{
    dimension_numbers = #stablehlo.gather<
      offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>
  }> : (tensor<4x3x$T>, tensor<2x1xi32>, tensor<2xi32>) -> tensor<2x3x$T>
  return %result : tensor<2x3x$T>
}

// stablehlo.dynamic_conv
func.func @main(%lhs: tensor<1x4x1x$T>, %rhs: tensor<2x1x1x$T>) -> tensor<1x5x1x$T> {
  %padding = stablehlo.constant dense<[[1, 1]]> : tensor<1x2xi32>
  %result = "stablehlo.dynamic_conv"(%lhs, %rhs, %padding) <{
    dimension_numbers = #stablehlo.conv<[b, 0, f]x[0, i, o]->[b, 0, f]>,
    batch_group_count = 1 : i64, feature_group_count = 1 : i64
  }> : (tensor<1x4x1x$T>, tensor<2x1x1x$T>, tensor<1x2xi32>) -> tensor<1x5x1x$T>
  return %result : tensor<1x5x1x$T>
}

// stablehlo.get_dimension_size
func.func @main(%operand: tensor<2x3x$T>) -> tensor<i32> {
  %result = stablehlo.get_dimension_size %operand, dim = 1 : (tensor<2x3x$T>) -> tensor<i32>
  return %result : tensor<i32>
}

// stablehlo.set_dimension_size
func.func @main(%operand: tensor<4x$T>) -> tensor<i32> {
  %size = stablehlo.constant dense<3> : tensor<i32>
  %result = stablehlo.set_dimension_size %operand, %size, dim = 0
      : (tensor<4x$T>, tensor<i32>) -> tensor<?x$T, #stablehlo.bounds<4>>
  %count = stablehlo.get_dimension_size %result, dim = 0 : (tensor<?x$T, #stablehlo.bounds<4>>) -> tensor<i32>
  return %count : tensor<i32>
}
