module @jit_segments attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<12x3xf32>, %arg1: tensor<12xi32>) -> (tensor<5x3xf32> {jax.result_info = "result[0]"}, tensor<5x3xf32> {jax.result_info = "result[1]"}, tensor<5xi32> {jax.result_info = "result[2]"}, tensor<4xf32> {jax.result_info = "result[3][0]"}, tensor<5xf32> {jax.result_info = "result[3][1]"}) {
    %cst = stablehlo.constant dense<[-1.000000e+00, 1.000000e+00]> : tensor<2xf32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<5x3xf32>
    %1 = stablehlo.broadcast_in_dim %arg1, dims = [0] : (tensor<12xi32>) -> tensor<12x1xi32>
    %2 = "stablehlo.scatter"(%0, %1, %arg0) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = false}> ({
    ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>):
      %49 = stablehlo.add %arg2, %arg3 : tensor<f32>
      stablehlo.return %49 : tensor<f32>
    }) : (tensor<5x3xf32>, tensor<12x1xi32>, tensor<12x3xf32>) -> tensor<5x3xf32>
    %cst_1 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %3 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<5x3xf32>
    %4 = stablehlo.broadcast_in_dim %arg1, dims = [0] : (tensor<12xi32>) -> tensor<12x1xi32>
    %5 = "stablehlo.scatter"(%3, %4, %arg0) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = false}> ({
    ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>):
      %49 = stablehlo.maximum %arg2, %arg3 : tensor<f32>
      stablehlo.return %49 : tensor<f32>
    }) : (tensor<5x3xf32>, tensor<12x1xi32>, tensor<12x3xf32>) -> tensor<5x3xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %6 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<5xi32>
    %c_2 = stablehlo.constant dense<0> : tensor<i32>
    %7 = call @clip(%arg1, %c_2) : (tensor<12xi32>, tensor<i32>) -> tensor<12xi32>
    %c_3 = stablehlo.constant dense<0> : tensor<i32>
    %8 = stablehlo.broadcast_in_dim %c_3, dims = [] : (tensor<i32>) -> tensor<12xi32>
    %9 = stablehlo.compare LT, %7, %8, SIGNED : (tensor<12xi32>, tensor<12xi32>) -> tensor<12xi1>
    %c_4 = stablehlo.constant dense<5> : tensor<i32>
    %10 = stablehlo.broadcast_in_dim %c_4, dims = [] : (tensor<i32>) -> tensor<12xi32>
    %11 = stablehlo.add %7, %10 : tensor<12xi32>
    %12 = stablehlo.select %9, %11, %7 : tensor<12xi1>, tensor<12xi32>
    %13 = stablehlo.broadcast_in_dim %12, dims = [0] : (tensor<12xi32>) -> tensor<12x1xi32>
    %c_5 = stablehlo.constant dense<1> : tensor<i32>
    %14 = stablehlo.broadcast_in_dim %c_5, dims = [] : (tensor<i32>) -> tensor<12xi32>
    %15 = "stablehlo.scatter"(%6, %13, %14) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = false}> ({
    ^bb0(%arg2: tensor<i32>, %arg3: tensor<i32>):
      %49 = stablehlo.add %arg2, %arg3 : tensor<i32>
      stablehlo.return %49 : tensor<i32>
    }) : (tensor<5xi32>, tensor<12x1xi32>, tensor<12xi32>) -> tensor<5xi32>
    %cst_6 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %16 = stablehlo.broadcast_in_dim %cst_6, dims = [] : (tensor<f32>) -> tensor<12x3xf32>
    %17 = call @_ptp(%cst) : (tensor<2xf32>) -> tensor<f32>
    %cst_7 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %18 = stablehlo.compare EQ, %17, %cst_7, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %19 = stablehlo.slice %cst [0:1] : (tensor<2xf32>) -> tensor<1xf32>
    %20 = stablehlo.reshape %19 : (tensor<1xf32>) -> tensor<f32>
    %cst_8 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %21 = stablehlo.subtract %20, %cst_8 : tensor<f32>
    %22 = stablehlo.slice %cst [0:1] : (tensor<2xf32>) -> tensor<1xf32>
    %23 = stablehlo.reshape %22 : (tensor<1xf32>) -> tensor<f32>
    %24 = call @_where(%18, %21, %23) : (tensor<i1>, tensor<f32>, tensor<f32>) -> tensor<f32>
    %25 = call @_ptp(%cst) : (tensor<2xf32>) -> tensor<f32>
    %cst_9 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %26 = stablehlo.compare EQ, %25, %cst_9, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %27 = stablehlo.slice %cst [1:2] : (tensor<2xf32>) -> tensor<1xf32>
    %28 = stablehlo.reshape %27 : (tensor<1xf32>) -> tensor<f32>
    %cst_10 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %29 = stablehlo.add %28, %cst_10 : tensor<f32>
    %30 = stablehlo.slice %cst [1:2] : (tensor<2xf32>) -> tensor<1xf32>
    %31 = stablehlo.reshape %30 : (tensor<1xf32>) -> tensor<f32>
    %32 = call @_where(%26, %29, %31) : (tensor<i1>, tensor<f32>, tensor<f32>) -> tensor<f32>
    %33 = call @_linspace(%24, %32) : (tensor<f32>, tensor<f32>) -> tensor<5xf32>
    %34 = call @searchsorted(%33, %arg0) : (tensor<5xf32>, tensor<12x3xf32>) -> tensor<12x3xi32>
    %35 = stablehlo.slice %33 [4:5] : (tensor<5xf32>) -> tensor<1xf32>
    %36 = stablehlo.reshape %35 : (tensor<1xf32>) -> tensor<f32>
    %37 = stablehlo.broadcast_in_dim %36, dims = [] : (tensor<f32>) -> tensor<12x3xf32>
    %38 = stablehlo.compare EQ, %arg0, %37, FLOAT : (tensor<12x3xf32>, tensor<12x3xf32>) -> tensor<12x3xi1>
    %c_11 = stablehlo.constant dense<4> : tensor<i32>
    %39 = call @_where_2(%38, %c_11, %34) : (tensor<12x3xi1>, tensor<i32>, tensor<12x3xi32>) -> tensor<12x3xi32>
    %cst_12 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %40 = stablehlo.broadcast_in_dim %cst_12, dims = [] : (tensor<f32>) -> tensor<5xf32>
    %c_13 = stablehlo.constant dense<0> : tensor<i32>
    %41 = stablehlo.broadcast_in_dim %c_13, dims = [] : (tensor<i32>) -> tensor<12x3xi32>
    %42 = stablehlo.compare LT, %39, %41, SIGNED : (tensor<12x3xi32>, tensor<12x3xi32>) -> tensor<12x3xi1>
    %c_14 = stablehlo.constant dense<5> : tensor<i32>
    %43 = stablehlo.broadcast_in_dim %c_14, dims = [] : (tensor<i32>) -> tensor<12x3xi32>
    %44 = stablehlo.add %39, %43 : tensor<12x3xi32>
    %45 = stablehlo.select %42, %44, %39 : tensor<12x3xi1>, tensor<12x3xi32>
    %46 = stablehlo.broadcast_in_dim %45, dims = [0, 1] : (tensor<12x3xi32>) -> tensor<12x3x1xi32>
    %47 = "stablehlo.scatter"(%40, %46, %16) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 2>, unique_indices = false}> ({
    ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>):
      %49 = stablehlo.add %arg2, %arg3 : tensor<f32>
      stablehlo.return %49 : tensor<f32>
    }) : (tensor<5xf32>, tensor<12x3x1xi32>, tensor<12x3xf32>) -> tensor<5xf32>
    %48 = stablehlo.slice %47 [1:5] : (tensor<5xf32>) -> tensor<4xf32>
    return %2, %5, %15, %48, %33 : tensor<5x3xf32>, tensor<5x3xf32>, tensor<5xi32>, tensor<4xf32>, tensor<5xf32>
  }
  func.func private @clip(%arg0: tensor<12xi32>, %arg1: tensor<i32>) -> tensor<12xi32> {
    %0 = stablehlo.convert %arg1 : tensor<i32>
    %1 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<i32>) -> tensor<12xi32>
    %2 = stablehlo.maximum %1, %arg0 : tensor<12xi32>
    return %2 : tensor<12xi32>
  }
  func.func private @_ptp(%arg0: tensor<2xf32>) -> tensor<f32> {
    %cst = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %0 = stablehlo.reduce(%arg0 init: %cst) applies stablehlo.maximum across dimensions = [0] : (tensor<2xf32>, tensor<f32>) -> tensor<f32>
    %cst_0 = stablehlo.constant dense<0x7F800000> : tensor<f32>
    %1 = stablehlo.reduce(%arg0 init: %cst_0) applies stablehlo.minimum across dimensions = [0] : (tensor<2xf32>, tensor<f32>) -> tensor<f32>
    %2 = stablehlo.subtract %0, %1 : tensor<f32>
    return %2 : tensor<f32>
  }
  func.func private @_where(%arg0: tensor<i1>, %arg1: tensor<f32>, %arg2: tensor<f32>) -> tensor<f32> {
    %0 = stablehlo.select %arg0, %arg1, %arg2 : tensor<i1>, tensor<f32>
    return %0 : tensor<f32>
  }
  func.func private @_linspace(%arg0: tensor<f32>, %arg1: tensor<f32>) -> tensor<5xf32> {
    %0 = stablehlo.subtract %arg1, %arg0 : tensor<f32>
    %cst = stablehlo.constant dense<4.000000e+00> : tensor<f32>
    %1 = stablehlo.divide %0, %cst : tensor<f32>
    %2 = stablehlo.iota dim = 0 : tensor<4xf32>
    %cst_0 = stablehlo.constant dense<4.000000e+00> : tensor<f32>
    %3 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<4xf32>
    %4 = stablehlo.divide %2, %3 : tensor<4xf32>
    %5 = stablehlo.reshape %arg0 : (tensor<f32>) -> tensor<1xf32>
    %cst_1 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %6 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<4xf32>
    %7 = stablehlo.subtract %6, %4 : tensor<4xf32>
    %8 = stablehlo.broadcast_in_dim %5, dims = [0] : (tensor<1xf32>) -> tensor<4xf32>
    %9 = stablehlo.multiply %8, %7 : tensor<4xf32>
    %10 = stablehlo.reshape %arg1 : (tensor<f32>) -> tensor<1xf32>
    %11 = stablehlo.broadcast_in_dim %10, dims = [0] : (tensor<1xf32>) -> tensor<4xf32>
    %12 = stablehlo.multiply %11, %4 : tensor<4xf32>
    %13 = stablehlo.add %9, %12 : tensor<4xf32>
    %14 = stablehlo.broadcast_in_dim %arg1, dims = [] : (tensor<f32>) -> tensor<1xf32>
    %15 = stablehlo.concatenate %13, %14, dim = 0 : (tensor<4xf32>, tensor<1xf32>) -> tensor<5xf32>
    return %15 : tensor<5xf32>
  }
  func.func private @searchsorted(%arg0: tensor<5xf32>, %arg1: tensor<12x3xf32>) -> tensor<12x3xi32> {
    %0 = call @_searchsorted_scan_impl(%arg0, %arg1) : (tensor<5xf32>, tensor<12x3xf32>) -> tensor<12x3xi32>
    return %0 : tensor<12x3xi32>
  }
  func.func private @_searchsorted_scan_impl(%arg0: tensor<5xf32>, %arg1: tensor<12x3xf32>) -> tensor<12x3xi32> {
    %0 = call @_searchsorted_scan_impl_0(%arg0, %arg1) : (tensor<5xf32>, tensor<12x3xf32>) -> tensor<12x3xi32>
    return %0 : tensor<12x3xi32>
  }
  func.func private @_searchsorted_scan_impl_0(%arg0: tensor<5xf32>, %arg1: tensor<12x3xf32>) -> tensor<12x3xi32> {
    %0 = call @_searchsorted_scan_impl_1(%arg0, %arg1) : (tensor<5xf32>, tensor<12x3xf32>) -> tensor<12x3xi32>
    return %0 : tensor<12x3xi32>
  }
  func.func private @_searchsorted_scan_impl_1(%arg0: tensor<5xf32>, %arg1: tensor<12x3xf32>) -> tensor<12x3xi32> {
    %c = stablehlo.constant dense<0> : tensor<ui32>
    %0 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<ui32>) -> tensor<3xui32>
    %c_0 = stablehlo.constant dense<5> : tensor<ui32>
    %1 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<ui32>) -> tensor<3xui32>
    %2 = stablehlo.broadcast_in_dim %0, dims = [1] : (tensor<3xui32>) -> tensor<12x3xui32>
    %3 = stablehlo.broadcast_in_dim %1, dims = [1] : (tensor<3xui32>) -> tensor<12x3xui32>
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %4:5 = stablehlo.while(%iterArg = %arg0, %iterArg_2 = %arg1, %iterArg_3 = %c_1, %iterArg_4 = %2, %iterArg_5 = %3) : tensor<5xf32>, tensor<12x3xf32>, tensor<i32>, tensor<12x3xui32>, tensor<12x3xui32>
    cond {
      %c_6 = stablehlo.constant dense<3> : tensor<i32>
      %6 = stablehlo.compare LT, %iterArg_3, %c_6, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %6 : tensor<i1>
    } do {
      %6:2 = func.call @closed_call(%iterArg, %iterArg_2, %iterArg_4, %iterArg_5) : (tensor<5xf32>, tensor<12x3xf32>, tensor<12x3xui32>, tensor<12x3xui32>) -> (tensor<12x3xui32>, tensor<12x3xui32>)
      %c_6 = stablehlo.constant dense<1> : tensor<i32>
      %7 = stablehlo.add %iterArg_3, %c_6 : tensor<i32>
      stablehlo.return %iterArg, %iterArg_2, %7, %6#0, %6#1 : tensor<5xf32>, tensor<12x3xf32>, tensor<i32>, tensor<12x3xui32>, tensor<12x3xui32>
    }
    %5 = stablehlo.convert %4#4 : (tensor<12x3xui32>) -> tensor<12x3xi32>
    return %5 : tensor<12x3xi32>
  }
  func.func private @closed_call(%arg0: tensor<5xf32>, %arg1: tensor<12x3xf32>, %arg2: tensor<12x3xui32>, %arg3: tensor<12x3xui32>) -> (tensor<12x3xui32>, tensor<12x3xui32>) {
    %0 = stablehlo.subtract %arg3, %arg2 : tensor<12x3xui32>
    %c = stablehlo.constant dense<2> : tensor<i32>
    %1 = call @floor_divide(%0, %c) : (tensor<12x3xui32>, tensor<i32>) -> tensor<12x3xui32>
    %2 = stablehlo.add %arg2, %1 : tensor<12x3xui32>
    %3 = stablehlo.broadcast_in_dim %2, dims = [0, 1] : (tensor<12x3xui32>) -> tensor<12x3x1xui32>
    %4 = "stablehlo.gather"(%arg0, %3) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], start_index_map = [0], index_vector_dim = 2>, indices_are_sorted = false, slice_sizes = array<i64: 1>}> : (tensor<5xf32>, tensor<12x3x1xui32>) -> tensor<12x3x1xf32>
    %5 = stablehlo.reshape %4 : (tensor<12x3x1xf32>) -> tensor<12x3xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %6 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<12x3xf32>
    %7 = stablehlo.compare EQ, %arg1, %6, FLOAT : (tensor<12x3xf32>, tensor<12x3xf32>) -> tensor<12x3xi1>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %8 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<3xf32>
    %9 = stablehlo.broadcast_in_dim %8, dims = [1] : (tensor<3xf32>) -> tensor<12x3xf32>
    %10 = stablehlo.select %7, %9, %arg1 : tensor<12x3xi1>, tensor<12x3xf32>
    %11 = stablehlo.compare NE, %arg1, %arg1, FLOAT : (tensor<12x3xf32>, tensor<12x3xf32>) -> tensor<12x3xi1>
    %cst_1 = stablehlo.constant dense<0x7FC00000> : tensor<f32>
    %12 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<3xf32>
    %13 = stablehlo.broadcast_in_dim %12, dims = [1] : (tensor<3xf32>) -> tensor<12x3xf32>
    %14 = stablehlo.select %11, %13, %10 : tensor<12x3xi1>, tensor<12x3xf32>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %15 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<12x3xf32>
    %16 = stablehlo.compare EQ, %5, %15, FLOAT : (tensor<12x3xf32>, tensor<12x3xf32>) -> tensor<12x3xi1>
    %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %17 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<3xf32>
    %18 = stablehlo.broadcast_in_dim %17, dims = [1] : (tensor<3xf32>) -> tensor<12x3xf32>
    %19 = stablehlo.select %16, %18, %5 : tensor<12x3xi1>, tensor<12x3xf32>
    %20 = stablehlo.compare NE, %5, %5, FLOAT : (tensor<12x3xf32>, tensor<12x3xf32>) -> tensor<12x3xi1>
    %cst_4 = stablehlo.constant dense<0x7FC00000> : tensor<f32>
    %21 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<3xf32>
    %22 = stablehlo.broadcast_in_dim %21, dims = [1] : (tensor<3xf32>) -> tensor<12x3xf32>
    %23 = stablehlo.select %20, %22, %19 : tensor<12x3xi1>, tensor<12x3xf32>
    %24 = stablehlo.compare LT, %14, %23, TOTALORDER : (tensor<12x3xf32>, tensor<12x3xf32>) -> tensor<12x3xi1>
    %25 = stablehlo.select %24, %arg2, %2 : tensor<12x3xi1>, tensor<12x3xui32>
    %26 = stablehlo.select %24, %2, %arg3 : tensor<12x3xi1>, tensor<12x3xui32>
    return %25, %26 : tensor<12x3xui32>, tensor<12x3xui32>
  }
  func.func private @floor_divide(%arg0: tensor<12x3xui32>, %arg1: tensor<i32>) -> tensor<12x3xui32> {
    %0 = stablehlo.convert %arg1 : (tensor<i32>) -> tensor<ui32>
    %1 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<ui32>) -> tensor<12x3xui32>
    %2 = stablehlo.divide %arg0, %1 : tensor<12x3xui32>
    return %2 : tensor<12x3xui32>
  }
  func.func private @_where_2(%arg0: tensor<12x3xi1>, %arg1: tensor<i32>, %arg2: tensor<12x3xi32>) -> tensor<12x3xi32> {
    %0 = stablehlo.convert %arg1 : tensor<i32>
    %1 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<i32>) -> tensor<12x3xi32>
    %2 = stablehlo.select %arg0, %1, %arg2 : tensor<12x3xi1>, tensor<12x3xi32>
    return %2 : tensor<12x3xi32>
  }
}
