module @jit_batch_norm_train_grad attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<4x5x5x6xf32>, %arg1: tensor<6xf32>, %arg2: tensor<6xf32>, %arg3: tensor<6xf32>, %arg4: tensor<6xf32>) -> (tensor<f32> {jax.result_info = "result[0][0]"}, tensor<6xf32> {jax.result_info = "result[0][1][0]"}, tensor<6xf32> {jax.result_info = "result[0][1][1]"}, tensor<4x5x5x6xf32> {jax.result_info = "result[1][0]"}, tensor<6xf32> {jax.result_info = "result[1][1]"}, tensor<6xf32> {jax.result_info = "result[1][2]"}) {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.reduce(%arg0 init: %cst) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<4x5x5x6xf32>, tensor<f32>) -> tensor<6xf32>
    %cst_0 = stablehlo.constant dense<1.000000e+02> : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<6xf32>
    %2 = stablehlo.divide %0, %1 : tensor<6xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %3:5 = call @_var(%arg0, %c) : (tensor<4x5x5x6xf32>, tensor<i32>) -> (tensor<6xf32>, tensor<4x5x5x6xf32>, tensor<f32>, tensor<i1>, tensor<6xf32>)
    %4 = stablehlo.broadcast_in_dim %2, dims = [3] : (tensor<6xf32>) -> tensor<1x1x1x6xf32>
    %5 = stablehlo.broadcast_in_dim %4, dims = [0, 1, 2, 3] : (tensor<1x1x1x6xf32>) -> tensor<4x5x5x6xf32>
    %6 = stablehlo.subtract %arg0, %5 : tensor<4x5x5x6xf32>
    %cst_1 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %7 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<6xf32>
    %8 = stablehlo.add %3#0, %7 : tensor<6xf32>
    %9 = stablehlo.rsqrt %8 : tensor<6xf32>
    %10 = stablehlo.divide %9, %8 : tensor<6xf32>
    %cst_2 = stablehlo.constant dense<-5.000000e-01> : tensor<f32>
    %11 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<6xf32>
    %12 = stablehlo.multiply %11, %10 : tensor<6xf32>
    %13 = stablehlo.broadcast_in_dim %9, dims = [3] : (tensor<6xf32>) -> tensor<1x1x1x6xf32>
    %14 = stablehlo.broadcast_in_dim %13, dims = [0, 1, 2, 3] : (tensor<1x1x1x6xf32>) -> tensor<4x5x5x6xf32>
    %15 = stablehlo.multiply %6, %14 : tensor<4x5x5x6xf32>
    %16 = stablehlo.broadcast_in_dim %arg1, dims = [3] : (tensor<6xf32>) -> tensor<1x1x1x6xf32>
    %17 = stablehlo.broadcast_in_dim %16, dims = [0, 1, 2, 3] : (tensor<1x1x1x6xf32>) -> tensor<4x5x5x6xf32>
    %18 = stablehlo.multiply %15, %17 : tensor<4x5x5x6xf32>
    %19 = stablehlo.broadcast_in_dim %arg2, dims = [3] : (tensor<6xf32>) -> tensor<1x1x1x6xf32>
    %20 = stablehlo.broadcast_in_dim %19, dims = [0, 1, 2, 3] : (tensor<1x1x1x6xf32>) -> tensor<4x5x5x6xf32>
    %21 = stablehlo.add %18, %20 : tensor<4x5x5x6xf32>
    %cst_3 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %22 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<6xf32>
    %23 = stablehlo.multiply %22, %arg3 : tensor<6xf32>
    %cst_4 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %24 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<6xf32>
    %25 = stablehlo.multiply %24, %2 : tensor<6xf32>
    %26 = stablehlo.add %23, %25 : tensor<6xf32>
    %cst_5 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %27 = stablehlo.broadcast_in_dim %cst_5, dims = [] : (tensor<f32>) -> tensor<6xf32>
    %28 = stablehlo.multiply %27, %arg4 : tensor<6xf32>
    %cst_6 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %29 = stablehlo.broadcast_in_dim %cst_6, dims = [] : (tensor<f32>) -> tensor<6xf32>
    %30 = stablehlo.multiply %29, %3#0 : tensor<6xf32>
    %31 = stablehlo.add %28, %30 : tensor<6xf32>
    %32 = call @relu(%21) : (tensor<4x5x5x6xf32>) -> tensor<4x5x5x6xf32>
    %cst_7 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %33 = stablehlo.broadcast_in_dim %cst_7, dims = [] : (tensor<f32>) -> tensor<4x5x5x6xf32>
    %34 = stablehlo.compare GT, %21, %33, FLOAT : (tensor<4x5x5x6xf32>, tensor<4x5x5x6xf32>) -> tensor<4x5x5x6xi1>
    %cst_8 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %35 = stablehlo.broadcast_in_dim %cst_8, dims = [] : (tensor<f32>) -> tensor<4x5x5x6xf32>
    %36 = stablehlo.multiply %32, %32 : tensor<4x5x5x6xf32>
    %cst_9 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %37 = stablehlo.broadcast_in_dim %cst_9, dims = [] : (tensor<f32>) -> tensor<4x5x5x6xf32>
    %38 = stablehlo.multiply %37, %32 : tensor<4x5x5x6xf32>
    %cst_10 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %39 = stablehlo.reduce(%36 init: %cst_10) applies stablehlo.add across dimensions = [0, 1, 2, 3] : (tensor<4x5x5x6xf32>, tensor<f32>) -> tensor<f32>
    %cst_11 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %40 = stablehlo.broadcast_in_dim %cst_11, dims = [] : (tensor<f32>) -> tensor<4x5x5x6xf32>
    %41 = stablehlo.multiply %40, %38 : tensor<4x5x5x6xf32>
    %cst_12 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %42 = stablehlo.broadcast_in_dim %cst_12, dims = [] : (tensor<f32>) -> tensor<4x5x5x6xf32>
    %43 = stablehlo.select %34, %41, %42 : tensor<4x5x5x6xi1>, tensor<4x5x5x6xf32>
    %cst_13 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %44 = stablehlo.reduce(%43 init: %cst_13) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<4x5x5x6xf32>, tensor<f32>) -> tensor<6xf32>
    %45 = stablehlo.reshape %44 : (tensor<6xf32>) -> tensor<1x1x1x6xf32>
    %cst_14 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %46 = stablehlo.reduce(%45 init: %cst_14) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<1x1x1x6xf32>, tensor<f32>) -> tensor<6xf32>
    %47 = stablehlo.multiply %15, %43 : tensor<4x5x5x6xf32>
    %cst_15 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %48 = stablehlo.reduce(%47 init: %cst_15) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<4x5x5x6xf32>, tensor<f32>) -> tensor<6xf32>
    %49 = stablehlo.reshape %48 : (tensor<6xf32>) -> tensor<1x1x1x6xf32>
    %50 = stablehlo.broadcast_in_dim %16, dims = [0, 1, 2, 3] : (tensor<1x1x1x6xf32>) -> tensor<4x5x5x6xf32>
    %51 = stablehlo.multiply %43, %50 : tensor<4x5x5x6xf32>
    %cst_16 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %52 = stablehlo.reduce(%49 init: %cst_16) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<1x1x1x6xf32>, tensor<f32>) -> tensor<6xf32>
    %53 = stablehlo.multiply %6, %51 : tensor<4x5x5x6xf32>
    %cst_17 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %54 = stablehlo.reduce(%53 init: %cst_17) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<4x5x5x6xf32>, tensor<f32>) -> tensor<6xf32>
    %55 = stablehlo.reshape %54 : (tensor<6xf32>) -> tensor<1x1x1x6xf32>
    %56 = stablehlo.broadcast_in_dim %13, dims = [0, 1, 2, 3] : (tensor<1x1x1x6xf32>) -> tensor<4x5x5x6xf32>
    %57 = stablehlo.multiply %51, %56 : tensor<4x5x5x6xf32>
    %cst_18 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %58 = stablehlo.reduce(%55 init: %cst_18) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<1x1x1x6xf32>, tensor<f32>) -> tensor<6xf32>
    %59 = stablehlo.multiply %58, %12 : tensor<6xf32>
    %60 = stablehlo.negate %57 : tensor<4x5x5x6xf32>
    %cst_19 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %61 = stablehlo.reduce(%60 init: %cst_19) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<4x5x5x6xf32>, tensor<f32>) -> tensor<6xf32>
    %62 = stablehlo.reshape %61 : (tensor<6xf32>) -> tensor<1x1x1x6xf32>
    %cst_20 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %63 = stablehlo.reduce(%62 init: %cst_20) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<1x1x1x6xf32>, tensor<f32>) -> tensor<6xf32>
    %64 = call @_var_0(%3#1, %3#2, %3#3, %3#4, %59) : (tensor<4x5x5x6xf32>, tensor<f32>, tensor<i1>, tensor<6xf32>, tensor<6xf32>) -> tensor<4x5x5x6xf32>
    %65 = stablehlo.add %57, %64 : tensor<4x5x5x6xf32>
    %cst_21 = stablehlo.constant dense<1.000000e+02> : tensor<f32>
    %66 = stablehlo.broadcast_in_dim %cst_21, dims = [] : (tensor<f32>) -> tensor<6xf32>
    %67 = stablehlo.divide %63, %66 : tensor<6xf32>
    %68 = stablehlo.broadcast_in_dim %67, dims = [3] : (tensor<6xf32>) -> tensor<4x5x5x6xf32>
    %69 = stablehlo.add %65, %68 : tensor<4x5x5x6xf32>
    return %39, %26, %31, %69, %52, %46 : tensor<f32>, tensor<6xf32>, tensor<6xf32>, tensor<4x5x5x6xf32>, tensor<6xf32>, tensor<6xf32>
  }
  func.func private @_var(%arg0: tensor<4x5x5x6xf32>, %arg1: tensor<i32>) -> (tensor<6xf32>, tensor<4x5x5x6xf32>, tensor<f32>, tensor<i1>, tensor<6xf32>) {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.reduce(%arg0 init: %cst) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<4x5x5x6xf32>, tensor<f32>) -> tensor<6xf32>
    %1 = stablehlo.broadcast_in_dim %0, dims = [3] : (tensor<6xf32>) -> tensor<1x1x1x6xf32>
    %cst_0 = stablehlo.constant dense<1.000000e+02> : tensor<f32>
    %2 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<1x1x1x6xf32>
    %3 = stablehlo.divide %1, %2 : tensor<1x1x1x6xf32>
    %4 = stablehlo.broadcast_in_dim %3, dims = [0, 1, 2, 3] : (tensor<1x1x1x6xf32>) -> tensor<4x5x5x6xf32>
    %5 = stablehlo.subtract %arg0, %4 : tensor<4x5x5x6xf32>
    %6 = chlo.square %5 : tensor<4x5x5x6xf32> -> tensor<4x5x5x6xf32>
    %cst_1 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %7 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<4x5x5x6xf32>
    %8 = stablehlo.multiply %7, %5 : tensor<4x5x5x6xf32>
    %9 = stablehlo.convert %arg1 : (tensor<i32>) -> tensor<f32>
    %cst_2 = stablehlo.constant dense<1.000000e+02> : tensor<f32>
    %10 = stablehlo.subtract %cst_2, %9 : tensor<f32>
    %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %11 = stablehlo.reduce(%6 init: %cst_3) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<4x5x5x6xf32>, tensor<f32>) -> tensor<6xf32>
    %12 = stablehlo.broadcast_in_dim %10, dims = [] : (tensor<f32>) -> tensor<6xf32>
    %13 = stablehlo.divide %11, %12 : tensor<6xf32>
    %cst_4 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %14 = stablehlo.compare GT, %10, %cst_4, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %cst_5 = stablehlo.constant dense<0x7FC00000> : tensor<f32>
    %15:2 = call @_where(%14, %13, %cst_5) : (tensor<i1>, tensor<6xf32>, tensor<f32>) -> (tensor<6xf32>, tensor<6xf32>)
    return %15#0, %8, %10, %14, %15#1 : tensor<6xf32>, tensor<4x5x5x6xf32>, tensor<f32>, tensor<i1>, tensor<6xf32>
  }
  func.func private @_where(%arg0: tensor<i1>, %arg1: tensor<6xf32>, %arg2: tensor<f32>) -> (tensor<6xf32>, tensor<6xf32>) {
    %0 = stablehlo.convert %arg2 : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<6xf32>
    %2 = stablehlo.select %arg0, %arg1, %1 : tensor<i1>, tensor<6xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %3 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<6xf32>
    return %2, %3 : tensor<6xf32>, tensor<6xf32>
  }
  func.func private @relu(%arg0: tensor<4x5x5x6xf32>) -> tensor<4x5x5x6xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<4x5x5x6xf32>
    %1 = stablehlo.maximum %arg0, %0 : tensor<4x5x5x6xf32>
    return %1 : tensor<4x5x5x6xf32>
  }
  func.func private @_var_0(%arg0: tensor<4x5x5x6xf32>, %arg1: tensor<f32>, %arg2: tensor<i1>, %arg3: tensor<6xf32>, %arg4: tensor<6xf32>) -> tensor<4x5x5x6xf32> {
    %0 = call @_where_1(%arg2, %arg3, %arg4) : (tensor<i1>, tensor<6xf32>, tensor<6xf32>) -> tensor<6xf32>
    %1 = stablehlo.broadcast_in_dim %arg1, dims = [] : (tensor<f32>) -> tensor<6xf32>
    %2 = stablehlo.divide %0, %1 : tensor<6xf32>
    %3 = stablehlo.broadcast_in_dim %2, dims = [3] : (tensor<6xf32>) -> tensor<4x5x5x6xf32>
    %4 = stablehlo.multiply %3, %arg0 : tensor<4x5x5x6xf32>
    %5 = stablehlo.negate %4 : tensor<4x5x5x6xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %6 = stablehlo.reduce(%5 init: %cst) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<4x5x5x6xf32>, tensor<f32>) -> tensor<6xf32>
    %7 = stablehlo.reshape %6 : (tensor<6xf32>) -> tensor<1x1x1x6xf32>
    %cst_0 = stablehlo.constant dense<1.000000e+02> : tensor<f32>
    %8 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<1x1x1x6xf32>
    %9 = stablehlo.divide %7, %8 : tensor<1x1x1x6xf32>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %10 = stablehlo.reduce(%9 init: %cst_1) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<1x1x1x6xf32>, tensor<f32>) -> tensor<6xf32>
    %11 = stablehlo.broadcast_in_dim %10, dims = [3] : (tensor<6xf32>) -> tensor<4x5x5x6xf32>
    %12 = stablehlo.add %4, %11 : tensor<4x5x5x6xf32>
    return %12 : tensor<4x5x5x6xf32>
  }
  func.func private @_where_1(%arg0: tensor<i1>, %arg1: tensor<6xf32>, %arg2: tensor<6xf32>) -> tensor<6xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<6xf32>
    %1 = stablehlo.select %arg0, %arg2, %0 : tensor<i1>, tensor<6xf32>
    return %1 : tensor<6xf32>
  }
}
