module @jit_scan_forms attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<7x3xf32>, %arg1: tensor<3xf32>) -> (tensor<3xf32> {jax.result_info = "result[0][0][0]"}, tensor<i32> {jax.result_info = "result[0][0][1]"}, tensor<7xi32> {jax.result_info = "result[0][1]['count']"}, tensor<7xf32> {jax.result_info = "result[0][1]['max']"}, tensor<7x3xf32> {jax.result_info = "result[0][1]['row']"}, tensor<3xf32> {jax.result_info = "result[1][0][0]"}, tensor<i32> {jax.result_info = "result[1][0][1]"}, tensor<7xi32> {jax.result_info = "result[1][1]['count']"}, tensor<7xf32> {jax.result_info = "result[1][1]['max']"}, tensor<7x3xf32> {jax.result_info = "result[1][1]['row']"}, tensor<3xf32> {jax.result_info = "result[2][0][0]"}, tensor<i32> {jax.result_info = "result[2][0][1]"}, tensor<7xi32> {jax.result_info = "result[2][1]['count']"}, tensor<7xf32> {jax.result_info = "result[2][1]['max']"}, tensor<7x3xf32> {jax.result_info = "result[2][1]['row']"}) {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i32>) -> tensor<7xi32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<7xf32>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %2 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<7x3xf32>
    %c_2 = stablehlo.constant dense<0> : tensor<i32>
    %3:7 = stablehlo.while(%iterArg = %arg0, %iterArg_13 = %c_2, %iterArg_14 = %arg1, %iterArg_15 = %c, %iterArg_16 = %0, %iterArg_17 = %1, %iterArg_18 = %2) : tensor<7x3xf32>, tensor<i32>, tensor<3xf32>, tensor<i32>, tensor<7xi32>, tensor<7xf32>, tensor<7x3xf32>
    cond {
      %c_19 = stablehlo.constant dense<7> : tensor<i32>
      %27 = stablehlo.compare LT, %iterArg_13, %c_19, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %27 : tensor<i1>
    } do {
      %27 = func.call @dynamic_index_in_dim(%iterArg, %iterArg_13) : (tensor<7x3xf32>, tensor<i32>) -> tensor<3xf32>
      %28:5 = func.call @closed_call(%iterArg_14, %iterArg_15, %27) : (tensor<3xf32>, tensor<i32>, tensor<3xf32>) -> (tensor<3xf32>, tensor<i32>, tensor<i32>, tensor<f32>, tensor<3xf32>)
      %29 = func.call @dynamic_update_index_in_dim(%iterArg_16, %28#2, %iterArg_13) : (tensor<7xi32>, tensor<i32>, tensor<i32>) -> tensor<7xi32>
      %30 = func.call @dynamic_update_index_in_dim_0(%iterArg_17, %28#3, %iterArg_13) : (tensor<7xf32>, tensor<f32>, tensor<i32>) -> tensor<7xf32>
      %31 = func.call @dynamic_update_index_in_dim_1(%iterArg_18, %28#4, %iterArg_13) : (tensor<7x3xf32>, tensor<3xf32>, tensor<i32>) -> tensor<7x3xf32>
      %c_19 = stablehlo.constant dense<1> : tensor<i32>
      %32 = stablehlo.add %iterArg_13, %c_19 : tensor<i32>
      stablehlo.return %iterArg, %32, %28#0, %28#1, %29, %30, %31 : tensor<7x3xf32>, tensor<i32>, tensor<3xf32>, tensor<i32>, tensor<7xi32>, tensor<7xf32>, tensor<7x3xf32>
    }
    %c_3 = stablehlo.constant dense<0> : tensor<i32>
    %c_4 = stablehlo.constant dense<0> : tensor<i32>
    %4 = stablehlo.broadcast_in_dim %c_4, dims = [] : (tensor<i32>) -> tensor<7xi32>
    %cst_5 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %5 = stablehlo.broadcast_in_dim %cst_5, dims = [] : (tensor<f32>) -> tensor<7xf32>
    %cst_6 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %6 = stablehlo.broadcast_in_dim %cst_6, dims = [] : (tensor<f32>) -> tensor<7x3xf32>
    %c_7 = stablehlo.constant dense<0> : tensor<i32>
    %7:7 = stablehlo.while(%iterArg = %arg0, %iterArg_13 = %c_7, %iterArg_14 = %arg1, %iterArg_15 = %c_3, %iterArg_16 = %4, %iterArg_17 = %5, %iterArg_18 = %6) : tensor<7x3xf32>, tensor<i32>, tensor<3xf32>, tensor<i32>, tensor<7xi32>, tensor<7xf32>, tensor<7x3xf32>
    cond {
      %c_19 = stablehlo.constant dense<7> : tensor<i32>
      %27 = stablehlo.compare LT, %iterArg_13, %c_19, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %27 : tensor<i1>
    } do {
      %c_19 = stablehlo.constant dense<7> : tensor<i32>
      %27 = stablehlo.subtract %c_19, %iterArg_13 : tensor<i32>
      %c_20 = stablehlo.constant dense<1> : tensor<i32>
      %28 = stablehlo.subtract %27, %c_20 : tensor<i32>
      %29 = func.call @dynamic_index_in_dim(%iterArg, %28) : (tensor<7x3xf32>, tensor<i32>) -> tensor<3xf32>
      %30:5 = func.call @closed_call(%iterArg_14, %iterArg_15, %29) : (tensor<3xf32>, tensor<i32>, tensor<3xf32>) -> (tensor<3xf32>, tensor<i32>, tensor<i32>, tensor<f32>, tensor<3xf32>)
      %31 = func.call @dynamic_update_index_in_dim(%iterArg_16, %30#2, %28) : (tensor<7xi32>, tensor<i32>, tensor<i32>) -> tensor<7xi32>
      %32 = func.call @dynamic_update_index_in_dim_0(%iterArg_17, %30#3, %28) : (tensor<7xf32>, tensor<f32>, tensor<i32>) -> tensor<7xf32>
      %33 = func.call @dynamic_update_index_in_dim_1(%iterArg_18, %30#4, %28) : (tensor<7x3xf32>, tensor<3xf32>, tensor<i32>) -> tensor<7x3xf32>
      %c_21 = stablehlo.constant dense<1> : tensor<i32>
      %34 = stablehlo.add %iterArg_13, %c_21 : tensor<i32>
      stablehlo.return %iterArg, %34, %30#0, %30#1, %31, %32, %33 : tensor<7x3xf32>, tensor<i32>, tensor<3xf32>, tensor<i32>, tensor<7xi32>, tensor<7xf32>, tensor<7x3xf32>
    }
    %c_8 = stablehlo.constant dense<0> : tensor<i32>
    %8 = stablehlo.slice %arg0 [0:6, 0:3] : (tensor<7x3xf32>) -> tensor<6x3xf32>
    %9 = stablehlo.slice %arg0 [6:7, 0:3] : (tensor<7x3xf32>) -> tensor<1x3xf32>
    %10 = stablehlo.reshape %8 : (tensor<6x3xf32>) -> tensor<2x3x3xf32>
    %c_9 = stablehlo.constant dense<0> : tensor<i32>
    %11 = stablehlo.broadcast_in_dim %c_9, dims = [] : (tensor<i32>) -> tensor<2x3xi32>
    %cst_10 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %12 = stablehlo.broadcast_in_dim %cst_10, dims = [] : (tensor<f32>) -> tensor<2x3xf32>
    %cst_11 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %13 = stablehlo.broadcast_in_dim %cst_11, dims = [] : (tensor<f32>) -> tensor<2x3x3xf32>
    %c_12 = stablehlo.constant dense<0> : tensor<i32>
    %14:7 = stablehlo.while(%iterArg = %10, %iterArg_13 = %c_12, %iterArg_14 = %arg1, %iterArg_15 = %c_8, %iterArg_16 = %11, %iterArg_17 = %12, %iterArg_18 = %13) : tensor<2x3x3xf32>, tensor<i32>, tensor<3xf32>, tensor<i32>, tensor<2x3xi32>, tensor<2x3xf32>, tensor<2x3x3xf32>
    cond {
      %c_19 = stablehlo.constant dense<2> : tensor<i32>
      %27 = stablehlo.compare LT, %iterArg_13, %c_19, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %27 : tensor<i1>
    } do {
      %27 = func.call @dynamic_index_in_dim_2(%iterArg, %iterArg_13) : (tensor<2x3x3xf32>, tensor<i32>) -> tensor<3x3xf32>
      %28 = stablehlo.slice %27 [0:1, 0:3] : (tensor<3x3xf32>) -> tensor<1x3xf32>
      %29 = stablehlo.reshape %28 : (tensor<1x3xf32>) -> tensor<3xf32>
      %30:5 = func.call @closed_call(%iterArg_14, %iterArg_15, %29) : (tensor<3xf32>, tensor<i32>, tensor<3xf32>) -> (tensor<3xf32>, tensor<i32>, tensor<i32>, tensor<f32>, tensor<3xf32>)
      %31 = stablehlo.slice %27 [1:2, 0:3] : (tensor<3x3xf32>) -> tensor<1x3xf32>
      %32 = stablehlo.reshape %31 : (tensor<1x3xf32>) -> tensor<3xf32>
      %33:5 = func.call @closed_call(%30#0, %30#1, %32) : (tensor<3xf32>, tensor<i32>, tensor<3xf32>) -> (tensor<3xf32>, tensor<i32>, tensor<i32>, tensor<f32>, tensor<3xf32>)
      %34 = stablehlo.slice %27 [2:3, 0:3] : (tensor<3x3xf32>) -> tensor<1x3xf32>
      %35 = stablehlo.reshape %34 : (tensor<1x3xf32>) -> tensor<3xf32>
      %36:5 = func.call @closed_call(%33#0, %33#1, %35) : (tensor<3xf32>, tensor<i32>, tensor<3xf32>) -> (tensor<3xf32>, tensor<i32>, tensor<i32>, tensor<f32>, tensor<3xf32>)
      %37 = stablehlo.broadcast_in_dim %30#2, dims = [] : (tensor<i32>) -> tensor<1xi32>
      %38 = stablehlo.broadcast_in_dim %33#2, dims = [] : (tensor<i32>) -> tensor<1xi32>
      %39 = stablehlo.broadcast_in_dim %36#2, dims = [] : (tensor<i32>) -> tensor<1xi32>
      %40 = stablehlo.concatenate %37, %38, %39, dim = 0 : (tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<3xi32>
      %41 = stablehlo.broadcast_in_dim %30#3, dims = [] : (tensor<f32>) -> tensor<1xf32>
      %42 = stablehlo.broadcast_in_dim %33#3, dims = [] : (tensor<f32>) -> tensor<1xf32>
      %43 = stablehlo.broadcast_in_dim %36#3, dims = [] : (tensor<f32>) -> tensor<1xf32>
      %44 = stablehlo.concatenate %41, %42, %43, dim = 0 : (tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<3xf32>
      %45 = stablehlo.broadcast_in_dim %30#4, dims = [1] : (tensor<3xf32>) -> tensor<1x3xf32>
      %46 = stablehlo.broadcast_in_dim %33#4, dims = [1] : (tensor<3xf32>) -> tensor<1x3xf32>
      %47 = stablehlo.broadcast_in_dim %36#4, dims = [1] : (tensor<3xf32>) -> tensor<1x3xf32>
      %48 = stablehlo.concatenate %45, %46, %47, dim = 0 : (tensor<1x3xf32>, tensor<1x3xf32>, tensor<1x3xf32>) -> tensor<3x3xf32>
      %49 = func.call @dynamic_update_index_in_dim_3(%iterArg_16, %40, %iterArg_13) : (tensor<2x3xi32>, tensor<3xi32>, tensor<i32>) -> tensor<2x3xi32>
      %50 = func.call @dynamic_update_index_in_dim_4(%iterArg_17, %44, %iterArg_13) : (tensor<2x3xf32>, tensor<3xf32>, tensor<i32>) -> tensor<2x3xf32>
      %51 = func.call @dynamic_update_index_in_dim_5(%iterArg_18, %48, %iterArg_13) : (tensor<2x3x3xf32>, tensor<3x3xf32>, tensor<i32>) -> tensor<2x3x3xf32>
      %c_19 = stablehlo.constant dense<1> : tensor<i32>
      %52 = stablehlo.add %iterArg_13, %c_19 : tensor<i32>
      stablehlo.return %iterArg, %52, %36#0, %36#1, %49, %50, %51 : tensor<2x3x3xf32>, tensor<i32>, tensor<3xf32>, tensor<i32>, tensor<2x3xi32>, tensor<2x3xf32>, tensor<2x3x3xf32>
    }
    %15 = stablehlo.reshape %14#4 : (tensor<2x3xi32>) -> tensor<6xi32>
    %16 = stablehlo.reshape %14#5 : (tensor<2x3xf32>) -> tensor<6xf32>
    %17 = stablehlo.reshape %14#6 : (tensor<2x3x3xf32>) -> tensor<6x3xf32>
    %18 = stablehlo.slice %9 [0:1, 0:3] : (tensor<1x3xf32>) -> tensor<1x3xf32>
    %19 = stablehlo.reshape %18 : (tensor<1x3xf32>) -> tensor<3xf32>
    %20:5 = call @closed_call(%14#2, %14#3, %19) : (tensor<3xf32>, tensor<i32>, tensor<3xf32>) -> (tensor<3xf32>, tensor<i32>, tensor<i32>, tensor<f32>, tensor<3xf32>)
    %21 = stablehlo.broadcast_in_dim %20#2, dims = [] : (tensor<i32>) -> tensor<1xi32>
    %22 = stablehlo.broadcast_in_dim %20#3, dims = [] : (tensor<f32>) -> tensor<1xf32>
    %23 = stablehlo.broadcast_in_dim %20#4, dims = [1] : (tensor<3xf32>) -> tensor<1x3xf32>
    %24 = stablehlo.concatenate %15, %21, dim = 0 : (tensor<6xi32>, tensor<1xi32>) -> tensor<7xi32>
    %25 = stablehlo.concatenate %16, %22, dim = 0 : (tensor<6xf32>, tensor<1xf32>) -> tensor<7xf32>
    %26 = stablehlo.concatenate %17, %23, dim = 0 : (tensor<6x3xf32>, tensor<1x3xf32>) -> tensor<7x3xf32>
    return %3#2, %3#3, %3#4, %3#5, %3#6, %7#2, %7#3, %7#4, %7#5, %7#6, %20#0, %20#1, %24, %25, %26 : tensor<3xf32>, tensor<i32>, tensor<7xi32>, tensor<7xf32>, tensor<7x3xf32>, tensor<3xf32>, tensor<i32>, tensor<7xi32>, tensor<7xf32>, tensor<7x3xf32>, tensor<3xf32>, tensor<i32>, tensor<7xi32>, tensor<7xf32>, tensor<7x3xf32>
  }
  func.func private @dynamic_index_in_dim(%arg0: tensor<7x3xf32>, %arg1: tensor<i32>) -> tensor<3xf32> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.dynamic_slice %arg0, %arg1, %c, sizes = [1, 3] : (tensor<7x3xf32>, tensor<i32>, tensor<i32>) -> tensor<1x3xf32>
    %1 = stablehlo.reshape %0 : (tensor<1x3xf32>) -> tensor<3xf32>
    return %1 : tensor<3xf32>
  }
  func.func private @closed_call(%arg0: tensor<3xf32>, %arg1: tensor<i32>, %arg2: tensor<3xf32>) -> (tensor<3xf32>, tensor<i32>, tensor<i32>, tensor<f32>, tensor<3xf32>) {
    %cst = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<3xf32>
    %1 = stablehlo.multiply %arg0, %0 : tensor<3xf32>
    %2 = stablehlo.add %1, %arg2 : tensor<3xf32>
    %c = stablehlo.constant dense<1> : tensor<i32>
    %3 = stablehlo.add %arg1, %c : tensor<i32>
    %cst_0 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %4 = stablehlo.reduce(%2 init: %cst_0) applies stablehlo.maximum across dimensions = [0] : (tensor<3xf32>, tensor<f32>) -> tensor<f32>
    return %2, %3, %arg1, %4, %2 : tensor<3xf32>, tensor<i32>, tensor<i32>, tensor<f32>, tensor<3xf32>
  }
  func.func private @dynamic_update_index_in_dim(%arg0: tensor<7xi32>, %arg1: tensor<i32>, %arg2: tensor<i32>) -> tensor<7xi32> {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [] : (tensor<i32>) -> tensor<1xi32>
    %1 = stablehlo.dynamic_update_slice %arg0, %0, %arg2 : (tensor<7xi32>, tensor<1xi32>, tensor<i32>) -> tensor<7xi32>
    return %1 : tensor<7xi32>
  }
  func.func private @dynamic_update_index_in_dim_0(%arg0: tensor<7xf32>, %arg1: tensor<f32>, %arg2: tensor<i32>) -> tensor<7xf32> {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [] : (tensor<f32>) -> tensor<1xf32>
    %1 = stablehlo.dynamic_update_slice %arg0, %0, %arg2 : (tensor<7xf32>, tensor<1xf32>, tensor<i32>) -> tensor<7xf32>
    return %1 : tensor<7xf32>
  }
  func.func private @dynamic_update_index_in_dim_1(%arg0: tensor<7x3xf32>, %arg1: tensor<3xf32>, %arg2: tensor<i32>) -> tensor<7x3xf32> {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [1] : (tensor<3xf32>) -> tensor<1x3xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.dynamic_update_slice %arg0, %0, %arg2, %c : (tensor<7x3xf32>, tensor<1x3xf32>, tensor<i32>, tensor<i32>) -> tensor<7x3xf32>
    return %1 : tensor<7x3xf32>
  }
  func.func private @dynamic_index_in_dim_2(%arg0: tensor<2x3x3xf32>, %arg1: tensor<i32>) -> tensor<3x3xf32> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.dynamic_slice %arg0, %arg1, %c, %c_0, sizes = [1, 3, 3] : (tensor<2x3x3xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x3x3xf32>
    %1 = stablehlo.reshape %0 : (tensor<1x3x3xf32>) -> tensor<3x3xf32>
    return %1 : tensor<3x3xf32>
  }
  func.func private @dynamic_update_index_in_dim_3(%arg0: tensor<2x3xi32>, %arg1: tensor<3xi32>, %arg2: tensor<i32>) -> tensor<2x3xi32> {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [1] : (tensor<3xi32>) -> tensor<1x3xi32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.dynamic_update_slice %arg0, %0, %arg2, %c : (tensor<2x3xi32>, tensor<1x3xi32>, tensor<i32>, tensor<i32>) -> tensor<2x3xi32>
    return %1 : tensor<2x3xi32>
  }
  func.func private @dynamic_update_index_in_dim_4(%arg0: tensor<2x3xf32>, %arg1: tensor<3xf32>, %arg2: tensor<i32>) -> tensor<2x3xf32> {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [1] : (tensor<3xf32>) -> tensor<1x3xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.dynamic_update_slice %arg0, %0, %arg2, %c : (tensor<2x3xf32>, tensor<1x3xf32>, tensor<i32>, tensor<i32>) -> tensor<2x3xf32>
    return %1 : tensor<2x3xf32>
  }
  func.func private @dynamic_update_index_in_dim_5(%arg0: tensor<2x3x3xf32>, %arg1: tensor<3x3xf32>, %arg2: tensor<i32>) -> tensor<2x3x3xf32> {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [1, 2] : (tensor<3x3xf32>) -> tensor<1x3x3xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.dynamic_update_slice %arg0, %0, %arg2, %c, %c_0 : (tensor<2x3x3xf32>, tensor<1x3x3xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<2x3x3xf32>
    return %1 : tensor<2x3x3xf32>
  }
}
