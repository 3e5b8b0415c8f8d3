module @jit_mixture_of_experts attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<10x6xf32>, %arg1: tensor<6x4xf32>, %arg2: tensor<4x6x5xf32>) -> (tensor<10x5xf32> {jax.result_info = "result[0]"}, tensor<4xi32> {jax.result_info = "result[1]"}) {
    %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<10x6xf32>, tensor<6x4xf32>) -> tensor<10x4xf32>
    %cst = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %1 = stablehlo.reduce(%0 init: %cst) applies stablehlo.maximum across dimensions = [1] : (tensor<10x4xf32>, tensor<f32>) -> tensor<10xf32>
    %cst_0 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %2 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %3 = stablehlo.maximum %2, %1 : tensor<10xf32>
    %4 = stablehlo.broadcast_in_dim %3, dims = [0] : (tensor<10xf32>) -> tensor<10x1xf32>
    %5 = stablehlo.broadcast_in_dim %4, dims = [0, 1] : (tensor<10x1xf32>) -> tensor<10x4xf32>
    %6 = stablehlo.subtract %0, %5 : tensor<10x4xf32>
    %7 = stablehlo.exponential %6 : tensor<10x4xf32>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %8 = stablehlo.reduce(%7 init: %cst_1) applies stablehlo.add across dimensions = [1] : (tensor<10x4xf32>, tensor<f32>) -> tensor<10xf32>
    %9 = stablehlo.broadcast_in_dim %8, dims = [0] : (tensor<10xf32>) -> tensor<10x1xf32>
    %10 = stablehlo.broadcast_in_dim %9, dims = [0, 1] : (tensor<10x1xf32>) -> tensor<10x4xf32>
    %11 = stablehlo.divide %7, %10 : tensor<10x4xf32>
    %values, %indices = chlo.top_k(%11, k = 2) : tensor<10x4xf32> -> (tensor<10x2xf32>, tensor<10x2xi32>)
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %12 = stablehlo.reduce(%values init: %cst_2) applies stablehlo.add across dimensions = [1] : (tensor<10x2xf32>, tensor<f32>) -> tensor<10xf32>
    %13 = stablehlo.broadcast_in_dim %12, dims = [0] : (tensor<10xf32>) -> tensor<10x1xf32>
    %14 = stablehlo.broadcast_in_dim %13, dims = [0, 1] : (tensor<10x1xf32>) -> tensor<10x2xf32>
    %15 = stablehlo.divide %values, %14 : tensor<10x2xf32>
    %16 = call @_one_hot(%indices) : (tensor<10x2xi32>) -> tensor<10x2x4xf32>
    %17 = stablehlo.broadcast_in_dim %15, dims = [0, 1] : (tensor<10x2xf32>) -> tensor<10x2x1xf32>
    %18 = stablehlo.broadcast_in_dim %17, dims = [0, 1, 2] : (tensor<10x2x1xf32>) -> tensor<10x2x4xf32>
    %19 = stablehlo.multiply %16, %18 : tensor<10x2x4xf32>
    %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %20 = stablehlo.reduce(%19 init: %cst_3) applies stablehlo.add across dimensions = [1] : (tensor<10x2x4xf32>, tensor<f32>) -> tensor<10x4xf32>
    %21 = stablehlo.dot_general %arg0, %20, batching_dims = [0] x [0], contracting_dims = [] x [], precision = [DEFAULT, DEFAULT] : (tensor<10x6xf32>, tensor<10x4xf32>) -> tensor<10x6x4xf32>
    %22 = stablehlo.dot_general %21, %arg2, contracting_dims = [1, 2] x [1, 0], precision = [DEFAULT, DEFAULT] : (tensor<10x6x4xf32>, tensor<4x6x5xf32>) -> tensor<10x5xf32>
    %23 = stablehlo.reshape %indices : (tensor<10x2xi32>) -> tensor<20xi32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %24 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<4xi32>
    %c_4 = stablehlo.constant dense<0> : tensor<i32>
    %25 = call @clip(%23, %c_4) : (tensor<20xi32>, tensor<i32>) -> tensor<20xi32>
    %c_5 = stablehlo.constant dense<0> : tensor<i32>
    %26 = stablehlo.broadcast_in_dim %c_5, dims = [] : (tensor<i32>) -> tensor<20xi32>
    %27 = stablehlo.compare LT, %25, %26, SIGNED : (tensor<20xi32>, tensor<20xi32>) -> tensor<20xi1>
    %c_6 = stablehlo.constant dense<4> : tensor<i32>
    %28 = stablehlo.broadcast_in_dim %c_6, dims = [] : (tensor<i32>) -> tensor<20xi32>
    %29 = stablehlo.add %25, %28 : tensor<20xi32>
    %30 = stablehlo.select %27, %29, %25 : tensor<20xi1>, tensor<20xi32>
    %31 = stablehlo.broadcast_in_dim %30, dims = [0] : (tensor<20xi32>) -> tensor<20x1xi32>
    %c_7 = stablehlo.constant dense<1> : tensor<i32>
    %32 = stablehlo.broadcast_in_dim %c_7, dims = [] : (tensor<i32>) -> tensor<20xi32>
    %33 = "stablehlo.scatter"(%24, %31, %32) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = false}> ({
    ^bb0(%arg3: tensor<i32>, %arg4: tensor<i32>):
      %34 = stablehlo.add %arg3, %arg4 : tensor<i32>
      stablehlo.return %34 : tensor<i32>
    }) : (tensor<4xi32>, tensor<20x1xi32>, tensor<20xi32>) -> tensor<4xi32>
    return %22, %33 : tensor<10x5xf32>, tensor<4xi32>
  }
  func.func private @_one_hot(%arg0: tensor<10x2xi32>) -> tensor<10x2x4xf32> {
    %0 = stablehlo.broadcast_in_dim %arg0, dims = [0, 1] : (tensor<10x2xi32>) -> tensor<10x2x1xi32>
    %1 = stablehlo.iota dim = 2 : tensor<1x1x4xi32>
    %2 = stablehlo.broadcast_in_dim %0, dims = [0, 1, 2] : (tensor<10x2x1xi32>) -> tensor<10x2x4xi32>
    %3 = stablehlo.broadcast_in_dim %1, dims = [0, 1, 2] : (tensor<1x1x4xi32>) -> tensor<10x2x4xi32>
    %4 = stablehlo.compare EQ, %2, %3, SIGNED : (tensor<10x2x4xi32>, tensor<10x2x4xi32>) -> tensor<10x2x4xi1>
    %5 = stablehlo.convert %4 : (tensor<10x2x4xi1>) -> tensor<10x2x4xf32>
    return %5 : tensor<10x2x4xf32>
  }
  func.func private @clip(%arg0: tensor<20xi32>, %arg1: tensor<i32>) -> tensor<20xi32> {
    %0 = stablehlo.convert %arg1 : tensor<i32>
    %1 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<i32>) -> tensor<20xi32>
    %2 = stablehlo.maximum %1, %arg0 : tensor<20xi32>
    return %2 : tensor<20xi32>
  }
}
