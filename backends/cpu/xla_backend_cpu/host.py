"""Properties of the host processor, and LLVM's linker in the process."""

from __future__ import annotations

import functools
import itertools
import os
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from xla_core.errors import InternalError, UnavailableError

__all__ = [
    "architecture",
    "host_cpu",
    "host_feature_names",
    "host_features",
    "host_triple",
    "link_objects",
    "locked",
    "once",
]

_lock = threading.RLock()  # guards LLVM's linker and the results of `once`
_counter = itertools.count()


T = TypeVar("T")


def once(make: Callable[[], T]) -> Callable[[], T]:
    """Wraps `make` so that it is called once, at first use. Other threads wait for that call and get its result."""
    made: list[T] = []

    @functools.wraps(make)
    def get() -> T:
        if not made:
            with _lock:
                if not made:
                    made.append(make())
        return made[0]

    return get


def locked() -> threading.RLock:
    """The lock of the process's native code: its linker and its runtime."""
    return _lock


def _after_fork() -> None:
    """Replaces the lock in a child process, because a thread of the parent may have held it at the fork."""
    global _lock
    _lock = threading.RLock()


os.register_at_fork(after_in_child=_after_fork)


@functools.cache
def host_cpu() -> str:
    """LLVM's name of the host processor ("znver4", "skylake-avx512")."""
    binding = _binding()
    name: str = binding.get_host_cpu_name()
    return name


@functools.cache
def host_triple() -> str:
    """LLVM's target triple of the process."""
    triple: str = _binding().get_process_triple()
    return triple


def architecture(triple: str) -> str:
    """The architecture that a target triple names, in LLVM's spelling."""
    name = triple.partition("-")[0]
    return {"amd64": "x86_64", "arm64": "aarch64"}.get(name, name)


@functools.cache
def host_features() -> frozenset[str]:
    """LLVM's names of the features that the host processor and the operating system support."""
    return frozenset(name for name, present in _feature_flags().items() if present)


@functools.cache
def host_feature_names() -> frozenset[str]:
    """LLVM's names of all features that a processor of the host's architecture may have."""
    return frozenset(_feature_flags())


@functools.cache
def _feature_flags() -> dict[str, bool]:
    return dict(_binding().get_host_cpu_features())


@once
def _binding() -> Any:
    try:
        import llvmlite.binding  # imported only when a device is opened, because the import is slow
    except OSError as error:
        raise UnavailableError(
            f"LLVM's library cannot be loaded: {error}",
            hint="it takes 200 MB of address space: see `ulimit -v`; else reinstall llvmlite",
        ) from error
    llvmlite.binding.initialize_native_target()
    llvmlite.binding.initialize_native_asmprinter()
    return llvmlite.binding


@once
def _linker() -> Any:
    binding = _binding()
    machine = binding.Target.from_default_triple().create_target_machine(
        cpu=host_cpu(), features=_binding().get_host_cpu_features().flatten(), opt=3, codemodel="large", reloc="static"
    )
    return binding.create_lljit_compiler(machine)


def link_objects(objects: Sequence[bytes], exports: Sequence[str], imports: Mapping[str, int]) -> Any:
    """Links object files into the process; returns LLVM's tracker, by which the addresses of `exports` are found.

    `imports` gives the addresses of the symbols that the object files use and don't define. LLVM keeps an empty library
    of about 9 kB for each call until the process ends: llvmlite has no call that removes it.

    Raises:
        InternalError: LLVM could not link them.
    """
    with _lock:
        builder = _binding().JITLibraryBuilder()
        for code in objects:
            builder.add_object_img(code)
        for name, address in imports.items():
            builder.import_symbol(name, address)
        builder.add_current_process()
        for name in exports:
            builder.export_symbol(name)
        try:
            return builder.link(_linker(), f"program{next(_counter)}")
        except RuntimeError as error:
            raise InternalError(
                f"the program could not be linked: {str(error)[:200]}",
                hint="LLVM's own message, on stderr, names what is missing; this is a defect of the backend",
            ) from error
