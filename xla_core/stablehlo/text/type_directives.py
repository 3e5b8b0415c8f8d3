"""Readers of the types at the end of an op.

Each reads, given the number of operands, the types of all operands and results. The regular expression beside it
delimits the text.
"""

from __future__ import annotations

from collections.abc import Callable

from xla_core.stablehlo import ir
from xla_core.stablehlo.text.types import TypeReader

Signature = tuple[tuple[ir.Type, ...], tuple[ir.Type, ...]]
"""Operand types, result types."""


def _function(type: ir.FunctionType) -> Signature:
    return type.inputs, type.results


def _one_or_functional(reader: TypeReader, count: int) -> ir.Type | Signature:
    if not reader.at("("):
        return reader.type()
    start = reader.skip()
    type = reader.type()
    if not isinstance(type, ir.FunctionType):
        raise reader.error("expected one type or a function type", start)
    if len(type.inputs) != count:
        raise reader.form_error(f"{count} operands present, but expected {len(type.inputs)}", start)
    if len(type.results) != 1:
        raise reader.form_error(f"expected single output, the function type has {len(type.results)}", start)
    return type.inputs, type.results


def same(reader: TypeReader, count: int) -> Signature:
    """`type` of all operands and the result, or `(types) -> type`."""
    types = _one_or_functional(reader, count)
    return types if isinstance(types, tuple) else ((types,) * count, (types,))


def select(reader: TypeReader, count: int) -> Signature:
    """`predicate type, type of the rest`, or `(types) -> type`."""
    start = reader.skip()
    types = _one_or_functional(reader, count)
    if isinstance(types, tuple):
        return types
    if not reader.accept(","):
        raise reader.form_error("expected functional type or list of two types", start)
    branch = reader.type()
    if reader.at(","):
        raise reader.form_error("expected functional type or list of two types", start)
    return (types, branch, branch), (branch,)


def complex_(reader: TypeReader, count: int) -> Signature:
    """`complex type`, from which the parts' type follows, or `(types) -> type`."""
    start = reader.skip()
    types = _one_or_functional(reader, count)
    if isinstance(types, tuple):
        return types
    if isinstance(types, ir.TensorType) and isinstance(types.element, str) and types.element.startswith("complex<"):
        part = ir.TensorType(types.shape, types.element[len("complex<") : -1], types.bounds, types.encoding)
        return (part, part), (types,)
    raise reader.form_error(f"expected tensor with complex element type, found {types}", start)


def tuple_(reader: TypeReader, count: int) -> Signature:
    """`tuple<types>`: of the operands, and the result."""
    start = reader.skip()
    type = reader.type()
    if not isinstance(type, ir.TupleType):
        raise reader.form_error(f"expected tuple type, found {type}", start)
    return type.elements, (type,)


def arrow(reader: TypeReader, count: int) -> Signature:
    inputs = tuple(reader.type_list())
    reader.expect("->", "and the result types")
    return inputs, reader.type_or_list()


def cast(reader: TypeReader, count: int) -> Signature:
    inputs = tuple(reader.type_list())
    reader.expect_word("to")
    return inputs, tuple(reader.type_list())


def return_(reader: TypeReader, count: int) -> Signature:
    if not count and not reader.at(":"):
        return (), ()
    reader.expect(":", "and the operands' types")
    return tuple(reader.type_list()), ()


_FUNCTION = r"\([^()\n]*\) -> (?:\([^()\n]*\)|[^()\n]{0,2000}>)"
_TYPES = r"[^()\n]{0,2000}>"  # bounded, for a whole program may stand on one line
_SAME = rf"(?:\([^()\n]*\) -> )?{_TYPES}"

SIGNATURES: dict[str, tuple[Callable[[TypeReader, int], Signature], str | None]] = {
    # `(types) -> types`
    "functional": (lambda reader, count: _function(reader.function_type()), _FUNCTION),
    "same": (same, _SAME),
    "select": (select, _SAME),
    "complex": (complex_, _SAME),
    "tuple": (tuple_, _TYPES),
    # `type, type -> types`
    "arrow": (arrow, r"[^()\n]{0,1000}> -> (?:\([^()\n]*\)|[^()\n]{0,1000}>)"),
    # `types to types`
    "cast": (cast, None),
    # types of all results; of all operands; one type that every operand has
    "results": (lambda reader, count: ((), tuple(reader.type_list())), _TYPES),
    "list": (lambda reader, count: (tuple(reader.type_list()), ()), _TYPES),
    "each": (lambda reader, count: ((reader.type(),) * count, ()), _TYPES),
    # `: types` of the operands, or nothing if there are none
    "return": (return_, r"(?:: [^()\n]{0,20000}>)?"),
}
"""Readers and patterns by the kinds in assembly formats."""
