// stablehlo.tuple
func.func @main(%a: tensor<2x$T>, %b: tensor<3xi32>) -> tensor<2x$T> {
  %result = stablehlo.tuple %a, %b : tuple<tensor<2x$T>, tensor<3xi32>>
  %first = stablehlo.get_tuple_element %result[0] : (tuple<tensor<2x$T>, tensor<3xi32>>) -> tensor<2x$T>
  return %first : tensor<2x$T>
}

// stablehlo.get_tuple_element
func.func @main(%operand: tuple<tensor<2x$T>, tensor<3xi32>>) -> tensor<2x$T> {
  %result = stablehlo.get_tuple_element %operand[0] : (tuple<tensor<2x$T>, tensor<3xi32>>) -> tensor<2x$T>
  return %result : tensor<2x$T>
}
