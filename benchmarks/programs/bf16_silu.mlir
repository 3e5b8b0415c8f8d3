// Written by benchmarks/export.py with JAX 0.10.2.
module @jit_bf16_silu attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<2048x1024xbf16>, %arg1: tensor<1024xbf16>) -> (tensor<2048x1024xbf16> {jax.result_info = "result"}) {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [1] : (tensor<1024xbf16>) -> tensor<1x1024xbf16>
    %1 = stablehlo.broadcast_in_dim %0, dims = [0, 1] : (tensor<1x1024xbf16>) -> tensor<2048x1024xbf16>
    %2 = stablehlo.add %arg0, %1 : tensor<2048x1024xbf16>
    %3 = call @silu(%2) : (tensor<2048x1024xbf16>) -> tensor<2048x1024xbf16>
    return %3 : tensor<2048x1024xbf16>
  }
  func.func private @silu(%arg0: tensor<2048x1024xbf16>) -> tensor<2048x1024xbf16> {
    %0 = stablehlo.negate %arg0 : tensor<2048x1024xbf16>
    %1 = stablehlo.exponential %0 : tensor<2048x1024xbf16>
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<bf16>
    %2 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<bf16>) -> tensor<2048x1024xbf16>
    %3 = stablehlo.add %2, %1 : tensor<2048x1024xbf16>
    %cst_0 = stablehlo.constant dense<1.000000e+00> : tensor<bf16>
    %4 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<bf16>) -> tensor<2048x1024xbf16>
    %5 = stablehlo.divide %4, %3 : tensor<2048x1024xbf16>
    %6 = stablehlo.multiply %arg0, %5 : tensor<2048x1024xbf16>
    return %6 : tensor<2048x1024xbf16>
  }
}
