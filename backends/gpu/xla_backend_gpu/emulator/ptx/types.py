"""The types of PTX, and the types of numpy and LLVM IR that stand for them."""

from __future__ import annotations

import dataclasses

import ml_dtypes
import numpy as np


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class PtxType:
    """A fundamental type. Two are equal only if they are one object: `TYPES` has one of each.

    Attributes:
        name: its name in PTX, without the dot.
        kind: `b` (bits), `u`, `s` (integers), `f` (floats), `p` (predicate).
        bits: the width of the whole value.
        lanes: 2 for packed pairs such as f16x2.
        ir: the LLVM type of a value. A float of 16 bits is an integer; arithmetic converts it to `float` and back.
    """

    name: str
    kind: str
    bits: int
    lanes: int = 1
    ir: str = dataclasses.field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "ir", _IR_FLOATS.get(self.name, f"i{self.bits}"))

    @property
    def is_float(self) -> bool:
        return self.kind == "f"

    @property
    def is_signed(self) -> bool:
        return self.kind == "s"

    @property
    def size(self) -> int:
        """The size in memory, in bytes."""
        return max(1, self.bits // 8)

    @property
    def dtype(self) -> np.dtype[np.generic]:
        """The dtype of one lane."""
        return _DTYPES[self.name]

    @property
    def lane(self) -> PtxType:
        """The type of one lane."""
        return TYPES[self.name.removesuffix("x2")]


_IR_FLOATS = {"f32": "float", "f64": "double"}

PRED = PtxType("pred", "p", 1)

TYPES: dict[str, PtxType] = {
    t.name: t
    for t in (
        PRED,
        *(PtxType(f"{kind}{bits}", kind, bits) for kind in "bus" for bits in (8, 16, 32, 64)),
        PtxType("b128", "b", 128),
        *(PtxType(f"{kind}16x2", kind, 32, 2) for kind in "us"),
        *(PtxType(f"f{bits}", "f", bits) for bits in (16, 32, 64)),
        PtxType("bf16", "f", 16),
        PtxType("f16x2", "f", 32, 2),
        PtxType("bf16x2", "f", 32, 2),
        PtxType("f32x2", "f", 64, 2),
        PtxType("tf32", "b", 32),
        PtxType("e4m3", "b", 8),
        PtxType("e5m2", "b", 8),
        PtxType("e4m3x2", "b", 16),
        PtxType("e5m2x2", "b", 16),
    )
}

_DTYPES: dict[str, np.dtype[np.generic]] = {
    **{f"{k}{bits}": np.dtype(f"{'i' if k == 's' else 'u'}{bits // 8}") for k in "bus" for bits in (8, 16, 32, 64)},
    **{f"f{bits}": np.dtype(f"f{bits // 8}") for bits in (16, 32, 64)},
    "pred": np.dtype(np.bool_),
    "bf16": np.dtype(ml_dtypes.bfloat16),
    "f16x2": np.dtype(np.float16),
    "bf16x2": np.dtype(ml_dtypes.bfloat16),
    "f32x2": np.dtype(np.float32),
    "u16x2": np.dtype(np.uint16),
    "s16x2": np.dtype(np.int16),
    "tf32": np.dtype(np.uint32),
    **dict.fromkeys(("e4m3", "e5m2"), np.dtype(np.uint8)),
    **dict.fromkeys(("e4m3x2", "e5m2x2"), np.dtype(np.uint16)),
}


def register_type(bits: int) -> PtxType:
    """Returns the untyped bits (`b32`) of a register of this width."""
    return PRED if bits == 1 else TYPES[f"b{bits}"]
