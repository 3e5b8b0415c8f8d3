"""PJRT's profiler extension: used by a host, and by `jax.profiler`."""

from __future__ import annotations

import ctypes
import time
from typing import Any

import numpy as np
import pytest

from tests.xla_core.pjrt.host import Host, HostError
from tests.xla_core.pjrt.jax_process import run_jax
from xla_core import profiler
from xla_core.hlo.proto.wire import Message
from xla_core.pjrt.profiler_extension import STRUCTS, TYPE
from xla_core.pjrt.xspace import write_xspace
from xla_core.profiler import Span

PROGRAM = """func.func public @main(%x: tensor<32x32xf32>) -> tensor<32x32xf32> {
  %0 = stablehlo.dot_general %x, %x, contracting_dims = [1] x [0] : (tensor<32x32xf32>, tensor<32x32xf32>) -> tensor<32x32xf32>
  return %0 : tensor<32x32xf32>
}"""

Events = dict[str, dict[str, list[tuple[str, int, int]]]]


def read(data: bytes) -> Events:
    """Returns the events of each plane's lines: name, start in nanoseconds since 1970, duration in picoseconds."""
    planes: Events = {}
    for plane in Message(data).messages(1):
        names = {entry.integer(1): entry.text(2, 2) for entry in plane.messages(4)}
        lines = planes[plane.text(2)] = {}
        for line in plane.messages(3):
            start = line.integer(3)
            lines[line.text(2)] = [
                (names[event.integer(1)], start + event.integer(2) // 1000, event.integer(3))
                for event in line.messages(4)
            ]
    return planes


def test_an_xspace_has_a_plane_for_each_device() -> None:
    spans = [
        Span("b", "stream", 30, 50, "acme:1 programs", {}),
        Span("a", "stream", 10, 25, "acme:1 programs", {}),
        Span("a", "stream", 12, 12, "acme:0 copies", {}),
        Span("parse", "compile", 1, 2, "MainThread", {}),
    ]
    assert read(write_xspace(spans, 1000)) == {
        "/device:CUSTOM:acme:0": {"acme:0 copies": [("a", 1012, 0)]},
        "/device:CUSTOM:acme:1": {"acme:1 programs": [("a", 1010, 15_000), ("b", 1030, 20_000)]},
        "/host:xla-core": {"MainThread": [("parse", 1001, 1000)]},
    }
    assert write_xspace([], 1000) == b""


@pytest.fixture(scope="module")
def host() -> Host:
    return Host("template")


class Recorder:
    """A host's profiler. jaxlib sets no `struct_size` either."""

    def __init__(self, host: Host) -> None:
        self._host = host
        found = STRUCTS["Extension_Base"].from_address(host.api.extension_start)
        while found.type != TYPE:
            found = STRUCTS["Extension_Base"].from_address(found.next)
        extension = STRUCTS["Extension"].from_address(ctypes.addressof(found))
        self.api = STRUCTS["Api"].from_address(extension.profiler_api)
        self.pointer = self.call("create", "Create_Args").profiler

    def call(self, name: str, struct: str, **fields: Any) -> Any:
        args = STRUCTS[struct](**fields)
        self._host.call_at(getattr(self.api, name), args, 0)
        return args

    def on(self, name: str) -> None:
        self.call(name, f"{name.capitalize()}_Args", profiler=self.pointer)

    def collect(self, buffer: Any = None, size: int = 0) -> Any:
        address = ctypes.addressof(buffer) if buffer is not None else None
        fields = {"profiler": self.pointer, "buffer": address, "buffer_size_in_bytes": size}
        return self.call("collect_data", "CollectData_Args", **fields)


def test_a_host_records_the_kernels_of_a_program(host: Host) -> None:
    recorder = Recorder(host)
    program, argument = host.compile(PROGRAM), host.upload(np.ones((32, 32), np.float32))
    recorder.on("start")
    start = time.perf_counter_ns()
    assert profiler.active is not None
    (result,) = host.execute(program, [argument], 1)
    host.download(result, np.float32)
    recorder.on("stop")
    took = time.perf_counter_ns() - start
    assert profiler.active is None
    given = recorder.collect()
    data = ctypes.string_at(given.buffer, given.buffer_size_in_bytes)
    own = ctypes.create_string_buffer(len(data))
    assert recorder.collect(own, len(data)).buffer_size_in_bytes == len(data)
    assert own.raw == data
    with pytest.raises(HostError, match=f"the buffer has 3 of {len(data)} bytes"):
        recorder.collect(own, 3)
    planes = read(data)
    (dot,) = [event for event in planes["/device:CUSTOM:template:0"]["template:0 programs"] if event[0] == "dot"]
    (call,) = [event for line in planes["/host:xla-core"].values() for event in line if event[0] == "execute main"]
    assert call[1] <= dot[1] <= time.time_ns()
    assert 0 < dot[2] <= 1000 * took
    recorder.on("destroy")
    with pytest.raises(HostError, match="is no profiler"):
        recorder.on("start")


def test_a_profiler_is_started_before_it_is_stopped(host: Host) -> None:
    recorder = Recorder(host)
    with pytest.raises(HostError, match="the profiler is not started"):
        recorder.on("stop")
    recorder.on("start")
    with pytest.raises(HostError, match="the profiler is started already"):
        recorder.on("start")
    recorder.on("destroy")  # ends it too
    assert profiler.active is None


@pytest.mark.parametrize(("platform", "kernel"), [("template", "dot"), ("xla_gpu", "dot"), ("xla_cpu", "jit_step")])
def test_jax_shows_the_kernels_of_our_devices(platform: str, kernel: str) -> None:
    pytest.importorskip("jax", reason="JAX is not installed")
    run_jax(
        f"""
        import glob, tempfile, time
        @jax.jit
        def step(x):
            return jnp.sum(jnp.exp(x @ x), axis=0)
        x = jnp.ones((64, 64))
        jax.block_until_ready(step(x))
        with tempfile.TemporaryDirectory() as folder:
            with jax.profiler.trace(folder):
                start = time.perf_counter_ns()
                jax.block_until_ready(step(x))
                took = time.perf_counter_ns() - start
            (path,) = glob.glob(folder + "/**/*.xplane.pb", recursive=True)
            found = jax.profiler.ProfileData.from_file(path)
        (device,) = [plane for plane in found.planes if plane.name.startswith("/device:CUSTOM:")]
        streams = [line for line in device.lines if "from call to end" not in line.name]
        (event,) = [event for line in streams for event in line.events if event.name == {kernel!r}]
        assert 0 < event.duration_ns <= took, (event.duration_ns, took)
        (host,) = [plane for plane in found.planes if plane.name == "/host:xla-core"]
        (call,) = [event for line in host.lines for event in line.events if event.name == "execute jit_step"]
        assert call.start_ns <= event.start_ns <= call.start_ns + took, (call.start_ns, event.start_ns)
        """,
        platforms=f"{platform},cpu",
    )
