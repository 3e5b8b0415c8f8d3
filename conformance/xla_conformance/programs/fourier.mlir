module @jit_fourier attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<3x16xf32>, %arg1: tensor<2x12xcomplex<f32>>, %arg2: tensor<4x6xf32>, %arg3: tensor<3x16xf32>) -> (tensor<2x12xcomplex<f32>> {jax.result_info = "result[0]"}, tensor<2x12xcomplex<f32>> {jax.result_info = "result[1]"}, tensor<3x16xf32> {jax.result_info = "result[2]"}, tensor<4x6xcomplex<f32>> {jax.result_info = "result[3]"}, tensor<4x6xf32> {jax.result_info = "result[4]"}, tensor<8xf32> {jax.result_info = "result[5]"}, tensor<3x16xf32> {jax.result_info = "result[6]"}) {
    %0 = call @fft(%arg0) : (tensor<3x16xf32>) -> tensor<3x9xcomplex<f32>>
    %1 = call @fft(%arg3) : (tensor<3x16xf32>) -> tensor<3x9xcomplex<f32>>
    %2 = stablehlo.multiply %0, %1 : tensor<3x9xcomplex<f32>>
    %3 = call @fft_0(%arg1) : (tensor<2x12xcomplex<f32>>) -> tensor<2x12xcomplex<f32>>
    %4 = call @fft_1(%arg1) : (tensor<2x12xcomplex<f32>>) -> tensor<2x12xcomplex<f32>>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %5 = call @_pad(%2, %c) : (tensor<3x9xcomplex<f32>>, tensor<i32>) -> tensor<3x9xcomplex<f32>>
    %6 = call @fft_2(%5) : (tensor<3x9xcomplex<f32>>) -> tensor<3x16xf32>
    %7 = call @fft_3(%arg2) : (tensor<4x6xf32>) -> tensor<4x6xcomplex<f32>>
    %8 = call @fft_4(%arg2) : (tensor<4x6xf32>) -> tensor<4x4xcomplex<f32>>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %9 = call @_pad_5(%8, %c_0) : (tensor<4x4xcomplex<f32>>, tensor<i32>) -> tensor<4x4xcomplex<f32>>
    %10 = call @fft_6(%9) : (tensor<4x4xcomplex<f32>>) -> tensor<4x6xf32>
    %11 = stablehlo.iota dim = 0 : tensor<8xf32>
    %cst = stablehlo.constant dense<4.000000e+00> : tensor<f32>
    %12 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<8xf32>
    %13 = stablehlo.add %11, %12 : tensor<8xf32>
    %c_1 = stablehlo.constant dense<8> : tensor<i32>
    %14 = call @remainder(%13, %c_1) : (tensor<8xf32>, tensor<i32>) -> tensor<8xf32>
    %cst_2 = stablehlo.constant dense<4.000000e+00> : tensor<f32>
    %15 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<8xf32>
    %16 = stablehlo.subtract %14, %15 : tensor<8xf32>
    %cst_3 = stablehlo.constant dense<8.000000e+00> : tensor<f32>
    %17 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<8xf32>
    %18 = stablehlo.divide %16, %17 : tensor<8xf32>
    %19 = call @_roll_static(%18) : (tensor<8xf32>) -> tensor<8xf32>
    %20 = call @fft_7(%arg0) : (tensor<3x16xf32>) -> tensor<3x9xcomplex<f32>>
    %21 = stablehlo.abs %20 : (tensor<3x9xcomplex<f32>>) -> tensor<3x9xf32>
    %22 = stablehlo.real %20 : (tensor<3x9xcomplex<f32>>) -> tensor<3x9xf32>
    %23 = stablehlo.imag %20 : (tensor<3x9xcomplex<f32>>) -> tensor<3x9xf32>
    %24 = stablehlo.negate %23 : tensor<3x9xf32>
    %25 = stablehlo.complex %22, %24 : tensor<3x9xcomplex<f32>>
    %26 = stablehlo.convert %21 : (tensor<3x9xf32>) -> tensor<3x9xcomplex<f32>>
    %cst_4 = stablehlo.constant dense<(0.000000e+00,0.000000e+00)> : tensor<complex<f32>>
    %27 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<complex<f32>>) -> tensor<3x9xcomplex<f32>>
    %28 = stablehlo.compare EQ, %26, %27, FLOAT : (tensor<3x9xcomplex<f32>>, tensor<3x9xcomplex<f32>>) -> tensor<3x9xi1>
    %cst_5 = stablehlo.constant dense<(1.000000e+00,0.000000e+00)> : tensor<complex<f32>>
    %29 = stablehlo.broadcast_in_dim %cst_5, dims = [] : (tensor<complex<f32>>) -> tensor<3x9xcomplex<f32>>
    %30 = stablehlo.select %28, %29, %26 : tensor<3x9xi1>, tensor<3x9xcomplex<f32>>
    %31 = stablehlo.divide %25, %30 : tensor<3x9xcomplex<f32>>
    %32 = stablehlo.multiply %21, %21 : tensor<3x9xf32>
    %cst_6 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %33 = stablehlo.broadcast_in_dim %cst_6, dims = [] : (tensor<f32>) -> tensor<3x9xf32>
    %34 = stablehlo.multiply %33, %21 : tensor<3x9xf32>
    %cst_7 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %35 = stablehlo.reduce(%32 init: %cst_7) applies stablehlo.add across dimensions = [0, 1] : (tensor<3x9xf32>, tensor<f32>) -> tensor<f32>
    %cst_8 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %36 = stablehlo.broadcast_in_dim %cst_8, dims = [] : (tensor<f32>) -> tensor<3x9xf32>
    %37 = stablehlo.multiply %36, %34 : tensor<3x9xf32>
    %cst_9 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %38 = stablehlo.broadcast_in_dim %cst_9, dims = [] : (tensor<f32>) -> tensor<3x9xf32>
    %39 = stablehlo.complex %37, %38 : tensor<3x9xcomplex<f32>>
    %40 = stablehlo.multiply %39, %31 : tensor<3x9xcomplex<f32>>
    %41 = call @fft_8(%40) : (tensor<3x9xcomplex<f32>>) -> tensor<3x16xf32>
    return %3, %4, %6, %7, %10, %19, %41 : tensor<2x12xcomplex<f32>>, tensor<2x12xcomplex<f32>>, tensor<3x16xf32>, tensor<4x6xcomplex<f32>>, tensor<4x6xf32>, tensor<8xf32>, tensor<3x16xf32>
  }
  func.func private @fft(%arg0: tensor<3x16xf32>) -> tensor<3x9xcomplex<f32>> {
    %0 = stablehlo.fft %arg0, type = RFFT, length = [16] : (tensor<3x16xf32>) -> tensor<3x9xcomplex<f32>>
    return %0 : tensor<3x9xcomplex<f32>>
  }
  func.func private @fft_0(%arg0: tensor<2x12xcomplex<f32>>) -> tensor<2x12xcomplex<f32>> {
    %0 = stablehlo.fft %arg0, type = FFT, length = [12] : (tensor<2x12xcomplex<f32>>) -> tensor<2x12xcomplex<f32>>
    return %0 : tensor<2x12xcomplex<f32>>
  }
  func.func private @fft_1(%arg0: tensor<2x12xcomplex<f32>>) -> tensor<2x12xcomplex<f32>> {
    %0 = stablehlo.fft %arg0, type = IFFT, length = [12] : (tensor<2x12xcomplex<f32>>) -> tensor<2x12xcomplex<f32>>
    return %0 : tensor<2x12xcomplex<f32>>
  }
  func.func private @_pad(%arg0: tensor<3x9xcomplex<f32>>, %arg1: tensor<i32>) -> tensor<3x9xcomplex<f32>> {
    %0 = stablehlo.convert %arg1 : (tensor<i32>) -> tensor<complex<f32>>
    %1 = stablehlo.pad %arg0, %0, low = [0, 0], high = [0, 0], interior = [0, 0] : (tensor<3x9xcomplex<f32>>, tensor<complex<f32>>) -> tensor<3x9xcomplex<f32>>
    return %1 : tensor<3x9xcomplex<f32>>
  }
  func.func private @fft_2(%arg0: tensor<3x9xcomplex<f32>>) -> tensor<3x16xf32> {
    %0 = stablehlo.fft %arg0, type = IRFFT, length = [16] : (tensor<3x9xcomplex<f32>>) -> tensor<3x16xf32>
    return %0 : tensor<3x16xf32>
  }
  func.func private @fft_3(%arg0: tensor<4x6xf32>) -> tensor<4x6xcomplex<f32>> {
    %0 = stablehlo.convert %arg0 : (tensor<4x6xf32>) -> tensor<4x6xcomplex<f32>>
    %1 = stablehlo.fft %0, type = FFT, length = [4, 6] : (tensor<4x6xcomplex<f32>>) -> tensor<4x6xcomplex<f32>>
    return %1 : tensor<4x6xcomplex<f32>>
  }
  func.func private @fft_4(%arg0: tensor<4x6xf32>) -> tensor<4x4xcomplex<f32>> {
    %0 = stablehlo.fft %arg0, type = RFFT, length = [4, 6] : (tensor<4x6xf32>) -> tensor<4x4xcomplex<f32>>
    return %0 : tensor<4x4xcomplex<f32>>
  }
  func.func private @_pad_5(%arg0: tensor<4x4xcomplex<f32>>, %arg1: tensor<i32>) -> tensor<4x4xcomplex<f32>> {
    %0 = stablehlo.convert %arg1 : (tensor<i32>) -> tensor<complex<f32>>
    %1 = stablehlo.pad %arg0, %0, low = [0, 0], high = [0, 0], interior = [0, 0] : (tensor<4x4xcomplex<f32>>, tensor<complex<f32>>) -> tensor<4x4xcomplex<f32>>
    return %1 : tensor<4x4xcomplex<f32>>
  }
  func.func private @fft_6(%arg0: tensor<4x4xcomplex<f32>>) -> tensor<4x6xf32> {
    %0 = stablehlo.fft %arg0, type = IRFFT, length = [4, 6] : (tensor<4x4xcomplex<f32>>) -> tensor<4x6xf32>
    return %0 : tensor<4x6xf32>
  }
  func.func private @remainder(%arg0: tensor<8xf32>, %arg1: tensor<i32>) -> tensor<8xf32> {
    %0 = stablehlo.convert %arg1 : (tensor<i32>) -> tensor<f32>
    %1 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<8xf32>
    %2 = stablehlo.remainder %arg0, %1 : tensor<8xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %3 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<8xf32>
    %4 = stablehlo.compare NE, %2, %3, FLOAT : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xi1>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %5 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<8xf32>
    %6 = stablehlo.compare LT, %2, %5, FLOAT : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xi1>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %7 = stablehlo.compare LT, %0, %cst_1, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %8 = stablehlo.broadcast_in_dim %7, dims = [] : (tensor<i1>) -> tensor<8xi1>
    %9 = stablehlo.compare NE, %6, %8, UNSIGNED : (tensor<8xi1>, tensor<8xi1>) -> tensor<8xi1>
    %10 = stablehlo.and %9, %4 : tensor<8xi1>
    %11 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<8xf32>
    %12 = stablehlo.add %2, %11 : tensor<8xf32>
    %13 = stablehlo.select %10, %12, %2 : tensor<8xi1>, tensor<8xf32>
    return %13 : tensor<8xf32>
  }
  func.func private @_roll_static(%arg0: tensor<8xf32>) -> tensor<8xf32> {
    %0 = stablehlo.slice %arg0 [4:8] : (tensor<8xf32>) -> tensor<4xf32>
    %1 = stablehlo.slice %arg0 [0:4] : (tensor<8xf32>) -> tensor<4xf32>
    %2 = stablehlo.concatenate %0, %1, dim = 0 : (tensor<4xf32>, tensor<4xf32>) -> tensor<8xf32>
    return %2 : tensor<8xf32>
  }
  func.func private @fft_7(%arg0: tensor<3x16xf32>) -> tensor<3x9xcomplex<f32>> {
    %0 = stablehlo.fft %arg0, type = RFFT, length = [16] : (tensor<3x16xf32>) -> tensor<3x9xcomplex<f32>>
    return %0 : tensor<3x9xcomplex<f32>>
  }
  func.func private @fft_8(%arg0: tensor<3x9xcomplex<f32>>) -> tensor<3x16xf32> {
    %0 = call @_rfft_transpose(%arg0) : (tensor<3x9xcomplex<f32>>) -> tensor<3x16xf32>
    return %0 : tensor<3x16xf32>
  }
  func.func private @_rfft_transpose(%arg0: tensor<3x9xcomplex<f32>>) -> tensor<3x16xf32> {
    %cst = stablehlo.constant dense<(2.000000e+00,0.000000e+00)> : tensor<complex<f32>>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<complex<f32>>) -> tensor<9xcomplex<f32>>
    %cst_0 = stablehlo.constant dense<(1.000000e+00,0.000000e+00)> : tensor<complex<f32>>
    %1 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<complex<f32>>) -> tensor<1xcomplex<f32>>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %2 = stablehlo.dynamic_update_slice %0, %1, %c : (tensor<9xcomplex<f32>>, tensor<1xcomplex<f32>>, tensor<i32>) -> tensor<9xcomplex<f32>>
    %cst_1 = stablehlo.constant dense<(1.000000e+00,0.000000e+00)> : tensor<complex<f32>>
    %3 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<complex<f32>>) -> tensor<1xcomplex<f32>>
    %c_2 = stablehlo.constant dense<8> : tensor<i32>
    %4 = stablehlo.dynamic_update_slice %2, %3, %c_2 : (tensor<9xcomplex<f32>>, tensor<1xcomplex<f32>>, tensor<i32>) -> tensor<9xcomplex<f32>>
    %5 = stablehlo.broadcast_in_dim %4, dims = [1] : (tensor<9xcomplex<f32>>) -> tensor<1x9xcomplex<f32>>
    %6 = stablehlo.real %arg0 : (tensor<3x9xcomplex<f32>>) -> tensor<3x9xf32>
    %7 = stablehlo.imag %arg0 : (tensor<3x9xcomplex<f32>>) -> tensor<3x9xf32>
    %8 = stablehlo.negate %7 : tensor<3x9xf32>
    %9 = stablehlo.complex %6, %8 : tensor<3x9xcomplex<f32>>
    %10 = stablehlo.broadcast_in_dim %5, dims = [0, 1] : (tensor<1x9xcomplex<f32>>) -> tensor<3x9xcomplex<f32>>
    %11 = stablehlo.divide %9, %10 : tensor<3x9xcomplex<f32>>
    %12 = call @fft_9(%11) : (tensor<3x9xcomplex<f32>>) -> tensor<3x16xf32>
    %cst_3 = stablehlo.constant dense<1.600000e+01> : tensor<f32>
    %13 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<3x16xf32>
    %14 = stablehlo.multiply %13, %12 : tensor<3x16xf32>
    return %14 : tensor<3x16xf32>
  }
  func.func private @fft_9(%arg0: tensor<3x9xcomplex<f32>>) -> tensor<3x16xf32> {
    %0 = stablehlo.fft %arg0, type = IRFFT, length = [16] : (tensor<3x9xcomplex<f32>>) -> tensor<3x16xf32>
    return %0 : tensor<3x16xf32>
  }
}
