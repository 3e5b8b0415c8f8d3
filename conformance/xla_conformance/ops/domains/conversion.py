"""Domains of comparison, selection and conversion."""

from __future__ import annotations

import itertools

import numpy as np

from xla_conformance.ops.choices import Choice, Group
from xla_conformance.ops.comparison import EXACT
from xla_conformance.ops.domain import domain
from xla_conformance.ops.domains.movement import RANKS
from xla_conformance.ops.element_types import CLASSES, REAL
from xla_conformance.ops.elementwise_forms import constants
from xla_conformance.ops.fills import exactly
from xla_conformance.ops.program import Program
from xla_conformance.ops.sizes import SIZES, dimensions
from xla_conformance.ops.values import moderate, special
from xla_core.hlo import ElementType, HloInstruction, Opcode, Shape, lookup

_T = ElementType


@domain(
    Opcode.COMPARE,
    rule=EXACT,
    rank=RANKS,
    direction=lookup(Opcode.COMPARE).attributes["direction"].values,
    order=("none", "named", "total"),
)
def _compare(p: Program, c: Choice) -> HloInstruction:
    sizes = dimensions(c.rank, c.size, c.place)
    x, y = (p.parameter(sizes, fill=moderate if p.type.is_complex else special) for _ in range(2))
    direction = c.direction if not p.type.is_complex or c.direction == "NE" else "EQ"
    own = "FLOAT" if p.type.is_floating or p.type.is_complex else "SIGNED" if p.type.is_signed else "UNSIGNED"
    total = "TOTALORDER" if p.type.is_floating else own
    kind = {"none": None, "named": own, "total": total}[c.order]
    return p.add(Opcode.COMPARE, x, y, direction=direction, type=kind)


@domain(Opcode.COMPARE, variant="scalars", rule=EXACT, sizes=(), places=(), pairs=False, order=("none",))
def _compare_scalars(p: Program, c: Choice) -> HloInstruction:
    """Scalars in each direction: the ends of the type, and numbers near 0."""
    directions = ("EQ", "NE") if p.type.is_complex else lookup(Opcode.COMPARE).attributes["direction"].values
    known = constants(p.type)
    chosen = [*known[:4], *known[8:10]]  # 0, -0, 1, -1, an infinity and a NaN, where the type has them
    if p.type.is_integral:
        chosen = [np.asarray(n).astype(known[0].dtype) for n in (*p.type.integer_range, 0, 1)]
    left, right = [[p.parameter(fill=exactly(*value.reshape(1).tolist())) for value in chosen] for _ in range(2)]
    pairs = itertools.product(left, right)
    return p.add(Opcode.TUPLE, *(p.add(Opcode.COMPARE, x, y, direction=d) for x, y in pairs for d in directions))


@domain(Opcode.SELECT, rank=RANKS, predicate=("array", "scalar"))
def _select(p: Program, c: Choice) -> HloInstruction:
    sizes = dimensions(c.rank, c.size, c.place)
    predicate = p.parameter(sizes if c.predicate == "array" else (), _T.PRED)
    return p.add(Opcode.SELECT, predicate, p.parameter(sizes), p.parameter(sizes))


@domain(Opcode.CLAMP, rule=EXACT, types=REAL, rank=RANKS, low=("array", "scalar"), high=("array", "scalar"))
def _clamp(p: Program, c: Choice) -> HloInstruction:
    sizes = dimensions(c.rank, c.size, c.place)
    low, x, high = (p.parameter(sizes if form == "array" else (), fill=special) for form in (c.low, "array", c.high))
    return p.add(Opcode.CLAMP, low, x, high)


@domain(Opcode.CONVERT, rule=EXACT, rank=RANKS, target=CLASSES, sizes=(Group(*SIZES[0], *SIZES[1]), *SIZES[2:]))
def _convert(p: Program, c: Choice) -> HloInstruction:
    sizes = dimensions(c.rank, c.size, c.place)
    fill = moderate if p.type.is_complex else special if _has_nan(c.target) else _numbers
    operand = p.parameter(sizes, fill=fill)
    return p.add(Opcode.CONVERT, operand, shape=p.shape(sizes, c.target))


def _has_nan(element_type: ElementType) -> bool:
    return not element_type.is_floating or bool(np.isnan(np.float32(np.nan).astype(element_type.dtype)))


def _numbers(shape: Shape, random: np.random.Generator) -> np.ndarray:
    """Makes special values without NaN, whose sign decides the result in a type that has none."""
    values = special(shape, random)
    return np.where(np.isnan(values), values.dtype.type(1), values) if shape.element_type.is_floating else values


@domain(
    Opcode.BITCAST_CONVERT,
    rank=RANKS,
    target=("same", "narrower", "wider", "narrowest", "widest", "two narrower", "two wider"),
)
def _bitcast_convert(p: Program, c: Choice) -> HloInstruction:
    """The last dimension is the chosen one, and grows or shrinks by the ratio of the widths."""
    sizes = dimensions(c.rank, c.size, c.place, 1 << 16)
    source = p.type
    widths = sorted({t.bit_width for t in ElementType if _are_alike(source, t)})
    index = widths.index(source.bit_width)
    chosen = {"same": index, "narrowest": 0, "widest": len(widths) - 1}
    chosen |= {"narrower": index - 1, "wider": index + 1, "two narrower": index - 2, "two wider": index + 2}
    width = widths[min(max(chosen[c.target], 0), len(widths) - 1)]
    partners = [t for t in ElementType if _are_alike(source, t) and t.bit_width == width and t is not source]
    target = partners[len(str(c)) % len(partners)] if partners else source
    if target.bit_width > source.bit_width:
        return p.add(
            Opcode.BITCAST_CONVERT,
            p.parameter((*sizes, target.bit_width // source.bit_width)),
            shape=p.shape(sizes, target),
        )
    ratio = source.bit_width // target.bit_width
    shape = p.shape((*sizes, ratio) if ratio > 1 else sizes, target)
    return p.add(Opcode.BITCAST_CONVERT, p.parameter(sizes), shape=shape)


def _are_alike(a: ElementType, b: ElementType) -> bool:
    """Whether the bits of one type may become another: both real or both complex, of widths that divide."""
    if not b.is_array or a.is_complex != b.is_complex or (a is _T.PRED) != (b is _T.PRED):
        return False
    return max(a.bit_width, b.bit_width) % min(a.bit_width, b.bit_width) == 0


@domain(
    Opcode.REDUCE_PRECISION,
    rule=EXACT,
    rank=RANKS,
    exponent=(5, 1, 2, 3, 4, 8, 11),
    mantissa=(10, 0, 1, 2, 3, 7, 23, 52),
)
def _reduce_precision(p: Program, c: Choice) -> HloInstruction:
    operand = p.parameter(dimensions(c.rank, c.size, c.place), fill=special)
    return p.add(Opcode.REDUCE_PRECISION, operand, exponent_bits=c.exponent, mantissa_bits=c.mantissa)


@domain(
    Opcode.STOCHASTIC_CONVERT,
    rule=EXACT,
    types=[t for t in ElementType if t.is_floating and t.bit_width in (8, 16, 32, 64) and t.has_zero],
    rank=RANKS,
    target=(
        Group(_T.S2, _T.S4, _T.U2, _T.U4),
        Group(_T.S8, _T.U8, _T.S16, _T.U16),
        _T.S32,
        _T.U32,
        Group(_T.S64, _T.U64),
    ),
    fill=("special", "moderate"),
)
def _stochastic_convert(p: Program, c: Choice) -> HloInstruction:
    sizes = dimensions(c.rank, c.size, c.place)
    operand = p.parameter(sizes, fill={"special": special, "moderate": moderate}[c.fill])
    random = p.parameter(sizes, ElementType(f"u{min(max(p.type.bit_width, 8), 64)}"))
    return p.add(Opcode.STOCHASTIC_CONVERT, operand, random, shape=p.shape(sizes, c.target))
