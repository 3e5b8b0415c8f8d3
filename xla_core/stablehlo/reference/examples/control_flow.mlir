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
    mhlo.backend_config = {uplo = 76 : ui8},
    operand_layouts = [dense<[0, 1]> : tensor<2xindex>],
    result_layouts = [dense<[0, 1]> : tensor<2xindex>, dense<> : tensor<0xindex>],
    api_version = 4 : i32
  } : (tensor<2x2xf32>) -> (tensor<2x2xf32>, tensor<i32>)
  return %results#0, %results#1 : tensor<2x2xf32>, tensor<i32>
}

// stablehlo.async_start
func.func @main(%x: tensor<4x$T>) -> tensor<4x$T> {
  %future = "stablehlo.async_start"(%x) ({
    ^bb0(%inner: tensor<4x$T>):
      %gathered = "stablehlo.all_gather"(%inner) <{
        all_gather_dim = 0 : i64, replica_groups = dense<0> : tensor<1x1xi64>
      }> : (tensor<4x$T>) -> tensor<4x$T>
      stablehlo.return %gathered : tensor<4x$T>
  }) : (tensor<4x$T>) -> !stablehlo.future<tensor<4x$T>>
  %result = "stablehlo.async_done"(%future) : (!stablehlo.future<tensor<4x$T>>) -> tensor<4x$T>
  return %result : tensor<4x$T>
}

// stablehlo.async_done
func.func @main(%x: tensor<4x$T>) -> tensor<4x$T> {
  %future = "stablehlo.async_start"(%x) ({
    ^bb0(%inner: tensor<4x$T>):
      %same = "stablehlo.collective_permute"(%inner) <{
        source_target_pairs = dense<0> : tensor<1x2xi64>
      }> : (tensor<4x$T>) -> tensor<4x$T>
      stablehlo.return %same : tensor<4x$T>
  }) : (tensor<4x$T>) -> !stablehlo.future<tensor<4x$T>>
  %result = "stablehlo.async_done"(%future) : (!stablehlo.future<tensor<4x$T>>) -> tensor<4x$T>
  return %result : tensor<4x$T>
}
