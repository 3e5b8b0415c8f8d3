module @jit_nested_loops attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<4x4xf32>, %arg1: tensor<4xf32>) -> (tensor<4xf32> {jax.result_info = "result"}) {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<4xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %1:5 = stablehlo.while(%iterArg = %arg0, %iterArg_1 = %arg1, %iterArg_2 = %c_0, %iterArg_3 = %c, %iterArg_4 = %0) : tensor<4x4xf32>, tensor<4xf32>, tensor<i32>, tensor<i32>, tensor<4xf32>
    cond {
      %c_5 = stablehlo.constant dense<5> : tensor<i32>
      %2 = stablehlo.compare LT, %iterArg_2, %c_5, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %2 : tensor<i1>
    } do {
      %2:2 = func.call @closed_call(%iterArg, %iterArg_1, %iterArg_3, %iterArg_4) : (tensor<4x4xf32>, tensor<4xf32>, tensor<i32>, tensor<4xf32>) -> (tensor<i32>, tensor<4xf32>)
      %c_5 = stablehlo.constant dense<1> : tensor<i32>
      %3 = stablehlo.add %iterArg_2, %c_5 : tensor<i32>
      stablehlo.return %iterArg, %iterArg_1, %3, %2#0, %2#1 : tensor<4x4xf32>, tensor<4xf32>, tensor<i32>, tensor<i32>, tensor<4xf32>
    }
    return %1#4 : tensor<4xf32>
  }
  func.func private @closed_call(%arg0: tensor<4x4xf32>, %arg1: tensor<4xf32>, %arg2: tensor<i32>, %arg3: tensor<4xf32>) -> (tensor<i32>, tensor<4xf32>) {
    %c = stablehlo.constant dense<1> : tensor<i32>
    %0 = stablehlo.add %arg2, %c : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %1:5 = stablehlo.while(%iterArg = %arg0, %iterArg_2 = %arg1, %iterArg_3 = %c_1, %iterArg_4 = %c_0, %iterArg_5 = %arg3) : tensor<4x4xf32>, tensor<4xf32>, tensor<i32>, tensor<i32>, tensor<4xf32>
    cond {
      %c_6 = stablehlo.constant dense<4> : tensor<i32>
      %2 = stablehlo.compare LT, %iterArg_3, %c_6, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %2 : tensor<i1>
    } do {
      %2:2 = func.call @closed_call_0(%iterArg, %iterArg_2, %iterArg_4, %iterArg_5) : (tensor<4x4xf32>, tensor<4xf32>, tensor<i32>, tensor<4xf32>) -> (tensor<i32>, tensor<4xf32>)
      %c_6 = stablehlo.constant dense<1> : tensor<i32>
      %3 = stablehlo.add %iterArg_3, %c_6 : tensor<i32>
      stablehlo.return %iterArg, %iterArg_2, %3, %2#0, %2#1 : tensor<4x4xf32>, tensor<4xf32>, tensor<i32>, tensor<i32>, tensor<4xf32>
    }
    return %0, %1#4 : tensor<i32>, tensor<4xf32>
  }
  func.func private @closed_call_0(%arg0: tensor<4x4xf32>, %arg1: tensor<4xf32>, %arg2: tensor<i32>, %arg3: tensor<4xf32>) -> (tensor<i32>, tensor<4xf32>) {
    %c = stablehlo.constant dense<1> : tensor<i32>
    %0 = stablehlo.add %arg2, %c : tensor<i32>
    %1 = stablehlo.iota dim = 0 : tensor<4x4xi32>
    %2 = stablehlo.iota dim = 1 : tensor<4x4xi32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %3 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i32>) -> tensor<4x4xi32>
    %4 = stablehlo.add %1, %3 : tensor<4x4xi32>
    %5 = stablehlo.compare EQ, %4, %2, SIGNED : (tensor<4x4xi32>, tensor<4x4xi32>) -> tensor<4x4xi1>
    %6 = stablehlo.convert %5 : (tensor<4x4xi1>) -> tensor<4x4xf32>
    %cst = stablehlo.constant dense<6.000000e+00> : tensor<f32>
    %7 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<4x4xf32>
    %8 = stablehlo.multiply %7, %6 : tensor<4x4xf32>
    %9 = stablehlo.add %arg0, %8 : tensor<4x4xf32>
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %10 = stablehlo.compare LT, %arg2, %c_1, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %11 = stablehlo.convert %arg2 : tensor<i32>
    %c_2 = stablehlo.constant dense<4> : tensor<i32>
    %12 = stablehlo.add %11, %c_2 : tensor<i32>
    %13 = stablehlo.select %10, %12, %arg2 : tensor<i1>, tensor<i32>
    %14 = stablehlo.dynamic_slice %arg1, %13, sizes = [1] : (tensor<4xf32>, tensor<i32>) -> tensor<1xf32>
    %15 = stablehlo.reshape %14 : (tensor<1xf32>) -> tensor<f32>
    %16 = stablehlo.convert %arg2 : tensor<i32>
    %c_3 = stablehlo.constant dense<0> : tensor<i32>
    %17 = stablehlo.compare LT, %16, %c_3, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %c_4 = stablehlo.constant dense<4> : tensor<i32>
    %18 = stablehlo.add %16, %c_4 : tensor<i32>
    %19 = stablehlo.select %17, %18, %16 : tensor<i1>, tensor<i32>
    %c_5 = stablehlo.constant dense<0> : tensor<i32>
    %c_6 = stablehlo.constant dense<0> : tensor<i32>
    %20 = stablehlo.compare LT, %c_5, %c_6, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %c_7 = stablehlo.constant dense<0> : tensor<i32>
    %c_8 = stablehlo.constant dense<4> : tensor<i32>
    %21 = stablehlo.add %c_7, %c_8 : tensor<i32>
    %c_9 = stablehlo.constant dense<0> : tensor<i32>
    %22 = stablehlo.select %20, %21, %c_9 : tensor<i1>, tensor<i32>
    %23 = stablehlo.dynamic_slice %9, %19, %22, sizes = [1, 4] : (tensor<4x4xf32>, tensor<i32>, tensor<i32>) -> tensor<1x4xf32>
    %24 = stablehlo.reshape %23 : (tensor<1x4xf32>) -> tensor<4xf32>
    %25 = stablehlo.dot_general %24, %arg3, contracting_dims = [0] x [0], precision = [DEFAULT, DEFAULT] : (tensor<4xf32>, tensor<4xf32>) -> tensor<f32>
    %26 = stablehlo.subtract %15, %25 : tensor<f32>
    %27 = stablehlo.convert %arg2 : tensor<i32>
    %28 = stablehlo.convert %arg2 : tensor<i32>
    %c_10 = stablehlo.constant dense<0> : tensor<i32>
    %29 = stablehlo.compare LT, %27, %c_10, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %c_11 = stablehlo.constant dense<4> : tensor<i32>
    %30 = stablehlo.add %27, %c_11 : tensor<i32>
    %31 = stablehlo.select %29, %30, %27 : tensor<i1>, tensor<i32>
    %c_12 = stablehlo.constant dense<0> : tensor<i32>
    %32 = stablehlo.compare LT, %28, %c_12, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %c_13 = stablehlo.constant dense<4> : tensor<i32>
    %33 = stablehlo.add %28, %c_13 : tensor<i32>
    %34 = stablehlo.select %32, %33, %28 : tensor<i1>, tensor<i32>
    %35 = stablehlo.dynamic_slice %9, %31, %34, sizes = [1, 1] : (tensor<4x4xf32>, tensor<i32>, tensor<i32>) -> tensor<1x1xf32>
    %36 = stablehlo.reshape %35 : (tensor<1x1xf32>) -> tensor<f32>
    %c_14 = stablehlo.constant dense<0> : tensor<i32>
    %37 = stablehlo.compare LT, %arg2, %c_14, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %38 = stablehlo.convert %arg2 : tensor<i32>
    %c_15 = stablehlo.constant dense<4> : tensor<i32>
    %39 = stablehlo.add %38, %c_15 : tensor<i32>
    %40 = stablehlo.select %37, %39, %arg2 : tensor<i1>, tensor<i32>
    %41 = stablehlo.dynamic_slice %arg3, %40, sizes = [1] : (tensor<4xf32>, tensor<i32>) -> tensor<1xf32>
    %42 = stablehlo.reshape %41 : (tensor<1xf32>) -> tensor<f32>
    %43 = stablehlo.multiply %36, %42 : tensor<f32>
    %44 = stablehlo.add %26, %43 : tensor<f32>
    %45 = stablehlo.convert %arg2 : tensor<i32>
    %46 = stablehlo.convert %arg2 : tensor<i32>
    %c_16 = stablehlo.constant dense<0> : tensor<i32>
    %47 = stablehlo.compare LT, %45, %c_16, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %c_17 = stablehlo.constant dense<4> : tensor<i32>
    %48 = stablehlo.add %45, %c_17 : tensor<i32>
    %49 = stablehlo.select %47, %48, %45 : tensor<i1>, tensor<i32>
    %c_18 = stablehlo.constant dense<0> : tensor<i32>
    %50 = stablehlo.compare LT, %46, %c_18, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %c_19 = stablehlo.constant dense<4> : tensor<i32>
    %51 = stablehlo.add %46, %c_19 : tensor<i32>
    %52 = stablehlo.select %50, %51, %46 : tensor<i1>, tensor<i32>
    %53 = stablehlo.dynamic_slice %9, %49, %52, sizes = [1, 1] : (tensor<4x4xf32>, tensor<i32>, tensor<i32>) -> tensor<1x1xf32>
    %54 = stablehlo.reshape %53 : (tensor<1x1xf32>) -> tensor<f32>
    %55 = stablehlo.divide %44, %54 : tensor<f32>
    %c_20 = stablehlo.constant dense<0> : tensor<i32>
    %56 = stablehlo.compare LT, %arg2, %c_20, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %c_21 = stablehlo.constant dense<4> : tensor<i32>
    %57 = stablehlo.add %arg2, %c_21 : tensor<i32>
    %58 = stablehlo.select %56, %57, %arg2 : tensor<i1>, tensor<i32>
    %59 = stablehlo.convert %58 : tensor<i32>
    %60 = stablehlo.broadcast_in_dim %59, dims = [] : (tensor<i32>) -> tensor<1xi32>
    %61 = "stablehlo.scatter"(%arg3, %60, %55) <{indices_are_sorted = true, scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0]>, unique_indices = true}> ({
    ^bb0(%arg4: tensor<f32>, %arg5: tensor<f32>):
      stablehlo.return %arg5 : tensor<f32>
    }) : (tensor<4xf32>, tensor<1xi32>, tensor<f32>) -> tensor<4xf32>
    return %0, %61 : tensor<i32>, tensor<4xf32>
  }
}
