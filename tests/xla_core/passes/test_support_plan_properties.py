"""Plans for devices with any ops and types: what a plan says is what the pipeline does."""

from __future__ import annotations

import functools

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings

import xla_core as xla
from tests.xla_core.passes.legalization.devices import PRIMITIVES
from xla_core.hlo.values.element_type import ElementType
from xla_core.hlo.verifier import verify
from xla_core.passes import PassContext, default_pipeline, plan_support
from xla_core.stablehlo import op_example
from xla_core.target import Capabilities, TargetConfig

T = ElementType
NAMES = (
    *("add", "and", "clamp", "compare", "concatenate", "convert", "dot_general", "floor", "gather", "iota", "map"),
    *("negate", "pad", "reduce", "reduce_window", "remainder", "reverse", "select", "sign", "sort", "while"),
)
OTHERS = ("subtract", "maximum", "minimum", "not", "or", "floor", "iota", "dot", "gather", "sort", "clamp", "sign")
TYPES = {"f32": T.F32, "i32": T.S32, "i1": T.PRED, "bf16": T.BF16}


@functools.cache
def example(name: str, element: str) -> xla.HloModule | None:
    """An op's example; None where the op has no such type."""
    try:
        return xla.parse(op_example(f"stablehlo.{name}").program(element))
    except xla.InvalidArgumentError:
        return None


PROGRAMS = [(name, element) for name in NAMES for element in TYPES]


@st.composite
def devices(draw: st.DrawFn) -> Capabilities:
    """Some of the primitive ops, and of the others, each in some types."""
    made = Capabilities()
    kept = draw(st.sets(st.sampled_from(PRIMITIVES)))
    absent = draw(st.booleans())  # most ops are there, or few are
    for opcode in [p for p in PRIMITIVES if (p not in kept) == absent] + sorted(draw(st.sets(st.sampled_from(OTHERS)))):
        left_out = draw(st.sets(st.sampled_from(list(TYPES.values())), max_size=2))
        made = made.with_ops([opcode], set(TYPES.values()) - left_out)
    return made


def compiled(module: xla.HloModule, capabilities: Capabilities) -> xla.HloModule | None:
    """The program as a device gets it; None where it is refused."""
    module, target = module.clone(), TargetConfig(name="some", capabilities=capabilities)
    try:
        PassContext(invariants=[verify]).run(default_pipeline(target), module, ())
    except xla.UnimplementedError:
        return None
    return module


def is_right(module: xla.HloModule, made: xla.HloModule) -> bool:
    rng = np.random.default_rng(0)
    arguments = [rng.integers(0, 2, s.dimensions).astype(s.dtype) for s in module.parameter_shapes]
    results = zip(xla.evaluate(made, *arguments), xla.evaluate(module, *arguments), strict=True)
    return all(np.array_equal(a.astype(np.float64), b.astype(np.float64), equal_nan=True) for a, b in results)


def check(capabilities: Capabilities, chosen: list[tuple[str, str]]) -> None:
    programs = {f"{n} of {t}": made for n, t in chosen if (made := example(n, t)) is not None}
    plan = plan_support(TargetConfig(name="some", capabilities=capabilities), programs)
    unlocked = [name for step in plan.steps for name in step.unlocks]
    assert sorted([*plan.runs, *unlocked]) == sorted(programs)
    for name, module in programs.items():
        made = compiled(module, capabilities)
        assert (made is not None) == (name in plan.runs), name
        assert made is None or is_right(module, made), name
    runs = list(plan.runs)
    for step in plan.steps:
        capabilities = capabilities.with_lacks(step.lacks)
        runs += step.unlocks
        for name in runs:
            made = compiled(programs[name], capabilities)
            assert made is not None, (name, step.lacks)
            assert is_right(programs[name], made), name


def test_folding_adds_no_broadcast_that_the_device_lacks() -> None:
    types = list(TYPES.values())
    check(Capabilities().with_ops([p for p in PRIMITIVES if p != "broadcast"], types), [("gather", "bf16")])
    check(Capabilities().with_ops(PRIMITIVES, types).without_ops("broadcast"), [("floor", "f32"), ("gather", "f32")])


@settings(max_examples=15, deadline=None, derandomize=True)
@given(devices(), st.lists(st.sampled_from(PROGRAMS), min_size=1, max_size=3, unique=True))
def test_programs_run_where_the_plan_says_so(capabilities: Capabilities, chosen: list[tuple[str, str]]) -> None:
    check(capabilities, chosen)


@pytest.mark.slow
@settings(max_examples=300, deadline=None, derandomize=True)
@given(devices(), st.lists(st.sampled_from(PROGRAMS), min_size=1, max_size=4, unique=True))
def test_many_programs_run_where_the_plan_says_so(capabilities: Capabilities, chosen: list[tuple[str, str]]) -> None:
    check(capabilities, chosen)
