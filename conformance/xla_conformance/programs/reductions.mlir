module @jit_reductions attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<4x5x3xf32>, %arg1: tensor<4x5xi32>, %arg2: tensor<4x5xi1>) -> (tensor<f32> {jax.result_info = "result[0]"}, tensor<5xf32> {jax.result_info = "result[1]"}, tensor<4x3xf32> {jax.result_info = "result[2]"}, tensor<4xf32> {jax.result_info = "result[3]"}, tensor<1x5x3xf32> {jax.result_info = "result[4]"}, tensor<4x5xf32> {jax.result_info = "result[5]"}, tensor<4x3xf32> {jax.result_info = "result[6]"}, tensor<5xi1> {jax.result_info = "result[7]"}, tensor<4xi1> {jax.result_info = "result[8]"}, tensor<4xi32> {jax.result_info = "result[9]"}, tensor<4x3xi32> {jax.result_info = "result[10]"}, tensor<5xi32> {jax.result_info = "result[11]"}, tensor<i32> {jax.result_info = "result[12]"}, tensor<4xi32> {jax.result_info = "result[13]"}, tensor<i32> {jax.result_info = "result[14]"}, tensor<4xi32> {jax.result_info = "result[15]"}, tensor<4x5xf32> {jax.result_info = "result[16]"}, tensor<5xf32> {jax.result_info = "result[17][0]"}, tensor<5xf32> {jax.result_info = "result[17][1]"}) {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.reduce(%arg0 init: %cst) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<4x5x3xf32>, tensor<f32>) -> tensor<f32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1 = stablehlo.reduce(%arg0 init: %cst_0) applies stablehlo.add across dimensions = [0, 2] : (tensor<4x5x3xf32>, tensor<f32>) -> tensor<5xf32>
    %cst_1 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %2 = stablehlo.reduce(%arg0 init: %cst_1) applies stablehlo.multiply across dimensions = [1] : (tensor<4x5x3xf32>, tensor<f32>) -> tensor<4x3xf32>
    %cst_2 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %3 = stablehlo.reduce(%arg0 init: %cst_2) applies stablehlo.maximum across dimensions = [1, 2] : (tensor<4x5x3xf32>, tensor<f32>) -> tensor<4xf32>
    %cst_3 = stablehlo.constant dense<0x7F800000> : tensor<f32>
    %4 = stablehlo.reduce(%arg0 init: %cst_3) applies stablehlo.minimum across dimensions = [0] : (tensor<4x5x3xf32>, tensor<f32>) -> tensor<5x3xf32>
    %5 = stablehlo.broadcast_in_dim %4, dims = [1, 2] : (tensor<5x3xf32>) -> tensor<1x5x3xf32>
    %cst_4 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %6 = stablehlo.reduce(%arg0 init: %cst_4) applies stablehlo.add across dimensions = [2] : (tensor<4x5x3xf32>, tensor<f32>) -> tensor<4x5xf32>
    %cst_5 = stablehlo.constant dense<3.000000e+00> : tensor<f32>
    %7 = stablehlo.broadcast_in_dim %cst_5, dims = [] : (tensor<f32>) -> tensor<4x5xf32>
    %8 = stablehlo.divide %6, %7 : tensor<4x5xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %9 = call @_std(%arg0, %c) : (tensor<4x5x3xf32>, tensor<i32>) -> tensor<4x3xf32>
    %c_6 = stablehlo.constant dense<3> : tensor<i32>
    %10 = stablehlo.broadcast_in_dim %c_6, dims = [] : (tensor<i32>) -> tensor<4x5xi32>
    %11 = stablehlo.compare GT, %arg1, %10, SIGNED : (tensor<4x5xi32>, tensor<4x5xi32>) -> tensor<4x5xi1>
    %12 = stablehlo.and %arg2, %11 : tensor<4x5xi1>
    %c_7 = stablehlo.constant dense<false> : tensor<i1>
    %13 = stablehlo.reduce(%12 init: %c_7) applies stablehlo.or across dimensions = [0] : (tensor<4x5xi1>, tensor<i1>) -> tensor<5xi1>
    %c_8 = stablehlo.constant dense<4> : tensor<i32>
    %14 = stablehlo.broadcast_in_dim %c_8, dims = [] : (tensor<i32>) -> tensor<4x5xi32>
    %15 = stablehlo.compare LT, %arg1, %14, SIGNED : (tensor<4x5xi32>, tensor<4x5xi32>) -> tensor<4x5xi1>
    %16 = stablehlo.or %arg2, %15 : tensor<4x5xi1>
    %c_9 = stablehlo.constant dense<true> : tensor<i1>
    %17 = stablehlo.reduce(%16 init: %c_9) applies stablehlo.and across dimensions = [1] : (tensor<4x5xi1>, tensor<i1>) -> tensor<4xi1>
    %18 = stablehlo.convert %arg2 : (tensor<4x5xi1>) -> tensor<4x5xi32>
    %c_10 = stablehlo.constant dense<0> : tensor<i32>
    %19 = stablehlo.reduce(%18 init: %c_10) applies stablehlo.add across dimensions = [1] : (tensor<4x5xi32>, tensor<i32>) -> tensor<4xi32>
    %20 = call @argmax(%arg0) : (tensor<4x5x3xf32>) -> tensor<4x3xi32>
    %21 = call @argmin(%arg1) : (tensor<4x5xi32>) -> tensor<5xi32>
    %22 = stablehlo.reshape %arg2 : (tensor<4x5xi1>) -> tensor<20xi1>
    %23 = call @argmax_0(%22) : (tensor<20xi1>) -> tensor<i32>
    %24 = call @reduce(%arg1) : (tensor<4x5xi32>) -> tensor<4xi32>
    %c_11 = stablehlo.constant dense<0> : tensor<i32>
    %25 = stablehlo.reduce(%arg1 init: %c_11) applies stablehlo.add across dimensions = [0, 1] : (tensor<4x5xi32>, tensor<i32>) -> tensor<i32>
    %c_12 = stablehlo.constant dense<-2147483648> : tensor<i32>
    %26 = stablehlo.reduce(%arg1 init: %c_12) applies stablehlo.maximum across dimensions = [1] : (tensor<4x5xi32>, tensor<i32>) -> tensor<4xi32>
    %27 = call @norm(%arg0) : (tensor<4x5x3xf32>) -> tensor<4x5xf32>
    %28 = stablehlo.abs %arg0 : tensor<4x5x3xf32>
    %cst_13 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %cst_14 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %29:2 = stablehlo.reduce(%arg0 init: %cst_13), (%28 init: %cst_14) across dimensions = [0, 2] : (tensor<4x5x3xf32>, tensor<4x5x3xf32>, tensor<f32>, tensor<f32>) -> (tensor<5xf32>, tensor<5xf32>)
     reducer(%arg3: tensor<f32>, %arg5: tensor<f32>) (%arg4: tensor<f32>, %arg6: tensor<f32>)  {
      %30 = stablehlo.add %arg3, %arg5 : tensor<f32>
      %31 = stablehlo.multiply %arg4, %arg6 : tensor<f32>
      stablehlo.return %30, %31 : tensor<f32>, tensor<f32>
    }
    return %0, %1, %2, %3, %5, %8, %9, %13, %17, %19, %20, %21, %23, %24, %25, %26, %27, %29#0, %29#1 : tensor<f32>, tensor<5xf32>, tensor<4x3xf32>, tensor<4xf32>, tensor<1x5x3xf32>, tensor<4x5xf32>, tensor<4x3xf32>, tensor<5xi1>, tensor<4xi1>, tensor<4xi32>, tensor<4x3xi32>, tensor<5xi32>, tensor<i32>, tensor<4xi32>, tensor<i32>, tensor<4xi32>, tensor<4x5xf32>, tensor<5xf32>, tensor<5xf32>
  }
  func.func private @_std(%arg0: tensor<4x5x3xf32>, %arg1: tensor<i32>) -> tensor<4x3xf32> {
    %0 = call @_var(%arg0, %arg1) : (tensor<4x5x3xf32>, tensor<i32>) -> tensor<4x3xf32>
    %1 = stablehlo.sqrt %0 : tensor<4x3xf32>
    return %1 : tensor<4x3xf32>
  }
  func.func private @_var(%arg0: tensor<4x5x3xf32>, %arg1: tensor<i32>) -> tensor<4x3xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.reduce(%arg0 init: %cst) applies stablehlo.add across dimensions = [1] : (tensor<4x5x3xf32>, tensor<f32>) -> tensor<4x3xf32>
    %1 = stablehlo.broadcast_in_dim %0, dims = [0, 2] : (tensor<4x3xf32>) -> tensor<4x1x3xf32>
    %cst_0 = stablehlo.constant dense<5.000000e+00> : tensor<f32>
    %2 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<4x1x3xf32>
    %3 = stablehlo.divide %1, %2 : tensor<4x1x3xf32>
    %4 = stablehlo.broadcast_in_dim %3, dims = [0, 1, 2] : (tensor<4x1x3xf32>) -> tensor<4x5x3xf32>
    %5 = stablehlo.subtract %arg0, %4 : tensor<4x5x3xf32>
    %6 = chlo.square %5 : tensor<4x5x3xf32> -> tensor<4x5x3xf32>
    %7 = stablehlo.convert %arg1 : (tensor<i32>) -> tensor<f32>
    %cst_1 = stablehlo.constant dense<5.000000e+00> : tensor<f32>
    %8 = stablehlo.subtract %cst_1, %7 : tensor<f32>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %9 = stablehlo.reduce(%6 init: %cst_2) applies stablehlo.add across dimensions = [1] : (tensor<4x5x3xf32>, tensor<f32>) -> tensor<4x3xf32>
    %10 = stablehlo.broadcast_in_dim %8, dims = [] : (tensor<f32>) -> tensor<4x3xf32>
    %11 = stablehlo.divide %9, %10 : tensor<4x3xf32>
    %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %12 = stablehlo.compare GT, %8, %cst_3, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %cst_4 = stablehlo.constant dense<0x7FC00000> : tensor<f32>
    %13 = call @_where(%12, %11, %cst_4) : (tensor<i1>, tensor<4x3xf32>, tensor<f32>) -> tensor<4x3xf32>
    return %13 : tensor<4x3xf32>
  }
  func.func private @_where(%arg0: tensor<i1>, %arg1: tensor<4x3xf32>, %arg2: tensor<f32>) -> tensor<4x3xf32> {
    %0 = stablehlo.convert %arg2 : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<4x3xf32>
    %2 = stablehlo.select %arg0, %arg1, %1 : tensor<i1>, tensor<4x3xf32>
    return %2 : tensor<4x3xf32>
  }
  func.func private @argmax(%arg0: tensor<4x5x3xf32>) -> tensor<4x3xi32> {
    %0 = stablehlo.iota dim = 1 : tensor<4x5x3xi32>
    %cst = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %1:2 = stablehlo.reduce(%arg0 init: %cst), (%0 init: %c) across dimensions = [1] : (tensor<4x5x3xf32>, tensor<4x5x3xi32>, tensor<f32>, tensor<i32>) -> (tensor<4x3xf32>, tensor<4x3xi32>)
     reducer(%arg1: tensor<f32>, %arg3: tensor<f32>) (%arg2: tensor<i32>, %arg4: tensor<i32>)  {
      %2 = stablehlo.compare GT, %arg1, %arg3, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %3 = stablehlo.compare NE, %arg1, %arg1, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %4 = stablehlo.or %2, %3 : tensor<i1>
      %5 = stablehlo.compare EQ, %arg1, %arg3, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %6 = stablehlo.compare LT, %arg2, %arg4, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %7 = stablehlo.and %5, %6 : tensor<i1>
      %8 = stablehlo.or %4, %7 : tensor<i1>
      %9 = stablehlo.select %4, %arg1, %arg3 : tensor<i1>, tensor<f32>
      %10 = stablehlo.select %8, %arg2, %arg4 : tensor<i1>, tensor<i32>
      stablehlo.return %9, %10 : tensor<f32>, tensor<i32>
    }
    return %1#1 : tensor<4x3xi32>
  }
  func.func private @argmin(%arg0: tensor<4x5xi32>) -> tensor<5xi32> {
    %0 = stablehlo.iota dim = 0 : tensor<4x5xi32>
    %c = stablehlo.constant dense<2147483647> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %1:2 = stablehlo.reduce(%arg0 init: %c), (%0 init: %c_0) across dimensions = [0] : (tensor<4x5xi32>, tensor<4x5xi32>, tensor<i32>, tensor<i32>) -> (tensor<5xi32>, tensor<5xi32>)
     reducer(%arg1: tensor<i32>, %arg3: tensor<i32>) (%arg2: tensor<i32>, %arg4: tensor<i32>)  {
      %2 = stablehlo.compare LT, %arg1, %arg3, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %3 = stablehlo.compare NE, %arg1, %arg1, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %4 = stablehlo.or %2, %3 : tensor<i1>
      %5 = stablehlo.compare EQ, %arg1, %arg3, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %6 = stablehlo.compare LT, %arg2, %arg4, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %7 = stablehlo.and %5, %6 : tensor<i1>
      %8 = stablehlo.or %4, %7 : tensor<i1>
      %9 = stablehlo.select %4, %arg1, %arg3 : tensor<i1>, tensor<i32>
      %10 = stablehlo.select %8, %arg2, %arg4 : tensor<i1>, tensor<i32>
      stablehlo.return %9, %10 : tensor<i32>, tensor<i32>
    }
    return %1#1 : tensor<5xi32>
  }
  func.func private @argmax_0(%arg0: tensor<20xi1>) -> tensor<i32> {
    %0 = stablehlo.iota dim = 0 : tensor<20xi32>
    %c = stablehlo.constant dense<false> : tensor<i1>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %1:2 = stablehlo.reduce(%arg0 init: %c), (%0 init: %c_0) across dimensions = [0] : (tensor<20xi1>, tensor<20xi32>, tensor<i1>, tensor<i32>) -> (tensor<i1>, tensor<i32>)
     reducer(%arg1: tensor<i1>, %arg3: tensor<i1>) (%arg2: tensor<i32>, %arg4: tensor<i32>)  {
      %2 = stablehlo.compare GT, %arg1, %arg3, UNSIGNED : (tensor<i1>, tensor<i1>) -> tensor<i1>
      %3 = stablehlo.compare NE, %arg1, %arg1, UNSIGNED : (tensor<i1>, tensor<i1>) -> tensor<i1>
      %4 = stablehlo.or %2, %3 : tensor<i1>
      %5 = stablehlo.compare EQ, %arg1, %arg3, UNSIGNED : (tensor<i1>, tensor<i1>) -> tensor<i1>
      %6 = stablehlo.compare LT, %arg2, %arg4, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %7 = stablehlo.and %5, %6 : tensor<i1>
      %8 = stablehlo.or %4, %7 : tensor<i1>
      %9 = stablehlo.select %4, %arg1, %arg3 : tensor<i1>, tensor<i1>
      %10 = stablehlo.select %8, %arg2, %arg4 : tensor<i1>, tensor<i32>
      stablehlo.return %9, %10 : tensor<i1>, tensor<i32>
    }
    return %1#1 : tensor<i32>
  }
  func.func private @reduce(%arg0: tensor<4x5xi32>) -> tensor<4xi32> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.reduce(%arg0 init: %c) applies stablehlo.xor across dimensions = [1] : (tensor<4x5xi32>, tensor<i32>) -> tensor<4xi32>
    return %0 : tensor<4xi32>
  }
  func.func private @norm(%arg0: tensor<4x5x3xf32>) -> tensor<4x5xf32> {
    %0 = stablehlo.multiply %arg0, %arg0 : tensor<4x5x3xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1 = stablehlo.reduce(%0 init: %cst) applies stablehlo.add across dimensions = [2] : (tensor<4x5x3xf32>, tensor<f32>) -> tensor<4x5xf32>
    %2 = stablehlo.sqrt %1 : tensor<4x5xf32>
    return %2 : tensor<4x5xf32>
  }
}
