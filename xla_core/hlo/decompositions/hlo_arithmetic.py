"""HloArithmetic: emits the formulas of elementary functions as HLO instructions."""

from __future__ import annotations

import numpy as np

from xla_core.elementary import Arithmetic
from xla_core.hlo.ir.builder import Builder
from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.hlo.table.opcode import Opcode
from xla_core.hlo.values.element_type import ElementType
from xla_core.hlo.values.shape import Shape

_TYPES = {
    "f32": ElementType.F32,
    "f64": ElementType.F64,
    "i32": ElementType.S32,
    "i64": ElementType.S64,
    "i1": ElementType.PRED,
}
_KINDS = {element_type: kind for kind, element_type in _TYPES.items()}
_WHERE_TRUE = {  # predicates that are one HLO direction
    "oeq": "EQ", "une": "NE", "olt": "LT", "ole": "LE", "ogt": "GT", "oge": "GE", "eq": "EQ", "ne": "NE", "slt": "LT",
    "sge": "GE",
}  # fmt: skip
_WHERE_FALSE = {"ult": "GE", "ule": "GT", "ugt": "LE", "uge": "LT"}  # predicates that are the negation of one direction


class HloArithmetic(Arithmetic[HloInstruction]):
    """Emits instructions on arrays of one shape.

    Integers are signed. Nothing is computed in a wider type, and no multiply-add is fused, because HLO has no op that
    rounds a x + b once.
    """

    has_fma = False
    has_f64 = False

    def __init__(self, builder: Builder, shape: Shape) -> None:
        self.b = builder
        self._shape = shape.without_layout()
        self._constants: dict[tuple[str, bytes], HloInstruction] = {}

    def _of(self, kind: str) -> Shape:
        return self._shape.with_element_type(_TYPES[kind])

    # -- values ------------------------------------------------------------------------------------------------------

    def kind(self, x: HloInstruction) -> str:
        return _KINDS[x.shape.element_type]

    def number(self, value: float, kind: str) -> HloInstruction:
        shape = self._of(kind)
        if kind[0] == "i":
            bits = 64 if kind == "i64" else 32
            value = (int(value) + (1 << bits - 1)) % (1 << bits) - (1 << bits - 1)
        array = np.asarray(value).astype(shape.dtype)
        key = (kind, array.tobytes())
        if key not in self._constants:
            self._constants[key] = self.b.constant(array, shape)
        return self._constants[key]

    def emit(self, opcode: str, *operands: HloInstruction) -> HloInstruction:
        """Adds the op itself. A target that lacks it decomposes it later."""
        return self.b.add(Opcode(opcode), *operands)

    # -- floats ------------------------------------------------------------------------------------------------------

    def fma(self, x: HloInstruction, y: HloInstruction, z: HloInstruction) -> HloInstruction:
        return self.add(self.mul(x, y), z)

    def with_sign(self, magnitude: HloInstruction, sign: HloInstruction) -> HloInstruction:
        sign_bit = self.integer(-1 << (63 if self.is_wide(sign) else 31), sign)
        rest = self.b.add(Opcode.AND, self.bits(magnitude), self.b.add(Opcode.NOT, sign_bit))
        return self.from_bits(self.b.add(Opcode.OR, rest, self.b.add(Opcode.AND, self.bits(sign), sign_bit)))

    def fcmp(self, predicate: str, x: HloInstruction, y: HloInstruction) -> HloInstruction:
        if predicate in _WHERE_TRUE:
            return self.b.compare(x, y, _WHERE_TRUE[predicate])
        if predicate in _WHERE_FALSE:
            return self.not_(self.b.compare(x, y, _WHERE_FALSE[predicate]))
        if predicate in ("uno", "ord"):
            numbers = [self.b.compare(v, v, "EQ") for v in dict.fromkeys((x, y))]
            both = self.and_(*numbers) if len(numbers) == 2 else numbers[0]
            return both if predicate == "ord" else self.not_(both)
        apart = self.or_(self.b.compare(x, y, "LT"), self.b.compare(x, y, "GT"))
        return apart if predicate == "one" else self.not_(apart)

    # -- integers, bits, conversions ---------------------------------------------------------------------------------

    def icmp(self, predicate: str, x: HloInstruction, y: HloInstruction) -> HloInstruction:
        return self.b.compare(x, y, _WHERE_TRUE[predicate])

    def funnel_shift(self, high: HloInstruction, low: HloInstruction, amount: HloInstruction) -> HloInstruction:
        rest = self.b.add(Opcode.SUBTRACT, self.number(32, "i32"), amount)  # a shift by 32 gives 0, as needed
        left = self.b.add(Opcode.SHIFT_LEFT, high, amount)
        return self.b.add(Opcode.OR, left, self.b.add(Opcode.SHIFT_RIGHT_LOGICAL, low, rest))

    def bits(self, x: HloInstruction) -> HloInstruction:
        return self.b.add(Opcode.BITCAST_CONVERT, x, shape=self._of("i64" if self.is_wide(x) else "i32"))

    def from_bits(self, x: HloInstruction) -> HloInstruction:
        return self.b.add(Opcode.BITCAST_CONVERT, x, shape=self._of("f64" if self.is_wide(x) else "f32"))

    def extend(self, x: HloInstruction) -> HloInstruction:
        if self.is_wide(x):
            return x
        return self.b.add(Opcode.AND, self.b.convert(x, self._of("i64")), self.number(0xFFFFFFFF, "i64"))

    def truncate(self, x: HloInstruction) -> HloInstruction:
        return self.b.convert(x, self._of("i32"))

    def to_float(self, x: HloInstruction, kind: str) -> HloInstruction:
        return self.b.convert(x, self._of(kind))

    def widen(self, x: HloInstruction) -> HloInstruction:
        return self.b.convert(x, self._of("f64"))

    def narrow(self, x: HloInstruction) -> HloInstruction:
        return self.b.convert(x, self._of("f32"))
