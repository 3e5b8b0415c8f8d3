"""Buffers: transfers from and to the host, and deletion."""

from __future__ import annotations

import gc
import threading
import weakref

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from xla_core.errors import (
    FailedPreconditionError,
    InvalidArgumentError,
    ResourceExhaustedError,
    UnimplementedError,
)
from xla_core.hlo import ElementType, Layout, Shape
from xla_core.runtime import Buffer, Client


@pytest.mark.parametrize("kind", [t for t in ElementType if t.is_array])
def test_every_element_type_goes_to_the_device_and_back(client, kind: ElementType) -> None:
    raw = np.random.default_rng(0).integers(0, 2 if kind is ElementType.PRED else 4, (3, 5))
    array = raw.astype(kind.dtype)
    buffer = client.buffer_from_host(array)
    assert (buffer.shape.element_type, buffer.dimensions, buffer.dtype) == (kind, (3, 5), array.dtype)
    assert buffer.device is client.devices[0]
    back = np.asarray(buffer)
    assert back.dtype == array.dtype
    assert back.tobytes() == array.tobytes()


def test_odd_arrays(client) -> None:
    base = np.arange(24, dtype=np.float32).reshape(4, 6)
    for array in (
        base[::2, ::-1],
        base.T,
        base.astype(">f4"),
        base.astype(">i8")[:, 1],
        np.float32(3),
        np.zeros((0, 5), np.int8),
        np.broadcast_to(np.float64(2), (3, 3)),
        [[1, 2], [3, 4]],
        2.5,
        True,
        base[np.newaxis],
    ):
        want = np.asarray(array)
        buffer = client.buffer_from_host(array)
        assert np.array_equal(np.asarray(buffer), want)
        assert buffer.dtype == want.dtype.newbyteorder("=")


@settings(max_examples=50, deadline=None)
@given(hnp.arrays(np.int16, hnp.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=5)), st.data())
def test_any_strides_survive(array: np.ndarray, data) -> None:
    client = data.draw(st.just(_shared["client"]))
    order = data.draw(st.permutations(range(array.ndim)))
    view = array.transpose(order)[tuple(slice(None, None, data.draw(st.sampled_from([1, -1, 2]))) for _ in order)]
    assert np.array_equal(np.asarray(client.buffer_from_host(view)), view)


_shared: dict = {}


@pytest.fixture(autouse=True)
def _share(client):
    _shared["client"] = client


def test_what_is_no_array_is_an_error(client) -> None:
    for value in (np.array(["a"]), np.array([object()]), np.array(["2020-01-01"], "datetime64[D]"), [[1], [2, 3]], "x"):
        with pytest.raises(InvalidArgumentError):
            client.buffer_from_host(value)
    with pytest.raises(InvalidArgumentError, match="masked"):
        client.buffer_from_host(np.ma.masked_array([1, 2], [True, False]))
    assert np.asarray(client.buffer_from_host([1])).tolist() == [1]


def test_the_host_array_may_change_at_once(client) -> None:
    for size in (4, 1 << 18):
        array = np.ones(size, np.float32)
        buffer = client.buffer_from_host(array)
        array[:] = 7
        assert np.asarray(buffer)[[0, -1]].tolist() == [1, 1]


def test_results_are_read_only_views_that_keep_the_memory(client) -> None:
    buffer = client.buffer_from_host(np.arange(5, dtype=np.int32))
    view = np.asarray(buffer)
    assert not view.flags.writeable
    assert np.shares_memory(view, np.asarray(buffer))
    copy = np.array(buffer)
    assert not np.shares_memory(copy, view)
    assert np.asarray(buffer, dtype=np.float64).dtype == np.float64
    in_use = client.devices[0].memory_stats().bytes_in_use
    buffer.delete()
    assert client.devices[0].memory_stats().bytes_in_use == in_use
    assert view.tolist() == [0, 1, 2, 3, 4]
    del view
    gc.collect()
    assert client.devices[0].memory_stats().bytes_in_use == in_use - 256


def test_a_deleted_buffer(client) -> None:
    buffer = client.buffer_from_host(np.ones(3))
    buffer.delete()
    buffer.delete()
    assert buffer.is_deleted()
    assert "deleted" in repr(buffer)
    for use in (np.asarray, lambda b: b.block_until_ready(), lambda b: b.__dlpack__(), client.buffer_from_host):
        with pytest.raises(FailedPreconditionError, match="was deleted"):
            use(buffer)


def test_python_numbers_of_a_scalar(client) -> None:
    buffer = client.buffer_from_host(np.float32(2.5))
    assert (float(buffer), int(buffer), bool(buffer), buffer.item(), buffer.size, buffer.ndim) == (
        2.5,
        2,
        True,
        2.5,
        1,
        0,
    )
    with pytest.raises(TypeError):
        len(buffer)
    assert len(client.buffer_from_host(np.ones((3, 2)))) == 3


def test_copy_to_another_device(client) -> None:
    buffer = client.buffer_from_host(np.arange(3))
    other = buffer.copy_to_device(client.devices[1])
    assert other.device is client.devices[1]
    assert np.asarray(other).tolist() == [0, 1, 2]
    with Client("toy") as second:
        with pytest.raises(InvalidArgumentError, match="not a device of this client"):
            client.buffer_from_host(np.ones(2), device=second.devices[0])
        assert np.asarray(client.buffer_from_host(second.buffer_from_host(np.ones(2)))).tolist() == [1, 1]


# -- DLPack ----------------------------------------------------------------------------------------------------------


def test_dlpack_shares_memory(client) -> None:
    buffer = client.buffer_from_host(np.arange(6, dtype=np.float32).reshape(2, 3))
    assert buffer.__dlpack_device__() == (1, 0)
    view = np.from_dlpack(buffer)
    assert np.shares_memory(view, np.asarray(buffer))
    assert view.tolist() == [[0, 1, 2], [3, 4, 5]]
    assert not view.flags.writeable
    buffer.delete()
    del buffer
    gc.collect()
    assert view.tolist() == [[0, 1, 2], [3, 4, 5]]
    del view
    gc.collect()
    assert client.devices[0].memory_stats().bytes_in_use == 0


def test_a_capsule_that_nobody_takes_lets_go(client) -> None:
    for version in (None, (1, 0)):
        buffer = client.buffer_from_host(np.ones(3))
        capsule = buffer.__dlpack__(max_version=version)
        assert "dltensor" in repr(capsule)
        del buffer
        gc.collect()
        assert client.devices[0].memory_stats().bytes_in_use == 256
        del capsule
        gc.collect()
        assert client.devices[0].memory_stats().bytes_in_use == 0


def test_dlpack_copies_where_asked_and_refuses_small_types(client) -> None:
    buffer = client.buffer_from_host(np.arange(3))
    copy = np.from_dlpack(buffer, copy=True)
    assert not np.shares_memory(copy, np.asarray(buffer))
    with pytest.raises(UnimplementedError, match="less than a byte"):
        client.buffer_from_host(np.ones(3, ml_dtypes.int4)).__dlpack__()
    with pytest.raises(InvalidArgumentError, match="cannot be exported"):
        buffer.__dlpack__(dl_device=(2, 0))


def test_dlpack_with_torch_and_jax(client) -> None:
    buffer = client.buffer_from_host(np.arange(3, dtype=ml_dtypes.bfloat16))
    jax = pytest.importorskip("jax")
    array = jax.dlpack.from_dlpack(buffer)
    assert array.dtype == ml_dtypes.bfloat16
    assert array.tolist() == [0, 1, 2]
    assert np.asarray(client.buffer_from_host(array)).tolist() == [0, 1, 2]
    torch = pytest.importorskip("torch")
    tensor = torch.from_dlpack(buffer)
    assert tensor.dtype == torch.bfloat16
    assert np.asarray(client.buffer_from_host(torch.arange(3))).tolist() == [0, 1, 2]


def test_a_dlpack_object_without_array_protocol(client) -> None:
    class Tensor:
        def __init__(self, array):
            self.array = array

        def __dlpack__(self, **options):
            return self.array.__dlpack__(**options)

        def __dlpack_device__(self):
            return self.array.__dlpack_device__()

    assert np.asarray(client.buffer_from_host(Tensor(np.arange(4)))).tolist() == [0, 1, 2, 3]

    class OnGpu(Tensor):
        def __dlpack_device__(self):
            return (2, 0)

    with pytest.raises(InvalidArgumentError, match=r"DLPack device \(2, 0\)"):
        client.buffer_from_host(OnGpu(np.arange(4)))


# -- memory ----------------------------------------------------------------------------------------------------------


def test_memory_is_used_again_and_given_back(client) -> None:
    device = client.devices[0]
    for _ in range(50):
        client.buffer_from_host(np.ones(1000))
    assert device.memory_stats().allocations == 1
    assert device.memory_stats().bytes_in_use == 0
    assert device.memory_stats().bytes_pooled == 8192
    assert device.allocator.trim() == 8192
    assert device.executor.live == {}


def test_running_out_says_what_was_asked_and_who_holds_the_rest(client) -> None:
    device = client.devices[0]
    device.memory_limit = 1 << 20
    held = [client.buffer_from_host(np.ones((100, 100), np.float32)) for _ in range(20)]
    with pytest.raises(ResourceExhaustedError) as caught:
        client.buffer_from_host(np.ones(1 << 17))
    message = str(caught.value)
    for part in (
        "1.0 MiB (1048576 bytes)",
        "its limit is 1.0 MiB",
        "781.2 KiB by 20 live buffers",
        "f32[100,100]",
        "hint",
    ):
        assert part in message
    del held[:]
    assert np.asarray(client.buffer_from_host(np.ones(1 << 16)))[0] == 1
    device.memory_limit = None
    client.buffer_from_host(np.ones(1 << 17))
    with pytest.raises(InvalidArgumentError):
        device.memory_limit = -1


def test_running_out_of_the_device_itself(client, monkeypatch) -> None:
    monkeypatch.setattr(client.devices[0].executor, "system_bytes", 10_000)
    buffer = client.buffer_from_host(np.ones(1000, np.uint8))
    with pytest.raises(ResourceExhaustedError, match="has no more"):
        client.buffer_from_host(np.ones(10_000, np.uint8))
    assert np.asarray(buffer)[0] == 1


def test_pooled_memory_of_other_sizes_makes_room(client) -> None:
    client.devices[0].memory_limit = 1 << 20
    for size in range(1000, 200_000, 7000):
        client.buffer_from_host(np.ones(size, np.uint8))
    assert client.devices[0].memory_stats().bytes_reserved <= 1 << 20


def test_buffers_in_cycles_are_found_when_memory_runs_out(client) -> None:
    client.devices[0].memory_limit = 1 << 20

    class Node:
        pass

    node = Node()
    node.self, node.buffer = node, client.buffer_from_host(np.ones(1 << 16))
    alive = weakref.ref(node)
    del node
    client.buffer_from_host(np.ones(100_000))
    assert alive() is None


# -- life of the client ----------------------------------------------------------------------------------------------


def test_a_closed_client(client) -> None:
    buffer = client.buffer_from_host(np.ones(3))
    client.close()
    client.close()
    for use in (lambda: np.asarray(buffer), lambda: client.buffer_from_host(1), lambda: client.compile("")):
        with pytest.raises(FailedPreconditionError, match="closed"):
            use()


def test_buffers_from_many_threads(client) -> None:
    failures: list[object] = []

    def work(seed: int) -> None:
        rng = np.random.default_rng(seed)
        for _ in range(100):
            array = rng.normal(size=int(rng.integers(1, 3000)))
            if not np.array_equal(np.asarray(client.buffer_from_host(array)), array):
                failures.append(seed)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert client.devices[0].memory_stats().bytes_in_use == 0


def test_a_layout_on_the_device_comes_back_as_the_same_array(client) -> None:
    array = np.arange(6, dtype=np.float32).reshape(2, 3)
    shape = Shape(ElementType.F32, (2, 3), Layout((0, 1)))
    buffer = Buffer.from_host(array, client.devices[0], shape)
    assert buffer.shape.layout == Layout((0, 1))
    assert np.array_equal(np.asarray(buffer), array)
