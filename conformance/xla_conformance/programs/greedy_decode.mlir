module @jit_greedy_decode attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<13x8xf32>, %arg1: tensor<8x8xf32>, %arg2: tensor<8x8xf32>, %arg3: tensor<8x8xf32>, %arg4: tensor<2xi32>) -> (tensor<i32> {jax.result_info = "result[0]"}, tensor<2xi32> {jax.result_info = "result[1]"}, tensor<2x6x8xf32> {jax.result_info = "result[2]"}, tensor<2x6x8xf32> {jax.result_info = "result[3]"}, tensor<2x6xi32> {jax.result_info = "result[4]"}) {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<2x6x8xf32>
    %c = stablehlo.constant dense<-1> : tensor<i32>
    %1 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<2x6xi32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %2:9 = stablehlo.while(%iterArg = %arg0, %iterArg_1 = %arg2, %iterArg_2 = %arg3, %iterArg_3 = %arg1, %iterArg_4 = %c_0, %iterArg_5 = %arg4, %iterArg_6 = %0, %iterArg_7 = %0, %iterArg_8 = %1) : tensor<13x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<i32>, tensor<2xi32>, tensor<2x6x8xf32>, tensor<2x6x8xf32>, tensor<2x6xi32>
    cond {
      %c_9 = stablehlo.constant dense<6> : tensor<i32>
      %3 = stablehlo.compare LT, %iterArg_4, %c_9, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %c_10 = stablehlo.constant dense<0> : tensor<i32>
      %4 = stablehlo.broadcast_in_dim %c_10, dims = [] : (tensor<i32>) -> tensor<2xi32>
      %5 = stablehlo.compare NE, %iterArg_5, %4, SIGNED : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi1>
      %c_11 = stablehlo.constant dense<false> : tensor<i1>
      %6 = stablehlo.reduce(%5 init: %c_11) applies stablehlo.or across dimensions = [0] : (tensor<2xi1>, tensor<i1>) -> tensor<i1>
      %7 = stablehlo.and %3, %6 : tensor<i1>
      stablehlo.return %7 : tensor<i1>
    } do {
      %c_9 = stablehlo.constant dense<0> : tensor<i32>
      %3 = stablehlo.broadcast_in_dim %c_9, dims = [] : (tensor<i32>) -> tensor<2xi32>
      %4 = stablehlo.compare LT, %iterArg_5, %3, SIGNED : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi1>
      %c_10 = stablehlo.constant dense<13> : tensor<i32>
      %5 = stablehlo.broadcast_in_dim %c_10, dims = [] : (tensor<i32>) -> tensor<2xi32>
      %6 = stablehlo.add %iterArg_5, %5 : tensor<2xi32>
      %7 = stablehlo.select %4, %6, %iterArg_5 : tensor<2xi1>, tensor<2xi32>
      %8 = stablehlo.broadcast_in_dim %7, dims = [0] : (tensor<2xi32>) -> tensor<2x1xi32>
      %9 = "stablehlo.gather"(%iterArg, %8) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1, 8>}> : (tensor<13x8xf32>, tensor<2x1xi32>) -> tensor<2x8xf32>
      %10 = stablehlo.dot_general %9, %iterArg_1, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<2x8xf32>, tensor<8x8xf32>) -> tensor<2x8xf32>
      %11 = stablehlo.broadcast_in_dim %10, dims = [0, 2] : (tensor<2x8xf32>) -> tensor<2x1x8xf32>
      %c_11 = stablehlo.constant dense<0> : tensor<i32>
      %12 = stablehlo.compare LT, %iterArg_4, %c_11, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %c_12 = stablehlo.constant dense<6> : tensor<i32>
      %13 = stablehlo.add %iterArg_4, %c_12 : tensor<i32>
      %14 = stablehlo.select %12, %13, %iterArg_4 : tensor<i1>, tensor<i32>
      %c_13 = stablehlo.constant dense<0> : tensor<i32>
      %c_14 = stablehlo.constant dense<0> : tensor<i32>
      %15 = stablehlo.dynamic_update_slice %iterArg_6, %11, %c_13, %14, %c_14 : (tensor<2x6x8xf32>, tensor<2x1x8xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<2x6x8xf32>
      %16 = stablehlo.dot_general %9, %iterArg_2, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<2x8xf32>, tensor<8x8xf32>) -> tensor<2x8xf32>
      %17 = stablehlo.broadcast_in_dim %16, dims = [0, 2] : (tensor<2x8xf32>) -> tensor<2x1x8xf32>
      %c_15 = stablehlo.constant dense<0> : tensor<i32>
      %18 = stablehlo.compare LT, %iterArg_4, %c_15, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %c_16 = stablehlo.constant dense<6> : tensor<i32>
      %19 = stablehlo.add %iterArg_4, %c_16 : tensor<i32>
      %20 = stablehlo.select %18, %19, %iterArg_4 : tensor<i1>, tensor<i32>
      %c_17 = stablehlo.constant dense<0> : tensor<i32>
      %c_18 = stablehlo.constant dense<0> : tensor<i32>
      %21 = stablehlo.dynamic_update_slice %iterArg_7, %17, %c_17, %20, %c_18 : (tensor<2x6x8xf32>, tensor<2x1x8xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<2x6x8xf32>
      %22 = stablehlo.dot_general %9, %iterArg_3, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<2x8xf32>, tensor<8x8xf32>) -> tensor<2x8xf32>
      %23 = stablehlo.dot_general %22, %15, batching_dims = [0] x [0], contracting_dims = [1] x [2], precision = [DEFAULT, DEFAULT] : (tensor<2x8xf32>, tensor<2x6x8xf32>) -> tensor<2x6xf32>
      %24 = stablehlo.iota dim = 0 : tensor<6xi32>
      %25 = stablehlo.broadcast_in_dim %iterArg_4, dims = [] : (tensor<i32>) -> tensor<6xi32>
      %26 = stablehlo.compare LE, %24, %25, SIGNED : (tensor<6xi32>, tensor<6xi32>) -> tensor<6xi1>
      %cst_19 = stablehlo.constant dense<-1.000000e+30> : tensor<f32>
      %27 = func.call @_where(%26, %23, %cst_19) : (tensor<6xi1>, tensor<2x6xf32>, tensor<f32>) -> tensor<2x6xf32>
      %cst_20 = stablehlo.constant dense<0xFF800000> : tensor<f32>
      %28 = stablehlo.reduce(%27 init: %cst_20) applies stablehlo.maximum across dimensions = [1] : (tensor<2x6xf32>, tensor<f32>) -> tensor<2xf32>
      %cst_21 = stablehlo.constant dense<0xFF800000> : tensor<f32>
      %29 = stablehlo.broadcast_in_dim %cst_21, dims = [] : (tensor<f32>) -> tensor<2xf32>
      %30 = stablehlo.maximum %29, %28 : tensor<2xf32>
      %31 = stablehlo.broadcast_in_dim %30, dims = [0] : (tensor<2xf32>) -> tensor<2x1xf32>
      %32 = stablehlo.broadcast_in_dim %31, dims = [0, 1] : (tensor<2x1xf32>) -> tensor<2x6xf32>
      %33 = stablehlo.subtract %27, %32 : tensor<2x6xf32>
      %34 = stablehlo.exponential %33 : tensor<2x6xf32>
      %cst_22 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %35 = stablehlo.reduce(%34 init: %cst_22) applies stablehlo.add across dimensions = [1] : (tensor<2x6xf32>, tensor<f32>) -> tensor<2xf32>
      %36 = stablehlo.broadcast_in_dim %35, dims = [0] : (tensor<2xf32>) -> tensor<2x1xf32>
      %37 = stablehlo.broadcast_in_dim %36, dims = [0, 1] : (tensor<2x1xf32>) -> tensor<2x6xf32>
      %38 = stablehlo.divide %34, %37 : tensor<2x6xf32>
      %39 = stablehlo.dot_general %38, %21, batching_dims = [0] x [0], contracting_dims = [1] x [1], precision = [DEFAULT, DEFAULT] : (tensor<2x6xf32>, tensor<2x6x8xf32>) -> tensor<2x8xf32>
      %40 = stablehlo.add %9, %39 : tensor<2x8xf32>
      %41 = stablehlo.transpose %iterArg, dims = [1, 0] : (tensor<13x8xf32>) -> tensor<8x13xf32>
      %42 = stablehlo.dot_general %40, %41, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<2x8xf32>, tensor<8x13xf32>) -> tensor<2x13xf32>
      %43 = func.call @argmax(%42) : (tensor<2x13xf32>) -> tensor<2xi32>
      %c_23 = stablehlo.constant dense<1> : tensor<i32>
      %44 = stablehlo.add %iterArg_4, %c_23 : tensor<i32>
      %c_24 = stablehlo.constant dense<0> : tensor<i32>
      %45 = stablehlo.compare LT, %iterArg_4, %c_24, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %c_25 = stablehlo.constant dense<6> : tensor<i32>
      %46 = stablehlo.add %iterArg_4, %c_25 : tensor<i32>
      %47 = stablehlo.select %45, %46, %iterArg_4 : tensor<i1>, tensor<i32>
      %48 = stablehlo.broadcast_in_dim %47, dims = [] : (tensor<i32>) -> tensor<1xi32>
      %49 = stablehlo.convert %iterArg_8 : tensor<2x6xi32>
      %50 = "stablehlo.scatter"(%49, %48, %43) <{indices_are_sorted = true, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [0], inserted_window_dims = [1], scatter_dims_to_operand_dims = [1]>, unique_indices = true}> ({
      ^bb0(%arg5: tensor<i32>, %arg6: tensor<i32>):
        stablehlo.return %arg6 : tensor<i32>
      }) : (tensor<2x6xi32>, tensor<1xi32>, tensor<2xi32>) -> tensor<2x6xi32>
      %51 = stablehlo.convert %50 : tensor<2x6xi32>
      stablehlo.return %iterArg, %iterArg_1, %iterArg_2, %iterArg_3, %44, %43, %15, %21, %51 : tensor<13x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<i32>, tensor<2xi32>, tensor<2x6x8xf32>, tensor<2x6x8xf32>, tensor<2x6xi32>
    }
    return %2#4, %2#5, %2#6, %2#7, %2#8 : tensor<i32>, tensor<2xi32>, tensor<2x6x8xf32>, tensor<2x6x8xf32>, tensor<2x6xi32>
  }
  func.func private @_where(%arg0: tensor<6xi1>, %arg1: tensor<2x6xf32>, %arg2: tensor<f32>) -> tensor<2x6xf32> {
    %0 = stablehlo.convert %arg2 : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %arg0, dims = [1] : (tensor<6xi1>) -> tensor<2x6xi1>
    %2 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<2x6xf32>
    %3 = stablehlo.select %1, %arg1, %2 : tensor<2x6xi1>, tensor<2x6xf32>
    return %3 : tensor<2x6xf32>
  }
  func.func private @argmax(%arg0: tensor<2x13xf32>) -> tensor<2xi32> {
    %0 = stablehlo.iota dim = 1 : tensor<2x13xi32>
    %cst = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %1:2 = stablehlo.reduce(%arg0 init: %cst), (%0 init: %c) across dimensions = [1] : (tensor<2x13xf32>, tensor<2x13xi32>, tensor<f32>, tensor<i32>) -> (tensor<2xf32>, tensor<2xi32>)
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
    return %1#1 : tensor<2xi32>
  }
}
