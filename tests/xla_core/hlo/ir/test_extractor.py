"""Computations of one instruction."""

from __future__ import annotations

import numpy as np

from xla_core.hlo import evaluate_computation, extract_computation, parse_hlo

TEXT = """HloModule m

ENTRY e {
  x = f32[3] parameter(0)
  t = (f32[3], f32[3]) tuple(x, x)
  y = f32[3] get-tuple-element(t), index=1
  ROOT d = f32[3] subtract(y, x)
}
"""


def test_a_computation_of_one_instruction_takes_its_operands() -> None:
    module = parse_hlo(TEXT)
    made = extract_computation(module.entry.root)
    assert (made.name, made.module) == ("d", None)
    assert [p.shape for p in made.parameters] == [o.shape for o in module.entry.root.operands]
    (result,) = evaluate_computation(made, [np.array([5, 6, 7], np.float32), np.ones(3, np.float32)])
    assert result.tolist() == [4, 5, 6]
    assert module.entry.root.parent is module.entry
