"""Reductions of rows, and what all reductions share: the accumulators and the inlined body.

A row reduction is an element generator: a loop with accumulators, which LLVM vectorizes. It may stand anywhere in a
fusion, and is computed in the outermost loop that knows its row, so that softmax and layer normalization become one
kernel. Reductions of columns are a kernel form (`forms.tiles`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from xla_core.codegen.llvm.elements.data_movement import parts, whole
from xla_core.codegen.llvm.elements.fused import ElementSource, FusedIrEmitter, call_computation, generator
from xla_core.codegen.llvm.ir.module import Value
from xla_core.codegen.llvm.loops.index import Digit, Index, compose
from xla_core.codegen.llvm.loops.ir_array import ElementValue
from xla_core.codegen.llvm.scalars.elemental import ElementalIrEmitter, elemental
from xla_core.codegen.llvm.scalars.float_ops import FLOAT_OPS
from xla_core.hlo.combiner import combiner
from xla_core.hlo.computation import HloComputation
from xla_core.hlo.element_type import ElementType
from xla_core.hlo.instruction import HloInstruction
from xla_core.hlo.op_table import OpDef, Trait
from xla_core.hlo.opcode import Opcode


def _fast_math(op: OpDef | None) -> str:
    """Returns the flags of the body's floating operation: its operands may be combined in any order."""
    if op is None or Trait.ASSOCIATIVE not in op.traits:
        return ""
    return "nsz" if Trait.IDEMPOTENT in op.traits else "reassoc"


class Reducer:
    """The body of a reduce or reduce-window on register values.

    Sums, products, maxima and minima of floats below 32 bits are accumulated in f32 and rounded at the end. Additions
    and multiplications of floats may be reordered, and an extremum of zeros may have either sign. Operands are
    converted to the types of the body's parameters.
    """

    def __init__(self, f: ElementSource, instruction: HloInstruction) -> None:
        self.f = f
        self.context = f.context
        self.computation: HloComputation = instruction.attribute("to_apply")
        count = len(instruction.operands) // 2
        self.operands, self.inits = instruction.operands[:count], instruction.operands[count:]
        self.dimensions = self.operands[0].shape.dimensions
        self.reduced: list[int] = []
        if instruction.opcode == Opcode.REDUCE:
            self.reduced = sorted(instruction.attribute("dimensions"))
        self.extent = math.prod(self.dimensions[d] for d in self.reduced)
        self.types = [p.shape.element_type for p in self.computation.parameters[:count]]
        op = combiner(self.computation)
        small = self.types[0].is_floating and self.types[0] not in (ElementType.F32, ElementType.F64)
        self.flags = _fast_math(op)
        self.wide = op.opcode if op and small and self.flags else None

    def start(self) -> list[Value]:
        """Returns the initial values, as registers."""
        return self._enter([self.f.scalar(i) for i in self.inits], self.inits)

    def enter(self, elements: Sequence[ElementValue]) -> list[Value]:
        """Converts elements of the operands to registers of the types that are accumulated."""
        return self._enter(elements, self.operands)

    def _enter(self, elements: Sequence[ElementValue], sources: Sequence[HloInstruction]) -> list[Value]:
        e = self.f.elemental
        registers = []
        for element, source, type_ in zip(elements, sources, self.types, strict=True):
            target = ElementType.F32 if self.wide else type_
            registers += parts(e.convert(element, source.shape.element_type, target))
        return registers

    def leave(self, registers: Sequence[Value]) -> list[ElementValue]:
        """Converts the accumulated registers to elements of the result."""
        if self.wide:
            return [self.f.elemental.narrow(registers[0], self.types[0])]
        return unflatten(registers, self.types)

    def combine(self, left: Sequence[Value], right: Sequence[Value]) -> list[Value]:
        """Applies the body once."""
        if self.wide:
            b = self.context.builder
            saved, b.fast_math = b.fast_math, f"{b.fast_math} {self.flags}".strip()
            result = FLOAT_OPS[self.wide](self.f.elemental.math, left[0], right[0])
            b.fast_math = saved
            return [result]
        arguments = [*unflatten(left, self.types), *unflatten(right, self.types)]
        results = call_computation(self.context, self.computation, arguments, self.flags)
        return [register for element in results for register in parts(element)]


def unflatten(registers: Sequence[Value], types: Sequence[ElementType]) -> list[ElementValue]:
    """Makes elements of registers. A complex element takes two."""
    remaining = iter(registers)
    return [whole([next(remaining) for _ in range(2 if t.is_complex else 1)]) for t in types]


def operand_index(
    fused: FusedIrEmitter, dimensions: Sequence[int], reduced: Sequence[int], kept: Index, inner: Index
) -> Index:
    """Returns the operand's index from the indices of the kept and of the reduced dimensions."""
    where: list[tuple[int, int]] = []
    found = [0, 0]
    for dimension in range(len(dimensions)):
        source = int(dimension in reduced)
        where.append((source, found[source]))
        found[source] += 1
    return compose(fused.b, dimensions, (kept, inner), where)


@generator(Opcode.REDUCE)
def _reduce(f: FusedIrEmitter, instruction: HloInstruction, index: Index) -> list[ElementValue]:
    reducer = Reducer(f, instruction)
    dims, reduced, start = reducer.dimensions, reducer.reduced, reducer.start()

    def step(digits: list[Digit], carried: list[Value]) -> Sequence[Value]:
        place = operand_index(f, dims, reduced, index, Index([dims[d] for d in reduced], digits))
        return reducer.combine(carried, reducer.enter([f.value(o, place) for o in reducer.operands]))

    if reducer.extent == 0:
        return reducer.leave(start)
    space = ("reduce", instruction)
    if len(f.context.extents(space, reducer.extent)) == 1:
        with f.rows.kept(reducer.extent) as visit:

            def visited(digits: list[Digit], carried: list[Value]) -> Sequence[Value]:
                return visit(digits[0], lambda: step(digits, carried))

            return reducer.leave(f.context.nest(space, reducer.extent, visited, start, name="reduce"))
    return reducer.leave(f.context.nest(space, reducer.extent, step, start, name="reduce"))


@elemental(Opcode.MAP)
def _map(e: ElementalIrEmitter, instruction: HloInstruction, operands: Sequence[ElementValue]) -> ElementValue:
    (result,) = call_computation(e.context, instruction.attribute("to_apply"), operands)
    return result
