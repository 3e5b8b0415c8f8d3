"""The vector registers of a processor, and the vector operations that the blocked kernels emit."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence

from xla_core.codegen.llvm import IrBuilder, Value
from xla_core.hlo import ElementType

__all__ = ["VectorIsa", "VectorOps"]


@dataclasses.dataclass(frozen=True, slots=True)
class VectorIsa:
    """The size and the number of a processor's vector registers."""

    register_bytes: int
    registers: int

    @staticmethod
    def of(features: Iterable[str], triple: str) -> VectorIsa:
        present = set(features)
        if "avx512f" in present:
            return VectorIsa(64, 32)
        if "avx" in present:
            return VectorIsa(32, 16)
        return VectorIsa(16, 32 if triple.startswith("aarch64") else 16)


class VectorOps:
    """Emits operations on vectors of one floating element type (f32 or f64)."""

    def __init__(self, builder: IrBuilder, element_type: ElementType, isa: VectorIsa) -> None:
        self.b = builder
        self.scalar = {ElementType.F32: "float", ElementType.F64: "double"}[element_type]
        self.element_bytes = element_type.byte_width
        self.lanes = isa.register_bytes // self.element_bytes
        self.type = f"<{self.lanes} x {self.scalar}>"

    def zero(self) -> Value:
        return Value(self.type, "zeroinitializer")

    def splat_load(self, pointer: Value) -> Value:
        """Loads one element and copies it to every lane."""
        one = self.b.load(self.scalar, pointer, align=self.element_bytes)
        first = self.b.emit(self.type, f"insertelement {self.type} poison, {one}, i64 0")
        mask = f"<{self.lanes} x i32> zeroinitializer"
        return self.b.emit(self.type, f"shufflevector {first}, {self.type} poison, {mask}")

    def load(self, pointer: Value, lanes: int) -> Value:
        """Loads `lanes` elements from `pointer`; the other lanes are zero, and their memory is not accessed."""
        if lanes >= self.lanes:
            return self.b.load(self.type, pointer, align=self.element_bytes)
        return self.masked_load(pointer, self._mask(lanes))

    def masked_load(self, pointer: Value, mask: Value) -> Value:
        """Loads the lanes whose mask bit is set; the other lanes are zero, and their memory is not accessed."""
        return self.b.intrinsic(
            "masked.load", pointer, mask, self.zero(), suffixes=(self.type, "ptr"), result=self.type
        )

    def mask_below(self, count: Value) -> Value:
        """A mask that selects the first `count` lanes."""
        type_ = f"<{self.lanes} x i64>"
        numbers = Value(type_, f"<{', '.join(f'i64 {i}' for i in range(self.lanes))}>")
        first = self.b.emit(type_, f"insertelement {type_} poison, {count}, i64 0")
        every = self.b.emit(type_, f"shufflevector {first}, {type_} poison, <{self.lanes} x i32> zeroinitializer")
        return self.b.emit(f"<{self.lanes} x i1>", f"icmp slt {numbers}, {every.name}")

    def prefetch(self, pointer: Value) -> None:
        """Prefetches the cache line at `pointer` into the first-level cache. The address may be outside the array."""
        read, most, data = (self.b.int_(n, "i32") for n in (0, 3, 1))
        self.b.intrinsic("prefetch", pointer, read, most, data, suffixes=("p0",), result="void")

    def store(self, vector: Value, pointer: Value, lanes: int) -> None:
        """Stores the first `lanes` elements."""
        if lanes >= self.lanes:
            self.b.store(vector, pointer, align=self.element_bytes)
            return
        self.b.intrinsic("masked.store", vector, pointer, self._mask(lanes), suffixes=(self.type, "ptr"), result="void")

    def multiply_add(self, a: Value, b: Value, c: Value) -> Value:
        """`a * b + c` with a single rounding."""
        return self.b.intrinsic("fma", a, b, c)

    def transpose(self, rows: Sequence[Value]) -> list[Value]:
        """Transposes a square of vectors in log2(lanes) steps, which exchange blocks of 1, 2, 4, ... lanes."""
        rows, step = list(rows), 1
        while step < self.lanes:
            low = [i if not i & step else self.lanes + i - step for i in range(self.lanes)]
            high = [i + step if not i & step else self.lanes + i for i in range(self.lanes)]
            for i in range(self.lanes):
                if not i & step:
                    a, b = rows[i], rows[i + step]
                    rows[i], rows[i + step] = self._shuffle(a, b, low), self._shuffle(a, b, high)
            step *= 2
        return rows

    def _shuffle(self, a: Value, b: Value, lanes: Sequence[int]) -> Value:
        mask = ", ".join(f"i32 {i}" for i in lanes)
        return self.b.emit(self.type, f"shufflevector {a}, {b}, <{self.lanes} x i32> <{mask}>")

    def sum(self, vector: Value) -> Value:
        """The sum of all lanes, added in the order that LLVM chooses."""
        name = f"llvm.vector.reduce.fadd.v{self.lanes}f{8 * self.element_bytes}"
        start = self.b.float_(-0.0, self.scalar)
        self.b.module.declare(name, self.scalar, [self.scalar, self.type])
        return self.b.emit(self.scalar, f"call reassoc {self.scalar} @{name}({start}, {vector})")

    def _mask(self, lanes: int) -> Value:
        bits = ", ".join(f"i1 {'true' if i < lanes else 'false'}" for i in range(self.lanes))
        return Value(f"<{self.lanes} x i1>", f"<{bits}>")
