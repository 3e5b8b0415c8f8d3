"""The work of the pipeline grows linearly with the program. Work is counted in Python calls, which no load changes."""

from __future__ import annotations

import sys
from collections.abc import Callable

import pytest

from xla_core.hlo.parsing.parser import parse_hlo
from xla_core.passes import run_hlo_passes
from xla_core.target import Capabilities, TargetConfig

TARGET = TargetConfig(name="any", capabilities=Capabilities.all_of())


def chain(n: int) -> str:
    lines = [f"a{i + 1} = f32[64] {('add', 'multiply')[i % 2]}(a{i}, b)" for i in range(n)]
    return (
        "a0 = f32[64] parameter(0)\nb = f32[64] parameter(1)\n" + "\n".join(lines) + f"\nROOT r = f32[64] negate(a{n})"
    )


def sines(n: int) -> str:
    lines = [f"a{i + 1} = f32[64] sine(a{i})" for i in range(n)]
    return "a0 = f32[64] parameter(0)\n" + "\n".join(lines) + f"\nROOT r = f32[64] negate(a{n})"


def results(n: int) -> str:
    shapes, names = ", ".join(["f32[8]"] * n), ", ".join(["a"] * n)
    return f"x = f32[8] parameter(0)\na = f32[8] add(x, x)\nROOT r = ({shapes}) tuple({names})"


def concatenated(n: int) -> str:
    lines = ["x = f32[4] parameter(0)"]
    for i in range(n):
        lines += [f"k{i} = f32[] constant({i}.5)", f"s{i} = f32[4] broadcast(k{i}), dimensions={{}}"]
        lines.append(f"m{i} = f32[4] multiply(x, s{i})")
    operands = ", ".join(f"m{i}" for i in range(n))
    return "\n".join([*lines, f"ROOT r = f32[{4 * n}] concatenate({operands}), dimensions={{0}}"])


def nested(n: int) -> str:
    text, inner = "", ""
    for d in range(n):
        body = f"w = (s32[], f32[4]) while(t), condition=c{d - 1}, body=b{d - 1}" if d else ""
        result = "w" if d else "t"
        inner += f"""c{d} {{
  t = (s32[], f32[4]) parameter(0)
  i = s32[] get-tuple-element(t), index=0
  k = s32[] constant({d + 3})
  ROOT r = pred[] compare(i, k), direction=LT
}}
b{d} {{
  t = (s32[], f32[4]) parameter(0)
  {body}
  x = f32[4] get-tuple-element({result}), index=1
  y = f32[4] sine(x)
  i = s32[] get-tuple-element(t), index=0
  one = s32[] constant(1)
  j = s32[] add(i, one)
  ROOT r = (s32[], f32[4]) tuple(j, y)
}}
"""
        text = f"s = (s32[], f32[4]) parameter(0)\nROOT w = (s32[], f32[4]) while(s), condition=c{d}, body=b{d}"
    return f"{inner}|{text}"


def _calls(text: str) -> int:
    before, _, entry = text.rpartition("|")
    module = parse_hlo(f"HloModule m\n{before}\nENTRY e {{\n{entry}\n}}")
    count = 0

    def note(frame: object, event: str, argument: object) -> None:
        nonlocal count
        count += event == "call"

    sys.setprofile(note)
    try:
        run_hlo_passes(module, TARGET)
    finally:
        sys.setprofile(None)
    return count


@pytest.mark.parametrize(
    ("program", "n"), [(chain, 200), (sines, 200), (results, 200), (concatenated, 100), (nested, 12)]
)
def test_the_work_grows_linearly(program: Callable[[int], str], n: int) -> None:
    _calls(program(4))  # imports what is imported once
    small, large = _calls(program(n)), _calls(program(2 * n))
    assert large < 2.4 * small, (small, large)
