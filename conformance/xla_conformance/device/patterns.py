"""Bytes that depend on their position, so that a wrong place is seen, and sizes around which devices change paths."""

from __future__ import annotations

import numpy as np

from xla_conformance.failures import Failure, snapshot
from xla_conformance.wording import wrong_of
from xla_core.backend import HostBytes

_LAST_POWER = 17

SIZES = tuple(sorted({1, *(n + d for k in range(1, _LAST_POWER + 1) for n in (1 << k,) for d in (-1, 0, 1))}))
"""Sizes from 1 to beyond 128 KiB: one below, at and one above each power of two."""

PAGES_AND_MORE = tuple((1 + rest % 7) * 4096 + rest for rest in range(2, 64))
"""One to seven pages and 2 to 63 bytes: each number of bytes that a line of 64 bytes can end after."""

LARGE_SIZES = ((1 << 20) - 1, (1 << 20) + 4097, (3 << 20) + 1, (5 << 20) + 7, (8 << 20) + 13)
"""Odd sizes of some MiB."""


def pattern(size: int, salt: int = 0) -> HostBytes:
    """Makes bytes whose words of four bytes differ by their position and by `salt`."""
    words = np.arange(size // 4 + 1, dtype=np.uint32)
    words += np.uint32((salt * 0x85EBCA6B + 0x9E3779B9) & 0xFFFFFFFF)
    words *= np.uint32(0x9E3779B1)
    words ^= words >> np.uint32(15)
    words *= np.uint32(0x85EBCA77)
    return words.view(np.uint8)[:size]


def require_bytes(sentence: str, got: HostBytes, wanted: HostBytes, promise: str) -> None:
    """Raises Failure unless the bytes are equal."""
    (got,) = snapshot([got])
    if np.array_equal(got, wanted):
        return
    if got.size != wanted.size:
        raise Failure(f"{sentence} There are {got.size} bytes, {wanted.size} are expected.", promise=promise)
    wrong = np.flatnonzero(got != wanted)
    where = f"from byte {wrong[0]} to byte {wrong[-1]}" if wrong.size > 1 else f"at byte {wrong[0]}"
    raise Failure(
        f"{sentence} {wrong_of(wrong.size, got.size, 'byte')}, {where}.",
        promise=promise,
        results=[got],
        expected=[wanted],
        index=(int(wrong[0]),),
    )
