"""Domains of sort and topk."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from xla_conformance.ops.choices import Choice, Group
from xla_conformance.ops.domain import domain
from xla_conformance.ops.domains.movement import RANKS
from xla_conformance.ops.element_types import REAL
from xla_conformance.ops.fills import Fill, halves, numbers
from xla_conformance.ops.program import Program, unsigned_type
from xla_conformance.ops.reducers import SECONDS, SIDES, several_types
from xla_conformance.ops.sizes import MEDIUM, SIZES, dimensions, position
from xla_conformance.ops.values import patterns, special
from xla_core.hlo import ElementType, HloComputation, HloInstruction, Opcode, Shape


def _ties(shape: Shape, random: np.random.Generator) -> np.ndarray:
    """Makes an array of few different values, zeros of both signs among them."""
    values = np.asarray([0.0, -0.0, 1, 2, 1]) if shape.element_type.has_zero else np.asarray([1.0, 2, 1])
    return random.choice(values.astype(shape.dtype), shape.dimensions)


def _ascending(shape: Shape, random: np.random.Generator) -> np.ndarray:
    return np.sort(numbers(shape, random).reshape(-1)).reshape(shape.dimensions)


def _descending(shape: Shape, random: np.random.Generator) -> np.ndarray:
    return np.ascontiguousarray(_ascending(shape, random).reshape(-1)[::-1].reshape(shape.dimensions))


_ROWS = 9
_KEYS: dict[str, Fill] = {"numbers": numbers, "ties": _ties, "ascending": _ascending, "descending": _descending}


@domain(
    Opcode.SORT,
    variant="many",
    types=REAL,
    sizes=SIZES[6:],
    hiding=(),
    places=("minor",),
    direction=("LT", "GT"),
    count=(1, 2),
)
def _sort_many(p: Program, c: Choice) -> HloInstruction:
    operands = [p.parameter((c.size,), t, f) for t, f in ((p.type, _ties), (ElementType.S32, patterns))][: c.count]
    order = _order(p, [o.shape.element_type for o in operands], [0], c.direction, None)
    return p.add(Opcode.SORT, *operands, dimensions=(0,), is_stable=True, to_apply=order)


@domain(
    Opcode.SORT,
    types=REAL,
    sizes=SIZES[:6],
    scalar=False,
    rank=(3, 1, 2, Group(4, 5, 6)),
    along=("chosen", "first", "last"),
    direction=("LT", "GT"),
    count=(1, 2, 3, 5),
    second=SECONDS,
    key=("first", "last", "two"),
    keys=("numbers", "ties", Group("ascending", "descending")),
    stable=(True, False),
    sides=SIDES,
)
def _sort(p: Program, c: Choice) -> HloInstruction:
    """Without a stable order, an operand of distinct numbers decides between equal keys."""
    sizes = dimensions(c.rank, c.size, c.place, 1 << 14)
    axis = {"chosen": position(c.place, c.rank), "first": 0, "last": c.rank - 1}[c.along]
    types = several_types(p, c.count, c.second)
    keys = {"first": [0], "last": [c.count - 1], "two": [0, c.count - 1]}[c.key]
    fills = [_KEYS[c.keys] if number in keys else patterns for number in range(c.count)]
    if not c.stable:
        types.append(ElementType.S32)
        fills.append(_distinct)
        keys = [*keys, c.count]
    operands = [p.parameter(sizes, t, fill) for t, fill in zip(types, fills, strict=True)]
    total = "TOTALORDER" if c.keys == "numbers" and p.type.is_floating else None
    order = _order(p, types, list(dict.fromkeys(keys)), c.direction, total, c.sides)
    return p.add(Opcode.SORT, *operands, dimensions=(axis,), is_stable=c.stable, to_apply=order)


@domain(
    Opcode.SORT,
    variant="wide",
    pairs=False,
    types_in_turns=True,
    types=[ElementType.F32, ElementType.S64, ElementType.BF16],
    sizes=MEDIUM,
    hiding=(),
    rank=RANKS[:3],
    along=("chosen", "first"),
    direction=("LT", "GT"),
    count=(17, 33),
    second=SECONDS,
    key=("first", "last"),
    keys=("ties",),
    stable=(True,),
    sides=SIDES[:1],
)
def _wide_sort(p: Program, c: Choice) -> HloInstruction:
    return _sort(p, c)


def _distinct(shape: Shape, random: np.random.Generator) -> np.ndarray:
    return random.permutation(shape.num_elements).astype(shape.dtype).reshape(shape.dimensions)


def _order(
    p: Program,
    types: Sequence[ElementType],
    keys: Sequence[int],
    direction: str,
    total: str | None,
    sides: str = "ordered",
) -> HloComputation:
    """Adds a comparator: the first of the keys that differ decides."""
    turned = {"LT": "GT", "GT": "LT", "EQ": "EQ"}
    pairs = [t for t in types for _ in range(2)]

    def root(made: HloComputation, *parameters: HloInstruction) -> HloInstruction:
        def compare(key: int, how: str) -> HloInstruction:
            kind = total if types[key].is_floating else None
            one, other = parameters[2 * key : 2 * key + 2]
            if sides == "crossed":
                one, other, how = other, one, turned[how]
            return made.add(Opcode.COMPARE, one, other, direction=how, type=kind)

        before = compare(keys[-1], direction)
        for key in reversed(keys[:-1]):
            same = made.add(Opcode.AND, compare(key, "EQ"), before)
            before = made.add(Opcode.OR, compare(key, direction), same)
        return before

    return p.computation("order", pairs, root)


@domain(
    Opcode.SORT,
    variant="total_order",
    types=[t for t in REAL if t.is_floating and t.has_infinity],
    sizes=SIZES[:5],
    hiding=(),
    direction=("LT", "GT"),
    count=(1, 2),
    pairs=False,
)
def _sort_specials(p: Program, c: Choice) -> HloInstruction:
    """NaNs of both signs, infinities and zeros of both signs, in the total order."""
    types = [p.type, ElementType.S32][: c.count]
    fills: list[Fill] = [special, _distinct]
    operands = [p.parameter((3, c.size), t, fill) for t, fill in zip(types, fills, strict=False)]
    order = _order(p, types, [0], c.direction, "TOTALORDER")
    return p.add(Opcode.SORT, *operands, dimensions=(1,), is_stable=True, to_apply=order)


def _rows_of_keys(ordinary: bool) -> Fill:
    """Makes matrices of keys, each row of another kind. Ordinary keys have no NaN: any comparison orders them."""

    def fill(shape: Shape, random: np.random.Generator) -> np.ndarray:
        kinds = [*_KEYS.values(), numbers if ordinary else patterns, numbers if ordinary else special]
        row = Shape(shape.element_type, shape.dimensions[1:])
        rows = [kinds[i % len(kinds)](row, random) for i in range(shape.dimensions[0])]
        if shape.element_type.is_integral and shape.element_type.bit_width >= 8:
            rows[-2:] = [halves(row, random, is_low) for is_low in (True, False)]
        return np.stack(rows)

    return fill


@domain(
    Opcode.SORT,
    variant="rows",
    types=REAL,
    sizes=(Group(*SIZES[0], *SIZES[1]), Group(*SIZES[2], *SIZES[3]), Group(*SIZES[4], *SIZES[5])),
    hiding=(),
    places=("minor",),
    direction=("LT", "GT"),
)
def _sort_rows(p: Program, c: Choice) -> HloInstruction:
    """Rows of keys with a number each, in a stable order; and keys alone and with their own bits, in any order."""
    first, last = ("GT", "LT") if c.direction == "GT" else ("LT", "GT")
    total = "TOTALORDER" if p.type.is_floating else None
    keys = p.parameter((_ROWS, c.size), fill=_rows_of_keys(ordinary=False))
    plain = p.parameter((_ROWS, c.size), fill=_rows_of_keys(ordinary=True))
    places = p.add(Opcode.IOTA, shape=p.shape(keys.shape.dimensions, ElementType.S32), iota_dimension=1)
    if p.type.bit_width >= 8 and p.type is not ElementType.PRED:
        unsigned = p.shape(keys.shape.dimensions, unsigned_type(p.type))
        bits = p.add(Opcode.BITCAST_CONVERT, keys, shape=unsigned)
    else:
        bits = keys
    sorts: list[tuple[tuple[HloInstruction, ...], str, str | None, bool]] = [
        ((keys, places), first, total, True),
        ((keys, bits), last, total, False),
        ((keys,), first, total, False),
        ((plain, places), last, None, True),
    ]
    results = []
    for operands, direction, kind, stable in sorts[: 4 if p.type.is_floating else 3]:
        order = _order(p, [o.shape.element_type for o in operands], [0], direction, kind)
        made = p.add(Opcode.SORT, *operands, dimensions=(1,), is_stable=stable, to_apply=order)
        parts = range(len(operands)) if len(operands) > 1 else ()
        results += [p.add(Opcode.GET_TUPLE_ELEMENT, made, index=i) for i in parts] or [made]
    return p.add(Opcode.TUPLE, *results)


@domain(
    Opcode.TOPK,
    types=REAL,
    scalar=False,
    rank=(2, 1, 3, Group(4, 6)),
    places=("minor", "major"),
    k=("some", 0, 1, 2, "all"),
    largest=(True, False),
    keys=("numbers", "ties", Group("ascending", "descending"), "special"),
)
def _topk(p: Program, c: Choice) -> HloInstruction:
    sizes = dimensions(c.rank, c.size, c.place, 1 << 17)
    k = {"some": (sizes[-1] + 2) // 3, "all": sizes[-1]}.get(c.k, c.k)
    operand = p.parameter(sizes, fill={**_KEYS, "special": special}[c.keys])
    return p.add(Opcode.TOPK, operand, k=min(k, sizes[-1]), largest=c.largest)
