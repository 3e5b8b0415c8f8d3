module @jit_gather_forms attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<6x7x4xf32>, %arg1: tensor<3x2xi32>, %arg2: tensor<3x2xi32>, %arg3: tensor<5xi32>) -> (tensor<3x2x4xf32> {jax.result_info = "result[0]"}, tensor<6x3x2x4xf32> {jax.result_info = "result[1]"}, tensor<3x2x7x2xf32> {jax.result_info = "result[2]"}, tensor<2x7xf32> {jax.result_info = "result[3]"}, tensor<6x5x4xf32> {jax.result_info = "result[4]"}, tensor<5x7x4xf32> {jax.result_info = "result[5]"}, tensor<5x7x4xf32> {jax.result_info = "result[6]"}, tensor<6x7x4xf32> {jax.result_info = "result[7]"}) {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<3x2xi32>
    %1 = stablehlo.compare LT, %arg1, %0, SIGNED : (tensor<3x2xi32>, tensor<3x2xi32>) -> tensor<3x2xi1>
    %c_0 = stablehlo.constant dense<6> : tensor<i32>
    %2 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i32>) -> tensor<3x2xi32>
    %3 = stablehlo.add %arg1, %2 : tensor<3x2xi32>
    %4 = stablehlo.select %1, %3, %arg1 : tensor<3x2xi1>, tensor<3x2xi32>
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %5 = stablehlo.broadcast_in_dim %c_1, dims = [] : (tensor<i32>) -> tensor<3x2xi32>
    %6 = stablehlo.compare LT, %arg2, %5, SIGNED : (tensor<3x2xi32>, tensor<3x2xi32>) -> tensor<3x2xi1>
    %c_2 = stablehlo.constant dense<7> : tensor<i32>
    %7 = stablehlo.broadcast_in_dim %c_2, dims = [] : (tensor<i32>) -> tensor<3x2xi32>
    %8 = stablehlo.add %arg2, %7 : tensor<3x2xi32>
    %9 = stablehlo.select %6, %8, %arg2 : tensor<3x2xi1>, tensor<3x2xi32>
    %10 = stablehlo.broadcast_in_dim %4, dims = [0, 1] : (tensor<3x2xi32>) -> tensor<3x2x1xi32>
    %11 = stablehlo.broadcast_in_dim %9, dims = [0, 1] : (tensor<3x2xi32>) -> tensor<3x2x1xi32>
    %12 = stablehlo.concatenate %10, %11, dim = 2 : (tensor<3x2x1xi32>, tensor<3x2x1xi32>) -> tensor<3x2x2xi32>
    %13 = "stablehlo.gather"(%arg0, %12) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [0, 1], start_index_map = [0, 1], index_vector_dim = 2>, indices_are_sorted = false, slice_sizes = array<i64: 1, 1, 4>}> : (tensor<6x7x4xf32>, tensor<3x2x2xi32>) -> tensor<3x2x4xf32>
    %c_3 = stablehlo.constant dense<0> : tensor<i32>
    %14 = stablehlo.broadcast_in_dim %c_3, dims = [] : (tensor<i32>) -> tensor<3x2xi32>
    %15 = stablehlo.compare LT, %arg2, %14, SIGNED : (tensor<3x2xi32>, tensor<3x2xi32>) -> tensor<3x2xi1>
    %c_4 = stablehlo.constant dense<7> : tensor<i32>
    %16 = stablehlo.broadcast_in_dim %c_4, dims = [] : (tensor<i32>) -> tensor<3x2xi32>
    %17 = stablehlo.add %arg2, %16 : tensor<3x2xi32>
    %18 = stablehlo.select %15, %17, %arg2 : tensor<3x2xi1>, tensor<3x2xi32>
    %19 = stablehlo.broadcast_in_dim %18, dims = [0, 1] : (tensor<3x2xi32>) -> tensor<3x2x1xi32>
    %20 = "stablehlo.gather"(%arg0, %19) <{dimension_numbers = #stablehlo.gather<offset_dims = [0, 3], collapsed_slice_dims = [1], start_index_map = [1], index_vector_dim = 2>, indices_are_sorted = false, slice_sizes = array<i64: 6, 1, 4>}> : (tensor<6x7x4xf32>, tensor<3x2x1xi32>) -> tensor<6x3x2x4xf32>
    %c_5 = stablehlo.constant dense<0> : tensor<i32>
    %21 = stablehlo.broadcast_in_dim %c_5, dims = [] : (tensor<i32>) -> tensor<3x2xi32>
    %22 = stablehlo.compare LT, %arg1, %21, SIGNED : (tensor<3x2xi32>, tensor<3x2xi32>) -> tensor<3x2xi1>
    %c_6 = stablehlo.constant dense<6> : tensor<i32>
    %23 = stablehlo.broadcast_in_dim %c_6, dims = [] : (tensor<i32>) -> tensor<3x2xi32>
    %24 = stablehlo.add %arg1, %23 : tensor<3x2xi32>
    %25 = stablehlo.select %22, %24, %arg1 : tensor<3x2xi1>, tensor<3x2xi32>
    %26 = stablehlo.broadcast_in_dim %25, dims = [0, 1] : (tensor<3x2xi32>) -> tensor<3x2x1xi32>
    %c_7 = stablehlo.constant dense<1> : tensor<i32>
    %27 = stablehlo.broadcast_in_dim %c_7, dims = [] : (tensor<i32>) -> tensor<3x2x1xi32>
    %28 = stablehlo.concatenate %26, %27, dim = 2 : (tensor<3x2x1xi32>, tensor<3x2x1xi32>) -> tensor<3x2x2xi32>
    %29 = "stablehlo.gather"(%arg0, %28) <{dimension_numbers = #stablehlo.gather<offset_dims = [2, 3], collapsed_slice_dims = [0], start_index_map = [0, 2], index_vector_dim = 2>, indices_are_sorted = false, slice_sizes = array<i64: 1, 7, 2>}> : (tensor<6x7x4xf32>, tensor<3x2x2xi32>) -> tensor<3x2x7x2xf32>
    %30 = stablehlo.slice %arg1 [0:1, 0:2] : (tensor<3x2xi32>) -> tensor<1x2xi32>
    %31 = stablehlo.reshape %30 : (tensor<1x2xi32>) -> tensor<2xi32>
    %c_8 = stablehlo.constant dense<0> : tensor<i32>
    %32 = stablehlo.broadcast_in_dim %c_8, dims = [] : (tensor<i32>) -> tensor<2xi32>
    %33 = stablehlo.compare LT, %31, %32, SIGNED : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi1>
    %c_9 = stablehlo.constant dense<4> : tensor<i32>
    %34 = stablehlo.broadcast_in_dim %c_9, dims = [] : (tensor<i32>) -> tensor<2xi32>
    %35 = stablehlo.add %31, %34 : tensor<2xi32>
    %36 = stablehlo.select %33, %35, %31 : tensor<2xi1>, tensor<2xi32>
    %c_10 = stablehlo.constant dense<5> : tensor<i32>
    %37 = stablehlo.broadcast_in_dim %c_10, dims = [] : (tensor<i32>) -> tensor<2xi32>
    %38 = stablehlo.convert %37 : tensor<2xi32>
    %39 = stablehlo.broadcast_in_dim %38, dims = [0] : (tensor<2xi32>) -> tensor<2x1xi32>
    %40 = stablehlo.broadcast_in_dim %36, dims = [0] : (tensor<2xi32>) -> tensor<2x1xi32>
    %41 = stablehlo.concatenate %39, %40, dim = 1 : (tensor<2x1xi32>, tensor<2x1xi32>) -> tensor<2x2xi32>
    %42 = "stablehlo.gather"(%arg0, %41) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0, 2], start_index_map = [0, 2], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1, 7, 1>}> : (tensor<6x7x4xf32>, tensor<2x2xi32>) -> tensor<2x7xf32>
    %43 = call @_take(%arg0, %arg3) : (tensor<6x7x4xf32>, tensor<5xi32>) -> tensor<6x5x4xf32>
    %44 = call @_take_0(%arg0, %arg3) : (tensor<6x7x4xf32>, tensor<5xi32>) -> tensor<5x7x4xf32>
    %45 = call @_take_1(%arg0, %arg3) : (tensor<6x7x4xf32>, tensor<5xi32>) -> tensor<5x7x4xf32>
    %46 = call @argsort(%arg0) : (tensor<6x7x4xf32>) -> tensor<6x7x4xi32>
    %47 = call @take_along_axis(%arg0, %46) : (tensor<6x7x4xf32>, tensor<6x7x4xi32>) -> tensor<6x7x4xf32>
    return %13, %20, %29, %42, %43, %44, %45, %47 : tensor<3x2x4xf32>, tensor<6x3x2x4xf32>, tensor<3x2x7x2xf32>, tensor<2x7xf32>, tensor<6x5x4xf32>, tensor<5x7x4xf32>, tensor<5x7x4xf32>, tensor<6x7x4xf32>
  }
  func.func private @_take(%arg0: tensor<6x7x4xf32>, %arg1: tensor<5xi32>) -> tensor<6x5x4xf32> {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [0] : (tensor<5xi32>) -> tensor<5x1xi32>
    %1 = "stablehlo.gather"(%arg0, %0) <{dimension_numbers = #stablehlo.gather<offset_dims = [0, 2], collapsed_slice_dims = [1], start_index_map = [1], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 6, 1, 4>}> : (tensor<6x7x4xf32>, tensor<5x1xi32>) -> tensor<6x5x4xf32>
    return %1 : tensor<6x5x4xf32>
  }
  func.func private @_take_0(%arg0: tensor<6x7x4xf32>, %arg1: tensor<5xi32>) -> tensor<5x7x4xf32> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<5xi32>
    %1 = stablehlo.compare LT, %arg1, %0, SIGNED : (tensor<5xi32>, tensor<5xi32>) -> tensor<5xi1>
    %c_0 = stablehlo.constant dense<6> : tensor<i32>
    %2 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i32>) -> tensor<5xi32>
    %3 = stablehlo.add %arg1, %2 : tensor<5xi32>
    %4 = call @_where(%1, %3, %arg1) : (tensor<5xi1>, tensor<5xi32>, tensor<5xi32>) -> tensor<5xi32>
    %5 = stablehlo.broadcast_in_dim %4, dims = [0] : (tensor<5xi32>) -> tensor<5x1xi32>
    %c_1 = stablehlo.constant dense<5> : tensor<1xi32>
    %c_2 = stablehlo.constant dense<0> : tensor<i32>
    %6 = stablehlo.broadcast_in_dim %c_2, dims = [] : (tensor<i32>) -> tensor<5x1xi32>
    %7 = stablehlo.compare GE, %5, %6, SIGNED : (tensor<5x1xi32>, tensor<5x1xi32>) -> tensor<5x1xi1>
    %8 = stablehlo.broadcast_in_dim %c_1, dims = [1] : (tensor<1xi32>) -> tensor<1x1xi32>
    %9 = stablehlo.broadcast_in_dim %8, dims = [0, 1] : (tensor<1x1xi32>) -> tensor<5x1xi32>
    %10 = stablehlo.compare LE, %5, %9, SIGNED : (tensor<5x1xi32>, tensor<5x1xi32>) -> tensor<5x1xi1>
    %11 = stablehlo.and %7, %10 : tensor<5x1xi1>
    %c_3 = stablehlo.constant dense<true> : tensor<i1>
    %12 = stablehlo.reduce(%11 init: %c_3) applies stablehlo.and across dimensions = [1] : (tensor<5x1xi1>, tensor<i1>) -> tensor<5xi1>
    %13 = "stablehlo.gather"(%arg0, %5) <{dimension_numbers = #stablehlo.gather<offset_dims = [1, 2], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1, 7, 4>}> : (tensor<6x7x4xf32>, tensor<5x1xi32>) -> tensor<5x7x4xf32>
    %14 = stablehlo.broadcast_in_dim %12, dims = [0] : (tensor<5xi1>) -> tensor<5x7x4xi1>
    %cst = stablehlo.constant dense<-7.000000e+00> : tensor<f32>
    %15 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<5x7x4xf32>
    %16 = stablehlo.select %14, %13, %15 : tensor<5x7x4xi1>, tensor<5x7x4xf32>
    return %16 : tensor<5x7x4xf32>
  }
  func.func private @_where(%arg0: tensor<5xi1>, %arg1: tensor<5xi32>, %arg2: tensor<5xi32>) -> tensor<5xi32> {
    %0 = stablehlo.select %arg0, %arg1, %arg2 : tensor<5xi1>, tensor<5xi32>
    return %0 : tensor<5xi32>
  }
  func.func private @_take_1(%arg0: tensor<6x7x4xf32>, %arg1: tensor<5xi32>) -> tensor<5x7x4xf32> {
    %c = stablehlo.constant dense<6> : tensor<i32>
    %0 = call @remainder(%arg1, %c) : (tensor<5xi32>, tensor<i32>) -> tensor<5xi32>
    %1 = stablehlo.broadcast_in_dim %0, dims = [0] : (tensor<5xi32>) -> tensor<5x1xi32>
    %2 = "stablehlo.gather"(%arg0, %1) <{dimension_numbers = #stablehlo.gather<offset_dims = [1, 2], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1, 7, 4>}> : (tensor<6x7x4xf32>, tensor<5x1xi32>) -> tensor<5x7x4xf32>
    return %2 : tensor<5x7x4xf32>
  }
  func.func private @remainder(%arg0: tensor<5xi32>, %arg1: tensor<i32>) -> tensor<5xi32> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.compare EQ, %arg1, %c, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %c_0 = stablehlo.constant dense<1> : tensor<i32>
    %1 = call @_where_2(%0, %c_0, %arg1) : (tensor<i1>, tensor<i32>, tensor<i32>) -> tensor<i32>
    %2 = stablehlo.broadcast_in_dim %1, dims = [] : (tensor<i32>) -> tensor<5xi32>
    %3 = stablehlo.remainder %arg0, %2 : tensor<5xi32>
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %4 = stablehlo.broadcast_in_dim %c_1, dims = [] : (tensor<i32>) -> tensor<5xi32>
    %5 = stablehlo.compare NE, %3, %4, SIGNED : (tensor<5xi32>, tensor<5xi32>) -> tensor<5xi1>
    %c_2 = stablehlo.constant dense<0> : tensor<i32>
    %6 = stablehlo.broadcast_in_dim %c_2, dims = [] : (tensor<i32>) -> tensor<5xi32>
    %7 = stablehlo.compare LT, %3, %6, SIGNED : (tensor<5xi32>, tensor<5xi32>) -> tensor<5xi1>
    %c_3 = stablehlo.constant dense<0> : tensor<i32>
    %8 = stablehlo.compare LT, %1, %c_3, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %9 = stablehlo.broadcast_in_dim %8, dims = [] : (tensor<i1>) -> tensor<5xi1>
    %10 = stablehlo.compare NE, %7, %9, UNSIGNED : (tensor<5xi1>, tensor<5xi1>) -> tensor<5xi1>
    %11 = stablehlo.and %10, %5 : tensor<5xi1>
    %12 = stablehlo.broadcast_in_dim %1, dims = [] : (tensor<i32>) -> tensor<5xi32>
    %13 = stablehlo.add %3, %12 : tensor<5xi32>
    %14 = stablehlo.select %11, %13, %3 : tensor<5xi1>, tensor<5xi32>
    return %14 : tensor<5xi32>
  }
  func.func private @_where_2(%arg0: tensor<i1>, %arg1: tensor<i32>, %arg2: tensor<i32>) -> tensor<i32> {
    %0 = stablehlo.select %arg0, %arg1, %arg2 : tensor<i1>, tensor<i32>
    return %0 : tensor<i32>
  }
  func.func private @argsort(%arg0: tensor<6x7x4xf32>) -> tensor<6x7x4xi32> {
    %0 = stablehlo.iota dim = 1 : tensor<6x7x4xi32>
    %1:2 = "stablehlo.sort"(%arg0, %0) <{dimension = 1 : i64, is_stable = true}> ({
    ^bb0(%arg1: tensor<f32>, %arg2: tensor<f32>, %arg3: tensor<i32>, %arg4: tensor<i32>):
      %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %2 = stablehlo.compare EQ, %arg1, %cst, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %3 = stablehlo.select %2, %cst_0, %arg1 : tensor<i1>, tensor<f32>
      %4 = stablehlo.compare NE, %arg1, %arg1, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %cst_1 = stablehlo.constant dense<0x7FC00000> : tensor<f32>
      %5 = stablehlo.select %4, %cst_1, %3 : tensor<i1>, tensor<f32>
      %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %6 = stablehlo.compare EQ, %arg2, %cst_2, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %7 = stablehlo.select %6, %cst_3, %arg2 : tensor<i1>, tensor<f32>
      %8 = stablehlo.compare NE, %arg2, %arg2, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %cst_4 = stablehlo.constant dense<0x7FC00000> : tensor<f32>
      %9 = stablehlo.select %8, %cst_4, %7 : tensor<i1>, tensor<f32>
      %10 = stablehlo.compare LT, %5, %9, TOTALORDER : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %10 : tensor<i1>
    }) : (tensor<6x7x4xf32>, tensor<6x7x4xi32>) -> (tensor<6x7x4xf32>, tensor<6x7x4xi32>)
    return %1#1 : tensor<6x7x4xi32>
  }
  func.func private @take_along_axis(%arg0: tensor<6x7x4xf32>, %arg1: tensor<6x7x4xi32>) -> tensor<6x7x4xf32> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<6x7x4xi32>
    %1 = stablehlo.compare LT, %arg1, %0, SIGNED : (tensor<6x7x4xi32>, tensor<6x7x4xi32>) -> tensor<6x7x4xi1>
    %c_0 = stablehlo.constant dense<7> : tensor<i32>
    %2 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i32>) -> tensor<6x7x4xi32>
    %3 = stablehlo.add %arg1, %2 : tensor<6x7x4xi32>
    %4 = stablehlo.select %1, %3, %arg1 : tensor<6x7x4xi1>, tensor<6x7x4xi32>
    %5 = stablehlo.reshape %4 : (tensor<6x7x4xi32>) -> tensor<6x7x4x1xi32>
    %c_1 = stablehlo.constant dense<6> : tensor<1xi32>
    %c_2 = stablehlo.constant dense<0> : tensor<i32>
    %6 = stablehlo.broadcast_in_dim %c_2, dims = [] : (tensor<i32>) -> tensor<6x7x4x1xi32>
    %7 = stablehlo.compare GE, %5, %6, SIGNED : (tensor<6x7x4x1xi32>, tensor<6x7x4x1xi32>) -> tensor<6x7x4x1xi1>
    %8 = stablehlo.broadcast_in_dim %c_1, dims = [3] : (tensor<1xi32>) -> tensor<1x1x1x1xi32>
    %9 = stablehlo.broadcast_in_dim %8, dims = [0, 1, 2, 3] : (tensor<1x1x1x1xi32>) -> tensor<6x7x4x1xi32>
    %10 = stablehlo.compare LE, %5, %9, SIGNED : (tensor<6x7x4x1xi32>, tensor<6x7x4x1xi32>) -> tensor<6x7x4x1xi1>
    %11 = stablehlo.and %7, %10 : tensor<6x7x4x1xi1>
    %c_3 = stablehlo.constant dense<true> : tensor<i1>
    %12 = stablehlo.reduce(%11 init: %c_3) applies stablehlo.and across dimensions = [3] : (tensor<6x7x4x1xi1>, tensor<i1>) -> tensor<6x7x4xi1>
    %13 = "stablehlo.gather"(%arg0, %5) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [1], operand_batching_dims = [0, 2], start_indices_batching_dims = [0, 2], start_index_map = [1], index_vector_dim = 3>, indices_are_sorted = false, slice_sizes = array<i64: 1, 1, 1>}> : (tensor<6x7x4xf32>, tensor<6x7x4x1xi32>) -> tensor<6x7x4xf32>
    %cst = stablehlo.constant dense<0x7FC00000> : tensor<f32>
    %14 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<6x7x4xf32>
    %15 = stablehlo.select %12, %13, %14 : tensor<6x7x4xi1>, tensor<6x7x4xf32>
    return %15 : tensor<6x7x4xf32>
  }
}
