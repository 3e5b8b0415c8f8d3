"""Checks that LLVM will find memory, because LLVM ends the process where it finds none."""

from __future__ import annotations

import mmap
import sys

from xla_core.errors import ResourceExhaustedError


def require_address_space(size: int, what: str) -> None:
    """Raises ResourceExhaustedError, which names `what`, where `has_address_space(size)` is false."""
    if not has_address_space(size):
        raise ResourceExhaustedError(
            f"{what or 'a module'} can't be compiled: LLVM needs about {size >> 20} MiB of address space, which the "
            "process's limit doesn't leave",
            hint="raise the limit on address space (ulimit -v), or compile the program in smaller parts",
        )


def has_address_space(size: int) -> bool:
    """Whether a limit on the process's address space leaves `size` bytes.

    It is true without such a limit (`ulimit -v`): the system then grants address space beyond its memory.
    """
    if sys.platform == "win32":
        return True
    import resource  # which only POSIX has

    if resource.getrlimit(resource.RLIMIT_AS)[0] == resource.RLIM_INFINITY:
        return True
    try:
        mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE, prot=mmap.PROT_READ).close()
    except (OSError, MemoryError):
        return False
    return True
