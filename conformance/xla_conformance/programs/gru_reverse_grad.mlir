module @jit_gru_reverse_grad attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<5x2x3xf32>, %arg1: tensor<2x4xf32>, %arg2: tensor<3x12xf32>, %arg3: tensor<4x12xf32>) -> (tensor<3x12xf32> {jax.result_info = "result"}) {
    %0 = stablehlo.slice %arg0 [0:1, 0:2, 0:3] : (tensor<5x2x3xf32>) -> tensor<1x2x3xf32>
    %1 = stablehlo.slice %arg0 [1:5, 0:2, 0:3] : (tensor<5x2x3xf32>) -> tensor<4x2x3xf32>
    %2 = stablehlo.reshape %1 : (tensor<4x2x3xf32>) -> tensor<2x2x2x3xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %3 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<2x2x2xf32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %4 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<2x2x2x4xf32>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %5 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<2x2x2x4xf32>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %6 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<2x2x2x4xf32>
    %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %7 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<2x2x2x4xf32>
    %cst_4 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %8 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<2x2x2x4xf32>
    %cst_5 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %9 = stablehlo.broadcast_in_dim %cst_5, dims = [] : (tensor<f32>) -> tensor<2x2x2x4xf32>
    %cst_6 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %10 = stablehlo.broadcast_in_dim %cst_6, dims = [] : (tensor<f32>) -> tensor<2x2x2x4xf32>
    %cst_7 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %11 = stablehlo.broadcast_in_dim %cst_7, dims = [] : (tensor<f32>) -> tensor<2x2x2x4xf32>
    %cst_8 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %12 = stablehlo.broadcast_in_dim %cst_8, dims = [] : (tensor<f32>) -> tensor<2x2x2x4xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %13:15 = stablehlo.while(%iterArg = %2, %iterArg_17 = %arg2, %iterArg_18 = %arg3, %iterArg_19 = %c, %iterArg_20 = %arg1, %iterArg_21 = %3, %iterArg_22 = %4, %iterArg_23 = %5, %iterArg_24 = %6, %iterArg_25 = %7, %iterArg_26 = %8, %iterArg_27 = %9, %iterArg_28 = %10, %iterArg_29 = %11, %iterArg_30 = %12) : tensor<2x2x2x3xf32>, tensor<3x12xf32>, tensor<4x12xf32>, tensor<i32>, tensor<2x4xf32>, tensor<2x2x2xf32>, tensor<2x2x2x4xf32>, tensor<2x2x2x4xf32>, tensor<2x2x2x4xf32>, tensor<2x2x2x4xf32>, tensor<2x2x2x4xf32>, tensor<2x2x2x4xf32>, tensor<2x2x2x4xf32>, tensor<2x2x2x4xf32>, tensor<2x2x2x4xf32>
    cond {
      %c_31 = stablehlo.constant dense<2> : tensor<i32>
      %115 = stablehlo.compare LT, %iterArg_19, %c_31, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %115 : tensor<i1>
    } do {
      %c_31 = stablehlo.constant dense<2> : tensor<i32>
      %115 = stablehlo.subtract %c_31, %iterArg_19 : tensor<i32>
      %c_32 = stablehlo.constant dense<1> : tensor<i32>
      %116 = stablehlo.subtract %115, %c_32 : tensor<i32>
      %117 = func.call @dynamic_index_in_dim(%iterArg, %116) : (tensor<2x2x2x3xf32>, tensor<i32>) -> tensor<2x2x3xf32>
      %118 = stablehlo.slice %117 [1:2, 0:2, 0:3] : (tensor<2x2x3xf32>) -> tensor<1x2x3xf32>
      %119 = stablehlo.reshape %118 : (tensor<1x2x3xf32>) -> tensor<2x3xf32>
      %120:11 = func.call @closed_call(%iterArg_17, %iterArg_18, %iterArg_20, %119) : (tensor<3x12xf32>, tensor<4x12xf32>, tensor<2x4xf32>, tensor<2x3xf32>) -> (tensor<2x4xf32>, tensor<2xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>)
      %121 = stablehlo.slice %117 [0:1, 0:2, 0:3] : (tensor<2x2x3xf32>) -> tensor<1x2x3xf32>
      %122 = stablehlo.reshape %121 : (tensor<1x2x3xf32>) -> tensor<2x3xf32>
      %123:11 = func.call @closed_call(%iterArg_17, %iterArg_18, %120#0, %122) : (tensor<3x12xf32>, tensor<4x12xf32>, tensor<2x4xf32>, tensor<2x3xf32>) -> (tensor<2x4xf32>, tensor<2xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>)
      %124 = stablehlo.broadcast_in_dim %123#1, dims = [1] : (tensor<2xf32>) -> tensor<1x2xf32>
      %125 = stablehlo.broadcast_in_dim %120#1, dims = [1] : (tensor<2xf32>) -> tensor<1x2xf32>
      %126 = stablehlo.concatenate %124, %125, dim = 0 : (tensor<1x2xf32>, tensor<1x2xf32>) -> tensor<2x2xf32>
      %127 = stablehlo.broadcast_in_dim %123#2, dims = [1, 2] : (tensor<2x4xf32>) -> tensor<1x2x4xf32>
      %128 = stablehlo.broadcast_in_dim %120#2, dims = [1, 2] : (tensor<2x4xf32>) -> tensor<1x2x4xf32>
      %129 = stablehlo.concatenate %127, %128, dim = 0 : (tensor<1x2x4xf32>, tensor<1x2x4xf32>) -> tensor<2x2x4xf32>
      %130 = stablehlo.broadcast_in_dim %123#3, dims = [1, 2] : (tensor<2x4xf32>) -> tensor<1x2x4xf32>
      %131 = stablehlo.broadcast_in_dim %120#3, dims = [1, 2] : (tensor<2x4xf32>) -> tensor<1x2x4xf32>
      %132 = stablehlo.concatenate %130, %131, dim = 0 : (tensor<1x2x4xf32>, tensor<1x2x4xf32>) -> tensor<2x2x4xf32>
      %133 = stablehlo.broadcast_in_dim %123#4, dims = [1, 2] : (tensor<2x4xf32>) -> tensor<1x2x4xf32>
      %134 = stablehlo.broadcast_in_dim %120#4, dims = [1, 2] : (tensor<2x4xf32>) -> tensor<1x2x4xf32>
      %135 = stablehlo.concatenate %133, %134, dim = 0 : (tensor<1x2x4xf32>, tensor<1x2x4xf32>) -> tensor<2x2x4xf32>
      %136 = stablehlo.broadcast_in_dim %123#5, dims = [1, 2] : (tensor<2x4xf32>) -> tensor<1x2x4xf32>
      %137 = stablehlo.broadcast_in_dim %120#5, dims = [1, 2] : (tensor<2x4xf32>) -> tensor<1x2x4xf32>
      %138 = stablehlo.concatenate %136, %137, dim = 0 : (tensor<1x2x4xf32>, tensor<1x2x4xf32>) -> tensor<2x2x4xf32>
      %139 = stablehlo.broadcast_in_dim %123#6, dims = [1, 2] : (tensor<2x4xf32>) -> tensor<1x2x4xf32>
      %140 = stablehlo.broadcast_in_dim %120#6, dims = [1, 2] : (tensor<2x4xf32>) -> tensor<1x2x4xf32>
      %141 = stablehlo.concatenate %139, %140, dim = 0 : (tensor<1x2x4xf32>, tensor<1x2x4xf32>) -> tensor<2x2x4xf32>
      %142 = stablehlo.broadcast_in_dim %123#7, dims = [1, 2] : (tensor<2x4xf32>) -> tensor<1x2x4xf32>
      %143 = stablehlo.broadcast_in_dim %120#7, dims = [1, 2] : (tensor<2x4xf32>) -> tensor<1x2x4xf32>
      %144 = stablehlo.concatenate %142, %143, dim = 0 : (tensor<1x2x4xf32>, tensor<1x2x4xf32>) -> tensor<2x2x4xf32>
      %145 = stablehlo.broadcast_in_dim %123#8, dims = [1, 2] : (tensor<2x4xf32>) -> tensor<1x2x4xf32>
      %146 = stablehlo.broadcast_in_dim %120#8, dims = [1, 2] : (tensor<2x4xf32>) -> tensor<1x2x4xf32>
      %147 = stablehlo.concatenate %145, %146, dim = 0 : (tensor<1x2x4xf32>, tensor<1x2x4xf32>) -> tensor<2x2x4xf32>
      %148 = stablehlo.broadcast_in_dim %123#9, dims = [1, 2] : (tensor<2x4xf32>) -> tensor<1x2x4xf32>
      %149 = stablehlo.broadcast_in_dim %120#9, dims = [1, 2] : (tensor<2x4xf32>) -> tensor<1x2x4xf32>
      %150 = stablehlo.concatenate %148, %149, dim = 0 : (tensor<1x2x4xf32>, tensor<1x2x4xf32>) -> tensor<2x2x4xf32>
      %151 = stablehlo.broadcast_in_dim %123#10, dims = [1, 2] : (tensor<2x4xf32>) -> tensor<1x2x4xf32>
      %152 = stablehlo.broadcast_in_dim %120#10, dims = [1, 2] : (tensor<2x4xf32>) -> tensor<1x2x4xf32>
      %153 = stablehlo.concatenate %151, %152, dim = 0 : (tensor<1x2x4xf32>, tensor<1x2x4xf32>) -> tensor<2x2x4xf32>
      %154 = func.call @dynamic_update_index_in_dim(%iterArg_21, %126, %116) : (tensor<2x2x2xf32>, tensor<2x2xf32>, tensor<i32>) -> tensor<2x2x2xf32>
      %155 = func.call @dynamic_update_index_in_dim_0(%iterArg_22, %129, %116) : (tensor<2x2x2x4xf32>, tensor<2x2x4xf32>, tensor<i32>) -> tensor<2x2x2x4xf32>
      %156 = func.call @dynamic_update_index_in_dim_0(%iterArg_23, %132, %116) : (tensor<2x2x2x4xf32>, tensor<2x2x4xf32>, tensor<i32>) -> tensor<2x2x2x4xf32>
      %157 = func.call @dynamic_update_index_in_dim_0(%iterArg_24, %135, %116) : (tensor<2x2x2x4xf32>, tensor<2x2x4xf32>, tensor<i32>) -> tensor<2x2x2x4xf32>
      %158 = func.call @dynamic_update_index_in_dim_0(%iterArg_25, %138, %116) : (tensor<2x2x2x4xf32>, tensor<2x2x4xf32>, tensor<i32>) -> tensor<2x2x2x4xf32>
      %159 = func.call @dynamic_update_index_in_dim_0(%iterArg_26, %141, %116) : (tensor<2x2x2x4xf32>, tensor<2x2x4xf32>, tensor<i32>) -> tensor<2x2x2x4xf32>
      %160 = func.call @dynamic_update_index_in_dim_0(%iterArg_27, %144, %116) : (tensor<2x2x2x4xf32>, tensor<2x2x4xf32>, tensor<i32>) -> tensor<2x2x2x4xf32>
      %161 = func.call @dynamic_update_index_in_dim_0(%iterArg_28, %147, %116) : (tensor<2x2x2x4xf32>, tensor<2x2x4xf32>, tensor<i32>) -> tensor<2x2x2x4xf32>
      %162 = func.call @dynamic_update_index_in_dim_0(%iterArg_29, %150, %116) : (tensor<2x2x2x4xf32>, tensor<2x2x4xf32>, tensor<i32>) -> tensor<2x2x2x4xf32>
      %163 = func.call @dynamic_update_index_in_dim_0(%iterArg_30, %153, %116) : (tensor<2x2x2x4xf32>, tensor<2x2x4xf32>, tensor<i32>) -> tensor<2x2x2x4xf32>
      %c_33 = stablehlo.constant dense<1> : tensor<i32>
      %164 = stablehlo.add %iterArg_19, %c_33 : tensor<i32>
      stablehlo.return %iterArg, %iterArg_17, %iterArg_18, %164, %123#0, %154, %155, %156, %157, %158, %159, %160, %161, %162, %163 : tensor<2x2x2x3xf32>, tensor<3x12xf32>, tensor<4x12xf32>, tensor<i32>, tensor<2x4xf32>, tensor<2x2x2xf32>, tensor<2x2x2x4xf32>, tensor<2x2x2x4xf32>, tensor<2x2x2x4xf32>, tensor<2x2x2x4xf32>, tensor<2x2x2x4xf32>, tensor<2x2x2x4xf32>, tensor<2x2x2x4xf32>, tensor<2x2x2x4xf32>, tensor<2x2x2x4xf32>
    }
    %14 = stablehlo.reshape %13#5 : (tensor<2x2x2xf32>) -> tensor<4x2xf32>
    %15 = stablehlo.reshape %13#6 : (tensor<2x2x2x4xf32>) -> tensor<4x2x4xf32>
    %16 = stablehlo.reshape %13#7 : (tensor<2x2x2x4xf32>) -> tensor<4x2x4xf32>
    %17 = stablehlo.reshape %13#8 : (tensor<2x2x2x4xf32>) -> tensor<4x2x4xf32>
    %18 = stablehlo.reshape %13#9 : (tensor<2x2x2x4xf32>) -> tensor<4x2x4xf32>
    %19 = stablehlo.reshape %13#10 : (tensor<2x2x2x4xf32>) -> tensor<4x2x4xf32>
    %20 = stablehlo.reshape %13#11 : (tensor<2x2x2x4xf32>) -> tensor<4x2x4xf32>
    %21 = stablehlo.reshape %13#12 : (tensor<2x2x2x4xf32>) -> tensor<4x2x4xf32>
    %22 = stablehlo.reshape %13#13 : (tensor<2x2x2x4xf32>) -> tensor<4x2x4xf32>
    %23 = stablehlo.reshape %13#14 : (tensor<2x2x2x4xf32>) -> tensor<4x2x4xf32>
    %24 = stablehlo.slice %0 [0:1, 0:2, 0:3] : (tensor<1x2x3xf32>) -> tensor<1x2x3xf32>
    %25 = stablehlo.reshape %24 : (tensor<1x2x3xf32>) -> tensor<2x3xf32>
    %26:11 = call @closed_call(%arg2, %arg3, %13#4, %25) : (tensor<3x12xf32>, tensor<4x12xf32>, tensor<2x4xf32>, tensor<2x3xf32>) -> (tensor<2x4xf32>, tensor<2xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>)
    %27 = stablehlo.broadcast_in_dim %26#1, dims = [1] : (tensor<2xf32>) -> tensor<1x2xf32>
    %28 = stablehlo.broadcast_in_dim %26#2, dims = [1, 2] : (tensor<2x4xf32>) -> tensor<1x2x4xf32>
    %29 = stablehlo.broadcast_in_dim %26#3, dims = [1, 2] : (tensor<2x4xf32>) -> tensor<1x2x4xf32>
    %30 = stablehlo.broadcast_in_dim %26#4, dims = [1, 2] : (tensor<2x4xf32>) -> tensor<1x2x4xf32>
    %31 = stablehlo.broadcast_in_dim %26#5, dims = [1, 2] : (tensor<2x4xf32>) -> tensor<1x2x4xf32>
    %32 = stablehlo.broadcast_in_dim %26#6, dims = [1, 2] : (tensor<2x4xf32>) -> tensor<1x2x4xf32>
    %33 = stablehlo.broadcast_in_dim %26#7, dims = [1, 2] : (tensor<2x4xf32>) -> tensor<1x2x4xf32>
    %34 = stablehlo.broadcast_in_dim %26#8, dims = [1, 2] : (tensor<2x4xf32>) -> tensor<1x2x4xf32>
    %35 = stablehlo.broadcast_in_dim %26#9, dims = [1, 2] : (tensor<2x4xf32>) -> tensor<1x2x4xf32>
    %36 = stablehlo.broadcast_in_dim %26#10, dims = [1, 2] : (tensor<2x4xf32>) -> tensor<1x2x4xf32>
    %37 = stablehlo.concatenate %27, %14, dim = 0 : (tensor<1x2xf32>, tensor<4x2xf32>) -> tensor<5x2xf32>
    %38 = stablehlo.concatenate %28, %15, dim = 0 : (tensor<1x2x4xf32>, tensor<4x2x4xf32>) -> tensor<5x2x4xf32>
    %39 = stablehlo.concatenate %29, %16, dim = 0 : (tensor<1x2x4xf32>, tensor<4x2x4xf32>) -> tensor<5x2x4xf32>
    %40 = stablehlo.concatenate %30, %17, dim = 0 : (tensor<1x2x4xf32>, tensor<4x2x4xf32>) -> tensor<5x2x4xf32>
    %41 = stablehlo.concatenate %31, %18, dim = 0 : (tensor<1x2x4xf32>, tensor<4x2x4xf32>) -> tensor<5x2x4xf32>
    %42 = stablehlo.concatenate %32, %19, dim = 0 : (tensor<1x2x4xf32>, tensor<4x2x4xf32>) -> tensor<5x2x4xf32>
    %43 = stablehlo.concatenate %33, %20, dim = 0 : (tensor<1x2x4xf32>, tensor<4x2x4xf32>) -> tensor<5x2x4xf32>
    %44 = stablehlo.concatenate %34, %21, dim = 0 : (tensor<1x2x4xf32>, tensor<4x2x4xf32>) -> tensor<5x2x4xf32>
    %45 = stablehlo.concatenate %35, %22, dim = 0 : (tensor<1x2x4xf32>, tensor<4x2x4xf32>) -> tensor<5x2x4xf32>
    %46 = stablehlo.concatenate %36, %23, dim = 0 : (tensor<1x2x4xf32>, tensor<4x2x4xf32>) -> tensor<5x2x4xf32>
    %47 = stablehlo.multiply %26#0, %26#0 : tensor<2x4xf32>
    %cst_9 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %48 = stablehlo.broadcast_in_dim %cst_9, dims = [] : (tensor<f32>) -> tensor<2x4xf32>
    %49 = stablehlo.multiply %48, %26#0 : tensor<2x4xf32>
    %cst_10 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %50 = stablehlo.reduce(%47 init: %cst_10) applies stablehlo.add across dimensions = [0, 1] : (tensor<2x4xf32>, tensor<f32>) -> tensor<f32>
    %cst_11 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %51 = stablehlo.reduce(%37 init: %cst_11) applies stablehlo.add across dimensions = [0, 1] : (tensor<5x2xf32>, tensor<f32>) -> tensor<f32>
    %52 = stablehlo.add %50, %51 : tensor<f32>
    %cst_12 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %53 = stablehlo.broadcast_in_dim %cst_12, dims = [] : (tensor<f32>) -> tensor<2x4xf32>
    %cst_13 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %54 = stablehlo.broadcast_in_dim %cst_13, dims = [] : (tensor<f32>) -> tensor<5x2xf32>
    %cst_14 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %55 = stablehlo.broadcast_in_dim %cst_14, dims = [] : (tensor<f32>) -> tensor<2x4xf32>
    %56 = stablehlo.multiply %55, %49 : tensor<2x4xf32>
    %cst_15 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %57 = stablehlo.broadcast_in_dim %cst_15, dims = [] : (tensor<f32>) -> tensor<3x12xf32>
    %58 = stablehlo.slice %54 [0:4, 0:2] : (tensor<5x2xf32>) -> tensor<4x2xf32>
    %59 = stablehlo.slice %54 [4:5, 0:2] : (tensor<5x2xf32>) -> tensor<1x2xf32>
    %60 = stablehlo.slice %arg0 [0:4, 0:2, 0:3] : (tensor<5x2x3xf32>) -> tensor<4x2x3xf32>
    %61 = stablehlo.slice %arg0 [4:5, 0:2, 0:3] : (tensor<5x2x3xf32>) -> tensor<1x2x3xf32>
    %62 = stablehlo.slice %38 [0:4, 0:2, 0:4] : (tensor<5x2x4xf32>) -> tensor<4x2x4xf32>
    %63 = stablehlo.slice %38 [4:5, 0:2, 0:4] : (tensor<5x2x4xf32>) -> tensor<1x2x4xf32>
    %64 = stablehlo.slice %39 [0:4, 0:2, 0:4] : (tensor<5x2x4xf32>) -> tensor<4x2x4xf32>
    %65 = stablehlo.slice %39 [4:5, 0:2, 0:4] : (tensor<5x2x4xf32>) -> tensor<1x2x4xf32>
    %66 = stablehlo.slice %40 [0:4, 0:2, 0:4] : (tensor<5x2x4xf32>) -> tensor<4x2x4xf32>
    %67 = stablehlo.slice %40 [4:5, 0:2, 0:4] : (tensor<5x2x4xf32>) -> tensor<1x2x4xf32>
    %68 = stablehlo.slice %41 [0:4, 0:2, 0:4] : (tensor<5x2x4xf32>) -> tensor<4x2x4xf32>
    %69 = stablehlo.slice %41 [4:5, 0:2, 0:4] : (tensor<5x2x4xf32>) -> tensor<1x2x4xf32>
    %70 = stablehlo.slice %42 [0:4, 0:2, 0:4] : (tensor<5x2x4xf32>) -> tensor<4x2x4xf32>
    %71 = stablehlo.slice %42 [4:5, 0:2, 0:4] : (tensor<5x2x4xf32>) -> tensor<1x2x4xf32>
    %72 = stablehlo.slice %43 [0:4, 0:2, 0:4] : (tensor<5x2x4xf32>) -> tensor<4x2x4xf32>
    %73 = stablehlo.slice %43 [4:5, 0:2, 0:4] : (tensor<5x2x4xf32>) -> tensor<1x2x4xf32>
    %74 = stablehlo.slice %44 [0:4, 0:2, 0:4] : (tensor<5x2x4xf32>) -> tensor<4x2x4xf32>
    %75 = stablehlo.slice %44 [4:5, 0:2, 0:4] : (tensor<5x2x4xf32>) -> tensor<1x2x4xf32>
    %76 = stablehlo.slice %45 [0:4, 0:2, 0:4] : (tensor<5x2x4xf32>) -> tensor<4x2x4xf32>
    %77 = stablehlo.slice %45 [4:5, 0:2, 0:4] : (tensor<5x2x4xf32>) -> tensor<1x2x4xf32>
    %78 = stablehlo.slice %46 [0:4, 0:2, 0:4] : (tensor<5x2x4xf32>) -> tensor<4x2x4xf32>
    %79 = stablehlo.slice %46 [4:5, 0:2, 0:4] : (tensor<5x2x4xf32>) -> tensor<1x2x4xf32>
    %80 = stablehlo.reshape %58 : (tensor<4x2xf32>) -> tensor<2x2x2xf32>
    %81 = stablehlo.reshape %60 : (tensor<4x2x3xf32>) -> tensor<2x2x2x3xf32>
    %82 = stablehlo.reshape %62 : (tensor<4x2x4xf32>) -> tensor<2x2x2x4xf32>
    %83 = stablehlo.reshape %64 : (tensor<4x2x4xf32>) -> tensor<2x2x2x4xf32>
    %84 = stablehlo.reshape %66 : (tensor<4x2x4xf32>) -> tensor<2x2x2x4xf32>
    %85 = stablehlo.reshape %68 : (tensor<4x2x4xf32>) -> tensor<2x2x2x4xf32>
    %86 = stablehlo.reshape %70 : (tensor<4x2x4xf32>) -> tensor<2x2x2x4xf32>
    %87 = stablehlo.reshape %72 : (tensor<4x2x4xf32>) -> tensor<2x2x2x4xf32>
    %88 = stablehlo.reshape %74 : (tensor<4x2x4xf32>) -> tensor<2x2x2x4xf32>
    %89 = stablehlo.reshape %76 : (tensor<4x2x4xf32>) -> tensor<2x2x2x4xf32>
    %90 = stablehlo.reshape %78 : (tensor<4x2x4xf32>) -> tensor<2x2x2x4xf32>
    %c_16 = stablehlo.constant dense<0> : tensor<i32>
    %91:15 = stablehlo.while(%iterArg = %80, %iterArg_17 = %81, %iterArg_18 = %82, %iterArg_19 = %83, %iterArg_20 = %84, %iterArg_21 = %85, %iterArg_22 = %86, %iterArg_23 = %87, %iterArg_24 = %88, %iterArg_25 = %89, %iterArg_26 = %90, %iterArg_27 = %arg3, %iterArg_28 = %c_16, %iterArg_29 = %57, %iterArg_30 = %56) : tensor<2x2x2xf32>, tensor<2x2x2x3xf32>, tensor<2x2x2x4xf32>, tensor<2x2x2x4xf32>, tensor<2x2x2x4xf32>, tensor<2x2x2x4xf32>, tensor<2x2x2x4xf32>, tensor<2x2x2x4xf32>, tensor<2x2x2x4xf32>, tensor<2x2x2x4xf32>, tensor<2x2x2x4xf32>, tensor<4x12xf32>, tensor<i32>, tensor<3x12xf32>, tensor<2x4xf32>
    cond {
      %c_31 = stablehlo.constant dense<2> : tensor<i32>
      %115 = stablehlo.compare LT, %iterArg_28, %c_31, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %115 : tensor<i1>
    } do {
      %115 = func.call @dynamic_index_in_dim_1(%iterArg, %iterArg_28) : (tensor<2x2x2xf32>, tensor<i32>) -> tensor<2x2xf32>
      %116 = func.call @dynamic_index_in_dim(%iterArg_17, %iterArg_28) : (tensor<2x2x2x3xf32>, tensor<i32>) -> tensor<2x2x3xf32>
      %117 = func.call @dynamic_index_in_dim_2(%iterArg_18, %iterArg_28) : (tensor<2x2x2x4xf32>, tensor<i32>) -> tensor<2x2x4xf32>
      %118 = func.call @dynamic_index_in_dim_2(%iterArg_19, %iterArg_28) : (tensor<2x2x2x4xf32>, tensor<i32>) -> tensor<2x2x4xf32>
      %119 = func.call @dynamic_index_in_dim_2(%iterArg_20, %iterArg_28) : (tensor<2x2x2x4xf32>, tensor<i32>) -> tensor<2x2x4xf32>
      %120 = func.call @dynamic_index_in_dim_2(%iterArg_21, %iterArg_28) : (tensor<2x2x2x4xf32>, tensor<i32>) -> tensor<2x2x4xf32>
      %121 = func.call @dynamic_index_in_dim_2(%iterArg_22, %iterArg_28) : (tensor<2x2x2x4xf32>, tensor<i32>) -> tensor<2x2x4xf32>
      %122 = func.call @dynamic_index_in_dim_2(%iterArg_23, %iterArg_28) : (tensor<2x2x2x4xf32>, tensor<i32>) -> tensor<2x2x4xf32>
      %123 = func.call @dynamic_index_in_dim_2(%iterArg_24, %iterArg_28) : (tensor<2x2x2x4xf32>, tensor<i32>) -> tensor<2x2x4xf32>
      %124 = func.call @dynamic_index_in_dim_2(%iterArg_25, %iterArg_28) : (tensor<2x2x2x4xf32>, tensor<i32>) -> tensor<2x2x4xf32>
      %125 = func.call @dynamic_index_in_dim_2(%iterArg_26, %iterArg_28) : (tensor<2x2x2x4xf32>, tensor<i32>) -> tensor<2x2x4xf32>
      %126 = stablehlo.slice %115 [0:1, 0:2] : (tensor<2x2xf32>) -> tensor<1x2xf32>
      %127 = stablehlo.reshape %126 : (tensor<1x2xf32>) -> tensor<2xf32>
      %128 = stablehlo.slice %116 [0:1, 0:2, 0:3] : (tensor<2x2x3xf32>) -> tensor<1x2x3xf32>
      %129 = stablehlo.reshape %128 : (tensor<1x2x3xf32>) -> tensor<2x3xf32>
      %130 = stablehlo.slice %117 [0:1, 0:2, 0:4] : (tensor<2x2x4xf32>) -> tensor<1x2x4xf32>
      %131 = stablehlo.reshape %130 : (tensor<1x2x4xf32>) -> tensor<2x4xf32>
      %132 = stablehlo.slice %118 [0:1, 0:2, 0:4] : (tensor<2x2x4xf32>) -> tensor<1x2x4xf32>
      %133 = stablehlo.reshape %132 : (tensor<1x2x4xf32>) -> tensor<2x4xf32>
      %134 = stablehlo.slice %119 [0:1, 0:2, 0:4] : (tensor<2x2x4xf32>) -> tensor<1x2x4xf32>
      %135 = stablehlo.reshape %134 : (tensor<1x2x4xf32>) -> tensor<2x4xf32>
      %136 = stablehlo.slice %120 [0:1, 0:2, 0:4] : (tensor<2x2x4xf32>) -> tensor<1x2x4xf32>
      %137 = stablehlo.reshape %136 : (tensor<1x2x4xf32>) -> tensor<2x4xf32>
      %138 = stablehlo.slice %121 [0:1, 0:2, 0:4] : (tensor<2x2x4xf32>) -> tensor<1x2x4xf32>
      %139 = stablehlo.reshape %138 : (tensor<1x2x4xf32>) -> tensor<2x4xf32>
      %140 = stablehlo.slice %122 [0:1, 0:2, 0:4] : (tensor<2x2x4xf32>) -> tensor<1x2x4xf32>
      %141 = stablehlo.reshape %140 : (tensor<1x2x4xf32>) -> tensor<2x4xf32>
      %142 = stablehlo.slice %123 [0:1, 0:2, 0:4] : (tensor<2x2x4xf32>) -> tensor<1x2x4xf32>
      %143 = stablehlo.reshape %142 : (tensor<1x2x4xf32>) -> tensor<2x4xf32>
      %144 = stablehlo.slice %124 [0:1, 0:2, 0:4] : (tensor<2x2x4xf32>) -> tensor<1x2x4xf32>
      %145 = stablehlo.reshape %144 : (tensor<1x2x4xf32>) -> tensor<2x4xf32>
      %146 = stablehlo.slice %125 [0:1, 0:2, 0:4] : (tensor<2x2x4xf32>) -> tensor<1x2x4xf32>
      %147 = stablehlo.reshape %146 : (tensor<1x2x4xf32>) -> tensor<2x4xf32>
      %148:2 = func.call @closed_call_3(%iterArg_27, %iterArg_29, %iterArg_30, %127, %129, %131, %133, %135, %137, %139, %141, %143, %145, %147) : (tensor<4x12xf32>, tensor<3x12xf32>, tensor<2x4xf32>, tensor<2xf32>, tensor<2x3xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>) -> (tensor<3x12xf32>, tensor<2x4xf32>)
      %149 = stablehlo.slice %115 [1:2, 0:2] : (tensor<2x2xf32>) -> tensor<1x2xf32>
      %150 = stablehlo.reshape %149 : (tensor<1x2xf32>) -> tensor<2xf32>
      %151 = stablehlo.slice %116 [1:2, 0:2, 0:3] : (tensor<2x2x3xf32>) -> tensor<1x2x3xf32>
      %152 = stablehlo.reshape %151 : (tensor<1x2x3xf32>) -> tensor<2x3xf32>
      %153 = stablehlo.slice %117 [1:2, 0:2, 0:4] : (tensor<2x2x4xf32>) -> tensor<1x2x4xf32>
      %154 = stablehlo.reshape %153 : (tensor<1x2x4xf32>) -> tensor<2x4xf32>
      %155 = stablehlo.slice %118 [1:2, 0:2, 0:4] : (tensor<2x2x4xf32>) -> tensor<1x2x4xf32>
      %156 = stablehlo.reshape %155 : (tensor<1x2x4xf32>) -> tensor<2x4xf32>
      %157 = stablehlo.slice %119 [1:2, 0:2, 0:4] : (tensor<2x2x4xf32>) -> tensor<1x2x4xf32>
      %158 = stablehlo.reshape %157 : (tensor<1x2x4xf32>) -> tensor<2x4xf32>
      %159 = stablehlo.slice %120 [1:2, 0:2, 0:4] : (tensor<2x2x4xf32>) -> tensor<1x2x4xf32>
      %160 = stablehlo.reshape %159 : (tensor<1x2x4xf32>) -> tensor<2x4xf32>
      %161 = stablehlo.slice %121 [1:2, 0:2, 0:4] : (tensor<2x2x4xf32>) -> tensor<1x2x4xf32>
      %162 = stablehlo.reshape %161 : (tensor<1x2x4xf32>) -> tensor<2x4xf32>
      %163 = stablehlo.slice %122 [1:2, 0:2, 0:4] : (tensor<2x2x4xf32>) -> tensor<1x2x4xf32>
      %164 = stablehlo.reshape %163 : (tensor<1x2x4xf32>) -> tensor<2x4xf32>
      %165 = stablehlo.slice %123 [1:2, 0:2, 0:4] : (tensor<2x2x4xf32>) -> tensor<1x2x4xf32>
      %166 = stablehlo.reshape %165 : (tensor<1x2x4xf32>) -> tensor<2x4xf32>
      %167 = stablehlo.slice %124 [1:2, 0:2, 0:4] : (tensor<2x2x4xf32>) -> tensor<1x2x4xf32>
      %168 = stablehlo.reshape %167 : (tensor<1x2x4xf32>) -> tensor<2x4xf32>
      %169 = stablehlo.slice %125 [1:2, 0:2, 0:4] : (tensor<2x2x4xf32>) -> tensor<1x2x4xf32>
      %170 = stablehlo.reshape %169 : (tensor<1x2x4xf32>) -> tensor<2x4xf32>
      %171:2 = func.call @closed_call_3(%iterArg_27, %148#0, %148#1, %150, %152, %154, %156, %158, %160, %162, %164, %166, %168, %170) : (tensor<4x12xf32>, tensor<3x12xf32>, tensor<2x4xf32>, tensor<2xf32>, tensor<2x3xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>) -> (tensor<3x12xf32>, tensor<2x4xf32>)
      %c_31 = stablehlo.constant dense<1> : tensor<i32>
      %172 = stablehlo.add %iterArg_28, %c_31 : tensor<i32>
      stablehlo.return %iterArg, %iterArg_17, %iterArg_18, %iterArg_19, %iterArg_20, %iterArg_21, %iterArg_22, %iterArg_23, %iterArg_24, %iterArg_25, %iterArg_26, %iterArg_27, %172, %171#0, %171#1 : tensor<2x2x2xf32>, tensor<2x2x2x3xf32>, tensor<2x2x2x4xf32>, tensor<2x2x2x4xf32>, tensor<2x2x2x4xf32>, tensor<2x2x2x4xf32>, tensor<2x2x2x4xf32>, tensor<2x2x2x4xf32>, tensor<2x2x2x4xf32>, tensor<2x2x2x4xf32>, tensor<2x2x2x4xf32>, tensor<4x12xf32>, tensor<i32>, tensor<3x12xf32>, tensor<2x4xf32>
    }
    %92 = stablehlo.slice %59 [0:1, 0:2] : (tensor<1x2xf32>) -> tensor<1x2xf32>
    %93 = stablehlo.reshape %92 : (tensor<1x2xf32>) -> tensor<2xf32>
    %94 = stablehlo.slice %61 [0:1, 0:2, 0:3] : (tensor<1x2x3xf32>) -> tensor<1x2x3xf32>
    %95 = stablehlo.reshape %94 : (tensor<1x2x3xf32>) -> tensor<2x3xf32>
    %96 = stablehlo.slice %63 [0:1, 0:2, 0:4] : (tensor<1x2x4xf32>) -> tensor<1x2x4xf32>
    %97 = stablehlo.reshape %96 : (tensor<1x2x4xf32>) -> tensor<2x4xf32>
    %98 = stablehlo.slice %65 [0:1, 0:2, 0:4] : (tensor<1x2x4xf32>) -> tensor<1x2x4xf32>
    %99 = stablehlo.reshape %98 : (tensor<1x2x4xf32>) -> tensor<2x4xf32>
    %100 = stablehlo.slice %67 [0:1, 0:2, 0:4] : (tensor<1x2x4xf32>) -> tensor<1x2x4xf32>
    %101 = stablehlo.reshape %100 : (tensor<1x2x4xf32>) -> tensor<2x4xf32>
    %102 = stablehlo.slice %69 [0:1, 0:2, 0:4] : (tensor<1x2x4xf32>) -> tensor<1x2x4xf32>
    %103 = stablehlo.reshape %102 : (tensor<1x2x4xf32>) -> tensor<2x4xf32>
    %104 = stablehlo.slice %71 [0:1, 0:2, 0:4] : (tensor<1x2x4xf32>) -> tensor<1x2x4xf32>
    %105 = stablehlo.reshape %104 : (tensor<1x2x4xf32>) -> tensor<2x4xf32>
    %106 = stablehlo.slice %73 [0:1, 0:2, 0:4] : (tensor<1x2x4xf32>) -> tensor<1x2x4xf32>
    %107 = stablehlo.reshape %106 : (tensor<1x2x4xf32>) -> tensor<2x4xf32>
    %108 = stablehlo.slice %75 [0:1, 0:2, 0:4] : (tensor<1x2x4xf32>) -> tensor<1x2x4xf32>
    %109 = stablehlo.reshape %108 : (tensor<1x2x4xf32>) -> tensor<2x4xf32>
    %110 = stablehlo.slice %77 [0:1, 0:2, 0:4] : (tensor<1x2x4xf32>) -> tensor<1x2x4xf32>
    %111 = stablehlo.reshape %110 : (tensor<1x2x4xf32>) -> tensor<2x4xf32>
    %112 = stablehlo.slice %79 [0:1, 0:2, 0:4] : (tensor<1x2x4xf32>) -> tensor<1x2x4xf32>
    %113 = stablehlo.reshape %112 : (tensor<1x2x4xf32>) -> tensor<2x4xf32>
    %114:2 = call @closed_call_3(%arg3, %91#13, %91#14, %93, %95, %97, %99, %101, %103, %105, %107, %109, %111, %113) : (tensor<4x12xf32>, tensor<3x12xf32>, tensor<2x4xf32>, tensor<2xf32>, tensor<2x3xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>) -> (tensor<3x12xf32>, tensor<2x4xf32>)
    return %114#0 : tensor<3x12xf32>
  }
  func.func private @dynamic_index_in_dim(%arg0: tensor<2x2x2x3xf32>, %arg1: tensor<i32>) -> tensor<2x2x3xf32> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.dynamic_slice %arg0, %arg1, %c, %c_0, %c_1, sizes = [1, 2, 2, 3] : (tensor<2x2x2x3xf32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x2x2x3xf32>
    %1 = stablehlo.reshape %0 : (tensor<1x2x2x3xf32>) -> tensor<2x2x3xf32>
    return %1 : tensor<2x2x3xf32>
  }
  func.func private @closed_call(%arg0: tensor<3x12xf32>, %arg1: tensor<4x12xf32>, %arg2: tensor<2x4xf32>, %arg3: tensor<2x3xf32>) -> (tensor<2x4xf32>, tensor<2xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>) {
    %0 = stablehlo.dot_general %arg3, %arg0, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<2x3xf32>, tensor<3x12xf32>) -> tensor<2x12xf32>
    %1 = stablehlo.slice %0 [0:2, 0:4] : (tensor<2x12xf32>) -> tensor<2x4xf32>
    %2 = stablehlo.slice %0 [0:2, 4:8] : (tensor<2x12xf32>) -> tensor<2x4xf32>
    %3 = stablehlo.slice %0 [0:2, 8:12] : (tensor<2x12xf32>) -> tensor<2x4xf32>
    %4 = stablehlo.dot_general %arg2, %arg1, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<2x4xf32>, tensor<4x12xf32>) -> tensor<2x12xf32>
    %5 = stablehlo.slice %4 [0:2, 0:4] : (tensor<2x12xf32>) -> tensor<2x4xf32>
    %6 = stablehlo.slice %4 [0:2, 4:8] : (tensor<2x12xf32>) -> tensor<2x4xf32>
    %7 = stablehlo.slice %4 [0:2, 8:12] : (tensor<2x12xf32>) -> tensor<2x4xf32>
    %8 = stablehlo.add %2, %6 : tensor<2x4xf32>
    %9 = stablehlo.negate %8 : tensor<2x4xf32>
    %10 = stablehlo.exponential %9 : tensor<2x4xf32>
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %11 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<2x4xf32>
    %12 = stablehlo.add %11, %10 : tensor<2x4xf32>
    %cst_0 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %13 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<2x4xf32>
    %14 = stablehlo.divide %13, %12 : tensor<2x4xf32>
    %cst_1 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %15 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<2x4xf32>
    %16 = stablehlo.subtract %15, %14 : tensor<2x4xf32>
    %17 = stablehlo.multiply %14, %16 : tensor<2x4xf32>
    %cst_2 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %18 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<2x4xf32>
    %19 = stablehlo.subtract %18, %14 : tensor<2x4xf32>
    %20 = stablehlo.add %1, %5 : tensor<2x4xf32>
    %21 = stablehlo.negate %20 : tensor<2x4xf32>
    %22 = stablehlo.exponential %21 : tensor<2x4xf32>
    %cst_3 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %23 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<2x4xf32>
    %24 = stablehlo.add %23, %22 : tensor<2x4xf32>
    %cst_4 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %25 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<2x4xf32>
    %26 = stablehlo.divide %25, %24 : tensor<2x4xf32>
    %cst_5 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %27 = stablehlo.broadcast_in_dim %cst_5, dims = [] : (tensor<f32>) -> tensor<2x4xf32>
    %28 = stablehlo.subtract %27, %26 : tensor<2x4xf32>
    %29 = stablehlo.multiply %26, %28 : tensor<2x4xf32>
    %30 = stablehlo.multiply %26, %7 : tensor<2x4xf32>
    %31 = stablehlo.add %3, %30 : tensor<2x4xf32>
    %32 = stablehlo.tanh %31 : tensor<2x4xf32>
    %cst_6 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %33 = stablehlo.broadcast_in_dim %cst_6, dims = [] : (tensor<f32>) -> tensor<2x4xf32>
    %34 = stablehlo.subtract %33, %32 : tensor<2x4xf32>
    %35 = stablehlo.multiply %19, %32 : tensor<2x4xf32>
    %36 = stablehlo.multiply %14, %arg2 : tensor<2x4xf32>
    %37 = stablehlo.add %35, %36 : tensor<2x4xf32>
    %38 = stablehlo.slice %37 [0:2, 0:1] : (tensor<2x4xf32>) -> tensor<2x1xf32>
    %39 = stablehlo.reshape %38 : (tensor<2x1xf32>) -> tensor<2xf32>
    return %37, %39, %17, %29, %7, %26, %32, %34, %19, %arg2, %14 : tensor<2x4xf32>, tensor<2xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>
  }
  func.func private @dynamic_update_index_in_dim(%arg0: tensor<2x2x2xf32>, %arg1: tensor<2x2xf32>, %arg2: tensor<i32>) -> tensor<2x2x2xf32> {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [1, 2] : (tensor<2x2xf32>) -> tensor<1x2x2xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.dynamic_update_slice %arg0, %0, %arg2, %c, %c_0 : (tensor<2x2x2xf32>, tensor<1x2x2xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<2x2x2xf32>
    return %1 : tensor<2x2x2xf32>
  }
  func.func private @dynamic_update_index_in_dim_0(%arg0: tensor<2x2x2x4xf32>, %arg1: tensor<2x2x4xf32>, %arg2: tensor<i32>) -> tensor<2x2x2x4xf32> {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [1, 2, 3] : (tensor<2x2x4xf32>) -> tensor<1x2x2x4xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.dynamic_update_slice %arg0, %0, %arg2, %c, %c_0, %c_1 : (tensor<2x2x2x4xf32>, tensor<1x2x2x4xf32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<2x2x2x4xf32>
    return %1 : tensor<2x2x2x4xf32>
  }
  func.func private @dynamic_index_in_dim_1(%arg0: tensor<2x2x2xf32>, %arg1: tensor<i32>) -> tensor<2x2xf32> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.dynamic_slice %arg0, %arg1, %c, %c_0, sizes = [1, 2, 2] : (tensor<2x2x2xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x2x2xf32>
    %1 = stablehlo.reshape %0 : (tensor<1x2x2xf32>) -> tensor<2x2xf32>
    return %1 : tensor<2x2xf32>
  }
  func.func private @dynamic_index_in_dim_2(%arg0: tensor<2x2x2x4xf32>, %arg1: tensor<i32>) -> tensor<2x2x4xf32> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.dynamic_slice %arg0, %arg1, %c, %c_0, %c_1, sizes = [1, 2, 2, 4] : (tensor<2x2x2x4xf32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x2x2x4xf32>
    %1 = stablehlo.reshape %0 : (tensor<1x2x2x4xf32>) -> tensor<2x2x4xf32>
    return %1 : tensor<2x2x4xf32>
  }
  func.func private @closed_call_3(%arg0: tensor<4x12xf32>, %arg1: tensor<3x12xf32>, %arg2: tensor<2x4xf32>, %arg3: tensor<2xf32>, %arg4: tensor<2x3xf32>, %arg5: tensor<2x4xf32>, %arg6: tensor<2x4xf32>, %arg7: tensor<2x4xf32>, %arg8: tensor<2x4xf32>, %arg9: tensor<2x4xf32>, %arg10: tensor<2x4xf32>, %arg11: tensor<2x4xf32>, %arg12: tensor<2x4xf32>, %arg13: tensor<2x4xf32>) -> (tensor<3x12xf32>, tensor<2x4xf32>) {
    %0 = stablehlo.broadcast_in_dim %arg3, dims = [0] : (tensor<2xf32>) -> tensor<2x1xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1 = stablehlo.pad %0, %cst, low = [0, 0], high = [0, 3], interior = [0, 0] : (tensor<2x1xf32>, tensor<f32>) -> tensor<2x4xf32>
    %2 = stablehlo.add %arg2, %1 : tensor<2x4xf32>
    %3 = stablehlo.multiply %arg13, %2 : tensor<2x4xf32>
    %4 = stablehlo.multiply %2, %arg12 : tensor<2x4xf32>
    %5 = stablehlo.multiply %arg11, %2 : tensor<2x4xf32>
    %6 = stablehlo.multiply %2, %arg9 : tensor<2x4xf32>
    %7 = stablehlo.multiply %5, %arg10 : tensor<2x4xf32>
    %8 = stablehlo.multiply %7, %arg9 : tensor<2x4xf32>
    %9 = stablehlo.add %7, %8 : tensor<2x4xf32>
    %10 = stablehlo.multiply %arg8, %9 : tensor<2x4xf32>
    %11 = stablehlo.multiply %9, %arg7 : tensor<2x4xf32>
    %12 = stablehlo.multiply %11, %arg6 : tensor<2x4xf32>
    %13 = stablehlo.negate %6 : tensor<2x4xf32>
    %14 = stablehlo.add %4, %13 : tensor<2x4xf32>
    %15 = stablehlo.multiply %14, %arg5 : tensor<2x4xf32>
    %16 = stablehlo.concatenate %12, %15, %10, dim = 1 : (tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x12xf32>
    %17 = stablehlo.dot_general %16, %arg0, contracting_dims = [1] x [1], precision = [DEFAULT, DEFAULT] : (tensor<2x12xf32>, tensor<4x12xf32>) -> tensor<2x4xf32>
    %18 = stablehlo.add %3, %17 : tensor<2x4xf32>
    %19 = stablehlo.concatenate %12, %15, %9, dim = 1 : (tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x12xf32>
    %20 = stablehlo.dot_general %19, %arg4, contracting_dims = [0] x [0], precision = [DEFAULT, DEFAULT] : (tensor<2x12xf32>, tensor<2x3xf32>) -> tensor<12x3xf32>
    %21 = stablehlo.transpose %20, dims = [1, 0] : (tensor<12x3xf32>) -> tensor<3x12xf32>
    %22 = stablehlo.add %arg1, %21 : tensor<3x12xf32>
    return %22, %18 : tensor<3x12xf32>, tensor<2x4xf32>
  }
}
