"""Checks quantized types and tensors of them. Problems are worded as in MLIR.

Source: MLIR, lib/Dialect/Quant/IR/QuantTypes.cpp.
"""

from __future__ import annotations

import dataclasses
import re
from typing import Any, NamedTuple

import ml_dtypes

from xla_core.hlo.values.scalar_types import DTYPES, FLOATS, OTHER_FLOATS
from xla_core.stablehlo.ir.types import DYNAMIC, QuantizedType, TensorType, Type

_STORAGE = re.compile(r"(si|ui|u|i)([0-9]{1,9})\Z").match
_MAX_BITS = 32
_STORAGE_BITS = (2, 4, 8, 16, 32)
"""Of tensors that ops of StableHLO take."""


class Problem(NamedTuple):
    """A problem of a type: the message, the number of the scale that it is about, and a hint."""

    message: str
    scale: int | None = None
    hint: str | None = None


def problem_of(type: QuantizedType) -> Problem | None:
    """Returns the problem that makes the type illegal, or None."""
    integer = _STORAGE(type.storage)
    if integer is None and type.storage not in FLOATS:
        return Problem("illegal storage type prefix", hint=f"it is an integer, as i8 or u8, not {type.storage}")
    if integer is not None and not 0 < int(integer[2]) <= _MAX_BITS:
        return Problem(f"illegal storage type size: {int(integer[2])}", hint=f"it has 1 to {_MAX_BITS} bits")
    if (wrong := _range_problem(type)) is not None:
        return wrong
    if type.expressed not in FLOATS and type.expressed not in OTHER_FLOATS:
        return Problem(
            f"invalid kind of type specified: expected a float as the expressed type, but found '{type.expressed}'"
        )
    if type.axis is not None and type.axis < 0:
        return Problem(f"illegal quantized dimension: {type.axis}")
    for _, size in type.block_sizes:
        if size <= 0:
            return Problem(f"illegal block size: {size}")
    return _scale_problem(type)


def canonical(is_signed: bool, type: QuantizedType) -> QuantizedType:
    """Returns the type as StableHLO's text has it, for a type whose sign is said apart from its storage type.

    The storage type i8 becomes u8 if it is not signed; a range that is the storage type's whole range is left out.
    """
    integer = _STORAGE(type.storage)
    if integer is None:
        return type
    bits = int(integer[2])
    storage = f"u{bits}" if integer[1] == "i" and not is_signed else type.storage
    whole = (-(1 << bits - 1), (1 << bits - 1) - 1) if is_signed else (0, (1 << bits) - 1)
    low, high = (None, None) if (type.storage_min, type.storage_max) == whole else (type.storage_min, type.storage_max)
    return dataclasses.replace(type, storage=storage, storage_min=low, storage_max=high)


def _range_problem(type: QuantizedType) -> Problem | None:
    low, high = type.storage_range
    least, largest = QuantizedType(type.storage, type.expressed, (), ()).storage_range
    if _STORAGE(type.storage) is None:
        return None
    for what, given, is_legal in (("minimum", low, low >= least), ("maximum", high, high <= largest)):
        if not is_legal:
            return Problem(f"illegal storage type {what}: {given}", hint=f"{type.storage} holds {least} to {largest}")
    if low >= high:
        return Problem(f"illegal storage min and storage max: ({low}:{high})")
    return None


def _scale_problem(type: QuantizedType) -> Problem | None:
    if type.expressed not in DTYPES:
        return None
    finfo: Any = ml_dtypes.finfo  # its stub has no types
    info = finfo(DTYPES[type.expressed])
    least, largest = float(info.smallest_subnormal), float(info.max)
    for i, scale in enumerate(type.scales):
        if not least <= scale <= largest:
            return Problem(
                f"scale {scale:e} out of expressed type range [{least:e}, {largest:e}]",
                i,
                f"a scale is a positive number that {type.expressed} can hold",
            )
    return None


def element_problem(type: QuantizedType) -> str | None:
    """Returns why no op of StableHLO accepts tensors of this element type, or None."""
    integer = _STORAGE(type.storage)
    if integer is None or integer[1] == "si" or int(integer[2]) not in _STORAGE_BITS:
        return f"the storage type of tensors is i2, i4, i8, i16, i32 or unsigned as u8, not {type.storage}"
    if type.block_sizes:
        return "no op takes tensors that are quantized by blocks: quantize per tensor or per axis"
    low, high = type.storage_range
    for zero in type.zero_points:
        if not low <= zero <= high:
            return f"the zero point {zero} is none of the integers that are stored, {low} to {high}"
    return None


def axis_problem(type: TensorType) -> str | None:
    """Returns why a tensor can't have the scales of its element type, or None."""
    element = type.element
    axis = element.axis if isinstance(element, QuantizedType) else None
    if axis is None or not isinstance(element, QuantizedType):
        return None
    if axis >= type.rank:
        return f"the quantized dimension is {axis}, but the tensor has only {type.rank}, counted from 0"
    if type.shape[axis] not in (DYNAMIC, len(element.scales)):
        return f"dimension {axis} needs a scale for each of its {type.shape[axis]} elements, not {len(element.scales)}"
    return None


def quantized_hint(type: Type) -> str | None:
    """Returns a hint that says why no op accepts a quantized tensor."""
    if not isinstance(type, TensorType) or not isinstance(type.element, QuantizedType):
        return None
    return element_problem(type.element) or axis_problem(type)
