"""The vector registers of a processor, and the vector operations that the blocked kernels emit."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence

from xla_core.codegen.llvm import IrBuilder, Value
from xla_core.hlo import ElementType, HloInstruction

__all__ = ["VectorIsa", "VectorOps"]

_STORAGE = {
    ElementType.F32: "float",
    ElementType.F64: "double",
    ElementType.S8: "i8",
    ElementType.U8: "i8",
    ElementType.S32: "i32",
    ElementType.U32: "i32",
}
_ALIGN = {"i8": 1, "i32": 4, "float": 4, "double": 8}


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
    """Emits the vector operations of a product, which is computed in f32 or f64.

    Operands and results that are integers are converted where they are loaded and stored. `left`, `right` and `out` are
    the LLVM types of their elements in memory, `scalar` is the type of the sums.
    """

    def __init__(self, builder: IrBuilder, product: HloInstruction, isa: VectorIsa) -> None:
        self.b = builder
        types = [o.shape.element_type for o in product.operands]
        self.left, self.right, self.out = (_STORAGE[t] for t in (*types, product.shape.element_type))
        self._signed = [t.is_signed for t in types]
        self.scalar = "double" if self.out == "double" else "float"
        self.element_bytes = 8 if self.scalar == "double" else 4
        self.lanes = isa.register_bytes // self.element_bytes
        self.type = self._vector(self.scalar)

    def _vector(self, scalar: str) -> str:
        return f"<{self.lanes} x {scalar}>"

    def zero(self) -> Value:
        return Value(self.type, "zeroinitializer")

    def splat_left(self, pointer: Value) -> Value:
        """Loads one element of the left operand and copies it to every lane."""
        one = self._number(self.b.load(self.left, pointer, align=_ALIGN[self.left]), 0, self.scalar)
        first = self.b.emit(self.type, f"insertelement {self.type} poison, {one}, i64 0")
        mask = f"<{self.lanes} x i32> zeroinitializer"
        return self.b.emit(self.type, f"shufflevector {first}, {self.type} poison, {mask}")

    def load_left(self, pointer: Value, lanes: int) -> Value:
        """Loads `lanes` elements of the left operand; the other lanes are zero, and their memory is not accessed."""
        return self._number(self._load(self.left, pointer, lanes), 0, self.type)

    def load_right(self, pointer: Value, lanes: int) -> Value:
        """Loads `lanes` elements of the right operand; see `load_left`."""
        return self._number(self._load(self.right, pointer, lanes), 1, self.type)

    def _load(self, scalar: str, pointer: Value, lanes: int) -> Value:
        type_ = self._vector(scalar)
        if lanes >= self.lanes:
            return self.b.load(type_, pointer, align=_ALIGN[scalar])
        return self.masked_load(pointer, self._mask(lanes), scalar)

    def masked_load(self, pointer: Value, mask: Value, scalar: str) -> Value:
        """Loads the lanes whose mask bit is set; the other lanes are zero, and their memory is not accessed."""
        type_ = self._vector(scalar)
        zero = Value(type_, "zeroinitializer")
        return self.b.intrinsic("masked.load", pointer, mask, zero, suffixes=(type_, "ptr"), result=type_)

    def _number(self, value: Value, operand: int, type_: str) -> Value:
        """A loaded value in the type of the sums."""
        if (self.left, self.right)[operand] == self.scalar:
            return value
        return self.b.cast("sitofp" if self._signed[operand] else "uitofp", value, type_)

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
        """Stores the first `lanes` elements of a result."""
        type_ = self._vector(self.out)
        if self.out != self.scalar:
            vector = self.b.cast("fptosi", vector, type_)
        if lanes >= self.lanes:
            self.b.store(vector, pointer, align=_ALIGN[self.out])
            return
        self.b.intrinsic("masked.store", vector, pointer, self._mask(lanes), suffixes=(type_, "ptr"), result="void")

    def store_sum(self, vector: Value, pointer: Value) -> None:
        """Stores the sum of all lanes, added in the order that LLVM chooses."""
        name = f"llvm.vector.reduce.fadd.v{self.lanes}f{8 * self.element_bytes}"
        start = self.b.float_(-0.0, self.scalar)
        self.b.module.declare(name, self.scalar, [self.scalar, self.type])
        total = self.b.emit(self.scalar, f"call reassoc {self.scalar} @{name}({start}, {vector})")
        if self.out != self.scalar:
            total = self.b.cast("fptosi", total, self.out)
        self.b.store(total, pointer, align=_ALIGN[self.out])

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

    def _mask(self, lanes: int) -> Value:
        bits = ", ".join(f"i1 {'true' if i < lanes else 'false'}" for i in range(self.lanes))
        return Value(f"<{self.lanes} x i1>", f"<{bits}>")
