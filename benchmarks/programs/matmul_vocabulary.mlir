// Written by benchmarks/export.py with JAX 0.10.2.
module @jit_matmul_vocabulary attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<256x768xf32>, %arg1: tensor<6284x768xf32>) -> (tensor<256x6284xf32> {jax.result_info = "result"}) {
    %0 = stablehlo.transpose %arg1, dims = [1, 0] : (tensor<6284x768xf32>) -> tensor<768x6284xf32>
    %1 = stablehlo.dot_general %arg0, %0, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<256x768xf32>, tensor<768x6284xf32>) -> tensor<256x6284xf32>
    return %1 : tensor<256x6284xf32>
  }
}
