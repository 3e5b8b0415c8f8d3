"""The call graph, each computation met once."""

from __future__ import annotations

import pytest

import xla_core as xla
from xla_core.hlo.ir.call_graph import callees_first
from xla_core.stablehlo import from_hlo

STEP = {
    "call": " ROOT c = f32[] call(q), to_apply={next}",
    "map": " ROOT c = f32[] map(q), dimensions={{}}, to_apply={next}",
    "branch": " l = pred[] compare(p, p), direction=EQ\n ROOT c = f32[] conditional(l, p, q), branch_computations={{{next}, {next}}}",
}
CALL = " q = f32[] call(p), to_apply={next}\n"
MAP = " q = f32[] map(p), dimensions={{}}, to_apply={next}\n"


def doubling(depth: int, op: str) -> xla.HloModule:
    first = {"call": CALL, "map": MAP, "branch": " q = f32[] negate(p)\n"}[op]
    text = f"HloModule m\nf{depth} {{\n p = f32[] parameter(0)\n ROOT e = f32[] exponential(p)\n}}\n"
    for i in reversed(range(depth)):
        text += f"f{i} {{\n p = f32[] parameter(0)\n{(first + STEP[op]).format(next=f'f{i + 1}')}\n}}\n"
    return xla.parse(text + "ENTRY e {\n p = f32[] parameter(0)\n ROOT c = f32[] call(p), to_apply=f0\n}\n")


def test_callees_come_first_and_once():
    module = doubling(3, "call")
    assert [c.name for c in callees_first(module.entry)] == ["f3", "f2", "f1", "f0", module.entry.name]
    known = {module.entry.root.attributes["to_apply"]}
    assert [c.name for c in callees_first(module.entry, known)] == [module.entry.name]


def test_recursion_ends():
    module = doubling(2, "call")
    first = module.entry.root.attributes["to_apply"]
    (last,) = [c for c in module.computations if c.name == "f1"]
    last.root.attributes["to_apply"] = first
    assert first in callees_first(module.entry)


@pytest.mark.parametrize("op", STEP)
def test_growth_is_told_before_it_is_made(op):
    doubling(8, op).check_growth(lambda i: i.called_computations)
    with pytest.raises(xla.ResourceExhaustedError, match="instructions once each"):
        doubling(40, op).check_growth(lambda i: i.called_computations)


def test_computations_that_are_not_copied_do_not_count():
    doubling(40, "call").check_growth(lambda i: ())


@pytest.mark.parametrize("op", ["map", "branch"])
def test_regions_that_would_double_are_not_written(op):
    with pytest.raises(xla.ResourceExhaustedError, match="instructions once each"):
        from_hlo(doubling(40, op))


def test_a_module_is_copied_with_computations_that_nothing_calls():
    module = doubling(2, "call")
    module.entry.set_root(module.entry.parameters[0])
    module.entry.remove(next(i for i in module.entry.instructions if i.called_computations))
    callers_first = sorted(module.computations, key=lambda c: (c.is_entry, c.name))
    for computation in callers_first:
        module.remove_computation(computation)
    for computation in callers_first:
        module.add_computation(computation, entry=computation is callers_first[-1])
    assert [c.name for c in module.clone().computations] == [c.name for c in callers_first]
