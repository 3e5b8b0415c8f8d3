"""Devices and contexts."""

from __future__ import annotations

import ctypes
from ctypes import POINTER, c_char_p, c_int, c_uint, c_void_p

from tests.backends.gpu.cuda_stub.state import (
    ATTRIBUTES,
    INVALID_CONTEXT,
    NO_DEVICE,
    STARTED,
    TEXTS,
    device,
    devices,
    function,
    require,
    state,
    unreachable,
)


@function(c_uint, context=False)
def cuInit(flags):
    require(not flags)
    require(devices, NO_DEVICE)
    require(not STARTED, STARTED)


@function(POINTER(c_int), context=False)
def cuDriverGetVersion(version):
    version[0] = 13000


@function(POINTER(c_int), context=False)
def cuDeviceGetCount(count):
    count[0] = len(devices)


@function(POINTER(c_int), c_int, context=False)
def cuDeviceGet(found, ordinal):
    found[0] = device(ordinal).ordinal


@function(c_void_p, c_int, c_int, context=False)
def cuDeviceGetName(name, length, number):
    text = f"stub of CUDA's driver, device {device(number).ordinal}".encode()[: length - 1] + b"\0"
    ctypes.memmove(name, text, len(text))


@function(POINTER(c_int), c_int, c_int, context=False)
def cuDeviceGetAttribute(value, attribute, number):
    device(number)
    require(attribute in ATTRIBUTES)
    value[0] = ATTRIBUTES[attribute]


@function(POINTER(c_void_p), c_int, context=False)
def cuDevicePrimaryCtxRetain(context, number):
    found = device(number)
    found.retained += 1
    context[0] = found.handle


@function(c_int, context=False)
def cuDevicePrimaryCtxRelease(number):
    found = device(number)
    require(found.retained, INVALID_CONTEXT)
    found.retained -= 1
    if not found.retained:
        found.contexts += 1
        found.open()  # the next context is a new one


@function(c_void_p, context=False)
def cuCtxPushCurrent(context):
    found = next((d for d in devices if d.handle == context and d.retained), None)
    require(found is not None, INVALID_CONTEXT)
    state.contexts.append(found)


@function(POINTER(c_void_p), context=False)
def cuCtxPopCurrent(context):
    require(state.contexts, INVALID_CONTEXT)
    context[0] = state.contexts.pop().handle


@function(c_int, POINTER(c_char_p), context=False)
def cuGetErrorString(status, text):
    text[0] = TEXTS.get(status, "an error").encode()


@function(c_int, POINTER(c_char_p), context=False)
def cuGetErrorName(status, text):
    text[0] = f"CUDA_ERROR_{status}".encode()


@function(POINTER(c_int), c_int, c_int, context=False)
def cuDeviceCanAccessPeer(can, one, other):
    can[0] = int(device(one) is not device(other) and (one, other) not in unreachable)
