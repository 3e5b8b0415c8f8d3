"""Runs of drawn cases, several in one program, which must give each case its results."""

from __future__ import annotations

from collections.abc import Sequence

from xla_conformance.claims import NotSupported
from xla_conformance.failures import Failure
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
    parts = [place(d.case.program.module, d.inner_context, d.case.arguments(), layouts=target.layouts) for d in group]
    whole = join(parts) if len(parts) > 1 else parts[0]
    whole = place(
        whole.module, Context(layouts=context.layouts, level=context.level), whole.arguments, layouts=target.layouts
    )
    name = group[0].name
    (results,) = run(client, [whole], device=device_for(client, name), before=before_for(name))
    for drawn in group:
        case, expected = drawn.case, drawn.case.expected()
        mine, results = results[: len(expected)], results[len(expected) :]
        check(
            f"{sentence_of(case.opcode, case.element_type, case.rule)}, here {drawn.name}:",
            mine,
            expected,
            module=whole.module,
            arguments=whole.arguments,
            operands=case.operands,
            seed=seed,
        )
