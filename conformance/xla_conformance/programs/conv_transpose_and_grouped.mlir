module @jit_conv_transpose_and_grouped attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<2x5x5x4xf32>, %arg1: tensor<3x3x4x6xf32>, %arg2: tensor<3x3x2x8xf32>) -> (tensor<2x10x10x6xf32> {jax.result_info = "result[0]"}, tensor<2x3x3x8xf32> {jax.result_info = "result[1]"}, tensor<2x5x5x4xf32> {jax.result_info = "result[2][0]"}, tensor<3x3x4x6xf32> {jax.result_info = "result[2][1]"}) {
    %0 = stablehlo.convolution(%arg0, %arg2) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [1, 1], pad = [[0, 0], [0, 0]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 2 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<2x5x5x4xf32>, tensor<3x3x2x8xf32>) -> tensor<2x3x3x8xf32>
    %1 = stablehlo.convolution(%arg0, %arg1) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [1, 1], pad = [[2, 1], [2, 1]], lhs_dilate = [2, 2], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<2x5x5x4xf32>, tensor<3x3x4x6xf32>) -> tensor<2x10x10x6xf32>
    %2 = stablehlo.tanh %1 : tensor<2x10x10x6xf32>
    %3 = stablehlo.convolution(%arg0, %arg1) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [1, 1], pad = [[2, 1], [2, 1]], lhs_dilate = [2, 2], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<2x5x5x4xf32>, tensor<3x3x4x6xf32>) -> tensor<2x10x10x6xf32>
    %4 = stablehlo.tanh %3 : tensor<2x10x10x6xf32>
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %5 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<2x10x10x6xf32>
    %6 = stablehlo.subtract %5, %4 : tensor<2x10x10x6xf32>
    %7 = stablehlo.multiply %4, %4 : tensor<2x10x10x6xf32>
    %cst_0 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %8 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<2x10x10x6xf32>
    %9 = stablehlo.multiply %8, %4 : tensor<2x10x10x6xf32>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %10 = stablehlo.reduce(%7 init: %cst_1) applies stablehlo.add across dimensions = [0, 1, 2, 3] : (tensor<2x10x10x6xf32>, tensor<f32>) -> tensor<f32>
    %cst_2 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %11 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<2x10x10x6xf32>
    %12 = stablehlo.multiply %11, %9 : tensor<2x10x10x6xf32>
    %13 = stablehlo.multiply %12, %6 : tensor<2x10x10x6xf32>
    %14 = stablehlo.multiply %13, %4 : tensor<2x10x10x6xf32>
    %15 = stablehlo.add %13, %14 : tensor<2x10x10x6xf32>
    %16 = stablehlo.convolution(%arg0, %15) dim_numbers = [f, 0, 1, b]x[i, 0, 1, o]->[0, 1, b, f], window = {stride = [1, 1], pad = [[2, 1], [2, 1]], lhs_dilate = [2, 2], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<2x5x5x4xf32>, tensor<2x10x10x6xf32>) -> tensor<3x3x4x6xf32>
    %17 = stablehlo.reverse %arg1, dims = [0, 1] : tensor<3x3x4x6xf32>
    %18 = stablehlo.convolution(%15, %17) dim_numbers = [b, 0, 1, f]x[0, 1, o, i]->[b, 0, 1, f], window = {stride = [2, 2], pad = [[0, 1], [0, 1]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<2x10x10x6xf32>, tensor<3x3x4x6xf32>) -> tensor<2x5x5x4xf32>
    return %2, %0, %18, %16 : tensor<2x10x10x6xf32>, tensor<2x3x3x8xf32>, tensor<2x5x5x4xf32>, tensor<3x3x4x6xf32>
  }
}
