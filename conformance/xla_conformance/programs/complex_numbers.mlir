module @jit_complex_numbers attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<5x6xcomplex<f32>>, %arg1: tensor<5x6xcomplex<f32>>, %arg2: tensor<5x6xf32>) -> (tensor<5x6xcomplex<f32>> {jax.result_info = "result[0]"}, tensor<5x6xcomplex<f32>> {jax.result_info = "result[1]"}, tensor<5x6xcomplex<f32>> {jax.result_info = "result[2]"}, tensor<5x6xcomplex<f32>> {jax.result_info = "result[3]"}, tensor<5x6xf32> {jax.result_info = "result[4]"}, tensor<5x6xf32> {jax.result_info = "result[5]"}, tensor<5x6xf32> {jax.result_info = "result[6]"}, tensor<5x6xf32> {jax.result_info = "result[7]"}, tensor<5x6xcomplex<f32>> {jax.result_info = "result[8]"}, tensor<5x6xcomplex<f32>> {jax.result_info = "result[9]"}, tensor<5x6xcomplex<f32>> {jax.result_info = "result[10]"}, tensor<5x6xcomplex<f32>> {jax.result_info = "result[11]"}, tensor<5x6xcomplex<f32>> {jax.result_info = "result[12]"}, tensor<5x6xcomplex<f32>> {jax.result_info = "result[13]"}, tensor<5x6xcomplex<f32>> {jax.result_info = "result[14]"}, tensor<5x5xcomplex<f32>> {jax.result_info = "result[15]"}, tensor<6xcomplex<f32>> {jax.result_info = "result[16]"}, tensor<5xcomplex<f32>> {jax.result_info = "result[17]"}, tensor<5x6xi1> {jax.result_info = "result[18]"}, tensor<5x6xcomplex<f32>> {jax.result_info = "result[19]"}, tensor<5x6xf32> {jax.result_info = "result[20]"}) {
    %0 = stablehlo.multiply %arg0, %arg1 : tensor<5x6xcomplex<f32>>
    %1 = stablehlo.divide %arg0, %arg1 : tensor<5x6xcomplex<f32>>
    %2 = stablehlo.convert %arg2 : (tensor<5x6xf32>) -> tensor<5x6xcomplex<f32>>
    %3 = stablehlo.add %arg0, %2 : tensor<5x6xcomplex<f32>>
    %4 = stablehlo.real %arg0 : (tensor<5x6xcomplex<f32>>) -> tensor<5x6xf32>
    %5 = stablehlo.imag %arg0 : (tensor<5x6xcomplex<f32>>) -> tensor<5x6xf32>
    %6 = stablehlo.negate %5 : tensor<5x6xf32>
    %7 = stablehlo.complex %4, %6 : tensor<5x6xcomplex<f32>>
    %8 = stablehlo.real %arg0 : (tensor<5x6xcomplex<f32>>) -> tensor<5x6xf32>
    %9 = stablehlo.imag %arg0 : (tensor<5x6xcomplex<f32>>) -> tensor<5x6xf32>
    %10 = stablehlo.abs %arg0 : (tensor<5x6xcomplex<f32>>) -> tensor<5x6xf32>
    %11 = call @angle(%arg0) : (tensor<5x6xcomplex<f32>>) -> tensor<5x6xf32>
    %12 = stablehlo.exponential %arg0 : tensor<5x6xcomplex<f32>>
    %13 = stablehlo.log %arg0 : tensor<5x6xcomplex<f32>>
    %14 = stablehlo.sqrt %arg0 : tensor<5x6xcomplex<f32>>
    %15 = stablehlo.real %arg0 : (tensor<5x6xcomplex<f32>>) -> tensor<5x6xf32>
    %16 = stablehlo.imag %arg0 : (tensor<5x6xcomplex<f32>>) -> tensor<5x6xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %17 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<5x6xf32>
    %18 = stablehlo.compare EQ, %15, %17, FLOAT : (tensor<5x6xf32>, tensor<5x6xf32>) -> tensor<5x6xi1>
    %19 = stablehlo.sine %15 : tensor<5x6xf32>
    %20 = stablehlo.cosine %15 : tensor<5x6xf32>
    %21 = stablehlo.exponential_minus_one %16 : tensor<5x6xf32>
    %22 = stablehlo.negate %16 : tensor<5x6xf32>
    %23 = stablehlo.exponential_minus_one %22 : tensor<5x6xf32>
    %24 = stablehlo.subtract %21, %23 : tensor<5x6xf32>
    %cst_0 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %25 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<5x6xf32>
    %26 = stablehlo.divide %24, %25 : tensor<5x6xf32>
    %27 = stablehlo.add %21, %23 : tensor<5x6xf32>
    %cst_1 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %28 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<5x6xf32>
    %29 = stablehlo.add %27, %28 : tensor<5x6xf32>
    %cst_2 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %30 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<5x6xf32>
    %31 = stablehlo.divide %29, %30 : tensor<5x6xf32>
    %32 = stablehlo.multiply %19, %31 : tensor<5x6xf32>
    %33 = stablehlo.multiply %20, %26 : tensor<5x6xf32>
    %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %34 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<5x6xf32>
    %35 = stablehlo.complex %34, %33 : tensor<5x6xcomplex<f32>>
    %36 = stablehlo.complex %32, %33 : tensor<5x6xcomplex<f32>>
    %37 = stablehlo.select %18, %35, %36 : tensor<5x6xi1>, tensor<5x6xcomplex<f32>>
    %38 = stablehlo.tanh %arg0 : tensor<5x6xcomplex<f32>>
    %39 = stablehlo.multiply %arg0, %arg0 : tensor<5x6xcomplex<f32>>
    %40 = stablehlo.reverse %arg2, dims = [0] : tensor<5x6xf32>
    %41 = stablehlo.complex %arg2, %40 : tensor<5x6xcomplex<f32>>
    %42 = stablehlo.transpose %arg1, dims = [1, 0] : (tensor<5x6xcomplex<f32>>) -> tensor<6x5xcomplex<f32>>
    %43 = stablehlo.dot_general %arg0, %42, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<5x6xcomplex<f32>>, tensor<6x5xcomplex<f32>>) -> tensor<5x5xcomplex<f32>>
    %cst_4 = stablehlo.constant dense<(0.000000e+00,0.000000e+00)> : tensor<complex<f32>>
    %44 = stablehlo.reduce(%arg0 init: %cst_4) applies stablehlo.add across dimensions = [0] : (tensor<5x6xcomplex<f32>>, tensor<complex<f32>>) -> tensor<6xcomplex<f32>>
    %cst_5 = stablehlo.constant dense<(1.000000e+00,0.000000e+00)> : tensor<complex<f32>>
    %45 = stablehlo.reduce(%arg1 init: %cst_5) applies stablehlo.multiply across dimensions = [1] : (tensor<5x6xcomplex<f32>>, tensor<complex<f32>>) -> tensor<5xcomplex<f32>>
    %cst_6 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %46 = stablehlo.broadcast_in_dim %cst_6, dims = [] : (tensor<f32>) -> tensor<5x6xf32>
    %47 = stablehlo.compare GT, %arg2, %46, FLOAT : (tensor<5x6xf32>, tensor<5x6xf32>) -> tensor<5x6xi1>
    %48 = call @_where(%47, %arg0, %arg1) : (tensor<5x6xi1>, tensor<5x6xcomplex<f32>>, tensor<5x6xcomplex<f32>>) -> tensor<5x6xcomplex<f32>>
    %49 = stablehlo.compare EQ, %arg0, %48, FLOAT : (tensor<5x6xcomplex<f32>>, tensor<5x6xcomplex<f32>>) -> tensor<5x6xi1>
    %cst_7 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %50 = stablehlo.broadcast_in_dim %cst_7, dims = [] : (tensor<f32>) -> tensor<5x6xf32>
    %51 = stablehlo.compare GT, %arg2, %50, FLOAT : (tensor<5x6xf32>, tensor<5x6xf32>) -> tensor<5x6xi1>
    %52 = call @_where(%51, %arg0, %arg1) : (tensor<5x6xi1>, tensor<5x6xcomplex<f32>>, tensor<5x6xcomplex<f32>>) -> tensor<5x6xcomplex<f32>>
    %53 = stablehlo.convert %arg2 : (tensor<5x6xf32>) -> tensor<5x6xcomplex<f32>>
    %cst_8 = stablehlo.constant dense<(0.000000e+00,1.000000e+00)> : tensor<complex<f32>>
    %54 = stablehlo.broadcast_in_dim %cst_8, dims = [] : (tensor<complex<f32>>) -> tensor<5x6xcomplex<f32>>
    %55 = stablehlo.multiply %54, %53 : tensor<5x6xcomplex<f32>>
    %56 = stablehlo.exponential %55 : tensor<5x6xcomplex<f32>>
    %57 = stablehlo.add %56, %arg0 : tensor<5x6xcomplex<f32>>
    %58 = stablehlo.abs %57 : (tensor<5x6xcomplex<f32>>) -> tensor<5x6xf32>
    %59 = stablehlo.real %57 : (tensor<5x6xcomplex<f32>>) -> tensor<5x6xf32>
    %60 = stablehlo.imag %57 : (tensor<5x6xcomplex<f32>>) -> tensor<5x6xf32>
    %61 = stablehlo.negate %60 : tensor<5x6xf32>
    %62 = stablehlo.complex %59, %61 : tensor<5x6xcomplex<f32>>
    %63 = stablehlo.convert %58 : (tensor<5x6xf32>) -> tensor<5x6xcomplex<f32>>
    %cst_9 = stablehlo.constant dense<(0.000000e+00,0.000000e+00)> : tensor<complex<f32>>
    %64 = stablehlo.broadcast_in_dim %cst_9, dims = [] : (tensor<complex<f32>>) -> tensor<5x6xcomplex<f32>>
    %65 = stablehlo.compare EQ, %63, %64, FLOAT : (tensor<5x6xcomplex<f32>>, tensor<5x6xcomplex<f32>>) -> tensor<5x6xi1>
    %cst_10 = stablehlo.constant dense<(1.000000e+00,0.000000e+00)> : tensor<complex<f32>>
    %66 = stablehlo.broadcast_in_dim %cst_10, dims = [] : (tensor<complex<f32>>) -> tensor<5x6xcomplex<f32>>
    %67 = stablehlo.select %65, %66, %63 : tensor<5x6xi1>, tensor<5x6xcomplex<f32>>
    %68 = stablehlo.divide %62, %67 : tensor<5x6xcomplex<f32>>
    %69 = stablehlo.multiply %58, %58 : tensor<5x6xf32>
    %cst_11 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %70 = stablehlo.broadcast_in_dim %cst_11, dims = [] : (tensor<f32>) -> tensor<5x6xf32>
    %71 = stablehlo.multiply %70, %58 : tensor<5x6xf32>
    %cst_12 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %72 = stablehlo.reduce(%69 init: %cst_12) applies stablehlo.add across dimensions = [0, 1] : (tensor<5x6xf32>, tensor<f32>) -> tensor<f32>
    %cst_13 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %73 = stablehlo.broadcast_in_dim %cst_13, dims = [] : (tensor<f32>) -> tensor<5x6xf32>
    %74 = stablehlo.multiply %73, %71 : tensor<5x6xf32>
    %cst_14 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %75 = stablehlo.broadcast_in_dim %cst_14, dims = [] : (tensor<f32>) -> tensor<5x6xf32>
    %76 = stablehlo.complex %74, %75 : tensor<5x6xcomplex<f32>>
    %77 = stablehlo.multiply %76, %68 : tensor<5x6xcomplex<f32>>
    %78 = stablehlo.multiply %77, %56 : tensor<5x6xcomplex<f32>>
    %cst_15 = stablehlo.constant dense<(0.000000e+00,1.000000e+00)> : tensor<complex<f32>>
    %79 = stablehlo.broadcast_in_dim %cst_15, dims = [] : (tensor<complex<f32>>) -> tensor<5x6xcomplex<f32>>
    %80 = stablehlo.multiply %79, %78 : tensor<5x6xcomplex<f32>>
    %81 = stablehlo.real %80 : (tensor<5x6xcomplex<f32>>) -> tensor<5x6xf32>
    %82 = stablehlo.convert %81 : tensor<5x6xf32>
    return %0, %1, %3, %7, %8, %9, %10, %11, %12, %13, %14, %37, %38, %39, %41, %43, %44, %45, %49, %52, %82 : tensor<5x6xcomplex<f32>>, tensor<5x6xcomplex<f32>>, tensor<5x6xcomplex<f32>>, tensor<5x6xcomplex<f32>>, tensor<5x6xf32>, tensor<5x6xf32>, tensor<5x6xf32>, tensor<5x6xf32>, tensor<5x6xcomplex<f32>>, tensor<5x6xcomplex<f32>>, tensor<5x6xcomplex<f32>>, tensor<5x6xcomplex<f32>>, tensor<5x6xcomplex<f32>>, tensor<5x6xcomplex<f32>>, tensor<5x6xcomplex<f32>>, tensor<5x5xcomplex<f32>>, tensor<6xcomplex<f32>>, tensor<5xcomplex<f32>>, tensor<5x6xi1>, tensor<5x6xcomplex<f32>>, tensor<5x6xf32>
  }
  func.func private @angle(%arg0: tensor<5x6xcomplex<f32>>) -> tensor<5x6xf32> {
    %0 = stablehlo.real %arg0 : (tensor<5x6xcomplex<f32>>) -> tensor<5x6xf32>
    %1 = stablehlo.imag %arg0 : (tensor<5x6xcomplex<f32>>) -> tensor<5x6xf32>
    %2 = stablehlo.atan2 %1, %0 : tensor<5x6xf32>
    return %2 : tensor<5x6xf32>
  }
  func.func private @_where(%arg0: tensor<5x6xi1>, %arg1: tensor<5x6xcomplex<f32>>, %arg2: tensor<5x6xcomplex<f32>>) -> tensor<5x6xcomplex<f32>> {
    %0 = stablehlo.select %arg0, %arg1, %arg2 : tensor<5x6xi1>, tensor<5x6xcomplex<f32>>
    return %0 : tensor<5x6xcomplex<f32>>
  }
}
