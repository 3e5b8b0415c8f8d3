"""Layouts: by the transfer manager, and in programs whose operands and results have different ones."""

from __future__ import annotations

import dataclasses
import itertools
import math

import numpy as np
import pytest

from xla_conformance.claims import held_types, not_supported
from xla_conformance.device.arrays import random_bits, random_dimensions, require_same_bits
from xla_conformance.device.gates import Gate
from xla_conformance.device.memories import allocated
from xla_conformance.device.patterns import pattern, require_bytes
from xla_conformance.failures import Failure
from xla_core import Client, CompileOptions, UnimplementedError, parse
from xla_core.backend import Platform, Stream, StreamExecutor, TransferManager
from xla_core.hlo import ElementType, Layout, Shape
from xla_core.target import TargetConfig

GUARD = 128


def _orders(rank: int) -> list[tuple[int, ...]]:
    return list(itertools.permutations(range(rank)))


def _require_return(
    platform: Platform, executor: StreamExecutor, stream: Stream, array: np.ndarray, shape: Shape, *, immutable: bool
) -> None:
    """Transfers an array to the device and back in a layout, while the stream is held. No byte behind it changes."""
    manager, gate = platform.transfer_manager, Gate()
    size = manager.byte_size(shape)
    memory = allocated(executor, size + GUARD)
    guards = pattern(size + GUARD, 9)
    stream.memcpy_h2d(memory, guards)
    given = array.copy(order="K")
    gate.hold(stream)
    manager.transfer_to_device_async(stream, given, memory, shape, immutable=immutable)
    if not immutable:
        given.reshape(-1).view(np.uint8)[...] = 1
    data = manager.transfer_from_device_async(stream, memory, shape)
    whole = np.zeros(size + GUARD, np.uint8)
    stream.memcpy_d2h(whole, memory)
    gate.require_closed("a transfer")
    gate.open()
    stream.synchronize()
    executor.deallocate(memory)
    if stream.error is not None:
        raise Failure(f"A transfer of {shape} failed: {stream.error}", promise="transfer-manager.transfer-to-device")
    require_bytes(
        f"A transfer of {shape} writes its bytes and no others, but",
        whole[size:],
        guards[size:],
        promise="transfer-manager.transfer-to-device",
    )
    require_same_bits(
        f"An array comes back from the layout {shape} with the same bits.",
        manager.from_device(data, shape),
        array,
        promise="transfer-manager.layouts",
    )


@pytest.mark.promise(
    "transfer-manager.to-device", "transfer-manager.from-device", "transfer-manager.transfer-to-device",
    "transfer-manager.transfer-from-device", "transfer-manager.caller-may-change-array", "transfer-manager.byte-size",
)  # fmt: skip
@pytest.mark.parametrize("immutable", [False, True], ids=["mutable", "immutable"])
def test_the_transfer_manager_keeps_layouts(
    backend: str,
    platform: Platform,
    executor: StreamExecutor,
    stream: Stream,
    random: np.random.Generator,
    immutable: bool,
) -> None:
    types = held_types(backend)
    orders = [order for rank in range(1, 4) for order in _orders(rank)]
    orders += [tuple(random.permutation(rank).tolist()) for rank in (4, 4, 4, 5, 6)]
    for order, is_cube in itertools.product(orders, (False, False, False, False, True)):
        element = types[int(random.integers(len(types)))]
        dimensions = (3,) * len(order) if is_cube else random_dimensions(len(order), random)
        layout = platform.transfer_manager.device_shape(Shape(element, dimensions)).layout
        bits = layout.element_size_in_bits if layout is not None else 0
        shape = Shape(element, dimensions, Layout(order, element_size_in_bits=bits))
        array = random_bits(element, dimensions, random)
        _require_order(platform.transfer_manager, array, shape)
        _require_return(platform, executor, stream, array, shape, immutable=immutable)


def _require_order(manager: TransferManager, array: np.ndarray, shape: Shape) -> None:
    """Requires the bytes that the transposed array has in a row-major layout.

    A layout that is wrong in the same way in both directions shows in no transfer there and back.
    """
    assert shape.layout is not None
    turned = array.transpose(shape.layout.minor_to_major[::-1])
    row_major = dataclasses.replace(shape.layout, minor_to_major=tuple(reversed(range(array.ndim))))
    require_same_bits(
        f"The layout {shape} has the elements in its order of dimensions.",
        manager.to_device(array, shape),
        manager.to_device(np.ascontiguousarray(turned), Shape(shape.element_type, turned.shape, row_major)),
        promise="transfer-manager.to-device",
    )


@pytest.mark.promise("transfer-manager.device-shape", "transfer-manager.layouts")
def test_the_device_s_own_layouts(
    backend: str, platform: Platform, executor: StreamExecutor, stream: Stream, random: np.random.Generator
) -> None:
    for element in held_types(backend):
        for rank in range(5):
            dimensions = random_dimensions(rank, random)
            shape = platform.transfer_manager.device_shape(Shape(element, dimensions))
            if shape.layout is None or shape.dimensions != dimensions or shape.element_type is not element:
                raise Failure(
                    f"`device_shape` gives a shape the device's layout, but made {shape} of {dimensions}.",
                    promise="transfer-manager.device-shape",
                )
            array = random_bits(element, dimensions, random)
            _require_return(platform, executor, stream, array, shape, immutable=False)


def _numbered(element: ElementType, dimensions: tuple[int, ...], number: int) -> np.ndarray:
    """Values that differ by position, and whose sums are exact in the type."""
    most = 100 if element.bit_width == 8 else 1000
    values = (np.arange(math.prod(dimensions)) * 7 + number * 3) % (most // 4)
    return values.reshape(dimensions).astype(element.dtype)


def _adders(backend: str, random: np.random.Generator) -> list[ElementType]:
    """A type of each width of whole bytes that has a sum."""
    types = [t for t in held_types(backend) if t is not ElementType.PRED and (t.bit_width >= 16 or t in _BYTES)]
    widths = sorted({t.bit_width for t in types})
    chosen = [[t for t in types if t.bit_width == width] for width in widths]
    return [group[int(random.integers(len(group)))] for group in chosen]


_BYTES = (ElementType.S8, ElementType.U8)


@pytest.mark.promise("executable.parameter-shapes", "executable.result-shapes", "transfer-manager.layouts")
@pytest.mark.parametrize("rank", [2, 3, 4])
@pytest.mark.parametrize("size", ["small", "large"])
def test_operands_and_results_in_different_layouts(
    backend: str, client: Client, random: np.random.Generator, rank: int, size: str
) -> None:
    """Sums of operands in every two layouts, in a third one."""
    orders = _orders(rank)
    if rank == 4:
        orders = [orders[int(i)] for i in random.permutation(len(orders))[:6]]
    tried = 0
    for element in _adders(backend, random)[: 6 if size == "small" else 1]:
        dimensions = random_dimensions(rank, random, 600 if size == "small" else 70_000)
        names = [f"{element}[{','.join(map(str, dimensions))}]{Layout(order)}" for order in orders]
        count = len(orders)
        lines = [f"  p{i} = {name} parameter({i})" for i, name in enumerate(names)]
        thirds = [(i, (i + 1) % count, (2 * i + 1) % count) for i in range(count)]
        thirds += [(i, count - 1 - i, i) for i in range(count)]
        lines += [f"  r{n} = {names[c]} add(p{a}, p{b})" for n, (a, b, c) in enumerate(thirds)]
        results = ", ".join(names[c] for _, _, c in thirds)
        lines.append(f"  ROOT r = ({results}) tuple({', '.join(f'r{n}' for n in range(len(thirds)))})")
        head = f"HloModule layouts, entry_computation_layout={{({', '.join(names)})->({results})}}"
        text = head + "\n\nENTRY e {\n" + "\n".join(lines) + "\n}\n"
        try:
            executable = client.compile(parse(text), CompileOptions(use_entry_layouts=True))
        except UnimplementedError:
            continue
        tried += 1
        wanted = [orders[c] for _, _, c in thirds]
        if [s.minor_to_major() for s in executable.parameter_shapes] != orders:
            raise Failure(
                f"The parameters have the layouts that the program fixes: {orders}.",
                promise="executable.parameter-shapes",
            )
        if [s.minor_to_major() for s in executable.result_shapes] != wanted:
            raise Failure(
                f"The results have the layouts that the program fixes: {wanted}.", promise="executable.result-shapes"
            )
        arrays = [_numbered(element, dimensions, i) for i in range(count)]
        for arguments in (arrays, [client.buffer_from_host(array) for array in arrays]):
            for got, (a, b, _) in zip(executable(*arguments), thirds, strict=True):
                sentence = f"p{a}, in the layout {orders[a]}, plus p{b}, in {orders[b]}, is the same in every layout."
                require_same_bits(sentence, np.asarray(got), arrays[a] + arrays[b], promise="transfer-manager.layouts")
    if not tried:
        not_supported("it adds no type")


@pytest.mark.promise("transfer-manager.layouts", "executable.parameter-shapes")
def test_the_bits_of_each_type_in_different_layouts(backend: str, client: Client, random: np.random.Generator) -> None:
    """Programs that only move bits from one layout to another."""
    for element in (t for t in held_types(backend) if t.bit_width >= 8):
        order, other = (0, 2, 1), (2, 0, 1)
        dimensions = random_dimensions(3, random)
        first, second = (f"{element}[{','.join(map(str, dimensions))}]{Layout(o)}" for o in (order, other))
        text = (
            f"HloModule bits, entry_computation_layout={{({first}, {second})->({second}, {first})}}\n\nENTRY e {{\n"
            f"  x = {first} parameter(0)\n  y = {second} parameter(1)\n  a = {second} copy(x)\n  b = {first} copy(y)\n"
            f"  ROOT r = ({second}, {first}) tuple(a, b)\n}}\n"
        )
        try:
            executable = client.compile(parse(text), CompileOptions(use_entry_layouts=True))
        except UnimplementedError:
            continue
        arrays = [random_bits(element, dimensions, random) for _ in range(2)]
        for got, wanted in zip(executable(*arrays), arrays, strict=True):
            require_same_bits(
                f"A copy of {element} to another layout keeps all bits.",
                np.asarray(got),
                wanted,
                promise="transfer-manager.layouts",
            )


NARROW = [t for t in ElementType if t.is_array and t.bit_width in (2, 4)]


@pytest.mark.promise("transfer-manager.byte-size", "transfer-manager.layouts", "compiler.shape-size")
@pytest.mark.parametrize("narrow", NARROW, ids=str)
def test_elements_of_two_and_four_bits_lie_as_the_target_says(
    backend: str, client: Client, target: TargetConfig, narrow: ElementType, random: np.random.Generator
) -> None:
    """The elements are packed if the target packs them, else they take a byte each. Results are the same."""
    if narrow not in held_types(backend):
        not_supported(f"the device holds no {narrow}")
    x = random_bits(narrow, (3, 5), random)
    buffer = client.buffer_from_host(x)
    packed, layout = target.layouts.packed, buffer.shape.layout
    if (layout is not None and layout.element_size_in_bits == narrow.bit_width) != packed:
        raise Failure(
            f"The target says packed={packed}, but a buffer has the shape {buffer.shape}.",
            promise="transfer-manager.layouts",
        )
    if buffer.byte_size != target.shape_size_bytes(buffer.shape):
        raise Failure(
            f"A buffer {buffer.shape} has {buffer.byte_size} bytes, not as many as the target says.",
            promise="transfer-manager.byte-size",
        )
    require_same_bits(
        "Narrow elements come back as they were.", np.asarray(buffer), x, promise="transfer-manager.layouts"
    )
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
        require_same_bits(
            "Programs move narrow elements as they are.", np.asarray(got), want, promise="transfer-manager.layouts"
        )
