"""Instructions that differ in one thing: which things there are, and that a pass which takes them for one shows."""

from __future__ import annotations

import numpy as np
import pytest
from xla_conformance.ops.twin_changes import attribute_changes, other_computations
from xla_conformance.ops.twins import groups, twins

from xla_core import evaluate, parse
from xla_core.hlo import ElementType as T
from xla_core.hlo import verify


@pytest.mark.parametrize("group", groups(every=False))
def test_programs_are_valid_and_most_twins_differ(group: str) -> None:
    for one in twins(group, 0, every=False):
        module, arguments = one.module(), one.arguments(0)
        verify(module)
        results = one.expected(arguments)
        assert len(one.labels) == len(results)
        assert all(e.wrong(e.value).sum() == 0 for e in results)
        assert len({e.value.tobytes() for e in results}) > 1, one.name


def test_each_attribute_of_a_product_has_other_values() -> None:
    labels = {label.partition(" ")[0] for one in twins("contraction", 0, every=True) for label in one.labels}
    dimensions = {f"{side}_{kind}_dims" for side in ("lhs", "rhs") for kind in ("batch", "contracting")}
    assert labels >= {*dimensions, "operand-0", "operand-1", "operands", "type"}


def test_programs_have_common_types_unless_a_result_of_another_one_is_the_difference() -> None:
    """So a device of few types runs the twins of each op."""
    common = {T.F32, T.S32, T.PRED}
    rare = set()
    for one in (t for group in groups(every=False) for t in twins(group, 0, every=False)):
        computations = one.module().computations
        types = {s.element_type for c in computations for i in c.instructions for s in i.shape.array_leaves()}
        if not types <= common:
            rare.add(one.name)
    assert all("-other." in name or name.startswith("complex-") for name in rare), rare


def test_each_field_of_a_window_is_changed() -> None:
    module = parse(
        "HloModule m\n\nadd {\n  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n  ROOT r = f32[] add(a, b)\n}\n\n"
        "ENTRY e {\n  x = f32[9] parameter(0)\n  k = f32[] constant(0)\n"
        "  ROOT w = f32[7] reduce-window(x, k), window={size=3}, to_apply=add\n}\n"
    )
    found = [attributes for _, attributes in attribute_changes(module.entry.root)]
    (old,) = module.entry.root.attribute("window")
    changed = {f for a in found for w in a.get("window", ()) for f in w.__slots__ if getattr(w, f) != getattr(old, f)}
    assert changed == set(old.__slots__)


def test_computations_are_changed_in_parameters_instructions_and_constants() -> None:
    text = (
        "HloModule m\n\nENTRY e {\n  a = s32[] parameter(0)\n  b = s32[] parameter(1)\n  k = s32[] constant(3)\n"
        "  c = s32[] multiply(b, k)\n  ROOT r = s32[] add(a, c)\n}\n"
    )
    entry = parse(text).entry
    texts = {computation.to_text().replace(" ", "") for computation in other_computations(entry)}
    assert len(texts) == 3
    assert entry.to_text().replace(" ", "") not in texts


def test_conditionals_take_each_branch() -> None:
    one = next(t for t in twins("movement", 0, every=False) if t.name.startswith("reverse"))
    number = next(n for n, label in enumerate(one.labels) if label.endswith("in a branch"))
    taken = [one.arguments(seed)[-1] for seed in (0, 1)]
    assert [bool(t) for t in taken] == [False, True]
    values = [
        evaluate(one.module(), *one.arguments(0)[:-1], flag)[number] for flag in (np.array(False), np.array(True))
    ]
    assert np.asarray(values[0]).tobytes() != np.asarray(values[1]).tobytes()
