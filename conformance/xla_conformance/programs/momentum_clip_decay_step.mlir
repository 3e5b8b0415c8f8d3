module @jit_momentum_clip_decay_step attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<6x6xf32> {tf.aliasing_output = 0 : i32}, %arg1: tensor<6x6xf32> {tf.aliasing_output = 1 : i32}, %arg2: tensor<4x6xf32>, %arg3: tensor<f32>) -> (tensor<6x6xf32> {jax.result_info = "result[0]"}, tensor<6x6xf32> {jax.result_info = "result[1]"}, tensor<f32> {jax.result_info = "result[2]"}) {
    %0 = stablehlo.dot_general %arg2, %arg0, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<4x6xf32>, tensor<6x6xf32>) -> tensor<4x6xf32>
    %1 = call @_flip(%arg2) : (tensor<4x6xf32>) -> tensor<4x6xf32>
    %2 = stablehlo.subtract %0, %1 : tensor<4x6xf32>
    %3 = stablehlo.multiply %2, %2 : tensor<4x6xf32>
    %cst = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %4 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<4x6xf32>
    %5 = stablehlo.multiply %4, %2 : tensor<4x6xf32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %6 = stablehlo.reduce(%3 init: %cst_0) applies stablehlo.add across dimensions = [0, 1] : (tensor<4x6xf32>, tensor<f32>) -> tensor<f32>
    %cst_1 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %7 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<4x6xf32>
    %8 = stablehlo.multiply %7, %5 : tensor<4x6xf32>
    %9 = stablehlo.dot_general %8, %arg2, contracting_dims = [0] x [0], precision = [DEFAULT, DEFAULT] : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<6x6xf32>
    %10 = stablehlo.transpose %9, dims = [1, 0] : (tensor<6x6xf32>) -> tensor<6x6xf32>
    %11 = stablehlo.multiply %10, %10 : tensor<6x6xf32>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %12 = stablehlo.reduce(%11 init: %cst_2) applies stablehlo.add across dimensions = [0, 1] : (tensor<6x6xf32>, tensor<f32>) -> tensor<f32>
    %13 = stablehlo.sqrt %12 : tensor<f32>
    %cst_3 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %14 = stablehlo.divide %cst_3, %13 : tensor<f32>
    %cst_4 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %15 = stablehlo.minimum %cst_4, %14 : tensor<f32>
    %16 = stablehlo.broadcast_in_dim %15, dims = [] : (tensor<f32>) -> tensor<6x6xf32>
    %17 = stablehlo.multiply %10, %16 : tensor<6x6xf32>
    %cst_5 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %18 = stablehlo.broadcast_in_dim %cst_5, dims = [] : (tensor<f32>) -> tensor<6x6xf32>
    %19 = stablehlo.multiply %18, %arg0 : tensor<6x6xf32>
    %20 = stablehlo.add %17, %19 : tensor<6x6xf32>
    %cst_6 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %21 = stablehlo.broadcast_in_dim %cst_6, dims = [] : (tensor<f32>) -> tensor<6x6xf32>
    %22 = stablehlo.multiply %21, %arg1 : tensor<6x6xf32>
    %23 = stablehlo.add %22, %20 : tensor<6x6xf32>
    %24 = stablehlo.broadcast_in_dim %arg3, dims = [] : (tensor<f32>) -> tensor<6x6xf32>
    %25 = stablehlo.multiply %24, %23 : tensor<6x6xf32>
    %26 = stablehlo.subtract %arg0, %25 : tensor<6x6xf32>
    return %26, %23, %13 : tensor<6x6xf32>, tensor<6x6xf32>, tensor<f32>
  }
  func.func private @_flip(%arg0: tensor<4x6xf32>) -> tensor<4x6xf32> {
    %0 = stablehlo.reverse %arg0, dims = [1] : tensor<4x6xf32>
    return %0 : tensor<4x6xf32>
  }
}
