"""Explicit vectors: what the host's registers hold, and the few operations that the blocked kernels need."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable

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
        return self.b.intrinsic(
            "masked.load", pointer, self._mask(lanes), self.zero(), suffixes=(self.type, "ptr"), result=self.type
        )

    def store(self, vector: Value, pointer: Value, lanes: int) -> None:
        """Stores the first `lanes` elements."""
        if lanes >= self.lanes:
            self.b.store(vector, pointer, align=self.element_bytes)
            return
        self.b.intrinsic("masked.store", vector, pointer, self._mask(lanes), suffixes=(self.type, "ptr"), result="void")

    def multiply_add(self, a: Value, b: Value, c: Value) -> Value:
        """A * b + c, rounded once."""
        return self.b.intrinsic("fma", a, b, c)

    def _mask(self, lanes: int) -> Value:
        bits = ", ".join(f"i1 {'true' if i < lanes else 'false'}" for i in range(self.lanes))
        return Value(f"<{self.lanes} x i1>", f"<{bits}>")
