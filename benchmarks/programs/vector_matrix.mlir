// Written by benchmarks/export.py with JAX 0.10.2.
module @jit_vector_matrix attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<2048xf32>, %arg1: tensor<2048x5000xf32>) -> (tensor<5000xf32> {jax.result_info = "result"}) {
    %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [0] x [0], precision = [DEFAULT, DEFAULT] : (tensor<2048xf32>, tensor<2048x5000xf32>) -> tensor<5000xf32>
    return %0 : tensor<5000xf32>
  }
}
