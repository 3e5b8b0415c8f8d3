"""Native code runs short programs, and gives its buffers to Python where something unusual happens."""

from __future__ import annotations

import ctypes
import os
import threading
import time
from collections.abc import Callable

import numpy as np
import pytest

from tests.fresh_process import in_fresh_process
from tests.xla_core.pjrt.host import Host, HostError
from xla_core import profiler
from xla_core.backend import NativeEntry
from xla_core.pjrt.buffer import pool_of
from xla_core.pjrt.client import PjrtDevice
from xla_core.pjrt.executable import PjrtLoadedExecutable
from xla_core.pjrt.handles import handle_at, live_handles, native_handles
from xla_core.pjrt.native import NativeCode
from xla_core.pjrt.native_execute import NativeProgram, is_suitable
from xla_core.runtime import HostStream

ADD = """
func.func public @main(%x: tensor<4xf32>, %y: tensor<4xf32>) -> (tensor<4xf32>, tensor<i32>) {
  %0 = stablehlo.add %x, %y : tensor<4xf32>
  %1 = stablehlo.constant dense<7> : tensor<i32>
  return %0, %1 : tensor<4xf32>, tensor<i32>
}
"""
DOUBLE = """
func.func public @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.add %x, %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}
"""
DONATE = DOUBLE.replace("%x: tensor<4xf32>)", "%x: tensor<4xf32> {tf.aliasing_output = 0 : i32})")
COUNT = """
func.func @main(%n: tensor<i32>) -> tensor<i32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %step = stablehlo.constant dense<STEP> : tensor<i32>
  %0 = stablehlo.while(%i = %zero) : tensor<i32> cond {
    %less = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %less : tensor<i1>
  } do {
    %next = stablehlo.add %i, %step : tensor<i32>
    stablehlo.return %next : tensor<i32>
  }
  return %0 : tensor<i32>
}
"""
X = np.arange(4, dtype=np.float32)


@pytest.fixture
def host() -> Host:
    return Host("cpu")


def destroy(host: Host, *buffers: int) -> None:
    for buffer in buffers:
        host.call("Buffer_Destroy", buffer=buffer)


def native_result(host: Host, program: int, argument: int) -> int:
    """Runs until a result comes from native code."""
    for _ in range(4):
        (result,) = host.execute(program, [argument], 1)
        if result in native_handles:
            return result
        destroy(host, result)
    raise AssertionError("no run was native")


def bytes_in_use(host: Host) -> int:
    return int(host.call("Device_MemoryStats", device=host.devices()[0]).bytes_in_use)


def view(host: Host, buffer: int) -> np.ndarray:
    """Makes an array over the buffer's memory, as hosts do with an external reference."""
    address = host.call("Buffer_OpaqueDeviceMemoryDataPointer", buffer=buffer).device_memory_ptr
    assert host.call("Buffer_UnsafePointer", buffer=buffer).buffer_pointer == address
    return np.frombuffer((ctypes.c_char * 16).from_address(address), np.float32)


def test_later_runs_are_native_and_right(host: Host) -> None:
    program = host.compile(ADD)
    x, y = host.upload(X), host.upload(X * 10)
    for number in range(5):
        total, seven = host.execute(program, [x, y], 2)
        assert (total in native_handles) == (number > 1)
        assert np.array_equal(view(host, total), X * 11)
        assert view(host, seven).view(np.int32)[0] == 7
        assert host.call("Event_IsReady", event=host.call("Buffer_ReadyEvent", buffer=total).event).is_ready
        sizes = host.call("Buffer_Dimensions", buffer=seven)
        assert sizes.num_dims == 0
        destroy(host, total, seven)


def test_a_program_of_many_results_is_native(host: Host) -> None:
    count, shape = 40, "tensor<100xi8>"
    body = "".join(f"  %{n} = stablehlo.constant dense<{n}> : {shape}\n" for n in range(count))
    values, types = ", ".join(f"%{n}" for n in range(count)), ", ".join([shape] * count)
    program = host.compile(f"func.func @main() -> ({types}) {{\n{body}  return {values} : {types}\n}}")
    for number in range(5):
        results = host.execute(program, [], count)
        assert [result in native_handles for result in results] == [number > 1] * count
        assert [int(host.download(result, np.int8)[-1]) for result in results] == list(range(count))
        destroy(host, *results)


@pytest.mark.parametrize(
    ("results", "microseconds", "is_native"), [(1, 200.0, True), (1, 300.0, False), (40, 300.0, True), (40, 1e3, False)]
)
def test_a_program_is_native_if_python_takes_longer_to_enqueue_it(
    results: int, microseconds: float, is_native: bool
) -> None:
    numbers = tuple(range(1, 1 + results))
    assert is_suitable(NativeEntry(1, (0,) * (1 + results), (), numbers, microseconds=microseconds)) == is_native


def test_results_are_arguments(host: Host) -> None:
    program, x = host.compile(DOUBLE), host.upload(X)
    values = [x]
    for _ in range(20):
        values.append(host.execute(program, [values[-1]], 1)[0])
    for power, value in enumerate(values):
        assert np.array_equal(view(host, value), X * 2.0**power)


def test_a_destroyed_result_is_used_again_and_is_no_buffer_until_then(host: Host) -> None:
    program, x = host.compile(DOUBLE), host.upload(X)
    first = native_result(host, program, x)
    before = live_handles()
    destroy(host, first)
    assert live_handles() == before - 1
    for name in ("Buffer_Destroy", "Buffer_Delete", "Buffer_IncreaseExternalReferenceCount", "Buffer_UnsafePointer"):
        with pytest.raises(HostError, match="no live Buffer"):
            host.call(name, buffer=first)
    with pytest.raises(HostError, match="no live Buffer"):
        host.execute(program, [first], 1)
    assert first in [host.execute(program, [x], 1)[0] for _ in range(8)]


def test_memory_figures_count_what_hosts_have(host: Host) -> None:
    program, x = host.compile(DOUBLE), host.upload(X)
    destroy(host, host.execute(program, [x], 1)[0])
    before = bytes_in_use(host)
    results = [host.execute(program, [x], 1)[0] for _ in range(500)]
    assert sum(result in native_handles for result in results) > 400
    assert bytes_in_use(host) == before + 500 * 256
    destroy(host, *results[::2])
    assert bytes_in_use(host) == before + 250 * 256
    destroy(host, *results[1::2])
    assert bytes_in_use(host) == before


def test_a_deleted_result_is_deleted(host: Host) -> None:
    program, x = host.compile(DOUBLE), host.upload(X)
    result = native_result(host, program, x)
    before = bytes_in_use(host)
    host.call("Buffer_Delete", buffer=result)
    assert host.call("Buffer_IsDeleted", buffer=result).is_deleted
    assert bytes_in_use(host) == before - 256
    with pytest.raises(HostError, match="deleted"):
        host.execute(program, [result], 1)
    destroy(host, result)


def test_memory_with_an_external_reference_keeps_its_value(host: Host) -> None:
    program, x = host.compile(DOUBLE), host.upload(X)
    results = [native_result(host, program, x), host.upload(X * 2)]
    arrays = []
    for result in results:
        host.call("Buffer_IncreaseExternalReferenceCount", buffer=result)
        arrays.append(view(host, result))
        host.call("Buffer_Delete", buffer=result)
    many = [host.execute(program, [host.upload(X * 3)], 1)[0] for _ in range(50)]
    for result, array in zip(results, arrays, strict=True):
        assert np.array_equal(array, X * 2)
        host.call("Buffer_DecreaseExternalReferenceCount", buffer=result)
    destroy(host, *many, *results)


def is_deleted(host: Host, buffer: int) -> bool:
    return bool(host.call("Buffer_IsDeleted", buffer=buffer).is_deleted)


def test_a_loop_that_donates_its_state_is_native(host: Host) -> None:
    donating, state = host.compile(DONATE), host.upload(X)
    for number in range(16):
        (following,) = host.execute(donating, [state], 1)
        assert following in native_handles or number <= 6
        assert is_deleted(host, state)
        assert not is_deleted(host, following)
        if number == 10:
            handles, memory = live_handles(), bytes_in_use(host)
        destroy(host, state)
        state = following
    assert np.array_equal(host.download(state, np.float32), X * 2.0**16)
    assert (live_handles() - 1, bytes_in_use(host)) == (handles - 2, memory - 256)


def test_a_donated_argument_is_of_no_further_use(host: Host) -> None:
    program, donating, x = host.compile(DOUBLE), host.compile(DONATE), host.upload(X)
    for given in (native_result(host, program, x), host.upload(X)):
        for _ in range(4):
            destroy(host, *host.execute(donating, [host.upload(X)], 1))
        (result,) = host.execute(donating, [given], 1)
        assert result in native_handles
        for use in (
            lambda: host.execute(program, [given], 1),  # noqa: B023
            lambda: host.execute(donating, [given], 1),  # noqa: B023
            lambda: host.download(given, np.float32),  # noqa: B023
        ):
            with pytest.raises(HostError, match="was donated to"):
                use()
        assert is_deleted(host, given)
        destroy(host, given, result)


def test_an_argument_is_not_donated_twice_in_one_call(host: Host) -> None:
    donating = host.compile(DONATE.replace("%x: ", "%y: tensor<4xf32>, %x: "))
    for _ in range(4):
        x = host.upload(X)
        with pytest.raises(HostError, match="argument 1 is passed more than once"):
            host.execute(donating, [x, x], 1)
        (result,) = host.execute(donating, [host.upload(X), x], 1)
        assert np.array_equal(host.download(result, np.float32), X * 2)


def test_threads_donate_one_buffer(host: Host) -> None:
    donating = host.compile(DONATE)
    for _ in range(4):
        destroy(host, *host.execute(donating, [host.upload(X)], 1))
    before = live_handles()
    for _ in range(50):
        x, results, failures = host.upload(X), list[int](), list[str]()
        start = threading.Barrier(4)

        def run() -> None:
            start.wait()  # noqa: B023
            try:
                results.extend(host.execute(donating, [x], 1))  # noqa: B023
            except HostError as error:
                failures.append(str(error))  # noqa: B023

        threads = [threading.Thread(target=run) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert results
        assert len(results) + len(failures) == 4
        assert all("donated" in failure for failure in failures)
        assert all(np.array_equal(view(host, result), X * 2) for result in results)
        assert is_deleted(host, x)
        destroy(host, x, *results)
    assert live_handles() == before


def test_a_large_donated_argument_lends_its_memory_to_the_result(host: Host) -> None:
    donating = host.compile(DONATE.replace("4xf32", "100000xf32"))
    for _ in range(4):
        x = host.upload(np.ones(100_000, np.float32))
        address = host.call("Buffer_UnsafePointer", buffer=x).buffer_pointer
        (result,) = host.execute(donating, [x], 1)
        assert host.call("Buffer_UnsafePointer", buffer=result).buffer_pointer == address


def test_a_native_result_is_donated(host: Host) -> None:
    program, donating, x = host.compile(DOUBLE), host.compile(DONATE), host.upload(X)
    given = native_result(host, program, x)
    (quadruple,) = host.execute(donating, [given], 1)
    assert host.call("Buffer_IsDeleted", buffer=given).is_deleted
    assert np.array_equal(host.download(quadruple, np.float32), X * 4)
    held = native_result(host, program, x)
    host.call("Buffer_IncreaseExternalReferenceCount", buffer=held)
    array = view(host, held)
    (quadruple,) = host.execute(donating, [held], 1)
    assert np.array_equal(array, X * 2)
    assert np.array_equal(host.download(quadruple, np.float32), X * 4)
    host.call("Buffer_DecreaseExternalReferenceCount", buffer=held)


def test_a_kept_argument_stays(host: Host) -> None:
    program, donating, x = host.compile(DOUBLE), host.compile(DONATE), host.upload(X)
    kept = native_result(host, program, x)
    (quadruple,) = host.execute(donating, [kept], 1, kept=(0,))
    assert np.array_equal(host.download(quadruple, np.float32), X * 4)
    assert np.array_equal(view(host, kept), X * 2)


def test_wrong_arguments_are_errors_as_before(host: Host) -> None:
    program, x = host.compile(DOUBLE), host.upload(X)
    native_result(host, program, x)
    with pytest.raises(HostError, match=r"must be f32\[4\]"):
        host.execute(program, [host.upload(np.zeros(5, np.float32))], 1)
    with pytest.raises(HostError, match="1"):
        host.execute(program, [x, x], 1)
    with pytest.raises(HostError, match="null"):
        host.execute(program, [0], 1)
    assert np.array_equal(view(host, native_result(host, program, x)), X * 2)


def test_a_deleted_program_does_not_run(host: Host) -> None:
    program, x = host.compile(DOUBLE), host.upload(X)
    native_result(host, program, x)
    host.call("LoadedExecutable_Delete", executable=program)
    with pytest.raises(HostError, match="deleted"):
        host.execute(program, [x], 1)


def test_a_failing_entry_makes_python_run_the_program(host: Host) -> None:
    program, x = host.compile(DOUBLE), host.upload(X)
    loaded = handle_at(program, PjrtLoadedExecutable)
    code = NativeCode("define i32 @fail(ptr %table) { ret i32 1 }")
    pool = pool_of(loaded.executable.result_shapes[0], loaded.devices[0].memories[0])
    entry = NativeEntry(code.address("fail"), (0, 0), (0,), (1,), microseconds=1.0)
    failing = NativeProgram(entry, loaded.devices[0].address, [pool], [pool])
    loaded.slots.set(native_program=failing.address)
    before = live_handles()
    for _ in range(5):
        (result,) = host.execute(program, [x], 1)
        assert result not in native_handles
        assert np.array_equal(host.download(result, np.float32), X * 2)
        destroy(host, result)
    assert live_handles() == before


def test_an_entry_that_fails_is_not_called_again_for_a_while(host: Host) -> None:
    program, x = host.compile(DOUBLE), host.upload(X)
    loaded = handle_at(program, PjrtLoadedExecutable)
    code = NativeCode("""
@calls = global i64 0
define ptr @place() { ret ptr @calls }
define i32 @fail(ptr %table) {
  %before = load i64, ptr @calls
  %after = add i64 %before, 1
  store i64 %after, ptr @calls
  ret i32 1
}""")
    calls = ctypes.c_int64.from_address(ctypes.CFUNCTYPE(ctypes.c_void_p)(code.address("place"))())
    pool = pool_of(loaded.executable.result_shapes[0], loaded.devices[0].memories[0])
    entry = NativeEntry(code.address("fail"), (0, 0), (0,), (1,), microseconds=1.0)
    failing = NativeProgram(entry, loaded.devices[0].address, [pool], [pool])
    loaded.slots.set(native_program=failing.address)
    for _ in range(200):
        destroy(host, *host.execute(program, [x], 1))
    assert 3 <= calls.value <= 4


def test_a_short_loop_of_unknown_length_is_native(host: Host) -> None:
    program = host.compile(COUNT.replace("STEP", "1"))

    def native_runs(wanted: int) -> int:
        argument, native = host.upload(np.int32(wanted)), 0
        for _ in range(100):
            (result,) = host.execute(program, [argument], 1)
            assert host.download(result, np.int32) == wanted
            native += result in native_handles
            destroy(host, result)
        return native

    def is_native(wanted: int) -> bool:
        """Whether runs are native where the machine does not interrupt them, which looks like a long loop."""
        return any(native_runs(wanted) > 20 for _ in range(20))

    assert is_native(3)
    assert native_runs(10**6) == 0
    assert is_native(3)


def test_a_program_is_native_although_its_runs_last_longer_than_its_calls(
    host: Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    def enqueue(stream: HostStream, work: Callable[[], None], *_: object) -> None:
        stream._push(lambda: time.sleep(0.01))
        stream._push(work)

    program, x = host.compile(DOUBLE), host.upload(X)
    monkeypatch.setattr(HostStream, "enqueue", enqueue)
    for number in range(5):
        (result,) = host.execute(program, [x], 1)
        assert result in native_handles or number < 4
        assert np.array_equal(host.download(result, np.float32), X + X)
        destroy(host, result)
        time.sleep(0.02)  # until the stream's thread has nothing to do


def test_an_endless_loop_does_not_block_native_code(host: Host) -> None:
    program, one = host.compile(COUNT.replace("STEP", "0")), host.upload(np.int32(1))
    zero = host.upload(np.int32(0))
    destroy(host, *(host.execute(program, [zero], 1)[0] for _ in range(5)))
    (result,) = host.execute(program, [one], 1)
    ready = host.call("Buffer_ReadyEvent", buffer=result).event
    assert not host.call("Event_IsReady", event=ready).is_ready
    host.call("LoadedExecutable_Delete", executable=program)
    with pytest.raises(HostError, match="cancelled"):
        host.call("Event_Await", event=ready)


def test_a_profile_has_every_run(host: Host) -> None:
    program, x = host.compile(DOUBLE), host.upload(X)
    native_result(host, program, x)
    with profiler.trace() as profile:
        for _ in range(3):
            host.execute(program, [x], 1)
    names = [event["name"] for event in profile.to_chrome_trace()["traceEvents"]]
    assert sum(name.startswith("execute ") for name in names) == 3
    native_result(host, program, x)


def test_the_limit_of_memory_holds_and_free_lists_are_given_up_for_it(host: Host) -> None:
    wide = "tensor<4096xf32>"
    program = host.compile(DOUBLE.replace("tensor<4xf32>", wide))
    x = host.upload(np.ones(4096, np.float32))
    results = [host.execute(program, [x], 1)[0] for _ in range(64)]
    destroy(host, *results)
    device = handle_at(host.devices()[0], PjrtDevice).device
    device.memory_limit = 16 * 17000
    big = host.upload(np.ones(50_000, np.float32))
    assert device.memory_stats().bytes_reserved <= 16 * 17000

    results = []

    def run_often() -> None:
        for _ in range(64):
            results.append(host.execute(program, [x], 1)[0])

    with pytest.raises(HostError, match=r" live buffers, .*f32\[4096\]"):
        run_often()
    assert any(result in native_handles for result in results)
    destroy(host, big)
    device.memory_limit = None


@pytest.mark.parametrize("dtype", [np.float32, np.int8, np.complex128, np.bool_])
@pytest.mark.parametrize("sizes", [(), (3,), (2, 3), (0, 3), (2, 1, 5)])
def test_small_arrays_are_copied_by_native_code(host: Host, dtype: type, sizes: tuple[int, ...]) -> None:
    random = np.random.default_rng(1)
    for number in range(4):
        array = np.asarray(random.integers(0, 100, sizes)).astype(dtype)
        value = array.copy()
        buffer = host.upload(array, host_buffer_semantics=number % 3)
        assert (buffer in native_handles) == (number > 1 and array.size > 0)
        array[...] = 1
        got = host.download(buffer, dtype)
        assert np.array_equal(got, value)
        destroy(host, buffer)


def test_arrays_of_other_strides_are_left_to_python(host: Host) -> None:
    array = np.arange(16, dtype=np.int32).reshape(4, 4)
    for _ in range(4):
        for view_of in (array, array.T, array[::-1], array[:, ::-1]):
            assert np.array_equal(host.download(host.upload(view_of), np.int32), view_of)


def test_each_client_has_its_own_buffers() -> None:
    for _ in range(3):
        host = Host("cpu")
        for _ in range(4):
            buffer = host.upload(X)
            assert host.call("Buffer_Device", buffer=buffer).device == host.devices()[0]
            assert np.array_equal(host.download(buffer, np.float32), X)
            destroy(host, buffer)
        host.call("Client_Destroy", client=host.client)


def test_an_upload_is_an_argument_of_a_native_run(host: Host) -> None:
    program = host.compile(DOUBLE)
    for number in range(6):
        x = host.upload(X + number)
        (result,) = host.execute(program, [x], 1)
        assert np.array_equal(host.download(result, np.float32), 2 * (X + number))
        destroy(host, x, result)
    assert not native_handles[x].is_live()


def test_a_call_with_many_uploads_of_one_shape_is_native(host: Host) -> None:
    """The arguments of a call and its results come from one pool, which must have enough for both."""
    count = 100
    names = range(count)
    types = ", ".join(["tensor<4xf32>"] * count)
    text = f"""
        func.func public @main({", ".join(f"%a{n}: tensor<4xf32>" for n in names)}) -> ({types}) {{
          {"".join(f"%r{n} = stablehlo.add %a{n}, %a{n} : tensor<4xf32>; ".replace("; ", chr(10)) for n in names)}
          return {", ".join(f"%r{n}" for n in names)} : {types}
        }}"""
    program = host.compile(text)
    for _ in range(6):
        arguments = [host.upload(X + n) for n in names]
        results = host.execute(program, arguments, count)
        are_native = [buffer in native_handles for buffer in (*arguments, *results)]
        assert np.array_equal(host.download(results[7], X.dtype), 2 * (X + 7))
        destroy(host, *arguments, *results)
    assert all(are_native)


def test_a_small_destination_is_an_error(host: Host) -> None:
    for _ in range(3):
        buffer = host.upload(X)
        data = np.empty(2, np.float32)
        with pytest.raises(HostError, match="needs 16 bytes"):
            host.call("Buffer_ToHostBuffer", src=buffer, dst=data.ctypes.data, dst_size=data.nbytes)
        assert host.call("Buffer_ToHostBuffer", src=buffer, dst=None).dst_size == 16


def test_threads_run_one_program_at_once(host: Host) -> None:
    program = host.compile(ADD)
    failures: list[object] = []

    def run(number: int) -> None:
        try:
            x = host.upload(X + number)
            for _ in range(300):
                total, seven = host.execute(program, [x, x], 2)
                if not np.array_equal(view(host, total), 2 * (X + number)):
                    failures.append(number)
                destroy(host, total, seven)
        except Exception as error:
            failures.append(error)

    threads = [threading.Thread(target=run, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert failures == []


def test_a_buffer_is_deleted_while_threads_read_it(host: Host) -> None:
    """A run either has the value, or the error of a deleted buffer."""
    program = host.compile(DOUBLE)
    outcomes: list[object] = []
    for _ in range(50):
        x = host.upload(X)
        start = threading.Barrier(3)

        def run(x: int = x, start: threading.Barrier = start) -> None:
            start.wait(30)
            for _ in range(10):
                try:
                    (result,) = host.execute(program, [x], 1)
                except HostError as error:
                    outcomes.append("deleted" in str(error))
                    return
                outcomes.append(np.array_equal(view(host, result), X * 2))
                destroy(host, result)

        threads = [threading.Thread(target=run) for _ in range(2)]
        for thread in threads:
            thread.start()
        start.wait(30)
        host.call("Buffer_Delete", buffer=x)
        host.upload(X * 100)
        for thread in threads:
            thread.join(60)
    assert all(outcomes)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
@in_fresh_process
def test_a_forked_child_says_that_devices_stay_in_the_parent() -> None:
    host = Host("cpu")
    program, x = host.compile(DOUBLE), host.upload(X)
    native_result(host, program, x)
    child = os.fork()
    if not child:
        try:
            host.execute(program, [x], 1)
            os._exit(1)
        except HostError as error:
            os._exit(0 if "fork" in str(error) else 2)
    assert os.waitpid(child, 0)[1] == 0
    assert np.array_equal(view(host, native_result(host, program, x)), X * 2)


def test_a_destroy_during_an_exception_is_native_too(host: Host) -> None:
    set_string = ctypes.cast(ctypes.pythonapi.PyErr_SetString, ctypes.c_void_p).value
    code = NativeCode(f"""
@text = constant [11 x i8] c"on its way\\00"
define ptr @fail_and_destroy(ptr %destroy, ptr %args) {{
  call void inttoptr (i64 {set_string} to ptr)(ptr inttoptr (i64 {id(ValueError)} to ptr), ptr @text)
  %error = call ptr %destroy(ptr %args)
  ret ptr %error
}}""")
    program, x = host.compile(DOUBLE), host.upload(X)
    result = native_result(host, program, x)
    args = (ctypes.c_uint64 * 3)(24, 0, result)
    pointer = ctypes.c_void_p
    fail_and_destroy = ctypes.PYFUNCTYPE(pointer, pointer, pointer)(code.address("fail_and_destroy"))
    with pytest.raises(ValueError, match="on its way"):
        fail_and_destroy(host.api.Buffer_Destroy, ctypes.addressof(args))
    assert not native_handles[result].is_live()
