module @jit_einsums attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<2x3x4xf32>, %arg1: tensor<2x4x5xf32>, %arg2: tensor<3x4xf32>, %arg3: tensor<4xf32>) -> (tensor<2x3x5xf32> {jax.result_info = "result[0]"}, tensor<5x2x3xf32> {jax.result_info = "result[1]"}, tensor<2xf32> {jax.result_info = "result[2]"}, tensor<3xf32> {jax.result_info = "result[3]"}, tensor<4x4xf32> {jax.result_info = "result[4]"}, tensor<4x2x3xf32> {jax.result_info = "result[5]"}, tensor<3x4x4xf32> {jax.result_info = "result[6]"}, tensor<3xf32> {jax.result_info = "result[7]"}, tensor<2xf32> {jax.result_info = "result[8]"}, tensor<f32> {jax.result_info = "result[9]"}, tensor<2x3xf32> {jax.result_info = "result[10]"}) {
    %0 = stablehlo.dot_general %arg0, %arg1, batching_dims = [0] x [0], contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<2x3x4xf32>, tensor<2x4x5xf32>) -> tensor<2x3x5xf32>
    %1 = stablehlo.dot_general %arg1, %arg0, batching_dims = [0] x [0], contracting_dims = [1] x [2], precision = [DEFAULT, DEFAULT] : (tensor<2x4x5xf32>, tensor<2x3x4xf32>) -> tensor<2x5x3xf32>
    %2 = stablehlo.transpose %1, dims = [1, 0, 2] : (tensor<2x5x3xf32>) -> tensor<5x2x3xf32>
    %3 = stablehlo.dot_general %arg0, %arg2, contracting_dims = [1, 2] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<2x3x4xf32>, tensor<3x4xf32>) -> tensor<2xf32>
    %4 = stablehlo.dot_general %arg2, %arg3, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<3x4xf32>, tensor<4xf32>) -> tensor<3xf32>
    %5 = stablehlo.dot_general %arg3, %arg3, contracting_dims = [] x [], precision = [DEFAULT, DEFAULT] : (tensor<4xf32>, tensor<4xf32>) -> tensor<4x4xf32>
    %6 = stablehlo.transpose %arg0, dims = [2, 0, 1] : (tensor<2x3x4xf32>) -> tensor<4x2x3xf32>
    %7 = stablehlo.dot_general %arg0, %arg3, batching_dims = [2] x [0], contracting_dims = [] x [], precision = [DEFAULT, DEFAULT] : (tensor<2x3x4xf32>, tensor<4xf32>) -> tensor<4x2x3xf32>
    %8 = stablehlo.dot_general %7, %arg0, batching_dims = [2] x [1], contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<4x2x3xf32>, tensor<2x3x4xf32>) -> tensor<3x4x4xf32>
    %9 = stablehlo.slice %arg2 [0:3, 0:3] : (tensor<3x4xf32>) -> tensor<3x3xf32>
    %10 = stablehlo.iota dim = 0 : tensor<3x3xui32>
    %11 = stablehlo.iota dim = 1 : tensor<3x3xui32>
    %12 = stablehlo.compare EQ, %10, %11, UNSIGNED : (tensor<3x3xui32>, tensor<3x3xui32>) -> tensor<3x3xi1>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %13 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<3x3xf32>
    %14 = stablehlo.select %12, %9, %13 : tensor<3x3xi1>, tensor<3x3xf32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %15 = stablehlo.reduce(%14 init: %cst_0) applies stablehlo.add across dimensions = [0] : (tensor<3x3xf32>, tensor<f32>) -> tensor<3xf32>
    %16 = stablehlo.dot_general %arg0, %arg2, contracting_dims = [1, 2] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<2x3x4xf32>, tensor<3x4xf32>) -> tensor<2xf32>
    %17 = stablehlo.dot_general %arg3, %arg3, contracting_dims = [0] x [0], precision = [DEFAULT, DEFAULT] : (tensor<4xf32>, tensor<4xf32>) -> tensor<f32>
    %18 = stablehlo.dot_general %arg0, %arg3, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<2x3x4xf32>, tensor<4xf32>) -> tensor<2x3xf32>
    return %0, %2, %3, %4, %5, %6, %8, %15, %16, %17, %18 : tensor<2x3x5xf32>, tensor<5x2x3xf32>, tensor<2xf32>, tensor<3xf32>, tensor<4x4xf32>, tensor<4x2x3xf32>, tensor<3x4x4xf32>, tensor<3xf32>, tensor<2xf32>, tensor<f32>, tensor<2x3xf32>
  }
}
