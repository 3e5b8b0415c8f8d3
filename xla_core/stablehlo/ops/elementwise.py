"""Elementwise ops: arithmetic, logic, comparison, conversion."""

from __future__ import annotations

from collections.abc import Sequence

from xla_core.hlo.instruction import HloInstruction
from xla_core.stablehlo import ir
from xla_core.stablehlo.attributes import ResultAccuracy
from xla_core.stablehlo.compatibility import (
    compatible,
    compatible_elements,
    compatible_shapes,
    element_bits,
    fail,
    list_text,
    merge,
)
from xla_core.stablehlo.ir import TensorType
from xla_core.stablehlo.lowering import LoweringContext
from xla_core.stablehlo.op_table import Attribute, Kind, Trait, Values, define
from xla_core.stablehlo.ops.common import check_accuracy, elementwise, same_type, tensor, tensor_of
from xla_core.stablehlo.ops.quantized_constraints import any_quantized, check_quantized_sum
from xla_core.stablehlo.type_constraints import (
    COMPLEX,
    COMPLEX_PART,
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
    UNQUANTIZED,
    Elements,
    TypeConstraint,
    elements_of,
)

__all__: list[str] = []

E = Elements
_FLOAT = TypeConstraint(E.FLOAT | E.QUANTIZED)
_SIGN = TypeConstraint(E.SIGNED | E.FLOAT | E.COMPLEX | E.QUANTIZED)
_ACCURACY = {"result_accuracy": Attribute(Kind.STRUCT, None, classes=(ResultAccuracy,))}

_COMPATIBLE = ("compatible-types",)


def _add_rule(op: ir.Op, module: ir.Module) -> Sequence[ir.Type] | None:
    """Of quantized operands, scales and zero points are free, and so is the granularity as far as axes agree."""
    lhs, rhs, result = tensor(op, 0), tensor(op, 1), tensor_of(op.results[0])
    if any_quantized(lhs, rhs, result):
        check_quantized_sum(op, lhs, rhs, result)
        return same_type(op, module)
    if not lhs.element == rhs.element == result.element:
        fail(op, "op requires the same element type for all operands and results")
    return same_type(op, module)


# name: (HLO opcode, element types)
for _name, _opcode, _types in (
    ("ceil", "ceil", _FLOAT),
    ("count_leading_zeros", "count-leading-zeros", INTEGER),
    ("floor", "floor", _FLOAT),
    ("negate", "negate", NUMBER),
    ("not", "not", PRED_OR_INTEGER),
    ("popcnt", "popcnt", INTEGER),
    ("round_nearest_afz", "round-nearest-afz", _FLOAT),
    ("round_nearest_even", "round-nearest-even", _FLOAT),
    ("sign", "sign", _SIGN),
):
    define(f"stablehlo.{_name}", "operand", rule=same_type, lower=elementwise(_opcode), types=_types, agree=_COMPATIBLE)

for _name, _opcode in (
    ("cbrt", "cbrt"),
    ("cosine", "cosine"),
    ("exponential", "exponential"),
    ("exponential_minus_one", "exponential-minus-one"),
    ("log", "log"),
    ("log_plus_one", "log-plus-one"),
    ("logistic", "logistic"),
    ("rsqrt", "rsqrt"),
    ("sine", "sine"),
    ("sqrt", "sqrt"),
    ("tan", "tan"),
    ("tanh", "tanh"),
):
    define(
        f"stablehlo.{_name}",
        "operand",
        rule=same_type,
        lower=elementwise(_opcode),
        types=FLOAT_OR_COMPLEX,
        agree=_COMPATIBLE,
        attributes=_ACCURACY,
    )

for _name, _opcode, _types, _commutes in (
    ("add", "add", TENSOR_OR_PER_AXIS, True),
    ("and", "and", PRED_OR_INTEGER, True),
    ("atan2", "atan2", FLOAT_OR_COMPLEX, False),
    ("divide", "divide", NUMBER, False),
    ("maximum", "maximum", TENSOR, True),
    ("minimum", "minimum", TENSOR, True),
    ("multiply", "multiply", TENSOR, True),
    ("or", "or", PRED_OR_INTEGER, True),
    ("power", "power", NUMBER, False),
    ("remainder", "remainder", NUMBER, False),
    ("shift_left", "shift-left", INTEGER, False),
    ("shift_right_arithmetic", "shift-right-arithmetic", INTEGER, False),
    ("shift_right_logical", "shift-right-logical", INTEGER, False),
    ("subtract", "subtract", NUMBER, False),
    ("xor", "xor", PRED_OR_INTEGER, True),
):
    define(
        f"stablehlo.{_name}",
        "lhs rhs",
        rule=_add_rule if _name == "add" else same_type,
        lower=elementwise(_opcode),
        types=_types,
        result_types=TENSOR if _types is PRED_OR_INTEGER else None,
        agree=("same-shape",) if _name == "add" else _COMPATIBLE,
        traits=(Trait.COMMUTATIVE,) if _commutes else (),
    )


# -- abs, real, imag, complex: the element type changes between complex and its parts -------------------------------


def component(element: str) -> str:
    return element[8:-1] if element.startswith("complex<") else element


def _component_rule(op: ir.Op, module: ir.Module) -> Sequence[ir.Type]:
    operand = tensor(op, 0)
    if not isinstance(operand.element, str):
        return [operand]
    return [TensorType(operand.shape, component(operand.element), operand.bounds)]


define(
    "stablehlo.abs",
    "operand",
    rule=_component_rule,
    lower=elementwise("abs"),
    types=SIGNED_NUMBER,
    result_types=SIGNED_REAL,
    agree=("elementwise",),
)
define(
    "stablehlo.real",
    "operand",
    rule=_component_rule,
    lower=elementwise("real"),
    types=PLAIN_FLOAT_OR_COMPLEX,
    result_types=FLOAT,
    agree=("elementwise",),
)
define(
    "stablehlo.imag",
    "operand",
    rule=_component_rule,
    lower=elementwise("imag"),
    types=PLAIN_FLOAT_OR_COMPLEX,
    result_types=FLOAT,
    agree=("elementwise",),
)


def _complex_rule(op: ir.Op, module: ir.Module) -> Sequence[ir.Type]:
    _check_same_operands(op)
    merged = merge([tensor(op, 0), tensor(op, 1)])
    return [TensorType(merged.shape, f"complex<{merged.element}>", merged.bounds)]


def _check_same_operands(op: ir.Op) -> None:
    first = tensor(op, 0)
    for operand in op.operands:
        assert isinstance(operand.type, TensorType)
        if not compatible_shapes(operand.type.shape, first.shape):
            fail(op, "requires the same shape for all operands")
        if not compatible_elements(operand.type.element, first.element):
            fail(op, "requires the same element type for all operands")


define(
    "stablehlo.complex",
    "lhs rhs",
    rule=_complex_rule,
    lower=elementwise("complex"),
    types=COMPLEX_PART,
    result_types=COMPLEX,
    agree=(
        "same-element-type-of-operands",
        "same-shape",
    ),
)


# -- predicates ------------------------------------------------------------------------------------------------------


def _is_finite_rule(op: ir.Op, module: ir.Module) -> Sequence[ir.Type]:
    operand, result = tensor(op, 0), op.results[0].type
    if not isinstance(result, TensorType) or not compatible_shapes(operand.shape, result.shape):
        fail(op, "all non-scalar operands/results must have the same shape and base type")
    return [TensorType(operand.shape, "i1", operand.bounds)]


define(
    "stablehlo.is_finite",
    "operand",
    rule=_is_finite_rule,
    lower=elementwise("is-finite"),
    types=_FLOAT,
    result_types=PRED,
    agree=("elementwise",),
)


def _compare_rule(op: ir.Op, module: ir.Module) -> Sequence[ir.Type]:
    _check_same_operands(op)
    merged = merge([tensor(op, 0), tensor(op, 1)])
    return [TensorType(merged.shape, "i1", merged.bounds)]


def _lower_compare(ctx: LoweringContext, op: ir.Op, lhs: HloInstruction, rhs: HloInstruction) -> HloInstruction:
    """HLO `compare`; a total order of floats is an attribute of its own, other types follow from the operands."""
    direction = str(op.attributes["comparison_direction"])
    if op.attributes.get("compare_type") == "TOTALORDER":
        return ctx.add("compare", lhs, rhs, direction=direction, type="TOTALORDER")
    return ctx.add("compare", lhs, rhs, direction=direction)


define(
    "stablehlo.compare",
    "lhs rhs",
    rule=_compare_rule,
    lower=_lower_compare,
    attributes={
        "comparison_direction": Attribute(Kind.ENUM, cases=("EQ", "NE", "GE", "GT", "LE", "LT")),
        "compare_type": Attribute(Kind.ENUM, None, cases=("NOTYPE", "FLOAT", "TOTALORDER", "SIGNED", "UNSIGNED")),
    },
    doc=(
        "Whether `comparison_direction` (EQ, NE, GE, GT, LE, LT) holds, element by element. Floats compare as IEEE "
        "754 says (nothing equals NaN), or in its total order (TOTALORDER); complex numbers only for equality."
    ),
    result_types=PRED,
    agree=("elementwise", "compatible-operands"),
)


# -- select and clamp: scalars go with tensors -----------------------------------------------------------------------


def _select_rule(op: ir.Op, module: ir.Module) -> Sequence[ir.Type] | None:
    pred, on_true, on_false = (tensor(op, i) for i in range(3))
    result = op.results[0].type
    if on_true == on_false == result and pred.shape == on_true.shape:
        return None
    if not compatible(on_true, on_false):
        fail(op, "requires compatible types for non-predicate operands")
    if pred.rank and not compatible_shapes(pred.shape, on_true.shape):
        fail(op, "requires the same shape for all operands")
    return [merge([on_true, on_false])]


def _lower_select(
    ctx: LoweringContext, op: ir.Op, pred: HloInstruction, on_true: HloInstruction, on_false: HloInstruction
) -> HloInstruction:
    """HLO `select`; a scalar predicate is broadcast."""
    return ctx.add("select", ctx.broadcast(pred, on_true.shape), on_true, on_false)


define(
    "stablehlo.select",
    (Values("pred", TypeConstraint(E.PRED)), Values("on_true"), Values("on_false")),
    rule=_select_rule,
    lower=_lower_select,
    traits=(Trait.ON_STORAGE,),
    doc="`on_true` where the predicate is true, else `on_false`; the predicate is a scalar or has their shape.",
)


def _clamp_rule(op: ir.Op, module: ir.Module) -> Sequence[ir.Type]:
    low, operand, high = (tensor(op, i) for i in range(3))
    for name, bound in (("min", low), ("max", high)):
        if bound.rank and not compatible_shapes(bound.shape, operand.shape):
            fail(
                op,
                f"{name} shape [{list_text(bound.shape)}] is not scalar and is not compatible to operand shape "
                f"[{list_text(operand.shape)}]",
            )
        if not compatible_elements(bound.element, operand.element):
            fail(op, "requires the same element type for all operands and results")
    return [operand]


def _lower_clamp(
    ctx: LoweringContext, op: ir.Op, low: HloInstruction, operand: HloInstruction, high: HloInstruction
) -> HloInstruction:
    """HLO `clamp`, whose bounds are scalars or of the operand's shape as well."""
    if low.shape.rank != high.shape.rank:
        low, high = ctx.broadcast(low, operand.shape), ctx.broadcast(high, operand.shape)
    return ctx.add("clamp", low, operand, high)


define(
    "stablehlo.clamp",
    "min operand max",
    rule=_clamp_rule,
    lower=_lower_clamp,
    doc="min(max(x, min), max), element by element; the bounds are scalars or have the operand's shape.",
    agree=("compatible-element-types",),
)


# -- conversion ------------------------------------------------------------------------------------------------------


def _convert_rule(op: ir.Op, module: ir.Module) -> Sequence[ir.Type]:
    operand, result = tensor(op, 0), op.results[0].type
    if isinstance(result, TensorType) and not compatible_shapes(operand.shape, result.shape):
        fail(op, "all non-scalar operands/results must have the same shape and base type")
    check_accuracy(op)
    return [
        TensorType(operand.shape, result.element if isinstance(result, TensorType) else operand.element, operand.bounds)
    ]


def _lower_convert(ctx: LoweringContext, op: ir.Op, operand: HloInstruction) -> HloInstruction:
    """HLO `convert`."""
    return ctx.convert(operand, ctx.result_shape(op))


define(
    "stablehlo.convert",
    "operand",
    rule=_convert_rule,
    lower=_lower_convert,
    doc=(
        "The value in another element type. Floats round to the nearest, ties to even; to integers they truncate; "
        "complex to real drops the imaginary part; to i1, whether it isn't zero."
    ),
    types=UNQUANTIZED,
    agree=("same-shape",),
)


def _bitcast_rule(op: ir.Op, module: ir.Module) -> Sequence[ir.Type]:
    operand, result = tensor(op, 0), op.results[0].type
    assert isinstance(result, TensorType)
    if (elements_of(operand.element) is E.COMPLEX) != (elements_of(result.element) is E.COMPLEX):
        fail(op, f"cannot convert between real and complex types, but got: '{operand}' and '{result}'")
    here, there = element_bits(operand.element), element_bits(result.element)
    small, large = (operand, result) if here < there else (result, operand)
    if here == there:
        if not compatible_shapes(operand.shape, result.shape):
            _bitcast_shapes(op, operand, result)
        return [TensorType(operand.shape, result.element, operand.bounds)]
    few, many = min(here, there), max(here, there)
    if small.rank != large.rank + 1:
        fail(
            op,
            f"rank of smaller element type ({small.rank}) should be 1 more than rank of larger element type "
            f"({large.rank}), but {small.rank} != {large.rank} + 1.",
        )
    if not compatible_shapes(small.shape[:-1], large.shape):
        _bitcast_shapes(op, operand, result)
    if small.shape[-1] != ir.DYNAMIC and small.shape[-1] * few != many:
        fail(
            op,
            f"requires compatible bit widths. Got: '{operand}' and '{result}', but {few} * {small.shape[-1]} "
            f"!= {many}.",
        )
    shape = operand.shape[:-1] if here < there else (*operand.shape, here // there)
    return [TensorType(shape, result.element)]


def _bitcast_shapes(op: ir.Op, operand: TensorType, result: TensorType) -> None:
    fail(
        op,
        "operand and result shapes must match except for the innermost dimension of the shape with the smaller "
        f"element type. Got: '{operand}' and '{result}'.",
    )


def _lower_bitcast(ctx: LoweringContext, op: ir.Op, operand: HloInstruction) -> HloInstruction:
    """HLO `bitcast-convert`."""
    shape = ctx.result_shape(op)
    return operand if operand.shape == shape else ctx.add("bitcast-convert", operand, shape=shape)


define(
    "stablehlo.bitcast_convert",
    "operand",
    rule=_bitcast_rule,
    lower=_lower_bitcast,
    traits=(Trait.ON_STORAGE,),
    doc="The bits as another element type; where the widths differ, the last dimension goes or comes.",
    types=TENSOR_OR_PER_AXIS,
)


def _reduce_precision_rule(op: ir.Op, module: ir.Module) -> Sequence[ir.Type]:
    if int(op.attributes["exponent_bits"]) < 1:
        fail(op, "exponent_bits must be at least 1.")
    return [tensor(op, 0)]


def _lower_reduce_precision(ctx: LoweringContext, op: ir.Op, operand: HloInstruction) -> HloInstruction:
    """HLO `reduce-precision`."""
    exponent, mantissa = int(op.attributes["exponent_bits"]), int(op.attributes["mantissa_bits"])
    return ctx.add("reduce-precision", operand, exponent_bits=exponent, mantissa_bits=mantissa)


define(
    "stablehlo.reduce_precision",
    "operand",
    rule=_reduce_precision_rule,
    lower=_lower_reduce_precision,
    types=_FLOAT,
    attributes={"exponent_bits": Attribute(Kind.INT32, minimum=1), "mantissa_bits": Attribute(Kind.INT32, minimum=0)},
    doc="Rounds to a float of `exponent_bits` and `mantissa_bits`, and back.",
    agree=("elementwise", "compatible-types"),
)
