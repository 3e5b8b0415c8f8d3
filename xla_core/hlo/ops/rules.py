"""Helpers for the entries of the op table: the entry itself, attribute kinds by short names, shape checks."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from xla_core.errors import InternalError, InvalidArgumentError, XlaError
from xla_core.hlo.evaluation.environment import TOKEN, Value
from xla_core.hlo.evaluation.evaluation_context import EvaluationContext
from xla_core.hlo.ir.attribute_kinds import is_of_kind
from xla_core.hlo.ir.computation import HloComputation
from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.hlo.table.op_table import (
    REQUIRED,
    Attribute,
    AttributeKind,
    Attributes,
    Evaluate,
    OpDef,
    ShapeRule,
    Trait,
    define,
)
from xla_core.hlo.table.opcode import Opcode
from xla_core.hlo.values.element_type import ElementType
from xla_core.hlo.values.shape import Shape
from xla_core.wording import counted

_KINDS = {kind.value: kind for kind in AttributeKind}


def attr(kind: str, default: Any = REQUIRED, *, shown: bool = False, values: str = "", doc: str = "") -> Attribute:
    """Makes an attribute. `attr("ints")` is required; `attr("ints", ())` has a default; "A B" are values of an enum."""
    return Attribute(_KINDS[kind], default, shown, tuple(values.split()), doc)


@dataclasses.dataclass(frozen=True, slots=True)
class OpGroup:
    """The ops of one file, which share one page of the documentation."""

    name: str

    def entry(
        self,
        opcode: Opcode,
        arity: int | tuple[int, int | None],
        shape: ShapeRule,
        evaluate: Evaluate | None,
        *traits: Trait,
        doc: str,
        **fields: Any,
    ) -> OpDef:
        """Adds an op to the table. `fields` are its attributes and further fields of OpDef.

        The op's shape rule is extended by the checks that all ops share, and sees every attribute, by its default where
        it is left out. Required attributes must be present, each attribute must have a value of its kind, and a
        declared shape must be the inferred one, apart from layouts and dynamic dimensions. Errors name the op. An
        exception other than XlaError is an error in the rule and becomes an InternalError.
        """
        attributes = {name: field for name, field in fields.items() if isinstance(field, Attribute)}

        def rule(operands: Sequence[Shape], values: Attributes, declared: Shape | None) -> Shape:
            if attributes:
                values = _completed(opcode, attributes, values)
            try:
                result = shape(operands, values, declared)
                if declared is not None and result is not declared and not _fits(declared, result):
                    raise InvalidArgumentError(f"declared as {declared}, but {opcode} of {_list(operands)} is {result}")
                return result
            except XlaError as error:
                error.op = error.op or opcode
                raise
            except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
                raise InternalError(
                    f"the shape of {opcode} of {_list(operands)}: {type(error).__name__}: {error}",
                    op=opcode,
                    hint="this is a bug of xla-core: please report it, with the program",
                ) from error

        others = {name: field for name, field in fields.items() if name not in attributes}
        op = OpDef(
            opcode=opcode,
            arity=arity,
            shape=rule,
            evaluate=evaluate,
            attributes=attributes,
            traits=frozenset(traits),
            doc=doc,
            group=self.name,
            **others,
        )
        return define(op)


def _completed(opcode: Opcode, attributes: Mapping[str, Attribute], values: Attributes) -> Attributes:
    complete = dict(values)
    for name, attribute in attributes.items():
        if name not in values:
            if attribute.default is REQUIRED:
                raise InvalidArgumentError(f"{opcode} needs attribute {name}", op=opcode)
            complete[name] = attribute.default
        elif not is_of_kind(attribute, values[name]):
            wanted = ", ".join(attribute.values) or f"a value of kind {attribute.kind.value}"
            raise InvalidArgumentError(f"attribute {name} is {values[name]!r}; expected {wanted}", op=opcode)
    return complete


def first_value(context: EvaluationContext, instruction: HloInstruction, values: list[Value]) -> Value:
    """Evaluates an op whose result is its first operand."""
    return values[0]


def same_shape(operands: Sequence[Shape], attributes: Attributes, declared: Shape | None) -> Shape:
    """The shape of an op whose result has the shape of its first operand."""
    return operands[0].without_layout()


def product_flops(result: Shape, terms: float) -> float:
    """The operations of a result whose elements are sums of so many products."""
    return result.num_elements * terms * (8.0 if result.element_type.is_complex else 2.0)


def zeros(shape: Shape) -> Value:
    if shape.is_tuple:
        return tuple(map(zeros, shape.tuple_shapes))
    return np.zeros(shape.dimensions, shape.dtype) if shape.is_array else TOKEN


def _list(shapes: Iterable[Shape]) -> str:
    return ", ".join(str(s.without_layout()) for s in shapes) or "no operands"


def _fits(declared: Shape, inferred: Shape) -> bool:
    return (
        declared.element_type is inferred.element_type
        and declared.dimensions == inferred.dimensions
        and len(declared.tuple_shapes) == len(inferred.tuple_shapes)
        and all(_fits(d, i) for d, i in zip(declared.tuple_shapes, inferred.tuple_shapes, strict=True))
    )


def check(condition: bool, message: str | Callable[[], str]) -> None:
    if not condition:
        raise InvalidArgumentError(message if isinstance(message, str) else message())


def array(shape: Shape, what: str = "operand") -> Shape:
    """Returns `shape`; raises InvalidArgumentError if it is not an array."""
    if not shape.is_array:
        raise InvalidArgumentError(f"{what} must be an array, not {shape}")
    return shape


def declared_array(declared: Shape | None) -> Shape:
    """Returns the declared shape, for an op whose operands don't determine it."""
    if declared is None:
        raise InvalidArgumentError("the operands don't determine the result, so its shape must be given")
    return array(declared, "the result")


def extended(value: np.ndarray, axis: int, size: int) -> np.ndarray:
    """Appends zeros along an axis until it has at least `size` elements."""
    missing = list(value.shape)
    missing[axis] = size - value.shape[axis]
    return value if missing[axis] <= 0 else np.concatenate([value, np.zeros(missing, value.dtype)], axis)


def dims(element_type: ElementType, dimensions: Sequence[int], flags: Sequence[bool] = ()) -> Shape:
    """Makes an array shape, which is static if no flag is set."""
    if any(d < 0 for d in dimensions):
        raise InvalidArgumentError(f"the result would have dimensions {list(dimensions)}; none may be negative")
    return Shape(element_type, tuple(dimensions), None, tuple(flags) if any(flags) else ())


def same_dimensions(operands: Sequence[Shape]) -> Shape:
    """Checks that all operands are arrays of the same dimensions; returns the first.

    A dimension of the result is dynamic if it is dynamic in any operand.
    """
    first = array(operands[0])
    flags: tuple[bool, ...] = first.dynamic_dimensions
    for other in operands[1:]:
        if array(other).dimensions != first.dimensions:
            raise InvalidArgumentError(f"operands have shapes {_list(operands)}; expected the same dimensions")
        if other.dynamic_dimensions:
            flags = tuple(a or b for a, b in zip(flags or first.dynamic_flags, other.dynamic_flags, strict=True))
    return Shape(first.element_type, first.dimensions, None, flags)


def category(element_type: ElementType) -> str:
    """Returns pred, integer, float or complex. Mixed precision converts only within a category, as in XLA."""
    if element_type.is_floating:
        return "float"
    if element_type.is_complex:
        return "complex"
    return "integer" if element_type.is_integral else element_type.value


def check_axes(axes: Sequence[int], rank: int, what: str) -> None:
    """Checks that the axes are distinct and within 0..rank-1."""
    if len(set(axes)) != len(axes) or any(not 0 <= axis < rank for axis in axes):
        raise InvalidArgumentError(f"{what} {{{','.join(map(str, axes))}}} must be distinct dimensions of rank {rank}")


def check_permutation(axes: Sequence[int], rank: int, what: str) -> None:
    if sorted(axes) != list(range(rank)):
        raise InvalidArgumentError(f"{what} {{{','.join(map(str, axes))}}} must be a permutation of 0..{rank - 1}")


def parameter_shapes(computation: HloComputation) -> list[Shape]:
    return [p.shape for p in computation.parameters]


def check_comparator(computation: HloComputation, element_types: Sequence[ElementType], what: str) -> None:
    """Checks that a computation, which errors call `what`, maps two scalars of each element type to a scalar pred."""
    parameters, root = parameter_shapes(computation), computation.root.shape
    if len(parameters) != 2 * len(element_types) or any(
        not p.is_scalar or p.element_type is not element_types[i // 2] for i, p in enumerate(parameters)
    ):
        types = ", ".join(map(str, element_types))
        raise InvalidArgumentError(f"{what} {computation.name} must take two scalars of each operand's type ({types})")
    if not root.is_scalar or root.element_type is not ElementType.PRED:
        raise InvalidArgumentError(f"{what} {computation.name} must return a scalar pred")


def shape_of_parts(parts: Sequence[Shape]) -> Shape:
    """Returns a single part as it is, and several parts as a tuple, for ops with several operands."""
    return parts[0] if len(parts) == 1 else Shape.tuple(parts)


def scalar_signature(computation: HloComputation, operands: Sequence[Shape], what: str) -> list[ElementType]:
    """Checks that a computation combines scalars: (accumulators..., elements...) -> accumulators.

    The parameters must have the operands' categories of type. It returns the types of the results.
    """
    parameters = parameter_shapes(computation)
    root = computation.root.shape
    results = list(root.tuple_shapes) if root.is_tuple else [root]
    n = len(operands)
    if len(parameters) != 2 * n or len(results) != n or not all(s.is_scalar for s in (*parameters, *results)):
        raise InvalidArgumentError(
            f"{what} {computation.name} is ({_list(parameters)}) -> {root.without_layout()}; expected {2 * n} scalar "
            f"parameters and {counted(n, 'scalar result')}"
        )
    for index, parameter in enumerate(parameters):
        operand, result = operands[index % n], results[index % n]
        for other in (operand, result):
            if category(parameter.element_type) != category(other.element_type):
                raise InvalidArgumentError(
                    f"parameter {index} of {what} {computation.name} is {parameter.without_layout()}, "
                    f"which does not fit {other.element_type}"
                )
    return [r.element_type for r in results]
