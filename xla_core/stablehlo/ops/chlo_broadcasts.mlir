// chlo.broadcast_complex
func.func @main(%lhs: tensor<2x3x$T>, %rhs: tensor<3x$T>) -> tensor<2x3xcomplex<$T>> {
  %result = chlo.broadcast_complex %lhs, %rhs : (tensor<2x3x$T>, tensor<3x$T>) -> tensor<2x3xcomplex<$T>>
  return %result : tensor<2x3xcomplex<$T>>
}

// chlo.broadcast_compare
func.func @main(%lhs: tensor<2x3x$T>, %rhs: tensor<3x$T>) -> tensor<2x3xi1> {
  %result = chlo.broadcast_compare %lhs, %rhs {comparison_direction = #chlo<comparison_direction $order>}
      : (tensor<2x3x$T>, tensor<3x$T>) -> tensor<2x3xi1>
  return %result : tensor<2x3xi1>
}

// chlo.broadcast_select
func.func @main(%pred: tensor<3xi1>, %on_true: tensor<2x3x$T>, %on_false: tensor<$T>) -> tensor<2x3x$T> {
  %result = chlo.broadcast_select %pred, %on_true, %on_false
      : (tensor<3xi1>, tensor<2x3x$T>, tensor<$T>) -> tensor<2x3x$T>
  return %result : tensor<2x3x$T>
}
