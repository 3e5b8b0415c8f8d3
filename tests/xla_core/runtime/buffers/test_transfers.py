"""Copies that don't block, foreign memory, memory spaces, error buffers, and non-donatable arguments."""

from __future__ import annotations

import gc
import threading
import time
import weakref
from collections.abc import Iterator

import ml_dtypes
import numpy as np
import pytest

import xla_core
from xla_core.backend import DeviceFeatures
from xla_core.errors import CancelledError, FailedPreconditionError, InternalError, InvalidArgumentError
from xla_core.hlo import ElementType, Layout, Shape
from xla_core.runtime import Buffer, HostEvent

STEP = """HloModule step, input_output_alias={{}: (0, {}, may-alias)}

ENTRY e {
  state = f32[64] parameter(0)
  x = f32[64] parameter(1)
  ROOT r = f32[64] add(state, x)
}
"""
A = np.arange(64, dtype=np.float32)


@pytest.fixture(scope="module", params=["cpu", "template"])
def on(request: pytest.FixtureRequest) -> Iterator[xla_core.Client]:
    pytest.importorskip(f"xla_backend_{request.param}")
    patch = pytest.MonkeyPatch()
    patch.setenv("XLA_FLAGS", "--xla_force_host_platform_device_count=2")
    with patch.context(), xla_core.Client(request.param) as made:
        yield made
    patch.undo()


@pytest.fixture
def gate(on: xla_core.Client) -> Iterator[threading.Event]:
    """Holds the compute stream of the first device until it is set."""
    gate = threading.Event()
    on.devices[0].compute_stream.host_callback(lambda: gate.wait(20))
    yield gate
    gate.set()
    on.synchronize()


def aligned(size: int) -> np.ndarray:
    """Of float32, at an address that any target takes."""
    raw = np.empty(size * 4 + 128, np.uint8)
    start = -raw.__array_interface__["data"][0] % 128
    return raw[start : start + size * 4].view(np.float32)


def test_copies_to_the_host_arrive_in_the_callers_memory(on: xla_core.Client) -> None:
    buffer = on.buffer_from_host(A.reshape(8, 8))
    out = np.zeros((8, 8), np.float32)
    event = buffer.copy_to_host(out)
    assert event.synchronize(20)
    assert event.error is None
    assert np.array_equal(out, A.reshape(8, 8))
    transposed = np.zeros((8, 8), np.float32, order="F")
    buffer.copy_to_host(transposed).synchronize()
    assert np.array_equal(transposed, A.reshape(8, 8))
    for wrong in (np.zeros((8, 8)), np.zeros(64, np.float32), None):
        with pytest.raises(InvalidArgumentError, match="destination must be"):
            buffer.copy_to_host(wrong)


def test_copies_of_other_layouts_arrive_right(on: xla_core.Client) -> None:
    shape = Shape(ElementType.F32, (4, 16), Layout((0, 1)))
    buffer = Buffer.from_host(A.reshape(4, 16), on.devices[0], shape)
    out = np.zeros((4, 16), np.float32)
    buffer.copy_to_host(out).synchronize()
    assert np.array_equal(out, A.reshape(4, 16))
    small = np.arange(16, dtype=np.int8).astype(ml_dtypes.int4)
    out4 = np.zeros(16, ml_dtypes.int4)
    on.buffer_from_host(small).copy_to_host(out4).synchronize()
    assert np.array_equal(out4, small)


def test_raw_copies_take_bytes_at_an_offset(on: xla_core.Client) -> None:
    buffer = on.buffer_from_host(A)
    out = np.zeros(12, np.uint8)
    event = buffer.copy_raw_to_host(out, 8)
    event.synchronize()
    assert out.view(np.float32).tolist() == [2, 3, 4]
    for wrong in (-1, 256 - 11):
        with pytest.raises(InvalidArgumentError, match="not within the 256"):
            buffer.copy_raw_to_host(out, wrong)
    for array, said in [
        (out[::-1], "contiguous numpy array of uint8"),
        (out[::2], "contiguous numpy array of uint8"),
        (np.frombuffer(b"twelve bytes", np.uint8), "destination is a read-only array"),
    ]:
        with pytest.raises(InvalidArgumentError, match=said):
            buffer.copy_raw_to_host(array, 0)
    with pytest.raises(InvalidArgumentError, match="contiguous numpy array of uint8"):
        on.buffer_writer(Shape(ElementType.F32, (64,)), 1).write(out[::2], 0)


def test_a_buffer_is_written_in_parts(on: xla_core.Client) -> None:
    writer = on.buffer_writer(Shape(ElementType.F32, (64,)), 1)
    data = A.view(np.uint8).copy()
    for offset in (128, 0):
        part = data[offset : offset + 128].copy()
        writer.write(part, offset)
        part[:] = 0
    for wrong in (-1, 256 - 127):
        with pytest.raises(InvalidArgumentError, match="not within the 256"):
            writer.write(data[:128], wrong)
    with pytest.raises(InvalidArgumentError, match="source must be"):
        writer.write(A)
    buffer = writer.finish()
    assert buffer.device is on.devices[1]
    assert np.array_equal(np.asarray(buffer), A)
    for call in (writer.finish, lambda: writer.write(data)):
        with pytest.raises(FailedPreconditionError, match="finished"):
            call()


def test_a_buffer_may_be_used_before_it_is_written(on: xla_core.Client) -> None:
    writer = on.buffer_writer(Shape(ElementType.F32, (64,)))
    buffer, data = writer.buffer, A.view(np.uint8)
    copy = buffer.copy_to_device(1)
    (twice,) = on.compile(STEP.replace(", input_output_alias={{}: (0, {}, may-alias)}", ""))(buffer, buffer)
    writer.write(data[:128])
    assert not buffer.is_ready()
    writer.write(data[128:], 128)
    assert writer.finish() is buffer
    for array, expected in ((buffer, A), (copy, A), (twice, A + A)):
        assert np.array_equal(np.asarray(array), expected)


def test_a_buffer_whose_writer_is_dropped_has_an_error(on: xla_core.Client) -> None:
    buffer = on.buffer_writer(Shape(ElementType.F32, (64,))).buffer
    with pytest.raises(CancelledError, match="dropped before `finish`"):
        np.asarray(buffer)


def test_a_buffer_that_could_not_be_written_has_the_error(on: xla_core.Client) -> None:
    for is_early in (True, False):
        writer = on.buffer_writer(Shape(ElementType.F32, (64,)))
        copy = writer.buffer.copy_to_device(1) if is_early else None
        writer.write(A.view(np.uint8)[:128])
        for array in (writer.finish(InvalidArgumentError("the file is damaged")), copy):
            if array is not None:
                with pytest.raises(InvalidArgumentError, match="the file is damaged"):
                    np.asarray(array)


def test_copies_to_another_device_wait_behind_the_callers_back(on: xla_core.Client, gate: threading.Event) -> None:
    exe = on.compile(STEP)
    (out,) = exe(A, A)
    copy = out.copy_to_device(1)
    assert copy.device is on.devices[1]
    assert not copy.is_ready()
    out.delete()  # its memory stays until it is copied
    gate.set()
    assert np.array_equal(np.asarray(copy), A + A)


def test_copies_to_another_client_arrive(on: xla_core.Client) -> None:
    buffer = on.buffer_from_host(A)
    for name in ("cpu", "template"):
        pytest.importorskip(f"xla_backend_{name}")
        with xla_core.Client(name) as other:
            assert np.array_equal(np.asarray(buffer.copy_to_device(other.devices[0])), A)


def test_the_failure_of_a_value_is_its_copys(on: xla_core.Client) -> None:
    bad = on.error_buffer(InternalError("upstream"), Shape(ElementType.F32, (64,)))
    for buffer in (bad, bad.copy_to_device(1)):
        with pytest.raises(InternalError, match="upstream"):
            np.asarray(buffer)
        event = buffer.copy_to_host(np.empty(64, np.float32))
        event.synchronize()
        assert "upstream" in str(event.error)
    (out,) = on.compile(STEP).execute([on.buffer_from_host(A), bad])
    with pytest.raises(InternalError, match="upstream"):
        out.block_until_ready()
    assert np.array_equal(np.asarray(on.compile(STEP)(A, A)[0]), A + A)


def test_a_refused_run_leaves_no_failure_for_the_next_one(on: xla_core.Client) -> None:
    bad = on.error_buffer(InternalError("upstream"), Shape(ElementType.F32, (64,)))
    deleted = on.buffer_from_host(A)
    deleted.delete()
    exe = on.compile(STEP)
    for other, error in ((on.buffer_from_host(A[:3]), InvalidArgumentError), (deleted, FailedPreconditionError)):
        with pytest.raises(error):
            exe.execute([bad, other])
        assert np.array_equal(np.asarray(on.buffer_from_host(A)), A)
        assert np.array_equal(np.asarray(exe(A, A)[0]), A + A)


def test_copies_in_both_directions_at_once_end(on: xla_core.Client) -> None:
    buffers = [on.buffer_from_host(A, device=device) for device in on.devices[:2]]

    def copy_often(index: int) -> None:
        for _ in range(300):
            buffers[index].copy_to_device(1 - index)

    threads = [threading.Thread(target=copy_often, args=(index,), daemon=True) for index in (0, 1)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
        assert not thread.is_alive()


def test_callbacks_come_off_the_devices_thread(on: xla_core.Client, gate: threading.Event) -> None:
    (out,) = on.compile(STEP)(A, A)
    called: list[object] = []
    done = threading.Event()

    def callback(error: object) -> None:
        called.append(error)
        np.asarray(on.compile(STEP)(A, A)[0])  # may use the device
        done.set()

    out.when_ready(callback)
    assert not called
    gate.set()
    assert done.wait(20)
    assert called == [None]
    out.block_until_ready().when_ready(called.append)  # at once where it is there
    assert called == [None, None]


def test_immutable_arrays_are_used_without_a_copy_where_the_device_can(on: xla_core.Client) -> None:
    array = aligned(64)
    array[:] = A
    buffer = on.buffer_from_host(array, immutable=True)
    shared = on.devices[0].executor.features.host_addressable
    assert np.shares_memory(np.asarray(buffer), array) == shared
    exe = on.compile(STEP)
    (out,) = exe.execute([buffer, buffer], non_donatable=[0])
    (donated,) = exe(buffer, A)
    assert buffer.is_deleted()
    assert np.array_equal(np.asarray(out), 2 * A)
    assert np.array_equal(np.asarray(donated), 2 * A)
    assert np.array_equal(array, A)  # what is donated of another's memory is a copy
    odd = aligned(65)[1:]
    odd[:] = A
    assert not np.shares_memory(np.asarray(on.buffer_from_host(odd, immutable=True)), odd)


def test_memory_of_others_is_kept_until_its_last_use(on: xla_core.Client, gate: threading.Event) -> None:
    array = aligned(64)
    array[:] = A
    owner = array.base if isinstance(array.base, np.ndarray) else array
    alive = weakref.ref(owner)
    buffer = on.buffer_from_host(array, immutable=True)
    (out,) = on.compile(STEP)(A, buffer)
    del buffer, array, owner
    gc.collect()
    if on.devices[0].executor.features.host_addressable:
        assert alive() is not None  # a program that is under way reads it
    gate.set()
    assert np.array_equal(np.asarray(out), 2 * A)
    deadline = time.monotonic() + 10
    while alive() is not None:  # a thread may hold what it has just used for a moment
        assert time.monotonic() < deadline
        on.devices[0].memory_stats()
        gc.collect()


@pytest.mark.parametrize("dtype", [np.float32, ml_dtypes.bfloat16, np.int8, np.complex64, np.bool_])
def test_dlpack_comes_in_without_a_copy(on: xla_core.Client, dtype: type) -> None:
    pytest.importorskip("xla_backend_cpu")
    with xla_core.Client("cpu") as other:
        theirs = other.buffer_from_host((A % 2).reshape(8, 8).astype(dtype))
        if not on.devices[0].executor.features.host_addressable:
            with pytest.raises(InvalidArgumentError, match="can't use the memory"):
                on.buffer_from_dlpack(theirs)
            return
        buffer = on.buffer_from_dlpack(theirs)
        address = np.asarray(theirs).__array_interface__["data"][0]
        del theirs
        gc.collect()
        result = np.asarray(buffer)
        assert result.__array_interface__["data"][0] == address
        assert result.dtype == dtype
        assert np.array_equal(result, (A % 2).reshape(8, 8).astype(dtype))
        del buffer, result


def test_dlpack_that_cannot_be_shared_says_why(on: xla_core.Client) -> None:
    with pytest.raises(InvalidArgumentError, match="no __dlpack__"):
        on.buffer_from_dlpack([1.0])
    if on.devices[0].executor.features.host_addressable:
        with pytest.raises(InvalidArgumentError, match="strides"):
            on.buffer_from_dlpack(aligned(64).reshape(8, 8).T)
        alignment = on.platform.compiler.target_config.alignment.allocation
        with pytest.raises(InvalidArgumentError, match=f"is not a multiple of {alignment}") as caught:
            on.buffer_from_dlpack(aligned(64)[1:])
        assert "buffer_from_host" in str(caught.value.hint)
    read_only = aligned(64)
    read_only.flags.writeable = False
    for array in (read_only, np.array(["a"])):
        with pytest.raises(InvalidArgumentError, match="gives no DLPack tensor") as caught:
            on.buffer_from_dlpack(array)
        assert "buffer_from_host" in str(caught.value.hint)


def test_arguments_may_be_kept_by_a_call(on: xla_core.Client) -> None:
    exe = on.compile(STEP)
    state, x = on.buffer_from_host(A), on.buffer_from_host(A)
    (first,) = exe.execute([state, x], non_donatable=(0,))
    (second,) = exe.execute([state, x])
    assert state.is_deleted()
    assert np.array_equal(np.asarray(first), np.asarray(second))
    both = on.buffer_from_host(A)
    assert np.array_equal(np.asarray(exe.execute([both, both], non_donatable=(0,))[0]), 2 * A)


def test_a_buffer_says_its_memory_space(on: xla_core.Client) -> None:
    assert on.buffer_from_host(A).memory_space == 0
    with pytest.raises(InvalidArgumentError, match="no memory space 7"):
        on.buffer_from_host(A, memory_space=7)
    deleted = on.buffer_from_host(A)
    deleted.delete()
    with pytest.raises(FailedPreconditionError):
        _ = deleted.memory_space


def test_fingerprints_tell_programs_apart(on: xla_core.Client) -> None:
    one, same, other = on.compile(STEP), on.compile(STEP), on.compile(STEP.replace("add(", "multiply("))
    assert one.fingerprint() == same.fingerprint() != other.fingerprint()
    assert on.deserialize(one.serialize()).fingerprint() == one.fingerprint()


def test_a_copy_waits_for_its_source_on_the_stream(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without `callbacks_may_enqueue` a host callback may not wait for events, as CUDA's may not."""
    pytest.importorskip("xla_backend_template")
    waits: list[int] = []
    synchronize = HostEvent.synchronize

    def recorded(self: HostEvent, timeout: float | None = None) -> bool:
        waits.append(threading.get_ident())
        return synchronize(self, timeout)

    with xla_core.Client("template") as client:
        for device in client.devices:
            monkeypatch.setattr(device.executor, "features", DeviceFeatures(), raising=False)
        monkeypatch.setattr(HostEvent, "synchronize", recorded)
        gate = threading.Event()
        client.devices[0].d2h_stream.host_callback(lambda: gate.wait(20))
        copy = client.buffer_from_host(A, client.devices[0]).copy_to_device(1)
        bad = client.error_buffer(InternalError("upstream"), Shape.of(A), 0).copy_to_device(1)
        gate.set()
        assert np.array_equal(np.asarray(copy), A)
        with pytest.raises(InternalError, match="upstream"):
            bad.block_until_ready()
        client.synchronize()
    assert set(waits) <= {threading.get_ident()}
