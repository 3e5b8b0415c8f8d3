"""Compares programs of a few ops, where one takes the result of the other, with the reference evaluator.

Passes rewrite such programs: they drop conversions, merge transposes, turn comparisons around, and replace patterns by
one kernel. Each op may be right alone.
"""

from __future__ import annotations

import dataclasses
import functools
import itertools
from collections.abc import Callable, Mapping, Sequence

import numpy as np
import pytest

from xla_conformance.bits import require_bits
from xla_conformance.claims import held_types, not_supported
from xla_conformance.ops.comparison import check
from xla_conformance.ops.compositions import Composition, compositions
from xla_conformance.ops.contexts import Context, Placed, place
from xla_conformance.ops.executions import before_for, device_for, run
from xla_conformance.ops.joint import join
from xla_conformance.ops.near_misses import RESEMBLANCES, Resemblance
from xla_conformance.ops.twins import groups, twins
from xla_conformance.ops.variations import readings, variations
from xla_conformance.programs.arrangements import arrangements
from xla_conformance.programs.constant_operands import CONSTANT_TYPES, constant_operands
from xla_conformance.programs.drawn import drawn_programs, drawn_trees, planted_programs
from xla_conformance.programs.loops import loops
from xla_conformance.programs.padded_windows import padded_windows
from xla_conformance.programs.patterns import broken_conditions, parts
from xla_conformance.programs.rewrites import KINDS, Rewritten, apart, rewritten
from xla_conformance.programs.running import require_each
from xla_conformance.programs.structures import branches, states
from xla_conformance.programs.wide_sums import wide_sums
from xla_conformance.programs.widenings import widenings
from xla_core import Client, evaluate
from xla_core.hlo import HloModule, Tolerance
from xla_core.target import TargetConfig

_TOLERANCE = Tolerance(rtol=1e-5, atol=1e-5)
_READ = 3
"""In the quick profile, one of so many values within each pattern is a result, too."""


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    config = metafunc.config
    every = config.getoption("xla_profile") != "quick"
    if "composition" in metafunc.fixturenames:
        found = list(compositions(config.getoption("xla_seed"), every=every))
        metafunc.parametrize("composition", found, ids=lambda composition: composition.name)
    if "group" in metafunc.fixturenames:
        metafunc.parametrize("group", groups(every=every))
    if "first" in metafunc.fixturenames:
        metafunc.parametrize("first", range(0, _DRAWN if every else _FEW, _FEW))
    if "planted" in metafunc.fixturenames:
        metafunc.parametrize("planted", range(0, _PLANTED, _MANY) if every else [0])
    if "tree" in metafunc.fixturenames:
        metafunc.parametrize("tree", range(0, _TREES, _FEW_TREES * 4) if every else [0])
    if "part" in metafunc.fixturenames:
        metafunc.parametrize("part", parts(every=every), ids=lambda part: f"{part[0]}-{part[1]}")


def test_one_op_after_another(
    backend: str,
    client: Client,
    target: TargetConfig,
    composition: Composition,
    seed: int,
    record_property: Callable[[str, object], None],
) -> None:
    record_property("opcode", composition.opcode)
    record_property("element_type", composition.element_type.value)
    composition = dataclasses.replace(composition, held=held_types(backend))
    module = composition.module() if composition.element_type in composition.held else None
    if module is None:
        not_supported(f"the device doesn't hold {composition.element_type} and a type of the results")
    arguments = composition.arguments(module, seed)
    expected = composition.expected(module, arguments)
    before, device = before_for(composition.name), device_for(client, composition.name)
    contexts = [Context(level=level) for level in composition.levels]
    for context in [*contexts, Context("constants")] if composition.folded else contexts:
        placed = place(module, context, arguments, layouts=target.layouts)
        (results,) = run(client, [placed], device=device, before=before)
        check(
            f"{composition.opcode} of another op's result must be the reference evaluator's result, "
            f"at optimization level {context.level}{', of constants' if context.operands == 'constants' else ''}:",
            results,
            expected,
            module=module,
            arguments=arguments,
            operands=lambda number: composition.operands(module, arguments, number),
            seed=seed,
        )


@pytest.mark.promise("compiler.run-backend")
@pytest.mark.parametrize("resemblance", RESEMBLANCES, ids=lambda resemblance: resemblance.name.replace(" ", "-"))
def test_a_pattern_and_what_looks_like_it(client: Client, resemblance: Resemblance, seed: int) -> None:
    arguments = resemblance.arguments(seed)
    for instead, module in resemblance.programs().items():
        expected = [np.asarray(r) for r in evaluate(module, *arguments)]
        sentence = f"The pattern {resemblance.name!r} gives its results."
        if instead:
            sentence = f"What looks like {resemblance.name!r}, with {instead!r} instead, gives results of its own."
        require_bits(
            sentence,
            [np.asarray(r) for r in client.compile(module)(*arguments)],
            expected,
            module=module,
            arguments=arguments,
            tolerances=[_TOLERANCE if e.dtype.kind == "f" else None for e in expected],
            promise="compiler.run-backend",
        )


_VARIED = {r.name: found for r in RESEMBLANCES if (found := variations(r.programs()[""]))}


@pytest.mark.promise("compiler.run-backend")
@pytest.mark.parametrize("name", _VARIED, ids=lambda name: name.replace(" ", "-"))
def test_a_pattern_with_one_change(client: Client, name: str, seed: int) -> None:
    _require_patterns(client, {name: _VARIED[name]}, seed)


@pytest.mark.promise("compiler.run-backend")
def test_a_pattern_of_which_more_is_read(client: Client, seed: int, request: pytest.FixtureRequest) -> None:
    every = request.config.getoption("xla_profile") != "quick"
    which = slice(None) if every else slice(seed % _READ, None, _READ)
    _require_patterns(client, {r.name: readings(r.programs()[""], which) for r in RESEMBLANCES}, seed)


def _require_patterns(client: Client, patterns: Mapping[str, Mapping[str, HloModule]], seed: int) -> None:
    """All programs of the patterns are one, in which each has arguments of its own."""
    arguments = {r.name: r.arguments(seed) for r in RESEMBLANCES if r.name in patterns}
    programs = [(name, instead, m) for name, some in patterns.items() for instead, m in some.items()]
    whole = join([Placed(module, arguments[name], Context()) for name, _, module in programs])
    rest = [np.asarray(r) for r in client.compile(whole.module)(*whole.arguments)]
    for name, instead, module in programs:
        expected = [np.asarray(r) for r in evaluate(module, *arguments[name])]
        mine, rest = rest[: len(expected)], rest[len(expected) :]
        require_bits(
            f"What looks like {name!r}, but for {instead}, gives results of its own.",
            mine,
            expected,
            module=module,
            arguments=arguments[name],
            tolerances=[_TOLERANCE if e.dtype.kind == "f" else None for e in expected],
            promise="compiler.run-backend",
        )


_TOGETHER = 200
_FEW, _DRAWN = 12, 300
"""How many drawn programs the quick and the full profile have."""
_SOME, _MANY, _PLANTED = 8, 60, 1800
"""How many programs with planted expressions are one program, in quick and in full, and how many full has."""
_FEW_TREES, _TREES = 100, 8000
"""How many trees of ops the quick and the full profile have."""
_CONTEXTS_OF_PLANTED = (Context(level=2), Context(level=0), Context(level=1), Context("constants", level=2))
_CONTEXTS = (
    Context(level=2),
    Context(level=0),
    Context(layouts="mixed", level=1),
    Context(operands="constants", level=2),
)
"""The last one is for passes that compute with constants. Only the last of all programs has an argument there."""
_IN_LAYOUTS = {"movement", "places", "reductions", "products", "orders", "fusions"}
"""The kinds of programs in which the order of dimensions matters."""


@pytest.mark.promise("compiler.run-backend")
@pytest.mark.parametrize(
    ("kind", "context"),
    [
        pytest.param(kind, context, id=f"{kind}-{context}")
        for kind, context in itertools.product(KINDS, _CONTEXTS)
        if context.layouts == "default" or kind in _IN_LAYOUTS
    ],
)
def test_what_a_pass_may_rewrite(client: Client, target: TargetConfig, kind: str, context: Context, seed: int) -> None:
    """All programs of a kind are one; if that one is wrong or isn't supported, each runs alone."""
    require_each(client, target, rewritten(kind), context, seed)


@pytest.mark.promise("compiler.run-backend")
@pytest.mark.parametrize("kind", KINDS)
def test_a_result_that_a_pass_may_rewrite(client: Client, target: TargetConfig, kind: str, seed: int) -> None:
    """Each result alone, whose values have no other use."""
    programs = [alone for program in rewritten(kind) for alone in apart(program)]
    if programs:
        require_each(client, target, programs, Context(level=2), seed)


_MADE: dict[str, Callable[..., Sequence[Rewritten]]] = {
    "counters": loops,
    "states": states,
    "branches": branches,
    "arrangements": arrangements,
    "padded-windows": padded_windows,
    "widenings": widenings,
    "wide-sums": wide_sums,
    **{f"constants-{t.value}": functools.partial(constant_operands, t) for t in CONSTANT_TYPES},
}


@pytest.mark.promise("compiler.run-backend")
@pytest.mark.parametrize("made", _MADE)
def test_what_holds_for_most_programs(
    client: Client, target: TargetConfig, made: str, seed: int, request: pytest.FixtureRequest
) -> None:
    """Counters, states, windows, constants and others of which all but one allow what a pass does."""
    every = request.config.getoption("xla_profile") != "quick"
    programs = _MADE[made](seed, every=every)
    for context in (Context(level=2), Context(level=0)) if every else (Context(level=2),):
        require_each(client, target, programs, context, seed)


@pytest.mark.promise("compiler.run-backend")
def test_what_holds_under_conditions(
    client: Client, target: TargetConfig, part: tuple[str, int], seed: int, request: pytest.FixtureRequest
) -> None:
    """Expressions that passes rewrite, and the same with one condition that fails."""
    every = request.config.getoption("xla_profile") != "quick"
    for level in (2, 0) if every and not part[1] else (2,):
        programs = broken_conditions(*part, seed, every=every and level > 0)
        for first in range(0, len(programs), _TOGETHER):
            require_each(client, target, programs[first : first + _TOGETHER], Context(level=level), seed)


@pytest.mark.promise("compiler.run-backend")
def test_drawn_programs(client: Client, backend: str, target: TargetConfig, first: int, seed: int) -> None:
    """Ops that share values, calls, loops and branches, as they come together by chance."""
    programs = drawn_programs(seed, first, _FEW, held_types(backend))
    for level in (2, 0) if first else (2,):
        require_each(client, target, programs, Context(level=level), seed)


@pytest.mark.promise("compiler.run-backend")
def test_drawn_trees(
    client: Client, backend: str, target: TargetConfig, tree: int, seed: int, request: pytest.FixtureRequest
) -> None:
    """Ops over each other, where no value has another user, as most passes ask for."""
    every = request.config.getoption("xla_profile") != "quick"
    programs = drawn_trees(seed, tree, _FEW_TREES * 4 if every else _FEW_TREES, held_types(backend))
    if not programs:
        not_supported("the device holds none of the types that trees have")
    require_each(client, target, programs, Context(level=2), seed)


@pytest.mark.promise("compiler.run-backend")
def test_planted_programs(
    client: Client, backend: str, target: TargetConfig, planted: int, seed: int, request: pytest.FixtureRequest
) -> None:
    """Expressions that passes rewrite, with up to three changes, among other ops, which give and take their values."""
    every = request.config.getoption("xla_profile") != "quick"
    programs = planted_programs(seed, planted, _MANY if every else _SOME, held_types(backend))
    require_each(client, target, programs, Context(level=2), seed)
    if every:
        other = _CONTEXTS_OF_PLANTED[planted // _MANY % len(_CONTEXTS_OF_PLANTED)]
        require_each(client, target, programs, other, seed, donated=other.operands == "arguments")


@pytest.mark.promise("compiler.run-backend", "executable.donation")
def test_planted_programs_with_donated_arguments(client: Client, backend: str, target: TargetConfig, seed: int) -> None:
    """Memory of arguments becomes that of results, but not before the last instruction that reads them."""
    programs = planted_programs(seed, _PLANTED, _SOME // 2, held_types(backend))
    require_each(client, target, programs, Context(level=2), seed, donated=True)


@pytest.mark.promise("compiler.run-backend")
def test_twins_are_told_apart(
    client: Client, target: TargetConfig, group: str, seed: int, request: pytest.FixtureRequest
) -> None:
    """Instructions of one op that differ in one thing, which a pass takes for one if it doesn't look at that."""
    every = request.config.getoption("xla_profile") != "quick"
    for context in (Context(level=2), Context(level=0)) if every else (Context(level=2),):
        require_each(client, target, twins(group, seed, every=every), context, seed)
