// stablehlo.dynamic_conv
func.func @main(%lhs: tensor<1x4x1x$T>, %rhs: tensor<2x1x1x$T>) -> tensor<1x5x1x$T> {
  %padding = stablehlo.constant dense<[[1, 1]]> : tensor<1x2xi32>
  %result = "stablehlo.dynamic_conv"(%lhs, %rhs, %padding) <{
    dimension_numbers = #stablehlo.conv<[b, 0, f]x[0, i, o]->[b, 0, f]>,
    batch_group_count = 1 : i64, feature_group_count = 1 : i64
  }> : (tensor<1x4x1x$T>, tensor<2x1x1x$T>, tensor<1x2xi32>) -> tensor<1x5x1x$T>
  return %result : tensor<1x5x1x$T>
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
