"""Programs in which a condition of a rewrite fails are valid, and each kind of condition is among them."""

from __future__ import annotations

import numpy as np
import pytest
from xla_conformance.programs.patterns import broken_conditions, parts
from xla_conformance.programs.patterns.arithmetic import INTEGERS, NUMBERS
from xla_conformance.programs.patterns.broken_conditions import expression
from xla_conformance.programs.patterns.changes import Change, changed, changes

from xla_core import evaluate
from xla_core.hlo import ElementType, HloModule, verify


def _base(name: str, element: ElementType = ElementType.S32) -> HloModule:
    made = expression({**NUMBERS, **INTEGERS}[name], element)
    assert made is not None
    return made


@pytest.mark.parametrize("kind", [kind for kind, _ in parts(every=False)])
def test_programs_are_valid(kind: str) -> None:
    programs = broken_conditions(kind, 0, 0, every=False)
    for program in programs:
        verify(program.module())
        assert all(e.wrong(e.value).sum() == 0 for e in program.expected(program.arguments(0)))
    assert len({program.name for program in programs}) == len(programs) >= 5


def test_each_condition_fails_by_itself() -> None:
    said = [text for text, _ in changes(_base("(x + 3) + 5").entry)]
    for change in ("0 in constant", "-1 in constant", "one other number at -1", "subtract in add", "as a result"):
        assert any(change in text for text in said), change
    said = [text for text, _ in changes(_base("x - x").entry)]
    assert any(text.startswith("another x") for text in said)
    said = [text for text, _ in changes(_base("x < 0").entry)]
    assert any(text.startswith("operands 0 and 1") for text in said)
    assert any(text.startswith("direction") for text in said)


def test_most_changes_change_results() -> None:
    base = _base("(x & 12) & 6")
    x = np.arange(16, dtype=np.int32).reshape(4, 4)
    (result,) = evaluate(base, x)
    made = [changed(base, change) for _, change in changes(base.entry) if not change.is_result]
    results = [np.asarray(evaluate(module, x)[0]) for module in made if module is not None]
    assert sum(r.tobytes() != np.asarray(result).tobytes() for r in results) > 0.6 * len(results)


def test_a_change_that_has_no_meaning_gives_no_program() -> None:
    base = _base("x + 0")
    (dimensions,) = (n for n, i in enumerate(base.entry.post_order()) if i.opcode == "broadcast")
    assert changed(base, Change(dimensions, attributes={"dimensions": (0, 1, 2)})) is None


def test_a_zero_behind_a_sum_of_floats_may_have_any_sign() -> None:
    """A product of one column, whose sums have one term, may be an elementwise product."""
    (program,) = (
        p for p in broken_conditions("folds", 4, 0, every=True) if p.name == "a product of one column, of f32"
    )
    v, w = program.arguments(0)
    v[0, 0], w[0, 0] = -1, 0
    (expected,) = program.expected([v, w])
    assert not expected.wrong(v[:, :1] * w[:1]).any()
    assert np.signbit(expected.value[0, 0]) != np.signbit(v[0, 0] * w[0, 0])


def test_programs_depend_on_the_seed_alone() -> None:
    texts = [[p.text for p in broken_conditions("truths", 0, seed, every=False)] for seed in (3, 3, 4)]
    assert texts[0] == texts[1] != texts[2]
    names = [
        {p.name for p in broken_conditions(*part, 0, every=True)} for part in parts(every=True) if "truths" in part
    ]
    assert len(names) > 1
    assert {p.name for p in broken_conditions("truths", 0, 5, every=False)} < set.union(*names)
