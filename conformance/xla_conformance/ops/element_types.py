"""Lists of element types, from which domains take the types of their cases."""

from __future__ import annotations

from xla_conformance.ops.choices import Group
from xla_core.hlo import ElementType

_T = ElementType

EVERY = [t for t in _T if t.is_array]
REAL = [t for t in EVERY if not t.is_complex]
NUMBERS = [t for t in REAL if t is not _T.PRED]
"""Real types but pred."""
WITH_ZERO = [t for t in EVERY if t.has_zero]
"""Types in which sums and products have a neutral and a zero element. Without them, few results would be exact."""
REAL_WITH_ZERO = [t for t in REAL if t.has_zero]

CLASSES = (
    Group(_T.PRED),
    Group(_T.S8, _T.U8, _T.S2, _T.U2, _T.S4, _T.U4),
    Group(*(t for t in _T if t.is_floating and t.bit_width <= 8)),
    Group(_T.BF16, _T.F16, _T.S16, _T.U16),
    Group(_T.S32, _T.U32),
    Group(_T.F32),
    Group(_T.F64, _T.S64, _T.U64),
    Group(_T.C64, _T.C128),
)
"""Element types that backends are likely to handle alike."""

_NAMES = "pred s8 u8 s16 u16 s32 u32 s64 u64 bf16 f16 f32 f64 c64 c128"
USUAL = tuple(map(ElementType, _NAMES.split()))
"""Element types that users meet most."""
