module @jit_float8 attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<4x8xf8E4M3FN>, %arg1: tensor<8x3xf8E5M2>) -> (tensor<4x3xf32> {jax.result_info = "result[0]"}, tensor<4x8xf8E4M3FN> {jax.result_info = "result[1]"}, tensor<8x3xf8E5M2> {jax.result_info = "result[2]"}) {
    %0 = stablehlo.convert %arg0 : (tensor<4x8xf8E4M3FN>) -> tensor<4x8xf32>
    %1 = stablehlo.convert %arg1 : (tensor<8x3xf8E5M2>) -> tensor<8x3xf32>
    %2 = stablehlo.dot_general %0, %1, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<4x8xf32>, tensor<8x3xf32>) -> tensor<4x3xf32>
    %cst = stablehlo.constant dense<3.000000e-01> : tensor<f32>
    %3 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<4x8xf32>
    %4 = stablehlo.multiply %0, %3 : tensor<4x8xf32>
    %5 = stablehlo.convert %4 : (tensor<4x8xf32>) -> tensor<4x8xf8E4M3FN>
    %cst_0 = stablehlo.constant dense<3.000000e+00> : tensor<f32>
    %6 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<8x3xf32>
    %7 = stablehlo.multiply %1, %6 : tensor<8x3xf32>
    %8 = stablehlo.convert %7 : (tensor<8x3xf32>) -> tensor<8x3xf8E5M2>
    return %2, %5, %8 : tensor<4x3xf32>, tensor<4x8xf8E4M3FN>, tensor<8x3xf8E5M2>
  }
}
