// stablehlo.map
func.func @main(%a: tensor<4x$T>, %b: tensor<4x$T>) -> tensor<4x$T> {
  %result = "stablehlo.map"(%a, %b) <{dimensions = array<i64: 0>}> ({
    ^bb0(%x: tensor<$T>, %y: tensor<$T>):
      %larger = stablehlo.maximum %x, %y : tensor<$T>
      stablehlo.return %larger : tensor<$T>
  }) : (tensor<4x$T>, tensor<4x$T>) -> tensor<4x$T>
  return %result : tensor<4x$T>
}

// stablehlo.reduce
func.func @main(%input: tensor<2x3x$T>, %init: tensor<$T>) -> tensor<2x$T> {
  %result = stablehlo.reduce(%input init: %init) applies stablehlo.add across dimensions = [1]
      : (tensor<2x3x$T>, tensor<$T>) -> tensor<2x$T>
  return %result : tensor<2x$T>
}

// stablehlo.reduce_window
func.func @main(%input: tensor<6x$T>, %init: tensor<$T>) -> tensor<3x$T> {
  %result = "stablehlo.reduce_window"(%input, %init) <{
    window_dimensions = array<i64: 2>, window_strides = array<i64: 2>
  }> ({
    ^bb0(%a: tensor<$T>, %b: tensor<$T>):
      %larger = stablehlo.maximum %a, %b : tensor<$T>
      stablehlo.return %larger : tensor<$T>
  }) : (tensor<6x$T>, tensor<$T>) -> tensor<3x$T>
  return %result : tensor<3x$T>
}

// stablehlo.select_and_scatter
func.func @main(%operand: tensor<6x$T>, %source: tensor<3x$T>, %init: tensor<$T>) -> tensor<6x$T> {
  %result = "stablehlo.select_and_scatter"(%operand, %source, %init) <{
    window_dimensions = array<i64: 2>, window_strides = array<i64: 2>
  }> ({
    ^bb0(%a: tensor<$T>, %b: tensor<$T>):
      %keep = stablehlo.compare GE, %a, %b : (tensor<$T>, tensor<$T>) -> tensor<i1>
      stablehlo.return %keep : tensor<i1>
  }, {
    ^bb0(%a: tensor<$T>, %b: tensor<$T>):
      %sum = stablehlo.add %a, %b : tensor<$T>
      stablehlo.return %sum : tensor<$T>
  }) : (tensor<6x$T>, tensor<3x$T>, tensor<$T>) -> tensor<6x$T>
  return %result : tensor<6x$T>
}

// stablehlo.sort
func.func @main(%input: tensor<2x4x$T>) -> tensor<2x4x$T> {
  %result = "stablehlo.sort"(%input) <{dimension = 1 : i64, is_stable = true}> ({
    ^bb0(%a: tensor<$T>, %b: tensor<$T>):
      %first = stablehlo.compare LT, %a, %b : (tensor<$T>, tensor<$T>) -> tensor<i1>
      stablehlo.return %first : tensor<i1>
  }) : (tensor<2x4x$T>) -> tensor<2x4x$T>
  return %result : tensor<2x4x$T>
}
