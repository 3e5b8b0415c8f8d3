"""The compilers that are compared: xla-core, by its public API, and JAX's own compiler. Both compile the same text."""

from __future__ import annotations

import dataclasses
import re
import time
from collections.abc import Callable, Sequence
from itertools import chain
from typing import Any, Protocol

import numpy as np

from benchmarks.suite import Array
from xla_core.errors import FailedPreconditionError

_COUNT = r"mhlo\.num_{} = (\d+)"


def device_counts(text: str) -> tuple[int, int]:
    """Returns the numbers of replicas and partitions of a program, which are 1 where its attributes leave them out."""
    found = [re.search(_COUNT.format(noun), text) for noun in ("replicas", "partitions")]
    replicas, partitions = [int(match[1]) if match else 1 for match in found]
    return replicas, partitions


@dataclasses.dataclass(frozen=True)
class Prepared:
    """A compiled program, with a copy of its inputs on each of its devices.

    `call` runs it, waits until all results are computed, and returns them, the first device's first. `fetch` copies
    these results to the host.
    """

    compile_seconds: float
    call: Callable[[], Sequence[Any]]
    fetch: Callable[[Sequence[Any]], list[Array]]


class Contender(Protocol):
    """A compiler that can be timed."""

    name: str

    def prepare(self, text: str, inputs: Sequence[Array]) -> Prepared:
        """Compiles `text`, in a time that includes reading it, and puts `inputs` on the devices."""
        ...


class XlaCore:
    """A backend of xla-core. The platform None is the default backend."""

    def __init__(self, platform: str | None = None) -> None:
        import xla_core as xla

        self.client = xla.Client(platform)
        self.name = f"xla-core {platform or ''}".strip()

    def prepare(self, text: str, inputs: Sequence[Array]) -> Prepared:
        start = time.perf_counter()
        executable = self.client.compile(text)
        seconds = time.perf_counter() - start
        rows = [[self.client.buffer_from_host(array, device) for array in inputs] for device in executable.devices]
        if len(rows) == 1:
            return Prepared(seconds, lambda: _wait(executable.execute(rows[0])), _fetch)
        return Prepared(seconds, lambda: _wait([*chain(*executable.execute_sharded(rows))]), _fetch)


class Jax:
    """JAX's compiler and runtime on the devices of a platform, also where JAX's default device is another one."""

    def __init__(self, platform: str) -> None:
        import jax
        from jaxlib import lapack, xla_client

        lapack.prepare_lapack_call("syevd_ffi", np.float32)  # loads LAPACK, as lowering a program in JAX does
        self.name = "JAX"
        self.version = jax.__version__
        self.platform = platform
        self.devices = jax.devices(platform)
        self._jax, self._xla_client = jax, xla_client

    def prepare(self, text: str, inputs: Sequence[Array]) -> Prepared:
        replicas, partitions = device_counts(text)
        count = replicas * partitions
        if count > len(self.devices):
            raise FailedPreconditionError(
                f"the program runs on {count} devices, JAX's platform {self.platform} has {len(self.devices)}",
                hint=f"on a CPU, set XLA_FLAGS=--xla_force_host_platform_device_count={count}",
            )
        devices = self._xla_client.DeviceList(tuple(self.devices[:count]))
        options = self._xla_client.CompileOptions()
        options.num_replicas, options.num_partitions = replicas, partitions
        ids = np.array([device.id for device in devices]).reshape(replicas, partitions)
        options.device_assignment = self._xla_client.DeviceAssignment.create(ids)
        start = time.perf_counter()
        executable = devices[0].client.compile_and_load(text, devices, options)
        seconds = time.perf_counter() - start
        buffers = [self._everywhere(array, devices) for array in inputs]

        def call() -> Sequence[Any]:
            results = executable.execute_sharded(buffers).disassemble_into_single_device_arrays()
            return _wait([shards[device] for device in range(count) for shards in results])

        return Prepared(seconds, call, _fetch)

    def _everywhere(self, array: Array, devices: Sequence[Any]) -> Any:
        """Puts the same array on each device."""
        if len(devices) == 1:
            return self._jax.device_put(array, devices[0])
        sharding = self._jax.sharding
        mesh = sharding.Mesh(np.array(devices), ("devices",))
        return self._jax.device_put(array, sharding.NamedSharding(mesh, sharding.PartitionSpec()))

    def prepare_jitted(self, function: Callable[..., Any], inputs: Sequence[Array]) -> Prepared:
        """Like `prepare`, but calls through `jax.jit`, JAX's fastest path, to measure the time of a dispatch."""
        jitted = self._jax.jit(function)
        buffers = [self._jax.device_put(array, self.devices[0]) for array in inputs]
        start = time.perf_counter()
        jitted.lower(*buffers).compile()
        seconds = time.perf_counter() - start
        return Prepared(seconds, lambda: _wait([jitted(*buffers)]), _fetch)


def _wait(results: Sequence[Any]) -> Sequence[Any]:
    for result in results:
        result.block_until_ready()
    return results


def _fetch(results: Sequence[Any]) -> list[Array]:
    return [np.asarray(result) for result in results]
