"""SIGINT to a process that compiles or runs for long. Its client stays usable, and the process ends normally."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PRELUDE = """
    import sys, time
    import numpy as np
    import xla_core as xla
    ADD = "HloModule a\\nENTRY e {\\n  x = f32[] parameter(0)\\n  ROOT y = f32[] add(x, x)\\n}\\n"
    client = xla.Client(sys.argv[1])
    assert float(client.compile(ADD)(np.float32(2))[0]) == 4
"""
AFTER = """
    assert float(client.compile(ADD)(np.float32(3))[0]) == 6
    print("usable", flush=True)
"""
COMPILE = """
    lines = ["  v0 = f32[64] parameter(0)"]
    ops = ("sine", "tanh", "exponential", "negate", "abs", "logistic", "cosine")
    for i in range(1, 25000):
        op = ops[i % 7]
        lines.append(f"  a{i} = f32[64] {op}(v{i - 1})")
        lines.append(f"  v{i} = f32[64] add(a{i}, v{i * 7 // 8})")
    text = "HloModule big\\nENTRY e {\\n" + "\\n".join(lines) + "\\n  ROOT r = f32[64] copy(v24999)\\n}\\n"
    print("ready", flush=True)
    try:
        client.compile(text)
        print("compiled", flush=True)
    except KeyboardInterrupt:
        print("interrupted", time.time(), flush=True)
"""
RUN = """
    text = '''HloModule endless
    cond { s = (s32[], f32[]) parameter(0)
      x = f32[] get-tuple-element(s), index=1
      zero = f32[] constant(0)
      ROOT ge = pred[] compare(x, zero), direction=GE }
    body { s = (s32[], f32[]) parameter(0)
      i = s32[] get-tuple-element(s), index=0
      x = f32[] get-tuple-element(s), index=1
      one = s32[] constant(1)
      j = s32[] add(i, one)
      y = f32[] multiply(x, x)
      ROOT t = (s32[], f32[]) tuple(j, y) }
    ENTRY main { x = f32[] parameter(0)
      zero = s32[] constant(0)
      init = (s32[], f32[]) tuple(zero, x)
      ROOT loop = (s32[], f32[]) while(init), condition=cond, body=body }
    '''
    exe = client.compile(text)
    outs = exe(np.float32(1))
    print("ready", flush=True)
    try:
        np.asarray(outs[0])
    except KeyboardInterrupt:
        print("interrupted", time.time(), flush=True)
    exe.delete()
    try:
        np.asarray(outs[0])
    except xla.CancelledError as error:
        print("cancelled", flush=True)
"""


@pytest.mark.timeout(180)
@pytest.mark.parametrize("backend", ["cpu", "template"])
@pytest.mark.parametrize(
    ("source", "wait", "words"), [(COMPILE, 1.5, []), (RUN, 0.3, ["cancelled"])], ids=["compile", "run"]
)
def test_sigint(backend, source, wait, words):
    script = "\n".join(textwrap.dedent(part) for part in (PRELUDE, source, AFTER))
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), *(p for p in sys.path if p)])}
    process = subprocess.Popen(
        [sys.executable, "-c", script, backend],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
    )
    try:
        assert process.stdout.readline() == "ready\n"
        time.sleep(wait)
        sent = time.time()
        process.send_signal(signal.SIGINT)
        word, _, when = process.stdout.readline().partition(" ")
        assert word == "interrupted"
        assert float(when) - sent < 5, "about a tenth of a second on a machine that has nothing else to do"
        out, err = process.stdout.read(), process.stderr.read()  # communicate() would miss what readline() took ahead
        process.wait(120)
    finally:
        process.kill()
        process.wait()
    assert [*out.split()] == [*words, "usable"], err
    assert process.returncode == 0, err
    assert "Traceback" not in err


def test_interrupts_are_tested_where_sigint_is_ignored():
    """A background job of a shell ignores SIGINT; without a handler, tests that send it would hang."""
    words = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-k", "control_c"]
    words.append("tests/xla_core/backend/test_transfer_manager.py")
    ignoring = f"import os, signal; signal.signal(signal.SIGINT, signal.SIG_IGN); os.execv({words[0]!r}, {words!r})"
    done = subprocess.run([sys.executable, "-c", ignoring], cwd=ROOT, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout
    assert "1 passed" in done.stdout
