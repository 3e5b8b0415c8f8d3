"""A device with the primitive ops in f32, s32 and pred runs every stored program that fits its types."""

from __future__ import annotations

import numpy as np
import pytest

import xla_core as xla
from tests.programs import PROGRAMS, Program
from tests.xla_core.passes.legalization.devices import PRIMITIVES
from xla_core.hlo.values.element_type import ElementType
from xla_core.hlo.verifier import verify
from xla_core.passes import PassContext, default_pipeline
from xla_core.target import Capabilities, TargetConfig

T = ElementType
TARGET = TargetConfig(name="primitive", capabilities=Capabilities().with_ops(PRIMITIVES, [T.F32, T.S32, T.PRED]))
NARROW = {t for t in T if (t.is_integral or t.is_floating) and t.bit_width <= 16}
HELD = {"float32", "int32", "uint32", "bool", "complex64", *(t.dtype.name for t in NARROW)}
OTHER_TYPES = {"float64_and_int64", "runge_kutta", "conversions"}
"""Programs that compute with 64 bits."""


def fits(program: Program) -> bool:
    types = {np.dtype(spec.dtype).name for spec in program.arguments} | set(program.result_types)
    return types <= HELD and program.name not in OTHER_TYPES


FITTING = [program for program in PROGRAMS if fits(program)]


def test_most_programs_fit() -> None:
    assert len(FITTING) >= 70
    assert len(PRIMITIVES) <= 24


@pytest.mark.parametrize(
    "program", [pytest.param(p, id=p.name, marks=() if n % 6 == 0 else pytest.mark.slow) for n, p in enumerate(FITTING)]
)
def test_it_runs(program: Program) -> None:
    module = xla.parse(program.text)
    PassContext(invariants=[verify]).run(default_pipeline(TARGET), module, ())
    held = {leaf.element_type for c in module.computations for i in c.instructions for leaf in i.shape.leaves()}
    assert held <= {T.F32, T.S32, T.PRED, T.U32, T.C64, T.TOKEN} | NARROW
    program.check(xla.evaluate(module, *program.inputs()))


HALVES = ("float16", "bfloat16", "mixed_precision_step", "sorts", "while_collatz", "complex_numbers")


@pytest.mark.parametrize("kind", [T.F16, T.BF16], ids=str)
@pytest.mark.parametrize("name", [pytest.param(n, marks=() if n in HALVES[:2] else pytest.mark.slow) for n in HALVES])
def test_a_device_with_halves_alone_runs_its_part(kind: T, name: str) -> None:
    """The host runs the rest."""
    capabilities = Capabilities().with_ops(PRIMITIVES, [kind, T.PRED])
    target = TargetConfig(name="halves", capabilities=capabilities)
    program = next(p for p in PROGRAMS if p.name == name)
    module = xla.parse(program.text)
    PassContext(invariants=[verify]).run(default_pipeline(target, xla.CompileOptions(fallback="host")), module, ())
    program.check(xla.evaluate(module, *program.inputs()))
