"""Elementwise ops of CHLO and its constants."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from xla_core.hlo.instruction import HloInstruction
from xla_core.hlo.literal import Literal
from xla_core.hlo.opcode import Opcode
from xla_core.stablehlo import ir, special_functions
from xla_core.stablehlo.lower.context import LoweringContext
from xla_core.stablehlo.lower.type_conversion import shape_of
from xla_core.stablehlo.ops.common import OneOp, same_type, tensor_of
from xla_core.stablehlo.special_functions.expressions import Expression, in_float32, select, wrap
from xla_core.stablehlo.table.assembly_format import CHLO_BINARY_ASSEMBLY, CHLO_UNARY_ASSEMBLY
from xla_core.stablehlo.table.op_table import Attribute, Kind, Lower, Values, define
from xla_core.stablehlo.table.type_constraints import (
    COMPLEX,
    FLOAT,
    INTEGER,
    PLAIN_FLOAT_OR_COMPLEX,
    PRED,
    STATIC_TENSOR,
    TypeConstraint,
)
from xla_core.stablehlo.verify.compatibility import element_of

__all__ = ["BROADCASTING"]


def formula(function: Callable[..., Expression], *, through_f32: bool = True) -> Lower:
    """Makes a lowering from a formula over expressions. `through_f32` computes types other than f32 and f64 in f32."""

    def lower(ctx: LoweringContext, op: ir.Op, *operands: HloInstruction) -> HloInstruction:
        values = wrap(ctx, *operands)
        return (in_float32(function, *values) if through_f32 else function(*values)).node

    lower.__doc__ = (function.__doc__ or "").split("\n")[0]
    return lower


# -- functions of one operand ----------------------------------------------------------------------------------------


def _square(x: Expression) -> Expression:
    """The square. A complex a + bi gives (a - b)(a + b) + 2ab i, which cancels and overflows less than a^2 - b^2."""
    if not x.element_type.is_complex:
        return x * x
    a, b = x.real(), x.imag()
    real = select(abs(a).equal(abs(b)) & abs(a).op(Opcode.IS_FINITE), 0.0, (a - b) * (a + b))
    return real.op(Opcode.COMPLEX, 2.0 * (a * b))


def _conj(x: Expression) -> Expression:
    """The complex conjugate."""
    return x.real().op(Opcode.COMPLEX, -x.imag()) if x.element_type.is_complex else x


def _asin_acos_kernel(z: Expression) -> Expression:
    """The w with asin(z) = atan2(re z, re w) + sign(im z) (im w) i; acos uses the same w."""
    arc = z.op(Opcode.ASIN)
    a, b = arc.real(), abs(arc.imag())
    return (b.cosh() * a.cos()).op(Opcode.COMPLEX, b)


_UNARY: tuple[tuple[str, Lower, TypeConstraint], ...] = (
    *(
        (name, OneOp(Opcode(name)), PLAIN_FLOAT_OR_COMPLEX)
        for name in ("acos", "acosh", "asin", "asinh", "atan", "atanh", "cosh", "sinh", "tan")
    ),
    ("erf", OneOp(Opcode.ERF), FLOAT),
    ("bessel_i1e", formula(special_functions.bessel_i1e), PLAIN_FLOAT_OR_COMPLEX),
    ("digamma", formula(special_functions.digamma), FLOAT),
    ("erf_inv", formula(special_functions.erf_inv), FLOAT),
    ("erfc", formula(special_functions.erfc), FLOAT),
    ("lgamma", formula(special_functions.lgamma), FLOAT),
    ("square", formula(_square, through_f32=False), PLAIN_FLOAT_OR_COMPLEX),
    ("conj", formula(_conj, through_f32=False), PLAIN_FLOAT_OR_COMPLEX),
    ("_asin_acos_kernel", formula(_asin_acos_kernel, through_f32=False), COMPLEX),
)
for _name, _lower, _types in _UNARY:
    define(
        f"chlo.{_name}",
        "operand",
        rule=same_type,
        lower=_lower,
        types=_types,
        type_traits=("compatible-types", "elementwise"),
        assembly=CHLO_UNARY_ASSEMBLY,
    )


def _with_element(operand: ir.Type, element: str | ir.QuantizedType) -> list[ir.Type]:
    """Infers the operand's shape with another element type."""
    if not isinstance(operand, ir.TensorType):
        return [ir.unranked(element)]
    return [ir.TensorType(operand.shape, element, operand.bounds)]


for _name, _infinite, _function in (
    ("is_inf", "infinite", lambda x: abs(x).equal(math.inf)),
    ("is_pos_inf", "+inf", lambda x: x.equal(math.inf)),
    ("is_neg_inf", "-inf", lambda x: x.equal(-math.inf)),
):
    define(
        f"chlo.{_name}",
        "operand",
        rule=lambda op, module: _with_element(op.operands[0].type, "i1"),
        lower=formula(_function, through_f32=False),
        types=FLOAT,
        result_types=PRED,
        type_traits=("elementwise",),
        assembly=CHLO_UNARY_ASSEMBLY,
        doc=f"Whether the element is {_infinite}.",
    )


# -- functions of two operands ---------------------------------------------------------------------------------------

BROADCASTING: tuple[tuple[str, str, Lower], ...] = (
    ("next_after", "x y", formula(special_functions.next_after, through_f32=False)),
    ("polygamma", "n x", formula(special_functions.polygamma)),
    ("zeta", "x q", formula(special_functions.zeta)),
)
"""Functions of floats that have a form that broadcasts: name, operands, lowering."""

for _name, _operands, _lower in BROADCASTING:
    define(
        f"chlo.{_name}",
        _operands,
        rule=same_type,
        lower=_lower,
        types=FLOAT,
        type_traits=("compatible-types",),
        assembly=CHLO_BINARY_ASSEMBLY,
    )

define(
    "chlo.mulhi",
    (Values("lhs", INTEGER), Values("rhs", INTEGER)),
    (Values("result", INTEGER),),
    rule=same_type,
    lower=OneOp(Opcode.MULHI),
    type_traits=("compatible-types",),
    assembly=CHLO_BINARY_ASSEMBLY,
)


# -- constants -------------------------------------------------------------------------------------------------------


def _lower_constant(ctx: LoweringContext, op: ir.Op) -> HloInstruction:
    """HLO `constant`."""
    value: ir.DenseElements = op.attributes["value"]
    return ctx.constant(Literal(value.array, shape_of(value.type)))


def _lower_constant_like(ctx: LoweringContext, op: ir.Op, operand: HloInstruction) -> HloInstruction:
    """A constant of the operand's shape."""
    value, element = op.attributes["value"], tensor_of(op.results[0]).element
    scalar = value.data.reshape(-1)[0] if isinstance(value, ir.DenseElements) else value
    shape = operand.shape.with_element_type(shape_of(ir.TensorType((), element)).element_type)
    return ctx.constant(np.asarray(scalar).astype(shape.dtype), shape)


define(
    "chlo.constant",
    "",
    "output",
    result_types=STATIC_TENSOR,
    lower=_lower_constant,
    rule=lambda op, module: [op.attributes["value"].type],
    attributes={"value": Attribute(Kind.CONSTANT)},
    assembly="<constant>",
    doc="The value of the attribute `value`.",
)


def _constant_like_rule(op: ir.Op, module: ir.Module) -> Sequence[ir.Type]:
    """Infers the operand's shape with the value's element type."""
    value, element = op.attributes["value"], element_of(op.results[0].type)
    assert element is not None
    kind = getattr(value, "type", "f64" if isinstance(value, float) else "i64")
    if isinstance(kind, str) and kind != element:
        op.fail("value's type doesn't match element return type")
    return _with_element(op.operands[0].type, element)


define(
    "chlo.constant_like",
    "operand",
    rule=_constant_like_rule,
    type_traits=("same-shape",),
    lower=_lower_constant_like,
    attributes={"value": Attribute(Kind.ANY)},
    doc="A constant of the operand's shape, also where that is known at run time only.",
)
