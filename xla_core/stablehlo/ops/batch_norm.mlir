// stablehlo.batch_norm_training
func.func @main(%operand: tensor<4x2x$T>, %scale: tensor<2x$T>, %offset: tensor<2x$T>)
    -> (tensor<4x2x$T>, tensor<2x$T>, tensor<2x$T>) {
  %output, %mean, %variance = "stablehlo.batch_norm_training"(%operand, %scale, %offset) <{
    epsilon = 1.0e-03 : f32, feature_index = 1 : i64
  }> : (tensor<4x2x$T>, tensor<2x$T>, tensor<2x$T>) -> (tensor<4x2x$T>, tensor<2x$T>, tensor<2x$T>)
  return %output, %mean, %variance : tensor<4x2x$T>, tensor<2x$T>, tensor<2x$T>
}

// stablehlo.batch_norm_inference
// positive: 4
func.func @main(%operand: tensor<4x2x$T>, %scale: tensor<2x$T>, %offset: tensor<2x$T>, %mean: tensor<2x$T>,
                %variance: tensor<2x$T>) -> tensor<4x2x$T> {
  %output = "stablehlo.batch_norm_inference"(%operand, %scale, %offset, %mean, %variance) <{
    epsilon = 1.0e-03 : f32, feature_index = 1 : i64
  }> : (tensor<4x2x$T>, tensor<2x$T>, tensor<2x$T>, tensor<2x$T>, tensor<2x$T>) -> tensor<4x2x$T>
  return %output : tensor<4x2x$T>
}

// stablehlo.batch_norm_grad
// positive: 3
func.func @main(%operand: tensor<4x2x$T>, %scale: tensor<2x$T>, %mean: tensor<2x$T>, %variance: tensor<2x$T>,
                %grad_output: tensor<4x2x$T>) -> (tensor<4x2x$T>, tensor<2x$T>, tensor<2x$T>) {
  %grad_operand, %grad_scale, %grad_offset =
      "stablehlo.batch_norm_grad"(%operand, %scale, %mean, %variance, %grad_output) <{
    epsilon = 1.0e-03 : f32, feature_index = 1 : i64
  }> : (tensor<4x2x$T>, tensor<2x$T>, tensor<2x$T>, tensor<2x$T>, tensor<4x2x$T>)
      -> (tensor<4x2x$T>, tensor<2x$T>, tensor<2x$T>)
  return %grad_operand, %grad_scale, %grad_offset : tensor<4x2x$T>, tensor<2x$T>, tensor<2x$T>
}
