// Written by benchmarks/export.py with JAX 0.10.2.
module @jit_transformer_train_step attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<256x768xf32>, %arg1: tensor<256x256xf32>, %arg2: tensor<256x1024xf32>, %arg3: tensor<1024x256xf32>, %arg4: tensor<1000x256xf32>, %arg5: tensor<256xf32>, %arg6: tensor<4x65xi32>) -> (tensor<256x768xf32> {jax.result_info = "result[0][0]"}, tensor<256x256xf32> {jax.result_info = "result[0][1]"}, tensor<256x1024xf32> {jax.result_info = "result[0][2]"}, tensor<1024x256xf32> {jax.result_info = "result[0][3]"}, tensor<1000x256xf32> {jax.result_info = "result[0][4]"}, tensor<256xf32> {jax.result_info = "result[0][5]"}, tensor<f32> {jax.result_info = "result[1]"}) {
    %0 = stablehlo.slice %arg6 [0:4, 0:64] : (tensor<4x65xi32>) -> tensor<4x64xi32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<4x64xi32>
    %2 = stablehlo.compare LT, %0, %1, SIGNED : (tensor<4x64xi32>, tensor<4x64xi32>) -> tensor<4x64xi1>
    %c_0 = stablehlo.constant dense<1000> : tensor<i32>
    %3 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i32>) -> tensor<4x64xi32>
    %4 = stablehlo.add %0, %3 : tensor<4x64xi32>
    %5 = stablehlo.select %2, %4, %0 : tensor<4x64xi1>, tensor<4x64xi32>
    %6 = stablehlo.broadcast_in_dim %5, dims = [0, 1] : (tensor<4x64xi32>) -> tensor<4x64x1xi32>
    %7 = "stablehlo.gather"(%arg4, %6) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 2>, indices_are_sorted = false, slice_sizes = array<i64: 1, 256>}> : (tensor<1000x256xf32>, tensor<4x64x1xi32>) -> tensor<4x64x256xf32>
    %8 = stablehlo.multiply %7, %7 : tensor<4x64x256xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %9 = stablehlo.reduce(%8 init: %cst) applies stablehlo.add across dimensions = [2] : (tensor<4x64x256xf32>, tensor<f32>) -> tensor<4x64xf32>
    %10 = stablehlo.broadcast_in_dim %9, dims = [0, 1] : (tensor<4x64xf32>) -> tensor<4x64x1xf32>
    %cst_1 = stablehlo.constant dense<2.560000e+02> : tensor<f32>
    %11 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<4x64x1xf32>
    %12 = stablehlo.divide %10, %11 : tensor<4x64x1xf32>
    %cst_2 = stablehlo.constant dense<9.99999997E-7> : tensor<f32>
    %13 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<4x64x1xf32>
    %14 = stablehlo.add %12, %13 : tensor<4x64x1xf32>
    %15 = stablehlo.rsqrt %14 : tensor<4x64x1xf32>
    %16 = stablehlo.divide %15, %14 : tensor<4x64x1xf32>
    %cst_3 = stablehlo.constant dense<-5.000000e-01> : tensor<f32>
    %17 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<4x64x1xf32>
    %18 = stablehlo.multiply %17, %16 : tensor<4x64x1xf32>
    %19 = stablehlo.broadcast_in_dim %15, dims = [0, 1, 2] : (tensor<4x64x1xf32>) -> tensor<4x64x256xf32>
    %20 = stablehlo.multiply %7, %19 : tensor<4x64x256xf32>
    %21 = stablehlo.broadcast_in_dim %arg5, dims = [2] : (tensor<256xf32>) -> tensor<1x1x256xf32>
    %22 = stablehlo.broadcast_in_dim %21, dims = [0, 1, 2] : (tensor<1x1x256xf32>) -> tensor<4x64x256xf32>
    %23 = stablehlo.multiply %20, %22 : tensor<4x64x256xf32>
    %24 = stablehlo.dot_general %23, %arg0, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<4x64x256xf32>, tensor<256x768xf32>) -> tensor<4x64x768xf32>
    %25 = stablehlo.reshape %24 : (tensor<4x64x768xf32>) -> tensor<4x64x24x32xf32>
    %26 = stablehlo.slice %25 [0:4, 0:64, 0:8, 0:32] : (tensor<4x64x24x32xf32>) -> tensor<4x64x8x32xf32>
    %27 = stablehlo.slice %25 [0:4, 0:64, 8:16, 0:32] : (tensor<4x64x24x32xf32>) -> tensor<4x64x8x32xf32>
    %28 = stablehlo.slice %25 [0:4, 0:64, 16:24, 0:32] : (tensor<4x64x24x32xf32>) -> tensor<4x64x8x32xf32>
    %29 = stablehlo.dot_general %26, %27, batching_dims = [0, 2] x [0, 2], contracting_dims = [3] x [3], precision = [DEFAULT, DEFAULT] : (tensor<4x64x8x32xf32>, tensor<4x64x8x32xf32>) -> tensor<4x8x64x64xf32>
    %cst_4 = stablehlo.constant dense<0.176776692> : tensor<f32>
    %30 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<4x8x64x64xf32>
    %31 = stablehlo.multiply %29, %30 : tensor<4x8x64x64xf32>
    %c_5 = stablehlo.constant dense<true> : tensor<i1>
    %32 = stablehlo.broadcast_in_dim %c_5, dims = [] : (tensor<i1>) -> tensor<64x64xi1>
    %33 = call @tril(%32) : (tensor<64x64xi1>) -> tensor<64x64xi1>
    %cst_6 = stablehlo.constant dense<-1.000000e+09> : tensor<f32>
    %34:3 = call @_where(%33, %31, %cst_6) : (tensor<64x64xi1>, tensor<4x8x64x64xf32>, tensor<f32>) -> (tensor<4x8x64x64xf32>, tensor<4x8x64x64xi1>, tensor<4x8x64x64xf32>)
    %cst_7 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %35 = stablehlo.reduce(%34#0 init: %cst_7) applies stablehlo.maximum across dimensions = [3] : (tensor<4x8x64x64xf32>, tensor<f32>) -> tensor<4x8x64xf32>
    %36 = stablehlo.reshape %35 : (tensor<4x8x64xf32>) -> tensor<4x8x64x1xf32>
    %37 = stablehlo.broadcast_in_dim %36, dims = [0, 1, 2, 3] : (tensor<4x8x64x1xf32>) -> tensor<4x8x64x64xf32>
    %38 = stablehlo.compare EQ, %34#0, %37, FLOAT : (tensor<4x8x64x64xf32>, tensor<4x8x64x64xf32>) -> tensor<4x8x64x64xi1>
    %39 = stablehlo.convert %38 : (tensor<4x8x64x64xi1>) -> tensor<4x8x64x64xf32>
    %cst_8 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %40 = stablehlo.reduce(%39 init: %cst_8) applies stablehlo.add across dimensions = [3] : (tensor<4x8x64x64xf32>, tensor<f32>) -> tensor<4x8x64xf32>
    %cst_9 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %41 = stablehlo.broadcast_in_dim %cst_9, dims = [] : (tensor<f32>) -> tensor<4x8x64xf32>
    %42 = stablehlo.maximum %41, %35 : tensor<4x8x64xf32>
    %43 = stablehlo.compare EQ, %35, %42, FLOAT : (tensor<4x8x64xf32>, tensor<4x8x64xf32>) -> tensor<4x8x64xi1>
    %cst_10 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %44 = stablehlo.broadcast_in_dim %cst_10, dims = [] : (tensor<f32>) -> tensor<4x8x64xf32>
    %cst_11 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %45 = stablehlo.broadcast_in_dim %cst_11, dims = [] : (tensor<f32>) -> tensor<4x8x64xf32>
    %46 = stablehlo.select %43, %44, %45 : tensor<4x8x64xi1>, tensor<4x8x64xf32>
    %cst_12 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %47 = stablehlo.broadcast_in_dim %cst_12, dims = [] : (tensor<f32>) -> tensor<4x8x64xf32>
    %48 = stablehlo.compare EQ, %47, %42, FLOAT : (tensor<4x8x64xf32>, tensor<4x8x64xf32>) -> tensor<4x8x64xi1>
    %cst_13 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %49 = stablehlo.broadcast_in_dim %cst_13, dims = [] : (tensor<f32>) -> tensor<4x8x64xf32>
    %cst_14 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %50 = stablehlo.broadcast_in_dim %cst_14, dims = [] : (tensor<f32>) -> tensor<4x8x64xf32>
    %51 = stablehlo.select %48, %49, %50 : tensor<4x8x64xi1>, tensor<4x8x64xf32>
    %52 = stablehlo.divide %46, %51 : tensor<4x8x64xf32>
    %53 = stablehlo.broadcast_in_dim %42, dims = [0, 1, 2] : (tensor<4x8x64xf32>) -> tensor<4x8x64x1xf32>
    %54 = stablehlo.broadcast_in_dim %53, dims = [0, 1, 2, 3] : (tensor<4x8x64x1xf32>) -> tensor<4x8x64x64xf32>
    %55 = stablehlo.subtract %34#0, %54 : tensor<4x8x64x64xf32>
    %56 = stablehlo.exponential %55 : tensor<4x8x64x64xf32>
    %cst_15 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %57 = stablehlo.reduce(%56 init: %cst_15) applies stablehlo.add across dimensions = [3] : (tensor<4x8x64x64xf32>, tensor<f32>) -> tensor<4x8x64xf32>
    %58 = stablehlo.broadcast_in_dim %57, dims = [0, 1, 2] : (tensor<4x8x64xf32>) -> tensor<4x8x64x1xf32>
    %59 = stablehlo.broadcast_in_dim %58, dims = [0, 1, 2, 3] : (tensor<4x8x64x1xf32>) -> tensor<4x8x64x64xf32>
    %60 = stablehlo.divide %56, %59 : tensor<4x8x64x64xf32>
    %61 = stablehlo.multiply %58, %58 : tensor<4x8x64x1xf32>
    %cst_16 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %62 = stablehlo.broadcast_in_dim %cst_16, dims = [] : (tensor<f32>) -> tensor<4x8x64x1xf32>
    %63 = stablehlo.divide %62, %61 : tensor<4x8x64x1xf32>
    %64 = stablehlo.dot_general %28, %60, batching_dims = [0, 2] x [0, 1], contracting_dims = [1] x [3], precision = [DEFAULT, DEFAULT] : (tensor<4x64x8x32xf32>, tensor<4x8x64x64xf32>) -> tensor<4x8x32x64xf32>
    %65 = stablehlo.transpose %64, dims = [0, 3, 1, 2] : (tensor<4x8x32x64xf32>) -> tensor<4x64x8x32xf32>
    %66 = stablehlo.reshape %65 : (tensor<4x64x8x32xf32>) -> tensor<4x64x256xf32>
    %67 = stablehlo.dot_general %66, %arg1, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<4x64x256xf32>, tensor<256x256xf32>) -> tensor<4x64x256xf32>
    %68 = stablehlo.add %7, %67 : tensor<4x64x256xf32>
    %69 = stablehlo.multiply %68, %68 : tensor<4x64x256xf32>
    %cst_17 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %70 = stablehlo.reduce(%69 init: %cst_17) applies stablehlo.add across dimensions = [2] : (tensor<4x64x256xf32>, tensor<f32>) -> tensor<4x64xf32>
    %71 = stablehlo.broadcast_in_dim %70, dims = [0, 1] : (tensor<4x64xf32>) -> tensor<4x64x1xf32>
    %cst_18 = stablehlo.constant dense<2.560000e+02> : tensor<f32>
    %72 = stablehlo.broadcast_in_dim %cst_18, dims = [] : (tensor<f32>) -> tensor<4x64x1xf32>
    %73 = stablehlo.divide %71, %72 : tensor<4x64x1xf32>
    %cst_19 = stablehlo.constant dense<9.99999997E-7> : tensor<f32>
    %74 = stablehlo.broadcast_in_dim %cst_19, dims = [] : (tensor<f32>) -> tensor<4x64x1xf32>
    %75 = stablehlo.add %73, %74 : tensor<4x64x1xf32>
    %76 = stablehlo.rsqrt %75 : tensor<4x64x1xf32>
    %77 = stablehlo.divide %76, %75 : tensor<4x64x1xf32>
    %cst_20 = stablehlo.constant dense<-5.000000e-01> : tensor<f32>
    %78 = stablehlo.broadcast_in_dim %cst_20, dims = [] : (tensor<f32>) -> tensor<4x64x1xf32>
    %79 = stablehlo.multiply %78, %77 : tensor<4x64x1xf32>
    %80 = stablehlo.broadcast_in_dim %76, dims = [0, 1, 2] : (tensor<4x64x1xf32>) -> tensor<4x64x256xf32>
    %81 = stablehlo.multiply %68, %80 : tensor<4x64x256xf32>
    %82 = stablehlo.broadcast_in_dim %arg5, dims = [2] : (tensor<256xf32>) -> tensor<1x1x256xf32>
    %83 = stablehlo.broadcast_in_dim %82, dims = [0, 1, 2] : (tensor<1x1x256xf32>) -> tensor<4x64x256xf32>
    %84 = stablehlo.multiply %81, %83 : tensor<4x64x256xf32>
    %85 = stablehlo.dot_general %84, %arg2, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<4x64x256xf32>, tensor<256x1024xf32>) -> tensor<4x64x1024xf32>
    %86 = stablehlo.multiply %85, %85 : tensor<4x64x1024xf32>
    %87 = stablehlo.multiply %86, %85 : tensor<4x64x1024xf32>
    %88 = stablehlo.multiply %85, %85 : tensor<4x64x1024xf32>
    %cst_21 = stablehlo.constant dense<3.000000e+00> : tensor<f32>
    %89 = stablehlo.broadcast_in_dim %cst_21, dims = [] : (tensor<f32>) -> tensor<4x64x1024xf32>
    %90 = stablehlo.multiply %89, %88 : tensor<4x64x1024xf32>
    %cst_22 = stablehlo.constant dense<4.471500e-02> : tensor<f32>
    %91 = stablehlo.broadcast_in_dim %cst_22, dims = [] : (tensor<f32>) -> tensor<4x64x1024xf32>
    %92 = stablehlo.multiply %91, %87 : tensor<4x64x1024xf32>
    %93 = stablehlo.add %85, %92 : tensor<4x64x1024xf32>
    %cst_23 = stablehlo.constant dense<0.797884583> : tensor<f32>
    %94 = stablehlo.broadcast_in_dim %cst_23, dims = [] : (tensor<f32>) -> tensor<4x64x1024xf32>
    %95 = stablehlo.multiply %94, %93 : tensor<4x64x1024xf32>
    %96 = stablehlo.tanh %95 : tensor<4x64x1024xf32>
    %cst_24 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %97 = stablehlo.broadcast_in_dim %cst_24, dims = [] : (tensor<f32>) -> tensor<4x64x1024xf32>
    %98 = stablehlo.subtract %97, %96 : tensor<4x64x1024xf32>
    %cst_25 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %99 = stablehlo.broadcast_in_dim %cst_25, dims = [] : (tensor<f32>) -> tensor<4x64x1024xf32>
    %100 = stablehlo.add %99, %96 : tensor<4x64x1024xf32>
    %cst_26 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %101 = stablehlo.broadcast_in_dim %cst_26, dims = [] : (tensor<f32>) -> tensor<4x64x1024xf32>
    %102 = stablehlo.multiply %101, %100 : tensor<4x64x1024xf32>
    %103 = stablehlo.multiply %85, %102 : tensor<4x64x1024xf32>
    %104 = stablehlo.dot_general %103, %arg3, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<4x64x1024xf32>, tensor<1024x256xf32>) -> tensor<4x64x256xf32>
    %105 = stablehlo.add %68, %104 : tensor<4x64x256xf32>
    %106 = stablehlo.transpose %arg4, dims = [1, 0] : (tensor<1000x256xf32>) -> tensor<256x1000xf32>
    %107 = stablehlo.dot_general %105, %106, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<4x64x256xf32>, tensor<256x1000xf32>) -> tensor<4x64x1000xf32>
    %108 = stablehlo.slice %arg6 [0:4, 1:65] : (tensor<4x65xi32>) -> tensor<4x64xi32>
    %109:3 = call @log_softmax(%107) : (tensor<4x64x1000xf32>) -> (tensor<4x64x1000xf32>, tensor<4x64x1000xf32>, tensor<4x64x1xf32>)
    %110 = stablehlo.broadcast_in_dim %108, dims = [0, 1] : (tensor<4x64xi32>) -> tensor<4x64x1xi32>
    %111:2 = call @take_along_axis(%109#0, %110) : (tensor<4x64x1000xf32>, tensor<4x64x1xi32>) -> (tensor<4x64x1xf32>, tensor<4x64x1x1xi32>)
    %cst_27 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %112 = stablehlo.reduce(%111#0 init: %cst_27) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<4x64x1xf32>, tensor<f32>) -> tensor<f32>
    %cst_28 = stablehlo.constant dense<2.560000e+02> : tensor<f32>
    %113 = stablehlo.divide %112, %cst_28 : tensor<f32>
    %114 = stablehlo.negate %113 : tensor<f32>
    %cst_29 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %115 = stablehlo.negate %cst_29 : tensor<f32>
    %cst_30 = stablehlo.constant dense<2.560000e+02> : tensor<f32>
    %116 = stablehlo.divide %115, %cst_30 : tensor<f32>
    %117 = stablehlo.broadcast_in_dim %116, dims = [] : (tensor<f32>) -> tensor<4x64x1xf32>
    %118 = call @take_along_axis_0(%111#1, %117) : (tensor<4x64x1x1xi32>, tensor<4x64x1xf32>) -> tensor<4x64x1000xf32>
    %119 = call @log_softmax_1(%109#1, %109#2, %118) : (tensor<4x64x1000xf32>, tensor<4x64x1xf32>, tensor<4x64x1000xf32>) -> tensor<4x64x1000xf32>
    %120 = stablehlo.dot_general %119, %105, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<4x64x1000xf32>, tensor<4x64x256xf32>) -> tensor<1000x256xf32>
    %121 = stablehlo.transpose %120, dims = [1, 0] : (tensor<1000x256xf32>) -> tensor<256x1000xf32>
    %122 = stablehlo.dot_general %119, %106, contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<4x64x1000xf32>, tensor<256x1000xf32>) -> tensor<4x64x256xf32>
    %123 = stablehlo.transpose %121, dims = [1, 0] : (tensor<256x1000xf32>) -> tensor<1000x256xf32>
    %124 = stablehlo.dot_general %122, %103, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<4x64x256xf32>, tensor<4x64x1024xf32>) -> tensor<256x1024xf32>
    %125 = stablehlo.transpose %124, dims = [1, 0] : (tensor<256x1024xf32>) -> tensor<1024x256xf32>
    %126 = stablehlo.dot_general %122, %arg3, contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<4x64x256xf32>, tensor<1024x256xf32>) -> tensor<4x64x1024xf32>
    %127 = stablehlo.multiply %85, %126 : tensor<4x64x1024xf32>
    %128 = stablehlo.multiply %126, %102 : tensor<4x64x1024xf32>
    %cst_31 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %129 = stablehlo.broadcast_in_dim %cst_31, dims = [] : (tensor<f32>) -> tensor<4x64x1024xf32>
    %130 = stablehlo.multiply %129, %127 : tensor<4x64x1024xf32>
    %131 = stablehlo.multiply %130, %98 : tensor<4x64x1024xf32>
    %132 = stablehlo.multiply %131, %96 : tensor<4x64x1024xf32>
    %133 = stablehlo.add %131, %132 : tensor<4x64x1024xf32>
    %cst_32 = stablehlo.constant dense<0.797884583> : tensor<f32>
    %134 = stablehlo.broadcast_in_dim %cst_32, dims = [] : (tensor<f32>) -> tensor<4x64x1024xf32>
    %135 = stablehlo.multiply %134, %133 : tensor<4x64x1024xf32>
    %136 = stablehlo.add %128, %135 : tensor<4x64x1024xf32>
    %cst_33 = stablehlo.constant dense<4.471500e-02> : tensor<f32>
    %137 = stablehlo.broadcast_in_dim %cst_33, dims = [] : (tensor<f32>) -> tensor<4x64x1024xf32>
    %138 = stablehlo.multiply %137, %135 : tensor<4x64x1024xf32>
    %139 = stablehlo.multiply %138, %90 : tensor<4x64x1024xf32>
    %140 = stablehlo.add %136, %139 : tensor<4x64x1024xf32>
    %141 = stablehlo.dot_general %140, %84, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<4x64x1024xf32>, tensor<4x64x256xf32>) -> tensor<1024x256xf32>
    %142 = stablehlo.transpose %141, dims = [1, 0] : (tensor<1024x256xf32>) -> tensor<256x1024xf32>
    %143 = stablehlo.dot_general %140, %arg2, contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<4x64x1024xf32>, tensor<256x1024xf32>) -> tensor<4x64x256xf32>
    %144 = stablehlo.multiply %81, %143 : tensor<4x64x256xf32>
    %cst_34 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %145 = stablehlo.reduce(%144 init: %cst_34) applies stablehlo.add across dimensions = [0, 1] : (tensor<4x64x256xf32>, tensor<f32>) -> tensor<256xf32>
    %146 = stablehlo.reshape %145 : (tensor<256xf32>) -> tensor<1x1x256xf32>
    %147 = stablehlo.broadcast_in_dim %82, dims = [0, 1, 2] : (tensor<1x1x256xf32>) -> tensor<4x64x256xf32>
    %148 = stablehlo.multiply %143, %147 : tensor<4x64x256xf32>
    %cst_35 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %149 = stablehlo.reduce(%146 init: %cst_35) applies stablehlo.add across dimensions = [0, 1] : (tensor<1x1x256xf32>, tensor<f32>) -> tensor<256xf32>
    %150 = stablehlo.multiply %68, %148 : tensor<4x64x256xf32>
    %cst_36 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %151 = stablehlo.reduce(%150 init: %cst_36) applies stablehlo.add across dimensions = [2] : (tensor<4x64x256xf32>, tensor<f32>) -> tensor<4x64xf32>
    %152 = stablehlo.reshape %151 : (tensor<4x64xf32>) -> tensor<4x64x1xf32>
    %153 = stablehlo.broadcast_in_dim %76, dims = [0, 1, 2] : (tensor<4x64x1xf32>) -> tensor<4x64x256xf32>
    %154 = stablehlo.multiply %148, %153 : tensor<4x64x256xf32>
    %155 = stablehlo.add %122, %154 : tensor<4x64x256xf32>
    %156 = stablehlo.multiply %152, %79 : tensor<4x64x1xf32>
    %cst_37 = stablehlo.constant dense<2.560000e+02> : tensor<f32>
    %157 = stablehlo.broadcast_in_dim %cst_37, dims = [] : (tensor<f32>) -> tensor<4x64x1xf32>
    %158 = stablehlo.divide %156, %157 : tensor<4x64x1xf32>
    %cst_38 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %159 = stablehlo.reduce(%158 init: %cst_38) applies stablehlo.add across dimensions = [2] : (tensor<4x64x1xf32>, tensor<f32>) -> tensor<4x64xf32>
    %160 = stablehlo.broadcast_in_dim %159, dims = [0, 1] : (tensor<4x64xf32>) -> tensor<4x64x256xf32>
    %161 = stablehlo.multiply %68, %160 : tensor<4x64x256xf32>
    %162 = stablehlo.add %155, %161 : tensor<4x64x256xf32>
    %163 = stablehlo.multiply %160, %68 : tensor<4x64x256xf32>
    %164 = stablehlo.add %162, %163 : tensor<4x64x256xf32>
    %165 = stablehlo.dot_general %164, %66, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<4x64x256xf32>, tensor<4x64x256xf32>) -> tensor<256x256xf32>
    %166 = stablehlo.transpose %165, dims = [1, 0] : (tensor<256x256xf32>) -> tensor<256x256xf32>
    %167 = stablehlo.dot_general %164, %arg1, contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<4x64x256xf32>, tensor<256x256xf32>) -> tensor<4x64x256xf32>
    %168 = stablehlo.reshape %167 : (tensor<4x64x256xf32>) -> tensor<4x64x8x32xf32>
    %169 = stablehlo.transpose %168, dims = [0, 2, 3, 1] : (tensor<4x64x8x32xf32>) -> tensor<4x8x32x64xf32>
    %170 = stablehlo.dot_general %169, %28, batching_dims = [0, 1] x [0, 2], contracting_dims = [2] x [3], precision = [DEFAULT, DEFAULT] : (tensor<4x8x32x64xf32>, tensor<4x64x8x32xf32>) -> tensor<4x8x64x64xf32>
    %171 = stablehlo.dot_general %169, %60, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [2], precision = [DEFAULT, DEFAULT] : (tensor<4x8x32x64xf32>, tensor<4x8x64x64xf32>) -> tensor<4x8x32x64xf32>
    %172 = stablehlo.transpose %171, dims = [0, 3, 1, 2] : (tensor<4x8x32x64xf32>) -> tensor<4x64x8x32xf32>
    %173 = stablehlo.broadcast_in_dim %63, dims = [0, 1, 2, 3] : (tensor<4x8x64x1xf32>) -> tensor<4x8x64x64xf32>
    %174 = stablehlo.multiply %170, %173 : tensor<4x8x64x64xf32>
    %175 = stablehlo.multiply %174, %56 : tensor<4x8x64x64xf32>
    %cst_39 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %176 = stablehlo.reduce(%175 init: %cst_39) applies stablehlo.add across dimensions = [3] : (tensor<4x8x64x64xf32>, tensor<f32>) -> tensor<4x8x64xf32>
    %177 = stablehlo.reshape %176 : (tensor<4x8x64xf32>) -> tensor<4x8x64x1xf32>
    %178 = stablehlo.negate %177 : tensor<4x8x64x1xf32>
    %179 = stablehlo.broadcast_in_dim %58, dims = [0, 1, 2, 3] : (tensor<4x8x64x1xf32>) -> tensor<4x8x64x64xf32>
    %180 = stablehlo.divide %170, %179 : tensor<4x8x64x64xf32>
    %cst_40 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %181 = stablehlo.reduce(%178 init: %cst_40) applies stablehlo.add across dimensions = [3] : (tensor<4x8x64x1xf32>, tensor<f32>) -> tensor<4x8x64xf32>
    %182 = stablehlo.broadcast_in_dim %181, dims = [0, 1, 2] : (tensor<4x8x64xf32>) -> tensor<4x8x64x64xf32>
    %183 = stablehlo.add %180, %182 : tensor<4x8x64x64xf32>
    %184 = stablehlo.multiply %183, %56 : tensor<4x8x64x64xf32>
    %185 = call @_where_2(%34#1, %34#2, %184) : (tensor<4x8x64x64xi1>, tensor<4x8x64x64xf32>, tensor<4x8x64x64xf32>) -> tensor<4x8x64x64xf32>
    %cst_41 = stablehlo.constant dense<0.176776692> : tensor<f32>
    %186 = stablehlo.broadcast_in_dim %cst_41, dims = [] : (tensor<f32>) -> tensor<4x8x64x64xf32>
    %187 = stablehlo.multiply %185, %186 : tensor<4x8x64x64xf32>
    %188 = stablehlo.dot_general %187, %26, batching_dims = [0, 1] x [0, 2], contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<4x8x64x64xf32>, tensor<4x64x8x32xf32>) -> tensor<4x8x64x32xf32>
    %189 = stablehlo.transpose %188, dims = [0, 2, 1, 3] : (tensor<4x8x64x32xf32>) -> tensor<4x64x8x32xf32>
    %190 = stablehlo.dot_general %187, %27, batching_dims = [0, 1] x [0, 2], contracting_dims = [3] x [1], precision = [DEFAULT, DEFAULT] : (tensor<4x8x64x64xf32>, tensor<4x64x8x32xf32>) -> tensor<4x8x64x32xf32>
    %191 = stablehlo.transpose %190, dims = [0, 2, 1, 3] : (tensor<4x8x64x32xf32>) -> tensor<4x64x8x32xf32>
    %192 = stablehlo.concatenate %191, %189, %172, dim = 2 : (tensor<4x64x8x32xf32>, tensor<4x64x8x32xf32>, tensor<4x64x8x32xf32>) -> tensor<4x64x24x32xf32>
    %193 = stablehlo.reshape %192 : (tensor<4x64x24x32xf32>) -> tensor<4x64x768xf32>
    %194 = stablehlo.dot_general %193, %23, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<4x64x768xf32>, tensor<4x64x256xf32>) -> tensor<768x256xf32>
    %195 = stablehlo.transpose %194, dims = [1, 0] : (tensor<768x256xf32>) -> tensor<256x768xf32>
    %196 = stablehlo.dot_general %193, %arg0, contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<4x64x768xf32>, tensor<256x768xf32>) -> tensor<4x64x256xf32>
    %197 = stablehlo.multiply %20, %196 : tensor<4x64x256xf32>
    %cst_42 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %198 = stablehlo.reduce(%197 init: %cst_42) applies stablehlo.add across dimensions = [0, 1] : (tensor<4x64x256xf32>, tensor<f32>) -> tensor<256xf32>
    %199 = stablehlo.reshape %198 : (tensor<256xf32>) -> tensor<1x1x256xf32>
    %200 = stablehlo.broadcast_in_dim %21, dims = [0, 1, 2] : (tensor<1x1x256xf32>) -> tensor<4x64x256xf32>
    %201 = stablehlo.multiply %196, %200 : tensor<4x64x256xf32>
    %cst_43 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %202 = stablehlo.reduce(%199 init: %cst_43) applies stablehlo.add across dimensions = [0, 1] : (tensor<1x1x256xf32>, tensor<f32>) -> tensor<256xf32>
    %203 = stablehlo.add %149, %202 : tensor<256xf32>
    %204 = stablehlo.multiply %7, %201 : tensor<4x64x256xf32>
    %cst_44 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %205 = stablehlo.reduce(%204 init: %cst_44) applies stablehlo.add across dimensions = [2] : (tensor<4x64x256xf32>, tensor<f32>) -> tensor<4x64xf32>
    %206 = stablehlo.reshape %205 : (tensor<4x64xf32>) -> tensor<4x64x1xf32>
    %207 = stablehlo.broadcast_in_dim %15, dims = [0, 1, 2] : (tensor<4x64x1xf32>) -> tensor<4x64x256xf32>
    %208 = stablehlo.multiply %201, %207 : tensor<4x64x256xf32>
    %209 = stablehlo.add %164, %208 : tensor<4x64x256xf32>
    %210 = stablehlo.multiply %206, %18 : tensor<4x64x1xf32>
    %cst_45 = stablehlo.constant dense<2.560000e+02> : tensor<f32>
    %211 = stablehlo.broadcast_in_dim %cst_45, dims = [] : (tensor<f32>) -> tensor<4x64x1xf32>
    %212 = stablehlo.divide %210, %211 : tensor<4x64x1xf32>
    %cst_46 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %213 = stablehlo.reduce(%212 init: %cst_46) applies stablehlo.add across dimensions = [2] : (tensor<4x64x1xf32>, tensor<f32>) -> tensor<4x64xf32>
    %214 = stablehlo.broadcast_in_dim %213, dims = [0, 1] : (tensor<4x64xf32>) -> tensor<4x64x256xf32>
    %215 = stablehlo.multiply %7, %214 : tensor<4x64x256xf32>
    %216 = stablehlo.add %209, %215 : tensor<4x64x256xf32>
    %217 = stablehlo.multiply %214, %7 : tensor<4x64x256xf32>
    %218 = stablehlo.add %216, %217 : tensor<4x64x256xf32>
    %cst_47 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %219 = stablehlo.broadcast_in_dim %cst_47, dims = [] : (tensor<f32>) -> tensor<1000x256xf32>
    %220 = "stablehlo.scatter"(%219, %6, %218) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [2], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 2>, unique_indices = false}> ({
    ^bb0(%arg7: tensor<f32>, %arg8: tensor<f32>):
      %240 = stablehlo.add %arg7, %arg8 : tensor<f32>
      stablehlo.return %240 : tensor<f32>
    }) : (tensor<1000x256xf32>, tensor<4x64x1xi32>, tensor<4x64x256xf32>) -> tensor<1000x256xf32>
    %221 = stablehlo.add %123, %220 : tensor<1000x256xf32>
    %cst_48 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %222 = stablehlo.broadcast_in_dim %cst_48, dims = [] : (tensor<f32>) -> tensor<256x768xf32>
    %223 = stablehlo.multiply %222, %195 : tensor<256x768xf32>
    %224 = stablehlo.subtract %arg0, %223 : tensor<256x768xf32>
    %cst_49 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %225 = stablehlo.broadcast_in_dim %cst_49, dims = [] : (tensor<f32>) -> tensor<256x256xf32>
    %226 = stablehlo.multiply %225, %166 : tensor<256x256xf32>
    %227 = stablehlo.subtract %arg1, %226 : tensor<256x256xf32>
    %cst_50 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %228 = stablehlo.broadcast_in_dim %cst_50, dims = [] : (tensor<f32>) -> tensor<256x1024xf32>
    %229 = stablehlo.multiply %228, %142 : tensor<256x1024xf32>
    %230 = stablehlo.subtract %arg2, %229 : tensor<256x1024xf32>
    %cst_51 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %231 = stablehlo.broadcast_in_dim %cst_51, dims = [] : (tensor<f32>) -> tensor<1024x256xf32>
    %232 = stablehlo.multiply %231, %125 : tensor<1024x256xf32>
    %233 = stablehlo.subtract %arg3, %232 : tensor<1024x256xf32>
    %cst_52 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %234 = stablehlo.broadcast_in_dim %cst_52, dims = [] : (tensor<f32>) -> tensor<1000x256xf32>
    %235 = stablehlo.multiply %234, %221 : tensor<1000x256xf32>
    %236 = stablehlo.subtract %arg4, %235 : tensor<1000x256xf32>
    %cst_53 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %237 = stablehlo.broadcast_in_dim %cst_53, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %238 = stablehlo.multiply %237, %203 : tensor<256xf32>
    %239 = stablehlo.subtract %arg5, %238 : tensor<256xf32>
    return %224, %227, %230, %233, %236, %239, %114 : tensor<256x768xf32>, tensor<256x256xf32>, tensor<256x1024xf32>, tensor<1024x256xf32>, tensor<1000x256xf32>, tensor<256xf32>, tensor<f32>
  }
  func.func private @tril(%arg0: tensor<64x64xi1>) -> tensor<64x64xi1> {
    %0 = stablehlo.iota dim = 0 : tensor<64x64xi32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<64x64xi32>
    %2 = stablehlo.add %0, %1 : tensor<64x64xi32>
    %3 = stablehlo.iota dim = 1 : tensor<64x64xi32>
    %4 = stablehlo.compare GE, %2, %3, SIGNED : (tensor<64x64xi32>, tensor<64x64xi32>) -> tensor<64x64xi1>
    %c_0 = stablehlo.constant dense<false> : tensor<i1>
    %5 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i1>) -> tensor<64x64xi1>
    %6 = stablehlo.select %4, %arg0, %5 : tensor<64x64xi1>, tensor<64x64xi1>
    return %6 : tensor<64x64xi1>
  }
  func.func private @_where(%arg0: tensor<64x64xi1>, %arg1: tensor<4x8x64x64xf32>, %arg2: tensor<f32>) -> (tensor<4x8x64x64xf32>, tensor<4x8x64x64xi1>, tensor<4x8x64x64xf32>) {
    %0 = stablehlo.convert %arg2 : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %arg0, dims = [2, 3] : (tensor<64x64xi1>) -> tensor<4x8x64x64xi1>
    %2 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<4x8x64x64xf32>
    %3 = stablehlo.select %1, %arg1, %2 : tensor<4x8x64x64xi1>, tensor<4x8x64x64xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %4 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<4x8x64x64xf32>
    return %3, %1, %4 : tensor<4x8x64x64xf32>, tensor<4x8x64x64xi1>, tensor<4x8x64x64xf32>
  }
  func.func private @log_softmax(%arg0: tensor<4x64x1000xf32>) -> (tensor<4x64x1000xf32>, tensor<4x64x1000xf32>, tensor<4x64x1xf32>) {
    %cst = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %0 = stablehlo.reduce(%arg0 init: %cst) applies stablehlo.maximum across dimensions = [2] : (tensor<4x64x1000xf32>, tensor<f32>) -> tensor<4x64xf32>
    %cst_0 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<4x64xf32>
    %2 = stablehlo.maximum %1, %0 : tensor<4x64xf32>
    %3 = stablehlo.broadcast_in_dim %2, dims = [0, 1] : (tensor<4x64xf32>) -> tensor<4x64x1xf32>
    %4 = stablehlo.broadcast_in_dim %3, dims = [0, 1, 2] : (tensor<4x64x1xf32>) -> tensor<4x64x1000xf32>
    %5 = stablehlo.subtract %arg0, %4 : tensor<4x64x1000xf32>
    %6 = stablehlo.exponential %5 : tensor<4x64x1000xf32>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %7 = stablehlo.reduce(%6 init: %cst_1) applies stablehlo.add across dimensions = [2] : (tensor<4x64x1000xf32>, tensor<f32>) -> tensor<4x64xf32>
    %8 = stablehlo.broadcast_in_dim %7, dims = [0, 1] : (tensor<4x64xf32>) -> tensor<4x64x1xf32>
    %9 = stablehlo.log %8 : tensor<4x64x1xf32>
    %10 = stablehlo.broadcast_in_dim %9, dims = [0, 1, 2] : (tensor<4x64x1xf32>) -> tensor<4x64x1000xf32>
    %11 = stablehlo.subtract %5, %10 : tensor<4x64x1000xf32>
    return %11, %6, %8 : tensor<4x64x1000xf32>, tensor<4x64x1000xf32>, tensor<4x64x1xf32>
  }
  func.func private @take_along_axis(%arg0: tensor<4x64x1000xf32>, %arg1: tensor<4x64x1xi32>) -> (tensor<4x64x1xf32>, tensor<4x64x1x1xi32>) {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<4x64x1xi32>
    %1 = stablehlo.compare LT, %arg1, %0, SIGNED : (tensor<4x64x1xi32>, tensor<4x64x1xi32>) -> tensor<4x64x1xi1>
    %c_0 = stablehlo.constant dense<1000> : tensor<i32>
    %2 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i32>) -> tensor<4x64x1xi32>
    %3 = stablehlo.add %arg1, %2 : tensor<4x64x1xi32>
    %4 = stablehlo.select %1, %3, %arg1 : tensor<4x64x1xi1>, tensor<4x64x1xi32>
    %5 = stablehlo.reshape %4 : (tensor<4x64x1xi32>) -> tensor<4x64x1x1xi32>
    %c_1 = stablehlo.constant dense<999> : tensor<1xi32>
    %c_2 = stablehlo.constant dense<0> : tensor<i32>
    %6 = stablehlo.broadcast_in_dim %c_2, dims = [] : (tensor<i32>) -> tensor<4x64x1x1xi32>
    %7 = stablehlo.compare GE, %5, %6, SIGNED : (tensor<4x64x1x1xi32>, tensor<4x64x1x1xi32>) -> tensor<4x64x1x1xi1>
    %8 = stablehlo.broadcast_in_dim %c_1, dims = [3] : (tensor<1xi32>) -> tensor<1x1x1x1xi32>
    %9 = stablehlo.broadcast_in_dim %8, dims = [0, 1, 2, 3] : (tensor<1x1x1x1xi32>) -> tensor<4x64x1x1xi32>
    %10 = stablehlo.compare LE, %5, %9, SIGNED : (tensor<4x64x1x1xi32>, tensor<4x64x1x1xi32>) -> tensor<4x64x1x1xi1>
    %11 = stablehlo.and %7, %10 : tensor<4x64x1x1xi1>
    %c_3 = stablehlo.constant dense<true> : tensor<i1>
    %12 = stablehlo.reduce(%11 init: %c_3) applies stablehlo.and across dimensions = [3] : (tensor<4x64x1x1xi1>, tensor<i1>) -> tensor<4x64x1xi1>
    %13 = "stablehlo.gather"(%arg0, %5) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [2], operand_batching_dims = [0, 1], start_indices_batching_dims = [0, 1], start_index_map = [2], index_vector_dim = 3>, indices_are_sorted = false, slice_sizes = array<i64: 1, 1, 1>}> : (tensor<4x64x1000xf32>, tensor<4x64x1x1xi32>) -> tensor<4x64x1xf32>
    %cst = stablehlo.constant dense<0x7FC00000> : tensor<f32>
    %14 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<4x64x1xf32>
    %15 = stablehlo.select %12, %13, %14 : tensor<4x64x1xi1>, tensor<4x64x1xf32>
    return %15, %5 : tensor<4x64x1xf32>, tensor<4x64x1x1xi32>
  }
  func.func private @take_along_axis_0(%arg0: tensor<4x64x1x1xi32>, %arg1: tensor<4x64x1xf32>) -> tensor<4x64x1000xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<4x64x1000xf32>
    %1 = "stablehlo.scatter"(%0, %arg0, %arg1) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [2], input_batching_dims = [0, 1], scatter_indices_batching_dims = [0, 1], scatter_dims_to_operand_dims = [2], index_vector_dim = 3>, unique_indices = false}> ({
    ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>):
      %2 = stablehlo.add %arg2, %arg3 : tensor<f32>
      stablehlo.return %2 : tensor<f32>
    }) : (tensor<4x64x1000xf32>, tensor<4x64x1x1xi32>, tensor<4x64x1xf32>) -> tensor<4x64x1000xf32>
    return %1 : tensor<4x64x1000xf32>
  }
  func.func private @log_softmax_1(%arg0: tensor<4x64x1000xf32>, %arg1: tensor<4x64x1xf32>, %arg2: tensor<4x64x1000xf32>) -> tensor<4x64x1000xf32> {
    %0 = stablehlo.negate %arg2 : tensor<4x64x1000xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1 = stablehlo.reduce(%0 init: %cst) applies stablehlo.add across dimensions = [2] : (tensor<4x64x1000xf32>, tensor<f32>) -> tensor<4x64xf32>
    %2 = stablehlo.reshape %1 : (tensor<4x64xf32>) -> tensor<4x64x1xf32>
    %3 = stablehlo.divide %2, %arg1 : tensor<4x64x1xf32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %4 = stablehlo.reduce(%3 init: %cst_0) applies stablehlo.add across dimensions = [2] : (tensor<4x64x1xf32>, tensor<f32>) -> tensor<4x64xf32>
    %5 = stablehlo.broadcast_in_dim %4, dims = [0, 1] : (tensor<4x64xf32>) -> tensor<4x64x1000xf32>
    %6 = stablehlo.multiply %5, %arg0 : tensor<4x64x1000xf32>
    %7 = stablehlo.add %arg2, %6 : tensor<4x64x1000xf32>
    return %7 : tensor<4x64x1000xf32>
  }
  func.func private @_where_2(%arg0: tensor<4x8x64x64xi1>, %arg1: tensor<4x8x64x64xf32>, %arg2: tensor<4x8x64x64xf32>) -> tensor<4x8x64x64xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<4x8x64x64xf32>
    %1 = stablehlo.select %arg0, %arg2, %0 : tensor<4x8x64x64xi1>, tensor<4x8x64x64xf32>
    return %1 : tensor<4x8x64x64xf32>
  }
}
