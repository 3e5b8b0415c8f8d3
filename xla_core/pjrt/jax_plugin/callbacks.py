"""Calls of Python functions from JAX programs: pure_callback, io_callback, debug.print, debug.callback, checkify.

A call is lowered to the custom call `xla_core_python_callback` with the number of the function, or to
`xla_core_partitioned_python_callback` where each device calls the function with its shards. The function lives as long
as JAX keeps the lowered program.
"""

from __future__ import annotations

import dataclasses
import itertools
import os
import secrets
import weakref
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from xla_core.errors import FailedPreconditionError
from xla_core.hlo import CustomCall, register_in_place_call
from xla_core.hlo.ops.custom_calls import CALLBACK, PARTITIONED_CALLBACK

_numbers = itertools.count(1)
_process = secrets.randbits(63)
"""Is in each call, because a number names another function, or none, in another process."""


def _after_fork() -> None:
    global _process
    _process = secrets.randbits(63)


os.register_at_fork(after_in_child=_after_fork)


class _Callback:
    """A function that a program calls with arrays, and the types that its results must have."""

    def __init__(self, function: Callable[..., Any], results: Sequence[Any]) -> None:
        from jax._src import dtypes

        self._function, self._canonical = function, dtypes.canonicalize_value
        self._results = [(tuple(result.shape), np.dtype(result.dtype)) for result in results]
        self.number = next(_numbers)
        _callbacks[self.number] = self

    def __call__(self, values: Sequence[np.ndarray]) -> list[np.ndarray]:
        made = tuple(self._function(*values))
        if len(made) != len(self._results):
            raise RuntimeError(
                f"Mismatched number of outputs from callback. Expected: {len(self._results)}, Actual: {len(made)}"
            )
        arrays = [np.asarray(self._canonical(np.asarray(value))) for value in made]
        for number, (array, (sizes, dtype)) in enumerate(zip(arrays, self._results, strict=True)):
            if array.shape != sizes or array.dtype != dtype:
                raise RuntimeError(
                    f"Incorrect output of callback: result {number} must be {dtype.name}{list(sizes)}, not "
                    f"{array.dtype.name}{list(array.shape)}"
                )
        return arrays

    def zeros(self) -> list[np.ndarray]:
        """Returns the results on a device that does not call the function, because another one calls it for all."""
        return [np.zeros(sizes, dtype) for sizes, dtype in self._results]


_callbacks: weakref.WeakValueDictionary[int, _Callback] = weakref.WeakValueDictionary()


def emit(
    ctx: Any,
    function: Callable[..., Any],
    token: Any,
    operands: Sequence[Any],
    operand_avals: Sequence[Any],
    result_avals: Sequence[Any],
    *,
    has_side_effect: bool,
    returns_token: bool = True,
    partitioned: bool = False,
    sharding: Any = None,
) -> tuple[Any, Any, None]:
    """Emits the custom call; the signature and the results are those of JAX's `emit_python_callback`."""
    from jax._src import core, ffi
    from jax._src.interpreters import mlir
    from jaxlib.mlir.dialects import stablehlo

    callback = _Callback(function, result_avals)
    ctx.module_context.add_host_callback(callback)  # keeps the function alive, and the program uncached
    if token:
        operands = [token, *operands]
        ctx = dataclasses.replace(
            ctx, avals_in=[core.abstract_token, *ctx.avals_in], avals_out=[core.abstract_token, *ctx.avals_out]
        )
    if partitioned and _device_count(ctx) > 1 and not token:  # each device calls with its shards
        sharding = None
        target = PARTITIONED_CALLBACK
    else:
        target = CALLBACK
    lower = ffi.build_ffi_lowering_function(target, has_side_effect=has_side_effect)
    device = _only_device(ctx, sharding)
    place = {}
    if device is not None:
        place = {"device": np.uint64(device)}
        operands = [*operands, stablehlo.partition_id()]
        ctx = dataclasses.replace(ctx, avals_in=[*ctx.avals_in, core.ShapedArray((), np.dtype(np.uint32))])
    call = lower(ctx, *operands, index=np.uint64(callback.number), process=np.uint64(_process), **place)
    if sharding is not None:
        mlir.set_sharding(ctx.module_context, call, _with_token(sharding) if token and result_avals else sharding)
    results = list(call.results)
    if token:
        token, *results = results
    if device is not None:
        results = [_from_device(ctx, device, result) for result in results]
    return results, token, None


def _from_device(ctx: Any, device: int, value: Any) -> Any:
    """Broadcasts one device's value to all devices."""
    from jax._src.interpreters import mlir
    from jaxlib.mlir.dialects import stablehlo

    context = ctx.module_context
    others = [number for number in range(context.axis_context.num_devices) if number != device]
    channel = stablehlo.ChannelHandle.get(context.new_channel(), mlir.DEVICE_TO_DEVICE_TYPE)
    groups = mlir.dense_int_elements([[device, *others]])
    return stablehlo.collective_broadcast(value, groups, channel_handle=channel)


def _device_count(ctx: Any) -> int:
    return int(getattr(ctx.module_context.axis_context, "num_devices", None) or 1)


def _only_device(ctx: Any, sharding: Any) -> int | None:
    """Returns the partition that calls the function for all; None if each calls it."""
    from jax._src.sharding_impls import SdyArrayList
    from jaxlib import xla_client

    devices = None
    if _device_count(ctx) == 1:
        return None
    if isinstance(sharding, SdyArrayList):
        devices = sharding.shardings[0].logical_device_ids
    elif sharding is not None and sharding.type == xla_client.OpSharding.Type.MAXIMAL:
        devices = sharding.tile_assignment_devices
    return devices[0] if devices else None


def _with_token(sharding: Any) -> Any:
    """Adds the sharding of the token, which is the first result. A call without other results has one sharding."""
    from jax._src.sharding_impls import SdyArrayList

    if not isinstance(sharding, SdyArrayList):
        return sharding
    first = sharding.shardings[0]
    token = type(first)(mesh_shape=(), dim_shardings=(), logical_device_ids=first.logical_device_ids)
    return SdyArrayList((token, *sharding.shardings))


def _run(call: CustomCall) -> None:
    number = call.attributes["index"]
    callback = _callbacks.get(number) if call.attributes.get("process") == _process else None
    if callback is None:
        raise FailedPreconditionError(
            f"the Python function {number} of {call.target} is gone",
            hint="a serialized program can't call Python functions of another process",
        )
    # copies, because the function may keep them, and the program reuses its memory
    arrays = [np.array(operand, order="C") for operand in call.operands]
    if "device" in call.attributes and call.attributes["device"] != int(arrays.pop()):
        made = callback.zeros()
    else:
        made = callback(arrays)
    for result, array in zip(call.results, made, strict=True):
        result[...] = array


for _target in (CALLBACK, PARTITIONED_CALLBACK):
    register_in_place_call(_target, _run)
