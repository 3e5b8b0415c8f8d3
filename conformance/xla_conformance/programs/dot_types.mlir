module @jit_dot_types attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<3x4xi8>, %arg1: tensor<4x5xi8>, %arg2: tensor<3x4xbf16>, %arg3: tensor<4x5xbf16>, %arg4: tensor<4x4xi32>, %arg5: tensor<3x4xi1>) -> (tensor<3x5xi32> {jax.result_info = "result[0]"}, tensor<3x5xf32> {jax.result_info = "result[1]"}, tensor<3x5xbf16> {jax.result_info = "result[2]"}, tensor<4x4xi32> {jax.result_info = "result[3]"}, tensor<3x3xf32> {jax.result_info = "result[4]"}) {
    %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<3x4xi8>, tensor<4x5xi8>) -> tensor<3x5xi32>
    %1 = stablehlo.dot_general %arg2, %arg3, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<3x4xbf16>, tensor<4x5xbf16>) -> tensor<3x5xf32>
    %2 = stablehlo.dot_general %arg2, %arg3, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<3x4xbf16>, tensor<4x5xbf16>) -> tensor<3x5xbf16>
    %3 = stablehlo.dot_general %arg4, %arg4, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<4x4xi32>, tensor<4x4xi32>) -> tensor<4x4xi32>
    %4 = stablehlo.convert %arg5 : (tensor<3x4xi1>) -> tensor<3x4xf32>
    %5 = stablehlo.transpose %arg5, dims = [1, 0] : (tensor<3x4xi1>) -> tensor<4x3xi1>
    %6 = stablehlo.convert %5 : (tensor<4x3xi1>) -> tensor<4x3xf32>
    %7 = stablehlo.dot_general %4, %6, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<3x4xf32>, tensor<4x3xf32>) -> tensor<3x3xf32>
    return %0, %1, %2, %3, %7 : tensor<3x5xi32>, tensor<3x5xf32>, tensor<3x5xbf16>, tensor<4x4xi32>, tensor<3x3xf32>
  }
}
