"""Runs of drawn cases, several in one program, which must give each case its results."""

from __future__ import annotations

from collections.abc import Sequence

from xla_conformance.claims import NotSupported
from xla_conformance.failures import Failure
from xla_conformance.ops.case_runs import cases_run, joined_runs, placed_runs, results_of_each
from xla_conformance.ops.comparison import check, sentence_of
from xla_conformance.ops.contexts import Context, place
from xla_conformance.ops.drawn import DrawnCase
from xla_conformance.ops.executions import before_for, device_for, run
from xla_conformance.ops.joint import beside_others, join
from xla_core import Client
from xla_core.target import TargetConfig


def require_group(client: Client, target: TargetConfig, group: Sequence[DrawnCase], seed: int) -> bool:
    """Runs cases as one program, and alone if that one fails. Returns whether the target supports some of them."""
    try:
        _require_right(client, target, group, seed)
        return True
    except (Exception, NotSupported) as error:
        if len(group) == 1:
            raise
        failed = error
    lacks: list[NotSupported] = []
    for drawn in group:
        try:
            _require_right(client, target, [drawn], seed)
        except NotSupported as error:
            lacks.append(error)
    if isinstance(failed, Failure):
        raise beside_others(failed, failed.module)
    if not isinstance(failed, NotSupported) or len(lacks) == len(group):
        raise failed
    return True


def _require_right(client: Client, target: TargetConfig, group: Sequence[DrawnCase], seed: int) -> None:
    context = group[0].context
    name = group[0].name
    before = before_for(name)
    cases = [cases_run(drawn.case, drawn.inner_context, before) for drawn in group]
    parts = [placed_runs(runs, drawn.inner_context, target.layouts) for runs, drawn in zip(cases, group, strict=True)]
    whole = join([runs[-1] for runs in parts]) if len(parts) > 1 else parts[0][-1]
    whole = place(
        whole.module, Context(layouts=context.layouts, level=context.level), whole.arguments, layouts=target.layouts
    )
    executions = joined_runs(whole, parts)
    device = device_for(client, name)
    results = run(client, executions, device=device, before="given" if len(executions) > 1 else before)
    for drawn, runs, mine in zip(group, cases, results_of_each(results, parts), strict=True):
        for case, placed, made in zip(runs, executions[-len(runs) :], mine, strict=True):
            check(
                f"{sentence_of(case.opcode, case.element_type, case.rule)}, here {drawn.name}:",
                made,
                case.expected(),
                module=placed.module,
                arguments=placed.arguments,
                operands=case.operands,
                seed=seed,
            )
