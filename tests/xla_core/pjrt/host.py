"""A host of PJRT as a C program would be one: it knows nothing but the table of function pointers."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np

from xla_core.pjrt import abi
from xla_core.pjrt.api import make_api
from xla_core.pjrt.buffer import TYPE_NUMBERS

_FUNCTION = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p)


class HostError(Exception):
    def __init__(self, code: int, text: str) -> None:
        super().__init__(text)
        self.code = code


class Host:
    """Calls the functions of a platform's table."""

    def __init__(self, platform: str) -> None:
        self.api = abi.Api.from_address(make_api(platform))
        self.client = self.call("Client_Create").client

    def call(self, name: str, size: int | None = None, **fields: Any) -> Any:
        """Calls a function and returns its structure of arguments.

        Args:
            size: the `struct_size` to pass; by default the newest.
        """
        args = abi.STRUCTS[f"{name}_Args"]()
        if not fields.pop("cleared", True):
            ctypes.memset(ctypes.addressof(args), 0xFF, ctypes.sizeof(args))
            args.extension_start = None
        for field, value in fields.items():
            setattr(args, field, value)
        self.call_at(getattr(self.api, name), args, size)
        return args

    def call_at(self, address: int, args: Any, size: int | None = None) -> None:
        """Calls the function at an address, and raises its error."""
        args.struct_size = type(args).full_size if size is None else size
        error = _FUNCTION(address)(ctypes.addressof(args))
        if error:
            code = self.call("Error_GetCode", error=error).code
            message = self.call("Error_Message", error=error)
            text = ctypes.string_at(message.message, message.message_size).decode()
            self.call("Error_Destroy", error=error)
            raise HostError(code, text)

    def devices(self) -> list[int]:
        found = self.call("Client_Devices", client=self.client)
        return abi.pointers_at(found.devices, found.num_devices)

    def upload(self, array: np.ndarray, device: int = 0, **fields: Any) -> int:
        sizes = abi.int64s(array.shape)
        strides = abi.int64s(array.strides)
        args = self.call(
            "Client_BufferFromHostBuffer",
            client=self.client,
            data=array.__array_interface__["data"][0],
            type=TYPE_NUMBERS[abi_type(array)],
            dims=ctypes.addressof(sizes),
            num_dims=array.ndim,
            byte_strides=ctypes.addressof(strides),
            num_byte_strides=array.ndim,
            device=self.devices()[device],
            **fields,
        )
        self.call("Event_Await", event=args.done_with_host_buffer)
        self.call("Event_Destroy", event=args.done_with_host_buffer)
        return int(args.buffer)

    def download(self, buffer: int, dtype: Any) -> np.ndarray:
        sizes = self.call("Buffer_Dimensions", buffer=buffer)
        array = np.empty(abi.integers_at(sizes.dims, sizes.num_dims), dtype)
        data = array.__array_interface__["data"][0]
        event = self.call("Buffer_ToHostBuffer", src=buffer, dst=data, dst_size=array.nbytes).event
        try:
            self.call("Event_Await", event=event)
        finally:
            self.call("Event_Destroy", event=event)
        return array

    def compile(self, text: str, options: bytes = b"", form: str = "mlir") -> int:
        return self.compile_by("Client_Compile", text, options, form, client=self.client)

    def compile_by(self, function: str, text: str, options: bytes = b"", form: str = "mlir", **fields: int) -> int:
        code, name = ctypes.create_string_buffer(text.encode()), ctypes.create_string_buffer(form.encode())
        struct = abi.STRUCTS["Program"]
        program = struct(struct.full_size, None, ctypes.addressof(code), len(text.encode()), ctypes.addressof(name))
        program.format_size = len(form)
        kept = ctypes.create_string_buffer(options, max(1, len(options)))
        return int(
            self.call(
                function,
                program=ctypes.addressof(program),
                compile_options=ctypes.addressof(kept),
                compile_options_size=len(options),
                **fields,
            ).executable
        )

    def execute(
        self, executable: int, arguments: list[int], results: int, kept: tuple[int, ...] = (), launch: int = 0
    ) -> list[int]:
        options = abi.STRUCTS["ExecuteOptions"](struct_size=abi.STRUCTS["ExecuteOptions"].full_size)
        options.launch_id = launch
        indices = abi.int64s(kept)
        options.non_donatable_input_indices, options.num_non_donatable_input_indices = (
            ctypes.addressof(indices),
            len(kept),
        )
        row, made = abi.pointers(arguments), abi.pointers([0] * results)
        rows, lists = abi.pointers([ctypes.addressof(row)]), abi.pointers([ctypes.addressof(made)])
        self.call(
            "LoadedExecutable_Execute",
            executable=executable,
            options=ctypes.addressof(options),
            argument_lists=ctypes.addressof(rows),
            num_devices=1,
            num_args=len(arguments),
            output_lists=ctypes.addressof(lists),
        )
        return list(made)[:results]


def abi_type(array: np.ndarray) -> Any:
    from xla_core.hlo import ElementType

    return ElementType.from_numpy(array.dtype)
