"""Ops that arrange values and compute none: parameters, constants, tuples, copies, tokens, dimension sizes."""

from __future__ import annotations

from collections.abc import Sequence

from xla_core.errors import InvalidArgumentError
from xla_core.hlo.element_type import ElementType
from xla_core.hlo.op_table import Attributes, Trait
from xla_core.hlo.ops.rules import array, attr, check, check_axes, declared_array, dims, dynamic, entry, normalize
from xla_core.hlo.shape import Shape

__all__: list[str] = []


def _declared(operands: Sequence[Shape], attributes: Attributes, declared: Shape | None) -> Shape:
    if declared is None:
        raise InvalidArgumentError("the shape must be given")
    return declared


def _constant(operands: Sequence[Shape], attributes: Attributes, declared: Shape | None) -> Shape:
    shape: Shape = attributes["literal"].shape
    return normalize(shape)


def _same(operands: Sequence[Shape], attributes: Attributes, declared: Shape | None) -> Shape:
    return normalize(operands[0])


def _tuple(operands: Sequence[Shape], attributes: Attributes, declared: Shape | None) -> Shape:
    return Shape.tuple([normalize(o) for o in operands])


def _get_tuple_element(operands: Sequence[Shape], attributes: Attributes, declared: Shape | None) -> Shape:
    operand, index = operands[0], attributes["index"]
    check(operand.is_tuple, lambda: f"the operand must be a tuple, not {operand}")
    check(0 <= index < len(operand.tuple_shapes), lambda: f"index {index} is not in {operand.without_layout()}")
    return normalize(operand.tuple_shapes[index])


def _token(operands: Sequence[Shape], attributes: Attributes, declared: Shape | None) -> Shape:
    for operand in operands:
        check(operand.is_token, lambda o=operand: f"an operand is {o}; expected tokens")  # type: ignore[misc]
    return Shape.token()


def _get_dimension_size(operands: Sequence[Shape], attributes: Attributes, declared: Shape | None) -> Shape:
    check_axes(attributes["dimensions"], array(operands[0]).rank, "dimensions")
    check(len(attributes["dimensions"]) == 1, "dimensions must name one dimension")
    return Shape(ElementType.S32)


def _set_dimension_size(operands: Sequence[Shape], attributes: Attributes, declared: Shape | None) -> Shape:
    operand, size = operands
    check_axes(attributes["dimensions"], array(operand).rank, "dimensions")
    check(len(attributes["dimensions"]) == 1, "dimensions must name one dimension")
    check(size.is_scalar and size.element_type.is_integral, lambda: f"the size must be a scalar integer, not {size}")
    flags = list(dynamic(operand))
    flags[attributes["dimensions"][0]] = True
    return dims(operand.element_type, operand.dimensions, flags)


def _bitcast(operands: Sequence[Shape], attributes: Attributes, declared: Shape | None) -> Shape:
    operand, result = array(operands[0]), declared_array(declared)
    before, after = (
        operand.num_elements * operand.element_type.bit_width,
        result.num_elements * result.element_type.bit_width,
    )
    check(before == after, lambda: f"bitcast of {operand} ({before} bits) to {result} ({after} bits)")
    return result


entry(
    "parameter",
    0,
    _declared,
    None,
    Trait.PRIMITIVE,
    doc="An argument of the computation, by number.",
    parameter_number=attr("operand_text"),
    parameter_replication=attr("bools", None),
)
entry("constant", 0, _constant, None, Trait.PRIMITIVE, doc="A literal.", literal=attr("literal"))
entry(
    "tuple",
    (0, None),
    _tuple,
    None,
    Trait.PRIMITIVE,
    Trait.DATA_MOVEMENT,
    Trait.NO_OPERAND_REQUIRED,
    doc="The operands as one value.",
)
entry(
    "get-tuple-element",
    1,
    _get_tuple_element,
    None,
    Trait.PRIMITIVE,
    Trait.DATA_MOVEMENT,
    doc="One element of a tuple.",
    index=attr("int"),
)
entry(
    "copy",
    1,
    _same,
    None,
    Trait.ELEMENTWISE,
    Trait.DATA_MOVEMENT,
    doc="The operand, in memory of its own or in another layout.",
)
entry(
    "bitcast",
    1,
    _bitcast,
    None,
    Trait.DATA_MOVEMENT,
    doc="The operand's bytes under another shape; in-memory order is that of the layouts.",
    result_layout=attr("raw", None),
)
entry("opt-barrier", 1, _same, None, doc="The operand; nothing moves across.")
entry(
    "domain", 1, _same, None, doc="The operand; marks where an attribute changes (sharding).", domain=attr("raw", None)
)
entry("after-all", (0, None), _token, None, Trait.NO_OPERAND_REQUIRED, doc="A token after all operand tokens.")
entry("add-dependency", 2, _same, None, doc="The first operand, after the second (a token) is there.")
entry(
    "get-dimension-size", 1, _get_dimension_size, None, doc="The actual size of a dimension.", dimensions=attr("ints")
)
entry(
    "set-dimension-size",
    2,
    _set_dimension_size,
    None,
    doc="The operand with a dimension of the given size; elements beyond it are undefined.",
    dimensions=attr("ints"),
)
