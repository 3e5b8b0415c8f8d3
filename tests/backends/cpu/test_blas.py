"""OpenBLAS without enough address space."""

from __future__ import annotations

import subprocess
import sys

import pytest

PROGRAM = """
import resource
import numpy as np
import xla_core as xla

client = xla.Client("cpu")
DOT = '''HloModule dot
ENTRY main {
  a = c64[64,64] parameter(0)
  ROOT c = c64[64,64] dot(a, a), lhs_contracting_dims={1}, rhs_contracting_dims={0}
}'''
np.asarray(client.compile("HloModule one\\nENTRY main { x = f32[4] parameter(0)  ROOT r = f32[4] add(x, x) }")(np.ones(4, np.float32))[0])
limits = resource.getrlimit(resource.RLIMIT_AS)
used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + (48 << 20), limits[1]))
a = np.eye(64, dtype=np.complex64)
try:
    np.asarray(client.compile(DOT)(a)[0])
    print("fine")
except xla.XlaError as error:
    print(error)
resource.setrlimit(resource.RLIMIT_AS, limits)
print(bool(np.array_equal(np.asarray(client.compile(DOT)(a)[0]), a)))
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="limits address space as Linux does")
def test_no_address_space_is_an_error_and_no_exit():
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert "RESOURCE_EXHAUSTED" in done.stdout
    assert "OpenBLAS" in done.stdout
    assert done.stdout.strip().splitlines()[-1] == "True"
