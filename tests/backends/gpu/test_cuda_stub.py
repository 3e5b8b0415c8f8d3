"""The backend over cuda-bindings and a stub of CUDA's driver, in other processes. See `cuda_stub`."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

pytest.importorskip("xla_backend_gpu", reason="xla-backend-gpu is not installed")
pytest.importorskip("cuda.bindings.driver", reason="cuda-bindings is not installed")

from tests.backends.gpu.cuda_stub import Run, result


def test_a_program_and_what_it_leaves(run: Run) -> None:
    """Nothing is left when the client is closed: no memory, no stream, no event, no module."""
    program = """
assert not client.devices[0].description.simulated
executable = client.compile(CHAIN)
(y,) = executable(X)
np.testing.assert_array_equal(np.asarray(y), X * X + 6 * X)
large = np.random.default_rng(0).integers(0, 256, 9 << 20, np.uint8)  # several pieces of pinned memory
np.testing.assert_array_equal(np.asarray(client.buffer_from_host(large)), large)
memory = driver.devices[0].emulated.memory
del y, executable
gc.collect()
client.close()
kinds = sorted({type(handle).__name__ for handle in driver.handles.values()})
print(json.dumps([memory.blocks(), len(driver.host_memory), kinds, driver.devices[0].retained]))
"""
    assert result(run(program)) == [[], 0, [], 0]


def test_memory_that_the_core_gives_back_leaves_the_process(run: Run) -> None:
    """The device's default pool is not used: the stub has none."""
    program = """
import ctypes
def free():
    found = ctypes.c_size_t(), ctypes.c_size_t()
    driver.state.contexts.append(driver.devices[0])
    driver.memory.cuMemGetInfo(*map(ctypes.pointer, found))
    driver.state.contexts.pop()
    return found[0].value
before = free()
x = client.buffer_from_host(np.zeros(1 << 20, np.uint8))
x.block_until_ready()
assert free() <= before - (1 << 20)
del x
assert free() <= before - (1 << 20), "the core keeps it for the next array"
assert client.devices[0].allocator.trim() >= 1 << 20
print(json.dumps(before - free()))
"""
    assert result(run(program)) == 0


def test_memory_outlives_a_closed_client_where_the_context_does(run: Run) -> None:
    """Another library has the context too, and may have imported the array."""
    program = """
own = driver.devices[0]
own.retained += 1
x = client.buffer_from_host(X)
x.block_until_ready()
client.close()
said = [len(own.emulated.memory.blocks()), own.retained]
del x
gc.collect()
kinds = sorted({type(handle).__name__ for handle in driver.handles.values()})
print(json.dumps([said, len(own.emulated.memory.blocks()), kinds, own.retained]))
"""
    assert result(run(program)) == [[1, 2], 0, [], 1]


def test_devices_copy_to_each_other(run: Run) -> None:
    program = """
x = client.buffer_from_host(X, device=client.devices[0])
y = x.copy_to_device(client.devices[1])
np.testing.assert_array_equal(np.asarray(y), X)
print(json.dumps([str(y.device), driver.calls.get("cuMemcpyDtoDAsync", 0), driver.calls["cuMemcpyDtoHAsync"]]))
"""
    assert result(run(program, devices=2)) == ["<Device gpu:1>", 1, 1]


def test_a_fault_is_an_error_and_a_new_client_goes_on(run: Run) -> None:
    program = """
executable = client.compile(CHAIN, xla.CompileOptions(**ONE_BY_ONE))
x = client.buffer_from_host(X)
launch = driver.code.LaunchArguments
driver.code.LaunchArguments = lambda blocks, threads, shared, addresses: launch(blocks, threads, shared, (16,) * len(addresses))
try:
    (y,) = executable.execute([x])
    y.block_until_ready()
    said = []
except xla.XlaError as error:
    said = [str(error)]
driver.code.LaunchArguments = launch
try:
    client.buffer_from_host(X)
except xla.XlaError as error:
    said.append(str(error))
del x
client.close()
with xla.Client("gpu") as again:
    (y,) = again.compile(CHAIN)(X)
    np.testing.assert_array_equal(np.asarray(y), X * X + 6 * X)
print(json.dumps(said))
"""
    first, later = result(run(program))
    assert "CUDA_ERROR_ILLEGAL_ADDRESS" in first
    assert "the kernels launched last are" in first
    assert "the device is lost since an earlier failure" in later
    for said in (first, later):
        assert "start a new process, because CUDA doesn't promise" in said
        assert "new xla_core.Client" not in said


def test_whatever_meets_a_sticky_status_first_loses_the_device(run: Run) -> None:
    program = """
own = client.platform.executor(0).driver
stream = own.create_stream(client.platform.executor(0))
host = np.zeros(64, np.uint8)
found = {}
address = own.allocate(64)
for name, act in {
    "cuMemAllocFromPoolAsync": lambda: own.allocate(64),
    "cuCtxPushCurrent": lambda: own.fill(stream, address, 0, 64),
    "cuEventCreate": lambda: own.record(stream),
    "cuMemHostAlloc": lambda: own.write(stream, address, host),
    "cuStreamWaitEvent": lambda: own.wait(stream, own.record(stream)),
    "cuMemFreeAsync": lambda: own.free(address),
}.items():
    driver.failing[name] = 700
    try:
        act()
        raised = ""
    except xla.XlaError as error:
        raised = error.message.split()[0]
    found[name] = [raised, own.lost is not None]
    own.lost = None
    driver.failing.clear()
print(json.dumps(found))
"""
    found = result(run(program))
    assert found.pop("cuMemFreeAsync") == ["", True]  # finalizers free memory, and raise nothing
    assert found == {name: [name, True] for name in found}
    assert len(found) == 5


def test_a_pair_of_devices_that_lack_access_leaves_it_to_the_others(run: Run) -> None:
    program = """
client.close()
driver.unreachable.add((2, 0))
client = xla.Client("gpu")
drivers = [client.platform.executor(n).driver for n in range(3)]
print(json.dumps([[sorted(d.peers), own.has_peers] for d, own in zip(driver.devices, drivers)]))
"""
    assert result(run(program, devices=3)) == [[[1], False], [[0, 2], True], [[0, 1], False]]


def test_memory_that_is_not_there(run: Run) -> None:
    program = """
try:
    client.buffer_from_host(np.zeros(1 << 29, np.uint8))
except xla.ResourceExhaustedError as error:
    print(json.dumps(error.message))
"""
    assert "512.0 MiB" in result(run(program))


@pytest.mark.slow
@pytest.mark.parametrize("group", ["streams", "events", "transfers", "loading"])
def test_conformance(run: Run, group: str) -> None:
    """Tests of leaks measure this process's memory, where the stub has its devices."""
    xla_command = Path(sys.executable).with_name("xla")
    run("", str(xla_command), "conform", "--backend", "gpu", "-k", f"{group} and not leave_nothing")


@pytest.mark.slow
def test_the_report_for_a_gpu(run: Run, tmp_path: Path) -> None:
    """A dry run: what needs JAX with CUDA, cuBLAS or the profiler says that it is missing."""
    file = tmp_path / "rows.json"
    sections = ("bandwidth", "products", "launch")
    command = f"import sys; from benchmarks.gpu_report import main; main({['--section', *sections, '--only', 'softmax', '--seconds', '0.5', '--json', str(file)]!r})"
    run("", sys.executable, "-c", command)
    rows = json.loads(file.read_text())
    assert rows[0]["what"].startswith("stub of CUDA's driver")
    measured = {(row["section"], row["what"]) for row in rows if row["value"]}
    assert {("bandwidth", "softmax"), ("launch", "32 kernels, as a graph")} <= measured
