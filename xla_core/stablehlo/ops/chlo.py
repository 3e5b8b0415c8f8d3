"""Elementwise ops of CHLO and its constants."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from xla_core.hlo.element_type import ElementType
from xla_core.hlo.instruction import HloInstruction
from xla_core.hlo.literal import Literal
from xla_core.hlo.opcode import Opcode
from xla_core.stablehlo import ir
from xla_core.stablehlo.lower.context import LoweringContext
from xla_core.stablehlo.lower.type_conversion import shape_of
from xla_core.stablehlo.ops.common import OneOp, same_type, tensor_of
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


def _special(name: str, doc: str) -> Lower:
    """Makes a lowering by a formula of `elementary.special_functions`. Types other than f32 and f64 go through f32."""

    def lower(ctx: LoweringContext, op: ir.Op, *operands: HloInstruction) -> HloInstruction:
        from xla_core.elementary import special_functions  # only for programs with such ops
        from xla_core.elementary.expression import Expression
        from xla_core.hlo.decompositions.hlo_arithmetic import HloArithmetic

        shape = operands[0].shape
        is_computed = shape.element_type in (ElementType.F32, ElementType.F64)
        computed = shape if is_computed else shape.with_element_type(ElementType.F32)
        m = HloArithmetic(ctx, computed)
        values = [Expression(m, ctx.convert(o, computed)) for o in operands]
        return ctx.convert(getattr(special_functions, name)(*values).value, shape)

    lower.__doc__ = doc
    return lower


def _of_type(name: str, doc: str) -> Lower:
    """Makes a lowering by a formula of `chlo_formulas`, in the operands' own type."""

    def lower(ctx: LoweringContext, op: ir.Op, *operands: HloInstruction) -> HloInstruction:
        from xla_core.hlo.decompositions.expression import Expression, expressions
        from xla_core.stablehlo.ops import chlo_formulas  # only for programs with such ops

        result: Expression = getattr(chlo_formulas, name)(*expressions(ctx, *operands))
        return result.i

    lower.__doc__ = doc
    return lower


# -- functions of one operand ----------------------------------------------------------------------------------------


_UNARY: tuple[tuple[str, Lower, TypeConstraint], ...] = (
    *(
        (name, OneOp(Opcode(name)), PLAIN_FLOAT_OR_COMPLEX)
        for name in ("acos", "acosh", "asin", "asinh", "atan", "atanh", "cosh", "sinh", "tan")
    ),
    ("erf", OneOp(Opcode.ERF), FLOAT),
    (
        "bessel_i1e",
        _special(
            "bessel_i1e", "exp(-|x|) I1(x), computed with a polynomial in x^2 for |x| < 2, and in 1 / |x| beyond."
        ),
        PLAIN_FLOAT_OR_COMPLEX,
    ),
    ("digamma", _special("digamma", "The derivative of lgamma: NaN at 0, at negative integers and at -inf."), FLOAT),
    ("erf_inv", _special("erf_inv", "The y with erf(y) = x: infinite at -1 and 1, NaN outside."), FLOAT),
    ("erfc", _special("erfc", "1 - erf(x)."), FLOAT),
    (
        "lgamma",
        _special("lgamma", "The logarithm of |gamma(x)|: +inf at 0, at negative integers and at both infinities."),
        FLOAT,
    ),
    (
        "square",
        _of_type(
            "square",
            "The square; of a complex a + bi, (a - b)(a + b) + 2ab i, which cancels and overflows less than a^2 - b^2.",
        ),
        PLAIN_FLOAT_OR_COMPLEX,
    ),
    ("conj", _of_type("conj", "The complex conjugate."), PLAIN_FLOAT_OR_COMPLEX),
    (
        "_asin_acos_kernel",
        _of_type(
            "asin_acos_kernel",
            "The w with asin(z) = atan2(re z, re w) + sign(im z) (im w) i; acos uses the same w.",
        ),
        COMPLEX,
    ),
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


for _name, _infinite in (("is_inf", "infinite"), ("is_pos_inf", "+inf"), ("is_neg_inf", "-inf")):
    define(
        f"chlo.{_name}",
        "operand",
        rule=lambda op, module: _with_element(op.operands[0].type, "i1"),
        lower=_of_type(_name, ""),
        types=FLOAT,
        result_types=PRED,
        type_traits=("elementwise",),
        assembly=CHLO_UNARY_ASSEMBLY,
        doc=f"Whether the element is {_infinite}.",
    )


# -- functions of two operands ---------------------------------------------------------------------------------------

BROADCASTING: tuple[tuple[str, str, Lower], ...] = (
    (
        "next_after",
        "x y",
        _of_type(
            "next_after",
            "The next representable number from x toward y: y if they are equal, NaN if either is NaN.",
        ),
    ),
    (
        "polygamma",
        "n x",
        _special("polygamma", "The n-th derivative of digamma: NaN for an n that is negative or not an integer."),
    ),
    (
        "zeta",
        "x q",
        _special("zeta", "The sum of (k + q)^-x over k >= 0: +inf at its poles, NaN where it isn't real."),
    ),
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
