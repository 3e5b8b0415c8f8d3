// Written by benchmarks/export.py with JAX 0.10.2.
module @jit_transpose_nhwc_to_nchw attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<16x56x56x64xf32>) -> (tensor<16x64x56x56xf32> {jax.result_info = "result"}) {
    %0 = stablehlo.transpose %arg0, dims = [0, 3, 1, 2] : (tensor<16x56x56x64xf32>) -> tensor<16x64x56x56xf32>
    return %0 : tensor<16x64x56x56xf32>
  }
}
