"""Transfers of arrays to the device and back: types, shapes, strides and layouts. The caller's memory isn't aliased."""

from __future__ import annotations

import numpy as np
import pytest

from xla_conformance.ops.values import special
from xla_conformance.plugin import all_types, held_types, not_supported
from xla_core import Buffer, Client, CompileOptions, UnimplementedError, XlaError, parse
from xla_core.backend import DeviceMemory, Platform, Stream, StreamExecutor
from xla_core.hlo import ElementType, Layout, Shape
from xla_core.target import TargetConfig

SHAPES = [(), (1,), (7,), (0,), (3, 0, 2), (1, 1, 1), (5, 13), (2, 3, 4, 5)]


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "element_type" in metafunc.fixturenames:
        types = all_types()
        metafunc.parametrize("element_type", types, ids=str)


def same_bits(a: np.ndarray, b: np.ndarray) -> None:
    assert a.dtype == b.dtype
    assert a.shape == b.shape
    size = max(a.dtype.itemsize, 1)
    have, want = (np.frombuffer(np.ascontiguousarray(x).tobytes(), np.uint8).reshape(-1, size) for x in (a, b))
    if (bits := Shape.of(b).element_type.bit_width) < 8:  # the other bits of a byte have no meaning
        mask = np.uint8((1 << bits) - 1)
        have, want = have & mask, want & mask
    wrong = np.flatnonzero((have != want).any(axis=1))
    if wrong.size:
        at = np.unravel_index(wrong[0], a.shape)
        place = ",".join(map(str, at))
        raise AssertionError(f"{wrong.size} of {a.size} elements wrong: [{place}] is {a[at]!r}, not {b[at]!r}")


def test_every_element_type(
    backend: str, client: Client, element_type: ElementType, random: np.random.Generator
) -> None:
    if element_type not in held_types(backend):
        not_supported(f"the device holds no {element_type}")
    for shape in SHAPES:
        array = special(Shape(element_type, shape), random)
        buffer = client.buffer_from_host(array)
        assert buffer.shape.without_layout() == Shape(element_type, shape)
        same_bits(np.asarray(buffer), array)


def _layouts(array: np.ndarray) -> dict[str, np.ndarray]:
    wide = np.zeros((array.shape[0] * 2, array.shape[1] * 3), array.dtype)
    wide[::2, 1::3] = array
    backwards = np.ascontiguousarray(array[::-1, ::-1])
    read_only = array.copy()
    read_only.flags.writeable = False
    raw = np.zeros(array.nbytes + 1, np.uint8)
    odd = raw[1:].view(array.dtype).reshape(array.shape)
    odd[...] = array
    return {
        "row_major": array,
        "column_major": np.asfortranarray(array),
        "transposed": np.ascontiguousarray(array.T).T,
        "strided": wide[::2, 1::3],
        "backwards": backwards[::-1, ::-1],
        "read_only": read_only,
        "byte_swapped": array.astype(array.dtype.newbyteorder()),
        "unaligned": odd,
        "broadcast": np.broadcast_to(array[:1], array.shape),
    }


@pytest.mark.parametrize("name", list(_layouts(np.zeros((2, 2), np.float32))))
def test_strides_and_byte_orders(client: Client, name: str) -> None:
    array = _layouts(np.arange(35, dtype=np.float32).reshape(5, 7))[name]
    got = np.asarray(client.buffer_from_host(array))
    assert got.dtype.isnative
    np.testing.assert_array_equal(got, array)


@pytest.mark.parametrize("size", [1, 1000, 1 << 20], ids=["1", "1000", "4MiB"])
@pytest.mark.parametrize("contiguous", [True, False])
def test_the_callers_array_is_not_aliased(client: Client, size: int, contiguous: bool) -> None:
    array = np.arange(size * 2, dtype=np.float32)[:: 1 if contiguous else 2]
    kept = array.copy()
    buffer = client.buffer_from_host(array)
    array[...] = -1
    np.testing.assert_array_equal(np.asarray(buffer), kept)


def test_arguments_of_a_call_are_not_aliased(client: Client) -> None:
    executable = client.compile("HloModule m\nENTRY e {\n  ROOT x = f32[1000] parameter(0)\n}\n")
    array = np.arange(1000, dtype=np.float32)
    (result,) = executable(array)
    array[...] = -1
    np.testing.assert_array_equal(np.asarray(result), np.arange(1000))


def test_what_is_read_back_is_not_aliased(client: Client) -> None:
    buffer = client.buffer_from_host(np.arange(6, dtype=np.int32))
    got = np.array(buffer)
    got[...] = -1
    view = np.asarray(buffer)
    if view.flags.writeable:
        view[...] = -2
    np.testing.assert_array_equal(np.asarray(buffer), np.arange(6))


def test_a_host_array_outlives_its_buffer(client: Client) -> None:
    buffer = client.buffer_from_host(np.arange(1000, dtype=np.float32))
    got = np.asarray(buffer)
    del buffer
    others = [client.buffer_from_host(np.full(1000, i, np.float32)) for i in range(8)]
    np.testing.assert_array_equal(got, np.arange(1000))
    assert len(others) == 8


def _megabytes(client: Client, megabytes: int) -> None:
    array = np.arange(megabytes << 18, dtype=np.float32)
    same_bits(np.asarray(client.buffer_from_host(array)), array)


def test_large(client: Client) -> None:
    _megabytes(client, 32)


@pytest.mark.profile("full")
def test_larger(client: Client) -> None:
    _megabytes(client, 512)


def test_many_at_once(client: Client) -> None:
    arrays = [np.full((i % 17 + 1, i % 5), i, np.int32) for i in range(300)]
    buffers = [client.buffer_from_host(a) for a in arrays]
    for array, buffer in zip(arrays, buffers, strict=True):
        same_bits(np.asarray(buffer), array)


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 0, 1), (1, 2, 0)], ids=str)
def test_layouts_that_the_program_fixes(client: Client, order: tuple[int, ...]) -> None:
    layout = Layout(order)
    text = (
        f"HloModule m, entry_computation_layout={{(s32[2,3,5]{layout})->s32[2,3,5]{layout}}}\n\n"
        f"ENTRY e {{\n  x = s32[2,3,5]{layout} parameter(0)\n  ROOT r = s32[2,3,5]{layout} add(x, x)\n}}\n"
    )
    array = np.arange(30, dtype=np.int32).reshape(2, 3, 5)
    executable = client.compile(parse(text), CompileOptions(use_entry_layouts=True))
    assert executable.parameter_shapes[0].minor_to_major() == order
    assert executable.result_shapes[0].minor_to_major() == order
    np.testing.assert_array_equal(np.asarray(executable(array)[0]), array * 2)
    np.testing.assert_array_equal(np.asarray(executable.execute([client.buffer_from_host(array)])[0]), array * 2)


@pytest.mark.parametrize("order", [(1, 0), (0, 1)], ids=str)
def test_transfer_manager_keeps_layouts(
    platform: Platform, executor: StreamExecutor, stream: Stream, order: tuple[int, ...]
) -> None:
    manager = platform.transfer_manager
    shape = Shape(ElementType.F32, (5, 7), Layout(order))
    size = manager.byte_size(shape)
    assert size >= 5 * 7 * 4
    memory = executor.allocate(size)
    assert memory is not None
    try:
        array = np.arange(35, dtype=np.float32).reshape(5, 7)
        manager.transfer_to_device_async(stream, array, memory, shape)
        array += 100  # the array isn't immutable, so the caller may change it immediately
        data = manager.transfer_from_device_async(stream, memory, shape)
        stream.synchronize()
        assert stream.error is None
        np.testing.assert_array_equal(manager.from_device(data, shape), np.arange(35).reshape(5, 7))
    finally:
        executor.deallocate(memory)


def test_sizes_agree(client: Client, platform: Platform) -> None:
    for dimensions in SHAPES:
        shape = Shape(ElementType.F32, dimensions).with_default_layout()
        assert platform.compiler.shape_size_bytes(shape) == platform.transfer_manager.byte_size(shape)
        assert platform.transfer_manager.byte_size(shape) >= shape.byte_size


@pytest.mark.parametrize("value", ["text", object(), [1, [2]]], ids=["text", "object", "ragged"])
def test_what_is_no_array_is_refused(client: Client, value: object) -> None:
    with pytest.raises(XlaError):
        client.buffer_from_host(value)
    same_bits(np.asarray(client.buffer_from_host(np.arange(3))), np.arange(3))


def test_between_devices(client: Client) -> None:
    if len(client.devices) < 2:
        not_supported("there is one device")
    array = np.arange(12, dtype=np.float32).reshape(3, 4)
    there = client.buffer_from_host(array, client.devices[1])
    assert there.device is client.devices[1]
    same_bits(np.asarray(there.copy_to_device(client.devices[0])), array)


def test_dlpack_gives_the_same_values(client: Client) -> None:
    array = np.arange(12, dtype=np.float32).reshape(3, 4)
    buffer: Buffer = client.buffer_from_host(array)
    if buffer.__dlpack_device__()[0] != 1:
        not_supported("its memory is not the host's")
    np.testing.assert_array_equal(np.from_dlpack(buffer), array)


@pytest.mark.parametrize("size", [1, 3, 64, 4097])
def test_raw_copies(executor: StreamExecutor, stream: Stream, size: int) -> None:
    """Copies of the stream copy the given bytes and don't change the memory behind them."""
    first, second = executor.allocate(size + 8), executor.allocate(size + 8)
    assert isinstance(first, DeviceMemory)
    assert isinstance(second, DeviceMemory)
    source = np.random.default_rng(size).integers(0, 256, size).astype(np.uint8)
    stream.memset(first, 0xA5)
    stream.memset(second, 0x5A)
    stream.memcpy_h2d(first, source)
    stream.memcpy_d2d(second, first)
    back = np.zeros(size + 8, np.uint8)
    stream.memcpy_d2h(back, second)
    stream.synchronize()
    assert stream.error is None
    np.testing.assert_array_equal(back[:size], source)
    np.testing.assert_array_equal(back[size:], np.full(8, 0xA5))
    executor.deallocate(first)
    executor.deallocate(second)


NARROW = [t for t in ElementType if t.is_array and t.bit_width in (2, 4)]


@pytest.mark.parametrize("narrow", NARROW, ids=str)
def test_elements_of_two_and_four_bits_lie_as_the_target_says(
    backend: str, client: Client, target: TargetConfig, narrow: ElementType, random: np.random.Generator
) -> None:
    """The elements are packed if the target packs them, else they take a byte each. Results are the same."""
    if narrow not in held_types(backend):
        not_supported(f"the device holds no {narrow}")
    x = special(Shape(narrow, (3, 5)), random)
    buffer = client.buffer_from_host(x)
    packed = target.layouts.packed
    layout = buffer.shape.layout
    assert (layout is not None and layout.element_size_in_bits == narrow.bit_width) == packed
    assert buffer.byte_size == target.shape_size_bytes(buffer.shape)
    np.testing.assert_array_equal(np.asarray(buffer), x)
    text = f"""HloModule narrow

ENTRY main {{
  x = {narrow}[3,5] parameter(0)
  t = {narrow}[5,3] transpose(x), dimensions={{1,0}}
  s = {narrow}[2,3] slice(x), slice={{[1:3], [1:4]}}
  c = {narrow}[6,5] concatenate(x, x), dimensions={{0}}
  ROOT r = ({narrow}[5,3], {narrow}[2,3], {narrow}[6,5]) tuple(t, s, c)
}}
"""
    try:
        executable = client.compile(text)
    except UnimplementedError as error:
        not_supported(str(error))
    for got, want in zip(executable(buffer), (x.T, x[1:3, 1:4], np.concatenate([x, x])), strict=True):
        assert np.asarray(got).dtype == want.dtype
        np.testing.assert_array_equal(np.asarray(got), want)
