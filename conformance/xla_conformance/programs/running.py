"""Runs of many small programs, which are one program as long as that one is right."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence

import numpy as np

from xla_conformance.claims import NotSupported
from xla_conformance.failures import Failure
from xla_conformance.ops.comparison import check
from xla_conformance.ops.contexts import Context, Placed, place
from xla_conformance.ops.executions import before_for, device_for, run
from xla_conformance.ops.joint import join
from xla_conformance.ops.twins import Twins
from xla_conformance.programs.rewrites import Rewritten
from xla_core import Client, CompileOptions
from xla_core.target import TargetConfig

_RUNS = 3


def require_each(
    client: Client,
    target: TargetConfig,
    programs: Sequence[Rewritten | Twins],
    context: Context,
    seed: int,
    *,
    donated: bool = False,
) -> None:
    """Runs all programs as one; if that one is wrong or isn't supported, each runs alone.

    Args:
        donated: whether an execution may write to its arguments.
    """

    def require_right(programs: Sequence[Rewritten | Twins]) -> None:
        _require_right(client, target, programs, context, seed, donated)

    try:
        require_right(programs)
        return
    except (Failure, NotSupported) as error:
        together = error
    supported = False
    for program in programs:
        with contextlib.suppress(NotSupported):
            require_right([program])
            supported = True
    if not supported or isinstance(together, Failure):
        raise together


def _require_right(
    client: Client,
    target: TargetConfig,
    programs: Sequence[Rewritten | Twins],
    context: Context,
    seed: int,
    donated: bool,
) -> None:
    runs = [[p.arguments(seed + number) for p in programs] for number in range(_RUNS)]
    if context.operands == "constants":
        del runs[1:]
    flat = [[argument for some in each for argument in some] for each in runs]
    whole = join([Placed(p.module(), some, context) for p, some in zip(programs, runs[0], strict=True)])
    executions = place(whole.module, context, flat[0], layouts=target.layouts).with_each(flat)
    name = f"{programs[0].name}, {context}"
    if donated:
        found = _donated(client, executions)
    else:
        found = run(client, executions, device=device_for(client, name), before=before_for(name))
    said = f"optimization level {context.level}{', with donated arguments' if donated else ''}"
    for arguments, results in zip(runs, found, strict=True):
        rest = results
        for program, some in zip(programs, arguments, strict=True):
            expected = program.expected(some)
            mine, rest = rest[: len(expected)], rest[len(expected) :]
            sentence = f"A program of a few ops gives its results at {said}, here {program.name}:"
            check(sentence, mine, expected, module=program.text, arguments=some, seed=seed)


def _donated(client: Client, executions: Sequence[Placed]) -> list[list[np.ndarray]]:
    """Executes a module whose arguments are all donated."""
    first = executions[0]
    options = CompileOptions(
        optimization_level=first.context.level,
        use_entry_layouts=first.context.layouts == "mixed",
        donate=tuple(range(len(first.arguments))),
    )
    executable = client.compile(first.module, options)
    runs = [executable.execute([client.buffer_from_host(a) for a in each.arguments]) for each in executions]
    return [[np.array(result) for result in results] for results in runs]
