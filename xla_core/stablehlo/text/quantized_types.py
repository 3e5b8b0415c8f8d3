"""Reads the text of `!quant.uniform<...>`.

Source: MLIR, lib/Dialect/Quant/IR/TypeParser.cpp.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from xla_core.stablehlo import ir
from xla_core.stablehlo.ir.quantized_types import problem_of
from xla_core.stablehlo.text.cursor import Cursor

_NUMBER = re.compile(r"[-+]?[0-9]+(?:\.[0-9]*)?(?:[eE][-+]?[0-9]+)?").match


def read_quantized(reader: Cursor, start: int) -> ir.QuantizedType:
    """Reads the type at `start`, after `!quant.uniform`: `<i8<-127:127>:f32:axis, {scale:zero point, ...}>`."""
    reader.expect("<")
    storage = reader.word("a storage type")
    low = high = None
    if reader.accept("<"):
        low = reader.integer("the storage minimum")
        reader.expect(":")
        high = reader.integer("the storage maximum")
        reader.expect(">")
    reader.expect(":", "before the expressed type")
    expressed = reader.word("an expressed type")
    axis: int | None = None
    blocks: list[tuple[int, int]] = []
    if reader.accept(":"):
        if reader.at("{"):
            reader.list_of("{", "}", lambda: blocks.append(_block(reader)))
        else:
            axis = reader.integer("the quantized dimension")
    reader.expect(",", "before the scales")
    scales: list[_Scale] = []
    if axis is None and not blocks:
        scales.append(_scale(reader))
    else:
        _scales(reader, scales)
    reader.expect(">", "to end the quantized type")
    values = tuple([scale.value for scale in scales])
    zeros = tuple([scale.zero_point for scale in scales])
    type = ir.QuantizedType(storage, expressed, values, zeros, axis, low, high, tuple(blocks))
    problem = problem_of(type)
    if problem is not None:
        place = start if problem.scale is None else scales[problem.scale].offset
        raise reader.error(problem.message, place, problem.hint)
    if type.storage_range == ir.QuantizedType(storage, expressed, (), ()).storage_range:
        low = high = None  # the storage type's whole range is the default
    return ir.QuantizedType(storage, expressed, values, zeros, axis, low, high, tuple(blocks))


class _Scale(NamedTuple):
    value: float
    zero_point: int
    offset: int


def _block(reader: Cursor) -> tuple[int, int]:
    dimension = reader.integer("a dimension")
    reader.expect(":")
    return dimension, reader.integer("a block size")


def _scales(reader: Cursor, scales: list[_Scale]) -> None:
    reader.enter()
    try:
        if reader.at("{}"):
            raise reader.error("expected a scale, found none", reader.position)
        reader.list_of("{", "}", lambda: _scales(reader, scales) if reader.at("{") else scales.append(_scale(reader)))
    finally:
        reader.leave()


def _scale(reader: Cursor) -> _Scale:
    match = reader.take(_NUMBER, "a scale")
    if len(match[0]) > 100:
        raise reader.error("the number has too many digits", match.start())
    return _Scale(float(match[0]), reader.integer("a zero point") if reader.accept(":") else 0, match.start())
