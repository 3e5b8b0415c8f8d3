"""Programs that JAX wrote: read, verified, lowered and evaluated against what JAX computed."""

from __future__ import annotations

import pytest

from tests.programs import PROGRAMS, Program
from xla_core.hlo.evaluator import evaluate
from xla_core.stablehlo import to_hlo


@pytest.mark.parametrize("program", PROGRAMS, ids=str)
def test_the_evaluator_agrees_with_jax(program: Program):
    module = to_hlo(program.text, str(program.path))
    program.check(evaluate(module, *program.inputs()))
