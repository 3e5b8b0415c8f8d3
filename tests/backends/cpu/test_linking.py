"""Machine code is linked at any distance between its parts in memory."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

FAR_APART = """
import ctypes
import numpy as np
import xla_core as xla

libc = ctypes.CDLL(None)
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
libc.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]

def reserve(size):
    return libc.mmap(None, size, 0, 0x4022, -1, 0)

ops = ["exponential", "log", "sine", "tanh", "cosine", "logistic"] * 3
lines = "".join(f"  v{i + 1} = f32[33] {op}(v{i})\\n" for i, op in enumerate(ops))
text = f"HloModule far\\nENTRY main {{\\n  v0 = f32[33] parameter(0)\\n{lines}  ROOT r = f32[33] negate(v{len(ops)})\\n}}\\n"
client = xla.Client("cpu")
client.compile(text)
# Gaps of one page are left here and there; what is larger must go below 4 GiB of reserved addresses.
pages = [reserve(8192) for _ in range(40000)]
reserve(4 << 30)
reserve_after = [reserve(8192) for _ in range(1000)]
for page in pages[-2000::2]:
    libc.munmap(page, 8192)
x = np.linspace(0.5, 1, 33, dtype=np.float32)
(got,) = client.compile(text)(x)
(want,) = xla.evaluate(xla.parse(text), x)
np.testing.assert_allclose(np.asarray(got), want, rtol=1e-5)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="lays out addresses as Linux does")
def test_code_and_its_constants_may_lie_far_apart() -> None:
    done = subprocess.run([sys.executable, "-c", FAR_APART], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr[-2000:]


LITTLE_ADDRESS_SPACE = """
import resource
import xla_core as xla
resource.setrlimit(resource.RLIMIT_AS, (300 << 20, 300 << 20))
try:
    xla.Client("cpu")
except xla.XlaError as error:
    print(error)
"""


def test_too_little_address_space_for_llvm_is_an_error() -> None:
    done = subprocess.run(
        [sys.executable, "-c", LITTLE_ADDRESS_SPACE],
        capture_output=True,
        text=True,
        env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},  # numpy's
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "UNAVAILABLE" in done.stdout
    assert "LLVM's library cannot be loaded" in done.stdout
    assert "ulimit -v" in done.stdout


LITTLE_IS_LEFT = """
import resource
import numpy as np
import xla_core as xla
client = xla.Client("cpu")
program = "HloModule m ENTRY e { x = f32[9] parameter(0) ROOT y = f32[9] OP(x) }"
x = np.ones(9, np.float32)
client.compile(program.replace("OP", "negate"))(x)
with open("/proc/self/status") as status:
    used = next(int(line.split()[1]) * 1024 for line in status if line.startswith("VmSize"))
_, most = resource.getrlimit(resource.RLIMIT_AS)
resource.setrlimit(resource.RLIMIT_AS, (used + (20 << 20), most))
try:
    client.compile(program.replace("OP", "sine"))
except xla.XlaError as error:
    print(error)
resource.setrlimit(resource.RLIMIT_AS, (most, most))
print(np.asarray(client.compile(program.replace("OP", "sine"))(x)[0]).shape)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="limits of address space are Linux's")
def test_too_little_address_space_to_compile_is_an_error_and_the_client_goes_on() -> None:
    done = subprocess.run([sys.executable, "-c", LITTLE_IS_LEFT], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "RESOURCE_EXHAUSTED: " in done.stdout
    assert "ulimit -v" in done.stdout
    assert done.stdout.endswith("(9,)\n")
