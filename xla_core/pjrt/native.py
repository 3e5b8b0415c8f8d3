"""The native functions behind PJRT's function pointers, which LLVM compiles when the first client is made.

The functions here need no Python. A *getter* copies an answer from its handle. An *error function* reads an error's
block. The functions that call Python are in `python_entries`.
"""

from __future__ import annotations

import ctypes
import functools

from xla_core.codegen import link_objects
from xla_core.errors import XlaError
from xla_core.pjrt import abi
from xla_core.pjrt.handles import GETTERS, SLOTS, getter_fields, keep_for_ever

_ERROR_HEADER = 24  # bytes of an error's block before its text: vtable, code, size of the text

libc = ctypes.CDLL(None)
libc.malloc.restype = ctypes.c_void_p
libc.malloc.argtypes = (ctypes.c_size_t,)
libc.free.restype, libc.free.argtypes = None, (ctypes.c_void_p,)

_WIDTHS = {1: "i8", 4: "i32", 8: "i64"}


def _getter_ir(function: str) -> str:
    struct = abi.STRUCTS[f"{function}_Args"]
    slots = SLOTS[function.partition("_")[0]]
    handle = getattr(struct, abi.FIELDS[f"{function}_Args"][2]).offset
    lines = [f"  %at = getelementptr i8, ptr %args, i64 {handle}", "  %handle = load ptr, ptr %at"]
    for number, field in enumerate(getter_fields(function)):
        place = getattr(struct, field)
        kind = _WIDTHS[place.size]
        lines += [
            f"  %from{number} = getelementptr i64, ptr %handle, i64 {slots[field]}",
            f"  %value{number} = load {kind}, ptr %from{number}",  # the low bytes: the target is little-endian
            f"  %to{number} = getelementptr i8, ptr %args, i64 {place.offset}",
            f"  store {kind} %value{number}, ptr %to{number}",
        ]
    return "\n".join([f"define ptr @{function}(ptr %args) {{", *lines, "  ret ptr null", "}"])


FIXED_ERRORS = {
    "interrupted": (13, "a call into Python was interrupted or ran out of memory"),
    "ended": (9, "Python's interpreter is shutting down"),
}
"""name -> code and text of the errors that are made without memory or Python."""


_VTABLE_FUNCTIONS = f"""
define void @error_message(ptr %error, ptr %message, ptr %size) {{
  %text = getelementptr i8, ptr %error, i64 {_ERROR_HEADER}
  store ptr %text, ptr %message
  %at = getelementptr i8, ptr %error, i64 16
  %bytes = load i64, ptr %at
  store i64 %bytes, ptr %size
  ret void
}}
define i32 @error_code(ptr %error) {{
  %at = getelementptr i8, ptr %error, i64 8
  %code = load i32, ptr %at
  ret i32 %code
}}
define void @error_payloads(ptr %error, ptr %visitor, ptr %argument) {{
  ret void
}}"""


def _error_functions_ir() -> str:
    """Makes the functions on errors: those of the table, and those of the vtable that newer hosts call."""
    message, code = abi.STRUCTS["Error_Message_Args"], abi.STRUCTS["Error_GetCode_Args"]
    free = ctypes.cast(libc.free, ctypes.c_void_p).value
    fixed = "".join(
        f"@{name} = global {{ptr, i64, i64, [{len(text)} x i8]}} "
        f'{{ptr null, i64 {code}, i64 {len(text)}, [{len(text)} x i8] c"{text}"}}\n'
        for name, (code, text) in FIXED_ERRORS.items()
    )
    is_fixed = "".join(f"  %is_{name} = icmp eq ptr %error, @{name}\n" for name in FIXED_ERRORS)
    return f"""
{fixed}
define void @error_destroy(ptr %error) {{
{is_fixed}  %fixed = or i1 {", ".join(f"%is_{name}" for name in FIXED_ERRORS)}
  br i1 %fixed, label %done, label %heap
heap:
  call void inttoptr (i64 {free} to ptr)(ptr %error)
  br label %done
done:
  ret void
}}{_VTABLE_FUNCTIONS}
define ptr @Error_Destroy(ptr %args) {{
  %at = getelementptr i8, ptr %args, i64 {code.error.offset}
  %error = load ptr, ptr %at
  call void @error_destroy(ptr %error)
  ret ptr null
}}
define ptr @Error_Message(ptr %args) {{
  %at = getelementptr i8, ptr %args, i64 {message.error.offset}
  %error = load ptr, ptr %at
  %text = getelementptr i8, ptr %args, i64 {message.message.offset}
  %size = getelementptr i8, ptr %args, i64 {message.message_size.offset}
  call void @error_message(ptr %error, ptr %text, ptr %size)
  ret ptr null
}}
define ptr @Error_GetCode(ptr %args) {{
  %at = getelementptr i8, ptr %args, i64 {code.error.offset}
  %error = load ptr, ptr %at
  %code = call i32 @error_code(ptr %error)
  %to = getelementptr i8, ptr %args, i64 {code.code.offset}
  store i32 %code, ptr %to
  ret ptr null
}}
define void @nothing(ptr %object) {{
  ret void
}}
define ptr @Error_ForEachPayload(ptr %args) {{
  ret ptr null
}}"""


ERROR_FUNCTIONS = ("Error_Destroy", "Error_Message", "Error_GetCode", "Error_ForEachPayload")


class NativeCode:
    """Compiled functions, by name. They are never freed, because hosts call them while the process exits.

    Args:
        text: the functions, as LLVM IR.
        callees: the Python objects whose addresses are in the text.
    """

    def __init__(self, text: str, callees: object = None) -> None:
        import llvmlite.binding as llvm

        llvm.initialize_native_target()
        llvm.initialize_native_asmprinter()
        module = llvm.parse_assembly(text)
        machine = llvm.Target.from_default_triple().create_target_machine(codemodel="large", reloc="static")
        values = (*module.functions, *module.global_variables)
        exports = [v.name for v in values if not v.is_declaration and v.linkage is llvm.Linkage.external]
        self._code = link_objects([machine.emit_object(module)], exports)
        self._callees = callees
        _alive.append(self)

    def address(self, name: str) -> int:
        """Returns the address of a function or global variable."""
        return self._code.addresses[name]


class CommonFunctions(NativeCode):
    """The functions that need no Python: the getters, and those on errors."""

    def __init__(self) -> None:
        super().__init__("\n".join([_error_functions_ir(), *map(_getter_ir, GETTERS)]))
        self.nothing = self.address("nothing")
        """The address of a function of one argument that does nothing."""
        struct = abi.STRUCTS["Error_FunctionTable"]
        self._vtable = struct(
            struct_size=struct.full_size,
            instance_size=8,
            destroy=self.address("error_destroy"),
            message=self.address("error_message"),
            get_code=self.address("error_code"),
            for_each_payload=self.address("error_payloads"),
        )
        for name in FIXED_ERRORS:
            ctypes.c_uint64.from_address(self.address(name)).value = ctypes.addressof(self._vtable)
        self._interrupted = self.address("interrupted")

    def error(self, error: BaseException) -> int:
        """Makes a PJRT_Error, which the host destroys, and returns its address."""
        code, message = 13, f"{type(error).__name__}: {error}"
        if isinstance(error, XlaError):
            code, message = error.code.value, error.text_without_code
        text = message.encode(errors="replace")
        address = int(libc.malloc(_ERROR_HEADER + len(text)) or 0)
        if not address:
            return self._interrupted
        (ctypes.c_uint64 * 3).from_address(address)[:] = [ctypes.addressof(self._vtable), code, len(text)]
        ctypes.memmove(address + _ERROR_HEADER, text, len(text))
        return address


@functools.cache
def common() -> CommonFunctions:
    """Returns the functions that need no Python, which are compiled once a process."""
    return CommonFunctions()


_alive: list[NativeCode] = keep_for_ever([])
