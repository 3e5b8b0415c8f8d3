"""Transfers of arrays to the device and back: every type, size, stride, offset and byte order, bit by bit."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from xla_conformance.claims import all_types, held_types, not_supported, require_devices
from xla_conformance.device.arrays import random_bits, random_dimensions, random_view, require_same_bits
from xla_conformance.device.gates import Gate
from xla_conformance.device.memories import LEAST_MEMORY, require_memory
from xla_conformance.device.patterns import LARGE_SIZES, PAGES_AND_MORE, SIZES
from xla_conformance.failures import Failure
from xla_core import Buffer, Client, XlaError
from xla_core.backend import Platform
from xla_core.hlo import ElementType, Shape

SENTENCE = "An array has the same bits when it comes back from the device."


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "element_type" in metafunc.fixturenames:
        types = all_types()
        metafunc.parametrize("element_type", types, ids=str)


def _round_trip(client: Client, array: np.ndarray) -> None:
    """Sends an array to the first or to the second device, by its size, and back."""
    buffer = client.buffer_from_host(array, client.devices[array.size // 3 % min(len(client.devices), 2)])
    shape = Shape.of(array)
    if buffer.shape.without_layout() != shape:
        raise Failure(f"A buffer of an array {shape} has the shape {buffer.shape}.", promise="transfer-manager.layouts")
    require_same_bits(SENTENCE, np.asarray(buffer), array, promise="transfer-manager.layouts")


@pytest.mark.promise(
    "transfer-manager.layouts", "transfer-manager.to-device", "transfer-manager.from-device", "stream.h2d"
)
def test_every_element_type(
    backend: str, client: Client, element_type: ElementType, random: np.random.Generator
) -> None:
    """Arrays of random bits, NaN of all payloads among them, of all sizes and ranks."""
    if element_type not in held_types(backend):
        not_supported(f"the device holds no {element_type}")
    small = [n for n in SIZES if n < 5000]
    large = random.permutation([n for n in SIZES if n >= 5000])[:8].tolist()
    for size in (0, *small, *large):
        _round_trip(client, random_bits(element_type, (size,), random))
    for rank in (0, 2, 2, 3, 3, 4, 5, 6):
        _round_trip(client, random_bits(element_type, random_dimensions(rank, random), random))
    for dimensions in ((3, 0, 2), (0, 0), (1, 1, 1)):
        _round_trip(client, random_bits(element_type, dimensions, random))


@pytest.mark.promise("transfer-manager.layouts", "transfer-manager.to-device", "transfer-manager.from-device")
@pytest.mark.profile("full")
def test_every_element_type_in_every_size(
    backend: str, client: Client, element_type: ElementType, random: np.random.Generator
) -> None:
    if element_type not in held_types(backend):
        not_supported(f"the device holds no {element_type}")
    for size in (*SIZES, *LARGE_SIZES):
        _round_trip(client, random_bits(element_type, (size,), random))
    for rank in (*range(7), *range(2, 7), *range(2, 7)):
        _round_trip(client, random_bits(element_type, random_dimensions(rank, random, 1 << 18), random))


@pytest.mark.promise("stream.h2d", "stream.d2h", "stream.upload")
@pytest.mark.parametrize("size", LARGE_SIZES)
def test_large_arrays_of_odd_sizes(backend: str, client: Client, size: int, random: np.random.Generator) -> None:
    for element in _of_each_width(backend, random)[:3]:
        _round_trip(client, random_bits(element, (size // max(element.bit_width // 8, 1),), random))


@pytest.mark.promise("stream.h2d", "stream.d2h")
@pytest.mark.profile("full")
@pytest.mark.parametrize("size", [(64 << 20) + 1, (256 << 20) - 5, (512 << 20) + 7])
def test_very_large_arrays(backend: str, client: Client, random: np.random.Generator, size: int) -> None:
    require_memory(client.devices[0].executor, size + LEAST_MEMORY)
    (element, *_) = _of_each_width(backend, random)
    _round_trip(client, random_bits(element, (size // max(element.bit_width // 8, 1),), random))


def _of_each_width(backend: str, random: np.random.Generator) -> list[ElementType]:
    """One type of each width that the device holds, in random order."""
    widths: dict[int, list[ElementType]] = {}
    for element in held_types(backend):
        widths.setdefault(element.bit_width, []).append(element)
    chosen = [types[int(random.integers(len(types)))] for types in widths.values()]
    return [chosen[i] for i in random.permutation(len(chosen))]


# -- strides, offsets, byte orders ------------------------------------------------------------------------------------


@pytest.mark.promise("transfer-manager.transfer-to-device", "transfer-manager.caller-may-change-array")
@pytest.mark.parametrize("size", ["small", "large"])
def test_views_of_arrays(backend: str, client: Client, random: np.random.Generator, size: str) -> None:
    """Strided, reversed, transposed, broadcast, byte-swapped, read-only and unaligned views.

    The array below the view is changed as soon as the buffer is made.
    """
    elements = [t for t in held_types(backend) if t.bit_width >= 8]
    for _ in range(120 if size == "small" else 16):
        element = elements[int(random.integers(len(elements)))]
        elements_at_most = 3000 if size == "small" else 300_000
        base, view = random_view(element, random, elements_at_most)
        wanted = np.array(view.astype(view.dtype.newbyteorder("=")))
        buffer = client.buffer_from_host(view)
        base.flags.writeable = True
        base.view(np.uint8)[...] = 0xEE
        got = np.asarray(buffer)
        if not got.dtype.isnative:
            raise Failure(
                "An array that comes back from the device has the native byte order.",
                promise="transfer-manager.from-device",
            )
        require_same_bits(
            f"{SENTENCE} The caller may change the array at once.",
            got,
            wanted,
            promise="transfer-manager.caller-may-change-array",
        )


@pytest.mark.promise("transfer-manager.transfer-to-device", "transfer-manager.to-device")
@pytest.mark.parametrize("rank", [1, 2, 3, 4])
def test_dimensions_in_every_order(backend: str, client: Client, random: np.random.Generator, rank: int) -> None:
    """All sizes are equal, so that a wrong order has the right shape. One dimension is reversed, or none."""
    elements = itertools.cycle(_of_each_width(backend, random))
    for size in (2, 7, 16):
        for order in itertools.permutations(range(rank)):
            for backwards in (None, *range(rank)):
                array = random_bits(next(elements), (size,) * rank, random).transpose(order)
                _round_trip(client, array if backwards is None else np.flip(array, backwards))


@pytest.mark.promise("transfer-manager.caller-may-change-array", "stream.upload")
@pytest.mark.parametrize("contiguous", [True, False], ids=["contiguous", "strided"])
@pytest.mark.parametrize("size", [1, 255, 4097, 65537, (3 << 18) + 1])
def test_the_callers_array_is_not_aliased(client: Client, size: int, contiguous: bool) -> None:
    """Also while the stream that copies is busy."""
    for held in (False, True):
        gate = Gate()
        if held:
            gate.hold(client.devices[0].h2d_stream)
        array = np.arange(size * 2, dtype=np.float32)[:: 1 if contiguous else 2]
        kept = array.copy()
        buffer = client.buffer_from_host(array)
        array[...] = -1
        gate.require_closed("an upload", "stream.upload")
        gate.open()
        require_same_bits(
            "The caller may change an array once the transfer is enqueued.",
            np.asarray(buffer),
            kept,
            promise="transfer-manager.caller-may-change-array",
        )


@pytest.mark.promise("executable.arguments-kept", "stream.upload")
def test_arguments_of_a_call_are_not_aliased(client: Client) -> None:
    executable = client.compile("HloModule m\nENTRY e {\n  ROOT x = f32[1000] parameter(0)\n}\n")
    array = np.arange(1000, dtype=np.float32)
    (result,) = executable(array)
    array[...] = -1
    require_same_bits(
        "The caller may change an argument after the call.",
        np.asarray(result),
        np.arange(1000.0).astype("f"),
        promise="stream.upload",
    )


@pytest.mark.promise("stream.d2h", "transfer-manager.from-device", "transfer-manager.transfer-from-device")
@pytest.mark.parametrize("count", [16, 5000], ids=["small", "large"])
def test_what_was_read_stays(client: Client, count: int) -> None:
    """Hundreds of arrays are read before the first is looked at: no later read may take an earlier one's place."""
    wanted = [np.arange(count, dtype=np.int32) + count * number for number in range(300)]
    buffers = [client.buffer_from_host(array) for array in wanted]
    got = [np.asarray(buffer) for buffer in buffers]
    require_same_bits(
        "What was read from the device stays.", np.stack(got), np.stack(wanted), promise="transfer-manager.from-device"
    )


@pytest.mark.promise("stream.d2h", "transfer-manager.from-device")
def test_what_is_read_back_is_not_aliased(client: Client) -> None:
    wanted = np.arange(6, dtype=np.float32)
    buffer = client.buffer_from_host(wanted)
    got = np.array(buffer)
    got[...] = -1
    view = np.asarray(buffer)
    if view.flags.writeable:
        view[...] = -2
    require_same_bits(
        "Changing an array that was read doesn't change the buffer.",
        np.asarray(buffer),
        wanted,
        promise="transfer-manager.from-device",
    )


@pytest.mark.promise("features.host-addressable", "executor.host-view")
def test_a_host_array_outlives_its_buffer(client: Client) -> None:
    for size in (10, 1000, 100_000):
        wanted = np.arange(size, dtype=np.float32)
        got = np.asarray(client.buffer_from_host(wanted))
        others = [client.buffer_from_host(np.full(size, i, np.float32)) for i in range(8)]
        require_same_bits(
            "An array that was read keeps its values when its buffer is gone.",
            got,
            wanted,
            promise="executor.host-view",
        )
        assert len(others) == 8


@pytest.mark.promise("stream.h2d", "stream.d2h", "stream.in-order")
def test_many_at_once(client: Client, random: np.random.Generator) -> None:
    """Hundreds of transfers are in flight, and are read in another order."""
    arrays = [random_bits(ElementType.F32, (int(n),), random) for n in np.exp(random.uniform(0, 11, 300))]
    buffers = [client.buffer_from_host(a) for a in arrays]
    for i in random.permutation(len(arrays)):
        require_same_bits(SENTENCE, np.asarray(buffers[i]), arrays[i], promise="stream.in-order")


@pytest.mark.promise("transfer-manager.byte-size", "compiler.shape-size")
def test_sizes_agree(backend: str, platform: Platform, random: np.random.Generator) -> None:
    for element in held_types(backend):
        for dimensions in (*(random_dimensions(rank, random) for rank in range(5)), (0,), (3, 0, 2)):
            shape = platform.transfer_manager.device_shape(Shape(element, dimensions))
            sizes = platform.compiler.shape_size_bytes(shape), platform.transfer_manager.byte_size(shape)
            least = -(-math.prod(shape.dimensions) * element.bit_width // 8)
            if sizes[0] != sizes[1] or sizes[0] < least:
                raise Failure(
                    f"The compiler and the transfer manager say {sizes} bytes for {shape} of {least}.",
                    promise="transfer-manager.byte-size",
                )


@pytest.mark.promise("transfer-manager.layouts")
@pytest.mark.parametrize("value", ["text", object(), [1, [2]]], ids=["text", "object", "ragged"])
def test_what_is_no_array_is_refused(client: Client, value: object) -> None:
    with pytest.raises(XlaError):
        client.buffer_from_host(value)
    _round_trip(client, np.arange(3, dtype=np.float32))


# -- other devices, other libraries -----------------------------------------------------------------------------------


@pytest.mark.promise("transfer-manager.to-device", "transfer-manager.from-device", "stream.h2d", "platform.ordinals")
@pytest.mark.parametrize("immutable", [False, True], ids=["copied", "immutable"])
def test_every_size_on_each_device(client: Client, random: np.random.Generator, immutable: bool) -> None:
    for device in client.devices:
        for size in (*SIZES, *PAGES_AND_MORE):
            array = random_bits(ElementType.U8, (size,), random)
            buffer = client.buffer_from_host(array, device, immutable=immutable)
            require_same_bits(SENTENCE, np.asarray(buffer), array, promise="transfer-manager.layouts")


@pytest.mark.promise("features.peer-copies", "stream.d2d")
def test_every_size_between_devices(client: Client, random: np.random.Generator) -> None:
    require_devices(client, 2)
    here, there = client.devices[:2]
    for size in (*SIZES, *PAGES_AND_MORE):
        array = random_bits(ElementType.U8, (size,), random)
        for first, second in ((here, there), (there, here)):
            copy = client.buffer_from_host(array, first).copy_to_device(second)
            require_same_bits(
                "An array has the same bits on another device.", np.asarray(copy), array, promise="stream.d2d"
            )


@pytest.mark.promise("features.peer-copies", "stream.d2d")
def test_between_devices(backend: str, client: Client, random: np.random.Generator) -> None:
    require_devices(client, 2)
    here, there = client.devices[:2]
    for element in _of_each_width(backend, random):
        for size in (0, 1, 3, 4097, 65537, 300_001, (1 << 20) + 3):
            array = random_bits(element, (size,), random)
            buffer = client.buffer_from_host(array, there)
            assert buffer.device is there, f"A buffer for device {there} is on {buffer.device}."
            back = buffer.copy_to_device(here).copy_to_device(there).copy_to_device(here)
            require_same_bits(
                "An array has the same bits on another device.", np.asarray(back), array, promise="stream.d2d"
            )


_NOT_THE_HOSTS = {2, 4, 7, 8, 9, 10}  # kDLCUDA, kDLOpenCL, kDLVulkan, kDLMetal, kDLVPI, kDLROCM


@pytest.mark.promise("executor.address", "executor.dlpack-device-type")
def test_dlpack_gives_the_same_values(client: Client) -> None:
    for dimensions in ((), (1,), (12,), (3, 4), (2, 3, 5), (65537,)):
        array = np.arange(math.prod(dimensions), dtype=np.float32).reshape(dimensions)
        buffer: Buffer = client.buffer_from_host(array)
        kind = buffer.__dlpack_device__()[0]
        if client.devices[0].executor.features.host_addressable and kind in _NOT_THE_HOSTS:
            raise Failure(
                f"DLPack's device type {kind} says that the host can't address what `host_addressable` gives it.",
                promise="executor.dlpack-device-type",
            )
        if kind != 1:
            not_supported("its memory is not the host's")
        require_same_bits("DLPack gives the buffer's bits.", np.from_dlpack(buffer), array, promise="executor.address")
