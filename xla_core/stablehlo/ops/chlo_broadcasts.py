"""CHLO ops that broadcast their operands to a common shape."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

from xla_core.hlo.instruction import HloInstruction
from xla_core.hlo.opcode import Opcode
from xla_core.stablehlo import ir
from xla_core.stablehlo.lower.context import LoweringContext
from xla_core.stablehlo.ops.broadcasts import broadcast_in_dim
from xla_core.stablehlo.ops.chlo import BROADCASTING
from xla_core.stablehlo.ops.common import OPTIONAL_INTS, OneOp
from xla_core.stablehlo.ops.elementwise import BINARY_OPS
from xla_core.stablehlo.ops.implicit_broadcasts import broadcast_dimensions, broadcast_shape, broadcast_type
from xla_core.stablehlo.table.assembly_format import CHLO_BROADCAST_ASSEMBLY
from xla_core.stablehlo.table.op_table import OPS, Attribute, Kind, Lower, Rule, Values, define
from xla_core.stablehlo.table.type_constraints import ANY_TENSOR, COMPLEX, FLOAT, PRED
from xla_core.stablehlo.verify.compatibility import compatible_elements, element_of


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

    lower.__doc__ = f"Broadcasts to the common shape, then: {inner.__doc__}"
    return lower


_DIMS = {"broadcast_dimensions": OPTIONAL_INTS}

_LOGICAL = ("and", "or", "xor")
_TYPE_TRAITS: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(("add", "maximum", "minimum"), ("compatible-element-types",)),
    **dict.fromkeys(_LOGICAL, ()),
}
for _inner in (
    *(OPS[f"stablehlo.{name}"] for name, _, _ in BINARY_OPS),
    *(OPS[f"chlo.{name}"] for name, _, _ in BROADCASTING),
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
)


def _lower_compare(ctx: LoweringContext, op: ir.Op, lhs: HloInstruction, rhs: HloInstruction) -> HloInstruction:
    """HLO `compare`."""
    extra: dict[str, Any] = {"type": "TOTALORDER"} if op.attributes.get("compare_type") == "TOTALORDER" else {}
    return ctx.add(Opcode.COMPARE, lhs, rhs, direction=str(op.attributes["comparison_direction"]), **extra)


define(
    "chlo.broadcast_compare",
    "lhs rhs",
    result_types=PRED,
    rule=_broadcast_rule(lambda e: "i1"),
    lower=_lower_broadcast(_lower_compare),
    attributes={
        **_DIMS,
        "comparison_direction": Attribute(Kind.ENUM, cases=("EQ", "NE", "GE", "GT", "LE", "LT")),
        "compare_type": Attribute(Kind.ENUM, None, cases=("NOTYPE", "FLOAT", "TOTALORDER", "SIGNED", "UNSIGNED")),
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
)
