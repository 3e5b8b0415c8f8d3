"""Makes the program of a wrong instruction smaller."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np

from xla_conformance.bisect.comparison import first_difference
from xla_conformance.bisect.device_process import DeviceProcess
from xla_conformance.bisect.instructions import Finding
from xla_core import evaluate
from xla_core.cli import comparison
from xla_core.errors import XlaError
from xla_core.hlo import (
    EvaluationContext,
    HloComputation,
    HloInstruction,
    HloModule,
    Opcode,
    Trait,
    extract_module,
    flatten_value,
    tuple_of,
)


def reduce_fusion(finding: Finding, device: DeviceProcess) -> Finding:
    """Returns the smallest fusion, by the first of its instructions, that the device still computes wrongly.

    Each candidate ends at one instruction of the fused computation. A finding of another op is returned as it is.
    """
    fusion = finding.instruction
    if fusion.opcode != Opcode.FUSION:
        return finding
    fused = fusion.called_computations[0]
    context = EvaluationContext()
    for inner in fused.post_order():
        if inner is fused.root or Trait.GIVEN in inner.op.traits or not inner.shape.is_array:
            continue
        candidate = _fusion_up_to(fusion, inner)
        expected = flatten_value(context.evaluate(candidate, finding.operands))
        alone = extract_module(candidate)
        try:
            results = device.run_optimized(alone, finding.arrays)
        except XlaError:  # the device computes no fusion of this root
            continue
        difference = first_difference(results, expected, comparison.exact_results(alone))
        if difference:
            path = (*finding.path, inner.name)
            return dataclasses.replace(
                finding, instruction=candidate, path=path, expected=expected, results=results, difference=difference
            )
    return finding


def _fusion_up_to(fusion: HloInstruction, inner: HloInstruction) -> HloInstruction:
    """Makes the fusion of all that `inner` needs, with the same operands."""
    computation = HloComputation(f"{fusion.called_computations[0].name}_to_{inner.name}")
    copies: dict[HloInstruction, HloInstruction] = {}
    for old in fusion.called_computations[0].post_order():
        copies[old] = computation.add_instruction(old.clone([copies[o] for o in old.operands]))
    computation.set_root(copies[inner])
    for instruction in reversed(computation.post_order()):
        if not instruction.users and instruction is not computation.root and instruction.opcode != Opcode.PARAMETER:
            computation.remove(instruction)
    candidate = fusion.clone(shape=inner.shape)
    candidate.replace_called_computation(fusion.called_computations[0], computation)
    return candidate


def find_wrong_prefix(
    module: HloModule, arguments: Sequence[np.ndarray], device: DeviceProcess
) -> tuple[HloModule, str, str] | None:
    """Finds the shortest beginning of the schedule of which the device computes some result wrongly.

    It is for programs whose instructions are right alone: then the fault lies in buffers, layouts or order.

    Returns:
        The program of that beginning, the name of its last instruction, and the difference; None if no beginning is
        wrong. Its results are the values that none of its instructions uses.
    """
    order = (module.schedule or {}).get(module.entry) or module.entry.post_order()
    names = [i.name for i in order if Trait.GIVEN not in i.op.traits and not i.shape.is_tuple]
    right, wrong, found = -1, len(names), None
    while wrong - right > 1:
        middle = (right + wrong) // 2
        here = find_wrong_program(_beginning(module, order, names[middle]), names[middle], arguments, device)
        if here is not None:
            wrong, found = middle, here
        else:
            right = middle
    return found


def find_wrong_program(
    program: HloModule, last: str, arguments: Sequence[np.ndarray], device: DeviceProcess
) -> tuple[HloModule, str, str] | None:
    """Runs the program of a beginning of the schedule. Returns what `find_wrong_prefix` does; None if it is right."""
    expected = evaluate(program, *arguments)
    try:
        results = device.run_optimized(program, arguments)
        difference = first_difference(results, expected, comparison.exact_results(program))
    except XlaError as error:
        difference = f"{error.code.name}: {error.message}"
    return (program, last, difference) if difference else None


def _beginning(module: HloModule, order: Sequence[HloInstruction], last: str) -> HloModule:
    """Copies the module up to an instruction of its entry."""
    kept = {i.name for i in module.entry.parameters}
    for instruction in order:
        kept.add(instruction.name)
        if instruction.name == last:
            break
    copy = module.clone()
    entry = copy.entry
    mine = [i for i in entry.instructions if i.name in kept]
    unused = [i for i in mine if not any(u.name in kept for u in i.users) and not i.shape.is_tuple]
    entry.set_root(tuple_of(entry, unused))
    copy.input_output_aliases, copy.buffer_donors, copy.schedule = [], [], None
    for instruction in reversed(entry.post_order()):
        if instruction is not entry.root and instruction.name not in kept:
            entry.remove(instruction)
    copy.remove_unreachable_computations()
    return copy
