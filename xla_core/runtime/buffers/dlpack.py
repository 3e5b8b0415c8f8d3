"""DLPack: exports arrays to other libraries and imports theirs. The structures are those of dlpack.h 1.0."""

from __future__ import annotations

import contextlib
import ctypes
import math
import sys
from collections.abc import Callable, Sequence
from ctypes import POINTER, Structure, c_char_p, c_int32, c_int64, c_uint8, c_uint16, c_uint32, c_uint64, c_void_p
from typing import Any

from xla_core.errors import InvalidArgumentError, UnimplementedError
from xla_core.hlo.values.element_type import ElementType

CPU = 1
_READ_ONLY = 1


class _Tensor(Structure):
    _fields_ = (
        ("data", c_void_p),
        ("device_type", c_int32),
        ("device_id", c_int32),
        ("ndim", c_int32),
        ("code", c_uint8),
        ("bits", c_uint8),
        ("lanes", c_uint16),
        ("shape", POINTER(c_int64)),
        ("strides", POINTER(c_int64)),
        ("byte_offset", c_uint64),
    )


_DELETER = ctypes.CFUNCTYPE(None, c_void_p)


class _Managed(Structure):
    _fields_ = (("tensor", _Tensor), ("context", c_void_p), ("deleter", _DELETER))


class _Versioned(Structure):
    _fields_ = (
        ("major", c_uint32),
        ("minor", c_uint32),
        ("context", c_void_p),
        ("deleter", _DELETER),
        ("flags", c_uint64),
        ("tensor", _Tensor),
    )


_alive: dict[int, tuple[object, ...]] = {}  # by the managed tensor's address, until the consumer releases it


def _let_go(address: int, is_finalizing: Callable[[], bool] = sys.is_finalizing) -> None:
    if not is_finalizing():
        _alive.pop(address, None)


_delete = _DELETER(_let_go)

_api = ctypes.pythonapi
_new = ctypes.PYFUNCTYPE(ctypes.py_object, c_void_p, c_char_p, c_void_p)(("PyCapsule_New", _api))
# These take a capsule's address: a destructor must not make a Python object of the capsule, which has no references.
_is_valid = ctypes.PYFUNCTYPE(ctypes.c_int, c_void_p, c_char_p)(("PyCapsule_IsValid", _api))
_pointer = ctypes.PYFUNCTYPE(c_void_p, c_void_p, c_char_p)(("PyCapsule_GetPointer", _api))

_NAMES = (b"dltensor", b"dltensor_versioned")
_USED = (b"used_dltensor", b"used_dltensor_versioned")
_is_valid_object = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, c_char_p)(("PyCapsule_IsValid", _api))
_pointer_of = ctypes.PYFUNCTYPE(c_void_p, ctypes.py_object, c_char_p)(("PyCapsule_GetPointer", _api))
_rename = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, c_char_p)(("PyCapsule_SetName", _api))


def _destroy(capsule: int, is_finalizing: Callable[[], bool] = sys.is_finalizing) -> None:
    """Releases the tensor of a capsule that nobody consumed. Consumers rename a capsule and release its tensor."""
    for name in () if is_finalizing() else _NAMES:
        if _is_valid(capsule, name):
            _alive.pop(_pointer(capsule, name), None)


_capsule_destructor = ctypes.PYFUNCTYPE(None, c_void_p)(_destroy)
# Capsules and tensors may outlive this module.
_api.Py_IncRef(ctypes.py_object(_delete))
_api.Py_IncRef(ctypes.py_object(_capsule_destructor))


def _type_of(element_type: ElementType) -> tuple[int, int]:
    if element_type.dlpack is None:
        raise UnimplementedError(
            f"{element_type} has no DLPack form: libraries differ on how elements of less than a byte are packed",
            hint="convert to a type of at least 8 bits, or use np.asarray",
        )
    return element_type.dlpack, max(element_type.bit_width, 8)


def export(
    owner: object,
    address: int | None,
    device: tuple[int, int],
    element_type: ElementType,
    dimensions: tuple[int, ...],
    *,
    read_only: bool,
    max_version: tuple[int, int] | None,
) -> Any:
    """Makes a DLPack capsule of the row-major array at `address`. The capsule keeps `owner` alive.

    Raises:
        UnimplementedError: for element types that DLPack lacks.
    """
    code, bits = _type_of(element_type)
    rank = len(dimensions)
    shape_array = (c_int64 * max(rank, 1))(*dimensions)
    stride_array = (c_int64 * max(rank, 1))(*_row_major_strides(dimensions))
    tensor = _Tensor(address, *device, rank, code, bits, 1, shape_array, stride_array, 0)
    versioned = max_version is not None and max_version[0] >= 1
    managed: _Versioned | _Managed
    if versioned:
        managed = _Versioned(1, 0, None, _delete, _READ_ONLY if read_only else 0, tensor)
    else:
        managed = _Managed(tensor, None, _delete)
    key = ctypes.addressof(managed)
    _alive[key] = (managed, shape_array, stride_array, owner)
    return _new(key, _NAMES[versioned], ctypes.cast(_capsule_destructor, c_void_p))


class ForeignTensor:
    """A tensor that another library exported: a row-major array at `address`, valid as long as this object lives.

    Raises:
        InvalidArgumentError: for an unknown element type, and for a tensor that isn't row-major without gaps.
    """

    def __init__(self, capsule: Any) -> None:
        name = next((name for name in _NAMES if _is_valid_object(capsule, name)), None)
        if name is None:
            raise InvalidArgumentError(f"{type(capsule).__name__} is not an unused DLPack capsule")
        kind = _Versioned if name == _NAMES[True] else _Managed
        self._managed = kind.from_address(_pointer_of(capsule, name))
        tensor = self._managed.tensor
        self.device = (tensor.device_type, tensor.device_id)
        self.dimensions = tuple(tensor.shape[: tensor.ndim])
        found = _ELEMENT_TYPES.get((tensor.code, tensor.bits))
        if found is None or tensor.lanes != 1:
            raise InvalidArgumentError(f"DLPack type (code {tensor.code}, {tensor.bits} bits) is no element type")
        self.element_type = found
        strides = tensor.strides[: tensor.ndim] if tensor.strides else None
        if strides is not None and not _is_row_major(self.dimensions, strides):
            raise InvalidArgumentError(
                f"a tensor of strides {strides} cannot be taken without a copy", hint="make it contiguous first"
            )
        self.address = (tensor.data or 0) + tensor.byte_offset
        _rename(capsule, _USED[name == _NAMES[True]])  # from now on this object has to release it

    def __del__(self, is_finalizing: Callable[[], bool] = sys.is_finalizing) -> None:
        managed = getattr(self, "_managed", None)
        if managed is not None and hasattr(self, "address") and managed.deleter and not is_finalizing():
            managed.deleter(ctypes.addressof(managed))


def _row_major_strides(dimensions: Sequence[int]) -> list[int]:
    return [math.prod(dimensions[i + 1 :]) for i in range(len(dimensions))]


def _is_row_major(dimensions: Sequence[int], strides: Sequence[int]) -> bool:
    wanted = zip(dimensions, strides, _row_major_strides(dimensions), strict=True)
    return 0 in dimensions or all(size == 1 or stride == row_major for size, stride, row_major in wanted)


_ELEMENT_TYPES: dict[tuple[int, int], ElementType] = {}
for _element_type in ElementType:
    if _element_type.is_array:
        with contextlib.suppress(UnimplementedError):
            _ELEMENT_TYPES[_type_of(_element_type)] = _element_type
