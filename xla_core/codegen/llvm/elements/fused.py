"""FusedIrEmitter: the value of any instruction of a computation at any index.

(XLA: xla/service/llvm_ir/fused_ir_emitter.h.) Producers are inlined into their users. An element that two users need is
computed once. What doesn't depend on an inner loop is computed outside of it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Protocol, cast

from xla_core.codegen.llvm.ir.builder import IrBuilder
from xla_core.codegen.llvm.ir.module import Value
from xla_core.codegen.llvm.ir.types import constant_text, register_type
from xla_core.codegen.llvm.loops.context import EmissionContext
from xla_core.codegen.llvm.loops.index import Index
from xla_core.codegen.llvm.loops.ir_array import Complex, ElementValue, IrArray
from xla_core.codegen.llvm.loops.rows import Rows
from xla_core.codegen.llvm.loops.transposition import load_element
from xla_core.codegen.llvm.scalars.elemental import ELEMENTAL, ElementalIrEmitter
from xla_core.errors import InternalError, UnimplementedError
from xla_core.hlo.computation import HloComputation
from xla_core.hlo.instruction import HloInstruction
from xla_core.hlo.literal import Literal
from xla_core.hlo.opcode import Opcode
from xla_core.registration import registers_in

Generator = Callable[["FusedIrEmitter", HloInstruction, Index], "ElementValue | list[ElementValue]"]
"""(emitter, instruction, index) -> the element; for a tuple-shaped instruction the elements of its leaves."""

GENERATORS: dict[Opcode, Generator] = {}
"""Generators by opcode, of the ops that are not elementwise; those are in ELEMENTAL."""

generator = registers_in(GENERATORS)

Binding = IrArray | ElementValue | Callable[[Index], ElementValue]
"""The value of an instruction: an array in memory, a scalar, or a function of the index."""

Bindings = Mapping[HloInstruction, Binding | list[IrArray] | list[ElementValue]]
"""The values of instructions; a list for a tuple."""


class ElementSource(Protocol):
    """What accumulators need of an emitter of elements."""

    context: EmissionContext
    b: IrBuilder
    elemental: ElementalIrEmitter

    def scalar(self, instruction: HloInstruction) -> ElementValue:
        """Returns the value of a scalar instruction."""


class FusedIrEmitter:
    """Generates elements of one computation's instructions.

    Args:
        context: the kernel under construction.
        bindings: the values of the parameters, or of any other instructions; a list for a tuple.
        level: how many loops are open where the bindings are defined. Nothing is computed outside of these loops.
    """

    def __init__(
        self,
        context: EmissionContext,
        bindings: Bindings,
        level: int = 0,
    ) -> None:
        self.context = context
        self.b = context.builder
        self.elemental = ElementalIrEmitter(context)
        self._bindings = bindings
        self.level = level
        self._serial = context.serial()
        self.rows = Rows(context, self._serial)
        self._reductions: dict[HloComputation | None, set[HloInstruction]] = {}

    def value(self, instruction: HloInstruction, index: Index) -> ElementValue:
        """Returns the element of an array-shaped instruction."""
        value = self._value(instruction, index)
        return value[0] if isinstance(value, list) else value

    def values(self, instruction: HloInstruction, index: Index) -> list[ElementValue]:
        """Returns the elements of an instruction's leaves: one, unless it is a tuple."""
        value = self._value(instruction, index)
        return value if isinstance(value, list) else [value]

    def scalar(self, instruction: HloInstruction) -> ElementValue:
        """Returns the value of a scalar instruction."""
        return self.value(instruction, Index.scalar())

    def array(self, instruction: HloInstruction) -> IrArray | None:
        """Returns the array in memory that the instruction is bound to, or None."""
        binding = self._bindings.get(instruction)
        return binding if isinstance(binding, IrArray) else None

    def _value(self, instruction: HloInstruction, index: Index) -> ElementValue | list[ElementValue]:
        context = self.context
        key = (self._serial, instruction, index.key)
        found = context.find(key)
        if found is not None:
            return cast("ElementValue | list[ElementValue]", found)
        # Elementwise chains may be thousands of instructions deep, too deep for recursion.
        stack = [instruction]
        while stack:
            top = stack[-1]
            if self._is_elemental(top):
                for o in top.operands:  # reductions first: they may keep rows that this loop reads again
                    if o in self._with_reductions(o) and not self._is_elemental(o):
                        self._value(o, _operand_index(o, index))
                missing = [
                    o
                    for o in top.operands
                    if self._is_elemental(o) and context.find((self._serial, o, _operand_index(o, index).key)) is None
                ]
                if missing:
                    stack.extend(reversed(missing))
                    continue
            stack.pop()
            place = _operand_index(top, index) if top is not instruction else index
            key = (self._serial, top, place.key)
            if context.find(key) is None:
                with context.hoisted(max(place.level, self.level)):
                    context.remember(key, self._emit(top, place))
        result = context.find(key)
        if result is None:
            raise InternalError(f"emission of {instruction.name} has left no value for it")
        return cast("ElementValue | list[ElementValue]", result)

    def _with_reductions(self, instruction: HloInstruction) -> set[HloInstruction]:
        """Returns the instructions of a computation that depend on a reduction which isn't bound."""
        computation = instruction.parent
        if computation not in self._reductions:
            found: set[HloInstruction] = set()
            if any(i.opcode == Opcode.REDUCE for i in (computation.instructions if computation else ())):
                for each in computation.post_order() if computation else ():
                    bound = each in self._bindings
                    if not bound and (each.opcode == Opcode.REDUCE or any(o in found for o in each.operands)):
                        found.add(each)
            self._reductions[computation] = found
        return self._reductions[computation]

    def _is_elemental(self, instruction: HloInstruction) -> bool:
        return instruction.opcode in ELEMENTAL and instruction not in self._bindings

    def _emit(self, instruction: HloInstruction, index: Index) -> ElementValue | list[ElementValue]:
        binding = self._bindings.get(instruction)
        if binding is not None:
            if isinstance(binding, list):
                return [self._bound(part, index) for part in binding]
            return self._bound(binding, index)
        emit = ELEMENTAL.get(instruction.opcode)
        if emit is not None:
            kept = self.rows.read(instruction, index)
            if kept is not None:
                return kept
            operands = [self.value(o, _operand_index(o, index)) for o in instruction.operands]
            value = emit(self.elemental, instruction, operands)
            self.rows.keep(instruction, index, value)
            return value
        generate = GENERATORS.get(instruction.opcode)
        if generate is None:
            raise UnimplementedError(
                f"the LLVM emitter has no element generator for {instruction.opcode}",
                op=instruction.opcode,
                location=instruction.location,
                hint="give the target a kernel or a library call for it, or leave it out of the target's capabilities",
            )
        return generate(self, instruction, index)

    def _bound(self, binding: Binding, index: Index) -> ElementValue:
        if isinstance(binding, IrArray):
            return load_element(self.context, binding, index)
        return binding if isinstance(binding, (Value, Complex)) else binding(index)


def call_computation(
    context: EmissionContext, computation: HloComputation, arguments: Sequence[ElementValue], fast_math: str = ""
) -> list[ElementValue]:
    """Inlines a computation of scalars, such as a reduction's body, and returns the elements of its root's leaves.

    `fast_math` flags are added to its floating operations.
    """
    b = context.builder
    bindings = dict(zip(computation.parameters, arguments, strict=True))
    body = FusedIrEmitter(context, bindings, b.level)
    saved = b.fast_math
    b.fast_math = " ".join(dict.fromkeys([*saved.split(), *fast_math.split()]))
    results = body.values(computation.root, Index.scalar())
    b.fast_math = saved
    return results


def constant_element(context: EmissionContext, literal: Literal, position: Callable[[], Value]) -> ElementValue:
    """Returns the element of a constant at a row-major position.

    It is an immediate if all elements are equal, else a load from a table in the module.
    """
    b, abi = context.builder, context.abi
    element_type = literal.shape.element_type
    if literal.is_splat:
        item = literal.array.reshape(-1)[:1][0] if literal.array.ndim else literal.array[()]
        part = element_type.component
        if element_type.is_complex:
            return Complex(
                Value(register_type(part), constant_text(part, item.real)),
                Value(register_type(part), constant_text(part, item.imag)),
            )
        return Value(register_type(part), constant_text(part, item))
    shape = literal.shape.without_layout()
    data = literal.array.tobytes()
    pointer = b.module.constant_bytes(data, abi.alignment, abi.constant_address_space)
    invariant = f", !invariant.load {b.module.metadata('!{}')}"
    return IrArray(pointer, shape, load_metadata=invariant).load_linear(b, position())


def _operand_index(operand: HloInstruction, index: Index) -> Index:
    """Returns the index of an elementwise op's operand. Operands of clamp and select may be scalars."""
    return index if operand.shape.dimensions else Index.scalar()
