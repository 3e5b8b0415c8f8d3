"""Reads MLIR attributes into the values of `stablehlo.ir`."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, TypeGuard

import numpy as np

from xla_core.hlo.values import dense_literals
from xla_core.hlo.values.scalar_types import DTYPES, integer_format
from xla_core.stablehlo import ir
from xla_core.stablehlo.text.cursor import MAX_INTEGER_DIGITS, Alias
from xla_core.stablehlo.text.types import TypeReader

_NUMBER = re.compile(r"-?(?:0x[0-9a-fA-F]+|[0-9]+(\.[0-9]*(?:[eE][-+]?[0-9]+)?)?)").match
_SYMBOL = re.compile(r"@([A-Za-z_][\w$.\-]*)", re.ASCII).match
_NAME = re.compile(r"[A-Za-z_][\w$.]*", re.ASCII).match
_PAYLOAD = re.compile(r'[^<>"]*').match
_HASH_NAME = re.compile(r"#([A-Za-z_$.][\w$.\-]*|[0-9]+)", re.ASCII).match
_KEPT = frozenset(("affine_map", "affine_set", "strided", "distinct"))
_AFFINE = re.compile(r"<(?:->|[<>]=|[^<>])*+>").match
_SCALAR = re.compile(r"[^<>\[\](),\"]*").match
_DIMENSIONS = re.compile(r"\[[-0-9, ]*\]").match


class AttributeReader(TypeReader):
    """Reads attributes. Subclasses define `dialect_attribute`."""

    def __init__(self, source: str, file: str) -> None:
        super().__init__(source, file)
        self.attribute_aliases: dict[str, Alias] = {}
        self.resources: dict[str, str] = {}
        self.dimension_lists: dict[str, ir.DenseArray] = {}

    def dialect_attribute(self, name: str, start: int) -> Any:
        """Reads the rest of an attribute after `#name`."""
        raise NotImplementedError

    def attribute(self) -> Any:
        self.nodes += 1
        self.enter()
        try:
            return self.plain(self._attribute)
        finally:
            self.leave()

    def _attribute(self) -> Any:
        start = self.skip()
        char = self.source[start : start + 1]
        if char.isdigit() or char == "-":
            return self.number()
        if char == '"':
            text = self.string()
            if self.accept(":"):
                self.type()
            return text
        if char == "[":
            items: list[Any] = []
            self.list_of("[", "]", lambda: items.append(self.attribute()))
            return tuple(items)
        if char == "{":
            return self.dictionary()
        if char == "@":
            return self.symbol()
        if char == "#":
            name = self.take(_HASH_NAME, "an attribute alias")[1]
            if name in self.attribute_aliases:
                return self.expand(self.attribute_aliases[name], start)
            return self.dialect_attribute(name, start)
        match = _NAME(self.source, start)
        if match is not None:
            reader = _WORDS.get(match[0])
            if reader is not None:
                self.position = match.end()
                return reader(self, start)
            if match[0] == "loc":
                location = self.accept_location()
                if location is not None:
                    return location
            if match[0] in _KEPT:
                return self._kept(match[0])
        type = self.optional_type()
        if type is None:
            raise self.error(f"expected attribute value, found {self.found()}")
        return type

    def _kept(self, word: str) -> ir.OpaqueAttribute:
        """Reads an attribute that no op uses, as its text."""
        start = self.position
        self.position += len(word)
        affine = _AFFINE(self.source, self.position) if word.startswith("affine") else None
        if affine is not None:  # < and > are comparisons in it
            self.position = affine.end()
            return ir.OpaqueAttribute(self.source[start : self.position])
        while self.source[self.position : self.position + 1] in ("<", "["):
            self.balanced()
        return ir.OpaqueAttribute(self.source[start : self.position])

    def number(self) -> Any:
        """Reads an integer or a float, with or without its type."""
        match = self.take(_NUMBER, "a number")
        text = match[0]
        type = self.type() if self.accept(":") else None
        if type is not None and not isinstance(type, ir.ScalarType):
            kind = "integer literal" if match[1] is None else "floating point value"
            raise self.error(f"{kind} not valid for specified type: a number can't be of {type}", match.start())
        element = str(type) if type is not None else ("i64" if match[1] is None else "f64")
        if integer_format(element) is not None:
            if match[1] is not None:
                found = f"{text[:40]} for {element}"
                raise self.error(f"floating point value not valid for specified type: {found}", match.start())
            return self._typed_integer(text, element, match.start())
        return self._typed_float(text, element, match)

    def float_value(self, element: str) -> float:
        match = self.take(_NUMBER, "a floating-point number")
        return float(self._typed_float(match[0], element, match))

    def _typed_integer(self, text: str, element: str, start: int) -> Any:
        number = self.to_integer(text, start)
        try:
            value = dense_literals.wrap_integer(number, element)
        except dense_literals.LiteralError as error:
            message = f"integer constant out of range for attribute: {number} for {element}"
            if number < 0 and element.startswith("ui"):
                message = f"negative integer literal not valid for unsigned integer type: {number} for {element}"
            raise self.error(message, start) from error
        if element == "i1":
            return bool(value)
        return value if element == "i64" else ir.TypedInt(value, element)

    def _typed_float(self, text: str, element: str, match: re.Match[str]) -> Any:
        if len(text) > MAX_INTEGER_DIGITS:
            raise self.error("the number has too many digits", match.start())
        dtype = DTYPES.get(element)
        if "x" in text:
            if dtype is None or dtype.kind == "c":
                raise self.error(f"a bit pattern can't have the type {element}", match.start())
            try:
                value = float(dense_literals.scalar_from_bits(int(text, 16), dtype))
            except dense_literals.LiteralError as error:
                raise self.error(str(error), match.start()) from error
        elif match[1] is None:
            found = f"{text[:40]} for {element}, which is written {text[:40]}.0"
            raise self.error(f"unexpected decimal integer literal for a floating point value: {found}", match.start())
        else:
            value = float(text)
            if dtype is not None and element != "f64":
                with np.errstate(over="ignore"):
                    value = float(np.array(value).astype(dtype))
        return value if element == "f64" else ir.TypedFloat(value, element)

    def symbol(self) -> ir.SymbolRef:
        """Reads `@name`, `@"any name"` or `@a::@b`."""
        name = self.symbol_name()
        while self.source.startswith("::@", self.position):
            self.position += 2
            name += f"::@{self.symbol_name()}"
        return ir.SymbolRef(name)

    def symbol_name(self) -> str:
        """Reads `@name` or `@"any name"`; returns the name without @."""
        self.skip()
        match = _SYMBOL(self.source, self.position)
        if match is not None:
            self.position = match.end()
            return match[1]
        if not self.source.startswith('@"', self.position):
            raise self.form_error(f"expected valid '@'-identifier for symbol name, found {self.found()}")
        self.position += 1
        name = self.string()
        if not name:
            raise self.error("a symbol's name can't be empty")
        return name

    def dictionary(self) -> dict[str, Any]:
        """Reads `{name = value, unit}`."""
        values: dict[str, Any] = {}
        self.list_of("{", "}", lambda: self._entry(values), "in attribute dictionary")
        return values

    def _entry(self, values: dict[str, Any]) -> None:
        start = self.skip()
        name = self.string() if self.at_string() else self.word("attribute name")
        if name in values:
            raise self.error(f"duplicate key '{name}' in dictionary attribute", start)
        values[name] = self.attribute() if self.accept("=") else ir.UNIT

    def dimensions(self) -> ir.DenseArray:
        """Reads `[0, 1]`, a list of 64-bit integers."""
        self.skip()
        match = _DIMENSIONS(self.source, self.position)
        if match is not None:
            known = self.dimension_lists.get(match[0])
            if known is not None:
                self.position = match.end()
                return known
        start = self.position
        values: list[int] = []
        self.list_of("[", "]", lambda: values.append(self.integer()))
        value = ir.DenseArray(values, "i64")
        self.dimension_lists[self.source[start : self.position]] = value
        return value

    def dense_array(self, start: int) -> ir.DenseArray:
        """Reads the rest of `array<i64: 1, 2>` after its first word."""
        self.expect("<", "after array")
        element = self.type()
        if not isinstance(element, ir.ScalarType) or element not in DTYPES:
            raise self.error("expected the element type of the array", start)
        values: list[Any] = []
        if self.accept(":"):
            while True:
                values.append(self._array_element(str(element)))
                if not self.accept(","):
                    break
        self.expect(">", "to end the array")
        return ir.DenseArray(values, str(element))

    def _array_element(self, element: str) -> Any:
        if element == "i1":
            for word in ("true", "false"):
                if self.accept_word(word):
                    return word == "true"
            raise self.error(f"expected 'true' or 'false' values for i1 type, found {self.found()}")
        match = self.take(_NUMBER, "a number")
        if integer_format(element) is None:
            return float(self._typed_float(match[0], element, match))
        if match[1] is not None:
            raise self.error(f"expected integer literal for {element}, found {match[0][:40]}", match.start())
        value = self._typed_integer(match[0], element, match.start())
        return value if element == "i1" else int(value)

    def dense(self, start: int) -> Any:
        """Reads the rest of `dense<...> : type` after its first word."""
        self.expect("<", "after 'dense'")
        payload_start = self.skip()
        is_string = self.at_string()
        if is_string:
            payload = self.string()
        else:
            match = _PAYLOAD(self.source, self.position)
            payload = match[0] if match else ""
            self.position += len(payload)
        if self.at('"'):  # a list of strings
            self.position = self.source.index("<", start)
            self.balanced()
        else:
            self.expect(">", "to end the literal")
        self.expect(":", "and the literal's type")
        type = self.type()
        if not self._is_decoded(type):
            return ir.OpaqueAttribute(self.source[start : self.position])
        try:
            data = dense_literals.from_bytes(payload, type) if is_string else dense_literals.from_text(payload, type)
        except (ValueError, OverflowError) as error:  # LiteralError is one; numpy has its own for sizes
            offset = payload_start + getattr(error, "offset", 0)
            raise self.error(str(error.args[0]), offset) from error
        return ir.DenseElements(type, data)

    def _is_decoded(self, type: ir.Type) -> TypeGuard[ir.TensorType]:
        """Tells whether the elements of a literal are decoded, which they are not for types that no op has."""
        if isinstance(type, ir.OpaqueType):
            return False
        if not isinstance(type, ir.TensorType):
            raise self.error(f"elements literal must be a shaped type, found {type}")
        element = str(type.element)
        return not element.startswith("!") and (not element.startswith("complex") or element in DTYPES)

    def sparse(self, start: int) -> Any:
        """Reads the rest of `sparse<indices, values> : type` after its first word."""
        self.expect("<", "after 'sparse'")
        indices = "" if self.at(">") else self._literal()
        values = ""
        if indices:
            self.expect(",", "between the indices and the values")
            values = self._literal()
        self.expect(">", "to end the literal")
        self.expect(":", "and the literal's type")
        type = self.type()
        if not self._is_decoded(type) or values.startswith('"'):
            return ir.OpaqueAttribute(self.source[start : self.position])
        try:
            return ir.DenseElements(type, dense_literals.from_sparse(indices, values, type))
        except (ValueError, OverflowError) as error:
            raise self.error(str(error.args[0]), start) from error

    def _literal(self) -> str:
        """Reads the text of one literal: a list, a pair, a string or a number."""
        if self.at("[") or self.at("("):
            return self.balanced()
        start = self.position
        if self.at_string():
            self.string()
        else:
            self.take(_SCALAR, "element literal of primitive type")
        return self.source[start : self.position]

    def dense_resource(self, start: int) -> Any:
        """Reads the rest of `dense_resource<name> : type` after its first word. The data are at the end of the text."""
        self.expect("<", "after dense_resource")
        name = self.string() if self.at_string() else self.word("the resource's name")
        self.expect(">", "to end the resource's name")
        self.expect(":", "and the resource's type")
        type = self.type()
        blob = self.resources.get(name)
        if not isinstance(type, (ir.TensorType, ir.OpaqueType)):
            raise self.error(f"`dense_resource` expected a shaped type, found {type}", start)
        if not self._is_decoded(type):
            return ir.OpaqueAttribute(self.source[start : self.position])
        if blob is None:
            hint = "it belongs in {-# ... #-} at the end"
            return ir.MissingElements(type, name, self.error(f"the resource '{name}' is not defined", start, hint))
        try:
            # A resource's text starts with its alignment, four bytes.
            return ir.DenseElements(type, dense_literals.from_bytes("0x" + blob[10:], type))
        except (ValueError, OverflowError) as error:
            raise self.error(str(error.args[0]), start) from error


_WORDS: dict[str, Callable[[AttributeReader, int], Any]] = {
    "true": lambda reader, start: True,
    "false": lambda reader, start: False,
    "unit": lambda reader, start: ir.UNIT,
    "array": AttributeReader.dense_array,
    "dense": AttributeReader.dense,
    "dense_resource": AttributeReader.dense_resource,
    "sparse": AttributeReader.sparse,
}
