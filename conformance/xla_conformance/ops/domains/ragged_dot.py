"""Domains of ragged-dot, by its dimension numbers and its groups."""

from __future__ import annotations

import math

from xla_conformance.ops.choices import Choice, Group
from xla_conformance.ops.comparison import EQUAL
from xla_conformance.ops.domain import domain
from xla_conformance.ops.domains.contraction import (
    ALIKE,
    NUMBERS,
    PRECISIONS,
    arranged,
    result_type,
)
from xla_conformance.ops.element_types import WITH_ZERO
from xla_conformance.ops.fills import exactly, factors, with_one_product
from xla_conformance.ops.program import Program
from xla_conformance.ops.sizes import SIZES
from xla_core.hlo import ElementType, HloInstruction, Opcode

_T = ElementType


@domain(
    Opcode.RAGGED_DOT,
    rule=EQUAL,
    types=WITH_ZERO,
    sizes=SIZES[:6],
    places=("minor",),
    mode=("free", "contracting", "batch"),
    groups=(3, 1, 2, 8),
    filled=("all", "part", "some empty"),
    prefix=(False, True),
    index=(_T.S32, _T.S64, _T.U32, _T.U16),
    large=("ragged", "right", "every"),
    batch=(0, 1, 2, 3),
    contracting=(1, 2, 0),
    numbers=NUMBERS,
    lhs=("bfc", "cfb", "fbc"),
    rhs=("gbcf", "bfcg", "cgfb"),
    result=("same", "wider"),
    terms=("whole", "all bits"),
    precision=PRECISIONS,
)
def _ragged_dot(p: Program, c: Choice) -> HloInstruction:
    batch = [2, 3, 2][: max(c.batch, c.mode == "batch")]
    contracting = [4, 6][: max(c.contracting, c.mode == "contracting")]
    sizes = {"b": batch, "f": [5], "c": contracting, "g": [c.groups] if c.mode == "free" else []}
    ragged = 9 if c.large == "right" else c.size
    if c.large == "every":  # dimensions of one size can be taken for each other
        ragged = min(ragged, max(c.groups, 2), 4)
        batch[:], contracting[:] = [ragged] * len(batch), [ragged] * len(contracting)
        sizes["f"] = [ragged]
    sizes[{"free": "f", "contracting": "c", "batch": "b"}[c.mode]][-1] = ragged
    last = {"every": ragged, "right": c.size}.get(c.large, 9)
    lhs, lhs_at = arranged(c.lhs, sizes, c.numbers == "lhs crossed")
    rhs, rhs_at = arranged(c.rhs, {**sizes, "f": [last]}, c.numbers == "rhs crossed")
    made = result_type(c.result, p.type)
    left, right = factors(math.prod(contracting), made)
    if c.terms == "all bits":
        free = ([*lhs_at["b"], *lhs_at["f"]], [*rhs_at["b"], *rhs_at["f"], *rhs_at["g"]])
        left, right = with_one_product((left, right), (p.type, p.type), made, free, c.size % 2)
    before = {"free": batch, "contracting": [*batch, *contracting[:-1]], "batch": batch[:-1]}[c.mode]
    prefix = before if c.prefix else []
    parts = _groups(ragged, c.groups, c.filled)
    counts = [parts[(i + n) % len(parts)] for n in range(math.prod(prefix)) for i in range(len(parts))]
    attributes = {
        "lhs_batch_dims": lhs_at["b"],
        "rhs_batch_dims": rhs_at["b"],
        "lhs_contracting_dims": lhs_at["c"],
        "rhs_contracting_dims": rhs_at["c"],
        "lhs_ragged_dims": lhs_at[{"free": "f", "contracting": "c", "batch": "b"}[c.mode]][-1:],
        "rhs_group_dims": rhs_at["g"],
    }
    result = [*([c.groups] if c.mode == "contracting" else []), *batch, *sizes["f"], last]
    return p.add(
        Opcode.RAGGED_DOT,
        p.parameter(lhs, fill=left),
        p.parameter(rhs, fill=right),
        p.parameter([*prefix, c.groups], c.index, exactly(*counts)),
        shape=p.shape(result, made),
        operand_precision=c.precision,
        **attributes,
    )


@domain(
    Opcode.RAGGED_DOT,
    variant="square",
    types_in_turns=True,
    rule=EQUAL,
    types=WITH_ZERO,
    sizes=(3,),
    hiding=(),
    places=("minor",),
    mode=("free", "contracting", "batch"),
    groups=(3,),
    filled=("some empty", "part"),
    prefix=(False, True),
    index=(_T.S32,),
    large=("every",),
    batch=(1, 2),
    contracting=(1, 2),
    numbers=NUMBERS,
    lhs=("bfc", "cfb", "fbc"),
    rhs=("gbcf", "bfcg", "cgfb"),
    result=("same",),
    terms=("whole",),
    precision=((),),
)
def _square_ragged_dot(p: Program, c: Choice) -> HloInstruction:
    return _ragged_dot(p, c)


@domain(
    Opcode.RAGGED_DOT,
    variant="plain",
    types_in_turns=True,
    rule=EQUAL,
    types=WITH_ZERO,
    sizes=(Group(7, 8, 9), 65),
    hiding=(),
    places=("minor",),
    mode=("free",),
    groups=(3, 2, 8),
    filled=("part", "all"),
    prefix=(False,),
    index=(_T.S32,),
    large=("ragged",),
    batch=(0,),
    contracting=(1,),
    numbers=("ascending",),
    lhs=("bfc", "cfb"),
    rhs=("gbcf", "bfcg", "cgfb"),
    result=("same",),
    terms=("whole",),
    precision=((),),
)
def _plain_ragged_dot(p: Program, c: Choice) -> HloInstruction:
    """A matrix of rows in groups, as mixtures of experts have it; rows that belong to no group give zeros."""
    return _ragged_dot(p, c)


@domain(
    Opcode.RAGGED_DOT,
    **ALIKE,
    mode=("batch",),
    groups=(4,),
    filled=("part",),
    prefix=(False,),
    index=(_T.S32,),
    batch=(1,),
    lhs=("fbc",),
    rhs=("gbcf", "bfcg", "cgfb"),
    result=("same",),
)
def _ragged_dot_of_alike(p: Program, c: Choice) -> HloInstruction:
    return _ragged_dot(p, c)


@domain(
    Opcode.RAGGED_DOT,
    **{**ALIKE, "variant": "plain-alike"},
    mode=("free",),
    groups=(4,),
    filled=("part",),
    prefix=(False,),
    index=(_T.S32,),
    batch=(0,),
    lhs=("bfc",),
    rhs=("gbcf", "bfcg", "cgfb"),
    result=("same",),
)
def _plain_ragged_dot_of_alike(p: Program, c: Choice) -> HloInstruction:
    return _ragged_dot(p, c)


def _groups(total: int, count: int, filled: str) -> list[int]:
    """Returns group sizes: of all rows, of some of them, or of all in every second group (none, if there is one)."""
    rest = total * 2 // 3 if filled == "part" else total
    with_rows = range(count)[1::2] if filled == "some empty" else range(count)
    sizes = [rest // count + (i % 2) if i in with_rows else 0 for i in range(count)]
    while sum(sizes) > total:
        sizes[sizes.index(max(sizes))] -= 1
    if filled != "part" and with_rows:
        sizes[with_rows[-1]] += total - sum(sizes)
    return sizes
