"""Objects that outlive the globals of the modules, because something keeps them until the interpreter's end."""

from __future__ import annotations

import subprocess
import sys

import pytest

_PROGRAM = """
import ctypes, sys
import numpy as np
import xla_core as xla

client = xla.Client(sys.argv[1])
executable = client.compile('''HloModule m
ENTRY e {
  x = f32[8] parameter(0)
  c = f32[8] constant({1,2,3,4,5,6,7,8})
  ROOT r = f32[8] add(x, c)
}''')
ones = np.ones(8, np.float32)
buffer = client.buffer_from_host(ones)
result, read, consumed, unused = (executable(buffer)[0] for _ in range(4))
client.synchronize()
event = client.devices[0].compute_stream.create_event()
sys._kept = [client, executable, buffer, result, np.asarray(read), event]
if sys.argv[1] == "cpu":
    aligned = np.zeros(4096, np.float32)
    aligned = aligned[-aligned.ctypes.data % 64 // 4 :][:8]
    sys._kept += [np.from_dlpack(consumed), client.buffer_from_dlpack(aligned), unused.__dlpack__()]
for name, module in sys.modules.items():
    if name.startswith("xla_"):  # the interpreter sets the globals of modules to None that something keeps
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(module))
"""


@pytest.mark.parametrize("backend", ["cpu", "gpu", "template"])
def test_objects_may_outlive_the_globals_of_modules(backend: str) -> None:
    pytest.importorskip(f"xla_backend_{backend}")
    words = [sys.executable, "-c", _PROGRAM, backend]
    done = subprocess.run(words, capture_output=True, text=True, timeout=120, check=False)
    assert (done.stderr, done.returncode) == ("", 0)
