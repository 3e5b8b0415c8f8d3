"""Packs parts of matrices into panels, and emits the multiply-adds that read them.

A panel holds some points (rows of the left matrix or columns of the right one) and all taps of the contracting index.
It consists of words: a word holds `depth` consecutive taps of one point, and the words of the points of a panel that
hold the same taps are adjacent. One vector instruction multiplies the words of two vectors and adds the products of
each word to a sum.
"""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Callable, Sequence

from xla_backend_cpu.codegen.processor import Processor
from xla_backend_cpu.codegen.vectors import VectorOps, splat, transpose
from xla_core.codegen.llvm import IrBuilder, IrFunction, Value
from xla_core.hlo import ElementType

_SCALAR_BYTES = {"float": 4, "double": 8, "i8": 1}
_SCALARS = {ElementType.F32: "float", ElementType.F64: "double"}
_BYTES = {ElementType.S8, ElementType.U8}
_PREFETCHED_TAPS = 8
_FLIP = 0x80808080 - (1 << 32)  # 128 in each byte
_WORDS = {ElementType.S32, ElementType.U32}


@dataclasses.dataclass(frozen=True, slots=True)
class PackedOperand:
    """How an operand's elements become taps: `extension` makes a tap of an element; `flipped` adds 128 modulo 256."""

    scalar: str
    extension: str = ""
    flipped: bool = False

    @property
    def bytes(self) -> int:
        """The size of an element."""
        return _SCALAR_BYTES[self.scalar]


@dataclasses.dataclass(frozen=True, slots=True)
class PanelFormat:
    """The words of the panels of a product.

    Attributes:
        word: the LLVM type of a word.
        word_bytes: the size of a word.
        depth: the taps in a word.
        left, right: the operands.
        dot: LLVM's intrinsic that sums the products of the taps of two integer words, or "".
        unsigned_left: of four taps, whether the left ones are those that `dot` takes as unsigned.
    """

    word: str
    word_bytes: int
    depth: int
    left: PackedOperand
    right: PackedOperand
    dot: str = ""
    unsigned_left: bool = True

    @property
    def tap_bits(self) -> int:
        return 8 * self.word_bytes // self.depth

    def words(self, taps: int) -> int:
        """The number of words that hold the taps of one point."""
        return -(-taps // self.depth)


def panel_format(
    left: ElementType, right: ElementType, result: ElementType, processor: Processor
) -> PanelFormat | None:
    """The format of the panels of a product, or None if there is none for these types.

    Bytes become pairs of 16-bit integers, whose products 32 bits can hold, unless the processor multiplies four bytes
    at once. That instruction has an unsigned and a signed operand: of two signed ones, the left one gets 128 added.
    """
    if left is right is result and left in _SCALARS:
        operand = PackedOperand(_SCALARS[left])
        return PanelFormat(operand.scalar, left.byte_width, 1, operand, operand)
    if not {left, right} <= _BYTES or result not in _WORDS:
        return None
    if processor.byte_dot and (left.is_signed or right.is_signed):
        flipped = left.is_signed and right.is_signed
        operands = PackedOperand("i8", flipped=flipped), PackedOperand("i8")
        return PanelFormat("i32", 4, 4, *operands, processor.byte_dot, flipped or right.is_signed)
    one, other = (PackedOperand("i8", "sext" if t.is_signed else "zext") for t in (left, right))
    return PanelFormat("i32", 4, 2, one, other, processor.pair_dot)


@dataclasses.dataclass(frozen=True, slots=True)
class TapBlock:
    """A block of the taps of a product. `count` taps from tap `first` on are in it, and `size` in all but the last.

    `all_taps` are the taps of the product; `is_last` is true for the last block, and None if there is one block.
    """

    all_taps: int
    size: int
    first: Value
    count: Value
    is_last: Value | None

    @staticmethod
    def of(b: IrBuilder, all_taps: int, size: int, number: Value) -> TapBlock:
        """Returns block `number` of blocks of `size` taps."""
        if size >= all_taps:
            return TapBlock(all_taps, size, b.int_(0), b.int_(all_taps), None)
        first = b.mul(number, b.int_(size))
        left = b.sub(b.int_(all_taps), first)
        count = b.intrinsic("umin", left, b.int_(size))
        return TapBlock(all_taps, size, first, count, b.icmp("ule", left, b.int_(size)))

    def each(self, b: IrBuilder, step: int, emit: Callable[[Value, int], None]) -> None:
        """Emits code for each `step` taps: `emit(number, taps)`. The last ones may be fewer. `step` divides `size`."""
        whole = b.udiv(self.count, b.int_(step))
        if self.all_taps >= step:
            loop, _ = b.open_loop(b.int_(0), whole, name="taps")
            emit(loop.index, step)
            b.close_loop(loop)
        rest = self.all_taps % step
        if rest:
            with b.if_(self.is_last) if self.is_last is not None else contextlib.nullcontext():
                emit(whole, rest)


class PanelOps(VectorOps):
    """Emits the packing of panels and the arithmetic on vectors of their words."""

    def __init__(self, builder: IrBuilder, format_: PanelFormat, processor: Processor) -> None:
        super().__init__(builder, format_.word, processor)
        self.format = format_
        self.processor = processor

    # -- arithmetic --------------------------------------------------------------------------------------------------

    def enough_for(self, lanes: int) -> VectorOps:
        return super().enough_for(lanes) if self.format.depth == 1 else self

    def multiply_add(self, left: Value, right: Value, total: Value) -> Value:
        """`total` plus the products of the taps of `left` and `right` in each lane."""
        b, f = self.b, self.format
        if f.depth == 1:
            return super().multiply_add(left, right, total)
        if f.depth == 4:
            unsigned, signed = (left, right) if f.unsigned_left else (right, left)
            return b.call(f.dot, self.type, [total, unsigned, signed])
        pairs = [b.bitcast(value, f"<{2 * self.lanes} x i16>") for value in (left, right)]
        if f.dot:
            return b.add(total, b.call(f.dot, self.type, pairs))
        products = [
            b.emit(
                self.type,
                "mul nsw " + ", ".join((str(self._taps(pairs[0], tap)), self._taps(pairs[1], tap).name)),
            )
            for tap in range(2)
        ]
        return b.add(total, b.emit(self.type, f"add {products[0]}, {products[1].name}"))

    def _taps(self, pairs: Value, tap: int) -> Value:
        """Tap number `tap` of each word."""
        mask = ", ".join(f"i32 {2 * lane + tap}" for lane in range(self.lanes))
        half = f"<{self.lanes} x i16>"
        taps = self.b.emit(half, f"shufflevector {pairs}, {pairs.type} poison, <{self.lanes} x i32> <{mask}>")
        return self.b.cast("sext", taps, self.type)

    def correction(self, panel: Value, vectors: int, words: Value) -> list[Value]:
        """The sums to start from, for each vector of points of a right panel.

        If the left taps have 128 added, these are -128 times the sums of the right taps.
        """
        if not self.format.left.flipped:
            return [self.zero] * vectors
        b = self.b
        added = splat(b, b.int_(_FLIP, "i32"), self.lanes)
        loop, sums = b.open_loop(b.int_(0), words, carried=[self.zero] * vectors, name="correction")
        here = b.gep(self.type, panel, b.mul(loop.index, b.int_(vectors)))
        new = [
            self.multiply_add(added, self.load(b.gep(self.type, here, b.int_(i)), self.lanes), total)
            for i, total in enumerate(sums)
        ]
        return [b.emit(self.type, f"sub {self.zero}, {total.name}") for total in b.close_loop(loop, new)]

    def added(self, sums: Value, more: Value) -> Value:
        """The sum of two vectors of sums."""
        return self.b.emit(self.type, f"{'add' if self.scalar == 'i32' else 'fadd'} {sums}, {more.name}")

    # -- packing -----------------------------------------------------------------------------------------------------

    def pack(
        self,
        operand: PackedOperand,
        source: Value,
        strides: tuple[int, int],
        points: int,
        taps: TapBlock,
        panel: Value,
        step: int,
    ) -> None:
        """Copies the taps of `points` points at `source` into a panel.

        In the panel, the next taps are `step` words further on: a multiple of a vector if taps are contiguous in the
        source.

        `strides` are those of a point and a tap, in elements; one of them is 1. Taps beyond the last are zero in the
        last word. Points beyond the last, up to a whole vector, have any values. The panel needs room for a multiple of
        `lanes` words of each point.
        """
        source = self.b.gep(operand.scalar, source, self.b.mul(taps.first, self.b.int_(strides[1])))
        if strides[1] == 1:
            self._transpose(operand, source, strides[0], points, taps, panel)
        else:
            self._interleave(operand, source, strides[1], points, taps, panel, step)

    def _transpose(
        self, operand: PackedOperand, source: Value, stride: int, points: int, taps: TapBlock, panel: Value
    ) -> None:
        """Packs points whose taps are contiguous, by a function that programs share: its sizes are arguments."""
        b, module = self.b, self.b.module
        key = f"pack_{operand.scalar}{operand.extension}{'_flipped' * operand.flipped}_{self.format.word}"
        if key not in module.helpers:
            sizes = [("i64", "", name) for name in ("stride", "points", "taps")]
            parameters = [("ptr", "noalias readonly", "source"), *sizes, ("ptr", "noalias", "panel")]
            width = f'"prefer-vector-width"="{8 * self.processor.register_bytes}"'
            function = IrFunction(module.symbol(key), "void", parameters, attributes=f"noinline nounwind {width}")
            function.shared = True
            module.helpers[key] = module.add_function(function)
            PanelOps(IrBuilder(module, function), self.format, self.processor)._emit_transpose(operand)
        arguments = [source, b.int_(stride), b.int_(points), taps.count, panel]
        b.call(module.helpers[key].name, "void", arguments)

    def _emit_transpose(self, operand: PackedOperand) -> None:
        """Emits the function of `_transpose`, which transposes squares of `lanes` points times `lanes` words.

        Taps beyond the last square are first copied to a square whose other taps are zero.
        """
        b, lanes, square = self.b, self.lanes, self.lanes * self.format.depth
        source, stride, points, taps, panel = b.function.parameters
        element_bytes = operand.bytes
        rows, last_rows = (b.alloca("ptr", lanes, align=8) for _ in range(2))
        last = b.alloca(operand.scalar, lanes * square, align=64)
        bytes_ = b.int_(lanes * square * element_bytes)
        b.intrinsic("memset", last, b.int_(0, "i8"), bytes_, b.bool_(False), suffixes=("p0", "i64"), result="void")
        whole, rest = b.udiv(taps, b.int_(square)), b.urem(taps, b.int_(square))
        last_tap = b.mul(whole, b.int_(square))
        squares = b.add(whole, b.cast("zext", b.icmp("ne", rest, b.int_(0)), "i64"))
        vectors = b.udiv(b.add(points, b.int_(lanes - 1)), b.int_(lanes))
        vector, _ = b.open_loop(b.int_(0), vectors, name="points")
        row, _ = b.open_loop(b.int_(0), b.int_(lanes), name="row")
        # Points beyond the last repeat it.
        point = b.add(b.mul(vector.index, b.int_(lanes)), row.index)
        point = b.intrinsic("umin", point, b.sub(points, b.int_(1)))
        begin = b.gep(operand.scalar, source, b.mul(point, stride))
        copy = b.gep(operand.scalar, last, b.mul(row.index, b.int_(square)))
        arguments = copy, b.gep(operand.scalar, begin, last_tap), b.mul(rest, b.int_(element_bytes)), b.bool_(False)
        b.intrinsic("memcpy", *arguments, suffixes=("p0", "p0", "i64"), result="void")
        b.store(begin, b.gep("ptr", rows, row.index), align=8)
        b.store(copy, b.gep("ptr", last_rows, row.index), align=8)
        b.close_loop(row)
        to = b.gep(self.type, panel, vector.index)
        loop, _ = b.open_loop(b.int_(0), squares, name="square")
        is_whole = b.icmp("ult", loop.index, whole)
        begins = b.select(is_whole, rows, last_rows)
        tap = b.select(is_whole, b.mul(loop.index, b.int_(square)), b.int_(0))
        here = [
            self._words(operand, b.gep(operand.scalar, b.load("ptr", b.gep("ptr", begins, b.int_(i)), align=8), tap))
            for i in range(lanes)
        ]
        for i, words in enumerate(transpose(b, here, lanes)):
            place = b.mul(b.add(b.mul(loop.index, b.int_(lanes)), b.int_(i)), vectors)
            b.store(words, b.gep(self.type, to, place), align=self.format.word_bytes)
        b.close_loop(loop)
        b.close_loop(vector)
        b.ret()

    def _words(self, operand: PackedOperand, source: Value) -> Value:
        """A vector of words of one point, whose taps are contiguous."""
        b, f = self.b, self.format
        count = self.lanes * f.depth
        values = b.load(f"<{count} x {operand.scalar}>", source, align=operand.bytes)
        if operand.extension:
            values = b.cast(operand.extension, values, f"<{count} x i{f.tap_bits}>")
        words = b.bitcast(values, self.type)
        return self._flip(words) if operand.flipped else words

    def _interleave(
        self,
        operand: PackedOperand,
        source: Value,
        stride: int,
        points: int,
        taps: TapBlock,
        panel: Value,
        step: int,
    ) -> None:
        """Packs taps whose points are contiguous."""
        b, depth, vectors = self.b, self.format.depth, -(-points // self.lanes)

        def pack_word(index: Value, count: int) -> None:
            tap = b.mul(index, b.int_(depth))
            for vector in range(vectors):
                here = min(points - vector * self.lanes, self.lanes)
                loaded = []
                for i in range(count):
                    place = b.add(b.mul(b.add(tap, b.int_(i)), b.int_(stride)), b.int_(vector * self.lanes))
                    loaded.append(self._load(operand.scalar, b.gep(operand.scalar, source, place), here, self.lanes))
                    self.prefetch(b.gep(operand.scalar, source, b.add(place, b.int_(stride * _PREFETCHED_TAPS))))
                place = b.add(b.mul(index, b.int_(step)), b.int_(vector * self.lanes))
                to = b.gep(self.format.word, panel, place)
                b.store(self._joined(operand, loaded), to, align=self.format.word_bytes)

        taps.each(b, depth, pack_word)

    def _joined(self, operand: PackedOperand, taps: Sequence[Value]) -> Value:
        """A vector of words from vectors of their first taps.

        The taps of a word are in memory's order, as in panels that copy contiguous taps.
        """
        b, f = self.b, self.format
        if f.depth == 1:
            return taps[0]
        words = self.zero
        for i, values in enumerate(taps):
            tap = values
            if operand.extension:
                tap = b.cast(operand.extension, tap, f"<{self.lanes} x i{f.tap_bits}>")
            tap = b.cast("zext", tap, self.type)
            place = f.depth - 1 - i if b.module.big_endian else i
            shift = ", ".join([f"i32 {place * f.tap_bits}"] * self.lanes)
            words = b.emit(self.type, f"or {words}, {b.emit(self.type, f'shl {tap}, <{shift}>').name}")
        return self._flip(words) if operand.flipped else words

    def _flip(self, words: Value) -> Value:
        ones = splat(self.b, self.b.int_(_FLIP, "i32"), self.lanes)
        return self.b.emit(self.type, f"xor {words}, {ones.name}")

    def _load(self, scalar: str, source: Value, count: int, lanes: int) -> Value:
        """Loads `count` elements; the other lanes are zero, and their memory is not accessed."""
        b, type_ = self.b, f"<{lanes} x {scalar}>"
        if count == lanes:
            return b.load(type_, source, align=self.scalar_bytes if scalar == self.scalar else 1)
        if scalar == self.scalar:
            return self.load(source, count)
        # Not every processor has masked loads of bytes.
        copy = b.alloca(type_, align=64)
        b.store(Value(type_, "zeroinitializer"), copy, align=64)
        arguments = (copy, source, b.int_(count), b.bool_(False))
        b.intrinsic("memcpy", *arguments, suffixes=("p0", "p0", "i64"), result="void")
        return b.load(type_, copy, align=64)
