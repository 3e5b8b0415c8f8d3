// Written by benchmarks/export.py with JAX 0.10.2.
module @jit_conv_1x1 attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<8x28x28x128xf32>, %arg1: tensor<1x1x128x256xf32>) -> (tensor<8x28x28x256xf32> {jax.result_info = "result"}) {
    %0 = stablehlo.convolution(%arg0, %arg1) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [1, 1], pad = [[0, 0], [0, 0]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<8x28x28x128xf32>, tensor<1x1x128x256xf32>) -> tensor<8x28x28x256xf32>
    return %0 : tensor<8x28x28x256xf32>
  }
}
