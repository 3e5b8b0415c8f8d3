"""Converts StableHLO types to HLO shapes and element types."""

from __future__ import annotations

import functools

from xla_core.errors import InvalidArgumentError, UnimplementedError
from xla_core.hlo.values.element_type import ElementType
from xla_core.hlo.values.shape import Shape
from xla_core.stablehlo import ir

_BY_NAME = {t.mlir_name: t for t in ElementType if t.is_array} | {"index": ElementType.S64}
_STORAGE = {t.value: t for t in ElementType if t.is_unsigned}  # quantized types say u8 where tensors say ui8


@functools.lru_cache(maxsize=4096)
def element_type(element: str | ir.QuantizedType) -> ElementType:
    """Returns HLO's element type; of a quantized type, the storage type. Raises UnimplementedError if there is none."""
    is_quantized = isinstance(element, ir.QuantizedType)
    name = element.storage if isinstance(element, ir.QuantizedType) else element
    try:
        return _STORAGE[name] if is_quantized and name in _STORAGE else _BY_NAME[name]
    except KeyError:
        raise UnimplementedError(f"element type {element} has no counterpart in HLO") from None


@functools.lru_cache(maxsize=4096)
def shape_of(type: ir.Type) -> Shape:
    """The shape of a static type, or of one whose `?` dimensions have bounds. Raises UnimplementedError for others.

    Raises InvalidArgumentError for a negative bound, which MLIR reads and verifies although no size satisfies it.
    """
    if isinstance(type, ir.TensorType):
        if type.is_static:
            return Shape(element_type(type.element), type.shape)
        bounds = type.bounds or (None,) * type.rank
        dims = [b if d == ir.DYNAMIC else d for d, b in zip(type.shape, bounds, strict=True)]
        if any(d is None for d in dims):
            raise UnimplementedError(
                f"{type} has a dimension of unknown size",
                hint="refine the program with the types of its arguments first",
            )
        for i, bound in enumerate(bounds):
            if bound is not None and bound < 0:
                raise InvalidArgumentError(f"the bound of dimension {i} is {bound}, but must be at least 0")
        dynamic = tuple(d == ir.DYNAMIC for d in type.shape)
        return Shape(element_type(type.element), tuple(d for d in dims if d is not None), dynamic_dimensions=dynamic)
    if isinstance(type, ir.TokenType):
        return Shape.token()
    if isinstance(type, ir.TupleType):
        return Shape.tuple([shape_of(t) for t in type.elements])
    hint = "HLO has tensors, tuples of them, and tokens"
    if isinstance(type, ir.OpaqueType) and type.text.startswith("tensor<*x"):
        hint = "HLO's tensors have a rank: write tensor<?x?xf32> where only the sizes are not known yet"
    raise UnimplementedError(f"type {type} has no counterpart in HLO", hint=hint)
