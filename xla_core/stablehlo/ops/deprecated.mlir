// stablehlo.torch_index_select
func.func @main(%operand: tensor<3x2x$T>, %index: tensor<2xi32>) -> tensor<2x2x$T> {
  %result = "stablehlo.torch_index_select"(%operand, %index) <{dim = 0 : i64, batch_dims = 0 : i64}>
      : (tensor<3x2x$T>, tensor<2xi32>) -> tensor<2x2x$T>
  return %result : tensor<2x2x$T>
}

// stablehlo.broadcast
func.func @main(%operand: tensor<3x$T>) -> tensor<2x3x$T> {
  %result = stablehlo.broadcast %operand, sizes = [2] : (tensor<3x$T>) -> tensor<2x3x$T>
  return %result : tensor<2x3x$T>
}

// stablehlo.dot
func.func @main(%lhs: tensor<2x3x$T>, %rhs: tensor<3x2x$T>) -> tensor<2x2x$T> {
  %result = stablehlo.dot %lhs, %rhs : (tensor<2x3x$T>, tensor<3x2x$T>) -> tensor<2x2x$T>
  return %result : tensor<2x2x$T>
}

// stablehlo.einsum
func.func @main(%lhs: tensor<2x3x$T>, %rhs: tensor<3x2x$T>) -> tensor<2x2x$T> {
  %result = "stablehlo.einsum"(%lhs, %rhs) <{einsum_config = "ij,jk->ik"}>
      : (tensor<2x3x$T>, tensor<3x2x$T>) -> tensor<2x2x$T>
  return %result : tensor<2x2x$T>
}

// stablehlo.unary_einsum
func.func @main(%operand: tensor<2x3x$T>) -> tensor<3x$T> {
  %result = "stablehlo.unary_einsum"(%operand) <{einsum_config = "ij->j"}> : (tensor<2x3x$T>) -> tensor<3x$T>
  return %result : tensor<3x$T>
}
