"""host-offloading: makes a computation of each part of a program that the host runs.

A part consists of instructions that the device lacks and of others that stay with them (see `sides`). The part becomes
a fusion of kind kCustom with the frontend attribute `_xla_compute_type="host"`, so that its operands and results cross
once, and no value between its instructions does. (XLA: xla/hlo/transforms/offloaded_instruction_wrapper.h.)
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from xla_core.analysis.control_flow import control_flow_callees, reachable_sequences
from xla_core.hlo.ir.computation import HloComputation
from xla_core.hlo.ir.host_compute import HOST_COMPUTE
from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.hlo.ir.module import HloModule
from xla_core.passes.fusion.fusion_node import replace_with_fusion
from xla_core.passes.host_offloading.sides import Divider, leader
from xla_core.passes.pass_manager import HloPass
from xla_core.target import TargetConfig


class HostOffloading(HloPass):
    """Joins the instructions that the host runs into as few computations as possible, without cycles through the
    device.
    """

    def __init__(self, target: TargetConfig) -> None:
        self._target = target

    def run(self, module: HloModule) -> bool:
        supports = self._target.supports
        if all(supports(i) for c in reachable_sequences(module) for i in c.instructions):
            return False
        divider = Divider(module, self._target)
        changed = False
        seen = {module.entry: None}
        for computation in (waiting := [module.entry]):  # callers first, to leave out bodies of the host's loops
            for part in _parts(computation, divider):
                changed |= _wrap(part, divider)
            for callee in (c for i in computation.instructions for c in control_flow_callees(i)):
                if callee not in seen:
                    seen[callee] = None
                    waiting.append(callee)
        module.remove_unreachable_computations()
        return changed


def _parts(computation: HloComputation, divider: Divider) -> Iterator[list[HloInstruction]]:
    """The connected instructions of the host that no path through the device joins, operands first."""
    members = {i for i in divider.divide(computation).on_host if divider.is_wrapped(i)}
    order = [i for i in computation.post_order() if not divider.is_free(i)]
    levels = _levels(order, members)
    found: dict[HloInstruction, HloInstruction] = {}  # leader -> another of its part, or itself

    def part(i: HloInstruction) -> HloInstruction:
        while found.setdefault(i, i) is not i:
            found[i] = found[found[i]]
            i = found[i]
        return i

    for i in order:
        for operand in i.operands:
            first, second = leader(operand), leader(i)
            if i in members and operand in members and levels[first] == levels[second]:
                found[part(second)] = part(first)
    parts: dict[HloInstruction, list[HloInstruction]] = {}
    for i in order:
        if i in members:
            parts.setdefault(part(leader(i)), []).append(i)
    yield from parts.values()


def _levels(order: Sequence[HloInstruction], members: Collection[HloInstruction]) -> dict[HloInstruction, int]:
    """For each leader, the most round trips from the device to the host and back on any path to it.

    Instructions of one level depend on one another on the host alone.
    """
    levels: dict[HloInstruction, int] = {}
    for i in order:
        level = levels.get(leader(i), 0)
        for operand in i.operands:
            if operand in levels or leader(operand) in levels:
                returns = operand in members and i not in members
                level = max(level, levels[leader(operand)] + returns)
        levels[leader(i)] = level
    for i in reversed(order):  # an instruction that only later instructions of the host use runs with them
        users = [u for u in i.users if leader(u) is not leader(i)]
        if i in members and leader(i) is i and not i.shape.is_tuple and users and all(u in members for u in users):
            levels[i] = max(levels[i], min(levels[leader(u)] for u in users))
    return levels


def _wrap(part: Sequence[HloInstruction], divider: Divider) -> bool:
    inside = set(part)
    roots = [i for i in part if i.is_root or any(u not in inside for u in i.users)]
    if not roots:
        return False
    free = dict.fromkeys(o for i in part for o in i.operands if divider.is_free(o))  # in a deterministic order
    free |= dict.fromkeys(o for i in list(free) for o in i.operands)
    fusion = replace_with_fusion(roots, [*free, *part], "kCustom", "host_computation")
    fusion.attributes["frontend_attributes"] = (HOST_COMPUTE,)
    return True
