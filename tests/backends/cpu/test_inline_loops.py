"""Loops of unknown length: a caller that waits for each result runs them itself, for a limited time by estimate."""

from __future__ import annotations

import math
import re
from collections.abc import Callable

import numpy as np
import pytest

import xla_core as xla
from xla_core.runtime import HostStream


def _count_up(step: str) -> str:
    """A program that adds `step` to a number until it is at least its argument."""
    return f"""HloModule count
condition {{
  s = (s32[], s32[]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  n = s32[] get-tuple-element(s), index=1
  ROOT less = pred[] compare(i, n), direction=LT
}}
body {{
  s = (s32[], s32[]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  n = s32[] get-tuple-element(s), index=1
  step = s32[] {step}
  next = s32[] add(i, step)
  ROOT t = (s32[], s32[]) tuple(next, n)
}}
ENTRY main {{
  zero = s32[] constant(0)
  n = s32[] parameter(0)
  t = (s32[], s32[]) tuple(zero, n)
  w = (s32[], s32[]) while(t), condition=condition, body=body
  ROOT i = s32[] get-tuple-element(w), index=0
}}"""


def _wait_for_results(executable: xla.LoadedExecutable, argument: np.ndarray) -> list[int]:
    """Runs a program until its caller certainly runs it itself, and on, with short and long runs in turns."""
    return [int(np.asarray(executable(argument if i % 5 == 4 else np.int32(3))[0])) for i in range(200)]


def test_a_loop_of_unknown_length_runs_on_where_its_caller_gave_up(client):
    executable = client.compile(_count_up("constant(1)"))
    assert _wait_for_results(executable, np.int32(10**6)) == [3, 3, 3, 3, 10**6] * 40


def test_an_endless_loop_does_not_block_a_caller_that_waited_for_short_ones(client):
    executable = client.compile(_count_up("get-tuple-element(s), index=1"))
    for argument in range(1, 100):
        executable(np.int32(argument))[0].block_until_ready()
    endless = client.compile(_count_up("constant(0)"))
    (result,) = endless(np.int32(1))
    assert not result.is_ready()
    endless.delete()
    with pytest.raises(xla.XlaError, match="cancelled"):
        result.block_until_ready()


NESTED = """HloModule nested
condition {
  s = (s32[], s32[], f32[16000]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  n = s32[] get-tuple-element(s), index=1
  ROOT less = pred[] compare(i, n), direction=LT
}
inner {
  s = (s32[], s32[], f32[16000]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  n = s32[] get-tuple-element(s), index=1
  x = f32[16000] get-tuple-element(s), index=2
  next = s32[] add(i, n)
  ROOT t = (s32[], s32[], f32[16000]) tuple(next, n, x)
}
outer {
  s = (s32[], s32[], f32[16000]) parameter(0)
  t = (s32[], s32[], f32[16000]) while(s), condition=condition, body=inner
  i = s32[] get-tuple-element(t), index=0
  n = s32[] get-tuple-element(t), index=1
  x = f32[16000] get-tuple-element(t), index=2
  y = f32[16000] sine(x)
  ROOT u = (s32[], s32[], f32[16000]) tuple(i, n, y)
}
ENTRY main {
  s = (s32[], s32[], f32[16000]) parameter(0)
  ROOT w = (s32[], s32[], f32[16000]) while(s), condition=condition, body=outer
}"""


def test_an_iteration_takes_the_time_of_all_its_kernels_but_those_of_loops_in_it(client) -> None:
    ir = str(client.compile(NESTED, xla.CompileOptions(keep_artifacts=True)).artifacts()["llvm-unoptimized"])
    callers = [function for function in ir.split("\ndefine ")[1:] if "@kernel" not in function.split("(")[0]]
    taken = sorted(int(n) for f in callers for n in re.findall(r"= sub i64 %\w+, (\d+)", f))
    assert len(taken) == 2
    assert 0 < taken[0] < 1000 < 4000 < taken[1]


@pytest.fixture
def is_offered(client, monkeypatch: pytest.MonkeyPatch) -> Callable[..., bool]:
    """Runs a program; returns whether its caller may run it."""
    enqueue = HostStream.enqueue

    def offered(text: str, *arguments: np.ndarray) -> bool:
        seen: list[bool] = []

        def record(stream, work, microseconds=math.inf, name="", attempt=None) -> None:
            seen.append(attempt is not None)
            enqueue(stream, work, microseconds, name, attempt)

        executable = client.compile(text)
        with monkeypatch.context() as patch:
            patch.setattr(HostStream, "enqueue", record)
            executable(*arguments)[0].block_until_ready()
        return any(seen)

    return offered


@pytest.mark.parametrize(("size", "is_short"), [(100, True), (1_000_000, False)])
def test_the_work_beside_the_loop_must_be_short(is_offered, size: int, is_short: bool) -> None:
    text = _count_up("constant(1)").replace("  ROOT i = ", "  i = ").removesuffix("}")
    text += f"""  x = f32[{size}] parameter(1)
  y = f32[{size}] sine(x)
  ROOT r = (s32[], f32[{size}]) tuple(i, y)
}}"""
    assert is_offered(text, np.int32(3), np.ones(size, np.float32)) == is_short
