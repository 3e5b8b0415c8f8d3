"""Chooses the cases of ops, runs them in batches, and prints what is wrong."""

from __future__ import annotations

import json
import zlib
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import typer
from rich.console import Console

from xla_conformance.ahead_of_time.batches import State, batches_of, run_batch
from xla_conformance.ahead_of_time.machine import Machine
from xla_conformance.expressions import compile_expression
from xla_conformance.ops import OpCase, generate
from xla_conformance.progress import progress
from xla_core.backend import AheadOfTimeOptions, load_backend
from xla_core.cli import programs
from xla_core.errors import InvalidArgumentError

__all__ = ["conform_ahead_of_time"]

_ONE_OF = {"quick": 8, "full": 1, "stress": 1}
"""Profile -> of how many cases of the quick suite one is run."""

_MOST_SHOWN = 20


def conform_ahead_of_time(
    out: Console,
    backend: str,
    runner: str,
    c_compiler: str,
    *,
    profile: str = "quick",
    expression: str = "",
    settings: Sequence[str] = (),
    seed: int = 0,
    workers: int = 1,
) -> None:
    """Runs the cases and prints the results.

    Raises:
        InvalidArgumentError: a setting is wrong, no case matches, or the compiler and the runner don't fit together.
        typer.Exit: with code 1, where a result is wrong.
    """
    compiler = load_backend(backend).platform().compiler
    target, others = _target(settings)
    options = programs.compile_options(others)
    options = options.model_copy(update={"backend": load_backend(backend).options.model_validate(options.backend)})
    machine = Machine(compiler, target, options, c_compiler, runner)
    order = "another" if machine.is_swapped else "the same"
    cases = _cases(profile, expression, seed, target.triple or compiler.target_config.triple)
    if not cases:
        raise InvalidArgumentError(f"-k {expression!r} matches no case", hint='for example -k "dot and f32"')
    where = target.triple or compiler.target_config.triple
    out.print(
        f"{backend} ahead of time for {where}: {len(cases)} cases; numbers in {order} byte order",
        markup=False,
        soft_wrap=True,
    )
    batches = list(batches_of(cases))
    counts: Counter[State] = Counter()
    wrong = []
    with progress() as show, ThreadPoolExecutor(workers) as pool:
        for outcomes in pool.map(partial(run_batch, machine), batches):
            counts.update(outcome.state for outcome in outcomes)
            wrong += [outcome for outcome in outcomes if outcome.state is State.WRONG]
            show(counts.total(), len(cases), outcomes[-1].case.opcode, f"{len(wrong)} wrong" if wrong else "")
    for outcome in wrong[:_MOST_SHOWN]:
        out.print(f"{outcome.case.name}: {outcome.sentence}", markup=False, soft_wrap=True)
    if len(wrong) > _MOST_SHOWN:
        out.print(f"and {len(wrong) - _MOST_SHOWN} more")
    out.print(", ".join(f"{counts[state]} {state.value}" for state in State), markup=False)
    if wrong:
        raise typer.Exit(1)


def _target(settings: Sequence[str]) -> tuple[AheadOfTimeOptions, list[str]]:
    """The settings that are fields of AheadOfTimeOptions, such as triple, and the others."""
    fields, others = {"name": "model"}, []
    for setting in settings:
        name, equals, text = setting.partition("=")
        if not equals or name not in AheadOfTimeOptions.model_fields or name == "name":
            others.append(setting)
            continue
        try:
            fields[name] = json.loads(text)
        except ValueError:
            fields[name] = text
    return AheadOfTimeOptions.model_validate(fields), others


class _Matcher:
    """Whether a word of `-k` is in a name."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __call__(self, word: str, /, **unused: str | int | bool | None) -> bool:
        return word.lower() in self._name


def _cases(profile: str, expression: str, seed: int, triple: str) -> list[OpCase]:
    """The cases that match, or a sample of them, another one for each seed and triple."""
    words = compile_expression(expression) if expression.strip() else None
    chosen = []
    for case in generate(seed=seed):
        if case.has_denormal_products:
            continue
        if words is not None:
            if words.evaluate(_Matcher(case.name.lower())):
                chosen.append(case)
        elif zlib.crc32(f"{case.name} {seed} {triple}".encode()) % _ONE_OF[profile] == 0:
            chosen.append(case)
    return chosen
