"""Threads of a host that call PJRT while the interpreter ends.

Up to Python 3.13, a thread that asks for the GIL then is ended by unwinding its stack. A C++ function that may not be
unwound, such as a destructor, ends the process.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

_compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
pytestmark = pytest.mark.skipif(_compiler is None, reason="there is no C compiler")

_HOST = """
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static void *(*function)(void *);

static void end(int *has_returned) {
  if (*has_returned) return;
  fprintf(stderr, "the stack of a host's thread was unwound\\n");
  abort();
}

static void call(void) {
  int has_returned __attribute__((cleanup(end))) = 0;
  function(NULL);
  has_returned = 1;
}

static void *call_for_ever(void *unused) {
  for (;;) call();
}

void start(void *(*f)(void *), int threads) {
  function = f;
  for (pthread_t thread; threads > 0; --threads) pthread_create(&thread, NULL, call_for_ever, NULL);
}
"""


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Path:
    assert _compiler is not None
    folder = tmp_path_factory.mktemp("host")
    (folder / "host.c").write_text(_HOST)
    library = folder / "host.so"
    flags = ["-shared", "-fPIC", "-fexceptions", "-pthread"]
    subprocess.run([_compiler, *flags, str(folder / "host.c"), "-o", str(library)], check=True)
    return library


@pytest.mark.parametrize("name", ["Buffer_Destroy", "Buffer_CopyToMemory"])
@pytest.mark.parametrize("body", ["pass", "time.sleep(0.001)"])
def test_they_are_not_unwound(host: Path, name: str, body: str) -> None:
    program = f"""
        import ctypes, time
        from xla_core.pjrt.python_entries import compile_entries

        def function(address):
            {body}
            return 0

        entry = compile_entries({{"{name}": function}}).address("{name}")
        ctypes.CDLL({str(host)!r}).start(ctypes.c_void_p(entry), 4)
        time.sleep(0.1)
        """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)], capture_output=True, text=True, timeout=100, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_the_exit_does_not_wait_for_ever(host: Path) -> None:
    test_they_are_not_unwound(host, "Buffer_Destroy", "time.sleep(1000)")
