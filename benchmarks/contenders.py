"""The two sides: ours through the public API, and JAX's own CPU compiler, both given the same StableHLO text."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np

from benchmarks.suite import Array

__all__ = ["Contender", "JaxCpu", "Prepared", "XlaCore"]


@dataclasses.dataclass(frozen=True)
class Prepared:
    """A compiled program with its inputs on the device.

    `call` runs it and returns when all results are computed; `fetch` brings what `call` returned to the host.
    """

    compile_seconds: float
    call: Callable[[], Sequence[Any]]
    fetch: Callable[[Sequence[Any]], list[Array]]


class Contender(Protocol):
    """A compiler that can be timed."""

    name: str

    def prepare(self, text: str, inputs: Sequence[Array]) -> Prepared:
        """Compiles `text` (reading included in the time) and puts `inputs` on the device."""
        ...


class XlaCore:
    """A backend of xla-core, by its platform name (None: the default)."""

    def __init__(self, platform: str | None = None) -> None:
        import xla_core as xla

        self.client = xla.Client(platform)
        self.name = f"xla-core {platform or ''}".strip()

    def prepare(self, text: str, inputs: Sequence[Array]) -> Prepared:
        start = time.perf_counter()
        executable = self.client.compile(text)
        seconds = time.perf_counter() - start
        buffers = [self.client.buffer_from_host(array) for array in inputs]
        return Prepared(seconds, lambda: _wait(executable.execute(buffers)), _fetch)


class JaxCpu:
    """JAX's CPU compiler and runtime, whatever JAX's default device is."""

    def __init__(self) -> None:
        import jax
        from jaxlib import xla_client

        self.name = "JAX"
        self.version = jax.__version__
        self.device = jax.devices("cpu")[0]
        self._jax, self._xla_client = jax, xla_client

    def prepare(self, text: str, inputs: Sequence[Array]) -> Prepared:
        devices = self._xla_client.DeviceList((self.device,))
        start = time.perf_counter()
        executable = self.device.client.compile_and_load(text, devices, self._xla_client.CompileOptions())
        seconds = time.perf_counter() - start
        buffers = [self._jax.device_put(array, self.device) for array in inputs]

        def call() -> Sequence[Any]:
            results = executable.execute_sharded(buffers).disassemble_into_single_device_arrays()
            return _wait([shards[0] for shards in results])

        return Prepared(seconds, call, _fetch)

    def prepare_jitted(self, function: Callable[..., Any], inputs: Sequence[Array]) -> Prepared:
        """Like `prepare`, but through `jax.jit`'s own call path, the fastest that JAX has: for dispatch times."""
        jitted = self._jax.jit(function)
        buffers = [self._jax.device_put(array, self.device) for array in inputs]
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
