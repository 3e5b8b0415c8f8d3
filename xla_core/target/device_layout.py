"""Converts numpy arrays to and from a layout in device memory: physical order, tiles, packed elements."""

from __future__ import annotations

import math

import numpy as np

from xla_core.hlo.values.shape import Layout, Shape
from xla_core.sizes import ceil_div


def to_device_layout(array: np.ndarray, shape: Shape) -> np.ndarray:
    """The bytes of `array` in the layout of `shape`, as a 1-D array of uint8.

    The result is a view of `array` where that has the layout already. Tiles are padded with zeros. Elements of less
    than 8 bits (`element_size_in_bits`) are packed; the first element is in the lowest bits.
    """
    layout = shape.layout
    if layout is None or layout.is_dense_row_major:
        return _bytes(array)
    physical = array.transpose(layout.minor_to_major[::-1])
    for tile in layout.tiles:
        physical = _apply_tile(physical, tile)
    if 0 < layout.element_size_in_bits < 8:
        return _pack(physical, layout.element_size_in_bits)
    return _bytes(physical)


def from_device_layout(data: np.ndarray, shape: Shape) -> np.ndarray:
    """The array whose bytes, in the layout of `shape`, are `data` (1-D, uint8); a view without tiles and packing."""
    layout = shape.layout or Layout.row_major(shape.rank)
    order = layout.minor_to_major[::-1]
    dimensions = tuple(shape.dimensions[d] for d in order)
    steps = [dimensions]
    for tile in layout.tiles:
        steps.append(tiled_dimensions(steps[-1], tile))
    count = math.prod(steps[-1])
    if 0 < layout.element_size_in_bits < 8:
        physical = _unpack(data, count, layout.element_size_in_bits, shape).reshape(steps[-1])
    else:
        physical = data[: count * shape.element_type.byte_width].view(shape.dtype).reshape(steps[-1])
    for tile, before in zip(reversed(layout.tiles), reversed(steps[:-1]), strict=True):
        physical = _undo_tile(physical, tile, before)
    return physical.transpose(np.argsort(order)) if shape.rank else physical


def _bytes(array: np.ndarray) -> np.ndarray:
    dense = array if array.flags.c_contiguous else np.ascontiguousarray(array)
    return dense.reshape(-1).view(np.uint8)


def tiled_dimensions(dimensions: tuple[int, ...], tile: tuple[int, ...]) -> tuple[int, ...]:
    """XLA's rule: each minor-most dimension becomes its number of tiles, and the tile's dimensions follow."""
    rank = len(tile)
    padded = (1,) * (rank - len(dimensions)) + dimensions
    head, tail = padded[: len(padded) - rank], padded[len(padded) - rank :]
    return head + tuple(ceil_div(d, t) for d, t in zip(tail, tile, strict=True)) + tile


def _apply_tile(array: np.ndarray, tile: tuple[int, ...]) -> np.ndarray:
    rank = len(tile)
    array = array.reshape((1,) * (rank - array.ndim) + array.shape)
    head = array.ndim - rank
    padding = [(0, 0)] * head + [(0, -d % t) for d, t in zip(array.shape[head:], tile, strict=True)]
    if any(after for _, after in padding):
        array = np.pad(array, padding)
    split = [n for d, t in zip(array.shape[head:], tile, strict=True) for n in (d // t, t)]
    axes = [*range(head), *range(head, head + 2 * rank, 2), *range(head + 1, head + 2 * rank, 2)]
    return array.reshape(*array.shape[:head], *split).transpose(axes)


def _undo_tile(array: np.ndarray, tile: tuple[int, ...], dimensions: tuple[int, ...]) -> np.ndarray:
    rank = len(tile)
    head = array.ndim - 2 * rank
    axes = [*range(head), *(a for i in range(rank) for a in (head + i, head + rank + i))]
    merged = [array.shape[head + i] * tile[i] for i in range(rank)]
    whole = array.transpose(axes).reshape(*array.shape[:head], *merged)
    padded = (1,) * (whole.ndim - len(dimensions)) + dimensions
    return whole[tuple(slice(0, d) for d in padded)].reshape(dimensions)


def _pack(array: np.ndarray, bits: int) -> np.ndarray:
    per_byte = 8 // bits
    flat = np.ascontiguousarray(array).reshape(-1).view(np.uint8) & ((1 << bits) - 1)
    flat = np.pad(flat, (0, -flat.size % per_byte)).reshape(-1, per_byte)
    packed = np.zeros(len(flat), np.uint8)
    for i in range(per_byte):
        packed |= flat[:, i] << (i * bits)
    return packed


def _unpack(data: np.ndarray, count: int, bits: int, shape: Shape) -> np.ndarray:
    per_byte = 8 // bits
    packed = data[: ceil_div(count, per_byte)]
    flat = np.stack([(packed >> (i * bits)) & ((1 << bits) - 1) for i in range(per_byte)], axis=-1).reshape(-1)[:count]
    if shape.element_type.is_signed:
        sign = 1 << (bits - 1)
        flat = (flat ^ sign) - np.uint8(sign)
    return flat.astype(np.uint8).view(shape.dtype)
