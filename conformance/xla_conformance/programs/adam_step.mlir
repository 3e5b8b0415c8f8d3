module @jit_adam_step attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<5x3xf32> {tf.aliasing_output = 0 : i32}, %arg1: tensor<3xf32> {tf.aliasing_output = 1 : i32}, %arg2: tensor<5x3xf32> {tf.aliasing_output = 2 : i32}, %arg3: tensor<3xf32> {tf.aliasing_output = 3 : i32}, %arg4: tensor<5x3xf32> {tf.aliasing_output = 4 : i32}, %arg5: tensor<3xf32> {tf.aliasing_output = 5 : i32}, %arg6: tensor<i32> {tf.aliasing_output = 6 : i32}, %arg7: tensor<7x5xf32>, %arg8: tensor<7xi32>) -> (tensor<5x3xf32> {jax.result_info = "result[0][0]"}, tensor<3xf32> {jax.result_info = "result[0][1]"}, tensor<5x3xf32> {jax.result_info = "result[1][0]"}, tensor<3xf32> {jax.result_info = "result[1][1]"}, tensor<5x3xf32> {jax.result_info = "result[2][0]"}, tensor<3xf32> {jax.result_info = "result[2][1]"}, tensor<i32> {jax.result_info = "result[3]"}, tensor<f32> {jax.result_info = "result[4]"}) {
    %0 = stablehlo.dot_general %arg7, %arg0, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<7x5xf32>, tensor<5x3xf32>) -> tensor<7x3xf32>
    %1 = stablehlo.broadcast_in_dim %arg1, dims = [1] : (tensor<3xf32>) -> tensor<1x3xf32>
    %2 = stablehlo.broadcast_in_dim %1, dims = [0, 1] : (tensor<1x3xf32>) -> tensor<7x3xf32>
    %3 = stablehlo.add %0, %2 : tensor<7x3xf32>
    %4:3 = call @log_softmax(%3) : (tensor<7x3xf32>) -> (tensor<7x3xf32>, tensor<7x3xf32>, tensor<7x1xf32>)
    %5 = stablehlo.broadcast_in_dim %arg8, dims = [0] : (tensor<7xi32>) -> tensor<7x1xi32>
    %6:2 = call @take_along_axis(%4#0, %5) : (tensor<7x3xf32>, tensor<7x1xi32>) -> (tensor<7x1xf32>, tensor<7x1x1xi32>)
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %7 = stablehlo.reduce(%6#0 init: %cst) applies stablehlo.add across dimensions = [0, 1] : (tensor<7x1xf32>, tensor<f32>) -> tensor<f32>
    %cst_0 = stablehlo.constant dense<7.000000e+00> : tensor<f32>
    %8 = stablehlo.divide %7, %cst_0 : tensor<f32>
    %9 = stablehlo.negate %8 : tensor<f32>
    %cst_1 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %10 = stablehlo.negate %cst_1 : tensor<f32>
    %cst_2 = stablehlo.constant dense<7.000000e+00> : tensor<f32>
    %11 = stablehlo.divide %10, %cst_2 : tensor<f32>
    %12 = stablehlo.broadcast_in_dim %11, dims = [] : (tensor<f32>) -> tensor<7x1xf32>
    %13 = call @take_along_axis_0(%6#1, %12) : (tensor<7x1x1xi32>, tensor<7x1xf32>) -> tensor<7x3xf32>
    %14 = call @log_softmax_1(%4#1, %4#2, %13) : (tensor<7x3xf32>, tensor<7x1xf32>, tensor<7x3xf32>) -> tensor<7x3xf32>
    %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %15 = stablehlo.reduce(%14 init: %cst_3) applies stablehlo.add across dimensions = [0] : (tensor<7x3xf32>, tensor<f32>) -> tensor<3xf32>
    %16 = stablehlo.reshape %15 : (tensor<3xf32>) -> tensor<1x3xf32>
    %cst_4 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %17 = stablehlo.reduce(%16 init: %cst_4) applies stablehlo.add across dimensions = [0] : (tensor<1x3xf32>, tensor<f32>) -> tensor<3xf32>
    %18 = stablehlo.dot_general %14, %arg7, contracting_dims = [0] x [0], precision = [DEFAULT, DEFAULT] : (tensor<7x3xf32>, tensor<7x5xf32>) -> tensor<3x5xf32>
    %19 = stablehlo.transpose %18, dims = [1, 0] : (tensor<3x5xf32>) -> tensor<5x3xf32>
    %c = stablehlo.constant dense<1> : tensor<i32>
    %20 = stablehlo.add %arg6, %c : tensor<i32>
    %21 = stablehlo.convert %20 : (tensor<i32>) -> tensor<f32>
    %cst_5 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %22 = stablehlo.broadcast_in_dim %cst_5, dims = [] : (tensor<f32>) -> tensor<5x3xf32>
    %23 = stablehlo.multiply %22, %arg2 : tensor<5x3xf32>
    %cst_6 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %24 = stablehlo.broadcast_in_dim %cst_6, dims = [] : (tensor<f32>) -> tensor<5x3xf32>
    %25 = stablehlo.multiply %24, %19 : tensor<5x3xf32>
    %26 = stablehlo.add %23, %25 : tensor<5x3xf32>
    %cst_7 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %27 = stablehlo.broadcast_in_dim %cst_7, dims = [] : (tensor<f32>) -> tensor<3xf32>
    %28 = stablehlo.multiply %27, %arg3 : tensor<3xf32>
    %cst_8 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %29 = stablehlo.broadcast_in_dim %cst_8, dims = [] : (tensor<f32>) -> tensor<3xf32>
    %30 = stablehlo.multiply %29, %17 : tensor<3xf32>
    %31 = stablehlo.add %28, %30 : tensor<3xf32>
    %cst_9 = stablehlo.constant dense<9.990000e-01> : tensor<f32>
    %32 = stablehlo.broadcast_in_dim %cst_9, dims = [] : (tensor<f32>) -> tensor<5x3xf32>
    %33 = stablehlo.multiply %32, %arg4 : tensor<5x3xf32>
    %cst_10 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %34 = stablehlo.broadcast_in_dim %cst_10, dims = [] : (tensor<f32>) -> tensor<5x3xf32>
    %35 = stablehlo.multiply %34, %19 : tensor<5x3xf32>
    %36 = stablehlo.multiply %35, %19 : tensor<5x3xf32>
    %37 = stablehlo.add %33, %36 : tensor<5x3xf32>
    %cst_11 = stablehlo.constant dense<9.990000e-01> : tensor<f32>
    %38 = stablehlo.broadcast_in_dim %cst_11, dims = [] : (tensor<f32>) -> tensor<3xf32>
    %39 = stablehlo.multiply %38, %arg5 : tensor<3xf32>
    %cst_12 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %40 = stablehlo.broadcast_in_dim %cst_12, dims = [] : (tensor<f32>) -> tensor<3xf32>
    %41 = stablehlo.multiply %40, %17 : tensor<3xf32>
    %42 = stablehlo.multiply %41, %17 : tensor<3xf32>
    %43 = stablehlo.add %39, %42 : tensor<3xf32>
    %cst_13 = stablehlo.constant dense<9.990000e-01> : tensor<f32>
    %44 = stablehlo.power %cst_13, %21 : tensor<f32>
    %cst_14 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %45 = stablehlo.subtract %cst_14, %44 : tensor<f32>
    %46 = stablehlo.sqrt %45 : tensor<f32>
    %cst_15 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %47 = stablehlo.multiply %cst_15, %46 : tensor<f32>
    %cst_16 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %48 = stablehlo.power %cst_16, %21 : tensor<f32>
    %cst_17 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %49 = stablehlo.subtract %cst_17, %48 : tensor<f32>
    %50 = stablehlo.divide %47, %49 : tensor<f32>
    %51 = stablehlo.broadcast_in_dim %50, dims = [] : (tensor<f32>) -> tensor<5x3xf32>
    %52 = stablehlo.multiply %51, %26 : tensor<5x3xf32>
    %53 = stablehlo.sqrt %37 : tensor<5x3xf32>
    %cst_18 = stablehlo.constant dense<9.99999993E-9> : tensor<f32>
    %54 = stablehlo.broadcast_in_dim %cst_18, dims = [] : (tensor<f32>) -> tensor<5x3xf32>
    %55 = stablehlo.add %53, %54 : tensor<5x3xf32>
    %56 = stablehlo.divide %52, %55 : tensor<5x3xf32>
    %57 = stablehlo.subtract %arg0, %56 : tensor<5x3xf32>
    %58 = stablehlo.broadcast_in_dim %50, dims = [] : (tensor<f32>) -> tensor<3xf32>
    %59 = stablehlo.multiply %58, %31 : tensor<3xf32>
    %60 = stablehlo.sqrt %43 : tensor<3xf32>
    %cst_19 = stablehlo.constant dense<9.99999993E-9> : tensor<f32>
    %61 = stablehlo.broadcast_in_dim %cst_19, dims = [] : (tensor<f32>) -> tensor<3xf32>
    %62 = stablehlo.add %60, %61 : tensor<3xf32>
    %63 = stablehlo.divide %59, %62 : tensor<3xf32>
    %64 = stablehlo.subtract %arg1, %63 : tensor<3xf32>
    return %57, %64, %26, %31, %37, %43, %20, %9 : tensor<5x3xf32>, tensor<3xf32>, tensor<5x3xf32>, tensor<3xf32>, tensor<5x3xf32>, tensor<3xf32>, tensor<i32>, tensor<f32>
  }
  func.func private @log_softmax(%arg0: tensor<7x3xf32>) -> (tensor<7x3xf32>, tensor<7x3xf32>, tensor<7x1xf32>) {
    %cst = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %0 = stablehlo.reduce(%arg0 init: %cst) applies stablehlo.maximum across dimensions = [1] : (tensor<7x3xf32>, tensor<f32>) -> tensor<7xf32>
    %cst_0 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<7xf32>
    %2 = stablehlo.maximum %1, %0 : tensor<7xf32>
    %3 = stablehlo.broadcast_in_dim %2, dims = [0] : (tensor<7xf32>) -> tensor<7x1xf32>
    %4 = stablehlo.broadcast_in_dim %3, dims = [0, 1] : (tensor<7x1xf32>) -> tensor<7x3xf32>
    %5 = stablehlo.subtract %arg0, %4 : tensor<7x3xf32>
    %6 = stablehlo.exponential %5 : tensor<7x3xf32>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %7 = stablehlo.reduce(%6 init: %cst_1) applies stablehlo.add across dimensions = [1] : (tensor<7x3xf32>, tensor<f32>) -> tensor<7xf32>
    %8 = stablehlo.broadcast_in_dim %7, dims = [0] : (tensor<7xf32>) -> tensor<7x1xf32>
    %9 = stablehlo.log %8 : tensor<7x1xf32>
    %10 = stablehlo.broadcast_in_dim %9, dims = [0, 1] : (tensor<7x1xf32>) -> tensor<7x3xf32>
    %11 = stablehlo.subtract %5, %10 : tensor<7x3xf32>
    return %11, %6, %8 : tensor<7x3xf32>, tensor<7x3xf32>, tensor<7x1xf32>
  }
  func.func private @take_along_axis(%arg0: tensor<7x3xf32>, %arg1: tensor<7x1xi32>) -> (tensor<7x1xf32>, tensor<7x1x1xi32>) {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<7x1xi32>
    %1 = stablehlo.compare LT, %arg1, %0, SIGNED : (tensor<7x1xi32>, tensor<7x1xi32>) -> tensor<7x1xi1>
    %c_0 = stablehlo.constant dense<3> : tensor<i32>
    %2 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i32>) -> tensor<7x1xi32>
    %3 = stablehlo.add %arg1, %2 : tensor<7x1xi32>
    %4 = stablehlo.select %1, %3, %arg1 : tensor<7x1xi1>, tensor<7x1xi32>
    %5 = stablehlo.reshape %4 : (tensor<7x1xi32>) -> tensor<7x1x1xi32>
    %c_1 = stablehlo.constant dense<2> : tensor<1xi32>
    %c_2 = stablehlo.constant dense<0> : tensor<i32>
    %6 = stablehlo.broadcast_in_dim %c_2, dims = [] : (tensor<i32>) -> tensor<7x1x1xi32>
    %7 = stablehlo.compare GE, %5, %6, SIGNED : (tensor<7x1x1xi32>, tensor<7x1x1xi32>) -> tensor<7x1x1xi1>
    %8 = stablehlo.broadcast_in_dim %c_1, dims = [2] : (tensor<1xi32>) -> tensor<1x1x1xi32>
    %9 = stablehlo.broadcast_in_dim %8, dims = [0, 1, 2] : (tensor<1x1x1xi32>) -> tensor<7x1x1xi32>
    %10 = stablehlo.compare LE, %5, %9, SIGNED : (tensor<7x1x1xi32>, tensor<7x1x1xi32>) -> tensor<7x1x1xi1>
    %11 = stablehlo.and %7, %10 : tensor<7x1x1xi1>
    %c_3 = stablehlo.constant dense<true> : tensor<i1>
    %12 = stablehlo.reduce(%11 init: %c_3) applies stablehlo.and across dimensions = [2] : (tensor<7x1x1xi1>, tensor<i1>) -> tensor<7x1xi1>
    %13 = "stablehlo.gather"(%arg0, %5) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 2>, indices_are_sorted = false, slice_sizes = array<i64: 1, 1>}> : (tensor<7x3xf32>, tensor<7x1x1xi32>) -> tensor<7x1xf32>
    %cst = stablehlo.constant dense<0x7FC00000> : tensor<f32>
    %14 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<7x1xf32>
    %15 = stablehlo.select %12, %13, %14 : tensor<7x1xi1>, tensor<7x1xf32>
    return %15, %5 : tensor<7x1xf32>, tensor<7x1x1xi32>
  }
  func.func private @take_along_axis_0(%arg0: tensor<7x1x1xi32>, %arg1: tensor<7x1xf32>) -> tensor<7x3xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<7x3xf32>
    %1 = "stablehlo.scatter"(%0, %arg0, %arg1) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [1], input_batching_dims = [0], scatter_indices_batching_dims = [0], scatter_dims_to_operand_dims = [1], index_vector_dim = 2>, unique_indices = false}> ({
    ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>):
      %2 = stablehlo.add %arg2, %arg3 : tensor<f32>
      stablehlo.return %2 : tensor<f32>
    }) : (tensor<7x3xf32>, tensor<7x1x1xi32>, tensor<7x1xf32>) -> tensor<7x3xf32>
    return %1 : tensor<7x3xf32>
  }
  func.func private @log_softmax_1(%arg0: tensor<7x3xf32>, %arg1: tensor<7x1xf32>, %arg2: tensor<7x3xf32>) -> tensor<7x3xf32> {
    %0 = stablehlo.negate %arg2 : tensor<7x3xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1 = stablehlo.reduce(%0 init: %cst) applies stablehlo.add across dimensions = [1] : (tensor<7x3xf32>, tensor<f32>) -> tensor<7xf32>
    %2 = stablehlo.reshape %1 : (tensor<7xf32>) -> tensor<7x1xf32>
    %3 = stablehlo.divide %2, %arg1 : tensor<7x1xf32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %4 = stablehlo.reduce(%3 init: %cst_0) applies stablehlo.add across dimensions = [1] : (tensor<7x1xf32>, tensor<f32>) -> tensor<7xf32>
    %5 = stablehlo.broadcast_in_dim %4, dims = [0] : (tensor<7xf32>) -> tensor<7x3xf32>
    %6 = stablehlo.multiply %5, %arg0 : tensor<7x3xf32>
    %7 = stablehlo.add %arg2, %6 : tensor<7x3xf32>
    return %7 : tensor<7x3xf32>
  }
}
