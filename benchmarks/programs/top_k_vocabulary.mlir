// Written by benchmarks/export.py with JAX 0.10.2.
module @jit_top_k_vocabulary attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<8x32000xf32>) -> (tensor<8x40xf32> {jax.result_info = "result[0]"}, tensor<8x40xi32> {jax.result_info = "result[1]"}) {
    %values, %indices = chlo.top_k(%arg0, k = 40) : tensor<8x32000xf32> -> (tensor<8x40xf32>, tensor<8x40xi32>)
    return %values, %indices : tensor<8x40xf32>, tensor<8x40xi32>
  }
}
