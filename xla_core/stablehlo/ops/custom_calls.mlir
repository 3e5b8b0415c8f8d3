// stablehlo.composite
func.func @main(%x: tensor<4x$T>, %y: tensor<4x$T>) -> tensor<4x$T> {
  %result = stablehlo.composite "my.larger" %x, %y {decomposition = @larger, version = 1 : i32}
      : (tensor<4x$T>, tensor<4x$T>) -> tensor<4x$T>
  return %result : tensor<4x$T>
}
func.func private @larger(%x: tensor<4x$T>, %y: tensor<4x$T>) -> tensor<4x$T> {
  %result = stablehlo.maximum %x, %y : tensor<4x$T>
  return %result : tensor<4x$T>
}

// stablehlo.custom_call
// types: f32
func.func @main(%a: tensor<2x2xf32>) -> (tensor<2x2xf32>, tensor<i32>) {
  %results:2 = stablehlo.custom_call @lapack_spotrf_ffi(%a) {
    backend_config = {uplo = 76 : ui8},
    operand_layouts = [dense<[0, 1]> : tensor<2xindex>],
    result_layouts = [dense<[0, 1]> : tensor<2xindex>, dense<> : tensor<0xindex>],
    api_version = 4 : i32
  } : (tensor<2x2xf32>) -> (tensor<2x2xf32>, tensor<i32>)
  return %results#0, %results#1 : tensor<2x2xf32>, tensor<i32>
}
