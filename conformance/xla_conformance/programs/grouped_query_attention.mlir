module @jit_grouped_query_attention attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<2x8x4x8xf32>, %arg1: tensor<2x6x2x8xf32>, %arg2: tensor<2x6x2x8xf32>, %arg3: tensor<2x1x8x6xi1>) -> (tensor<2x8x4x8xf32> {jax.result_info = "result"}) {
    %0 = stablehlo.reshape %arg0 : (tensor<2x8x4x8xf32>) -> tensor<2x8x2x2x8xf32>
    %1 = stablehlo.broadcast_in_dim %arg3, dims = [0, 1, 3, 4] : (tensor<2x1x8x6xi1>) -> tensor<2x1x1x8x6xi1>
    %2 = stablehlo.broadcast_in_dim %1, dims = [0, 1, 2, 3, 4] : (tensor<2x1x1x8x6xi1>) -> tensor<2x1x2x8x6xi1>
    %3 = stablehlo.dot_general %0, %arg1, batching_dims = [0, 2] x [0, 2], contracting_dims = [4] x [3], precision = [DEFAULT, DEFAULT] : (tensor<2x8x2x2x8xf32>, tensor<2x6x2x8xf32>) -> tensor<2x2x8x2x6xf32>
    %cst = stablehlo.constant dense<0.353553385> : tensor<f32>
    %4 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<2x2x8x2x6xf32>
    %5 = stablehlo.multiply %3, %4 : tensor<2x2x8x2x6xf32>
    %c = stablehlo.constant dense<true> : tensor<i1>
    %6 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i1>) -> tensor<2x2x8x6xi1>
    %7 = stablehlo.broadcast_in_dim %6, dims = [1, 2, 3, 4] : (tensor<2x2x8x6xi1>) -> tensor<1x2x2x8x6xi1>
    %8 = stablehlo.transpose %2, dims = [2, 0, 1, 3, 4] : (tensor<2x1x2x8x6xi1>) -> tensor<2x2x1x8x6xi1>
    %9 = stablehlo.broadcast_in_dim %7, dims = [0, 1, 2, 3, 4] : (tensor<1x2x2x8x6xi1>) -> tensor<2x2x2x8x6xi1>
    %10 = stablehlo.broadcast_in_dim %8, dims = [0, 1, 2, 3, 4] : (tensor<2x2x1x8x6xi1>) -> tensor<2x2x2x8x6xi1>
    %11 = stablehlo.and %9, %10 : tensor<2x2x2x8x6xi1>
    %cst_0 = stablehlo.constant dense<-2.38197633E+38> : tensor<f32>
    %12 = call @_where(%11, %5, %cst_0) : (tensor<2x2x2x8x6xi1>, tensor<2x2x8x2x6xf32>, tensor<f32>) -> tensor<2x2x2x8x6xf32>
    %cst_1 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %13 = stablehlo.reduce(%12 init: %cst_1) applies stablehlo.maximum across dimensions = [4] : (tensor<2x2x2x8x6xf32>, tensor<f32>) -> tensor<2x2x2x8xf32>
    %cst_2 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %14 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<2x2x2x8xf32>
    %15 = stablehlo.maximum %14, %13 : tensor<2x2x2x8xf32>
    %16 = stablehlo.broadcast_in_dim %15, dims = [0, 1, 2, 3] : (tensor<2x2x2x8xf32>) -> tensor<2x2x2x8x1xf32>
    %17 = stablehlo.broadcast_in_dim %16, dims = [0, 1, 2, 3, 4] : (tensor<2x2x2x8x1xf32>) -> tensor<2x2x2x8x6xf32>
    %18 = stablehlo.subtract %12, %17 : tensor<2x2x2x8x6xf32>
    %19 = stablehlo.exponential %18 : tensor<2x2x2x8x6xf32>
    %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %20 = stablehlo.reduce(%19 init: %cst_3) applies stablehlo.add across dimensions = [4] : (tensor<2x2x2x8x6xf32>, tensor<f32>) -> tensor<2x2x2x8xf32>
    %21 = stablehlo.broadcast_in_dim %20, dims = [0, 1, 2, 3] : (tensor<2x2x2x8xf32>) -> tensor<2x2x2x8x1xf32>
    %22 = stablehlo.broadcast_in_dim %21, dims = [0, 1, 2, 3, 4] : (tensor<2x2x2x8x1xf32>) -> tensor<2x2x2x8x6xf32>
    %23 = stablehlo.divide %19, %22 : tensor<2x2x2x8x6xf32>
    %24 = stablehlo.dot_general %arg2, %23, batching_dims = [0, 2] x [1, 2], contracting_dims = [1] x [4], precision = [DEFAULT, DEFAULT] : (tensor<2x6x2x8xf32>, tensor<2x2x2x8x6xf32>) -> tensor<2x2x8x2x8xf32>
    %25 = stablehlo.transpose %24, dims = [3, 0, 4, 1, 2] : (tensor<2x2x8x2x8xf32>) -> tensor<2x2x8x2x8xf32>
    %26 = stablehlo.transpose %25, dims = [1, 2, 3, 0, 4] : (tensor<2x2x8x2x8xf32>) -> tensor<2x8x2x2x8xf32>
    %27 = stablehlo.reshape %26 : (tensor<2x8x2x2x8xf32>) -> tensor<2x8x4x8xf32>
    return %27 : tensor<2x8x4x8xf32>
  }
  func.func private @_where(%arg0: tensor<2x2x2x8x6xi1>, %arg1: tensor<2x2x8x2x6xf32>, %arg2: tensor<f32>) -> tensor<2x2x2x8x6xf32> {
    %0 = stablehlo.broadcast_in_dim %arg2, dims = [] : (tensor<f32>) -> tensor<2x2x8x6xf32>
    %1 = stablehlo.broadcast_in_dim %0, dims = [1, 2, 3, 4] : (tensor<2x2x8x6xf32>) -> tensor<2x2x2x8x6xf32>
    %2 = stablehlo.transpose %arg1, dims = [3, 0, 1, 2, 4] : (tensor<2x2x8x2x6xf32>) -> tensor<2x2x2x8x6xf32>
    %3 = stablehlo.select %arg0, %2, %1 : tensor<2x2x2x8x6xi1>, tensor<2x2x2x8x6xf32>
    return %3 : tensor<2x2x2x8x6xf32>
  }
}
