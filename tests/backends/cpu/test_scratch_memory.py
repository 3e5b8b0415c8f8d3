"""A kernel that gets no scratch memory ends with an error, and doesn't end the process."""

from __future__ import annotations

import subprocess
import sys

import pytest

PROGRAM = """
import resource, sys
import numpy as np
import xla_core as xla

SORT = '''HloModule m
less { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT r = pred[] compare(a, b), direction=LT }
ENTRY main { x = f32[9000000] parameter(0)  ROOT r = f32[9000000] sort(x), dimensions={0}, to_apply=less }'''
FFT = '''HloModule m
ENTRY main { x = c64[1000003] parameter(0)  ROOT r = c64[1000003] fft(x), fft_type=FFT, fft_length={1000003} }'''
text, dtype, size = (SORT, np.float32, 9000000) if sys.argv[1] == "sort" else (FFT, np.complex64, 1000003)
with xla.Client("cpu") as client:
    executable = client.compile(text)
    x = np.arange(size).astype(dtype)  # scratch memory is more than the 64 MiB that glibc reserves for a thread
    argument = client.buffer_from_host(x)
    np.asarray(executable(argument)[0])  # leaves the allocator memory for a result
    limits = resource.getrlimit(resource.RLIMIT_AS)
    used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + x.nbytes // 8, limits[1]))
    try:
        np.asarray(executable(argument)[0])
        print("fine")
    except xla.XlaError as error:
        print(error)
    resource.setrlimit(resource.RLIMIT_AS, limits)
    result = np.asarray(executable(argument)[0])
    if sys.argv[1] == "sort":
        print(bool(np.all(np.diff(result) >= 0)))
    else:
        want = np.fft.fft(x.astype(np.complex128))
        print(bool(np.linalg.norm(result - want) <= 3e-6 * np.linalg.norm(want)))
"""


@pytest.mark.slow
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="limits address space as Linux does")
@pytest.mark.parametrize("what", ["sort", "fft"])
def test_no_scratch_memory(what):
    done = subprocess.run([sys.executable, "-c", PROGRAM, what], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    first, *_, last = done.stdout.strip().splitlines()
    assert first.startswith("RESOURCE_EXHAUSTED"), done.stdout
    assert "found no memory" in first
    assert last == "True"
