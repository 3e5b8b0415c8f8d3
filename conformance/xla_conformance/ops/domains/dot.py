"""Domains of dot, by its dimension numbers."""

from __future__ import annotations

import itertools
import math
from typing import Any

from xla_conformance.ops.choices import Choice, Group
from xla_conformance.ops.comparison import EQUAL
from xla_conformance.ops.domain import domain
from xla_conformance.ops.domains.contraction import (
    ALIKE,
    ALL_BITS,
    BITS,
    NUMBERS,
    ORDERS,
    OTHERS,
    PRECISIONS,
    arranged,
    other_type,
    result_type,
)
from xla_conformance.ops.element_types import WITH_ZERO
from xla_conformance.ops.fills import factors, with_ends, with_one_product, with_scales
from xla_conformance.ops.program import Program
from xla_conformance.ops.sizes import LARGEST_TILE, beyond_tiles, equal_size
from xla_core.hlo import ElementType, HloInstruction, Opcode

_T = ElementType
_AXES: dict[str, Any] = {
    "batch": (1, 0, 2, 3),
    "contracting": (1, 2, 0, 3),
    "left": (1, 0, 2),
    "right": (1, 0, 2),
    "lhs": ORDERS,
    "rhs": ORDERS[::-1],
    "numbers": NUMBERS,
    "large": ("contracting", "left", "right", "batch", "every"),
    "precision": PRECISIONS,
    "bits": BITS,
}


class _Dimensions:
    """Sizes of a dot's dimensions by kind, and where they are in each operand."""

    def __init__(self, c: Choice) -> None:
        unused = itertools.cycle([n for n in (3, 2, 5, 4, 7, 6) if n != c.size])
        counts = {"batch": c.batch, "contracting": c.contracting, "left": c.left, "right": c.right}
        self.sizes = {kind: [next(unused) for _ in range(count)] for kind, count in counts.items()}
        if c.large == "every":
            equal = equal_size(c.size, sum(counts.values()), 1 << 16)
            self.sizes = {kind: [equal] * count for kind, count in counts.items()}
        large = self.sizes[c.large if counts.get(c.large) else next((k for k in counts if counts[k]), "batch")]
        if large and c.large != "every":
            large[-1] = c.size
        while math.prod(n for sizes in self.sizes.values() for n in sizes) > 1 << 20:
            largest = max((s for s in self.sizes.values() if s is not large and s), key=max, default=[])
            if not largest or max(largest) == 1:
                break
            largest[largest.index(max(largest))] -= 1
        kinds = {"b": self.sizes["batch"], "c": self.sizes["contracting"]}
        self.lhs, self.lhs_dims = arranged(c.lhs, {**kinds, "f": self.sizes["left"]}, c.numbers == "lhs crossed")
        self.rhs, self.rhs_dims = arranged(c.rhs, {**kinds, "f": self.sizes["right"]}, c.numbers == "rhs crossed")
        self.terms = math.prod(self.sizes["contracting"])

    @property
    def operands(self) -> list[tuple[list[int], dict[str, tuple[int, ...]]]]:
        """The sizes of each operand, and where its dimensions of each kind are."""
        return [(self.lhs, self.lhs_dims), (self.rhs, self.rhs_dims)]

    def attributes(self) -> dict[str, tuple[int, ...]]:
        return {
            "lhs_batch_dims": self.lhs_dims["b"],
            "rhs_batch_dims": self.rhs_dims["b"],
            "lhs_contracting_dims": self.lhs_dims["c"],
            "rhs_contracting_dims": self.rhs_dims["c"],
        }

    def result(self) -> list[int]:
        return [*self.sizes["batch"], *self.sizes["left"], *self.sizes["right"]]


@domain(
    Opcode.DOT,
    rule=EQUAL,
    types=WITH_ZERO,
    places=("minor",),
    result=("same", "wider"),
    other=OTHERS,
    terms=("whole", "ends", "scales", *ALL_BITS),
    **_AXES,
)
def _dot(p: Program, c: Choice) -> HloInstruction:
    d, made = _Dimensions(c), result_type(c.result, p.type)
    other = other_type(c.other, p.type)
    left, right = factors(d.terms, made, c.bits)
    of_lhs, of_rhs = ([i for i in range(len(sizes)) if i not in at["c"]] for sizes, at in d.operands)
    if c.terms == "scales":
        left, right = with_scales((left, right), (p.type, other), made, (of_lhs, of_rhs), c.size % 2)
    if c.terms in ALL_BITS:
        full = ALL_BITS.index(c.terms)
        left, right = with_one_product((left, right), (p.type, other), made, (of_lhs, of_rhs), full)
    lhs = p.parameter(d.lhs, fill=with_ends(left) if c.terms == "ends" else left)
    rhs = p.parameter(d.rhs, other, with_ends(right) if c.terms == "ends" and other.is_integral else right)
    shape = p.shape(d.result(), made)
    return p.add(Opcode.DOT, lhs, rhs, shape=shape, operand_precision=c.precision, **d.attributes())


@domain(
    Opcode.DOT,
    variant="square",
    types_in_turns=True,
    rule=EQUAL,
    types=WITH_ZERO,
    sizes=(Group(3, 4, 5), 33),
    places=("minor",),
    hiding=(),
    **{**_AXES, "batch": (1, 2, 0), "contracting": (1, 2), "left": (1,), "right": (1,), "large": ("every",)},
    result=("same",),
    other=("same",),
    terms=("whole",),
)
def _square_dot(p: Program, c: Choice) -> HloInstruction:
    """All dimensions have one size, so that a backend that confuses two of them gets a result of the right shape."""
    return _dot(p, c)


@domain(
    Opcode.DOT,
    **ALIKE,
    batch=(1,),
    left=(1,),
    right=(1,),
    lhs=("bfc",),
    rhs=ORDERS,
    bits=("even",),
    result=("same",),
    other=("same",),
)
def _dot_of_alike(p: Program, c: Choice) -> HloInstruction:
    return _dot(p, c)


@domain(
    Opcode.DOT,
    variant="remainders",
    rule=EQUAL,
    types=(_T.S8, _T.BF16, _T.F16, _T.F32),
    sizes=(Group(8, 16, 24, 32, 64),),
    hiding=(),
    places=("minor",),
    result=("wider", "same"),
)
def _dots_of_remainders(p: Program, c: Choice) -> HloInstruction:
    """Contracted sizes of each remainder modulo 8, with and without a batch, in types that matrix instructions take.

    A kernel of vectors or tiles has code of its own for the last elements, often one for each remainder.
    """
    results = []
    made = result_type(c.result, p.type)
    for rest, batch in itertools.product(range(8), ((), (2,))):
        size, at = c.size + rest, len(batch)
        is_last = (c.size // 8 + rest + at) % 2  # whether rhs is contracted over its last dimension
        left, right = factors(size, made)
        lhs = p.parameter((*batch, 3, size), fill=left)
        rhs = p.parameter((*batch, 5, size) if is_last else (*batch, size, 5), fill=right)
        numbers = {f"{side}_batch_dims": tuple(range(at)) for side in ("lhs", "rhs")}
        numbers |= {"lhs_contracting_dims": (at + 1,), "rhs_contracting_dims": (at + is_last,)}
        results.append(p.add(Opcode.DOT, lhs, rhs, shape=p.shape((*batch, 3, 5), made), **numbers))
    return p.add(Opcode.TUPLE, *results)


@domain(
    Opcode.DOT,
    variant="tiles",
    rule=EQUAL,
    types=(_T.S8, _T.BF16, _T.F16, _T.F32),
    sizes=(LARGEST_TILE - 1,),
    hiding=(),
    places=("minor",),
)
def _dots_beyond_tiles(p: Program, c: Choice) -> HloInstruction:
    """The results go beyond a tile in both dimensions."""
    results = []
    for number, (rows, columns) in enumerate(beyond_tiles(c.size)):
        terms, is_last = 9 + number, (number + 1) % 2  # whether rhs is contracted over its last dimension
        left, right = factors(terms, p.type)
        lhs = p.parameter((rows, terms), fill=left)
        rhs = p.parameter((columns, terms) if is_last else (terms, columns), fill=right)
        numbers = {"lhs_contracting_dims": (1,), "rhs_contracting_dims": (is_last,)}
        results.append(p.add(Opcode.DOT, lhs, rhs, shape=p.shape((rows, columns)), **numbers))
    return p.add(Opcode.TUPLE, *results)


@domain(
    Opcode.DOT,
    variant="bytes",
    rule=EQUAL,
    types=(_T.S8, _T.U8, _T.S4, _T.U4),
    sizes=(Group(16, 18, 32, 64, 66),),
    hiding=(),
    places=("minor",),
)
def _dots_of_bytes(p: Program, c: Choice) -> HloInstruction:
    """Numbers with and without signs in both orders, whose largest products have sums beyond 16 bits."""
    left, right = (with_ends(fill) for fill in factors(c.size, p.type))
    results = []
    for other in ("same", "alike"):
        for made in (_T.S32, p.type):
            lhs, rhs = p.parameter((5, c.size), fill=left), p.parameter((c.size, 7), other_type(other, p.type), right)
            numbers = {"lhs_contracting_dims": (1,), "rhs_contracting_dims": (0,)}
            results.append(p.add(Opcode.DOT, lhs, rhs, shape=p.shape((5, 7), made), **numbers))
    return p.add(Opcode.TUPLE, *results)
