"""Estimates the cost of a program from its shapes (XLA: xla/service/hlo_cost_analysis.h).

A cost is of one execution. It counts floating-point operations (integer operations too, as in XLA), transcendental
functions, and the bytes that instructions read and write. A fusion accesses the bytes of its operands and results only.
A loop costs its body times its trip count, or its body once where the trip count is unknown. A conditional costs as
much as its most expensive branch.
"""

from __future__ import annotations

import dataclasses

from xla_core.analysis.while_loop import known_trip_count
from xla_core.hlo.ir.computation import HloComputation
from xla_core.hlo.ir.fused import fused_parameters, fused_root
from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.hlo.ir.module import HloModule
from xla_core.hlo.ops.control_flow import branch_computations
from xla_core.hlo.table.op_table import Trait
from xla_core.hlo.table.opcode import Opcode


@dataclasses.dataclass(frozen=True, slots=True)
class Cost:
    """Counts of one execution. `flops` excludes transcendental functions; `bytes_accessed` are read and written.

    `transcendental_flops` are the additions that take as long as the transcendental functions (`OpDef.cost`).
    """

    flops: float = 0.0
    transcendentals: float = 0.0
    bytes_accessed: float = 0.0
    transcendental_flops: float = 0.0

    @property
    def operations(self) -> float:
        return self.flops + self.transcendental_flops

    def __add__(self, other: Cost) -> Cost:
        return Cost(
            self.flops + other.flops,
            self.transcendentals + other.transcendentals,
            self.bytes_accessed + other.bytes_accessed,
            self.transcendental_flops + other.transcendental_flops,
        )

    def __mul__(self, times: float) -> Cost:
        return Cost(
            self.flops * times,
            self.transcendentals * times,
            self.bytes_accessed * times,
            self.transcendental_flops * times,
        )


class HloCostAnalysis:
    """Computes costs of instructions, computations and the module; costs of computations are cached."""

    def __init__(self, module: HloModule) -> None:
        self._module = module
        self._computations: dict[HloComputation, Cost] = {}

    def module(self) -> Cost:
        """The cost of one execution of the entry."""
        for computation in self._module.post_order():  # callees first: no deep recursion
            self.computation(computation)
        return self.computation(self._module.entry)

    def computation(self, computation: HloComputation) -> Cost:
        """The cost of one execution of a computation."""
        found = self._computations.get(computation)
        if found is None:
            found = Cost()
            for instruction in computation.instructions:
                found += self.instruction(instruction)
            self._computations[computation] = found
        return found

    def instruction(self, i: HloInstruction) -> Cost:
        """The cost of one execution of an instruction, with the computations that it calls."""
        opcode = i.opcode
        if Trait.NOP in i.op.traits:
            return Cost()
        if opcode == Opcode.WHILE:
            trips = known_trip_count(i)
            trips = 1 if trips is None else trips
            body = self.computation(i.attribute("body"))
            return body * float(trips) + self.computation(i.attribute("condition")) * float(trips + 1)
        if opcode == Opcode.CONDITIONAL:
            costs = [self.computation(c) for c in branch_computations(i.attributes)]
            dearest: Cost = max(costs, key=lambda c: c.operations + c.bytes_accessed)
            return dearest
        if opcode == Opcode.CALL:
            return self.computation(i.attribute("to_apply"))
        if opcode == Opcode.FUSION:
            inside = self.computation(i.attribute("calls"))
            return dataclasses.replace(inside, bytes_accessed=float(_fusion_bytes(i)))
        return self._operations(i) + Cost(bytes_accessed=float(_bytes(i)))

    def _operations(self, i: HloInstruction) -> Cost:
        op = i.op
        if op.applications is not None:
            applied = self.computation(i.attribute("to_apply"))
            return dataclasses.replace(applied, bytes_accessed=0.0) * op.applications(i)
        if op.flops is not None:
            return Cost(op.flops(i))
        elements = float(i.shape.num_elements) if i.shape.is_array else 0.0
        if Trait.TRANSCENDENTAL in op.traits:
            return Cost(transcendentals=elements, transcendental_flops=op.cost * elements)
        return Cost(elements) if op.is_elementwise and Trait.DATA_MOVEMENT not in op.traits else Cost()


def _bytes(i: HloInstruction) -> int:
    result = i.shape.byte_size
    if Trait.READS_PART in i.op.traits:
        return 2 * result + sum(o.shape.byte_size for o in i.operands[1:])
    match i.opcode:
        case Opcode.DYNAMIC_UPDATE_SLICE:
            return 2 * i.operand(1).shape.byte_size
        case Opcode.SCATTER:
            count = len(i.operands) // 2
            return 3 * sum(o.shape.byte_size for o in i.operands[count + 1 :]) + i.operand(count).shape.byte_size
    return result + sum(o.shape.byte_size for o in i.operands)


def _fusion_bytes(fusion: HloInstruction) -> int:
    """Returns the bytes that a fusion accesses: only the slices of an operand that is sliced, and of an in-place root
    only the update.
    """
    root = fused_root(fusion)
    in_place = root.opcode == Opcode.DYNAMIC_UPDATE_SLICE
    total = 2 * root.operand(1).shape.byte_size if in_place else fusion.shape.byte_size
    for parameter in fused_parameters(fusion):
        users = parameter.users
        if in_place and root.operand(0) is parameter and len(users) == 1:
            continue
        if users and all(Trait.READS_PART in u.op.traits and u.operand(0) is parameter for u in users):
            total += min(sum(u.shape.byte_size for u in users), parameter.shape.byte_size)
        else:
            total += parameter.shape.byte_size
    return total
