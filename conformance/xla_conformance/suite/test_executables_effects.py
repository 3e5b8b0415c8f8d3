"""Effects happen as often as their places run, and in their order: feeds, custom calls, and draws of random states."""

from __future__ import annotations

import functools
import itertools
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np
import pytest

from xla_conformance.bits import require_bits
from xla_conformance.patience import FACTOR
from xla_conformance.programs.effects import NOTED, with_effects
from xla_conformance.programs.ordered_effects import in_order, number_of
from xla_core import Client, CompileOptions, LoadedExecutable, evaluate
from xla_core.hlo import Environment, HloModule, parse_hlo

SECONDS = 30.0 * FACTOR
_NUMBERS = (-2, 1, 5)
_LEVELS = (0, 1, 2)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "level" in metafunc.fixturenames:
        every = metafunc.config.getoption("xla_profile") != "quick"
        metafunc.parametrize("level", _LEVELS if every else _LEVELS[2:], ids=lambda level: f"O{level}")


@pytest.mark.promise(
    "transfer-manager.infeed", "transfer-manager.outfeed", "compiler.run-backend", "compiler.deserialize"
)
@pytest.mark.parametrize("kind", ["outfeed", "infeed"])
def test_effects_happen_as_often_as_their_place_runs(client: Client, kind: str, level: int) -> None:
    """What nobody reads, what is alike and what never changes is run, too, if it feeds."""
    module = parse_hlo(with_effects(kind))
    manager = client.platform.transfer_manager
    infeed, outfeed = manager.infeed(0), manager.outfeed(0)
    executables = _compile(client, module, level)
    for x, executable in zip(_NUMBERS, executables, strict=False):
        fed: list[np.ndarray] = []
        environment = Environment(next_infeed=functools.partial(_feed, fed))
        expected = evaluate(module, np.int32(x), environment=environment)
        for _ in range(2 * len(fed)):  # more than are read, so that a program which reads too many ends
            client.transfer_to_infeed(np.int32(7))
        got = [np.asarray(result) for result in executable(np.int32(x))]
        left = [infeed.get(timeout=SECONDS) for _ in range(len(infeed))]
        out = sorted(int(outfeed.get(timeout=SECONDS).value) for _ in range(len(outfeed)))
        said = f"at optimization level {level}, with {x}."
        wanted = sorted(int(np.asarray(value)) for value in environment.outfeed)
        assert len(left) == len(fed), f"A program reads from the infeed at each place, {said}"
        assert out == wanted, f"A program feeds out at each place, {said}"
        _require_results(module, got, expected, said)


@pytest.mark.promise("compiler.run-backend", "compiler.deserialize")
def test_custom_calls_happen_as_often_as_their_place_runs(client: Client, level: int) -> None:
    for noted, wanted, said in _runs_that_note(client, with_effects("custom-call"), level):
        assert sorted(noted) == sorted(wanted), f"A custom call with a side effect runs at each place, {said}"


@pytest.mark.promise("compiler.run-backend", "compiler.deserialize")
def test_random_states_advance_at_each_place(client: Client, level: int) -> None:
    """Runs draw as many states as places run. In which order is free, so a difference shows after many runs."""
    module = parse_hlo(with_effects("random-state"))
    for x, executable in zip(_NUMBERS[1:], _compile(client, module, level), strict=False):
        environment = Environment()
        evaluate(module, np.int32(x), environment=environment)
        count = environment.rng_state - Environment().rng_state
        drawn = [int(np.asarray(executable(np.int32(x))[-1])[0]) for _ in range(count + 2)]
        difference = drawn[-1] - drawn[0] - (count + 1) * count
        assert abs(difference) < count, (
            f"{count} draws of each run advance the state {count + 1} times, at optimization level {level}, with {x}, "
            f"and in the end it lacks {-difference}."
        )


@pytest.mark.promise("compiler.run-backend", "compiler.deserialize")
def test_custom_calls_are_in_order(client: Client, level: int) -> None:
    """Each call takes the number that the one before it gives."""
    for noted, wanted, said in _runs_that_note(client, in_order("custom-call"), level):
        assert noted == wanted, f"Custom calls run in their order, {said}"


@pytest.mark.promise(
    "transfer-manager.infeed", "transfer-manager.outfeed", "compiler.run-backend", "compiler.deserialize"
)
def test_feeds_are_in_the_order_of_their_tokens(client: Client, level: int) -> None:
    """What is fed out has a number of its own and the number that was read before it."""
    module = parse_hlo(in_order("feeds"))
    infeed = client.platform.transfer_manager.infeed(0)
    outfeed = client.platform.transfer_manager.outfeed(0)
    for x, executable in zip(_NUMBERS, _compile(client, module, level), strict=False):
        environment = Environment(next_infeed=functools.partial(next, _counted()))
        expected = evaluate(module, np.int32(x), environment=environment)
        wanted = [number_of(value) for value in environment.outfeed]
        for value, _ in zip(_counted(), range(2 * len(wanted)), strict=False):
            client.transfer_to_infeed(value)
        got = [np.asarray(result) for result in executable(np.int32(x))]
        left = [infeed.get(timeout=SECONDS) for _ in range(len(infeed))]
        out = [number_of(outfeed.get(timeout=SECONDS).value) for _ in range(len(outfeed))]
        said = f"at optimization level {level}, with {x}."
        assert len(left) == len(wanted), f"A program reads from the infeed once at each place, {said}"
        assert out == wanted, f"A program feeds in the order of its tokens, {said}"
        _require_results(module, got, expected, said)


def _compile(client: Client, module: HloModule, level: int) -> Iterator[LoadedExecutable]:
    """Compiles a program, whose custom calls may run on the host. Yields what was read of its bytes and it in turns."""
    options = CompileOptions(
        optimization_level=level, fallback="host" if client.platform.compiler.host_fallback else "none"
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # about what runs on the host
        made = client.compile(module, options)
        return itertools.cycle((client.deserialize(made.serialize()), made))


def _runs_that_note(client: Client, text: str, level: int) -> Iterator[tuple[list[int], list[int], str]]:
    """Yields what the custom calls of each run were given, what they should be given, and where the run was.

    The results of a run are compared after the caller has looked at its calls.
    """
    module = parse_hlo(text)
    for x, executable in zip(_NUMBERS, _compile(client, module, level), strict=False):
        wanted, expected = _noted(functools.partial(evaluate, module), x)
        noted, got = _noted(executable, x)
        said = f"at optimization level {level}, with {x}."
        yield noted, wanted, said
        _require_results(module, got, expected, said)


def _noted(run: Callable[[Any], Iterable[Any]], x: int) -> tuple[list[int], list[np.ndarray]]:
    """Returns the numbers that custom calls were given, and the results."""
    NOTED.clear()
    results = [np.asarray(result) for result in run(np.int32(x))]
    return NOTED.copy(), results


def _require_results(module: HloModule, got: Sequence[np.ndarray], expected: Sequence[np.ndarray], said: str) -> None:
    require_bits(
        f"A program with effects gives its results, {said}",
        got,
        expected,
        module=module,
        promise="compiler.run-backend",
    )


def _feed(fed: list[np.ndarray]) -> np.ndarray:
    fed.append(np.array(7, np.int32))
    return fed[-1]


def _counted() -> Iterator[np.ndarray]:
    return (np.array(n, np.int32) for n in itertools.count(1))
