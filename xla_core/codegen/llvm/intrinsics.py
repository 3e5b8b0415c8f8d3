"""Refuses names of LLVM's intrinsics that LLVM doesn't know: it would take them for functions of another module."""

from __future__ import annotations

import functools
import re
from pathlib import Path
from typing import Any

from xla_core.checks import did_you_mean
from xla_core.errors import InternalError

_DECLARED = re.compile(r"^declare [^@\n]*@(llvm\.[\w.]+)\(", re.MULTILINE)
_TYPES = re.compile(r"(\.(nxv\d+|v\d+)?(i|f|bf|p)\d+)+$")
"""The types of an overloaded intrinsic at the end of its name: ".v4f32" of "llvm.fma.v4f32"."""

_known: set[str] = set()


def require_known_intrinsics(ir_text: str, module: Any, what: str) -> None:
    """Checks the intrinsics that LLVM IR declares.

    Args:
        ir_text: the module as text.
        module: llvmlite's module of it.
        what: names the kernels in the error.

    Raises:
        InternalError: LLVM knows no intrinsic of a name.
    """
    new = set(_DECLARED.findall(ir_text)) - _known
    if not new:
        return
    for function in module.functions:  # LLVM gives intrinsics that it knows their attributes, and replaces old ones
        name = function.name
        if name in new and not list(function.attributes) and not _is_known(name):
            raise InternalError(
                f"LLVM has no intrinsic {name}, which the IR of {what or 'a module'} calls",
                hint=did_you_mean(name, _names()) or "this is a defect of the emitter or of the target's ABI",
            )
    _known.update(new)


def _is_known(name: str) -> bool:
    return not _names() or not _names().isdisjoint((name, _TYPES.sub("", name)))


@functools.cache
def _names() -> frozenset[str]:
    """The names of all intrinsics; none where they can't be read.

    LLVM's C interface doesn't list them, but they are text in llvmlite's library, unless that loads LLVM from another.
    """
    from llvmlite.binding import ffi
    from llvmlite.utils import get_library_name

    try:
        library = Path(ffi.__file__).with_name(get_library_name()).read_bytes()
    except OSError:
        return frozenset()
    names = frozenset(found.decode() for found in re.findall(rb"llvm\.[\w.]+", library))
    return names if "llvm.fma" in names else frozenset()
