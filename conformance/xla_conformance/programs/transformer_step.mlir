module @jit_transformer_step attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<11x8xf32> {tf.aliasing_output = 0 : i32}, %arg1: tensor<8x24xf32> {tf.aliasing_output = 1 : i32}, %arg2: tensor<8x8xf32> {tf.aliasing_output = 2 : i32}, %arg3: tensor<8x16xf32> {tf.aliasing_output = 3 : i32}, %arg4: tensor<16x8xf32> {tf.aliasing_output = 4 : i32}, %arg5: tensor<2x6xi32>) -> (tensor<11x8xf32> {jax.result_info = "result[0][0]"}, tensor<8x24xf32> {jax.result_info = "result[0][1]"}, tensor<8x8xf32> {jax.result_info = "result[0][2]"}, tensor<8x16xf32> {jax.result_info = "result[0][3]"}, tensor<16x8xf32> {jax.result_info = "result[0][4]"}, tensor<f32> {jax.result_info = "result[1]"}) {
    %0 = stablehlo.slice %arg5 [0:2, 0:5] : (tensor<2x6xi32>) -> tensor<2x5xi32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<2x5xi32>
    %2 = stablehlo.compare LT, %0, %1, SIGNED : (tensor<2x5xi32>, tensor<2x5xi32>) -> tensor<2x5xi1>
    %c_0 = stablehlo.constant dense<11> : tensor<i32>
    %3 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i32>) -> tensor<2x5xi32>
    %4 = stablehlo.add %0, %3 : tensor<2x5xi32>
    %5 = stablehlo.select %2, %4, %0 : tensor<2x5xi1>, tensor<2x5xi32>
    %6 = stablehlo.broadcast_in_dim %5, dims = [0, 1] : (tensor<2x5xi32>) -> tensor<2x5x1xi32>
    %7 = "stablehlo.gather"(%arg0, %6) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 2>, indices_are_sorted = false, slice_sizes = array<i64: 1, 8>}> : (tensor<11x8xf32>, tensor<2x5x1xi32>) -> tensor<2x5x8xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %8 = stablehlo.reduce(%7 init: %cst) applies stablehlo.add across dimensions = [2] : (tensor<2x5x8xf32>, tensor<f32>) -> tensor<2x5xf32>
    %9 = stablehlo.broadcast_in_dim %8, dims = [0, 1] : (tensor<2x5xf32>) -> tensor<2x5x1xf32>
    %cst_1 = stablehlo.constant dense<8.000000e+00> : tensor<f32>
    %10 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<2x5x1xf32>
    %11 = stablehlo.divide %9, %10 : tensor<2x5x1xf32>
    %12 = stablehlo.broadcast_in_dim %11, dims = [0, 1, 2] : (tensor<2x5x1xf32>) -> tensor<2x5x8xf32>
    %13 = stablehlo.subtract %7, %12 : tensor<2x5x8xf32>
    %c_2 = stablehlo.constant dense<0> : tensor<i32>
    %14:5 = call @_var(%7, %c_2) : (tensor<2x5x8xf32>, tensor<i32>) -> (tensor<2x5x1xf32>, tensor<2x5x8xf32>, tensor<f32>, tensor<i1>, tensor<2x5x1xf32>)
    %cst_3 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %15 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<2x5x1xf32>
    %16 = stablehlo.add %14#0, %15 : tensor<2x5x1xf32>
    %17 = stablehlo.rsqrt %16 : tensor<2x5x1xf32>
    %18 = stablehlo.divide %17, %16 : tensor<2x5x1xf32>
    %cst_4 = stablehlo.constant dense<-5.000000e-01> : tensor<f32>
    %19 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<2x5x1xf32>
    %20 = stablehlo.multiply %19, %18 : tensor<2x5x1xf32>
    %21 = stablehlo.broadcast_in_dim %17, dims = [0, 1, 2] : (tensor<2x5x1xf32>) -> tensor<2x5x8xf32>
    %22 = stablehlo.multiply %13, %21 : tensor<2x5x8xf32>
    %23 = stablehlo.dot_general %22, %arg1, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<2x5x8xf32>, tensor<8x24xf32>) -> tensor<2x5x24xf32>
    %24 = stablehlo.reshape %23 : (tensor<2x5x24xf32>) -> tensor<2x5x6x4xf32>
    %25 = stablehlo.slice %24 [0:2, 0:5, 0:2, 0:4] : (tensor<2x5x6x4xf32>) -> tensor<2x5x2x4xf32>
    %26 = stablehlo.slice %24 [0:2, 0:5, 2:4, 0:4] : (tensor<2x5x6x4xf32>) -> tensor<2x5x2x4xf32>
    %27 = stablehlo.slice %24 [0:2, 0:5, 4:6, 0:4] : (tensor<2x5x6x4xf32>) -> tensor<2x5x2x4xf32>
    %28 = stablehlo.dot_general %25, %26, batching_dims = [0, 2] x [0, 2], contracting_dims = [3] x [3], precision = [DEFAULT, DEFAULT] : (tensor<2x5x2x4xf32>, tensor<2x5x2x4xf32>) -> tensor<2x2x5x5xf32>
    %cst_5 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %29 = stablehlo.broadcast_in_dim %cst_5, dims = [] : (tensor<f32>) -> tensor<2x2x5x5xf32>
    %30 = stablehlo.multiply %28, %29 : tensor<2x2x5x5xf32>
    %c_6 = stablehlo.constant dense<true> : tensor<i1>
    %31 = stablehlo.broadcast_in_dim %c_6, dims = [] : (tensor<i1>) -> tensor<5x5xi1>
    %32 = call @tril(%31) : (tensor<5x5xi1>) -> tensor<5x5xi1>
    %cst_7 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %33:3 = call @_where_0(%32, %30, %cst_7) : (tensor<5x5xi1>, tensor<2x2x5x5xf32>, tensor<f32>) -> (tensor<2x2x5x5xf32>, tensor<2x2x5x5xi1>, tensor<2x2x5x5xf32>)
    %cst_8 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %34 = stablehlo.reduce(%33#0 init: %cst_8) applies stablehlo.maximum across dimensions = [3] : (tensor<2x2x5x5xf32>, tensor<f32>) -> tensor<2x2x5xf32>
    %35 = stablehlo.reshape %34 : (tensor<2x2x5xf32>) -> tensor<2x2x5x1xf32>
    %36 = stablehlo.broadcast_in_dim %35, dims = [0, 1, 2, 3] : (tensor<2x2x5x1xf32>) -> tensor<2x2x5x5xf32>
    %37 = stablehlo.compare EQ, %33#0, %36, FLOAT : (tensor<2x2x5x5xf32>, tensor<2x2x5x5xf32>) -> tensor<2x2x5x5xi1>
    %38 = stablehlo.convert %37 : (tensor<2x2x5x5xi1>) -> tensor<2x2x5x5xf32>
    %cst_9 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %39 = stablehlo.reduce(%38 init: %cst_9) applies stablehlo.add across dimensions = [3] : (tensor<2x2x5x5xf32>, tensor<f32>) -> tensor<2x2x5xf32>
    %cst_10 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %40 = stablehlo.broadcast_in_dim %cst_10, dims = [] : (tensor<f32>) -> tensor<2x2x5xf32>
    %41 = stablehlo.maximum %40, %34 : tensor<2x2x5xf32>
    %42 = stablehlo.compare EQ, %34, %41, FLOAT : (tensor<2x2x5xf32>, tensor<2x2x5xf32>) -> tensor<2x2x5xi1>
    %cst_11 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %43 = stablehlo.broadcast_in_dim %cst_11, dims = [] : (tensor<f32>) -> tensor<2x2x5xf32>
    %cst_12 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %44 = stablehlo.broadcast_in_dim %cst_12, dims = [] : (tensor<f32>) -> tensor<2x2x5xf32>
    %45 = stablehlo.select %42, %43, %44 : tensor<2x2x5xi1>, tensor<2x2x5xf32>
    %cst_13 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %46 = stablehlo.broadcast_in_dim %cst_13, dims = [] : (tensor<f32>) -> tensor<2x2x5xf32>
    %47 = stablehlo.compare EQ, %46, %41, FLOAT : (tensor<2x2x5xf32>, tensor<2x2x5xf32>) -> tensor<2x2x5xi1>
    %cst_14 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %48 = stablehlo.broadcast_in_dim %cst_14, dims = [] : (tensor<f32>) -> tensor<2x2x5xf32>
    %cst_15 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %49 = stablehlo.broadcast_in_dim %cst_15, dims = [] : (tensor<f32>) -> tensor<2x2x5xf32>
    %50 = stablehlo.select %47, %48, %49 : tensor<2x2x5xi1>, tensor<2x2x5xf32>
    %51 = stablehlo.divide %45, %50 : tensor<2x2x5xf32>
    %52 = stablehlo.broadcast_in_dim %41, dims = [0, 1, 2] : (tensor<2x2x5xf32>) -> tensor<2x2x5x1xf32>
    %53 = stablehlo.broadcast_in_dim %52, dims = [0, 1, 2, 3] : (tensor<2x2x5x1xf32>) -> tensor<2x2x5x5xf32>
    %54 = stablehlo.subtract %33#0, %53 : tensor<2x2x5x5xf32>
    %55 = stablehlo.exponential %54 : tensor<2x2x5x5xf32>
    %cst_16 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %56 = stablehlo.reduce(%55 init: %cst_16) applies stablehlo.add across dimensions = [3] : (tensor<2x2x5x5xf32>, tensor<f32>) -> tensor<2x2x5xf32>
    %57 = stablehlo.broadcast_in_dim %56, dims = [0, 1, 2] : (tensor<2x2x5xf32>) -> tensor<2x2x5x1xf32>
    %58 = stablehlo.broadcast_in_dim %57, dims = [0, 1, 2, 3] : (tensor<2x2x5x1xf32>) -> tensor<2x2x5x5xf32>
    %59 = stablehlo.divide %55, %58 : tensor<2x2x5x5xf32>
    %60 = stablehlo.multiply %57, %57 : tensor<2x2x5x1xf32>
    %cst_17 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %61 = stablehlo.broadcast_in_dim %cst_17, dims = [] : (tensor<f32>) -> tensor<2x2x5x1xf32>
    %62 = stablehlo.divide %61, %60 : tensor<2x2x5x1xf32>
    %63 = stablehlo.dot_general %27, %59, batching_dims = [0, 2] x [0, 1], contracting_dims = [1] x [3], precision = [DEFAULT, DEFAULT] : (tensor<2x5x2x4xf32>, tensor<2x2x5x5xf32>) -> tensor<2x2x4x5xf32>
    %64 = stablehlo.transpose %63, dims = [0, 3, 1, 2] : (tensor<2x2x4x5xf32>) -> tensor<2x5x2x4xf32>
    %65 = stablehlo.reshape %64 : (tensor<2x5x2x4xf32>) -> tensor<2x5x8xf32>
    %66 = stablehlo.dot_general %65, %arg2, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<2x5x8xf32>, tensor<8x8xf32>) -> tensor<2x5x8xf32>
    %67 = stablehlo.add %7, %66 : tensor<2x5x8xf32>
    %cst_18 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %68 = stablehlo.reduce(%67 init: %cst_18) applies stablehlo.add across dimensions = [2] : (tensor<2x5x8xf32>, tensor<f32>) -> tensor<2x5xf32>
    %69 = stablehlo.broadcast_in_dim %68, dims = [0, 1] : (tensor<2x5xf32>) -> tensor<2x5x1xf32>
    %cst_19 = stablehlo.constant dense<8.000000e+00> : tensor<f32>
    %70 = stablehlo.broadcast_in_dim %cst_19, dims = [] : (tensor<f32>) -> tensor<2x5x1xf32>
    %71 = stablehlo.divide %69, %70 : tensor<2x5x1xf32>
    %72 = stablehlo.broadcast_in_dim %71, dims = [0, 1, 2] : (tensor<2x5x1xf32>) -> tensor<2x5x8xf32>
    %73 = stablehlo.subtract %67, %72 : tensor<2x5x8xf32>
    %c_20 = stablehlo.constant dense<0> : tensor<i32>
    %74:5 = call @_var(%67, %c_20) : (tensor<2x5x8xf32>, tensor<i32>) -> (tensor<2x5x1xf32>, tensor<2x5x8xf32>, tensor<f32>, tensor<i1>, tensor<2x5x1xf32>)
    %cst_21 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %75 = stablehlo.broadcast_in_dim %cst_21, dims = [] : (tensor<f32>) -> tensor<2x5x1xf32>
    %76 = stablehlo.add %74#0, %75 : tensor<2x5x1xf32>
    %77 = stablehlo.rsqrt %76 : tensor<2x5x1xf32>
    %78 = stablehlo.divide %77, %76 : tensor<2x5x1xf32>
    %cst_22 = stablehlo.constant dense<-5.000000e-01> : tensor<f32>
    %79 = stablehlo.broadcast_in_dim %cst_22, dims = [] : (tensor<f32>) -> tensor<2x5x1xf32>
    %80 = stablehlo.multiply %79, %78 : tensor<2x5x1xf32>
    %81 = stablehlo.broadcast_in_dim %77, dims = [0, 1, 2] : (tensor<2x5x1xf32>) -> tensor<2x5x8xf32>
    %82 = stablehlo.multiply %73, %81 : tensor<2x5x8xf32>
    %83 = stablehlo.dot_general %82, %arg3, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<2x5x8xf32>, tensor<8x16xf32>) -> tensor<2x5x16xf32>
    %84 = stablehlo.multiply %83, %83 : tensor<2x5x16xf32>
    %85 = stablehlo.multiply %84, %83 : tensor<2x5x16xf32>
    %86 = stablehlo.multiply %83, %83 : tensor<2x5x16xf32>
    %cst_23 = stablehlo.constant dense<3.000000e+00> : tensor<f32>
    %87 = stablehlo.broadcast_in_dim %cst_23, dims = [] : (tensor<f32>) -> tensor<2x5x16xf32>
    %88 = stablehlo.multiply %87, %86 : tensor<2x5x16xf32>
    %cst_24 = stablehlo.constant dense<4.471500e-02> : tensor<f32>
    %89 = stablehlo.broadcast_in_dim %cst_24, dims = [] : (tensor<f32>) -> tensor<2x5x16xf32>
    %90 = stablehlo.multiply %89, %85 : tensor<2x5x16xf32>
    %91 = stablehlo.add %83, %90 : tensor<2x5x16xf32>
    %cst_25 = stablehlo.constant dense<0.797884583> : tensor<f32>
    %92 = stablehlo.broadcast_in_dim %cst_25, dims = [] : (tensor<f32>) -> tensor<2x5x16xf32>
    %93 = stablehlo.multiply %92, %91 : tensor<2x5x16xf32>
    %94 = stablehlo.tanh %93 : tensor<2x5x16xf32>
    %cst_26 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %95 = stablehlo.broadcast_in_dim %cst_26, dims = [] : (tensor<f32>) -> tensor<2x5x16xf32>
    %96 = stablehlo.subtract %95, %94 : tensor<2x5x16xf32>
    %cst_27 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %97 = stablehlo.broadcast_in_dim %cst_27, dims = [] : (tensor<f32>) -> tensor<2x5x16xf32>
    %98 = stablehlo.add %97, %94 : tensor<2x5x16xf32>
    %cst_28 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %99 = stablehlo.broadcast_in_dim %cst_28, dims = [] : (tensor<f32>) -> tensor<2x5x16xf32>
    %100 = stablehlo.multiply %99, %98 : tensor<2x5x16xf32>
    %101 = stablehlo.multiply %83, %100 : tensor<2x5x16xf32>
    %102 = stablehlo.dot_general %101, %arg4, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<2x5x16xf32>, tensor<16x8xf32>) -> tensor<2x5x8xf32>
    %103 = stablehlo.add %67, %102 : tensor<2x5x8xf32>
    %104 = stablehlo.transpose %arg0, dims = [1, 0] : (tensor<11x8xf32>) -> tensor<8x11xf32>
    %105 = stablehlo.dot_general %103, %104, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<2x5x8xf32>, tensor<8x11xf32>) -> tensor<2x5x11xf32>
    %106 = stablehlo.reshape %105 : (tensor<2x5x11xf32>) -> tensor<10x11xf32>
    %107 = stablehlo.slice %arg5 [0:2, 1:6] : (tensor<2x6xi32>) -> tensor<2x5xi32>
    %108 = stablehlo.reshape %107 : (tensor<2x5xi32>) -> tensor<10xi32>
    %109:3 = call @log_softmax(%106) : (tensor<10x11xf32>) -> (tensor<10x11xf32>, tensor<10x11xf32>, tensor<10x1xf32>)
    %110 = stablehlo.broadcast_in_dim %108, dims = [0] : (tensor<10xi32>) -> tensor<10x1xi32>
    %111:2 = call @take_along_axis(%109#0, %110) : (tensor<10x11xf32>, tensor<10x1xi32>) -> (tensor<10x1xf32>, tensor<10x1x1xi32>)
    %cst_29 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %112 = stablehlo.reduce(%111#0 init: %cst_29) applies stablehlo.add across dimensions = [0, 1] : (tensor<10x1xf32>, tensor<f32>) -> tensor<f32>
    %cst_30 = stablehlo.constant dense<1.000000e+01> : tensor<f32>
    %113 = stablehlo.divide %112, %cst_30 : tensor<f32>
    %114 = stablehlo.negate %113 : tensor<f32>
    %cst_31 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %115 = stablehlo.negate %cst_31 : tensor<f32>
    %cst_32 = stablehlo.constant dense<1.000000e+01> : tensor<f32>
    %116 = stablehlo.divide %115, %cst_32 : tensor<f32>
    %117 = stablehlo.broadcast_in_dim %116, dims = [] : (tensor<f32>) -> tensor<10x1xf32>
    %118 = call @take_along_axis_1(%111#1, %117) : (tensor<10x1x1xi32>, tensor<10x1xf32>) -> tensor<10x11xf32>
    %119 = call @log_softmax_2(%109#1, %109#2, %118) : (tensor<10x11xf32>, tensor<10x1xf32>, tensor<10x11xf32>) -> tensor<10x11xf32>
    %120 = stablehlo.reshape %119 : (tensor<10x11xf32>) -> tensor<2x5x11xf32>
    %121 = stablehlo.dot_general %120, %103, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<2x5x11xf32>, tensor<2x5x8xf32>) -> tensor<11x8xf32>
    %122 = stablehlo.transpose %121, dims = [1, 0] : (tensor<11x8xf32>) -> tensor<8x11xf32>
    %123 = stablehlo.dot_general %120, %104, contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<2x5x11xf32>, tensor<8x11xf32>) -> tensor<2x5x8xf32>
    %124 = stablehlo.transpose %122, dims = [1, 0] : (tensor<8x11xf32>) -> tensor<11x8xf32>
    %125 = stablehlo.dot_general %123, %101, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<2x5x8xf32>, tensor<2x5x16xf32>) -> tensor<8x16xf32>
    %126 = stablehlo.transpose %125, dims = [1, 0] : (tensor<8x16xf32>) -> tensor<16x8xf32>
    %127 = stablehlo.dot_general %123, %arg4, contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<2x5x8xf32>, tensor<16x8xf32>) -> tensor<2x5x16xf32>
    %128 = stablehlo.multiply %83, %127 : tensor<2x5x16xf32>
    %129 = stablehlo.multiply %127, %100 : tensor<2x5x16xf32>
    %cst_33 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %130 = stablehlo.broadcast_in_dim %cst_33, dims = [] : (tensor<f32>) -> tensor<2x5x16xf32>
    %131 = stablehlo.multiply %130, %128 : tensor<2x5x16xf32>
    %132 = stablehlo.multiply %131, %96 : tensor<2x5x16xf32>
    %133 = stablehlo.multiply %132, %94 : tensor<2x5x16xf32>
    %134 = stablehlo.add %132, %133 : tensor<2x5x16xf32>
    %cst_34 = stablehlo.constant dense<0.797884583> : tensor<f32>
    %135 = stablehlo.broadcast_in_dim %cst_34, dims = [] : (tensor<f32>) -> tensor<2x5x16xf32>
    %136 = stablehlo.multiply %135, %134 : tensor<2x5x16xf32>
    %137 = stablehlo.add %129, %136 : tensor<2x5x16xf32>
    %cst_35 = stablehlo.constant dense<4.471500e-02> : tensor<f32>
    %138 = stablehlo.broadcast_in_dim %cst_35, dims = [] : (tensor<f32>) -> tensor<2x5x16xf32>
    %139 = stablehlo.multiply %138, %136 : tensor<2x5x16xf32>
    %140 = stablehlo.multiply %139, %88 : tensor<2x5x16xf32>
    %141 = stablehlo.add %137, %140 : tensor<2x5x16xf32>
    %142 = stablehlo.dot_general %141, %82, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<2x5x16xf32>, tensor<2x5x8xf32>) -> tensor<16x8xf32>
    %143 = stablehlo.transpose %142, dims = [1, 0] : (tensor<16x8xf32>) -> tensor<8x16xf32>
    %144 = stablehlo.dot_general %141, %arg3, contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<2x5x16xf32>, tensor<8x16xf32>) -> tensor<2x5x8xf32>
    %145 = stablehlo.multiply %73, %144 : tensor<2x5x8xf32>
    %cst_36 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %146 = stablehlo.reduce(%145 init: %cst_36) applies stablehlo.add across dimensions = [2] : (tensor<2x5x8xf32>, tensor<f32>) -> tensor<2x5xf32>
    %147 = stablehlo.reshape %146 : (tensor<2x5xf32>) -> tensor<2x5x1xf32>
    %148 = stablehlo.broadcast_in_dim %77, dims = [0, 1, 2] : (tensor<2x5x1xf32>) -> tensor<2x5x8xf32>
    %149 = stablehlo.multiply %144, %148 : tensor<2x5x8xf32>
    %150 = stablehlo.multiply %147, %80 : tensor<2x5x1xf32>
    %151 = call @_var_3(%74#1, %74#2, %74#3, %74#4, %150) : (tensor<2x5x8xf32>, tensor<f32>, tensor<i1>, tensor<2x5x1xf32>, tensor<2x5x1xf32>) -> tensor<2x5x8xf32>
    %152 = stablehlo.add %123, %151 : tensor<2x5x8xf32>
    %153 = stablehlo.negate %149 : tensor<2x5x8xf32>
    %cst_37 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %154 = stablehlo.reduce(%153 init: %cst_37) applies stablehlo.add across dimensions = [2] : (tensor<2x5x8xf32>, tensor<f32>) -> tensor<2x5xf32>
    %155 = stablehlo.reshape %154 : (tensor<2x5xf32>) -> tensor<2x5x1xf32>
    %156 = stablehlo.add %152, %149 : tensor<2x5x8xf32>
    %cst_38 = stablehlo.constant dense<8.000000e+00> : tensor<f32>
    %157 = stablehlo.broadcast_in_dim %cst_38, dims = [] : (tensor<f32>) -> tensor<2x5x1xf32>
    %158 = stablehlo.divide %155, %157 : tensor<2x5x1xf32>
    %cst_39 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %159 = stablehlo.reduce(%158 init: %cst_39) applies stablehlo.add across dimensions = [2] : (tensor<2x5x1xf32>, tensor<f32>) -> tensor<2x5xf32>
    %160 = stablehlo.broadcast_in_dim %159, dims = [0, 1] : (tensor<2x5xf32>) -> tensor<2x5x8xf32>
    %161 = stablehlo.add %156, %160 : tensor<2x5x8xf32>
    %162 = stablehlo.dot_general %161, %65, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<2x5x8xf32>, tensor<2x5x8xf32>) -> tensor<8x8xf32>
    %163 = stablehlo.transpose %162, dims = [1, 0] : (tensor<8x8xf32>) -> tensor<8x8xf32>
    %164 = stablehlo.dot_general %161, %arg2, contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<2x5x8xf32>, tensor<8x8xf32>) -> tensor<2x5x8xf32>
    %165 = stablehlo.reshape %164 : (tensor<2x5x8xf32>) -> tensor<2x5x2x4xf32>
    %166 = stablehlo.transpose %165, dims = [0, 2, 3, 1] : (tensor<2x5x2x4xf32>) -> tensor<2x2x4x5xf32>
    %167 = stablehlo.dot_general %166, %27, batching_dims = [0, 1] x [0, 2], contracting_dims = [2] x [3], precision = [DEFAULT, DEFAULT] : (tensor<2x2x4x5xf32>, tensor<2x5x2x4xf32>) -> tensor<2x2x5x5xf32>
    %168 = stablehlo.dot_general %166, %59, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [2], precision = [DEFAULT, DEFAULT] : (tensor<2x2x4x5xf32>, tensor<2x2x5x5xf32>) -> tensor<2x2x4x5xf32>
    %169 = stablehlo.transpose %168, dims = [0, 3, 1, 2] : (tensor<2x2x4x5xf32>) -> tensor<2x5x2x4xf32>
    %170 = stablehlo.broadcast_in_dim %62, dims = [0, 1, 2, 3] : (tensor<2x2x5x1xf32>) -> tensor<2x2x5x5xf32>
    %171 = stablehlo.multiply %167, %170 : tensor<2x2x5x5xf32>
    %172 = stablehlo.multiply %171, %55 : tensor<2x2x5x5xf32>
    %cst_40 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %173 = stablehlo.reduce(%172 init: %cst_40) applies stablehlo.add across dimensions = [3] : (tensor<2x2x5x5xf32>, tensor<f32>) -> tensor<2x2x5xf32>
    %174 = stablehlo.reshape %173 : (tensor<2x2x5xf32>) -> tensor<2x2x5x1xf32>
    %175 = stablehlo.negate %174 : tensor<2x2x5x1xf32>
    %176 = stablehlo.broadcast_in_dim %57, dims = [0, 1, 2, 3] : (tensor<2x2x5x1xf32>) -> tensor<2x2x5x5xf32>
    %177 = stablehlo.divide %167, %176 : tensor<2x2x5x5xf32>
    %cst_41 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %178 = stablehlo.reduce(%175 init: %cst_41) applies stablehlo.add across dimensions = [3] : (tensor<2x2x5x1xf32>, tensor<f32>) -> tensor<2x2x5xf32>
    %179 = stablehlo.broadcast_in_dim %178, dims = [0, 1, 2] : (tensor<2x2x5xf32>) -> tensor<2x2x5x5xf32>
    %180 = stablehlo.add %177, %179 : tensor<2x2x5x5xf32>
    %181 = stablehlo.multiply %180, %55 : tensor<2x2x5x5xf32>
    %182 = call @_where_5(%33#1, %33#2, %181) : (tensor<2x2x5x5xi1>, tensor<2x2x5x5xf32>, tensor<2x2x5x5xf32>) -> tensor<2x2x5x5xf32>
    %cst_42 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %183 = stablehlo.broadcast_in_dim %cst_42, dims = [] : (tensor<f32>) -> tensor<2x2x5x5xf32>
    %184 = stablehlo.multiply %182, %183 : tensor<2x2x5x5xf32>
    %185 = stablehlo.dot_general %184, %25, batching_dims = [0, 1] x [0, 2], contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<2x2x5x5xf32>, tensor<2x5x2x4xf32>) -> tensor<2x2x5x4xf32>
    %186 = stablehlo.transpose %185, dims = [0, 2, 1, 3] : (tensor<2x2x5x4xf32>) -> tensor<2x5x2x4xf32>
    %187 = stablehlo.dot_general %184, %26, batching_dims = [0, 1] x [0, 2], contracting_dims = [3] x [1], precision = [DEFAULT, DEFAULT] : (tensor<2x2x5x5xf32>, tensor<2x5x2x4xf32>) -> tensor<2x2x5x4xf32>
    %188 = stablehlo.transpose %187, dims = [0, 2, 1, 3] : (tensor<2x2x5x4xf32>) -> tensor<2x5x2x4xf32>
    %189 = stablehlo.concatenate %188, %186, %169, dim = 2 : (tensor<2x5x2x4xf32>, tensor<2x5x2x4xf32>, tensor<2x5x2x4xf32>) -> tensor<2x5x6x4xf32>
    %190 = stablehlo.reshape %189 : (tensor<2x5x6x4xf32>) -> tensor<2x5x24xf32>
    %191 = stablehlo.dot_general %190, %22, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<2x5x24xf32>, tensor<2x5x8xf32>) -> tensor<24x8xf32>
    %192 = stablehlo.transpose %191, dims = [1, 0] : (tensor<24x8xf32>) -> tensor<8x24xf32>
    %193 = stablehlo.dot_general %190, %arg1, contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<2x5x24xf32>, tensor<8x24xf32>) -> tensor<2x5x8xf32>
    %194 = stablehlo.multiply %13, %193 : tensor<2x5x8xf32>
    %cst_43 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %195 = stablehlo.reduce(%194 init: %cst_43) applies stablehlo.add across dimensions = [2] : (tensor<2x5x8xf32>, tensor<f32>) -> tensor<2x5xf32>
    %196 = stablehlo.reshape %195 : (tensor<2x5xf32>) -> tensor<2x5x1xf32>
    %197 = stablehlo.broadcast_in_dim %17, dims = [0, 1, 2] : (tensor<2x5x1xf32>) -> tensor<2x5x8xf32>
    %198 = stablehlo.multiply %193, %197 : tensor<2x5x8xf32>
    %199 = stablehlo.multiply %196, %20 : tensor<2x5x1xf32>
    %200 = call @_var_3(%14#1, %14#2, %14#3, %14#4, %199) : (tensor<2x5x8xf32>, tensor<f32>, tensor<i1>, tensor<2x5x1xf32>, tensor<2x5x1xf32>) -> tensor<2x5x8xf32>
    %201 = stablehlo.add %161, %200 : tensor<2x5x8xf32>
    %202 = stablehlo.negate %198 : tensor<2x5x8xf32>
    %cst_44 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %203 = stablehlo.reduce(%202 init: %cst_44) applies stablehlo.add across dimensions = [2] : (tensor<2x5x8xf32>, tensor<f32>) -> tensor<2x5xf32>
    %204 = stablehlo.reshape %203 : (tensor<2x5xf32>) -> tensor<2x5x1xf32>
    %205 = stablehlo.add %201, %198 : tensor<2x5x8xf32>
    %cst_45 = stablehlo.constant dense<8.000000e+00> : tensor<f32>
    %206 = stablehlo.broadcast_in_dim %cst_45, dims = [] : (tensor<f32>) -> tensor<2x5x1xf32>
    %207 = stablehlo.divide %204, %206 : tensor<2x5x1xf32>
    %cst_46 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %208 = stablehlo.reduce(%207 init: %cst_46) applies stablehlo.add across dimensions = [2] : (tensor<2x5x1xf32>, tensor<f32>) -> tensor<2x5xf32>
    %209 = stablehlo.broadcast_in_dim %208, dims = [0, 1] : (tensor<2x5xf32>) -> tensor<2x5x8xf32>
    %210 = stablehlo.add %205, %209 : tensor<2x5x8xf32>
    %cst_47 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %211 = stablehlo.broadcast_in_dim %cst_47, dims = [] : (tensor<f32>) -> tensor<11x8xf32>
    %212 = "stablehlo.scatter"(%211, %6, %210) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [2], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 2>, unique_indices = false}> ({
    ^bb0(%arg6: tensor<f32>, %arg7: tensor<f32>):
      %229 = stablehlo.add %arg6, %arg7 : tensor<f32>
      stablehlo.return %229 : tensor<f32>
    }) : (tensor<11x8xf32>, tensor<2x5x1xi32>, tensor<2x5x8xf32>) -> tensor<11x8xf32>
    %213 = stablehlo.add %124, %212 : tensor<11x8xf32>
    %cst_48 = stablehlo.constant dense<5.000000e-02> : tensor<f32>
    %214 = stablehlo.broadcast_in_dim %cst_48, dims = [] : (tensor<f32>) -> tensor<11x8xf32>
    %215 = stablehlo.multiply %214, %213 : tensor<11x8xf32>
    %216 = stablehlo.subtract %arg0, %215 : tensor<11x8xf32>
    %cst_49 = stablehlo.constant dense<5.000000e-02> : tensor<f32>
    %217 = stablehlo.broadcast_in_dim %cst_49, dims = [] : (tensor<f32>) -> tensor<8x24xf32>
    %218 = stablehlo.multiply %217, %192 : tensor<8x24xf32>
    %219 = stablehlo.subtract %arg1, %218 : tensor<8x24xf32>
    %cst_50 = stablehlo.constant dense<5.000000e-02> : tensor<f32>
    %220 = stablehlo.broadcast_in_dim %cst_50, dims = [] : (tensor<f32>) -> tensor<8x8xf32>
    %221 = stablehlo.multiply %220, %163 : tensor<8x8xf32>
    %222 = stablehlo.subtract %arg2, %221 : tensor<8x8xf32>
    %cst_51 = stablehlo.constant dense<5.000000e-02> : tensor<f32>
    %223 = stablehlo.broadcast_in_dim %cst_51, dims = [] : (tensor<f32>) -> tensor<8x16xf32>
    %224 = stablehlo.multiply %223, %143 : tensor<8x16xf32>
    %225 = stablehlo.subtract %arg3, %224 : tensor<8x16xf32>
    %cst_52 = stablehlo.constant dense<5.000000e-02> : tensor<f32>
    %226 = stablehlo.broadcast_in_dim %cst_52, dims = [] : (tensor<f32>) -> tensor<16x8xf32>
    %227 = stablehlo.multiply %226, %126 : tensor<16x8xf32>
    %228 = stablehlo.subtract %arg4, %227 : tensor<16x8xf32>
    return %216, %219, %222, %225, %228, %114 : tensor<11x8xf32>, tensor<8x24xf32>, tensor<8x8xf32>, tensor<8x16xf32>, tensor<16x8xf32>, tensor<f32>
  }
  func.func private @_var(%arg0: tensor<2x5x8xf32>, %arg1: tensor<i32>) -> (tensor<2x5x1xf32>, tensor<2x5x8xf32>, tensor<f32>, tensor<i1>, tensor<2x5x1xf32>) {
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
    %16:2 = call @_where(%15, %14, %cst_5) : (tensor<i1>, tensor<2x5x1xf32>, tensor<f32>) -> (tensor<2x5x1xf32>, tensor<2x5x1xf32>)
    return %16#0, %8, %10, %15, %16#1 : tensor<2x5x1xf32>, tensor<2x5x8xf32>, tensor<f32>, tensor<i1>, tensor<2x5x1xf32>
  }
  func.func private @_where(%arg0: tensor<i1>, %arg1: tensor<2x5x1xf32>, %arg2: tensor<f32>) -> (tensor<2x5x1xf32>, tensor<2x5x1xf32>) {
    %0 = stablehlo.convert %arg2 : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<2x5x1xf32>
    %2 = stablehlo.select %arg0, %arg1, %1 : tensor<i1>, tensor<2x5x1xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %3 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<2x5x1xf32>
    return %2, %3 : tensor<2x5x1xf32>, tensor<2x5x1xf32>
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
  func.func private @_where_0(%arg0: tensor<5x5xi1>, %arg1: tensor<2x2x5x5xf32>, %arg2: tensor<f32>) -> (tensor<2x2x5x5xf32>, tensor<2x2x5x5xi1>, tensor<2x2x5x5xf32>) {
    %0 = stablehlo.convert %arg2 : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %arg0, dims = [2, 3] : (tensor<5x5xi1>) -> tensor<2x2x5x5xi1>
    %2 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<2x2x5x5xf32>
    %3 = stablehlo.select %1, %arg1, %2 : tensor<2x2x5x5xi1>, tensor<2x2x5x5xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %4 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<2x2x5x5xf32>
    return %3, %1, %4 : tensor<2x2x5x5xf32>, tensor<2x2x5x5xi1>, tensor<2x2x5x5xf32>
  }
  func.func private @log_softmax(%arg0: tensor<10x11xf32>) -> (tensor<10x11xf32>, tensor<10x11xf32>, tensor<10x1xf32>) {
    %cst = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %0 = stablehlo.reduce(%arg0 init: %cst) applies stablehlo.maximum across dimensions = [1] : (tensor<10x11xf32>, tensor<f32>) -> tensor<10xf32>
    %cst_0 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %2 = stablehlo.maximum %1, %0 : tensor<10xf32>
    %3 = stablehlo.broadcast_in_dim %2, dims = [0] : (tensor<10xf32>) -> tensor<10x1xf32>
    %4 = stablehlo.broadcast_in_dim %3, dims = [0, 1] : (tensor<10x1xf32>) -> tensor<10x11xf32>
    %5 = stablehlo.subtract %arg0, %4 : tensor<10x11xf32>
    %6 = stablehlo.exponential %5 : tensor<10x11xf32>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %7 = stablehlo.reduce(%6 init: %cst_1) applies stablehlo.add across dimensions = [1] : (tensor<10x11xf32>, tensor<f32>) -> tensor<10xf32>
    %8 = stablehlo.broadcast_in_dim %7, dims = [0] : (tensor<10xf32>) -> tensor<10x1xf32>
    %9 = stablehlo.log %8 : tensor<10x1xf32>
    %10 = stablehlo.broadcast_in_dim %9, dims = [0, 1] : (tensor<10x1xf32>) -> tensor<10x11xf32>
    %11 = stablehlo.subtract %5, %10 : tensor<10x11xf32>
    return %11, %6, %8 : tensor<10x11xf32>, tensor<10x11xf32>, tensor<10x1xf32>
  }
  func.func private @take_along_axis(%arg0: tensor<10x11xf32>, %arg1: tensor<10x1xi32>) -> (tensor<10x1xf32>, tensor<10x1x1xi32>) {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<10x1xi32>
    %1 = stablehlo.compare LT, %arg1, %0, SIGNED : (tensor<10x1xi32>, tensor<10x1xi32>) -> tensor<10x1xi1>
    %c_0 = stablehlo.constant dense<11> : tensor<i32>
    %2 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i32>) -> tensor<10x1xi32>
    %3 = stablehlo.add %arg1, %2 : tensor<10x1xi32>
    %4 = stablehlo.select %1, %3, %arg1 : tensor<10x1xi1>, tensor<10x1xi32>
    %5 = stablehlo.reshape %4 : (tensor<10x1xi32>) -> tensor<10x1x1xi32>
    %c_1 = stablehlo.constant dense<10> : tensor<1xi32>
    %c_2 = stablehlo.constant dense<0> : tensor<i32>
    %6 = stablehlo.broadcast_in_dim %c_2, dims = [] : (tensor<i32>) -> tensor<10x1x1xi32>
    %7 = stablehlo.compare GE, %5, %6, SIGNED : (tensor<10x1x1xi32>, tensor<10x1x1xi32>) -> tensor<10x1x1xi1>
    %8 = stablehlo.broadcast_in_dim %c_1, dims = [2] : (tensor<1xi32>) -> tensor<1x1x1xi32>
    %9 = stablehlo.broadcast_in_dim %8, dims = [0, 1, 2] : (tensor<1x1x1xi32>) -> tensor<10x1x1xi32>
    %10 = stablehlo.compare LE, %5, %9, SIGNED : (tensor<10x1x1xi32>, tensor<10x1x1xi32>) -> tensor<10x1x1xi1>
    %11 = stablehlo.and %7, %10 : tensor<10x1x1xi1>
    %c_3 = stablehlo.constant dense<true> : tensor<i1>
    %12 = stablehlo.reduce(%11 init: %c_3) applies stablehlo.and across dimensions = [2] : (tensor<10x1x1xi1>, tensor<i1>) -> tensor<10x1xi1>
    %13 = "stablehlo.gather"(%arg0, %5) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 2>, indices_are_sorted = false, slice_sizes = array<i64: 1, 1>}> : (tensor<10x11xf32>, tensor<10x1x1xi32>) -> tensor<10x1xf32>
    %cst = stablehlo.constant dense<0x7FC00000> : tensor<f32>
    %14 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<10x1xf32>
    %15 = stablehlo.select %12, %13, %14 : tensor<10x1xi1>, tensor<10x1xf32>
    return %15, %5 : tensor<10x1xf32>, tensor<10x1x1xi32>
  }
  func.func private @take_along_axis_1(%arg0: tensor<10x1x1xi32>, %arg1: tensor<10x1xf32>) -> tensor<10x11xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<10x11xf32>
    %1 = "stablehlo.scatter"(%0, %arg0, %arg1) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [1], input_batching_dims = [0], scatter_indices_batching_dims = [0], scatter_dims_to_operand_dims = [1], index_vector_dim = 2>, unique_indices = false}> ({
    ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>):
      %2 = stablehlo.add %arg2, %arg3 : tensor<f32>
      stablehlo.return %2 : tensor<f32>
    }) : (tensor<10x11xf32>, tensor<10x1x1xi32>, tensor<10x1xf32>) -> tensor<10x11xf32>
    return %1 : tensor<10x11xf32>
  }
  func.func private @log_softmax_2(%arg0: tensor<10x11xf32>, %arg1: tensor<10x1xf32>, %arg2: tensor<10x11xf32>) -> tensor<10x11xf32> {
    %0 = stablehlo.negate %arg2 : tensor<10x11xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1 = stablehlo.reduce(%0 init: %cst) applies stablehlo.add across dimensions = [1] : (tensor<10x11xf32>, tensor<f32>) -> tensor<10xf32>
    %2 = stablehlo.reshape %1 : (tensor<10xf32>) -> tensor<10x1xf32>
    %3 = stablehlo.divide %2, %arg1 : tensor<10x1xf32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %4 = stablehlo.reduce(%3 init: %cst_0) applies stablehlo.add across dimensions = [1] : (tensor<10x1xf32>, tensor<f32>) -> tensor<10xf32>
    %5 = stablehlo.broadcast_in_dim %4, dims = [0] : (tensor<10xf32>) -> tensor<10x11xf32>
    %6 = stablehlo.multiply %5, %arg0 : tensor<10x11xf32>
    %7 = stablehlo.add %arg2, %6 : tensor<10x11xf32>
    return %7 : tensor<10x11xf32>
  }
  func.func private @_var_3(%arg0: tensor<2x5x8xf32>, %arg1: tensor<f32>, %arg2: tensor<i1>, %arg3: tensor<2x5x1xf32>, %arg4: tensor<2x5x1xf32>) -> tensor<2x5x8xf32> {
    %0 = call @_where_4(%arg2, %arg3, %arg4) : (tensor<i1>, tensor<2x5x1xf32>, tensor<2x5x1xf32>) -> tensor<2x5x1xf32>
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
  func.func private @_where_4(%arg0: tensor<i1>, %arg1: tensor<2x5x1xf32>, %arg2: tensor<2x5x1xf32>) -> tensor<2x5x1xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<2x5x1xf32>
    %1 = stablehlo.select %arg0, %arg2, %0 : tensor<i1>, tensor<2x5x1xf32>
    return %1 : tensor<2x5x1xf32>
  }
  func.func private @_where_5(%arg0: tensor<2x2x5x5xi1>, %arg1: tensor<2x2x5x5xf32>, %arg2: tensor<2x2x5x5xf32>) -> tensor<2x2x5x5xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<2x2x5x5xf32>
    %1 = stablehlo.select %arg0, %arg2, %0 : tensor<2x2x5x5xi1>, tensor<2x2x5x5xf32>
    return %1 : tensor<2x2x5x5xf32>
  }
}
