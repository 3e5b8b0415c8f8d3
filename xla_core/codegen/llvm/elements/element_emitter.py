"""ElementEmitter: the value of any instruction of a computation at an index of affine expressions.

The access rules of `xla_core.analysis.indexing` say which operand elements are needed; the code here computes with
them. Ops that move elements therefore need no code of their own. An element that two users need is computed once, and
values that don't depend on an inner loop are computed outside of it.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import cast

from xla_core.analysis.indexing import (
    Access,
    Condition,
    Index,
    IndexExpr,
    Loops,
    StartIndex,
    Variable,
    memory_position,
    one_loop,
    operand_accesses,
)
from xla_core.codegen.llvm.elements.registers import parts, whole
from xla_core.codegen.llvm.ir.builder import IrBuilder
from xla_core.codegen.llvm.ir.module import Value
from xla_core.codegen.llvm.ir.types import constant_text, register_type
from xla_core.codegen.llvm.loops.context import EmissionContext
from xla_core.codegen.llvm.loops.index_values import IndexValues
from xla_core.codegen.llvm.loops.ir_array import Complex, ElementValue, IrArray
from xla_core.codegen.llvm.loops.kept_rows import KeptRows
from xla_core.codegen.llvm.scalars.elemental import ELEMENTAL, ElementalIrEmitter, element_operands
from xla_core.errors import InternalError, UnimplementedError
from xla_core.hlo.ir.computation import HloComputation
from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.hlo.table.opcode import Opcode
from xla_core.hlo.values.element_type import ElementType
from xla_core.hlo.values.literal import Literal
from xla_core.registration import registers_in
from xla_core.traversal import post_order

Generator = Callable[["ElementEmitter", HloInstruction, Index], "ElementValue | list[ElementValue]"]
"""(emitter, instruction, index) -> the element; for a tuple-shaped instruction the elements of its leaves."""

GENERATORS: dict[Opcode, Generator] = {}

generator = registers_in(GENERATORS)

Binding = IrArray | ElementValue | list[IrArray] | list[ElementValue]

Bindings = Mapping[HloInstruction, Binding]
"""The values of instructions: arrays in memory or elements; a list for a tuple."""

Loader = Callable[[IrArray, IndexExpr], ElementValue]
"""(array, position in memory) -> the element."""


class ElementEmitter:
    """Generates elements of one computation's instructions.

    Args:
        context: the kernel under construction.
        bindings: the values of the parameters, or of any other instructions; a list for a tuple.
        indices: the values of index variables.
        loops: the loops in which an instruction accumulates, as they are planned.
        loader: how elements of arrays are loaded; by default each by itself.
        level: how many loops are open where the bindings are known. Nothing is computed further out.
    """

    def __init__(
        self,
        context: EmissionContext,
        bindings: Bindings,
        indices: IndexValues,
        loops: Loops,
        *,
        loader: Loader | None = None,
        level: int = 0,
    ) -> None:
        self.context = context
        self.b = context.builder
        self.elemental = ElementalIrEmitter(context)
        self.indices = indices
        self.loops = loops
        self._loader = loader or (lambda array, position: array.load(self.b, indices.value(position)))
        self._level = level
        self._bindings = bindings
        self._serial = context.serial()
        self._reductions: dict[HloInstruction, bool] = {}
        self.rows = KeptRows(context, indices, self._serial)

    def is_bound(self, instruction: HloInstruction) -> bool:
        """Whether the elements of an instruction are known, or in memory."""
        return instruction in self._bindings

    def value(self, instruction: HloInstruction, index: Index) -> ElementValue:
        """Returns the element of an array-shaped instruction."""
        return self.values(instruction, index)[0]

    def values(self, instruction: HloInstruction, index: Index) -> list[ElementValue]:
        """Returns the elements of an instruction's leaves: one, unless it is a tuple."""
        # Elementwise chains may be thousands of instructions deep, too deep for recursion.
        stack = [(instruction, index)]
        while stack:
            top, place = stack[-1]
            operands = self._elementwise_operands(top, place)
            for o, at in operands:  # reductions first: they may keep rows that are read again
                if o.opcode not in ELEMENTAL and self._has_reduction(o) and not self._is_known(o, at):
                    self.values(o, at)
            missing = [(o, at) for o, at in operands if not self._is_known(o, at)]
            if missing:
                stack.extend(reversed(missing))
                continue
            stack.pop()
            if not self._is_known(top, place):
                with self.context.hoisted(max(self._level, self.indices.level(*place))), self._located(top):
                    value = self._emit(top, place)
                    self.context.remember(self._key(top, place), value if isinstance(value, list) else [value])
        result = self.context.find(self._key(instruction, index))
        if result is None:
            raise InternalError(f"emission of {instruction.name} has left no value for it")
        return cast("list[ElementValue]", result)

    def scalar(self, instruction: HloInstruction) -> ElementValue:
        """Returns the value of a scalar instruction."""
        return self.value(instruction, ())

    def define(self, instruction: HloInstruction, index: Index, values: list[ElementValue]) -> None:
        """Gives an instruction's elements at an index, which are known from here on in the innermost loop."""
        self.context.remember(self._key(instruction, index), values)

    def accesses(self, instruction: HloInstruction, index: Index) -> Sequence[Access]:
        """Returns the accesses to the operands, and loads the start indices that they need."""
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

    @contextlib.contextmanager
    def _located(self, instruction: HloInstruction) -> Iterator[None]:
        """Code that is emitted inside gets this instruction's debug location.

        Operands that are computed meanwhile keep their own.
        """
        before = self.b.location
        if before == self.b.root_location or instruction not in self._bindings:
            self.b.location = self.b.locations.get(instruction, before)
        yield
        self.b.location = before

    def _is_known(self, instruction: HloInstruction, index: Index) -> bool:
        return self.context.find(self._key(instruction, index)) is not None

    def _has_reduction(self, instruction: HloInstruction) -> bool:
        """Whether an instruction depends on a reduction that isn't bound."""
        for each in post_order([instruction], self._unbound_operands, known=self._reductions):
            is_reduction = each.opcode == Opcode.REDUCE and each not in self._bindings
            self._reductions[each] = is_reduction or any(self._reductions[o] for o in self._unbound_operands(each))
        return self._reductions[instruction]

    def _unbound_operands(self, instruction: HloInstruction) -> Sequence[HloInstruction]:
        if instruction in self._bindings:
            return ()
        return [o for o in instruction.operands if o not in self._bindings]

    def _key(self, instruction: HloInstruction, index: Index) -> tuple[int, HloInstruction, Index]:
        return self._serial, instruction, index

    def _elementwise_operands(self, instruction: HloInstruction, index: Index) -> list[tuple[HloInstruction, Index]]:
        if instruction.opcode not in ELEMENTAL or instruction in self._bindings:
            return []
        return [(o, _same_element(o, index)) for o in element_operands(instruction)]

    def _emit(self, instruction: HloInstruction, index: Index) -> ElementValue | list[ElementValue]:
        binding = self._bindings.get(instruction)
        if isinstance(binding, list):
            return [self._load(part, index) if isinstance(part, IrArray) else part for part in binding]
        if binding is not None:
            return self._load(binding, index) if isinstance(binding, IrArray) else binding
        emit = ELEMENTAL.get(instruction.opcode)
        if emit is not None:
            kept = self.rows.read(instruction, index)
            if kept is not None:
                return kept
            operands = [self.value(o, _same_element(o, index)) for o in element_operands(instruction)]
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

    def _load(self, array: IrArray, index: Index) -> ElementValue:
        return self._loader(array, memory_position(array.shape, index))

    def store(self, array: IrArray, index: Index, value: ElementValue) -> None:
        """Writes an element of an array."""
        array.store(self.b, self.indices.value(memory_position(array.shape, index)), value)

    def choose(
        self,
        conditions: Sequence[Condition],
        then: Callable[[], ElementValue],
        otherwise: Callable[[], ElementValue],
    ) -> ElementValue:
        """Selects one of two elements by a branch, so that only the chosen one is computed."""
        condition = self.indices.holds(conditions)
        return whole(self.context.choose(condition, lambda: parts(then()), lambda: parts(otherwise())))


def _same_element(operand: HloInstruction, index: Index) -> Index:
    """Returns the index of an operand of an elementwise op. Clamp and select take scalars besides arrays."""
    return index if operand.shape.dimensions else ()


def call_computation(
    context: EmissionContext, computation: HloComputation, arguments: Sequence[ElementValue], fast_math: str = ""
) -> list[ElementValue]:
    """Inlines a computation of scalars, such as a reduction's body, and returns the elements of its root's leaves.

    `fast_math` flags are added to its floating operations.
    """
    b = context.builder
    bindings: Bindings = dict(zip(computation.parameters, arguments, strict=True))
    body = ElementEmitter(context, bindings, IndexValues(context), one_loop, level=b.level)
    saved = b.fast_math
    b.fast_math = " ".join(dict.fromkeys([*saved.split(), *fast_math.split()]))
    results = body.values(computation.root, ())
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
    pointer = b.module.constant_array(literal.array, abi.alignment, abi.constant_address_space)
    invariant = f", !invariant.load {b.module.metadata('!{}')}"
    return IrArray(pointer, shape, load_metadata=invariant).load(b, position())


def clamped(b: IrBuilder, value: Value, element_type: ElementType, limit: int) -> Value:
    """Returns an integer element as an i64 index in [0, limit]."""
    if limit == 0:
        return b.int_(0)
    index = b.resize(value, "i64", signed=element_type.is_signed)
    return (
        b.clamp(b.int_(0), index, b.int_(limit))
        if element_type.is_signed
        else b.intrinsic("umin", index, b.int_(limit))
    )
