"""topk: a heap of the k best elements of a row, whose root is the worst of them.

An element and its index are one unsigned number: the element's key (an integer that is ordered as the elements are) in
the high bits, the complement of the index in the low ones. Of two equal elements, the first is therefore greater. A
vector loop finds the greatest key of each block of a row. The block is skipped if that key is not above the root's. The
heap is sorted at the end.
"""

from __future__ import annotations

import math

from xla_core.analysis.indexing import delinearized
from xla_core.codegen.llvm.elements.element_emitter import ElementEmitter
from xla_core.codegen.llvm.forms.kernel_form import KernelBody, KernelForm, KernelPlan
from xla_core.codegen.llvm.ir.builder import IrBuilder
from xla_core.codegen.llvm.ir.module import IrFunction, Value
from xla_core.codegen.llvm.ir.types import type_bits
from xla_core.codegen.llvm.loops.context import EmissionContext
from xla_core.codegen.llvm.loops.index_values import IndexValues
from xla_core.codegen.llvm.scalars.elemental import total_order
from xla_core.codegen.llvm.target_abi import KernelFrame
from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.hlo.table.opcode import Opcode
from xla_core.hlo.values.element_type import ElementType
from xla_core.sizes import ceil_div

_BLOCK = 128  # elements that are compared with the heap's root at once
_INDEX_BITS = 32


def why_sorted(topk: HloInstruction) -> str | None:
    """Why a sort of whole rows serves better than a heap; None where it doesn't."""
    length = topk.operand(0).shape.dimensions[-1]
    return "it takes more than half of each row" if 2 * topk.attribute("k") > length else None


def why_wide(topk: HloInstruction) -> str | None:
    """Why a heap needs integers of 128 bits; None where it doesn't."""
    is_wide = _word(topk) == "i128"
    return "an element and its index need an integer of 128 bits, which C for this processor lacks" if is_wide else None


def _word(topk: HloInstruction) -> str:
    return "i64" if topk.operand(0).shape.element_type.bit_width <= _INDEX_BITS else "i128"


def _matches(body: KernelBody) -> bool:
    return body.root.opcode == Opcode.TOPK


def _plan(body: KernelBody) -> KernelPlan:
    return KernelPlan(math.prod(body.root.operand(0).shape.dimensions[:-1]) if body.root.attribute("k") else 0)


def _emit(body: KernelBody, plan: KernelPlan, frame: KernelFrame, context: EmissionContext) -> None:
    root, b = body.root, context.builder
    k, shape = root.attribute("k"), root.operand(0).shape
    if not k or not math.prod(shape.dimensions[:-1]):
        return
    word = _word(root)
    size = k * type_bits(word) // 8
    heap = _Heap(b, context.abi.allocate(b, size), word)
    loop, _ = context.open_loop(frame.begin, frame.end, frame.step, name="row")
    _Row(body, plan, context, heap, loop.index).emit()
    context.close_loop(loop)
    context.abi.release(b, heap.memory, size)


class _Row:
    """Emits the work on a row. The heap's words are the greatest elements so far, the least of them first."""

    def __init__(
        self, body: KernelBody, plan: KernelPlan, context: EmissionContext, heap: _Heap, number: Value
    ) -> None:
        self._body, self._context, self._b, self._heap = body, context, context.builder, heap
        self._operand, self._k = body.root.operand(0), body.root.attribute("k")
        dims = self._operand.shape.dimensions
        self._length = dims[-1]
        self._key_type = f"i{max(8, self._operand.shape.element_type.bit_width)}"
        self._indices = IndexValues(context)
        self._emitter = ElementEmitter(context, body.bindings, self._indices, plan.loops)
        self._row = delinearized(self._indices.new("row", math.prod(dims[:-1]), number), dims[:-1])
        self._block_size = min(_BLOCK, self._length)
        self._blocks = ceil_div(self._length - self._k, self._block_size)

    def emit(self) -> None:
        b, k, each = self._b, self._k, self._context.each
        each(b.int_(0), b.int_(k), self._begin, name="begin")
        each(b.int_(0), b.int_(k // 2), self._order, name="order")
        if self._blocks:
            each(b.int_(0), b.int_(self._blocks), self._block, name="block")
        each(b.int_(0), b.int_(k - 1), self._remove, name="remove")
        each(b.int_(0), b.int_(k), self._put, name="put")

    def _element(self, position: Value) -> Value:
        index = (*self._row, self._indices.new("position", self._length, position))
        value = self._emitter.value(self._operand, index)
        assert isinstance(value, Value)
        return value

    def _key(self, position: Value) -> Value:
        found = ordered_key(self._b, self._element(position), self._operand.shape.element_type)
        return found if self._body.root.attribute("largest") else self._b.not_(found)

    def _joined(self, found: Value, position: Value) -> Value:
        b, word = self._b, self._heap.word
        place = b.sub(b.int_(2**_INDEX_BITS - 1), position)
        return b.or_(b.shl(b.cast("zext", found, word), _INDEX_BITS), b.resize(place, word, signed=False))

    def _begin(self, position: Value) -> None:
        self._heap.store(position, self._joined(self._key(position), position))

    def _order(self, step: Value) -> None:
        hole = self._b.sub(self._b.int_(self._k // 2 - 1), step)
        self._heap.sift(hole, self._heap.load(hole), self._b.int_(self._k))

    def _least(self) -> Value:
        b = self._b
        return b.cast("trunc", b.lshr(self._heap.load(b.int_(0)), _INDEX_BITS), self._key_type)

    def _insert(self, position: Value) -> None:
        b = self._b
        with self._context.guarded():
            found = self._key(position)
            self._context.when(
                b.icmp("ugt", found, self._least()),
                lambda: self._heap.sift(b.int_(0), self._joined(found, position), b.int_(self._k)),
            )

    def _block(self, number: Value) -> None:
        b, context, size = self._b, self._context, self._b.int_(self._block_size)
        end = b.sub(b.int_(self._length), b.mul(b.sub(b.int_(self._blocks - 1), number), size))
        start = b.sub(end, size)
        # Every block searches equally many elements for the greatest key, so that LLVM needs no loop for a remainder.
        first = b.intrinsic("smax", start, b.int_(0))
        start = b.intrinsic("smax", start, b.int_(self._k))
        (best,) = context.loop(
            first,
            b.add(first, size),
            lambda at, most: [b.intrinsic("umax", most[0], self._key(at))],
            [Value(self._key_type, "0")],
            name="greatest",
        )
        context.when(b.icmp("ugt", best, self._least()), lambda: context.each(start, end, self._insert, name="insert"))

    def _remove(self, step: Value) -> None:
        """Moves the least word behind the end of the remaining heap."""
        b, heap = self._b, self._heap
        last = b.sub(b.int_(self._k - 1), step)
        moved, first = heap.load(last), heap.load(b.int_(0))
        heap.sift(b.int_(0), moved, last)
        heap.store(last, first)

    def _put(self, position: Value) -> None:
        b = self._b
        place = b.not_(b.cast("trunc", self._heap.load(position), "i32"))
        values, numbers = self._body.results
        index = (*self._row, self._indices.new("rank", self._k, position))
        self._emitter.store(values, index, self._element(b.cast("zext", place, "i64")))
        self._emitter.store(numbers, index, place)


def ordered_key(b: IrBuilder, value: Value, element_type: ElementType) -> Value:
    """Returns an unsigned integer that is ordered as the elements are."""
    if element_type is ElementType.PRED:
        return b.cast("zext", value, "i8")
    if element_type.is_floating:
        value = total_order(b, value, element_type)
    if element_type.is_floating or element_type.is_signed:
        bits = type_bits(value.type)
        return b.xor(value, Value(value.type, str(-(2 ** (bits - 1)))))
    return value


class _Heap:
    """A binary heap in an array: no word is less than its parent, which has half its position."""

    def __init__(self, b: IrBuilder, memory: Value, word: str) -> None:
        self.b = b
        self.memory = memory
        self.word = word

    def load(self, position: Value) -> Value:
        return self.b.load(self.word, self.b.gep(self.word, self.memory, position), align=8)

    def store(self, position: Value, word: Value) -> None:
        self.b.store(word, self.b.gep(self.word, self.memory, position), align=8)

    def sift(self, hole: Value, word: Value, size: Value) -> None:
        """Moves the lesser words below the hole up, and puts `word` into the place that they leave.

        This is a function in the module, because the kernel calls it at several places.
        """
        memory, module = self.memory, self.b.module
        key = f"sift_{self.word}_{memory.type}"
        if key not in module.helpers:
            parameters = [(memory.type, "", "heap"), ("i64", "", "hole"), (self.word, "", "word"), ("i64", "", "size")]
            name = module.symbol(key)
            function = IrFunction(name, "void", parameters, prefix="internal", attributes="noinline nounwind")
            module.helpers[key] = module.add_function(function)
            heap, *rest = function.parameters
            _Heap(IrBuilder(module, function), heap, self.word).emit_sift(*rest)
        self.b.call(module.helpers[key].name, "void", [memory, hole, word, size])

    def emit_sift(self, hole: Value, word: Value, size: Value) -> None:
        """Emits the body of the function that `sift` calls."""
        b = self.b
        header, test = b.function.add_block("sift"), b.function.add_block("sift.test")
        move, done = b.function.add_block("sift.move"), b.function.add_block("sift.done")
        entry = b.block
        b.branch(header)
        b.block = header
        place = Value("i64", b.function.fresh())
        left = b.add(b.shl(place, 1), b.int_(1))
        b.branch_if(b.icmp("ult", left, size), test, done)
        b.block = test
        right = b.intrinsic("umin", b.add(left, b.int_(1)), b.sub(size, b.int_(1)))
        one, other = self.load(left), self.load(right)
        child = b.select(b.icmp("ult", other, one), right, left)
        least = b.intrinsic("umin", one, other)
        b.branch_if(b.icmp("ult", least, word), move, done)
        b.block = move
        self.store(place, least)
        b.branch(header)
        b.define_phi(place, header, (hole, entry), (child, move))
        b.block = done
        self.store(place, word)
        b.ret()


TOP_K = KernelForm("top-k", _matches, _plan, _emit, (Opcode.TOPK,))
