"""The command `xla bisect`."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from xla_core.cli import options

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy as np
    from rich.console import Console

    from xla_conformance.bisect.device_process import DeviceProcess
    from xla_conformance.bisect.passes import PassStep
    from xla_core.errors import XlaError
    from xla_core.hlo import HloModule

_STEPS = 1_000_000  # of the evaluator, for a program that is tried


def bisect(
    file: options.Program,
    backend: options.Backend = None,
    inputs: options.Inputs = None,
    shape: options.Shapes = None,
    seed: options.Seed = 0,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="DIR", help="Write the reduced program and its arrays there."),
    ] = None,
    settings: options.Settings = None,
    seconds: Annotated[
        float, typer.Option("--seconds", metavar="N", min=0.1, help="How long a run or a compilation step may take.")
    ] = 60.0,
) -> None:
    """Find the pass, or the instruction of the device, that makes a program's results wrong; exit code 1 if one does.

    The reference evaluator runs the program, and the module after the passes. If a pass is at fault, it is named. If
    not, each instruction of the optimized module runs alone on the device, on the device's own inputs, and is compared
    with the evaluator by the rule of its op in the conformance suite.
    """
    import xla_core as xla
    from xla_conformance.bisect.composites import define_composites
    from xla_conformance.bisect.device_process import DeviceProcess
    from xla_conformance.bisect.passes import compile_in_steps, unknown_custom_call
    from xla_core.cli import comparison, console, programs

    if output is not None:
        programs.make_directory(output)
    module = programs.parse(programs.read_program(file), programs.file_name(file), shape or ())
    _require_one_device(module)
    define_composites(module)
    shapes = [leaf for s in module.parameter_shapes for leaf in s.array_leaves()]
    arguments = programs.load_arguments(inputs, shapes) if inputs else programs.arguments_for(module, shapes, seed)
    out = console()
    expected = xla.evaluate(module, *arguments)
    with DeviceProcess(backend, settings or (), seconds) as device:
        failure, steps = compile_in_steps(device, module)
        failing = device.doing if failure is not None else ""
        changed = f"{len(steps)} pass{'' if len(steps) == 1 else 'es'} changed the module"
        out.print(f"{module.name} on {device.platform_name}: {changed}", markup=False)
        tolerances = comparison.describe_tolerances(expected, comparison.exact_results(module))
        out.print(f"Tolerance of whole programs: {tolerances}", markup=False, soft_wrap=True)
        out.print(
            "Tolerance of an instruction alone: its op's rule; for fusions, sums and loops that of whole programs"
        )
        difference = _run(device, failure, module, arguments, expected)
        known = next((n for n, step in enumerate(steps) if unknown_custom_call(step.module)), len(steps))
        wrong = _find_pass(out, module, arguments, expected, steps[:known], failing, difference, output)
        if not wrong and known < len(steps):
            wrong = _stop_at_unknown_call(out, module, arguments, steps, known, difference, output)
        elif not wrong:
            out.print("No pass changes the answer.")
            wrong = _find_on_device(out, steps[-1].module if steps else module, arguments, device, output)
        if difference:
            _reduce(out, device, module, arguments, output)
    if wrong or difference:
        if not wrong:
            _verdict(out, "The whole program is wrong, though no part of it is", difference)
        raise typer.Exit(1)
    extent = "in each instruction and as a whole" if known == len(steps) else "as a whole"
    out.print(f"[bold green]The device agrees with the reference evaluator, {extent}.")
    if shapes and not inputs:
        other = "give another seed, or by --input the arguments for which the answer is wrong"
        out.print(
            f"The arguments are random, of --seed {seed}. A fault may need other values: {other}.", soft_wrap=True
        )


def _verdict(out: Console, what: str, how: str) -> None:
    """Prints the fault, in bold, and its symptom. Both may contain text of a vendor's errors."""
    from rich.text import Text

    out.print(Text.assemble((what, "bold red"), f": {how}"), soft_wrap=True)


def _find_pass(
    out: Console,
    module: HloModule,
    arguments: Sequence[np.ndarray],
    expected: Sequence[np.ndarray],
    steps: Sequence[PassStep],
    failing: str,
    difference: str,
    output: Path | None,
) -> bool:
    """Prints which pass changes the answer or fails, and writes the program before it. Returns whether one does.

    `failing` is the step at which the compiler failed, for the reason `difference`, or empty.
    """
    from xla_conformance.bisect.passes import changed_lines, find_wrong_pass
    from xla_core.cli import comparison

    found = find_wrong_pass(steps, arguments, expected, comparison.exact_results(module))
    if found is not None:
        number, how = found
        _verdict(out, f"The pass {steps[number]} changes the answer", how)
        before, after = steps[number - 1].module if number else module, steps[number].module.to_text()
        out.print("What it changed:")
        for line in changed_lines(before.to_text(), after):
            out.print(f"  {line}", markup=False, highlight=False, soft_wrap=True)
        out.print("The program before this pass:")
        _write(out, output, before, arguments, {"after.hlo": after})
        return True
    if failing.startswith("the pass "):
        _verdict(out, f"{failing[0].upper()}{failing[1:]} fails", difference)
        _write(out, output, steps[-1].module if steps else module, arguments)
        return True
    return False


def _stop_at_unknown_call(
    out: Console,
    module: HloModule,
    arguments: Sequence[np.ndarray],
    steps: Sequence[PassStep],
    number: int,
    difference: str,
    output: Path | None,
) -> bool:
    """Prints that a pass added a custom call which the evaluator can't evaluate. Returns whether the results differ."""
    from xla_conformance.bisect.passes import unknown_custom_call

    target = unknown_custom_call(steps[number].module)
    out.print(
        f"No pass before {steps[number]} changes the answer. That pass adds a custom call to {target!r}, which the "
        "evaluator can't evaluate, so that neither later passes nor single instructions are compared. "
        "xla_core.hlo.register_custom_call defines it (docs/custom-calls.md).",
        markup=False,
        soft_wrap=True,
    )
    if difference:
        _verdict(out, f"The pass {steps[number]}, a later one or the device is wrong", difference)
        before = steps[number - 1].module if number else module
        out.print("The program before this pass:")
        _write(out, output, before, arguments, {"after.hlo": steps[number].module.to_text()})
    return bool(difference)


def _run(
    device: DeviceProcess,
    failure: XlaError | None,
    module: HloModule,
    arguments: Sequence[np.ndarray],
    expected: Sequence[np.ndarray],
) -> str:
    """Runs the program; describes how its results differ, or the error of the compilation or the device."""
    from xla_conformance.bisect.comparison import first_difference
    from xla_core.cli import comparison
    from xla_core.errors import XlaError

    try:
        if failure is not None:
            raise failure
        return first_difference(device.run(module, arguments), expected, comparison.exact_results(module))
    except XlaError as error:
        return f"{error.code.name}: {error.message}"


def _reduce(
    out: Console,
    device: DeviceProcess,
    module: HloModule,
    arguments: Sequence[np.ndarray],
    output: Path | None,
) -> None:
    """Writes the smallest program found whose results, compiled as a whole, still differ."""
    from xla_conformance.bisect.comparison import first_difference
    from xla_conformance.bisect.shrinking import Reduced, shrink
    from xla_conformance.wording import counted
    from xla_core import evaluate
    from xla_core.cli import comparison, programs
    from xla_core.errors import DeadlineExceededError, UnimplementedError, XlaError

    def compare(program: HloModule, given: Sequence[np.ndarray]) -> tuple[str, dict[str, np.ndarray]]:
        try:
            expected = evaluate(program, *given, max_steps=_STEPS)
        except DeadlineExceededError:  # a loop that has become endless
            return "", {}
        try:
            results = device.run(program, given)
        except UnimplementedError:
            return "", {}
        except XlaError as error:
            return f"{error.code.name}: {error.message}", {}
        arrays = {f"{n}_{i}.npy": a for n, v in (("result", results), ("expected", expected)) for i, a in enumerate(v)}
        return first_difference(results, expected, comparison.exact_results(program)), arrays

    def differs(program: HloModule, given: list[np.ndarray]) -> bool:
        return bool(compare(program, given)[0])

    def reduced(number: int | None) -> Reduced | None:
        return kept_if_wrong(*shrink(module, arguments, number, differs, any_result=True))

    def kept_if_wrong(program: HloModule, given: list[np.ndarray]) -> Reduced | None:
        difference, arrays = compare(program, given)
        return Reduced(program, given, difference, arrays) if difference else None

    for number in (*range(len(list(module.result_shape.leaves()))), None):
        found = device.confirmed(partial(reduced, number), lambda found: kept_if_wrong(found.program, found.given))
        if found is not None:
            count = sum(c.instruction_count for c in found.program.computations)
            what = "differs" if found.arrays else "fails"
            size = counted(count, "instruction")
            _verdict(out, f"The smallest program found that {what} has {size}", found.difference)
            folder = output / "reduced" if output is not None else None
            if folder is not None:
                programs.make_directory(folder)
            _write(out, folder, found.program, found.given, found.arrays)
            return


def _find_on_device(
    out: Console, optimized: HloModule, arguments: Sequence[np.ndarray], device: DeviceProcess, output: Path | None
) -> bool:
    from xla_conformance.bisect.instructions import find_again, find_wrong_instruction
    from xla_conformance.bisect.reduction import find_wrong_prefix, find_wrong_program, reduce_fusion
    from xla_conformance.progress import progress
    from xla_core.hlo import extract_module

    with progress() as show:
        finding = device.confirmed(
            lambda: find_wrong_instruction(
                optimized, arguments, device, lambda done, total, name: show(done, total, name, "")
            ),
            lambda finding: find_again(finding, device),
        )
    if finding is None:
        prefix = device.confirmed(
            lambda: find_wrong_prefix(optimized, arguments, device),
            lambda prefix: find_wrong_program(*prefix[:2], arguments, device),
        )
        if prefix is None:
            return False
        program, last, how = prefix
        how += "\nThe fault lies in buffers, layouts or the order of the work."
        _verdict(out, f"The device computes each instruction rightly alone, but {last} wrongly after others", how)
        _write(out, output, program, arguments)
        return True
    device.renew()
    later = (
        ""
        if find_again(finding, device)
        else "\nAs the first program of a process it is right. Programs before it matter."
    )
    finding = reduce_fusion(finding, device)
    _verdict(out, f"The device computes {' / '.join(finding.path)} wrongly", finding.difference + later)
    out.print(str(finding.instruction), markup=False, soft_wrap=True)
    arrays = {f"result_{i}.npy": a for i, a in enumerate(finding.results)}
    arrays |= {f"expected_{i}.npy": a for i, a in enumerate(finding.expected)}
    _write(out, output, extract_module(finding.instruction), finding.arrays, arrays)
    return True


def _require_one_device(module: HloModule) -> None:
    from xla_core.errors import UnimplementedError
    from xla_core.hlo import Trait

    if module.num_replicas * module.num_partitions > 1:
        raise UnimplementedError("xla bisect runs programs of one device", hint="bisect the program of one of them")
    for computation in module.computations:
        for instruction in computation.instructions:
            if Trait.HOST_TRANSFER in instruction.op.traits:
                raise UnimplementedError(
                    f"xla bisect can't repeat {instruction.opcode}, which transfers data to or from the host",
                    location=instruction.location,
                    hint="make the transferred value a parameter or a result",
                )


def _write(
    out: Console,
    folder: Path | None,
    program: HloModule,
    arguments: Sequence[np.ndarray],
    more: Mapping[str, np.ndarray | str] | None = None,
) -> None:
    """Writes the program, its arguments and further arrays or texts, and prints where; prints the program without a
    folder.
    """
    from xla_core.cli import programs

    if folder is None:
        out.print(program.to_text(), markup=False, soft_wrap=True)
        return
    (folder / "program.hlo").write_text(program.to_text())
    programs.save_arguments(folder, arguments)
    for name, content in (more or {}).items():
        if isinstance(content, str):
            (folder / name).write_text(content)
        else:
            programs.save_array(folder / name, content)
    out.print(f"{folder}: program.hlo, {programs.SAVED_ARGUMENTS}{''.join(f', {name}' for name in more or ())}")
