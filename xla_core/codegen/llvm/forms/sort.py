"""sort: a stable merge sort of each row, of any number of operands, with the comparator inlined.

A row is copied to contiguous scratch memory. Runs of a few elements are sorted by insertion, then merged into runs of
twice the length, back and forth between two halves of the memory, and the last run is copied to the result. Floats are
moved as integers, because some processors can select an integer without a branch, but not a float.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import cast

from xla_core.analysis.indexing import Index, delinearized
from xla_core.codegen.llvm.blocks.merging import search
from xla_core.codegen.llvm.blocks.register_arrays import RegisterArrays
from xla_core.codegen.llvm.elements.element_emitter import ElementEmitter, call_computation
from xla_core.codegen.llvm.elements.registers import parts, register_types, unflatten
from xla_core.codegen.llvm.forms.kernel_form import KernelBody, KernelForm, KernelPlan
from xla_core.codegen.llvm.ir.module import Value
from xla_core.codegen.llvm.ir.types import type_bits
from xla_core.codegen.llvm.loops.context import EmissionContext
from xla_core.codegen.llvm.loops.index_values import IndexValues
from xla_core.codegen.llvm.loops.ir_array import ElementValue
from xla_core.codegen.llvm.target_abi import KernelFrame
from xla_core.hlo.ir.computation import HloComputation
from xla_core.hlo.table.opcode import Opcode
from xla_core.hlo.values.element_type import ElementType

Less = Callable[[Sequence[Value], Sequence[Value]], Value]

_RUN = 16  # elements of a run that is sorted by insertion


def comes_before(
    context: EmissionContext, comparator: HloComputation, left: Sequence[ElementValue], right: Sequence[ElementValue]
) -> Value:
    """Returns whether a sort's comparator puts one tuple of elements before another: i1."""
    pairs = [value for pair in zip(left, right, strict=True) for value in pair]
    (result,) = call_computation(context, comparator, pairs)
    return cast(Value, result)


def _matches(body: KernelBody) -> bool:
    return body.root.opcode == Opcode.SORT


def _dimension(body: KernelBody) -> int:
    (dimension,) = body.root.attribute("dimensions")
    return cast(int, dimension)


def _plan(body: KernelBody) -> KernelPlan:
    dims = body.root.operand(0).shape.dimensions
    if not math.prod(dims):
        return KernelPlan(0)
    return KernelPlan(math.prod(dims) // dims[_dimension(body)])


class _Scratch:
    """Memory for two copies of a row, each with an element behind the row: an array of the bits of every register.

    Attributes:
        row: the bytes of a copy.
    """

    def __init__(self, context: EmissionContext, element_types: Sequence[ElementType], length: int) -> None:
        self._context, self._count = context, length + 1
        self._registers = register_types(element_types)
        self._types = [f"i{type_bits(t)}" for t in self._registers]
        self.row = RegisterArrays.size(self._types, self._count)
        self._memory = context.abi.allocate(context.builder, 2 * self.row)

    def half(self, start: Value) -> RegisterArrays:
        """Returns the copy that begins at a number of bytes."""
        b = self._context.builder
        return RegisterArrays.at(b, b.gep("i8", self._memory, start), self._types, self._count)

    def bits(self, registers: Sequence[Value]) -> list[Value]:
        return [self._context.builder.bitcast(v, t) for v, t in zip(registers, self._types, strict=True)]

    def registers(self, bits: Sequence[Value]) -> list[Value]:
        return [self._context.builder.bitcast(v, t) for v, t in zip(bits, self._registers, strict=True)]

    def release(self) -> None:
        self._context.abi.release(self._context.builder, self._memory, 2 * self.row)


def _emit(body: KernelBody, plan: KernelPlan, frame: KernelFrame, context: EmissionContext) -> None:
    root, b = body.root, context.builder
    dims, dimension = root.operand(0).shape.dimensions, _dimension(body)
    if not math.prod(dims):
        return
    length = dims[dimension]
    outer, inner = math.prod(dims[:dimension]), math.prod(dims[dimension + 1 :])
    element_types = [o.shape.element_type for o in root.operands]
    scratch = _Scratch(context, element_types, length)
    half, row = scratch.half, scratch.row
    comparator = root.attribute("to_apply")

    def less(x: Sequence[Value], y: Sequence[Value]) -> Value:
        left, right = (unflatten(scratch.registers(z), element_types) for z in (x, y))
        return comes_before(context, comparator, left, right)

    loop, _ = context.open_loop(frame.begin, frame.end, frame.step, name="unit")
    indices = IndexValues(context)
    emitter = ElementEmitter(context, body.bindings, indices, plan.loops)
    others = delinearized(indices.new("unit", outer * inner, loop.index), (outer, inner))
    before = delinearized(others[0], dims[:dimension])
    after = delinearized(others[1], dims[dimension + 1 :])

    def place(position: Value) -> Index:
        return (*before, indices.new("position", length, position), *after)

    def gather(position: Value) -> None:
        index = place(position)
        values = [r for operand in root.operands for r in parts(emitter.value(operand, index))]
        first.store(position, scratch.bits(values))

    zero, whole = b.int_(0), b.int_(length)
    first = half(zero)
    context.each(zero, whole, gather, name="gather")
    for copy in (first, half(b.int_(row))):  # a merge loads the element behind the row, and does not use it
        copy.store(whole, first.load(zero))
    _sort_runs(context, first, length, less)
    passes = max(0, (length - 1) // _RUN).bit_length()

    def merge(number: Value) -> None:
        source = b.mul(b.binary("and", number, b.int_(1)), b.int_(row))
        run = b.binary("shl", b.int_(_RUN), number)
        _merge_runs(context, half(source), half(b.sub(b.int_(row), source)), length, run, less)

    context.each(zero, b.int_(passes), merge, name="passes")
    last = half(b.int_(row * (passes % 2)))

    def put(position: Value) -> None:
        index = place(position)
        values = unflatten(scratch.registers(last.load(position)), element_types)
        for value, result in zip(values, body.results, strict=True):
            emitter.store(result, index, value)

    context.each(zero, whole, put, name="put")
    context.close_loop(loop)
    scratch.release()


def _sort_runs(context: EmissionContext, half: RegisterArrays, length: int, less: Less) -> None:
    """Sorts runs of _RUN elements by insertion."""
    b = context.builder

    def insert(position: Value) -> None:
        item = half.load(position)
        start = b.binary("and", position, b.int_(-_RUN))
        header, test = b.function.add_block("insert"), b.function.add_block("insert.test")
        shift, done = b.function.add_block("insert.shift"), b.function.add_block("insert.done")
        before = b.block
        b.branch(header)
        b.block = header
        hole = Value("i64", b.function.fresh())
        b.branch_if(b.icmp("ugt", hole, start), test, done)
        b.block = test
        previous_position = b.sub(hole, b.int_(1))
        with context.guarded():
            previous = half.load(previous_position)
            condition = less(item, previous)
        b.branch_if(condition, shift, done)
        b.block = shift
        half.store(hole, previous)
        b.branch(header)
        b.define_phi(hole, header, (position, before), (previous_position, shift))
        b.block = done
        half.store(hole, item)

    context.each(b.int_(0), b.int_(length), insert, name="runs")


def _merge_runs(
    context: EmissionContext, source: RegisterArrays, target: RegisterArrays, length: int, run: Value, less: Less
) -> None:
    """Merges neighbouring runs of `run` elements. Each step moves the smaller of two elements, without a branch.

    The two halves of a merged run are written in one loop: a step waits for the one before it in its half only.
    """
    b = context.builder
    twice = b.shl(run, 1)

    def step(out: Value, bounds: Sequence[Value], carried: Sequence[Value]) -> list[Value]:
        """Writes one element of a half, whose parts of the left and of the right run end at the bounds."""
        (left_end, right_end), (left, right) = bounds, carried
        x, y = source.load(left), source.load(right)
        left_empty = b.icmp("uge", left, left_end)
        take_right = b.and_(b.icmp("ult", right, right_end), b.or_(left_empty, less(y, x)))
        target.store(out, [b.select(take_right, yy, xx) for xx, yy in zip(x, y, strict=True)])
        moved = b.cast("zext", take_right, "i64")
        return [b.add(left, b.sub(b.int_(1), moved)), b.add(right, moved)]

    def pair(begin: Value) -> None:
        middle = b.intrinsic("umin", b.add(begin, run), b.int_(length))
        end = b.intrinsic("umin", b.add(begin, twice), b.int_(length))
        half = b.lshr(b.sub(end, begin), 1)
        lefts = _part_of_left(context, source, (begin, middle, end), half, less)
        split, left_split = b.add(begin, half), b.add(begin, lefts)
        right_split = b.add(middle, b.sub(half, lefts))
        first, second = (left_split, right_split), (middle, end)

        def both(out: Value, carried: list[Value]) -> Sequence[Value]:
            return [*step(out, first, carried[:2]), *step(b.add(out, half), second, carried[2:])]

        merged = context.loop(begin, split, both, [begin, middle, left_split, right_split], name="merge")

        def rest() -> None:
            step(b.sub(end, b.int_(1)), second, merged[2:])

        context.when(b.icmp("ult", b.add(split, half), end), rest)

    context.each(b.int_(0), b.int_(length), pair, step=twice, name="pairs")


def _part_of_left(
    context: EmissionContext, source: RegisterArrays, bounds: tuple[Value, Value, Value], half: Value, less: Less
) -> Value:
    """Returns how many of the first `half` elements of a merged run are of its left run."""
    b, (begin, middle, end) = context.builder, bounds
    least = b.intrinsic("smax", b.int_(0), b.sub(half, b.sub(end, middle)))
    most = b.intrinsic("smin", half, b.sub(middle, begin))

    def left(position: Value) -> list[Value]:
        return source.load(b.add(begin, position))

    def right(position: Value) -> list[Value]:
        return source.load(b.add(middle, position))

    (found,) = context.choose(
        b.icmp("ult", least, most), lambda: search(context, least, most, half, left, right, less), lambda: [least]
    )
    return found


SORT = KernelForm("sort", _matches, _plan, _emit, (Opcode.SORT,))
