"""The values of attributes of StableHLO ops: plain Python data if that is enough, else small frozen classes.

| MLIR | here |
|---|---|
| `true`, `5`, `5 : i64`, `2.0 : f64`, `"text"` | bool, int, int, float, str |
| `5 : i32`, `2.0 : f32` | `TypedInt`, `TypedFloat`: an int, a float that knows its type |
| `[a, b]`, `array<i64: 1, 2>` | tuple, `DenseArray` (a tuple that knows its element type) |
| `{a = 1, unit}` | dict, with `UNIT` for `unit` |
| `@f`, `@a::@b` | `SymbolRef`, a str without the first @ |
| `#stablehlo<precision HIGHEST>`, `#chlo<...>` | `EnumAttribute`, a str ("HIGHEST") that knows its kind |
| `dense<...> : tensor<...>`, `dense_resource<...>` | `DenseElements` |
| a type | the types of `ir/types.py` |
| any other | `OpaqueAttribute`, its text |
"""

from __future__ import annotations

import dataclasses
import enum
import math
from collections.abc import Iterable
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from xla_core.errors import InvalidArgumentError, ResourceExhaustedError
from xla_core.hlo.table.mesh import AxisRef
from xla_core.hlo.values.scalar_types import DTYPES
from xla_core.stablehlo.ir.op import Op, Value
from xla_core.stablehlo.ir.types import QuantizedType, TensorType

__all__ = [
    "ENUMS",
    "UNIT",
    "AxisRef",
    "DenseArray",
    "DenseElements",
    "EnumAttribute",
    "Mesh",
    "MissingElements",
    "OpaqueAttribute",
    "ReplicaGroupMeshAxes",
    "SymbolRef",
    "TypeExtensions",
    "TypedFloat",
    "TypedInt",
    "Unit",
    "constant_of",
    "dense",
    "drop_empty_signatures",
    "with_encoding",
]


class Unit(enum.Enum):
    """A unit attribute, whose presence is its value (`use_global_device_ids`). It is true in a condition."""

    UNIT = "unit"


UNIT = Unit.UNIT


class TypedInt(int):
    """An int of a type other than i64; `type` is MLIR's spelling."""

    type: str

    def __new__(cls, value: int, type: str) -> Self:
        self = super().__new__(cls, value)
        self.type = type
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return (TypedInt, (int(self), self.type))


class TypedFloat(float):
    """A float of a type other than f64, already rounded to it; `type` is MLIR's spelling."""

    type: str

    def __new__(cls, value: float, type: str) -> Self:
        self = super().__new__(cls, value)
        self.type = type
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return (TypedFloat, (float(self), self.type))


class DenseArray(tuple[Any, ...]):
    """`array<i64: 1, 2>`; `element` is MLIR's spelling."""

    element: str

    def __new__(cls, values: Iterable[Any], element: str) -> Self:
        self = super().__new__(cls, values)
        self.element = element
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return (DenseArray, (tuple(self), self.element))


class SymbolRef(str):
    """`@name` as "name"; `@a::@b` as "a::@b"."""

    __slots__ = ()


ENUMS: dict[str, tuple[str, ...]] = {
    "precision": ("DEFAULT", "HIGH", "HIGHEST"),
    "result_accuracy_mode": ("DEFAULT", "HIGHEST", "TOLERANCE"),
    "fft_type": ("FFT", "IFFT", "RFFT", "IRFFT"),
    "comparison_direction": ("EQ", "NE", "GE", "GT", "LE", "LT"),
    "comparison_type": ("NOTYPE", "FLOAT", "TOTALORDER", "SIGNED", "UNSIGNED"),
    "transpose": ("TRANSPOSE_INVALID", "NO_TRANSPOSE", "TRANSPOSE", "ADJOINT"),
    "rng_distribution": ("UNIFORM", "NORMAL"),
    "rng_algorithm": ("DEFAULT", "THREE_FRY", "PHILOX"),
    "custom_call_api_version": (
        "API_VERSION_UNSPECIFIED",
        "API_VERSION_ORIGINAL",
        "API_VERSION_STATUS_RETURNING",
        "API_VERSION_STATUS_RETURNING_UNIFIED",
        "API_VERSION_TYPED_FFI",
    ),
}
"""The values of each enum of the dialects."""


class EnumAttribute(str):
    """`#stablehlo<comparison_direction LT>` as "LT"; `kind` is "comparison_direction"."""

    kind: str

    def __new__(cls, value: str, kind: str) -> Self:
        self = super().__new__(cls, value)
        self.kind = kind
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return (EnumAttribute, (str(self), self.kind))


@dataclasses.dataclass(frozen=True, slots=True)
class OpaqueAttribute:
    """An attribute of another dialect, or one that no op reads (affine_map<...>), as its text."""

    text: str

    def __str__(self) -> str:
        return self.text


class DenseElements:
    """A constant: a type and read-only data. A splat holds one element for a type of any size.

    Args:
        type: a static TensorType.
        data: an array of the type's shape, or a 0-d array for a splat. Its dtype is that of the type's element. It is
            shared, not copied.

    Raises InvalidArgumentError if the data don't fit the type.
    """

    __slots__ = ("data", "type")

    def __init__(self, type: TensorType, data: np.ndarray) -> None:
        expected = DTYPES.get(type.element) if isinstance(type.element, str) else None
        if (data.shape and data.shape != type.shape) or (expected is not None and data.dtype != expected):
            raise InvalidArgumentError(
                f"a constant of type {type} can't hold an array of shape {list(data.shape)} and dtype {data.dtype}",
                hint=f"give it shape {list(type.shape)}, or one element for all, and dtype {expected}",
            )
        self.type = type
        self.data = data.view()
        self.data.flags.writeable = False

    @property
    def is_splat(self) -> bool:
        """Whether one value stands for all elements."""
        return self.data.ndim == 0

    @property
    def size(self) -> int:
        return math.prod(self.type.shape)

    @property
    def array(self) -> np.ndarray:
        """The read-only array of the type's shape. A splat is broadcast (stride 0), not copied."""
        if self.data.ndim or not self.type.shape:
            return self.data
        try:
            return np.broadcast_to(self.data, self.type.shape)
        except ValueError as error:
            raise ResourceExhaustedError(f"a constant of type {self.type} has no array: {error}") from error

    def tolist(self) -> Any:
        return self.array.tolist()

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, DenseElements) or self.type != other.type or self.data.dtype != other.data.dtype:
            return NotImplemented if not isinstance(other, DenseElements) else False
        if self.data.shape == other.data.shape:
            return self.data.tobytes() == other.data.tobytes()
        splat, full = (self.data, other.data) if self.is_splat else (other.data, self.data)
        return full.tobytes() == splat.tobytes() * full.size

    def __hash__(self) -> int:
        return hash(self.type)

    def __repr__(self) -> str:
        text = repr(self.data.item()) if self.is_splat else f"{self.data.size} elements"
        return f"dense<{text}> : {self.type}"


def dense(values: ArrayLike, element: str = "i64") -> DenseElements:
    """Makes a constant of the numbers in an array or in nested lists."""
    data = np.array(values, DTYPES[element])
    return DenseElements(TensorType(data.shape, element), data)


class MissingElements(DenseElements):
    """`dense_resource<name>` without its data. A program can be read without them; using them raises the error.

    Args:
        type: a static TensorType.
        name: the resource's name.
        error: the error to raise.
    """

    __slots__ = ("error", "name")

    def __init__(self, type: TensorType, name: str, error: InvalidArgumentError) -> None:
        self.type = type
        self.name = name
        self.error = error

    @property
    def data(self) -> np.ndarray:  # type: ignore[override]  # there never is any
        raise self.error

    def __eq__(self, other: object) -> bool:
        return isinstance(other, MissingElements) and (self.type, self.name) == (other.type, other.name)

    def __hash__(self) -> int:
        return hash((self.type, self.name))

    def __repr__(self) -> str:
        return f"dense_resource<{self.name}> : {self.type}"


@dataclasses.dataclass(frozen=True, slots=True)
class TypeExtensions:
    """`#stablehlo.bounds<3, ?>` as an attribute of its own, outside of a tensor type."""

    bounds: tuple[int | None, ...] = ()


def with_encoding(shape: tuple[int, ...], element: str | QuantizedType, encoding: Any) -> TensorType:
    """Returns the tensor type with an encoding, which gives the type's bounds if it has the class TypeExtensions."""
    if isinstance(encoding, TypeExtensions):
        return TensorType(shape, element, encoding.bounds)
    return TensorType(shape, element, (), encoding)


@dataclasses.dataclass(frozen=True, slots=True)
class Mesh:
    """`#stablehlo.mesh<axes=[...], device_ids=...>`: (name, size) per axis."""

    axes: tuple[tuple[str, int], ...]
    device_ids: DenseElements | None = None


@dataclasses.dataclass(frozen=True, slots=True)
class ReplicaGroupMeshAxes:
    """`#stablehlo.replica_group_mesh_axes<...>`: groups along axes of a mesh, which is named or written out."""

    mesh: SymbolRef | Mesh
    axes: tuple[AxisRef, ...] = ()


def drop_empty_signatures(attributes: dict[str, Any]) -> str | None:
    """Removes `arg_attrs` and `res_attrs` of a function where all are empty. Returns the name of a malformed one."""
    for name in ("arg_attrs", "res_attrs"):
        given = attributes.get(name, ())
        if not isinstance(given, tuple) or not all(isinstance(item, dict) for item in given):
            return name
        if not any(given):
            attributes.pop(name, None)
    return None


def constant_of(value: Value) -> np.ndarray | None:
    """Returns the elements of a value that a `stablehlo.constant` defines; None for any other value."""
    owner = value.owner
    if not isinstance(owner, Op) or owner.name != "stablehlo.constant":
        return None
    elements = owner.attributes.get("value")
    return elements.array if isinstance(elements, DenseElements) else None
