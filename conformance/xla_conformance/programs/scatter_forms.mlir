module @jit_scatter_forms attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<8x5xf32>, %arg1: tensor<6xi32>, %arg2: tensor<6x5xf32>, %arg3: tensor<6xi32>) -> (tensor<8x5xf32> {jax.result_info = "result[0]"}, tensor<8x5xf32> {jax.result_info = "result[1]"}, tensor<8x5xf32> {jax.result_info = "result[2]"}, tensor<8x5xf32> {jax.result_info = "result[3]"}, tensor<8x5xf32> {jax.result_info = "result[4]"}, tensor<8x5xf32> {jax.result_info = "result[5]"}, tensor<8x5xf32> {jax.result_info = "result[6]"}, tensor<8x5xf32> {jax.result_info = "result[7]"}) {
    %c = stablehlo.constant dense<[3, 0]> : tensor<2xi32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i32>) -> tensor<6xi32>
    %1 = stablehlo.compare LT, %arg1, %0, SIGNED : (tensor<6xi32>, tensor<6xi32>) -> tensor<6xi1>
    %c_1 = stablehlo.constant dense<8> : tensor<i32>
    %2 = stablehlo.broadcast_in_dim %c_1, dims = [] : (tensor<i32>) -> tensor<6xi32>
    %3 = stablehlo.add %arg1, %2 : tensor<6xi32>
    %4 = stablehlo.select %1, %3, %arg1 : tensor<6xi1>, tensor<6xi32>
    %5 = stablehlo.broadcast_in_dim %4, dims = [0] : (tensor<6xi32>) -> tensor<6x1xi32>
    %6 = "stablehlo.scatter"(%arg0, %5, %arg2) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = false}> ({
    ^bb0(%arg4: tensor<f32>, %arg5: tensor<f32>):
      %66 = stablehlo.add %arg4, %arg5 : tensor<f32>
      stablehlo.return %66 : tensor<f32>
    }) : (tensor<8x5xf32>, tensor<6x1xi32>, tensor<6x5xf32>) -> tensor<8x5xf32>
    %c_2 = stablehlo.constant dense<0> : tensor<i32>
    %7 = stablehlo.broadcast_in_dim %c_2, dims = [] : (tensor<i32>) -> tensor<6xi32>
    %8 = stablehlo.compare LT, %arg1, %7, SIGNED : (tensor<6xi32>, tensor<6xi32>) -> tensor<6xi1>
    %c_3 = stablehlo.constant dense<8> : tensor<i32>
    %9 = stablehlo.broadcast_in_dim %c_3, dims = [] : (tensor<i32>) -> tensor<6xi32>
    %10 = stablehlo.add %arg1, %9 : tensor<6xi32>
    %11 = stablehlo.select %8, %10, %arg1 : tensor<6xi1>, tensor<6xi32>
    %12 = stablehlo.broadcast_in_dim %11, dims = [0] : (tensor<6xi32>) -> tensor<6x1xi32>
    %13 = "stablehlo.scatter"(%arg0, %12, %arg2) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = false}> ({
    ^bb0(%arg4: tensor<f32>, %arg5: tensor<f32>):
      %66 = stablehlo.maximum %arg4, %arg5 : tensor<f32>
      stablehlo.return %66 : tensor<f32>
    }) : (tensor<8x5xf32>, tensor<6x1xi32>, tensor<6x5xf32>) -> tensor<8x5xf32>
    %c_4 = stablehlo.constant dense<0> : tensor<i32>
    %14 = stablehlo.broadcast_in_dim %c_4, dims = [] : (tensor<i32>) -> tensor<6xi32>
    %15 = stablehlo.compare LT, %arg1, %14, SIGNED : (tensor<6xi32>, tensor<6xi32>) -> tensor<6xi1>
    %c_5 = stablehlo.constant dense<8> : tensor<i32>
    %16 = stablehlo.broadcast_in_dim %c_5, dims = [] : (tensor<i32>) -> tensor<6xi32>
    %17 = stablehlo.add %arg1, %16 : tensor<6xi32>
    %18 = stablehlo.select %15, %17, %arg1 : tensor<6xi1>, tensor<6xi32>
    %19 = stablehlo.broadcast_in_dim %18, dims = [0] : (tensor<6xi32>) -> tensor<6x1xi32>
    %20 = "stablehlo.scatter"(%arg0, %19, %arg2) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = false}> ({
    ^bb0(%arg4: tensor<f32>, %arg5: tensor<f32>):
      %66 = stablehlo.minimum %arg4, %arg5 : tensor<f32>
      stablehlo.return %66 : tensor<f32>
    }) : (tensor<8x5xf32>, tensor<6x1xi32>, tensor<6x5xf32>) -> tensor<8x5xf32>
    %c_6 = stablehlo.constant dense<0> : tensor<i32>
    %21 = stablehlo.broadcast_in_dim %c_6, dims = [] : (tensor<i32>) -> tensor<6xi32>
    %22 = stablehlo.compare LT, %arg1, %21, SIGNED : (tensor<6xi32>, tensor<6xi32>) -> tensor<6xi1>
    %c_7 = stablehlo.constant dense<8> : tensor<i32>
    %23 = stablehlo.broadcast_in_dim %c_7, dims = [] : (tensor<i32>) -> tensor<6xi32>
    %24 = stablehlo.add %arg1, %23 : tensor<6xi32>
    %25 = stablehlo.select %22, %24, %arg1 : tensor<6xi1>, tensor<6xi32>
    %26 = stablehlo.broadcast_in_dim %25, dims = [0] : (tensor<6xi32>) -> tensor<6x1xi32>
    %27 = "stablehlo.scatter"(%arg0, %26, %arg2) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = false}> ({
    ^bb0(%arg4: tensor<f32>, %arg5: tensor<f32>):
      %66 = stablehlo.multiply %arg4, %arg5 : tensor<f32>
      stablehlo.return %66 : tensor<f32>
    }) : (tensor<8x5xf32>, tensor<6x1xi32>, tensor<6x5xf32>) -> tensor<8x5xf32>
    %c_8 = stablehlo.constant dense<2> : tensor<i32>
    %28 = stablehlo.broadcast_in_dim %c_8, dims = [] : (tensor<i32>) -> tensor<1xi32>
    %c_9 = stablehlo.constant dense<1> : tensor<i32>
    %29 = stablehlo.broadcast_in_dim %c_9, dims = [] : (tensor<i32>) -> tensor<1xi32>
    %30 = stablehlo.concatenate %28, %29, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %cst = stablehlo.constant dense<9.000000e+00> : tensor<f32>
    %31 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<3xf32>
    %32 = "stablehlo.scatter"(%arg0, %30, %31) <{indices_are_sorted = true, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [0], inserted_window_dims = [1], scatter_dims_to_operand_dims = [0, 1]>, unique_indices = true}> ({
    ^bb0(%arg4: tensor<f32>, %arg5: tensor<f32>):
      stablehlo.return %arg5 : tensor<f32>
    }) : (tensor<8x5xf32>, tensor<2xi32>, tensor<3xf32>) -> tensor<8x5xf32>
    %c_10 = stablehlo.constant dense<0> : tensor<i32>
    %33 = stablehlo.broadcast_in_dim %c_10, dims = [] : (tensor<i32>) -> tensor<6xi32>
    %34 = stablehlo.compare LT, %arg3, %33, SIGNED : (tensor<6xi32>, tensor<6xi32>) -> tensor<6xi1>
    %c_11 = stablehlo.constant dense<8> : tensor<i32>
    %35 = stablehlo.broadcast_in_dim %c_11, dims = [] : (tensor<i32>) -> tensor<6xi32>
    %36 = stablehlo.add %arg3, %35 : tensor<6xi32>
    %37 = stablehlo.select %34, %36, %arg3 : tensor<6xi1>, tensor<6xi32>
    %38 = stablehlo.broadcast_in_dim %37, dims = [0] : (tensor<6xi32>) -> tensor<6x1xi32>
    %39 = "stablehlo.scatter"(%arg0, %38, %arg2) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = false}> ({
    ^bb0(%arg4: tensor<f32>, %arg5: tensor<f32>):
      %66 = stablehlo.add %arg4, %arg5 : tensor<f32>
      stablehlo.return %66 : tensor<f32>
    }) : (tensor<8x5xf32>, tensor<6x1xi32>, tensor<6x5xf32>) -> tensor<8x5xf32>
    %40 = stablehlo.iota dim = 0 : tensor<5xi32>
    %41 = stablehlo.iota dim = 0 : tensor<5xi32>
    %42 = stablehlo.slice %arg2 [0:1, 0:5] : (tensor<6x5xf32>) -> tensor<1x5xf32>
    %43 = stablehlo.reshape %42 : (tensor<1x5xf32>) -> tensor<5xf32>
    %c_12 = stablehlo.constant dense<0> : tensor<i32>
    %44 = stablehlo.broadcast_in_dim %c_12, dims = [] : (tensor<i32>) -> tensor<5xi32>
    %45 = stablehlo.compare LT, %40, %44, SIGNED : (tensor<5xi32>, tensor<5xi32>) -> tensor<5xi1>
    %c_13 = stablehlo.constant dense<8> : tensor<i32>
    %46 = stablehlo.broadcast_in_dim %c_13, dims = [] : (tensor<i32>) -> tensor<5xi32>
    %47 = stablehlo.add %40, %46 : tensor<5xi32>
    %48 = stablehlo.select %45, %47, %40 : tensor<5xi1>, tensor<5xi32>
    %c_14 = stablehlo.constant dense<0> : tensor<i32>
    %49 = stablehlo.broadcast_in_dim %c_14, dims = [] : (tensor<i32>) -> tensor<5xi32>
    %50 = stablehlo.compare LT, %41, %49, SIGNED : (tensor<5xi32>, tensor<5xi32>) -> tensor<5xi1>
    %c_15 = stablehlo.constant dense<5> : tensor<i32>
    %51 = stablehlo.broadcast_in_dim %c_15, dims = [] : (tensor<i32>) -> tensor<5xi32>
    %52 = stablehlo.add %41, %51 : tensor<5xi32>
    %53 = stablehlo.select %50, %52, %41 : tensor<5xi1>, tensor<5xi32>
    %54 = stablehlo.broadcast_in_dim %48, dims = [0] : (tensor<5xi32>) -> tensor<5x1xi32>
    %55 = stablehlo.broadcast_in_dim %53, dims = [0] : (tensor<5xi32>) -> tensor<5x1xi32>
    %56 = stablehlo.concatenate %54, %55, dim = 1 : (tensor<5x1xi32>, tensor<5x1xi32>) -> tensor<5x2xi32>
    %57 = "stablehlo.scatter"(%arg0, %56, %43) <{indices_are_sorted = true, scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0, 1], scatter_dims_to_operand_dims = [0, 1], index_vector_dim = 1>, unique_indices = true}> ({
    ^bb0(%arg4: tensor<f32>, %arg5: tensor<f32>):
      stablehlo.return %arg5 : tensor<f32>
    }) : (tensor<8x5xf32>, tensor<5x2xi32>, tensor<5xf32>) -> tensor<8x5xf32>
    %c_16 = stablehlo.constant dense<0> : tensor<i32>
    %58 = stablehlo.broadcast_in_dim %c_16, dims = [] : (tensor<i32>) -> tensor<2xi32>
    %59 = stablehlo.compare LT, %c, %58, SIGNED : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi1>
    %c_17 = stablehlo.constant dense<5> : tensor<i32>
    %60 = stablehlo.broadcast_in_dim %c_17, dims = [] : (tensor<i32>) -> tensor<2xi32>
    %61 = stablehlo.add %c, %60 : tensor<2xi32>
    %62 = stablehlo.select %59, %61, %c : tensor<2xi1>, tensor<2xi32>
    %63 = stablehlo.broadcast_in_dim %62, dims = [0] : (tensor<2xi32>) -> tensor<2x1xi32>
    %cst_18 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %64 = stablehlo.broadcast_in_dim %cst_18, dims = [] : (tensor<f32>) -> tensor<8x2xf32>
    %65 = "stablehlo.scatter"(%arg0, %63, %64) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [0], inserted_window_dims = [1], scatter_dims_to_operand_dims = [1], index_vector_dim = 1>, unique_indices = false}> ({
    ^bb0(%arg4: tensor<f32>, %arg5: tensor<f32>):
      %66 = stablehlo.add %arg4, %arg5 : tensor<f32>
      stablehlo.return %66 : tensor<f32>
    }) : (tensor<8x5xf32>, tensor<2x1xi32>, tensor<8x2xf32>) -> tensor<8x5xf32>
    return %6, %13, %20, %27, %32, %39, %57, %65 : tensor<8x5xf32>, tensor<8x5xf32>, tensor<8x5xf32>, tensor<8x5xf32>, tensor<8x5xf32>, tensor<8x5xf32>, tensor<8x5xf32>, tensor<8x5xf32>
  }
}
