"""Accumulators of ops whose elements combine many elements of their operands: reductions, windows and products.

An accumulator has registers. A kernel keeps them in a loop of its own for each element, or in memory for a whole tile
of elements (`forms.tiles`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Protocol

from xla_core.analysis.indexing import Access, Condition, Index, IndexExpr, is_product, looped, operand_accesses
from xla_core.codegen.llvm.elements.element_emitter import ElementEmitter, call_computation, generator
from xla_core.codegen.llvm.elements.registers import parts, register_types, unflatten, whole
from xla_core.codegen.llvm.ir.module import Value
from xla_core.codegen.llvm.ir.types import register_type
from xla_core.codegen.llvm.loops.context import minor_loop_metadata
from xla_core.codegen.llvm.loops.ir_array import Complex, ElementValue, as_register
from xla_core.codegen.llvm.scalars.float_ops import FLOAT_OPS
from xla_core.hlo.ir.combiner import combiner
from xla_core.hlo.ir.computation import HloComputation
from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.hlo.table.attributes import ConvolutionDimensionNumbers
from xla_core.hlo.table.op_table import OpDef, Trait
from xla_core.hlo.table.opcode import Opcode
from xla_core.hlo.values.element_type import ElementType

_SHORT_WINDOW, _SHORT_WINDOW_CODE = 64, 256  # elements, and HLO instructions for all of them
_FEW_TERMS = 16


class Accumulator(Protocol):
    """The interface by which an element is accumulated.

    Attributes:
        counts_padding: whether a step outside of the operands combines the initial value, instead of nothing.
    """

    counts_padding: bool

    def start(self) -> list[Value]:
        """Returns the registers before the first step."""

    def step(self, f: ElementEmitter, accesses: Sequence[Access], carried: Sequence[Value]) -> list[Value]:
        """Combines the registers with the elements of the operands that the accesses name."""

    def pad(self, carried: Sequence[Value]) -> list[Value]:
        """Combines the registers with the padding around the operands."""

    def finish(self, registers: Sequence[Value]) -> list[ElementValue]:
        """Converts the registers to elements of the result."""


def accumulator(f: ElementEmitter, instruction: HloInstruction) -> Accumulator:
    """Returns the accumulator of an instruction that `accumulates`."""
    if is_product(instruction):
        return ProductSum(f, instruction)
    return Reducer(f, instruction)


def _fast_math(op: OpDef | None) -> str:
    """Returns the flags of the body's floating operation: its operands may be combined in any order."""
    if op is None or Trait.ASSOCIATIVE not in op.traits:
        return ""
    return "nsz" if Trait.IDEMPOTENT in op.traits else "reassoc"


def accumulated_registers(reduction: HloInstruction) -> list[str]:
    """Returns the types of the registers in which a reduction's elements are accumulated."""
    return register_types([ElementType.F32] if _accumulates_in_f32(reduction) else _parameter_types(reduction))


def _parameter_types(reduction: HloInstruction) -> list[ElementType]:
    computation: HloComputation = reduction.attribute("to_apply")
    return [p.shape.element_type for p in computation.parameters[: len(reduction.operands) // 2]]


def _accumulates_in_f32(reduction: HloInstruction) -> bool:
    type_, op = _parameter_types(reduction)[0], combiner(reduction.attribute("to_apply"))
    is_wide = type_ in (ElementType.F32, ElementType.F64)
    stays_positive = op is not None and Trait.POSITIVE in op.traits and not type_.has_zero  # f32 may underflow to 0
    return type_.is_floating and not is_wide and not stays_positive and _fast_math(op) != ""


class Reducer:
    """The body of a reduce or reduce-window on register values.

    Sums, products, maxima and minima of floats below 32 bits are accumulated in f32 and rounded at the end; products in
    the type without a zero are rounded at each step. Additions and multiplications of floats may be reordered, and an
    extremum of zeros may have either sign. Operands are converted to the types of the body's parameters.

    Attributes:
        commutes: whether the body is an operation that commutes.
    """

    def __init__(self, f: ElementEmitter, instruction: HloInstruction) -> None:
        self.f = f
        self.context = f.context
        self.computation: HloComputation = instruction.attribute("to_apply")
        count = len(instruction.operands) // 2
        self.operands, self.inits = instruction.operands[:count], instruction.operands[count:]
        self.counts_padding = instruction.opcode == Opcode.REDUCE_WINDOW
        self.types = _parameter_types(instruction)
        op = combiner(self.computation)
        self.flags = _fast_math(op)
        self.commutes = op is not None and Trait.COMMUTATIVE in op.traits
        self.wide = op.opcode if op and _accumulates_in_f32(instruction) else None

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

    def step(self, f: ElementEmitter, accesses: Sequence[Access], carried: Sequence[Value]) -> list[Value]:
        elements = [f.value(o, a.index) for o, a in zip(self.operands, accesses, strict=False)]
        return self.combine(carried, self.enter(elements))

    def pad(self, carried: Sequence[Value]) -> list[Value]:
        return self.combine(carried, self.start())

    def finish(self, registers: Sequence[Value]) -> list[ElementValue]:
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


def _terms(product: HloInstruction) -> int:
    """Returns the largest number of products that an element of a dot's or convolution's result sums."""
    lhs, rhs = (o.shape.dimensions for o in product.operands)
    if product.opcode == Opcode.DOT:
        return math.prod(lhs[d] for d in product.attribute("lhs_contracting_dims"))
    labels: ConvolutionDimensionNumbers = product.attribute("dim_labels")
    return math.prod(size for d, size in enumerate(rhs) if d != labels.kernel_output_feature)


def accumulated_type(product: HloInstruction) -> ElementType:
    """Returns the type in which a dot or a convolution adds up its products: floats have at least 32 bits.

    Sums of pred are bytes: a GPU may have few registers for single bits.
    """
    result = product.shape.element_type
    if result is ElementType.PRED:
        return ElementType.U8
    if not result.is_floating:
        return result
    return (
        ElementType.F64
        if ElementType.F64 in (result, *(o.shape.element_type for o in product.operands))
        else ElementType.F32
    )


class ProductSum:
    """A sum of products of elements of two operands."""

    def __init__(self, f: ElementEmitter, instruction: HloInstruction) -> None:
        self.f = f
        self.instruction = instruction
        self.operand_types = [o.shape.element_type for o in instruction.operands]
        self.result_type = instruction.shape.element_type
        self.type = accumulated_type(instruction)
        # Few terms are added in order: that is as fast, and gives the same result as other compilers.
        self.flags = "reassoc contract" if _terms(instruction) > _FEW_TERMS else ""

    counts_padding = False

    def start(self) -> list[Value]:
        """Returns the registers of an empty sum."""
        type_ = register_type(self.type.component)
        zero = self.f.b.float_(0.0, type_) if self.type.is_floating or self.type.is_complex else Value(type_, "0")
        return [zero, zero] if self.type.is_complex else [zero]

    def enter(self, operand: int, element: ElementValue) -> ElementValue:
        """Converts an element of an operand to the type that is accumulated."""
        return self.f.elemental.convert(element, self.operand_types[operand], self.type)

    def add(self, total: Sequence[Value], x: ElementValue, y: ElementValue) -> list[Value]:
        """Adds a product: total + x * y."""
        b = self.f.b
        saved, b.fast_math = b.fast_math, self.flags
        if isinstance(x, Complex) and isinstance(y, Complex):
            real = b.fsub(b.fmul(x.real, y.real), b.fmul(x.imag, y.imag))
            imag = b.fadd(b.fmul(x.real, y.imag), b.fmul(x.imag, y.real))
            result = [b.fadd(total[0], real), b.fadd(total[1], imag)]
        else:
            assert isinstance(x, Value)
            assert isinstance(y, Value)
            if self.type.is_floating:
                result = [b.fadd(total[0], b.fmul(x, y))]
            elif self.result_type is ElementType.PRED:
                result = [b.or_(total[0], b.and_(x, y))]
            else:
                result = [b.add(total[0], b.mul(x, y))]
        b.fast_math = saved
        return result

    def step(self, f: ElementEmitter, accesses: Sequence[Access], carried: Sequence[Value]) -> list[Value]:
        elements = zip(self.instruction.operands, accesses, strict=True)
        x, y = (self.enter(number, f.value(o, a.index)) for number, (o, a) in enumerate(elements))
        return self.add(carried, x, y)

    def pad(self, carried: Sequence[Value]) -> list[Value]:
        return list(carried)

    def finish(self, total: Sequence[Value]) -> list[ElementValue]:
        sums = [as_register(self.f.b, part, self.type.component) for part in total]
        return [self.f.elemental.convert(whole(sums), self.type, self.result_type)]


def _is_short(f: ElementEmitter, reduction: HloInstruction, elements: int) -> bool:
    """Whether so little code combines the elements of a window that LLVM unrolls its loops.

    LLVM then vectorizes the loop around them. Otherwise it makes a vector of the few elements of a window's row.
    """
    assert reduction.parent is not None
    code = 1 if all(map(f.is_bound, reduction.operands)) else len(reduction.parent.instructions)
    return f.context.abi.vector_width > 0 and elements <= _SHORT_WINDOW and elements * code <= _SHORT_WINDOW_CODE


@generator(Opcode.REDUCE, Opcode.REDUCE_WINDOW, Opcode.DOT, Opcode.CONVOLUTION)
def _accumulate(f: ElementEmitter, instruction: HloInstruction, index: Index) -> list[ElementValue]:
    """Combines, in order, the elements of all iterations of the planned loops."""
    total = accumulator(f, instruction)
    accesses = looped(instruction, operand_accesses(instruction, index), f.loops)
    variables = list(accesses[0].variables)
    is_short = total.counts_padding and _is_short(f, instruction, math.prod(v.extent for v in variables))
    if is_empty(instruction, total):
        return total.finish(total.start())

    def inner(bound: int, tested: frozenset[Condition], carried: list[Value]) -> list[Value]:
        known = set(variables[bound:])
        ready = [c for c in accesses[0].conditions if c not in tested and known.isdisjoint(c.expr.variables)]
        if ready and (bound == len(variables) or not total.counts_padding):
            holds = f.indices.holds(ready)
            return f.context.choose(
                holds, lambda: inner(bound, tested.union(ready), carried), lambda: total.pad(carried)
            )
        if bound == len(variables):
            return total.step(f, accesses, carried)
        variable = variables[bound]

        is_last = bound == len(variables) - 1

        def body(value: Value, values: list[Value]) -> list[Value]:
            f.indices.bind(variable, value)
            registers = inner(bound + 1, tested, values)
            if is_last and isinstance(total, Reducer) and total.flags:
                f.context.interleave(variable.extent, registers)
            return registers

        end = f.b.int_(variable.extent)
        metadata = minor_loop_metadata(variable.extent) if is_last else ()
        metadata = ('!{!"llvm.loop.unroll.full"}',) if is_short else metadata
        name = str(instruction.opcode).replace("-", ".")
        return f.context.loop(f.b.int_(0), end, body, carried, name=name, metadata=metadata)

    if len(variables) == 1:
        with f.rows.kept(variables[0]):
            return total.finish(inner(0, frozenset(), total.start()))
    return total.finish(inner(0, frozenset(), total.start()))


def reduce_together(f: ElementEmitter, reductions: Sequence[HloInstruction], indices: Sequence[Index]) -> None:
    """Computes several elements of each reduction in one loop, and defines them.

    Each reduction's loops, as they are planned, must be a single one, of the same size for all.
    """
    starts: list[Value] = []
    sums: list[tuple[HloInstruction, Index, Accumulator, Sequence[Access], slice]] = []
    for reduction in reductions:
        total = accumulator(f, reduction)
        start = total.start()
        for index in indices:
            accesses = looped(reduction, operand_accesses(reduction, index), f.loops)
            sums.append((reduction, index, total, accesses, slice(len(starts), len(starts) + len(start))))
            starts += start
    variables = dict.fromkeys(variable for _, _, _, accesses, _ in sums for variable in accesses[0].variables)
    (extent,) = {variable.extent for variable in variables}

    def body(value: Value, carried: list[Value]) -> list[Value]:
        for variable in variables:
            f.indices.bind(variable, value)
        steps = [total.step(f, accesses, carried[registers]) for _, _, total, accesses, registers in sums]
        return [register for step in steps for register in step]

    metadata = minor_loop_metadata(extent)
    found = f.context.loop(f.b.int_(0), f.b.int_(extent), body, starts, name="reduce", metadata=metadata)
    for reduction, index, total, _, registers in sums:
        f.define(reduction, index, total.finish(found[registers]))


def is_empty(instruction: HloInstruction, total: Accumulator) -> bool:
    """Whether there is nothing to accumulate."""
    own = operand_accesses(instruction, zero_index(instruction))[0].variables
    if any(v.extent == 0 for v in own):
        return True
    return not total.counts_padding and not instruction.operand(0).shape.num_elements


def zero_index(instruction: HloInstruction) -> Index:
    """Returns the index of the first element of a result."""
    return tuple(IndexExpr.of(0) for _ in next(instruction.shape.leaves()).dimensions)
