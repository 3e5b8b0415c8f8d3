// stablehlo.compare
func.func @main(%lhs: tensor<4x$T>, %rhs: tensor<4x$T>) -> tensor<4xi1> {
  %result = stablehlo.compare $order, %lhs, %rhs : (tensor<4x$T>, tensor<4x$T>) -> tensor<4xi1>
  return %result : tensor<4xi1>
}

// stablehlo.select
func.func @main(%pred: tensor<4xi1>, %on_true: tensor<4x$T>, %on_false: tensor<4x$T>) -> tensor<4x$T> {
  %result = stablehlo.select %pred, %on_true, %on_false : tensor<4xi1>, tensor<4x$T>
  return %result : tensor<4x$T>
}

// stablehlo.clamp
func.func @main(%min: tensor<$T>, %operand: tensor<4x$T>, %max: tensor<$T>) -> tensor<4x$T> {
  %result = stablehlo.clamp %min, %operand, %max : (tensor<$T>, tensor<4x$T>, tensor<$T>) -> tensor<4x$T>
  return %result : tensor<4x$T>
}
