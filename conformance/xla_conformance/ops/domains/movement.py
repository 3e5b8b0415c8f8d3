"""Domains of ops that move elements and compute none."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from xla_conformance.ops.choices import Choice, Group
from xla_conformance.ops.domain import domain
from xla_conformance.ops.element_types import USUAL
from xla_conformance.ops.fills import exactly
from xla_conformance.ops.program import Program
from xla_conformance.ops.sizes import LARGEST_TILE, beyond_tiles, dimensions, position
from xla_conformance.ops.values import patterns
from xla_core.hlo import ElementType, HloInstruction, Opcode, PaddingDimension, SliceDimension

RANKS = (3, 1, 2, 4, 5, 6)
_T = ElementType
INDEX_TYPES = (_T.S32, _T.S64, _T.U64, _T.U32, _T.S16, _T.U16, _T.S8, _T.U8)
PERMUTATIONS = ("reversed", "left", "right", "swap last", "swap first", "swap ends", "identity")
_LARGEST = 1 << 20
"""The most elements of all operands together."""

START_ROLES = ("within", "zero", "last", "below", "above", "far below", "far above")


@domain(Opcode.SLICE, rank=RANKS, start=(1, 0, "half"), limit=("size", "less", "half more"), stride=(1, 2, 3, 7))
def _slice(p: Program, c: Choice) -> HloInstruction:
    sizes = dimensions(c.rank, c.size, c.place)
    slices = [SliceDimension(min(1, n), n - (d % 2 and n > 2), 1 + d % 2) for d, n in enumerate(sizes)]
    if sizes:
        at = position(c.place, c.rank)
        size = sizes[at]
        start = size // 2 if c.start == "half" else min(c.start, size)
        limit = {"size": size, "less": max(start, size - 1), "half more": (start + size + 1) // 2}[c.limit]
        slices[at] = SliceDimension(start, limit, c.stride)
    return p.add(Opcode.SLICE, p.parameter(sizes), slice=tuple(slices))


@domain(Opcode.SLICE, variant="empty", sizes=(5,), hiding=(), pairs=False, start=(0, 2, 5))
def _empty_slice(p: Program, c: Choice) -> HloInstruction:
    whole = SliceDimension(0, 3)
    return p.add(Opcode.SLICE, p.parameter((3, c.size)), slice=(whole, SliceDimension(c.start, c.start)))


@domain(
    Opcode.PAD, rank=RANKS, low=(1, 0, 3, -1, -2), high=(2, 0, 5, -1, -3), interior=(0, 1, 2, 4), value=("any", "zero")
)
def _pad(p: Program, c: Choice) -> HloInstruction:
    sizes = dimensions(c.rank, c.size, c.place)
    edges = ((0, 0, 0), (1, 0, 0), (0, 2, 0), (0, 0, 1))
    padding = [PaddingDimension(*edges[d % len(edges)]) for d in range(c.rank)]
    if sizes:
        at = position(c.place, c.rank)
        inner = sizes[at] + max(sizes[at] - 1, 0) * c.interior
        low = max(c.low, -inner)
        padding[at] = PaddingDimension(low, max(c.high, -inner - low), c.interior)
    fill = {"any": patterns, "zero": exactly(-0.0 if p.type.is_floating else 0)}[c.value]
    return p.add(Opcode.PAD, p.parameter(sizes), p.parameter(fill=fill), padding=tuple(padding))


@domain(
    Opcode.REVERSE, rank=RANKS, reversed=("chosen", "first", "last", "all", "others", "none"), descending=(False, True)
)
def _reverse(p: Program, c: Choice) -> HloInstruction:
    sizes = dimensions(c.rank, c.size, c.place)
    named = subset(c.reversed, c.rank, c.place)
    return p.add(Opcode.REVERSE, p.parameter(sizes), dimensions=named[::-1] if c.descending else named)


def subset(role: str, rank: int, place: str) -> tuple[int, ...]:
    """Returns the dimensions of an array that a word names, in ascending order."""
    every = range(rank)
    chosen = position(place, rank) if rank else 0
    named = {
        "none": [],
        "chosen": [chosen],
        "first": [0],
        "last": [rank - 1],
        "ends": [0, rank - 1],
        "all": every,
        "others": [d for d in every if d != chosen],
    }[role]
    return tuple(sorted({d for d in named if d in every}))


@domain(Opcode.TRANSPOSE, rank=(3, 2, 4, 5, 6, 1), permutation=PERMUTATIONS)
def _transpose(p: Program, c: Choice) -> HloInstruction:
    sizes = dimensions(c.rank, c.size, c.place)
    return p.add(Opcode.TRANSPOSE, p.parameter(sizes), dimensions=permutation(c.permutation, c.rank))


@domain(
    Opcode.TRANSPOSE,
    variant="square",
    types_in_turns=True,
    sizes=(Group(3, 4),),
    hiding=(),
    places=("every",),
    rank=(4, 5),
    permutation=("left", "right", "odd first"),
)
def _square_transpose(p: Program, c: Choice) -> HloInstruction:
    """Permutations whose inverse is another one: with dimensions of one size, the inverse has the right shape."""
    return _transpose(p, c)


@domain(
    Opcode.TRANSPOSE,
    variant="tiles",
    sizes=(Group(31, 32, 33), Group(63, 64, 65)),
    hiding=(),
    places=("minor", "major"),
    beside=(33, Group(31, 32)),
    batch=("none", "before", "behind"),
)
def _tiled_transpose(p: Program, c: Choice) -> HloInstruction:
    """Matrices that end before, at and behind the end of a tile in both dimensions, alone and several together."""
    m, n = (c.size, c.beside) if c.place == "major" else (c.beside, c.size)
    sizes, turned = {
        "none": ((m, n), (1, 0)),
        "before": ((3, m, n), (0, 2, 1)),
        "behind": ((m, n, 3), (1, 0, 2)),
    }[c.batch]
    return p.add(Opcode.TRANSPOSE, p.parameter(sizes), dimensions=turned)


@domain(Opcode.TRANSPOSE, variant="remainders", sizes=(LARGEST_TILE - 1,), hiding=(), places=("minor",))
def _transposes_of_remainders(p: Program, c: Choice) -> HloInstruction:
    turned = [p.add(Opcode.TRANSPOSE, p.parameter(sizes), dimensions=(1, 0)) for sizes in beyond_tiles(c.size)]
    return p.add(Opcode.TUPLE, *turned)


def permutation(role: str, rank: int) -> tuple[int, ...]:
    """Returns the permutation of dimensions that a word names."""
    every = list(range(rank))
    if rank < 2:
        return tuple(every)
    return tuple(
        {
            "identity": every,
            "reversed": every[::-1],
            "left": [*every[1:], 0],
            "right": [rank - 1, *every[:-1]],
            "swap last": [*every[:-2], rank - 1, rank - 2],
            "swap first": [1, 0, *every[2:]],
            "odd first": [*every[1::2], *every[::2]],
            "swap ends": [rank - 1, *every[1:-1], 0],
        }[role]
    )


@domain(
    Opcode.BROADCAST,
    rank=RANKS,
    kept=("chosen", "none", "first", "last", "all", "others", "ends"),
    order=("ascending", "descending", "left"),
)
def _broadcast(p: Program, c: Choice) -> HloInstruction:
    sizes = dimensions(c.rank, c.size, c.place)
    kept = subset(c.kept, c.rank, c.place)
    order = {"ascending": kept, "descending": kept[::-1], "left": (*kept[1:], *kept[:1])}[c.order]
    operand = p.parameter([sizes[d] for d in order])
    return p.add(Opcode.BROADCAST, operand, shape=p.shape(sizes), dimensions=order)


@domain(
    Opcode.BROADCAST,
    variant="square",
    types_in_turns=True,
    sizes=(Group(3, 4, 5), 33),
    hiding=(),
    places=("every",),
    rank=(3, 2, 4),
    kept=("all", "others", "ends"),
    order=("descending", "left", "ascending"),
)
def _square_broadcast(p: Program, c: Choice) -> HloInstruction:
    return _broadcast(p, c)


@domain(Opcode.IOTA, scalar=False, rank=RANKS)
def _iota(p: Program, c: Choice) -> HloInstruction:
    sizes = dimensions(c.rank, c.size, c.place)
    return p.add(Opcode.IOTA, shape=p.shape(sizes), iota_dimension=position(c.place, c.rank))


@domain(Opcode.IOTA, variant="other", sizes=(7,), hiding=(), rank=RANKS[2:], along=("major", "middle", "minor"))
def _iota_along(p: Program, c: Choice) -> HloInstruction:
    sizes = dimensions(c.rank, c.size, c.place)
    return p.add(Opcode.IOTA, shape=p.shape(sizes), iota_dimension=position(c.along, c.rank))


@domain(Opcode.IOTA, variant="long", sizes=(), rank=(1,))
def _long_iota(p: Program, c: Choice) -> HloInstruction:
    """More numbers than types of 8 bits have, and than those of 16 bits hold exactly."""
    return p.add(Opcode.IOTA, shape=p.shape((300 if p.type.bit_width <= 8 else 66001,)), iota_dimension=0)


@domain(
    Opcode.RESHAPE,
    rank=RANKS,
    form=("flat", "reversed", "split", "ones", "merged", "middle"),
    inferred=(None, 0, 1, 2, 3),
)
def _reshape(p: Program, c: Choice) -> HloInstruction:
    sizes = dimensions(c.rank, c.size, c.place)
    result = reshaped(sizes, c.form)
    inferred = None if c.inferred is None or not result else min(c.inferred, len(result) - 1)
    return p.add(Opcode.RESHAPE, p.parameter(sizes), shape=p.shape(result), inferred_dimension=inferred)


def reshaped(sizes: Sequence[int], form: str) -> tuple[int, ...]:
    """Returns other dimensions for the elements of an array."""
    count = 1
    for n in sizes:
        count *= n
    if form == "flat":
        return (count,)
    if form == "reversed":
        return tuple(reversed(sizes))
    if form == "split":
        divisors = {n: next((k for k in (2, 3, 5, 7) if n > k and n % k == 0), 1) for n in sizes}
        return tuple(part for n in sizes for part in ((n // divisors[n], divisors[n]) if divisors[n] > 1 else (n,)))
    if form == "merged" and len(sizes) > 1:
        return (*sizes[:-2], sizes[-2] * sizes[-1])
    if form == "ones":
        return tuple(part for n in sizes for part in (1, n))[:6] if len(sizes) <= 3 else (1, *sizes, 1)
    return (1, count, 1)


@domain(
    Opcode.CONCATENATE,
    scalar=False,
    rank=RANKS,
    count=(2, 1, 3, 9, 33),
    along=("chosen", "first", "last", "middle"),
    largest=("first", "last"),
    parts=("thin", "hollow", "equal", "repeated"),
)
def _concatenate(p: Program, c: Choice) -> HloInstruction:
    sizes = dimensions(c.rank, c.size, c.place, _LARGEST // max(c.count, 4))
    axis = {"first": 0, "last": c.rank - 1}.get(c.along, position(c.place if c.along == "chosen" else "middle", c.rank))
    parts = [sizes[axis], *(1 + i % 4 for i in range(c.count - 1))]
    if c.parts in ("equal", "repeated"):
        parts = [sizes[axis]] * c.count
    elif c.parts == "hollow" and c.count > 2:
        parts[1] = 0
    if c.largest == "last":
        parts.reverse()
    operands = [p.parameter([*sizes[:axis], n, *sizes[axis + 1 :]]) for n in parts]
    if c.parts == "repeated":
        operands = [operands[0], *operands[:-1]]
    return p.add(Opcode.CONCATENATE, *operands, dimensions=(axis,))


@domain(Opcode.CONCATENATE, variant="few", types=USUAL, sizes=(), places=())
def _concatenate_few(p: Program, c: Choice) -> HloInstruction:
    """Two or three operands along each dimension of a cube, one of which is thin or has no element."""
    results = []
    for axis in range(3):
        for at in range(3):
            parts = [4, 7] if axis + at else [33]
            parts.insert(at, at % 2 if axis == 2 else 1)
            operands = [p.parameter([5] * axis + [n] + [5] * (2 - axis)) for n in parts]
            results.append(p.add(Opcode.CONCATENATE, *operands, dimensions=(axis,)))
    return p.add(Opcode.TUPLE, *results)


@domain(
    Opcode.DYNAMIC_SLICE,
    rank=RANKS,
    start=START_ROLES,
    taken=("half", "one", "all", "all but one"),
    index=INDEX_TYPES,
    form=("scalars", "vector"),
)
def _dynamic_slice(p: Program, c: Choice) -> HloInstruction:
    sizes = dimensions(c.rank, c.size, c.place)
    taken = _taken(c, sizes)
    operand = p.parameter(sizes)
    return p.add(Opcode.DYNAMIC_SLICE, operand, *_starts(p, c, sizes, taken), dynamic_slice_sizes=taken)


@domain(
    Opcode.DYNAMIC_UPDATE_SLICE,
    rank=RANKS,
    start=START_ROLES,
    taken=("half", "one", "all", "all but one"),
    index=INDEX_TYPES,
    form=("scalars", "vector"),
)
def _dynamic_update_slice(p: Program, c: Choice) -> HloInstruction:
    sizes = dimensions(c.rank, c.size, c.place)
    taken = _taken(c, sizes)
    operand, update = p.parameter(sizes), p.parameter(taken)
    return p.add(Opcode.DYNAMIC_UPDATE_SLICE, operand, update, *_starts(p, c, sizes, taken))


def _taken(c: Choice, sizes: Sequence[int]) -> tuple[int, ...]:
    taken = [(n + 1) // 2 for n in sizes]
    if sizes:
        at = position(c.place, c.rank)
        n = sizes[at]
        taken[at] = {"half": n // 2, "one": min(1, n), "all": n, "all but one": max(n - 1, 0)}[c.taken]
    return tuple(taken)


def _starts(p: Program, c: Choice, sizes: Sequence[int], taken: Sequence[int]) -> list[HloInstruction]:
    """Adds the start indices: the chosen dimension starts as the choice says, the others at the next roles."""
    first = START_ROLES.index(c.start) - (position(c.place, c.rank) if sizes else 0)
    starts = [
        start(START_ROLES[(first + d) % len(START_ROLES)], n - k, c.index)
        for d, (n, k) in enumerate(zip(sizes, taken, strict=True))
    ]
    least, most = c.index.integer_range
    starts = [min(max(s, least), most) for s in starts]
    if c.form == "vector" and sizes:
        return [p.parameter((len(sizes),), c.index, lambda shape, random: np.asarray(starts, shape.dtype))]
    return [p.parameter((), c.index, exactly(s)) for s in starts]


def start(role: str, last: int, index: ElementType) -> int:
    """Returns a start index; `last` is the largest that needs no clamping."""
    far = far_indices(index)
    ends = {"far below": min(far), "far above": max(far) if last % 2 else far[0]}
    return {"within": (last + 1) // 2, "zero": 0, "last": last, "below": -3, "above": last + 2, **ends}[role]


def far_indices(index: ElementType) -> tuple[int, ...]:
    """Returns indices that are other ones in a type of half the width, or of the other signedness."""
    least, most = index.integer_range
    half = (1 << (index.bit_width // 2)) + 1
    return (half, most, max(least, -half), least)


@domain(Opcode.COPY, rank=RANKS)
def _copy(p: Program, c: Choice) -> HloInstruction:
    return p.add(Opcode.COPY, p.parameter(dimensions(c.rank, c.size, c.place)))
