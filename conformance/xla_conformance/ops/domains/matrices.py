"""Domains of dot: products of matrices and vectors of many sizes, and what their elements are."""

from __future__ import annotations

from xla_conformance.ops.choices import Choice, Group
from xla_conformance.ops.comparison import EQUAL
from xla_conformance.ops.domain import domain
from xla_conformance.ops.domains.contraction import result_type
from xla_conformance.ops.fills import factors, huge, with_ends
from xla_conformance.ops.program import Program
from xla_conformance.ops.sizes import SIZES
from xla_core.hlo import ElementType, HloInstruction, Opcode

__all__: list[str] = []

_T = ElementType
_TYPES = [t for t in ElementType if t.is_array and t.has_zero]

_EDGES = (Group(7, 8, 9), Group(15, 16, 17, 31, 32, 33), Group(63, 64, 65), Group(127, 128, 129))


@domain(
    Opcode.DOT,
    variant="matrices",
    rule=EQUAL,
    types=(_T.F32, _T.BF16, _T.S8, _T.S32, _T.F64, _T.C64, _T.F16, _T.F8E4M3FN, _T.U8),
    sizes=(),
    rows=(*_EDGES, 1, Group(255, 257)),
    columns=(*_EDGES, 1, Group(256, 257)),
    depth=(*_EDGES, 1, Group(255, 256, 513)),
    lhs=("fc", "cf"),
    rhs=("cf", "fc"),
    result=("same", "wider"),
    terms=("whole", "special"),
)
def _matrices(p: Program, c: Choice) -> HloInstruction:
    made = result_type(c.result, p.type)
    left, right = factors(c.depth, made)
    if c.terms == "special":
        left, right = with_ends(left), with_ends(right)
    sizes = {"c": c.depth, "f": c.rows}
    lhs = p.parameter([sizes[k] for k in c.lhs], fill=left)
    rhs = p.parameter([{**sizes, "f": c.columns}[k] for k in c.rhs], fill=right)
    dims = {"lhs_contracting_dims": (c.lhs.index("c"),), "rhs_contracting_dims": (c.rhs.index("c"),)}
    return p.add(Opcode.DOT, lhs, rhs, shape=p.shape((c.rows, c.columns), made), **dims)


@domain(
    Opcode.DOT,
    variant="vectors",
    rule=EQUAL,
    types=_TYPES,
    sizes=(SIZES[0], SIZES[2], SIZES[4], SIZES[-1]),
    empty=(),
    places=("minor",),
    form=("c,c", Group("fc,c", "cf,c"), Group("c,cf", "c,fc"), Group("bc,bc", "bfc,bc")),
    result=("same", "wider"),
    terms=("whole", "special"),
)
def _vectors(p: Program, c: Choice) -> HloInstruction:
    """Products of vectors, and of vectors and matrices."""
    made = result_type(c.result, p.type)
    sizes = {"c": c.size, "f": 5, "b": 3}
    operands = []
    for kinds, fill in zip(c.form.split(","), factors(c.size, made), strict=True):
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
    types=_TYPES,
    sizes=(7, Group(33, 65)),
    empty=(),
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
    variant="overflow",
    rule=EQUAL,
    types=[t for t in _TYPES if t.is_floating and t.has_infinity],
    sizes=(),
    depth=(1, 8),
)
def _overflow(p: Program, c: Choice) -> HloInstruction:
    lhs, rhs = p.parameter((9, c.depth), fill=huge), p.parameter((c.depth, 7), fill=huge)
    return p.add(Opcode.DOT, lhs, rhs, lhs_contracting_dims=(1,), rhs_contracting_dims=(0,))


_ALGORITHMS = (
    *(f"dot_bf16_bf16_f32{suffix}" for suffix in ("", "_x3", "_x6", "_x9")),
    *("dot_tf32_tf32_f32", "dot_tf32_tf32_f32_x3", "dot_f32_f32_f32", "dot_f64_f64_f64", "dot_any_f8_any_f8_f32"),
    *("dot_any_f8_any_f8_f32_fast_accum", "dot_f16_f16_f16", "dot_f16_f16_f32", "dot_bf16_bf16_bf16"),
)


@domain(Opcode.DOT, variant="algorithm", rule=EQUAL, types=(_T.F32,), sizes=(), algorithm=_ALGORITHMS, depth=(5, 65))
def _algorithm(p: Program, c: Choice) -> HloInstruction:
    """Whole numbers of few bits, whose sums of products every algorithm computes exactly."""
    accumulator = next(
        ElementType(name) for name in ("bf16", "f16", "f32", "f64") if f"_{name}" in c.algorithm[-5:] + "_f32"
    )
    left, right = factors(c.depth, accumulator)
    lhs, rhs = p.parameter((7, c.depth), fill=left), p.parameter((c.depth, 9), fill=right)
    dims = {"lhs_contracting_dims": (1,), "rhs_contracting_dims": (0,)}
    return p.add(Opcode.DOT, lhs, rhs, shape=p.shape((7, 9)), algorithm=c.algorithm, **dims)
