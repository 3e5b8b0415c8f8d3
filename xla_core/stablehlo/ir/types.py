"""The types of values in the op tree."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

from xla_core.errors import InvalidArgumentError

__all__ = [
    "DYNAMIC",
    "FunctionType",
    "OpaqueType",
    "QuantizedType",
    "ScalarType",
    "TensorType",
    "TokenType",
    "TupleType",
    "Type",
    "bounds_problem",
    "dimensions_text",
    "future",
    "is_unranked",
    "type_text",
    "unranked",
]

DYNAMIC = -1


@dataclasses.dataclass(frozen=True, slots=True)
class QuantizedType:
    """`!quant.uniform<storage:expressed, ...>`.

    `scales` and `zero_points` have one entry for the tensor (`axis` is None), for each index of `axis`, or for each
    block in row-major order. `block_sizes` has (dimension, size) pairs (sub-channel quantization).
    """

    storage: str
    expressed: str
    scales: tuple[float, ...]
    zero_points: tuple[int, ...]
    axis: int | None = None
    storage_min: int | None = None
    storage_max: int | None = None
    block_sizes: tuple[tuple[int, int], ...] = ()

    @property
    def storage_range(self) -> tuple[int, int]:
        """The least and the largest stored integer; 0 for a storage type that is no integer."""
        digits = self.storage.lstrip("sui")
        bits = int(digits) if digits.isdecimal() else 0
        if not bits:
            return self.storage_min or 0, self.storage_max or 0
        low, high = (0, (1 << bits) - 1) if self.storage.startswith("u") else (-(1 << bits - 1), (1 << bits - 1) - 1)
        return (
            low if self.storage_min is None else self.storage_min,
            high if self.storage_max is None else self.storage_max,
        )


@dataclasses.dataclass(frozen=True, slots=True)
class TensorType:
    """`tensor<2x?xf32>`.

    `element` is MLIR's spelling (i1, i32, ui8, f32, bf16, f8E4M3FN, "complex<f32>", index, "!other.dialect") or a
    QuantizedType. A `?` dimension is DYNAMIC (-1); `bounds` has an entry per dimension (None: unbounded) or is empty.
    `encoding` is any other encoding attribute. Raises InvalidArgumentError for a negative size.
    """

    shape: tuple[int, ...]
    element: str | QuantizedType
    bounds: tuple[int | None, ...] = ()
    encoding: Any = None

    def __post_init__(self) -> None:
        if self.shape and min(self.shape) < DYNAMIC:
            raise InvalidArgumentError(f"a tensor can't have the dimensions {list(self.shape)}: a size is not negative")

    @property
    def rank(self) -> int:
        return len(self.shape)

    @property
    def is_static(self) -> bool:
        return DYNAMIC not in self.shape

    def __str__(self) -> str:
        return type_text(self)


@dataclasses.dataclass(frozen=True, slots=True)
class TokenType:
    """`!stablehlo.token`."""

    def __str__(self) -> str:
        return type_text(self)


@dataclasses.dataclass(frozen=True, slots=True)
class TupleType:
    """`tuple<...>`."""

    elements: tuple[Type, ...]

    def __str__(self) -> str:
        return type_text(self)


@dataclasses.dataclass(frozen=True, slots=True)
class FunctionType:
    """`(inputs) -> results`."""

    inputs: tuple[Type, ...]
    results: tuple[Type, ...]

    def __str__(self) -> str:
        return type_text(self)


@dataclasses.dataclass(frozen=True, slots=True)
class OpaqueType:
    """Any other type (`!stablehlo.future<...>`, memref, vector, `tensor<*xf32>`, another dialect's) as its text.

    `elements` has the types inside a future; for other types it is empty.
    """

    text: str
    elements: tuple[Type, ...] = ()

    def __str__(self) -> str:
        return self.text


class ScalarType(str):
    """A scalar type such as "i64", "f32" or "index". The class tells it from a string attribute."""

    __slots__ = ()


Type = TensorType | TokenType | TupleType | FunctionType | OpaqueType | ScalarType


def future(types: Sequence[Type]) -> OpaqueType:
    """Returns the type of the future of an asynchronous op."""
    return OpaqueType(f"!stablehlo.future<{', '.join(map(type_text, types))}>", tuple(types))


def unranked(element: Type | QuantizedType | str) -> OpaqueType:
    """Returns the type of a tensor of unknown rank."""
    return OpaqueType(f"tensor<*x{element if isinstance(element, str) else type_text(element)}>")


def is_unranked(type: Type) -> bool:
    """Tells whether a type is an unranked tensor, which only CHLO's ops accept."""
    return isinstance(type, OpaqueType) and type.text.startswith("tensor<*x")


def dimensions_text(shape: Sequence[int]) -> str:
    """Writes the sizes in a type, as `2x?x`."""
    return "".join("?x" if size == DYNAMIC else f"{size}x" for size in shape)


def bounds_problem(type: TensorType) -> str | None:
    """Returns what is wrong with the bounds of a tensor type, in MLIR's words, or None."""
    if not type.bounds:
        return None
    unbounded = f"'{TensorType(type.shape, type.element)}'"
    if len(type.bounds) != type.rank:
        return (
            f"Bounds length is {len(type.bounds)}, expected to be equal to rank({type.rank}) of the tensor {unbounded}"
        )
    for i, (size, bound) in enumerate(zip(type.shape, type.bounds, strict=True)):
        if size != DYNAMIC and bound is not None:
            hint = "use ShapedType::kDynamic to indicate a missing bound"
            return f"Static dimension {i} cannot have a bound, {hint} in tensor {unbounded}"
    return None


def type_text(root: Type | QuantizedType | str) -> str:
    """Writes a type as MLIR text. It doesn't recurse, because a hostile program may nest types deeply."""
    out: list[str] = []
    stack: list[Any] = [root]
    while stack:
        item = stack.pop()
        if isinstance(item, TensorType):
            if item.bounds:
                text = ", ".join("?" if b is None else str(b) for b in item.bounds)
                tail = f", #stablehlo.bounds<{text}>>"
            else:
                tail = f", {item.encoding}>" if item.encoding is not None else ">"
            stack += [tail, item.element, f"tensor<{dimensions_text(item.shape)}"]
        elif isinstance(item, QuantizedType):
            out.append(_quantized_text(item))
        elif isinstance(item, TokenType):
            out.append("!stablehlo.token")
        elif isinstance(item, TupleType):
            stack += [">", *_commas(item.elements), "tuple<"]
        elif isinstance(item, FunctionType):
            if len(item.results) == 1 and not isinstance(item.results[0], FunctionType):
                stack.append(item.results[0])
            else:
                stack += [")", *_commas(item.results), "("]
            stack += [") -> ", *_commas(item.inputs), "("]
        else:
            out.append(str(item))
    return "".join(out)


def _commas(types: Sequence[Type]) -> list[Any]:
    """Returns the types in reverse with commas between them, in the order for a stack."""
    items: list[Any] = []
    for t in reversed(types):
        items += [t, ", "]
    return items[:-1]


def _quantized_text(q: QuantizedType) -> str:
    storage = q.storage
    if q.storage_min is not None:
        storage += f"<{q.storage_min}:{q.storage_max}>"
    scales = [text if float(text := f"{s:e}") == s else repr(s) for s in q.scales]
    params = [f"{s}:{z}" if z else s for s, z in zip(scales, q.zero_points, strict=True)]
    if q.block_sizes:
        blocks = ",".join(f"{d}:{n}" for d, n in q.block_sizes)
        return f"!quant.uniform<{storage}:{q.expressed}:{{{blocks}}}, {{{','.join(params)}}}>"
    if q.axis is not None:
        return f"!quant.uniform<{storage}:{q.expressed}:{q.axis}, {{{','.join(params)}}}>"
    return f"!quant.uniform<{storage}:{q.expressed}, {params[0]}>"
