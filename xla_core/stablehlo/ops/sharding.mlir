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
