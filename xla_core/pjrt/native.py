"""The native functions behind PJRT's function pointers, which LLVM compiles when the first client is made.

Three kinds are needed. A *getter* copies an answer from its handle. An *error function* reads an error's block, so that
it works without Python. An *entry* calls Python: it takes the GIL, sets a pending exception aside (hosts destroy
objects while one is pending), and does nothing once the interpreter shuts down, because destructors of hosts run even
later.
"""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Callable

from xla_core.errors import XlaError
from xla_core.pjrt import abi
from xla_core.pjrt.abi_table import FUNCTIONS
from xla_core.pjrt.handles import GETTERS, SLOTS, getter_fields, keep_for_ever

_ERROR_HEADER = 24  # bytes of an error's block before its text: vtable, code, size of the text

libc = ctypes.CDLL(None)
libc.malloc.restype = ctypes.c_void_p
libc.malloc.argtypes = (ctypes.c_size_t,)
libc.free.restype, libc.free.argtypes = None, (ctypes.c_void_p,)

_PYTHON = {
    "_Py_IsFinalizing": "i32 ()",
    "PyGILState_Ensure": "i32 ()",
    "PyGILState_Release": "void (i32)",
    "PyErr_Fetch": "void (ptr, ptr, ptr)",
    "PyErr_Restore": "void (ptr, ptr, ptr)",
    "PyErr_WriteUnraisable": "void (ptr)",
    "PyErr_ExceptionMatches": "i32 (ptr)",
    "PyErr_Clear": "void ()",
    "PyErr_SetInterrupt": "void ()",
    "PyLong_FromVoidPtr": "ptr (ptr)",
    "PyLong_AsVoidPtr": "ptr (ptr)",
    "PyObject_CallFunctionObjArgs": "ptr (ptr, ...)",
    "Py_DecRef": "void (ptr)",
}
"""The functions of Python's C API that entries call."""

_WIDTHS = {1: "i8", 4: "i32", 8: "i64"}


def _python_function(name: str) -> int:
    if name == "_Py_IsFinalizing" and not hasattr(ctypes.pythonapi, name):
        name = "Py_IsFinalizing"  # its public name from Python 3.13 on
    return ctypes.cast(getattr(ctypes.pythonapi, name), ctypes.c_void_p).value or 0


def _call(name: str, *arguments: str) -> str:
    signature = _PYTHON[name]
    returned = signature.split()[0]
    kind = signature if "..." in signature else returned
    return f"call {kind} inttoptr (i64 {_python_function(name)} to ptr)({', '.join(arguments)})"


NEVER_FAIL = frozenset(
    ["Buffer_Delete", "Buffer_ReadyEvent", "Device_GetAttributes", "LoadedExecutable_GetDeviceAssignment"]
    + [name for name in FUNCTIONS if name.endswith("_Destroy")]
)
"""Functions whose error ends the process of jaxlib's host."""

_AGAIN = """  %second = {call}
  %failed_again = icmp eq ptr %second, null
  br i1 %failed_again, label %give_up, label %drop
give_up:
  {clear}
  br label %failure
drop:
  {drop}
  br label %failure"""


def _entry_ir(name: str, function: Callable[[int], int]) -> str:
    """Makes the code of a function pointer that calls Python.

    `function` catches what goes wrong, so an exception is Ctrl-C or a lack of memory. The main thread raises Ctrl-C
    when it is back in Python. The host gets the error `interrupted`, or no error from a function of NEVER_FAIL, which
    is called again.
    """
    callee = f"ptr inttoptr (i64 {id(function)} to ptr)"
    never_fails = name in NEVER_FAIL
    again = "  br label %failure"
    if never_fails:
        call = _call("PyObject_CallFunctionObjArgs", callee, "ptr %address", "ptr null")
        again = _AGAIN.format(call=call, drop=_call("Py_DecRef", "ptr %second"), clear=_call("PyErr_Clear"))
    error = "null" if never_fails else f"inttoptr (i64 {common().address('interrupted')} to ptr)"
    return f"""
define ptr @{name}(ptr %args) {{
  %kind = alloca ptr
  %value = alloca ptr
  %traceback = alloca ptr
  %finalizing = {_call("_Py_IsFinalizing")}
  %dead = icmp ne i32 %finalizing, 0
  br i1 %dead, label %nothing, label %alive
nothing:
  ret ptr null
alive:
  %gil = {_call("PyGILState_Ensure")}
  {_call("PyErr_Fetch", "ptr %kind", "ptr %value", "ptr %traceback")}
  %address = {_call("PyLong_FromVoidPtr", "ptr %args")}
  %result = {_call("PyObject_CallFunctionObjArgs", callee, "ptr %address", "ptr null")}
  %failed = icmp eq ptr %result, null
  br i1 %failed, label %raised, label %returned
raised:
  %matches = {_call("PyErr_ExceptionMatches", f"ptr inttoptr (i64 {id(KeyboardInterrupt)} to ptr)")}
  %interrupt = icmp ne i32 %matches, 0
  br i1 %interrupt, label %clear, label %report
report:
  {_call("PyErr_WriteUnraisable", callee)}
  br label %again
clear:
  {_call("PyErr_Clear")}
  br label %again
again:
{again}
failure:
  br label %done
returned:
  %pointer = {_call("PyLong_AsVoidPtr", "ptr %result")}
  {_call("Py_DecRef", "ptr %result")}
  br label %done
done:
  %answer = phi ptr [ {error}, %failure ], [ %pointer, %returned ]
  %was_interrupted = phi i1 [ %interrupt, %failure ], [ false, %returned ]
  {_call("Py_DecRef", "ptr %address")}
  %kind0 = load ptr, ptr %kind
  %value0 = load ptr, ptr %value
  %traceback0 = load ptr, ptr %traceback
  {_call("PyErr_Restore", "ptr %kind0", "ptr %value0", "ptr %traceback0")}
  br i1 %was_interrupted, label %interrupt_later, label %release
interrupt_later:
  {_call("PyErr_SetInterrupt")}
  br label %release
release:
  {_call("PyGILState_Release", "i32 %gil")}
  ret ptr %answer
}}"""


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


def _error_functions_ir() -> str:
    """Makes the functions on errors: those of the table, and those of the vtable that newer hosts call."""
    message, code = abi.STRUCTS["Error_Message_Args"], abi.STRUCTS["Error_GetCode_Args"]
    text = "INTERNAL: a call into Python was interrupted or ran out of memory"
    free = ctypes.cast(libc.free, ctypes.c_void_p).value
    return f"""
%fixed = type {{ ptr, i64, i64, [{len(text)} x i8] }}
@interrupted = global %fixed {{ ptr null, i64 13, i64 {len(text)}, [{len(text)} x i8] c"{text}" }}

define void @error_destroy(ptr %error) {{
  %fixed = icmp eq ptr %error, @interrupted
  br i1 %fixed, label %done, label %heap
heap:
  call void inttoptr (i64 {free} to ptr)(ptr %error)
  br label %done
done:
  ret void
}}
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
}}
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
        machine = llvm.Target.from_default_triple().create_target_machine(jit=True)
        self._engine = llvm.create_mcjit_compiler(llvm.parse_assembly(text), machine)
        self._engine.finalize_object()
        self._callees = callees
        _alive.append(self)

    def address(self, name: str) -> int:
        """Returns the address of a function or global variable."""
        return int(self._engine.get_function_address(name) or self._engine.get_global_value_address(name))


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
        self._interrupted = self.address("interrupted")
        ctypes.c_uint64.from_address(self._interrupted).value = ctypes.addressof(self._vtable)

    def error(self, error: BaseException) -> int:
        """Makes a PJRT_Error, which the host destroys, and returns its address."""
        code = error.code.value if isinstance(error, XlaError) else 13
        text = (str(error) if isinstance(error, XlaError) else f"{type(error).__name__}: {error}").encode(
            errors="replace"
        )
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


def compile_entries(functions: dict[str, Callable[[int], int]]) -> NativeCode:
    """Compiles function pointers that call Python, by name. Each takes a pointer and returns a PJRT_Error or null."""
    return NativeCode("\n".join(_entry_ir(name, function) for name, function in functions.items()), functions)


_alive: list[NativeCode] = keep_for_ever([])
