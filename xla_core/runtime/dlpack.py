"""DLPack out of a Buffer: the device's memory itself where others can address it. (The layout is dlpack.h's, 1.0.)"""

from __future__ import annotations

import ctypes
from ctypes import POINTER, Structure, c_char_p, c_int32, c_int64, c_uint8, c_uint16, c_uint32, c_uint64, c_void_p
from typing import TYPE_CHECKING, Any

from xla_core.checks import wrong_argument
from xla_core.errors import InvalidArgumentError, UnimplementedError
from xla_core.hlo.element_type import ElementType

if TYPE_CHECKING:
    from xla_core.runtime.buffer import Buffer

__all__ = ["device_of", "export"]

_CPU = 1
_READ_ONLY = 1

_CODES = {"s": 0, "u": 1, "f": 2, "bf": 4, "c": 5, "pred": 6}
_FLOAT8_CODES = {
    "f8e3m4": 7,
    "f8e4m3": 8,
    "f8e4m3b11fnuz": 9,
    "f8e4m3fn": 10,
    "f8e4m3fnuz": 11,
    "f8e5m2": 12,
    "f8e5m2fnuz": 13,
    "f8e8m0fnu": 14,
}


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


_alive: dict[int, tuple[object, ...]] = {}  # by the managed tensor's address, until its consumer lets go


def _let_go(address: int) -> None:
    _alive.pop(address, None)


_delete = _DELETER(_let_go)

_api = ctypes.pythonapi
_new = ctypes.PYFUNCTYPE(ctypes.py_object, c_void_p, c_char_p, c_void_p)(("PyCapsule_New", _api))
_is_valid = ctypes.PYFUNCTYPE(ctypes.c_int, c_void_p, c_char_p)(("PyCapsule_IsValid", _api))
_pointer = ctypes.PYFUNCTYPE(c_void_p, c_void_p, c_char_p)(("PyCapsule_GetPointer", _api))

_NAMES = (b"dltensor", b"dltensor_versioned")


def _destroy(capsule: int) -> None:
    """Only a capsule that nobody consumed still has its name, and what it holds is still ours."""
    for name in _NAMES:
        if _is_valid(capsule, name):
            _alive.pop(_pointer(capsule, name), None)


_capsule_destructor = ctypes.PYFUNCTYPE(None, c_void_p)(_destroy)


def device_of(buffer: Buffer) -> tuple[int, int]:
    """DLPack's (device type, device id). The host where other libraries cannot address the device's memory."""
    executor = buffer.device.executor
    memory = buffer._require()
    if executor.dlpack_device_type and executor.address(memory) is not None:
        return (executor.dlpack_device_type, 0 if executor.dlpack_device_type == _CPU else executor.ordinal)
    return (_CPU, 0)


def export(
    buffer: Buffer, max_version: tuple[int, int] | None, dl_device: tuple[int, int] | None, copy: bool | None
) -> Any:
    """A capsule. Waits for the value. Raises UnimplementedError for types that DLPack can't say."""
    for what, pair in (("max_version", max_version), ("dl_device", dl_device)):
        if pair is not None and not (isinstance(pair, (tuple, list)) and len(pair) == 2):
            raise wrong_argument(what, pair, "a pair of numbers or None")
    shape = buffer.shape
    code, bits = _type_of(shape.element_type)
    here = device_of(buffer)
    if dl_device is not None and tuple(dl_device) not in (here, (_CPU, 0)):
        raise InvalidArgumentError(f"a buffer on DLPack device {here} cannot be exported to {tuple(dl_device)}")
    on_device = copy is not True and (dl_device is None or tuple(dl_device) == here) and buffer._plain_layout()
    executor = buffer.device.executor
    owner: object
    address: int | None
    if on_device and executor.dlpack_device_type and executor.address(buffer._require()) is not None:
        buffer.block_until_ready()
        hold = buffer._export_hold()
        owner, address, read_only = hold, executor.address(hold.memory), True
    else:
        if copy is False:
            raise InvalidArgumentError("this buffer's memory cannot be exported without a copy")
        array = buffer.to_numpy()
        array = array.copy() if copy or not array.flags.c_contiguous else array
        owner, address, read_only = array, array.__array_interface__["data"][0], not array.flags.writeable
        here = (_CPU, 0)
    return _capsule(owner, address, here, code, bits, shape.dimensions, read_only, max_version)


def _type_of(element_type: ElementType) -> tuple[int, int]:
    name = element_type.value
    if name in _FLOAT8_CODES:
        return _FLOAT8_CODES[name], 8
    kind = name.rstrip("0123456789") if name != "pred" else name
    if kind not in _CODES or (element_type.bit_width < 8 and name != "pred"):
        raise UnimplementedError(
            f"{name} has no DLPack form: libraries differ on how elements of less than a byte are packed",
            hint="convert to a type of at least 8 bits, or use np.asarray",
        )
    return _CODES[kind], max(element_type.bit_width, 8)


def _capsule(
    owner: object,
    address: int | None,
    device: tuple[int, int],
    code: int,
    bits: int,
    dimensions: tuple[int, ...],
    read_only: bool,
    max_version: tuple[int, int] | None,
) -> Any:
    rank = len(dimensions)
    strides = [1] * rank
    for i in range(rank - 2, -1, -1):
        strides[i] = strides[i + 1] * dimensions[i + 1]
    shape_array = (c_int64 * max(rank, 1))(*dimensions)
    stride_array = (c_int64 * max(rank, 1))(*strides)
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
