"""Makes a shared library with `GetPjrtApi` for hosts of PJRT that are not Python programs.

The library is one function of LLVM IR, linked by a linker alone. It finds CPython in the process, or loads it, and asks
this package for the table of functions.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path
from string import Template

from xla_core.errors import FailedPreconditionError, InternalError
from xla_core.pjrt.jax_plugin import platform_name

_LINKERS = ("ld.lld", "ld", "ld.gold", "cc", "clang", "gcc")


def build_library(backend: str, output: Path) -> None:
    """Writes the shared library of a backend. It works with this Python and the packages that it imports now.

    Raises:
        FailedPreconditionError: where this Python has no shared library, or no linker is installed.
    """
    import llvmlite.binding as llvm

    linker = next(filter(None, map(shutil.which, _LINKERS)), None)
    if linker is None:
        raise FailedPreconditionError(
            "no linker is installed", hint=f"install one of {', '.join(_LINKERS)}: binutils has ld"
        )
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    target = llvm.Target.from_default_triple()
    machine = target.create_target_machine(reloc="pic", codemodel="default")
    code = machine.emit_object(llvm.parse_assembly(library_ir(backend, _python_library())))
    with tempfile.TemporaryDirectory() as folder:
        object_file = Path(folder) / "library.o"
        object_file.write_bytes(code)
        command = [linker, "-shared", str(object_file), "-o", str(output)]
        done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise InternalError(f"{' '.join(command)} failed: {done.stderr.strip()}")


def _python_library() -> Path:
    folder, name = sysconfig.get_config_var("LIBDIR"), sysconfig.get_config_var("INSTSONAME")
    path = Path(str(folder)) / str(name)
    if not sysconfig.get_config_var("Py_ENABLE_SHARED") or not path.exists():
        raise FailedPreconditionError(
            f"{sys.executable} has no shared library of Python ({name})",
            hint="use a Python that was configured with --enable-shared, such as a distribution's own",
        )
    return path


def library_ir(backend: str, library: Path) -> str:
    """Returns the library's functions. `GetPjrtApi` returns null if Python or the backend can't be loaded.

    Python prints the reason on stderr.
    """
    entries = [entry for entry in sys.path if entry]
    program = (
        "\n".join(
            [
                "import sys",
                f"sys.path[:] = [*sys.path, *(p for p in {json.dumps(entries)} if p not in sys.path)]",
                "import ctypes",
                "from xla_core.pjrt.api import make_api",
                f"ctypes.c_size_t.from_address(%zu).value = make_api({json.dumps(backend)}, "
                f"{json.dumps(platform_name(backend))})",
            ]
        )
        .replace("%zu", "\0")
        .replace("%", "%%")
        .replace("\0", "%zu")
    )
    texts = {
        "library": str(library),
        "home": sys.base_prefix,
        "home_variable": "PYTHONHOME",
        "program": program + "\n",
        **{name: name for name in _FUNCTIONS},
    }
    template = Template(Path(__file__).with_name("get_pjrt_api.ll").read_text())
    definitions = "\n".join(_text(name, text) for name, text in texts.items())
    return template.substitute(texts=definitions, size=len(program) + 64)


_FUNCTIONS = (
    "Py_IsInitialized",
    "Py_InitializeEx",
    "PyGILState_Ensure",
    "PyGILState_Release",
    "PyRun_SimpleString",
    "PyEval_SaveThread",
    "PyGILState_Check",
    "PyEval_RestoreThread",
)


def _text(name: str, text: str) -> str:
    data = text.encode() + b"\0"
    escaped = "".join(chr(b) if 32 <= b < 127 and b not in b'"\\' else f"\\{b:02X}" for b in data)
    return f'@text.{name} = private constant [{len(data)} x i8] c"{escaped}"'
