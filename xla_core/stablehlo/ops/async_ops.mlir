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
