"""The features that a device should add for the instructions that the host runs: the simplest thing that is enough."""

from __future__ import annotations

import numpy as np
import pytest

import xla_core as xla
from tests.xla_core.passes.host_offloading.restricted import restricted
from tests.xla_core.passes.legalization.devices import PRIMITIVES
from xla_core.hlo.values.element_type import ElementType
from xla_core.target import Capabilities

FULL = Capabilities().with_ops(PRIMITIVES, [ElementType.F32, ElementType.S32, ElementType.PRED])
TEXT = """HloModule m
ENTRY e { x = f32[8] parameter(0)
  y = f32[8] tanh(x)
  ROOT z = f32[8] add(y, y) }
"""
TWO_FUNCTIONS = TEXT.replace("add(y, y)", "sine(y)")


@pytest.mark.parametrize(
    ("capabilities", "lacks"),
    [
        (FULL.without_ops("shift-left"), "shift-left of s32"),
        (FULL.without_ops("multiply"), "multiply of f32, multiply of s32"),
        (FULL.without_ops("multiply", "shift-left", "compare", "and", "or"), "tanh of f32"),
    ],
)
def test_few_primitive_ops_stand_for_the_op_that_needs_them(capabilities: Capabilities, lacks: str) -> None:
    x = np.linspace(-1, 1, 8, dtype=np.float32)
    with restricted() as having:
        with pytest.warns(RuntimeWarning, match=rf"the device lacks {lacks} \(would save"):
            executable = having(capabilities).compile(TEXT, xla.CompileOptions(fallback="host"))
        (placed,) = (p for p in executable.placement() if p.on_host and p.lacks)
        assert placed.reason == "there is no tanh"
        assert ", ".join(map(str, placed.lacks)) == lacks
        np.testing.assert_allclose(np.asarray(executable(x)[0]), 2 * np.tanh(x), rtol=1e-6)


def test_reductions_by_different_ops_lack_different_ops() -> None:
    text = """HloModule m
times { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT c = f32[] multiply(a, b) }
most { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT c = f32[] maximum(a, b) }
ENTRY e { x = f32[8] parameter(0)
  one = f32[] constant(1)
  y = f32[] reduce(x, one), dimensions={0}, to_apply=times
  z = f32[] reduce(x, one), dimensions={0}, to_apply=most
  ROOT t = (f32[], f32[]) tuple(y, z) }
"""
    with restricted() as having, pytest.warns(RuntimeWarning, match="the device lacks"):
        executable = having(FULL.without_ops("reduce", "multiply", "compare")).compile(
            text, xla.CompileOptions(fallback="host")
        )
    lacks = [{str(lack.opcode) for lack in p.lacks} for p in executable.placement() if p.on_host and p.lacks]
    assert sorted("compare" in each for each in lacks) == [False, True]


def test_what_two_functions_lack_is_named_once() -> None:
    lacks = r"the device lacks multiply of f32, multiply of s32 \(would save about \S+ us a run\)$"
    with restricted() as having, pytest.warns(RuntimeWarning, match=lacks):
        having(FULL.without_ops("multiply")).compile(TWO_FUNCTIONS, xla.CompileOptions(fallback="host"))
