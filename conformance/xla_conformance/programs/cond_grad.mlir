module @jit_cond_grad attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<i1>, %arg1: tensor<4xf32>, %arg2: tensor<4xf32>) -> (tensor<f32> {jax.result_info = "result[0]"}, tensor<4xf32> {jax.result_info = "result[1][0]"}, tensor<4xf32> {jax.result_info = "result[1][1]"}) {
    %0 = stablehlo.convert %arg0 : (tensor<i1>) -> tensor<i32>
    %1:4 = "stablehlo.case"(%0) ({
      %16 = stablehlo.multiply %arg1, %arg1 : tensor<4xf32>
      %17 = stablehlo.multiply %16, %arg1 : tensor<4xf32>
      %18 = stablehlo.multiply %arg1, %arg1 : tensor<4xf32>
      %cst_3 = stablehlo.constant dense<3.000000e+00> : tensor<f32>
      %19 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<4xf32>
      %20 = stablehlo.multiply %19, %18 : tensor<4xf32>
      %21 = stablehlo.multiply %arg2, %arg2 : tensor<4xf32>
      %cst_4 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
      %22 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<4xf32>
      %23 = stablehlo.multiply %22, %arg2 : tensor<4xf32>
      %24 = stablehlo.add %17, %21 : tensor<4xf32>
      %cst_5 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %25 = stablehlo.broadcast_in_dim %cst_5, dims = [] : (tensor<f32>) -> tensor<4xf32>
      %cst_6 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %26 = stablehlo.broadcast_in_dim %cst_6, dims = [] : (tensor<f32>) -> tensor<4xf32>
      %cst_7 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %27 = stablehlo.broadcast_in_dim %cst_7, dims = [] : (tensor<f32>) -> tensor<4xf32>
      stablehlo.return %24, %20, %23, %27 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
    }, {
      %16 = stablehlo.sine %arg1 : tensor<4xf32>
      %17 = stablehlo.cosine %arg1 : tensor<4xf32>
      %18 = stablehlo.multiply %16, %arg2 : tensor<4xf32>
      %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %19 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<4xf32>
      %cst_4 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %20 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<4xf32>
      %cst_5 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %21 = stablehlo.broadcast_in_dim %cst_5, dims = [] : (tensor<f32>) -> tensor<4xf32>
      stablehlo.return %18, %17, %arg2, %16 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
    }) : (tensor<i32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>)
    %2 = stablehlo.not %arg0 : tensor<i1>
    %3 = stablehlo.convert %2 : (tensor<i1>) -> tensor<i32>
    %4:4 = "stablehlo.case"(%3) ({
      %16 = stablehlo.multiply %arg1, %arg1 : tensor<4xf32>
      %17 = stablehlo.multiply %16, %arg1 : tensor<4xf32>
      %18 = stablehlo.multiply %arg1, %arg1 : tensor<4xf32>
      %cst_3 = stablehlo.constant dense<3.000000e+00> : tensor<f32>
      %19 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<4xf32>
      %20 = stablehlo.multiply %19, %18 : tensor<4xf32>
      %21 = stablehlo.multiply %arg2, %arg2 : tensor<4xf32>
      %cst_4 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
      %22 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<4xf32>
      %23 = stablehlo.multiply %22, %arg2 : tensor<4xf32>
      %24 = stablehlo.add %17, %21 : tensor<4xf32>
      %cst_5 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %25 = stablehlo.broadcast_in_dim %cst_5, dims = [] : (tensor<f32>) -> tensor<4xf32>
      %cst_6 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %26 = stablehlo.broadcast_in_dim %cst_6, dims = [] : (tensor<f32>) -> tensor<4xf32>
      %cst_7 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %27 = stablehlo.broadcast_in_dim %cst_7, dims = [] : (tensor<f32>) -> tensor<4xf32>
      stablehlo.return %24, %20, %23, %27 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
    }, {
      %16 = stablehlo.sine %arg1 : tensor<4xf32>
      %17 = stablehlo.cosine %arg1 : tensor<4xf32>
      %18 = stablehlo.multiply %16, %arg2 : tensor<4xf32>
      %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %19 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<4xf32>
      %cst_4 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %20 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<4xf32>
      %cst_5 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %21 = stablehlo.broadcast_in_dim %cst_5, dims = [] : (tensor<f32>) -> tensor<4xf32>
      stablehlo.return %18, %17, %arg2, %16 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
    }) : (tensor<i32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>)
    %cst = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %5 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<4xf32>
    %6 = stablehlo.multiply %5, %4#0 : tensor<4xf32>
    %7 = stablehlo.add %1#0, %6 : tensor<4xf32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %8 = stablehlo.reduce(%7 init: %cst_0) applies stablehlo.add across dimensions = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
    %cst_1 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %9 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<4xf32>
    %cst_2 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %10 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<4xf32>
    %11 = stablehlo.multiply %10, %9 : tensor<4xf32>
    %12:2 = "stablehlo.case"(%3) ({
      %16 = stablehlo.multiply %11, %4#2 : tensor<4xf32>
      %17 = stablehlo.multiply %11, %4#1 : tensor<4xf32>
      stablehlo.return %17, %16 : tensor<4xf32>, tensor<4xf32>
    }, {
      %16 = stablehlo.multiply %4#3, %11 : tensor<4xf32>
      %17 = stablehlo.multiply %11, %4#2 : tensor<4xf32>
      %18 = stablehlo.multiply %17, %4#1 : tensor<4xf32>
      stablehlo.return %18, %16 : tensor<4xf32>, tensor<4xf32>
    }) : (tensor<i32>) -> (tensor<4xf32>, tensor<4xf32>)
    %13:2 = "stablehlo.case"(%0) ({
      %16 = stablehlo.multiply %9, %1#2 : tensor<4xf32>
      %17 = stablehlo.multiply %9, %1#1 : tensor<4xf32>
      stablehlo.return %17, %16 : tensor<4xf32>, tensor<4xf32>
    }, {
      %16 = stablehlo.multiply %1#3, %9 : tensor<4xf32>
      %17 = stablehlo.multiply %9, %1#2 : tensor<4xf32>
      %18 = stablehlo.multiply %17, %1#1 : tensor<4xf32>
      stablehlo.return %18, %16 : tensor<4xf32>, tensor<4xf32>
    }) : (tensor<i32>) -> (tensor<4xf32>, tensor<4xf32>)
    %14 = stablehlo.add %12#0, %13#0 : tensor<4xf32>
    %15 = stablehlo.add %12#1, %13#1 : tensor<4xf32>
    return %8, %14, %15 : tensor<f32>, tensor<4xf32>, tensor<4xf32>
  }
}
