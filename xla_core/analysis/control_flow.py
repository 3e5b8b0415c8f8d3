"""Finds the computations that control flow runs as sequences (XLA: xla/service/call_graph.h, CallContext)."""

from __future__ import annotations

from xla_core.errors import FailedPreconditionError
from xla_core.hlo.computation import HloComputation
from xla_core.hlo.instruction import HloInstruction
from xla_core.hlo.module import HloModule
from xla_core.hlo.opcode import Opcode
from xla_core.hlo.ops.control_flow import branch_computations


def control_flow_callees(instruction: HloInstruction) -> list[HloComputation]:
    """The computations that `instruction` calls as control flow, in the order in which they first run.

    The list is empty for an op that applies its computation to elements (reduce, map, sort, scatter), and for a fusion,
    which is one kernel.
    """
    match instruction.opcode:
        case Opcode.WHILE:
            return [instruction.attribute("condition"), instruction.attribute("body")]
        case Opcode.CONDITIONAL:
            return list(branch_computations(instruction.attributes))
        case Opcode.CALL:
            return [instruction.attribute("to_apply")]
    return []


def reachable_sequences(module: HloModule) -> list[HloComputation]:
    """The entry and all computations that control flow reaches, each once, callers first."""
    found: dict[HloComputation, None] = {module.entry: None}
    todo = [module.entry]
    while todo:
        for instruction in todo.pop().instructions:
            for callee in control_flow_callees(instruction):
                if callee not in found:
                    found[callee] = None
                    todo.append(callee)
    return list(found)


def sequential_computations(module: HloModule) -> list[HloComputation]:
    """The entry and all computations that control flow reaches from it, callees first, the entry last.

    Raises:
        FailedPreconditionError: a computation is called from two places. Memory is planned per call site, so the call
            graph must be flat.
    """
    order: list[HloComputation] = []
    seen: set[HloComputation] = {module.entry}
    stack: list[tuple[HloComputation, list[HloComputation]]] = [(module.entry, _callees(module.entry))]
    while stack:
        computation, todo = stack[-1]
        if not todo:
            order.append(computation)
            stack.pop()
            continue
        callee = todo.pop(0)
        if callee in seen:
            raise FailedPreconditionError(
                f"computation {callee.name} is called from more than one place", hint="run flatten_call_graph before"
            )
        seen.add(callee)
        stack.append((callee, _callees(callee)))
    return order


def _callees(computation: HloComputation) -> list[HloComputation]:
    return [callee for i in computation.instructions for callee in control_flow_callees(i)]
