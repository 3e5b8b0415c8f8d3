// stablehlo.infeed
// infeed: 1
func.func @main() -> tensor<4x$T> {
  %token = stablehlo.create_token : !stablehlo.token
  %results:2 = "stablehlo.infeed"(%token) <{infeed_config = ""}>
      : (!stablehlo.token) -> (tensor<4x$T>, !stablehlo.token)
  return %results#0 : tensor<4x$T>
}

// stablehlo.outfeed
func.func @main(%x: tensor<4x$T>) -> tensor<4x$T> {
  %token = stablehlo.create_token : !stablehlo.token
  %result = "stablehlo.outfeed"(%x, %token) <{outfeed_config = ""}>
      : (tensor<4x$T>, !stablehlo.token) -> !stablehlo.token
  return %x : tensor<4x$T>
}

// stablehlo.send
// replicas: 2
func.func @main(%x: tensor<4x$T>) -> tensor<4x$T> {
  %token = stablehlo.create_token : !stablehlo.token
  %sent = "stablehlo.send"(%x, %token) <{
    channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>,
    source_target_pairs = dense<[[0, 1], [1, 0]]> : tensor<2x2xi64>
  }> : (tensor<4x$T>, !stablehlo.token) -> !stablehlo.token
  %received:2 = "stablehlo.recv"(%sent) <{
    channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>,
    source_target_pairs = dense<[[0, 1], [1, 0]]> : tensor<2x2xi64>
  }> : (!stablehlo.token) -> (tensor<4x$T>, !stablehlo.token)
  return %received#0 : tensor<4x$T>
}

// stablehlo.recv
// replicas: 2
func.func @main(%x: tensor<4x$T>) -> tensor<4x$T> {
  %token = stablehlo.create_token : !stablehlo.token
  %sent = "stablehlo.send"(%x, %token) <{
    channel_handle = #stablehlo.channel_handle<handle = 7, type = 1>,
    source_target_pairs = dense<[[0, 1], [1, 0]]> : tensor<2x2xi64>
  }> : (tensor<4x$T>, !stablehlo.token) -> !stablehlo.token
  %received:2 = "stablehlo.recv"(%sent) <{
    channel_handle = #stablehlo.channel_handle<handle = 7, type = 1>,
    source_target_pairs = dense<[[0, 1], [1, 0]]> : tensor<2x2xi64>
  }> : (!stablehlo.token) -> (tensor<4x$T>, !stablehlo.token)
  return %received#0 : tensor<4x$T>
}
