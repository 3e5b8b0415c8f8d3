// Written by benchmarks/export.py with JAX 0.10.2.
module @jit_conv_7x7_stride_2 attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<4x112x112x3xf32>, %arg1: tensor<7x7x3x64xf32>) -> (tensor<4x56x56x64xf32> {jax.result_info = "result"}) {
    %0 = stablehlo.convolution(%arg0, %arg1) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [2, 2], pad = [[2, 3], [2, 3]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<4x112x112x3xf32>, tensor<7x7x3x64xf32>) -> tensor<4x56x56x64xf32>
    return %0 : tensor<4x56x56x64xf32>
  }
}
