"""Every program of the table as XLA serializes it, before and after XLA's compiler, is the module that XLA prints."""

from __future__ import annotations

import contextlib
import random
import warnings

import pytest

import xla_core as xla
from xla_core.hlo import HloModule, OpMetadata

jax = pytest.importorskip("jax")

from tests.frontends.jax_programs.table import Program
from tests.frontends.jax_programs.test_programs import PROGRAMS

SAMPLE = set(map(str, random.Random(7).sample(PROGRAMS, min(12, len(PROGRAMS)))))


def computations(module: HloModule) -> list[str]:
    """The text of each computation that the entry reaches, without the metadata that XLA's text may leave out."""
    module.remove_unreachable_computations()
    for computation in module.computations:
        for instruction in computation.instructions:
            instruction.metadata = OpMetadata()
    return sorted(module.to_text().split("\n\n"))


@pytest.mark.parametrize(
    "program", [pytest.param(p, id=str(p), marks=() if str(p) in SAMPLE else pytest.mark.slow) for p in PROGRAMS]
)
def test_serialized_programs_are_what_xla_prints(program: Program) -> None:
    with jax.enable_x64(True) if program.x64 else contextlib.nullcontext(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        arguments = [spec.make(f"{program}/{i}") for i, spec in enumerate(program.arguments)]
        lowered = jax.jit(program.function, keep_unused=True).lower(*arguments)
        before = lowered.compiler_ir("hlo")
        (after,) = lowered.compile().runtime_executable().hlo_modules()
    pairs = [
        (before.as_serialized_hlo_module_proto(), before.as_hlo_text()),
        (after.as_serialized_hlo_module_proto(), after.to_string()),
    ]
    for data, text in pairs:
        if "constant({...})" not in text:  # XLA leaves out the values of large constants
            assert computations(xla.parse(data)) == computations(xla.parse(text))
