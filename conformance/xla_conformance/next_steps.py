"""The next additions to a backend, by which it would run programs that it does not support."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from xla_conformance.child_process import Enter, run_in_stages
from xla_conformance.programs import PROGRAMS
from xla_conformance.results import Run, State

_SECONDS = 120.0
_SHOWN = 3


def next_steps(run: Run) -> Sequence[str]:
    """Returns lines with the first additions that unlock programs which the run reports as not supported.

    The plan is made in a process of its own, because making the backend's compiler may fail in any way.
    """
    names = [p.name for p in PROGRAMS if f"test_program[{p.name}]" in _not_supported(run)]
    if not names:
        return ()
    outcome = run_in_stages(_plan, [run.backend, names], _SECONDS)
    if outcome.stage:
        return (f"What to add for {len(names)} programs is not known: planning it {outcome.how}.",)
    steps: list[dict[str, Any]] = outcome.data["plan"]["steps"]
    lines = [
        f"add {', '.join(step['add'])}: unlocks {step['unlocks']} program{'s' if step['unlocks'] > 1 else ''}"
        for step in steps[:_SHOWN]
    ]
    more = f", and {len(steps) - _SHOWN} more steps" if len(steps) > _SHOWN else ""
    head = f"Next, for the {len(names)} programs that are not supported{more} (`xla plan` lists them for any programs):"
    return (head, *(f"  {line}" for line in lines))


def _not_supported(run: Run) -> set[str]:
    return {r.name for r in run.results if r.state is State.NOT_SUPPORTED}


def _plan(enter: Enter, argument: Any) -> None:
    """Makes the plan in the other process."""
    from xla_core import CompileOptions, parse
    from xla_core.backend import load_backend
    from xla_core.passes import plan_support

    backend, names = argument
    with enter("plan") as data:
        spec = load_backend(backend)
        compiler = spec.platform().compiler
        stages = compiler.hlo_stages(CompileOptions(backend=spec.options()))
        modules = {p.name: parse(p.text) for p in PROGRAMS if p.name in names}
        plan = plan_support(compiler.target_config, modules, stages)
        data["steps"] = [{"add": [str(lack) for lack in s.lacks], "unlocks": len(s.unlocks)} for s in plan.steps]
