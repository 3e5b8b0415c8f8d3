module @jit_variational_autoencoder_step attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<2xui32>, %arg1: tensor<4x6xf32> {tf.aliasing_output = 0 : i32}, %arg2: tensor<6x4xf32> {tf.aliasing_output = 1 : i32}, %arg3: tensor<2x6xf32> {tf.aliasing_output = 2 : i32}, %arg4: tensor<5x6xf32>) -> (tensor<4x6xf32> {jax.result_info = "result[0][0]"}, tensor<6x4xf32> {jax.result_info = "result[0][1]"}, tensor<2x6xf32> {jax.result_info = "result[0][2]"}, tensor<f32> {jax.result_info = "result[1]"}) {
    %0 = stablehlo.dot_general %arg4, %arg2, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<5x6xf32>, tensor<6x4xf32>) -> tensor<5x4xf32>
    %1 = stablehlo.transpose %arg1, dims = [1, 0] : (tensor<4x6xf32>) -> tensor<6x4xf32>
    %2 = stablehlo.dot_general %arg4, %1, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<5x6xf32>, tensor<6x4xf32>) -> tensor<5x4xf32>
    %3 = stablehlo.add %0, %2 : tensor<5x4xf32>
    %4 = stablehlo.slice %3 [0:5, 0:2] : (tensor<5x4xf32>) -> tensor<5x2xf32>
    %5 = stablehlo.slice %3 [0:5, 2:4] : (tensor<5x4xf32>) -> tensor<5x2xf32>
    %cst = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %6 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<5x2xf32>
    %7 = stablehlo.multiply %6, %5 : tensor<5x2xf32>
    %8 = stablehlo.exponential %7 : tensor<5x2xf32>
    %9 = call @_normal(%arg0) : (tensor<2xui32>) -> tensor<5x2xf32>
    %10 = stablehlo.multiply %8, %9 : tensor<5x2xf32>
    %11 = stablehlo.add %4, %10 : tensor<5x2xf32>
    %12 = stablehlo.dot_general %11, %arg3, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<5x2xf32>, tensor<2x6xf32>) -> tensor<5x6xf32>
    %13 = stablehlo.negate %12 : tensor<5x6xf32>
    %14 = stablehlo.sign %arg4 : tensor<5x6xf32>
    %15 = stablehlo.multiply %13, %14 : tensor<5x6xf32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %16 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<5x6xf32>
    %17 = stablehlo.maximum %16, %15 : tensor<5x6xf32>
    %18 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<5x6xf32>
    %19 = stablehlo.subtract %18, %15 : tensor<5x6xf32>
    %20 = stablehlo.compare NE, %19, %19, FLOAT : (tensor<5x6xf32>, tensor<5x6xf32>) -> tensor<5x6xi1>
    %21 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<5x6xf32>
    %22 = stablehlo.add %21, %15 : tensor<5x6xf32>
    %23 = stablehlo.abs %19 : tensor<5x6xf32>
    %24 = stablehlo.negate %23 : tensor<5x6xf32>
    %25 = stablehlo.exponential %24 : tensor<5x6xf32>
    %26 = stablehlo.log_plus_one %25 : tensor<5x6xf32>
    %27 = stablehlo.add %17, %26 : tensor<5x6xf32>
    %28 = stablehlo.select %20, %22, %27 : tensor<5x6xi1>, tensor<5x6xf32>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %cst_2 = stablehlo.constant dense<0x7F800000> : tensor<f32>
    %29 = stablehlo.compare EQ, %cst_1, %cst_2, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %cst_4 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %30 = stablehlo.select %29, %cst_4, %cst_3 : tensor<i1>, tensor<f32>
    %cst_5 = stablehlo.constant dense<0x7F800000> : tensor<f32>
    %31 = stablehlo.broadcast_in_dim %cst_5, dims = [] : (tensor<f32>) -> tensor<5x6xf32>
    %32 = stablehlo.compare EQ, %28, %31, FLOAT : (tensor<5x6xf32>, tensor<5x6xf32>) -> tensor<5x6xi1>
    %cst_6 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %33 = stablehlo.broadcast_in_dim %cst_6, dims = [] : (tensor<f32>) -> tensor<5x6xf32>
    %34 = stablehlo.select %32, %33, %28 : tensor<5x6xi1>, tensor<5x6xf32>
    %35 = stablehlo.broadcast_in_dim %30, dims = [] : (tensor<f32>) -> tensor<5x6xf32>
    %36 = stablehlo.subtract %35, %34 : tensor<5x6xf32>
    %37 = stablehlo.exponential %36 : tensor<5x6xf32>
    %cst_7 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %38 = stablehlo.broadcast_in_dim %cst_7, dims = [] : (tensor<f32>) -> tensor<5x6xf32>
    %39 = stablehlo.multiply %38, %37 : tensor<5x6xf32>
    %cst_8 = stablehlo.constant dense<0x7F800000> : tensor<f32>
    %40 = stablehlo.broadcast_in_dim %cst_8, dims = [] : (tensor<f32>) -> tensor<5x6xf32>
    %41 = stablehlo.compare EQ, %15, %40, FLOAT : (tensor<5x6xf32>, tensor<5x6xf32>) -> tensor<5x6xi1>
    %cst_9 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %42 = stablehlo.broadcast_in_dim %cst_9, dims = [] : (tensor<f32>) -> tensor<5x6xf32>
    %43 = stablehlo.select %41, %42, %15 : tensor<5x6xi1>, tensor<5x6xf32>
    %cst_10 = stablehlo.constant dense<0x7F800000> : tensor<f32>
    %44 = stablehlo.broadcast_in_dim %cst_10, dims = [] : (tensor<f32>) -> tensor<5x6xf32>
    %45 = stablehlo.compare EQ, %28, %44, FLOAT : (tensor<5x6xf32>, tensor<5x6xf32>) -> tensor<5x6xi1>
    %cst_11 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %46 = stablehlo.broadcast_in_dim %cst_11, dims = [] : (tensor<f32>) -> tensor<5x6xf32>
    %47 = stablehlo.select %45, %46, %28 : tensor<5x6xi1>, tensor<5x6xf32>
    %48 = stablehlo.subtract %43, %47 : tensor<5x6xf32>
    %49 = stablehlo.exponential %48 : tensor<5x6xf32>
    %cst_12 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %50 = stablehlo.reduce(%28 init: %cst_12) applies stablehlo.add across dimensions = [0, 1] : (tensor<5x6xf32>, tensor<f32>) -> tensor<f32>
    %51 = stablehlo.negate %50 : tensor<f32>
    %cst_13 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %52 = stablehlo.broadcast_in_dim %cst_13, dims = [] : (tensor<f32>) -> tensor<5x2xf32>
    %53 = stablehlo.add %52, %5 : tensor<5x2xf32>
    %54 = stablehlo.multiply %4, %4 : tensor<5x2xf32>
    %cst_14 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %55 = stablehlo.broadcast_in_dim %cst_14, dims = [] : (tensor<f32>) -> tensor<5x2xf32>
    %56 = stablehlo.multiply %55, %4 : tensor<5x2xf32>
    %57 = stablehlo.subtract %53, %54 : tensor<5x2xf32>
    %58 = stablehlo.exponential %5 : tensor<5x2xf32>
    %59 = stablehlo.subtract %57, %58 : tensor<5x2xf32>
    %cst_15 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %60 = stablehlo.reduce(%59 init: %cst_15) applies stablehlo.add across dimensions = [0, 1] : (tensor<5x2xf32>, tensor<f32>) -> tensor<f32>
    %cst_16 = stablehlo.constant dense<-5.000000e-01> : tensor<f32>
    %61 = stablehlo.multiply %cst_16, %60 : tensor<f32>
    %62 = stablehlo.subtract %61, %51 : tensor<f32>
    %cst_17 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %63 = stablehlo.negate %cst_17 : tensor<f32>
    %cst_18 = stablehlo.constant dense<-5.000000e-01> : tensor<f32>
    %cst_19 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %64 = stablehlo.multiply %cst_18, %cst_19 : tensor<f32>
    %65 = stablehlo.broadcast_in_dim %64, dims = [] : (tensor<f32>) -> tensor<5x2xf32>
    %66 = stablehlo.negate %65 : tensor<5x2xf32>
    %67 = stablehlo.multiply %66, %58 : tensor<5x2xf32>
    %68 = stablehlo.negate %65 : tensor<5x2xf32>
    %69 = stablehlo.add %67, %65 : tensor<5x2xf32>
    %70 = stablehlo.multiply %68, %56 : tensor<5x2xf32>
    %71 = stablehlo.negate %63 : tensor<f32>
    %72 = stablehlo.broadcast_in_dim %71, dims = [] : (tensor<f32>) -> tensor<5x6xf32>
    %73 = stablehlo.multiply %72, %49 : tensor<5x6xf32>
    %74 = stablehlo.multiply %73, %14 : tensor<5x6xf32>
    %75 = stablehlo.negate %74 : tensor<5x6xf32>
    %76 = stablehlo.dot_general %75, %11, contracting_dims = [0] x [0], precision = [DEFAULT, DEFAULT] : (tensor<5x6xf32>, tensor<5x2xf32>) -> tensor<6x2xf32>
    %77 = stablehlo.transpose %76, dims = [1, 0] : (tensor<6x2xf32>) -> tensor<2x6xf32>
    %78 = stablehlo.dot_general %75, %arg3, contracting_dims = [1] x [1], precision = [DEFAULT, DEFAULT] : (tensor<5x6xf32>, tensor<2x6xf32>) -> tensor<5x2xf32>
    %79 = stablehlo.add %70, %78 : tensor<5x2xf32>
    %80 = stablehlo.multiply %78, %9 : tensor<5x2xf32>
    %81 = stablehlo.multiply %80, %8 : tensor<5x2xf32>
    %cst_20 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %82 = stablehlo.broadcast_in_dim %cst_20, dims = [] : (tensor<f32>) -> tensor<5x2xf32>
    %83 = stablehlo.multiply %82, %81 : tensor<5x2xf32>
    %84 = stablehlo.add %69, %83 : tensor<5x2xf32>
    %85 = stablehlo.concatenate %79, %84, dim = 1 : (tensor<5x2xf32>, tensor<5x2xf32>) -> tensor<5x4xf32>
    %86 = stablehlo.dot_general %85, %arg4, contracting_dims = [0] x [0], precision = [DEFAULT, DEFAULT] : (tensor<5x4xf32>, tensor<5x6xf32>) -> tensor<4x6xf32>
    %87 = stablehlo.transpose %86, dims = [1, 0] : (tensor<4x6xf32>) -> tensor<6x4xf32>
    %88 = stablehlo.transpose %87, dims = [1, 0] : (tensor<6x4xf32>) -> tensor<4x6xf32>
    %89 = stablehlo.dot_general %85, %arg4, contracting_dims = [0] x [0], precision = [DEFAULT, DEFAULT] : (tensor<5x4xf32>, tensor<5x6xf32>) -> tensor<4x6xf32>
    %90 = stablehlo.transpose %89, dims = [1, 0] : (tensor<4x6xf32>) -> tensor<6x4xf32>
    %cst_21 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %91 = stablehlo.broadcast_in_dim %cst_21, dims = [] : (tensor<f32>) -> tensor<4x6xf32>
    %92 = stablehlo.multiply %91, %88 : tensor<4x6xf32>
    %93 = stablehlo.subtract %arg1, %92 : tensor<4x6xf32>
    %cst_22 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %94 = stablehlo.broadcast_in_dim %cst_22, dims = [] : (tensor<f32>) -> tensor<6x4xf32>
    %95 = stablehlo.multiply %94, %90 : tensor<6x4xf32>
    %96 = stablehlo.subtract %arg2, %95 : tensor<6x4xf32>
    %cst_23 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %97 = stablehlo.broadcast_in_dim %cst_23, dims = [] : (tensor<f32>) -> tensor<2x6xf32>
    %98 = stablehlo.multiply %97, %77 : tensor<2x6xf32>
    %99 = stablehlo.subtract %arg3, %98 : tensor<2x6xf32>
    return %93, %96, %99, %62 : tensor<4x6xf32>, tensor<6x4xf32>, tensor<2x6xf32>, tensor<f32>
  }
  func.func private @_normal(%arg0: tensor<2xui32>) -> tensor<5x2xf32> {
    %0 = call @_normal_real(%arg0) : (tensor<2xui32>) -> tensor<5x2xf32>
    return %0 : tensor<5x2xf32>
  }
  func.func private @_normal_real(%arg0: tensor<2xui32>) -> tensor<5x2xf32> {
    %cst = stablehlo.constant dense<-0.99999994> : tensor<f32>
    %cst_0 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %0 = call @_uniform(%arg0, %cst, %cst_0) : (tensor<2xui32>, tensor<f32>, tensor<f32>) -> tensor<5x2xf32>
    %1 = chlo.erf_inv %0 : tensor<5x2xf32> -> tensor<5x2xf32>
    %cst_1 = stablehlo.constant dense<1.41421354> : tensor<f32>
    %2 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<5x2xf32>
    %3 = stablehlo.multiply %2, %1 : tensor<5x2xf32>
    return %3 : tensor<5x2xf32>
  }
  func.func private @_uniform(%arg0: tensor<2xui32>, %arg1: tensor<f32>, %arg2: tensor<f32>) -> tensor<5x2xf32> {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [] : (tensor<f32>) -> tensor<1x1xf32>
    %1 = stablehlo.broadcast_in_dim %arg2, dims = [] : (tensor<f32>) -> tensor<1x1xf32>
    %2 = stablehlo.slice %arg0 [0:1] : (tensor<2xui32>) -> tensor<1xui32>
    %3 = stablehlo.reshape %2 : (tensor<1xui32>) -> tensor<ui32>
    %4 = stablehlo.slice %arg0 [1:2] : (tensor<2xui32>) -> tensor<1xui32>
    %5 = stablehlo.reshape %4 : (tensor<1xui32>) -> tensor<ui32>
    %6 = stablehlo.iota dim = 0 : tensor<5x2xui64>
    %7 = stablehlo.iota dim = 1 : tensor<5x2xui64>
    %c = stablehlo.constant dense<2> : tensor<ui64>
    %8 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<ui64>) -> tensor<5x2xui64>
    %9 = stablehlo.multiply %8, %6 : tensor<5x2xui64>
    %c_0 = stablehlo.constant dense<1> : tensor<ui64>
    %10 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<ui64>) -> tensor<5x2xui64>
    %11 = stablehlo.multiply %10, %7 : tensor<5x2xui64>
    %12 = stablehlo.add %9, %11 : tensor<5x2xui64>
    %c_1 = stablehlo.constant dense<32> : tensor<ui64>
    %13 = stablehlo.broadcast_in_dim %c_1, dims = [] : (tensor<ui64>) -> tensor<5x2xui64>
    %14 = stablehlo.shift_right_logical %12, %13 : tensor<5x2xui64>
    %15 = stablehlo.convert %12 : (tensor<5x2xui64>) -> tensor<5x2xui32>
    %16 = stablehlo.convert %14 : (tensor<5x2xui64>) -> tensor<5x2xui32>
    %17:2 = call @threefry2x32(%3, %5, %16, %15) : (tensor<ui32>, tensor<ui32>, tensor<5x2xui32>, tensor<5x2xui32>) -> (tensor<5x2xui32>, tensor<5x2xui32>)
    %18 = stablehlo.xor %17#0, %17#1 : tensor<5x2xui32>
    %c_2 = stablehlo.constant dense<9> : tensor<ui32>
    %19 = stablehlo.broadcast_in_dim %c_2, dims = [] : (tensor<ui32>) -> tensor<5x2xui32>
    %20 = stablehlo.shift_right_logical %18, %19 : tensor<5x2xui32>
    %c_3 = stablehlo.constant dense<1065353216> : tensor<ui32>
    %21 = stablehlo.broadcast_in_dim %c_3, dims = [] : (tensor<ui32>) -> tensor<5x2xui32>
    %22 = stablehlo.or %20, %21 : tensor<5x2xui32>
    %23 = stablehlo.bitcast_convert %22 : (tensor<5x2xui32>) -> tensor<5x2xf32>
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %24 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<5x2xf32>
    %25 = stablehlo.subtract %23, %24 : tensor<5x2xf32>
    %26 = stablehlo.subtract %1, %0 : tensor<1x1xf32>
    %27 = stablehlo.broadcast_in_dim %26, dims = [0, 1] : (tensor<1x1xf32>) -> tensor<5x2xf32>
    %28 = stablehlo.multiply %25, %27 : tensor<5x2xf32>
    %29 = stablehlo.broadcast_in_dim %0, dims = [0, 1] : (tensor<1x1xf32>) -> tensor<5x2xf32>
    %30 = stablehlo.add %28, %29 : tensor<5x2xf32>
    %31 = stablehlo.broadcast_in_dim %0, dims = [0, 1] : (tensor<1x1xf32>) -> tensor<5x2xf32>
    %32 = stablehlo.maximum %31, %30 : tensor<5x2xf32>
    return %32 : tensor<5x2xf32>
  }
  func.func private @threefry2x32(%arg0: tensor<ui32>, %arg1: tensor<ui32>, %arg2: tensor<5x2xui32>, %arg3: tensor<5x2xui32>) -> (tensor<5x2xui32>, tensor<5x2xui32>) {
    %c = stablehlo.constant dense<[13, 15, 26, 6]> : tensor<4xui32>
    %c_0 = stablehlo.constant dense<[17, 29, 16, 24]> : tensor<4xui32>
    %0 = stablehlo.xor %arg0, %arg1 : tensor<ui32>
    %c_1 = stablehlo.constant dense<466688986> : tensor<ui32>
    %1 = stablehlo.xor %0, %c_1 : tensor<ui32>
    %2 = stablehlo.broadcast_in_dim %arg0, dims = [] : (tensor<ui32>) -> tensor<5x2xui32>
    %3 = stablehlo.add %arg2, %2 : tensor<5x2xui32>
    %4 = stablehlo.broadcast_in_dim %arg1, dims = [] : (tensor<ui32>) -> tensor<5x2xui32>
    %5 = stablehlo.add %arg3, %4 : tensor<5x2xui32>
    %c_2 = stablehlo.constant dense<0> : tensor<i32>
    %c_3 = stablehlo.constant dense<0> : tensor<i32>
    %6:9 = stablehlo.while(%iterArg = %c_3, %iterArg_4 = %c_2, %iterArg_5 = %3, %iterArg_6 = %5, %iterArg_7 = %arg1, %iterArg_8 = %1, %iterArg_9 = %arg0, %iterArg_10 = %c, %iterArg_11 = %c_0) : tensor<i32>, tensor<i32>, tensor<5x2xui32>, tensor<5x2xui32>, tensor<ui32>, tensor<ui32>, tensor<ui32>, tensor<4xui32>, tensor<4xui32>
    cond {
      %c_12 = stablehlo.constant dense<5> : tensor<i32>
      %7 = stablehlo.compare LT, %iterArg, %c_12, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %7 : tensor<i1>
    } do {
      %7:8 = func.call @closed_call(%iterArg_4, %iterArg_5, %iterArg_6, %iterArg_7, %iterArg_8, %iterArg_9, %iterArg_10, %iterArg_11) : (tensor<i32>, tensor<5x2xui32>, tensor<5x2xui32>, tensor<ui32>, tensor<ui32>, tensor<ui32>, tensor<4xui32>, tensor<4xui32>) -> (tensor<i32>, tensor<5x2xui32>, tensor<5x2xui32>, tensor<ui32>, tensor<ui32>, tensor<ui32>, tensor<4xui32>, tensor<4xui32>)
      %c_12 = stablehlo.constant dense<1> : tensor<i32>
      %8 = stablehlo.add %iterArg, %c_12 : tensor<i32>
      stablehlo.return %8, %7#0, %7#1, %7#2, %7#3, %7#4, %7#5, %7#6, %7#7 : tensor<i32>, tensor<i32>, tensor<5x2xui32>, tensor<5x2xui32>, tensor<ui32>, tensor<ui32>, tensor<ui32>, tensor<4xui32>, tensor<4xui32>
    }
    return %6#2, %6#3 : tensor<5x2xui32>, tensor<5x2xui32>
  }
  func.func private @closed_call(%arg0: tensor<i32>, %arg1: tensor<5x2xui32>, %arg2: tensor<5x2xui32>, %arg3: tensor<ui32>, %arg4: tensor<ui32>, %arg5: tensor<ui32>, %arg6: tensor<4xui32>, %arg7: tensor<4xui32>) -> (tensor<i32>, tensor<5x2xui32>, tensor<5x2xui32>, tensor<ui32>, tensor<ui32>, tensor<ui32>, tensor<4xui32>, tensor<4xui32>) {
    %c = stablehlo.constant dense<1> : tensor<i32>
    %0 = stablehlo.add %arg0, %c : tensor<i32>
    %1 = stablehlo.slice %arg6 [0:1] : (tensor<4xui32>) -> tensor<1xui32>
    %2 = stablehlo.reshape %1 : (tensor<1xui32>) -> tensor<ui32>
    %3 = stablehlo.add %arg1, %arg2 : tensor<5x2xui32>
    %4 = stablehlo.broadcast_in_dim %2, dims = [] : (tensor<ui32>) -> tensor<5x2xui32>
    %5 = stablehlo.shift_left %arg2, %4 : tensor<5x2xui32>
    %c_0 = stablehlo.constant dense<32> : tensor<ui32>
    %6 = stablehlo.subtract %c_0, %2 : tensor<ui32>
    %7 = stablehlo.broadcast_in_dim %6, dims = [] : (tensor<ui32>) -> tensor<5x2xui32>
    %8 = stablehlo.shift_right_logical %arg2, %7 : tensor<5x2xui32>
    %9 = stablehlo.or %5, %8 : tensor<5x2xui32>
    %10 = stablehlo.xor %3, %9 : tensor<5x2xui32>
    %11 = stablehlo.slice %arg6 [1:2] : (tensor<4xui32>) -> tensor<1xui32>
    %12 = stablehlo.reshape %11 : (tensor<1xui32>) -> tensor<ui32>
    %13 = stablehlo.add %3, %10 : tensor<5x2xui32>
    %14 = stablehlo.broadcast_in_dim %12, dims = [] : (tensor<ui32>) -> tensor<5x2xui32>
    %15 = stablehlo.shift_left %10, %14 : tensor<5x2xui32>
    %c_1 = stablehlo.constant dense<32> : tensor<ui32>
    %16 = stablehlo.subtract %c_1, %12 : tensor<ui32>
    %17 = stablehlo.broadcast_in_dim %16, dims = [] : (tensor<ui32>) -> tensor<5x2xui32>
    %18 = stablehlo.shift_right_logical %10, %17 : tensor<5x2xui32>
    %19 = stablehlo.or %15, %18 : tensor<5x2xui32>
    %20 = stablehlo.xor %13, %19 : tensor<5x2xui32>
    %21 = stablehlo.slice %arg6 [2:3] : (tensor<4xui32>) -> tensor<1xui32>
    %22 = stablehlo.reshape %21 : (tensor<1xui32>) -> tensor<ui32>
    %23 = stablehlo.add %13, %20 : tensor<5x2xui32>
    %24 = stablehlo.broadcast_in_dim %22, dims = [] : (tensor<ui32>) -> tensor<5x2xui32>
    %25 = stablehlo.shift_left %20, %24 : tensor<5x2xui32>
    %c_2 = stablehlo.constant dense<32> : tensor<ui32>
    %26 = stablehlo.subtract %c_2, %22 : tensor<ui32>
    %27 = stablehlo.broadcast_in_dim %26, dims = [] : (tensor<ui32>) -> tensor<5x2xui32>
    %28 = stablehlo.shift_right_logical %20, %27 : tensor<5x2xui32>
    %29 = stablehlo.or %25, %28 : tensor<5x2xui32>
    %30 = stablehlo.xor %23, %29 : tensor<5x2xui32>
    %31 = stablehlo.slice %arg6 [3:4] : (tensor<4xui32>) -> tensor<1xui32>
    %32 = stablehlo.reshape %31 : (tensor<1xui32>) -> tensor<ui32>
    %33 = stablehlo.add %23, %30 : tensor<5x2xui32>
    %34 = stablehlo.broadcast_in_dim %32, dims = [] : (tensor<ui32>) -> tensor<5x2xui32>
    %35 = stablehlo.shift_left %30, %34 : tensor<5x2xui32>
    %c_3 = stablehlo.constant dense<32> : tensor<ui32>
    %36 = stablehlo.subtract %c_3, %32 : tensor<ui32>
    %37 = stablehlo.broadcast_in_dim %36, dims = [] : (tensor<ui32>) -> tensor<5x2xui32>
    %38 = stablehlo.shift_right_logical %30, %37 : tensor<5x2xui32>
    %39 = stablehlo.or %35, %38 : tensor<5x2xui32>
    %40 = stablehlo.xor %33, %39 : tensor<5x2xui32>
    %41 = stablehlo.broadcast_in_dim %arg3, dims = [] : (tensor<ui32>) -> tensor<5x2xui32>
    %42 = stablehlo.add %33, %41 : tensor<5x2xui32>
    %43 = stablehlo.broadcast_in_dim %arg4, dims = [] : (tensor<ui32>) -> tensor<5x2xui32>
    %44 = stablehlo.add %40, %43 : tensor<5x2xui32>
    %c_4 = stablehlo.constant dense<1> : tensor<i32>
    %45 = stablehlo.add %arg0, %c_4 : tensor<i32>
    %46 = stablehlo.convert %45 : (tensor<i32>) -> tensor<ui32>
    %47 = stablehlo.broadcast_in_dim %46, dims = [] : (tensor<ui32>) -> tensor<5x2xui32>
    %48 = stablehlo.add %44, %47 : tensor<5x2xui32>
    return %0, %42, %48, %arg4, %arg5, %arg3, %arg7, %arg6 : tensor<i32>, tensor<5x2xui32>, tensor<5x2xui32>, tensor<ui32>, tensor<ui32>, tensor<ui32>, tensor<4xui32>, tensor<4xui32>
  }
}
