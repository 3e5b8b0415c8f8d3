"""Explicit vectors: what the host's registers hold, and the few operations that the blocked kernels need."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence

from xla_core.codegen.llvm import IrBuilder, Value
from xla_core.hlo import ElementType

__all__ = ["VectorIsa", "VectorOps"]


@dataclasses.dataclass(frozen=True, slots=True)
class VectorIsa:
    """Vector registers of a processor: bytes of one, and how many there are."""

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
    """Vectors of one floating element type, written with a builder."""

    def __init__(self, builder: IrBuilder, element_type: ElementType, isa: VectorIsa) -> None:
        self.b = builder
        self.scalar = {ElementType.F32: "float", ElementType.F64: "double"}[element_type]
        self.element_bytes = element_type.byte_width
        self.lanes = isa.register_bytes // self.element_bytes
        self.type = f"<{self.lanes} x {self.scalar}>"

    def zero(self) -> Value:
        return Value(self.type, "zeroinitializer")

    def splat_load(self, pointer: Value) -> Value:
        """One element in every lane."""
        one = self.b.load(self.scalar, pointer, align=self.element_bytes)
        first = self.b.emit(self.type, f"insertelement {self.type} poison, {one}, i64 0")
        mask = f"<{self.lanes} x i32> zeroinitializer"
        return self.b.emit(self.type, f"shufflevector {first}, {self.type} poison, {mask}")

    def load(self, pointer: Value, lanes: int) -> Value:
        """The first `lanes` elements at `pointer`, zeros in the rest; no byte beyond them is touched."""
        if lanes >= self.lanes:
            return self.b.load(self.type, pointer, align=self.element_bytes)
        return self.masked_load(pointer, self._mask(lanes))

    def masked_load(self, pointer: Value, mask: Value) -> Value:
        """The elements at `pointer` where the mask is set, zeros in the rest; no byte of those is touched."""
        return self.b.intrinsic(
            "masked.load", pointer, mask, self.zero(), suffixes=(self.type, "ptr"), result=self.type
        )

    def mask_below(self, count: Value) -> Value:
        """A mask of the first `count` lanes."""
        type_ = f"<{self.lanes} x i64>"
        numbers = Value(type_, f"<{', '.join(f'i64 {i}' for i in range(self.lanes))}>")
        first = self.b.emit(type_, f"insertelement {type_} poison, {count}, i64 0")
        every = self.b.emit(type_, f"shufflevector {first}, {type_} poison, <{self.lanes} x i32> zeroinitializer")
        return self.b.emit(f"<{self.lanes} x i1>", f"icmp slt {numbers}, {every.name}")

    def prefetch(self, pointer: Value) -> None:
        """Brings the cache line at `pointer`, which may lie beyond the array, into the first-level cache."""
        read, most, data = (self.b.int_(n, "i32") for n in (0, 3, 1))
        self.b.intrinsic("prefetch", pointer, read, most, data, suffixes=("p0",), result="void")

    def store(self, vector: Value, pointer: Value, lanes: int) -> None:
        """Stores the first `lanes` elements."""
        if lanes >= self.lanes:
            self.b.store(vector, pointer, align=self.element_bytes)
            return
        self.b.intrinsic("masked.store", vector, pointer, self._mask(lanes), suffixes=(self.type, "ptr"), result="void")

    def multiply_add(self, a: Value, b: Value, c: Value) -> Value:
        """A * b + c, rounded once."""
        return self.b.intrinsic("fma", a, b, c)

    def transpose(self, rows: Sequence[Value]) -> list[Value]:
        """The columns of a square of vectors, by exchanging ever larger halves of pairs of rows."""
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
        """The sum of all lanes, by halves."""
        name = f"llvm.vector.reduce.fadd.v{self.lanes}f{8 * self.element_bytes}"
        start = self.b.float_(-0.0, self.scalar)
        self.b.module.declare(name, self.scalar, [self.scalar, self.type])
        return self.b.emit(self.scalar, f"call reassoc {self.scalar} @{name}({start}, {vector})")

    def _mask(self, lanes: int) -> Value:
        bits = ", ".join(f"i1 {'true' if i < lanes else 'false'}" for i in range(self.lanes))
        return Value(f"<{self.lanes} x i1>", f"<{bits}>")
