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
        **{name: name for name in (*_FUNCTIONS, *_WAIT_FUNCTIONS)},
    }
    size = len(program) + 64
    finds = "\n".join(
        f"  %{name} = call ptr @dlsym(ptr %python, ptr @text.{name})" for name in _FUNCTIONS if name != _IS_INITIALIZED
    )
    return f"""
{chr(10).join(_text(name, text) for name, text in texts.items())}
@api = internal global i64 0
@state = internal global i32 0

declare ptr @dlopen(ptr, i32)
declare ptr @dlsym(ptr, ptr)
declare i32 @setenv(ptr, ptr, i32)
declare i32 @unsetenv(ptr)
declare ptr @getenv(ptr)
declare i32 @snprintf(ptr, i64, ptr, ...)
declare i32 @sched_yield()

define ptr @GetPjrtApi() {{
  br label %try
try:
  %seen = cmpxchg ptr @state, i32 0, i32 1 acq_rel acquire
  %mine = extractvalue {{ i32, i1 }} %seen, 1
  br i1 %mine, label %load_python, label %another
another:
  %state = extractvalue {{ i32, i1 }} %seen, 0
  %is_done = icmp eq i32 %state, 2
  br i1 %is_done, label %done, label %wait
wait:  ; the thread that loads Python needs the GIL, which this one may hold
  %is_running = call ptr @dlsym(ptr null, ptr @text.{_IS_INITIALIZED})
  %is_loaded = icmp ne ptr %is_running, null
  br i1 %is_loaded, label %ask, label %yield
ask:
  %running = call i32 %is_running()
  %has_gil = icmp ne i32 %running, 0
  br i1 %has_gil, label %look, label %yield
look:
  %check = call ptr @dlsym(ptr null, ptr @text.PyGILState_Check)
  %held_here = call i32 %check()
  %holds = icmp ne i32 %held_here, 0
  br i1 %holds, label %give, label %yield
give:
  %save = call ptr @dlsym(ptr null, ptr @text.PyEval_SaveThread)
  %restore_thread = call ptr @dlsym(ptr null, ptr @text.PyEval_RestoreThread)
  %own = call ptr %save()
  %gave = call i32 @sched_yield()
  call void %restore_thread(ptr %own)
  br label %try
yield:
  %yielded = call i32 @sched_yield()
  br label %try

load_python:
  %here = call ptr @dlsym(ptr null, ptr @text.{_IS_INITIALIZED})
  %is_here = icmp ne ptr %here, null
  br i1 %is_here, label %loaded, label %open
open:
  %opened = call ptr @dlopen(ptr @text.library, i32 258)
  %is_open = icmp ne ptr %opened, null
  br i1 %is_open, label %loaded, label %finish
loaded:
  %python = phi ptr [ null, %load_python ], [ %opened, %open ]
  %{_IS_INITIALIZED} = call ptr @dlsym(ptr %python, ptr @text.{_IS_INITIALIZED})
{finds}
  %initialized = call i32 %{_IS_INITIALIZED}()
  %runs = icmp ne i32 %initialized, 0
  br i1 %runs, label %enter, label %start
start:
  %given = call ptr @getenv(ptr @text.home_variable)
  %set = call i32 @setenv(ptr @text.home_variable, ptr @text.home, i32 1)
  call void %Py_InitializeEx(i32 0)
  %unset = call i32 @unsetenv(ptr @text.home_variable)
  %is_given = icmp ne ptr %given, null
  br i1 %is_given, label %restore, label %run
restore:
  %back = call i32 @setenv(ptr @text.home_variable, ptr %given, i32 1)
  br label %run
enter:
  %gil = call i32 %PyGILState_Ensure()
  br label %run
run:
  %held = phi i32 [ -1, %start ], [ -1, %restore ], [ %gil, %enter ]
  %text = alloca i8, i64 {size}
  %slot = ptrtoint ptr @api to i64
  %written = call i32 (ptr, i64, ptr, ...) @snprintf(ptr %text, i64 {size}, ptr @text.program, i64 %slot)
  %status = call i32 %PyRun_SimpleString(ptr %text)
  %was_started = icmp eq i32 %held, -1
  br i1 %was_started, label %release, label %leave
release:
  %thread = call ptr %PyEval_SaveThread()
  br label %finish
leave:
  call void %PyGILState_Release(i32 %held)
  br label %finish
finish:
  store atomic i32 2, ptr @state release, align 4
  br label %done
done:
  %address = load i64, ptr @api
  %table = inttoptr i64 %address to ptr
  ret ptr %table
}}
"""


_IS_INITIALIZED = "Py_IsInitialized"
_FUNCTIONS = (
    _IS_INITIALIZED,
    "Py_InitializeEx",
    "PyGILState_Ensure",
    "PyGILState_Release",
    "PyRun_SimpleString",
    "PyEval_SaveThread",
)
_WAIT_FUNCTIONS = ("PyGILState_Check", "PyEval_RestoreThread")


def _text(name: str, text: str) -> str:
    data = text.encode() + b"\0"
    escaped = "".join(chr(b) if 32 <= b < 127 and b not in b'"\\' else f"\\{b:02X}" for b in data)
    return f'@text.{name} = private constant [{len(data)} x i8] c"{escaped}"'
