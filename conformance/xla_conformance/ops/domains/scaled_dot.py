"""Domains of scaled-dot, by its dimension numbers and its scales."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from xla_conformance.ops.choices import Choice
from xla_conformance.ops.comparison import EQUAL
from xla_conformance.ops.domain import domain
from xla_conformance.ops.domains.contraction import (
    ALIKE,
    NUMBERS,
    ORDERS,
    PRECISIONS,
    arranged,
)
from xla_conformance.ops.element_types import WITH_ZERO
from xla_conformance.ops.fills import factors, with_ends
from xla_conformance.ops.program import Program
from xla_conformance.ops.reducers import wider
from xla_conformance.ops.sizes import SIZES
from xla_core.hlo import ElementType, HloInstruction, Opcode, Shape

_T = ElementType


@domain(
    Opcode.SCALED_DOT,
    rule=EQUAL,
    types=[t for t in WITH_ZERO if t.is_floating],
    sizes=SIZES[:6],
    places=("minor",),
    result=("wider", "f32", "f64"),
    scale=(_T.F8E8M0FNU, _T.BF16, _T.F32),
    blocks=("contracting", "every", "whole", "none"),
    free=("both", "left", "right"),
    batch=(1, 0, 2),
    contracting=(1, 2, 0),
    numbers=NUMBERS,
    lhs=ORDERS,
    rhs=ORDERS[::-1],
    large=("contracting", "left", "right", "every"),
    precision=PRECISIONS,
    algorithm=(None, "dot_f32_f32_f32"),
    terms=("whole", "special"),
)
def _scaled_dot(p: Program, c: Choice) -> HloInstruction:
    sizes = {"b": [2, 3, 4, 2][: c.batch], "f": [5], "c": [6, 4][: c.contracting]}
    if c.large == "every":
        equal = min(c.size, 6)
        sizes = {kind: [equal] * len(own) for kind, own in sizes.items()}
    if c.large == "contracting" and c.contracting:
        sizes["c"][-1] = c.size
    of_lhs, of_rhs = ([c.size if c.large == side else n] for side, n in (("left", 9), ("right", 7)))
    if c.large == "every":
        of_lhs = of_rhs = sizes["f"]
    of_lhs, of_rhs = ([] if c.free in ("right", "none") else of_lhs), ([] if c.free in ("left", "none") else of_rhs)
    lhs, lhs_at = arranged(c.lhs, {**sizes, "f": of_lhs}, c.numbers == "lhs crossed")
    rhs, rhs_at = arranged(c.rhs, {**sizes, "f": of_rhs}, c.numbers == "rhs crossed")
    made = {"wider": wider(p.type), "f32": _T.F32, "f64": _T.F64}[c.result]
    if made.bit_width < p.type.bit_width:
        made = p.type
    left, right = factors(4 * math.prod(sizes["c"]), made)
    scales = [_scale_shape(c.blocks, dims, at["c"]) for dims, at in ((lhs, lhs_at), (rhs, rhs_at))]
    attributes = {
        "lhs_batch_dims": lhs_at["b"],
        "rhs_batch_dims": rhs_at["b"],
        "lhs_contracting_dims": lhs_at["c"],
        "rhs_contracting_dims": rhs_at["c"],
    }
    result = [*sizes["b"], *(lhs[d] for d in lhs_at["f"]), *(rhs[d] for d in rhs_at["f"])]
    return p.add(
        Opcode.SCALED_DOT,
        p.parameter(lhs, fill=left),
        p.parameter(rhs, fill=right),
        *(p.parameter(s, c.scale, with_ends(_scales) if c.terms == "special" else _scales) for s in scales),
        shape=p.shape(result, made),
        operand_precision=c.precision,
        algorithm=c.algorithm,
        **attributes,
    )


@domain(
    Opcode.SCALED_DOT,
    **ALIKE,
    result=("f32",),
    scale=(_T.F32,),
    blocks=("every",),
    free=("both",),
    batch=(1,),
    lhs=("bfc",),
    rhs=ORDERS,
    algorithm=(None,),
)
def _scaled_dot_of_alike(p: Program, c: Choice) -> HloInstruction:
    return _scaled_dot(p, c)


@domain(
    Opcode.SCALED_DOT,
    **{**ALIKE, "variant": "products"},
    result=("f32",),
    scale=(_T.F32,),
    blocks=("every",),
    free=("none", "both"),
    batch=(0, 4),
    lhs=("bfc",),
    rhs=("bcf",),
    algorithm=(None,),
)
def _scaled_products(p: Program, c: Choice) -> HloInstruction:
    """Scalars, and arrays of six dimensions."""
    return _scaled_dot(p, c)


def _scale_shape(blocks: str, sizes: Sequence[int], contracting: Sequence[int]) -> list[int]:
    """Returns the shape of an operand's scales: a block has some of the contracting dimension, of all, or of none."""
    if blocks == "none":
        return []
    if blocks == "every":
        return list(sizes)
    return [_blocks(n, blocks) if d in contracting else n for d, n in enumerate(sizes)]


def _blocks(size: int, blocks: str) -> int:
    """Returns how many blocks a dimension is divided into."""
    if blocks == "whole" or not size:
        return min(size, 1)
    return next(size // k for k in (3, 2, 5, 7, 1) if size % k == 0)


def _scales(shape: Shape, random: np.random.Generator) -> np.ndarray:
    """Makes powers of two, of which a product is 2 at most."""
    return random.choice([0.5, 1.0], shape.dimensions).astype(shape.dtype)
