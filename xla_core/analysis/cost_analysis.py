"""Estimates the cost of a program from its shapes (XLA: xla/service/hlo_cost_analysis.h).

A cost is of one execution. It counts floating-point operations (integer operations too, as in XLA), transcendental
functions, and the bytes that instructions read and write. A fusion accesses the bytes of its operands and results only.
A loop costs its body times its trip count, or its body once where the trip count is unknown. A conditional costs as
much as its most expensive branch.
"""

from __future__ import annotations

import dataclasses
import math

from xla_core.analysis.while_loop import known_trip_count
from xla_core.hlo.ir.computation import HloComputation
from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.hlo.ir.module import HloModule
from xla_core.hlo.ops.control_flow import branch_computations
from xla_core.hlo.table.op_table import Trait
from xla_core.hlo.table.opcode import Opcode
from xla_core.hlo.values.shape import Shape


@dataclasses.dataclass(frozen=True, slots=True)
class Cost:
    """Counts of one execution. `flops` excludes transcendental functions; `bytes_accessed` are read and written."""

    flops: float = 0.0
    transcendentals: float = 0.0
    bytes_accessed: float = 0.0

    def __add__(self, other: Cost) -> Cost:
        return Cost(
            self.flops + other.flops,
            self.transcendentals + other.transcendentals,
            self.bytes_accessed + other.bytes_accessed,
        )

    def __mul__(self, times: float) -> Cost:
        return Cost(self.flops * times, self.transcendentals * times, self.bytes_accessed * times)


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
            dearest: Cost = max(costs, key=lambda c: c.flops + 10 * c.transcendentals + c.bytes_accessed)
            return dearest
        if opcode == Opcode.CALL:
            return self.computation(i.attribute("to_apply"))
        if opcode == Opcode.FUSION:
            inside = self.computation(i.attribute("calls"))
            return dataclasses.replace(inside, bytes_accessed=float(_fusion_bytes(i)))
        return self._operations(i) + Cost(bytes_accessed=float(_bytes(i)))

    def _operations(self, i: HloInstruction) -> Cost:
        shape = next((s for s in i.shape.leaves() if s.is_array), i.shape)
        elements = float(shape.num_elements)
        applied = Cost()
        to_apply = i.attributes.get("to_apply") or i.attributes.get("scatter")
        if isinstance(to_apply, HloComputation):
            inside = self.computation(to_apply)
            applied = Cost(inside.flops, inside.transcendentals)
        match i.opcode:
            case Opcode.DOT:
                return Cost(2.0 * elements * _contracted(i) * _complex_factor(shape))
            case Opcode.CONVOLUTION:
                kernel = i.operand(1).shape
                labels = i.attribute("dim_labels")
                outputs = kernel.dimensions[labels.kernel_output_feature]
                return Cost(2.0 * elements * kernel.num_elements / max(outputs, 1) * _complex_factor(shape))
            case Opcode.REDUCE:
                return applied * float(max(i.operand(0).shape.num_elements - elements, 0))
            case Opcode.REDUCE_WINDOW:
                return applied * float(elements * max(math.prod(w.size for w in i.attribute("window")) - 1, 0))
            case Opcode.SELECT_AND_SCATTER:
                source = i.operand(1).shape.num_elements
                return Cost(float(source * math.prod(w.size for w in i.attribute("window"))))
            case Opcode.SCATTER:
                updates = i.operand(len(i.operands) // 2 + 1).shape.num_elements
                return applied * float(updates)
            case Opcode.MAP:
                return applied * elements
            case Opcode.SORT:
                length = shape.dimensions[i.attribute("dimensions")[0]] if shape.rank else 1
                return applied * float(elements * max(math.ceil(math.log2(max(length, 2))), 1))
            case Opcode.TOPK:
                return Cost(float(i.operand(0).shape.num_elements))
            case Opcode.FFT:
                length = math.prod(i.attribute("fft_length"))
                return Cost(5.0 * elements * math.log2(max(length, 2)))
            case Opcode.CHOLESKY:
                return Cost(elements * shape.dimensions[-1] / 3)
            case Opcode.TRIANGULAR_SOLVE:
                return Cost(elements * i.operand(0).shape.dimensions[-1])
        traits = i.op.traits
        if Trait.TRANSCENDENTAL in traits:
            return Cost(transcendentals=elements)
        if Trait.ELEMENTWISE in traits and Trait.DATA_MOVEMENT not in traits:
            return Cost(elements)
        return Cost()


def _contracted(dot: HloInstruction) -> float:
    shape = dot.operand(0).shape
    return float(math.prod(shape.dimensions[d] for d in dot.attribute("lhs_contracting_dims")))


def _complex_factor(shape: Shape) -> float:
    return 4.0 if shape.element_type.is_complex else 1.0


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
    computation = fusion.attribute("calls")
    root = computation.root
    in_place = root.opcode == Opcode.DYNAMIC_UPDATE_SLICE
    total = 2 * root.operand(1).shape.byte_size if in_place else fusion.shape.byte_size
    for parameter in computation.parameters:
        users = parameter.users
        if in_place and root.operand(0) is parameter and len(users) == 1:
            continue
        if users and all(Trait.READS_PART in u.op.traits and u.operand(0) is parameter for u in users):
            total += min(sum(u.shape.byte_size for u in users), parameter.shape.byte_size)
        else:
            total += parameter.shape.byte_size
    return total
