func.func @main(%keys: tensor<16x8xf32> {tf.aliasing_output = 1 : i32}, %values: tensor<16x8xf32> {tf.aliasing_output = 2 : i32}, %embedding: tensor<12x8xf32>, %token: tensor<i32>) -> (tensor<7xi32>, tensor<16x8xf32>, tensor<16x8xf32>) {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %steps = stablehlo.constant dense<7> : tensor<i32>
  %tokens = stablehlo.constant dense<0> : tensor<7xi32>
  %r:5 = stablehlo.while(%i = %zero, %t = %token, %ks = %keys, %vs = %values, %out = %tokens) : tensor<i32>, tensor<i32>, tensor<16x8xf32>, tensor<16x8xf32>, tensor<7xi32>
    cond {
      %go = stablehlo.compare LT, %i, %steps : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %go : tensor<i1>
    } do {
      %x = stablehlo.dynamic_slice %embedding, %t, %zero, sizes = [1, 8] : (tensor<12x8xf32>, tensor<i32>, tensor<i32>) -> tensor<1x8xf32>
      %v = stablehlo.negate %x : tensor<1x8xf32>
      %k2 = stablehlo.dynamic_update_slice %ks, %x, %i, %zero : (tensor<16x8xf32>, tensor<1x8xf32>, tensor<i32>, tensor<i32>) -> tensor<16x8xf32>
      %v2 = stablehlo.dynamic_update_slice %vs, %v, %i, %zero : (tensor<16x8xf32>, tensor<1x8xf32>, tensor<i32>, tensor<i32>) -> tensor<16x8xf32>
      %scores = stablehlo.dot_general %x, %k2, contracting_dims = [1] x [1] : (tensor<1x8xf32>, tensor<16x8xf32>) -> tensor<1x16xf32>
      %places = stablehlo.iota dim = 1 : tensor<1x16xi32>
      %now = stablehlo.broadcast_in_dim %i, dims = [] : (tensor<i32>) -> tensor<1x16xi32>
      %seen = stablehlo.compare LE, %places, %now : (tensor<1x16xi32>, tensor<1x16xi32>) -> tensor<1x16xi1>
      %hidden = stablehlo.constant dense<-1.000000e+30> : tensor<1x16xf32>
      %masked = stablehlo.select %seen, %scores, %hidden : tensor<1x16xi1>, tensor<1x16xf32>
      %least = stablehlo.constant dense<0xFF800000> : tensor<f32>
      %top = stablehlo.reduce(%masked init: %least) applies stablehlo.maximum across dimensions = [1] : (tensor<1x16xf32>, tensor<f32>) -> tensor<1xf32>
      %tops = stablehlo.broadcast_in_dim %top, dims = [0] : (tensor<1xf32>) -> tensor<1x16xf32>
      %shifted = stablehlo.subtract %masked, %tops : tensor<1x16xf32>
      %weights = stablehlo.exponential %shifted : tensor<1x16xf32>
      %nothing = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %total = stablehlo.reduce(%weights init: %nothing) applies stablehlo.add across dimensions = [1] : (tensor<1x16xf32>, tensor<f32>) -> tensor<1xf32>
      %totals = stablehlo.broadcast_in_dim %total, dims = [0] : (tensor<1xf32>) -> tensor<1x16xf32>
      %attention = stablehlo.divide %weights, %totals : tensor<1x16xf32>
      %mixed = stablehlo.dot_general %attention, %v2, contracting_dims = [1] x [0] : (tensor<1x16xf32>, tensor<16x8xf32>) -> tensor<1x8xf32>
      %five = stablehlo.constant dense<5> : tensor<i32>
      %twelve = stablehlo.constant dense<12> : tensor<i32>
      %jump = stablehlo.multiply %t, %five : tensor<i32>
      %after = stablehlo.add %jump, %one : tensor<i32>
      %next = stablehlo.remainder %after, %twelve : tensor<i32>
      %v3 = stablehlo.dynamic_update_slice %v2, %mixed, %i, %zero : (tensor<16x8xf32>, tensor<1x8xf32>, tensor<i32>, tensor<i32>) -> tensor<16x8xf32>
      %cell = stablehlo.reshape %next : (tensor<i32>) -> tensor<1xi32>
      %out2 = stablehlo.dynamic_update_slice %out, %cell, %i : (tensor<7xi32>, tensor<1xi32>, tensor<i32>) -> tensor<7xi32>
      %i2 = stablehlo.add %i, %one : tensor<i32>
      stablehlo.return %i2, %next, %k2, %v3, %out2 : tensor<i32>, tensor<i32>, tensor<16x8xf32>, tensor<16x8xf32>, tensor<7xi32>
    }
  return %r#4, %r#2, %r#3 : tensor<7xi32>, tensor<16x8xf32>, tensor<16x8xf32>
}
