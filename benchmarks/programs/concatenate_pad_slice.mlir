// Written by benchmarks/export.py with JAX 0.10.2.
module @jit_concatenate_pad_slice attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<2048x2048xf32>, %arg1: tensor<2048x512xf32>) -> (tensor<2050x1283xf32> {jax.result_info = "result"}) {
    %0 = stablehlo.concatenate %arg0, %arg1, dim = 1 : (tensor<2048x2048xf32>, tensor<2048x512xf32>) -> tensor<2048x2560xf32>
    %1 = stablehlo.slice %0 [0:2048, 3:2560:2] : (tensor<2048x2560xf32>) -> tensor<2048x1279xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %2 = call @_pad(%1, %c) : (tensor<2048x1279xf32>, tensor<i32>) -> tensor<2050x1283xf32>
    return %2 : tensor<2050x1283xf32>
  }
  func.func private @_pad(%arg0: tensor<2048x1279xf32>, %arg1: tensor<i32>) -> tensor<2050x1283xf32> {
    %0 = stablehlo.convert %arg1 : (tensor<i32>) -> tensor<f32>
    %1 = stablehlo.pad %arg0, %0, low = [1, 2], high = [1, 2], interior = [0, 0] : (tensor<2048x1279xf32>, tensor<f32>) -> tensor<2050x1283xf32>
    return %1 : tensor<2050x1283xf32>
  }
}
