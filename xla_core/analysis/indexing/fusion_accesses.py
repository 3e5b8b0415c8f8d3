"""FusionAccesses: the loads and conditions of a fusion, as index expressions."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Collection, Hashable, Sequence

from xla_core.analysis.indexing.access import Access, Condition, StartIndex
from xla_core.analysis.indexing.expression import Index, IndexExpr, Variable, delinearized, linearized
from xla_core.analysis.indexing.operand_accesses import accumulates, operand_accesses
from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.hlo.table.opcode import Opcode
from xla_core.hlo.values.shape import Shape

Loops = Callable[[Hashable, int], Sequence[Variable]]
"""(space, its number of iterations) -> the variables of the loops over it, outermost first.

The space of an accumulating instruction is the instruction.
"""


def one_loop(space: Hashable, count: int) -> Sequence[Variable]:
    """Returns the variable of a single loop over a space."""
    return [Variable((space, "loop"), count)]


def memory_position(shape: Shape, index: Index) -> IndexExpr:
    """Returns the position of an element in memory, in elements."""
    strides, stride = [0] * shape.rank, 1
    for dimension in shape.minor_to_major():
        strides[dimension] = stride
        stride *= shape.dimensions[dimension]
    position = IndexExpr.of(0)
    for expr, step in zip(index, strides, strict=True):
        position = position + expr * step
    return position


def memory_index(shape: Shape, position: IndexExpr) -> Index:
    """The index of the element at a position in memory."""
    order = list(reversed(shape.minor_to_major()))
    physical = delinearized(position, [shape.dimensions[d] for d in order])
    return tuple(physical[order.index(d)] for d in range(shape.rank))


def joined(variables: Sequence[Variable]) -> IndexExpr:
    """Returns the row-major number of an iteration of a nest of loops, which are given outermost first."""
    position = IndexExpr.of(0)
    for variable in variables:
        position = position * variable.extent + IndexExpr.of(variable)
    return position


def looped(instruction: HloInstruction, accesses: Sequence[Access], loops: Loops) -> Sequence[Access]:
    """Rewrites the accesses of an accumulating instruction for loops other than one loop for each variable."""
    own = _own_variables(accesses)
    if not own:
        return accesses
    variables = tuple(loops(instruction, math.prod(v.extent for v in own)))
    return placed(accesses, joined(variables), variables)


def placed(accesses: Sequence[Access], position: IndexExpr, variables: tuple[Variable, ...] = ()) -> Sequence[Access]:
    """The accesses of an accumulating instruction at one position of the space of the elements that it combines.

    `variables` become the accesses' own.
    """
    own = _own_variables(accesses)
    if not own:
        return accesses
    place = dict(zip(own, delinearized(position, [v.extent for v in own]), strict=True))
    found: list[Access] = []
    for access in accesses:
        index = tuple(expr.substitute(place) for expr in access.index)
        conditions = tuple(Condition.of(c.expr.substitute(place), c.low, c.high) for c in access.conditions)
        found.append(Access(index, variables, conditions) if access.variables else access)
    return found


def _own_variables(accesses: Sequence[Access]) -> list[Variable]:
    return [v for v in accesses[0].variables if not isinstance(v.key, StartIndex)]


@dataclasses.dataclass(frozen=True, slots=True)
class Load:
    """A read of an operand, or of a constant that is not a splat, at a position in memory."""

    source: HloInstruction
    position: IndexExpr


class FusionAccesses:
    """Collects the loads, conditions and index values that the elements given to `visit` need.

    Args:
        bound: instructions whose values are in memory.
        loops: returns the loops of a kernel, for example those of an accumulating instruction.
    """

    def __init__(self, bound: Collection[HloInstruction], loops: Loops) -> None:
        self._bound = bound
        self.loops = loops
        self._seen: dict[tuple[HloInstruction, Index], None] = {}
        self.loads: dict[Load, None] = {}
        self.conditions: dict[Condition, None] = {}
        self.values: dict[IndexExpr, None] = {}

    @property
    def exprs(self) -> list[IndexExpr]:
        """All index expressions that a kernel computes."""
        found = dict.fromkeys(load.position for load in self.loads)
        found.update(dict.fromkeys(c.expr for c in self.conditions))
        found.update(self.values)
        return list(found)

    def indices(self, instruction: HloInstruction) -> list[Index]:
        """The indices at which an instruction is computed."""
        return [index for seen, index in self._seen if seen is instruction]

    def visit(self, instruction: HloInstruction, index: Index) -> None:
        """Adds the loads, conditions and values that an element of an instruction needs."""
        stack = [(instruction, index)]
        while stack:
            top, place = stack.pop()
            if (top, place) in self._seen:
                continue
            self._seen[top, place] = None
            if top in self._bound:
                for shape in top.shape.leaves():
                    self.loads[Load(top, memory_position(shape, place[: shape.rank]))] = None
            elif top.opcode == Opcode.CONSTANT:
                if not top.literal.is_splat:
                    self.loads[Load(top, linearized(place, top.shape.dimensions))] = None
            elif top.opcode == Opcode.IOTA:
                self.values[place[top.attribute("iota_dimension")]] = None
            else:
                stack.extend(reversed(self._operands(top, place)))

    def _operands(self, instruction: HloInstruction, index: Index) -> list[tuple[HloInstruction, Index]]:
        if instruction.opcode in (Opcode.TUPLE, Opcode.GET_TUPLE_ELEMENT, Opcode.OPT_BARRIER):
            return [(o, index) for o in instruction.operands]
        accesses = operand_accesses(instruction, index)
        if accumulates(instruction):
            accesses = looped(instruction, accesses, self.loops)
        found: list[tuple[HloInstruction, Index]] = []
        for number, (operand, access) in enumerate(zip(instruction.operands, accesses, strict=True)):
            starts = [v.key for v in access.variables if isinstance(v.key, StartIndex)]
            found += [(start.instruction.operand(start.operand), start.index) for start in starts]
            self.conditions.update(dict.fromkeys(access.conditions))
            if number not in instruction.op.index_operands(len(instruction.operands)):
                found.append((operand, access.index))
        return found
