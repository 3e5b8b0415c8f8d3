// Written by benchmarks/export.py with JAX 0.10.2.
module @jit_matmul_few_rows attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<8x768xf32>, %arg1: tensor<3072x768xf32>) -> (tensor<8x3072xf32> {jax.result_info = "result"}) {
    %0 = stablehlo.transpose %arg1, dims = [1, 0] : (tensor<3072x768xf32>) -> tensor<768x3072xf32>
    %1 = stablehlo.dot_general %arg0, %0, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x768xf32>, tensor<768x3072xf32>) -> tensor<8x3072xf32>
    return %1 : tensor<8x3072xf32>
  }
}
