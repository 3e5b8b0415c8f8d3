"""ElementEmitter: the value of any instruction of a computation at an index of affine expressions.

The access rules of `xla_core.analysis.indexing` say which operand elements are needed; the code here computes with
them. What moves elements needs no code of its own. An element that two users need is computed once, and what doesn't
depend on an inner loop is computed outside of it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import cast

from xla_core.analysis.indexing import (
    Access,
    Condition,
    Index,
    IndexExpr,
    StartIndex,
    Variable,
    linearized,
    operand_accesses,
)
from xla_core.codegen.llvm.elements.contraction import ProductSum
from xla_core.codegen.llvm.elements.data_movement import from_bits, parts, to_bits, whole
from xla_core.codegen.llvm.elements.fused import constant_element
from xla_core.codegen.llvm.elements.indexing import clamped
from xla_core.codegen.llvm.elements.reductions import Reducer
from xla_core.codegen.llvm.ir.module import Value
from xla_core.codegen.llvm.loops.context import EmissionContext
from xla_core.codegen.llvm.loops.index_values import IndexValues
from xla_core.codegen.llvm.loops.ir_array import ElementValue, IrArray
from xla_core.codegen.llvm.scalars.elemental import ELEMENTAL, ElementalIrEmitter
from xla_core.errors import InternalError, UnimplementedError
from xla_core.hlo.element_type import ElementType
from xla_core.hlo.instruction import HloInstruction
from xla_core.hlo.opcode import Opcode
from xla_core.registration import registers_in

Generator = Callable[["ElementEmitter", HloInstruction, Index], "ElementValue | list[ElementValue]"]
"""(emitter, instruction, index) -> the element; for a tuple-shaped instruction the elements of its leaves."""

GENERATORS: dict[Opcode, Generator] = {}

generator = registers_in(GENERATORS)

Binding = IrArray | ElementValue | list[IrArray] | list[ElementValue]


class ElementEmitter:
    """Generates elements of one computation's instructions.

    Args:
        context: the kernel under construction.
        bindings: the values of the parameters, or of any other instructions; a list for a tuple.
        indices: the values of index variables.
        level: how many loops are open where the bindings are known. Nothing is computed further out.
    """

    def __init__(
        self,
        context: EmissionContext,
        bindings: Mapping[HloInstruction, Binding],
        indices: IndexValues,
        level: int = 0,
    ) -> None:
        self.context = context
        self.b = context.builder
        self.elemental = ElementalIrEmitter(context)
        self.indices = indices
        self._level = level
        self._bindings = bindings
        self._serial = context.serial()

    def value(self, instruction: HloInstruction, index: Index) -> ElementValue:
        """The element of an array-shaped instruction."""
        return self.values(instruction, index)[0]

    def values(self, instruction: HloInstruction, index: Index) -> list[ElementValue]:
        """The elements of an instruction's leaves: one, unless it is a tuple."""
        # Elementwise chains may be thousands of instructions deep, too deep for recursion.
        stack = [(instruction, index)]
        while stack:
            top, place = stack[-1]
            missing = [
                (o, at)
                for o, at in self._elementwise_operands(top, place)
                if self.context.find(self._key(o, at)) is None
            ]
            if missing:
                stack.extend(reversed(missing))
                continue
            stack.pop()
            if self.context.find(self._key(top, place)) is None:
                with self.context.hoisted(max(self._level, self.indices.level(*place))):
                    value = self._emit(top, place)
                    self.context.remember(self._key(top, place), value if isinstance(value, list) else [value])
        result = self.context.find(self._key(instruction, index))
        if result is None:
            raise InternalError(f"emission of {instruction.name} has left no value for it")
        return cast("list[ElementValue]", result)

    def scalar(self, instruction: HloInstruction) -> ElementValue:
        """The value of a scalar instruction."""
        return self.value(instruction, ())

    def accesses(self, instruction: HloInstruction, index: Index) -> Sequence[Access]:
        """The accesses to the operands. Start indices that they need are loaded."""
        found = operand_accesses(instruction, index)
        for access in found:
            for variable in access.variables:
                if isinstance(variable.key, StartIndex) and not self.indices.is_bound(variable):
                    self._load_start(variable, variable.key)
        return found

    def _load_start(self, variable: Variable, start: StartIndex) -> None:
        source = start.instruction.operand(start.operand)
        with self.context.hoisted(max(self._level, self.indices.level(*start.index))):
            value = self.value(source, start.index)
            assert isinstance(value, Value)
            index = clamped(self.b, value, source.shape.element_type, variable.extent - 1)
            self.indices.bind(variable, index)

    def _key(self, instruction: HloInstruction, index: Index) -> tuple[int, HloInstruction, Index]:
        return self._serial, instruction, index

    def _elementwise_operands(self, instruction: HloInstruction, index: Index) -> list[tuple[HloInstruction, Index]]:
        if instruction.opcode not in ELEMENTAL or instruction in self._bindings:
            return []
        return [(o, _same_element(o, index)) for o in instruction.operands]

    def _emit(self, instruction: HloInstruction, index: Index) -> ElementValue | list[ElementValue]:
        binding = self._bindings.get(instruction)
        if isinstance(binding, list):
            return [self._load(part, index) if isinstance(part, IrArray) else part for part in binding]
        if binding is not None:
            return self._load(binding, index) if isinstance(binding, IrArray) else binding
        emit = ELEMENTAL.get(instruction.opcode)
        if emit is not None:
            operands = [self.value(o, _same_element(o, index)) for o in instruction.operands]
            return emit(self.elemental, instruction, operands)
        generate = GENERATORS.get(instruction.opcode)
        if generate is None:
            raise UnimplementedError(
                f"the LLVM emitter has no element generator for {instruction.opcode}",
                op=instruction.opcode,
                location=instruction.location,
                hint="give the target a kernel or a library call for it, or leave it out of the target's capabilities",
            )
        return generate(self, instruction, index)

    def _load(self, array: IrArray, index: Index) -> ElementValue:
        return array.load_linear(self.b, self.position(array, index))

    def store(self, array: IrArray, index: Index, value: ElementValue) -> None:
        """Writes an element of an array."""
        array.store_linear(self.b, self.position(array, index), value)

    def position(self, array: IrArray, index: Index) -> Value:
        """The position of an element in memory, in elements."""
        terms = (expr * stride for expr, stride in zip(index, array.strides(), strict=True))
        return self.indices.value(sum(terms, IndexExpr.of(0)))

    def choose(
        self,
        conditions: Sequence[Condition],
        then: Callable[[], ElementValue],
        otherwise: Callable[[], ElementValue],
    ) -> ElementValue:
        """One of two elements. Only the one that is chosen is computed."""
        condition = self.indices.holds(conditions)
        return whole(self.context.choose(condition, lambda: parts(then()), lambda: parts(otherwise())))


def _same_element(operand: HloInstruction, index: Index) -> Index:
    """The index of an operand of an elementwise op: clamp and select take scalars beside arrays."""
    return index if operand.shape.dimensions else ()


@generator(
    Opcode.BROADCAST,
    Opcode.RESHAPE,
    Opcode.BITCAST,
    Opcode.TRANSPOSE,
    Opcode.REVERSE,
    Opcode.SLICE,
    Opcode.DYNAMIC_SLICE,
    Opcode.GATHER,
)
def _moved(f: ElementEmitter, instruction: HloInstruction, index: Index) -> ElementValue:
    return f.value(instruction.operand(0), f.accesses(instruction, index)[0].index)


@generator(Opcode.CONSTANT)
def _constant(f: ElementEmitter, instruction: HloInstruction, index: Index) -> ElementValue:
    literal = instruction.literal
    return constant_element(f.context, literal, lambda: f.indices.value(linearized(index, literal.shape.dimensions)))


@generator(Opcode.IOTA)
def _iota(f: ElementEmitter, instruction: HloInstruction, index: Index) -> ElementValue:
    value = f.indices.value(index[instruction.attribute("iota_dimension")])
    return f.elemental.convert(value, ElementType.S64, instruction.shape.element_type)


@generator(Opcode.PAD)
def _pad(f: ElementEmitter, instruction: HloInstruction, index: Index) -> ElementValue:
    operand, padding = instruction.operands
    inside, _ = f.accesses(instruction, index)
    outside = f.scalar(padding)
    return f.choose(inside.conditions, lambda: f.value(operand, inside.index), lambda: outside)


@generator(Opcode.CONCATENATE)
def _concatenate(f: ElementEmitter, instruction: HloInstruction, index: Index) -> ElementValue:
    """A binary search for the operand that holds the index."""
    (axis,) = instruction.attribute("dimensions")
    accesses = f.accesses(instruction, index)
    pieces = [(o, a) for o, a in zip(instruction.operands, accesses, strict=True) if o.shape.dimensions[axis]]
    limits = [0]
    for operand, _ in pieces:
        limits.append(limits[-1] + operand.shape.dimensions[axis])

    def piece(low: int, high: int) -> ElementValue:
        if high - low == 1:
            return f.value(pieces[low][0], pieces[low][1].index)
        middle = (low + high) // 2
        before = Condition(index[axis], limits[low], limits[middle] - 1)
        return f.choose([before], lambda: piece(low, middle), lambda: piece(middle, high))

    return piece(0, len(pieces))


@generator(Opcode.DYNAMIC_UPDATE_SLICE)
def _dynamic_update_slice(f: ElementEmitter, instruction: HloInstruction, index: Index) -> ElementValue:
    operand, update = instruction.operands[:2]
    kept, updated = f.accesses(instruction, index)[:2]
    if not update.shape.num_elements:
        return f.value(operand, kept.index)
    return f.choose(updated.conditions, lambda: f.value(update, updated.index), lambda: f.value(operand, kept.index))


@generator(Opcode.BITCAST_CONVERT)
def _bitcast_convert(f: ElementEmitter, instruction: HloInstruction, index: Index) -> ElementValue:
    operand, b = instruction.operand(0), f.b
    source, target = operand.shape.element_type, instruction.shape.element_type
    have, want = source.bit_width, target.bit_width
    if have >= want:
        bits = to_bits(b, f.value(operand, index[: operand.shape.rank]), source)
        if have > want:  # a new last dimension: parts of an element, least significant first
            shift = b.resize(b.mul(f.indices.value(index[-1]), b.int_(want)), bits.type, signed=False)
            bits = b.binary("lshr", bits, shift)
        return from_bits(b, bits, target)
    total = b.int_(0, f"i{max(want, 8)}")
    for number in range(want // have):
        piece = to_bits(b, f.value(operand, (*index, IndexExpr.of(number))), source)
        total = b.or_(total, b.shl(b.cast("zext", piece, total.type), number * have))
    return from_bits(b, total, target)


@generator(Opcode.GET_TUPLE_ELEMENT)
def _get_tuple_element(f: ElementEmitter, instruction: HloInstruction, index: Index) -> list[ElementValue]:
    operand = instruction.operand(0)
    first = sum(len(list(s.leaves())) for s in operand.shape.tuple_shapes[: instruction.tuple_index])
    return f.values(operand, index)[first : first + len(list(instruction.shape.leaves()))]


@generator(Opcode.TUPLE, Opcode.OPT_BARRIER)
def _tuple(f: ElementEmitter, instruction: HloInstruction, index: Index) -> list[ElementValue]:
    return [value for operand in instruction.operands for value in f.values(operand, index)]


@generator(Opcode.REDUCE, Opcode.REDUCE_WINDOW)
def _reduce(f: ElementEmitter, instruction: HloInstruction, index: Index) -> list[ElementValue]:
    reducer = Reducer(f, instruction)

    def step(accesses: Sequence[Access], carried: list[Value]) -> list[Value]:
        elements = [f.value(o, a.index) for o, a in zip(reducer.operands, accesses, strict=False)]
        return reducer.combine(carried, reducer.enter(elements))

    def padding(carried: list[Value]) -> list[Value]:
        return reducer.combine(carried, reducer.start())

    outside = padding if instruction.opcode == Opcode.REDUCE_WINDOW else None
    return reducer.leave(_accumulated(f, instruction, index, reducer.start(), step, outside))


@generator(Opcode.DOT, Opcode.CONVOLUTION)
def _product(f: ElementEmitter, instruction: HloInstruction, index: Index) -> ElementValue:
    total = ProductSum(f, instruction)
    lhs, rhs = instruction.operands

    def step(accesses: Sequence[Access], carried: list[Value]) -> list[Value]:
        return total.add(carried, f.value(lhs, accesses[0].index), f.value(rhs, accesses[1].index))

    return total.finish(_accumulated(f, instruction, index, total.zero(), step))


def _accumulated(
    f: ElementEmitter,
    instruction: HloInstruction,
    index: Index,
    start: Sequence[Value],
    step: Callable[[Sequence[Access], list[Value]], list[Value]],
    outside: Callable[[list[Value]], list[Value]] | None = None,
) -> list[Value]:
    """The registers after `step` for all values of the accesses' variables, in order.

    Where a condition doesn't hold, `outside` is called instead, or nothing.
    """
    accesses = f.accesses(instruction, index)
    variables = list(accesses[0].variables)
    is_empty = outside is None and not instruction.operand(0).shape.num_elements
    if is_empty or any(v.extent == 0 for v in variables):
        return list(start)

    def inner(bound: int, tested: frozenset[Condition], carried: list[Value]) -> list[Value]:
        known = set(variables[bound:])
        ready = [c for c in accesses[0].conditions if c not in tested and known.isdisjoint(c.expr.variables)]
        if ready and (outside is None or bound == len(variables)):
            otherwise = (lambda: outside(carried)) if outside else (lambda: carried)
            return f.context.choose(
                f.indices.holds(ready), lambda: inner(bound, tested.union(ready), carried), otherwise
            )
        if bound == len(variables):
            return step(accesses, carried)
        variable = variables[bound]

        def body(value: Value, values: list[Value]) -> list[Value]:
            f.indices.bind(variable, value)
            return inner(bound + 1, tested, values)

        end = f.b.int_(variable.extent)
        return f.context.loop(f.b.int_(0), end, body, carried, name=str(instruction.opcode))

    return inner(0, frozenset(), list(start))
