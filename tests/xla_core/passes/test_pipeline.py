"""The whole pipeline on programs that JAX wrote: verified after each pass, right at the end, buffers proven."""

from __future__ import annotations

import numpy as np
import pytest

import xla_core as xla
from tests.programs import PROGRAMS, Program
from tests.xla_core.analysis.buffer_checker import check_buffer_assignment
from xla_core.analysis import assign_buffers
from xla_core.errors import UnimplementedError
from xla_core.hlo.parsing.parser import parse_hlo
from xla_core.hlo.values.element_type import ElementType
from xla_core.hlo.verifier import verify
from xla_core.passes import HloPassPipeline, PassContext, default_pipeline, run_hlo_passes
from xla_core.target import Capabilities, TargetConfig

EVERYTHING = TargetConfig(name="everything", capabilities=Capabilities.all_of())


@pytest.mark.parametrize(
    "program", [pytest.param(p, marks=[pytest.mark.slow] if i % 3 else []) for i, p in enumerate(PROGRAMS)], ids=str
)
def test_programs_keep_their_results(program: Program) -> None:
    module = xla.parse(program.text)
    PassContext(invariants=[verify]).run(default_pipeline(EVERYTHING), module, ())
    assignment = assign_buffers(module)
    check_buffer_assignment(assignment)
    assert assignment.temp_bytes <= max(assignment.temp_bytes_without_reuse, assignment.peak_live_bytes)
    program.check(xla.evaluate(module, *program.inputs()))


def test_the_pipeline_prints_its_stages():
    text = str(default_pipeline(EVERYTHING))
    places = [text.index(f"  {stage}:") for stage in ("simplification", "target", "legalization", "layout", "fusion")]
    assert places == sorted(places)
    assert "copy-insertion" in text


def test_stages_are_replaced_by_name():
    text = str(default_pipeline(EVERYTHING, stages={"fusion": HloPassPipeline("mine")}))
    assert "mine:" in text
    assert "instruction-fusion" not in text


PROGRAM = """
HloModule m
ENTRY e {
  x = f32[8] parameter(0)
  y = f32[8] tanh(x)
  ROOT z = f32[8] atan2(y, x)
}
"""


def test_a_target_without_an_op_is_told_so():
    target = TargetConfig(name="t", capabilities=Capabilities.all_of([ElementType.F32], without=["atan2"]))
    with pytest.raises(UnimplementedError, match="there is no atan2"):
        run_hlo_passes(parse_hlo(PROGRAM), target)


def test_what_the_host_can_do_instead_stays():
    options = xla.CompileOptions(fallback="host", optimization_level=1)
    target = TargetConfig(name="t", capabilities=Capabilities.all_of([ElementType.F32], without=["atan2", "fusion"]))
    module = run_hlo_passes(parse_hlo(PROGRAM), target, options)
    assert {i.opcode for c in module.computations for i in c.instructions} >= {"tanh", "atan2"}


@pytest.mark.parametrize("level", [0, 1, 2])
def test_every_level_gives_a_schedule(level: int) -> None:
    module = run_hlo_passes(parse_hlo(PROGRAM), EVERYTHING, xla.CompileOptions(optimization_level=level))
    assert module.schedule is not None
    assert any(i.opcode == "fusion" for i in module.entry.instructions) == (level == 2)
    x = np.linspace(-2, 2, 8, dtype=np.float32)
    np.testing.assert_allclose(xla.evaluate(module, x)[0], np.arctan2(np.tanh(x), x), rtol=1e-6)


SCALARS_ONLY = Capabilities.all_of()
for _opcode in ("dynamic-slice", "dynamic-update-slice"):
    SCALARS_ONLY = SCALARS_ONLY.with_constraint(
        _opcode, lambda i: "the starts are a vector" if i.operands[-1].shape.rank else None
    )


@pytest.mark.parametrize("level", [0, 2])
@pytest.mark.parametrize("starts", [(0, 0), (1, 2), (-3, 9)])
def test_targets_get_start_indices_as_scalars(level: int, starts: tuple[int, int]) -> None:
    text = """
HloModule m
ENTRY e {
  x = f32[4,6] parameter(0)
  i = s32[2] parameter(1)
  j = s32[2] negate(i)
  a = f32[2,3] dynamic-slice(x, j), dynamic_slice_sizes={2,3}
  b = f32[2,3] negate(a)
  ROOT r = f32[4,6] dynamic-update-slice(x, b, j)
}
"""
    target = TargetConfig(name="t", capabilities=SCALARS_ONLY)
    module = run_hlo_passes(parse_hlo(text), target, xla.CompileOptions(optimization_level=level))
    arguments = np.arange(24, dtype=np.float32).reshape(4, 6), np.array(starts, np.int32)
    np.testing.assert_array_equal(xla.evaluate(module, *arguments), xla.evaluate(parse_hlo(text), *arguments))


@pytest.mark.parametrize("level", [0, 2])
def test_targets_get_no_empty_arrays(level: int) -> None:
    text = """
HloModule m
ENTRY e {
  x = f32[0,4,4] parameter(0)
  y = f32[0,4,4] cholesky(x), lower=true
  ROOT r = f32[0,4,2] slice(y), slice={[0:0], [0:4], [0:2]}
}
"""
    target = TargetConfig(name="t", capabilities=Capabilities.all_of(without=["cholesky", "slice"]))
    module = run_hlo_passes(parse_hlo(text), target, xla.CompileOptions(optimization_level=level))
    assert xla.evaluate(module, np.zeros((0, 4, 4), np.float32))[0].shape == (0, 4, 2)
