module @jit_lstm_grad attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<6x2x3xf32>, %arg1: tensor<7x16xf32>, %arg2: tensor<16xf32>) -> (tensor<f32> {jax.result_info = "result[0]"}, tensor<7x16xf32> {jax.result_info = "result[1][0]"}, tensor<16xf32> {jax.result_info = "result[1][1]"}) {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<2x4xf32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<2x3xf32>
    %2 = stablehlo.broadcast_in_dim %arg2, dims = [1] : (tensor<16xf32>) -> tensor<1x16xf32>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %3 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<6x2x4xf32>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %4 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<6x2x7xf32>
    %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %5 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<6x2x4xf32>
    %cst_4 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %6 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<6x2x4xf32>
    %cst_5 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %7 = stablehlo.broadcast_in_dim %cst_5, dims = [] : (tensor<f32>) -> tensor<6x2x4xf32>
    %cst_6 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %8 = stablehlo.broadcast_in_dim %cst_6, dims = [] : (tensor<f32>) -> tensor<6x2x4xf32>
    %cst_7 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %9 = stablehlo.broadcast_in_dim %cst_7, dims = [] : (tensor<f32>) -> tensor<6x2x4xf32>
    %cst_8 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %10 = stablehlo.broadcast_in_dim %cst_8, dims = [] : (tensor<f32>) -> tensor<6x2x4xf32>
    %cst_9 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %11 = stablehlo.broadcast_in_dim %cst_9, dims = [] : (tensor<f32>) -> tensor<6x2x4xf32>
    %cst_10 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %12 = stablehlo.broadcast_in_dim %cst_10, dims = [] : (tensor<f32>) -> tensor<6x2x4xf32>
    %cst_11 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %13 = stablehlo.broadcast_in_dim %cst_11, dims = [] : (tensor<f32>) -> tensor<6x2x4xf32>
    %cst_12 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %14 = stablehlo.broadcast_in_dim %cst_12, dims = [] : (tensor<f32>) -> tensor<6x2x4xf32>
    %cst_13 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %15 = stablehlo.broadcast_in_dim %cst_13, dims = [] : (tensor<f32>) -> tensor<6x2x4xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %16:19 = stablehlo.while(%iterArg = %arg0, %iterArg_26 = %arg1, %iterArg_27 = %2, %iterArg_28 = %c, %iterArg_29 = %0, %iterArg_30 = %0, %iterArg_31 = %3, %iterArg_32 = %4, %iterArg_33 = %5, %iterArg_34 = %6, %iterArg_35 = %7, %iterArg_36 = %8, %iterArg_37 = %9, %iterArg_38 = %10, %iterArg_39 = %11, %iterArg_40 = %12, %iterArg_41 = %13, %iterArg_42 = %14, %iterArg_43 = %15) : tensor<6x2x3xf32>, tensor<7x16xf32>, tensor<1x16xf32>, tensor<i32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<6x2x4xf32>, tensor<6x2x7xf32>, tensor<6x2x4xf32>, tensor<6x2x4xf32>, tensor<6x2x4xf32>, tensor<6x2x4xf32>, tensor<6x2x4xf32>, tensor<6x2x4xf32>, tensor<6x2x4xf32>, tensor<6x2x4xf32>, tensor<6x2x4xf32>, tensor<6x2x4xf32>, tensor<6x2x4xf32>
    cond {
      %c_44 = stablehlo.constant dense<6> : tensor<i32>
      %32 = stablehlo.compare LT, %iterArg_28, %c_44, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %32 : tensor<i1>
    } do {
      %32 = func.call @dynamic_index_in_dim(%iterArg, %iterArg_28) : (tensor<6x2x3xf32>, tensor<i32>) -> tensor<2x3xf32>
      %33:15 = func.call @closed_call(%iterArg_26, %iterArg_27, %iterArg_29, %iterArg_30, %32) : (tensor<7x16xf32>, tensor<1x16xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x3xf32>) -> (tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x7xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>)
      %34 = func.call @dynamic_update_index_in_dim(%iterArg_31, %33#2, %iterArg_28) : (tensor<6x2x4xf32>, tensor<2x4xf32>, tensor<i32>) -> tensor<6x2x4xf32>
      %35 = func.call @dynamic_update_index_in_dim_0(%iterArg_32, %33#3, %iterArg_28) : (tensor<6x2x7xf32>, tensor<2x7xf32>, tensor<i32>) -> tensor<6x2x7xf32>
      %36 = func.call @dynamic_update_index_in_dim(%iterArg_33, %33#4, %iterArg_28) : (tensor<6x2x4xf32>, tensor<2x4xf32>, tensor<i32>) -> tensor<6x2x4xf32>
      %37 = func.call @dynamic_update_index_in_dim(%iterArg_34, %33#5, %iterArg_28) : (tensor<6x2x4xf32>, tensor<2x4xf32>, tensor<i32>) -> tensor<6x2x4xf32>
      %38 = func.call @dynamic_update_index_in_dim(%iterArg_35, %33#6, %iterArg_28) : (tensor<6x2x4xf32>, tensor<2x4xf32>, tensor<i32>) -> tensor<6x2x4xf32>
      %39 = func.call @dynamic_update_index_in_dim(%iterArg_36, %33#7, %iterArg_28) : (tensor<6x2x4xf32>, tensor<2x4xf32>, tensor<i32>) -> tensor<6x2x4xf32>
      %40 = func.call @dynamic_update_index_in_dim(%iterArg_37, %33#8, %iterArg_28) : (tensor<6x2x4xf32>, tensor<2x4xf32>, tensor<i32>) -> tensor<6x2x4xf32>
      %41 = func.call @dynamic_update_index_in_dim(%iterArg_38, %33#9, %iterArg_28) : (tensor<6x2x4xf32>, tensor<2x4xf32>, tensor<i32>) -> tensor<6x2x4xf32>
      %42 = func.call @dynamic_update_index_in_dim(%iterArg_39, %33#10, %iterArg_28) : (tensor<6x2x4xf32>, tensor<2x4xf32>, tensor<i32>) -> tensor<6x2x4xf32>
      %43 = func.call @dynamic_update_index_in_dim(%iterArg_40, %33#11, %iterArg_28) : (tensor<6x2x4xf32>, tensor<2x4xf32>, tensor<i32>) -> tensor<6x2x4xf32>
      %44 = func.call @dynamic_update_index_in_dim(%iterArg_41, %33#12, %iterArg_28) : (tensor<6x2x4xf32>, tensor<2x4xf32>, tensor<i32>) -> tensor<6x2x4xf32>
      %45 = func.call @dynamic_update_index_in_dim(%iterArg_42, %33#13, %iterArg_28) : (tensor<6x2x4xf32>, tensor<2x4xf32>, tensor<i32>) -> tensor<6x2x4xf32>
      %46 = func.call @dynamic_update_index_in_dim(%iterArg_43, %33#14, %iterArg_28) : (tensor<6x2x4xf32>, tensor<2x4xf32>, tensor<i32>) -> tensor<6x2x4xf32>
      %c_44 = stablehlo.constant dense<1> : tensor<i32>
      %47 = stablehlo.add %iterArg_28, %c_44 : tensor<i32>
      stablehlo.return %iterArg, %iterArg_26, %iterArg_27, %47, %33#0, %33#1, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46 : tensor<6x2x3xf32>, tensor<7x16xf32>, tensor<1x16xf32>, tensor<i32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<6x2x4xf32>, tensor<6x2x7xf32>, tensor<6x2x4xf32>, tensor<6x2x4xf32>, tensor<6x2x4xf32>, tensor<6x2x4xf32>, tensor<6x2x4xf32>, tensor<6x2x4xf32>, tensor<6x2x4xf32>, tensor<6x2x4xf32>, tensor<6x2x4xf32>, tensor<6x2x4xf32>, tensor<6x2x4xf32>
    }
    %17 = stablehlo.multiply %16#6, %16#6 : tensor<6x2x4xf32>
    %cst_14 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %18 = stablehlo.broadcast_in_dim %cst_14, dims = [] : (tensor<f32>) -> tensor<6x2x4xf32>
    %19 = stablehlo.multiply %18, %16#6 : tensor<6x2x4xf32>
    %cst_15 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %20 = stablehlo.reduce(%17 init: %cst_15) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<6x2x4xf32>, tensor<f32>) -> tensor<f32>
    %cst_16 = stablehlo.constant dense<4.800000e+01> : tensor<f32>
    %21 = stablehlo.divide %20, %cst_16 : tensor<f32>
    %cst_17 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %22 = stablehlo.broadcast_in_dim %cst_17, dims = [] : (tensor<f32>) -> tensor<2x4xf32>
    %cst_18 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %23 = stablehlo.broadcast_in_dim %cst_18, dims = [] : (tensor<f32>) -> tensor<2x4xf32>
    %cst_19 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %cst_20 = stablehlo.constant dense<4.800000e+01> : tensor<f32>
    %24 = stablehlo.divide %cst_19, %cst_20 : tensor<f32>
    %25 = stablehlo.broadcast_in_dim %24, dims = [] : (tensor<f32>) -> tensor<6x2x4xf32>
    %26 = stablehlo.multiply %25, %19 : tensor<6x2x4xf32>
    %cst_21 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %27 = stablehlo.broadcast_in_dim %cst_21, dims = [] : (tensor<f32>) -> tensor<2x4xf32>
    %cst_22 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %28 = stablehlo.broadcast_in_dim %cst_22, dims = [] : (tensor<f32>) -> tensor<2x4xf32>
    %cst_23 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %29 = stablehlo.broadcast_in_dim %cst_23, dims = [] : (tensor<f32>) -> tensor<7x16xf32>
    %cst_24 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %30 = stablehlo.broadcast_in_dim %cst_24, dims = [] : (tensor<f32>) -> tensor<16xf32>
    %c_25 = stablehlo.constant dense<0> : tensor<i32>
    %31:20 = stablehlo.while(%iterArg = %26, %iterArg_26 = %16#7, %iterArg_27 = %16#8, %iterArg_28 = %16#9, %iterArg_29 = %16#10, %iterArg_30 = %16#11, %iterArg_31 = %16#12, %iterArg_32 = %16#13, %iterArg_33 = %16#14, %iterArg_34 = %16#15, %iterArg_35 = %16#16, %iterArg_36 = %16#17, %iterArg_37 = %16#18, %iterArg_38 = %1, %iterArg_39 = %arg1, %iterArg_40 = %c_25, %iterArg_41 = %29, %iterArg_42 = %30, %iterArg_43 = %27, %iterArg_44 = %28) : tensor<6x2x4xf32>, tensor<6x2x7xf32>, tensor<6x2x4xf32>, tensor<6x2x4xf32>, tensor<6x2x4xf32>, tensor<6x2x4xf32>, tensor<6x2x4xf32>, tensor<6x2x4xf32>, tensor<6x2x4xf32>, tensor<6x2x4xf32>, tensor<6x2x4xf32>, tensor<6x2x4xf32>, tensor<6x2x4xf32>, tensor<2x3xf32>, tensor<7x16xf32>, tensor<i32>, tensor<7x16xf32>, tensor<16xf32>, tensor<2x4xf32>, tensor<2x4xf32>
    cond {
      %c_45 = stablehlo.constant dense<6> : tensor<i32>
      %32 = stablehlo.compare LT, %iterArg_40, %c_45, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %32 : tensor<i1>
    } do {
      %c_45 = stablehlo.constant dense<6> : tensor<i32>
      %32 = stablehlo.subtract %c_45, %iterArg_40 : tensor<i32>
      %c_46 = stablehlo.constant dense<1> : tensor<i32>
      %33 = stablehlo.subtract %32, %c_46 : tensor<i32>
      %34 = func.call @dynamic_index_in_dim_1(%iterArg, %33) : (tensor<6x2x4xf32>, tensor<i32>) -> tensor<2x4xf32>
      %35 = func.call @dynamic_index_in_dim_2(%iterArg_26, %33) : (tensor<6x2x7xf32>, tensor<i32>) -> tensor<2x7xf32>
      %36 = func.call @dynamic_index_in_dim_1(%iterArg_27, %33) : (tensor<6x2x4xf32>, tensor<i32>) -> tensor<2x4xf32>
      %37 = func.call @dynamic_index_in_dim_1(%iterArg_28, %33) : (tensor<6x2x4xf32>, tensor<i32>) -> tensor<2x4xf32>
      %38 = func.call @dynamic_index_in_dim_1(%iterArg_29, %33) : (tensor<6x2x4xf32>, tensor<i32>) -> tensor<2x4xf32>
      %39 = func.call @dynamic_index_in_dim_1(%iterArg_30, %33) : (tensor<6x2x4xf32>, tensor<i32>) -> tensor<2x4xf32>
      %40 = func.call @dynamic_index_in_dim_1(%iterArg_31, %33) : (tensor<6x2x4xf32>, tensor<i32>) -> tensor<2x4xf32>
      %41 = func.call @dynamic_index_in_dim_1(%iterArg_32, %33) : (tensor<6x2x4xf32>, tensor<i32>) -> tensor<2x4xf32>
      %42 = func.call @dynamic_index_in_dim_1(%iterArg_33, %33) : (tensor<6x2x4xf32>, tensor<i32>) -> tensor<2x4xf32>
      %43 = func.call @dynamic_index_in_dim_1(%iterArg_34, %33) : (tensor<6x2x4xf32>, tensor<i32>) -> tensor<2x4xf32>
      %44 = func.call @dynamic_index_in_dim_1(%iterArg_35, %33) : (tensor<6x2x4xf32>, tensor<i32>) -> tensor<2x4xf32>
      %45 = func.call @dynamic_index_in_dim_1(%iterArg_36, %33) : (tensor<6x2x4xf32>, tensor<i32>) -> tensor<2x4xf32>
      %46 = func.call @dynamic_index_in_dim_1(%iterArg_37, %33) : (tensor<6x2x4xf32>, tensor<i32>) -> tensor<2x4xf32>
      %47:4 = func.call @closed_call_3(%iterArg_38, %iterArg_39, %iterArg_41, %iterArg_42, %iterArg_43, %iterArg_44, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46) : (tensor<2x3xf32>, tensor<7x16xf32>, tensor<7x16xf32>, tensor<16xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x7xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>) -> (tensor<7x16xf32>, tensor<16xf32>, tensor<2x4xf32>, tensor<2x4xf32>)
      %c_47 = stablehlo.constant dense<1> : tensor<i32>
      %48 = stablehlo.add %iterArg_40, %c_47 : tensor<i32>
      stablehlo.return %iterArg, %iterArg_26, %iterArg_27, %iterArg_28, %iterArg_29, %iterArg_30, %iterArg_31, %iterArg_32, %iterArg_33, %iterArg_34, %iterArg_35, %iterArg_36, %iterArg_37, %iterArg_38, %iterArg_39, %48, %47#0, %47#1, %47#2, %47#3 : tensor<6x2x4xf32>, tensor<6x2x7xf32>, tensor<6x2x4xf32>, tensor<6x2x4xf32>, tensor<6x2x4xf32>, tensor<6x2x4xf32>, tensor<6x2x4xf32>, tensor<6x2x4xf32>, tensor<6x2x4xf32>, tensor<6x2x4xf32>, tensor<6x2x4xf32>, tensor<6x2x4xf32>, tensor<6x2x4xf32>, tensor<2x3xf32>, tensor<7x16xf32>, tensor<i32>, tensor<7x16xf32>, tensor<16xf32>, tensor<2x4xf32>, tensor<2x4xf32>
    }
    return %21, %31#16, %31#17 : tensor<f32>, tensor<7x16xf32>, tensor<16xf32>
  }
  func.func private @dynamic_index_in_dim(%arg0: tensor<6x2x3xf32>, %arg1: tensor<i32>) -> tensor<2x3xf32> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.dynamic_slice %arg0, %arg1, %c, %c_0, sizes = [1, 2, 3] : (tensor<6x2x3xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x2x3xf32>
    %1 = stablehlo.reshape %0 : (tensor<1x2x3xf32>) -> tensor<2x3xf32>
    return %1 : tensor<2x3xf32>
  }
  func.func private @closed_call(%arg0: tensor<7x16xf32>, %arg1: tensor<1x16xf32>, %arg2: tensor<2x4xf32>, %arg3: tensor<2x4xf32>, %arg4: tensor<2x3xf32>) -> (tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x7xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>) {
    %0 = stablehlo.concatenate %arg4, %arg2, dim = 1 : (tensor<2x3xf32>, tensor<2x4xf32>) -> tensor<2x7xf32>
    %1 = stablehlo.dot_general %0, %arg0, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<2x7xf32>, tensor<7x16xf32>) -> tensor<2x16xf32>
    %2 = stablehlo.broadcast_in_dim %arg1, dims = [0, 1] : (tensor<1x16xf32>) -> tensor<2x16xf32>
    %3 = stablehlo.add %1, %2 : tensor<2x16xf32>
    %4 = stablehlo.slice %3 [0:2, 0:4] : (tensor<2x16xf32>) -> tensor<2x4xf32>
    %5 = stablehlo.slice %3 [0:2, 4:8] : (tensor<2x16xf32>) -> tensor<2x4xf32>
    %6 = stablehlo.slice %3 [0:2, 8:12] : (tensor<2x16xf32>) -> tensor<2x4xf32>
    %7 = stablehlo.slice %3 [0:2, 12:16] : (tensor<2x16xf32>) -> tensor<2x4xf32>
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %8 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<2x4xf32>
    %9 = stablehlo.add %5, %8 : tensor<2x4xf32>
    %10 = stablehlo.negate %9 : tensor<2x4xf32>
    %11 = stablehlo.exponential %10 : tensor<2x4xf32>
    %cst_0 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %12 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<2x4xf32>
    %13 = stablehlo.add %12, %11 : tensor<2x4xf32>
    %cst_1 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %14 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<2x4xf32>
    %15 = stablehlo.divide %14, %13 : tensor<2x4xf32>
    %cst_2 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %16 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<2x4xf32>
    %17 = stablehlo.subtract %16, %15 : tensor<2x4xf32>
    %18 = stablehlo.multiply %15, %17 : tensor<2x4xf32>
    %19 = stablehlo.multiply %15, %arg3 : tensor<2x4xf32>
    %20 = stablehlo.negate %4 : tensor<2x4xf32>
    %21 = stablehlo.exponential %20 : tensor<2x4xf32>
    %cst_3 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %22 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<2x4xf32>
    %23 = stablehlo.add %22, %21 : tensor<2x4xf32>
    %cst_4 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %24 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<2x4xf32>
    %25 = stablehlo.divide %24, %23 : tensor<2x4xf32>
    %cst_5 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %26 = stablehlo.broadcast_in_dim %cst_5, dims = [] : (tensor<f32>) -> tensor<2x4xf32>
    %27 = stablehlo.subtract %26, %25 : tensor<2x4xf32>
    %28 = stablehlo.multiply %25, %27 : tensor<2x4xf32>
    %29 = stablehlo.tanh %6 : tensor<2x4xf32>
    %cst_6 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %30 = stablehlo.broadcast_in_dim %cst_6, dims = [] : (tensor<f32>) -> tensor<2x4xf32>
    %31 = stablehlo.subtract %30, %29 : tensor<2x4xf32>
    %32 = stablehlo.multiply %25, %29 : tensor<2x4xf32>
    %33 = stablehlo.add %19, %32 : tensor<2x4xf32>
    %34 = stablehlo.negate %7 : tensor<2x4xf32>
    %35 = stablehlo.exponential %34 : tensor<2x4xf32>
    %cst_7 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %36 = stablehlo.broadcast_in_dim %cst_7, dims = [] : (tensor<f32>) -> tensor<2x4xf32>
    %37 = stablehlo.add %36, %35 : tensor<2x4xf32>
    %cst_8 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %38 = stablehlo.broadcast_in_dim %cst_8, dims = [] : (tensor<f32>) -> tensor<2x4xf32>
    %39 = stablehlo.divide %38, %37 : tensor<2x4xf32>
    %cst_9 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %40 = stablehlo.broadcast_in_dim %cst_9, dims = [] : (tensor<f32>) -> tensor<2x4xf32>
    %41 = stablehlo.subtract %40, %39 : tensor<2x4xf32>
    %42 = stablehlo.multiply %39, %41 : tensor<2x4xf32>
    %43 = stablehlo.tanh %33 : tensor<2x4xf32>
    %cst_10 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %44 = stablehlo.broadcast_in_dim %cst_10, dims = [] : (tensor<f32>) -> tensor<2x4xf32>
    %45 = stablehlo.subtract %44, %43 : tensor<2x4xf32>
    %46 = stablehlo.multiply %39, %43 : tensor<2x4xf32>
    return %46, %33, %46, %0, %18, %arg3, %15, %28, %29, %31, %25, %42, %43, %45, %39 : tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x7xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>
  }
  func.func private @dynamic_update_index_in_dim(%arg0: tensor<6x2x4xf32>, %arg1: tensor<2x4xf32>, %arg2: tensor<i32>) -> tensor<6x2x4xf32> {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [1, 2] : (tensor<2x4xf32>) -> tensor<1x2x4xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.dynamic_update_slice %arg0, %0, %arg2, %c, %c_0 : (tensor<6x2x4xf32>, tensor<1x2x4xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<6x2x4xf32>
    return %1 : tensor<6x2x4xf32>
  }
  func.func private @dynamic_update_index_in_dim_0(%arg0: tensor<6x2x7xf32>, %arg1: tensor<2x7xf32>, %arg2: tensor<i32>) -> tensor<6x2x7xf32> {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [1, 2] : (tensor<2x7xf32>) -> tensor<1x2x7xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.dynamic_update_slice %arg0, %0, %arg2, %c, %c_0 : (tensor<6x2x7xf32>, tensor<1x2x7xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<6x2x7xf32>
    return %1 : tensor<6x2x7xf32>
  }
  func.func private @dynamic_index_in_dim_1(%arg0: tensor<6x2x4xf32>, %arg1: tensor<i32>) -> tensor<2x4xf32> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.dynamic_slice %arg0, %arg1, %c, %c_0, sizes = [1, 2, 4] : (tensor<6x2x4xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x2x4xf32>
    %1 = stablehlo.reshape %0 : (tensor<1x2x4xf32>) -> tensor<2x4xf32>
    return %1 : tensor<2x4xf32>
  }
  func.func private @dynamic_index_in_dim_2(%arg0: tensor<6x2x7xf32>, %arg1: tensor<i32>) -> tensor<2x7xf32> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.dynamic_slice %arg0, %arg1, %c, %c_0, sizes = [1, 2, 7] : (tensor<6x2x7xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x2x7xf32>
    %1 = stablehlo.reshape %0 : (tensor<1x2x7xf32>) -> tensor<2x7xf32>
    return %1 : tensor<2x7xf32>
  }
  func.func private @closed_call_3(%arg0: tensor<2x3xf32>, %arg1: tensor<7x16xf32>, %arg2: tensor<7x16xf32>, %arg3: tensor<16xf32>, %arg4: tensor<2x4xf32>, %arg5: tensor<2x4xf32>, %arg6: tensor<2x4xf32>, %arg7: tensor<2x7xf32>, %arg8: tensor<2x4xf32>, %arg9: tensor<2x4xf32>, %arg10: tensor<2x4xf32>, %arg11: tensor<2x4xf32>, %arg12: tensor<2x4xf32>, %arg13: tensor<2x4xf32>, %arg14: tensor<2x4xf32>, %arg15: tensor<2x4xf32>, %arg16: tensor<2x4xf32>, %arg17: tensor<2x4xf32>, %arg18: tensor<2x4xf32>) -> (tensor<7x16xf32>, tensor<16xf32>, tensor<2x4xf32>, tensor<2x4xf32>) {
    %0 = stablehlo.add %arg4, %arg6 : tensor<2x4xf32>
    %1 = stablehlo.multiply %arg18, %0 : tensor<2x4xf32>
    %2 = stablehlo.multiply %0, %arg16 : tensor<2x4xf32>
    %3 = stablehlo.multiply %1, %arg17 : tensor<2x4xf32>
    %4 = stablehlo.add %arg5, %3 : tensor<2x4xf32>
    %5 = stablehlo.multiply %3, %arg16 : tensor<2x4xf32>
    %6 = stablehlo.add %4, %5 : tensor<2x4xf32>
    %7 = stablehlo.multiply %2, %arg15 : tensor<2x4xf32>
    %8 = stablehlo.multiply %arg14, %6 : tensor<2x4xf32>
    %9 = stablehlo.multiply %6, %arg12 : tensor<2x4xf32>
    %10 = stablehlo.multiply %8, %arg13 : tensor<2x4xf32>
    %11 = stablehlo.multiply %10, %arg12 : tensor<2x4xf32>
    %12 = stablehlo.add %10, %11 : tensor<2x4xf32>
    %13 = stablehlo.multiply %9, %arg11 : tensor<2x4xf32>
    %14 = stablehlo.multiply %arg10, %6 : tensor<2x4xf32>
    %15 = stablehlo.multiply %6, %arg9 : tensor<2x4xf32>
    %16 = stablehlo.multiply %15, %arg8 : tensor<2x4xf32>
    %17 = stablehlo.concatenate %13, %16, %12, %7, dim = 1 : (tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x16xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %18 = stablehlo.reduce(%17 init: %cst) applies stablehlo.add across dimensions = [0] : (tensor<2x16xf32>, tensor<f32>) -> tensor<16xf32>
    %19 = stablehlo.reshape %18 : (tensor<16xf32>) -> tensor<1x16xf32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %20 = stablehlo.reduce(%19 init: %cst_0) applies stablehlo.add across dimensions = [0] : (tensor<1x16xf32>, tensor<f32>) -> tensor<16xf32>
    %21 = stablehlo.add %arg3, %20 : tensor<16xf32>
    %22 = stablehlo.dot_general %17, %arg7, contracting_dims = [0] x [0], precision = [DEFAULT, DEFAULT] : (tensor<2x16xf32>, tensor<2x7xf32>) -> tensor<16x7xf32>
    %23 = stablehlo.transpose %22, dims = [1, 0] : (tensor<16x7xf32>) -> tensor<7x16xf32>
    %24 = stablehlo.add %arg2, %23 : tensor<7x16xf32>
    %25 = stablehlo.dot_general %17, %arg1, contracting_dims = [1] x [1], precision = [DEFAULT, DEFAULT] : (tensor<2x16xf32>, tensor<7x16xf32>) -> tensor<2x7xf32>
    %26 = stablehlo.slice %25 [0:2, 0:3] : (tensor<2x7xf32>) -> tensor<2x3xf32>
    %27 = stablehlo.slice %25 [0:2, 3:7] : (tensor<2x7xf32>) -> tensor<2x4xf32>
    return %24, %21, %27, %14 : tensor<7x16xf32>, tensor<16xf32>, tensor<2x4xf32>, tensor<2x4xf32>
  }
}
