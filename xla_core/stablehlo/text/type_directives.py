"""The types at the end of an op. Each kind has a reader, a writer, and a regular expression that delimits its text."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import NamedTuple

from xla_core.stablehlo import ir
from xla_core.stablehlo.text.directives import NotPretty
from xla_core.stablehlo.text.types import TypeReader

Values = Sequence[ir.Value]

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


def _read_same(reader: TypeReader, count: int) -> Signature:
    """`type` of all operands and the result, or `(types) -> type`."""
    types = _one_or_functional(reader, count)
    return types if isinstance(types, tuple) else ((types,) * count, (types,))


def _read_select(reader: TypeReader, count: int) -> Signature:
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


def _read_complex(reader: TypeReader, count: int) -> Signature:
    """`complex type`, from which the parts' type follows, or `(types) -> type`."""
    start = reader.skip()
    types = _one_or_functional(reader, count)
    if isinstance(types, tuple):
        return types
    if isinstance(types, ir.TensorType) and isinstance(types.element, str) and types.element.startswith("complex<"):
        part = ir.TensorType(types.shape, types.element[len("complex<") : -1], types.bounds, types.encoding)
        return (part, part), (types,)
    raise reader.form_error(f"expected tensor with complex element type, found {types}", start)


def _read_tuple(reader: TypeReader, count: int) -> Signature:
    """`tuple<types>`: of the operands, and the result."""
    start = reader.skip()
    type = reader.type()
    if not isinstance(type, ir.TupleType):
        raise reader.form_error(f"expected tuple type, found {type}", start)
    return type.elements, (type,)


def _read_arrow(reader: TypeReader, count: int) -> Signature:
    inputs = tuple(reader.type_list())
    reader.expect("->", "and the result types")
    return inputs, reader.type_or_list()


def _read_cast(reader: TypeReader, count: int) -> Signature:
    inputs = tuple(reader.type_list())
    reader.expect_word("to")
    return inputs, tuple(reader.type_list())


def _read_return(reader: TypeReader, count: int) -> Signature:
    if not count and not reader.at(":"):
        return (), ()
    reader.expect(":", "and the operands' types")
    return tuple(reader.type_list()), ()


type_text = functools.lru_cache(maxsize=4096)(ir.type_text)
"""A type's text; programs repeat themselves."""


def types_text(types: Sequence[ir.Type]) -> str:
    return ", ".join([type_text(type) for type in types])


def functional_text(operands: Values, results: Values) -> str:
    """Writes `(types) -> types`."""
    if len(results) == 1 and not isinstance(results[0].type, ir.FunctionType):
        return f"({types_text([o.type for o in operands])}) -> {type_text(results[0].type)}"
    return f"({types_text([o.type for o in operands])}) -> ({types_text([r.type for r in results])})"


def _same_text(operands: Values, results: Values) -> str:
    if len(results) != 1:
        raise NotPretty
    type = results[0].type
    if all(operand.type == type for operand in operands):
        return type_text(type)
    return functional_text(operands, results)


def _select_text(operands: Values, results: Values) -> str:
    if len(results) == 1 and len(operands) == 3 and all(o.type == results[0].type for o in operands[1:]):
        return types_text([operands[0].type, results[0].type])
    return functional_text(operands, results)


def _complex_text(operands: Values, results: Values) -> str:
    type = results[0].type
    if isinstance(type, ir.TensorType) and isinstance(type.element, str) and type.element.startswith("complex<"):
        part = ir.TensorType(type.shape, type.element[len("complex<") : -1], type.bounds, type.encoding)
        if all(operand.type == part for operand in operands):
            return type_text(type)
    return functional_text(operands, results)


def _tuple_text(operands: Values, results: Values) -> str:
    type = results[0].type
    if not isinstance(type, ir.TupleType) or type.elements != tuple([o.type for o in operands]):
        raise NotPretty
    return str(type)


def _arrow_text(operands: Values, results: Values) -> str:
    if len(results) == 1:
        return f"{types_text([o.type for o in operands])} -> {results[0].type}"
    return f"{types_text([o.type for o in operands])} -> ({types_text([r.type for r in results])})"


def _results_text(operands: Values, results: Values) -> str:
    if operands:
        raise NotPretty
    return types_text([r.type for r in results])


def _list_text(operands: Values, results: Values) -> str:
    if results:
        raise NotPretty
    return types_text([o.type for o in operands])


def _each_text(operands: Values, results: Values) -> str:
    if results or not operands or any(o.type != operands[0].type for o in operands):
        raise NotPretty
    return str(operands[0].type)


def _return_text(operands: Values, results: Values) -> str:
    return f": {types_text([o.type for o in operands])}" if operands else ""


def _cast_text(operands: Values, results: Values) -> str:
    return f"{types_text([o.type for o in operands])} to {types_text([r.type for r in results])}"


_FUNCTION = r"\([^()\n]*\) -> (?:\([^()\n]*\)|[^()\n]{0,2000}>)"
_TYPES = r"[^()\n]{0,2000}>"  # bounded, for a whole program may stand on one line
_SAME = rf"(?:\([^()\n]*\) -> )?{_TYPES}"


class TypeDirective(NamedTuple):
    """How the types are read, given the number of operands, and written.

    Without a pattern, `op_reader` reads the op, not `fast_path`.
    """

    read: Callable[[TypeReader, int], Signature]
    write: Callable[[Values, Values], str]
    pattern: str | None = None


SIGNATURES: dict[str, TypeDirective] = {
    # `(types) -> types`
    "functional": TypeDirective(lambda reader, count: _function(reader.function_type()), functional_text, _FUNCTION),
    "same": TypeDirective(_read_same, _same_text, _SAME),
    "select": TypeDirective(_read_select, _select_text, _SAME),
    "complex": TypeDirective(_read_complex, _complex_text, _SAME),
    "tuple": TypeDirective(_read_tuple, _tuple_text, _TYPES),
    # `type, type -> types`
    "arrow": TypeDirective(_read_arrow, _arrow_text, r"[^()\n]{0,1000}> -> (?:\([^()\n]*\)|[^()\n]{0,1000}>)"),
    # `types to types`
    "cast": TypeDirective(_read_cast, _cast_text),
    # types of all results; of all operands; one type that every operand has
    "results": TypeDirective(lambda reader, count: ((), tuple(reader.type_list())), _results_text, _TYPES),
    "list": TypeDirective(lambda reader, count: (tuple(reader.type_list()), ()), _list_text, _TYPES),
    "each": TypeDirective(lambda reader, count: ((reader.type(),) * count, ()), _each_text, _TYPES),
    # `: types` of the operands, or nothing if there are none
    "return": TypeDirective(_read_return, _return_text, r"(?:: [^()\n]{0,20000}>)?"),
}
