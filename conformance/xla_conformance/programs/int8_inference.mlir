func.func @main(%x: tensor<6x32xf32>, %w: tensor<32x24xi8>, %scales: tensor<24xf32>, %bias: tensor<24xi32>, %v: tensor<24x10xi8>) -> (tensor<6x10xi32>, tensor<6xi32>, tensor<6x24xi8>) {
  %step = stablehlo.constant dense<1.250000e-01> : tensor<6x32xf32>
  %scaled = stablehlo.divide %x, %step : tensor<6x32xf32>
  %rounded = stablehlo.round_nearest_even %scaled : tensor<6x32xf32>
  %low = stablehlo.constant dense<-1.280000e+02> : tensor<f32>
  %high = stablehlo.constant dense<1.270000e+02> : tensor<f32>
  %limited = stablehlo.clamp %low, %rounded, %high : (tensor<f32>, tensor<6x32xf32>, tensor<f32>) -> tensor<6x32xf32>
  %q = stablehlo.convert %limited : (tensor<6x32xf32>) -> tensor<6x32xi8>
  %dot = stablehlo.dot_general %q, %w, contracting_dims = [1] x [0] : (tensor<6x32xi8>, tensor<32x24xi8>) -> tensor<6x24xi32>
  %biases = stablehlo.broadcast_in_dim %bias, dims = [1] : (tensor<24xi32>) -> tensor<6x24xi32>
  %sum = stablehlo.add %dot, %biases : tensor<6x24xi32>
  %zero = stablehlo.constant dense<0> : tensor<6x24xi32>
  %positive = stablehlo.maximum %sum, %zero : tensor<6x24xi32>
  %float = stablehlo.convert %positive : (tensor<6x24xi32>) -> tensor<6x24xf32>
  %factors = stablehlo.broadcast_in_dim %scales, dims = [1] : (tensor<24xf32>) -> tensor<6x24xf32>
  %smaller = stablehlo.multiply %float, %factors : tensor<6x24xf32>
  %whole = stablehlo.floor %smaller : tensor<6x24xf32>
  %kept = stablehlo.clamp %low, %whole, %high : (tensor<f32>, tensor<6x24xf32>, tensor<f32>) -> tensor<6x24xf32>
  %hidden = stablehlo.convert %kept : (tensor<6x24xf32>) -> tensor<6x24xi8>
  %logits = stablehlo.dot_general %hidden, %v, contracting_dims = [1] x [0] : (tensor<6x24xi8>, tensor<24x10xi8>) -> tensor<6x10xi32>
  %least = stablehlo.constant dense<-2147483648> : tensor<i32>
  %best = stablehlo.reduce(%logits init: %least) applies stablehlo.maximum across dimensions = [1] : (tensor<6x10xi32>, tensor<i32>) -> tensor<6xi32>
  return %logits, %best, %hidden : tensor<6x10xi32>, tensor<6xi32>, tensor<6x24xi8>
}
