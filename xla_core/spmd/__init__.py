"""One device's program from a program for all.

    sharding   how a tensor is divided between the devices of a mesh
    shards     a device's shard of a whole tensor, and the whole tensor of all shards, as HLO instructions

On several devices the arguments and results of a program are shards. Only manual computations (JAX's `shard_map`)
compute with shards: every device computes everything else with whole tensors. A partitioner, which would rewrite an
`HloModule` with shardings and so divide that work too, would belong here. (XLA: xla/service/spmd.)
"""

from __future__ import annotations

from xla_core.spmd.sharding import DeviceMesh, Sharding
from xla_core.spmd.shards import Shards

__all__ = ["DeviceMesh", "Sharding", "Shards"]
