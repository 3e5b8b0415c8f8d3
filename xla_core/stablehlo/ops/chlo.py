"""CHLO ops: implicit broadcasting, and functions that decompose."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from xla_core.hlo.instruction import HloInstruction
from xla_core.hlo.literal import Literal
from xla_core.stablehlo import ir, special_functions
from xla_core.stablehlo.attributes import DenseElements
from xla_core.stablehlo.compatibility import compatible_elements, fail
from xla_core.stablehlo.expressions import Expression, in_float32, select, wrap
from xla_core.stablehlo.ir import TensorType
from xla_core.stablehlo.lowering import LoweringContext
from xla_core.stablehlo.op_table import OPS, Attribute, Kind, Lower, Rule, Values, define
from xla_core.stablehlo.ops.broadcasts import broadcast_in_dim
from xla_core.stablehlo.ops.common import elementwise, same_type, tensor, tensor_of
from xla_core.stablehlo.ops.implicit_broadcasts import broadcast_dimensions, broadcast_shape, broadcast_type
from xla_core.stablehlo.type_constraints import (
    ANY_TENSOR,
    COMPLEX,
    FLOAT,
    INTEGER,
    PLAIN_FLOAT_OR_COMPLEX,
    PRED,
    PRED_OR_INTEGER,
    STATIC_TENSOR,
    TypeConstraint,
)
from xla_core.stablehlo.type_conversion import shape_of

__all__: list[str] = []


def formula(function: Callable[..., Expression], *, through_f32: bool = True) -> Lower:
    """A lowering that is a formula over expressions; narrow floats go through f32 unless told otherwise."""

    def lower(ctx: LoweringContext, op: ir.Op, *operands: HloInstruction) -> HloInstruction:
        values = wrap(ctx, *operands)
        return (in_float32(function, *values) if through_f32 else function(*values)).node

    lower.__doc__ = (function.__doc__ or "").split("\n")[0]
    return lower


# -- functions of one operand ----------------------------------------------------------------------------------------

for _name in ("acos", "acosh", "asin", "asinh", "atan", "atanh", "cosh", "sinh", "tan"):
    define(
        f"chlo.{_name}",
        "operand",
        rule=same_type,
        lower=elementwise(_name),
        types=PLAIN_FLOAT_OR_COMPLEX,
        agree=("compatible-types",),
    )
define("chlo.erf", "operand", rule=same_type, lower=elementwise("erf"), types=FLOAT, agree=("compatible-types",))


def _square(x: Expression) -> Expression:
    """The square; of complex numbers (a - b)(a + b) + 2ab i, which doesn't overflow or cancel early."""
    if not x.element_type.is_complex:
        return x * x
    a, b = x.real(), x.imag()
    real = select(abs(a).equal(abs(b)) & abs(a).op("is-finite"), 0.0, (a - b) * (a + b))
    return real.op("complex", 2.0 * (a * b))


def _conj(x: Expression) -> Expression:
    """The complex conjugate."""
    return x.real().op("complex", -x.imag()) if x.element_type.is_complex else x


def _asin_acos_kernel(z: Expression) -> Expression:
    """The w with asin(z) = atan2(re z, re w) + sign(im z) (im w) i, and acos likewise."""
    arc = z.op("asin")
    a, b = arc.real(), abs(arc.imag())
    return (b.cosh() * a.cos()).op("complex", b)


_FORMULAS: tuple[tuple[str, Callable[[Expression], Expression], TypeConstraint], ...] = (
    ("bessel_i1e", special_functions.bessel_i1e, PLAIN_FLOAT_OR_COMPLEX),
    ("digamma", special_functions.digamma, FLOAT),
    ("erf_inv", special_functions.erf_inv, FLOAT),
    ("erfc", special_functions.erfc, FLOAT),
    ("lgamma", special_functions.lgamma, FLOAT),
)
for _name, _function, _types in _FORMULAS:
    define(
        f"chlo.{_name}", "operand", rule=same_type, lower=formula(_function), types=_types, agree=("compatible-types",)
    )

_PLAIN_FORMULAS: tuple[tuple[str, Callable[[Expression], Expression], TypeConstraint], ...] = (
    ("square", _square, PLAIN_FLOAT_OR_COMPLEX),
    ("conj", _conj, PLAIN_FLOAT_OR_COMPLEX),
    ("_asin_acos_kernel", _asin_acos_kernel, COMPLEX),
)
for _name, _function, _types in _PLAIN_FORMULAS:
    define(
        f"chlo.{_name}",
        "operand",
        rule=same_type,
        lower=formula(_function, through_f32=False),
        types=_types,
        agree=("compatible-types",),
    )


def _predicate_rule(op: ir.Op, module: ir.Module) -> Sequence[ir.Type]:
    operand = tensor(op, 0)
    return [TensorType(operand.shape, "i1", operand.bounds)]


for _name, _infinite, _function in (
    ("is_inf", "infinite", lambda x: abs(x).equal(math.inf)),
    ("is_pos_inf", "+inf", lambda x: x.equal(math.inf)),
    ("is_neg_inf", "-inf", lambda x: x.equal(-math.inf)),
):
    define(
        f"chlo.{_name}",
        "operand",
        rule=_predicate_rule,
        lower=formula(_function, through_f32=False),
        types=FLOAT,
        result_types=PRED,
        agree=("elementwise",),
        doc=f"Whether the element is {_infinite}.",
    )


# -- functions of two operands ---------------------------------------------------------------------------------------


define(
    "chlo.next_after",
    "x y",
    rule=same_type,
    lower=formula(special_functions.next_after, through_f32=False),
    types=FLOAT,
    agree=("compatible-types",),
)
define(
    "chlo.mulhi",
    "lhs rhs",
    rule=same_type,
    lower=elementwise("mulhi"),
    types=INTEGER,
    agree=("compatible-types",),
)
define(
    "chlo.polygamma",
    "n x",
    rule=same_type,
    lower=formula(special_functions.polygamma),
    types=FLOAT,
    agree=("compatible-types",),
)
define(
    "chlo.zeta", "x q", rule=same_type, lower=formula(special_functions.zeta), types=FLOAT, agree=("compatible-types",)
)


# -- constants -------------------------------------------------------------------------------------------------------


def _lower_constant(ctx: LoweringContext, op: ir.Op) -> HloInstruction:
    """HLO `constant`."""
    value: DenseElements = op.attributes["value"]
    return ctx.constant(Literal(value.array, shape_of(value.type)))


def _lower_constant_like(ctx: LoweringContext, op: ir.Op, operand: HloInstruction) -> HloInstruction:
    """A constant of the operand's shape."""
    value = op.attributes["value"]
    scalar = value.data.reshape(-1)[0] if isinstance(value, DenseElements) else value
    return ctx.constant(np.asarray(scalar).astype(operand.shape.dtype), operand.shape)


define(
    "chlo.constant",
    "",
    "output",
    result_types=STATIC_TENSOR,
    lower=_lower_constant,
    rule=lambda op, module: [op.attributes["value"].type],
    attributes={"value": Attribute(Kind.ELEMENTS)},
    doc="The value of the attribute `value`.",
)


def _constant_like_rule(op: ir.Op, module: ir.Module) -> Sequence[ir.Type]:
    """The operand's shape; the value's element type."""
    operand, result, value = tensor(op, 0), tensor_of(op.results[0]), op.attributes["value"]
    kind = getattr(value, "type", "f64" if isinstance(value, float) else "i64")
    if isinstance(kind, str) and kind != result.element:
        fail(op, "value's type doesn't match element return type")
    return [TensorType(operand.shape, result.element, operand.bounds)]


define(
    "chlo.constant_like",
    "operand",
    rule=_constant_like_rule,
    agree=("same-shape",),
    lower=_lower_constant_like,
    attributes={"value": Attribute(Kind.ANY)},
    doc="A constant of the operand's shape, also where that is known at run time only.",
)


# -- implicit broadcasting -------------------------------------------------------------------------------------------


def _broadcast_rule(element: Callable[[str], str] | None = None, first: int = 0) -> Rule:
    """The common shape of the operands, and the element type of the one at `first` (changed by `element`)."""

    def rule(op: ir.Op, module: ir.Module) -> Sequence[ir.Type] | None:
        types = [tensor(op, i) for i in range(len(op.operands))]
        if any(not compatible_elements(t.element, types[first].element) for t in types[first:]):
            fail(op, "mismatched operand types")
        kind = types[first].element
        inferred = broadcast_type(op, types, element(str(kind)) if element is not None else kind)
        return None if inferred is None else [inferred]

    return rule


def _check_inner(op: ir.Op) -> None:
    """The op that stands behind the broadcasts takes the operands' element types."""
    name = op.name.removeprefix("chlo.broadcast_")
    inner = next((OPS[n] for n in (f"chlo.{name}", f"stablehlo.{name}") if n in OPS), None)
    for index, values in enumerate(inner.operands if inner is not None else ()):
        if not values.types.accepts(op.operands[index].type):
            fail(
                op,
                f"failed to legalize operation: operand #{index} must be {values.types}, but got "
                f"'{op.operands[index].type}'",
            )


def _lower_broadcast(inner: Lower) -> Lower:
    """Broadcasts all operands to the result's shape, then lowers as the op without broadcasting."""

    def lower(ctx: LoweringContext, op: ir.Op, *operands: HloInstruction) -> HloInstruction:
        _check_inner(op)
        types = [TensorType(o.shape.dimensions, "i1") for o in operands]
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


_DIMS = {"broadcast_dimensions": Attribute(Kind.INTS, None)}

_ELEMENTS_AGREE: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(("add", "maximum", "minimum"), ("compatible-element-types",)),
    **dict.fromkeys(("and", "or", "xor"), ()),
}
for _name, _inner in (
    *(
        (n, elementwise(n.replace("_", "-")))
        for n in ("add", "and", "atan2", "divide", "maximum", "minimum", "multiply")
    ),
    *((n, elementwise(n.replace("_", "-"))) for n in ("or", "power", "remainder", "shift_left", "subtract", "xor")),
    *((n, elementwise(n.replace("_", "-"))) for n in ("shift_right_arithmetic", "shift_right_logical")),
    ("next_after", formula(special_functions.next_after, through_f32=False)),
    ("polygamma", formula(special_functions.polygamma)),
    ("zeta", formula(special_functions.zeta)),
):
    define(
        f"chlo.broadcast_{_name}",
        "lhs rhs",
        rule=_broadcast_rule(),
        lower=_lower_broadcast(_inner),
        types={"and": PRED_OR_INTEGER, "or": PRED_OR_INTEGER, "xor": PRED_OR_INTEGER, "zeta": FLOAT}.get(_name),
        result_types=ANY_TENSOR if _name in ("and", "or", "xor") else None,
        agree=_ELEMENTS_AGREE.get(_name, ("same-element-type",)),
        attributes=_DIMS,
    )

define(
    "chlo.broadcast_complex",
    "lhs rhs",
    rule=_broadcast_rule(lambda e: f"complex<{e}>"),
    lower=_lower_broadcast(elementwise("complex")),
    types=FLOAT,
    result_types=COMPLEX,
    attributes=_DIMS,
)


def _lower_compare(ctx: LoweringContext, op: ir.Op, lhs: HloInstruction, rhs: HloInstruction) -> HloInstruction:
    """HLO `compare`."""
    extra: dict[str, Any] = {"type": "TOTALORDER"} if op.attributes.get("compare_type") == "TOTALORDER" else {}
    return ctx.add("compare", lhs, rhs, direction=str(op.attributes["comparison_direction"]), **extra)


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
)


def _broadcast_select_rule(op: ir.Op, module: ir.Module) -> Sequence[ir.Type] | None:
    """As of the others, but the result's element type is free."""
    (inferred,) = _broadcast_rule(first=1)(op, module) or (None,)
    result = op.results[0].type
    if not isinstance(inferred, TensorType) or not isinstance(result, TensorType):
        return None
    return [dataclasses.replace(inferred, element=result.element)]


define(
    "chlo.broadcast_select",
    (Values("pred", PRED), Values("on_true", ANY_TENSOR), Values("on_false", ANY_TENSOR)),
    rule=_broadcast_select_rule,
    lower=_lower_broadcast(elementwise("select")),
)
