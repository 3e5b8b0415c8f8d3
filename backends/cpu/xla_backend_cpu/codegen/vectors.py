"""The vector operations that the kernels of products emit."""

from __future__ import annotations

import copy
from collections.abc import Sequence

from xla_backend_cpu.codegen.processor import Processor
from xla_core.codegen.llvm import IrBuilder, Value

LINE_BYTES = 64
_SPLIT_BYTES = 64
_BYTES = {"float": 4, "double": 8, "i32": 4}


def splat(b: IrBuilder, value: Value, lanes: int) -> Value:
    """Copies a scalar to every lane of a vector."""
    type_ = f"<{lanes} x {value.type}>"
    first = b.emit(type_, f"insertelement {type_} poison, {value}, i64 0")
    return b.emit(type_, f"shufflevector {first}, {type_} poison, <{lanes} x i32> zeroinitializer")


def _exchange(b: IrBuilder, one: Value, other: Value, step: int, lanes: int) -> tuple[Value, Value]:
    """Exchanges the second of each two blocks of `step` lanes of one vector with the first ones of the other vector."""
    low = [i if not i & step else lanes + i - step for i in range(lanes)]
    high = [i + step if not i & step else lanes + i for i in range(lanes)]

    def shuffle(picked: Sequence[int]) -> Value:
        mask = ", ".join(f"i32 {i}" for i in picked)
        return b.emit(one.type, f"shufflevector {one}, {other}, <{lanes} x i32> <{mask}>")

    return shuffle(low), shuffle(high)


def transpose(b: IrBuilder, rows: Sequence[Value], lanes: int) -> list[Value]:
    """Transposes a square of vectors in log2(lanes) steps, which exchange blocks of 1, 2, 4, ... lanes."""
    rows, step = list(rows), 1
    while step < lanes:
        for i in range(lanes):
            if not i & step:
                rows[i], rows[i + step] = _exchange(b, rows[i], rows[i + step], step, lanes)
        step *= 2
    return rows


class VectorOps:
    """Emits the operations on vectors of a scalar type: `float`, `double`, or an integer."""

    def __init__(self, builder: IrBuilder, scalar: str, processor: Processor) -> None:
        self.b = builder
        self.scalar = scalar
        self.scalar_bytes = _BYTES[scalar]
        self.lanes = processor.register_bytes // self.scalar_bytes
        self.type = f"<{self.lanes} x {scalar}>"
        self.zero = Value(self.type, "zeroinitializer")
        self._multiply_add = "fma" if processor.has_fma else "fmuladd"

    def enough_for(self, lanes: int) -> VectorOps:
        """The operations on half registers if these have room for `lanes`, else `self`.

        Many processors with registers of 64 bytes compute each half of a register by itself.
        """
        if 2 * lanes > self.lanes or self.lanes * self.scalar_bytes < _SPLIT_BYTES:
            return self
        half = copy.copy(self)
        half.lanes = self.lanes // 2
        half.type = f"<{half.lanes} x {self.scalar}>"
        half.zero = Value(half.type, "zeroinitializer")
        return half

    def resized(self, vector: Value) -> Value:
        """The first lanes of a vector of another size; the lanes that it lacks have any values."""
        if vector.type == self.type:
            return vector
        given = int(vector.type[1:].split()[0])
        mask = ", ".join(f"i32 {i}" if i < given else "i32 poison" for i in range(self.lanes))
        return self.b.emit(self.type, f"shufflevector {vector}, {vector.type} poison, <{self.lanes} x i32> <{mask}>")

    def splat(self, pointer: Value) -> Value:
        """Loads one scalar and copies it to every lane."""
        return splat(self.b, self.b.load(self.scalar, pointer, align=self.scalar_bytes), self.lanes)

    def splats(self, pointer: Value, sizes: Sequence[VectorOps]) -> list[Value]:
        """Loads one scalar and copies it to every lane of a vector of each size."""
        value = self.splat(pointer)
        if any(size.lanes != self.lanes for size in sizes):
            # Without the fence LLVM would copy the scalar again, instead of taking half of the register.
            value = self.b.intrinsic("arithmetic.fence", value)
        return [size.resized(value) for size in sizes]

    def load(self, pointer: Value, lanes: int) -> Value:
        """Loads the first `lanes` lanes; the other ones are zero, and their memory is not accessed."""
        if lanes >= self.lanes:
            return self.b.load(self.type, pointer, align=self.scalar_bytes)
        suffixes = (self.type, "ptr")
        return self.b.intrinsic(
            "masked.load", pointer, self._mask(lanes), self.zero, suffixes=suffixes, result=self.type
        )

    def load_where(self, mask: Value, pointer: Value) -> Value:
        """Loads the lanes whose mask bit is set; the other ones are zero, and their memory is not accessed."""
        suffixes = (self.type, "ptr")
        return self.b.intrinsic("masked.load", pointer, mask, self.zero, suffixes=suffixes, result=self.type)

    def store(self, vector: Value, pointer: Value, lanes: int) -> None:
        """Stores the first `lanes` lanes."""
        if lanes >= self.lanes:
            self.b.store(vector, pointer, align=self.scalar_bytes)
        else:
            self.store_where(self._mask(lanes), vector, pointer)

    def store_where(self, mask: Value, vector: Value, pointer: Value) -> None:
        """Stores the lanes whose mask bit is set."""
        self.b.intrinsic("masked.store", vector, pointer, mask, suffixes=(self.type, "ptr"), result="void")

    def both(self, condition: Value, end: int) -> Value:
        """A mask of the lanes below `end` if the condition is true, else of none."""
        mask = splat(self.b, condition, self.lanes)
        return self.b.emit(mask.type, f"and {mask}, {self._mask(end).name}")

    def store_columns(self, vectors: Sequence[Value], pointer: Value, lanes: int, stride: int) -> None:
        """Stores the first `lanes` lanes as rows: lane l of all vectors from `pointer` + l * `stride` on."""
        b, poison = self.b, Value(self.type, "poison")
        for first in range(0, len(vectors), self.lanes):
            part = vectors[first : first + self.lanes]
            mask = ", ".join(f"i32 {i}" for i in range(len(part)))
            for lane, row in enumerate(transpose(b, [*part, *[poison] * (self.lanes - len(part))], self.lanes)[:lanes]):
                type_ = f"<{len(part)} x {self.scalar}>"
                short = b.emit(type_, f"shufflevector {row}, {poison}, <{len(part)} x i32> <{mask}>")
                place = b.gep(self.scalar, pointer, b.int_(lane * stride + first))
                b.store(short, place, align=self.scalar_bytes)

    def between(self, first: Value, end: int) -> Value:
        """A mask of the lanes from `first` on and below `end`."""
        type_ = f"<{self.lanes} x i64>"
        numbers = Value(type_, f"<{', '.join(f'i64 {i}' for i in range(self.lanes))}>")
        from_first = self.b.emit(f"<{self.lanes} x i1>", f"icmp sge {numbers}, {splat(self.b, first, self.lanes).name}")
        return self.b.emit(from_first.type, f"and {from_first}, {self._mask(end).name}")

    def prefetch(self, pointer: Value, level: int = 1) -> None:
        """Prefetches the cache line at `pointer` into a level of cache. The address may be outside the array."""
        read, locality, data = (self.b.int_(n, "i32") for n in (0, 4 - level, 1))
        self.b.intrinsic("prefetch", pointer, read, locality, data, suffixes=("p0",), result="void")

    def prefetch_next(self, points: Value, tap: Value, count: int, taps: int) -> None:
        """Prefetches the points after the `count` ones at `points`, of `taps` contiguous taps each: the step of each
        tap prefetches as much as it uses. The processor's own prefetcher doesn't find them.
        """
        b, size = self.b, count * self.scalar_bytes
        part = b.gep("i8", points, b.mul(b.add(tap, b.int_(taps)), b.int_(size)))
        for first in range(0, size, LINE_BYTES):
            self.prefetch(b.gep("i8", part, b.int_(first)))

    def sums(self, vectors: Sequence[Value]) -> list[Value]:
        """The sums of all lanes of each vector of floats: the first vector's sum is in lane 0 of the first result."""
        results = []
        for first in range(0, len(vectors), self.lanes):
            rows = list(vectors[first : first + self.lanes])
            rows += [self.zero] * ((1 << (len(rows) - 1).bit_length()) - len(rows))
            step = 1
            while step < self.lanes:
                halves = zip(rows[::2], rows[1::2], strict=True) if len(rows) > 1 else [(rows[0], rows[0])]
                pairs = [_exchange(self.b, one, other, step, self.lanes) for one, other in halves]
                rows = [self.b.emit(self.type, f"fadd {low}, {high.name}") for low, high in pairs]
                step *= 2
            results.append(rows[0])
        return results

    def store_lanes(self, vector: Value, pointer: Value, offsets: Sequence[int]) -> None:
        """Stores the first lanes, each at its ascending offset from `pointer`; adjacent ones by one instruction."""
        first = 0
        for lane in range(1, len(offsets) + 1):
            if lane < len(offsets) and offsets[lane] == offsets[lane - 1] + 1:
                continue
            count, mask = lane - first, ", ".join(f"i32 {i}" for i in range(first, lane))
            part = self.b.emit(
                f"<{count} x {self.scalar}>",
                f"shufflevector {vector}, {self.type} poison, <{count} x i32> <{mask}>",
            )
            self.b.store(part, self.b.gep(self.scalar, pointer, self.b.int_(offsets[first])), align=self.scalar_bytes)
            first = lane

    def multiply_add(self, a: Value, b: Value, c: Value) -> Value:
        """`a * b + c` of floats, with a single rounding where the processor has an instruction for it."""
        return self.b.intrinsic(self._multiply_add, a, b, c)

    def _mask(self, lanes: int) -> Value:
        bits = ", ".join(f"i1 {'true' if i < lanes else 'false'}" for i in range(self.lanes))
        return Value(f"<{self.lanes} x i1>", f"<{bits}>")
