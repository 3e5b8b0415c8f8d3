"""Programs as graphs, and what is destroyed when. See `cuda_stub`."""

from __future__ import annotations

import pytest

pytest.importorskip("xla_backend_gpu", reason="xla-backend-gpu is not installed")
pytest.importorskip("cuda.bindings.driver", reason="cuda-bindings is not installed")

from tests.backends.gpu.cuda_stub import Run, result

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
