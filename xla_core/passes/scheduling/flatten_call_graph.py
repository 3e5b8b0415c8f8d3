"""flatten_call_graph: one call site for each computation that control flow runs (XLA: flatten_call_graph.h)."""

from __future__ import annotations

from xla_core.analysis.control_flow import control_flow_callees
from xla_core.hlo.call_graph import check_growth
from xla_core.hlo.computation import HloComputation
from xla_core.hlo.module import HloModule
from xla_core.passes.pass_manager import HloPass

__all__ = ["FlattenCallGraph"]


class FlattenCallGraph(HloPass):
    """Clones bodies, conditions, branches and called computations that have several callers.

    Memory is planned per call site, so that each needs instructions of its own. Computations that are applied per
    element, or fused, may be shared.
    """

    name = "flatten-call-graph"

    def run(self, module: HloModule) -> bool:
        check_growth(module, lambda i: i.called_computations)  # others are copied when code is emitted
        changed = False
        taken: set[HloComputation] = {module.entry}
        todo = [module.entry]
        while todo:
            computation = todo.pop()
            for instruction in computation.instructions:
                for callee in control_flow_callees(instruction):
                    if callee in taken:
                        clone = module.add_computation(callee.clone())
                        _replace_one(instruction.attributes, callee, clone)
                        callee, changed = clone, True
                    taken.add(callee)
                    todo.append(callee)
        return changed


def _replace_one(attributes: dict[str, object], callee: HloComputation, clone: HloComputation) -> None:
    """Replaces the last reference only: two branches of a conditional may be one computation."""
    for name, value in reversed(attributes.items()):
        if value is callee:
            attributes[name] = clone
            return
        if isinstance(value, tuple) and callee in value:
            last = len(value) - 1 - value[::-1].index(callee)
            attributes[name] = (*value[:last], clone, *value[last + 1 :])
            return
