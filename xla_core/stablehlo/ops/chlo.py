"""Elementwise ops of CHLO and its constants."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.hlo.table.opcode import Opcode
from xla_core.stablehlo import ir
from xla_core.stablehlo.lower.context import LoweringContext
from xla_core.stablehlo.lower.type_conversion import shape_of
from xla_core.stablehlo.ops.common import OneOp, same_type, tensor_of
from xla_core.stablehlo.ops.constants import lower_constant
from xla_core.stablehlo.table.assembly_format import CHLO_BINARY_ASSEMBLY, CHLO_UNARY_ASSEMBLY
from xla_core.stablehlo.table.op_table import Attribute, Kind, Lower, OpGroup, Values
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

define = OpGroup("chlo").define

_FORMULAS = {
    "_asin_acos_kernel": "The w with asin(z) = atan2(re z, re w) + sign(im z) (im w) i; acos uses the same w.",
    "bessel_i1e": "exp(-|x|) I1(x), computed with a polynomial in x^2 for |x| < 2, and in 1 / |x| beyond.",
    "conj": "The complex conjugate.",
    "digamma": "The derivative of lgamma: NaN at 0, at negative integers and at -inf.",
    "is_inf": "Whether the element is infinite.",
    "is_neg_inf": "Whether the element is -inf.",
    "is_pos_inf": "Whether the element is +inf.",
    "lgamma": "The logarithm of |gamma(x)|: +inf at 0, at negative integers and at both infinities.",
    "next_after": "The next representable number from x toward y: y if they are equal, NaN if either is NaN.",
    "polygamma": "The n-th derivative of digamma: NaN for an n that is negative or not an integer.",
    "square": "The square. A complex a + bi gives (a - b)(a + b) + 2ab i, which cancels less than a^2 - b^2.",
    "zeta": "The sum of (k + q)^-x over k >= 0: +inf at its poles, NaN where it isn't real.",
}
"""The meanings of the ops that are lowered by a formula."""


def _formula(name: str) -> Lower:
    def lower(ctx: LoweringContext, op: ir.Op, *operands: HloInstruction) -> HloInstruction:
        from xla_core.stablehlo.ops import chlo_formulas  # only for programs with such ops

        return chlo_formulas.lower(ctx, name, operands)

    lower.__doc__ = _FORMULAS[name]
    return lower


# -- functions of one operand ----------------------------------------------------------------------------------------

_SAME_OPS = ("acos", "acosh", "asin", "asinh", "atan", "atanh", "cosh", "sinh", "tan")
_UNARY: tuple[tuple[str, Lower, TypeConstraint], ...] = (
    *((name, OneOp(Opcode(name)), PLAIN_FLOAT_OR_COMPLEX) for name in _SAME_OPS),
    *((name, OneOp(Opcode(name.replace("_", "-"))), FLOAT) for name in ("erf", "erfc", "erf_inv")),
    *((name, _formula(name), PLAIN_FLOAT_OR_COMPLEX) for name in ("bessel_i1e", "square", "conj")),
    *((name, _formula(name), FLOAT) for name in ("digamma", "lgamma")),
    ("_asin_acos_kernel", _formula("_asin_acos_kernel"), COMPLEX),
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


for _name in ("is_inf", "is_pos_inf", "is_neg_inf"):
    define(
        f"chlo.{_name}",
        "operand",
        rule=lambda op, module: _with_element(op.operands[0].type, "i1"),
        lower=_formula(_name),
        types=FLOAT,
        result_types=PRED,
        type_traits=("elementwise",),
        assembly=CHLO_UNARY_ASSEMBLY,
    )


# -- functions of two operands ---------------------------------------------------------------------------------------

BROADCASTING = (("next_after", "x y"), ("polygamma", "n x"), ("zeta", "x q"))
"""Functions of floats that have a form that broadcasts: name, operands."""

for _name, _operands in BROADCASTING:
    define(
        f"chlo.{_name}",
        _operands,
        rule=same_type,
        lower=_formula(_name),
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
    lower=lower_constant,
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
    doc="A constant of the operand's shape, which may be known at run time only.",
)
