module @jit_mixed_precision_step attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<6x8xf32>, %arg1: tensor<8x8xf32> {tf.aliasing_output = 1 : i32}, %arg2: tensor<8x4xf32> {tf.aliasing_output = 2 : i32}, %arg3: tensor<6x4xf32>) -> (tensor<f32> {jax.result_info = "result[0]"}, tensor<8x8xf32> {jax.result_info = "result[1][0]"}, tensor<8x4xf32> {jax.result_info = "result[1][1]"}, tensor<i1> {jax.result_info = "result[2]"}) {
    %0 = stablehlo.convert %arg0 : (tensor<6x8xf32>) -> tensor<6x8xbf16>
    %1 = stablehlo.convert %arg1 : (tensor<8x8xf32>) -> tensor<8x8xbf16>
    %2 = stablehlo.dot_general %0, %1, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<6x8xbf16>, tensor<8x8xbf16>) -> tensor<6x8xbf16>
    %3 = call @relu(%2) : (tensor<6x8xbf16>) -> tensor<6x8xbf16>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<bf16>
    %4 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<bf16>) -> tensor<6x8xbf16>
    %5 = stablehlo.compare GT, %2, %4, FLOAT : (tensor<6x8xbf16>, tensor<6x8xbf16>) -> tensor<6x8xi1>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<bf16>
    %6 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<bf16>) -> tensor<6x8xbf16>
    %7 = stablehlo.convert %arg2 : (tensor<8x4xf32>) -> tensor<8x4xbf16>
    %8 = stablehlo.dot_general %3, %7, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<6x8xbf16>, tensor<8x4xbf16>) -> tensor<6x4xbf16>
    %9 = stablehlo.convert %8 : (tensor<6x4xbf16>) -> tensor<6x4xf32>
    %10 = stablehlo.subtract %9, %arg3 : tensor<6x4xf32>
    %11 = stablehlo.multiply %10, %10 : tensor<6x4xf32>
    %cst_1 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %12 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<6x4xf32>
    %13 = stablehlo.multiply %12, %10 : tensor<6x4xf32>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %14 = stablehlo.reduce(%11 init: %cst_2) applies stablehlo.add across dimensions = [0, 1] : (tensor<6x4xf32>, tensor<f32>) -> tensor<f32>
    %cst_3 = stablehlo.constant dense<2.400000e+01> : tensor<f32>
    %15 = stablehlo.divide %14, %cst_3 : tensor<f32>
    %cst_4 = stablehlo.constant dense<1.280000e+02> : tensor<f32>
    %16 = stablehlo.multiply %15, %cst_4 : tensor<f32>
    %cst_5 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %cst_6 = stablehlo.constant dense<1.280000e+02> : tensor<f32>
    %17 = stablehlo.multiply %cst_5, %cst_6 : tensor<f32>
    %cst_7 = stablehlo.constant dense<2.400000e+01> : tensor<f32>
    %18 = stablehlo.divide %17, %cst_7 : tensor<f32>
    %19 = stablehlo.broadcast_in_dim %18, dims = [] : (tensor<f32>) -> tensor<6x4xf32>
    %20 = stablehlo.multiply %19, %13 : tensor<6x4xf32>
    %21 = stablehlo.convert %20 : (tensor<6x4xf32>) -> tensor<6x4xbf16>
    %22 = stablehlo.dot_general %21, %3, contracting_dims = [0] x [0], precision = [DEFAULT, DEFAULT] : (tensor<6x4xbf16>, tensor<6x8xbf16>) -> tensor<4x8xbf16>
    %23 = stablehlo.transpose %22, dims = [1, 0] : (tensor<4x8xbf16>) -> tensor<8x4xbf16>
    %24 = stablehlo.dot_general %21, %7, contracting_dims = [1] x [1], precision = [DEFAULT, DEFAULT] : (tensor<6x4xbf16>, tensor<8x4xbf16>) -> tensor<6x8xbf16>
    %25 = stablehlo.convert %23 : (tensor<8x4xbf16>) -> tensor<8x4xf32>
    %cst_8 = stablehlo.constant dense<0.000000e+00> : tensor<bf16>
    %26 = stablehlo.broadcast_in_dim %cst_8, dims = [] : (tensor<bf16>) -> tensor<6x8xbf16>
    %27 = stablehlo.select %5, %24, %26 : tensor<6x8xi1>, tensor<6x8xbf16>
    %28 = stablehlo.dot_general %27, %0, contracting_dims = [0] x [0], precision = [DEFAULT, DEFAULT] : (tensor<6x8xbf16>, tensor<6x8xbf16>) -> tensor<8x8xbf16>
    %29 = stablehlo.transpose %28, dims = [1, 0] : (tensor<8x8xbf16>) -> tensor<8x8xbf16>
    %30 = stablehlo.convert %29 : (tensor<8x8xbf16>) -> tensor<8x8xf32>
    %31 = stablehlo.is_finite %30 : (tensor<8x8xf32>) -> tensor<8x8xi1>
    %c = stablehlo.constant dense<true> : tensor<i1>
    %32 = stablehlo.reduce(%31 init: %c) applies stablehlo.and across dimensions = [0, 1] : (tensor<8x8xi1>, tensor<i1>) -> tensor<i1>
    %33 = stablehlo.is_finite %25 : (tensor<8x4xf32>) -> tensor<8x4xi1>
    %c_9 = stablehlo.constant dense<true> : tensor<i1>
    %34 = stablehlo.reduce(%33 init: %c_9) applies stablehlo.and across dimensions = [0, 1] : (tensor<8x4xi1>, tensor<i1>) -> tensor<i1>
    %35 = stablehlo.broadcast_in_dim %32, dims = [] : (tensor<i1>) -> tensor<1xi1>
    %36 = stablehlo.broadcast_in_dim %34, dims = [] : (tensor<i1>) -> tensor<1xi1>
    %37 = stablehlo.concatenate %35, %36, dim = 0 : (tensor<1xi1>, tensor<1xi1>) -> tensor<2xi1>
    %c_10 = stablehlo.constant dense<true> : tensor<i1>
    %38 = stablehlo.reduce(%37 init: %c_10) applies stablehlo.and across dimensions = [0] : (tensor<2xi1>, tensor<i1>) -> tensor<i1>
    %cst_11 = stablehlo.constant dense<7.812500e-05> : tensor<f32>
    %39 = stablehlo.broadcast_in_dim %cst_11, dims = [] : (tensor<f32>) -> tensor<8x8xf32>
    %40 = stablehlo.multiply %39, %30 : tensor<8x8xf32>
    %41 = stablehlo.subtract %arg1, %40 : tensor<8x8xf32>
    %42 = call @_where(%38, %41, %arg1) : (tensor<i1>, tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
    %cst_12 = stablehlo.constant dense<7.812500e-05> : tensor<f32>
    %43 = stablehlo.broadcast_in_dim %cst_12, dims = [] : (tensor<f32>) -> tensor<8x4xf32>
    %44 = stablehlo.multiply %43, %25 : tensor<8x4xf32>
    %45 = stablehlo.subtract %arg2, %44 : tensor<8x4xf32>
    %46 = call @_where_0(%38, %45, %arg2) : (tensor<i1>, tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
    %cst_13 = stablehlo.constant dense<1.280000e+02> : tensor<f32>
    %47 = stablehlo.divide %16, %cst_13 : tensor<f32>
    return %47, %42, %46, %38 : tensor<f32>, tensor<8x8xf32>, tensor<8x4xf32>, tensor<i1>
  }
  func.func private @relu(%arg0: tensor<6x8xbf16>) -> tensor<6x8xbf16> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<bf16>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<bf16>) -> tensor<6x8xbf16>
    %1 = stablehlo.maximum %arg0, %0 : tensor<6x8xbf16>
    return %1 : tensor<6x8xbf16>
  }
  func.func private @_where(%arg0: tensor<i1>, %arg1: tensor<8x8xf32>, %arg2: tensor<8x8xf32>) -> tensor<8x8xf32> {
    %0 = stablehlo.select %arg0, %arg1, %arg2 : tensor<i1>, tensor<8x8xf32>
    return %0 : tensor<8x8xf32>
  }
  func.func private @_where_0(%arg0: tensor<i1>, %arg1: tensor<8x4xf32>, %arg2: tensor<8x4xf32>) -> tensor<8x4xf32> {
    %0 = stablehlo.select %arg0, %arg1, %arg2 : tensor<i1>, tensor<8x4xf32>
    return %0 : tensor<8x4xf32>
  }
}
