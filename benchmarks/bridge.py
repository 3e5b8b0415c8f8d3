"""What the PJRT bridge costs: `python -m benchmarks.bridge` times JAX's calls on a backend beside those on JAX's CPU.

Both run in this process in turn. Times are thread CPU time, so that other work on the machine matters little.
"""

from __future__ import annotations

import argparse
import os
import statistics
import time
from collections.abc import Callable
from typing import Any

ROUNDS, CALLS = 15, 500


def seconds(call: Callable[[], Any]) -> float:
    start = time.thread_time()
    for _ in range(CALLS):
        call()
    return (time.thread_time() - start) / CALLS


def cases(device: Any) -> dict[str, Callable[[], Any]]:
    import jax
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
    return {
        "call and ready": lambda: one(arrays[0]).block_until_ready(),
        "call with 17 arguments": lambda: arguments(*arrays),
        "call with a donated argument": step,
        "call with 17 results": lambda: results(arrays[0]),
        "call and np.asarray": lambda: np.asarray(one(arrays[0])),
        "device_put": lambda: jax.device_put(host, device),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--platform", default="xla_cpu", help="JAX's name of the backend's platform")
    platform = parser.parse_args().platform
    os.environ["JAX_PLATFORMS"] = f"cpu,{platform}"
    import jax

    ours, peers = (cases(jax.devices(name)[0]) for name in (platform, "cpu"))
    print(f"{'microseconds':<28} {platform:>9} {'JAX CPU':>9} {'ratio':>6}")
    for name in ours:
        rounds = [(seconds(ours[name]), seconds(peers[name])) for _ in range(ROUNDS)][1:]
        own, peer = (1e6 * statistics.median(times) for times in zip(*rounds, strict=True))
        print(f"{name:<28} {own:>9.2f} {peer:>9.2f} {own / peer:>6.2f}")


if __name__ == "__main__":
    main()
