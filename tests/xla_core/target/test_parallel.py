"""The target's data decides how kernels are cut and fused."""

from __future__ import annotations

import pytest

from xla_core.errors import InvalidArgumentError
from xla_core.hlo.parsing.parser import parse_hlo
from xla_core.passes import create_pass, default_pipeline
from xla_core.target import Capabilities, FusionCosts, FusionPreferences, ParallelModel, TargetConfig

SUM = "sum {\n a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT c = f32[] add(a, b)\n}\n"
REDUCTION = f"HloModule m\n{SUM}ENTRY e {{\n x = f32[4096] parameter(0)\n z = f32[] constant(0)\n ROOT r = f32[] reduce(x, z), dimensions={{0}}, to_apply=sum\n}}"
TWICE = """HloModule m
ENTRY e {
  x = f32[1000] parameter(0)
  y = f32[1000] power(x, x)
  z = f32[1000] reverse(y), dimensions={0}
  ROOT r = f32[1000] add(y, z)
}"""


@pytest.mark.parametrize(("least", "steps"), [(1 << 16, 1), (4096, 2)])
def test_a_target_says_which_reductions_have_two_steps(least: int, steps: int) -> None:
    module = parse_hlo(REDUCTION)
    create_pass("reduction-splitter", parallel=ParallelModel(split_reduction_elements=least)).run(module)
    assert sum(i.opcode == "reduce" for i in module.entry.instructions) == steps


@pytest.mark.parametrize(("kernel", "fused"), [(1e6, True), (0.0, False)])
def test_a_target_says_what_a_kernel_costs(kernel: float, fused: bool) -> None:
    """Fusing both uses of the power computes it twice, which pays where kernels are slow to start."""
    costs = FusionCosts(kernel=kernel, byte=0.0)
    target = TargetConfig(name="t", capabilities=Capabilities.all_of(), fusion=FusionPreferences(costs=costs))
    module = parse_hlo(TWICE)
    default_pipeline(target).run(module)
    assert ("power" not in [i.opcode for i in module.entry.instructions]) == fused


def test_a_cut_into_no_units_is_refused() -> None:
    with pytest.raises(InvalidArgumentError, match="units"):
        ParallelModel(units=0)


@pytest.mark.parametrize("threads", [1, 64])
def test_the_pipeline_leaves_a_large_reduction_in_two_steps(threads: int) -> None:
    parallel = ParallelModel(split_reduction_elements=4096, threads=threads)
    module = parse_hlo(REDUCTION)
    default_pipeline(TargetConfig(name="t", capabilities=Capabilities.all_of(), parallel=parallel)).run(module)
    computations = [module.entry, *(i.attribute("calls") for i in module.entry.instructions if i.opcode == "fusion")]
    assert sum(i.opcode == "reduce" for c in computations for i in c.instructions) == 2


@pytest.mark.parametrize(("threads", "lanes"), [(1000, 63), (256, 96), (48, 32)])
def test_lanes_that_exchange_cannot_pair_are_refused(threads: int, lanes: int) -> None:
    with pytest.raises(InvalidArgumentError, match=rf"a power of two that divides threads \({threads}\), not {lanes}"):
        ParallelModel(threads=threads, lanes=lanes)
