module @jit_bfloat16 attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<6x8xbf16>, %arg1: tensor<8x4xbf16>) -> (tensor<6x4xbf16> {jax.result_info = "result[0]"}, tensor<6x4xbf16> {jax.result_info = "result[1]"}, tensor<6xbf16> {jax.result_info = "result[2]"}, tensor<6x8xbf16> {jax.result_info = "result[3]"}, tensor<8xbf16> {jax.result_info = "result[4]"}, tensor<6x8xbf16> {jax.result_info = "result[5]"}, tensor<6xbf16> {jax.result_info = "result[6]"}) {
    %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<6x8xbf16>, tensor<8x4xbf16>) -> tensor<6x4xbf16>
    %1 = stablehlo.multiply %0, %0 : tensor<6x4xbf16>
    %2 = stablehlo.multiply %1, %0 : tensor<6x4xbf16>
    %cst = stablehlo.constant dense<4.467770e-02> : tensor<bf16>
    %3 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<bf16>) -> tensor<6x4xbf16>
    %4 = stablehlo.multiply %3, %2 : tensor<6x4xbf16>
    %5 = stablehlo.add %0, %4 : tensor<6x4xbf16>
    %cst_0 = stablehlo.constant dense<7.968750e-01> : tensor<bf16>
    %6 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<bf16>) -> tensor<6x4xbf16>
    %7 = stablehlo.multiply %6, %5 : tensor<6x4xbf16>
    %8 = stablehlo.tanh %7 : tensor<6x4xbf16>
    %cst_1 = stablehlo.constant dense<1.000000e+00> : tensor<bf16>
    %9 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<bf16>) -> tensor<6x4xbf16>
    %10 = stablehlo.add %9, %8 : tensor<6x4xbf16>
    %cst_2 = stablehlo.constant dense<5.000000e-01> : tensor<bf16>
    %11 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<bf16>) -> tensor<6x4xbf16>
    %12 = stablehlo.multiply %11, %10 : tensor<6x4xbf16>
    %13 = stablehlo.multiply %0, %12 : tensor<6x4xbf16>
    %cst_3 = stablehlo.constant dense<0xFF80> : tensor<bf16>
    %14 = stablehlo.reduce(%13 init: %cst_3) applies stablehlo.maximum across dimensions = [1] : (tensor<6x4xbf16>, tensor<bf16>) -> tensor<6xbf16>
    %cst_4 = stablehlo.constant dense<0xFF80> : tensor<bf16>
    %15 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<bf16>) -> tensor<6xbf16>
    %16 = stablehlo.maximum %15, %14 : tensor<6xbf16>
    %17 = stablehlo.broadcast_in_dim %16, dims = [0] : (tensor<6xbf16>) -> tensor<6x1xbf16>
    %18 = stablehlo.broadcast_in_dim %17, dims = [0, 1] : (tensor<6x1xbf16>) -> tensor<6x4xbf16>
    %19 = stablehlo.subtract %13, %18 : tensor<6x4xbf16>
    %20 = stablehlo.exponential %19 : tensor<6x4xbf16>
    %21 = stablehlo.convert %20 : (tensor<6x4xbf16>) -> tensor<6x4xf32>
    %cst_5 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %22 = stablehlo.reduce(%21 init: %cst_5) applies stablehlo.add across dimensions = [1] : (tensor<6x4xf32>, tensor<f32>) -> tensor<6xf32>
    %23 = stablehlo.broadcast_in_dim %22, dims = [0] : (tensor<6xf32>) -> tensor<6x1xf32>
    %24 = stablehlo.convert %23 : (tensor<6x1xf32>) -> tensor<6x1xbf16>
    %25 = stablehlo.broadcast_in_dim %24, dims = [0, 1] : (tensor<6x1xbf16>) -> tensor<6x4xbf16>
    %26 = stablehlo.divide %20, %25 : tensor<6x4xbf16>
    %27 = stablehlo.convert %arg0 : (tensor<6x8xbf16>) -> tensor<6x8xf32>
    %cst_6 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %28 = stablehlo.reduce(%27 init: %cst_6) applies stablehlo.add across dimensions = [1] : (tensor<6x8xf32>, tensor<f32>) -> tensor<6xf32>
    %29 = stablehlo.convert %28 : (tensor<6xf32>) -> tensor<6xbf16>
    %cst_7 = stablehlo.constant dense<3.000000e+00> : tensor<bf16>
    %30 = stablehlo.broadcast_in_dim %cst_7, dims = [] : (tensor<bf16>) -> tensor<6x8xbf16>
    %31 = stablehlo.multiply %arg0, %30 : tensor<6x8xbf16>
    %cst_8 = stablehlo.constant dense<1.000000e+00> : tensor<bf16>
    %32 = stablehlo.broadcast_in_dim %cst_8, dims = [] : (tensor<bf16>) -> tensor<6x8xbf16>
    %33 = stablehlo.subtract %31, %32 : tensor<6x8xbf16>
    %cst_9 = stablehlo.constant dense<0xFF80> : tensor<bf16>
    %34 = stablehlo.reduce(%arg0 init: %cst_9) applies stablehlo.maximum across dimensions = [0] : (tensor<6x8xbf16>, tensor<bf16>) -> tensor<8xbf16>
    %35 = stablehlo.exponential %arg0 : tensor<6x8xbf16>
    %36 = stablehlo.slice %arg0 [0:6, 0:1] : (tensor<6x8xbf16>) -> tensor<6x1xbf16>
    %37 = stablehlo.reshape %36 : (tensor<6x1xbf16>) -> tensor<6xbf16>
    %38 = call @cumsum(%37) : (tensor<6xbf16>) -> tensor<6xbf16>
    return %13, %26, %29, %33, %34, %35, %38 : tensor<6x4xbf16>, tensor<6x4xbf16>, tensor<6xbf16>, tensor<6x8xbf16>, tensor<8xbf16>, tensor<6x8xbf16>, tensor<6xbf16>
  }
  func.func private @cumsum(%arg0: tensor<6xbf16>) -> tensor<6xbf16> {
    %0 = call @cumsum_0(%arg0) : (tensor<6xbf16>) -> tensor<6xbf16>
    return %0 : tensor<6xbf16>
  }
  func.func private @cumsum_0(%arg0: tensor<6xbf16>) -> tensor<6xbf16> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<bf16>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<bf16>) -> tensor<bf16>
    %1 = "stablehlo.reduce_window"(%arg0, %0) <{base_dilations = array<i64: 1>, padding = dense<[[5, 0]]> : tensor<1x2xi64>, window_dilations = array<i64: 1>, window_dimensions = array<i64: 6>, window_strides = array<i64: 1>}> ({
    ^bb0(%arg1: tensor<bf16>, %arg2: tensor<bf16>):
      %2 = stablehlo.add %arg1, %arg2 : tensor<bf16>
      stablehlo.return %2 : tensor<bf16>
    }) : (tensor<6xbf16>, tensor<bf16>) -> tensor<6xbf16>
    return %1 : tensor<6xbf16>
  }
}
