"""The backend on its emulated device: programs, errors, serialized programs, options."""

from __future__ import annotations

import gc
import random
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("xla_backend_gpu", reason="xla-backend-gpu is not installed")

from xla_backend_gpu.device import GpuExecutor, GpuStream
from xla_backend_gpu.emulated_driver import EmulatedDriver
from xla_backend_gpu.emulator import EmulatorFault
from xla_backend_gpu.kernel import DeviceCode, GpuKernel
from xla_conformance.ops import generate
from xla_conformance.ops.comparison import check

import xla_core as xla
from tests.programs import PROGRAMS
from xla_core.backend import inspect_backends
from xla_core.hlo import OPS, Trait
from xla_core.schedule import LaunchDimensions

SMALL = {
    case.opcode: case
    for case in reversed(list(generate()))
    if OPS[case.opcode].traits.isdisjoint({Trait.COLLECTIVE, Trait.HOST_TRANSFER, Trait.NONDETERMINISTIC})
}

LOOP = """HloModule loop

below {
  s = (s32[], f32[3]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  n = s32[] constant(5)
  ROOT l = pred[] compare(i, n), direction=LT
}

double {
  s = (s32[], f32[3]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  x = f32[3] get-tuple-element(s), index=1
  one = s32[] constant(1)
  next = s32[] add(i, one)
  y = f32[3] add(x, x)
  ROOT r = (s32[], f32[3]) tuple(next, y)
}

ENTRY main {
  i = s32[] parameter(0)
  x = f32[3] parameter(1)
  s = (s32[], f32[3]) tuple(i, x)
  w = (s32[], f32[3]) while(s), condition=below, body=double
  ROOT y = f32[3] get-tuple-element(w), index=1
}
"""


@pytest.mark.parametrize("opcode", SMALL)
def test_an_op_is_the_evaluators(client, opcode: str) -> None:
    case = SMALL[opcode]
    results = [np.asarray(r) for r in client.compile(case.module())(*case.arguments())]
    check(f"{case.name} is right", results, case.expected(), module=case.module(), arguments=case.arguments())


SAMPLE = random.Random(5).sample(range(len(PROGRAMS)), 12)


@pytest.mark.parametrize(
    "program",
    [
        pytest.param(program, id=program.name, marks=[] if number in SAMPLE else [pytest.mark.slow])
        for number, program in enumerate(PROGRAMS)
    ],
)
def test_programs_that_jax_wrote(client, program) -> None:
    exe = client.compile(program.text, file=program.name)
    program.check([np.asarray(result) for result in exe(*program.inputs())])


def test_shifts_beyond_32_bits(client) -> None:
    """LLVM's NVPTX target takes a shift's lowest 32 bits, if it recognizes how the others are handled."""
    program = """HloModule m

ENTRY main {
  x = u64[4] parameter(0)
  y = u64[4] parameter(1)
  a = u64[4] shift-left(x, y)
  b = u64[4] shift-right-logical(x, y)
  ROOT t = (u64[4], u64[4]) tuple(a, b)
}
"""
    amounts = np.array([1, 63, 64, (1 << 40) + 1], np.uint64)
    left, right = client.compile(program)(np.full(4, (1 << 63) + 1, np.uint64), amounts)
    assert np.asarray(left).tolist() == [2, 1 << 63, 0, 0]
    assert np.asarray(right).tolist() == [1 << 62, 1, 0, 0]


def test_a_loop_is_driven_by_the_host(client) -> None:
    (result,) = client.compile(LOOP)(np.int32(2), np.ones(3, np.float32))
    assert np.asarray(result).tolist() == [8, 8, 8]


def test_no_array_of_the_caller_is_the_devices(client) -> None:
    array = np.ones(8, np.float32)
    buffer = client.buffer_from_host(array, immutable=True)
    assert not np.shares_memory(np.asarray(buffer), array)


def test_what_it_says_of_itself(client) -> None:
    (info,) = (i for i in inspect_backends() if i.name == "gpu")
    assert info.spec is not None
    assert info.spec.priority < 100, "the CPU comes first where the device is emulated"
    assert "emulated: no NVIDIA driver found" in info.spec.description or "cuda-bindings" in info.spec.description
    assert client.devices[0].description.name == "emulated GPU"


def test_artifacts(client) -> None:
    kept = client.compile(LOOP, xla.CompileOptions(keep_artifacts=True)).artifacts()
    assert {"hlo", "llvm-unoptimized", "llvm", "ptx", "ptxas", "thunks"} <= set(kept)
    assert "define ptx_kernel void @" in kept["llvm"]
    assert ".visible .entry" in kept["ptx"]


def test_a_program_that_is_not_optimized(client) -> None:
    """LLVM does not optimize its kernels either, which takes most of the time to compile them."""
    program = """HloModule m

ENTRY main {
  x = f32[64] parameter(0)
  y = f32[64] sine(x)
  ROOT z = f32[64] add(y, x)
}
"""
    x = np.linspace(-9, 9, 64, dtype=np.float32)
    lines, results = [], []
    for level in (0, 2):
        made = client.compile(program, xla.CompileOptions(optimization_level=level, keep_artifacts=True))
        lines.append(
            len(made.artifacts()["llvm"].splitlines()) / len(made.artifacts()["llvm-unoptimized"].splitlines())
        )
        results.append(np.asarray(made(x)[0]).tobytes())
    assert lines[0] > lines[1], "an optimized kernel is shorter"
    assert results[0] == results[1]


def test_dumps_have_xlas_names(client, tmp_path: Path) -> None:
    client.compile(LOOP, xla.CompileOptions(dump_to=str(tmp_path)))
    ends = {path.name.partition(".")[2].partition(".")[2] for path in tmp_path.rglob("*.*")}
    assert {"ptx", "ir-no-opt.ll", "ir-with-opt.ll", "gpu_after_optimizations.txt"} <= ends


def test_a_stored_program_runs_without_llvm(client, tmp_path: Path) -> None:
    path = tmp_path / "program"
    executable = client.compile(LOOP)
    path.write_bytes(executable.serialize())
    arguments = [np.full(shape.dimensions, 3, shape.dtype) for shape in executable.parameter_shapes]
    np.savez(tmp_path / "arguments.npz", *arguments)
    code = f"""
import sys
sys.modules["llvmlite"] = None
import numpy as np
import xla_core as xla
from pathlib import Path
client = xla.Client("gpu")
exe = client.deserialize(Path({str(path)!r}).read_bytes())
assert ".visible .entry" in exe.artifacts()["ptx"]
results = exe(*np.load({str(tmp_path / "arguments.npz")!r}).values())
np.savez({str(tmp_path / "results.npz")!r}, *map(np.asarray, results))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert "llvmlite is not installed" in done.stderr
    with np.load(tmp_path / "results.npz") as results:
        for got, wanted in zip(results.values(), executable(*arguments), strict=True):
            np.testing.assert_array_equal(got, np.asarray(wanted))


def test_the_device_is_full(client) -> None:
    with pytest.raises(xla.ResourceExhaustedError, match="GiB"):
        client.buffer_from_host(np.zeros(1 << 31, np.uint8))


WILD = """
.version 7.8
.target sm_90
.address_size 64

.visible .entry wild(.param .u64 wild_param_0)
{
	.reg .b64 	%rd<3>;
	ld.param.b64 	%rd1, [wild_param_0];
	add.s64 	%rd2, %rd1, 1073741824;
	st.global.b64 	[%rd2], %rd1;
	ret;
}
"""


def test_a_fault_of_a_kernel_ends_the_device_and_not_the_process() -> None:
    executor = GpuExecutor(0, EmulatedDriver(1 << 20))
    stream = executor.create_stream()
    assert isinstance(stream, GpuStream)
    memory = executor.allocate(64)
    assert memory is not None
    GpuKernel(DeviceCode(WILD, "fast"), "wild").launch(stream, [memory], LaunchDimensions())
    event = stream.finish()
    assert event.synchronize(60)
    assert isinstance(event.error, EmulatorFault)
    assert "kernel wild" in str(event.error)
    stream.memset(memory, 1)  # a lost device refuses all that follows, and nobody waits for ever
    later = stream.finish()
    assert later.synchronize(60)
    assert later.error is event.error
    assert stream.error is event.error
    with pytest.raises(xla.UnavailableError, match=r"device is lost since an earlier failure.*kernel wild") as caught:
        executor.allocate(64)
    assert isinstance(caught.value.__cause__, EmulatorFault)
    assert "new xla_core.Client" in str(caught.value)
    executor.deallocate(memory)
    stream.close()
    executor.close()
    with xla.Client("gpu") as fresh:
        assert np.asarray(fresh.buffer_from_host(np.arange(3))).tolist() == [0, 1, 2]


def test_all_work_on_a_lost_device_fails_with_the_first_failure() -> None:
    driver = EmulatedDriver(1 << 20)
    executor = GpuExecutor(0, driver)
    memory = executor.allocate(64)
    assert memory is not None
    stream, other = executor.create_stream(), executor.create_stream()
    assert isinstance(stream, GpuStream)
    GpuKernel(DeviceCode(WILD, "fast"), "wild").launch(stream, [memory], LaunchDimensions())
    end = time.monotonic() + 60
    while driver.lost is None and time.monotonic() < end:
        time.sleep(0)
    other.memset(memory, 1)  # neither stream has told its user about the failure yet
    events = [stream.finish(), other.finish()]
    assert all(event.synchronize(60) for event in events)
    assert isinstance(driver.lost, EmulatorFault)
    assert [event.error for event in events] == [driver.lost, driver.lost]
    executor.deallocate(memory)
    stream.close()
    other.close()
    executor.close()


def test_a_closed_client_leaves_no_memory() -> None:
    client = xla.Client("gpu")
    driver = client.platform.executor(0).driver
    exe = client.compile(LOOP)
    exe(np.int32(0), np.ones(3, np.float32))[0].block_until_ready()
    del exe
    client.close()
    gc.collect()
    assert driver.memory.blocks() == []
