"""Links: ops with attributes that are applied to a value, made from the op table, for programs of two ops."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import numpy as np

from xla_conformance.ops.comparison import rule_for
from xla_core.errors import InvalidArgumentError
from xla_core.hlo import (
    OPS,
    ElementType,
    HloComputation,
    HloInstruction,
    Opcode,
    OpDef,
    PaddingDimension,
    Shape,
    SliceDimension,
    Trait,
)

_T = ElementType
_CONVERTED = (_T.PRED, _T.S8, _T.U8, _T.S32, _T.S64, _T.BF16, _T.F16, _T.F32, _T.F64)

OF_INTEGERS = "convert.integers"

Make = Callable[[HloInstruction, HloInstruction], HloInstruction]
"""(value, another operand of its shape and type) -> the op applied to it."""


@dataclasses.dataclass(frozen=True)
class Link:
    name: str
    opcode: Opcode
    make: Make

    @property
    def keeps(self) -> bool:
        """Whether the other operand is 0 or 1, with which most ops give their operand or a constant."""
        return self.name.endswith((".0", ".1"))

    def apply(self, value: HloInstruction, other: HloInstruction, *, exact: bool = True) -> HloInstruction | None:
        """Applies the op; None if it doesn't take the value or, where it has to be, isn't exact in its type."""
        op = OPS[self.opcode]
        if exact and op.is_elementwise and not rule_for(op, value.shape.element_type).is_exact:
            return None
        try:
            return self.make(value, other)
        except InvalidArgumentError:
            return None


def other_operand(value: HloInstruction, argument: HloInstruction) -> HloInstruction:
    """Returns another operand of the value's shape and type: its instruction's own, an argument, or a constant.

    That of a conversion is an argument that is converted, too.
    """
    alike = [o for o in (*value.operands[::-1], argument) if o.shape == value.shape and o is not value]
    if alike:
        return alike[0]
    if value.opcode == Opcode.CONVERT and argument.shape == value.operand(0).shape:
        return _add(value, Opcode.CONVERT, argument, shape=value.shape)
    return _constant(value, 3)


def _constant(value: HloInstruction, number: float) -> HloInstruction:
    assert value.parent is not None
    return value.parent.constant(np.asarray(number).astype(value.shape.dtype), value.shape)


def _add(value: HloInstruction, opcode: Opcode, *operands: HloInstruction, **attributes: Any) -> HloInstruction:
    assert value.parent is not None
    return value.parent.add(opcode, *operands, **attributes)


@cache
def links() -> tuple[Link, ...]:
    """Returns all links: ops of one and two operands by the op table, and those that choose and move elements."""
    found = [link for op in OPS.values() if op.is_elementwise for link in _elementwise(op)]
    found += [Link(name, opcode, make) for opcode, makers in _OTHERS.items() for name, make in makers.items()]
    return tuple(found)


def _elementwise(op: OpDef) -> Iterator[Link]:
    code = op.opcode
    if code == Opcode.CONVERT:
        for t in _CONVERTED:
            yield Link(f"convert.{t.value}", code, _conversion(t))
        yield Link(OF_INTEGERS, code, _of_integers)
    elif code == Opcode.COMPARE:
        for how in ("EQ", "NE", "LT", "LE", "GT", "GE"):
            yield Link(f"compare.{how}", code, _comparison(how))
    elif {Trait.BITWISE, Trait.NONDETERMINISTIC} & set(op.traits) or op.missing_attribute({}) is not None:
        return
    elif op.arity == 1:
        yield Link(str(code), code, lambda v, _: _add(v, code, v))
    elif op.arity == 2:
        yield Link(f"{code}.left", code, lambda v, o: _add(v, code, v, o))
        yield Link(f"{code}.right", code, lambda v, o: _add(v, code, o, v))
        yield Link(f"{code}.self", code, lambda v, _: _add(v, code, v, v))
        for number in (0, 1, 3):
            yield Link(f"{code}.{number}", code, _with_number(code, number))


def _conversion(element_type: ElementType) -> Make:
    def convert(value: HloInstruction, _: HloInstruction) -> HloInstruction:
        if value.shape.element_type is element_type:
            raise InvalidArgumentError("a conversion to the same type is none")
        return _add(value, Opcode.CONVERT, value, shape=Shape(element_type, value.shape.dimensions))

    return convert


def _of_integers(value: HloInstruction, other: HloInstruction) -> HloInstruction:
    """Rounds a float to an integer and converts that to the float's type: a pass knows that the result is no NaN."""
    own = value.shape.element_type
    if not own.is_floating:
        raise InvalidArgumentError("the value isn't a float")
    return _conversion(own)(_conversion(_T.S32)(value, other), other)


def _comparison(direction: str) -> Make:
    return lambda value, other: _add(value, Opcode.COMPARE, value, other, direction=direction)


def _with_number(opcode: Opcode, number: float) -> Make:
    other = number + 2 if number > 1 else number  # 0 and 1 may stay: passes drop them

    def apply(value: HloInstruction, _: HloInstruction) -> HloInstruction:
        return _add(value, opcode, value, _constant(value, _turned(value, opcode, number, other)))

    return apply


def _turned(value: HloInstruction, opcode: Opcode, first: float, second: float) -> float:
    """Returns the second number for the op's own result: a pass that joins the two must take both into account."""
    return second if value.opcode == opcode else first


def _chosen(value: HloInstruction, other: HloInstruction) -> HloInstruction:
    """Chooses between the operands of the comparison that the value is, or between the value and another."""
    if value.shape.element_type is _T.PRED and value.opcode == Opcode.COMPARE:
        return _add(value, Opcode.SELECT, value, *value.operands)
    return _add(value, Opcode.SELECT, _add(value, Opcode.COMPARE, other, other, direction="EQ"), value, other)


def _clamped(value: HloInstruction) -> HloInstruction:
    low, high = (_constant(value, _turned(value, Opcode.CLAMP, n, n + 1)) for n in (0, 1))
    return _add(value, Opcode.CLAMP, low, value, high)


def _reshaped(value: HloInstruction, *dimensions: int) -> HloInstruction:
    return _add(value, Opcode.RESHAPE, value, shape=Shape(value.shape.element_type, dimensions))


def _transposed(value: HloInstruction, *order: int) -> HloInstruction:
    return _add(value, Opcode.TRANSPOSE, value, dimensions=order)


def _broadcast(value: HloInstruction, place: int) -> HloInstruction:
    """Adds a dimension of the first one's size: where dimensions change places, shapes stay as they are."""
    sizes = list(value.shape.dimensions)
    kept = tuple(d + (d >= place) for d in range(len(sizes)))
    sizes.insert(place, sizes[0])
    return _add(value, Opcode.BROADCAST, value, shape=Shape(value.shape.element_type, tuple(sizes)), dimensions=kept)


def _spread(value: HloInstruction) -> HloInstruction:
    """Takes one element for all."""
    parts = tuple(SliceDimension(n // 2, n // 2 + 1) for n in value.shape.dimensions)
    one = _reshaped(_add(value, Opcode.SLICE, value, slice=parts))
    return _add(value, Opcode.BROADCAST, one, shape=value.shape, dimensions=())


def _sliced(value: HloInstruction, start: int, end: int, stride: int) -> HloInstruction:
    """Leaves out elements at both ends of each dimension, as far as one is left."""
    begun = [(min(start, n - 1), n) for n in value.shape.dimensions]
    parts = tuple(SliceDimension(first, max(n - end, first + 1), stride) for first, n in begun)
    return _add(value, Opcode.SLICE, value, slice=parts)


def _padded(value: HloInstruction, low: int, high: int, interior: int) -> HloInstruction:
    padding = (PaddingDimension(low, high, interior),) * len(value.shape.dimensions)
    scalar = Shape(value.shape.element_type, ())
    assert value.parent is not None
    edge = value.parent.constant(np.asarray(_turned(value, Opcode.PAD, 1, 0)).astype(scalar.dtype), scalar)
    return _add(value, Opcode.PAD, value, edge, padding=padding)


def _start(value: HloInstruction, start: int, *, is_known: bool) -> HloInstruction:
    """Adds a start of slices: a constant, or one of two that the value's first element chooses as the program runs."""
    assert value.parent is not None
    places = [value.parent.constant(np.int32(n)) for n in (start, start - 2)]
    if is_known:
        return places[0]
    parts = tuple(SliceDimension(0, 1) for _ in value.shape.dimensions)
    first = _reshaped(_add(value, Opcode.SLICE, value, slice=parts))
    zero = _constant(first, 0)
    return _add(value, Opcode.SELECT, _add(value, Opcode.COMPARE, first, zero, direction="EQ"), *places)


def _dynamic(value: HloInstruction, start: int, *, is_known: bool) -> HloInstruction:
    """Takes a slice whose start is beyond the end, or before the beginning."""
    places = [_start(value, start, is_known=is_known)] * value.shape.rank
    sizes = tuple(max(n - 1, 1) for n in value.shape.dimensions)
    return _add(value, Opcode.DYNAMIC_SLICE, value, *places, dynamic_slice_sizes=sizes)


def _updated(value: HloInstruction, other: HloInstruction, start: int, *, is_known: bool) -> HloInstruction:
    """Replaces half of the elements along each dimension by others; beyond the end, those at the end."""
    places = [_start(other, start, is_known=is_known)] * value.shape.rank
    parts = tuple(SliceDimension(n // 2, n) for n in other.shape.dimensions)
    update = _add(other, Opcode.SLICE, other, slice=parts)
    return _add(value, Opcode.DYNAMIC_UPDATE_SLICE, value, update, *places)


def _taken(value: HloInstruction, dimension: int) -> HloInstruction:
    """Takes the last, the first and the second element along a dimension."""
    assert value.parent is not None
    sizes = list(value.shape.dimensions)
    indices = value.parent.constant(np.array([sizes[dimension] - 1, 0, 1], np.int32))
    sizes[dimension] = 1
    return _add(
        value,
        Opcode.GATHER,
        value,
        indices,
        offset_dims=tuple(d for d in range(len(sizes)) if d != dimension),
        collapsed_slice_dims=(dimension,),
        start_index_map=(dimension,),
        index_vector_dim=1,
        slice_sizes=tuple(sizes),
    )


def _reduced(value: HloInstruction, dimension: int, number: int, opcode: Opcode = Opcode.MAXIMUM) -> HloInstruction:
    """Combines the elements along a dimension, with an initial value that shows, or 0. Sums are those of integers."""
    element = value.shape.element_type
    if element is _T.PRED or (opcode == Opcode.ADD and not element.is_integral):
        raise InvalidArgumentError("truth values have no sum, and sums of floats have an order")
    scalar, made = Shape(element, ()), HloComputation("reducer")
    a, b = (made.parameter(i, scalar) for i in range(2))
    made.set_root(made.add(opcode, a, b))
    assert value.parent is not None
    first = _turned(value, Opcode.REDUCE, number, number + 4 if number else 0)
    start = value.parent.constant(np.asarray(first).astype(scalar.dtype))
    return _add(value, Opcode.REDUCE, value, start, dimensions=(dimension,), to_apply=made)


def _product(value: HloInstruction, other: HloInstruction, contracted: int, batch: int = 0) -> HloInstruction:
    """Multiplies matrices of integers, whose sums are exact, for each place along a dimension of the value."""
    if not value.shape.element_type.is_integral or value.shape.rank < 3:
        raise InvalidArgumentError("the product isn't one of integers' matrices")
    dimensions = (value.shape.rank - 1,), (other.shape.rank - contracted,)
    return _add(
        value,
        Opcode.DOT,
        value,
        other,
        lhs_batch_dims=(batch,),
        rhs_batch_dims=(0,),
        lhs_contracting_dims=dimensions[0],
        rhs_contracting_dims=dimensions[1],
    )


def _rotated(value: HloInstruction) -> HloInstruction:
    return _transposed(value, *range(1, value.shape.rank), 0)


def _exchanged(value: HloInstruction) -> HloInstruction:
    """Exchanges the first two dimensions, of which products take one for their batch."""
    if value.shape.rank < 3:
        raise InvalidArgumentError("the value is no batch of matrices")
    return _transposed(value, 1, 0, *range(2, value.shape.rank))


def _swapped(value: HloInstruction) -> HloInstruction:
    return _transposed(value, *range(value.shape.rank - 2), value.shape.rank - 1, value.shape.rank - 2)


_OTHERS: dict[Opcode, dict[str, Make]] = {
    Opcode.SELECT: {"select": _chosen},
    Opcode.CLAMP: {"clamp": lambda v, _: _clamped(v)},
    Opcode.REDUCE_PRECISION: {
        "reduce-precision.5": lambda v, _: _add(v, Opcode.REDUCE_PRECISION, v, exponent_bits=5, mantissa_bits=10),
        "reduce-precision.8": lambda v, _: _add(v, Opcode.REDUCE_PRECISION, v, exponent_bits=8, mantissa_bits=7),
    },
    Opcode.TRANSPOSE: {
        "transpose.rotated": lambda v, _: _rotated(v),
        "transpose.swapped": lambda v, _: _swapped(v),
        "transpose.exchanged": lambda v, _: _exchanged(v),
    },
    Opcode.RESHAPE: {
        "reshape.flat": lambda v, _: _reshaped(v, v.shape.num_elements),
        "reshape.wider": lambda v, _: _reshaped(v, 1, *v.shape.dimensions[::-1], 1),
    },
    Opcode.BROADCAST: {
        "broadcast.first": lambda v, _: _broadcast(v, 0),
        "broadcast.last": lambda v, _: _broadcast(v, v.shape.rank),
        "broadcast.scalar": lambda v, _: _spread(v),
    },
    Opcode.REVERSE: {
        "reverse.all": lambda v, _: _add(v, Opcode.REVERSE, v, dimensions=tuple(range(v.shape.rank))),
        "reverse.first": lambda v, _: _add(v, Opcode.REVERSE, v, dimensions=(0,)),
    },
    Opcode.SLICE: {
        "slice.middle": lambda v, _: _sliced(v, 2, v.shape.dimensions[0] // 2, 1),
        "slice.stride": lambda v, _: _sliced(v, 0, 0, 2),
    },
    Opcode.PAD: {
        "pad.edges": lambda v, _: _padded(v, 1, 2, 0),
        "pad.interior": lambda v, _: _padded(v, 0, 1, 1),
        "pad.crop": lambda v, _: _padded(v, -1, 1, 0),
    },
    Opcode.CONCATENATE: {
        "concatenate.last": lambda v, o: _add(v, Opcode.CONCATENATE, v, o, dimensions=(v.shape.rank - 1,)),
        "concatenate.first": lambda v, o: _add(v, Opcode.CONCATENATE, o, v, dimensions=(0,)),
    },
    Opcode.DYNAMIC_SLICE: {
        "dynamic-slice.above": lambda v, _: _dynamic(v, 99, is_known=False),
        "dynamic-slice.below": lambda v, _: _dynamic(v, -9, is_known=True),
    },
    Opcode.DYNAMIC_UPDATE_SLICE: {
        "dynamic-update-slice.start": lambda v, o: _updated(v, o, 0, is_known=True),
        "dynamic-update-slice.above": lambda v, o: _updated(v, o, 99, is_known=False),
    },
    Opcode.GATHER: {
        "gather.first": lambda v, _: _taken(v, 0),
        "gather.last": lambda v, _: _taken(v, v.shape.rank - 1),
    },
    Opcode.REDUCE: {
        "reduce.first": lambda v, _: _reduced(v, 0, 3, Opcode.ADD),
        "reduce.sum": lambda v, _: _reduced(v, 0, 0, Opcode.ADD),
        "reduce.last": lambda v, _: _reduced(v, v.shape.rank - 1, 3),
        "reduce.least": lambda v, _: _reduced(v, 0, -5, Opcode.MINIMUM),
    },
    Opcode.DOT: {
        "dot.last": lambda v, o: _product(v, o, 1),
        "dot.middle": lambda v, o: _product(v, o, 2),
        "dot.second": lambda v, o: _product(v, o, 2, batch=1),
    },
}
"""Ops with attributes, which the table doesn't choose."""
