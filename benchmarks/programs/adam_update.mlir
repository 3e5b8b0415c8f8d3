// Written by benchmarks/export.py with JAX 0.10.2.
module @jit_adam_update attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<1024x1024xf32>, %arg1: tensor<1024x1024xf32>, %arg2: tensor<1024x1024xf32>, %arg3: tensor<1024x1024xf32>, %arg4: tensor<f32>) -> (tensor<1024x1024xf32> {jax.result_info = "result[0]"}, tensor<1024x1024xf32> {jax.result_info = "result[1]"}, tensor<1024x1024xf32> {jax.result_info = "result[2]"}) {
    %cst = stablehlo.constant dense<0.899999976> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<1024x1024xf32>
    %1 = stablehlo.multiply %0, %arg2 : tensor<1024x1024xf32>
    %cst_0 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %2 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<1024x1024xf32>
    %3 = stablehlo.multiply %2, %arg1 : tensor<1024x1024xf32>
    %4 = stablehlo.add %1, %3 : tensor<1024x1024xf32>
    %cst_1 = stablehlo.constant dense<9.990000e-01> : tensor<f32>
    %5 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<1024x1024xf32>
    %6 = stablehlo.multiply %5, %arg3 : tensor<1024x1024xf32>
    %cst_2 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %7 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<1024x1024xf32>
    %8 = stablehlo.multiply %7, %arg1 : tensor<1024x1024xf32>
    %9 = stablehlo.multiply %8, %arg1 : tensor<1024x1024xf32>
    %10 = stablehlo.add %6, %9 : tensor<1024x1024xf32>
    %cst_3 = stablehlo.constant dense<9.990000e-01> : tensor<f32>
    %11 = stablehlo.power %cst_3, %arg4 : tensor<f32>
    %cst_4 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %12 = stablehlo.subtract %cst_4, %11 : tensor<f32>
    %13 = stablehlo.sqrt %12 : tensor<f32>
    %cst_5 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %14 = stablehlo.multiply %cst_5, %13 : tensor<f32>
    %cst_6 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %15 = stablehlo.power %cst_6, %arg4 : tensor<f32>
    %cst_7 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %16 = stablehlo.subtract %cst_7, %15 : tensor<f32>
    %17 = stablehlo.divide %14, %16 : tensor<f32>
    %18 = stablehlo.broadcast_in_dim %17, dims = [] : (tensor<f32>) -> tensor<1024x1024xf32>
    %19 = stablehlo.multiply %18, %4 : tensor<1024x1024xf32>
    %20 = stablehlo.sqrt %10 : tensor<1024x1024xf32>
    %cst_8 = stablehlo.constant dense<9.99999993E-9> : tensor<f32>
    %21 = stablehlo.broadcast_in_dim %cst_8, dims = [] : (tensor<f32>) -> tensor<1024x1024xf32>
    %22 = stablehlo.add %20, %21 : tensor<1024x1024xf32>
    %23 = stablehlo.divide %19, %22 : tensor<1024x1024xf32>
    %24 = stablehlo.subtract %arg0, %23 : tensor<1024x1024xf32>
    return %24, %4, %10 : tensor<1024x1024xf32>, tensor<1024x1024xf32>, tensor<1024x1024xf32>
  }
}
