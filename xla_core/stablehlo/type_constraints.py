"""What types an operand may have: named sets of element types, with a rank where that matters."""

from __future__ import annotations

import dataclasses
import enum
import functools

from xla_core.stablehlo import ir

__all__ = [
    "ANY",
    "COMPLEX",
    "ELEMENTWISE_FLOAT",
    "FLOAT",
    "FLOAT_OR_COMPLEX",
    "INDEX_VECTOR",
    "INTEGER",
    "INTEGER_SCALAR",
    "NUMBER",
    "PRED",
    "PRED_OR_INTEGER",
    "QUANTIZED",
    "SHAPE_VECTOR",
    "SIGNED_NUMBER",
    "TENSOR",
    "TOKEN",
    "TUPLE",
    "Elements",
    "TypeConstraint",
    "elements_of",
]


class Elements(enum.Flag):
    """Kinds of element types."""

    PRED = enum.auto()
    SIGNED = enum.auto()
    UNSIGNED = enum.auto()
    FLOAT = enum.auto()
    COMPLEX = enum.auto()
    QUANTIZED = enum.auto()
    INDEX = enum.auto()
    OTHER = enum.auto()

    INTEGER = SIGNED | UNSIGNED
    ALL = PRED | SIGNED | UNSIGNED | FLOAT | COMPLEX | QUANTIZED | INDEX


_NAMES = {
    Elements.PRED: "pred (i1)",
    Elements.SIGNED: "signed integer",
    Elements.UNSIGNED: "unsigned integer",
    Elements.FLOAT: "floating-point",
    Elements.COMPLEX: "complex",
    Elements.QUANTIZED: "quantized",
    Elements.INDEX: "index",
}


@functools.lru_cache(maxsize=4096)
def elements_of(element: str | ir.QuantizedType) -> Elements:
    """The kind of an element type in MLIR's spelling."""
    if isinstance(element, ir.QuantizedType):
        return Elements.QUANTIZED
    if element == "i1":
        return Elements.PRED
    if element == "index":
        return Elements.INDEX
    if element.startswith("complex<"):
        return Elements.COMPLEX
    for prefix, kind in (("ui", Elements.UNSIGNED), ("si", Elements.OTHER), ("i", Elements.SIGNED)):
        if element.startswith(prefix) and element[len(prefix) :].isdigit():
            supported = element[len(prefix) :] in ("2", "4", "8", "16", "32", "64")
            return kind if supported else Elements.OTHER
    if element in _FLOATS:
        return Elements.FLOAT
    return Elements.OTHER


_SMALL_FLOATS = "f4E2M1FN f6E2M3FN f6E3M2FN f8E3M4 f8E4M3 f8E4M3FN f8E4M3FNUZ f8E4M3B11FNUZ f8E5M2 f8E5M2FNUZ f8E8M0FNU"
_FLOATS = frozenset((*_SMALL_FLOATS.split(), "bf16", "f16", "f32", "f64", "tf32"))


@dataclasses.dataclass(frozen=True)
class TypeConstraint:
    """Types that an operand may have: tensors of `elements` (and of `rank`), or others by their class."""

    elements: Elements = Elements.ALL
    rank: int | None = None
    static: bool = False
    classes: tuple[type, ...] = ()

    def accepts(self, type: ir.Type) -> bool:
        if not isinstance(type, ir.TensorType):
            # An unranked tensor, or a buffer, is the reader's OpaqueType.
            return isinstance(type, self.classes)
        if not (_elements_cached(type.element) & self.elements._value_):
            return False
        if self.rank is not None and len(type.shape) != self.rank:
            return False
        return not self.static or type.is_static

    def __str__(self) -> str:
        if not self.elements:
            return " or ".join(c.__name__.removesuffix("Type").lower() for c in self.classes)
        kinds = [name for kind, name in _NAMES.items() if kind in self.elements]
        head = (
            "ranked tensor"
            if self.rank is None
            else f"{self.rank}D tensor"
            if self.rank != 1
            else "1-dimensional tensor"
        )
        text = f"{'statically shaped ' if self.static else ''}{head} of {' or '.join(kinds)} values"
        return text + "".join(f" or {c.__name__.removesuffix('Type').lower()}" for c in self.classes)


@functools.lru_cache(maxsize=4096)
def _elements_cached(element: str | ir.QuantizedType) -> int:
    """The bits of `elements_of`: ints are far faster to test than flags."""
    value: int = elements_of(element)._value_
    return value


E = Elements
TENSOR = TypeConstraint()
PRED = TypeConstraint(E.PRED)
INTEGER = TypeConstraint(E.INTEGER)
PRED_OR_INTEGER = TypeConstraint(E.PRED | E.INTEGER)
FLOAT = TypeConstraint(E.FLOAT)
ELEMENTWISE_FLOAT = TypeConstraint(E.FLOAT | E.QUANTIZED)
COMPLEX = TypeConstraint(E.COMPLEX)
FLOAT_OR_COMPLEX = TypeConstraint(E.FLOAT | E.COMPLEX | E.QUANTIZED)
SIGNED_NUMBER = TypeConstraint(E.SIGNED | E.FLOAT | E.COMPLEX | E.QUANTIZED)
NUMBER = TypeConstraint(E.INTEGER | E.FLOAT | E.COMPLEX | E.QUANTIZED)
QUANTIZED = TypeConstraint(E.QUANTIZED)
INTEGER_SCALAR = TypeConstraint(E.INTEGER, rank=0)
SHAPE_VECTOR = TypeConstraint(E.INTEGER | E.INDEX, rank=1)
INDEX_VECTOR = TypeConstraint(E.INTEGER | E.INDEX, rank=1, static=True)
TOKEN = TypeConstraint(E(0), classes=(ir.TokenType,))
TUPLE = TypeConstraint(E(0), classes=(ir.TupleType,))
ANY = TypeConstraint(classes=(ir.TokenType, ir.TupleType, ir.OpaqueType))
