"""The graph of a module as DOT text."""

from __future__ import annotations

import re
import shutil
import subprocess

import pytest

import xla_core as xla
from xla_core.hlo.ir.graph import to_dot

FUSED = """
HloModule fused

%add (a: f32[], b: f32[]) -> f32[] {
  %a = f32[] parameter(0)
  %b = f32[] parameter(1)
  ROOT %sum = f32[] add(%a, %b)
}

%inside (p0: f32[4,2], p1: f32[4,2]) -> f32[4] {
  %p0 = f32[4,2] parameter(0)
  %p1 = f32[4,2] parameter(1)
  %product = f32[4,2] multiply(%p0, %p1)
  %zero = f32[] constant(0.5)
  ROOT %total = f32[4] reduce(%product, %zero), dimensions={1}, to_apply=%add
}

ENTRY %main (x: f32[4,2]) -> f32[4] {
  %x = f32[4,2] parameter(0)
  %e = f32[4,2] exponential(%x)
  ROOT %f = f32[4] fusion(%e, %x), kind=kLoop, calls=%inside
}
"""

LOOP = """
HloModule loop

%condition (s: s32[]) -> pred[] {
  %s = s32[] parameter(0)
  %limit = s32[] constant(7)
  ROOT %less = pred[] compare(%s, %limit), direction=LT
}

%body (t: s32[]) -> s32[] {
  %t = s32[] parameter(0)
  %one = s32[] constant(1)
  ROOT %next = s32[] add(%t, %one)
}

ENTRY %main (start: s32[]) -> s32[] {
  %start = s32[] parameter(0)
  ROOT %loop = s32[] while(%start), condition=%condition, body=%body
}
"""


def edges(dot: str) -> set[tuple[str, str]]:
    """Edges by the names that the nodes show."""
    names = {
        node: (re.search(r"%([\w.\-]+)", label) or re.match(r"([\w.\-]+)", label)).group(1)
        for node, label in re.findall(r'^ +(n\d+) \[label="([^"]*)"', dot, re.MULTILINE)
    }
    return {(names[a], names[b]) for a, b in re.findall(r"(n\d+) -> (n\d+)", dot)}


def test_fusion_is_a_box_that_its_operands_reach_into() -> None:
    dot = to_dot(xla.parse(FUSED))
    assert edges(dot) == {
        ("x", "e"),
        ("e", "product"),
        ("x", "product"),
        ("product", "total"),
        ("zero", "total"),
    }
    assert "f: f32[4]" in dot
    assert "reduce add  %total" in dot
    assert "0.5" in dot
    assert dot.count("subgraph") == 2


def test_loop_shows_condition_and_body() -> None:
    dot = to_dot(xla.parse(LOOP))
    assert {("less", "loop"), ("next", "loop"), ("start", "loop")} <= edges(dot)
    assert dot.count("style=dashed") == 2
    assert dot.count("subgraph") == 3


def test_same_module_same_text() -> None:
    assert to_dot(xla.parse(FUSED)) == to_dot(xla.parse(FUSED))


def test_names_are_escaped() -> None:
    module = xla.parse(FUSED)
    module.entry.root.name = 'a "b\\'
    assert 'label="a \\"b\\\\: f32' in to_dot(module)


@pytest.mark.skipif(shutil.which("dot") is None, reason="Graphviz is not installed")
@pytest.mark.parametrize("text", [FUSED, LOOP])
def test_graphviz_reads_it(text: str) -> None:
    done = subprocess.run(["dot", "-Tsvg"], input=to_dot(xla.parse(text)), capture_output=True, text=True, check=True)
    assert "</svg>" in done.stdout
    assert not done.stderr
