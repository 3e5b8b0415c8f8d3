"""CHLO ops that broadcast their operands to a common shape, by numpy's rule or by `broadcast_dimensions`.

Source: openxla/stablehlo, stablehlo/dialect/ChloOps.cpp, stablehlo/transforms/StablehloBroadcastLowering.cpp.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence

from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.hlo.table.op_table import lookup as hlo_op
from xla_core.hlo.table.opcode import Opcode
from xla_core.stablehlo import ir
from xla_core.stablehlo.lower.context import LoweringContext
from xla_core.stablehlo.ops.broadcasts import broadcast_in_dim
from xla_core.stablehlo.ops.chlo import BROADCASTING
from xla_core.stablehlo.ops.common import OPTIONAL_INTS, OneOp, enum, ints
from xla_core.stablehlo.ops.elementwise import BINARY_OPS
from xla_core.stablehlo.ops.selection import lower_compare
from xla_core.stablehlo.table.assembly_format import CHLO_BROADCAST_ASSEMBLY
from xla_core.stablehlo.table.op_table import OPS, Lower, OpGroup, Rule, Values
from xla_core.stablehlo.table.type_constraints import ANY_TENSOR, COMPLEX, FLOAT, PRED
from xla_core.stablehlo.verify.compatibility import compatible_elements, element_of, list_text

define = OpGroup("chlo_broadcasts").define


def _broadcast_rule(element: Callable[[str], str] | None = None, first: int = 0) -> Rule:
    """Makes a rule that infers the operands' common shape.

    The element type is that of operand `first`, which `element` may map to another.
    """

    def rule(op: ir.Op, module: ir.Module) -> Sequence[ir.Type] | None:
        elements = [e for e in (element_of(o.type) for o in op.operands[first:]) if e is not None]
        kind = elements[0]
        if not all(compatible_elements(e, kind) for e in elements):
            op.fail("mismatched operand types")
        changed = element(str(kind)) if element is not None else kind
        types = [o.type for o in op.operands if isinstance(o.type, ir.TensorType)]
        if len(types) < len(op.operands):
            return [ir.unranked(changed)]
        inferred = broadcast_type(op, types, changed)
        return None if inferred is None else [inferred]

    return rule


def _check_inner(op: ir.Op) -> None:
    """Checks that the op without broadcasting accepts the types of the operands."""
    name = op.name.removeprefix("chlo.broadcast_")
    inner = next((OPS[n] for n in (f"chlo.{name}", f"stablehlo.{name}") if n in OPS), None)
    for index, values in enumerate(inner.operands if inner is not None else ()):
        if not values.types.accepts(op.operands[index].type):
            op.fail(
                f"failed to legalize operation: operand #{index} must be {values.types}, but got "
                f"'{op.operands[index].type}'"
            )


def _lower_broadcast(inner: Lower) -> Lower:
    """Makes a lowering that broadcasts all operands to the common shape, then applies the lowering `inner`."""

    def lower(ctx: LoweringContext, op: ir.Op, *operands: HloInstruction) -> HloInstruction:
        _check_inner(op)
        types = [ir.TensorType(o.shape.dimensions, "i1") for o in operands]
        dims = broadcast_dimensions(op, types)
        shape = broadcast_shape(op, types, dims)
        spread = []
        for operand in operands:
            rank = operand.shape.rank
            where = dims if dims is not None and rank < len(shape) else range(len(shape) - rank, len(shape))
            spread.append(broadcast_in_dim(ctx, operand, shape, tuple(where)))
        made = inner(ctx, op, *spread)
        assert isinstance(made, HloInstruction)
        return made

    lower.__doc__ = _BROADCASTS + (inner.__doc__ or "")
    return lower


_BROADCASTS = "Broadcasts to the common shape, then: "
_DIMS = {"broadcast_dimensions": OPTIONAL_INTS}

_LOGICAL = ("and", "or", "xor")
_TYPE_TRAITS: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(("add", "maximum", "minimum"), ("compatible-element-types",)),
    **dict.fromkeys(_LOGICAL, ()),
}
for _inner in (
    *(OPS[f"stablehlo.{name}"] for name, _, _ in BINARY_OPS),
    *(OPS[f"chlo.{name}"] for name, _ in BROADCASTING),
):
    assert _inner.lower is not None
    _name = _inner.name.partition(".")[2]
    define(
        f"chlo.broadcast_{_name}",
        "lhs rhs",
        rule=_broadcast_rule(),
        lower=_lower_broadcast(_inner.lower),
        # The other ops accept all tensors here; the lowering checks what the op without broadcasting accepts.
        types=_inner.operands[0].types if _name in (*_LOGICAL, "zeta") else None,
        result_types=ANY_TENSOR if _name in _LOGICAL else None,
        type_traits=_TYPE_TRAITS.get(_name, ("same-element-type",)),
        attributes=_DIMS,
        assembly=CHLO_BROADCAST_ASSEMBLY,
        doc=_BROADCASTS + _inner.doc,
    )

define(
    "chlo.broadcast_complex",
    "lhs rhs",
    rule=_broadcast_rule(lambda e: f"complex<{e}>"),
    lower=_lower_broadcast(OneOp(Opcode.COMPLEX)),
    types=FLOAT,
    result_types=COMPLEX,
    attributes=_DIMS,
    assembly=CHLO_BROADCAST_ASSEMBLY,
    doc=_BROADCASTS + OPS["stablehlo.complex"].doc,
)


define(
    "chlo.broadcast_compare",
    "lhs rhs",
    result_types=PRED,
    rule=_broadcast_rule(lambda e: "i1"),
    lower=_lower_broadcast(lower_compare),
    attributes={
        **_DIMS,
        "comparison_direction": enum("comparison_direction"),
        "compare_type": enum("comparison_type", None),
    },
    assembly=CHLO_BROADCAST_ASSEMBLY,
)


def _broadcast_select_rule(op: ir.Op, module: ir.Module) -> Sequence[ir.Type] | None:
    """Infers the common shape like the other rules, but keeps the declared result's element type."""
    (inferred,) = _broadcast_rule(first=1)(op, module) or (None,)
    result = op.results[0].type
    if not isinstance(inferred, ir.TensorType) or not isinstance(result, ir.TensorType):
        return None
    return [dataclasses.replace(inferred, element=result.element)]


define(
    "chlo.broadcast_select",
    (Values("pred", PRED), Values("on_true", ANY_TENSOR), Values("on_false", ANY_TENSOR)),
    rule=_broadcast_select_rule,
    lower=_lower_broadcast(OneOp(Opcode.SELECT)),
    assembly="% , % , % attr-dict : :functional:",
    doc=_BROADCASTS + hlo_op(Opcode.SELECT).doc,
)


def broadcast_type(op: ir.Op, types: Sequence[ir.TensorType], element: str | ir.QuantizedType) -> ir.TensorType | None:
    """Infers the result type from the operands' types.

    Returns None for operands that can't be broadcast together; StableHLO's verifier then accepts any result type.
    Raises InvalidArgumentError for such operands only if all sizes or bounds are known and there is no attribute
    `broadcast_dimensions`.
    """
    given = op.attributes.get("broadcast_dimensions") is not None
    if not given and all(t.is_static or t.bounds for t in types):
        return _numpy(op, types, element)
    if _misplaced(op, types) is not None:
        return None
    columns = _columns(types, ints(op, "broadcast_dimensions") if given else None)
    if any(_clash(column) is not None for column in columns):
        return None
    return ir.TensorType(tuple(map(_size, columns)), element)


def broadcast_dimensions(op: ir.Op, types: Sequence[ir.TensorType]) -> tuple[int, ...] | None:
    """Returns the result dimensions of the operand of lower rank; None stands for the last ones, as in numpy."""
    if op.attributes.get("broadcast_dimensions") is None:
        return None
    if (problem := _misplaced(op, types)) is not None:
        op.fail(f"failed to legalize operation: {problem}")
    return ints(op, "broadcast_dimensions")


def broadcast_shape(op: ir.Op, types: Sequence[ir.TensorType], dims: Sequence[int] | None) -> tuple[int, ...]:
    """Returns the sizes of the result. Raises InvalidArgumentError for operands that can't be broadcast together."""
    columns = _columns(types, dims)
    for column in columns:
        if (clash := _clash(column)) is not None:
            op.fail(f"incompatible shapes for broadcasting {clash[0]} and {clash[1]}")
    return tuple(map(_size, columns))


def _misplaced(op: ir.Op, types: Sequence[ir.TensorType]) -> str | None:
    """Returns what is wrong with `broadcast_dimensions`, or None."""
    if op.attributes.get("broadcast_dimensions") is None:
        return None
    dims = ints(op, "broadcast_dimensions")
    low, high = min(t.rank for t in types), max(t.rank for t in types)
    if len(dims) != low:
        return f"broadcast_dimensions size ({len(dims)}) does not match the lower rank of the operands ({low})"
    if list(dims) != sorted(set(dims)) or any(not 0 <= d < high for d in dims):
        return f"broadcast_dimensions [{list_text(dims)}] must be increasing dimensions of a rank {high} result"
    return None


def _columns(types: Sequence[ir.TensorType], dims: Sequence[int] | None) -> list[tuple[int, ...]]:
    """Returns for each result dimension the operands' sizes in it; an operand without the dimension counts as 1."""
    rank = max(t.rank for t in types)
    rows = []
    for type in types:
        where = dims if dims is not None and type.rank < rank else range(rank - type.rank, rank)
        placed = dict(zip(where, type.shape, strict=True))
        rows.append([placed.get(dim, 1) for dim in range(rank)])
    return list(zip(*rows, strict=True))


def _clash(column: Sequence[int]) -> tuple[int, int] | None:
    known = [*dict.fromkeys(n for n in column if n not in (1, ir.DYNAMIC))]
    return (known[0], known[1]) if len(known) > 1 else None


def _size(column: Sequence[int]) -> int:
    return next((n for n in column if n not in (1, ir.DYNAMIC)), ir.DYNAMIC if ir.DYNAMIC in column else 1)


def _numpy(op: ir.Op, types: Sequence[ir.TensorType], element: str | ir.QuantizedType) -> ir.TensorType:
    """Broadcasts types whose sizes or bounds are all known, by numpy's rule.

    A bounded dimension broadcasts with 1 and with a dimension of the same bound, but not with a static size.
    """
    rank = max(t.rank for t in types)
    result: list[tuple[int, bool]] = [(1, False)] * rank
    for type in types:
        for dim, (size, is_bound) in enumerate(_extents(type), rank - type.rank):
            have, is_bounded = result[dim]
            if have == 1:
                result[dim] = size, is_bound
            elif size != 1 and size != have:
                op.fail(f"incompatible shapes for broadcasting {have} and {size}")
            elif size != 1 and is_bound != is_bounded:
                op.fail("cannot mix bounded and static dimensions in broadcast")
    bounds = tuple(size if is_bound else None for size, is_bound in result)
    shape = tuple(ir.DYNAMIC if is_bound else size for size, is_bound in result)
    return ir.TensorType(shape, element, bounds if any(is_bound for _, is_bound in result) else ())


def _extents(type: ir.TensorType) -> list[tuple[int, bool]]:
    """Returns for each dimension (size, False), or (bound, True) if it is bounded."""
    bounds = type.bounds or (None,) * type.rank
    return [(size, False) if bound is None else (bound, True) for size, bound in zip(type.shape, bounds, strict=True)]
