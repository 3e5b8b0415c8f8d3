"""select-and-scatter on devices that lack it: the reference evaluator gives the same before and after."""

from __future__ import annotations

import numpy as np
import pytest

from tests.xla_core.passes.legalization.devices import PRIMITIVES
from xla_core.hlo import ElementType, HloModule, WindowDimension, parse_hlo, verify
from xla_core.hlo.evaluator import evaluate
from xla_core.passes.legalization import legalize, unsupported_instructions
from xla_core.target import Capabilities

SIMPLE = Capabilities.all_of([ElementType.F32, ElementType.S32, ElementType.PRED], opcodes=PRIMITIVES)
W = WindowDimension
WINDOWS = {
    "pooling": (W(2, stride=2), W(2, stride=2)),
    "overlapping": (W(3, padding_low=1, padding_high=1), W(3, stride=2, padding_low=1)),
    "dilation": (W(2, window_dilation=3), W(3, stride=2, padding_low=2, base_dilation=2)),
    "negative padding": (W(2, padding_low=-1), W(3, padding_low=2, padding_high=-2, base_dilation=3)),
    "windows of padding alone": (W(2, stride=2, padding_low=4), W(2, padding_high=3)),
    "large": (W(5, padding_low=4, padding_high=4), W(13, padding_low=12, padding_high=12)),
    "one window": (W(6), W(9)),
}


def program(window: tuple[WindowDimension, ...], direction: str, scatter: str) -> HloModule:
    text = f"""HloModule m
chooses {{ a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT c = pred[] compare(a, b), direction={direction} }}
combines {{ a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT c = f32[] {scatter}(a, b) }}
ENTRY e {{
  x = f32[6,9] parameter(0)
  source = f32[{",".join(str(w.output_size(n)) for w, n in zip(window, (6, 9), strict=True))}] parameter(1)
  start = f32[] parameter(2)
  ROOT t = (f32[6,9], f32[]) tuple(x, start)
}}
"""
    module = parse_hlo(text)
    chooses, combines = (next(c for c in module.computations if c.name == name) for name in ("chooses", "combines"))
    entry = module.entry
    entry.set_root(entry.add("select-and-scatter", *entry.parameters, window=window, select=chooses, scatter=combines))
    verify(module)
    return module


@pytest.mark.parametrize("window", WINDOWS)
@pytest.mark.parametrize(("direction", "scatter"), [("GE", "add"), ("GT", "multiply"), ("LT", "subtract")])
def test_it_stays_the_same_and_becomes_a_short_program(window: str, direction: str, scatter: str) -> None:
    module, legal = (program(WINDOWS[window], direction, scatter) for _ in range(2))
    legalize(legal, SIMPLE.check)
    verify(legal)
    assert not unsupported_instructions(legal, SIMPLE.check)
    rng = np.random.default_rng(0)
    x = rng.integers(0, 4, (6, 9)).astype(np.float32)
    source = rng.random(module.entry.parameters[1].shape.dimensions).astype(np.float32)
    for found, expected in zip(*(evaluate(m, x, source, np.float32(2)) for m in (legal, module)), strict=True):
        np.testing.assert_array_equal(found, expected)
    instructions = [i for c in legal.computations for i in c.instructions if i.opcode != "constant"]
    assert len(instructions) < 250
