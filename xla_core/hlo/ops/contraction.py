"""dot, ragged-dot and scaled-dot."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from xla_core.errors import InvalidArgumentError
from xla_core.hlo.evaluation.environment import Value
from xla_core.hlo.evaluation.evaluation_context import EvaluationContext
from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.hlo.ops.arithmetic import multiply
from xla_core.hlo.ops.combining import few
from xla_core.hlo.ops.conversion import convert, reduce_precision
from xla_core.hlo.ops.numerics import CLASS, integer_bounds, round_to, widen, wrap
from xla_core.hlo.ops.rules import OpGroup, array, attr, category, check, check_axes, dims, product_flops
from xla_core.hlo.table.op_table import Attributes, Trait
from xla_core.hlo.table.opcode import Opcode
from xla_core.hlo.values.element_type import ElementType
from xla_core.hlo.values.shape import Shape

entry = OpGroup("contraction").entry

_PRODUCTS_PER_ELEMENT = 64
"""How many multiply-adds take as long as filling one element of an array."""


_CATEGORIES = {name: rank for rank, name in enumerate(("pred", "integer", "float", "complex"))}


def contraction_result_type(lhs: Shape, rhs: Shape, declared: Shape | None) -> ElementType:
    """Returns the declared type, if any; else the wider operand type of the higher category."""
    return declared.element_type if declared is not None else _higher(array(lhs).element_type, array(rhs).element_type)


def _higher(a: ElementType, b: ElementType) -> ElementType:
    ranks = [(_CATEGORIES[category(t)], t.bit_width) for t in (a, b)]
    return a if ranks[0] >= ranks[1] else b


def product_type(lhs: ElementType, rhs: ElementType, result: ElementType) -> ElementType:
    """Returns the type in which a dot or convolution multiplies and adds.

    It is the result's type, or the type of an operand of a higher category (pred < integer < float < complex). Operands
    of a lower category are converted to it first, and the sums are converted to the result's type. (XLA:
    operand_upcaster.h, result_caster.h.)
    """
    wide = _higher(lhs, rhs)
    return result if _CATEGORIES[category(result)] >= _CATEGORIES[category(wide)] else wide


def factors(instruction: HloInstruction, values: Sequence[np.ndarray]) -> tuple[np.ndarray, np.ndarray, np.dtype]:
    """Returns lhs and rhs, converted where their category is lower, and the type of their products."""
    types = [o.shape.element_type for o in instruction.operands[:2]]
    made = product_type(types[0], types[1], instruction.shape.element_type)
    lhs, rhs = (
        v if category(t) == category(made) else convert(v, made.dtype) for v, t in zip(values[:2], types, strict=True)
    )
    return lhs, rhs, made.dtype


def _dot_shape(operands: Sequence[Shape], attributes: Attributes, declared: Shape | None) -> Shape:
    lhs, rhs = array(operands[0]), array(operands[1])
    lhs_contracting, rhs_contracting, lhs_batch, rhs_batch = _dimensions(attributes)
    check_axes((*lhs_batch, *lhs_contracting), lhs.rank, "lhs batch and contracting dims")
    check_axes((*rhs_batch, *rhs_contracting), rhs.rank, "rhs batch and contracting dims")
    for a, b, what in ((lhs_contracting, rhs_contracting, "contracting"), (lhs_batch, rhs_batch, "batch")):
        if [lhs.dimensions[i] for i in a] != [rhs.dimensions[i] for i in b]:
            raise InvalidArgumentError(
                f"{what} dimensions {list(a)} of {lhs.without_layout()} and {list(b)} of {rhs.without_layout()} differ"
            )
    left = [i for i in range(lhs.rank) if i not in lhs_batch and i not in lhs_contracting]
    right = [i for i in range(rhs.rank) if i not in rhs_batch and i not in rhs_contracting]
    sizes = [lhs.dimensions[i] for i in (*lhs_batch, *left)] + [rhs.dimensions[i] for i in right]
    flags = [lhs.dynamic_flags[i] for i in (*lhs_batch, *left)] + [rhs.dynamic_flags[i] for i in right]
    return dims(contraction_result_type(lhs, rhs, declared), sizes, flags)


def _dot(context: EvaluationContext, instruction: HloInstruction, values: list[Value]) -> Value:
    algorithm = instruction.attribute("algorithm")
    seen = [
        _in_algorithm(v, o.shape.element_type, algorithm) for v, o in zip(values, instruction.operands, strict=True)
    ]
    lhs, rhs, dtype = factors(instruction, seen)
    dtype = _accumulator(algorithm, dtype)
    dimensions = _dimensions(instruction.attributes)
    charge_products(context, instruction.shape.num_elements, math.prod(lhs.shape[d] for d in dimensions[0]))
    return convert(dot(lhs, rhs, *dimensions, dtype), instruction.shape.dtype)


def group_axes(attributes: Attributes, rank: int) -> list[int]:
    """Returns the dimensions of lhs that group sizes of a ragged-dot may vary along, in the order of the sizes.

    These are the batch dimensions, followed by the dimensions before the ragged one that are of its kind (free or
    contracting).
    """
    contracting, _, batch, _ = _dimensions(attributes)
    (ragged,) = attributes["lhs_ragged_dims"]
    if ragged in batch:
        return list(batch[: batch.index(ragged)])
    free = [d for d in range(rank) if d not in batch and d not in contracting]
    kind = list(contracting) if ragged in contracting else free
    return [*batch, *kind[: kind.index(ragged)]]


def _ragged_dot_shape(operands: Sequence[Shape], attributes: Attributes, declared: Shape | None) -> Shape:
    lhs, rhs, group_sizes = (array(o) for o in operands)
    lhs_contracting, rhs_contracting, lhs_batch, rhs_batch = _dimensions(attributes)
    ragged, group = attributes["lhs_ragged_dims"], attributes["rhs_group_dims"]
    check(len(ragged) == 1, "lhs_ragged_dims must name one dimension")
    check_axes(ragged, lhs.rank, "lhs_ragged_dims")
    check_axes((*rhs_contracting, *rhs_batch, *group), rhs.rank, "contracting, batch and group dimensions of rhs")
    check_axes((*lhs_contracting, *lhs_batch), lhs.rank, "contracting and batch dimensions of lhs")
    check(
        group_sizes.rank >= 1 and group_sizes.element_type.is_integral,
        "the group sizes must be integers of rank 1 or more",
    )
    axis, groups = ragged[0], group_sizes.dimensions[-1]
    prefix = [lhs.dimensions[d] for d in group_axes(attributes, lhs.rank)]
    check(
        group_sizes.rank == 1 or list(group_sizes.dimensions[:-1]) == prefix,
        lambda: f"group sizes are {group_sizes.without_layout()}; expected {[groups]} or {[*prefix, groups]}",
    )
    if group:  # the ragged dimension is a free one of lhs: each group multiplies its own matrix of rhs
        check(len(group) == 1, "rhs_group_dims must name at most one dimension")
        check(
            axis not in lhs_contracting and axis not in lhs_batch,
            "with rhs_group_dims, the ragged dimension must be free",
        )
        check(rhs.dimensions[group[0]] == groups, lambda: f"{groups} group sizes for {rhs.dimensions[group[0]]} groups")
        kept = [d for d in range(rhs.rank) if d != group[0]]
        rhs = rhs.with_dimensions([rhs.dimensions[d] for d in kept])
        of_matrix = {
            name: tuple(kept.index(d) for d in attributes[name]) for name in ("rhs_contracting_dims", "rhs_batch_dims")
        }
        return _dot_shape((lhs, rhs), {**attributes, **of_matrix}, declared)
    result = _dot_shape((lhs, rhs), attributes, declared)
    if axis in lhs_contracting:  # each group has its own result
        return dims(result.element_type, (groups, *result.dimensions))
    check(axis in lhs_batch, "without rhs_group_dims, the ragged dimension must be contracting or batch")
    return result


def _ragged_dot(context: EvaluationContext, instruction: HloInstruction, values: list[Value]) -> Value:
    """Computes a dot of masked operands for each group, and adds the results, or stacks them if
    each group has its own.
    """
    lhs, rhs, dtype = factors(instruction, values)
    sizes = values[2]
    lhs_contracting, rhs_contracting, lhs_batch, rhs_batch = _dimensions(instruction.attributes)
    (ragged,) = instruction.attribute("lhs_ragged_dims")
    group_dims = instruction.attribute("rhs_group_dims")
    ends = np.cumsum(sizes.astype(np.int64), axis=-1)
    positions = np.arange(lhs.shape[ragged])
    axes = group_axes(instruction.attributes, lhs.ndim)[: sizes.ndim - 1]
    stacked = ragged in lhs_contracting
    total = np.zeros(instruction.shape.dimensions, dtype)
    for group in range(sizes.shape[-1]):
        end = ends[..., group]
        start = end - sizes[..., group]
        member = (positions >= start[..., None]) & (positions < end[..., None])
        shape = [1] * lhs.ndim
        shape[ragged] = positions.size
        for axis, size in zip(axes, sizes.shape[:-1], strict=True):
            shape[axis] = size
        order = np.argsort([*axes, ragged])
        mask = member.transpose(order).reshape(shape)
        part = np.where(mask, lhs, lhs.dtype.type(0))
        if group_dims:
            own = rhs.take(group, axis=group_dims[0])
            kept = [d for d in range(rhs.ndim) if d != group_dims[0]]
            contracting, batch = [kept.index(d) for d in rhs_contracting], [kept.index(d) for d in rhs_batch]
            result = dot(part, own, lhs_contracting, contracting, lhs_batch, batch, total.dtype)
        else:
            result = dot(part, rhs, lhs_contracting, rhs_contracting, lhs_batch, rhs_batch, total.dtype)
        if stacked:
            total[group] = result
        else:
            total = total + result
    return convert(total, instruction.shape.dtype)


def _scaled_dot_shape(operands: Sequence[Shape], attributes: Attributes, declared: Shape | None) -> Shape:
    lhs, rhs, lhs_scale, rhs_scale = (array(o) for o in operands)
    for operand, scale in ((lhs, lhs_scale), (rhs, rhs_scale)):
        if scale.dimensions and (
            scale.rank != operand.rank
            or any(d % s if s else d for d, s in zip(operand.dimensions, scale.dimensions, strict=True))
        ):
            raise InvalidArgumentError(f"scale {scale.without_layout()} does not divide {operand.without_layout()}")
    result = _dot_shape((lhs, rhs), attributes, declared)
    kinds = {category(s.element_type) for s in (lhs, rhs, result)}
    check(len(kinds) == 1, lambda: f"operands and result are {sorted(kinds)}; expected one category of types")
    return result


def _scaled_dot(context: EvaluationContext, instruction: HloInstruction, values: list[Value]) -> Value:
    lhs, rhs = (_scaled(x, scale) for x, scale in zip(values[:2], values[2:], strict=True))
    return dot(lhs, rhs, *_dimensions(instruction.attributes), instruction.shape.dtype)


def charge_products(context: EvaluationContext, sums: int, products: int) -> None:
    """Charges the context for matrix products with `sums` elements, each the sum of `products` products."""
    context.charge(sums * products // _PRODUCTS_PER_ELEMENT)


def products(a: np.ndarray, b: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """Returns the matrix products a @ b in `dtype`.

    A few products are summed in order in that type; many are summed in float64 (complex128) and rounded once. Integers
    wrap; pred is the or of ands.
    """
    kind, depth = CLASS[dtype], a.shape[-1]
    if kind in "fc" and few(depth, dtype):
        a, b = convert(a, dtype), convert(b, dtype)
        total = np.zeros((*a.shape[:-1], b.shape[-1]), dtype)
        for k in range(depth):
            total = total + multiply(a[..., k, None], b[..., k, None, :])
        return total
    if kind in "fec":
        return round_to(np.matmul(widen(a), widen(b)), dtype)
    if kind == "b":
        return np.asarray(np.matmul(a.astype(np.float64), b.astype(np.float64)) != 0)
    a, b = widen(convert(a, dtype)), widen(convert(b, dtype))
    if a.size and b.size and a.shape[-1] * _magnitude(a) * _magnitude(b) < 1 << 53:  # float64 is exact here, and fast
        return wrap(np.matmul(a.astype(np.float64), b.astype(np.float64)).astype(np.int64), dtype)
    wide = np.int64 if integer_bounds(dtype)[0] else np.uint64
    return wrap(np.matmul(a.astype(wide), b.astype(wide)), dtype)


def _magnitude(x: np.ndarray) -> int:
    return max(abs(int(x.max())), abs(int(x.min())))


def algorithm_format(algorithm: str | None, element_type: ElementType) -> str | None:
    """Returns the format to which a dot's algorithm rounds operands of a type: "tf32", or an element type's name.

    None means that the operands keep their precision. dot_bf16_bf16_f32 rounds to bf16; algorithms that add products of
    several parts (`_x3`, ...) keep the operands' precision.
    """
    if not element_type.is_floating or algorithm is None or algorithm.rpartition("_")[2].startswith(("x", "unset")):
        return None
    name = algorithm.split("_")[1]
    if name == "tf32":
        return name if element_type is ElementType.F32 else None
    is_narrower = name in ("bf16", "f16", "f32", "f64") and ElementType(name).byte_width < element_type.byte_width
    return name if is_narrower else None


def accumulates_in_f64(algorithm: str) -> bool:
    """Whether a dot's algorithm adds in f64, such as dot_f64_f64_f64."""
    return algorithm.split("_")[3:4] == ["f64"]


def _accumulator(algorithm: str | None, dtype: np.dtype) -> np.dtype:
    """Returns the type of a dot's sums: that of its factors, or f64 if that is wider and its algorithm says so."""
    is_wide = algorithm is not None and accumulates_in_f64(algorithm) and dtype.itemsize < 8
    return np.dtype(np.float64) if is_wide else dtype


def _in_algorithm(x: np.ndarray, element_type: ElementType, algorithm: str | None) -> np.ndarray:
    name = algorithm_format(algorithm, element_type)
    if name is None:
        return x
    return reduce_precision(x, 8, 10) if name == "tf32" else convert(x, ElementType(name).dtype)


def dot(
    lhs: np.ndarray,
    rhs: np.ndarray,
    lhs_contracting: Sequence[int],
    rhs_contracting: Sequence[int],
    lhs_batch: Sequence[int],
    rhs_batch: Sequence[int],
    dtype: np.dtype,
) -> np.ndarray:
    """Computes the dot as one batched matrix product."""
    left = [d for d in range(lhs.ndim) if d not in lhs_contracting and d not in lhs_batch]
    right = [d for d in range(rhs.ndim) if d not in rhs_contracting and d not in rhs_batch]
    batch = [lhs.shape[d] for d in lhs_batch]
    rows, columns = [lhs.shape[d] for d in left], [rhs.shape[d] for d in right]
    depth = math.prod(lhs.shape[d] for d in lhs_contracting)
    a = lhs.transpose([*lhs_batch, *left, *lhs_contracting]).reshape(math.prod(batch), math.prod(rows), depth)
    b = rhs.transpose([*rhs_batch, *rhs_contracting, *right]).reshape(math.prod(batch), depth, math.prod(columns))
    return products(a, b, dtype).reshape([*batch, *rows, *columns])


def _dimensions(attributes: Attributes) -> tuple[Sequence[int], Sequence[int], Sequence[int], Sequence[int]]:
    """Returns the contracting dimensions of lhs and rhs, and their batch dimensions."""
    contracting, batch = (
        [attributes.get(f"{side}_{kind}_dims", ()) for side in ("lhs", "rhs")] for kind in ("contracting", "batch")
    )
    return contracting[0], contracting[1], batch[0], batch[1]


def _scaled(x: np.ndarray, scale: np.ndarray) -> np.ndarray:
    """Multiplies each block of the operand by its scale."""
    wide = widen(scale)
    for axis in range(scale.ndim):
        wide = np.repeat(wide, x.shape[axis] // max(scale.shape[axis], 1), axis)
    return np.asarray(widen(x) * wide)


_DIMENSIONS: dict[str, Any] = {
    "lhs_batch_dims": attr(
        "ints", (), doc="The dimensions of the first operand that become the result's first dimensions, in this order."
    ),
    "lhs_contracting_dims": attr("ints", (), shown=True, doc="Dimensions of the first operand that are summed over."),
    "rhs_batch_dims": attr("ints", (), doc="Those of the second operand, in the same order."),
    "rhs_contracting_dims": attr("ints", (), shown=True, doc="Those of the second operand, in the same order."),
}


def _paired(attributes: Attributes, ranks: Sequence[int]) -> list[list[tuple[int, int]]]:
    """Returns the pairs of dimensions that have equal sizes, for `same_sizes`."""
    lhs_contracting, rhs_contracting, lhs_batch, rhs_batch = _dimensions(attributes)
    pairs = zip((*lhs_batch, *lhs_contracting), (*rhs_batch, *rhs_contracting), strict=True)
    return [[(0, lhs), (1, rhs)] for lhs, rhs in pairs]


def _dot_flops(dot: HloInstruction) -> float:
    sizes = dot.operand(0).shape.dimensions
    return product_flops(dot.shape, math.prod(sizes[d] for d in dot.attribute("lhs_contracting_dims")))


entry(
    Opcode.DOT,
    2,
    _dot_shape,
    _dot,
    Trait.EXACT_IN_WIDER_INTEGERS,
    Trait.SIGNLESS,
    Trait.PRODUCT,
    Trait.SUPERLINEAR,
    doc="Sums of products over the contracting dimensions; the result has batch, lhs, then rhs dimensions.",
    same_sizes=_paired,
    flops=_dot_flops,
    **_DIMENSIONS,
    operand_precision=attr("enums", (), values="default high highest"),
    algorithm=attr("enum", None),
)
entry(
    Opcode.RAGGED_DOT,
    3,
    _ragged_dot_shape,
    _ragged_dot,
    Trait.PRODUCT,
    Trait.SUPERLINEAR,
    doc="A dot whose lhs has groups, of sizes known at run time, along its ragged dimension.",
    **_DIMENSIONS,
    lhs_ragged_dims=attr("ints", ()),
    rhs_group_dims=attr("ints", ()),
    operand_precision=attr("enums", (), values="default high highest"),
)
entry(
    Opcode.SCALED_DOT,
    4,
    _scaled_dot_shape,
    _scaled_dot,
    Trait.PRODUCT,
    Trait.SUPERLINEAR,
    doc="A dot of operands that are multiplied by block scales first.",
    **_DIMENSIONS,
    operand_precision=attr("enums", (), values="default high highest"),
    algorithm=attr("enum", None),
)
