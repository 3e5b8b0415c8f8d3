"""Reads MLIR types: builtin, quantized and StableHLO's. Types of other dialects are kept as text."""

from __future__ import annotations

import re
from typing import Any

from xla_core.hlo.values.scalar_types import is_scalar
from xla_core.stablehlo import ir
from xla_core.stablehlo.text.cursor import Alias
from xla_core.stablehlo.text.locations import LocationReader
from xla_core.stablehlo.text.quantized_types import read_quantized

_SIMPLE_TENSOR = re.compile(r"tensor<((?:(?:[0-9]{1,19}|\?)x)*)([a-z]\w*)>", re.ASCII).match
_DIMENSION = re.compile(r"([0-9]+|\?)[ ]*x").match
_SYMBOL_NAME = re.compile(r"[A-Za-z_$.][\w$.\-]*", re.ASCII).match
_MAX_DIMENSION = (1 << 63) - 1


class TypeReader(LocationReader):
    """Reads types. Subclasses define `attribute`, for a tensor's encoding, and `vhlo_type`."""

    def __init__(self, source: str, file: str) -> None:
        super().__init__(source, file)
        self.type_aliases: dict[str, Alias] = {}
        self.tensor_types: dict[str, ir.TensorType] = {}
        self.quantized_types: dict[str, ir.QuantizedType] = {}  # by the text of the OpaqueType that stands for each

    def attribute(self) -> Any:
        raise NotImplementedError

    def vhlo_type(self, name: str, start: int) -> ir.Type:
        """Reads the rest of a type after `!vhlo.name`."""
        raise NotImplementedError

    def type(self) -> ir.Type:
        self.nodes += 1
        self.skip()
        match = _SIMPLE_TENSOR(self.source, self.position)
        if match is not None:
            text = match[0]
            known = self.tensor_types.get(text)
            if known is None and is_scalar(match[2]):
                dims = tuple([ir.DYNAMIC if d == "?" else int(d) for d in match[1].split("x")[:-1]])
                if max(dims, default=0) <= _MAX_DIMENSION:
                    known = self.tensor_types[text] = ir.TensorType(dims, match[2])
            if known is not None:
                self.position = match.end()
                return known
        self.enter()
        try:
            return self.plain(self._type)
        finally:
            self.leave()

    def optional_type(self) -> ir.Type | None:
        """Reads a type if one is next; returns None otherwise."""
        self.skip()
        if self.source[self.position : self.position + 1] in ("!", "("):
            return self.type()
        start = self.position
        match = _SYMBOL_NAME(self.source, start)
        if match and (is_scalar(match[0]) or match[0] in ("tensor", "tuple", "complex", "memref", "vector")):
            return self.type()
        return None

    def type_list(self) -> list[ir.Type]:
        """Reads `type, type, ...`, at least one."""
        types = [self.type()]
        while self.accept(","):
            types.append(self.type())
        return types

    def type_or_list(self) -> tuple[ir.Type, ...]:
        """Reads the results of a function type: one type, or `(type, ...)`."""
        if not self.at("("):
            return (self.type(),)
        types: list[ir.Type] = []
        self.list_of("(", ")", lambda: types.append(self.type()))
        if self.at("->"):
            raise self.error("a function type that returns a function needs parentheses around it")
        return tuple(types)

    def function_type(self) -> ir.FunctionType:
        """Reads `(types) -> types`."""
        inputs: list[ir.Type] = []
        if not self.at("("):
            start = self.position
            found = self.type()
            if isinstance(found, ir.FunctionType):  # an alias
                return found
            if not self.pretty_op:
                raise self.error(f"expected function type such as (types) -> types, found {found}", start)
            message = f"invalid kind of type specified: expected builtin.function, but found '{found}'"
            raise self.form_error(message, start)
        self.list_of("(", ")", lambda: inputs.append(self.type()))
        self.expect("->", "in function type")
        return ir.FunctionType(tuple(inputs), self.type_or_list())

    def _type(self) -> ir.Type:
        if self.at("("):
            return self.function_type()
        if self.at("!"):
            return self._dialect_type()
        start = self.position
        word = self.word("non-function type")
        if word == "tensor":
            return self._tensor(start)
        if word == "tuple":
            types: list[ir.Type] = []
            self.list_of("<", ">", lambda: types.append(self.type()))
            return ir.TupleType(tuple(types))
        if word == "complex":
            return ir.ScalarType(self._complex())
        if word in ("memref", "vector"):
            self.skip()
            if not self.at("<"):
                raise self.error(f"expected '<' after {word}, found {self.found()}")
            return ir.OpaqueType(word + self.balanced())
        if is_scalar(word):
            return ir.ScalarType(word)
        self.position = start
        raise self.error(f"expected non-function type, found '{word}'")

    def _complex(self) -> str:
        self.expect("<")
        part = self.word("an element type")
        self.expect(">")
        return f"complex<{part}>"

    def _tensor(self, start: int) -> ir.Type:
        self.expect("<", "after tensor")
        if self.at("*"):
            self.position = self.source.index("<", start)
            return ir.OpaqueType("tensor" + self.balanced())
        shape = []
        while True:
            self.skip()
            match = _DIMENSION(self.source, self.position)
            if match is None:
                break
            self.position = match.end()
            size = ir.DYNAMIC if match[1] == "?" else self.to_integer(match[1], match.start())
            if size > _MAX_DIMENSION:
                raise self.error(f"the dimension {size} doesn't fit in 64 bits", match.start())
            shape.append(size)
        element = self._element()
        type = ir.with_encoding(tuple(shape), element, self.attribute() if self.accept(",") else None)
        if (problem := ir.bounds_problem(type)) is not None:
            raise self.error(problem, start)
        self.expect(">", "in tensor type")
        return type

    def _element(self) -> str | ir.QuantizedType:
        if self.at("!"):
            start = self.position
            kind = self._dialect_type()
            if isinstance(kind, ir.OpaqueType) and kind.text in self.quantized_types:
                return self.quantized_types[kind.text]
            if isinstance(kind, (ir.ScalarType, ir.OpaqueType, ir.TokenType)):
                return str(kind)
            raise self.error("a tensor can't hold this type", start)
        start = self.position
        word = self.word("non-function type as element type")
        if word == "complex":
            return self._complex()
        if not is_scalar(word):
            if word in ("vector", "memref", "tensor", "tuple"):
                self.position = start
                inner = self.type()
                if isinstance(inner, ir.OpaqueType):
                    return inner.text
                raise self.error(f"invalid tensor element type: {inner}", start)
            raise self.error(f"expected non-function type as element type, found '{word}'", start)
        return word

    def opaque(self, quantized: ir.QuantizedType) -> ir.OpaqueType:
        """Returns the form of a quantized type outside of a tensor, and remembers which type it stands for."""
        text = ir.type_text(quantized)
        self.quantized_types[text] = quantized
        return ir.OpaqueType(text)

    def _dialect_type(self) -> ir.Type:
        """`!name` (an alias) or `!dialect.name<...>`."""
        start = self.position
        self.position += 1
        match = _SYMBOL_NAME(self.source, self.position)
        if match is None:
            raise self.error("expected a name after '!'", start)
        self.position = match.end()
        name = match[0]
        if "." not in name:
            if name in self.type_aliases:
                alias: ir.Type = self.expand(self.type_aliases[name], start)
                return alias
            if self.source.startswith("<", self.position):  # !dialect<name ...>
                return ir.OpaqueType(f"!{name}{self.balanced()}")
            raise self.error(f"undefined symbol alias id '{name}'", start, hint=f"write !{name} = type before it")
        if name == "stablehlo.token":
            return ir.TokenType()
        if name.startswith("vhlo."):
            return self.vhlo_type(name.removeprefix("vhlo."), start)
        if name == "quant.uniform":
            return self.opaque(read_quantized(self, start))
        if name == "stablehlo.future":
            types: list[ir.Type] = []
            self.list_of("<", ">", lambda: types.append(self.type()))
            return ir.future(types)
        if name.startswith("stablehlo."):
            raise self.error(
                f"unknown stablehlo type: {name.removeprefix('stablehlo.')}",
                start,
                hint="StableHLO has !stablehlo.token and !stablehlo.future",
            )
        body = self.balanced() if self.source.startswith("<", self.position) else ""
        return ir.OpaqueType(f"!{name}{body}")
