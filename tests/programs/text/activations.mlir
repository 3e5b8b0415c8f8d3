module @jit_activations attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<24xf32>) -> (tensor<24xf32> {jax.result_info = "result[0][0]"}, tensor<24xf32> {jax.result_info = "result[0][1]"}, tensor<24xf32> {jax.result_info = "result[1][0]"}, tensor<24xf32> {jax.result_info = "result[1][1]"}, tensor<24xf32> {jax.result_info = "result[2][0]"}, tensor<24xf32> {jax.result_info = "result[2][1]"}, tensor<24xf32> {jax.result_info = "result[3][0]"}, tensor<24xf32> {jax.result_info = "result[3][1]"}, tensor<24xf32> {jax.result_info = "result[4][0]"}, tensor<24xf32> {jax.result_info = "result[4][1]"}, tensor<24xf32> {jax.result_info = "result[5][0]"}, tensor<24xf32> {jax.result_info = "result[5][1]"}, tensor<24xf32> {jax.result_info = "result[6][0]"}, tensor<24xf32> {jax.result_info = "result[6][1]"}, tensor<24xf32> {jax.result_info = "result[7][0]"}, tensor<24xf32> {jax.result_info = "result[7][1]"}, tensor<24xf32> {jax.result_info = "result[8][0]"}, tensor<24xf32> {jax.result_info = "result[8][1]"}, tensor<24xf32> {jax.result_info = "result[9][0]"}, tensor<24xf32> {jax.result_info = "result[9][1]"}, tensor<24xf32> {jax.result_info = "result[10][0]"}, tensor<24xf32> {jax.result_info = "result[10][1]"}, tensor<24xf32> {jax.result_info = "result[11][0]"}, tensor<24xf32> {jax.result_info = "result[11][1]"}) {
    %0 = call @relu(%arg0) : (tensor<24xf32>) -> tensor<24xf32>
    %1 = call @relu(%arg0) : (tensor<24xf32>) -> tensor<24xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %2 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<24xf32>
    %3 = stablehlo.compare GT, %arg0, %2, FLOAT : (tensor<24xf32>, tensor<24xf32>) -> tensor<24xi1>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %4 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<24xf32>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %5 = stablehlo.reduce(%1 init: %cst_1) applies stablehlo.add across dimensions = [0] : (tensor<24xf32>, tensor<f32>) -> tensor<f32>
    %cst_2 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %6 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<24xf32>
    %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %7 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<24xf32>
    %8 = stablehlo.select %3, %6, %7 : tensor<24xi1>, tensor<24xf32>
    %9 = call @relu6(%arg0) : (tensor<24xf32>) -> tensor<24xf32>
    %10 = call @relu6(%arg0) : (tensor<24xf32>) -> tensor<24xf32>
    %cst_4 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %11 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<24xf32>
    %12 = stablehlo.compare GT, %arg0, %11, FLOAT : (tensor<24xf32>, tensor<24xf32>) -> tensor<24xi1>
    %cst_5 = stablehlo.constant dense<6.000000e+00> : tensor<f32>
    %13 = stablehlo.broadcast_in_dim %cst_5, dims = [] : (tensor<f32>) -> tensor<24xf32>
    %14 = stablehlo.compare LT, %arg0, %13, FLOAT : (tensor<24xf32>, tensor<24xf32>) -> tensor<24xi1>
    %15 = stablehlo.and %12, %14 : tensor<24xi1>
    %cst_6 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %16 = stablehlo.broadcast_in_dim %cst_6, dims = [] : (tensor<f32>) -> tensor<24xf32>
    %cst_7 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %17 = stablehlo.reduce(%10 init: %cst_7) applies stablehlo.add across dimensions = [0] : (tensor<24xf32>, tensor<f32>) -> tensor<f32>
    %cst_8 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %18 = stablehlo.broadcast_in_dim %cst_8, dims = [] : (tensor<f32>) -> tensor<24xf32>
    %cst_9 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %19 = stablehlo.broadcast_in_dim %cst_9, dims = [] : (tensor<f32>) -> tensor<24xf32>
    %20 = stablehlo.select %15, %18, %19 : tensor<24xi1>, tensor<24xf32>
    %21 = call @leaky_relu(%arg0) : (tensor<24xf32>) -> tensor<24xf32>
    %22:2 = call @leaky_relu_0(%arg0) : (tensor<24xf32>) -> (tensor<24xf32>, tensor<24xi1>)
    %cst_10 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %23 = stablehlo.reduce(%22#0 init: %cst_10) applies stablehlo.add across dimensions = [0] : (tensor<24xf32>, tensor<f32>) -> tensor<f32>
    %cst_11 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %24 = stablehlo.broadcast_in_dim %cst_11, dims = [] : (tensor<f32>) -> tensor<24xf32>
    %25 = call @leaky_relu_2(%22#1, %24) : (tensor<24xi1>, tensor<24xf32>) -> tensor<24xf32>
    %26 = call @elu(%arg0) : (tensor<24xf32>) -> tensor<24xf32>
    %27:5 = call @elu_5(%arg0) : (tensor<24xf32>) -> (tensor<24xf32>, tensor<24xi1>, tensor<24xf32>, tensor<24xf32>, tensor<24xi1>)
    %cst_12 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %28 = stablehlo.reduce(%27#0 init: %cst_12) applies stablehlo.add across dimensions = [0] : (tensor<24xf32>, tensor<f32>) -> tensor<f32>
    %cst_13 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %29 = stablehlo.broadcast_in_dim %cst_13, dims = [] : (tensor<f32>) -> tensor<24xf32>
    %30 = call @elu_7(%27#1, %27#2, %27#3, %27#4, %29) : (tensor<24xi1>, tensor<24xf32>, tensor<24xf32>, tensor<24xi1>, tensor<24xf32>) -> tensor<24xf32>
    %31 = call @selu(%arg0) : (tensor<24xf32>) -> tensor<24xf32>
    %32:6 = call @selu_10(%arg0) : (tensor<24xf32>) -> (tensor<24xf32>, tensor<24xi1>, tensor<24xf32>, tensor<24xf32>, tensor<f32>, tensor<24xi1>)
    %cst_14 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %33 = stablehlo.reduce(%32#0 init: %cst_14) applies stablehlo.add across dimensions = [0] : (tensor<24xf32>, tensor<f32>) -> tensor<f32>
    %cst_15 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %34 = stablehlo.broadcast_in_dim %cst_15, dims = [] : (tensor<f32>) -> tensor<24xf32>
    %35 = call @selu_14(%32#1, %32#2, %32#3, %32#4, %32#5, %34) : (tensor<24xi1>, tensor<24xf32>, tensor<24xf32>, tensor<f32>, tensor<24xi1>, tensor<24xf32>) -> tensor<24xf32>
    %36 = call @silu(%arg0) : (tensor<24xf32>) -> tensor<24xf32>
    %37:3 = call @silu_18(%arg0) : (tensor<24xf32>) -> (tensor<24xf32>, tensor<24xf32>, tensor<24xf32>)
    %cst_16 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %38 = stablehlo.reduce(%37#0 init: %cst_16) applies stablehlo.add across dimensions = [0] : (tensor<24xf32>, tensor<f32>) -> tensor<f32>
    %cst_17 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %39 = stablehlo.broadcast_in_dim %cst_17, dims = [] : (tensor<f32>) -> tensor<24xf32>
    %40 = call @silu_19(%37#1, %37#2, %arg0, %39) : (tensor<24xf32>, tensor<24xf32>, tensor<24xf32>, tensor<24xf32>) -> tensor<24xf32>
    %41 = stablehlo.multiply %arg0, %arg0 : tensor<24xf32>
    %42 = stablehlo.multiply %41, %arg0 : tensor<24xf32>
    %cst_18 = stablehlo.constant dense<4.471500e-02> : tensor<f32>
    %43 = stablehlo.broadcast_in_dim %cst_18, dims = [] : (tensor<f32>) -> tensor<24xf32>
    %44 = stablehlo.multiply %43, %42 : tensor<24xf32>
    %45 = stablehlo.add %arg0, %44 : tensor<24xf32>
    %cst_19 = stablehlo.constant dense<0.797884583> : tensor<f32>
    %46 = stablehlo.broadcast_in_dim %cst_19, dims = [] : (tensor<f32>) -> tensor<24xf32>
    %47 = stablehlo.multiply %46, %45 : tensor<24xf32>
    %48 = stablehlo.tanh %47 : tensor<24xf32>
    %cst_20 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %49 = stablehlo.broadcast_in_dim %cst_20, dims = [] : (tensor<f32>) -> tensor<24xf32>
    %50 = stablehlo.add %49, %48 : tensor<24xf32>
    %cst_21 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %51 = stablehlo.broadcast_in_dim %cst_21, dims = [] : (tensor<f32>) -> tensor<24xf32>
    %52 = stablehlo.multiply %51, %50 : tensor<24xf32>
    %53 = stablehlo.multiply %arg0, %52 : tensor<24xf32>
    %54 = stablehlo.multiply %arg0, %arg0 : tensor<24xf32>
    %55 = stablehlo.multiply %54, %arg0 : tensor<24xf32>
    %56 = stablehlo.multiply %arg0, %arg0 : tensor<24xf32>
    %cst_22 = stablehlo.constant dense<3.000000e+00> : tensor<f32>
    %57 = stablehlo.broadcast_in_dim %cst_22, dims = [] : (tensor<f32>) -> tensor<24xf32>
    %58 = stablehlo.multiply %57, %56 : tensor<24xf32>
    %cst_23 = stablehlo.constant dense<4.471500e-02> : tensor<f32>
    %59 = stablehlo.broadcast_in_dim %cst_23, dims = [] : (tensor<f32>) -> tensor<24xf32>
    %60 = stablehlo.multiply %59, %55 : tensor<24xf32>
    %61 = stablehlo.add %arg0, %60 : tensor<24xf32>
    %cst_24 = stablehlo.constant dense<0.797884583> : tensor<f32>
    %62 = stablehlo.broadcast_in_dim %cst_24, dims = [] : (tensor<f32>) -> tensor<24xf32>
    %63 = stablehlo.multiply %62, %61 : tensor<24xf32>
    %64 = stablehlo.tanh %63 : tensor<24xf32>
    %cst_25 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %65 = stablehlo.broadcast_in_dim %cst_25, dims = [] : (tensor<f32>) -> tensor<24xf32>
    %66 = stablehlo.subtract %65, %64 : tensor<24xf32>
    %cst_26 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %67 = stablehlo.broadcast_in_dim %cst_26, dims = [] : (tensor<f32>) -> tensor<24xf32>
    %68 = stablehlo.add %67, %64 : tensor<24xf32>
    %cst_27 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %69 = stablehlo.broadcast_in_dim %cst_27, dims = [] : (tensor<f32>) -> tensor<24xf32>
    %70 = stablehlo.multiply %69, %68 : tensor<24xf32>
    %71 = stablehlo.multiply %arg0, %70 : tensor<24xf32>
    %cst_28 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %72 = stablehlo.reduce(%71 init: %cst_28) applies stablehlo.add across dimensions = [0] : (tensor<24xf32>, tensor<f32>) -> tensor<f32>
    %cst_29 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %73 = stablehlo.broadcast_in_dim %cst_29, dims = [] : (tensor<f32>) -> tensor<24xf32>
    %74 = stablehlo.multiply %arg0, %73 : tensor<24xf32>
    %75 = stablehlo.multiply %73, %70 : tensor<24xf32>
    %cst_30 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %76 = stablehlo.broadcast_in_dim %cst_30, dims = [] : (tensor<f32>) -> tensor<24xf32>
    %77 = stablehlo.multiply %76, %74 : tensor<24xf32>
    %78 = stablehlo.multiply %77, %66 : tensor<24xf32>
    %79 = stablehlo.multiply %78, %64 : tensor<24xf32>
    %80 = stablehlo.add %78, %79 : tensor<24xf32>
    %cst_31 = stablehlo.constant dense<0.797884583> : tensor<f32>
    %81 = stablehlo.broadcast_in_dim %cst_31, dims = [] : (tensor<f32>) -> tensor<24xf32>
    %82 = stablehlo.multiply %81, %80 : tensor<24xf32>
    %83 = stablehlo.add %75, %82 : tensor<24xf32>
    %cst_32 = stablehlo.constant dense<4.471500e-02> : tensor<f32>
    %84 = stablehlo.broadcast_in_dim %cst_32, dims = [] : (tensor<f32>) -> tensor<24xf32>
    %85 = stablehlo.multiply %84, %82 : tensor<24xf32>
    %86 = stablehlo.multiply %85, %58 : tensor<24xf32>
    %87 = stablehlo.add %83, %86 : tensor<24xf32>
    %88 = call @softplus(%arg0) : (tensor<24xf32>) -> tensor<24xf32>
    %89:3 = call @softplus_20(%arg0) : (tensor<24xf32>) -> (tensor<24xf32>, tensor<24xf32>, tensor<24xf32>)
    %cst_33 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %90 = stablehlo.reduce(%89#0 init: %cst_33) applies stablehlo.add across dimensions = [0] : (tensor<24xf32>, tensor<f32>) -> tensor<f32>
    %cst_34 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %91 = stablehlo.broadcast_in_dim %cst_34, dims = [] : (tensor<f32>) -> tensor<24xf32>
    %92 = call @softplus_21(%89#1, %89#2, %91) : (tensor<24xf32>, tensor<24xf32>, tensor<24xf32>) -> tensor<24xf32>
    %93 = call @hard_tanh(%arg0) : (tensor<24xf32>) -> tensor<24xf32>
    %94:5 = call @hard_tanh_23(%arg0) : (tensor<24xf32>) -> (tensor<24xf32>, tensor<24xi1>, tensor<24xf32>, tensor<24xi1>, tensor<24xf32>)
    %cst_35 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %95 = stablehlo.reduce(%94#0 init: %cst_35) applies stablehlo.add across dimensions = [0] : (tensor<24xf32>, tensor<f32>) -> tensor<f32>
    %cst_36 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %96 = stablehlo.broadcast_in_dim %cst_36, dims = [] : (tensor<f32>) -> tensor<24xf32>
    %97 = call @hard_tanh_25(%94#1, %94#2, %94#3, %94#4, %96) : (tensor<24xi1>, tensor<24xf32>, tensor<24xi1>, tensor<24xf32>, tensor<24xf32>) -> tensor<24xf32>
    %98 = call @hard_sigmoid(%arg0) : (tensor<24xf32>) -> tensor<24xf32>
    %99:3 = call @hard_sigmoid_27(%arg0) : (tensor<24xf32>) -> (tensor<24xf32>, tensor<24xi1>, tensor<24xf32>)
    %cst_37 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %100 = stablehlo.reduce(%99#0 init: %cst_37) applies stablehlo.add across dimensions = [0] : (tensor<24xf32>, tensor<f32>) -> tensor<f32>
    %cst_38 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %101 = stablehlo.broadcast_in_dim %cst_38, dims = [] : (tensor<f32>) -> tensor<24xf32>
    %102 = call @hard_sigmoid_29(%99#1, %99#2, %101) : (tensor<24xi1>, tensor<24xf32>, tensor<24xf32>) -> tensor<24xf32>
    %103 = call @log_sigmoid(%arg0) : (tensor<24xf32>) -> tensor<24xf32>
    %104:3 = call @log_sigmoid_30(%arg0) : (tensor<24xf32>) -> (tensor<24xf32>, tensor<24xf32>, tensor<24xf32>)
    %cst_39 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %105 = stablehlo.reduce(%104#0 init: %cst_39) applies stablehlo.add across dimensions = [0] : (tensor<24xf32>, tensor<f32>) -> tensor<f32>
    %cst_40 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %106 = stablehlo.broadcast_in_dim %cst_40, dims = [] : (tensor<f32>) -> tensor<24xf32>
    %107 = call @log_sigmoid_32(%104#1, %104#2, %106) : (tensor<24xf32>, tensor<24xf32>, tensor<24xf32>) -> tensor<24xf32>
    %108 = call @mish(%arg0) : (tensor<24xf32>) -> tensor<24xf32>
    %109:5 = call @mish_34(%arg0) : (tensor<24xf32>) -> (tensor<24xf32>, tensor<24xf32>, tensor<24xf32>, tensor<24xf32>, tensor<24xf32>)
    %cst_41 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %110 = stablehlo.reduce(%109#0 init: %cst_41) applies stablehlo.add across dimensions = [0] : (tensor<24xf32>, tensor<f32>) -> tensor<f32>
    %cst_42 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %111 = stablehlo.broadcast_in_dim %cst_42, dims = [] : (tensor<f32>) -> tensor<24xf32>
    %112 = call @mish_35(%109#1, %109#2, %109#3, %109#4, %arg0, %111) : (tensor<24xf32>, tensor<24xf32>, tensor<24xf32>, tensor<24xf32>, tensor<24xf32>, tensor<24xf32>) -> tensor<24xf32>
    return %0, %8, %9, %20, %21, %25, %26, %30, %31, %35, %36, %40, %53, %87, %88, %92, %93, %97, %98, %102, %103, %107, %108, %112 : tensor<24xf32>, tensor<24xf32>, tensor<24xf32>, tensor<24xf32>, tensor<24xf32>, tensor<24xf32>, tensor<24xf32>, tensor<24xf32>, tensor<24xf32>, tensor<24xf32>, tensor<24xf32>, tensor<24xf32>, tensor<24xf32>, tensor<24xf32>, tensor<24xf32>, tensor<24xf32>, tensor<24xf32>, tensor<24xf32>, tensor<24xf32>, tensor<24xf32>, tensor<24xf32>, tensor<24xf32>, tensor<24xf32>, tensor<24xf32>
  }
  func.func private @relu(%arg0: tensor<24xf32>) -> tensor<24xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<24xf32>
    %1 = stablehlo.maximum %arg0, %0 : tensor<24xf32>
    return %1 : tensor<24xf32>
  }
  func.func private @relu6(%arg0: tensor<24xf32>) -> tensor<24xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<24xf32>
    %1 = stablehlo.maximum %arg0, %0 : tensor<24xf32>
    %cst_0 = stablehlo.constant dense<6.000000e+00> : tensor<f32>
    %2 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<24xf32>
    %3 = stablehlo.minimum %1, %2 : tensor<24xf32>
    return %3 : tensor<24xf32>
  }
  func.func private @leaky_relu(%arg0: tensor<24xf32>) -> tensor<24xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<24xf32>
    %1 = stablehlo.compare GE, %arg0, %0, FLOAT : (tensor<24xf32>, tensor<24xf32>) -> tensor<24xi1>
    %cst_0 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %2 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<24xf32>
    %3 = stablehlo.multiply %2, %arg0 : tensor<24xf32>
    %4 = call @_where(%1, %arg0, %3) : (tensor<24xi1>, tensor<24xf32>, tensor<24xf32>) -> tensor<24xf32>
    return %4 : tensor<24xf32>
  }
  func.func private @_where(%arg0: tensor<24xi1>, %arg1: tensor<24xf32>, %arg2: tensor<24xf32>) -> tensor<24xf32> {
    %0 = stablehlo.select %arg0, %arg1, %arg2 : tensor<24xi1>, tensor<24xf32>
    return %0 : tensor<24xf32>
  }
  func.func private @leaky_relu_0(%arg0: tensor<24xf32>) -> (tensor<24xf32>, tensor<24xi1>) {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<24xf32>
    %1 = stablehlo.compare GE, %arg0, %0, FLOAT : (tensor<24xf32>, tensor<24xf32>) -> tensor<24xi1>
    %cst_0 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %2 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<24xf32>
    %3 = stablehlo.multiply %2, %arg0 : tensor<24xf32>
    %4 = call @_where_1(%1, %arg0, %3) : (tensor<24xi1>, tensor<24xf32>, tensor<24xf32>) -> tensor<24xf32>
    return %4, %1 : tensor<24xf32>, tensor<24xi1>
  }
  func.func private @_where_1(%arg0: tensor<24xi1>, %arg1: tensor<24xf32>, %arg2: tensor<24xf32>) -> tensor<24xf32> {
    %0 = stablehlo.select %arg0, %arg1, %arg2 : tensor<24xi1>, tensor<24xf32>
    return %0 : tensor<24xf32>
  }
  func.func private @leaky_relu_2(%arg0: tensor<24xi1>, %arg1: tensor<24xf32>) -> tensor<24xf32> {
    %0:2 = call @_where_3(%arg0, %arg1) : (tensor<24xi1>, tensor<24xf32>) -> (tensor<24xf32>, tensor<24xf32>)
    %cst = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<24xf32>
    %2 = stablehlo.multiply %1, %0#1 : tensor<24xf32>
    %3 = stablehlo.add %0#0, %2 : tensor<24xf32>
    return %3 : tensor<24xf32>
  }
  func.func private @_where_3(%arg0: tensor<24xi1>, %arg1: tensor<24xf32>) -> (tensor<24xf32>, tensor<24xf32>) {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<24xf32>
    %1 = stablehlo.select %arg0, %0, %arg1 : tensor<24xi1>, tensor<24xf32>
    %2 = stablehlo.select %arg0, %arg1, %0 : tensor<24xi1>, tensor<24xf32>
    return %2, %1 : tensor<24xf32>, tensor<24xf32>
  }
  func.func private @elu(%arg0: tensor<24xf32>) -> tensor<24xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<24xf32>
    %1 = stablehlo.compare GT, %arg0, %0, FLOAT : (tensor<24xf32>, tensor<24xf32>) -> tensor<24xi1>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %2 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<24xf32>
    %3 = stablehlo.compare GT, %arg0, %2, FLOAT : (tensor<24xf32>, tensor<24xf32>) -> tensor<24xi1>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %4 = call @_where_4(%3, %cst_1, %arg0) : (tensor<24xi1>, tensor<f32>, tensor<24xf32>) -> tensor<24xf32>
    %5 = stablehlo.exponential_minus_one %4 : tensor<24xf32>
    %cst_2 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %6 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<24xf32>
    %7 = stablehlo.multiply %6, %5 : tensor<24xf32>
    %8 = call @_where(%1, %arg0, %7) : (tensor<24xi1>, tensor<24xf32>, tensor<24xf32>) -> tensor<24xf32>
    return %8 : tensor<24xf32>
  }
  func.func private @_where_4(%arg0: tensor<24xi1>, %arg1: tensor<f32>, %arg2: tensor<24xf32>) -> tensor<24xf32> {
    %0 = stablehlo.convert %arg1 : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<24xf32>
    %2 = stablehlo.select %arg0, %1, %arg2 : tensor<24xi1>, tensor<24xf32>
    return %2 : tensor<24xf32>
  }
  func.func private @elu_5(%arg0: tensor<24xf32>) -> (tensor<24xf32>, tensor<24xi1>, tensor<24xf32>, tensor<24xf32>, tensor<24xi1>) {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<24xf32>
    %1 = stablehlo.compare GT, %arg0, %0, FLOAT : (tensor<24xf32>, tensor<24xf32>) -> tensor<24xi1>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %2 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<24xf32>
    %3 = stablehlo.compare GT, %arg0, %2, FLOAT : (tensor<24xf32>, tensor<24xf32>) -> tensor<24xi1>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %4:2 = call @_where_6(%3, %cst_1, %arg0) : (tensor<24xi1>, tensor<f32>, tensor<24xf32>) -> (tensor<24xf32>, tensor<24xf32>)
    %5 = stablehlo.exponential_minus_one %4#0 : tensor<24xf32>
    %cst_2 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %6 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<24xf32>
    %7 = stablehlo.add %5, %6 : tensor<24xf32>
    %cst_3 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %8 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<24xf32>
    %9 = stablehlo.multiply %8, %5 : tensor<24xf32>
    %10 = call @_where_1(%1, %arg0, %9) : (tensor<24xi1>, tensor<24xf32>, tensor<24xf32>) -> tensor<24xf32>
    return %10, %3, %4#1, %7, %1 : tensor<24xf32>, tensor<24xi1>, tensor<24xf32>, tensor<24xf32>, tensor<24xi1>
  }
  func.func private @_where_6(%arg0: tensor<24xi1>, %arg1: tensor<f32>, %arg2: tensor<24xf32>) -> (tensor<24xf32>, tensor<24xf32>) {
    %0 = stablehlo.convert %arg1 : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<24xf32>
    %2 = stablehlo.select %arg0, %1, %arg2 : tensor<24xi1>, tensor<24xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %3 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<24xf32>
    return %2, %3 : tensor<24xf32>, tensor<24xf32>
  }
  func.func private @elu_7(%arg0: tensor<24xi1>, %arg1: tensor<24xf32>, %arg2: tensor<24xf32>, %arg3: tensor<24xi1>, %arg4: tensor<24xf32>) -> tensor<24xf32> {
    %0:2 = call @_where_3(%arg3, %arg4) : (tensor<24xi1>, tensor<24xf32>) -> (tensor<24xf32>, tensor<24xf32>)
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<24xf32>
    %2 = stablehlo.multiply %1, %0#1 : tensor<24xf32>
    %3 = stablehlo.multiply %2, %arg2 : tensor<24xf32>
    %4 = call @_where_8(%arg0, %arg1, %3) : (tensor<24xi1>, tensor<24xf32>, tensor<24xf32>) -> tensor<24xf32>
    %5 = stablehlo.add %0#0, %4 : tensor<24xf32>
    return %5 : tensor<24xf32>
  }
  func.func private @_where_8(%arg0: tensor<24xi1>, %arg1: tensor<24xf32>, %arg2: tensor<24xf32>) -> tensor<24xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<24xf32>
    %1 = stablehlo.select %arg0, %0, %arg2 : tensor<24xi1>, tensor<24xf32>
    return %1 : tensor<24xf32>
  }
  func.func private @selu(%arg0: tensor<24xf32>) -> tensor<24xf32> {
    %cst = stablehlo.constant dense<1.67326319> : tensor<f32>
    %0 = call @elu_9(%arg0, %cst) : (tensor<24xf32>, tensor<f32>) -> tensor<24xf32>
    %cst_0 = stablehlo.constant dense<1.05070102> : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<24xf32>
    %2 = stablehlo.multiply %1, %0 : tensor<24xf32>
    return %2 : tensor<24xf32>
  }
  func.func private @elu_9(%arg0: tensor<24xf32>, %arg1: tensor<f32>) -> tensor<24xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<24xf32>
    %1 = stablehlo.compare GT, %arg0, %0, FLOAT : (tensor<24xf32>, tensor<24xf32>) -> tensor<24xi1>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %2 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<24xf32>
    %3 = stablehlo.compare GT, %arg0, %2, FLOAT : (tensor<24xf32>, tensor<24xf32>) -> tensor<24xi1>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %4 = call @_where_4(%3, %cst_1, %arg0) : (tensor<24xi1>, tensor<f32>, tensor<24xf32>) -> tensor<24xf32>
    %5 = stablehlo.exponential_minus_one %4 : tensor<24xf32>
    %6 = stablehlo.convert %arg1 : tensor<f32>
    %7 = stablehlo.broadcast_in_dim %6, dims = [] : (tensor<f32>) -> tensor<24xf32>
    %8 = stablehlo.multiply %7, %5 : tensor<24xf32>
    %9 = call @_where(%1, %arg0, %8) : (tensor<24xi1>, tensor<24xf32>, tensor<24xf32>) -> tensor<24xf32>
    return %9 : tensor<24xf32>
  }
  func.func private @selu_10(%arg0: tensor<24xf32>) -> (tensor<24xf32>, tensor<24xi1>, tensor<24xf32>, tensor<24xf32>, tensor<f32>, tensor<24xi1>) {
    %cst = stablehlo.constant dense<1.67326319> : tensor<f32>
    %0:6 = call @elu_11(%arg0, %cst) : (tensor<24xf32>, tensor<f32>) -> (tensor<24xf32>, tensor<24xi1>, tensor<24xf32>, tensor<24xf32>, tensor<f32>, tensor<24xi1>)
    %cst_0 = stablehlo.constant dense<1.05070102> : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<24xf32>
    %2 = stablehlo.multiply %1, %0#0 : tensor<24xf32>
    return %2, %0#1, %0#2, %0#3, %0#4, %0#5 : tensor<24xf32>, tensor<24xi1>, tensor<24xf32>, tensor<24xf32>, tensor<f32>, tensor<24xi1>
  }
  func.func private @elu_11(%arg0: tensor<24xf32>, %arg1: tensor<f32>) -> (tensor<24xf32>, tensor<24xi1>, tensor<24xf32>, tensor<24xf32>, tensor<f32>, tensor<24xi1>) {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<24xf32>
    %1 = stablehlo.compare GT, %arg0, %0, FLOAT : (tensor<24xf32>, tensor<24xf32>) -> tensor<24xi1>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %2 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<24xf32>
    %3 = stablehlo.compare GT, %arg0, %2, FLOAT : (tensor<24xf32>, tensor<24xf32>) -> tensor<24xi1>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %4:2 = call @_where_12(%3, %cst_1, %arg0) : (tensor<24xi1>, tensor<f32>, tensor<24xf32>) -> (tensor<24xf32>, tensor<24xf32>)
    %5 = stablehlo.exponential_minus_one %4#0 : tensor<24xf32>
    %cst_2 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %6 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<24xf32>
    %7 = stablehlo.add %5, %6 : tensor<24xf32>
    %8 = stablehlo.convert %arg1 : tensor<f32>
    %9 = stablehlo.broadcast_in_dim %8, dims = [] : (tensor<f32>) -> tensor<24xf32>
    %10 = stablehlo.multiply %9, %5 : tensor<24xf32>
    %11 = call @_where_13(%1, %arg0, %10) : (tensor<24xi1>, tensor<24xf32>, tensor<24xf32>) -> tensor<24xf32>
    return %11, %3, %4#1, %7, %8, %1 : tensor<24xf32>, tensor<24xi1>, tensor<24xf32>, tensor<24xf32>, tensor<f32>, tensor<24xi1>
  }
  func.func private @_where_12(%arg0: tensor<24xi1>, %arg1: tensor<f32>, %arg2: tensor<24xf32>) -> (tensor<24xf32>, tensor<24xf32>) {
    %0 = stablehlo.convert %arg1 : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<24xf32>
    %2 = stablehlo.select %arg0, %1, %arg2 : tensor<24xi1>, tensor<24xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %3 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<24xf32>
    return %2, %3 : tensor<24xf32>, tensor<24xf32>
  }
  func.func private @_where_13(%arg0: tensor<24xi1>, %arg1: tensor<24xf32>, %arg2: tensor<24xf32>) -> tensor<24xf32> {
    %0 = stablehlo.select %arg0, %arg1, %arg2 : tensor<24xi1>, tensor<24xf32>
    return %0 : tensor<24xf32>
  }
  func.func private @selu_14(%arg0: tensor<24xi1>, %arg1: tensor<24xf32>, %arg2: tensor<24xf32>, %arg3: tensor<f32>, %arg4: tensor<24xi1>, %arg5: tensor<24xf32>) -> tensor<24xf32> {
    %cst = stablehlo.constant dense<1.05070102> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<24xf32>
    %1 = stablehlo.multiply %0, %arg5 : tensor<24xf32>
    %2 = call @elu_15(%arg0, %arg1, %arg2, %arg3, %arg4, %1) : (tensor<24xi1>, tensor<24xf32>, tensor<24xf32>, tensor<f32>, tensor<24xi1>, tensor<24xf32>) -> tensor<24xf32>
    return %2 : tensor<24xf32>
  }
  func.func private @elu_15(%arg0: tensor<24xi1>, %arg1: tensor<24xf32>, %arg2: tensor<24xf32>, %arg3: tensor<f32>, %arg4: tensor<24xi1>, %arg5: tensor<24xf32>) -> tensor<24xf32> {
    %0:2 = call @_where_16(%arg4, %arg5) : (tensor<24xi1>, tensor<24xf32>) -> (tensor<24xf32>, tensor<24xf32>)
    %1 = stablehlo.broadcast_in_dim %arg3, dims = [] : (tensor<f32>) -> tensor<24xf32>
    %2 = stablehlo.multiply %1, %0#1 : tensor<24xf32>
    %3 = stablehlo.multiply %2, %arg2 : tensor<24xf32>
    %4 = call @_where_17(%arg0, %arg1, %3) : (tensor<24xi1>, tensor<24xf32>, tensor<24xf32>) -> tensor<24xf32>
    %5 = stablehlo.add %0#0, %4 : tensor<24xf32>
    return %5 : tensor<24xf32>
  }
  func.func private @_where_16(%arg0: tensor<24xi1>, %arg1: tensor<24xf32>) -> (tensor<24xf32>, tensor<24xf32>) {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<24xf32>
    %1 = stablehlo.select %arg0, %0, %arg1 : tensor<24xi1>, tensor<24xf32>
    %2 = stablehlo.select %arg0, %arg1, %0 : tensor<24xi1>, tensor<24xf32>
    return %2, %1 : tensor<24xf32>, tensor<24xf32>
  }
  func.func private @_where_17(%arg0: tensor<24xi1>, %arg1: tensor<24xf32>, %arg2: tensor<24xf32>) -> tensor<24xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<24xf32>
    %1 = stablehlo.select %arg0, %0, %arg2 : tensor<24xi1>, tensor<24xf32>
    return %1 : tensor<24xf32>
  }
  func.func private @silu(%arg0: tensor<24xf32>) -> tensor<24xf32> {
    %0 = stablehlo.negate %arg0 : tensor<24xf32>
    %1 = stablehlo.exponential %0 : tensor<24xf32>
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %2 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<24xf32>
    %3 = stablehlo.add %2, %1 : tensor<24xf32>
    %cst_0 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %4 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<24xf32>
    %5 = stablehlo.divide %4, %3 : tensor<24xf32>
    %6 = stablehlo.multiply %arg0, %5 : tensor<24xf32>
    return %6 : tensor<24xf32>
  }
  func.func private @silu_18(%arg0: tensor<24xf32>) -> (tensor<24xf32>, tensor<24xf32>, tensor<24xf32>) {
    %0 = stablehlo.negate %arg0 : tensor<24xf32>
    %1 = stablehlo.exponential %0 : tensor<24xf32>
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %2 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<24xf32>
    %3 = stablehlo.add %2, %1 : tensor<24xf32>
    %cst_0 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %4 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<24xf32>
    %5 = stablehlo.divide %4, %3 : tensor<24xf32>
    %cst_1 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %6 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<24xf32>
    %7 = stablehlo.subtract %6, %5 : tensor<24xf32>
    %8 = stablehlo.multiply %5, %7 : tensor<24xf32>
    %9 = stablehlo.multiply %arg0, %5 : tensor<24xf32>
    return %9, %8, %5 : tensor<24xf32>, tensor<24xf32>, tensor<24xf32>
  }
  func.func private @silu_19(%arg0: tensor<24xf32>, %arg1: tensor<24xf32>, %arg2: tensor<24xf32>, %arg3: tensor<24xf32>) -> tensor<24xf32> {
    %0 = stablehlo.multiply %arg2, %arg3 : tensor<24xf32>
    %1 = stablehlo.multiply %arg3, %arg1 : tensor<24xf32>
    %2 = stablehlo.multiply %0, %arg0 : tensor<24xf32>
    %3 = stablehlo.add %1, %2 : tensor<24xf32>
    return %3 : tensor<24xf32>
  }
  func.func private @softplus(%arg0: tensor<24xf32>) -> tensor<24xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<24xf32>
    %1 = stablehlo.maximum %arg0, %0 : tensor<24xf32>
    %2 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<24xf32>
    %3 = stablehlo.subtract %arg0, %2 : tensor<24xf32>
    %4 = stablehlo.compare NE, %3, %3, FLOAT : (tensor<24xf32>, tensor<24xf32>) -> tensor<24xi1>
    %5 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<24xf32>
    %6 = stablehlo.add %arg0, %5 : tensor<24xf32>
    %7 = stablehlo.abs %3 : tensor<24xf32>
    %8 = stablehlo.negate %7 : tensor<24xf32>
    %9 = stablehlo.exponential %8 : tensor<24xf32>
    %10 = stablehlo.log_plus_one %9 : tensor<24xf32>
    %11 = stablehlo.add %1, %10 : tensor<24xf32>
    %12 = stablehlo.select %4, %6, %11 : tensor<24xi1>, tensor<24xf32>
    return %12 : tensor<24xf32>
  }
  func.func private @softplus_20(%arg0: tensor<24xf32>) -> (tensor<24xf32>, tensor<24xf32>, tensor<24xf32>) {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<24xf32>
    %1 = stablehlo.maximum %arg0, %0 : tensor<24xf32>
    %2 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<24xf32>
    %3 = stablehlo.subtract %arg0, %2 : tensor<24xf32>
    %4 = stablehlo.compare NE, %3, %3, FLOAT : (tensor<24xf32>, tensor<24xf32>) -> tensor<24xi1>
    %5 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<24xf32>
    %6 = stablehlo.add %arg0, %5 : tensor<24xf32>
    %7 = stablehlo.abs %3 : tensor<24xf32>
    %8 = stablehlo.negate %7 : tensor<24xf32>
    %9 = stablehlo.exponential %8 : tensor<24xf32>
    %10 = stablehlo.log_plus_one %9 : tensor<24xf32>
    %11 = stablehlo.add %1, %10 : tensor<24xf32>
    %12 = stablehlo.select %4, %6, %11 : tensor<24xi1>, tensor<24xf32>
    %cst_0 = stablehlo.constant dense<0x7F800000> : tensor<f32>
    %13 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<24xf32>
    %14 = stablehlo.compare EQ, %arg0, %13, FLOAT : (tensor<24xf32>, tensor<24xf32>) -> tensor<24xi1>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %15 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<24xf32>
    %16 = stablehlo.select %14, %15, %arg0 : tensor<24xi1>, tensor<24xf32>
    %cst_2 = stablehlo.constant dense<0x7F800000> : tensor<f32>
    %17 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<24xf32>
    %18 = stablehlo.compare EQ, %12, %17, FLOAT : (tensor<24xf32>, tensor<24xf32>) -> tensor<24xi1>
    %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %19 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<24xf32>
    %20 = stablehlo.select %18, %19, %12 : tensor<24xi1>, tensor<24xf32>
    %21 = stablehlo.subtract %16, %20 : tensor<24xf32>
    %22 = stablehlo.exponential %21 : tensor<24xf32>
    %cst_4 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %cst_5 = stablehlo.constant dense<0x7F800000> : tensor<f32>
    %23 = stablehlo.compare EQ, %cst_4, %cst_5, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %cst_6 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %cst_7 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %24 = stablehlo.select %23, %cst_7, %cst_6 : tensor<i1>, tensor<f32>
    %cst_8 = stablehlo.constant dense<0x7F800000> : tensor<f32>
    %25 = stablehlo.broadcast_in_dim %cst_8, dims = [] : (tensor<f32>) -> tensor<24xf32>
    %26 = stablehlo.compare EQ, %12, %25, FLOAT : (tensor<24xf32>, tensor<24xf32>) -> tensor<24xi1>
    %cst_9 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %27 = stablehlo.broadcast_in_dim %cst_9, dims = [] : (tensor<f32>) -> tensor<24xf32>
    %28 = stablehlo.select %26, %27, %12 : tensor<24xi1>, tensor<24xf32>
    %29 = stablehlo.broadcast_in_dim %24, dims = [] : (tensor<f32>) -> tensor<24xf32>
    %30 = stablehlo.subtract %29, %28 : tensor<24xf32>
    %31 = stablehlo.exponential %30 : tensor<24xf32>
    %cst_10 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %32 = stablehlo.broadcast_in_dim %cst_10, dims = [] : (tensor<f32>) -> tensor<24xf32>
    %33 = stablehlo.multiply %32, %31 : tensor<24xf32>
    return %12, %22, %33 : tensor<24xf32>, tensor<24xf32>, tensor<24xf32>
  }
  func.func private @softplus_21(%arg0: tensor<24xf32>, %arg1: tensor<24xf32>, %arg2: tensor<24xf32>) -> tensor<24xf32> {
    %0 = stablehlo.multiply %arg2, %arg0 : tensor<24xf32>
    return %0 : tensor<24xf32>
  }
  func.func private @hard_tanh(%arg0: tensor<24xf32>) -> tensor<24xf32> {
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<24xf32>
    %1 = stablehlo.compare GT, %arg0, %0, FLOAT : (tensor<24xf32>, tensor<24xf32>) -> tensor<24xi1>
    %cst_0 = stablehlo.constant dense<-1.000000e+00> : tensor<f32>
    %2 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<24xf32>
    %3 = stablehlo.compare LT, %arg0, %2, FLOAT : (tensor<24xf32>, tensor<24xf32>) -> tensor<24xi1>
    %c = stablehlo.constant dense<-1> : tensor<i32>
    %4 = call @_where_22(%3, %c, %arg0) : (tensor<24xi1>, tensor<i32>, tensor<24xf32>) -> tensor<24xf32>
    %c_1 = stablehlo.constant dense<1> : tensor<i32>
    %5 = call @_where_22(%1, %c_1, %4) : (tensor<24xi1>, tensor<i32>, tensor<24xf32>) -> tensor<24xf32>
    return %5 : tensor<24xf32>
  }
  func.func private @_where_22(%arg0: tensor<24xi1>, %arg1: tensor<i32>, %arg2: tensor<24xf32>) -> tensor<24xf32> {
    %0 = stablehlo.convert %arg1 : (tensor<i32>) -> tensor<f32>
    %1 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<24xf32>
    %2 = stablehlo.select %arg0, %1, %arg2 : tensor<24xi1>, tensor<24xf32>
    return %2 : tensor<24xf32>
  }
  func.func private @hard_tanh_23(%arg0: tensor<24xf32>) -> (tensor<24xf32>, tensor<24xi1>, tensor<24xf32>, tensor<24xi1>, tensor<24xf32>) {
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<24xf32>
    %1 = stablehlo.compare GT, %arg0, %0, FLOAT : (tensor<24xf32>, tensor<24xf32>) -> tensor<24xi1>
    %cst_0 = stablehlo.constant dense<-1.000000e+00> : tensor<f32>
    %2 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<24xf32>
    %3 = stablehlo.compare LT, %arg0, %2, FLOAT : (tensor<24xf32>, tensor<24xf32>) -> tensor<24xi1>
    %c = stablehlo.constant dense<-1> : tensor<i32>
    %4:2 = call @_where_24(%3, %c, %arg0) : (tensor<24xi1>, tensor<i32>, tensor<24xf32>) -> (tensor<24xf32>, tensor<24xf32>)
    %c_1 = stablehlo.constant dense<1> : tensor<i32>
    %5:2 = call @_where_24(%1, %c_1, %4#0) : (tensor<24xi1>, tensor<i32>, tensor<24xf32>) -> (tensor<24xf32>, tensor<24xf32>)
    return %5#0, %3, %4#1, %1, %5#1 : tensor<24xf32>, tensor<24xi1>, tensor<24xf32>, tensor<24xi1>, tensor<24xf32>
  }
  func.func private @_where_24(%arg0: tensor<24xi1>, %arg1: tensor<i32>, %arg2: tensor<24xf32>) -> (tensor<24xf32>, tensor<24xf32>) {
    %0 = stablehlo.convert %arg1 : (tensor<i32>) -> tensor<f32>
    %1 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<24xf32>
    %2 = stablehlo.select %arg0, %1, %arg2 : tensor<24xi1>, tensor<24xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %3 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<24xf32>
    return %2, %3 : tensor<24xf32>, tensor<24xf32>
  }
  func.func private @hard_tanh_25(%arg0: tensor<24xi1>, %arg1: tensor<24xf32>, %arg2: tensor<24xi1>, %arg3: tensor<24xf32>, %arg4: tensor<24xf32>) -> tensor<24xf32> {
    %0 = call @_where_26(%arg2, %arg3, %arg4) : (tensor<24xi1>, tensor<24xf32>, tensor<24xf32>) -> tensor<24xf32>
    %1 = call @_where_26(%arg0, %arg1, %0) : (tensor<24xi1>, tensor<24xf32>, tensor<24xf32>) -> tensor<24xf32>
    return %1 : tensor<24xf32>
  }
  func.func private @_where_26(%arg0: tensor<24xi1>, %arg1: tensor<24xf32>, %arg2: tensor<24xf32>) -> tensor<24xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<24xf32>
    %1 = stablehlo.select %arg0, %0, %arg2 : tensor<24xi1>, tensor<24xf32>
    return %1 : tensor<24xf32>
  }
  func.func private @hard_sigmoid(%arg0: tensor<24xf32>) -> tensor<24xf32> {
    %cst = stablehlo.constant dense<3.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<24xf32>
    %1 = stablehlo.add %arg0, %0 : tensor<24xf32>
    %2 = call @relu6(%1) : (tensor<24xf32>) -> tensor<24xf32>
    %cst_0 = stablehlo.constant dense<6.000000e+00> : tensor<f32>
    %3 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<24xf32>
    %4 = stablehlo.divide %2, %3 : tensor<24xf32>
    return %4 : tensor<24xf32>
  }
  func.func private @hard_sigmoid_27(%arg0: tensor<24xf32>) -> (tensor<24xf32>, tensor<24xi1>, tensor<24xf32>) {
    %cst = stablehlo.constant dense<3.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<24xf32>
    %1 = stablehlo.add %arg0, %0 : tensor<24xf32>
    %2 = call @relu6_28(%1) : (tensor<24xf32>) -> tensor<24xf32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %3 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<24xf32>
    %4 = stablehlo.compare GT, %1, %3, FLOAT : (tensor<24xf32>, tensor<24xf32>) -> tensor<24xi1>
    %cst_1 = stablehlo.constant dense<6.000000e+00> : tensor<f32>
    %5 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<24xf32>
    %6 = stablehlo.compare LT, %1, %5, FLOAT : (tensor<24xf32>, tensor<24xf32>) -> tensor<24xi1>
    %7 = stablehlo.and %4, %6 : tensor<24xi1>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %8 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<24xf32>
    %cst_3 = stablehlo.constant dense<6.000000e+00> : tensor<f32>
    %9 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<24xf32>
    %10 = stablehlo.divide %2, %9 : tensor<24xf32>
    return %10, %7, %8 : tensor<24xf32>, tensor<24xi1>, tensor<24xf32>
  }
  func.func private @relu6_28(%arg0: tensor<24xf32>) -> tensor<24xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<24xf32>
    %1 = stablehlo.maximum %arg0, %0 : tensor<24xf32>
    %cst_0 = stablehlo.constant dense<6.000000e+00> : tensor<f32>
    %2 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<24xf32>
    %3 = stablehlo.minimum %1, %2 : tensor<24xf32>
    return %3 : tensor<24xf32>
  }
  func.func private @hard_sigmoid_29(%arg0: tensor<24xi1>, %arg1: tensor<24xf32>, %arg2: tensor<24xf32>) -> tensor<24xf32> {
    %cst = stablehlo.constant dense<6.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<24xf32>
    %1 = stablehlo.divide %arg2, %0 : tensor<24xf32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %2 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<24xf32>
    %3 = stablehlo.select %arg0, %1, %2 : tensor<24xi1>, tensor<24xf32>
    return %3 : tensor<24xf32>
  }
  func.func private @log_sigmoid(%arg0: tensor<24xf32>) -> tensor<24xf32> {
    %0 = stablehlo.negate %arg0 : tensor<24xf32>
    %1 = call @softplus(%0) : (tensor<24xf32>) -> tensor<24xf32>
    %2 = stablehlo.negate %1 : tensor<24xf32>
    return %2 : tensor<24xf32>
  }
  func.func private @log_sigmoid_30(%arg0: tensor<24xf32>) -> (tensor<24xf32>, tensor<24xf32>, tensor<24xf32>) {
    %0 = stablehlo.negate %arg0 : tensor<24xf32>
    %1:3 = call @softplus_31(%0) : (tensor<24xf32>) -> (tensor<24xf32>, tensor<24xf32>, tensor<24xf32>)
    %2 = stablehlo.negate %1#0 : tensor<24xf32>
    return %2, %1#1, %1#2 : tensor<24xf32>, tensor<24xf32>, tensor<24xf32>
  }
  func.func private @softplus_31(%arg0: tensor<24xf32>) -> (tensor<24xf32>, tensor<24xf32>, tensor<24xf32>) {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<24xf32>
    %1 = stablehlo.maximum %arg0, %0 : tensor<24xf32>
    %2 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<24xf32>
    %3 = stablehlo.subtract %arg0, %2 : tensor<24xf32>
    %4 = stablehlo.compare NE, %3, %3, FLOAT : (tensor<24xf32>, tensor<24xf32>) -> tensor<24xi1>
    %5 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<24xf32>
    %6 = stablehlo.add %arg0, %5 : tensor<24xf32>
    %7 = stablehlo.abs %3 : tensor<24xf32>
    %8 = stablehlo.negate %7 : tensor<24xf32>
    %9 = stablehlo.exponential %8 : tensor<24xf32>
    %10 = stablehlo.log_plus_one %9 : tensor<24xf32>
    %11 = stablehlo.add %1, %10 : tensor<24xf32>
    %12 = stablehlo.select %4, %6, %11 : tensor<24xi1>, tensor<24xf32>
    %cst_0 = stablehlo.constant dense<0x7F800000> : tensor<f32>
    %13 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<24xf32>
    %14 = stablehlo.compare EQ, %arg0, %13, FLOAT : (tensor<24xf32>, tensor<24xf32>) -> tensor<24xi1>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %15 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<24xf32>
    %16 = stablehlo.select %14, %15, %arg0 : tensor<24xi1>, tensor<24xf32>
    %cst_2 = stablehlo.constant dense<0x7F800000> : tensor<f32>
    %17 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<24xf32>
    %18 = stablehlo.compare EQ, %12, %17, FLOAT : (tensor<24xf32>, tensor<24xf32>) -> tensor<24xi1>
    %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %19 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<24xf32>
    %20 = stablehlo.select %18, %19, %12 : tensor<24xi1>, tensor<24xf32>
    %21 = stablehlo.subtract %16, %20 : tensor<24xf32>
    %22 = stablehlo.exponential %21 : tensor<24xf32>
    %cst_4 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %cst_5 = stablehlo.constant dense<0x7F800000> : tensor<f32>
    %23 = stablehlo.compare EQ, %cst_4, %cst_5, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %cst_6 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %cst_7 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %24 = stablehlo.select %23, %cst_7, %cst_6 : tensor<i1>, tensor<f32>
    %cst_8 = stablehlo.constant dense<0x7F800000> : tensor<f32>
    %25 = stablehlo.broadcast_in_dim %cst_8, dims = [] : (tensor<f32>) -> tensor<24xf32>
    %26 = stablehlo.compare EQ, %12, %25, FLOAT : (tensor<24xf32>, tensor<24xf32>) -> tensor<24xi1>
    %cst_9 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %27 = stablehlo.broadcast_in_dim %cst_9, dims = [] : (tensor<f32>) -> tensor<24xf32>
    %28 = stablehlo.select %26, %27, %12 : tensor<24xi1>, tensor<24xf32>
    %29 = stablehlo.broadcast_in_dim %24, dims = [] : (tensor<f32>) -> tensor<24xf32>
    %30 = stablehlo.subtract %29, %28 : tensor<24xf32>
    %31 = stablehlo.exponential %30 : tensor<24xf32>
    %cst_10 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %32 = stablehlo.broadcast_in_dim %cst_10, dims = [] : (tensor<f32>) -> tensor<24xf32>
    %33 = stablehlo.multiply %32, %31 : tensor<24xf32>
    return %12, %22, %33 : tensor<24xf32>, tensor<24xf32>, tensor<24xf32>
  }
  func.func private @log_sigmoid_32(%arg0: tensor<24xf32>, %arg1: tensor<24xf32>, %arg2: tensor<24xf32>) -> tensor<24xf32> {
    %0 = stablehlo.negate %arg2 : tensor<24xf32>
    %1 = call @softplus_33(%arg0, %arg1, %0) : (tensor<24xf32>, tensor<24xf32>, tensor<24xf32>) -> tensor<24xf32>
    %2 = stablehlo.negate %1 : tensor<24xf32>
    return %2 : tensor<24xf32>
  }
  func.func private @softplus_33(%arg0: tensor<24xf32>, %arg1: tensor<24xf32>, %arg2: tensor<24xf32>) -> tensor<24xf32> {
    %0 = stablehlo.multiply %arg2, %arg0 : tensor<24xf32>
    return %0 : tensor<24xf32>
  }
  func.func private @mish(%arg0: tensor<24xf32>) -> tensor<24xf32> {
    %0 = call @softplus(%arg0) : (tensor<24xf32>) -> tensor<24xf32>
    %1 = stablehlo.tanh %0 : tensor<24xf32>
    %2 = stablehlo.multiply %arg0, %1 : tensor<24xf32>
    return %2 : tensor<24xf32>
  }
  func.func private @mish_34(%arg0: tensor<24xf32>) -> (tensor<24xf32>, tensor<24xf32>, tensor<24xf32>, tensor<24xf32>, tensor<24xf32>) {
    %0:3 = call @softplus_31(%arg0) : (tensor<24xf32>) -> (tensor<24xf32>, tensor<24xf32>, tensor<24xf32>)
    %1 = stablehlo.tanh %0#0 : tensor<24xf32>
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %2 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<24xf32>
    %3 = stablehlo.subtract %2, %1 : tensor<24xf32>
    %4 = stablehlo.multiply %arg0, %1 : tensor<24xf32>
    return %4, %0#1, %0#2, %1, %3 : tensor<24xf32>, tensor<24xf32>, tensor<24xf32>, tensor<24xf32>, tensor<24xf32>
  }
  func.func private @mish_35(%arg0: tensor<24xf32>, %arg1: tensor<24xf32>, %arg2: tensor<24xf32>, %arg3: tensor<24xf32>, %arg4: tensor<24xf32>, %arg5: tensor<24xf32>) -> tensor<24xf32> {
    %0 = stablehlo.multiply %arg4, %arg5 : tensor<24xf32>
    %1 = stablehlo.multiply %arg5, %arg2 : tensor<24xf32>
    %2 = stablehlo.multiply %0, %arg3 : tensor<24xf32>
    %3 = stablehlo.multiply %2, %arg2 : tensor<24xf32>
    %4 = stablehlo.add %2, %3 : tensor<24xf32>
    %5 = call @softplus_33(%arg0, %arg1, %4) : (tensor<24xf32>, tensor<24xf32>, tensor<24xf32>) -> tensor<24xf32>
    %6 = stablehlo.add %1, %5 : tensor<24xf32>
    return %6 : tensor<24xf32>
  }
}
