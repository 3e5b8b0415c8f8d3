module @jit_transformer_scan_layers_grad attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<3x8x24xf32>, %arg1: tensor<3x8x8xf32>, %arg2: tensor<3x8x16xf32>, %arg3: tensor<3x16x8xf32>, %arg4: tensor<2x5x8xf32>) -> (tensor<f32> {jax.result_info = "result[0]"}, tensor<3x8x24xf32> {jax.result_info = "result[1][0]"}, tensor<3x8x8xf32> {jax.result_info = "result[1][1]"}, tensor<3x8x16xf32> {jax.result_info = "result[1][2]"}, tensor<3x16x8xf32> {jax.result_info = "result[1][3]"}) {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0:3 = call @_var(%c) : (tensor<i32>) -> (tensor<f32>, tensor<i1>, tensor<2x5x1xf32>)
    %c_0 = stablehlo.constant dense<true> : tensor<i1>
    %1 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i1>) -> tensor<5x5xi1>
    %2 = call @tril(%1) : (tensor<5x5xi1>) -> tensor<5x5xi1>
    %cst = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %3:2 = call @_where_0(%2, %cst) : (tensor<5x5xi1>, tensor<f32>) -> (tensor<2x2x5x5xi1>, tensor<2x2x5x5xf32>)
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %4:3 = call @_var(%c_1) : (tensor<i32>) -> (tensor<f32>, tensor<i1>, tensor<2x5x1xf32>)
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %5 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<3x2x5x8xf32>
    %c_3 = stablehlo.constant dense<0> : tensor<i32>
    %6:15 = stablehlo.while(%iterArg = %arg0, %iterArg_15 = %arg1, %iterArg_16 = %arg2, %iterArg_17 = %arg3, %iterArg_18 = %0#0, %iterArg_19 = %0#1, %iterArg_20 = %0#2, %iterArg_21 = %3#0, %iterArg_22 = %3#1, %iterArg_23 = %4#0, %iterArg_24 = %4#1, %iterArg_25 = %4#2, %iterArg_26 = %c_3, %iterArg_27 = %arg4, %iterArg_28 = %5) : tensor<3x8x24xf32>, tensor<3x8x8xf32>, tensor<3x8x16xf32>, tensor<3x16x8xf32>, tensor<f32>, tensor<i1>, tensor<2x5x1xf32>, tensor<2x2x5x5xi1>, tensor<2x2x5x5xf32>, tensor<f32>, tensor<i1>, tensor<2x5x1xf32>, tensor<i32>, tensor<2x5x8xf32>, tensor<3x2x5x8xf32>
    cond {
      %c_29 = stablehlo.constant dense<3> : tensor<i32>
      %21 = stablehlo.compare LT, %iterArg_26, %c_29, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %21 : tensor<i1>
    } do {
      %21 = func.call @dynamic_index_in_dim(%iterArg, %iterArg_26) : (tensor<3x8x24xf32>, tensor<i32>) -> tensor<8x24xf32>
      %22 = func.call @dynamic_index_in_dim_1(%iterArg_15, %iterArg_26) : (tensor<3x8x8xf32>, tensor<i32>) -> tensor<8x8xf32>
      %23 = func.call @dynamic_index_in_dim_2(%iterArg_16, %iterArg_26) : (tensor<3x8x16xf32>, tensor<i32>) -> tensor<8x16xf32>
      %24 = func.call @dynamic_index_in_dim_3(%iterArg_17, %iterArg_26) : (tensor<3x16x8xf32>, tensor<i32>) -> tensor<16x8xf32>
      %25:2 = func.call @closed_call(%iterArg_18, %iterArg_19, %iterArg_20, %iterArg_21, %iterArg_22, %iterArg_23, %iterArg_24, %iterArg_25, %iterArg_27, %21, %22, %23, %24) : (tensor<f32>, tensor<i1>, tensor<2x5x1xf32>, tensor<2x2x5x5xi1>, tensor<2x2x5x5xf32>, tensor<f32>, tensor<i1>, tensor<2x5x1xf32>, tensor<2x5x8xf32>, tensor<8x24xf32>, tensor<8x8xf32>, tensor<8x16xf32>, tensor<16x8xf32>) -> (tensor<2x5x8xf32>, tensor<2x5x8xf32>)
      %26 = func.call @dynamic_update_index_in_dim(%iterArg_28, %25#1, %iterArg_26) : (tensor<3x2x5x8xf32>, tensor<2x5x8xf32>, tensor<i32>) -> tensor<3x2x5x8xf32>
      %c_29 = stablehlo.constant dense<1> : tensor<i32>
      %27 = stablehlo.add %iterArg_26, %c_29 : tensor<i32>
      stablehlo.return %iterArg, %iterArg_15, %iterArg_16, %iterArg_17, %iterArg_18, %iterArg_19, %iterArg_20, %iterArg_21, %iterArg_22, %iterArg_23, %iterArg_24, %iterArg_25, %27, %25#0, %26 : tensor<3x8x24xf32>, tensor<3x8x8xf32>, tensor<3x8x16xf32>, tensor<3x16x8xf32>, tensor<f32>, tensor<i1>, tensor<2x5x1xf32>, tensor<2x2x5x5xi1>, tensor<2x2x5x5xf32>, tensor<f32>, tensor<i1>, tensor<2x5x1xf32>, tensor<i32>, tensor<2x5x8xf32>, tensor<3x2x5x8xf32>
    }
    %7 = stablehlo.multiply %6#13, %6#13 : tensor<2x5x8xf32>
    %cst_4 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %8 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<2x5x8xf32>
    %9 = stablehlo.multiply %8, %6#13 : tensor<2x5x8xf32>
    %cst_5 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %10 = stablehlo.reduce(%7 init: %cst_5) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<2x5x8xf32>, tensor<f32>) -> tensor<f32>
    %cst_6 = stablehlo.constant dense<8.000000e+01> : tensor<f32>
    %11 = stablehlo.divide %10, %cst_6 : tensor<f32>
    %cst_7 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %12 = stablehlo.broadcast_in_dim %cst_7, dims = [] : (tensor<f32>) -> tensor<2x5x8xf32>
    %cst_8 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %cst_9 = stablehlo.constant dense<8.000000e+01> : tensor<f32>
    %13 = stablehlo.divide %cst_8, %cst_9 : tensor<f32>
    %14 = stablehlo.broadcast_in_dim %13, dims = [] : (tensor<f32>) -> tensor<2x5x8xf32>
    %15 = stablehlo.multiply %14, %9 : tensor<2x5x8xf32>
    %cst_10 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %16 = stablehlo.broadcast_in_dim %cst_10, dims = [] : (tensor<f32>) -> tensor<3x8x24xf32>
    %cst_11 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %17 = stablehlo.broadcast_in_dim %cst_11, dims = [] : (tensor<f32>) -> tensor<3x8x8xf32>
    %cst_12 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %18 = stablehlo.broadcast_in_dim %cst_12, dims = [] : (tensor<f32>) -> tensor<3x8x16xf32>
    %cst_13 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %19 = stablehlo.broadcast_in_dim %cst_13, dims = [] : (tensor<f32>) -> tensor<3x16x8xf32>
    %c_14 = stablehlo.constant dense<0> : tensor<i32>
    %20:11 = stablehlo.while(%iterArg = %6#14, %iterArg_15 = %arg0, %iterArg_16 = %arg1, %iterArg_17 = %arg2, %iterArg_18 = %arg3, %iterArg_19 = %c_14, %iterArg_20 = %15, %iterArg_21 = %16, %iterArg_22 = %17, %iterArg_23 = %18, %iterArg_24 = %19) : tensor<3x2x5x8xf32>, tensor<3x8x24xf32>, tensor<3x8x8xf32>, tensor<3x8x16xf32>, tensor<3x16x8xf32>, tensor<i32>, tensor<2x5x8xf32>, tensor<3x8x24xf32>, tensor<3x8x8xf32>, tensor<3x8x16xf32>, tensor<3x16x8xf32>
    cond {
      %c_25 = stablehlo.constant dense<3> : tensor<i32>
      %21 = stablehlo.compare LT, %iterArg_19, %c_25, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %21 : tensor<i1>
    } do {
      %c_25 = stablehlo.constant dense<3> : tensor<i32>
      %21 = stablehlo.subtract %c_25, %iterArg_19 : tensor<i32>
      %c_26 = stablehlo.constant dense<1> : tensor<i32>
      %22 = stablehlo.subtract %21, %c_26 : tensor<i32>
      %23 = func.call @dynamic_index_in_dim_7(%iterArg, %22) : (tensor<3x2x5x8xf32>, tensor<i32>) -> tensor<2x5x8xf32>
      %24 = func.call @dynamic_index_in_dim(%iterArg_15, %22) : (tensor<3x8x24xf32>, tensor<i32>) -> tensor<8x24xf32>
      %25 = func.call @dynamic_index_in_dim_1(%iterArg_16, %22) : (tensor<3x8x8xf32>, tensor<i32>) -> tensor<8x8xf32>
      %26 = func.call @dynamic_index_in_dim_2(%iterArg_17, %22) : (tensor<3x8x16xf32>, tensor<i32>) -> tensor<8x16xf32>
      %27 = func.call @dynamic_index_in_dim_3(%iterArg_18, %22) : (tensor<3x16x8xf32>, tensor<i32>) -> tensor<16x8xf32>
      %28:5 = func.call @closed_call_8(%iterArg_20, %23, %24, %25, %26, %27) : (tensor<2x5x8xf32>, tensor<2x5x8xf32>, tensor<8x24xf32>, tensor<8x8xf32>, tensor<8x16xf32>, tensor<16x8xf32>) -> (tensor<2x5x8xf32>, tensor<8x24xf32>, tensor<8x8xf32>, tensor<8x16xf32>, tensor<16x8xf32>)
      %29 = func.call @dynamic_update_index_in_dim_16(%iterArg_21, %28#1, %22) : (tensor<3x8x24xf32>, tensor<8x24xf32>, tensor<i32>) -> tensor<3x8x24xf32>
      %30 = func.call @dynamic_update_index_in_dim_17(%iterArg_22, %28#2, %22) : (tensor<3x8x8xf32>, tensor<8x8xf32>, tensor<i32>) -> tensor<3x8x8xf32>
      %31 = func.call @dynamic_update_index_in_dim_18(%iterArg_23, %28#3, %22) : (tensor<3x8x16xf32>, tensor<8x16xf32>, tensor<i32>) -> tensor<3x8x16xf32>
      %32 = func.call @dynamic_update_index_in_dim_19(%iterArg_24, %28#4, %22) : (tensor<3x16x8xf32>, tensor<16x8xf32>, tensor<i32>) -> tensor<3x16x8xf32>
      %c_27 = stablehlo.constant dense<1> : tensor<i32>
      %33 = stablehlo.add %iterArg_19, %c_27 : tensor<i32>
      stablehlo.return %iterArg, %iterArg_15, %iterArg_16, %iterArg_17, %iterArg_18, %33, %28#0, %29, %30, %31, %32 : tensor<3x2x5x8xf32>, tensor<3x8x24xf32>, tensor<3x8x8xf32>, tensor<3x8x16xf32>, tensor<3x16x8xf32>, tensor<i32>, tensor<2x5x8xf32>, tensor<3x8x24xf32>, tensor<3x8x8xf32>, tensor<3x8x16xf32>, tensor<3x16x8xf32>
    }
    return %11, %20#7, %20#8, %20#9, %20#10 : tensor<f32>, tensor<3x8x24xf32>, tensor<3x8x8xf32>, tensor<3x8x16xf32>, tensor<3x16x8xf32>
  }
  func.func private @_var(%arg0: tensor<i32>) -> (tensor<f32>, tensor<i1>, tensor<2x5x1xf32>) {
    %0 = stablehlo.convert %arg0 : (tensor<i32>) -> tensor<f32>
    %cst = stablehlo.constant dense<8.000000e+00> : tensor<f32>
    %1 = stablehlo.subtract %cst, %0 : tensor<f32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %2 = stablehlo.compare GT, %1, %cst_0, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %cst_1 = stablehlo.constant dense<0x7FC00000> : tensor<f32>
    %3 = call @_where(%2, %cst_1) : (tensor<i1>, tensor<f32>) -> tensor<2x5x1xf32>
    return %1, %2, %3 : tensor<f32>, tensor<i1>, tensor<2x5x1xf32>
  }
  func.func private @_where(%arg0: tensor<i1>, %arg1: tensor<f32>) -> tensor<2x5x1xf32> {
    %0 = stablehlo.convert %arg1 : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<2x5x1xf32>
    return %1 : tensor<2x5x1xf32>
  }
  func.func private @tril(%arg0: tensor<5x5xi1>) -> tensor<5x5xi1> {
    %0 = stablehlo.iota dim = 0 : tensor<5x5xi32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<5x5xi32>
    %2 = stablehlo.add %0, %1 : tensor<5x5xi32>
    %3 = stablehlo.iota dim = 1 : tensor<5x5xi32>
    %4 = stablehlo.compare GE, %2, %3, SIGNED : (tensor<5x5xi32>, tensor<5x5xi32>) -> tensor<5x5xi1>
    %c_0 = stablehlo.constant dense<false> : tensor<i1>
    %5 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i1>) -> tensor<5x5xi1>
    %6 = stablehlo.select %4, %arg0, %5 : tensor<5x5xi1>, tensor<5x5xi1>
    return %6 : tensor<5x5xi1>
  }
  func.func private @_where_0(%arg0: tensor<5x5xi1>, %arg1: tensor<f32>) -> (tensor<2x2x5x5xi1>, tensor<2x2x5x5xf32>) {
    %0 = stablehlo.convert %arg1 : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %arg0, dims = [2, 3] : (tensor<5x5xi1>) -> tensor<2x2x5x5xi1>
    %2 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<2x2x5x5xf32>
    return %1, %2 : tensor<2x2x5x5xi1>, tensor<2x2x5x5xf32>
  }
  func.func private @dynamic_index_in_dim(%arg0: tensor<3x8x24xf32>, %arg1: tensor<i32>) -> tensor<8x24xf32> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.dynamic_slice %arg0, %arg1, %c, %c_0, sizes = [1, 8, 24] : (tensor<3x8x24xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x8x24xf32>
    %1 = stablehlo.reshape %0 : (tensor<1x8x24xf32>) -> tensor<8x24xf32>
    return %1 : tensor<8x24xf32>
  }
  func.func private @dynamic_index_in_dim_1(%arg0: tensor<3x8x8xf32>, %arg1: tensor<i32>) -> tensor<8x8xf32> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.dynamic_slice %arg0, %arg1, %c, %c_0, sizes = [1, 8, 8] : (tensor<3x8x8xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x8x8xf32>
    %1 = stablehlo.reshape %0 : (tensor<1x8x8xf32>) -> tensor<8x8xf32>
    return %1 : tensor<8x8xf32>
  }
  func.func private @dynamic_index_in_dim_2(%arg0: tensor<3x8x16xf32>, %arg1: tensor<i32>) -> tensor<8x16xf32> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.dynamic_slice %arg0, %arg1, %c, %c_0, sizes = [1, 8, 16] : (tensor<3x8x16xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x8x16xf32>
    %1 = stablehlo.reshape %0 : (tensor<1x8x16xf32>) -> tensor<8x16xf32>
    return %1 : tensor<8x16xf32>
  }
  func.func private @dynamic_index_in_dim_3(%arg0: tensor<3x16x8xf32>, %arg1: tensor<i32>) -> tensor<16x8xf32> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.dynamic_slice %arg0, %arg1, %c, %c_0, sizes = [1, 16, 8] : (tensor<3x16x8xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x16x8xf32>
    %1 = stablehlo.reshape %0 : (tensor<1x16x8xf32>) -> tensor<16x8xf32>
    return %1 : tensor<16x8xf32>
  }
  func.func private @closed_call(%arg0: tensor<f32>, %arg1: tensor<i1>, %arg2: tensor<2x5x1xf32>, %arg3: tensor<2x2x5x5xi1>, %arg4: tensor<2x2x5x5xf32>, %arg5: tensor<f32>, %arg6: tensor<i1>, %arg7: tensor<2x5x1xf32>, %arg8: tensor<2x5x8xf32>, %arg9: tensor<8x24xf32>, %arg10: tensor<8x8xf32>, %arg11: tensor<8x16xf32>, %arg12: tensor<16x8xf32>) -> (tensor<2x5x8xf32>, tensor<2x5x8xf32>) {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.reduce(%arg8 init: %cst) applies stablehlo.add across dimensions = [2] : (tensor<2x5x8xf32>, tensor<f32>) -> tensor<2x5xf32>
    %1 = stablehlo.broadcast_in_dim %0, dims = [0, 1] : (tensor<2x5xf32>) -> tensor<2x5x1xf32>
    %cst_0 = stablehlo.constant dense<8.000000e+00> : tensor<f32>
    %2 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<2x5x1xf32>
    %3 = stablehlo.divide %1, %2 : tensor<2x5x1xf32>
    %4 = stablehlo.broadcast_in_dim %3, dims = [0, 1, 2] : (tensor<2x5x1xf32>) -> tensor<2x5x8xf32>
    %5 = stablehlo.subtract %arg8, %4 : tensor<2x5x8xf32>
    %6 = call @_var_4(%arg8, %arg0, %arg1, %arg2) : (tensor<2x5x8xf32>, tensor<f32>, tensor<i1>, tensor<2x5x1xf32>) -> tensor<2x5x1xf32>
    %cst_1 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %7 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<2x5x1xf32>
    %8 = stablehlo.add %6, %7 : tensor<2x5x1xf32>
    %9 = stablehlo.rsqrt %8 : tensor<2x5x1xf32>
    %10 = stablehlo.broadcast_in_dim %9, dims = [0, 1, 2] : (tensor<2x5x1xf32>) -> tensor<2x5x8xf32>
    %11 = stablehlo.multiply %5, %10 : tensor<2x5x8xf32>
    %12 = stablehlo.dot_general %11, %arg9, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<2x5x8xf32>, tensor<8x24xf32>) -> tensor<2x5x24xf32>
    %13 = stablehlo.reshape %12 : (tensor<2x5x24xf32>) -> tensor<2x5x6x4xf32>
    %14 = stablehlo.slice %13 [0:2, 0:5, 0:2, 0:4] : (tensor<2x5x6x4xf32>) -> tensor<2x5x2x4xf32>
    %15 = stablehlo.slice %13 [0:2, 0:5, 2:4, 0:4] : (tensor<2x5x6x4xf32>) -> tensor<2x5x2x4xf32>
    %16 = stablehlo.slice %13 [0:2, 0:5, 4:6, 0:4] : (tensor<2x5x6x4xf32>) -> tensor<2x5x2x4xf32>
    %17 = stablehlo.dot_general %14, %15, batching_dims = [0, 2] x [0, 2], contracting_dims = [3] x [3], precision = [DEFAULT, DEFAULT] : (tensor<2x5x2x4xf32>, tensor<2x5x2x4xf32>) -> tensor<2x2x5x5xf32>
    %cst_2 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %18 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<2x2x5x5xf32>
    %19 = stablehlo.multiply %17, %18 : tensor<2x2x5x5xf32>
    %20 = call @_where_6(%19, %arg3, %arg4) : (tensor<2x2x5x5xf32>, tensor<2x2x5x5xi1>, tensor<2x2x5x5xf32>) -> tensor<2x2x5x5xf32>
    %cst_3 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %21 = stablehlo.reduce(%20 init: %cst_3) applies stablehlo.maximum across dimensions = [3] : (tensor<2x2x5x5xf32>, tensor<f32>) -> tensor<2x2x5xf32>
    %cst_4 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %22 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<2x2x5xf32>
    %23 = stablehlo.maximum %22, %21 : tensor<2x2x5xf32>
    %24 = stablehlo.broadcast_in_dim %23, dims = [0, 1, 2] : (tensor<2x2x5xf32>) -> tensor<2x2x5x1xf32>
    %25 = stablehlo.broadcast_in_dim %24, dims = [0, 1, 2, 3] : (tensor<2x2x5x1xf32>) -> tensor<2x2x5x5xf32>
    %26 = stablehlo.subtract %20, %25 : tensor<2x2x5x5xf32>
    %27 = stablehlo.exponential %26 : tensor<2x2x5x5xf32>
    %cst_5 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %28 = stablehlo.reduce(%27 init: %cst_5) applies stablehlo.add across dimensions = [3] : (tensor<2x2x5x5xf32>, tensor<f32>) -> tensor<2x2x5xf32>
    %29 = stablehlo.broadcast_in_dim %28, dims = [0, 1, 2] : (tensor<2x2x5xf32>) -> tensor<2x2x5x1xf32>
    %30 = stablehlo.broadcast_in_dim %29, dims = [0, 1, 2, 3] : (tensor<2x2x5x1xf32>) -> tensor<2x2x5x5xf32>
    %31 = stablehlo.divide %27, %30 : tensor<2x2x5x5xf32>
    %32 = stablehlo.dot_general %16, %31, batching_dims = [0, 2] x [0, 1], contracting_dims = [1] x [3], precision = [DEFAULT, DEFAULT] : (tensor<2x5x2x4xf32>, tensor<2x2x5x5xf32>) -> tensor<2x2x4x5xf32>
    %33 = stablehlo.transpose %32, dims = [0, 3, 1, 2] : (tensor<2x2x4x5xf32>) -> tensor<2x5x2x4xf32>
    %34 = stablehlo.reshape %33 : (tensor<2x5x2x4xf32>) -> tensor<2x5x8xf32>
    %35 = stablehlo.dot_general %34, %arg10, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<2x5x8xf32>, tensor<8x8xf32>) -> tensor<2x5x8xf32>
    %36 = stablehlo.add %arg8, %35 : tensor<2x5x8xf32>
    %cst_6 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %37 = stablehlo.reduce(%36 init: %cst_6) applies stablehlo.add across dimensions = [2] : (tensor<2x5x8xf32>, tensor<f32>) -> tensor<2x5xf32>
    %38 = stablehlo.broadcast_in_dim %37, dims = [0, 1] : (tensor<2x5xf32>) -> tensor<2x5x1xf32>
    %cst_7 = stablehlo.constant dense<8.000000e+00> : tensor<f32>
    %39 = stablehlo.broadcast_in_dim %cst_7, dims = [] : (tensor<f32>) -> tensor<2x5x1xf32>
    %40 = stablehlo.divide %38, %39 : tensor<2x5x1xf32>
    %41 = stablehlo.broadcast_in_dim %40, dims = [0, 1, 2] : (tensor<2x5x1xf32>) -> tensor<2x5x8xf32>
    %42 = stablehlo.subtract %36, %41 : tensor<2x5x8xf32>
    %43 = call @_var_4(%36, %arg5, %arg6, %arg7) : (tensor<2x5x8xf32>, tensor<f32>, tensor<i1>, tensor<2x5x1xf32>) -> tensor<2x5x1xf32>
    %cst_8 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %44 = stablehlo.broadcast_in_dim %cst_8, dims = [] : (tensor<f32>) -> tensor<2x5x1xf32>
    %45 = stablehlo.add %43, %44 : tensor<2x5x1xf32>
    %46 = stablehlo.rsqrt %45 : tensor<2x5x1xf32>
    %47 = stablehlo.broadcast_in_dim %46, dims = [0, 1, 2] : (tensor<2x5x1xf32>) -> tensor<2x5x8xf32>
    %48 = stablehlo.multiply %42, %47 : tensor<2x5x8xf32>
    %49 = stablehlo.dot_general %48, %arg11, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<2x5x8xf32>, tensor<8x16xf32>) -> tensor<2x5x16xf32>
    %50 = stablehlo.multiply %49, %49 : tensor<2x5x16xf32>
    %51 = stablehlo.multiply %50, %49 : tensor<2x5x16xf32>
    %cst_9 = stablehlo.constant dense<4.471500e-02> : tensor<f32>
    %52 = stablehlo.broadcast_in_dim %cst_9, dims = [] : (tensor<f32>) -> tensor<2x5x16xf32>
    %53 = stablehlo.multiply %52, %51 : tensor<2x5x16xf32>
    %54 = stablehlo.add %49, %53 : tensor<2x5x16xf32>
    %cst_10 = stablehlo.constant dense<0.797884583> : tensor<f32>
    %55 = stablehlo.broadcast_in_dim %cst_10, dims = [] : (tensor<f32>) -> tensor<2x5x16xf32>
    %56 = stablehlo.multiply %55, %54 : tensor<2x5x16xf32>
    %57 = stablehlo.tanh %56 : tensor<2x5x16xf32>
    %cst_11 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %58 = stablehlo.broadcast_in_dim %cst_11, dims = [] : (tensor<f32>) -> tensor<2x5x16xf32>
    %59 = stablehlo.add %58, %57 : tensor<2x5x16xf32>
    %cst_12 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %60 = stablehlo.broadcast_in_dim %cst_12, dims = [] : (tensor<f32>) -> tensor<2x5x16xf32>
    %61 = stablehlo.multiply %60, %59 : tensor<2x5x16xf32>
    %62 = stablehlo.multiply %49, %61 : tensor<2x5x16xf32>
    %63 = stablehlo.dot_general %62, %arg12, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<2x5x16xf32>, tensor<16x8xf32>) -> tensor<2x5x8xf32>
    %64 = stablehlo.add %36, %63 : tensor<2x5x8xf32>
    return %64, %arg8 : tensor<2x5x8xf32>, tensor<2x5x8xf32>
  }
  func.func private @_var_4(%arg0: tensor<2x5x8xf32>, %arg1: tensor<f32>, %arg2: tensor<i1>, %arg3: tensor<2x5x1xf32>) -> tensor<2x5x1xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.reduce(%arg0 init: %cst) applies stablehlo.add across dimensions = [2] : (tensor<2x5x8xf32>, tensor<f32>) -> tensor<2x5xf32>
    %1 = stablehlo.broadcast_in_dim %0, dims = [0, 1] : (tensor<2x5xf32>) -> tensor<2x5x1xf32>
    %cst_0 = stablehlo.constant dense<8.000000e+00> : tensor<f32>
    %2 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<2x5x1xf32>
    %3 = stablehlo.divide %1, %2 : tensor<2x5x1xf32>
    %4 = stablehlo.broadcast_in_dim %3, dims = [0, 1, 2] : (tensor<2x5x1xf32>) -> tensor<2x5x8xf32>
    %5 = stablehlo.subtract %arg0, %4 : tensor<2x5x8xf32>
    %6 = chlo.square %5 : tensor<2x5x8xf32> -> tensor<2x5x8xf32>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %7 = stablehlo.reduce(%6 init: %cst_1) applies stablehlo.add across dimensions = [2] : (tensor<2x5x8xf32>, tensor<f32>) -> tensor<2x5xf32>
    %8 = stablehlo.broadcast_in_dim %7, dims = [0, 1] : (tensor<2x5xf32>) -> tensor<2x5x1xf32>
    %9 = stablehlo.broadcast_in_dim %arg1, dims = [] : (tensor<f32>) -> tensor<2x5x1xf32>
    %10 = stablehlo.divide %8, %9 : tensor<2x5x1xf32>
    %11 = call @_where_5(%10, %arg2, %arg3) : (tensor<2x5x1xf32>, tensor<i1>, tensor<2x5x1xf32>) -> tensor<2x5x1xf32>
    return %11 : tensor<2x5x1xf32>
  }
  func.func private @_where_5(%arg0: tensor<2x5x1xf32>, %arg1: tensor<i1>, %arg2: tensor<2x5x1xf32>) -> tensor<2x5x1xf32> {
    %0 = stablehlo.select %arg1, %arg0, %arg2 : tensor<i1>, tensor<2x5x1xf32>
    return %0 : tensor<2x5x1xf32>
  }
  func.func private @_where_6(%arg0: tensor<2x2x5x5xf32>, %arg1: tensor<2x2x5x5xi1>, %arg2: tensor<2x2x5x5xf32>) -> tensor<2x2x5x5xf32> {
    %0 = stablehlo.select %arg1, %arg0, %arg2 : tensor<2x2x5x5xi1>, tensor<2x2x5x5xf32>
    return %0 : tensor<2x2x5x5xf32>
  }
  func.func private @dynamic_update_index_in_dim(%arg0: tensor<3x2x5x8xf32>, %arg1: tensor<2x5x8xf32>, %arg2: tensor<i32>) -> tensor<3x2x5x8xf32> {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [1, 2, 3] : (tensor<2x5x8xf32>) -> tensor<1x2x5x8xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.dynamic_update_slice %arg0, %0, %arg2, %c, %c_0, %c_1 : (tensor<3x2x5x8xf32>, tensor<1x2x5x8xf32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<3x2x5x8xf32>
    return %1 : tensor<3x2x5x8xf32>
  }
  func.func private @dynamic_index_in_dim_7(%arg0: tensor<3x2x5x8xf32>, %arg1: tensor<i32>) -> tensor<2x5x8xf32> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.dynamic_slice %arg0, %arg1, %c, %c_0, %c_1, sizes = [1, 2, 5, 8] : (tensor<3x2x5x8xf32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x2x5x8xf32>
    %1 = stablehlo.reshape %0 : (tensor<1x2x5x8xf32>) -> tensor<2x5x8xf32>
    return %1 : tensor<2x5x8xf32>
  }
  func.func private @closed_call_8(%arg0: tensor<2x5x8xf32>, %arg1: tensor<2x5x8xf32>, %arg2: tensor<8x24xf32>, %arg3: tensor<8x8xf32>, %arg4: tensor<8x16xf32>, %arg5: tensor<16x8xf32>) -> (tensor<2x5x8xf32>, tensor<8x24xf32>, tensor<8x8xf32>, tensor<8x16xf32>, tensor<16x8xf32>) {
    %0:6 = stablehlo.optimization_barrier %arg1, %arg2, %arg3, %arg4, %arg5, %arg0 : tensor<2x5x8xf32>, tensor<8x24xf32>, tensor<8x8xf32>, tensor<8x16xf32>, tensor<16x8xf32>, tensor<2x5x8xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1 = stablehlo.reduce(%0#0 init: %cst) applies stablehlo.add across dimensions = [2] : (tensor<2x5x8xf32>, tensor<f32>) -> tensor<2x5xf32>
    %2 = stablehlo.broadcast_in_dim %1, dims = [0, 1] : (tensor<2x5xf32>) -> tensor<2x5x1xf32>
    %cst_0 = stablehlo.constant dense<8.000000e+00> : tensor<f32>
    %3 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<2x5x1xf32>
    %4 = stablehlo.divide %2, %3 : tensor<2x5x1xf32>
    %5 = stablehlo.broadcast_in_dim %4, dims = [0, 1, 2] : (tensor<2x5x1xf32>) -> tensor<2x5x8xf32>
    %6 = stablehlo.subtract %0#0, %5 : tensor<2x5x8xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %7:5 = call @_var_9(%0#0, %c) : (tensor<2x5x8xf32>, tensor<i32>) -> (tensor<2x5x1xf32>, tensor<2x5x8xf32>, tensor<f32>, tensor<i1>, tensor<2x5x1xf32>)
    %cst_1 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %8 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<2x5x1xf32>
    %9 = stablehlo.add %7#0, %8 : tensor<2x5x1xf32>
    %10 = stablehlo.rsqrt %9 : tensor<2x5x1xf32>
    %11 = stablehlo.divide %10, %9 : tensor<2x5x1xf32>
    %cst_2 = stablehlo.constant dense<-5.000000e-01> : tensor<f32>
    %12 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<2x5x1xf32>
    %13 = stablehlo.multiply %12, %11 : tensor<2x5x1xf32>
    %14 = stablehlo.broadcast_in_dim %10, dims = [0, 1, 2] : (tensor<2x5x1xf32>) -> tensor<2x5x8xf32>
    %15 = stablehlo.multiply %6, %14 : tensor<2x5x8xf32>
    %16 = stablehlo.dot_general %15, %0#1, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<2x5x8xf32>, tensor<8x24xf32>) -> tensor<2x5x24xf32>
    %17 = stablehlo.reshape %16 : (tensor<2x5x24xf32>) -> tensor<2x5x6x4xf32>
    %18 = stablehlo.slice %17 [0:2, 0:5, 0:2, 0:4] : (tensor<2x5x6x4xf32>) -> tensor<2x5x2x4xf32>
    %19 = stablehlo.slice %17 [0:2, 0:5, 2:4, 0:4] : (tensor<2x5x6x4xf32>) -> tensor<2x5x2x4xf32>
    %20 = stablehlo.slice %17 [0:2, 0:5, 4:6, 0:4] : (tensor<2x5x6x4xf32>) -> tensor<2x5x2x4xf32>
    %21 = stablehlo.dot_general %18, %19, batching_dims = [0, 2] x [0, 2], contracting_dims = [3] x [3], precision = [DEFAULT, DEFAULT] : (tensor<2x5x2x4xf32>, tensor<2x5x2x4xf32>) -> tensor<2x2x5x5xf32>
    %cst_3 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %22 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<2x2x5x5xf32>
    %23 = stablehlo.multiply %21, %22 : tensor<2x2x5x5xf32>
    %c_4 = stablehlo.constant dense<true> : tensor<i1>
    %24 = stablehlo.broadcast_in_dim %c_4, dims = [] : (tensor<i1>) -> tensor<5x5xi1>
    %25 = call @tril_11(%24) : (tensor<5x5xi1>) -> tensor<5x5xi1>
    %cst_5 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %26:3 = call @_where_12(%25, %23, %cst_5) : (tensor<5x5xi1>, tensor<2x2x5x5xf32>, tensor<f32>) -> (tensor<2x2x5x5xf32>, tensor<2x2x5x5xi1>, tensor<2x2x5x5xf32>)
    %cst_6 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %27 = stablehlo.reduce(%26#0 init: %cst_6) applies stablehlo.maximum across dimensions = [3] : (tensor<2x2x5x5xf32>, tensor<f32>) -> tensor<2x2x5xf32>
    %cst_7 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %28 = stablehlo.broadcast_in_dim %cst_7, dims = [] : (tensor<f32>) -> tensor<2x2x5xf32>
    %29 = stablehlo.maximum %28, %27 : tensor<2x2x5xf32>
    %30 = stablehlo.broadcast_in_dim %29, dims = [0, 1, 2] : (tensor<2x2x5xf32>) -> tensor<2x2x5x1xf32>
    %31 = stablehlo.broadcast_in_dim %30, dims = [0, 1, 2, 3] : (tensor<2x2x5x1xf32>) -> tensor<2x2x5x5xf32>
    %32 = stablehlo.subtract %26#0, %31 : tensor<2x2x5x5xf32>
    %33 = stablehlo.exponential %32 : tensor<2x2x5x5xf32>
    %cst_8 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %34 = stablehlo.reduce(%33 init: %cst_8) applies stablehlo.add across dimensions = [3] : (tensor<2x2x5x5xf32>, tensor<f32>) -> tensor<2x2x5xf32>
    %35 = stablehlo.broadcast_in_dim %34, dims = [0, 1, 2] : (tensor<2x2x5xf32>) -> tensor<2x2x5x1xf32>
    %36 = stablehlo.broadcast_in_dim %35, dims = [0, 1, 2, 3] : (tensor<2x2x5x1xf32>) -> tensor<2x2x5x5xf32>
    %37 = stablehlo.divide %33, %36 : tensor<2x2x5x5xf32>
    %38 = stablehlo.multiply %35, %35 : tensor<2x2x5x1xf32>
    %cst_9 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %39 = stablehlo.broadcast_in_dim %cst_9, dims = [] : (tensor<f32>) -> tensor<2x2x5x1xf32>
    %40 = stablehlo.divide %39, %38 : tensor<2x2x5x1xf32>
    %41 = stablehlo.dot_general %20, %37, batching_dims = [0, 2] x [0, 1], contracting_dims = [1] x [3], precision = [DEFAULT, DEFAULT] : (tensor<2x5x2x4xf32>, tensor<2x2x5x5xf32>) -> tensor<2x2x4x5xf32>
    %42 = stablehlo.transpose %41, dims = [0, 3, 1, 2] : (tensor<2x2x4x5xf32>) -> tensor<2x5x2x4xf32>
    %43 = stablehlo.reshape %42 : (tensor<2x5x2x4xf32>) -> tensor<2x5x8xf32>
    %44 = stablehlo.dot_general %43, %0#2, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<2x5x8xf32>, tensor<8x8xf32>) -> tensor<2x5x8xf32>
    %45 = stablehlo.add %0#0, %44 : tensor<2x5x8xf32>
    %cst_10 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %46 = stablehlo.reduce(%45 init: %cst_10) applies stablehlo.add across dimensions = [2] : (tensor<2x5x8xf32>, tensor<f32>) -> tensor<2x5xf32>
    %47 = stablehlo.broadcast_in_dim %46, dims = [0, 1] : (tensor<2x5xf32>) -> tensor<2x5x1xf32>
    %cst_11 = stablehlo.constant dense<8.000000e+00> : tensor<f32>
    %48 = stablehlo.broadcast_in_dim %cst_11, dims = [] : (tensor<f32>) -> tensor<2x5x1xf32>
    %49 = stablehlo.divide %47, %48 : tensor<2x5x1xf32>
    %50 = stablehlo.broadcast_in_dim %49, dims = [0, 1, 2] : (tensor<2x5x1xf32>) -> tensor<2x5x8xf32>
    %51 = stablehlo.subtract %45, %50 : tensor<2x5x8xf32>
    %c_12 = stablehlo.constant dense<0> : tensor<i32>
    %52:5 = call @_var_9(%45, %c_12) : (tensor<2x5x8xf32>, tensor<i32>) -> (tensor<2x5x1xf32>, tensor<2x5x8xf32>, tensor<f32>, tensor<i1>, tensor<2x5x1xf32>)
    %cst_13 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %53 = stablehlo.broadcast_in_dim %cst_13, dims = [] : (tensor<f32>) -> tensor<2x5x1xf32>
    %54 = stablehlo.add %52#0, %53 : tensor<2x5x1xf32>
    %55 = stablehlo.rsqrt %54 : tensor<2x5x1xf32>
    %56 = stablehlo.divide %55, %54 : tensor<2x5x1xf32>
    %cst_14 = stablehlo.constant dense<-5.000000e-01> : tensor<f32>
    %57 = stablehlo.broadcast_in_dim %cst_14, dims = [] : (tensor<f32>) -> tensor<2x5x1xf32>
    %58 = stablehlo.multiply %57, %56 : tensor<2x5x1xf32>
    %59 = stablehlo.broadcast_in_dim %55, dims = [0, 1, 2] : (tensor<2x5x1xf32>) -> tensor<2x5x8xf32>
    %60 = stablehlo.multiply %51, %59 : tensor<2x5x8xf32>
    %61 = stablehlo.dot_general %60, %0#3, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<2x5x8xf32>, tensor<8x16xf32>) -> tensor<2x5x16xf32>
    %62 = stablehlo.multiply %61, %61 : tensor<2x5x16xf32>
    %63 = stablehlo.multiply %62, %61 : tensor<2x5x16xf32>
    %64 = stablehlo.multiply %61, %61 : tensor<2x5x16xf32>
    %cst_15 = stablehlo.constant dense<3.000000e+00> : tensor<f32>
    %65 = stablehlo.broadcast_in_dim %cst_15, dims = [] : (tensor<f32>) -> tensor<2x5x16xf32>
    %66 = stablehlo.multiply %65, %64 : tensor<2x5x16xf32>
    %cst_16 = stablehlo.constant dense<4.471500e-02> : tensor<f32>
    %67 = stablehlo.broadcast_in_dim %cst_16, dims = [] : (tensor<f32>) -> tensor<2x5x16xf32>
    %68 = stablehlo.multiply %67, %63 : tensor<2x5x16xf32>
    %69 = stablehlo.add %61, %68 : tensor<2x5x16xf32>
    %cst_17 = stablehlo.constant dense<0.797884583> : tensor<f32>
    %70 = stablehlo.broadcast_in_dim %cst_17, dims = [] : (tensor<f32>) -> tensor<2x5x16xf32>
    %71 = stablehlo.multiply %70, %69 : tensor<2x5x16xf32>
    %72 = stablehlo.tanh %71 : tensor<2x5x16xf32>
    %cst_18 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %73 = stablehlo.broadcast_in_dim %cst_18, dims = [] : (tensor<f32>) -> tensor<2x5x16xf32>
    %74 = stablehlo.subtract %73, %72 : tensor<2x5x16xf32>
    %cst_19 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %75 = stablehlo.broadcast_in_dim %cst_19, dims = [] : (tensor<f32>) -> tensor<2x5x16xf32>
    %76 = stablehlo.add %75, %72 : tensor<2x5x16xf32>
    %cst_20 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %77 = stablehlo.broadcast_in_dim %cst_20, dims = [] : (tensor<f32>) -> tensor<2x5x16xf32>
    %78 = stablehlo.multiply %77, %76 : tensor<2x5x16xf32>
    %79 = stablehlo.multiply %61, %78 : tensor<2x5x16xf32>
    %80 = stablehlo.dot_general %0#5, %79, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<2x5x8xf32>, tensor<2x5x16xf32>) -> tensor<8x16xf32>
    %81 = stablehlo.transpose %80, dims = [1, 0] : (tensor<8x16xf32>) -> tensor<16x8xf32>
    %82 = stablehlo.dot_general %0#5, %0#4, contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<2x5x8xf32>, tensor<16x8xf32>) -> tensor<2x5x16xf32>
    %83 = stablehlo.multiply %61, %82 : tensor<2x5x16xf32>
    %84 = stablehlo.multiply %82, %78 : tensor<2x5x16xf32>
    %cst_21 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %85 = stablehlo.broadcast_in_dim %cst_21, dims = [] : (tensor<f32>) -> tensor<2x5x16xf32>
    %86 = stablehlo.multiply %85, %83 : tensor<2x5x16xf32>
    %87 = stablehlo.multiply %86, %74 : tensor<2x5x16xf32>
    %88 = stablehlo.multiply %87, %72 : tensor<2x5x16xf32>
    %89 = stablehlo.add %87, %88 : tensor<2x5x16xf32>
    %cst_22 = stablehlo.constant dense<0.797884583> : tensor<f32>
    %90 = stablehlo.broadcast_in_dim %cst_22, dims = [] : (tensor<f32>) -> tensor<2x5x16xf32>
    %91 = stablehlo.multiply %90, %89 : tensor<2x5x16xf32>
    %92 = stablehlo.add %84, %91 : tensor<2x5x16xf32>
    %cst_23 = stablehlo.constant dense<4.471500e-02> : tensor<f32>
    %93 = stablehlo.broadcast_in_dim %cst_23, dims = [] : (tensor<f32>) -> tensor<2x5x16xf32>
    %94 = stablehlo.multiply %93, %91 : tensor<2x5x16xf32>
    %95 = stablehlo.multiply %94, %66 : tensor<2x5x16xf32>
    %96 = stablehlo.add %92, %95 : tensor<2x5x16xf32>
    %97 = stablehlo.dot_general %96, %60, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<2x5x16xf32>, tensor<2x5x8xf32>) -> tensor<16x8xf32>
    %98 = stablehlo.transpose %97, dims = [1, 0] : (tensor<16x8xf32>) -> tensor<8x16xf32>
    %99 = stablehlo.dot_general %96, %0#3, contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<2x5x16xf32>, tensor<8x16xf32>) -> tensor<2x5x8xf32>
    %100 = stablehlo.multiply %51, %99 : tensor<2x5x8xf32>
    %cst_24 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %101 = stablehlo.reduce(%100 init: %cst_24) applies stablehlo.add across dimensions = [2] : (tensor<2x5x8xf32>, tensor<f32>) -> tensor<2x5xf32>
    %102 = stablehlo.reshape %101 : (tensor<2x5xf32>) -> tensor<2x5x1xf32>
    %103 = stablehlo.broadcast_in_dim %55, dims = [0, 1, 2] : (tensor<2x5x1xf32>) -> tensor<2x5x8xf32>
    %104 = stablehlo.multiply %99, %103 : tensor<2x5x8xf32>
    %105 = stablehlo.multiply %102, %58 : tensor<2x5x1xf32>
    %106 = call @_var_13(%52#1, %52#2, %52#3, %52#4, %105) : (tensor<2x5x8xf32>, tensor<f32>, tensor<i1>, tensor<2x5x1xf32>, tensor<2x5x1xf32>) -> tensor<2x5x8xf32>
    %107 = stablehlo.add %0#5, %106 : tensor<2x5x8xf32>
    %108 = stablehlo.negate %104 : tensor<2x5x8xf32>
    %cst_25 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %109 = stablehlo.reduce(%108 init: %cst_25) applies stablehlo.add across dimensions = [2] : (tensor<2x5x8xf32>, tensor<f32>) -> tensor<2x5xf32>
    %110 = stablehlo.reshape %109 : (tensor<2x5xf32>) -> tensor<2x5x1xf32>
    %111 = stablehlo.add %107, %104 : tensor<2x5x8xf32>
    %cst_26 = stablehlo.constant dense<8.000000e+00> : tensor<f32>
    %112 = stablehlo.broadcast_in_dim %cst_26, dims = [] : (tensor<f32>) -> tensor<2x5x1xf32>
    %113 = stablehlo.divide %110, %112 : tensor<2x5x1xf32>
    %cst_27 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %114 = stablehlo.reduce(%113 init: %cst_27) applies stablehlo.add across dimensions = [2] : (tensor<2x5x1xf32>, tensor<f32>) -> tensor<2x5xf32>
    %115 = stablehlo.broadcast_in_dim %114, dims = [0, 1] : (tensor<2x5xf32>) -> tensor<2x5x8xf32>
    %116 = stablehlo.add %111, %115 : tensor<2x5x8xf32>
    %117 = stablehlo.dot_general %116, %43, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<2x5x8xf32>, tensor<2x5x8xf32>) -> tensor<8x8xf32>
    %118 = stablehlo.transpose %117, dims = [1, 0] : (tensor<8x8xf32>) -> tensor<8x8xf32>
    %119 = stablehlo.dot_general %116, %0#2, contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<2x5x8xf32>, tensor<8x8xf32>) -> tensor<2x5x8xf32>
    %120 = stablehlo.reshape %119 : (tensor<2x5x8xf32>) -> tensor<2x5x2x4xf32>
    %121 = stablehlo.transpose %120, dims = [0, 2, 3, 1] : (tensor<2x5x2x4xf32>) -> tensor<2x2x4x5xf32>
    %122 = stablehlo.dot_general %121, %20, batching_dims = [0, 1] x [0, 2], contracting_dims = [2] x [3], precision = [DEFAULT, DEFAULT] : (tensor<2x2x4x5xf32>, tensor<2x5x2x4xf32>) -> tensor<2x2x5x5xf32>
    %123 = stablehlo.dot_general %121, %37, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [2], precision = [DEFAULT, DEFAULT] : (tensor<2x2x4x5xf32>, tensor<2x2x5x5xf32>) -> tensor<2x2x4x5xf32>
    %124 = stablehlo.transpose %123, dims = [0, 3, 1, 2] : (tensor<2x2x4x5xf32>) -> tensor<2x5x2x4xf32>
    %125 = stablehlo.broadcast_in_dim %40, dims = [0, 1, 2, 3] : (tensor<2x2x5x1xf32>) -> tensor<2x2x5x5xf32>
    %126 = stablehlo.multiply %122, %125 : tensor<2x2x5x5xf32>
    %127 = stablehlo.multiply %126, %33 : tensor<2x2x5x5xf32>
    %cst_28 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %128 = stablehlo.reduce(%127 init: %cst_28) applies stablehlo.add across dimensions = [3] : (tensor<2x2x5x5xf32>, tensor<f32>) -> tensor<2x2x5xf32>
    %129 = stablehlo.reshape %128 : (tensor<2x2x5xf32>) -> tensor<2x2x5x1xf32>
    %130 = stablehlo.negate %129 : tensor<2x2x5x1xf32>
    %131 = stablehlo.broadcast_in_dim %35, dims = [0, 1, 2, 3] : (tensor<2x2x5x1xf32>) -> tensor<2x2x5x5xf32>
    %132 = stablehlo.divide %122, %131 : tensor<2x2x5x5xf32>
    %cst_29 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %133 = stablehlo.reduce(%130 init: %cst_29) applies stablehlo.add across dimensions = [3] : (tensor<2x2x5x1xf32>, tensor<f32>) -> tensor<2x2x5xf32>
    %134 = stablehlo.broadcast_in_dim %133, dims = [0, 1, 2] : (tensor<2x2x5xf32>) -> tensor<2x2x5x5xf32>
    %135 = stablehlo.add %132, %134 : tensor<2x2x5x5xf32>
    %136 = stablehlo.multiply %135, %33 : tensor<2x2x5x5xf32>
    %137 = call @_where_15(%26#1, %26#2, %136) : (tensor<2x2x5x5xi1>, tensor<2x2x5x5xf32>, tensor<2x2x5x5xf32>) -> tensor<2x2x5x5xf32>
    %cst_30 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %138 = stablehlo.broadcast_in_dim %cst_30, dims = [] : (tensor<f32>) -> tensor<2x2x5x5xf32>
    %139 = stablehlo.multiply %137, %138 : tensor<2x2x5x5xf32>
    %140 = stablehlo.dot_general %139, %18, batching_dims = [0, 1] x [0, 2], contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<2x2x5x5xf32>, tensor<2x5x2x4xf32>) -> tensor<2x2x5x4xf32>
    %141 = stablehlo.transpose %140, dims = [0, 2, 1, 3] : (tensor<2x2x5x4xf32>) -> tensor<2x5x2x4xf32>
    %142 = stablehlo.dot_general %139, %19, batching_dims = [0, 1] x [0, 2], contracting_dims = [3] x [1], precision = [DEFAULT, DEFAULT] : (tensor<2x2x5x5xf32>, tensor<2x5x2x4xf32>) -> tensor<2x2x5x4xf32>
    %143 = stablehlo.transpose %142, dims = [0, 2, 1, 3] : (tensor<2x2x5x4xf32>) -> tensor<2x5x2x4xf32>
    %144 = stablehlo.concatenate %143, %141, %124, dim = 2 : (tensor<2x5x2x4xf32>, tensor<2x5x2x4xf32>, tensor<2x5x2x4xf32>) -> tensor<2x5x6x4xf32>
    %145 = stablehlo.reshape %144 : (tensor<2x5x6x4xf32>) -> tensor<2x5x24xf32>
    %146 = stablehlo.dot_general %145, %15, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<2x5x24xf32>, tensor<2x5x8xf32>) -> tensor<24x8xf32>
    %147 = stablehlo.transpose %146, dims = [1, 0] : (tensor<24x8xf32>) -> tensor<8x24xf32>
    %148 = stablehlo.dot_general %145, %0#1, contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<2x5x24xf32>, tensor<8x24xf32>) -> tensor<2x5x8xf32>
    %149 = stablehlo.multiply %6, %148 : tensor<2x5x8xf32>
    %cst_31 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %150 = stablehlo.reduce(%149 init: %cst_31) applies stablehlo.add across dimensions = [2] : (tensor<2x5x8xf32>, tensor<f32>) -> tensor<2x5xf32>
    %151 = stablehlo.reshape %150 : (tensor<2x5xf32>) -> tensor<2x5x1xf32>
    %152 = stablehlo.broadcast_in_dim %10, dims = [0, 1, 2] : (tensor<2x5x1xf32>) -> tensor<2x5x8xf32>
    %153 = stablehlo.multiply %148, %152 : tensor<2x5x8xf32>
    %154 = stablehlo.multiply %151, %13 : tensor<2x5x1xf32>
    %155 = call @_var_13(%7#1, %7#2, %7#3, %7#4, %154) : (tensor<2x5x8xf32>, tensor<f32>, tensor<i1>, tensor<2x5x1xf32>, tensor<2x5x1xf32>) -> tensor<2x5x8xf32>
    %156 = stablehlo.add %116, %155 : tensor<2x5x8xf32>
    %157 = stablehlo.negate %153 : tensor<2x5x8xf32>
    %cst_32 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %158 = stablehlo.reduce(%157 init: %cst_32) applies stablehlo.add across dimensions = [2] : (tensor<2x5x8xf32>, tensor<f32>) -> tensor<2x5xf32>
    %159 = stablehlo.reshape %158 : (tensor<2x5xf32>) -> tensor<2x5x1xf32>
    %160 = stablehlo.add %156, %153 : tensor<2x5x8xf32>
    %cst_33 = stablehlo.constant dense<8.000000e+00> : tensor<f32>
    %161 = stablehlo.broadcast_in_dim %cst_33, dims = [] : (tensor<f32>) -> tensor<2x5x1xf32>
    %162 = stablehlo.divide %159, %161 : tensor<2x5x1xf32>
    %cst_34 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %163 = stablehlo.reduce(%162 init: %cst_34) applies stablehlo.add across dimensions = [2] : (tensor<2x5x1xf32>, tensor<f32>) -> tensor<2x5xf32>
    %164 = stablehlo.broadcast_in_dim %163, dims = [0, 1] : (tensor<2x5xf32>) -> tensor<2x5x8xf32>
    %165 = stablehlo.add %160, %164 : tensor<2x5x8xf32>
    return %165, %147, %118, %98, %81 : tensor<2x5x8xf32>, tensor<8x24xf32>, tensor<8x8xf32>, tensor<8x16xf32>, tensor<16x8xf32>
  }
  func.func private @_var_9(%arg0: tensor<2x5x8xf32>, %arg1: tensor<i32>) -> (tensor<2x5x1xf32>, tensor<2x5x8xf32>, tensor<f32>, tensor<i1>, tensor<2x5x1xf32>) {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.reduce(%arg0 init: %cst) applies stablehlo.add across dimensions = [2] : (tensor<2x5x8xf32>, tensor<f32>) -> tensor<2x5xf32>
    %1 = stablehlo.broadcast_in_dim %0, dims = [0, 1] : (tensor<2x5xf32>) -> tensor<2x5x1xf32>
    %cst_0 = stablehlo.constant dense<8.000000e+00> : tensor<f32>
    %2 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<2x5x1xf32>
    %3 = stablehlo.divide %1, %2 : tensor<2x5x1xf32>
    %4 = stablehlo.broadcast_in_dim %3, dims = [0, 1, 2] : (tensor<2x5x1xf32>) -> tensor<2x5x8xf32>
    %5 = stablehlo.subtract %arg0, %4 : tensor<2x5x8xf32>
    %6 = chlo.square %5 : tensor<2x5x8xf32> -> tensor<2x5x8xf32>
    %cst_1 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %7 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<2x5x8xf32>
    %8 = stablehlo.multiply %7, %5 : tensor<2x5x8xf32>
    %9 = stablehlo.convert %arg1 : (tensor<i32>) -> tensor<f32>
    %cst_2 = stablehlo.constant dense<8.000000e+00> : tensor<f32>
    %10 = stablehlo.subtract %cst_2, %9 : tensor<f32>
    %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %11 = stablehlo.reduce(%6 init: %cst_3) applies stablehlo.add across dimensions = [2] : (tensor<2x5x8xf32>, tensor<f32>) -> tensor<2x5xf32>
    %12 = stablehlo.broadcast_in_dim %11, dims = [0, 1] : (tensor<2x5xf32>) -> tensor<2x5x1xf32>
    %13 = stablehlo.broadcast_in_dim %10, dims = [] : (tensor<f32>) -> tensor<2x5x1xf32>
    %14 = stablehlo.divide %12, %13 : tensor<2x5x1xf32>
    %cst_4 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %15 = stablehlo.compare GT, %10, %cst_4, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %cst_5 = stablehlo.constant dense<0x7FC00000> : tensor<f32>
    %16:2 = call @_where_10(%15, %14, %cst_5) : (tensor<i1>, tensor<2x5x1xf32>, tensor<f32>) -> (tensor<2x5x1xf32>, tensor<2x5x1xf32>)
    return %16#0, %8, %10, %15, %16#1 : tensor<2x5x1xf32>, tensor<2x5x8xf32>, tensor<f32>, tensor<i1>, tensor<2x5x1xf32>
  }
  func.func private @_where_10(%arg0: tensor<i1>, %arg1: tensor<2x5x1xf32>, %arg2: tensor<f32>) -> (tensor<2x5x1xf32>, tensor<2x5x1xf32>) {
    %0 = stablehlo.convert %arg2 : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<2x5x1xf32>
    %2 = stablehlo.select %arg0, %arg1, %1 : tensor<i1>, tensor<2x5x1xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %3 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<2x5x1xf32>
    return %2, %3 : tensor<2x5x1xf32>, tensor<2x5x1xf32>
  }
  func.func private @tril_11(%arg0: tensor<5x5xi1>) -> tensor<5x5xi1> {
    %0 = stablehlo.iota dim = 0 : tensor<5x5xi32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<5x5xi32>
    %2 = stablehlo.add %0, %1 : tensor<5x5xi32>
    %3 = stablehlo.iota dim = 1 : tensor<5x5xi32>
    %4 = stablehlo.compare GE, %2, %3, SIGNED : (tensor<5x5xi32>, tensor<5x5xi32>) -> tensor<5x5xi1>
    %c_0 = stablehlo.constant dense<false> : tensor<i1>
    %5 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i1>) -> tensor<5x5xi1>
    %6 = stablehlo.select %4, %arg0, %5 : tensor<5x5xi1>, tensor<5x5xi1>
    return %6 : tensor<5x5xi1>
  }
  func.func private @_where_12(%arg0: tensor<5x5xi1>, %arg1: tensor<2x2x5x5xf32>, %arg2: tensor<f32>) -> (tensor<2x2x5x5xf32>, tensor<2x2x5x5xi1>, tensor<2x2x5x5xf32>) {
    %0 = stablehlo.convert %arg2 : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %arg0, dims = [2, 3] : (tensor<5x5xi1>) -> tensor<2x2x5x5xi1>
    %2 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<2x2x5x5xf32>
    %3 = stablehlo.select %1, %arg1, %2 : tensor<2x2x5x5xi1>, tensor<2x2x5x5xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %4 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<2x2x5x5xf32>
    return %3, %1, %4 : tensor<2x2x5x5xf32>, tensor<2x2x5x5xi1>, tensor<2x2x5x5xf32>
  }
  func.func private @_var_13(%arg0: tensor<2x5x8xf32>, %arg1: tensor<f32>, %arg2: tensor<i1>, %arg3: tensor<2x5x1xf32>, %arg4: tensor<2x5x1xf32>) -> tensor<2x5x8xf32> {
    %0 = call @_where_14(%arg2, %arg3, %arg4) : (tensor<i1>, tensor<2x5x1xf32>, tensor<2x5x1xf32>) -> tensor<2x5x1xf32>
    %1 = stablehlo.broadcast_in_dim %arg1, dims = [] : (tensor<f32>) -> tensor<2x5x1xf32>
    %2 = stablehlo.divide %0, %1 : tensor<2x5x1xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %3 = stablehlo.reduce(%2 init: %cst) applies stablehlo.add across dimensions = [2] : (tensor<2x5x1xf32>, tensor<f32>) -> tensor<2x5xf32>
    %4 = stablehlo.broadcast_in_dim %3, dims = [0, 1] : (tensor<2x5xf32>) -> tensor<2x5x8xf32>
    %5 = stablehlo.multiply %4, %arg0 : tensor<2x5x8xf32>
    %6 = stablehlo.negate %5 : tensor<2x5x8xf32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %7 = stablehlo.reduce(%6 init: %cst_0) applies stablehlo.add across dimensions = [2] : (tensor<2x5x8xf32>, tensor<f32>) -> tensor<2x5xf32>
    %8 = stablehlo.reshape %7 : (tensor<2x5xf32>) -> tensor<2x5x1xf32>
    %cst_1 = stablehlo.constant dense<8.000000e+00> : tensor<f32>
    %9 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<2x5x1xf32>
    %10 = stablehlo.divide %8, %9 : tensor<2x5x1xf32>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %11 = stablehlo.reduce(%10 init: %cst_2) applies stablehlo.add across dimensions = [2] : (tensor<2x5x1xf32>, tensor<f32>) -> tensor<2x5xf32>
    %12 = stablehlo.broadcast_in_dim %11, dims = [0, 1] : (tensor<2x5xf32>) -> tensor<2x5x8xf32>
    %13 = stablehlo.add %5, %12 : tensor<2x5x8xf32>
    return %13 : tensor<2x5x8xf32>
  }
  func.func private @_where_14(%arg0: tensor<i1>, %arg1: tensor<2x5x1xf32>, %arg2: tensor<2x5x1xf32>) -> tensor<2x5x1xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<2x5x1xf32>
    %1 = stablehlo.select %arg0, %arg2, %0 : tensor<i1>, tensor<2x5x1xf32>
    return %1 : tensor<2x5x1xf32>
  }
  func.func private @_where_15(%arg0: tensor<2x2x5x5xi1>, %arg1: tensor<2x2x5x5xf32>, %arg2: tensor<2x2x5x5xf32>) -> tensor<2x2x5x5xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<2x2x5x5xf32>
    %1 = stablehlo.select %arg0, %arg2, %0 : tensor<2x2x5x5xi1>, tensor<2x2x5x5xf32>
    return %1 : tensor<2x2x5x5xf32>
  }
  func.func private @dynamic_update_index_in_dim_16(%arg0: tensor<3x8x24xf32>, %arg1: tensor<8x24xf32>, %arg2: tensor<i32>) -> tensor<3x8x24xf32> {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [1, 2] : (tensor<8x24xf32>) -> tensor<1x8x24xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.dynamic_update_slice %arg0, %0, %arg2, %c, %c_0 : (tensor<3x8x24xf32>, tensor<1x8x24xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<3x8x24xf32>
    return %1 : tensor<3x8x24xf32>
  }
  func.func private @dynamic_update_index_in_dim_17(%arg0: tensor<3x8x8xf32>, %arg1: tensor<8x8xf32>, %arg2: tensor<i32>) -> tensor<3x8x8xf32> {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [1, 2] : (tensor<8x8xf32>) -> tensor<1x8x8xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.dynamic_update_slice %arg0, %0, %arg2, %c, %c_0 : (tensor<3x8x8xf32>, tensor<1x8x8xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<3x8x8xf32>
    return %1 : tensor<3x8x8xf32>
  }
  func.func private @dynamic_update_index_in_dim_18(%arg0: tensor<3x8x16xf32>, %arg1: tensor<8x16xf32>, %arg2: tensor<i32>) -> tensor<3x8x16xf32> {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [1, 2] : (tensor<8x16xf32>) -> tensor<1x8x16xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.dynamic_update_slice %arg0, %0, %arg2, %c, %c_0 : (tensor<3x8x16xf32>, tensor<1x8x16xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<3x8x16xf32>
    return %1 : tensor<3x8x16xf32>
  }
  func.func private @dynamic_update_index_in_dim_19(%arg0: tensor<3x16x8xf32>, %arg1: tensor<16x8xf32>, %arg2: tensor<i32>) -> tensor<3x16x8xf32> {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [1, 2] : (tensor<16x8xf32>) -> tensor<1x16x8xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.dynamic_update_slice %arg0, %0, %arg2, %c, %c_0 : (tensor<3x16x8xf32>, tensor<1x16x8xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<3x16x8xf32>
    return %1 : tensor<3x16x8xf32>
  }
}
