"""Elementwise arithmetic and logic, complex numbers and their parts, is_finite."""

from __future__ import annotations

from collections.abc import Sequence

from xla_core.hlo.table.opcode import Opcode
from xla_core.stablehlo import ir
from xla_core.stablehlo.ops.common import OneOp, check_same_operands, same_type, tensor, tensor_of
from xla_core.stablehlo.ops.quantized_constraints import any_quantized, check_quantized_sum
from xla_core.stablehlo.table.assembly_format import BINARY_ASSEMBLY, FUNCTIONAL_ASSEMBLY, UNARY_ASSEMBLY
from xla_core.stablehlo.table.op_table import Attribute, Kind, OpGroup, Trait
from xla_core.stablehlo.table.type_constraints import (
    COMPLEX,
    COMPLEX_PART,
    ELEMENTWISE_FLOAT,
    FLOAT,
    FLOAT_OR_COMPLEX,
    INTEGER,
    NUMBER,
    PLAIN_FLOAT_OR_COMPLEX,
    PRED,
    PRED_OR_INTEGER,
    SIGNED_NUMBER,
    SIGNED_REAL,
    TENSOR,
    TENSOR_OR_PER_AXIS,
    TypeConstraint,
)
from xla_core.stablehlo.verify.compatibility import compatible_shapes, inferred_or_known

define = OpGroup("elementwise").define

_ACCURACY = {"result_accuracy": Attribute(Kind.STRUCT, None, classes=(ir.ResultAccuracy,), since=2)}

_COMPATIBLE = ("compatible-types",)


def _add_rule(op: ir.Op, module: ir.Module) -> Sequence[ir.Type] | None:
    """Infers the operands' type. Quantized operands may differ in scales and zero points; their axes must agree."""
    lhs, rhs, result = tensor(op, 0), tensor(op, 1), tensor_of(op.results[0])
    if any_quantized(lhs, rhs, result):
        check_quantized_sum(op, lhs, rhs, result)
        return same_type(op, module)
    if not lhs.element == rhs.element == result.element:
        op.fail("op requires the same element type for all operands and results")
    return same_type(op, module)


for _name, _types, _releases in (
    ("cbrt", FLOAT_OR_COMPLEX, "0.9 1.10"),
    ("ceil", ELEMENTWISE_FLOAT, ""),
    ("cosine", FLOAT_OR_COMPLEX, "0.9 1.10"),
    ("count_leading_zeros", INTEGER, ""),
    ("exponential", FLOAT_OR_COMPLEX, "0.9 1.9"),
    ("exponential_minus_one", FLOAT_OR_COMPLEX, "0.9 1.10"),
    ("floor", ELEMENTWISE_FLOAT, ""),
    ("log", FLOAT_OR_COMPLEX, "0.9 1.10"),
    ("log_plus_one", FLOAT_OR_COMPLEX, "0.9 1.10"),
    ("logistic", FLOAT_OR_COMPLEX, "0.9 1.10"),
    ("negate", NUMBER, ""),
    ("not", PRED_OR_INTEGER, ""),
    ("popcnt", INTEGER, ""),
    ("round_nearest_afz", ELEMENTWISE_FLOAT, ""),
    ("round_nearest_even", ELEMENTWISE_FLOAT, ""),
    ("rsqrt", FLOAT_OR_COMPLEX, "0.9 1.10"),
    ("sign", SIGNED_NUMBER, ""),
    ("sine", FLOAT_OR_COMPLEX, "0.9 1.10"),
    ("sqrt", FLOAT_OR_COMPLEX, "0.9 1.10"),
    ("tan", FLOAT_OR_COMPLEX, "1.4 1.10"),
    ("tanh", FLOAT_OR_COMPLEX, "0.9 1.10"),
):
    define(
        f"stablehlo.{_name}",
        "operand",
        rule=same_type,
        lower=OneOp(Opcode(_name.replace("_", "-"))),
        types=_types,
        type_traits=_COMPATIBLE,
        attributes=_ACCURACY if _releases else None,  # the second version of an op added it
        assembly=UNARY_ASSEMBLY,
        releases=_releases or None,
    )

BINARY_OPS: tuple[tuple[str, TypeConstraint, bool], ...] = (
    ("add", TENSOR_OR_PER_AXIS, True),
    ("and", PRED_OR_INTEGER, True),
    ("atan2", FLOAT_OR_COMPLEX, False),
    ("divide", NUMBER, False),
    ("maximum", TENSOR, True),
    ("minimum", TENSOR, True),
    ("multiply", TENSOR, True),
    ("or", PRED_OR_INTEGER, True),
    ("power", NUMBER, False),
    ("remainder", NUMBER, False),
    ("shift_left", INTEGER, False),
    ("shift_right_arithmetic", INTEGER, False),
    ("shift_right_logical", INTEGER, False),
    ("subtract", NUMBER, False),
    ("xor", PRED_OR_INTEGER, True),
)
"""Name, types, whether it commutes. CHLO has them all, with operands that are broadcast."""

for _name, _types, _commutes in BINARY_OPS:
    define(
        f"stablehlo.{_name}",
        "lhs rhs",
        rule=_add_rule if _name == "add" else same_type,
        lower=OneOp(Opcode(_name.replace("_", "-"))),
        types=_types,
        result_types=TENSOR if _types is PRED_OR_INTEGER else None,
        type_traits=("same-shape",) if _name == "add" else (*_COMPATIBLE, "same-shape"),
        traits=(Trait.COMMUTATIVE,) if _commutes else (),
        assembly=BINARY_ASSEMBLY,
    )


# -- abs, real, imag, complex: the element type changes between complex and its parts -------------------------------


def _component_rule(op: ir.Op, module: ir.Module) -> Sequence[ir.Type]:
    operand = tensor(op, 0)
    if not isinstance(operand.element, str):
        return [operand]
    return [ir.TensorType(operand.shape, operand.element.removeprefix("complex<").removesuffix(">"), operand.bounds)]


for _name, _types, _parts in (
    ("abs", SIGNED_NUMBER, SIGNED_REAL),
    ("real", PLAIN_FLOAT_OR_COMPLEX, FLOAT),
    ("imag", PLAIN_FLOAT_OR_COMPLEX, FLOAT),
):
    define(
        f"stablehlo.{_name}",
        "operand",
        rule=_component_rule,
        lower=OneOp(Opcode(_name)),
        types=_types,
        result_types=_parts,
        type_traits=("elementwise",),
        assembly=UNARY_ASSEMBLY,
    )


def _complex_rule(op: ir.Op, module: ir.Module) -> Sequence[ir.Type] | None:
    check_same_operands(op)
    lhs, rhs = tensor(op, 0), tensor(op, 1)
    return inferred_or_known(op, ir.TensorType(lhs.shape, f"complex<{lhs.element}>", lhs.bounds), [lhs, rhs])


define(
    "stablehlo.complex",
    "lhs rhs",
    rule=_complex_rule,
    lower=OneOp(Opcode.COMPLEX),
    types=COMPLEX_PART,
    result_types=COMPLEX,
    type_traits=("same-element-type-of-operands", "same-shape"),
    assembly="%* attr-dict : :complex:",
)


# -- predicates ------------------------------------------------------------------------------------------------------


def _is_finite_rule(op: ir.Op, module: ir.Module) -> Sequence[ir.Type]:
    operand, result = tensor(op, 0), op.results[0].type
    if not isinstance(result, ir.TensorType) or not compatible_shapes(operand.shape, result.shape):
        op.fail("all non-scalar operands/results must have the same shape and base type")
    return [ir.TensorType(operand.shape, "i1", operand.bounds)]


define(
    "stablehlo.is_finite",
    "operand",
    rule=_is_finite_rule,
    lower=OneOp(Opcode.IS_FINITE),
    types=ELEMENTWISE_FLOAT,
    result_types=PRED,
    type_traits=("elementwise",),
    assembly=FUNCTIONAL_ASSEMBLY,
)
