"""Contexts keep a module's results, and every pair of their properties occurs."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
import pytest
from xla_conformance.failures import Failure
from xla_conformance.ops.contexts import CONTEXTS, Context, contexts_for, place, thorough_context_for
from xla_conformance.ops.executions import before_for, run

from xla_core import Buffer, Client, CompileOptions, LoadedExecutable, evaluate, parse

MODULE = """HloModule pair
ENTRY main {
  x = f32[3,5] parameter(0)
  y = f32[3,5] parameter(1)
  s = f32[3,5] subtract(x, y)
  c = pred[3,5] compare(x, y), direction=LT
  ROOT r = (f32[3,5], pred[3,5]) tuple(s, c)
}
"""
ARGUMENTS = [np.arange(15, dtype=np.float32).reshape(3, 5), np.full((3, 5), 7.5, np.float32)]


def test_every_pair_of_properties_occurs() -> None:
    names = ("operands", "neighbours", "layouts", "level")
    for first, second in itertools.combinations(names, 2):
        met = {(getattr(c, first), getattr(c, second)) for c in CONTEXTS}
        values = [{getattr(c, name) for c in CONTEXTS} for name in (first, second)]
        assert met == set(itertools.product(*values))


def test_two_contexts_in_turn_have_both_levels() -> None:
    assert all({c.level for c in contexts_for(number, 2)} == {0, 2} for number in range(20))


def test_a_type_of_an_op_has_both_levels_in_few_cases_and_every_context_in_more() -> None:
    for name in ("dot f32", "pad s8", "sort bf16"):
        met = [thorough_context_for(number, name) for number in range(21)]
        assert set(met) == {*CONTEXTS, Context(level=0)}
        assert {c.level for c in met if c.is_plain} == {0, 2} == {c.level for c in met[:3] if c.is_plain}
    assert all(thorough_context_for(n, "add f32", often=0).level == 0 for n in range(21) if n % 3)


@pytest.mark.parametrize("context", CONTEXTS, ids=str)
def test_results_stay_the_same(context: Context) -> None:
    module = parse(MODULE)
    placed = place(module, context, ARGUMENTS)
    for got, wanted in zip(evaluate(placed.module, *placed.arguments), evaluate(module, *ARGUMENTS), strict=True):
        np.testing.assert_array_equal(got, wanted)


@pytest.mark.parametrize("context", [c for c in CONTEXTS if c.layouts == "mixed"], ids=str)
@pytest.mark.parametrize("count", [1, 2, 3])
def test_each_two_arrays_differ_in_layout_in_some_case(context: Context, count: int) -> None:
    met = set()
    for size in range(2, 12):
        names = [f"p{number}" for number in range(count)]
        lines = [f"  {name} = f32[{size},3] parameter({number})" for number, name in enumerate(names)]
        lines.append(f"  ROOT r = f32[{size},3] add({names[0]}, {names[-1]})")
        module = parse("HloModule m\nENTRY main {\n" + "\n".join(lines) + "\n}\n")
        placed = place(module, context, [np.ones((size, 3), np.float32)] * count)
        shapes = [*placed.module.parameter_shapes, placed.module.result_shape]
        orders = [shape.layout.minor_to_major for shape in shapes if shape.rank == 2 and shape.layout is not None]
        met |= {pair for pair in itertools.combinations(range(len(orders)), 2) if orders[pair[0]] != orders[pair[1]]}
        assert len(orders) > 1 or orders == [(0, 1)]
    assert met == set(itertools.combinations(range(len(orders)), 2))


@pytest.mark.parametrize(
    "context", [c for c in CONTEXTS if c.neighbours == "fused" or c.operands == "kernels"], ids=str
)
def test_no_pass_removes_the_context(context: Context) -> None:
    """After optimization there are the selects and the branches that only these arguments make useless."""
    placed = place(parse(MODULE), context, ARGUMENTS)
    with Client("template") as client:
        text = client.compile(placed.module, CompileOptions(optimization_level=2)).as_text()
    assert "select(" in text or context.neighbours != "fused"
    assert " conditional(" in text or context.operands != "kernels"


class _Wrapped:
    """An executable whose executions change the list of arguments, or their results after the first."""

    def __init__(self, executable: LoadedExecutable, client: Client, changes_arguments: bool) -> None:
        self._executable, self._client, self._changes_arguments = executable, client, changes_arguments
        self._runs = 0

    def execute(self, buffers: list[Buffer]) -> Sequence[Buffer]:
        results = self._executable.execute(buffers)
        self._runs += 1
        if self._changes_arguments:
            buffers[0] = results[0]
            return results
        return [self._client.buffer_from_host(np.asarray(r) * self._runs) for r in results]


class _WrongClient(Client):
    changes_arguments = False

    def compile(self, *arguments: Any, **named: Any) -> Any:
        return _Wrapped(super().compile(*arguments, **named), self, self.changes_arguments)


@pytest.mark.parametrize(("changes_arguments", "sentence"), [(True, "leaves its arguments"), (False, "A second exec")])
def test_executions_must_repeat_and_keep_their_arguments(changes_arguments: bool, sentence: str) -> None:
    module = parse("HloModule m\nENTRY main {\n  x = f32[4] parameter(0)\n  ROOT r = f32[4] add(x, x)\n}\n")
    with _WrongClient("template") as client:
        client.changes_arguments = changes_arguments
        with pytest.raises(Failure, match=sentence):
            run(client, [place(module, Context(), [np.ones(4, np.float32)])])


class _Remembering:
    """An executable that gives the results of its first execution whose arguments began alike."""

    def __init__(self, executable: LoadedExecutable, client: Client, key_bytes: int) -> None:
        self._executable, self._client, self._key_bytes = executable, client, key_bytes
        self.executable, self.devices = executable.executable, executable.devices
        self._results: dict[bytes, list[np.ndarray]] = {}

    def execute(self, buffers: list[Buffer]) -> list[Buffer]:
        key = np.asarray(buffers[0]).tobytes()[: self._key_bytes]
        results = self._executable.execute(buffers)
        kept = self._results.setdefault(key, [np.array(r) for r in results])
        return [self._client.buffer_from_host(array) for array in kept]


class _RememberingClient(Client):
    key_bytes = 0

    def compile(self, *arguments: Any, **named: Any) -> Any:
        return _Remembering(super().compile(*arguments, **named), self, self.key_bytes)


@pytest.mark.parametrize(
    ("before", "key_bytes", "is_found"),
    [("other", 0, True), ("other", 8, False), ("alike", 4, True), ("alike", 0, True)],
)
def test_results_that_were_kept_are_found(before: Literal["other", "alike"], key_bytes: int, is_found: bool) -> None:
    arguments = [np.arange(15, dtype=np.float32).reshape(3, 5) % 7, np.full((3, 5), 3.5, np.float32)]
    with _RememberingClient("template") as client:
        client.key_bytes = key_bytes
        placed = place(parse(MODULE), Context(), arguments)
        if is_found:
            with pytest.raises(Failure, match="A second execution with the same arguments"):
                run(client, [placed], before=before)
        else:
            ((result, *_),) = run(client, [placed], before=before)
            np.testing.assert_array_equal(result, evaluate(parse(MODULE), *arguments)[0])


def test_executions_before_the_one_that_counts_differ() -> None:
    found = [before_for(f"add-f32-turn.{number}") for number in range(400)]
    assert all(found.count(before) > 50 for before in ("same", "other", "alike"))
