"""The cost of the PJRT bridge: `python -m benchmarks.bridge` times JAX's calls on a backend beside those on JAX's CPU.

Both run in this process in turn. Times are CPU time of the calling thread, so that other work on the machine matters
little. `--devices 8` times programs on several devices in place of one, in CPU time of all threads.
"""

from __future__ import annotations

import argparse
import os
import statistics
import time
from collections.abc import Callable, Sequence
from typing import Any

ROUNDS = 15


def seconds(call: Callable[[], Any], calls: int, clock: Callable[[], float]) -> float:
    start = clock()
    for _ in range(calls):
        call()
    return (clock() - start) / calls


def cases(device: Any) -> dict[str, Callable[[], Any]]:
    import jax
    import jax.experimental
    import numpy as np

    host = np.ones(8, np.float32)
    arrays = [jax.device_put(host + i, device) for i in range(17)]
    one = jax.jit(lambda x: x + 1)
    arguments = jax.jit(lambda *xs: xs[0] + xs[-1], keep_unused=True)
    donating = jax.jit(lambda x, y: x + y, donate_argnums=0)
    state = [jax.device_put(host, device)]

    def step() -> None:
        state[0] = donating(state[0], arrays[0])

    results = jax.jit(lambda x: tuple(x + i for i in range(17)))
    kind = jax.ShapeDtypeStruct(host.shape, host.dtype)
    pure = jax.jit(lambda x: jax.pure_callback(np.sin, kind, x))
    io = jax.jit(lambda x: jax.experimental.io_callback(np.sin, kind, x))
    debug = jax.jit(lambda x: (jax.debug.callback(lambda v: None, x), x + 1)[1])
    return {
        "call and ready": lambda: one(arrays[0]).block_until_ready(),
        "call with 17 arguments": lambda: arguments(*arrays),
        "call with a donated argument": step,
        "call with 17 results": lambda: results(arrays[0]),
        "call and np.asarray": lambda: np.asarray(one(arrays[0])),
        "device_put": lambda: jax.device_put(host, device),
        "pure_callback": lambda: pure(arrays[0]).block_until_ready(),
        "io_callback": lambda: io(arrays[0]).block_until_ready(),
        "debug.callback": lambda: debug(arrays[0]).block_until_ready(),
    }


def sharded_cases(devices: Sequence[Any]) -> dict[str, Callable[[], Any]]:
    import jax
    import numpy as np
    from jax.sharding import Mesh, NamedSharding, PartitionSpec

    mesh, spec, count = Mesh(np.array(devices), ("x",)), PartitionSpec("x"), len(devices)
    x = jax.device_put(np.ones(8 * count, np.float32), NamedSharding(mesh, spec))
    ring = [(i, (i + 1) % count) for i in range(count)]

    def on_shards(function: Callable[[Any], Any]) -> Callable[[], Any]:
        program = jax.jit(jax.shard_map(function, mesh=mesh, in_specs=spec, out_specs=spec))
        return lambda: program(x).block_until_ready()

    return {
        "x + 1 on shards": on_shards(lambda v: v + 1),
        "psum": on_shards(lambda v: v + jax.lax.psum(v, "x")),
        "ppermute": on_shards(lambda v: jax.lax.ppermute(v, "x", ring)),
        "all_gather": on_shards(lambda v: v + jax.lax.all_gather(v, "x").sum(0)),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--platform", default="xla_cpu", help="JAX's name of the backend's platform")
    parser.add_argument("--devices", type=int, default=1, help="virtual devices of both platforms")
    args = parser.parse_args()
    platform, count = args.platform, args.devices
    os.environ["JAX_PLATFORMS"] = f"cpu,{platform}"
    if count > 1:
        os.environ["XLA_FLAGS"] = f"--xla_force_host_platform_device_count={count}"
    import jax

    made = (sharded_cases(jax.devices(n)) if count > 1 else cases(jax.devices(n)[0]) for n in (platform, "cpu"))
    ours, peers = made
    calls, clock = (20, time.process_time) if count > 1 else (500, time.thread_time)
    print(f"{'microseconds':<28} {platform:>9} {'JAX CPU':>9} {'ratio':>6}")
    for name in ours:
        rounds = [tuple(seconds(side[name], calls, clock) for side in (ours, peers)) for _ in range(ROUNDS)][1:]
        own, peer = (1e6 * statistics.median(times) for times in zip(*rounds, strict=True))
        print(f"{name:<28} {own:>9.2f} {peer:>9.2f} {own / peer:>6.2f}")


if __name__ == "__main__":
    main()
