"""One device's program from a program for all.

    sharding   how a tensor is divided between the devices of a mesh
    shards     a device's shard of a whole tensor, and the whole tensor of all shards, as HLO instructions

On several devices the arguments and results of a program are shards. Only manual computations (JAX's `shard_map`)
compute with shards: every device computes all else with whole tensors. What would divide that work too, a partitioner
that rewrites an `HloModule` with shardings, belongs here. (XLA: xla/service/spmd.)
"""

from __future__ import annotations

from xla_core.spmd.sharding import DeviceMesh, Sharding
from xla_core.spmd.shards import Shards

__all__ = ["DeviceMesh", "Sharding", "Shards"]
