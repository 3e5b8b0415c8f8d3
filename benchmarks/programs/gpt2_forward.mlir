// Written by benchmarks/export.py with JAX 0.10.2.
module @jit_gpt2_forward attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<1x256xi32>, %arg1: tensor<50257x768xf32>, %arg2: tensor<1024x768xf32>, %arg3: tensor<768xf32>, %arg4: tensor<768xf32>, %arg5: tensor<768xf32>, %arg6: tensor<768xf32>, %arg7: tensor<768x2304xf32>, %arg8: tensor<2304xf32>, %arg9: tensor<768x768xf32>, %arg10: tensor<768xf32>, %arg11: tensor<768xf32>, %arg12: tensor<768xf32>, %arg13: tensor<768x3072xf32>, %arg14: tensor<3072xf32>, %arg15: tensor<3072x768xf32>, %arg16: tensor<768xf32>, %arg17: tensor<768xf32>, %arg18: tensor<768xf32>, %arg19: tensor<768x2304xf32>, %arg20: tensor<2304xf32>, %arg21: tensor<768x768xf32>, %arg22: tensor<768xf32>, %arg23: tensor<768xf32>, %arg24: tensor<768xf32>, %arg25: tensor<768x3072xf32>, %arg26: tensor<3072xf32>, %arg27: tensor<3072x768xf32>, %arg28: tensor<768xf32>, %arg29: tensor<768xf32>, %arg30: tensor<768xf32>, %arg31: tensor<768x2304xf32>, %arg32: tensor<2304xf32>, %arg33: tensor<768x768xf32>, %arg34: tensor<768xf32>, %arg35: tensor<768xf32>, %arg36: tensor<768xf32>, %arg37: tensor<768x3072xf32>, %arg38: tensor<3072xf32>, %arg39: tensor<3072x768xf32>, %arg40: tensor<768xf32>, %arg41: tensor<768xf32>, %arg42: tensor<768xf32>, %arg43: tensor<768x2304xf32>, %arg44: tensor<2304xf32>, %arg45: tensor<768x768xf32>, %arg46: tensor<768xf32>, %arg47: tensor<768xf32>, %arg48: tensor<768xf32>, %arg49: tensor<768x3072xf32>, %arg50: tensor<3072xf32>, %arg51: tensor<3072x768xf32>, %arg52: tensor<768xf32>, %arg53: tensor<768xf32>, %arg54: tensor<768xf32>, %arg55: tensor<768x2304xf32>, %arg56: tensor<2304xf32>, %arg57: tensor<768x768xf32>, %arg58: tensor<768xf32>, %arg59: tensor<768xf32>, %arg60: tensor<768xf32>, %arg61: tensor<768x3072xf32>, %arg62: tensor<3072xf32>, %arg63: tensor<3072x768xf32>, %arg64: tensor<768xf32>, %arg65: tensor<768xf32>, %arg66: tensor<768xf32>, %arg67: tensor<768x2304xf32>, %arg68: tensor<2304xf32>, %arg69: tensor<768x768xf32>, %arg70: tensor<768xf32>, %arg71: tensor<768xf32>, %arg72: tensor<768xf32>, %arg73: tensor<768x3072xf32>, %arg74: tensor<3072xf32>, %arg75: tensor<3072x768xf32>, %arg76: tensor<768xf32>, %arg77: tensor<768xf32>, %arg78: tensor<768xf32>, %arg79: tensor<768x2304xf32>, %arg80: tensor<2304xf32>, %arg81: tensor<768x768xf32>, %arg82: tensor<768xf32>, %arg83: tensor<768xf32>, %arg84: tensor<768xf32>, %arg85: tensor<768x3072xf32>, %arg86: tensor<3072xf32>, %arg87: tensor<3072x768xf32>, %arg88: tensor<768xf32>, %arg89: tensor<768xf32>, %arg90: tensor<768xf32>, %arg91: tensor<768x2304xf32>, %arg92: tensor<2304xf32>, %arg93: tensor<768x768xf32>, %arg94: tensor<768xf32>, %arg95: tensor<768xf32>, %arg96: tensor<768xf32>, %arg97: tensor<768x3072xf32>, %arg98: tensor<3072xf32>, %arg99: tensor<3072x768xf32>, %arg100: tensor<768xf32>, %arg101: tensor<768xf32>, %arg102: tensor<768xf32>, %arg103: tensor<768x2304xf32>, %arg104: tensor<2304xf32>, %arg105: tensor<768x768xf32>, %arg106: tensor<768xf32>, %arg107: tensor<768xf32>, %arg108: tensor<768xf32>, %arg109: tensor<768x3072xf32>, %arg110: tensor<3072xf32>, %arg111: tensor<3072x768xf32>, %arg112: tensor<768xf32>, %arg113: tensor<768xf32>, %arg114: tensor<768xf32>, %arg115: tensor<768x2304xf32>, %arg116: tensor<2304xf32>, %arg117: tensor<768x768xf32>, %arg118: tensor<768xf32>, %arg119: tensor<768xf32>, %arg120: tensor<768xf32>, %arg121: tensor<768x3072xf32>, %arg122: tensor<3072xf32>, %arg123: tensor<3072x768xf32>, %arg124: tensor<768xf32>, %arg125: tensor<768xf32>, %arg126: tensor<768xf32>, %arg127: tensor<768x2304xf32>, %arg128: tensor<2304xf32>, %arg129: tensor<768x768xf32>, %arg130: tensor<768xf32>, %arg131: tensor<768xf32>, %arg132: tensor<768xf32>, %arg133: tensor<768x3072xf32>, %arg134: tensor<3072xf32>, %arg135: tensor<3072x768xf32>, %arg136: tensor<768xf32>, %arg137: tensor<768xf32>, %arg138: tensor<768xf32>, %arg139: tensor<768x2304xf32>, %arg140: tensor<2304xf32>, %arg141: tensor<768x768xf32>, %arg142: tensor<768xf32>, %arg143: tensor<768xf32>, %arg144: tensor<768xf32>, %arg145: tensor<768x3072xf32>, %arg146: tensor<3072xf32>, %arg147: tensor<3072x768xf32>, %arg148: tensor<768xf32>) -> (tensor<1x256x50257xf32> {jax.result_info = "result"}) {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<1x256xi32>
    %1 = stablehlo.compare LT, %arg0, %0, SIGNED : (tensor<1x256xi32>, tensor<1x256xi32>) -> tensor<1x256xi1>
    %c_0 = stablehlo.constant dense<50257> : tensor<i32>
    %2 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i32>) -> tensor<1x256xi32>
    %3 = stablehlo.add %arg0, %2 : tensor<1x256xi32>
    %4 = stablehlo.select %1, %3, %arg0 : tensor<1x256xi1>, tensor<1x256xi32>
    %5 = stablehlo.broadcast_in_dim %4, dims = [0, 1] : (tensor<1x256xi32>) -> tensor<1x256x1xi32>
    %6 = "stablehlo.gather"(%arg1, %5) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 2>, indices_are_sorted = false, slice_sizes = array<i64: 1, 768>}> : (tensor<50257x768xf32>, tensor<1x256x1xi32>) -> tensor<1x256x768xf32>
    %7 = stablehlo.slice %arg2 [0:256, 0:768] : (tensor<1024x768xf32>) -> tensor<256x768xf32>
    %8 = stablehlo.broadcast_in_dim %7, dims = [1, 2] : (tensor<256x768xf32>) -> tensor<1x256x768xf32>
    %9 = stablehlo.add %6, %8 : tensor<1x256x768xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %10 = stablehlo.reduce(%9 init: %cst) applies stablehlo.add across dimensions = [2] : (tensor<1x256x768xf32>, tensor<f32>) -> tensor<1x256xf32>
    %11 = stablehlo.broadcast_in_dim %10, dims = [0, 1] : (tensor<1x256xf32>) -> tensor<1x256x1xf32>
    %cst_1 = stablehlo.constant dense<7.680000e+02> : tensor<f32>
    %12 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<1x256x1xf32>
    %13 = stablehlo.divide %11, %12 : tensor<1x256x1xf32>
    %14 = stablehlo.broadcast_in_dim %13, dims = [0, 1, 2] : (tensor<1x256x1xf32>) -> tensor<1x256x768xf32>
    %15 = stablehlo.subtract %9, %14 : tensor<1x256x768xf32>
    %16 = stablehlo.multiply %15, %15 : tensor<1x256x768xf32>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %17 = stablehlo.reduce(%16 init: %cst_2) applies stablehlo.add across dimensions = [2] : (tensor<1x256x768xf32>, tensor<f32>) -> tensor<1x256xf32>
    %18 = stablehlo.broadcast_in_dim %17, dims = [0, 1] : (tensor<1x256xf32>) -> tensor<1x256x1xf32>
    %cst_3 = stablehlo.constant dense<7.680000e+02> : tensor<f32>
    %19 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<1x256x1xf32>
    %20 = stablehlo.divide %18, %19 : tensor<1x256x1xf32>
    %21 = stablehlo.broadcast_in_dim %13, dims = [0, 1, 2] : (tensor<1x256x1xf32>) -> tensor<1x256x768xf32>
    %22 = stablehlo.subtract %9, %21 : tensor<1x256x768xf32>
    %cst_4 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %23 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<1x256x1xf32>
    %24 = stablehlo.add %20, %23 : tensor<1x256x1xf32>
    %25 = stablehlo.rsqrt %24 : tensor<1x256x1xf32>
    %26 = stablehlo.broadcast_in_dim %25, dims = [0, 1, 2] : (tensor<1x256x1xf32>) -> tensor<1x256x768xf32>
    %27 = stablehlo.multiply %22, %26 : tensor<1x256x768xf32>
    %28 = stablehlo.broadcast_in_dim %arg5, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %29 = stablehlo.broadcast_in_dim %28, dims = [0, 1, 2] : (tensor<1x1x768xf32>) -> tensor<1x256x768xf32>
    %30 = stablehlo.multiply %27, %29 : tensor<1x256x768xf32>
    %31 = stablehlo.broadcast_in_dim %arg6, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %32 = stablehlo.broadcast_in_dim %31, dims = [0, 1, 2] : (tensor<1x1x768xf32>) -> tensor<1x256x768xf32>
    %33 = stablehlo.add %30, %32 : tensor<1x256x768xf32>
    %34 = stablehlo.dot_general %33, %arg7, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x256x768xf32>, tensor<768x2304xf32>) -> tensor<1x256x2304xf32>
    %35 = stablehlo.broadcast_in_dim %arg8, dims = [2] : (tensor<2304xf32>) -> tensor<1x1x2304xf32>
    %36 = stablehlo.broadcast_in_dim %35, dims = [0, 1, 2] : (tensor<1x1x2304xf32>) -> tensor<1x256x2304xf32>
    %37 = stablehlo.add %34, %36 : tensor<1x256x2304xf32>
    %38 = stablehlo.reshape %37 : (tensor<1x256x2304xf32>) -> tensor<1x256x36x64xf32>
    %39 = stablehlo.slice %38 [0:1, 0:256, 0:12, 0:64] : (tensor<1x256x36x64xf32>) -> tensor<1x256x12x64xf32>
    %40 = stablehlo.slice %38 [0:1, 0:256, 12:24, 0:64] : (tensor<1x256x36x64xf32>) -> tensor<1x256x12x64xf32>
    %41 = stablehlo.slice %38 [0:1, 0:256, 24:36, 0:64] : (tensor<1x256x36x64xf32>) -> tensor<1x256x12x64xf32>
    %42 = stablehlo.dot_general %39, %40, batching_dims = [0, 2] x [0, 2], contracting_dims = [3] x [3], precision = [DEFAULT, DEFAULT] : (tensor<1x256x12x64xf32>, tensor<1x256x12x64xf32>) -> tensor<1x12x256x256xf32>
    %cst_5 = stablehlo.constant dense<1.250000e-01> : tensor<f32>
    %43 = stablehlo.broadcast_in_dim %cst_5, dims = [] : (tensor<f32>) -> tensor<1x12x256x256xf32>
    %44 = stablehlo.multiply %42, %43 : tensor<1x12x256x256xf32>
    %c_6 = stablehlo.constant dense<true> : tensor<i1>
    %45 = stablehlo.broadcast_in_dim %c_6, dims = [] : (tensor<i1>) -> tensor<256x256xi1>
    %46 = call @tril(%45) : (tensor<256x256xi1>) -> tensor<256x256xi1>
    %cst_7 = stablehlo.constant dense<-1.000000e+09> : tensor<f32>
    %47 = call @_where(%46, %44, %cst_7) : (tensor<256x256xi1>, tensor<1x12x256x256xf32>, tensor<f32>) -> tensor<1x12x256x256xf32>
    %cst_8 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %48 = stablehlo.reduce(%47 init: %cst_8) applies stablehlo.maximum across dimensions = [3] : (tensor<1x12x256x256xf32>, tensor<f32>) -> tensor<1x12x256xf32>
    %cst_9 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %49 = stablehlo.broadcast_in_dim %cst_9, dims = [] : (tensor<f32>) -> tensor<1x12x256xf32>
    %50 = stablehlo.maximum %49, %48 : tensor<1x12x256xf32>
    %51 = stablehlo.broadcast_in_dim %50, dims = [0, 1, 2] : (tensor<1x12x256xf32>) -> tensor<1x12x256x1xf32>
    %52 = stablehlo.broadcast_in_dim %51, dims = [0, 1, 2, 3] : (tensor<1x12x256x1xf32>) -> tensor<1x12x256x256xf32>
    %53 = stablehlo.subtract %47, %52 : tensor<1x12x256x256xf32>
    %54 = stablehlo.exponential %53 : tensor<1x12x256x256xf32>
    %cst_10 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %55 = stablehlo.reduce(%54 init: %cst_10) applies stablehlo.add across dimensions = [3] : (tensor<1x12x256x256xf32>, tensor<f32>) -> tensor<1x12x256xf32>
    %56 = stablehlo.broadcast_in_dim %55, dims = [0, 1, 2] : (tensor<1x12x256xf32>) -> tensor<1x12x256x1xf32>
    %57 = stablehlo.broadcast_in_dim %56, dims = [0, 1, 2, 3] : (tensor<1x12x256x1xf32>) -> tensor<1x12x256x256xf32>
    %58 = stablehlo.divide %54, %57 : tensor<1x12x256x256xf32>
    %59 = stablehlo.dot_general %41, %58, batching_dims = [0, 2] x [0, 1], contracting_dims = [1] x [3], precision = [DEFAULT, DEFAULT] : (tensor<1x256x12x64xf32>, tensor<1x12x256x256xf32>) -> tensor<1x12x64x256xf32>
    %60 = stablehlo.transpose %59, dims = [0, 3, 1, 2] : (tensor<1x12x64x256xf32>) -> tensor<1x256x12x64xf32>
    %61 = stablehlo.reshape %60 : (tensor<1x256x12x64xf32>) -> tensor<1x256x768xf32>
    %62 = stablehlo.dot_general %61, %arg9, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x256x768xf32>, tensor<768x768xf32>) -> tensor<1x256x768xf32>
    %63 = stablehlo.add %9, %62 : tensor<1x256x768xf32>
    %64 = stablehlo.broadcast_in_dim %arg10, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %65 = stablehlo.broadcast_in_dim %64, dims = [0, 1, 2] : (tensor<1x1x768xf32>) -> tensor<1x256x768xf32>
    %66 = stablehlo.add %63, %65 : tensor<1x256x768xf32>
    %cst_11 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %67 = stablehlo.reduce(%66 init: %cst_11) applies stablehlo.add across dimensions = [2] : (tensor<1x256x768xf32>, tensor<f32>) -> tensor<1x256xf32>
    %68 = stablehlo.broadcast_in_dim %67, dims = [0, 1] : (tensor<1x256xf32>) -> tensor<1x256x1xf32>
    %cst_12 = stablehlo.constant dense<7.680000e+02> : tensor<f32>
    %69 = stablehlo.broadcast_in_dim %cst_12, dims = [] : (tensor<f32>) -> tensor<1x256x1xf32>
    %70 = stablehlo.divide %68, %69 : tensor<1x256x1xf32>
    %71 = stablehlo.broadcast_in_dim %70, dims = [0, 1, 2] : (tensor<1x256x1xf32>) -> tensor<1x256x768xf32>
    %72 = stablehlo.subtract %66, %71 : tensor<1x256x768xf32>
    %73 = stablehlo.multiply %72, %72 : tensor<1x256x768xf32>
    %cst_13 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %74 = stablehlo.reduce(%73 init: %cst_13) applies stablehlo.add across dimensions = [2] : (tensor<1x256x768xf32>, tensor<f32>) -> tensor<1x256xf32>
    %75 = stablehlo.broadcast_in_dim %74, dims = [0, 1] : (tensor<1x256xf32>) -> tensor<1x256x1xf32>
    %cst_14 = stablehlo.constant dense<7.680000e+02> : tensor<f32>
    %76 = stablehlo.broadcast_in_dim %cst_14, dims = [] : (tensor<f32>) -> tensor<1x256x1xf32>
    %77 = stablehlo.divide %75, %76 : tensor<1x256x1xf32>
    %78 = stablehlo.broadcast_in_dim %70, dims = [0, 1, 2] : (tensor<1x256x1xf32>) -> tensor<1x256x768xf32>
    %79 = stablehlo.subtract %66, %78 : tensor<1x256x768xf32>
    %cst_15 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %80 = stablehlo.broadcast_in_dim %cst_15, dims = [] : (tensor<f32>) -> tensor<1x256x1xf32>
    %81 = stablehlo.add %77, %80 : tensor<1x256x1xf32>
    %82 = stablehlo.rsqrt %81 : tensor<1x256x1xf32>
    %83 = stablehlo.broadcast_in_dim %82, dims = [0, 1, 2] : (tensor<1x256x1xf32>) -> tensor<1x256x768xf32>
    %84 = stablehlo.multiply %79, %83 : tensor<1x256x768xf32>
    %85 = stablehlo.broadcast_in_dim %arg11, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %86 = stablehlo.broadcast_in_dim %85, dims = [0, 1, 2] : (tensor<1x1x768xf32>) -> tensor<1x256x768xf32>
    %87 = stablehlo.multiply %84, %86 : tensor<1x256x768xf32>
    %88 = stablehlo.broadcast_in_dim %arg12, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %89 = stablehlo.broadcast_in_dim %88, dims = [0, 1, 2] : (tensor<1x1x768xf32>) -> tensor<1x256x768xf32>
    %90 = stablehlo.add %87, %89 : tensor<1x256x768xf32>
    %91 = stablehlo.dot_general %90, %arg13, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x256x768xf32>, tensor<768x3072xf32>) -> tensor<1x256x3072xf32>
    %92 = stablehlo.broadcast_in_dim %arg14, dims = [2] : (tensor<3072xf32>) -> tensor<1x1x3072xf32>
    %93 = stablehlo.broadcast_in_dim %92, dims = [0, 1, 2] : (tensor<1x1x3072xf32>) -> tensor<1x256x3072xf32>
    %94 = stablehlo.add %91, %93 : tensor<1x256x3072xf32>
    %95 = stablehlo.multiply %94, %94 : tensor<1x256x3072xf32>
    %96 = stablehlo.multiply %95, %94 : tensor<1x256x3072xf32>
    %cst_16 = stablehlo.constant dense<4.471500e-02> : tensor<f32>
    %97 = stablehlo.broadcast_in_dim %cst_16, dims = [] : (tensor<f32>) -> tensor<1x256x3072xf32>
    %98 = stablehlo.multiply %97, %96 : tensor<1x256x3072xf32>
    %99 = stablehlo.add %94, %98 : tensor<1x256x3072xf32>
    %cst_17 = stablehlo.constant dense<0.797884583> : tensor<f32>
    %100 = stablehlo.broadcast_in_dim %cst_17, dims = [] : (tensor<f32>) -> tensor<1x256x3072xf32>
    %101 = stablehlo.multiply %100, %99 : tensor<1x256x3072xf32>
    %102 = stablehlo.tanh %101 : tensor<1x256x3072xf32>
    %cst_18 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %103 = stablehlo.broadcast_in_dim %cst_18, dims = [] : (tensor<f32>) -> tensor<1x256x3072xf32>
    %104 = stablehlo.add %103, %102 : tensor<1x256x3072xf32>
    %cst_19 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %105 = stablehlo.broadcast_in_dim %cst_19, dims = [] : (tensor<f32>) -> tensor<1x256x3072xf32>
    %106 = stablehlo.multiply %105, %104 : tensor<1x256x3072xf32>
    %107 = stablehlo.multiply %94, %106 : tensor<1x256x3072xf32>
    %108 = stablehlo.dot_general %107, %arg15, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x256x3072xf32>, tensor<3072x768xf32>) -> tensor<1x256x768xf32>
    %109 = stablehlo.add %66, %108 : tensor<1x256x768xf32>
    %110 = stablehlo.broadcast_in_dim %arg16, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %111 = stablehlo.broadcast_in_dim %110, dims = [0, 1, 2] : (tensor<1x1x768xf32>) -> tensor<1x256x768xf32>
    %112 = stablehlo.add %109, %111 : tensor<1x256x768xf32>
    %cst_20 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %113 = stablehlo.reduce(%112 init: %cst_20) applies stablehlo.add across dimensions = [2] : (tensor<1x256x768xf32>, tensor<f32>) -> tensor<1x256xf32>
    %114 = stablehlo.broadcast_in_dim %113, dims = [0, 1] : (tensor<1x256xf32>) -> tensor<1x256x1xf32>
    %cst_21 = stablehlo.constant dense<7.680000e+02> : tensor<f32>
    %115 = stablehlo.broadcast_in_dim %cst_21, dims = [] : (tensor<f32>) -> tensor<1x256x1xf32>
    %116 = stablehlo.divide %114, %115 : tensor<1x256x1xf32>
    %117 = stablehlo.broadcast_in_dim %116, dims = [0, 1, 2] : (tensor<1x256x1xf32>) -> tensor<1x256x768xf32>
    %118 = stablehlo.subtract %112, %117 : tensor<1x256x768xf32>
    %119 = stablehlo.multiply %118, %118 : tensor<1x256x768xf32>
    %cst_22 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %120 = stablehlo.reduce(%119 init: %cst_22) applies stablehlo.add across dimensions = [2] : (tensor<1x256x768xf32>, tensor<f32>) -> tensor<1x256xf32>
    %121 = stablehlo.broadcast_in_dim %120, dims = [0, 1] : (tensor<1x256xf32>) -> tensor<1x256x1xf32>
    %cst_23 = stablehlo.constant dense<7.680000e+02> : tensor<f32>
    %122 = stablehlo.broadcast_in_dim %cst_23, dims = [] : (tensor<f32>) -> tensor<1x256x1xf32>
    %123 = stablehlo.divide %121, %122 : tensor<1x256x1xf32>
    %124 = stablehlo.broadcast_in_dim %116, dims = [0, 1, 2] : (tensor<1x256x1xf32>) -> tensor<1x256x768xf32>
    %125 = stablehlo.subtract %112, %124 : tensor<1x256x768xf32>
    %cst_24 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %126 = stablehlo.broadcast_in_dim %cst_24, dims = [] : (tensor<f32>) -> tensor<1x256x1xf32>
    %127 = stablehlo.add %123, %126 : tensor<1x256x1xf32>
    %128 = stablehlo.rsqrt %127 : tensor<1x256x1xf32>
    %129 = stablehlo.broadcast_in_dim %128, dims = [0, 1, 2] : (tensor<1x256x1xf32>) -> tensor<1x256x768xf32>
    %130 = stablehlo.multiply %125, %129 : tensor<1x256x768xf32>
    %131 = stablehlo.broadcast_in_dim %arg17, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %132 = stablehlo.broadcast_in_dim %131, dims = [0, 1, 2] : (tensor<1x1x768xf32>) -> tensor<1x256x768xf32>
    %133 = stablehlo.multiply %130, %132 : tensor<1x256x768xf32>
    %134 = stablehlo.broadcast_in_dim %arg18, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %135 = stablehlo.broadcast_in_dim %134, dims = [0, 1, 2] : (tensor<1x1x768xf32>) -> tensor<1x256x768xf32>
    %136 = stablehlo.add %133, %135 : tensor<1x256x768xf32>
    %137 = stablehlo.dot_general %136, %arg19, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x256x768xf32>, tensor<768x2304xf32>) -> tensor<1x256x2304xf32>
    %138 = stablehlo.broadcast_in_dim %arg20, dims = [2] : (tensor<2304xf32>) -> tensor<1x1x2304xf32>
    %139 = stablehlo.broadcast_in_dim %138, dims = [0, 1, 2] : (tensor<1x1x2304xf32>) -> tensor<1x256x2304xf32>
    %140 = stablehlo.add %137, %139 : tensor<1x256x2304xf32>
    %141 = stablehlo.reshape %140 : (tensor<1x256x2304xf32>) -> tensor<1x256x36x64xf32>
    %142 = stablehlo.slice %141 [0:1, 0:256, 0:12, 0:64] : (tensor<1x256x36x64xf32>) -> tensor<1x256x12x64xf32>
    %143 = stablehlo.slice %141 [0:1, 0:256, 12:24, 0:64] : (tensor<1x256x36x64xf32>) -> tensor<1x256x12x64xf32>
    %144 = stablehlo.slice %141 [0:1, 0:256, 24:36, 0:64] : (tensor<1x256x36x64xf32>) -> tensor<1x256x12x64xf32>
    %145 = stablehlo.dot_general %142, %143, batching_dims = [0, 2] x [0, 2], contracting_dims = [3] x [3], precision = [DEFAULT, DEFAULT] : (tensor<1x256x12x64xf32>, tensor<1x256x12x64xf32>) -> tensor<1x12x256x256xf32>
    %cst_25 = stablehlo.constant dense<1.250000e-01> : tensor<f32>
    %146 = stablehlo.broadcast_in_dim %cst_25, dims = [] : (tensor<f32>) -> tensor<1x12x256x256xf32>
    %147 = stablehlo.multiply %145, %146 : tensor<1x12x256x256xf32>
    %c_26 = stablehlo.constant dense<true> : tensor<i1>
    %148 = stablehlo.broadcast_in_dim %c_26, dims = [] : (tensor<i1>) -> tensor<256x256xi1>
    %149 = call @tril(%148) : (tensor<256x256xi1>) -> tensor<256x256xi1>
    %cst_27 = stablehlo.constant dense<-1.000000e+09> : tensor<f32>
    %150 = call @_where(%149, %147, %cst_27) : (tensor<256x256xi1>, tensor<1x12x256x256xf32>, tensor<f32>) -> tensor<1x12x256x256xf32>
    %cst_28 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %151 = stablehlo.reduce(%150 init: %cst_28) applies stablehlo.maximum across dimensions = [3] : (tensor<1x12x256x256xf32>, tensor<f32>) -> tensor<1x12x256xf32>
    %cst_29 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %152 = stablehlo.broadcast_in_dim %cst_29, dims = [] : (tensor<f32>) -> tensor<1x12x256xf32>
    %153 = stablehlo.maximum %152, %151 : tensor<1x12x256xf32>
    %154 = stablehlo.broadcast_in_dim %153, dims = [0, 1, 2] : (tensor<1x12x256xf32>) -> tensor<1x12x256x1xf32>
    %155 = stablehlo.broadcast_in_dim %154, dims = [0, 1, 2, 3] : (tensor<1x12x256x1xf32>) -> tensor<1x12x256x256xf32>
    %156 = stablehlo.subtract %150, %155 : tensor<1x12x256x256xf32>
    %157 = stablehlo.exponential %156 : tensor<1x12x256x256xf32>
    %cst_30 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %158 = stablehlo.reduce(%157 init: %cst_30) applies stablehlo.add across dimensions = [3] : (tensor<1x12x256x256xf32>, tensor<f32>) -> tensor<1x12x256xf32>
    %159 = stablehlo.broadcast_in_dim %158, dims = [0, 1, 2] : (tensor<1x12x256xf32>) -> tensor<1x12x256x1xf32>
    %160 = stablehlo.broadcast_in_dim %159, dims = [0, 1, 2, 3] : (tensor<1x12x256x1xf32>) -> tensor<1x12x256x256xf32>
    %161 = stablehlo.divide %157, %160 : tensor<1x12x256x256xf32>
    %162 = stablehlo.dot_general %144, %161, batching_dims = [0, 2] x [0, 1], contracting_dims = [1] x [3], precision = [DEFAULT, DEFAULT] : (tensor<1x256x12x64xf32>, tensor<1x12x256x256xf32>) -> tensor<1x12x64x256xf32>
    %163 = stablehlo.transpose %162, dims = [0, 3, 1, 2] : (tensor<1x12x64x256xf32>) -> tensor<1x256x12x64xf32>
    %164 = stablehlo.reshape %163 : (tensor<1x256x12x64xf32>) -> tensor<1x256x768xf32>
    %165 = stablehlo.dot_general %164, %arg21, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x256x768xf32>, tensor<768x768xf32>) -> tensor<1x256x768xf32>
    %166 = stablehlo.add %112, %165 : tensor<1x256x768xf32>
    %167 = stablehlo.broadcast_in_dim %arg22, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %168 = stablehlo.broadcast_in_dim %167, dims = [0, 1, 2] : (tensor<1x1x768xf32>) -> tensor<1x256x768xf32>
    %169 = stablehlo.add %166, %168 : tensor<1x256x768xf32>
    %cst_31 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %170 = stablehlo.reduce(%169 init: %cst_31) applies stablehlo.add across dimensions = [2] : (tensor<1x256x768xf32>, tensor<f32>) -> tensor<1x256xf32>
    %171 = stablehlo.broadcast_in_dim %170, dims = [0, 1] : (tensor<1x256xf32>) -> tensor<1x256x1xf32>
    %cst_32 = stablehlo.constant dense<7.680000e+02> : tensor<f32>
    %172 = stablehlo.broadcast_in_dim %cst_32, dims = [] : (tensor<f32>) -> tensor<1x256x1xf32>
    %173 = stablehlo.divide %171, %172 : tensor<1x256x1xf32>
    %174 = stablehlo.broadcast_in_dim %173, dims = [0, 1, 2] : (tensor<1x256x1xf32>) -> tensor<1x256x768xf32>
    %175 = stablehlo.subtract %169, %174 : tensor<1x256x768xf32>
    %176 = stablehlo.multiply %175, %175 : tensor<1x256x768xf32>
    %cst_33 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %177 = stablehlo.reduce(%176 init: %cst_33) applies stablehlo.add across dimensions = [2] : (tensor<1x256x768xf32>, tensor<f32>) -> tensor<1x256xf32>
    %178 = stablehlo.broadcast_in_dim %177, dims = [0, 1] : (tensor<1x256xf32>) -> tensor<1x256x1xf32>
    %cst_34 = stablehlo.constant dense<7.680000e+02> : tensor<f32>
    %179 = stablehlo.broadcast_in_dim %cst_34, dims = [] : (tensor<f32>) -> tensor<1x256x1xf32>
    %180 = stablehlo.divide %178, %179 : tensor<1x256x1xf32>
    %181 = stablehlo.broadcast_in_dim %173, dims = [0, 1, 2] : (tensor<1x256x1xf32>) -> tensor<1x256x768xf32>
    %182 = stablehlo.subtract %169, %181 : tensor<1x256x768xf32>
    %cst_35 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %183 = stablehlo.broadcast_in_dim %cst_35, dims = [] : (tensor<f32>) -> tensor<1x256x1xf32>
    %184 = stablehlo.add %180, %183 : tensor<1x256x1xf32>
    %185 = stablehlo.rsqrt %184 : tensor<1x256x1xf32>
    %186 = stablehlo.broadcast_in_dim %185, dims = [0, 1, 2] : (tensor<1x256x1xf32>) -> tensor<1x256x768xf32>
    %187 = stablehlo.multiply %182, %186 : tensor<1x256x768xf32>
    %188 = stablehlo.broadcast_in_dim %arg23, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %189 = stablehlo.broadcast_in_dim %188, dims = [0, 1, 2] : (tensor<1x1x768xf32>) -> tensor<1x256x768xf32>
    %190 = stablehlo.multiply %187, %189 : tensor<1x256x768xf32>
    %191 = stablehlo.broadcast_in_dim %arg24, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %192 = stablehlo.broadcast_in_dim %191, dims = [0, 1, 2] : (tensor<1x1x768xf32>) -> tensor<1x256x768xf32>
    %193 = stablehlo.add %190, %192 : tensor<1x256x768xf32>
    %194 = stablehlo.dot_general %193, %arg25, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x256x768xf32>, tensor<768x3072xf32>) -> tensor<1x256x3072xf32>
    %195 = stablehlo.broadcast_in_dim %arg26, dims = [2] : (tensor<3072xf32>) -> tensor<1x1x3072xf32>
    %196 = stablehlo.broadcast_in_dim %195, dims = [0, 1, 2] : (tensor<1x1x3072xf32>) -> tensor<1x256x3072xf32>
    %197 = stablehlo.add %194, %196 : tensor<1x256x3072xf32>
    %198 = stablehlo.multiply %197, %197 : tensor<1x256x3072xf32>
    %199 = stablehlo.multiply %198, %197 : tensor<1x256x3072xf32>
    %cst_36 = stablehlo.constant dense<4.471500e-02> : tensor<f32>
    %200 = stablehlo.broadcast_in_dim %cst_36, dims = [] : (tensor<f32>) -> tensor<1x256x3072xf32>
    %201 = stablehlo.multiply %200, %199 : tensor<1x256x3072xf32>
    %202 = stablehlo.add %197, %201 : tensor<1x256x3072xf32>
    %cst_37 = stablehlo.constant dense<0.797884583> : tensor<f32>
    %203 = stablehlo.broadcast_in_dim %cst_37, dims = [] : (tensor<f32>) -> tensor<1x256x3072xf32>
    %204 = stablehlo.multiply %203, %202 : tensor<1x256x3072xf32>
    %205 = stablehlo.tanh %204 : tensor<1x256x3072xf32>
    %cst_38 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %206 = stablehlo.broadcast_in_dim %cst_38, dims = [] : (tensor<f32>) -> tensor<1x256x3072xf32>
    %207 = stablehlo.add %206, %205 : tensor<1x256x3072xf32>
    %cst_39 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %208 = stablehlo.broadcast_in_dim %cst_39, dims = [] : (tensor<f32>) -> tensor<1x256x3072xf32>
    %209 = stablehlo.multiply %208, %207 : tensor<1x256x3072xf32>
    %210 = stablehlo.multiply %197, %209 : tensor<1x256x3072xf32>
    %211 = stablehlo.dot_general %210, %arg27, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x256x3072xf32>, tensor<3072x768xf32>) -> tensor<1x256x768xf32>
    %212 = stablehlo.add %169, %211 : tensor<1x256x768xf32>
    %213 = stablehlo.broadcast_in_dim %arg28, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %214 = stablehlo.broadcast_in_dim %213, dims = [0, 1, 2] : (tensor<1x1x768xf32>) -> tensor<1x256x768xf32>
    %215 = stablehlo.add %212, %214 : tensor<1x256x768xf32>
    %cst_40 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %216 = stablehlo.reduce(%215 init: %cst_40) applies stablehlo.add across dimensions = [2] : (tensor<1x256x768xf32>, tensor<f32>) -> tensor<1x256xf32>
    %217 = stablehlo.broadcast_in_dim %216, dims = [0, 1] : (tensor<1x256xf32>) -> tensor<1x256x1xf32>
    %cst_41 = stablehlo.constant dense<7.680000e+02> : tensor<f32>
    %218 = stablehlo.broadcast_in_dim %cst_41, dims = [] : (tensor<f32>) -> tensor<1x256x1xf32>
    %219 = stablehlo.divide %217, %218 : tensor<1x256x1xf32>
    %220 = stablehlo.broadcast_in_dim %219, dims = [0, 1, 2] : (tensor<1x256x1xf32>) -> tensor<1x256x768xf32>
    %221 = stablehlo.subtract %215, %220 : tensor<1x256x768xf32>
    %222 = stablehlo.multiply %221, %221 : tensor<1x256x768xf32>
    %cst_42 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %223 = stablehlo.reduce(%222 init: %cst_42) applies stablehlo.add across dimensions = [2] : (tensor<1x256x768xf32>, tensor<f32>) -> tensor<1x256xf32>
    %224 = stablehlo.broadcast_in_dim %223, dims = [0, 1] : (tensor<1x256xf32>) -> tensor<1x256x1xf32>
    %cst_43 = stablehlo.constant dense<7.680000e+02> : tensor<f32>
    %225 = stablehlo.broadcast_in_dim %cst_43, dims = [] : (tensor<f32>) -> tensor<1x256x1xf32>
    %226 = stablehlo.divide %224, %225 : tensor<1x256x1xf32>
    %227 = stablehlo.broadcast_in_dim %219, dims = [0, 1, 2] : (tensor<1x256x1xf32>) -> tensor<1x256x768xf32>
    %228 = stablehlo.subtract %215, %227 : tensor<1x256x768xf32>
    %cst_44 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %229 = stablehlo.broadcast_in_dim %cst_44, dims = [] : (tensor<f32>) -> tensor<1x256x1xf32>
    %230 = stablehlo.add %226, %229 : tensor<1x256x1xf32>
    %231 = stablehlo.rsqrt %230 : tensor<1x256x1xf32>
    %232 = stablehlo.broadcast_in_dim %231, dims = [0, 1, 2] : (tensor<1x256x1xf32>) -> tensor<1x256x768xf32>
    %233 = stablehlo.multiply %228, %232 : tensor<1x256x768xf32>
    %234 = stablehlo.broadcast_in_dim %arg29, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %235 = stablehlo.broadcast_in_dim %234, dims = [0, 1, 2] : (tensor<1x1x768xf32>) -> tensor<1x256x768xf32>
    %236 = stablehlo.multiply %233, %235 : tensor<1x256x768xf32>
    %237 = stablehlo.broadcast_in_dim %arg30, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %238 = stablehlo.broadcast_in_dim %237, dims = [0, 1, 2] : (tensor<1x1x768xf32>) -> tensor<1x256x768xf32>
    %239 = stablehlo.add %236, %238 : tensor<1x256x768xf32>
    %240 = stablehlo.dot_general %239, %arg31, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x256x768xf32>, tensor<768x2304xf32>) -> tensor<1x256x2304xf32>
    %241 = stablehlo.broadcast_in_dim %arg32, dims = [2] : (tensor<2304xf32>) -> tensor<1x1x2304xf32>
    %242 = stablehlo.broadcast_in_dim %241, dims = [0, 1, 2] : (tensor<1x1x2304xf32>) -> tensor<1x256x2304xf32>
    %243 = stablehlo.add %240, %242 : tensor<1x256x2304xf32>
    %244 = stablehlo.reshape %243 : (tensor<1x256x2304xf32>) -> tensor<1x256x36x64xf32>
    %245 = stablehlo.slice %244 [0:1, 0:256, 0:12, 0:64] : (tensor<1x256x36x64xf32>) -> tensor<1x256x12x64xf32>
    %246 = stablehlo.slice %244 [0:1, 0:256, 12:24, 0:64] : (tensor<1x256x36x64xf32>) -> tensor<1x256x12x64xf32>
    %247 = stablehlo.slice %244 [0:1, 0:256, 24:36, 0:64] : (tensor<1x256x36x64xf32>) -> tensor<1x256x12x64xf32>
    %248 = stablehlo.dot_general %245, %246, batching_dims = [0, 2] x [0, 2], contracting_dims = [3] x [3], precision = [DEFAULT, DEFAULT] : (tensor<1x256x12x64xf32>, tensor<1x256x12x64xf32>) -> tensor<1x12x256x256xf32>
    %cst_45 = stablehlo.constant dense<1.250000e-01> : tensor<f32>
    %249 = stablehlo.broadcast_in_dim %cst_45, dims = [] : (tensor<f32>) -> tensor<1x12x256x256xf32>
    %250 = stablehlo.multiply %248, %249 : tensor<1x12x256x256xf32>
    %c_46 = stablehlo.constant dense<true> : tensor<i1>
    %251 = stablehlo.broadcast_in_dim %c_46, dims = [] : (tensor<i1>) -> tensor<256x256xi1>
    %252 = call @tril(%251) : (tensor<256x256xi1>) -> tensor<256x256xi1>
    %cst_47 = stablehlo.constant dense<-1.000000e+09> : tensor<f32>
    %253 = call @_where(%252, %250, %cst_47) : (tensor<256x256xi1>, tensor<1x12x256x256xf32>, tensor<f32>) -> tensor<1x12x256x256xf32>
    %cst_48 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %254 = stablehlo.reduce(%253 init: %cst_48) applies stablehlo.maximum across dimensions = [3] : (tensor<1x12x256x256xf32>, tensor<f32>) -> tensor<1x12x256xf32>
    %cst_49 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %255 = stablehlo.broadcast_in_dim %cst_49, dims = [] : (tensor<f32>) -> tensor<1x12x256xf32>
    %256 = stablehlo.maximum %255, %254 : tensor<1x12x256xf32>
    %257 = stablehlo.broadcast_in_dim %256, dims = [0, 1, 2] : (tensor<1x12x256xf32>) -> tensor<1x12x256x1xf32>
    %258 = stablehlo.broadcast_in_dim %257, dims = [0, 1, 2, 3] : (tensor<1x12x256x1xf32>) -> tensor<1x12x256x256xf32>
    %259 = stablehlo.subtract %253, %258 : tensor<1x12x256x256xf32>
    %260 = stablehlo.exponential %259 : tensor<1x12x256x256xf32>
    %cst_50 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %261 = stablehlo.reduce(%260 init: %cst_50) applies stablehlo.add across dimensions = [3] : (tensor<1x12x256x256xf32>, tensor<f32>) -> tensor<1x12x256xf32>
    %262 = stablehlo.broadcast_in_dim %261, dims = [0, 1, 2] : (tensor<1x12x256xf32>) -> tensor<1x12x256x1xf32>
    %263 = stablehlo.broadcast_in_dim %262, dims = [0, 1, 2, 3] : (tensor<1x12x256x1xf32>) -> tensor<1x12x256x256xf32>
    %264 = stablehlo.divide %260, %263 : tensor<1x12x256x256xf32>
    %265 = stablehlo.dot_general %247, %264, batching_dims = [0, 2] x [0, 1], contracting_dims = [1] x [3], precision = [DEFAULT, DEFAULT] : (tensor<1x256x12x64xf32>, tensor<1x12x256x256xf32>) -> tensor<1x12x64x256xf32>
    %266 = stablehlo.transpose %265, dims = [0, 3, 1, 2] : (tensor<1x12x64x256xf32>) -> tensor<1x256x12x64xf32>
    %267 = stablehlo.reshape %266 : (tensor<1x256x12x64xf32>) -> tensor<1x256x768xf32>
    %268 = stablehlo.dot_general %267, %arg33, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x256x768xf32>, tensor<768x768xf32>) -> tensor<1x256x768xf32>
    %269 = stablehlo.add %215, %268 : tensor<1x256x768xf32>
    %270 = stablehlo.broadcast_in_dim %arg34, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %271 = stablehlo.broadcast_in_dim %270, dims = [0, 1, 2] : (tensor<1x1x768xf32>) -> tensor<1x256x768xf32>
    %272 = stablehlo.add %269, %271 : tensor<1x256x768xf32>
    %cst_51 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %273 = stablehlo.reduce(%272 init: %cst_51) applies stablehlo.add across dimensions = [2] : (tensor<1x256x768xf32>, tensor<f32>) -> tensor<1x256xf32>
    %274 = stablehlo.broadcast_in_dim %273, dims = [0, 1] : (tensor<1x256xf32>) -> tensor<1x256x1xf32>
    %cst_52 = stablehlo.constant dense<7.680000e+02> : tensor<f32>
    %275 = stablehlo.broadcast_in_dim %cst_52, dims = [] : (tensor<f32>) -> tensor<1x256x1xf32>
    %276 = stablehlo.divide %274, %275 : tensor<1x256x1xf32>
    %277 = stablehlo.broadcast_in_dim %276, dims = [0, 1, 2] : (tensor<1x256x1xf32>) -> tensor<1x256x768xf32>
    %278 = stablehlo.subtract %272, %277 : tensor<1x256x768xf32>
    %279 = stablehlo.multiply %278, %278 : tensor<1x256x768xf32>
    %cst_53 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %280 = stablehlo.reduce(%279 init: %cst_53) applies stablehlo.add across dimensions = [2] : (tensor<1x256x768xf32>, tensor<f32>) -> tensor<1x256xf32>
    %281 = stablehlo.broadcast_in_dim %280, dims = [0, 1] : (tensor<1x256xf32>) -> tensor<1x256x1xf32>
    %cst_54 = stablehlo.constant dense<7.680000e+02> : tensor<f32>
    %282 = stablehlo.broadcast_in_dim %cst_54, dims = [] : (tensor<f32>) -> tensor<1x256x1xf32>
    %283 = stablehlo.divide %281, %282 : tensor<1x256x1xf32>
    %284 = stablehlo.broadcast_in_dim %276, dims = [0, 1, 2] : (tensor<1x256x1xf32>) -> tensor<1x256x768xf32>
    %285 = stablehlo.subtract %272, %284 : tensor<1x256x768xf32>
    %cst_55 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %286 = stablehlo.broadcast_in_dim %cst_55, dims = [] : (tensor<f32>) -> tensor<1x256x1xf32>
    %287 = stablehlo.add %283, %286 : tensor<1x256x1xf32>
    %288 = stablehlo.rsqrt %287 : tensor<1x256x1xf32>
    %289 = stablehlo.broadcast_in_dim %288, dims = [0, 1, 2] : (tensor<1x256x1xf32>) -> tensor<1x256x768xf32>
    %290 = stablehlo.multiply %285, %289 : tensor<1x256x768xf32>
    %291 = stablehlo.broadcast_in_dim %arg35, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %292 = stablehlo.broadcast_in_dim %291, dims = [0, 1, 2] : (tensor<1x1x768xf32>) -> tensor<1x256x768xf32>
    %293 = stablehlo.multiply %290, %292 : tensor<1x256x768xf32>
    %294 = stablehlo.broadcast_in_dim %arg36, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %295 = stablehlo.broadcast_in_dim %294, dims = [0, 1, 2] : (tensor<1x1x768xf32>) -> tensor<1x256x768xf32>
    %296 = stablehlo.add %293, %295 : tensor<1x256x768xf32>
    %297 = stablehlo.dot_general %296, %arg37, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x256x768xf32>, tensor<768x3072xf32>) -> tensor<1x256x3072xf32>
    %298 = stablehlo.broadcast_in_dim %arg38, dims = [2] : (tensor<3072xf32>) -> tensor<1x1x3072xf32>
    %299 = stablehlo.broadcast_in_dim %298, dims = [0, 1, 2] : (tensor<1x1x3072xf32>) -> tensor<1x256x3072xf32>
    %300 = stablehlo.add %297, %299 : tensor<1x256x3072xf32>
    %301 = stablehlo.multiply %300, %300 : tensor<1x256x3072xf32>
    %302 = stablehlo.multiply %301, %300 : tensor<1x256x3072xf32>
    %cst_56 = stablehlo.constant dense<4.471500e-02> : tensor<f32>
    %303 = stablehlo.broadcast_in_dim %cst_56, dims = [] : (tensor<f32>) -> tensor<1x256x3072xf32>
    %304 = stablehlo.multiply %303, %302 : tensor<1x256x3072xf32>
    %305 = stablehlo.add %300, %304 : tensor<1x256x3072xf32>
    %cst_57 = stablehlo.constant dense<0.797884583> : tensor<f32>
    %306 = stablehlo.broadcast_in_dim %cst_57, dims = [] : (tensor<f32>) -> tensor<1x256x3072xf32>
    %307 = stablehlo.multiply %306, %305 : tensor<1x256x3072xf32>
    %308 = stablehlo.tanh %307 : tensor<1x256x3072xf32>
    %cst_58 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %309 = stablehlo.broadcast_in_dim %cst_58, dims = [] : (tensor<f32>) -> tensor<1x256x3072xf32>
    %310 = stablehlo.add %309, %308 : tensor<1x256x3072xf32>
    %cst_59 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %311 = stablehlo.broadcast_in_dim %cst_59, dims = [] : (tensor<f32>) -> tensor<1x256x3072xf32>
    %312 = stablehlo.multiply %311, %310 : tensor<1x256x3072xf32>
    %313 = stablehlo.multiply %300, %312 : tensor<1x256x3072xf32>
    %314 = stablehlo.dot_general %313, %arg39, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x256x3072xf32>, tensor<3072x768xf32>) -> tensor<1x256x768xf32>
    %315 = stablehlo.add %272, %314 : tensor<1x256x768xf32>
    %316 = stablehlo.broadcast_in_dim %arg40, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %317 = stablehlo.broadcast_in_dim %316, dims = [0, 1, 2] : (tensor<1x1x768xf32>) -> tensor<1x256x768xf32>
    %318 = stablehlo.add %315, %317 : tensor<1x256x768xf32>
    %cst_60 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %319 = stablehlo.reduce(%318 init: %cst_60) applies stablehlo.add across dimensions = [2] : (tensor<1x256x768xf32>, tensor<f32>) -> tensor<1x256xf32>
    %320 = stablehlo.broadcast_in_dim %319, dims = [0, 1] : (tensor<1x256xf32>) -> tensor<1x256x1xf32>
    %cst_61 = stablehlo.constant dense<7.680000e+02> : tensor<f32>
    %321 = stablehlo.broadcast_in_dim %cst_61, dims = [] : (tensor<f32>) -> tensor<1x256x1xf32>
    %322 = stablehlo.divide %320, %321 : tensor<1x256x1xf32>
    %323 = stablehlo.broadcast_in_dim %322, dims = [0, 1, 2] : (tensor<1x256x1xf32>) -> tensor<1x256x768xf32>
    %324 = stablehlo.subtract %318, %323 : tensor<1x256x768xf32>
    %325 = stablehlo.multiply %324, %324 : tensor<1x256x768xf32>
    %cst_62 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %326 = stablehlo.reduce(%325 init: %cst_62) applies stablehlo.add across dimensions = [2] : (tensor<1x256x768xf32>, tensor<f32>) -> tensor<1x256xf32>
    %327 = stablehlo.broadcast_in_dim %326, dims = [0, 1] : (tensor<1x256xf32>) -> tensor<1x256x1xf32>
    %cst_63 = stablehlo.constant dense<7.680000e+02> : tensor<f32>
    %328 = stablehlo.broadcast_in_dim %cst_63, dims = [] : (tensor<f32>) -> tensor<1x256x1xf32>
    %329 = stablehlo.divide %327, %328 : tensor<1x256x1xf32>
    %330 = stablehlo.broadcast_in_dim %322, dims = [0, 1, 2] : (tensor<1x256x1xf32>) -> tensor<1x256x768xf32>
    %331 = stablehlo.subtract %318, %330 : tensor<1x256x768xf32>
    %cst_64 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %332 = stablehlo.broadcast_in_dim %cst_64, dims = [] : (tensor<f32>) -> tensor<1x256x1xf32>
    %333 = stablehlo.add %329, %332 : tensor<1x256x1xf32>
    %334 = stablehlo.rsqrt %333 : tensor<1x256x1xf32>
    %335 = stablehlo.broadcast_in_dim %334, dims = [0, 1, 2] : (tensor<1x256x1xf32>) -> tensor<1x256x768xf32>
    %336 = stablehlo.multiply %331, %335 : tensor<1x256x768xf32>
    %337 = stablehlo.broadcast_in_dim %arg41, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %338 = stablehlo.broadcast_in_dim %337, dims = [0, 1, 2] : (tensor<1x1x768xf32>) -> tensor<1x256x768xf32>
    %339 = stablehlo.multiply %336, %338 : tensor<1x256x768xf32>
    %340 = stablehlo.broadcast_in_dim %arg42, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %341 = stablehlo.broadcast_in_dim %340, dims = [0, 1, 2] : (tensor<1x1x768xf32>) -> tensor<1x256x768xf32>
    %342 = stablehlo.add %339, %341 : tensor<1x256x768xf32>
    %343 = stablehlo.dot_general %342, %arg43, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x256x768xf32>, tensor<768x2304xf32>) -> tensor<1x256x2304xf32>
    %344 = stablehlo.broadcast_in_dim %arg44, dims = [2] : (tensor<2304xf32>) -> tensor<1x1x2304xf32>
    %345 = stablehlo.broadcast_in_dim %344, dims = [0, 1, 2] : (tensor<1x1x2304xf32>) -> tensor<1x256x2304xf32>
    %346 = stablehlo.add %343, %345 : tensor<1x256x2304xf32>
    %347 = stablehlo.reshape %346 : (tensor<1x256x2304xf32>) -> tensor<1x256x36x64xf32>
    %348 = stablehlo.slice %347 [0:1, 0:256, 0:12, 0:64] : (tensor<1x256x36x64xf32>) -> tensor<1x256x12x64xf32>
    %349 = stablehlo.slice %347 [0:1, 0:256, 12:24, 0:64] : (tensor<1x256x36x64xf32>) -> tensor<1x256x12x64xf32>
    %350 = stablehlo.slice %347 [0:1, 0:256, 24:36, 0:64] : (tensor<1x256x36x64xf32>) -> tensor<1x256x12x64xf32>
    %351 = stablehlo.dot_general %348, %349, batching_dims = [0, 2] x [0, 2], contracting_dims = [3] x [3], precision = [DEFAULT, DEFAULT] : (tensor<1x256x12x64xf32>, tensor<1x256x12x64xf32>) -> tensor<1x12x256x256xf32>
    %cst_65 = stablehlo.constant dense<1.250000e-01> : tensor<f32>
    %352 = stablehlo.broadcast_in_dim %cst_65, dims = [] : (tensor<f32>) -> tensor<1x12x256x256xf32>
    %353 = stablehlo.multiply %351, %352 : tensor<1x12x256x256xf32>
    %c_66 = stablehlo.constant dense<true> : tensor<i1>
    %354 = stablehlo.broadcast_in_dim %c_66, dims = [] : (tensor<i1>) -> tensor<256x256xi1>
    %355 = call @tril(%354) : (tensor<256x256xi1>) -> tensor<256x256xi1>
    %cst_67 = stablehlo.constant dense<-1.000000e+09> : tensor<f32>
    %356 = call @_where(%355, %353, %cst_67) : (tensor<256x256xi1>, tensor<1x12x256x256xf32>, tensor<f32>) -> tensor<1x12x256x256xf32>
    %cst_68 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %357 = stablehlo.reduce(%356 init: %cst_68) applies stablehlo.maximum across dimensions = [3] : (tensor<1x12x256x256xf32>, tensor<f32>) -> tensor<1x12x256xf32>
    %cst_69 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %358 = stablehlo.broadcast_in_dim %cst_69, dims = [] : (tensor<f32>) -> tensor<1x12x256xf32>
    %359 = stablehlo.maximum %358, %357 : tensor<1x12x256xf32>
    %360 = stablehlo.broadcast_in_dim %359, dims = [0, 1, 2] : (tensor<1x12x256xf32>) -> tensor<1x12x256x1xf32>
    %361 = stablehlo.broadcast_in_dim %360, dims = [0, 1, 2, 3] : (tensor<1x12x256x1xf32>) -> tensor<1x12x256x256xf32>
    %362 = stablehlo.subtract %356, %361 : tensor<1x12x256x256xf32>
    %363 = stablehlo.exponential %362 : tensor<1x12x256x256xf32>
    %cst_70 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %364 = stablehlo.reduce(%363 init: %cst_70) applies stablehlo.add across dimensions = [3] : (tensor<1x12x256x256xf32>, tensor<f32>) -> tensor<1x12x256xf32>
    %365 = stablehlo.broadcast_in_dim %364, dims = [0, 1, 2] : (tensor<1x12x256xf32>) -> tensor<1x12x256x1xf32>
    %366 = stablehlo.broadcast_in_dim %365, dims = [0, 1, 2, 3] : (tensor<1x12x256x1xf32>) -> tensor<1x12x256x256xf32>
    %367 = stablehlo.divide %363, %366 : tensor<1x12x256x256xf32>
    %368 = stablehlo.dot_general %350, %367, batching_dims = [0, 2] x [0, 1], contracting_dims = [1] x [3], precision = [DEFAULT, DEFAULT] : (tensor<1x256x12x64xf32>, tensor<1x12x256x256xf32>) -> tensor<1x12x64x256xf32>
    %369 = stablehlo.transpose %368, dims = [0, 3, 1, 2] : (tensor<1x12x64x256xf32>) -> tensor<1x256x12x64xf32>
    %370 = stablehlo.reshape %369 : (tensor<1x256x12x64xf32>) -> tensor<1x256x768xf32>
    %371 = stablehlo.dot_general %370, %arg45, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x256x768xf32>, tensor<768x768xf32>) -> tensor<1x256x768xf32>
    %372 = stablehlo.add %318, %371 : tensor<1x256x768xf32>
    %373 = stablehlo.broadcast_in_dim %arg46, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %374 = stablehlo.broadcast_in_dim %373, dims = [0, 1, 2] : (tensor<1x1x768xf32>) -> tensor<1x256x768xf32>
    %375 = stablehlo.add %372, %374 : tensor<1x256x768xf32>
    %cst_71 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %376 = stablehlo.reduce(%375 init: %cst_71) applies stablehlo.add across dimensions = [2] : (tensor<1x256x768xf32>, tensor<f32>) -> tensor<1x256xf32>
    %377 = stablehlo.broadcast_in_dim %376, dims = [0, 1] : (tensor<1x256xf32>) -> tensor<1x256x1xf32>
    %cst_72 = stablehlo.constant dense<7.680000e+02> : tensor<f32>
    %378 = stablehlo.broadcast_in_dim %cst_72, dims = [] : (tensor<f32>) -> tensor<1x256x1xf32>
    %379 = stablehlo.divide %377, %378 : tensor<1x256x1xf32>
    %380 = stablehlo.broadcast_in_dim %379, dims = [0, 1, 2] : (tensor<1x256x1xf32>) -> tensor<1x256x768xf32>
    %381 = stablehlo.subtract %375, %380 : tensor<1x256x768xf32>
    %382 = stablehlo.multiply %381, %381 : tensor<1x256x768xf32>
    %cst_73 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %383 = stablehlo.reduce(%382 init: %cst_73) applies stablehlo.add across dimensions = [2] : (tensor<1x256x768xf32>, tensor<f32>) -> tensor<1x256xf32>
    %384 = stablehlo.broadcast_in_dim %383, dims = [0, 1] : (tensor<1x256xf32>) -> tensor<1x256x1xf32>
    %cst_74 = stablehlo.constant dense<7.680000e+02> : tensor<f32>
    %385 = stablehlo.broadcast_in_dim %cst_74, dims = [] : (tensor<f32>) -> tensor<1x256x1xf32>
    %386 = stablehlo.divide %384, %385 : tensor<1x256x1xf32>
    %387 = stablehlo.broadcast_in_dim %379, dims = [0, 1, 2] : (tensor<1x256x1xf32>) -> tensor<1x256x768xf32>
    %388 = stablehlo.subtract %375, %387 : tensor<1x256x768xf32>
    %cst_75 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %389 = stablehlo.broadcast_in_dim %cst_75, dims = [] : (tensor<f32>) -> tensor<1x256x1xf32>
    %390 = stablehlo.add %386, %389 : tensor<1x256x1xf32>
    %391 = stablehlo.rsqrt %390 : tensor<1x256x1xf32>
    %392 = stablehlo.broadcast_in_dim %391, dims = [0, 1, 2] : (tensor<1x256x1xf32>) -> tensor<1x256x768xf32>
    %393 = stablehlo.multiply %388, %392 : tensor<1x256x768xf32>
    %394 = stablehlo.broadcast_in_dim %arg47, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %395 = stablehlo.broadcast_in_dim %394, dims = [0, 1, 2] : (tensor<1x1x768xf32>) -> tensor<1x256x768xf32>
    %396 = stablehlo.multiply %393, %395 : tensor<1x256x768xf32>
    %397 = stablehlo.broadcast_in_dim %arg48, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %398 = stablehlo.broadcast_in_dim %397, dims = [0, 1, 2] : (tensor<1x1x768xf32>) -> tensor<1x256x768xf32>
    %399 = stablehlo.add %396, %398 : tensor<1x256x768xf32>
    %400 = stablehlo.dot_general %399, %arg49, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x256x768xf32>, tensor<768x3072xf32>) -> tensor<1x256x3072xf32>
    %401 = stablehlo.broadcast_in_dim %arg50, dims = [2] : (tensor<3072xf32>) -> tensor<1x1x3072xf32>
    %402 = stablehlo.broadcast_in_dim %401, dims = [0, 1, 2] : (tensor<1x1x3072xf32>) -> tensor<1x256x3072xf32>
    %403 = stablehlo.add %400, %402 : tensor<1x256x3072xf32>
    %404 = stablehlo.multiply %403, %403 : tensor<1x256x3072xf32>
    %405 = stablehlo.multiply %404, %403 : tensor<1x256x3072xf32>
    %cst_76 = stablehlo.constant dense<4.471500e-02> : tensor<f32>
    %406 = stablehlo.broadcast_in_dim %cst_76, dims = [] : (tensor<f32>) -> tensor<1x256x3072xf32>
    %407 = stablehlo.multiply %406, %405 : tensor<1x256x3072xf32>
    %408 = stablehlo.add %403, %407 : tensor<1x256x3072xf32>
    %cst_77 = stablehlo.constant dense<0.797884583> : tensor<f32>
    %409 = stablehlo.broadcast_in_dim %cst_77, dims = [] : (tensor<f32>) -> tensor<1x256x3072xf32>
    %410 = stablehlo.multiply %409, %408 : tensor<1x256x3072xf32>
    %411 = stablehlo.tanh %410 : tensor<1x256x3072xf32>
    %cst_78 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %412 = stablehlo.broadcast_in_dim %cst_78, dims = [] : (tensor<f32>) -> tensor<1x256x3072xf32>
    %413 = stablehlo.add %412, %411 : tensor<1x256x3072xf32>
    %cst_79 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %414 = stablehlo.broadcast_in_dim %cst_79, dims = [] : (tensor<f32>) -> tensor<1x256x3072xf32>
    %415 = stablehlo.multiply %414, %413 : tensor<1x256x3072xf32>
    %416 = stablehlo.multiply %403, %415 : tensor<1x256x3072xf32>
    %417 = stablehlo.dot_general %416, %arg51, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x256x3072xf32>, tensor<3072x768xf32>) -> tensor<1x256x768xf32>
    %418 = stablehlo.add %375, %417 : tensor<1x256x768xf32>
    %419 = stablehlo.broadcast_in_dim %arg52, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %420 = stablehlo.broadcast_in_dim %419, dims = [0, 1, 2] : (tensor<1x1x768xf32>) -> tensor<1x256x768xf32>
    %421 = stablehlo.add %418, %420 : tensor<1x256x768xf32>
    %cst_80 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %422 = stablehlo.reduce(%421 init: %cst_80) applies stablehlo.add across dimensions = [2] : (tensor<1x256x768xf32>, tensor<f32>) -> tensor<1x256xf32>
    %423 = stablehlo.broadcast_in_dim %422, dims = [0, 1] : (tensor<1x256xf32>) -> tensor<1x256x1xf32>
    %cst_81 = stablehlo.constant dense<7.680000e+02> : tensor<f32>
    %424 = stablehlo.broadcast_in_dim %cst_81, dims = [] : (tensor<f32>) -> tensor<1x256x1xf32>
    %425 = stablehlo.divide %423, %424 : tensor<1x256x1xf32>
    %426 = stablehlo.broadcast_in_dim %425, dims = [0, 1, 2] : (tensor<1x256x1xf32>) -> tensor<1x256x768xf32>
    %427 = stablehlo.subtract %421, %426 : tensor<1x256x768xf32>
    %428 = stablehlo.multiply %427, %427 : tensor<1x256x768xf32>
    %cst_82 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %429 = stablehlo.reduce(%428 init: %cst_82) applies stablehlo.add across dimensions = [2] : (tensor<1x256x768xf32>, tensor<f32>) -> tensor<1x256xf32>
    %430 = stablehlo.broadcast_in_dim %429, dims = [0, 1] : (tensor<1x256xf32>) -> tensor<1x256x1xf32>
    %cst_83 = stablehlo.constant dense<7.680000e+02> : tensor<f32>
    %431 = stablehlo.broadcast_in_dim %cst_83, dims = [] : (tensor<f32>) -> tensor<1x256x1xf32>
    %432 = stablehlo.divide %430, %431 : tensor<1x256x1xf32>
    %433 = stablehlo.broadcast_in_dim %425, dims = [0, 1, 2] : (tensor<1x256x1xf32>) -> tensor<1x256x768xf32>
    %434 = stablehlo.subtract %421, %433 : tensor<1x256x768xf32>
    %cst_84 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %435 = stablehlo.broadcast_in_dim %cst_84, dims = [] : (tensor<f32>) -> tensor<1x256x1xf32>
    %436 = stablehlo.add %432, %435 : tensor<1x256x1xf32>
    %437 = stablehlo.rsqrt %436 : tensor<1x256x1xf32>
    %438 = stablehlo.broadcast_in_dim %437, dims = [0, 1, 2] : (tensor<1x256x1xf32>) -> tensor<1x256x768xf32>
    %439 = stablehlo.multiply %434, %438 : tensor<1x256x768xf32>
    %440 = stablehlo.broadcast_in_dim %arg53, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %441 = stablehlo.broadcast_in_dim %440, dims = [0, 1, 2] : (tensor<1x1x768xf32>) -> tensor<1x256x768xf32>
    %442 = stablehlo.multiply %439, %441 : tensor<1x256x768xf32>
    %443 = stablehlo.broadcast_in_dim %arg54, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %444 = stablehlo.broadcast_in_dim %443, dims = [0, 1, 2] : (tensor<1x1x768xf32>) -> tensor<1x256x768xf32>
    %445 = stablehlo.add %442, %444 : tensor<1x256x768xf32>
    %446 = stablehlo.dot_general %445, %arg55, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x256x768xf32>, tensor<768x2304xf32>) -> tensor<1x256x2304xf32>
    %447 = stablehlo.broadcast_in_dim %arg56, dims = [2] : (tensor<2304xf32>) -> tensor<1x1x2304xf32>
    %448 = stablehlo.broadcast_in_dim %447, dims = [0, 1, 2] : (tensor<1x1x2304xf32>) -> tensor<1x256x2304xf32>
    %449 = stablehlo.add %446, %448 : tensor<1x256x2304xf32>
    %450 = stablehlo.reshape %449 : (tensor<1x256x2304xf32>) -> tensor<1x256x36x64xf32>
    %451 = stablehlo.slice %450 [0:1, 0:256, 0:12, 0:64] : (tensor<1x256x36x64xf32>) -> tensor<1x256x12x64xf32>
    %452 = stablehlo.slice %450 [0:1, 0:256, 12:24, 0:64] : (tensor<1x256x36x64xf32>) -> tensor<1x256x12x64xf32>
    %453 = stablehlo.slice %450 [0:1, 0:256, 24:36, 0:64] : (tensor<1x256x36x64xf32>) -> tensor<1x256x12x64xf32>
    %454 = stablehlo.dot_general %451, %452, batching_dims = [0, 2] x [0, 2], contracting_dims = [3] x [3], precision = [DEFAULT, DEFAULT] : (tensor<1x256x12x64xf32>, tensor<1x256x12x64xf32>) -> tensor<1x12x256x256xf32>
    %cst_85 = stablehlo.constant dense<1.250000e-01> : tensor<f32>
    %455 = stablehlo.broadcast_in_dim %cst_85, dims = [] : (tensor<f32>) -> tensor<1x12x256x256xf32>
    %456 = stablehlo.multiply %454, %455 : tensor<1x12x256x256xf32>
    %c_86 = stablehlo.constant dense<true> : tensor<i1>
    %457 = stablehlo.broadcast_in_dim %c_86, dims = [] : (tensor<i1>) -> tensor<256x256xi1>
    %458 = call @tril(%457) : (tensor<256x256xi1>) -> tensor<256x256xi1>
    %cst_87 = stablehlo.constant dense<-1.000000e+09> : tensor<f32>
    %459 = call @_where(%458, %456, %cst_87) : (tensor<256x256xi1>, tensor<1x12x256x256xf32>, tensor<f32>) -> tensor<1x12x256x256xf32>
    %cst_88 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %460 = stablehlo.reduce(%459 init: %cst_88) applies stablehlo.maximum across dimensions = [3] : (tensor<1x12x256x256xf32>, tensor<f32>) -> tensor<1x12x256xf32>
    %cst_89 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %461 = stablehlo.broadcast_in_dim %cst_89, dims = [] : (tensor<f32>) -> tensor<1x12x256xf32>
    %462 = stablehlo.maximum %461, %460 : tensor<1x12x256xf32>
    %463 = stablehlo.broadcast_in_dim %462, dims = [0, 1, 2] : (tensor<1x12x256xf32>) -> tensor<1x12x256x1xf32>
    %464 = stablehlo.broadcast_in_dim %463, dims = [0, 1, 2, 3] : (tensor<1x12x256x1xf32>) -> tensor<1x12x256x256xf32>
    %465 = stablehlo.subtract %459, %464 : tensor<1x12x256x256xf32>
    %466 = stablehlo.exponential %465 : tensor<1x12x256x256xf32>
    %cst_90 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %467 = stablehlo.reduce(%466 init: %cst_90) applies stablehlo.add across dimensions = [3] : (tensor<1x12x256x256xf32>, tensor<f32>) -> tensor<1x12x256xf32>
    %468 = stablehlo.broadcast_in_dim %467, dims = [0, 1, 2] : (tensor<1x12x256xf32>) -> tensor<1x12x256x1xf32>
    %469 = stablehlo.broadcast_in_dim %468, dims = [0, 1, 2, 3] : (tensor<1x12x256x1xf32>) -> tensor<1x12x256x256xf32>
    %470 = stablehlo.divide %466, %469 : tensor<1x12x256x256xf32>
    %471 = stablehlo.dot_general %453, %470, batching_dims = [0, 2] x [0, 1], contracting_dims = [1] x [3], precision = [DEFAULT, DEFAULT] : (tensor<1x256x12x64xf32>, tensor<1x12x256x256xf32>) -> tensor<1x12x64x256xf32>
    %472 = stablehlo.transpose %471, dims = [0, 3, 1, 2] : (tensor<1x12x64x256xf32>) -> tensor<1x256x12x64xf32>
    %473 = stablehlo.reshape %472 : (tensor<1x256x12x64xf32>) -> tensor<1x256x768xf32>
    %474 = stablehlo.dot_general %473, %arg57, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x256x768xf32>, tensor<768x768xf32>) -> tensor<1x256x768xf32>
    %475 = stablehlo.add %421, %474 : tensor<1x256x768xf32>
    %476 = stablehlo.broadcast_in_dim %arg58, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %477 = stablehlo.broadcast_in_dim %476, dims = [0, 1, 2] : (tensor<1x1x768xf32>) -> tensor<1x256x768xf32>
    %478 = stablehlo.add %475, %477 : tensor<1x256x768xf32>
    %cst_91 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %479 = stablehlo.reduce(%478 init: %cst_91) applies stablehlo.add across dimensions = [2] : (tensor<1x256x768xf32>, tensor<f32>) -> tensor<1x256xf32>
    %480 = stablehlo.broadcast_in_dim %479, dims = [0, 1] : (tensor<1x256xf32>) -> tensor<1x256x1xf32>
    %cst_92 = stablehlo.constant dense<7.680000e+02> : tensor<f32>
    %481 = stablehlo.broadcast_in_dim %cst_92, dims = [] : (tensor<f32>) -> tensor<1x256x1xf32>
    %482 = stablehlo.divide %480, %481 : tensor<1x256x1xf32>
    %483 = stablehlo.broadcast_in_dim %482, dims = [0, 1, 2] : (tensor<1x256x1xf32>) -> tensor<1x256x768xf32>
    %484 = stablehlo.subtract %478, %483 : tensor<1x256x768xf32>
    %485 = stablehlo.multiply %484, %484 : tensor<1x256x768xf32>
    %cst_93 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %486 = stablehlo.reduce(%485 init: %cst_93) applies stablehlo.add across dimensions = [2] : (tensor<1x256x768xf32>, tensor<f32>) -> tensor<1x256xf32>
    %487 = stablehlo.broadcast_in_dim %486, dims = [0, 1] : (tensor<1x256xf32>) -> tensor<1x256x1xf32>
    %cst_94 = stablehlo.constant dense<7.680000e+02> : tensor<f32>
    %488 = stablehlo.broadcast_in_dim %cst_94, dims = [] : (tensor<f32>) -> tensor<1x256x1xf32>
    %489 = stablehlo.divide %487, %488 : tensor<1x256x1xf32>
    %490 = stablehlo.broadcast_in_dim %482, dims = [0, 1, 2] : (tensor<1x256x1xf32>) -> tensor<1x256x768xf32>
    %491 = stablehlo.subtract %478, %490 : tensor<1x256x768xf32>
    %cst_95 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %492 = stablehlo.broadcast_in_dim %cst_95, dims = [] : (tensor<f32>) -> tensor<1x256x1xf32>
    %493 = stablehlo.add %489, %492 : tensor<1x256x1xf32>
    %494 = stablehlo.rsqrt %493 : tensor<1x256x1xf32>
    %495 = stablehlo.broadcast_in_dim %494, dims = [0, 1, 2] : (tensor<1x256x1xf32>) -> tensor<1x256x768xf32>
    %496 = stablehlo.multiply %491, %495 : tensor<1x256x768xf32>
    %497 = stablehlo.broadcast_in_dim %arg59, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %498 = stablehlo.broadcast_in_dim %497, dims = [0, 1, 2] : (tensor<1x1x768xf32>) -> tensor<1x256x768xf32>
    %499 = stablehlo.multiply %496, %498 : tensor<1x256x768xf32>
    %500 = stablehlo.broadcast_in_dim %arg60, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %501 = stablehlo.broadcast_in_dim %500, dims = [0, 1, 2] : (tensor<1x1x768xf32>) -> tensor<1x256x768xf32>
    %502 = stablehlo.add %499, %501 : tensor<1x256x768xf32>
    %503 = stablehlo.dot_general %502, %arg61, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x256x768xf32>, tensor<768x3072xf32>) -> tensor<1x256x3072xf32>
    %504 = stablehlo.broadcast_in_dim %arg62, dims = [2] : (tensor<3072xf32>) -> tensor<1x1x3072xf32>
    %505 = stablehlo.broadcast_in_dim %504, dims = [0, 1, 2] : (tensor<1x1x3072xf32>) -> tensor<1x256x3072xf32>
    %506 = stablehlo.add %503, %505 : tensor<1x256x3072xf32>
    %507 = stablehlo.multiply %506, %506 : tensor<1x256x3072xf32>
    %508 = stablehlo.multiply %507, %506 : tensor<1x256x3072xf32>
    %cst_96 = stablehlo.constant dense<4.471500e-02> : tensor<f32>
    %509 = stablehlo.broadcast_in_dim %cst_96, dims = [] : (tensor<f32>) -> tensor<1x256x3072xf32>
    %510 = stablehlo.multiply %509, %508 : tensor<1x256x3072xf32>
    %511 = stablehlo.add %506, %510 : tensor<1x256x3072xf32>
    %cst_97 = stablehlo.constant dense<0.797884583> : tensor<f32>
    %512 = stablehlo.broadcast_in_dim %cst_97, dims = [] : (tensor<f32>) -> tensor<1x256x3072xf32>
    %513 = stablehlo.multiply %512, %511 : tensor<1x256x3072xf32>
    %514 = stablehlo.tanh %513 : tensor<1x256x3072xf32>
    %cst_98 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %515 = stablehlo.broadcast_in_dim %cst_98, dims = [] : (tensor<f32>) -> tensor<1x256x3072xf32>
    %516 = stablehlo.add %515, %514 : tensor<1x256x3072xf32>
    %cst_99 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %517 = stablehlo.broadcast_in_dim %cst_99, dims = [] : (tensor<f32>) -> tensor<1x256x3072xf32>
    %518 = stablehlo.multiply %517, %516 : tensor<1x256x3072xf32>
    %519 = stablehlo.multiply %506, %518 : tensor<1x256x3072xf32>
    %520 = stablehlo.dot_general %519, %arg63, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x256x3072xf32>, tensor<3072x768xf32>) -> tensor<1x256x768xf32>
    %521 = stablehlo.add %478, %520 : tensor<1x256x768xf32>
    %522 = stablehlo.broadcast_in_dim %arg64, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %523 = stablehlo.broadcast_in_dim %522, dims = [0, 1, 2] : (tensor<1x1x768xf32>) -> tensor<1x256x768xf32>
    %524 = stablehlo.add %521, %523 : tensor<1x256x768xf32>
    %cst_100 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %525 = stablehlo.reduce(%524 init: %cst_100) applies stablehlo.add across dimensions = [2] : (tensor<1x256x768xf32>, tensor<f32>) -> tensor<1x256xf32>
    %526 = stablehlo.broadcast_in_dim %525, dims = [0, 1] : (tensor<1x256xf32>) -> tensor<1x256x1xf32>
    %cst_101 = stablehlo.constant dense<7.680000e+02> : tensor<f32>
    %527 = stablehlo.broadcast_in_dim %cst_101, dims = [] : (tensor<f32>) -> tensor<1x256x1xf32>
    %528 = stablehlo.divide %526, %527 : tensor<1x256x1xf32>
    %529 = stablehlo.broadcast_in_dim %528, dims = [0, 1, 2] : (tensor<1x256x1xf32>) -> tensor<1x256x768xf32>
    %530 = stablehlo.subtract %524, %529 : tensor<1x256x768xf32>
    %531 = stablehlo.multiply %530, %530 : tensor<1x256x768xf32>
    %cst_102 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %532 = stablehlo.reduce(%531 init: %cst_102) applies stablehlo.add across dimensions = [2] : (tensor<1x256x768xf32>, tensor<f32>) -> tensor<1x256xf32>
    %533 = stablehlo.broadcast_in_dim %532, dims = [0, 1] : (tensor<1x256xf32>) -> tensor<1x256x1xf32>
    %cst_103 = stablehlo.constant dense<7.680000e+02> : tensor<f32>
    %534 = stablehlo.broadcast_in_dim %cst_103, dims = [] : (tensor<f32>) -> tensor<1x256x1xf32>
    %535 = stablehlo.divide %533, %534 : tensor<1x256x1xf32>
    %536 = stablehlo.broadcast_in_dim %528, dims = [0, 1, 2] : (tensor<1x256x1xf32>) -> tensor<1x256x768xf32>
    %537 = stablehlo.subtract %524, %536 : tensor<1x256x768xf32>
    %cst_104 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %538 = stablehlo.broadcast_in_dim %cst_104, dims = [] : (tensor<f32>) -> tensor<1x256x1xf32>
    %539 = stablehlo.add %535, %538 : tensor<1x256x1xf32>
    %540 = stablehlo.rsqrt %539 : tensor<1x256x1xf32>
    %541 = stablehlo.broadcast_in_dim %540, dims = [0, 1, 2] : (tensor<1x256x1xf32>) -> tensor<1x256x768xf32>
    %542 = stablehlo.multiply %537, %541 : tensor<1x256x768xf32>
    %543 = stablehlo.broadcast_in_dim %arg65, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %544 = stablehlo.broadcast_in_dim %543, dims = [0, 1, 2] : (tensor<1x1x768xf32>) -> tensor<1x256x768xf32>
    %545 = stablehlo.multiply %542, %544 : tensor<1x256x768xf32>
    %546 = stablehlo.broadcast_in_dim %arg66, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %547 = stablehlo.broadcast_in_dim %546, dims = [0, 1, 2] : (tensor<1x1x768xf32>) -> tensor<1x256x768xf32>
    %548 = stablehlo.add %545, %547 : tensor<1x256x768xf32>
    %549 = stablehlo.dot_general %548, %arg67, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x256x768xf32>, tensor<768x2304xf32>) -> tensor<1x256x2304xf32>
    %550 = stablehlo.broadcast_in_dim %arg68, dims = [2] : (tensor<2304xf32>) -> tensor<1x1x2304xf32>
    %551 = stablehlo.broadcast_in_dim %550, dims = [0, 1, 2] : (tensor<1x1x2304xf32>) -> tensor<1x256x2304xf32>
    %552 = stablehlo.add %549, %551 : tensor<1x256x2304xf32>
    %553 = stablehlo.reshape %552 : (tensor<1x256x2304xf32>) -> tensor<1x256x36x64xf32>
    %554 = stablehlo.slice %553 [0:1, 0:256, 0:12, 0:64] : (tensor<1x256x36x64xf32>) -> tensor<1x256x12x64xf32>
    %555 = stablehlo.slice %553 [0:1, 0:256, 12:24, 0:64] : (tensor<1x256x36x64xf32>) -> tensor<1x256x12x64xf32>
    %556 = stablehlo.slice %553 [0:1, 0:256, 24:36, 0:64] : (tensor<1x256x36x64xf32>) -> tensor<1x256x12x64xf32>
    %557 = stablehlo.dot_general %554, %555, batching_dims = [0, 2] x [0, 2], contracting_dims = [3] x [3], precision = [DEFAULT, DEFAULT] : (tensor<1x256x12x64xf32>, tensor<1x256x12x64xf32>) -> tensor<1x12x256x256xf32>
    %cst_105 = stablehlo.constant dense<1.250000e-01> : tensor<f32>
    %558 = stablehlo.broadcast_in_dim %cst_105, dims = [] : (tensor<f32>) -> tensor<1x12x256x256xf32>
    %559 = stablehlo.multiply %557, %558 : tensor<1x12x256x256xf32>
    %c_106 = stablehlo.constant dense<true> : tensor<i1>
    %560 = stablehlo.broadcast_in_dim %c_106, dims = [] : (tensor<i1>) -> tensor<256x256xi1>
    %561 = call @tril(%560) : (tensor<256x256xi1>) -> tensor<256x256xi1>
    %cst_107 = stablehlo.constant dense<-1.000000e+09> : tensor<f32>
    %562 = call @_where(%561, %559, %cst_107) : (tensor<256x256xi1>, tensor<1x12x256x256xf32>, tensor<f32>) -> tensor<1x12x256x256xf32>
    %cst_108 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %563 = stablehlo.reduce(%562 init: %cst_108) applies stablehlo.maximum across dimensions = [3] : (tensor<1x12x256x256xf32>, tensor<f32>) -> tensor<1x12x256xf32>
    %cst_109 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %564 = stablehlo.broadcast_in_dim %cst_109, dims = [] : (tensor<f32>) -> tensor<1x12x256xf32>
    %565 = stablehlo.maximum %564, %563 : tensor<1x12x256xf32>
    %566 = stablehlo.broadcast_in_dim %565, dims = [0, 1, 2] : (tensor<1x12x256xf32>) -> tensor<1x12x256x1xf32>
    %567 = stablehlo.broadcast_in_dim %566, dims = [0, 1, 2, 3] : (tensor<1x12x256x1xf32>) -> tensor<1x12x256x256xf32>
    %568 = stablehlo.subtract %562, %567 : tensor<1x12x256x256xf32>
    %569 = stablehlo.exponential %568 : tensor<1x12x256x256xf32>
    %cst_110 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %570 = stablehlo.reduce(%569 init: %cst_110) applies stablehlo.add across dimensions = [3] : (tensor<1x12x256x256xf32>, tensor<f32>) -> tensor<1x12x256xf32>
    %571 = stablehlo.broadcast_in_dim %570, dims = [0, 1, 2] : (tensor<1x12x256xf32>) -> tensor<1x12x256x1xf32>
    %572 = stablehlo.broadcast_in_dim %571, dims = [0, 1, 2, 3] : (tensor<1x12x256x1xf32>) -> tensor<1x12x256x256xf32>
    %573 = stablehlo.divide %569, %572 : tensor<1x12x256x256xf32>
    %574 = stablehlo.dot_general %556, %573, batching_dims = [0, 2] x [0, 1], contracting_dims = [1] x [3], precision = [DEFAULT, DEFAULT] : (tensor<1x256x12x64xf32>, tensor<1x12x256x256xf32>) -> tensor<1x12x64x256xf32>
    %575 = stablehlo.transpose %574, dims = [0, 3, 1, 2] : (tensor<1x12x64x256xf32>) -> tensor<1x256x12x64xf32>
    %576 = stablehlo.reshape %575 : (tensor<1x256x12x64xf32>) -> tensor<1x256x768xf32>
    %577 = stablehlo.dot_general %576, %arg69, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x256x768xf32>, tensor<768x768xf32>) -> tensor<1x256x768xf32>
    %578 = stablehlo.add %524, %577 : tensor<1x256x768xf32>
    %579 = stablehlo.broadcast_in_dim %arg70, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %580 = stablehlo.broadcast_in_dim %579, dims = [0, 1, 2] : (tensor<1x1x768xf32>) -> tensor<1x256x768xf32>
    %581 = stablehlo.add %578, %580 : tensor<1x256x768xf32>
    %cst_111 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %582 = stablehlo.reduce(%581 init: %cst_111) applies stablehlo.add across dimensions = [2] : (tensor<1x256x768xf32>, tensor<f32>) -> tensor<1x256xf32>
    %583 = stablehlo.broadcast_in_dim %582, dims = [0, 1] : (tensor<1x256xf32>) -> tensor<1x256x1xf32>
    %cst_112 = stablehlo.constant dense<7.680000e+02> : tensor<f32>
    %584 = stablehlo.broadcast_in_dim %cst_112, dims = [] : (tensor<f32>) -> tensor<1x256x1xf32>
    %585 = stablehlo.divide %583, %584 : tensor<1x256x1xf32>
    %586 = stablehlo.broadcast_in_dim %585, dims = [0, 1, 2] : (tensor<1x256x1xf32>) -> tensor<1x256x768xf32>
    %587 = stablehlo.subtract %581, %586 : tensor<1x256x768xf32>
    %588 = stablehlo.multiply %587, %587 : tensor<1x256x768xf32>
    %cst_113 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %589 = stablehlo.reduce(%588 init: %cst_113) applies stablehlo.add across dimensions = [2] : (tensor<1x256x768xf32>, tensor<f32>) -> tensor<1x256xf32>
    %590 = stablehlo.broadcast_in_dim %589, dims = [0, 1] : (tensor<1x256xf32>) -> tensor<1x256x1xf32>
    %cst_114 = stablehlo.constant dense<7.680000e+02> : tensor<f32>
    %591 = stablehlo.broadcast_in_dim %cst_114, dims = [] : (tensor<f32>) -> tensor<1x256x1xf32>
    %592 = stablehlo.divide %590, %591 : tensor<1x256x1xf32>
    %593 = stablehlo.broadcast_in_dim %585, dims = [0, 1, 2] : (tensor<1x256x1xf32>) -> tensor<1x256x768xf32>
    %594 = stablehlo.subtract %581, %593 : tensor<1x256x768xf32>
    %cst_115 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %595 = stablehlo.broadcast_in_dim %cst_115, dims = [] : (tensor<f32>) -> tensor<1x256x1xf32>
    %596 = stablehlo.add %592, %595 : tensor<1x256x1xf32>
    %597 = stablehlo.rsqrt %596 : tensor<1x256x1xf32>
    %598 = stablehlo.broadcast_in_dim %597, dims = [0, 1, 2] : (tensor<1x256x1xf32>) -> tensor<1x256x768xf32>
    %599 = stablehlo.multiply %594, %598 : tensor<1x256x768xf32>
    %600 = stablehlo.broadcast_in_dim %arg71, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %601 = stablehlo.broadcast_in_dim %600, dims = [0, 1, 2] : (tensor<1x1x768xf32>) -> tensor<1x256x768xf32>
    %602 = stablehlo.multiply %599, %601 : tensor<1x256x768xf32>
    %603 = stablehlo.broadcast_in_dim %arg72, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %604 = stablehlo.broadcast_in_dim %603, dims = [0, 1, 2] : (tensor<1x1x768xf32>) -> tensor<1x256x768xf32>
    %605 = stablehlo.add %602, %604 : tensor<1x256x768xf32>
    %606 = stablehlo.dot_general %605, %arg73, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x256x768xf32>, tensor<768x3072xf32>) -> tensor<1x256x3072xf32>
    %607 = stablehlo.broadcast_in_dim %arg74, dims = [2] : (tensor<3072xf32>) -> tensor<1x1x3072xf32>
    %608 = stablehlo.broadcast_in_dim %607, dims = [0, 1, 2] : (tensor<1x1x3072xf32>) -> tensor<1x256x3072xf32>
    %609 = stablehlo.add %606, %608 : tensor<1x256x3072xf32>
    %610 = stablehlo.multiply %609, %609 : tensor<1x256x3072xf32>
    %611 = stablehlo.multiply %610, %609 : tensor<1x256x3072xf32>
    %cst_116 = stablehlo.constant dense<4.471500e-02> : tensor<f32>
    %612 = stablehlo.broadcast_in_dim %cst_116, dims = [] : (tensor<f32>) -> tensor<1x256x3072xf32>
    %613 = stablehlo.multiply %612, %611 : tensor<1x256x3072xf32>
    %614 = stablehlo.add %609, %613 : tensor<1x256x3072xf32>
    %cst_117 = stablehlo.constant dense<0.797884583> : tensor<f32>
    %615 = stablehlo.broadcast_in_dim %cst_117, dims = [] : (tensor<f32>) -> tensor<1x256x3072xf32>
    %616 = stablehlo.multiply %615, %614 : tensor<1x256x3072xf32>
    %617 = stablehlo.tanh %616 : tensor<1x256x3072xf32>
    %cst_118 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %618 = stablehlo.broadcast_in_dim %cst_118, dims = [] : (tensor<f32>) -> tensor<1x256x3072xf32>
    %619 = stablehlo.add %618, %617 : tensor<1x256x3072xf32>
    %cst_119 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %620 = stablehlo.broadcast_in_dim %cst_119, dims = [] : (tensor<f32>) -> tensor<1x256x3072xf32>
    %621 = stablehlo.multiply %620, %619 : tensor<1x256x3072xf32>
    %622 = stablehlo.multiply %609, %621 : tensor<1x256x3072xf32>
    %623 = stablehlo.dot_general %622, %arg75, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x256x3072xf32>, tensor<3072x768xf32>) -> tensor<1x256x768xf32>
    %624 = stablehlo.add %581, %623 : tensor<1x256x768xf32>
    %625 = stablehlo.broadcast_in_dim %arg76, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %626 = stablehlo.broadcast_in_dim %625, dims = [0, 1, 2] : (tensor<1x1x768xf32>) -> tensor<1x256x768xf32>
    %627 = stablehlo.add %624, %626 : tensor<1x256x768xf32>
    %cst_120 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %628 = stablehlo.reduce(%627 init: %cst_120) applies stablehlo.add across dimensions = [2] : (tensor<1x256x768xf32>, tensor<f32>) -> tensor<1x256xf32>
    %629 = stablehlo.broadcast_in_dim %628, dims = [0, 1] : (tensor<1x256xf32>) -> tensor<1x256x1xf32>
    %cst_121 = stablehlo.constant dense<7.680000e+02> : tensor<f32>
    %630 = stablehlo.broadcast_in_dim %cst_121, dims = [] : (tensor<f32>) -> tensor<1x256x1xf32>
    %631 = stablehlo.divide %629, %630 : tensor<1x256x1xf32>
    %632 = stablehlo.broadcast_in_dim %631, dims = [0, 1, 2] : (tensor<1x256x1xf32>) -> tensor<1x256x768xf32>
    %633 = stablehlo.subtract %627, %632 : tensor<1x256x768xf32>
    %634 = stablehlo.multiply %633, %633 : tensor<1x256x768xf32>
    %cst_122 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %635 = stablehlo.reduce(%634 init: %cst_122) applies stablehlo.add across dimensions = [2] : (tensor<1x256x768xf32>, tensor<f32>) -> tensor<1x256xf32>
    %636 = stablehlo.broadcast_in_dim %635, dims = [0, 1] : (tensor<1x256xf32>) -> tensor<1x256x1xf32>
    %cst_123 = stablehlo.constant dense<7.680000e+02> : tensor<f32>
    %637 = stablehlo.broadcast_in_dim %cst_123, dims = [] : (tensor<f32>) -> tensor<1x256x1xf32>
    %638 = stablehlo.divide %636, %637 : tensor<1x256x1xf32>
    %639 = stablehlo.broadcast_in_dim %631, dims = [0, 1, 2] : (tensor<1x256x1xf32>) -> tensor<1x256x768xf32>
    %640 = stablehlo.subtract %627, %639 : tensor<1x256x768xf32>
    %cst_124 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %641 = stablehlo.broadcast_in_dim %cst_124, dims = [] : (tensor<f32>) -> tensor<1x256x1xf32>
    %642 = stablehlo.add %638, %641 : tensor<1x256x1xf32>
    %643 = stablehlo.rsqrt %642 : tensor<1x256x1xf32>
    %644 = stablehlo.broadcast_in_dim %643, dims = [0, 1, 2] : (tensor<1x256x1xf32>) -> tensor<1x256x768xf32>
    %645 = stablehlo.multiply %640, %644 : tensor<1x256x768xf32>
    %646 = stablehlo.broadcast_in_dim %arg77, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %647 = stablehlo.broadcast_in_dim %646, dims = [0, 1, 2] : (tensor<1x1x768xf32>) -> tensor<1x256x768xf32>
    %648 = stablehlo.multiply %645, %647 : tensor<1x256x768xf32>
    %649 = stablehlo.broadcast_in_dim %arg78, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %650 = stablehlo.broadcast_in_dim %649, dims = [0, 1, 2] : (tensor<1x1x768xf32>) -> tensor<1x256x768xf32>
    %651 = stablehlo.add %648, %650 : tensor<1x256x768xf32>
    %652 = stablehlo.dot_general %651, %arg79, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x256x768xf32>, tensor<768x2304xf32>) -> tensor<1x256x2304xf32>
    %653 = stablehlo.broadcast_in_dim %arg80, dims = [2] : (tensor<2304xf32>) -> tensor<1x1x2304xf32>
    %654 = stablehlo.broadcast_in_dim %653, dims = [0, 1, 2] : (tensor<1x1x2304xf32>) -> tensor<1x256x2304xf32>
    %655 = stablehlo.add %652, %654 : tensor<1x256x2304xf32>
    %656 = stablehlo.reshape %655 : (tensor<1x256x2304xf32>) -> tensor<1x256x36x64xf32>
    %657 = stablehlo.slice %656 [0:1, 0:256, 0:12, 0:64] : (tensor<1x256x36x64xf32>) -> tensor<1x256x12x64xf32>
    %658 = stablehlo.slice %656 [0:1, 0:256, 12:24, 0:64] : (tensor<1x256x36x64xf32>) -> tensor<1x256x12x64xf32>
    %659 = stablehlo.slice %656 [0:1, 0:256, 24:36, 0:64] : (tensor<1x256x36x64xf32>) -> tensor<1x256x12x64xf32>
    %660 = stablehlo.dot_general %657, %658, batching_dims = [0, 2] x [0, 2], contracting_dims = [3] x [3], precision = [DEFAULT, DEFAULT] : (tensor<1x256x12x64xf32>, tensor<1x256x12x64xf32>) -> tensor<1x12x256x256xf32>
    %cst_125 = stablehlo.constant dense<1.250000e-01> : tensor<f32>
    %661 = stablehlo.broadcast_in_dim %cst_125, dims = [] : (tensor<f32>) -> tensor<1x12x256x256xf32>
    %662 = stablehlo.multiply %660, %661 : tensor<1x12x256x256xf32>
    %c_126 = stablehlo.constant dense<true> : tensor<i1>
    %663 = stablehlo.broadcast_in_dim %c_126, dims = [] : (tensor<i1>) -> tensor<256x256xi1>
    %664 = call @tril(%663) : (tensor<256x256xi1>) -> tensor<256x256xi1>
    %cst_127 = stablehlo.constant dense<-1.000000e+09> : tensor<f32>
    %665 = call @_where(%664, %662, %cst_127) : (tensor<256x256xi1>, tensor<1x12x256x256xf32>, tensor<f32>) -> tensor<1x12x256x256xf32>
    %cst_128 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %666 = stablehlo.reduce(%665 init: %cst_128) applies stablehlo.maximum across dimensions = [3] : (tensor<1x12x256x256xf32>, tensor<f32>) -> tensor<1x12x256xf32>
    %cst_129 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %667 = stablehlo.broadcast_in_dim %cst_129, dims = [] : (tensor<f32>) -> tensor<1x12x256xf32>
    %668 = stablehlo.maximum %667, %666 : tensor<1x12x256xf32>
    %669 = stablehlo.broadcast_in_dim %668, dims = [0, 1, 2] : (tensor<1x12x256xf32>) -> tensor<1x12x256x1xf32>
    %670 = stablehlo.broadcast_in_dim %669, dims = [0, 1, 2, 3] : (tensor<1x12x256x1xf32>) -> tensor<1x12x256x256xf32>
    %671 = stablehlo.subtract %665, %670 : tensor<1x12x256x256xf32>
    %672 = stablehlo.exponential %671 : tensor<1x12x256x256xf32>
    %cst_130 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %673 = stablehlo.reduce(%672 init: %cst_130) applies stablehlo.add across dimensions = [3] : (tensor<1x12x256x256xf32>, tensor<f32>) -> tensor<1x12x256xf32>
    %674 = stablehlo.broadcast_in_dim %673, dims = [0, 1, 2] : (tensor<1x12x256xf32>) -> tensor<1x12x256x1xf32>
    %675 = stablehlo.broadcast_in_dim %674, dims = [0, 1, 2, 3] : (tensor<1x12x256x1xf32>) -> tensor<1x12x256x256xf32>
    %676 = stablehlo.divide %672, %675 : tensor<1x12x256x256xf32>
    %677 = stablehlo.dot_general %659, %676, batching_dims = [0, 2] x [0, 1], contracting_dims = [1] x [3], precision = [DEFAULT, DEFAULT] : (tensor<1x256x12x64xf32>, tensor<1x12x256x256xf32>) -> tensor<1x12x64x256xf32>
    %678 = stablehlo.transpose %677, dims = [0, 3, 1, 2] : (tensor<1x12x64x256xf32>) -> tensor<1x256x12x64xf32>
    %679 = stablehlo.reshape %678 : (tensor<1x256x12x64xf32>) -> tensor<1x256x768xf32>
    %680 = stablehlo.dot_general %679, %arg81, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x256x768xf32>, tensor<768x768xf32>) -> tensor<1x256x768xf32>
    %681 = stablehlo.add %627, %680 : tensor<1x256x768xf32>
    %682 = stablehlo.broadcast_in_dim %arg82, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %683 = stablehlo.broadcast_in_dim %682, dims = [0, 1, 2] : (tensor<1x1x768xf32>) -> tensor<1x256x768xf32>
    %684 = stablehlo.add %681, %683 : tensor<1x256x768xf32>
    %cst_131 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %685 = stablehlo.reduce(%684 init: %cst_131) applies stablehlo.add across dimensions = [2] : (tensor<1x256x768xf32>, tensor<f32>) -> tensor<1x256xf32>
    %686 = stablehlo.broadcast_in_dim %685, dims = [0, 1] : (tensor<1x256xf32>) -> tensor<1x256x1xf32>
    %cst_132 = stablehlo.constant dense<7.680000e+02> : tensor<f32>
    %687 = stablehlo.broadcast_in_dim %cst_132, dims = [] : (tensor<f32>) -> tensor<1x256x1xf32>
    %688 = stablehlo.divide %686, %687 : tensor<1x256x1xf32>
    %689 = stablehlo.broadcast_in_dim %688, dims = [0, 1, 2] : (tensor<1x256x1xf32>) -> tensor<1x256x768xf32>
    %690 = stablehlo.subtract %684, %689 : tensor<1x256x768xf32>
    %691 = stablehlo.multiply %690, %690 : tensor<1x256x768xf32>
    %cst_133 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %692 = stablehlo.reduce(%691 init: %cst_133) applies stablehlo.add across dimensions = [2] : (tensor<1x256x768xf32>, tensor<f32>) -> tensor<1x256xf32>
    %693 = stablehlo.broadcast_in_dim %692, dims = [0, 1] : (tensor<1x256xf32>) -> tensor<1x256x1xf32>
    %cst_134 = stablehlo.constant dense<7.680000e+02> : tensor<f32>
    %694 = stablehlo.broadcast_in_dim %cst_134, dims = [] : (tensor<f32>) -> tensor<1x256x1xf32>
    %695 = stablehlo.divide %693, %694 : tensor<1x256x1xf32>
    %696 = stablehlo.broadcast_in_dim %688, dims = [0, 1, 2] : (tensor<1x256x1xf32>) -> tensor<1x256x768xf32>
    %697 = stablehlo.subtract %684, %696 : tensor<1x256x768xf32>
    %cst_135 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %698 = stablehlo.broadcast_in_dim %cst_135, dims = [] : (tensor<f32>) -> tensor<1x256x1xf32>
    %699 = stablehlo.add %695, %698 : tensor<1x256x1xf32>
    %700 = stablehlo.rsqrt %699 : tensor<1x256x1xf32>
    %701 = stablehlo.broadcast_in_dim %700, dims = [0, 1, 2] : (tensor<1x256x1xf32>) -> tensor<1x256x768xf32>
    %702 = stablehlo.multiply %697, %701 : tensor<1x256x768xf32>
    %703 = stablehlo.broadcast_in_dim %arg83, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %704 = stablehlo.broadcast_in_dim %703, dims = [0, 1, 2] : (tensor<1x1x768xf32>) -> tensor<1x256x768xf32>
    %705 = stablehlo.multiply %702, %704 : tensor<1x256x768xf32>
    %706 = stablehlo.broadcast_in_dim %arg84, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %707 = stablehlo.broadcast_in_dim %706, dims = [0, 1, 2] : (tensor<1x1x768xf32>) -> tensor<1x256x768xf32>
    %708 = stablehlo.add %705, %707 : tensor<1x256x768xf32>
    %709 = stablehlo.dot_general %708, %arg85, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x256x768xf32>, tensor<768x3072xf32>) -> tensor<1x256x3072xf32>
    %710 = stablehlo.broadcast_in_dim %arg86, dims = [2] : (tensor<3072xf32>) -> tensor<1x1x3072xf32>
    %711 = stablehlo.broadcast_in_dim %710, dims = [0, 1, 2] : (tensor<1x1x3072xf32>) -> tensor<1x256x3072xf32>
    %712 = stablehlo.add %709, %711 : tensor<1x256x3072xf32>
    %713 = stablehlo.multiply %712, %712 : tensor<1x256x3072xf32>
    %714 = stablehlo.multiply %713, %712 : tensor<1x256x3072xf32>
    %cst_136 = stablehlo.constant dense<4.471500e-02> : tensor<f32>
    %715 = stablehlo.broadcast_in_dim %cst_136, dims = [] : (tensor<f32>) -> tensor<1x256x3072xf32>
    %716 = stablehlo.multiply %715, %714 : tensor<1x256x3072xf32>
    %717 = stablehlo.add %712, %716 : tensor<1x256x3072xf32>
    %cst_137 = stablehlo.constant dense<0.797884583> : tensor<f32>
    %718 = stablehlo.broadcast_in_dim %cst_137, dims = [] : (tensor<f32>) -> tensor<1x256x3072xf32>
    %719 = stablehlo.multiply %718, %717 : tensor<1x256x3072xf32>
    %720 = stablehlo.tanh %719 : tensor<1x256x3072xf32>
    %cst_138 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %721 = stablehlo.broadcast_in_dim %cst_138, dims = [] : (tensor<f32>) -> tensor<1x256x3072xf32>
    %722 = stablehlo.add %721, %720 : tensor<1x256x3072xf32>
    %cst_139 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %723 = stablehlo.broadcast_in_dim %cst_139, dims = [] : (tensor<f32>) -> tensor<1x256x3072xf32>
    %724 = stablehlo.multiply %723, %722 : tensor<1x256x3072xf32>
    %725 = stablehlo.multiply %712, %724 : tensor<1x256x3072xf32>
    %726 = stablehlo.dot_general %725, %arg87, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x256x3072xf32>, tensor<3072x768xf32>) -> tensor<1x256x768xf32>
    %727 = stablehlo.add %684, %726 : tensor<1x256x768xf32>
    %728 = stablehlo.broadcast_in_dim %arg88, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %729 = stablehlo.broadcast_in_dim %728, dims = [0, 1, 2] : (tensor<1x1x768xf32>) -> tensor<1x256x768xf32>
    %730 = stablehlo.add %727, %729 : tensor<1x256x768xf32>
    %cst_140 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %731 = stablehlo.reduce(%730 init: %cst_140) applies stablehlo.add across dimensions = [2] : (tensor<1x256x768xf32>, tensor<f32>) -> tensor<1x256xf32>
    %732 = stablehlo.broadcast_in_dim %731, dims = [0, 1] : (tensor<1x256xf32>) -> tensor<1x256x1xf32>
    %cst_141 = stablehlo.constant dense<7.680000e+02> : tensor<f32>
    %733 = stablehlo.broadcast_in_dim %cst_141, dims = [] : (tensor<f32>) -> tensor<1x256x1xf32>
    %734 = stablehlo.divide %732, %733 : tensor<1x256x1xf32>
    %735 = stablehlo.broadcast_in_dim %734, dims = [0, 1, 2] : (tensor<1x256x1xf32>) -> tensor<1x256x768xf32>
    %736 = stablehlo.subtract %730, %735 : tensor<1x256x768xf32>
    %737 = stablehlo.multiply %736, %736 : tensor<1x256x768xf32>
    %cst_142 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %738 = stablehlo.reduce(%737 init: %cst_142) applies stablehlo.add across dimensions = [2] : (tensor<1x256x768xf32>, tensor<f32>) -> tensor<1x256xf32>
    %739 = stablehlo.broadcast_in_dim %738, dims = [0, 1] : (tensor<1x256xf32>) -> tensor<1x256x1xf32>
    %cst_143 = stablehlo.constant dense<7.680000e+02> : tensor<f32>
    %740 = stablehlo.broadcast_in_dim %cst_143, dims = [] : (tensor<f32>) -> tensor<1x256x1xf32>
    %741 = stablehlo.divide %739, %740 : tensor<1x256x1xf32>
    %742 = stablehlo.broadcast_in_dim %734, dims = [0, 1, 2] : (tensor<1x256x1xf32>) -> tensor<1x256x768xf32>
    %743 = stablehlo.subtract %730, %742 : tensor<1x256x768xf32>
    %cst_144 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %744 = stablehlo.broadcast_in_dim %cst_144, dims = [] : (tensor<f32>) -> tensor<1x256x1xf32>
    %745 = stablehlo.add %741, %744 : tensor<1x256x1xf32>
    %746 = stablehlo.rsqrt %745 : tensor<1x256x1xf32>
    %747 = stablehlo.broadcast_in_dim %746, dims = [0, 1, 2] : (tensor<1x256x1xf32>) -> tensor<1x256x768xf32>
    %748 = stablehlo.multiply %743, %747 : tensor<1x256x768xf32>
    %749 = stablehlo.broadcast_in_dim %arg89, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %750 = stablehlo.broadcast_in_dim %749, dims = [0, 1, 2] : (tensor<1x1x768xf32>) -> tensor<1x256x768xf32>
    %751 = stablehlo.multiply %748, %750 : tensor<1x256x768xf32>
    %752 = stablehlo.broadcast_in_dim %arg90, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %753 = stablehlo.broadcast_in_dim %752, dims = [0, 1, 2] : (tensor<1x1x768xf32>) -> tensor<1x256x768xf32>
    %754 = stablehlo.add %751, %753 : tensor<1x256x768xf32>
    %755 = stablehlo.dot_general %754, %arg91, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x256x768xf32>, tensor<768x2304xf32>) -> tensor<1x256x2304xf32>
    %756 = stablehlo.broadcast_in_dim %arg92, dims = [2] : (tensor<2304xf32>) -> tensor<1x1x2304xf32>
    %757 = stablehlo.broadcast_in_dim %756, dims = [0, 1, 2] : (tensor<1x1x2304xf32>) -> tensor<1x256x2304xf32>
    %758 = stablehlo.add %755, %757 : tensor<1x256x2304xf32>
    %759 = stablehlo.reshape %758 : (tensor<1x256x2304xf32>) -> tensor<1x256x36x64xf32>
    %760 = stablehlo.slice %759 [0:1, 0:256, 0:12, 0:64] : (tensor<1x256x36x64xf32>) -> tensor<1x256x12x64xf32>
    %761 = stablehlo.slice %759 [0:1, 0:256, 12:24, 0:64] : (tensor<1x256x36x64xf32>) -> tensor<1x256x12x64xf32>
    %762 = stablehlo.slice %759 [0:1, 0:256, 24:36, 0:64] : (tensor<1x256x36x64xf32>) -> tensor<1x256x12x64xf32>
    %763 = stablehlo.dot_general %760, %761, batching_dims = [0, 2] x [0, 2], contracting_dims = [3] x [3], precision = [DEFAULT, DEFAULT] : (tensor<1x256x12x64xf32>, tensor<1x256x12x64xf32>) -> tensor<1x12x256x256xf32>
    %cst_145 = stablehlo.constant dense<1.250000e-01> : tensor<f32>
    %764 = stablehlo.broadcast_in_dim %cst_145, dims = [] : (tensor<f32>) -> tensor<1x12x256x256xf32>
    %765 = stablehlo.multiply %763, %764 : tensor<1x12x256x256xf32>
    %c_146 = stablehlo.constant dense<true> : tensor<i1>
    %766 = stablehlo.broadcast_in_dim %c_146, dims = [] : (tensor<i1>) -> tensor<256x256xi1>
    %767 = call @tril(%766) : (tensor<256x256xi1>) -> tensor<256x256xi1>
    %cst_147 = stablehlo.constant dense<-1.000000e+09> : tensor<f32>
    %768 = call @_where(%767, %765, %cst_147) : (tensor<256x256xi1>, tensor<1x12x256x256xf32>, tensor<f32>) -> tensor<1x12x256x256xf32>
    %cst_148 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %769 = stablehlo.reduce(%768 init: %cst_148) applies stablehlo.maximum across dimensions = [3] : (tensor<1x12x256x256xf32>, tensor<f32>) -> tensor<1x12x256xf32>
    %cst_149 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %770 = stablehlo.broadcast_in_dim %cst_149, dims = [] : (tensor<f32>) -> tensor<1x12x256xf32>
    %771 = stablehlo.maximum %770, %769 : tensor<1x12x256xf32>
    %772 = stablehlo.broadcast_in_dim %771, dims = [0, 1, 2] : (tensor<1x12x256xf32>) -> tensor<1x12x256x1xf32>
    %773 = stablehlo.broadcast_in_dim %772, dims = [0, 1, 2, 3] : (tensor<1x12x256x1xf32>) -> tensor<1x12x256x256xf32>
    %774 = stablehlo.subtract %768, %773 : tensor<1x12x256x256xf32>
    %775 = stablehlo.exponential %774 : tensor<1x12x256x256xf32>
    %cst_150 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %776 = stablehlo.reduce(%775 init: %cst_150) applies stablehlo.add across dimensions = [3] : (tensor<1x12x256x256xf32>, tensor<f32>) -> tensor<1x12x256xf32>
    %777 = stablehlo.broadcast_in_dim %776, dims = [0, 1, 2] : (tensor<1x12x256xf32>) -> tensor<1x12x256x1xf32>
    %778 = stablehlo.broadcast_in_dim %777, dims = [0, 1, 2, 3] : (tensor<1x12x256x1xf32>) -> tensor<1x12x256x256xf32>
    %779 = stablehlo.divide %775, %778 : tensor<1x12x256x256xf32>
    %780 = stablehlo.dot_general %762, %779, batching_dims = [0, 2] x [0, 1], contracting_dims = [1] x [3], precision = [DEFAULT, DEFAULT] : (tensor<1x256x12x64xf32>, tensor<1x12x256x256xf32>) -> tensor<1x12x64x256xf32>
    %781 = stablehlo.transpose %780, dims = [0, 3, 1, 2] : (tensor<1x12x64x256xf32>) -> tensor<1x256x12x64xf32>
    %782 = stablehlo.reshape %781 : (tensor<1x256x12x64xf32>) -> tensor<1x256x768xf32>
    %783 = stablehlo.dot_general %782, %arg93, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x256x768xf32>, tensor<768x768xf32>) -> tensor<1x256x768xf32>
    %784 = stablehlo.add %730, %783 : tensor<1x256x768xf32>
    %785 = stablehlo.broadcast_in_dim %arg94, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %786 = stablehlo.broadcast_in_dim %785, dims = [0, 1, 2] : (tensor<1x1x768xf32>) -> tensor<1x256x768xf32>
    %787 = stablehlo.add %784, %786 : tensor<1x256x768xf32>
    %cst_151 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %788 = stablehlo.reduce(%787 init: %cst_151) applies stablehlo.add across dimensions = [2] : (tensor<1x256x768xf32>, tensor<f32>) -> tensor<1x256xf32>
    %789 = stablehlo.broadcast_in_dim %788, dims = [0, 1] : (tensor<1x256xf32>) -> tensor<1x256x1xf32>
    %cst_152 = stablehlo.constant dense<7.680000e+02> : tensor<f32>
    %790 = stablehlo.broadcast_in_dim %cst_152, dims = [] : (tensor<f32>) -> tensor<1x256x1xf32>
    %791 = stablehlo.divide %789, %790 : tensor<1x256x1xf32>
    %792 = stablehlo.broadcast_in_dim %791, dims = [0, 1, 2] : (tensor<1x256x1xf32>) -> tensor<1x256x768xf32>
    %793 = stablehlo.subtract %787, %792 : tensor<1x256x768xf32>
    %794 = stablehlo.multiply %793, %793 : tensor<1x256x768xf32>
    %cst_153 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %795 = stablehlo.reduce(%794 init: %cst_153) applies stablehlo.add across dimensions = [2] : (tensor<1x256x768xf32>, tensor<f32>) -> tensor<1x256xf32>
    %796 = stablehlo.broadcast_in_dim %795, dims = [0, 1] : (tensor<1x256xf32>) -> tensor<1x256x1xf32>
    %cst_154 = stablehlo.constant dense<7.680000e+02> : tensor<f32>
    %797 = stablehlo.broadcast_in_dim %cst_154, dims = [] : (tensor<f32>) -> tensor<1x256x1xf32>
    %798 = stablehlo.divide %796, %797 : tensor<1x256x1xf32>
    %799 = stablehlo.broadcast_in_dim %791, dims = [0, 1, 2] : (tensor<1x256x1xf32>) -> tensor<1x256x768xf32>
    %800 = stablehlo.subtract %787, %799 : tensor<1x256x768xf32>
    %cst_155 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %801 = stablehlo.broadcast_in_dim %cst_155, dims = [] : (tensor<f32>) -> tensor<1x256x1xf32>
    %802 = stablehlo.add %798, %801 : tensor<1x256x1xf32>
    %803 = stablehlo.rsqrt %802 : tensor<1x256x1xf32>
    %804 = stablehlo.broadcast_in_dim %803, dims = [0, 1, 2] : (tensor<1x256x1xf32>) -> tensor<1x256x768xf32>
    %805 = stablehlo.multiply %800, %804 : tensor<1x256x768xf32>
    %806 = stablehlo.broadcast_in_dim %arg95, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %807 = stablehlo.broadcast_in_dim %806, dims = [0, 1, 2] : (tensor<1x1x768xf32>) -> tensor<1x256x768xf32>
    %808 = stablehlo.multiply %805, %807 : tensor<1x256x768xf32>
    %809 = stablehlo.broadcast_in_dim %arg96, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %810 = stablehlo.broadcast_in_dim %809, dims = [0, 1, 2] : (tensor<1x1x768xf32>) -> tensor<1x256x768xf32>
    %811 = stablehlo.add %808, %810 : tensor<1x256x768xf32>
    %812 = stablehlo.dot_general %811, %arg97, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x256x768xf32>, tensor<768x3072xf32>) -> tensor<1x256x3072xf32>
    %813 = stablehlo.broadcast_in_dim %arg98, dims = [2] : (tensor<3072xf32>) -> tensor<1x1x3072xf32>
    %814 = stablehlo.broadcast_in_dim %813, dims = [0, 1, 2] : (tensor<1x1x3072xf32>) -> tensor<1x256x3072xf32>
    %815 = stablehlo.add %812, %814 : tensor<1x256x3072xf32>
    %816 = stablehlo.multiply %815, %815 : tensor<1x256x3072xf32>
    %817 = stablehlo.multiply %816, %815 : tensor<1x256x3072xf32>
    %cst_156 = stablehlo.constant dense<4.471500e-02> : tensor<f32>
    %818 = stablehlo.broadcast_in_dim %cst_156, dims = [] : (tensor<f32>) -> tensor<1x256x3072xf32>
    %819 = stablehlo.multiply %818, %817 : tensor<1x256x3072xf32>
    %820 = stablehlo.add %815, %819 : tensor<1x256x3072xf32>
    %cst_157 = stablehlo.constant dense<0.797884583> : tensor<f32>
    %821 = stablehlo.broadcast_in_dim %cst_157, dims = [] : (tensor<f32>) -> tensor<1x256x3072xf32>
    %822 = stablehlo.multiply %821, %820 : tensor<1x256x3072xf32>
    %823 = stablehlo.tanh %822 : tensor<1x256x3072xf32>
    %cst_158 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %824 = stablehlo.broadcast_in_dim %cst_158, dims = [] : (tensor<f32>) -> tensor<1x256x3072xf32>
    %825 = stablehlo.add %824, %823 : tensor<1x256x3072xf32>
    %cst_159 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %826 = stablehlo.broadcast_in_dim %cst_159, dims = [] : (tensor<f32>) -> tensor<1x256x3072xf32>
    %827 = stablehlo.multiply %826, %825 : tensor<1x256x3072xf32>
    %828 = stablehlo.multiply %815, %827 : tensor<1x256x3072xf32>
    %829 = stablehlo.dot_general %828, %arg99, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x256x3072xf32>, tensor<3072x768xf32>) -> tensor<1x256x768xf32>
    %830 = stablehlo.add %787, %829 : tensor<1x256x768xf32>
    %831 = stablehlo.broadcast_in_dim %arg100, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %832 = stablehlo.broadcast_in_dim %831, dims = [0, 1, 2] : (tensor<1x1x768xf32>) -> tensor<1x256x768xf32>
    %833 = stablehlo.add %830, %832 : tensor<1x256x768xf32>
    %cst_160 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %834 = stablehlo.reduce(%833 init: %cst_160) applies stablehlo.add across dimensions = [2] : (tensor<1x256x768xf32>, tensor<f32>) -> tensor<1x256xf32>
    %835 = stablehlo.broadcast_in_dim %834, dims = [0, 1] : (tensor<1x256xf32>) -> tensor<1x256x1xf32>
    %cst_161 = stablehlo.constant dense<7.680000e+02> : tensor<f32>
    %836 = stablehlo.broadcast_in_dim %cst_161, dims = [] : (tensor<f32>) -> tensor<1x256x1xf32>
    %837 = stablehlo.divide %835, %836 : tensor<1x256x1xf32>
    %838 = stablehlo.broadcast_in_dim %837, dims = [0, 1, 2] : (tensor<1x256x1xf32>) -> tensor<1x256x768xf32>
    %839 = stablehlo.subtract %833, %838 : tensor<1x256x768xf32>
    %840 = stablehlo.multiply %839, %839 : tensor<1x256x768xf32>
    %cst_162 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %841 = stablehlo.reduce(%840 init: %cst_162) applies stablehlo.add across dimensions = [2] : (tensor<1x256x768xf32>, tensor<f32>) -> tensor<1x256xf32>
    %842 = stablehlo.broadcast_in_dim %841, dims = [0, 1] : (tensor<1x256xf32>) -> tensor<1x256x1xf32>
    %cst_163 = stablehlo.constant dense<7.680000e+02> : tensor<f32>
    %843 = stablehlo.broadcast_in_dim %cst_163, dims = [] : (tensor<f32>) -> tensor<1x256x1xf32>
    %844 = stablehlo.divide %842, %843 : tensor<1x256x1xf32>
    %845 = stablehlo.broadcast_in_dim %837, dims = [0, 1, 2] : (tensor<1x256x1xf32>) -> tensor<1x256x768xf32>
    %846 = stablehlo.subtract %833, %845 : tensor<1x256x768xf32>
    %cst_164 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %847 = stablehlo.broadcast_in_dim %cst_164, dims = [] : (tensor<f32>) -> tensor<1x256x1xf32>
    %848 = stablehlo.add %844, %847 : tensor<1x256x1xf32>
    %849 = stablehlo.rsqrt %848 : tensor<1x256x1xf32>
    %850 = stablehlo.broadcast_in_dim %849, dims = [0, 1, 2] : (tensor<1x256x1xf32>) -> tensor<1x256x768xf32>
    %851 = stablehlo.multiply %846, %850 : tensor<1x256x768xf32>
    %852 = stablehlo.broadcast_in_dim %arg101, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %853 = stablehlo.broadcast_in_dim %852, dims = [0, 1, 2] : (tensor<1x1x768xf32>) -> tensor<1x256x768xf32>
    %854 = stablehlo.multiply %851, %853 : tensor<1x256x768xf32>
    %855 = stablehlo.broadcast_in_dim %arg102, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %856 = stablehlo.broadcast_in_dim %855, dims = [0, 1, 2] : (tensor<1x1x768xf32>) -> tensor<1x256x768xf32>
    %857 = stablehlo.add %854, %856 : tensor<1x256x768xf32>
    %858 = stablehlo.dot_general %857, %arg103, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x256x768xf32>, tensor<768x2304xf32>) -> tensor<1x256x2304xf32>
    %859 = stablehlo.broadcast_in_dim %arg104, dims = [2] : (tensor<2304xf32>) -> tensor<1x1x2304xf32>
    %860 = stablehlo.broadcast_in_dim %859, dims = [0, 1, 2] : (tensor<1x1x2304xf32>) -> tensor<1x256x2304xf32>
    %861 = stablehlo.add %858, %860 : tensor<1x256x2304xf32>
    %862 = stablehlo.reshape %861 : (tensor<1x256x2304xf32>) -> tensor<1x256x36x64xf32>
    %863 = stablehlo.slice %862 [0:1, 0:256, 0:12, 0:64] : (tensor<1x256x36x64xf32>) -> tensor<1x256x12x64xf32>
    %864 = stablehlo.slice %862 [0:1, 0:256, 12:24, 0:64] : (tensor<1x256x36x64xf32>) -> tensor<1x256x12x64xf32>
    %865 = stablehlo.slice %862 [0:1, 0:256, 24:36, 0:64] : (tensor<1x256x36x64xf32>) -> tensor<1x256x12x64xf32>
    %866 = stablehlo.dot_general %863, %864, batching_dims = [0, 2] x [0, 2], contracting_dims = [3] x [3], precision = [DEFAULT, DEFAULT] : (tensor<1x256x12x64xf32>, tensor<1x256x12x64xf32>) -> tensor<1x12x256x256xf32>
    %cst_165 = stablehlo.constant dense<1.250000e-01> : tensor<f32>
    %867 = stablehlo.broadcast_in_dim %cst_165, dims = [] : (tensor<f32>) -> tensor<1x12x256x256xf32>
    %868 = stablehlo.multiply %866, %867 : tensor<1x12x256x256xf32>
    %c_166 = stablehlo.constant dense<true> : tensor<i1>
    %869 = stablehlo.broadcast_in_dim %c_166, dims = [] : (tensor<i1>) -> tensor<256x256xi1>
    %870 = call @tril(%869) : (tensor<256x256xi1>) -> tensor<256x256xi1>
    %cst_167 = stablehlo.constant dense<-1.000000e+09> : tensor<f32>
    %871 = call @_where(%870, %868, %cst_167) : (tensor<256x256xi1>, tensor<1x12x256x256xf32>, tensor<f32>) -> tensor<1x12x256x256xf32>
    %cst_168 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %872 = stablehlo.reduce(%871 init: %cst_168) applies stablehlo.maximum across dimensions = [3] : (tensor<1x12x256x256xf32>, tensor<f32>) -> tensor<1x12x256xf32>
    %cst_169 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %873 = stablehlo.broadcast_in_dim %cst_169, dims = [] : (tensor<f32>) -> tensor<1x12x256xf32>
    %874 = stablehlo.maximum %873, %872 : tensor<1x12x256xf32>
    %875 = stablehlo.broadcast_in_dim %874, dims = [0, 1, 2] : (tensor<1x12x256xf32>) -> tensor<1x12x256x1xf32>
    %876 = stablehlo.broadcast_in_dim %875, dims = [0, 1, 2, 3] : (tensor<1x12x256x1xf32>) -> tensor<1x12x256x256xf32>
    %877 = stablehlo.subtract %871, %876 : tensor<1x12x256x256xf32>
    %878 = stablehlo.exponential %877 : tensor<1x12x256x256xf32>
    %cst_170 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %879 = stablehlo.reduce(%878 init: %cst_170) applies stablehlo.add across dimensions = [3] : (tensor<1x12x256x256xf32>, tensor<f32>) -> tensor<1x12x256xf32>
    %880 = stablehlo.broadcast_in_dim %879, dims = [0, 1, 2] : (tensor<1x12x256xf32>) -> tensor<1x12x256x1xf32>
    %881 = stablehlo.broadcast_in_dim %880, dims = [0, 1, 2, 3] : (tensor<1x12x256x1xf32>) -> tensor<1x12x256x256xf32>
    %882 = stablehlo.divide %878, %881 : tensor<1x12x256x256xf32>
    %883 = stablehlo.dot_general %865, %882, batching_dims = [0, 2] x [0, 1], contracting_dims = [1] x [3], precision = [DEFAULT, DEFAULT] : (tensor<1x256x12x64xf32>, tensor<1x12x256x256xf32>) -> tensor<1x12x64x256xf32>
    %884 = stablehlo.transpose %883, dims = [0, 3, 1, 2] : (tensor<1x12x64x256xf32>) -> tensor<1x256x12x64xf32>
    %885 = stablehlo.reshape %884 : (tensor<1x256x12x64xf32>) -> tensor<1x256x768xf32>
    %886 = stablehlo.dot_general %885, %arg105, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x256x768xf32>, tensor<768x768xf32>) -> tensor<1x256x768xf32>
    %887 = stablehlo.add %833, %886 : tensor<1x256x768xf32>
    %888 = stablehlo.broadcast_in_dim %arg106, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %889 = stablehlo.broadcast_in_dim %888, dims = [0, 1, 2] : (tensor<1x1x768xf32>) -> tensor<1x256x768xf32>
    %890 = stablehlo.add %887, %889 : tensor<1x256x768xf32>
    %cst_171 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %891 = stablehlo.reduce(%890 init: %cst_171) applies stablehlo.add across dimensions = [2] : (tensor<1x256x768xf32>, tensor<f32>) -> tensor<1x256xf32>
    %892 = stablehlo.broadcast_in_dim %891, dims = [0, 1] : (tensor<1x256xf32>) -> tensor<1x256x1xf32>
    %cst_172 = stablehlo.constant dense<7.680000e+02> : tensor<f32>
    %893 = stablehlo.broadcast_in_dim %cst_172, dims = [] : (tensor<f32>) -> tensor<1x256x1xf32>
    %894 = stablehlo.divide %892, %893 : tensor<1x256x1xf32>
    %895 = stablehlo.broadcast_in_dim %894, dims = [0, 1, 2] : (tensor<1x256x1xf32>) -> tensor<1x256x768xf32>
    %896 = stablehlo.subtract %890, %895 : tensor<1x256x768xf32>
    %897 = stablehlo.multiply %896, %896 : tensor<1x256x768xf32>
    %cst_173 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %898 = stablehlo.reduce(%897 init: %cst_173) applies stablehlo.add across dimensions = [2] : (tensor<1x256x768xf32>, tensor<f32>) -> tensor<1x256xf32>
    %899 = stablehlo.broadcast_in_dim %898, dims = [0, 1] : (tensor<1x256xf32>) -> tensor<1x256x1xf32>
    %cst_174 = stablehlo.constant dense<7.680000e+02> : tensor<f32>
    %900 = stablehlo.broadcast_in_dim %cst_174, dims = [] : (tensor<f32>) -> tensor<1x256x1xf32>
    %901 = stablehlo.divide %899, %900 : tensor<1x256x1xf32>
    %902 = stablehlo.broadcast_in_dim %894, dims = [0, 1, 2] : (tensor<1x256x1xf32>) -> tensor<1x256x768xf32>
    %903 = stablehlo.subtract %890, %902 : tensor<1x256x768xf32>
    %cst_175 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %904 = stablehlo.broadcast_in_dim %cst_175, dims = [] : (tensor<f32>) -> tensor<1x256x1xf32>
    %905 = stablehlo.add %901, %904 : tensor<1x256x1xf32>
    %906 = stablehlo.rsqrt %905 : tensor<1x256x1xf32>
    %907 = stablehlo.broadcast_in_dim %906, dims = [0, 1, 2] : (tensor<1x256x1xf32>) -> tensor<1x256x768xf32>
    %908 = stablehlo.multiply %903, %907 : tensor<1x256x768xf32>
    %909 = stablehlo.broadcast_in_dim %arg107, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %910 = stablehlo.broadcast_in_dim %909, dims = [0, 1, 2] : (tensor<1x1x768xf32>) -> tensor<1x256x768xf32>
    %911 = stablehlo.multiply %908, %910 : tensor<1x256x768xf32>
    %912 = stablehlo.broadcast_in_dim %arg108, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %913 = stablehlo.broadcast_in_dim %912, dims = [0, 1, 2] : (tensor<1x1x768xf32>) -> tensor<1x256x768xf32>
    %914 = stablehlo.add %911, %913 : tensor<1x256x768xf32>
    %915 = stablehlo.dot_general %914, %arg109, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x256x768xf32>, tensor<768x3072xf32>) -> tensor<1x256x3072xf32>
    %916 = stablehlo.broadcast_in_dim %arg110, dims = [2] : (tensor<3072xf32>) -> tensor<1x1x3072xf32>
    %917 = stablehlo.broadcast_in_dim %916, dims = [0, 1, 2] : (tensor<1x1x3072xf32>) -> tensor<1x256x3072xf32>
    %918 = stablehlo.add %915, %917 : tensor<1x256x3072xf32>
    %919 = stablehlo.multiply %918, %918 : tensor<1x256x3072xf32>
    %920 = stablehlo.multiply %919, %918 : tensor<1x256x3072xf32>
    %cst_176 = stablehlo.constant dense<4.471500e-02> : tensor<f32>
    %921 = stablehlo.broadcast_in_dim %cst_176, dims = [] : (tensor<f32>) -> tensor<1x256x3072xf32>
    %922 = stablehlo.multiply %921, %920 : tensor<1x256x3072xf32>
    %923 = stablehlo.add %918, %922 : tensor<1x256x3072xf32>
    %cst_177 = stablehlo.constant dense<0.797884583> : tensor<f32>
    %924 = stablehlo.broadcast_in_dim %cst_177, dims = [] : (tensor<f32>) -> tensor<1x256x3072xf32>
    %925 = stablehlo.multiply %924, %923 : tensor<1x256x3072xf32>
    %926 = stablehlo.tanh %925 : tensor<1x256x3072xf32>
    %cst_178 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %927 = stablehlo.broadcast_in_dim %cst_178, dims = [] : (tensor<f32>) -> tensor<1x256x3072xf32>
    %928 = stablehlo.add %927, %926 : tensor<1x256x3072xf32>
    %cst_179 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %929 = stablehlo.broadcast_in_dim %cst_179, dims = [] : (tensor<f32>) -> tensor<1x256x3072xf32>
    %930 = stablehlo.multiply %929, %928 : tensor<1x256x3072xf32>
    %931 = stablehlo.multiply %918, %930 : tensor<1x256x3072xf32>
    %932 = stablehlo.dot_general %931, %arg111, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x256x3072xf32>, tensor<3072x768xf32>) -> tensor<1x256x768xf32>
    %933 = stablehlo.add %890, %932 : tensor<1x256x768xf32>
    %934 = stablehlo.broadcast_in_dim %arg112, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %935 = stablehlo.broadcast_in_dim %934, dims = [0, 1, 2] : (tensor<1x1x768xf32>) -> tensor<1x256x768xf32>
    %936 = stablehlo.add %933, %935 : tensor<1x256x768xf32>
    %cst_180 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %937 = stablehlo.reduce(%936 init: %cst_180) applies stablehlo.add across dimensions = [2] : (tensor<1x256x768xf32>, tensor<f32>) -> tensor<1x256xf32>
    %938 = stablehlo.broadcast_in_dim %937, dims = [0, 1] : (tensor<1x256xf32>) -> tensor<1x256x1xf32>
    %cst_181 = stablehlo.constant dense<7.680000e+02> : tensor<f32>
    %939 = stablehlo.broadcast_in_dim %cst_181, dims = [] : (tensor<f32>) -> tensor<1x256x1xf32>
    %940 = stablehlo.divide %938, %939 : tensor<1x256x1xf32>
    %941 = stablehlo.broadcast_in_dim %940, dims = [0, 1, 2] : (tensor<1x256x1xf32>) -> tensor<1x256x768xf32>
    %942 = stablehlo.subtract %936, %941 : tensor<1x256x768xf32>
    %943 = stablehlo.multiply %942, %942 : tensor<1x256x768xf32>
    %cst_182 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %944 = stablehlo.reduce(%943 init: %cst_182) applies stablehlo.add across dimensions = [2] : (tensor<1x256x768xf32>, tensor<f32>) -> tensor<1x256xf32>
    %945 = stablehlo.broadcast_in_dim %944, dims = [0, 1] : (tensor<1x256xf32>) -> tensor<1x256x1xf32>
    %cst_183 = stablehlo.constant dense<7.680000e+02> : tensor<f32>
    %946 = stablehlo.broadcast_in_dim %cst_183, dims = [] : (tensor<f32>) -> tensor<1x256x1xf32>
    %947 = stablehlo.divide %945, %946 : tensor<1x256x1xf32>
    %948 = stablehlo.broadcast_in_dim %940, dims = [0, 1, 2] : (tensor<1x256x1xf32>) -> tensor<1x256x768xf32>
    %949 = stablehlo.subtract %936, %948 : tensor<1x256x768xf32>
    %cst_184 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %950 = stablehlo.broadcast_in_dim %cst_184, dims = [] : (tensor<f32>) -> tensor<1x256x1xf32>
    %951 = stablehlo.add %947, %950 : tensor<1x256x1xf32>
    %952 = stablehlo.rsqrt %951 : tensor<1x256x1xf32>
    %953 = stablehlo.broadcast_in_dim %952, dims = [0, 1, 2] : (tensor<1x256x1xf32>) -> tensor<1x256x768xf32>
    %954 = stablehlo.multiply %949, %953 : tensor<1x256x768xf32>
    %955 = stablehlo.broadcast_in_dim %arg113, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %956 = stablehlo.broadcast_in_dim %955, dims = [0, 1, 2] : (tensor<1x1x768xf32>) -> tensor<1x256x768xf32>
    %957 = stablehlo.multiply %954, %956 : tensor<1x256x768xf32>
    %958 = stablehlo.broadcast_in_dim %arg114, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %959 = stablehlo.broadcast_in_dim %958, dims = [0, 1, 2] : (tensor<1x1x768xf32>) -> tensor<1x256x768xf32>
    %960 = stablehlo.add %957, %959 : tensor<1x256x768xf32>
    %961 = stablehlo.dot_general %960, %arg115, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x256x768xf32>, tensor<768x2304xf32>) -> tensor<1x256x2304xf32>
    %962 = stablehlo.broadcast_in_dim %arg116, dims = [2] : (tensor<2304xf32>) -> tensor<1x1x2304xf32>
    %963 = stablehlo.broadcast_in_dim %962, dims = [0, 1, 2] : (tensor<1x1x2304xf32>) -> tensor<1x256x2304xf32>
    %964 = stablehlo.add %961, %963 : tensor<1x256x2304xf32>
    %965 = stablehlo.reshape %964 : (tensor<1x256x2304xf32>) -> tensor<1x256x36x64xf32>
    %966 = stablehlo.slice %965 [0:1, 0:256, 0:12, 0:64] : (tensor<1x256x36x64xf32>) -> tensor<1x256x12x64xf32>
    %967 = stablehlo.slice %965 [0:1, 0:256, 12:24, 0:64] : (tensor<1x256x36x64xf32>) -> tensor<1x256x12x64xf32>
    %968 = stablehlo.slice %965 [0:1, 0:256, 24:36, 0:64] : (tensor<1x256x36x64xf32>) -> tensor<1x256x12x64xf32>
    %969 = stablehlo.dot_general %966, %967, batching_dims = [0, 2] x [0, 2], contracting_dims = [3] x [3], precision = [DEFAULT, DEFAULT] : (tensor<1x256x12x64xf32>, tensor<1x256x12x64xf32>) -> tensor<1x12x256x256xf32>
    %cst_185 = stablehlo.constant dense<1.250000e-01> : tensor<f32>
    %970 = stablehlo.broadcast_in_dim %cst_185, dims = [] : (tensor<f32>) -> tensor<1x12x256x256xf32>
    %971 = stablehlo.multiply %969, %970 : tensor<1x12x256x256xf32>
    %c_186 = stablehlo.constant dense<true> : tensor<i1>
    %972 = stablehlo.broadcast_in_dim %c_186, dims = [] : (tensor<i1>) -> tensor<256x256xi1>
    %973 = call @tril(%972) : (tensor<256x256xi1>) -> tensor<256x256xi1>
    %cst_187 = stablehlo.constant dense<-1.000000e+09> : tensor<f32>
    %974 = call @_where(%973, %971, %cst_187) : (tensor<256x256xi1>, tensor<1x12x256x256xf32>, tensor<f32>) -> tensor<1x12x256x256xf32>
    %cst_188 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %975 = stablehlo.reduce(%974 init: %cst_188) applies stablehlo.maximum across dimensions = [3] : (tensor<1x12x256x256xf32>, tensor<f32>) -> tensor<1x12x256xf32>
    %cst_189 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %976 = stablehlo.broadcast_in_dim %cst_189, dims = [] : (tensor<f32>) -> tensor<1x12x256xf32>
    %977 = stablehlo.maximum %976, %975 : tensor<1x12x256xf32>
    %978 = stablehlo.broadcast_in_dim %977, dims = [0, 1, 2] : (tensor<1x12x256xf32>) -> tensor<1x12x256x1xf32>
    %979 = stablehlo.broadcast_in_dim %978, dims = [0, 1, 2, 3] : (tensor<1x12x256x1xf32>) -> tensor<1x12x256x256xf32>
    %980 = stablehlo.subtract %974, %979 : tensor<1x12x256x256xf32>
    %981 = stablehlo.exponential %980 : tensor<1x12x256x256xf32>
    %cst_190 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %982 = stablehlo.reduce(%981 init: %cst_190) applies stablehlo.add across dimensions = [3] : (tensor<1x12x256x256xf32>, tensor<f32>) -> tensor<1x12x256xf32>
    %983 = stablehlo.broadcast_in_dim %982, dims = [0, 1, 2] : (tensor<1x12x256xf32>) -> tensor<1x12x256x1xf32>
    %984 = stablehlo.broadcast_in_dim %983, dims = [0, 1, 2, 3] : (tensor<1x12x256x1xf32>) -> tensor<1x12x256x256xf32>
    %985 = stablehlo.divide %981, %984 : tensor<1x12x256x256xf32>
    %986 = stablehlo.dot_general %968, %985, batching_dims = [0, 2] x [0, 1], contracting_dims = [1] x [3], precision = [DEFAULT, DEFAULT] : (tensor<1x256x12x64xf32>, tensor<1x12x256x256xf32>) -> tensor<1x12x64x256xf32>
    %987 = stablehlo.transpose %986, dims = [0, 3, 1, 2] : (tensor<1x12x64x256xf32>) -> tensor<1x256x12x64xf32>
    %988 = stablehlo.reshape %987 : (tensor<1x256x12x64xf32>) -> tensor<1x256x768xf32>
    %989 = stablehlo.dot_general %988, %arg117, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x256x768xf32>, tensor<768x768xf32>) -> tensor<1x256x768xf32>
    %990 = stablehlo.add %936, %989 : tensor<1x256x768xf32>
    %991 = stablehlo.broadcast_in_dim %arg118, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %992 = stablehlo.broadcast_in_dim %991, dims = [0, 1, 2] : (tensor<1x1x768xf32>) -> tensor<1x256x768xf32>
    %993 = stablehlo.add %990, %992 : tensor<1x256x768xf32>
    %cst_191 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %994 = stablehlo.reduce(%993 init: %cst_191) applies stablehlo.add across dimensions = [2] : (tensor<1x256x768xf32>, tensor<f32>) -> tensor<1x256xf32>
    %995 = stablehlo.broadcast_in_dim %994, dims = [0, 1] : (tensor<1x256xf32>) -> tensor<1x256x1xf32>
    %cst_192 = stablehlo.constant dense<7.680000e+02> : tensor<f32>
    %996 = stablehlo.broadcast_in_dim %cst_192, dims = [] : (tensor<f32>) -> tensor<1x256x1xf32>
    %997 = stablehlo.divide %995, %996 : tensor<1x256x1xf32>
    %998 = stablehlo.broadcast_in_dim %997, dims = [0, 1, 2] : (tensor<1x256x1xf32>) -> tensor<1x256x768xf32>
    %999 = stablehlo.subtract %993, %998 : tensor<1x256x768xf32>
    %1000 = stablehlo.multiply %999, %999 : tensor<1x256x768xf32>
    %cst_193 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1001 = stablehlo.reduce(%1000 init: %cst_193) applies stablehlo.add across dimensions = [2] : (tensor<1x256x768xf32>, tensor<f32>) -> tensor<1x256xf32>
    %1002 = stablehlo.broadcast_in_dim %1001, dims = [0, 1] : (tensor<1x256xf32>) -> tensor<1x256x1xf32>
    %cst_194 = stablehlo.constant dense<7.680000e+02> : tensor<f32>
    %1003 = stablehlo.broadcast_in_dim %cst_194, dims = [] : (tensor<f32>) -> tensor<1x256x1xf32>
    %1004 = stablehlo.divide %1002, %1003 : tensor<1x256x1xf32>
    %1005 = stablehlo.broadcast_in_dim %997, dims = [0, 1, 2] : (tensor<1x256x1xf32>) -> tensor<1x256x768xf32>
    %1006 = stablehlo.subtract %993, %1005 : tensor<1x256x768xf32>
    %cst_195 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %1007 = stablehlo.broadcast_in_dim %cst_195, dims = [] : (tensor<f32>) -> tensor<1x256x1xf32>
    %1008 = stablehlo.add %1004, %1007 : tensor<1x256x1xf32>
    %1009 = stablehlo.rsqrt %1008 : tensor<1x256x1xf32>
    %1010 = stablehlo.broadcast_in_dim %1009, dims = [0, 1, 2] : (tensor<1x256x1xf32>) -> tensor<1x256x768xf32>
    %1011 = stablehlo.multiply %1006, %1010 : tensor<1x256x768xf32>
    %1012 = stablehlo.broadcast_in_dim %arg119, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %1013 = stablehlo.broadcast_in_dim %1012, dims = [0, 1, 2] : (tensor<1x1x768xf32>) -> tensor<1x256x768xf32>
    %1014 = stablehlo.multiply %1011, %1013 : tensor<1x256x768xf32>
    %1015 = stablehlo.broadcast_in_dim %arg120, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %1016 = stablehlo.broadcast_in_dim %1015, dims = [0, 1, 2] : (tensor<1x1x768xf32>) -> tensor<1x256x768xf32>
    %1017 = stablehlo.add %1014, %1016 : tensor<1x256x768xf32>
    %1018 = stablehlo.dot_general %1017, %arg121, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x256x768xf32>, tensor<768x3072xf32>) -> tensor<1x256x3072xf32>
    %1019 = stablehlo.broadcast_in_dim %arg122, dims = [2] : (tensor<3072xf32>) -> tensor<1x1x3072xf32>
    %1020 = stablehlo.broadcast_in_dim %1019, dims = [0, 1, 2] : (tensor<1x1x3072xf32>) -> tensor<1x256x3072xf32>
    %1021 = stablehlo.add %1018, %1020 : tensor<1x256x3072xf32>
    %1022 = stablehlo.multiply %1021, %1021 : tensor<1x256x3072xf32>
    %1023 = stablehlo.multiply %1022, %1021 : tensor<1x256x3072xf32>
    %cst_196 = stablehlo.constant dense<4.471500e-02> : tensor<f32>
    %1024 = stablehlo.broadcast_in_dim %cst_196, dims = [] : (tensor<f32>) -> tensor<1x256x3072xf32>
    %1025 = stablehlo.multiply %1024, %1023 : tensor<1x256x3072xf32>
    %1026 = stablehlo.add %1021, %1025 : tensor<1x256x3072xf32>
    %cst_197 = stablehlo.constant dense<0.797884583> : tensor<f32>
    %1027 = stablehlo.broadcast_in_dim %cst_197, dims = [] : (tensor<f32>) -> tensor<1x256x3072xf32>
    %1028 = stablehlo.multiply %1027, %1026 : tensor<1x256x3072xf32>
    %1029 = stablehlo.tanh %1028 : tensor<1x256x3072xf32>
    %cst_198 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %1030 = stablehlo.broadcast_in_dim %cst_198, dims = [] : (tensor<f32>) -> tensor<1x256x3072xf32>
    %1031 = stablehlo.add %1030, %1029 : tensor<1x256x3072xf32>
    %cst_199 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %1032 = stablehlo.broadcast_in_dim %cst_199, dims = [] : (tensor<f32>) -> tensor<1x256x3072xf32>
    %1033 = stablehlo.multiply %1032, %1031 : tensor<1x256x3072xf32>
    %1034 = stablehlo.multiply %1021, %1033 : tensor<1x256x3072xf32>
    %1035 = stablehlo.dot_general %1034, %arg123, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x256x3072xf32>, tensor<3072x768xf32>) -> tensor<1x256x768xf32>
    %1036 = stablehlo.add %993, %1035 : tensor<1x256x768xf32>
    %1037 = stablehlo.broadcast_in_dim %arg124, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %1038 = stablehlo.broadcast_in_dim %1037, dims = [0, 1, 2] : (tensor<1x1x768xf32>) -> tensor<1x256x768xf32>
    %1039 = stablehlo.add %1036, %1038 : tensor<1x256x768xf32>
    %cst_200 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1040 = stablehlo.reduce(%1039 init: %cst_200) applies stablehlo.add across dimensions = [2] : (tensor<1x256x768xf32>, tensor<f32>) -> tensor<1x256xf32>
    %1041 = stablehlo.broadcast_in_dim %1040, dims = [0, 1] : (tensor<1x256xf32>) -> tensor<1x256x1xf32>
    %cst_201 = stablehlo.constant dense<7.680000e+02> : tensor<f32>
    %1042 = stablehlo.broadcast_in_dim %cst_201, dims = [] : (tensor<f32>) -> tensor<1x256x1xf32>
    %1043 = stablehlo.divide %1041, %1042 : tensor<1x256x1xf32>
    %1044 = stablehlo.broadcast_in_dim %1043, dims = [0, 1, 2] : (tensor<1x256x1xf32>) -> tensor<1x256x768xf32>
    %1045 = stablehlo.subtract %1039, %1044 : tensor<1x256x768xf32>
    %1046 = stablehlo.multiply %1045, %1045 : tensor<1x256x768xf32>
    %cst_202 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1047 = stablehlo.reduce(%1046 init: %cst_202) applies stablehlo.add across dimensions = [2] : (tensor<1x256x768xf32>, tensor<f32>) -> tensor<1x256xf32>
    %1048 = stablehlo.broadcast_in_dim %1047, dims = [0, 1] : (tensor<1x256xf32>) -> tensor<1x256x1xf32>
    %cst_203 = stablehlo.constant dense<7.680000e+02> : tensor<f32>
    %1049 = stablehlo.broadcast_in_dim %cst_203, dims = [] : (tensor<f32>) -> tensor<1x256x1xf32>
    %1050 = stablehlo.divide %1048, %1049 : tensor<1x256x1xf32>
    %1051 = stablehlo.broadcast_in_dim %1043, dims = [0, 1, 2] : (tensor<1x256x1xf32>) -> tensor<1x256x768xf32>
    %1052 = stablehlo.subtract %1039, %1051 : tensor<1x256x768xf32>
    %cst_204 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %1053 = stablehlo.broadcast_in_dim %cst_204, dims = [] : (tensor<f32>) -> tensor<1x256x1xf32>
    %1054 = stablehlo.add %1050, %1053 : tensor<1x256x1xf32>
    %1055 = stablehlo.rsqrt %1054 : tensor<1x256x1xf32>
    %1056 = stablehlo.broadcast_in_dim %1055, dims = [0, 1, 2] : (tensor<1x256x1xf32>) -> tensor<1x256x768xf32>
    %1057 = stablehlo.multiply %1052, %1056 : tensor<1x256x768xf32>
    %1058 = stablehlo.broadcast_in_dim %arg125, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %1059 = stablehlo.broadcast_in_dim %1058, dims = [0, 1, 2] : (tensor<1x1x768xf32>) -> tensor<1x256x768xf32>
    %1060 = stablehlo.multiply %1057, %1059 : tensor<1x256x768xf32>
    %1061 = stablehlo.broadcast_in_dim %arg126, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %1062 = stablehlo.broadcast_in_dim %1061, dims = [0, 1, 2] : (tensor<1x1x768xf32>) -> tensor<1x256x768xf32>
    %1063 = stablehlo.add %1060, %1062 : tensor<1x256x768xf32>
    %1064 = stablehlo.dot_general %1063, %arg127, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x256x768xf32>, tensor<768x2304xf32>) -> tensor<1x256x2304xf32>
    %1065 = stablehlo.broadcast_in_dim %arg128, dims = [2] : (tensor<2304xf32>) -> tensor<1x1x2304xf32>
    %1066 = stablehlo.broadcast_in_dim %1065, dims = [0, 1, 2] : (tensor<1x1x2304xf32>) -> tensor<1x256x2304xf32>
    %1067 = stablehlo.add %1064, %1066 : tensor<1x256x2304xf32>
    %1068 = stablehlo.reshape %1067 : (tensor<1x256x2304xf32>) -> tensor<1x256x36x64xf32>
    %1069 = stablehlo.slice %1068 [0:1, 0:256, 0:12, 0:64] : (tensor<1x256x36x64xf32>) -> tensor<1x256x12x64xf32>
    %1070 = stablehlo.slice %1068 [0:1, 0:256, 12:24, 0:64] : (tensor<1x256x36x64xf32>) -> tensor<1x256x12x64xf32>
    %1071 = stablehlo.slice %1068 [0:1, 0:256, 24:36, 0:64] : (tensor<1x256x36x64xf32>) -> tensor<1x256x12x64xf32>
    %1072 = stablehlo.dot_general %1069, %1070, batching_dims = [0, 2] x [0, 2], contracting_dims = [3] x [3], precision = [DEFAULT, DEFAULT] : (tensor<1x256x12x64xf32>, tensor<1x256x12x64xf32>) -> tensor<1x12x256x256xf32>
    %cst_205 = stablehlo.constant dense<1.250000e-01> : tensor<f32>
    %1073 = stablehlo.broadcast_in_dim %cst_205, dims = [] : (tensor<f32>) -> tensor<1x12x256x256xf32>
    %1074 = stablehlo.multiply %1072, %1073 : tensor<1x12x256x256xf32>
    %c_206 = stablehlo.constant dense<true> : tensor<i1>
    %1075 = stablehlo.broadcast_in_dim %c_206, dims = [] : (tensor<i1>) -> tensor<256x256xi1>
    %1076 = call @tril(%1075) : (tensor<256x256xi1>) -> tensor<256x256xi1>
    %cst_207 = stablehlo.constant dense<-1.000000e+09> : tensor<f32>
    %1077 = call @_where(%1076, %1074, %cst_207) : (tensor<256x256xi1>, tensor<1x12x256x256xf32>, tensor<f32>) -> tensor<1x12x256x256xf32>
    %cst_208 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %1078 = stablehlo.reduce(%1077 init: %cst_208) applies stablehlo.maximum across dimensions = [3] : (tensor<1x12x256x256xf32>, tensor<f32>) -> tensor<1x12x256xf32>
    %cst_209 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %1079 = stablehlo.broadcast_in_dim %cst_209, dims = [] : (tensor<f32>) -> tensor<1x12x256xf32>
    %1080 = stablehlo.maximum %1079, %1078 : tensor<1x12x256xf32>
    %1081 = stablehlo.broadcast_in_dim %1080, dims = [0, 1, 2] : (tensor<1x12x256xf32>) -> tensor<1x12x256x1xf32>
    %1082 = stablehlo.broadcast_in_dim %1081, dims = [0, 1, 2, 3] : (tensor<1x12x256x1xf32>) -> tensor<1x12x256x256xf32>
    %1083 = stablehlo.subtract %1077, %1082 : tensor<1x12x256x256xf32>
    %1084 = stablehlo.exponential %1083 : tensor<1x12x256x256xf32>
    %cst_210 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1085 = stablehlo.reduce(%1084 init: %cst_210) applies stablehlo.add across dimensions = [3] : (tensor<1x12x256x256xf32>, tensor<f32>) -> tensor<1x12x256xf32>
    %1086 = stablehlo.broadcast_in_dim %1085, dims = [0, 1, 2] : (tensor<1x12x256xf32>) -> tensor<1x12x256x1xf32>
    %1087 = stablehlo.broadcast_in_dim %1086, dims = [0, 1, 2, 3] : (tensor<1x12x256x1xf32>) -> tensor<1x12x256x256xf32>
    %1088 = stablehlo.divide %1084, %1087 : tensor<1x12x256x256xf32>
    %1089 = stablehlo.dot_general %1071, %1088, batching_dims = [0, 2] x [0, 1], contracting_dims = [1] x [3], precision = [DEFAULT, DEFAULT] : (tensor<1x256x12x64xf32>, tensor<1x12x256x256xf32>) -> tensor<1x12x64x256xf32>
    %1090 = stablehlo.transpose %1089, dims = [0, 3, 1, 2] : (tensor<1x12x64x256xf32>) -> tensor<1x256x12x64xf32>
    %1091 = stablehlo.reshape %1090 : (tensor<1x256x12x64xf32>) -> tensor<1x256x768xf32>
    %1092 = stablehlo.dot_general %1091, %arg129, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x256x768xf32>, tensor<768x768xf32>) -> tensor<1x256x768xf32>
    %1093 = stablehlo.add %1039, %1092 : tensor<1x256x768xf32>
    %1094 = stablehlo.broadcast_in_dim %arg130, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %1095 = stablehlo.broadcast_in_dim %1094, dims = [0, 1, 2] : (tensor<1x1x768xf32>) -> tensor<1x256x768xf32>
    %1096 = stablehlo.add %1093, %1095 : tensor<1x256x768xf32>
    %cst_211 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1097 = stablehlo.reduce(%1096 init: %cst_211) applies stablehlo.add across dimensions = [2] : (tensor<1x256x768xf32>, tensor<f32>) -> tensor<1x256xf32>
    %1098 = stablehlo.broadcast_in_dim %1097, dims = [0, 1] : (tensor<1x256xf32>) -> tensor<1x256x1xf32>
    %cst_212 = stablehlo.constant dense<7.680000e+02> : tensor<f32>
    %1099 = stablehlo.broadcast_in_dim %cst_212, dims = [] : (tensor<f32>) -> tensor<1x256x1xf32>
    %1100 = stablehlo.divide %1098, %1099 : tensor<1x256x1xf32>
    %1101 = stablehlo.broadcast_in_dim %1100, dims = [0, 1, 2] : (tensor<1x256x1xf32>) -> tensor<1x256x768xf32>
    %1102 = stablehlo.subtract %1096, %1101 : tensor<1x256x768xf32>
    %1103 = stablehlo.multiply %1102, %1102 : tensor<1x256x768xf32>
    %cst_213 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1104 = stablehlo.reduce(%1103 init: %cst_213) applies stablehlo.add across dimensions = [2] : (tensor<1x256x768xf32>, tensor<f32>) -> tensor<1x256xf32>
    %1105 = stablehlo.broadcast_in_dim %1104, dims = [0, 1] : (tensor<1x256xf32>) -> tensor<1x256x1xf32>
    %cst_214 = stablehlo.constant dense<7.680000e+02> : tensor<f32>
    %1106 = stablehlo.broadcast_in_dim %cst_214, dims = [] : (tensor<f32>) -> tensor<1x256x1xf32>
    %1107 = stablehlo.divide %1105, %1106 : tensor<1x256x1xf32>
    %1108 = stablehlo.broadcast_in_dim %1100, dims = [0, 1, 2] : (tensor<1x256x1xf32>) -> tensor<1x256x768xf32>
    %1109 = stablehlo.subtract %1096, %1108 : tensor<1x256x768xf32>
    %cst_215 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %1110 = stablehlo.broadcast_in_dim %cst_215, dims = [] : (tensor<f32>) -> tensor<1x256x1xf32>
    %1111 = stablehlo.add %1107, %1110 : tensor<1x256x1xf32>
    %1112 = stablehlo.rsqrt %1111 : tensor<1x256x1xf32>
    %1113 = stablehlo.broadcast_in_dim %1112, dims = [0, 1, 2] : (tensor<1x256x1xf32>) -> tensor<1x256x768xf32>
    %1114 = stablehlo.multiply %1109, %1113 : tensor<1x256x768xf32>
    %1115 = stablehlo.broadcast_in_dim %arg131, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %1116 = stablehlo.broadcast_in_dim %1115, dims = [0, 1, 2] : (tensor<1x1x768xf32>) -> tensor<1x256x768xf32>
    %1117 = stablehlo.multiply %1114, %1116 : tensor<1x256x768xf32>
    %1118 = stablehlo.broadcast_in_dim %arg132, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %1119 = stablehlo.broadcast_in_dim %1118, dims = [0, 1, 2] : (tensor<1x1x768xf32>) -> tensor<1x256x768xf32>
    %1120 = stablehlo.add %1117, %1119 : tensor<1x256x768xf32>
    %1121 = stablehlo.dot_general %1120, %arg133, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x256x768xf32>, tensor<768x3072xf32>) -> tensor<1x256x3072xf32>
    %1122 = stablehlo.broadcast_in_dim %arg134, dims = [2] : (tensor<3072xf32>) -> tensor<1x1x3072xf32>
    %1123 = stablehlo.broadcast_in_dim %1122, dims = [0, 1, 2] : (tensor<1x1x3072xf32>) -> tensor<1x256x3072xf32>
    %1124 = stablehlo.add %1121, %1123 : tensor<1x256x3072xf32>
    %1125 = stablehlo.multiply %1124, %1124 : tensor<1x256x3072xf32>
    %1126 = stablehlo.multiply %1125, %1124 : tensor<1x256x3072xf32>
    %cst_216 = stablehlo.constant dense<4.471500e-02> : tensor<f32>
    %1127 = stablehlo.broadcast_in_dim %cst_216, dims = [] : (tensor<f32>) -> tensor<1x256x3072xf32>
    %1128 = stablehlo.multiply %1127, %1126 : tensor<1x256x3072xf32>
    %1129 = stablehlo.add %1124, %1128 : tensor<1x256x3072xf32>
    %cst_217 = stablehlo.constant dense<0.797884583> : tensor<f32>
    %1130 = stablehlo.broadcast_in_dim %cst_217, dims = [] : (tensor<f32>) -> tensor<1x256x3072xf32>
    %1131 = stablehlo.multiply %1130, %1129 : tensor<1x256x3072xf32>
    %1132 = stablehlo.tanh %1131 : tensor<1x256x3072xf32>
    %cst_218 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %1133 = stablehlo.broadcast_in_dim %cst_218, dims = [] : (tensor<f32>) -> tensor<1x256x3072xf32>
    %1134 = stablehlo.add %1133, %1132 : tensor<1x256x3072xf32>
    %cst_219 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %1135 = stablehlo.broadcast_in_dim %cst_219, dims = [] : (tensor<f32>) -> tensor<1x256x3072xf32>
    %1136 = stablehlo.multiply %1135, %1134 : tensor<1x256x3072xf32>
    %1137 = stablehlo.multiply %1124, %1136 : tensor<1x256x3072xf32>
    %1138 = stablehlo.dot_general %1137, %arg135, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x256x3072xf32>, tensor<3072x768xf32>) -> tensor<1x256x768xf32>
    %1139 = stablehlo.add %1096, %1138 : tensor<1x256x768xf32>
    %1140 = stablehlo.broadcast_in_dim %arg136, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %1141 = stablehlo.broadcast_in_dim %1140, dims = [0, 1, 2] : (tensor<1x1x768xf32>) -> tensor<1x256x768xf32>
    %1142 = stablehlo.add %1139, %1141 : tensor<1x256x768xf32>
    %cst_220 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1143 = stablehlo.reduce(%1142 init: %cst_220) applies stablehlo.add across dimensions = [2] : (tensor<1x256x768xf32>, tensor<f32>) -> tensor<1x256xf32>
    %1144 = stablehlo.broadcast_in_dim %1143, dims = [0, 1] : (tensor<1x256xf32>) -> tensor<1x256x1xf32>
    %cst_221 = stablehlo.constant dense<7.680000e+02> : tensor<f32>
    %1145 = stablehlo.broadcast_in_dim %cst_221, dims = [] : (tensor<f32>) -> tensor<1x256x1xf32>
    %1146 = stablehlo.divide %1144, %1145 : tensor<1x256x1xf32>
    %1147 = stablehlo.broadcast_in_dim %1146, dims = [0, 1, 2] : (tensor<1x256x1xf32>) -> tensor<1x256x768xf32>
    %1148 = stablehlo.subtract %1142, %1147 : tensor<1x256x768xf32>
    %1149 = stablehlo.multiply %1148, %1148 : tensor<1x256x768xf32>
    %cst_222 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1150 = stablehlo.reduce(%1149 init: %cst_222) applies stablehlo.add across dimensions = [2] : (tensor<1x256x768xf32>, tensor<f32>) -> tensor<1x256xf32>
    %1151 = stablehlo.broadcast_in_dim %1150, dims = [0, 1] : (tensor<1x256xf32>) -> tensor<1x256x1xf32>
    %cst_223 = stablehlo.constant dense<7.680000e+02> : tensor<f32>
    %1152 = stablehlo.broadcast_in_dim %cst_223, dims = [] : (tensor<f32>) -> tensor<1x256x1xf32>
    %1153 = stablehlo.divide %1151, %1152 : tensor<1x256x1xf32>
    %1154 = stablehlo.broadcast_in_dim %1146, dims = [0, 1, 2] : (tensor<1x256x1xf32>) -> tensor<1x256x768xf32>
    %1155 = stablehlo.subtract %1142, %1154 : tensor<1x256x768xf32>
    %cst_224 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %1156 = stablehlo.broadcast_in_dim %cst_224, dims = [] : (tensor<f32>) -> tensor<1x256x1xf32>
    %1157 = stablehlo.add %1153, %1156 : tensor<1x256x1xf32>
    %1158 = stablehlo.rsqrt %1157 : tensor<1x256x1xf32>
    %1159 = stablehlo.broadcast_in_dim %1158, dims = [0, 1, 2] : (tensor<1x256x1xf32>) -> tensor<1x256x768xf32>
    %1160 = stablehlo.multiply %1155, %1159 : tensor<1x256x768xf32>
    %1161 = stablehlo.broadcast_in_dim %arg137, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %1162 = stablehlo.broadcast_in_dim %1161, dims = [0, 1, 2] : (tensor<1x1x768xf32>) -> tensor<1x256x768xf32>
    %1163 = stablehlo.multiply %1160, %1162 : tensor<1x256x768xf32>
    %1164 = stablehlo.broadcast_in_dim %arg138, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %1165 = stablehlo.broadcast_in_dim %1164, dims = [0, 1, 2] : (tensor<1x1x768xf32>) -> tensor<1x256x768xf32>
    %1166 = stablehlo.add %1163, %1165 : tensor<1x256x768xf32>
    %1167 = stablehlo.dot_general %1166, %arg139, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x256x768xf32>, tensor<768x2304xf32>) -> tensor<1x256x2304xf32>
    %1168 = stablehlo.broadcast_in_dim %arg140, dims = [2] : (tensor<2304xf32>) -> tensor<1x1x2304xf32>
    %1169 = stablehlo.broadcast_in_dim %1168, dims = [0, 1, 2] : (tensor<1x1x2304xf32>) -> tensor<1x256x2304xf32>
    %1170 = stablehlo.add %1167, %1169 : tensor<1x256x2304xf32>
    %1171 = stablehlo.reshape %1170 : (tensor<1x256x2304xf32>) -> tensor<1x256x36x64xf32>
    %1172 = stablehlo.slice %1171 [0:1, 0:256, 0:12, 0:64] : (tensor<1x256x36x64xf32>) -> tensor<1x256x12x64xf32>
    %1173 = stablehlo.slice %1171 [0:1, 0:256, 12:24, 0:64] : (tensor<1x256x36x64xf32>) -> tensor<1x256x12x64xf32>
    %1174 = stablehlo.slice %1171 [0:1, 0:256, 24:36, 0:64] : (tensor<1x256x36x64xf32>) -> tensor<1x256x12x64xf32>
    %1175 = stablehlo.dot_general %1172, %1173, batching_dims = [0, 2] x [0, 2], contracting_dims = [3] x [3], precision = [DEFAULT, DEFAULT] : (tensor<1x256x12x64xf32>, tensor<1x256x12x64xf32>) -> tensor<1x12x256x256xf32>
    %cst_225 = stablehlo.constant dense<1.250000e-01> : tensor<f32>
    %1176 = stablehlo.broadcast_in_dim %cst_225, dims = [] : (tensor<f32>) -> tensor<1x12x256x256xf32>
    %1177 = stablehlo.multiply %1175, %1176 : tensor<1x12x256x256xf32>
    %c_226 = stablehlo.constant dense<true> : tensor<i1>
    %1178 = stablehlo.broadcast_in_dim %c_226, dims = [] : (tensor<i1>) -> tensor<256x256xi1>
    %1179 = call @tril(%1178) : (tensor<256x256xi1>) -> tensor<256x256xi1>
    %cst_227 = stablehlo.constant dense<-1.000000e+09> : tensor<f32>
    %1180 = call @_where(%1179, %1177, %cst_227) : (tensor<256x256xi1>, tensor<1x12x256x256xf32>, tensor<f32>) -> tensor<1x12x256x256xf32>
    %cst_228 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %1181 = stablehlo.reduce(%1180 init: %cst_228) applies stablehlo.maximum across dimensions = [3] : (tensor<1x12x256x256xf32>, tensor<f32>) -> tensor<1x12x256xf32>
    %cst_229 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %1182 = stablehlo.broadcast_in_dim %cst_229, dims = [] : (tensor<f32>) -> tensor<1x12x256xf32>
    %1183 = stablehlo.maximum %1182, %1181 : tensor<1x12x256xf32>
    %1184 = stablehlo.broadcast_in_dim %1183, dims = [0, 1, 2] : (tensor<1x12x256xf32>) -> tensor<1x12x256x1xf32>
    %1185 = stablehlo.broadcast_in_dim %1184, dims = [0, 1, 2, 3] : (tensor<1x12x256x1xf32>) -> tensor<1x12x256x256xf32>
    %1186 = stablehlo.subtract %1180, %1185 : tensor<1x12x256x256xf32>
    %1187 = stablehlo.exponential %1186 : tensor<1x12x256x256xf32>
    %cst_230 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1188 = stablehlo.reduce(%1187 init: %cst_230) applies stablehlo.add across dimensions = [3] : (tensor<1x12x256x256xf32>, tensor<f32>) -> tensor<1x12x256xf32>
    %1189 = stablehlo.broadcast_in_dim %1188, dims = [0, 1, 2] : (tensor<1x12x256xf32>) -> tensor<1x12x256x1xf32>
    %1190 = stablehlo.broadcast_in_dim %1189, dims = [0, 1, 2, 3] : (tensor<1x12x256x1xf32>) -> tensor<1x12x256x256xf32>
    %1191 = stablehlo.divide %1187, %1190 : tensor<1x12x256x256xf32>
    %1192 = stablehlo.dot_general %1174, %1191, batching_dims = [0, 2] x [0, 1], contracting_dims = [1] x [3], precision = [DEFAULT, DEFAULT] : (tensor<1x256x12x64xf32>, tensor<1x12x256x256xf32>) -> tensor<1x12x64x256xf32>
    %1193 = stablehlo.transpose %1192, dims = [0, 3, 1, 2] : (tensor<1x12x64x256xf32>) -> tensor<1x256x12x64xf32>
    %1194 = stablehlo.reshape %1193 : (tensor<1x256x12x64xf32>) -> tensor<1x256x768xf32>
    %1195 = stablehlo.dot_general %1194, %arg141, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x256x768xf32>, tensor<768x768xf32>) -> tensor<1x256x768xf32>
    %1196 = stablehlo.add %1142, %1195 : tensor<1x256x768xf32>
    %1197 = stablehlo.broadcast_in_dim %arg142, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %1198 = stablehlo.broadcast_in_dim %1197, dims = [0, 1, 2] : (tensor<1x1x768xf32>) -> tensor<1x256x768xf32>
    %1199 = stablehlo.add %1196, %1198 : tensor<1x256x768xf32>
    %cst_231 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1200 = stablehlo.reduce(%1199 init: %cst_231) applies stablehlo.add across dimensions = [2] : (tensor<1x256x768xf32>, tensor<f32>) -> tensor<1x256xf32>
    %1201 = stablehlo.broadcast_in_dim %1200, dims = [0, 1] : (tensor<1x256xf32>) -> tensor<1x256x1xf32>
    %cst_232 = stablehlo.constant dense<7.680000e+02> : tensor<f32>
    %1202 = stablehlo.broadcast_in_dim %cst_232, dims = [] : (tensor<f32>) -> tensor<1x256x1xf32>
    %1203 = stablehlo.divide %1201, %1202 : tensor<1x256x1xf32>
    %1204 = stablehlo.broadcast_in_dim %1203, dims = [0, 1, 2] : (tensor<1x256x1xf32>) -> tensor<1x256x768xf32>
    %1205 = stablehlo.subtract %1199, %1204 : tensor<1x256x768xf32>
    %1206 = stablehlo.multiply %1205, %1205 : tensor<1x256x768xf32>
    %cst_233 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1207 = stablehlo.reduce(%1206 init: %cst_233) applies stablehlo.add across dimensions = [2] : (tensor<1x256x768xf32>, tensor<f32>) -> tensor<1x256xf32>
    %1208 = stablehlo.broadcast_in_dim %1207, dims = [0, 1] : (tensor<1x256xf32>) -> tensor<1x256x1xf32>
    %cst_234 = stablehlo.constant dense<7.680000e+02> : tensor<f32>
    %1209 = stablehlo.broadcast_in_dim %cst_234, dims = [] : (tensor<f32>) -> tensor<1x256x1xf32>
    %1210 = stablehlo.divide %1208, %1209 : tensor<1x256x1xf32>
    %1211 = stablehlo.broadcast_in_dim %1203, dims = [0, 1, 2] : (tensor<1x256x1xf32>) -> tensor<1x256x768xf32>
    %1212 = stablehlo.subtract %1199, %1211 : tensor<1x256x768xf32>
    %cst_235 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %1213 = stablehlo.broadcast_in_dim %cst_235, dims = [] : (tensor<f32>) -> tensor<1x256x1xf32>
    %1214 = stablehlo.add %1210, %1213 : tensor<1x256x1xf32>
    %1215 = stablehlo.rsqrt %1214 : tensor<1x256x1xf32>
    %1216 = stablehlo.broadcast_in_dim %1215, dims = [0, 1, 2] : (tensor<1x256x1xf32>) -> tensor<1x256x768xf32>
    %1217 = stablehlo.multiply %1212, %1216 : tensor<1x256x768xf32>
    %1218 = stablehlo.broadcast_in_dim %arg143, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %1219 = stablehlo.broadcast_in_dim %1218, dims = [0, 1, 2] : (tensor<1x1x768xf32>) -> tensor<1x256x768xf32>
    %1220 = stablehlo.multiply %1217, %1219 : tensor<1x256x768xf32>
    %1221 = stablehlo.broadcast_in_dim %arg144, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %1222 = stablehlo.broadcast_in_dim %1221, dims = [0, 1, 2] : (tensor<1x1x768xf32>) -> tensor<1x256x768xf32>
    %1223 = stablehlo.add %1220, %1222 : tensor<1x256x768xf32>
    %1224 = stablehlo.dot_general %1223, %arg145, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x256x768xf32>, tensor<768x3072xf32>) -> tensor<1x256x3072xf32>
    %1225 = stablehlo.broadcast_in_dim %arg146, dims = [2] : (tensor<3072xf32>) -> tensor<1x1x3072xf32>
    %1226 = stablehlo.broadcast_in_dim %1225, dims = [0, 1, 2] : (tensor<1x1x3072xf32>) -> tensor<1x256x3072xf32>
    %1227 = stablehlo.add %1224, %1226 : tensor<1x256x3072xf32>
    %1228 = stablehlo.multiply %1227, %1227 : tensor<1x256x3072xf32>
    %1229 = stablehlo.multiply %1228, %1227 : tensor<1x256x3072xf32>
    %cst_236 = stablehlo.constant dense<4.471500e-02> : tensor<f32>
    %1230 = stablehlo.broadcast_in_dim %cst_236, dims = [] : (tensor<f32>) -> tensor<1x256x3072xf32>
    %1231 = stablehlo.multiply %1230, %1229 : tensor<1x256x3072xf32>
    %1232 = stablehlo.add %1227, %1231 : tensor<1x256x3072xf32>
    %cst_237 = stablehlo.constant dense<0.797884583> : tensor<f32>
    %1233 = stablehlo.broadcast_in_dim %cst_237, dims = [] : (tensor<f32>) -> tensor<1x256x3072xf32>
    %1234 = stablehlo.multiply %1233, %1232 : tensor<1x256x3072xf32>
    %1235 = stablehlo.tanh %1234 : tensor<1x256x3072xf32>
    %cst_238 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %1236 = stablehlo.broadcast_in_dim %cst_238, dims = [] : (tensor<f32>) -> tensor<1x256x3072xf32>
    %1237 = stablehlo.add %1236, %1235 : tensor<1x256x3072xf32>
    %cst_239 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %1238 = stablehlo.broadcast_in_dim %cst_239, dims = [] : (tensor<f32>) -> tensor<1x256x3072xf32>
    %1239 = stablehlo.multiply %1238, %1237 : tensor<1x256x3072xf32>
    %1240 = stablehlo.multiply %1227, %1239 : tensor<1x256x3072xf32>
    %1241 = stablehlo.dot_general %1240, %arg147, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x256x3072xf32>, tensor<3072x768xf32>) -> tensor<1x256x768xf32>
    %1242 = stablehlo.add %1199, %1241 : tensor<1x256x768xf32>
    %1243 = stablehlo.broadcast_in_dim %arg148, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %1244 = stablehlo.broadcast_in_dim %1243, dims = [0, 1, 2] : (tensor<1x1x768xf32>) -> tensor<1x256x768xf32>
    %1245 = stablehlo.add %1242, %1244 : tensor<1x256x768xf32>
    %cst_240 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1246 = stablehlo.reduce(%1245 init: %cst_240) applies stablehlo.add across dimensions = [2] : (tensor<1x256x768xf32>, tensor<f32>) -> tensor<1x256xf32>
    %1247 = stablehlo.broadcast_in_dim %1246, dims = [0, 1] : (tensor<1x256xf32>) -> tensor<1x256x1xf32>
    %cst_241 = stablehlo.constant dense<7.680000e+02> : tensor<f32>
    %1248 = stablehlo.broadcast_in_dim %cst_241, dims = [] : (tensor<f32>) -> tensor<1x256x1xf32>
    %1249 = stablehlo.divide %1247, %1248 : tensor<1x256x1xf32>
    %1250 = stablehlo.broadcast_in_dim %1249, dims = [0, 1, 2] : (tensor<1x256x1xf32>) -> tensor<1x256x768xf32>
    %1251 = stablehlo.subtract %1245, %1250 : tensor<1x256x768xf32>
    %1252 = stablehlo.multiply %1251, %1251 : tensor<1x256x768xf32>
    %cst_242 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1253 = stablehlo.reduce(%1252 init: %cst_242) applies stablehlo.add across dimensions = [2] : (tensor<1x256x768xf32>, tensor<f32>) -> tensor<1x256xf32>
    %1254 = stablehlo.broadcast_in_dim %1253, dims = [0, 1] : (tensor<1x256xf32>) -> tensor<1x256x1xf32>
    %cst_243 = stablehlo.constant dense<7.680000e+02> : tensor<f32>
    %1255 = stablehlo.broadcast_in_dim %cst_243, dims = [] : (tensor<f32>) -> tensor<1x256x1xf32>
    %1256 = stablehlo.divide %1254, %1255 : tensor<1x256x1xf32>
    %1257 = stablehlo.broadcast_in_dim %1249, dims = [0, 1, 2] : (tensor<1x256x1xf32>) -> tensor<1x256x768xf32>
    %1258 = stablehlo.subtract %1245, %1257 : tensor<1x256x768xf32>
    %cst_244 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %1259 = stablehlo.broadcast_in_dim %cst_244, dims = [] : (tensor<f32>) -> tensor<1x256x1xf32>
    %1260 = stablehlo.add %1256, %1259 : tensor<1x256x1xf32>
    %1261 = stablehlo.rsqrt %1260 : tensor<1x256x1xf32>
    %1262 = stablehlo.broadcast_in_dim %1261, dims = [0, 1, 2] : (tensor<1x256x1xf32>) -> tensor<1x256x768xf32>
    %1263 = stablehlo.multiply %1258, %1262 : tensor<1x256x768xf32>
    %1264 = stablehlo.broadcast_in_dim %arg3, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %1265 = stablehlo.broadcast_in_dim %1264, dims = [0, 1, 2] : (tensor<1x1x768xf32>) -> tensor<1x256x768xf32>
    %1266 = stablehlo.multiply %1263, %1265 : tensor<1x256x768xf32>
    %1267 = stablehlo.broadcast_in_dim %arg4, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %1268 = stablehlo.broadcast_in_dim %1267, dims = [0, 1, 2] : (tensor<1x1x768xf32>) -> tensor<1x256x768xf32>
    %1269 = stablehlo.add %1266, %1268 : tensor<1x256x768xf32>
    %1270 = stablehlo.transpose %arg1, dims = [1, 0] : (tensor<50257x768xf32>) -> tensor<768x50257xf32>
    %1271 = stablehlo.dot_general %1269, %1270, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x256x768xf32>, tensor<768x50257xf32>) -> tensor<1x256x50257xf32>
    return %1271 : tensor<1x256x50257xf32>
  }
  func.func private @tril(%arg0: tensor<256x256xi1>) -> tensor<256x256xi1> {
    %0 = stablehlo.iota dim = 0 : tensor<256x256xi32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<256x256xi32>
    %2 = stablehlo.add %0, %1 : tensor<256x256xi32>
    %3 = stablehlo.iota dim = 1 : tensor<256x256xi32>
    %4 = stablehlo.compare GE, %2, %3, SIGNED : (tensor<256x256xi32>, tensor<256x256xi32>) -> tensor<256x256xi1>
    %c_0 = stablehlo.constant dense<false> : tensor<i1>
    %5 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i1>) -> tensor<256x256xi1>
    %6 = stablehlo.select %4, %arg0, %5 : tensor<256x256xi1>, tensor<256x256xi1>
    return %6 : tensor<256x256xi1>
  }
  func.func private @_where(%arg0: tensor<256x256xi1>, %arg1: tensor<1x12x256x256xf32>, %arg2: tensor<f32>) -> tensor<1x12x256x256xf32> {
    %0 = stablehlo.convert %arg2 : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %arg0, dims = [2, 3] : (tensor<256x256xi1>) -> tensor<1x12x256x256xi1>
    %2 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<1x12x256x256xf32>
    %3 = stablehlo.select %1, %arg1, %2 : tensor<1x12x256x256xi1>, tensor<1x12x256x256xf32>
    return %3 : tensor<1x12x256x256xf32>
  }
}
