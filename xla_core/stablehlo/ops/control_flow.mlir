// func.call
func.func @main(%x: tensor<4x$T>) -> tensor<4x$T> {
  %result = func.call @twice(%x) : (tensor<4x$T>) -> tensor<4x$T>
  return %result : tensor<4x$T>
}
func.func private @twice(%x: tensor<4x$T>) -> tensor<4x$T> {
  %result = stablehlo.add %x, %x : tensor<4x$T>
  return %result : tensor<4x$T>
}

// call
func.func @main(%x: tensor<4x$T>) -> tensor<4x$T> {
  %result = call @twice(%x) : (tensor<4x$T>) -> tensor<4x$T>
  return %result : tensor<4x$T>
}
func.func private @twice(%x: tensor<4x$T>) -> tensor<4x$T> {
  %result = stablehlo.add %x, %x : tensor<4x$T>
  return %result : tensor<4x$T>
}

// func.return
func.func @main(%x: tensor<4x$T>) -> tensor<4x$T> {
  func.return %x : tensor<4x$T>
}

// return
func.func @main(%x: tensor<4x$T>) -> tensor<4x$T> {
  return %x : tensor<4x$T>
}

// stablehlo.return
func.func @main(%x: tensor<4x$T>) -> tensor<4x$T> {
  stablehlo.return %x : tensor<4x$T>
}

// stablehlo.while
func.func @main(%x: tensor<4x$T>) -> tensor<4x$T> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %three = stablehlo.constant dense<3> : tensor<i32>
  %results:2 = stablehlo.while(%i = %zero, %sum = %x) : tensor<i32>, tensor<4x$T>
    cond {
      %more = stablehlo.compare LT, %i, %three : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %more : tensor<i1>
    } do {
      %next = stablehlo.add %i, %one : tensor<i32>
      %next_sum = stablehlo.add %sum, %x : tensor<4x$T>
      stablehlo.return %next, %next_sum : tensor<i32>, tensor<4x$T>
    }
  return %results#1 : tensor<4x$T>
}

// stablehlo.if
func.func @main(%pred: tensor<i1>, %x: tensor<4x$T>) -> tensor<4x$T> {
  %result = "stablehlo.if"(%pred) ({
    stablehlo.return %x : tensor<4x$T>
  }, {
    %twice = stablehlo.add %x, %x : tensor<4x$T>
    stablehlo.return %twice : tensor<4x$T>
  }) : (tensor<i1>) -> tensor<4x$T>
  return %result : tensor<4x$T>
}

// stablehlo.case
func.func @main(%index: tensor<i32>, %x: tensor<4x$T>) -> tensor<4x$T> {
  %result = "stablehlo.case"(%index) ({
    stablehlo.return %x : tensor<4x$T>
  }, {
    %twice = stablehlo.add %x, %x : tensor<4x$T>
    stablehlo.return %twice : tensor<4x$T>
  }) : (tensor<i32>) -> tensor<4x$T>
  return %result : tensor<4x$T>
}

// stablehlo.after_all
func.func @main(%x: tensor<4x$T>) -> tensor<4x$T> {
  %a = stablehlo.create_token : !stablehlo.token
  %b = stablehlo.create_token : !stablehlo.token
  %result = stablehlo.after_all %a, %b : !stablehlo.token
  return %x : tensor<4x$T>
}

// stablehlo.create_token
func.func @main(%x: tensor<4x$T>) -> tensor<4x$T> {
  %output = stablehlo.create_token : !stablehlo.token
  return %x : tensor<4x$T>
}

// stablehlo.optimization_barrier
func.func @main(%x: tensor<4x$T>, %y: tensor<4x$T>) -> (tensor<4x$T>, tensor<4x$T>) {
  %results:2 = stablehlo.optimization_barrier %x, %y : tensor<4x$T>, tensor<4x$T>
  return %results#0, %results#1 : tensor<4x$T>, tensor<4x$T>
}
