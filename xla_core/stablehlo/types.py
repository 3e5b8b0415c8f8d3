"""Reads MLIR types: builtin, quantized and StableHLO's; any other dialect's is kept as text."""

from __future__ import annotations

import math
import re
from typing import Any

import ml_dtypes
import numpy as np

from xla_core.hlo.element_type import ElementType
from xla_core.stablehlo.cursor import Alias
from xla_core.stablehlo.ir import (
    DYNAMIC,
    FunctionType,
    OpaqueType,
    QuantizedType,
    ScalarType,
    TensorType,
    TokenType,
    TupleType,
    Type,
)
from xla_core.stablehlo.locations import LocationReader

__all__ = ["BIT_WIDTHS", "DTYPES", "FLOATS", "TypeReader", "integer_format"]

DTYPES: dict[str, np.dtype[Any]] = {
    "i1": np.dtype(np.bool_),
    "i2": np.dtype(ml_dtypes.int2),
    "i4": np.dtype(ml_dtypes.int4),
    "ui2": np.dtype(ml_dtypes.uint2),
    "ui4": np.dtype(ml_dtypes.uint4),
    **{f"i{n}": np.dtype(f"int{n}") for n in (8, 16, 32, 64)},
    **{f"ui{n}": np.dtype(f"uint{n}") for n in (8, 16, 32, 64)},
    "index": np.dtype(np.int64),
    "f4E2M1FN": np.dtype(ml_dtypes.float4_e2m1fn),
    "f6E2M3FN": np.dtype(ml_dtypes.float6_e2m3fn),
    "f6E3M2FN": np.dtype(ml_dtypes.float6_e3m2fn),
    "f8E3M4": np.dtype(ml_dtypes.float8_e3m4),
    "f8E4M3": np.dtype(ml_dtypes.float8_e4m3),
    "f8E4M3B11FNUZ": np.dtype(ml_dtypes.float8_e4m3b11fnuz),
    "f8E4M3FN": np.dtype(ml_dtypes.float8_e4m3fn),
    "f8E4M3FNUZ": np.dtype(ml_dtypes.float8_e4m3fnuz),
    "f8E5M2": np.dtype(ml_dtypes.float8_e5m2),
    "f8E5M2FNUZ": np.dtype(ml_dtypes.float8_e5m2fnuz),
    "f8E8M0FNU": np.dtype(ml_dtypes.float8_e8m0fnu),
    "bf16": np.dtype(ml_dtypes.bfloat16),
    "f16": np.dtype(np.float16),
    "f32": np.dtype(np.float32),
    "f64": np.dtype(np.float64),
    "complex<f32>": np.dtype(np.complex64),
    "complex<f64>": np.dtype(np.complex128),
}
"""Element types that have arrays: MLIR's name to numpy's."""

BIT_WIDTHS = {name: ElementType.from_numpy(dtype).bit_width for name, dtype in DTYPES.items()}
"""Bits of one element; ml_dtypes holds those of less than 8 in the lower bits of a byte."""

FLOATS = frozenset(name for name, dtype in DTYPES.items() if ElementType.from_numpy(dtype).is_floating)

_INTEGER_TYPE = re.compile(r"(si|ui|i)([1-9][0-9]{0,7})\Z").match
_OTHER_SCALARS = frozenset(("tf32", "f80", "f128", "none"))
_SIMPLE_TENSOR = re.compile(r"tensor<((?:(?:[0-9]{1,19}|\?)x)*)([a-z]\w*)>", re.ASCII).match
_DIMENSION = re.compile(r"([0-9]+|\?)[ ]*x").match
_SYMBOL_NAME = re.compile(r"[A-Za-z_$.][\w$.\-]*", re.ASCII).match
_NUMBER = re.compile(r"[-+]?[0-9]+(?:\.[0-9]*)?(?:[eE][-+]?[0-9]+)?").match
_STORAGE = re.compile(r"(u?)i([1-9][0-9]?)\Z").match
_MAX_DIMENSION = (1 << 63) - 1


def integer_format(element: str) -> tuple[str, int] | None:
    """("i", 32) for "i32", ("ui", 8) for "ui8", ("i", 64) for "index"; None for what isn't an integer type."""
    if element == "index":
        return ("i", 64)
    match = _INTEGER_TYPE(element)
    return (match[1], int(match[2])) if match else None


def is_scalar(name: str) -> bool:
    """Whether a word is the name of a scalar type."""
    return name in DTYPES or name in _OTHER_SCALARS or _INTEGER_TYPE(name) is not None


class TypeReader(LocationReader):
    """Reads types; `attribute` (for a tensor's encoding) and `vhlo_type` are the next readers'."""

    def __init__(self, source: str, file: str) -> None:
        super().__init__(source, file)
        self.type_aliases: dict[str, Alias] = {}
        self.tensor_types: dict[str, TensorType] = {}
        self.quantized_types: dict[str, QuantizedType] = {}  # by their text, for which an OpaqueType stands

    def attribute(self) -> Any:
        raise NotImplementedError

    def vhlo_type(self, name: str, start: int) -> Type:
        """`!vhlo.name`, read already, and what follows it."""
        raise NotImplementedError

    def type(self) -> Type:
        """The type that must be next."""
        self.nodes += 1
        self.skip()
        match = _SIMPLE_TENSOR(self.source, self.position)
        if match is not None:
            text = match[0]
            known = self.tensor_types.get(text)
            if known is None and is_scalar(match[2]):
                dims = tuple([DYNAMIC if d == "?" else int(d) for d in match[1].split("x")[:-1]])
                if max(dims, default=0) <= _MAX_DIMENSION:
                    known = self.tensor_types[text] = TensorType(dims, match[2])
            if known is not None:
                self.position = match.end()
                return known
        self.enter()
        try:
            return self._type()
        finally:
            self.leave()

    def optional_type(self) -> Type | None:
        """The type that is next, or None where nothing that could be one is."""
        self.skip()
        if self.source[self.position : self.position + 1] in ("!", "("):
            return self.type()
        start = self.position
        match = _SYMBOL_NAME(self.source, start)
        if match and (is_scalar(match[0]) or match[0] in ("tensor", "tuple", "complex", "memref", "vector")):
            return self.type()
        return None

    def type_list(self) -> list[Type]:
        """`type, type, ...`, at least one."""
        types = [self.type()]
        while self.accept(","):
            types.append(self.type())
        return types

    def type_or_list(self) -> tuple[Type, ...]:
        """The results of a function type: one type, or `(type, ...)`."""
        if not self.at("("):
            return (self.type(),)
        types: list[Type] = []
        self.list_of("(", ")", lambda: types.append(self.type()))
        if self.at("->"):
            raise self.error("a function type that returns a function needs parentheses around it")
        return tuple(types)

    def function_type(self) -> FunctionType:
        """`(types) -> types`."""
        inputs: list[Type] = []
        if not self.at("("):
            if (start := self._type_start()) is not None:
                found = self.type()
                raise self.error(
                    f"invalid kind of type specified: expected builtin.function, but found '{found}'", start
                )
            raise self.error(f"expected a function type '(types) -> types', found {self.found()}")
        self.list_of("(", ")", lambda: inputs.append(self.type()))
        self.expect("->", "in the function type")
        return FunctionType(tuple(inputs), self.type_or_list())

    def _type_start(self) -> int | None:
        """Where a type stands next, of those that start with a word."""
        return self.position if any(self.at(word) for word in ("tensor", "tuple", "memref", "!")) else None

    def _type(self) -> Type:
        if self.at("("):
            return self.function_type()
        if self.at("!"):
            return self._dialect_type()
        start = self.position
        word = self.word("a type")
        if word == "tensor":
            return self._tensor(start)
        if word == "tuple":
            types: list[Type] = []
            self.list_of("<", ">", lambda: types.append(self.type()))
            return TupleType(tuple(types))
        if word == "complex":
            return ScalarType(self._complex())
        if word in ("memref", "vector"):
            self.skip()
            if not self.at("<"):
                raise self.error(f"expected '<' after {word}, found {self.found()}")
            return OpaqueType(word + self.balanced())
        if is_scalar(word):
            return ScalarType(word)
        raise self.error(f"expected a type, found '{word}'", start)

    def _complex(self) -> str:
        self.expect("<")
        part = self.word("an element type")
        self.expect(">")
        return f"complex<{part}>"

    def _tensor(self, start: int) -> Type:
        self.expect("<", "after tensor")
        if self.at("*"):
            self.position = self.source.index("<", start)
            return OpaqueType("tensor" + self.balanced())
        shape = []
        while True:
            self.skip()
            match = _DIMENSION(self.source, self.position)
            if match is None:
                break
            self.position = match.end()
            size = DYNAMIC if match[1] == "?" else self.to_integer(match[1], match.start())
            if size > _MAX_DIMENSION:
                raise self.error(f"the dimension {size} doesn't fit in 64 bits", match.start())
            shape.append(size)
        element = self._element()
        bounds: tuple[int | None, ...] = ()
        encoding = None
        if self.accept(","):
            encoding = self.attribute()
            found = getattr(encoding, "bounds", None)
            if isinstance(found, tuple):
                self._check_bounds(TensorType(tuple(shape), element), found, start)
                bounds, encoding = found, None
        self.expect(">", "to end the tensor type")
        return TensorType(tuple(shape), element, bounds, encoding)

    def _check_bounds(self, unbounded: TensorType, bounds: tuple[int | None, ...], start: int) -> None:
        shape = unbounded.shape
        if len(bounds) != len(shape):
            message = f"Bounds length is {len(bounds)}, expected to be equal to rank({len(shape)}) of the tensor"
            raise self.error(f"{message} '{unbounded}'", start)
        for i, (size, bound) in enumerate(zip(shape, bounds, strict=True)):
            if size != DYNAMIC and bound is not None:
                hint = "use ShapedType::kDynamic to indicate a missing bound"
                raise self.error(f"Static dimension {i} cannot have a bound, {hint} in tensor '{unbounded}'", start)

    def _element(self) -> str | QuantizedType:
        if self.at("!"):
            start = self.position
            kind = self._dialect_type()
            if isinstance(kind, OpaqueType) and kind.text in self.quantized_types:
                return self.quantized_types[kind.text]
            if isinstance(kind, ScalarType):
                return str(kind)
            if isinstance(kind, OpaqueType):
                return kind.text
            if isinstance(kind, TokenType):
                return "!stablehlo.token"
            raise self.error("a tensor can't hold this type", start)
        start = self.position
        word = self.word("an element type")
        if word == "complex":
            return self._complex()
        if not is_scalar(word):
            if word in ("vector", "memref", "tensor", "tuple"):
                self.position = start
                inner = self.type()
                if isinstance(inner, OpaqueType):
                    return inner.text
            raise self.error(f"'{word}' is not an element type", start)
        return word

    def _dialect_type(self) -> Type:
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
                alias: Type = self.expand(self.type_aliases[name], start)
                return alias
            if self.source.startswith("<", self.position):  # !dialect<name ...>
                return OpaqueType(f"!{name}{self.balanced()}")
            raise self.error(f"the type alias !{name} is not defined", start)
        if name == "stablehlo.token":
            return TokenType()
        if name.startswith("vhlo."):
            return self.vhlo_type(name.removeprefix("vhlo."), start)
        if name == "quant.uniform":
            quantized = self._quantized()
            text = str(TensorType((), quantized))[len("tensor<") : -1]
            self.quantized_types[text] = quantized
            return OpaqueType(text)
        if name == "stablehlo.future":
            types: list[Type] = []
            self.list_of("<", ">", lambda: types.append(self.type()))
            return OpaqueType(f"!stablehlo.future<{', '.join(map(str, types))}>", tuple(types))
        if name.startswith("stablehlo."):
            raise self.error(
                f"unknown stablehlo type: {name.removeprefix('stablehlo.')}",
                start,
                hint="StableHLO has !stablehlo.token and !stablehlo.future",
            )
        body = self.balanced() if self.source.startswith("<", self.position) else ""
        return OpaqueType(f"!{name}{body}")

    def _quantized(self) -> QuantizedType:
        """After `!quant.uniform`: `<i8<-127:127>:f32:axis, {scale:zero point, ...}>`."""
        start = self.position
        self.expect("<")
        storage = self.word("a storage type")
        low = high = None
        if self.accept("<"):
            low = self.integer("the storage minimum")
            self.expect(":")
            high = self.integer("the storage maximum")
            self.expect(">")
        self.expect(":", "before the expressed type")
        expressed = self.word("an expressed type")
        axis: int | None = None
        blocks: list[tuple[int, int]] = []
        if self.accept(":"):
            if self.at("{"):
                self.list_of("{", "}", lambda: blocks.append(self._block()))
            else:
                axis = self.integer("the quantized dimension")
        self.expect(",", "before the scales")
        scales: list[float] = []
        zeros: list[int] = []
        if axis is None and not blocks:
            self._scale(scales, zeros)
        else:
            self._scales(scales, zeros)
        self.expect(">", "to end the quantized type")
        if not all(math.isfinite(s) for s in scales):
            raise self.error("a scale is out of range", start)
        match = _STORAGE(storage)
        if match is not None and low is not None:
            bits = int(match[2])
            default = (0, (1 << bits) - 1) if match[1] else (-(1 << (bits - 1)), (1 << (bits - 1)) - 1)
            if (low, high) == default:  # the range of the storage type says nothing more
                low = high = None
        return QuantizedType(storage, expressed, tuple(scales), tuple(zeros), axis, low, high, tuple(blocks))

    def _block(self) -> tuple[int, int]:
        dimension = self.integer("a dimension")
        self.expect(":")
        return dimension, self.integer("a block size")

    def _scales(self, scales: list[float], zeros: list[int]) -> None:
        self.enter()
        self.list_of("{", "}", lambda: self._scales(scales, zeros) if self.at("{") else self._scale(scales, zeros))
        self.leave()

    def _scale(self, scales: list[float], zeros: list[int]) -> None:
        match = self.take(_NUMBER, "a scale")
        if len(match[0]) > 100:
            raise self.error("the number has too many digits", match.start())
        scales.append(float(match[0]))
        zeros.append(self.integer("a zero point") if self.accept(":") else 0)
