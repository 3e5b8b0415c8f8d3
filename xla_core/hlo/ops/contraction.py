"""dot and its ragged and scaled forms."""

from __future__ import annotations

from collections.abc import Sequence

from xla_core.errors import InvalidArgumentError
from xla_core.hlo.element_type import ElementType
from xla_core.hlo.op_table import Attributes, Trait
from xla_core.hlo.ops.rules import array, attr, category, check, check_axes, dims, dynamic, entry
from xla_core.hlo.shape import Shape

__all__ = ["contraction_result_type"]


def contraction_result_type(lhs: Shape, rhs: Shape, declared: Shape | None) -> ElementType:
    """The declared type where its category fits, else the wider operand type."""
    a, b = array(lhs).element_type, array(rhs).element_type
    if category(a) != category(b):
        raise InvalidArgumentError(f"operands have types {a} and {b}; expected two integer, floating or complex types")
    if declared is not None and category(declared.element_type) == category(a):
        return declared.element_type
    return a if a.bit_width >= b.bit_width else b


def _dot(operands: Sequence[Shape], attributes: Attributes, declared: Shape | None) -> Shape:
    lhs, rhs = array(operands[0]), array(operands[1])
    lhs_contracting, rhs_contracting, lhs_batch, rhs_batch = (
        attributes.get(name, ())
        for name in ("lhs_contracting_dims", "rhs_contracting_dims", "lhs_batch_dims", "rhs_batch_dims")
    )
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
    flags = [dynamic(lhs)[i] for i in (*lhs_batch, *left)] + [dynamic(rhs)[i] for i in right]
    return dims(contraction_result_type(lhs, rhs, declared), sizes, flags)


def _ragged_dot(operands: Sequence[Shape], attributes: Attributes, declared: Shape | None) -> Shape:
    lhs, rhs, group_sizes = (array(o) for o in operands)
    lhs_contracting, rhs_contracting, lhs_batch, rhs_batch, ragged, group = (
        attributes.get(name, ())
        for name in (
            "lhs_contracting_dims",
            "rhs_contracting_dims",
            "lhs_batch_dims",
            "rhs_batch_dims",
            "lhs_ragged_dims",
            "rhs_group_dims",
        )
    )
    check(len(ragged) == 1, "lhs_ragged_dims must name one dimension")
    check_axes(ragged, lhs.rank, "lhs_ragged_dims")
    check_axes(group, rhs.rank, "rhs_group_dims")
    check(
        group_sizes.rank >= 1 and group_sizes.element_type.is_integral,
        "the group sizes must be integers of rank 1 or more",
    )
    axis, groups = ragged[0], group_sizes.dimensions[-1]
    plain = {
        "lhs_contracting_dims": lhs_contracting,
        "rhs_contracting_dims": rhs_contracting,
        "lhs_batch_dims": lhs_batch,
        "rhs_batch_dims": rhs_batch,
    }
    if group:  # the ragged dimension is a free one of lhs: each of its groups meets its own matrix of rhs
        check(len(group) == 1, "rhs_group_dims must name at most one dimension")
        check(
            axis not in lhs_contracting and axis not in lhs_batch,
            "with rhs_group_dims, the ragged dimension must be free",
        )
        check(rhs.dimensions[group[0]] == groups, lambda: f"{groups} group sizes for {rhs.dimensions[group[0]]} groups")
        kept = [d for d in range(rhs.rank) if d != group[0]]
        rhs = rhs.with_dimensions([rhs.dimensions[d] for d in kept])
        plain["rhs_contracting_dims"] = tuple(kept.index(d) for d in rhs_contracting)
        plain["rhs_batch_dims"] = tuple(kept.index(d) for d in rhs_batch)
        return _dot((lhs, rhs), plain, declared)
    result = _dot((lhs, rhs), plain, declared)
    if axis in lhs_contracting:  # each group gives a result
        return dims(result.element_type, (groups, *result.dimensions))
    check(axis in lhs_batch, "without rhs_group_dims, the ragged dimension must be contracting or batch")
    return result


def _scaled_dot(operands: Sequence[Shape], attributes: Attributes, declared: Shape | None) -> Shape:
    lhs, rhs, lhs_scale, rhs_scale = (array(o) for o in operands)
    for operand, scale in ((lhs, lhs_scale), (rhs, rhs_scale)):
        if scale.dimensions and (
            scale.rank != operand.rank or any(d % s for d, s in zip(operand.dimensions, scale.dimensions, strict=True))
        ):
            raise InvalidArgumentError(f"scale {scale.without_layout()} does not divide {operand.without_layout()}")
    return _dot((lhs, rhs), attributes, declared)


_DIMENSIONS = {
    "lhs_batch_dims": attr("ints", ()),
    "lhs_contracting_dims": attr("ints", ()),
    "rhs_batch_dims": attr("ints", ()),
    "rhs_contracting_dims": attr("ints", ()),
}

entry(
    "dot",
    2,
    _dot,
    None,
    Trait.PRIMITIVE,
    doc="Sums of products over the contracting dimensions; the result has batch, lhs, then rhs dimensions.",
    **_DIMENSIONS,
    operand_precision=attr("enums", ()),
    algorithm=attr("enum", None),
)
entry(
    "ragged-dot",
    3,
    _ragged_dot,
    None,
    doc="A dot whose lhs has groups, of sizes known at run time, along its ragged dimension.",
    **_DIMENSIONS,
    lhs_ragged_dims=attr("ints", ()),
    rhs_group_dims=attr("ints", ()),
    operand_precision=attr("enums", ()),
)
entry(
    "scaled-dot",
    4,
    _scaled_dot,
    None,
    doc="A dot of operands that are multiplied by block scales first.",
    **_DIMENSIONS,
    operand_precision=attr("enums", ()),
    algorithm=attr("enum", None),
)
