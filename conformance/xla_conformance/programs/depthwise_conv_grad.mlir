module @jit_depthwise_conv_grad attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<2x6x9x9xf32>, %arg1: tensor<12x1x3x3xf32>, %arg2: tensor<2x12x4x4xf32>) -> (tensor<2x12x4x4xf32> {jax.result_info = "result[0]"}, tensor<2x6x9x9xf32> {jax.result_info = "result[1][0]"}, tensor<12x1x3x3xf32> {jax.result_info = "result[1][1]"}) {
    %0 = stablehlo.convolution(%arg0, %arg1) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {stride = [2, 2], pad = [[1, 1], [2, 0]], lhs_dilate = [1, 1], rhs_dilate = [2, 2], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 6 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<2x6x9x9xf32>, tensor<12x1x3x3xf32>) -> tensor<2x12x4x4xf32>
    %1 = stablehlo.convolution(%arg0, %arg2) dim_numbers = [f, b, 0, 1]x[i, o, 0, 1]->[f, b, 0, 1], window = {stride = [2, 2], pad = [[1, 1], [2, 0]], lhs_dilate = [1, 1], rhs_dilate = [2, 2], reverse = [false, false]} {batch_group_count = 6 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<2x6x9x9xf32>, tensor<2x12x4x4xf32>) -> tensor<12x1x3x3xf32>
    %2 = stablehlo.reshape %arg1 : (tensor<12x1x3x3xf32>) -> tensor<6x2x1x3x3xf32>
    %3 = stablehlo.transpose %2, dims = [1, 0, 2, 3, 4] : (tensor<6x2x1x3x3xf32>) -> tensor<2x6x1x3x3xf32>
    %4 = stablehlo.reshape %3 : (tensor<2x6x1x3x3xf32>) -> tensor<2x6x3x3xf32>
    %5 = stablehlo.reverse %4, dims = [2, 3] : tensor<2x6x3x3xf32>
    %6 = stablehlo.convolution(%arg2, %5) dim_numbers = [b, f, 0, 1]x[i, o, 0, 1]->[b, f, 0, 1], window = {stride = [1, 1], pad = [[3, 3], [2, 4]], lhs_dilate = [2, 2], rhs_dilate = [2, 2], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 6 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<2x12x4x4xf32>, tensor<2x6x3x3xf32>) -> tensor<2x6x9x9xf32>
    return %0, %6, %1 : tensor<2x12x4x4xf32>, tensor<2x6x9x9xf32>, tensor<12x1x3x3xf32>
  }
}
