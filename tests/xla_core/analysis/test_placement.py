"""Where the instructions of a program run."""

from __future__ import annotations

import numpy as np
import pytest

import xla_core as xla
from xla_core.analysis import host_summary, place_instructions, placement_text
from xla_core.hlo import to_dot
from xla_core.target import Capabilities, Lack, TargetConfig

TEXT = """HloModule m

body {
  p = (s32[], f32[8]) parameter(0)
  n = s32[] get-tuple-element(p), index=0
  one = s32[] constant(1)
  next = s32[] add(n, one)
  x = f32[8] get-tuple-element(p), index=1
  root = f32[8] cbrt(x), metadata={source_file="model.py" source_line=7}
  ROOT t = (s32[], f32[8]) tuple(next, root)
}

condition {
  p = (s32[], f32[8]) parameter(0)
  n = s32[] get-tuple-element(p), index=0
  three = s32[] constant(3)
  ROOT more = pred[] compare(n, three), direction=LT
}

ENTRY main {
  x = f32[8] parameter(0)
  y = f32[8] negate(x)
  zero = s32[] constant(0)
  state = (s32[], f32[8]) tuple(zero, y)
  loop = (s32[], f32[8]) while(state), condition=condition, body=body
  ROOT r = f32[8] get-tuple-element(loop), index=1
}
"""
TARGET = TargetConfig(name="t", capabilities=Capabilities.all_of(without=["cbrt"]))


def test_the_host_runs_what_the_target_does_not_support() -> None:
    placed = {p.name: p for p in place_instructions(xla.parse(TEXT), TARGET)}
    assert {name for name, p in placed.items() if p.on_host} == {"root"}
    assert set(placed) == {"y", "next", "more", "root"}, "what only names values, and loops, are left out"
    root = placed["root"]
    assert (root.reason, root.lacks) == ("there is no cbrt", (Lack("cbrt", xla.hlo.ElementType.F32),))
    assert (root.bytes_to_host, root.bytes_to_device, root.bytes_crossed) == (32, 32, 64)
    assert root.location is not None
    assert root.location.line == 7
    assert placed["y"].bytes_crossed == 0


def test_it_is_a_table_and_a_sentence() -> None:
    placement = place_instructions(xla.parse(TEXT), TARGET)
    (line,) = [line for line in placement_text(placement).splitlines() if line.startswith("root")]
    assert line.split() == [
        "root",
        "=",
        "f32[8]",
        "cbrt",
        "host",
        "root",
        "64",
        "there",
        "is",
        "no",
        "cbrt",
        "model.py:7",
    ]
    assert host_summary(placement) == (
        "1 of 4 instructions run on the host, in 1 part, and 64 bytes cross between it and the device; "
        "the device lacks cbrt of f32 (would save about 169 us a run)"
    )
    assert host_summary([p for p in placement if not p.on_host]) == ""


def test_it_is_drawn() -> None:
    drawn = to_dot(xla.parse(TEXT), ["root"])
    (node,) = [line for line in drawn.splitlines() if "#c62828" in line]
    assert "cbrt" in node


def test_an_executable_knows_its_placement() -> None:
    pytest.importorskip("xla_backend_cpu")
    with xla.Client("cpu") as client:
        executable = client.compile(
            "HloModule m\n\nENTRY e {\n  x = f32[4] parameter(0)\n  ROOT y = f32[4] sine(x)\n}\n"
        )
        assert not any(p.on_host for p in executable.placement())
        np.testing.assert_allclose(np.asarray(executable(np.zeros(4, np.float32))[0]), 0)


def test_no_device_is_asked_to_call_python() -> None:
    text = (
        'HloModule m\n\nENTRY e {\n  x = f32[8] parameter(0)\n  y = f32[8] custom-call(x), custom_call_target="'
        'xla_core_python_callback", api_version=API_VERSION_TYPED_FFI\n  ROOT z = f32[8] add(y, y)\n}\n'
    )
    placement = place_instructions(
        xla.parse(text), TargetConfig(name="t", capabilities=Capabilities.all_of(opcodes=["add"]))
    )
    assert [p.name for p in placement if p.on_host] == ["y"]
    assert host_summary(placement) == ""
