"""The state after a failure: memory, donated arguments, constants, streams, other devices of a run."""

from __future__ import annotations

import subprocess
import sys
import textwrap
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import numpy as np
import pytest

import xla_core as xla
from tests.xla_core.runtime import programs
from xla_core import CompileOptions
from xla_core.backend import Communicator, RunOptions
from xla_core.errors import (
    CancelledError,
    FailedPreconditionError,
    InternalError,
    ResourceExhaustedError,
    XlaError,
    as_xla_error,
)
from xla_core.hlo import InputOutputAlias
from xla_core.interruptible import _Interrupted
from xla_core.runtime import HostEvent, HostStream
from xla_core.runtime.communicators import make_communicator
from xla_core.runtime.thunks.thunk_executor import ThunkExecutor
from xla_core.schedule import FillThunk, ThunkProgram, WhileThunk

A = np.arange(4, dtype=np.float32)
B = np.ones(4, np.float32)


def in_use(client) -> int:
    return client.devices[0].memory_stats().bytes_in_use


def test_a_compiler_that_raises_is_an_internal_error_at_an_instruction(client, monkeypatch) -> None:
    def emit(instruction) -> None:
        {}[instruction.opcode]

    def run_backend(module, options, executor=None) -> None:
        for each in module.entry.instructions:
            emit(each)

    monkeypatch.setattr(client.platform.compiler, "run_backend", run_backend)
    with pytest.raises(InternalError) as caught:
        client.compile("HloModule m\n\nENTRY e {\n  ROOT x = f32[4] parameter(0)\n}\n", file="m.hlo")
    said = "the compiler of backend 'toy' failed at the instruction %x = f32[4] parameter(0): KeyError:"
    assert said in caught.value.message
    assert "test_failures.py:" in caught.value.message, "a maker of a backend finds the line of code"
    assert caught.value.op == "parameter"
    assert "m.hlo:4" in str(caught.value.location)
    assert isinstance(caught.value.__cause__, KeyError)


@pytest.mark.parametrize("kind", ["an alias", "a buffer donor"])
def test_a_pass_that_donates_what_the_caller_keeps_is_an_internal_error(client, monkeypatch, kind: str) -> None:
    run_hlo_passes = client.platform.compiler.run_hlo_passes

    def passes(module, options, executor=None):
        if kind == "an alias":
            module.input_output_aliases.append(InputOutputAlias((), 1, ()))
        else:
            module.buffer_donors.append((1, ()))
        return run_hlo_passes(module, options, executor)

    monkeypatch.setattr(client.platform.compiler, "run_hlo_passes", passes)
    text = "HloModule m\n\nENTRY e {\n  x = f32[4] parameter(0)\n  y = f32[4] parameter(1)\n  ROOT r = f32[4] add(x, y)\n}\n"
    with pytest.raises(
        InternalError, match=r"backend 'toy' donates parameter 1 \(%y\) of m, which the program does not"
    ):
        client.compile(text)
    client.compile(text, CompileOptions(donate=(1,)))


@pytest.mark.parametrize("kind", [KeyboardInterrupt, ValueError])
def test_a_run_that_broke_off_ends_its_donated_arguments(client, monkeypatch, kind) -> None:
    exe = client.compile(programs.step())
    program = exe._programs[0]

    def breaks(options, arguments) -> None:
        raise kind

    monkeypatch.setattr(program, "execute", breaks)
    state, x = client.buffer_from_host(A), client.buffer_from_host(B)
    looked_at = client.buffer_from_host(A)
    view = np.asarray(looked_at)
    for donated in (state, looked_at):
        with pytest.raises(kind):
            exe.execute([donated, x])
        assert donated.is_deleted()
    assert view.tolist() == A.tolist()
    del view, looked_at, state
    assert in_use(client) == 256  # x


def test_a_copy_of_a_donated_argument_that_finds_no_memory(client) -> None:
    exe = client.compile(programs.step())
    state, x = client.buffer_from_host(A), client.buffer_from_host(B)
    view = np.asarray(state)
    client.devices[0].memory_limit = 512
    for _ in range(3):
        with pytest.raises(ResourceExhaustedError):
            exe.execute([state, x])
        assert in_use(client) == 512
    assert np.asarray(state).tolist() == view.tolist()


def test_an_upload_that_fails_keeps_no_memory(client, monkeypatch) -> None:
    def fails(*_: object, **__: object) -> None:
        raise InternalError("no")

    monkeypatch.setattr(client.platform.transfer_manager, "transfer_to_device_async", fails)
    for _ in range(3):
        with pytest.raises(InternalError):
            client.buffer_from_host(A)
    assert in_use(client) == 0


def test_runs_on_several_devices_come_in_one_order(client, monkeypatch) -> None:
    exe = client.compile(programs.negate(), CompileOptions(num_replicas=2))
    rows = [[client.buffer_from_host(A, device)] for device in client.devices]
    order: list[list[int]] = [[], []]
    for index, program in enumerate(exe._programs):

        def slow(options, arguments, index=index, execute=program.execute):
            order[index].append(options.run_id)
            time.sleep(0.001)
            return execute(options, arguments)

        monkeypatch.setattr(program, "execute", slow)
    threads = [threading.Thread(target=lambda: [exe.execute_sharded(rows) for _ in range(20)]) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(order[0]) == 80
    assert order[0] == order[1]


MEET = """HloModule meet, replica_count=2

add {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT r = f32[] add(a, b)
}

ENTRY e {
  x = f32[4] parameter(0)
  ROOT sum = f32[4] all-reduce(x), replica_groups={{0,1}}, to_apply=add
}
"""


class Ends(Communicator):
    """A communicator of a backend's own, which notes how it ends."""

    def __init__(self) -> None:
        self.errors: list[XlaError | None] = []

    def enqueue(self, stream, collective, operands, results) -> None:
        raise AssertionError

    def end(self, error: XlaError | None) -> None:
        self.errors.append(error)


@pytest.mark.parametrize("kind", [KeyboardInterrupt, ValueError])
@pytest.mark.parametrize("when", ["before", "after", "alone"], ids="the communicator is made {}".format)
def test_a_device_that_cannot_start_is_told_to_the_others(client, monkeypatch, kind, when: str) -> None:
    """A backend's own communicator is ended once, also where the device failed before the program made it."""
    exe = client.compile(programs.negate(), CompileOptions(num_replicas=2)) if when == "alone" else client.compile(MEET)
    made: list[tuple[int, Ends]] = []

    def create_communicator(options: RunOptions) -> Communicator:
        assert options.run_id
        made.append((options.replica_id, Ends()))
        return made[-1][1]

    def breaks(options: RunOptions, arguments) -> None:
        if when == "after":  # as ThunkExecutor does
            make_communicator(options, "").end(as_xla_error(kind("boom"), "enqueueing"))
        raise kind("boom")

    for program in exe._programs:
        monkeypatch.setattr(program.run_options.executor, "create_communicator", create_communicator, raising=False)
    monkeypatch.setattr(exe._programs[0], "execute", lambda options, _: [options.allocator.allocate(A.nbytes)])
    monkeypatch.setattr(exe._programs[1], "execute", breaks)
    with pytest.raises(kind):
        exe.execute_sharded([[client.buffer_from_host(A, device)] for device in client.devices])
    assert [replica for replica, _ in made] == ([] if when == "alone" else [1])
    for _, communicator in made:
        (error,) = communicator.errors
        assert isinstance(error, XlaError)


@pytest.mark.parametrize("kind", [SystemExit, KeyboardInterrupt])
def test_work_that_ends_the_thread_poisons_the_stream(kind) -> None:
    stream = HostStream(SimpleNamespace(ordinal=0, device_name="device 0"))

    def leave() -> None:
        raise kind

    stream.host_callback(leave)
    stream.synchronize()
    assert isinstance(stream.error, CancelledError)
    stream.recover()
    done: list[int] = []
    stream.host_callback(lambda: done.append(1))
    stream.synchronize()
    assert done == [1]
    stream.close()


def test_an_interruption_is_no_error_that_work_could_handle() -> None:
    assert not issubclass(_Interrupted, Exception)


def test_stuck_streams_share_one_deadline_at_exit() -> None:
    program = """
        import threading
        from types import SimpleNamespace
        from xla_core.runtime import HostStream
        from xla_core.runtime.host import exit as host_exit
        host_exit._EXIT_SECONDS = 1.0
        never = threading.Event()
        streams = [HostStream(SimpleNamespace(ordinal=0, device_name="device 0")) for _ in range(20)]
        for stream in streams:
            stream.host_callback(never.wait)
    """
    subprocess.run([sys.executable, "-c", textwrap.dedent(program)], check=True, timeout=15)


def test_waits_of_later_functions_at_exit_end() -> None:
    program = """
        import atexit
        import threading
        from types import SimpleNamespace

        def wait():
            ended.synchronize()
            print(ended.error)

        atexit.register(wait)  # registered before the core's function, it runs after it
        from xla_core.runtime import HostEvent, HostStream
        from xla_core.runtime.host import exit as host_exit

        host_exit._EXIT_SECONDS = 0.2
        stream, ended = HostStream(SimpleNamespace(ordinal=0, device_name="device 0")), HostEvent()
        stream.host_callback(threading.Event().wait)
        stream.record(ended)
    """
    command = [sys.executable, "-c", textwrap.dedent(program)]
    done = subprocess.run(command, timeout=30, capture_output=True, text=True, check=True)
    assert "CANCELLED: the process ended while work on device 0" in done.stdout


@pytest.mark.skipif(sys.platform != "linux", reason="needs on_exit of the C library")
@pytest.mark.parametrize("status", [0, 3])
def test_the_process_ends_in_order_while_a_product_runs(status: int) -> None:
    pytest.importorskip("xla_backend_cpu")
    program = f"""
        import sys
        import numpy as np
        import xla_core
        from xla_core.runtime.host import exit as host_exit
        host_exit._EXIT_SECONDS = 0.2
        n = 9000
        exe = xla_core.Client("cpu").compile(
            f"HloModule m ENTRY e {{{{ x = f32[{{n}},{{n}}] parameter(0) y = f32[{{n}},{{n}}] dot(x, x),"
            "lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}"
            f" ROOT z = f32[{{n}},{{n}}] dot(y, x), lhs_contracting_dims={{{{1}}}}, rhs_contracting_dims={{{{0}}}} }}}}")
        result = exe(np.ones((n, n), np.float32))
        sys.exit({status})
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)], timeout=60, capture_output=True, text=True, check=False
    )
    assert done.returncode == status, done.stderr
    assert "still runs" in done.stderr


TWO = """HloModule two
ENTRY m {
  p = f32[] parameter(0)
  a = f32[1000000]{0} broadcast(p), dimensions={}
  b = f32[2000000]{0} broadcast(p), dimensions={}
  ROOT r = (f32[1000000]{0}, f32[2000000]{0}) tuple(a, b)
}"""


@pytest.mark.parametrize("backend", ["cpu", "template"])
def test_a_run_without_memory_keeps_none(backend: str) -> None:
    pytest.importorskip(f"xla_backend_{backend}")
    from xla_core import Client

    with Client(backend) as client:
        exe = client.compile(TWO)
        client.devices[0].memory_limit = 10_000_000
        for _ in range(3):
            with pytest.raises(ResourceExhaustedError):
                exe(np.float32(1))
            client.synchronize()
            client.devices[0].allocator.trim()
            assert in_use(client) <= 256


def loop(trips: int, body: list, name: str = "loop") -> WhileThunk:
    return WhileThunk(name, None, (), tuple(body), trips)


def test_nested_loops_are_unrolled_by_what_they_enqueue() -> None:
    fill = FillThunk("fill", None, 0)
    inner = loop(1000, [fill, fill])
    outer = loop(500, [inner, fill])
    executor = ThunkExecutor(ThunkProgram((), (outer,), (), ()))
    assert executor._unrolled(inner) == 2000
    assert executor._unrolled(outer) == 500 * 2001
    assert executor._unrolled(loop(3, [outer])) == 3  # each is driven: one item


KONSTANT = """HloModule k
ENTRY m {
  p = f32[4]{0} parameter(0)
  k = f32[4]{0} constant({1, 2, 3, 4})
  ROOT r = f32[4]{0} add(p, k)
}"""


def test_constants_are_there_after_a_first_run_that_failed() -> None:
    pytest.importorskip("xla_backend_template", reason="xla-backend-template is not installed")
    from xla_core import Client

    with Client("template") as client:
        exe = client.compile(KONSTANT)
        bad = client.buffer_from_host(np.zeros(4, np.float32)).block_until_ready()
        failed = HostEvent()
        failed.arm().complete(InternalError("upstream"))
        bad.definition_event = failed
        (out,) = exe.execute([bad])
        with pytest.raises(InternalError, match="upstream"):
            np.asarray(out)
        for _ in range(3):
            assert np.asarray(exe(np.zeros(4, np.float32))[0]).tolist() == [1, 2, 3, 4]


@pytest.mark.parametrize("count", [-1, 2.0, None])
def test_a_count_of_devices_that_is_none_is_refused(client, monkeypatch, count) -> None:
    monkeypatch.setattr(type(client.platform), "visible_device_count", lambda self: count)
    with pytest.raises(FailedPreconditionError, match="visible_device_count must be a count, not"):
        xla.Client("toy")


def test_an_executor_that_is_none_is_refused(client, monkeypatch) -> None:
    monkeypatch.setattr(type(client.platform), "create_executor", lambda self, ordinal: None)
    with pytest.raises(FailedPreconditionError, match=r"create_executor\(0\) must be a StreamExecutor, not None"):
        xla.Client("toy").buffer_from_host(A)


@pytest.mark.parametrize("raised", [KeyboardInterrupt, OSError("the bus is down")], ids=["interrupt", "driver"])
def test_a_close_that_is_interrupted_goes_on(client, monkeypatch, raised) -> None:
    device = client.devices[0]
    first, closed = [raised], []
    for stream in (device.h2d_stream, device.compute_stream, device.d2h_stream):

        def close(stream=stream, own=stream.close) -> None:
            if first:
                raise first.pop()
            own()
            closed.append(stream)

        monkeypatch.setattr(stream, "close", close)
    with pytest.raises((KeyboardInterrupt, OSError)):
        client.close()
    client.close()
    assert not client.platform._executors
    assert len(closed) == (3 if raised is KeyboardInterrupt else 2)  # a stream whose driver failed is not closed again
    with pytest.raises(FailedPreconditionError, match="this client is closed"):
        client.buffer_from_host(A)


@pytest.mark.parametrize("part", ["allocator", "host_memory", "platform"])
def test_a_close_that_is_interrupted_anywhere_goes_on(client, monkeypatch, part) -> None:
    device, first = client.devices[0], [KeyboardInterrupt]
    closes = {"allocator": device.allocator, "host_memory": device.host_memory, "platform": client.platform}
    own = closes[part].close

    def close(*arguments) -> None:
        if first:
            raise first.pop()
        own(*arguments)

    monkeypatch.setattr(closes[part], "close", close)
    with pytest.raises(KeyboardInterrupt):
        client.close()
    client.close()
    assert device.allocator._closed
    assert not client.platform._executors


def test_work_of_a_stream_may_close_the_client(client) -> None:
    begun = threading.Event()

    def close() -> None:
        begun.set()
        time.sleep(0.1)  # until the other thread waits for this stream
        client.close()

    client.devices[0].compute_stream.host_callback(close)
    assert begun.wait(30)
    closer = threading.Thread(target=client.close, daemon=True)
    closer.start()
    closer.join(30)
    assert not closer.is_alive()


def test_threads_may_close_a_client_at_once(client, monkeypatch) -> None:
    device, closed = client.devices[0], []
    for stream in (device.h2d_stream, device.compute_stream, device.d2h_stream):

        def close(stream=stream, own=stream.close) -> None:
            time.sleep(0.05)
            own()
            closed.append(stream)

        monkeypatch.setattr(stream, "close", close)
    with ThreadPoolExecutor(3) as pool:
        for future in [pool.submit(client.close) for _ in range(3)]:
            future.result()
    assert closed == [device.h2d_stream, device.compute_stream, device.d2h_stream]


@pytest.mark.parametrize("what", ["compiler", "transfer_manager"])
def test_threads_share_one_compiler_and_one_transfer_manager(client, monkeypatch, what) -> None:
    platform = type(client.platform)()
    create = getattr(platform, f"create_{what}")
    made = []

    def create_slowly():
        made.append(create())
        time.sleep(0.05)
        return made[-1]

    monkeypatch.setattr(platform, f"create_{what}", create_slowly)
    with ThreadPoolExecutor(4) as pool:
        used = list(pool.map(lambda _: getattr(platform, what), range(4)))
    assert made == used[:1]
    assert all(one is made[0] for one in used)


@pytest.mark.parametrize("what", ["compiler", "transfer_manager"])
def test_a_compiler_or_transfer_manager_that_is_none_is_refused(client, monkeypatch, what) -> None:
    monkeypatch.setattr(type(client.platform), f"create_{what}", lambda self: None)
    with pytest.raises(FailedPreconditionError, match=rf"create_{what} must be a \w+, not None"):
        xla.Client("toy").compile(programs.negate())(A)
