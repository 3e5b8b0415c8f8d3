// Written by benchmarks/export.py with JAX 0.10.2.
module @jit_exp_log_sin_sqrt attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<1048576xf32>) -> (tensor<1048576xf32> {jax.result_info = "result"}) {
    %0 = stablehlo.negate %arg0 : tensor<1048576xf32>
    %1 = stablehlo.exponential %0 : tensor<1048576xf32>
    %2 = stablehlo.log %arg0 : tensor<1048576xf32>
    %3 = stablehlo.sine %arg0 : tensor<1048576xf32>
    %4 = stablehlo.multiply %2, %3 : tensor<1048576xf32>
    %5 = stablehlo.add %1, %4 : tensor<1048576xf32>
    %6 = stablehlo.sqrt %arg0 : tensor<1048576xf32>
    %7 = stablehlo.subtract %5, %6 : tensor<1048576xf32>
    return %7 : tensor<1048576xf32>
  }
}
