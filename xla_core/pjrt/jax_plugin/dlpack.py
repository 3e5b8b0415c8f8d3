"""DLPack for JAX's arrays on our platforms, whose devices jaxlib doesn't know by a DLPack type."""

from __future__ import annotations

from collections.abc import Container
from typing import Any

import numpy as np

from xla_core.errors import XlaError
from xla_core.hlo.values.element_type import ElementType
from xla_core.runtime.buffers import dlpack

_HOST = (dlpack.CPU, 0)


def export_arrays(platforms: Container[str]) -> None:
    """Makes JAX's arrays on the platforms export their memory as the host's, if their device's memory is the host's.

    Arrays on other devices export copies, to callers that allow a copy and want it on the host.
    """
    from jax._src import array

    kind: Any = array.ArrayImpl
    by_jax, device_by_jax = kind.__dlpack__, kind.__dlpack_device__

    def __dlpack__(
        self: Any,
        *,
        stream: Any = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> Any:
        platform = _platform_of(self)
        if platform not in platforms:
            return by_jax(self, stream=stream, max_version=max_version, dl_device=dl_device, copy=copy)
        if dl_device is not None and tuple(map(int, dl_device)) != _HOST:
            raise BufferError(f"an array on {platform} can be exported to the host, not to device {dl_device}")
        self._check_if_deleted()
        view = np.asarray(self)
        is_copy = not _is_shared(self, view)
        if is_copy and (copy is False or (copy is None and dl_device is None)):
            raise BufferError(_REFUSAL.format(platform))
        if copy and not is_copy:
            view, is_copy = view.copy(), True
        try:
            return dlpack.export(
                view,
                view.__array_interface__["data"][0],
                _HOST,
                ElementType.from_numpy(view.dtype),
                view.shape,
                read_only=not is_copy,
                max_version=max_version,
            )
        except XlaError as error:
            raise BufferError(str(error)) from None

    def __dlpack_device__(self: Any) -> tuple[Any, int]:
        platform = _platform_of(self)
        if platform not in platforms:
            device: tuple[Any, int] = device_by_jax(self)
            return device
        self._check_if_deleted()
        if not _is_shared(self, np.asarray(self)):
            raise BufferError(_REFUSAL.format(platform))
        return _HOST

    kind.__dlpack__, kind.__dlpack_device__ = __dlpack__, __dlpack_device__


def _platform_of(array: Any) -> str:
    """Returns the name of the platform of an array on one device, or "". The array may be deleted."""
    devices = array.sharding.device_set
    return str(next(iter(devices)).platform) if len(devices) == 1 else ""


_REFUSAL = "an array on {} can't be exported without a copy; export np.asarray(array), or ask for a copy on the host"


def _is_shared(array: Any, view: np.ndarray) -> bool:
    """Whether the view of an array is its own memory, in row-major order."""
    import jax

    try:
        address = array.unsafe_buffer_pointer()
    except jax.errors.JaxRuntimeError:  # the device has no pointers to its memory
        return False
    return view.flags.c_contiguous and (not view.nbytes or view.__array_interface__["data"][0] == address)
