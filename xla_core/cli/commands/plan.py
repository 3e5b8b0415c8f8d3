"""`xla plan`: the ops and types that a backend must add to run given programs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from xla_core.cli import output, programs

if TYPE_CHECKING:
    from xla_core.passes import PlanStep, SupportPlan

_SHOWN = 4  # programs of a step


def plan(
    files: Annotated[
        list[Path], typer.Argument(metavar="FILE...", help="Programs: StableHLO or HLO text, or MLIR bytecode.")
    ],
    backend: Annotated[str, typer.Option("--backend", "-b", metavar="B", help="The backend.")],
    json: Annotated[bool, typer.Option("--json", help="Print the plan as JSON.")] = False,
) -> None:
    """List the fewest ops and types that a backend must add to run programs without fallback="host".

    The order is the one that unlocks most programs first. A missing op may be added itself, or by the ops that its
    decomposition needs, whichever is less for all programs together. Needs no device where the backend's compiler needs
    none.
    """
    from xla_core.backend import CompileOptions, load_backend
    from xla_core.passes import plan_support

    spec = load_backend(backend)
    compiler, options = spec.platform().compiler, CompileOptions(backend=spec.options())
    modules = {str(f): programs.parse(programs.read_program(f), programs.file_name(f), ()) for f in files}
    with output.console(stderr=True).status("finding what the programs need"):
        made = plan_support(compiler.target_config, modules, compiler.hlo_stages(options))
    if json:
        output.write(_as_json(backend, made), None)
    else:
        print_plan(backend, made)


def print_plan(backend: str, plan: SupportPlan) -> None:
    """Prints a table with a row for each addition."""
    from rich.table import Table

    out = output.console()
    unlocked = [name for step in plan.steps for name in step.unlocks]
    total = len(plan.runs) + len(unlocked)
    out.print(f"{backend} runs {len(plan.runs)} of {total} programs without fallback.", markup=False, soft_wrap=True)
    if plan.steps:
        table = Table("step", "add", "for", "unlocks", "runs", box=None, pad_edge=False)
        count = len(plan.runs)
        for number, step in enumerate(plan.steps, 1):
            count += len(step.unlocks)
            rows = _additions(step)
            for index, (capability, served) in enumerate(rows):
                first = (str(number), _names(step.unlocks), str(count)) if not index else ("", "", "")
                table.add_row(first[0], capability, served, *first[1:])
        out.print(table, markup=False)
        additions = sum(len(step.lacks) for step in plan.steps)
        added = "this addition" if additions == 1 else f"these {additions} additions"
        out.print(f"With {added} it runs {count} of {total}.", markup=False, soft_wrap=True)


def _additions(step: PlanStep) -> Sequence[tuple[str, str]]:
    """The additions of a step: a row for each op with its element types, and the ops that need it."""
    rows: dict[tuple[str, str], tuple[list[str], dict[str, None]]] = {}
    for lack in step.lacks:
        typed = lack.element_type is not None
        types, served = rows.setdefault((str(lack.opcode or lack.kind.value), "" if typed else str(lack)), ([], {}))
        if typed:
            types.append(str(lack.element_type))
        served.update(dict.fromkeys(str(op) for op in step.serves[lack] if op != lack.opcode))
    return [
        (whole or f"{name} of {', '.join(types)}", ", ".join(served)) for (name, whole), (types, served) in rows.items()
    ]


def _names(unlocked: Sequence[str]) -> str:
    short = [Path(name).stem for name in unlocked]
    more = f" and {len(short) - _SHOWN} more" if len(short) > _SHOWN else ""
    return ", ".join(short[:_SHOWN]) + more


def _as_json(backend: str, plan: SupportPlan) -> str:
    import json

    def lack(step: PlanStep, index: int) -> dict[str, Any]:
        one = step.lacks[index]
        return {
            "opcode": None if one.opcode is None else one.opcode.value,
            "element_type": None if one.element_type is None else one.element_type.value,
            "kind": one.kind.value,
            "detail": one.detail,
            "needed_by": [opcode.value for opcode in step.serves[one]],
        }

    steps = [
        {"add": [lack(step, index) for index in range(len(step.lacks))], "unlocks": list(step.unlocks)}
        for step in plan.steps
    ]
    document = {"backend": backend, "runs": list(plan.runs), "steps": steps}
    return json.dumps(document, indent=1)
