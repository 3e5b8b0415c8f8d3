"""Links object files into this process, by LLVM's JIT linker. Several threads may link at once.

A fork waits until no other thread compiles or links. That thread doesn't exist in the child, where its locks would stay
taken, so that the child could not compile.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import itertools
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

from xla_core.errors import InternalError
from xla_core.interruptible import hold_at_fork

llvm_initialization = threading.RLock()
"""Is held while LLVM is imported and initialized; a fork waits for it."""

_lock = threading.RLock()  # llvmlite's linker is for one thread at a time; a signal handler may fork meanwhile
_numbers = itertools.count()


class LinkedCode:
    """Machine code in this process's memory, which stays there as long as this object lives.

    Args:
        owner: an object that keeps the code in memory.

    Attributes:
        addresses: the address of each exported symbol.
    """

    def __init__(self, owner: object, addresses: Mapping[str, int]) -> None:
        self._owner = owner
        self.addresses = addresses

    def function(self, name: str, result: Any, *arguments: Any) -> Callable[..., Any]:
        """Returns a ctypes function, which keeps the code in memory and releases the GIL while it runs.

        Args:
            name: an exported symbol.
            result, arguments: ctypes types; None for a function without a result.
        """
        function: Any = ctypes.CFUNCTYPE(result, *arguments)(self.addresses[name])
        function.code = self
        return cast(Callable[..., Any], function)


@functools.cache
def _linker() -> Any:
    import llvmlite.binding as llvm

    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    machine = llvm.Target.from_default_triple().create_target_machine(
        cpu=llvm.get_host_cpu_name(),
        features=llvm.get_host_cpu_features().flatten(),
        codemodel="large",  # the code may call functions that are more than 2 GiB away
        reloc="static",
    )
    return llvm.create_lljit_compiler(machine)


def link_objects(
    objects: Sequence[bytes], exports: Sequence[str], imports: Mapping[str, int] | None = None
) -> LinkedCode:
    """Links relocatable object files of the host's format (`CompiledModule.object`) into the process.

    A process that compiles many programs saves memory by this: LLVM's MCJIT engine keeps the IR of each, about 1 MB.
    LLVM keeps an empty library of about 9 kB for each call until the process ends, because llvmlite has no call that
    removes it.

    Args:
        objects: the contents of the object files.
        exports: the symbols whose addresses are wanted.
        imports: the addresses of symbols that the object files use and don't define. Other symbols are looked up in the
            libraries of the process.

    Raises:
        InternalError: LLVM could not link them.
    """
    import llvmlite.binding as llvm

    with _lock:
        builder = llvm.JITLibraryBuilder()
        for code in objects:
            builder.add_object_img(code)
        for name, address in (imports or {}).items():
            builder.import_symbol(name, address)
        builder.add_current_process()
        for name in exports:
            builder.export_symbol(name)
        try:
            tracker = builder.link(_linker(), f"objects{next(_numbers)}")
        except RuntimeError as error:
            raise InternalError(
                f"the object code could not be linked: {str(error)[:200]}",
                hint="LLVM's own message, on stderr, names the missing symbol; this is a defect of the code generator",
            ) from error
        return LinkedCode(tracker, {name: int(tracker[name]) for name in exports})


def _llvm_lock() -> Any:
    """Returns llvmlite's own lock, which every call of LLVM holds, as a context manager."""
    ffi = sys.modules.get("llvmlite.binding.ffi")
    return getattr(getattr(ffi, "lib", None), "_lock", None) or contextlib.nullcontext()


class _Locks:
    """All locks of LLVM, as one."""

    def __init__(self) -> None:
        self._held = contextlib.ExitStack()

    def acquire(self) -> None:
        with contextlib.ExitStack() as held:  # Ctrl-C may interrupt it: Python prints it, and forks without the locks
            held.enter_context(llvm_initialization)
            held.enter_context(_lock)
            held.enter_context(_llvm_lock())
            self._held = held.pop_all()

    def release(self) -> None:
        self._held.close()


hold_at_fork(_Locks())
