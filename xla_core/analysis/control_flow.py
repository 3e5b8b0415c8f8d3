"""Finds the computations that control flow runs as sequences (XLA: xla/service/call_graph.h, CallContext)."""

from __future__ import annotations

from xla_core.errors import FailedPreconditionError
from xla_core.hlo.ir.computation import HloComputation
from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.hlo.ir.module import HloModule
from xla_core.hlo.ops.control_flow import branch_computations
from xla_core.hlo.table.opcode import Opcode
from xla_core.traversal import post_order, reachable


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
    return list(reachable([module.entry], _callees))


def sequential_computations(module: HloModule) -> list[HloComputation]:
    """The entry and all computations that control flow reaches from it, callees first, the entry last.

    Raises:
        FailedPreconditionError: a computation is called from two places. Memory is planned per call site, so the call
            graph must be flat.
    """
    seen: set[HloComputation] = {module.entry}

    def callees(computation: HloComputation) -> list[HloComputation]:
        found = _callees(computation)
        for callee in found:
            if callee in seen:
                raise called_twice(callee)
            seen.add(callee)
        return found

    return post_order([module.entry], callees)


def called_twice(computation: HloComputation) -> FailedPreconditionError:
    """The error for a computation with two call sites, where the call graph must be flat."""
    return FailedPreconditionError(
        f"computation {computation.name} is called from more than one place", hint="run flatten_call_graph before"
    )


def _callees(computation: HloComputation) -> list[HloComputation]:
    return [callee for i in computation.instructions for callee in control_flow_callees(i)]
