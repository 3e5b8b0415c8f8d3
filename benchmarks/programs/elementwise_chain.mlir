// Written by benchmarks/export.py with JAX 0.10.2.
module @jit_elementwise_chain attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<2048x2048xf32>, %arg1: tensor<2048x2048xf32>, %arg2: tensor<2048xf32>) -> (tensor<2048x2048xf32> {jax.result_info = "result"}) {
    %0 = stablehlo.broadcast_in_dim %arg2, dims = [1] : (tensor<2048xf32>) -> tensor<1x2048xf32>
    %1 = stablehlo.broadcast_in_dim %0, dims = [0, 1] : (tensor<1x2048xf32>) -> tensor<2048x2048xf32>
    %2 = stablehlo.multiply %arg0, %1 : tensor<2048x2048xf32>
    %3 = stablehlo.add %2, %arg1 : tensor<2048x2048xf32>
    %cst = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %4 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<2048x2048xf32>
    %5 = stablehlo.multiply %4, %arg0 : tensor<2048x2048xf32>
    %6 = stablehlo.maximum %3, %5 : tensor<2048x2048xf32>
    %7 = stablehlo.multiply %arg1, %arg1 : tensor<2048x2048xf32>
    %8 = stablehlo.subtract %6, %7 : tensor<2048x2048xf32>
    return %8 : tensor<2048x2048xf32>
  }
}
