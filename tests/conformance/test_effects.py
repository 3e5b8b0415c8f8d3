"""Programs with effects at each place are valid, and one effect more or less shows."""

from __future__ import annotations

import functools

import numpy as np
import pytest
from xla_conformance.programs.effects import EFFECTS, NOTED, with_effects
from xla_conformance.programs.ordered_effects import ORDERED, in_order, number_of

from xla_core import evaluate
from xla_core.hlo import Environment, parse_hlo, verify


def _feed(fed: list[int]) -> np.ndarray:
    fed.append(7)
    return np.array(7, np.int32)


def _run(text: str, x: int) -> tuple[list[int], Environment]:
    """What is noted, fed in and fed out, and the state behind it."""
    fed: list[int] = []
    environment = Environment(next_infeed=functools.partial(_feed, fed))
    module = parse_hlo(text)
    verify(module)
    NOTED.clear()
    evaluate(module, np.int32(x), environment=environment)
    return [*NOTED, *fed, *map(number_of, environment.outfeed)], environment


def _effects(kind: str, x: int) -> list[int]:
    found, environment = _run(with_effects(kind), x)
    drawn = environment.rng_state - Environment().rng_state
    return found or [0] * (drawn - 1)  # one is drawn by the entry


@pytest.mark.parametrize("kind", EFFECTS)
@pytest.mark.parametrize(("x", "count"), [(-2, 156), (1, 75), (5, 30)])
def test_loops_and_branches_run_effects_many_times_or_not_at_all(kind: str, x: int, count: int) -> None:
    assert len(_effects(kind, x)) == count


def test_each_place_is_reached() -> None:
    reached = {round(n, -3) for x in (-2, 1) for n in _effects("outfeed", x)}
    assert len(reached) == with_effects("outfeed").count("\n  o = ")


@pytest.mark.parametrize("kind", EFFECTS)
def test_two_effects_are_alike(kind: str) -> None:
    opcode = "rng-get-and-update-state" if kind == "random-state" else kind
    module = parse_hlo(with_effects(kind))
    effects = [[i for i in c.instructions if i.opcode == opcode] for c in module.computations if c is not module.entry]
    ((first, second),) = (found for found in effects if len(found) > 1)
    assert (first.operands, first.attributes) == (second.operands, second.attributes)


@pytest.mark.parametrize("kind", ORDERED)
def test_each_ordered_effect_is_reached_but_that_of_a_loop_of_no_turn(kind: str) -> None:
    text = in_order(kind)
    reached = {round(n, -3) for x in (-2, 5) for n in _run(text, x)[0] if n > 100}
    assert len(reached) == text.count("\neffect_") + text.startswith("effect_") - 1


def test_arrays_and_tuples_are_fed_out_between_numbers() -> None:
    found = [value for x in (-2, 5) for value in _run(in_order("feeds"), x)[1].outfeed]
    assert {np.ndim(value) for value in found if not isinstance(value, tuple)} == {0, 1}
    assert {isinstance(value[0], tuple) for value in found if isinstance(value, tuple)} == {False, True}


def test_some_numbers_that_are_fed_in_are_not_read() -> None:
    computations = in_order("feeds").split("\n\n")
    feeds = [text for text in computations if " infeed(" in text]
    unread = [text for text in feeds if "get-tuple-element(i), index=0" not in text]
    assert len(feeds) // 4 <= len(unread) <= len(feeds) // 2
