"""The backend over cuda-bindings, whose driver is a stub that runs kernels on emulated devices, in other processes."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

pytest.importorskip("xla_backend_gpu", reason="xla-backend-gpu is not installed")
pytest.importorskip("cuda.bindings.driver", reason="cuda-bindings is not installed")

from tests.backends.gpu import cublas_stub, cuda_stub

if cuda_stub.compiler() is None:
    pytest.skip("there is no C compiler", allow_module_level=True)

Run = Callable[..., subprocess.CompletedProcess]

START = """
import gc
import json
import numpy as np
import xla_core as xla
from tests.backends.gpu.cuda_stub import driver

client = xla.Client("gpu")
STEPS = "".join(f"  y{n + 1} = f32[300] add(y{n}, x)\\n" for n in range(5))
CHAIN = "HloModule m\\nENTRY main {\\n  x = f32[300] parameter(0)\\n  y0 = f32[300] multiply(x, x)\\n" + STEPS
CHAIN += "  ROOT z = f32[300] add(y5, x)\\n}"
ONE_BY_ONE = dict(optimization_level=1)  # no fusion
X = np.arange(300, dtype=np.float32)
"""


@pytest.fixture(scope="module")
def run(tmp_path_factory) -> Run:
    """Runs a program of Python, or a command, where there are GPUs, as far as cuda-bindings can tell."""
    folder = tmp_path_factory.mktemp("libcuda")

    def run(program: str = "", *command: str, devices: int = 1, started: int = 0) -> subprocess.CompletedProcess:
        command = command or (sys.executable, "-c", START + program)
        environment = cuda_stub.environment(folder, devices, started)
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        return done

    return run


def result(done: subprocess.CompletedProcess):
    return json.loads(done.stdout.splitlines()[-1])


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


DEFAULT = """
import json
import os
import warnings
os.environ.pop("XLA_PLATFORM", None)
import xla_core as xla
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    said = [xla.Client().platform_name]
said.append(" ".join(str(warning.message) for warning in caught))
try:
    with xla.Client("gpu") as client:
        said.append(client.devices[0].description.name)
except xla.UnavailableError as error:
    said.append(str(error))
print(json.dumps(said))
"""


@pytest.mark.parametrize(("devices", "flags"), [(0, ""), (1, "--xla_gpu_emulate")])
def test_an_emulated_device_is_not_the_default(
    run: Run, devices: int, flags: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """There is NVIDIA's driver, as in a container without its GPU; or the user asks for emulation."""
    monkeypatch.setenv("XLA_CORE_FLAGS", flags)
    chosen, cause, named = result(run("", sys.executable, "-c", DEFAULT, devices=devices))
    assert (chosen == "gpu", cause, named) == (False, "", "emulated GPU")


def test_an_unknown_flag_is_no_fault_of_the_backend(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XLA_CORE_FLAGS", "--xla_gpu_emulate --nobody_has_this")
    program = "from xla_core.backend import registry\nprint(registry.load_backend('gpu').priority)"
    assert result(run("", sys.executable, "-c", program)) == 200


HOOK = """
import json
import sys
from xla_core.backend import registry
spec = registry.load_backend("gpu")
loaded = "cuda.bindings.driver" in sys.modules
from tests.backends.gpu.cuda_stub import driver
print(json.dumps([spec.priority, loaded, driver.calls, "emulated" in spec.description]))
"""


@pytest.mark.parametrize(
    ("devices", "visible", "priority"),
    [
        (0, None, 10),
        (1, None, 200),
        (2, "1,0", 200),
        (1, "GPU-8932f937", 200),
        (1, "", 10),
        (1, "-1", 10),
        (1, "void", 10),
    ],
)
def test_the_hook_does_not_start_the_driver(
    run: Run, devices: int, visible: str | None, priority: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The driver opens files of its devices and can't be used after a fork. CUDA_VISIBLE_DEVICES may hide all GPUs."""
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    if visible is not None:
        monkeypatch.setenv("CUDA_VISIBLE_DEVICES", visible)
    said = result(run("", sys.executable, "-c", HOOK, devices=devices))
    assert said == [priority, False, {}, False]


def test_a_driver_that_does_not_work_is_no_emulated_device(run: Run) -> None:
    chosen, cause, named = result(run("", sys.executable, "-c", DEFAULT, started=803))
    assert chosen != "gpu"
    for text in (cause, named):
        assert "cuInit returned CUDA_ERROR_SYSTEM_DRIVER_MISMATCH" in text
    assert "--xla_gpu_emulate" in named


def test_memory_that_the_core_gives_back_leaves_the_process(run: Run) -> None:
    """The device's default pool is not used: the stub has none."""
    program = """
import ctypes
def free():
    found = ctypes.c_size_t(), ctypes.c_size_t()
    driver.state.contexts.append(driver.devices[0])
    driver.cuMemGetInfo(*map(ctypes.pointer, found))
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


GRAPHS = """
executable = client.compile(CHAIN, xla.CompileOptions(**ONE_BY_ONE, backend=dict(graphs=GRAPHS)))
x = client.buffer_from_host(X)
for _ in range(5):
    (y,) = executable.execute([x])
    np.testing.assert_array_equal(np.asarray(y), X * X + 6 * X)
    del y
other = client.buffer_from_host(-X)  # at another address
for _ in range(3):
    (y,) = executable.execute([other])
    np.testing.assert_array_equal(np.asarray(y), X * X - 6 * X)
    del y
names = ("cuLaunchKernel", "cuStreamBeginCapture", "cuGraphInstantiateWithFlags", "cuGraphDestroy", "cuGraphLaunch")
print(json.dumps([driver.calls.get(name, 0) for name in names]))
"""


def test_a_program_with_its_buffers_where_they_were_is_a_graph(run: Run) -> None:
    """The first run of a buffer launches 7 kernels, the second one captures as many."""
    assert result(run(GRAPHS.replace("GRAPHS", "True"))) == [4 * 7, 2, 2, 2, 4 + 2]


BRANCHES = """
text = '''HloModule branches
ENTRY main {
  x = f32[20000] parameter(0)
  y = f32[30000] parameter(1)
  a = f32[20000] negate(x)
  b = f32[30000] multiply(y, y)
  ROOT t = (f32[20000], f32[30000]) tuple(a, b)
}
'''
driver.failing.update(FAILING)
executable = client.compile(text)
arrays = [np.arange(n, dtype=np.float32) for n in (20000, 30000)]
x, y = (client.buffer_from_host(array) for array in arrays)
for _ in range(4):
    a, b = executable.execute([x, y])
    np.testing.assert_array_equal(np.asarray(a), -arrays[0])
    np.testing.assert_array_equal(np.asarray(b), arrays[1] ** 2)
    del a, b
streams = [graph.streams for graph in driver.handles.values() if isinstance(graph, driver.Graph)]
print(json.dumps([driver.calls.get("cuGraphLaunch", 0), streams]))
"""


@pytest.mark.parametrize(("failing", "launched"), [({}, [3, [2]]), ({"cuGraphInstantiateWithFlags": 801}, [0, []])])
def test_independent_branches_of_a_program_are_those_of_its_graph(
    run: Run, failing: dict[str, int], launched: list[object]
) -> None:
    """Where the graph can't be made, its steps run one after another."""
    assert result(run(BRANCHES.replace("FAILING", repr(failing)))) == launched


HELD = """
import threading
gate, emulated = threading.Event(), driver.devices[0].emulated
launch = emulated.launch
def held(queue, *rest):
    emulated.later(queue, gate.wait, "held")
    launch(queue, *rest)
"""


@pytest.mark.parametrize("graph", [False, True])
def test_a_module_is_unloaded_after_its_kernels_have_run(run: Run, graph: bool) -> None:
    """The program is dropped while its kernels are enqueued."""
    program = """
x = client.buffer_from_host(X)
executable = client.compile(CHAIN, xla.CompileOptions(**ONE_BY_ONE, backend=dict(graphs=GRAPH)))
for _ in range(3 if GRAPH else 0):
    (y,) = executable.execute([x])
    y.block_until_ready()
    del y
emulated.launch = held
(y,) = executable.execute([x])
del executable
gc.collect()
z = client.buffer_from_host(X)
during = [driver.calls.get(name, 0) for name in ("cuModuleUnload", "cuGraphLaunch")]
gate.set()
np.testing.assert_array_equal(np.asarray(y), X * X + 6 * X)
client.buffer_from_host(X).block_until_ready()
print(json.dumps([*during, driver.calls["cuModuleUnload"]]))
"""
    said = result(run(HELD + program.replace("GRAPH", str(graph))))
    assert said == [0, 3 if graph else 0, 1]


def test_nothing_is_used_after_the_context_is_given_back(run: Run) -> None:
    """A program with a graph and an array outlive their client."""
    program = """
x = client.buffer_from_host(X)
executable = client.compile(CHAIN, xla.CompileOptions(**ONE_BY_ONE))
for _ in range(3):
    (y,) = executable.execute([x])
    y.block_until_ready()
del x
client.close()
kinds = sorted({type(handle).__name__ for handle in driver.handles.values()} - {"Pool", "Stream"})
calls = dict(driver.calls)
del executable
gc.collect()
assert driver.calls == calls
del y
gc.collect()
print(json.dumps([kinds, driver.devices[0].retained, len(driver.handles)]))
"""
    assert result(run(program)) == [[], 0, 0]


def test_finalizers_may_run_during_a_capture(run: Run) -> None:
    """Python's garbage collector frees a program and memory on the thread that captures."""
    program = """
x = client.buffer_from_host(X)
old = client.compile(CHAIN.replace("300", "200"))
old(X[:200])
dropped = [old]
del old
own = client.platform.executor(0).driver
address = own.allocate(1 << 20)
begin, signature, context = driver.functions["cuStreamBeginCapture"]
def collect_then(*arguments):
    begin(*arguments)
    dropped.clear()
    gc.collect()
    own.free(address)
driver.functions["cuStreamBeginCapture"] = collect_then, signature, context
executable = client.compile(CHAIN, xla.CompileOptions(**ONE_BY_ONE))
for _ in range(4):
    (y,) = executable.execute([x])
    np.testing.assert_array_equal(np.asarray(y), X * X + 6 * X)
    del y
names = "cuStreamBeginCapture", "cuGraphLaunch", "cuModuleUnload"
print(json.dumps([driver.calls.get(name, 0) for name in names]))
"""
    assert result(run(program)) == [1, 3, 1]


def test_nothing_is_destroyed_during_a_capture_of_branches(run: Run) -> None:
    """The capture records events between its branches, and a record destroys what has lost its owner otherwise."""
    program = """
old = client.compile(CHAIN)
old(X)
dropped = [old]
del old
capturing, destroyed = set(), {True: [], False: []}
def wrap(name, before):
    function, signature, context = driver.functions[name]
    def called(*arguments):
        before(name)
        function(*arguments)
    driver.functions[name] = called, signature, context
def begin(name):
    capturing.add(threading.get_ident())
    dropped.clear()
    gc.collect()
wrap("cuStreamBeginCapture", begin)
wrap("cuStreamEndCapture", lambda name: capturing.clear())
for name in ("cuModuleUnload", "cuGraphExecDestroy", "cuEventDestroy"):
    wrap(name, lambda name: destroyed[threading.get_ident() in capturing].append(name))
"""
    check = "print(json.dumps([destroyed[True], 'cuModuleUnload' in destroyed[False]]))"
    branches = BRANCHES.replace("FAILING", "{}")
    assert result(run(f"import threading\n{program}{branches}{check}")) == [[], True]


def test_a_kernel_is_launched_while_another_thread_captures(run: Run) -> None:
    """At each line of a launch, a graph with one more branch is captured, which adds a stream for it."""
    program = """
import itertools
import os
import sys
import threading
from xla_backend_gpu.driver import Step
own = client.platform.executor(0).driver
launch, launched = own.launch, []
def kept(*arguments):
    launched.append(arguments)
    launch(*arguments)
own.launch = kept
(y,) = client.compile("HloModule m\\nENTRY e {\\n  x = f32[300] parameter(0)\\n  ROOT y = f32[300] negate(x)\\n}")(X)
y.block_until_ready()
branches = itertools.count()
def trace(frame, event, argument):
    if not os.path.basename(frame.f_code.co_filename).startswith("cuda_"):
        return None
    step = Step(lambda stream: None, next(branches))
    thread = threading.Thread(target=own.capture, args=([step],))
    thread.start()
    thread.join()
    return trace
sys.settrace(trace)
launch(*launched[0])
sys.settrace(None)
np.testing.assert_array_equal(np.asarray(y), -X)
print(json.dumps(next(branches)))
"""
    assert result(run(program)) > 20


@pytest.mark.parametrize("function", ["cuStreamBeginCapture", "cuGraphInstantiateWithFlags"])
def test_a_program_runs_where_its_capture_fails(run: Run, function: str) -> None:
    """Its steps are enqueued, and the capture isn't tried again."""
    program = f"driver.failing[{function!r}] = 801  # CUDA_ERROR_NOT_SUPPORTED" + GRAPHS.replace("GRAPHS", "True")
    launches, begun, *_, launched = result(run(program))
    assert (begun, launched) == (2, 0)
    assert launches >= 8 * 7


def test_a_program_without_graphs(run: Run) -> None:
    assert result(run(GRAPHS.replace("GRAPHS", "False"))) == [8 * 7, 0, 0, 0, 0]


TUNED = """
text = '''HloModule rows
add { a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = f32[] add(a, b) }
ENTRY e {
  x = f32[4,96] parameter(0)
  z = f32[] constant(0)
  ROOT s = f32[4] reduce(x, z), dimensions={1}, to_apply=add
}
'''
from xla_backend_gpu import cuda_timing
cuda_timing._LEAST_SECONDS = 1e-9  # the stub takes long enough
executable = client.compile(text, xla.CompileOptions(backend=dict(autotune=True)))
x = np.arange(4 * 96, dtype=np.float32).reshape(4, 96)
np.testing.assert_array_equal(np.asarray(executable(x)[0]), x.sum(1))
calls = {name: driver.calls.get(name, 0) for name in ("cuGraphLaunch", "cuEventElapsedTime", "cuStreamBeginCapture")}
del executable
gc.collect()
client.close()
print(json.dumps([calls, len(driver.handles)]))
"""


def test_kernels_are_tuned_by_the_clock_of_the_device(run: Run) -> None:
    """The host doesn't enqueue during a measurement."""
    calls, left = result(run(TUNED))
    measured = calls["cuEventElapsedTime"]
    assert measured >= 2 * 6
    assert calls == {"cuGraphLaunch": measured, "cuEventElapsedTime": measured, "cuStreamBeginCapture": measured // 6}
    assert left == 0


LAYERS = """
library = driver.connect_cublas(PATH)
text = '''HloModule layers
ENTRY main {
  x = f32[8,96] parameter(0)
  u = f32[96,16] parameter(1)
  v = f32[16,8] parameter(2)
  b = f32[16] parameter(3)
  h = f32[8,16] dot(x, u), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  bb = f32[8,16] broadcast(b), dimensions={1}
  s = f32[8,16] add(h, bb)
  zero = f32[] constant(0)
  zeros = f32[8,16] broadcast(zero), dimensions={}
  r = f32[8,16] maximum(s, zeros)
  y = f32[8,8] dot(r, v), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  ROOT e = f32[8,8] negate(y)
}
'''
executable = client.compile(text, xla.CompileOptions(backend=dict(products="library")))
rng = np.random.default_rng(0)
arrays = [rng.integers(-2, 3, s).astype(np.float32) for s in ((8, 96), (96, 16), (16, 8), (16,))]
x, u, v, b = arrays
wanted = -(np.maximum(x @ u + b, 0) @ v)
arguments = [client.buffer_from_host(array) for array in arrays]
for _ in range(5):
    (y,) = executable.execute(arguments)
    np.testing.assert_array_equal(np.asarray(y), wanted)
    del y
again = client.deserialize(executable.serialize())
np.testing.assert_array_equal(np.asarray(again(*arrays)[0]), wanted)
steps = executable.artifacts()["thunks"].split()[::2]
counts = [driver.calls.get(name, 0) for name in ("cuStreamBeginCapture", "cuGraphLaunch")]
calls = library.cublaslt_stub_calls()
del executable, again, arguments
gc.collect()
client.close()
print(json.dumps([steps, counts, calls, library.cublaslt_stub_live(), driver.devices[0].emulated.memory.blocks()]))
"""


def test_products_of_cublas_are_part_of_graphs(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The calls are captured with their addresses, and nothing is left of the library when the client is closed."""
    library = cublas_stub.build(tmp_path)
    monkeypatch.setenv("XLA_CORE_FLAGS", f"--xla_gpu_cublas_library={library}")
    steps, counts, calls, live, blocks = result(run(LAYERS.replace("PATH", repr(str(library)))))
    assert steps == ["MatmulThunk", "MatmulThunk", "KernelThunk"]
    assert counts == [1, 4]
    assert calls == 2 * 6
    assert (live, blocks) == (0, [])


def test_a_library_that_fails_leaves_products_to_own_kernels(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The compilation goes on, and one warning says why."""
    library = cublas_stub.build(tmp_path)
    monkeypatch.setenv("XLA_CORE_FLAGS", f"--xla_gpu_cublas_library={library}")
    monkeypatch.setenv("XLA_TEST_CUBLAS_HEURISTIC", "14")
    done = run(LAYERS.replace("PATH", repr(str(library))))
    steps, *_ = result(done)
    assert set(steps) == {"KernelThunk"}
    assert done.stderr.count("products don't use cuBLASLt, which fails: cublasLtMatmulAlgoGetHeuristic") == 1


SHARDS = """
library = driver.connect_cublas(PATH)
text = '''HloModule shards, replica_count=2
ENTRY main {
  x = f32[8,96] parameter(0)
  y = f32[96,16] parameter(1)
  ROOT d = f32[8,16] dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={0}
}
'''
executable = client.compile(text, xla.CompileOptions(backend=dict(products="library")))
rng = np.random.default_rng(0)
arrays = [[rng.integers(-2, 3, s).astype(np.float32) for s in ((8, 96), (96, 16))] for _ in range(2)]
rows = [[client.buffer_from_host(a, device=d) for a in own] for own, d in zip(arrays, client.devices)]
for (result,), (x, y), device in zip(executable.execute_sharded(rows), arrays, client.devices):
    assert result.device is device
    np.testing.assert_array_equal(np.asarray(result), x @ y)
del executable, rows, result
gc.collect()
client.close()
print(json.dumps([library.cublaslt_stub_calls(), library.cublaslt_stub_live()]))
"""


def test_each_device_has_the_library(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    library = cublas_stub.build(tmp_path)
    monkeypatch.setenv("XLA_CORE_FLAGS", f"--xla_gpu_cublas_library={library}")
    assert result(run(SHARDS.replace("PATH", repr(str(library))), devices=2)) == [2, 0]


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
launch = driver.LaunchArguments
driver.LaunchArguments = lambda blocks, threads, shared, addresses: launch(blocks, threads, shared, (16,) * len(addresses))
try:
    (y,) = executable.execute([x])
    y.block_until_ready()
    said = []
except xla.XlaError as error:
    said = [str(error)]
driver.LaunchArguments = launch
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


SHARED = """
import contextlib
from xla_backend_gpu.cuda_driver import CudaDriver
text = "HloModule m\\nENTRY main {\\n  x = bf16[16,64,256] parameter(0)\\n  y = bf16[16,256,512] parameter(1)\\n"
text += "  d = f32[16,64,512] dot(x, y), lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={2}, "
text += "rhs_contracting_dims={1}\\n  n = bf16[16,64,256] negate(x)\\n  ROOT r = (f32[16,64,512], bf16[16,64,256]) "
text += "tuple(d, n)\\n}"
executable = client.compile(text, xla.CompileOptions(backend={"sm": "sm_90a", "products": "own"}))
x, y = (client.buffer_from_host(np.ones(p.dimensions, p.dtype)) for p in executable.parameter_shapes)
ALLOW
said = ""
for _ in range(4):  # from the third run on as a graph
    try:
        z, _ = executable.execute([x, y])
        assert (np.asarray(z) == 256).all()
    except xla.XlaError as error:
        said = str(error)
asked = driver.calls.get("cuFuncSetAttribute", 0)
(z,) = client.compile(CHAIN)(X)  # the device is not lost
np.testing.assert_array_equal(np.asarray(z), X * X + 6 * X)
print(json.dumps([asked, driver.calls.get("cuGraphLaunch", 0), said]))
"""


def test_a_kernel_is_allowed_its_shared_memory_once(run: Run) -> None:
    asked, graphs, said = result(run(SHARED.replace("ALLOW", "")))
    assert (asked, said) == (1, "")
    assert graphs > 0


def test_a_launch_without_permission_is_refused(run: Run) -> None:
    """By default, a launch may ask for 48 KiB."""
    asked, _, said = result(run(SHARED.replace("ALLOW", "CudaDriver._allow = lambda *arguments: None")))
    assert asked == 0
    assert "CUDA_ERROR_INVALID_VALUE" in said


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
    driver.failing = {name: 700}
    try:
        act()
        raised = ""
    except xla.XlaError as error:
        raised = error.message.split()[0]
    found[name] = [raised, own.lost is not None]
    driver.failing, own.lost = {}, None
print(json.dumps(found))
"""
    found = result(run(program))
    assert found.pop("cuMemFreeAsync") == ["", True]  # finalizers free memory, and raise nothing
    assert found == {name: [name, True] for name in found}
    assert len(found) == 5


def test_the_child_of_a_fork_is_told_to_spawn(run: Run) -> None:
    """CUDA can't be used in it, by another client either."""
    program = """
import os
x = client.buffer_from_host(X)
x.block_until_ready()
read, write = os.pipe()
pid = os.fork()
if pid == 0:
    said = []
    for act in (lambda: client.buffer_from_host(X), lambda: xla.Client("gpu").devices):
        try:
            act()
            said.append("")
        except xla.XlaError as error:
            said.append(str(error))
    os.write(write, json.dumps(said).encode())
    os._exit(0)
os.close(write)
print(os.fdopen(read).read())
os.waitpid(pid, 0)
"""
    own, other = result(run(program))
    assert "before a fork" in own
    assert "CUDA was started before this process was forked" in other
    assert "'spawn'" in other


def test_a_pair_of_devices_that_lack_access_leaves_it_to_the_others(run: Run) -> None:
    program = """
client.close()
driver.unreachable.add((2, 0))
client = xla.Client("gpu")
drivers = [client.platform.executor(n).driver for n in range(3)]
print(json.dumps([[sorted(d.peers), own.has_peers] for d, own in zip(driver.devices, drivers)]))
"""
    assert result(run(program, devices=3)) == [[[1], False], [[0, 2], True], [[0, 1], False]]


MACHINE_CODE = """
import base64
from xla_backend_gpu.compiler import GpuCompiler
program = json.loads(GpuCompiler("sm_90").compile(xla.parse(CHAIN)).serialize())
cubin = b"\\x7fELF" + bytes(range(200, 256))
program |= {"cubin": base64.b64encode(cubin).decode(), "processor": PROCESSOR}
program["ptx"] = program["ptx"].replace("sm_90", PROCESSOR)
if IS_KNOWN:
    driver.cubins[cubin] = program["ptx"]
(y,) = client.load(GpuCompiler().deserialize(json.dumps(program).encode()))(X)
np.testing.assert_array_equal(np.asarray(y), X * X + 6 * X)
print(json.dumps([image.decode("latin1") for image in driver.images]))
"""


@pytest.mark.parametrize(
    ("processor", "known", "loaded"),
    [("sm_90", True, ["ELF"]), ("sm_80", True, ["PTX"]), ("sm_90", False, ["ELF", "PTX"])],
)
def test_machine_code_is_loaded_by_its_processor(run: Run, processor: str, known: bool, loaded: list[str]) -> None:
    """Another processor compiles the PTX, and so does a driver that doesn't know the machine code."""
    images = result(run(f"PROCESSOR, IS_KNOWN = {processor!r}, {known}\n{MACHINE_CODE}"))
    assert ["ELF" if image.startswith("\x7fELF") else "PTX" for image in images] == loaded


def test_kernels_are_loaded_when_a_program_is_compiled(run: Run) -> None:
    """The first run doesn't wait for the driver's compiler. What that refuses is an error with the compiler's words."""
    program = """
from xla_backend_gpu.compiler import GpuCompiler
executable = client.compile(CHAIN)
compiled = len(driver.images)
executable(X)
ran = len(driver.images)
program = json.loads(GpuCompiler("sm_90").compile(xla.parse(CHAIN)).serialize())
program["ptx"] = program["ptx"].replace("mul", "multiply")
try:
    GpuCompiler().deserialize(json.dumps(program).encode(), None, client.platform.executor(0))
except xla.XlaError as error:
    said = str(error)
print(json.dumps([compiled, ran, said]))
"""
    compiled, ran, said = result(run(program))
    assert (compiled, ran) == (1, 1)
    assert "cuModuleLoadDataEx returned CUDA_ERROR_INVALID_PTX" in said
    assert "the PTX is for sm_90; the driver's compiler says: " in said
    assert "multiply" in said


def test_memory_that_is_not_there(run: Run) -> None:
    program = """
try:
    client.buffer_from_host(np.zeros(1 << 29, np.uint8))
except xla.ResourceExhaustedError as error:
    print(json.dumps(error.message))
"""
    assert "512.0 MiB" in result(run(program))


def test_a_function_that_the_driver_lacks(run: Run) -> None:
    program = """
from xla_backend_gpu.cuda_calls import call
try:
    call("cuProfilerStart")
except xla.UnimplementedError as error:
    print(json.dumps(error.message))
"""
    assert result(run(program)).startswith("NVIDIA's driver has no cuProfilerStart")


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
