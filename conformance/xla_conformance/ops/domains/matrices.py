"""Domains of dot: products of matrices and vectors of many sizes, with several kinds of elements."""

from __future__ import annotations

import numpy as np

from xla_conformance.ops.choices import Choice, Group
from xla_conformance.ops.comparison import EQUAL
from xla_conformance.ops.domain import domain
from xla_conformance.ops.domains.contraction import ALL_BITS, result_type
from xla_conformance.ops.element_types import WITH_ZERO
from xla_conformance.ops.fills import Fill, factors, huge, whole, with_ends, with_one_product, with_scales
from xla_conformance.ops.program import Program
from xla_conformance.ops.sizes import SIZES
from xla_core.hlo import ElementType, HloInstruction, Opcode, Shape

_T = ElementType
_EDGES = (Group(7, 8, 9), Group(15, 16, 17, 31, 32, 33), Group(63, 64, 65), Group(127, 128, 129))


@domain(
    Opcode.DOT,
    variant="matrices",
    rule=EQUAL,
    types=WITH_ZERO,
    sizes=(),
    rows=(*_EDGES, 1, Group(255, 257)),
    columns=(*_EDGES, 1, Group(256, 257)),
    depth=(*_EDGES, 1, Group(255, 256, 513)),
    lhs=("fc", "cf"),
    rhs=("cf", "fc"),
    result=("same", "wider"),
    terms=("whole", "special", "scales", *ALL_BITS),
)
def _matrices(p: Program, c: Choice) -> HloInstruction:
    made = result_type(c.result, p.type)
    left, right = factors(c.depth, made)
    if c.terms == "special":
        left, right = with_ends(left), with_ends(right)
    free = ((c.lhs.index("f"),), (c.rhs.index("f"),))
    if c.terms == "scales":
        left, right = with_scales((left, right), (p.type, p.type), made, free, c.depth % 2)
    if c.terms in ALL_BITS:
        left, right = with_one_product((left, right), (p.type, p.type), made, free, ALL_BITS.index(c.terms))
    sizes = {"c": c.depth, "f": c.rows}
    lhs = p.parameter([sizes[k] for k in c.lhs], fill=left)
    rhs = p.parameter([{**sizes, "f": c.columns}[k] for k in c.rhs], fill=right)
    dims = {"lhs_contracting_dims": (c.lhs.index("c"),), "rhs_contracting_dims": (c.rhs.index("c"),)}
    return p.add(Opcode.DOT, lhs, rhs, shape=p.shape((c.rows, c.columns), made), **dims)


@domain(
    Opcode.DOT,
    variant="vectors",
    rule=EQUAL,
    types=WITH_ZERO,
    sizes=(SIZES[0], SIZES[2], SIZES[4], SIZES[-1]),
    hiding=(),
    places=("minor",),
    form=("c,c", Group("fc,c", "cf,c"), Group("c,cf", "c,fc"), Group("bc,bc", "bfc,bc")),
    result=("same", "wider"),
    terms=("whole", "special", "scales", *ALL_BITS),
)
def _vectors(p: Program, c: Choice) -> HloInstruction:
    """Products of vectors, and of vectors and matrices."""
    made = result_type(c.result, p.type)
    sizes = {"c": c.size, "f": 5, "b": 3}
    operands = []
    fills = factors(c.size, made)
    lhs_free, rhs_free = ([i for i, kind in enumerate(kinds) if kind != "c"] for kinds in c.form.split(","))
    if c.terms == "scales":
        fills = with_scales(fills, (p.type, p.type), made, (lhs_free, rhs_free), c.size % 2)
    if c.terms in ALL_BITS:
        full = ALL_BITS.index(c.terms)
        fills = with_one_product(fills, (p.type, p.type), made, (lhs_free, rhs_free), full)
    for kinds, fill in zip(c.form.split(","), fills, strict=True):
        given = with_ends(fill) if c.terms == "special" else fill
        operands.append(p.parameter([sizes[kind] for kind in kinds], fill=given))
    lhs, rhs = c.form.split(",")
    dims = {
        f"{side}_{name}_dims": (kinds.index(kind),) if kind in kinds else ()
        for side, kinds in (("lhs", lhs), ("rhs", rhs))
        for name, kind in (("batch", "b"), ("contracting", "c"))
    }
    result = [sizes[kind] for kind in "b" if "b" in lhs] + [5] * (lhs.count("f") + rhs.count("f"))
    return p.add(Opcode.DOT, *operands, shape=p.shape(result, made), **dims)


@domain(
    Opcode.DOT,
    variant="gram",
    rule=EQUAL,
    types=WITH_ZERO,
    sizes=(7, Group(33, 65)),
    hiding=(),
    places=("minor",),
    contracted=(0, 1),
)
def _gram(p: Program, c: Choice) -> HloInstruction:
    """The product of a matrix with itself, transposed."""
    left, _ = factors(c.size**2, p.type)
    x = p.parameter((c.size, c.size + 2), fill=left)
    return p.add(Opcode.DOT, x, x, lhs_contracting_dims=(c.contracted,), rhs_contracting_dims=(c.contracted,))


@domain(
    Opcode.DOT,
    variant="ends",
    rule=EQUAL,
    types=[t for t in WITH_ZERO if t.is_integral and t.bit_width <= 16],
    sizes=(SIZES[0], SIZES[1], SIZES[2]),
    hiding=(),
    places=("minor",),
)
def _ends(p: Program, c: Choice) -> HloInstruction:
    """Wide sums of products of the ends of a narrow type's range, of which each pair goes beyond twice its width."""
    made = result_type("wider", p.type)
    lhs, rhs = (with_ends(fill) for fill in factors(c.size, made))
    operands = p.parameter((5, c.size), fill=lhs), p.parameter((c.size, 9), fill=rhs)
    dims = {"lhs_contracting_dims": (1,), "rhs_contracting_dims": (0,)}
    return p.add(Opcode.DOT, *operands, shape=p.shape((5, 9), made), **dims)


@domain(
    Opcode.DOT,
    variant="overflow",
    rule=EQUAL,
    types=[t for t in WITH_ZERO if t.is_floating and t.has_infinity],
    sizes=(),
    depth=(1, 8),
)
def _overflow(p: Program, c: Choice) -> HloInstruction:
    lhs, rhs = p.parameter((9, c.depth), fill=huge), p.parameter((c.depth, 7), fill=huge)
    return p.add(Opcode.DOT, lhs, rhs, lhs_contracting_dims=(1,), rhs_contracting_dims=(0,))


_ALGORITHMS = {
    "dot_bf16_bf16_bf16": (8, _T.BF16),
    "dot_bf16_bf16_f32": (8, _T.F32),
    "dot_bf16_bf16_f32_x3": (16, _T.F32),
    "dot_bf16_bf16_f32_x6": (21, _T.F32),
    "dot_bf16_bf16_f32_x9": (21, _T.F32),
    "dot_tf32_tf32_f32": (11, _T.F32),
    "dot_tf32_tf32_f32_x3": (21, _T.F32),
    "dot_f16_f16_f16": (11, _T.F16),
    "dot_f16_f16_f32": (11, _T.F32),
    "dot_f32_f32_f32": (21, _T.F32),
    "dot_f64_f64_f64": (50, _T.F64),
    **dict.fromkeys(("dot_any_f8_any_f8_f32", "dot_any_f8_any_f8_f32_fast_accum"), (3, _T.F32)),
}
"""For each algorithm, how many bits of an operand its products keep, and the type that it adds them up in."""

_PART = 8
"""How many bits a part of an operand has in the algorithms that add products of parts, and leave the smallest out."""


@domain(
    Opcode.DOT,
    variant="algorithm",
    rule=EQUAL,
    types=(_T.F32, _T.F64, _T.BF16, _T.F16),
    sizes=(),
    algorithm=tuple(_ALGORITHMS),
    depth=(5, 65),
    terms=("lhs", "rhs", "cancelling"),
    result=("same", "accumulator"),
)
def _algorithm(p: Program, c: Choice) -> HloInstruction:
    """One operand has all bits that the algorithm keeps, the other so few that results are exact.

    Or two large terms cancel, and the other terms are so small that a narrower accumulator loses them.
    """
    kept, accumulator = _ALGORITHMS[c.algorithm]
    made = accumulator if c.result == "accumulator" and accumulator.bit_width > p.type.bit_width else p.type
    dims = {"lhs_contracting_dims": (1,), "rhs_contracting_dims": (0,)}
    if c.terms == "cancelling":
        left, right = _cancelling(accumulator.mantissa_bits - c.depth.bit_length())
        lhs, rhs = p.parameter((7, c.depth), fill=left), p.parameter((c.depth, 9), fill=right)
        return p.add(Opcode.DOT, lhs, rhs, shape=p.shape((7, 9), made), algorithm=c.algorithm, **dims)
    exact = min(accumulator.mantissa_bits, made.mantissa_bits) + 1 - c.depth.bit_length()
    most = min(kept, exact)
    fills = [whole(most), whole(min(kept, _PART, exact - most))]
    left, right = fills if c.terms == "lhs" else fills[::-1]
    lhs, rhs = p.parameter((7, c.depth), fill=left), p.parameter((c.depth, 9), fill=right)
    return p.add(Opcode.DOT, lhs, rhs, shape=p.shape((7, 9), made), algorithm=c.algorithm, **dims)


def _cancelling(bits: int) -> tuple[Fill, Fill]:
    """Returns the fills of operands whose first and last products are 2^bits and -2^bits, and whose other products are
    1 or -1.

    The powers of two are shared out between the operands, as types have few exponents.
    """
    half = bits // 2

    def left(shape: Shape, random: np.random.Generator) -> np.ndarray:
        values = random.choice([-1.0, 1.0], shape.dimensions)
        values[:, 0], values[:, -1] = 2.0**half, -(2.0**half)
        return values.astype(shape.dtype)

    def right(shape: Shape, random: np.random.Generator) -> np.ndarray:
        values = random.choice([-1.0, 1.0], shape.dimensions)
        values[0] = values[-1] = 2.0 ** (bits - half)
        return values.astype(shape.dtype)

    return left, right
