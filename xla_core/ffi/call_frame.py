"""CallFrame: the argument of a handler, in C memory."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any

from xla_core.ffi.api import api_table
from xla_core.ffi.objects import Context, States
from xla_core.ffi.structures import BUFFER, METADATA_EXTENSION, STRUCTS, Stage
from xla_core.hlo.values.shape import Shape

_Buffer, _Frame, _Args, _Rets, _Attrs = (STRUCTS[name] for name in ("Buffer", "CallFrame", "Args", "Rets", "Attrs"))
_Version, _Metadata, _Extension = (STRUCTS[name] for name in ("Api_Version", "Metadata", "Metadata_Extension"))
_FRAME_SIZE = _Frame.future.offset  # handlers require it, although the last field follows


class _Buffers:
    """The operands or the results: arrays and tokens of given shapes, whose data may change."""

    def __init__(self, shapes: Sequence[Shape]) -> None:
        count = len(shapes)
        self._buffers = (_Buffer * count)()
        self._arrays = [number for number, shape in enumerate(shapes) if shape.is_array]
        self._keep: list[Any] = []
        for buffer, shape in zip(self._buffers, shapes, strict=True):
            sizes = shape.dimensions if shape.is_array else ()
            dims = (ctypes.c_int64 * len(sizes))(*sizes)
            self._keep.append(dims)
            buffer.struct_size, buffer.dtype = _Buffer.full_size, shape.element_type.proto
            buffer.rank, buffer.dims = len(sizes), ctypes.addressof(dims)
        self._types = (ctypes.c_int32 * count)(*[BUFFER] * count)
        self._places = (ctypes.c_void_p * count)(*[ctypes.addressof(buffer) for buffer in self._buffers])

    def set_data(self, addresses: Sequence[int]) -> None:
        for number, address in zip(self._arrays, addresses, strict=True):
            self._buffers[number].data = address

    def make(self, structure: Any) -> Any:
        """Makes an Args or a Rets."""
        count = len(self._buffers)
        return structure(
            structure.full_size, None, count, ctypes.addressof(self._types), ctypes.addressof(self._places)
        )


class CallFrame:
    """The frame of one call at a time. It is used again for the next call.

    Args:
        operands, results: the shapes of the arrays and tokens.
        attributes: the structure Attrs.
        instance: the states of the custom call.
    """

    def __init__(self, operands: Sequence[Shape], results: Sequence[Shape], attributes: Any, instance: States) -> None:
        self._operands, self._results = _Buffers(operands), _Buffers(results)
        self.context = Context(instance, States())
        self._frame = _Frame(
            struct_size=_FRAME_SIZE,
            api=ctypes.addressof(api_table()),
            ctx=self.context.address,
            args=self._operands.make(_Args),
            rets=self._results.make(_Rets),
            attrs=attributes,
        )

    def begin(self, operands: Sequence[int], results: Sequence[int], device_ordinal: int, run_id: int) -> None:
        """Prepares a call: sets the addresses of the arrays, and forgets the states of the last call."""
        self._operands.set_data(operands)
        self._results.set_data(results)
        self.context.call, self.context.device_ordinal, self.context.run_id = States(), device_ordinal, run_id

    def call(self, handler: Any, stage: Stage) -> tuple[int | None, int | None]:
        """Calls the handler of a stage and returns the pointers of an error and of a future."""
        self._frame.stage, self._frame.future = stage, None
        error = handler(ctypes.addressof(self._frame))
        return error, self._frame.future


def ask_for_version(handler: Any) -> tuple[int | None, tuple[int, int]]:
    """Asks a handler for the version of the interface that it was compiled for.

    Returns:
        The pointer of an error, and the version, which is (0, 0) if the handler does not say.
    """
    metadata = _Metadata(struct_size=_Metadata.traits.offset + _Metadata.traits.size)
    metadata.api_version.struct_size = _Version.full_size
    extension = _Extension(metadata=ctypes.addressof(metadata))
    extension.extension_base.struct_size, extension.extension_base.type = _Extension.full_size, METADATA_EXTENSION
    frame = _Frame(
        struct_size=_FRAME_SIZE,
        extension_start=ctypes.addressof(extension),
        api=ctypes.addressof(api_table()),
        stage=Stage.EXECUTE,
        args=_Args(struct_size=_Args.full_size),
        rets=_Rets(struct_size=_Rets.full_size),
        attrs=_Attrs(struct_size=_Attrs.full_size),
    )
    error = handler(ctypes.addressof(frame))
    return error, (metadata.api_version.major_version, metadata.api_version.minor_version)
