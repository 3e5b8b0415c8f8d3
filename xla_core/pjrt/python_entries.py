"""The native functions that call Python.

An *entry* takes the GIL and sets a pending exception aside, because hosts destroy objects while one is pending.

Hosts call from threads of their own too, also while the interpreter ends. Python then ends each thread that asks for
the GIL: up to 3.13 by unwinding its stack, which ends the process at the first C++ function that may not be unwound,
such as a destructor; later versions block the thread for ever. Therefore

- nothing is destroyed from such threads after the main program, and the exit waits for calls that are under way;
- unwinding stops at an entry, which has no unwind information: the thread ends, and the host's functions don't see it.

Once the interpreter shuts down, an entry does nothing.

A host whose thread has ended in a call, such as a compilation that Ctrl-C has left behind, may wait for that thread for
ever when it is destroyed. `at_exit_with_calls_left` can prevent its destruction.
"""

from __future__ import annotations

import atexit
import ctypes
import functools
import os
import time
from collections.abc import Callable

from xla_core.pjrt.abi_table import FUNCTIONS
from xla_core.pjrt.native import NativeCode, common
from xla_core.runtime.host.exit import skip_library_teardown

_EXIT_SECONDS = 1.0

_PYTHON = {
    "_Py_IsFinalizing": "i32 ()",
    "PyGILState_GetThisThreadState": "ptr ()",
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


def _python_function(name: str) -> int:
    if name == "_Py_IsFinalizing" and not hasattr(ctypes.pythonapi, name):
        name = "Py_IsFinalizing"  # its public name from Python 3.13 on
    return ctypes.cast(getattr(ctypes.pythonapi, name), ctypes.c_void_p).value or 0


def _call(name: str, *arguments: str) -> str:
    signature = _PYTHON[name]
    returned = signature.split()[0]
    kind = signature if "..." in signature else returned
    return f"call {kind} {_pointer(_python_function(name))}({', '.join(arguments)})"


def _pointer(address: int) -> str:
    return f"inttoptr (i64 {address} to ptr)"


NEVER_FAIL = frozenset(
    ["Buffer_Delete", "Buffer_ReadyEvent", "Device_GetAttributes", "LoadedExecutable_GetDeviceAssignment"]
    + ["Buffer_DecreaseExternalReferenceCount"]
    + [name for name in FUNCTIONS if name.endswith("_Destroy")]
)
"""Functions whose error ends the process of jaxlib's host."""

_RELEASES = frozenset(name for name in NEVER_FAIL if name.endswith(("_Destroy", "_Delete", "ReferenceCount")))
"""Functions that a host's thread need not call any more when the main program has ended."""


class _HostThreads(NativeCode):
    """Counts the threads of hosts that are in entries. Such a thread has a thread state of Python only during the call.

    Attributes:
        inside: the address of their number.
        closed: the address of a word that is 1 after the main program.
        when_left: functions to call after the main program if calls are still under way.
    """

    def __init__(self) -> None:
        super().__init__("@inside = global i64 0\n@closed = global i64 0")
        self.inside, self.closed = self.address("inside"), self.address("closed")
        self.when_left: list[Callable[[], None]] = []
        atexit.register(self._close)
        os.register_at_fork(after_in_child=self._forget)

    def _forget(self) -> None:
        """Forgets the threads of the parent process, in its child."""
        ctypes.c_uint64.from_address(self.inside).value = 0

    def _close(self) -> None:
        """Waits for the calls that are under way, up to a limit, because a call may never end."""
        ctypes.c_uint64.from_address(self.closed).value = 1
        count, deadline = ctypes.c_uint64.from_address(self.inside), time.monotonic() + _EXIT_SECONDS
        while count.value and time.monotonic() < deadline:
            time.sleep(0.001)
        if count.value:
            skip_library_teardown()
            for function in self.when_left:
                function()


@functools.cache
def _host_threads() -> _HostThreads:
    return _HostThreads()


def at_exit_with_calls_left(function: Callable[[], None]) -> None:
    """Calls `function` after the main program if calls of a host's threads are under way, which will not return."""
    _host_threads().when_left.append(function)


def _entry_ir(name: str, function: Callable[[int], int]) -> str:
    """Makes the code of a function pointer that calls Python."""
    threads = _host_threads()
    inside, closed = _pointer(threads.inside), _pointer(threads.closed)
    ended = "null" if name in NEVER_FAIL else _pointer(common().address("ended"))
    look = "  br label %counted"
    if name in _RELEASES:
        look = f"""  %closed = load atomic i64, ptr {closed} seq_cst, align 8
  %is_closed = icmp ne i64 %closed, 0
  br i1 %is_closed, label %dropped, label %counted
dropped:
  %number = atomicrmw sub ptr {inside}, i64 1 seq_cst
  ret ptr null"""
    return f"""
define ptr @{name}(ptr %args) nounwind {{
  %finalizing = {_call("_Py_IsFinalizing")}
  %dead = icmp ne i32 %finalizing, 0
  br i1 %dead, label %nothing, label %alive
nothing:
  ret ptr {ended}
alive:
  %state = {_call("PyGILState_GetThisThreadState")}
  %is_of_host = icmp eq ptr %state, null
  br i1 %is_of_host, label %enter, label %known
known:
  %known_answer = call ptr @{name}.python(ptr %args)
  ret ptr %known_answer
enter:
  %before = atomicrmw add ptr {inside}, i64 1 seq_cst
{look}
counted:
  %answer = call ptr @{name}.python(ptr %args)
  %after = atomicrmw sub ptr {inside}, i64 1 seq_cst
  ret ptr %answer
}}{_python_call_ir(name, function)}"""


_AGAIN = """  %second = {call}
  %failed_again = icmp eq ptr %second, null
  br i1 %failed_again, label %give_up, label %drop
give_up:
  {clear}
  br label %failure
drop:
  {drop}
  br label %failure"""


def _python_call_ir(name: str, function: Callable[[int], int]) -> str:
    """Makes the code that takes the GIL and calls `function`.

    `function` catches all errors, so an exception is Ctrl-C or a lack of memory. The main thread raises Ctrl-C when it
    is back in Python. The host gets the error `interrupted`, or no error from a function of NEVER_FAIL, which is called
    again.
    """
    callee = f"ptr {_pointer(id(function))}"
    never_fails = name in NEVER_FAIL
    again = "  br label %failure"
    if never_fails:
        call = _call("PyObject_CallFunctionObjArgs", callee, "ptr %address", "ptr null")
        again = _AGAIN.format(call=call, drop=_call("Py_DecRef", "ptr %second"), clear=_call("PyErr_Clear"))
    error = "null" if never_fails else _pointer(common().address("interrupted"))
    return f"""
define internal ptr @{name}.python(ptr %args) nounwind {{
  %kind = alloca ptr
  %value = alloca ptr
  %traceback = alloca ptr
  %gil = {_call("PyGILState_Ensure")}
  {_call("PyErr_Fetch", "ptr %kind", "ptr %value", "ptr %traceback")}
  %address = {_call("PyLong_FromVoidPtr", "ptr %args")}
  %result = {_call("PyObject_CallFunctionObjArgs", callee, "ptr %address", "ptr null")}
  %failed = icmp eq ptr %result, null
  br i1 %failed, label %raised, label %returned
raised:
  %matches = {_call("PyErr_ExceptionMatches", f"ptr {_pointer(id(KeyboardInterrupt))}")}
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


def compile_entries(functions: dict[str, Callable[[int], int]]) -> NativeCode:
    """Compiles function pointers that call Python, by name. Each takes a pointer and returns a PJRT_Error or null."""
    return NativeCode("\n".join(_entry_ir(name, function) for name, function in functions.items()), functions)
