module @jit_float16 attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<6x8xf16>, %arg1: tensor<8x4xf16>) -> (tensor<6x4xf16> {jax.result_info = "result[0]"}, tensor<6x4xf16> {jax.result_info = "result[1]"}, tensor<6xf16> {jax.result_info = "result[2]"}, tensor<6x8xf16> {jax.result_info = "result[3]"}, tensor<8xi32> {jax.result_info = "result[4]"}, tensor<6x8xf16> {jax.result_info = "result[5]"}) {
    %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<6x8xf16>, tensor<8x4xf16>) -> tensor<6x4xf16>
    %1 = stablehlo.tanh %0 : tensor<6x4xf16>
    %cst = stablehlo.constant dense<0xFC00> : tensor<f16>
    %2 = stablehlo.reduce(%1 init: %cst) applies stablehlo.maximum across dimensions = [1] : (tensor<6x4xf16>, tensor<f16>) -> tensor<6xf16>
    %cst_0 = stablehlo.constant dense<0xFC00> : tensor<f16>
    %3 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f16>) -> tensor<6xf16>
    %4 = stablehlo.maximum %3, %2 : tensor<6xf16>
    %5 = stablehlo.broadcast_in_dim %4, dims = [0] : (tensor<6xf16>) -> tensor<6x1xf16>
    %6 = stablehlo.broadcast_in_dim %5, dims = [0, 1] : (tensor<6x1xf16>) -> tensor<6x4xf16>
    %7 = stablehlo.subtract %1, %6 : tensor<6x4xf16>
    %8 = stablehlo.exponential %7 : tensor<6x4xf16>
    %9 = stablehlo.convert %8 : (tensor<6x4xf16>) -> tensor<6x4xf32>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %10 = stablehlo.reduce(%9 init: %cst_1) applies stablehlo.add across dimensions = [1] : (tensor<6x4xf32>, tensor<f32>) -> tensor<6xf32>
    %11 = stablehlo.broadcast_in_dim %10, dims = [0] : (tensor<6xf32>) -> tensor<6x1xf32>
    %12 = stablehlo.convert %11 : (tensor<6x1xf32>) -> tensor<6x1xf16>
    %13 = stablehlo.broadcast_in_dim %12, dims = [0, 1] : (tensor<6x1xf16>) -> tensor<6x4xf16>
    %14 = stablehlo.divide %8, %13 : tensor<6x4xf16>
    %15 = stablehlo.convert %arg0 : (tensor<6x8xf16>) -> tensor<6x8xf32>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %16 = stablehlo.reduce(%15 init: %cst_2) applies stablehlo.add across dimensions = [1] : (tensor<6x8xf32>, tensor<f32>) -> tensor<6xf32>
    %cst_3 = stablehlo.constant dense<8.000000e+00> : tensor<f32>
    %17 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<6xf32>
    %18 = stablehlo.divide %16, %17 : tensor<6xf32>
    %19 = stablehlo.convert %18 : (tensor<6xf32>) -> tensor<6xf16>
    %cst_4 = stablehlo.constant dense<3.000000e+00> : tensor<f16>
    %20 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f16>) -> tensor<6x8xf16>
    %21 = stablehlo.multiply %arg0, %20 : tensor<6x8xf16>
    %cst_5 = stablehlo.constant dense<1.000000e+00> : tensor<f16>
    %22 = stablehlo.broadcast_in_dim %cst_5, dims = [] : (tensor<f16>) -> tensor<6x8xf16>
    %23 = stablehlo.subtract %21, %22 : tensor<6x8xf16>
    %24 = call @argmax(%arg0) : (tensor<6x8xf16>) -> tensor<8xi32>
    %25 = stablehlo.abs %arg0 : tensor<6x8xf16>
    %26 = stablehlo.sqrt %25 : tensor<6x8xf16>
    return %1, %14, %19, %23, %24, %26 : tensor<6x4xf16>, tensor<6x4xf16>, tensor<6xf16>, tensor<6x8xf16>, tensor<8xi32>, tensor<6x8xf16>
  }
  func.func private @argmax(%arg0: tensor<6x8xf16>) -> tensor<8xi32> {
    %0 = stablehlo.iota dim = 0 : tensor<6x8xi32>
    %cst = stablehlo.constant dense<0xFC00> : tensor<f16>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %1:2 = stablehlo.reduce(%arg0 init: %cst), (%0 init: %c) across dimensions = [0] : (tensor<6x8xf16>, tensor<6x8xi32>, tensor<f16>, tensor<i32>) -> (tensor<8xf16>, tensor<8xi32>)
     reducer(%arg1: tensor<f16>, %arg3: tensor<f16>) (%arg2: tensor<i32>, %arg4: tensor<i32>)  {
      %2 = stablehlo.compare GT, %arg1, %arg3, FLOAT : (tensor<f16>, tensor<f16>) -> tensor<i1>
      %3 = stablehlo.compare NE, %arg1, %arg1, FLOAT : (tensor<f16>, tensor<f16>) -> tensor<i1>
      %4 = stablehlo.or %2, %3 : tensor<i1>
      %5 = stablehlo.compare EQ, %arg1, %arg3, FLOAT : (tensor<f16>, tensor<f16>) -> tensor<i1>
      %6 = stablehlo.compare LT, %arg2, %arg4, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %7 = stablehlo.and %5, %6 : tensor<i1>
      %8 = stablehlo.or %4, %7 : tensor<i1>
      %9 = stablehlo.select %4, %arg1, %arg3 : tensor<i1>, tensor<f16>
      %10 = stablehlo.select %8, %arg2, %arg4 : tensor<i1>, tensor<i32>
      stablehlo.return %9, %10 : tensor<f16>, tensor<i32>
    }
    return %1#1 : tensor<8xi32>
  }
}
