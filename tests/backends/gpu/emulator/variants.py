"""Every way to write each instruction of the table that computes a value, and kernels that execute them."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterator

import numpy as np
from xla_backend_gpu.emulator.ptx.types import PRED, TYPES, PtxType
from xla_backend_gpu.emulator.table import TABLE, Definition, Effect

from tests.backends.gpu.emulator.running import kernel

THREADS = 128
_LETTERS = {8: "h", 16: "h", 32: "r", 64: "rd"}


@dataclasses.dataclass(frozen=True)
class Variant:
    mnemonic: str
    results: tuple[PtxType, ...]
    sources: tuple[PtxType, ...]
    definition: Definition


def definitions(effect: Effect = Effect.VALUE) -> dict[str, Definition]:
    return {d.syntax: d for group in TABLE.values() for d in group if d.effect is effect}


def variants(definition: Definition) -> Iterator[Variant]:
    """All combinations of a definition's types; with each, every choice of every modifier at least once."""
    slots = definition.slots
    types = [sorted(s.choices) if s.is_type else [""] for s in slots]
    others = [[""] if s.is_type else [*sorted(s.choices), *([None] if s.optional else [])] for s in slots]
    longest = max((len(o) for o in others), default=1)
    for chosen in itertools.product(*types):
        for turn in range(longest):
            parts = [t or o[turn % len(o)] for t, o in zip(chosen, others, strict=True)]
            named = tuple(TYPES[t] for t in chosen if t)
            if any(t.bits == 128 for t in named) or not _valid(definition, parts, named):
                continue
            yield Variant(
                ".".join([definition.base, *(p for p in parts if p is not None)]),
                tuple(o.type_of(named) for o in definition.operands if o.written and not o.optional),
                tuple(o.type_of(named) for o in definition.operands if not o.written),
                definition,
            )


def _valid(definition: Definition, parts: list[str | None], types: tuple[PtxType, ...]) -> bool:
    """Leaves out what the syntax allows, and PTX doesn't."""
    if definition.base == "setp" or definition.base == "set":
        compared = next(p for s, p in zip(definition.slots, parts, strict=True) if s.name == "cmp")
        if not types[-1].is_float:
            return compared in (("eq", "ne") if types[-1].kind == "b" else ("eq", "ne", "lt", "le", "gt", "ge"))
        return compared not in ("lo", "ls", "hi", "hs")
    return True


def text_of(chosen: list[Variant]) -> str:
    """A kernel that executes variants, a value in each thread. Operands and results are words of 64 bits: operand j of
    variant i in row 4 i + j, result j in row 2 i + j.
    """
    lines = ["shl.b64 %rd20, %rd20, 1;", "add.u64 %rd3, %rd1, %rd20;", "add.u64 %rd4, %rd2, %rd20;"]
    for number, variant in enumerate(chosen):
        operands = []
        for place, type_ in enumerate(variant.sources):
            offset = (4 * number + place) * THREADS * 8
            word, register = f"%rd{5 + place}", f"%{_LETTERS.get(type_.bits, 'p')}{10 + place}"
            lines.append(f"ld.global.b64 {word}, [%rd3+{offset}];")
            if type_ is PRED:
                lines.append(f"and.b64 {word}, {word}, 1; setp.ne.b64 {register}, {word}, 0;")
            elif type_.bits == 64:
                lines.append(f"mov.b64 {register}, {word};")
            else:
                lines.append(f"cvt.u{max(type_.bits, 16)}.u64 {register}, {word};")
            operands.append("0xB4" if variant.definition.base == "lop3" and place == 3 else register)
        results = [f"%{_LETTERS.get(t.bits, 'p')}{16 + i}" for i, t in enumerate(variant.results)]
        lines.append(f"{variant.mnemonic} {', '.join([*results, *operands])};")
        for place, (type_, register) in enumerate(zip(variant.results, results, strict=True)):
            offset = (2 * number + place) * THREADS * 8
            if type_ is PRED:
                lines.append(f"selp.b64 %rd30, 1, 0, {register};")
            elif type_.bits == 64:
                lines.append(f"mov.b64 %rd30, {register};")
            else:
                lines.append(f"cvt.u64.u{max(type_.bits, 8)} %rd30, {register};")
            lines.append(f"st.global.b64 [%rd4+{offset}], %rd30;")
    return kernel("\n".join(lines), 2)


def values(type_: PtxType, rng: np.random.Generator) -> np.ndarray:
    """Words whose lower bits are values of a type: special ones, near ones, and any."""
    lane_bits = type_.bits // type_.lanes
    words = rng.integers(0, 1 << 63, (type_.lanes, THREADS), np.uint64) * np.uint64(2)
    if type_.is_float:
        near = (rng.standard_normal((type_.lanes, THREADS)) * 4).astype(type_.dtype)
        special = np.array([0, -0.0, 1, -1, 0.5, 1.5, 2.5, np.inf, -np.inf, np.nan, 65504, 1e-7, 3e-39, 1e38])
        special = special.astype(type_.dtype)
        pick = rng.integers(0, 3, near.shape)
        chosen = np.where(pick == 0, near, special[rng.integers(0, special.size, near.shape)])
        bits = chosen.view(f"u{lane_bits // 8}").astype(np.uint64)
        words = np.where(pick == 2, words, bits)
    else:
        ends = np.array([0, 1, 2, 31, 32, 63, 64, 255, (1 << lane_bits - 1), (1 << lane_bits) - 1], np.uint64)
        pick = rng.integers(0, 3, words.shape)
        words = np.where(pick == 0, ends[rng.integers(0, ends.size, words.shape)], words)
        words = np.where(pick == 1, words & np.uint64(63), words)
    mask = np.uint64((1 << lane_bits) - 1)
    return sum((lane & mask) << np.uint64(i * lane_bits) for i, lane in enumerate(words)).astype(np.uint64)
