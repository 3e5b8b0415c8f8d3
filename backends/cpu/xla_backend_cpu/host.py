"""Properties of the host processor, as LLVM names them."""

from __future__ import annotations

import functools
import os
import threading
from collections.abc import Callable
from typing import Any, TypeVar

from xla_core.errors import UnavailableError

_lock = threading.RLock()  # guards the native runtime and the results of `once`

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
    """The lock of the native runtime."""
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
