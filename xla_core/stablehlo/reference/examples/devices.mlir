// stablehlo.all_reduce
// replicas: 2
func.func @main(%operand: tensor<4x$T>) -> tensor<4x$T> {
  %result = "stablehlo.all_reduce"(%operand) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
    ^bb0(%a: tensor<$T>, %b: tensor<$T>):
      %sum = stablehlo.add %a, %b : tensor<$T>
      stablehlo.return %sum : tensor<$T>
  }) : (tensor<4x$T>) -> tensor<4x$T>
  return %result : tensor<4x$T>
}

// stablehlo.reduce_scatter
// replicas: 2
func.func @main(%operand: tensor<4x$T>) -> tensor<2x$T> {
  %result = "stablehlo.reduce_scatter"(%operand) <{
    scatter_dimension = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>
  }> ({
    ^bb0(%a: tensor<$T>, %b: tensor<$T>):
      %sum = stablehlo.add %a, %b : tensor<$T>
      stablehlo.return %sum : tensor<$T>
  }) : (tensor<4x$T>) -> tensor<2x$T>
  return %result : tensor<2x$T>
}

// stablehlo.collective_broadcast
// replicas: 2
func.func @main(%operand: tensor<4x$T>) -> tensor<4x$T> {
  %result = "stablehlo.collective_broadcast"(%operand) <{replica_groups = dense<[[1, 0]]> : tensor<1x2xi64>}>
      : (tensor<4x$T>) -> tensor<4x$T>
  return %result : tensor<4x$T>
}

// stablehlo.collective_reduce
// replicas: 2
func.func @main(%operand: tensor<4x$T>) -> tensor<4x$T> {
  %result = "stablehlo.collective_reduce"(%operand) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
    ^bb0(%a: tensor<$T>, %b: tensor<$T>):
      %sum = stablehlo.add %a, %b : tensor<$T>
      stablehlo.return %sum : tensor<$T>
  }) : (tensor<4x$T>) -> tensor<4x$T>
  return %result : tensor<4x$T>
}

// stablehlo.all_gather
// replicas: 2
func.func @main(%operand: tensor<2x$T>) -> tensor<4x$T> {
  %result = "stablehlo.all_gather"(%operand) <{
    all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>
  }> : (tensor<2x$T>) -> tensor<4x$T>
  return %result : tensor<4x$T>
}

// stablehlo.all_to_all
// replicas: 2
func.func @main(%operand: tensor<2x4x$T>) -> tensor<4x2x$T> {
  %result = "stablehlo.all_to_all"(%operand) <{
    split_dimension = 1 : i64, concat_dimension = 0 : i64, split_count = 2 : i64,
    replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>
  }> : (tensor<2x4x$T>) -> tensor<4x2x$T>
  return %result : tensor<4x2x$T>
}

// stablehlo.collective_permute
// replicas: 2
func.func @main(%operand: tensor<4x$T>) -> tensor<4x$T> {
  %result = "stablehlo.collective_permute"(%operand) <{
    source_target_pairs = dense<[[0, 1]]> : tensor<1x2xi64>
  }> : (tensor<4x$T>) -> tensor<4x$T>
  return %result : tensor<4x$T>
}

// stablehlo.cross-replica-sum
// replicas: 2
func.func @main(%operand: tensor<4x$T>) -> tensor<4x$T> {
  %result = "stablehlo.cross-replica-sum"(%operand) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}>
      : (tensor<4x$T>) -> tensor<4x$T>
  return %result : tensor<4x$T>
}

// stablehlo.partition_id
func.func @main() -> tensor<ui32> {
  %result = stablehlo.partition_id : tensor<ui32>
  return %result : tensor<ui32>
}

// stablehlo.replica_id
// replicas: 2
func.func @main() -> tensor<ui32> {
  %result = stablehlo.replica_id : tensor<ui32>
  return %result : tensor<ui32>
}

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

// sdy.sharding_constraint
func.func @main(%x: tensor<4x$T>) -> tensor<4x$T> {
  %result = sdy.sharding_constraint %x <@mesh, [{}]> : tensor<4x$T>
  return %result : tensor<4x$T>
}
sdy.mesh @mesh = <["x"=2]>

// sdy.manual_computation
func.func @main(%x: tensor<4x$T>) -> tensor<4x$T> {
  %result = sdy.manual_computation(%x) in_shardings=[<@mesh, [{"x"}]>] out_shardings=[<@mesh, [{"x"}]>]
      manual_axes={"x"} (%shard: tensor<4x$T>) {
    %same = stablehlo.reshape %shard : (tensor<4x$T>) -> tensor<4x$T>
    sdy.return %same : tensor<4x$T>
  } : (tensor<4x$T>) -> tensor<4x$T>
  return %result : tensor<4x$T>
}
sdy.mesh @mesh = <["x"=1]>

// sdy.return
func.func @main(%x: tensor<4x$T>) -> tensor<4x$T> {
  %result = sdy.manual_computation(%x) in_shardings=[<@mesh, [{"x"}]>] out_shardings=[<@mesh, [{"x"}]>]
      manual_axes={"x"} (%shard: tensor<4x$T>) {
    %same = stablehlo.reshape %shard : (tensor<4x$T>) -> tensor<4x$T>
    sdy.return %same : tensor<4x$T>
  } : (tensor<4x$T>) -> tensor<4x$T>
  return %result : tensor<4x$T>
}
sdy.mesh @mesh = <["x"=1]>

// stablehlo.rng
// values: random
func.func @main() -> tensor<4x$T> {
  %a = stablehlo.constant dense<$zero> : tensor<$T>
  %b = stablehlo.constant dense<$four> : tensor<$T>
  %shape = stablehlo.constant dense<[4]> : tensor<1xi64>
  %result = stablehlo.rng %a, %b, %shape, distribution = UNIFORM
      : (tensor<$T>, tensor<$T>, tensor<1xi64>) -> tensor<4x$T>
  return %result : tensor<4x$T>
}

// stablehlo.rng_bit_generator
// shown: ui32
func.func @main(%state: tensor<2xui64>) -> (tensor<2xui64>, tensor<4x$T>) {
  %next_state, %output = stablehlo.rng_bit_generator %state, algorithm = THREE_FRY
      : (tensor<2xui64>) -> (tensor<2xui64>, tensor<4x$T>)
  return %next_state, %output : tensor<2xui64>, tensor<4x$T>
}

// sdy.manual_computation
// partitions: 2
sdy.mesh @mesh = <["x"=2]>
func.func @main(%tensor: tensor<4x$T>) -> tensor<4x$T> {
  %result = sdy.manual_computation(%tensor)
      in_shardings=[<@mesh, [{"x"}]>] out_shardings=[<@mesh, [{"x"}]>] manual_axes={"x"} (%shard: tensor<2x$T>) {
    %reversed = stablehlo.reverse %shard, dims = [0] : tensor<2x$T>
    sdy.return %reversed : tensor<2x$T>
  } : (tensor<4x$T>) -> tensor<4x$T>
  return %result : tensor<4x$T>
}

// sdy.return
// partitions: 2
sdy.mesh @mesh = <["x"=2]>
func.func @main(%tensor: tensor<4x$T>) -> tensor<4x$T> {
  %result = sdy.manual_computation(%tensor)
      in_shardings=[<@mesh, [{}]>] out_shardings=[<@mesh, [{}]>] manual_axes={"x"} (%whole: tensor<4x$T>) {
    sdy.return %whole : tensor<4x$T>
  } : (tensor<4x$T>) -> tensor<4x$T>
  return %result : tensor<4x$T>
}
