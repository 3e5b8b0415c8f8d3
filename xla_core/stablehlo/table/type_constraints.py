"""Type constraints of operands and results: sets of element types, ranks, static shapes."""

from __future__ import annotations

import dataclasses
import enum
import functools

from xla_core.hlo.values.element_type import ElementType
from xla_core.hlo.values.scalar_types import integer_format
from xla_core.stablehlo import ir
from xla_core.stablehlo.ir.quantized_types import axis_problem, element_problem


class Elements(enum.Flag):
    """Kinds of element types."""

    PRED = enum.auto()
    SIGNED = enum.auto()
    UNSIGNED = enum.auto()
    FLOAT = enum.auto()
    COMPLEX = enum.auto()
    QUANTIZED = enum.auto()  # one scale for the whole tensor
    PER_AXIS = enum.auto()  # quantized, with a scale for each index of a dimension
    INDEX = enum.auto()
    ODD_INTEGER = enum.auto()  # an integer whose width or signedness StableHLO lacks
    OTHER = enum.auto()

    INTEGER = SIGNED | UNSIGNED
    ALL = PRED | SIGNED | UNSIGNED | FLOAT | COMPLEX | QUANTIZED | PER_AXIS | INDEX


def _kind_of(element_type: ElementType) -> Elements:
    if element_type is ElementType.PRED:
        return Elements.PRED
    if element_type.is_integral:
        return Elements.SIGNED if element_type.is_signed else Elements.UNSIGNED
    return Elements.FLOAT if element_type.is_floating else Elements.COMPLEX


_KINDS = {t.mlir_name: _kind_of(t) for t in ElementType if t.is_array}
"""The kind of every element type that StableHLO and HLO share, by its name in MLIR."""


def _widths(kinds: Elements) -> str:
    widths = {t.bit_width for t in ElementType if t.is_array and _kind_of(t) in kinds}
    return f"{'/'.join(map(str, sorted(widths)))}-bit"


_FLOAT = (Elements.FLOAT, f"{_widths(Elements.FLOAT)} float")
_PRED = (Elements.PRED, "bool")
_INTEGERS = (
    (Elements.INTEGER, f"{_widths(Elements.INTEGER)} integer"),
    (Elements.SIGNED, f"{_widths(Elements.SIGNED)} signless integer"),
    (Elements.UNSIGNED, f"{_widths(Elements.UNSIGNED)} unsigned integer"),
)
_REST = (
    (Elements.COMPLEX, "complex type with 32/64-bit float elements"),
    (Elements.QUANTIZED, "per-tensor integer quantized"),
    (Elements.PER_AXIS, "per-axis integer quantized"),
)
_INDEX = (Elements.INDEX, "index")


def _kinds(elements: Elements) -> list[str]:
    """Returns the names of the kinds in StableHLO's diagnostics, in the order used there."""
    first = [_FLOAT, _PRED, *_INTEGERS]
    if not all(k in elements for k in (Elements.FLOAT, Elements.PRED, Elements.COMPLEX)):
        first = [_INDEX, _PRED, *_INTEGERS, _FLOAT]
    names = []
    for kind, name in (*first, *_REST):
        if kind in elements:
            names.append(name)
            elements &= ~kind
    return names


@functools.lru_cache(maxsize=4096)
def elements_of(element: str | ir.QuantizedType) -> Elements:
    """Returns the kind of an element type in MLIR's spelling."""
    if isinstance(element, ir.QuantizedType):
        return _quantized(element)
    if element == "index":
        return Elements.INDEX
    return _KINDS.get(element) or (Elements.ODD_INTEGER if integer_format(element) else Elements.OTHER)


def _quantized(element: ir.QuantizedType) -> Elements:
    """Returns the kind of a quantized type, which is OTHER if StableHLO has no tensors of it."""
    if element_problem(element) is not None:
        return Elements.OTHER
    return Elements.QUANTIZED if element.axis is None else Elements.PER_AXIS


@dataclasses.dataclass(frozen=True)
class TypeConstraint:
    """Types that an operand may have: tensors of `elements`, or others by their class.

    `rank` and `static` bound the shape (with `bounded`, one dimension may be unknown but for its bound); `only` names
    the element types where the kind doesn't say enough; `unranked` tensors are taken too. Types that a constraint of
    `also` accepts are taken as well. `name` is the name of the element types in diagnostics, if it isn't that of their
    kinds.
    """

    elements: Elements = Elements.ALL
    rank: int | None = None
    static: bool = False
    classes: tuple[type, ...] = ()
    bounded: bool = False
    unranked: bool = False
    only: tuple[str, ...] | None = None
    also: tuple[TypeConstraint | Written | Nested, ...] = ()
    name: str = ""

    def accepts(self, type: ir.Type) -> bool:
        return self._accepts(type) or any(other.accepts(type) for other in self.also)

    def _accepts(self, type: ir.Type) -> bool:
        if not isinstance(type, ir.TensorType):
            # An unranked tensor, or a buffer, is the reader's OpaqueType.
            return isinstance(type, self.classes) or (self.unranked and ir.is_unranked(type))
        if not (_elements_cached(type.element) & self.elements._value_):
            return False
        if self.rank is not None and len(type.shape) != self.rank:
            return False
        if isinstance(type.element, ir.QuantizedType) and axis_problem(type) is not None:
            return False
        if self.only is not None and type.element not in self.only:
            return False
        return not self.static or type.is_static or (self.bounded and _has_one_bounded_dimension(type))

    def __str__(self) -> str:
        classes = [*(c.__name__.removesuffix("Type").lower() for c in self.classes), *map(str, self.also)]
        if not self.elements:
            return " or ".join(classes)
        kinds = _kinds(self.elements) if self.only is None else [_names_of(self.only)]
        kinds = [self.name] if self.name else kinds
        return " or ".join([f"{self._head()} of {' or '.join(kinds)} values", *classes])

    def _head(self) -> str:
        if self.bounded:
            return "statically shaped or single bounded dimension tensor"
        if not self.static:
            return f"{self.rank}D tensor" if self.rank is not None else "tensor" if self.unranked else "ranked tensor"
        if self.rank is None:
            return "statically shaped tensor"
        integers = "" if Elements.INDEX in self.elements else "integer "
        return f"statically shaped {self.rank}-dimensional {integers}tensor"


@dataclasses.dataclass(frozen=True)
class Written:
    """Types that the reader keeps as text, namely those whose text starts with `start`."""

    start: str
    name: str

    def accepts(self, type: ir.Type) -> bool:
        return isinstance(type, ir.OpaqueType) and type.text.startswith(self.start)

    def __str__(self) -> str:
        return self.name


@dataclasses.dataclass(frozen=True)
class Nested:
    """Tuples, possibly nested, of the types that `of` accepts."""

    of: TypeConstraint

    def accepts(self, type: ir.Type) -> bool:
        return isinstance(type, ir.TupleType) and all(self.accepts(e) or self.of.accepts(e) for e in type.elements)

    def __str__(self) -> str:
        return f"nested tuple with any combination of {self.of} values"


def _has_one_bounded_dimension(type: ir.TensorType) -> bool:
    return type.shape.count(ir.DYNAMIC) == 1 == sum(bound is not None for bound in type.bounds)


def _names_of(only: tuple[str, ...]) -> str:
    """`32/64-bit float`, `32-bit signless integer`."""
    kind = {"f": "float", "u": "unsigned integer", "i": "signless integer"}[only[0][0]]
    return f"{'/'.join(t.lstrip('fui') for t in only)}-bit {kind}"


@functools.lru_cache(maxsize=4096)
def _elements_cached(element: str | ir.QuantizedType) -> int:
    """Returns `elements_of` as an int, because tests of ints are much faster than tests of flags."""
    value: int = elements_of(element)._value_
    return value


E = Elements
_PER_TENSOR = E.PRED | E.INTEGER | E.FLOAT | E.COMPLEX | E.QUANTIZED
TENSOR = TypeConstraint(_PER_TENSOR)
ANY_TENSOR = TypeConstraint(_PER_TENSOR | E.PER_AXIS, unranked=True)
STATIC_TENSOR = TypeConstraint(_PER_TENSOR, static=True)
TENSOR_OR_PER_AXIS = TypeConstraint(_PER_TENSOR | E.PER_AXIS)
SCALAR = TypeConstraint(_PER_TENSOR, rank=0)
UNQUANTIZED = TypeConstraint(E.PRED | E.INTEGER | E.FLOAT | E.COMPLEX)
STATIC_OR_PER_AXIS = TypeConstraint(_PER_TENSOR | E.PER_AXIS, static=True)
STATIC_OR_BOUNDED = TypeConstraint(_PER_TENSOR | E.PER_AXIS, static=True, bounded=True)
STATIC_NUMBER = TypeConstraint(E.INTEGER | E.FLOAT | E.COMPLEX | E.QUANTIZED, static=True)
STATIC_INTEGERS = TypeConstraint(E.INTEGER, rank=1, static=True)
STATIC_INTEGER_MATRIX = TypeConstraint(E.INTEGER, rank=2, static=True)
INTEGER_OR_INDEX = TypeConstraint(E.PRED | E.INTEGER | E.ODD_INTEGER | E.INDEX, name="integer or index")
SIGNED_REAL = TypeConstraint(E.SIGNED | E.FLOAT | E.QUANTIZED)
FLOAT_OR_QUANTIZED = TypeConstraint(E.FLOAT | E.QUANTIZED | E.PER_AXIS)
PRED = TypeConstraint(E.PRED)
INTEGER = TypeConstraint(E.INTEGER)
I32 = TypeConstraint(E.SIGNED, only=("i32",))
UI32 = TypeConstraint(E.UNSIGNED, only=("ui32",))
PRED_OR_INTEGER = TypeConstraint(E.PRED | E.INTEGER)
FLOAT = TypeConstraint(E.FLOAT)
ELEMENTWISE_FLOAT = TypeConstraint(E.FLOAT | E.QUANTIZED)
COMPLEX = TypeConstraint(E.COMPLEX)
COMPLEX_PART = TypeConstraint(E.FLOAT, only=("f32", "f64"))
FLOAT_OR_COMPLEX = TypeConstraint(E.FLOAT | E.COMPLEX | E.QUANTIZED)
PLAIN_FLOAT_OR_COMPLEX = TypeConstraint(E.FLOAT | E.COMPLEX)
SIGNED_NUMBER = TypeConstraint(E.SIGNED | E.FLOAT | E.COMPLEX | E.QUANTIZED)
NUMBER = TypeConstraint(E.INTEGER | E.FLOAT | E.COMPLEX | E.QUANTIZED)
QUANTIZED = TypeConstraint(E.QUANTIZED | E.PER_AXIS)
INTEGER_SCALAR = TypeConstraint(E.INTEGER, rank=0)
SHAPE_VECTOR = TypeConstraint(E.INTEGER | E.INDEX, rank=1)
INDEX_VECTOR = TypeConstraint(E.INTEGER | E.INDEX, rank=1, static=True)
TOKEN = TypeConstraint(E(0), classes=(ir.TokenType,))
FUTURE = TypeConstraint(E(0), also=(Written("!stablehlo.future<", "future"),))
_BUFFER = Written("memref<", f"memref of {' or '.join(_kinds(_PER_TENSOR))} values")
_PER_AXIS = TypeConstraint(E.PER_AXIS)
TUPLE = TypeConstraint(E(0), also=(Nested(TypeConstraint(_PER_TENSOR, also=(_BUFFER, _PER_AXIS, TOKEN))),))
TENSOR_OR_TOKEN = TypeConstraint(_PER_TENSOR, also=(TOKEN,))
BRANCH_RESULT = TypeConstraint(_PER_TENSOR, also=(_PER_AXIS, TOKEN))
LOOP_STATE = TypeConstraint(_PER_TENSOR, also=(_PER_AXIS, TOKEN, _BUFFER))
COMPOSITE_VALUE = TypeConstraint(_PER_TENSOR, also=(_PER_AXIS, TOKEN, TUPLE))
TUPLE_ELEMENT = TypeConstraint(_PER_TENSOR, also=(_PER_AXIS, TOKEN, TUPLE, _BUFFER))
_CUSTOM_TUPLE = Nested(dataclasses.replace(ANY_TENSOR, also=(_BUFFER, TOKEN)))
CUSTOM_CALL_VALUE = dataclasses.replace(ANY_TENSOR, also=(_BUFFER, TOKEN, _CUSTOM_TUPLE, FUTURE))
RECEIVED = TypeConstraint(_PER_TENSOR, static=True, also=(STATIC_OR_PER_AXIS, TOKEN))
ANY = TypeConstraint(
    E.ALL | E.ODD_INTEGER | E.OTHER,
    classes=(ir.TokenType, ir.TupleType, ir.OpaqueType, ir.ScalarType, ir.FunctionType),
)
