// Written by benchmarks/export.py with JAX 0.10.2.
module @jit_attention_grad attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<2x128x8x64xf32>, %arg1: tensor<2x128x8x64xf32>, %arg2: tensor<2x128x8x64xf32>) -> (tensor<2x128x8x64xf32> {jax.result_info = "result[0]"}, tensor<2x128x8x64xf32> {jax.result_info = "result[1]"}, tensor<2x128x8x64xf32> {jax.result_info = "result[2]"}) {
    %0 = stablehlo.dot_general %arg0, %arg1, batching_dims = [0, 2] x [0, 2], contracting_dims = [3] x [3], precision = [DEFAULT, DEFAULT] : (tensor<2x128x8x64xf32>, tensor<2x128x8x64xf32>) -> tensor<2x8x128x128xf32>
    %cst = stablehlo.constant dense<1.250000e-01> : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<2x8x128x128xf32>
    %2 = stablehlo.multiply %0, %1 : tensor<2x8x128x128xf32>
    %c = stablehlo.constant dense<true> : tensor<i1>
    %3 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i1>) -> tensor<128x128xi1>
    %4 = call @tril(%3) : (tensor<128x128xi1>) -> tensor<128x128xi1>
    %cst_0 = stablehlo.constant dense<-1.000000e+09> : tensor<f32>
    %5:3 = call @_where(%4, %2, %cst_0) : (tensor<128x128xi1>, tensor<2x8x128x128xf32>, tensor<f32>) -> (tensor<2x8x128x128xf32>, tensor<2x8x128x128xi1>, tensor<2x8x128x128xf32>)
    %cst_1 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %6 = stablehlo.reduce(%5#0 init: %cst_1) applies stablehlo.maximum across dimensions = [3] : (tensor<2x8x128x128xf32>, tensor<f32>) -> tensor<2x8x128xf32>
    %7 = stablehlo.reshape %6 : (tensor<2x8x128xf32>) -> tensor<2x8x128x1xf32>
    %8 = stablehlo.broadcast_in_dim %7, dims = [0, 1, 2, 3] : (tensor<2x8x128x1xf32>) -> tensor<2x8x128x128xf32>
    %9 = stablehlo.compare EQ, %5#0, %8, FLOAT : (tensor<2x8x128x128xf32>, tensor<2x8x128x128xf32>) -> tensor<2x8x128x128xi1>
    %10 = stablehlo.convert %9 : (tensor<2x8x128x128xi1>) -> tensor<2x8x128x128xf32>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %11 = stablehlo.reduce(%10 init: %cst_2) applies stablehlo.add across dimensions = [3] : (tensor<2x8x128x128xf32>, tensor<f32>) -> tensor<2x8x128xf32>
    %cst_3 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %12 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<2x8x128xf32>
    %13 = stablehlo.maximum %12, %6 : tensor<2x8x128xf32>
    %14 = stablehlo.compare EQ, %6, %13, FLOAT : (tensor<2x8x128xf32>, tensor<2x8x128xf32>) -> tensor<2x8x128xi1>
    %cst_4 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %15 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<2x8x128xf32>
    %cst_5 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %16 = stablehlo.broadcast_in_dim %cst_5, dims = [] : (tensor<f32>) -> tensor<2x8x128xf32>
    %17 = stablehlo.select %14, %15, %16 : tensor<2x8x128xi1>, tensor<2x8x128xf32>
    %cst_6 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %18 = stablehlo.broadcast_in_dim %cst_6, dims = [] : (tensor<f32>) -> tensor<2x8x128xf32>
    %19 = stablehlo.compare EQ, %18, %13, FLOAT : (tensor<2x8x128xf32>, tensor<2x8x128xf32>) -> tensor<2x8x128xi1>
    %cst_7 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %20 = stablehlo.broadcast_in_dim %cst_7, dims = [] : (tensor<f32>) -> tensor<2x8x128xf32>
    %cst_8 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %21 = stablehlo.broadcast_in_dim %cst_8, dims = [] : (tensor<f32>) -> tensor<2x8x128xf32>
    %22 = stablehlo.select %19, %20, %21 : tensor<2x8x128xi1>, tensor<2x8x128xf32>
    %23 = stablehlo.divide %17, %22 : tensor<2x8x128xf32>
    %24 = stablehlo.broadcast_in_dim %13, dims = [0, 1, 2] : (tensor<2x8x128xf32>) -> tensor<2x8x128x1xf32>
    %25 = stablehlo.broadcast_in_dim %24, dims = [0, 1, 2, 3] : (tensor<2x8x128x1xf32>) -> tensor<2x8x128x128xf32>
    %26 = stablehlo.subtract %5#0, %25 : tensor<2x8x128x128xf32>
    %27 = stablehlo.exponential %26 : tensor<2x8x128x128xf32>
    %cst_9 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %28 = stablehlo.reduce(%27 init: %cst_9) applies stablehlo.add across dimensions = [3] : (tensor<2x8x128x128xf32>, tensor<f32>) -> tensor<2x8x128xf32>
    %29 = stablehlo.broadcast_in_dim %28, dims = [0, 1, 2] : (tensor<2x8x128xf32>) -> tensor<2x8x128x1xf32>
    %30 = stablehlo.broadcast_in_dim %29, dims = [0, 1, 2, 3] : (tensor<2x8x128x1xf32>) -> tensor<2x8x128x128xf32>
    %31 = stablehlo.divide %27, %30 : tensor<2x8x128x128xf32>
    %32 = stablehlo.multiply %29, %29 : tensor<2x8x128x1xf32>
    %cst_10 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %33 = stablehlo.broadcast_in_dim %cst_10, dims = [] : (tensor<f32>) -> tensor<2x8x128x1xf32>
    %34 = stablehlo.divide %33, %32 : tensor<2x8x128x1xf32>
    %35 = stablehlo.dot_general %arg2, %31, batching_dims = [0, 2] x [0, 1], contracting_dims = [1] x [3], precision = [DEFAULT, DEFAULT] : (tensor<2x128x8x64xf32>, tensor<2x8x128x128xf32>) -> tensor<2x8x64x128xf32>
    %36 = stablehlo.transpose %35, dims = [0, 3, 1, 2] : (tensor<2x8x64x128xf32>) -> tensor<2x128x8x64xf32>
    %37 = stablehlo.multiply %36, %36 : tensor<2x128x8x64xf32>
    %cst_11 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %38 = stablehlo.broadcast_in_dim %cst_11, dims = [] : (tensor<f32>) -> tensor<2x128x8x64xf32>
    %39 = stablehlo.multiply %38, %36 : tensor<2x128x8x64xf32>
    %cst_12 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %40 = stablehlo.reduce(%37 init: %cst_12) applies stablehlo.add across dimensions = [0, 1, 2, 3] : (tensor<2x128x8x64xf32>, tensor<f32>) -> tensor<f32>
    %cst_13 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %41 = stablehlo.broadcast_in_dim %cst_13, dims = [] : (tensor<f32>) -> tensor<2x128x8x64xf32>
    %42 = stablehlo.multiply %41, %39 : tensor<2x128x8x64xf32>
    %43 = stablehlo.transpose %42, dims = [0, 2, 3, 1] : (tensor<2x128x8x64xf32>) -> tensor<2x8x64x128xf32>
    %44 = stablehlo.dot_general %43, %arg2, batching_dims = [0, 1] x [0, 2], contracting_dims = [2] x [3], precision = [DEFAULT, DEFAULT] : (tensor<2x8x64x128xf32>, tensor<2x128x8x64xf32>) -> tensor<2x8x128x128xf32>
    %45 = stablehlo.dot_general %43, %31, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [2], precision = [DEFAULT, DEFAULT] : (tensor<2x8x64x128xf32>, tensor<2x8x128x128xf32>) -> tensor<2x8x64x128xf32>
    %46 = stablehlo.transpose %45, dims = [0, 3, 1, 2] : (tensor<2x8x64x128xf32>) -> tensor<2x128x8x64xf32>
    %47 = stablehlo.broadcast_in_dim %34, dims = [0, 1, 2, 3] : (tensor<2x8x128x1xf32>) -> tensor<2x8x128x128xf32>
    %48 = stablehlo.multiply %44, %47 : tensor<2x8x128x128xf32>
    %49 = stablehlo.multiply %48, %27 : tensor<2x8x128x128xf32>
    %cst_14 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %50 = stablehlo.reduce(%49 init: %cst_14) applies stablehlo.add across dimensions = [3] : (tensor<2x8x128x128xf32>, tensor<f32>) -> tensor<2x8x128xf32>
    %51 = stablehlo.reshape %50 : (tensor<2x8x128xf32>) -> tensor<2x8x128x1xf32>
    %52 = stablehlo.negate %51 : tensor<2x8x128x1xf32>
    %53 = stablehlo.broadcast_in_dim %29, dims = [0, 1, 2, 3] : (tensor<2x8x128x1xf32>) -> tensor<2x8x128x128xf32>
    %54 = stablehlo.divide %44, %53 : tensor<2x8x128x128xf32>
    %cst_15 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %55 = stablehlo.reduce(%52 init: %cst_15) applies stablehlo.add across dimensions = [3] : (tensor<2x8x128x1xf32>, tensor<f32>) -> tensor<2x8x128xf32>
    %56 = stablehlo.broadcast_in_dim %55, dims = [0, 1, 2] : (tensor<2x8x128xf32>) -> tensor<2x8x128x128xf32>
    %57 = stablehlo.add %54, %56 : tensor<2x8x128x128xf32>
    %58 = stablehlo.multiply %57, %27 : tensor<2x8x128x128xf32>
    %59 = call @_where_0(%5#1, %5#2, %58) : (tensor<2x8x128x128xi1>, tensor<2x8x128x128xf32>, tensor<2x8x128x128xf32>) -> tensor<2x8x128x128xf32>
    %cst_16 = stablehlo.constant dense<1.250000e-01> : tensor<f32>
    %60 = stablehlo.broadcast_in_dim %cst_16, dims = [] : (tensor<f32>) -> tensor<2x8x128x128xf32>
    %61 = stablehlo.multiply %59, %60 : tensor<2x8x128x128xf32>
    %62 = stablehlo.dot_general %61, %arg0, batching_dims = [0, 1] x [0, 2], contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<2x8x128x128xf32>, tensor<2x128x8x64xf32>) -> tensor<2x8x128x64xf32>
    %63 = stablehlo.transpose %62, dims = [0, 2, 1, 3] : (tensor<2x8x128x64xf32>) -> tensor<2x128x8x64xf32>
    %64 = stablehlo.dot_general %61, %arg1, batching_dims = [0, 1] x [0, 2], contracting_dims = [3] x [1], precision = [DEFAULT, DEFAULT] : (tensor<2x8x128x128xf32>, tensor<2x128x8x64xf32>) -> tensor<2x8x128x64xf32>
    %65 = stablehlo.transpose %64, dims = [0, 2, 1, 3] : (tensor<2x8x128x64xf32>) -> tensor<2x128x8x64xf32>
    return %65, %63, %46 : tensor<2x128x8x64xf32>, tensor<2x128x8x64xf32>, tensor<2x128x8x64xf32>
  }
  func.func private @tril(%arg0: tensor<128x128xi1>) -> tensor<128x128xi1> {
    %0 = stablehlo.iota dim = 0 : tensor<128x128xi32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<128x128xi32>
    %2 = stablehlo.add %0, %1 : tensor<128x128xi32>
    %3 = stablehlo.iota dim = 1 : tensor<128x128xi32>
    %4 = stablehlo.compare GE, %2, %3, SIGNED : (tensor<128x128xi32>, tensor<128x128xi32>) -> tensor<128x128xi1>
    %c_0 = stablehlo.constant dense<false> : tensor<i1>
    %5 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i1>) -> tensor<128x128xi1>
    %6 = stablehlo.select %4, %arg0, %5 : tensor<128x128xi1>, tensor<128x128xi1>
    return %6 : tensor<128x128xi1>
  }
  func.func private @_where(%arg0: tensor<128x128xi1>, %arg1: tensor<2x8x128x128xf32>, %arg2: tensor<f32>) -> (tensor<2x8x128x128xf32>, tensor<2x8x128x128xi1>, tensor<2x8x128x128xf32>) {
    %0 = stablehlo.convert %arg2 : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %arg0, dims = [2, 3] : (tensor<128x128xi1>) -> tensor<2x8x128x128xi1>
    %2 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<2x8x128x128xf32>
    %3 = stablehlo.select %1, %arg1, %2 : tensor<2x8x128x128xi1>, tensor<2x8x128x128xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %4 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<2x8x128x128xf32>
    return %3, %1, %4 : tensor<2x8x128x128xf32>, tensor<2x8x128x128xi1>, tensor<2x8x128x128xf32>
  }
  func.func private @_where_0(%arg0: tensor<2x8x128x128xi1>, %arg1: tensor<2x8x128x128xf32>, %arg2: tensor<2x8x128x128xf32>) -> tensor<2x8x128x128xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<2x8x128x128xf32>
    %1 = stablehlo.select %arg0, %arg2, %0 : tensor<2x8x128x128xi1>, tensor<2x8x128x128xf32>
    return %1 : tensor<2x8x128x128xf32>
  }
}
