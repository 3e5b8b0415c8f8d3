"""Compiles the handlers of the tests."""

from __future__ import annotations

import importlib.util
import shutil
import subprocess
from pathlib import Path

from tests.xla_core.c_declarations import structures
from tests.xla_core.c_layout import C_COMPILER
from xla_core.ffi.structures import STRUCTS, Api

_FOLDER = Path(__file__).parent
_CPP_COMPILER = shutil.which("c++") or shutil.which("g++") or shutil.which("clang++") or ""
_jaxlib = importlib.util.find_spec("jaxlib")
HEADERS = Path((_jaxlib.submodule_search_locations or [""])[0] if _jaxlib else "", "include")
WHY_NO_C = "" if C_COMPILER else "no C compiler is installed"
WHY_NO_CPP = (
    "jaxlib, which has XLA's headers, is not installed"
    if not _jaxlib
    else ""
    if _CPP_COMPILER
    else "no C++ compiler is installed"
)


def build_c(folder: Path) -> Path:
    """Compiles handlers.c with declarations from our table, and returns the library."""
    header = structures(STRUCTS) + f"\n#define API_FUNCTIONS {Api.Error_Create.offset}\n"
    (folder / "declarations.h").write_text(header)
    return _build([C_COMPILER, "-I", str(folder)], "handlers.c", folder / "libc_handlers.so")


def build_cpp(folder: Path) -> Path:
    """Compiles handlers.cc with XLA's headers, and returns the library."""
    return _build([_CPP_COMPILER, "-std=c++17", "-I", str(HEADERS)], "handlers.cc", folder / "libcpp_handlers.so")


def _build(command: list[str], source: str, library: Path) -> Path:
    flags = ["-w", "-shared", "-fPIC", "-pthread", "-o", str(library)]
    subprocess.run([*command, *flags, str(_FOLDER / source)], check=True)
    return library
