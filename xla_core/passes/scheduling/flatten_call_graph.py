"""flatten_call_graph: gives each computation that control flow calls one call site (XLA: flatten_call_graph.h)."""

from __future__ import annotations

from xla_core.analysis.control_flow import control_flow_callees
from xla_core.hlo.ir.computation import HloComputation
from xla_core.hlo.ir.host_compute import is_host_compute
from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.hlo.ir.module import HloModule
from xla_core.passes.pass_manager import HloPass


class FlattenCallGraph(HloPass):
    """Clones bodies, conditions, branches and called computations that have several call sites.

    Buffers are assigned per call site, so each call site needs instructions of its own. Computations that are applied
    to elements, or fused, may be shared. A part that the host runs is a fusion, but its loops and branches are
    flattened too, so that an instruction belongs to one part.
    """

    def run(self, module: HloModule) -> bool:
        module.check_growth(lambda i: i.called_computations)  # code emission copies the other callees
        changed = False
        taken: set[HloComputation] = {module.entry}
        todo = [module.entry]
        while todo:
            computation = todo.pop()
            for instruction in computation.instructions:
                for callee in _callees(instruction):
                    if callee in taken:
                        clone = module.add_computation(callee.clone())
                        _replace_one(instruction.attributes, callee, clone)
                        callee, changed = clone, True
                    taken.add(callee)
                    todo.append(callee)
        return changed


def _callees(instruction: HloInstruction) -> list[HloComputation]:
    if is_host_compute(instruction):
        return [instruction.attribute("calls")]
    return control_flow_callees(instruction)


def _replace_one(attributes: dict[str, object], callee: HloComputation, clone: HloComputation) -> None:
    """Replaces only the last reference, because two branches of a conditional may be the same computation."""
    for name, value in reversed(attributes.items()):
        if value is callee:
            attributes[name] = clone
            return
        if isinstance(value, tuple) and callee in value:
            last = len(value) - 1 - value[::-1].index(callee)
            attributes[name] = (*value[:last], clone, *value[last + 1 :])
            return
