"""The counter-based generators of random bits, in XLA's layout of bits.

Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", SC 2011. (XLA: xla/hlo/builder/lib/prng.cc.)
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

Words = Any
"""A numpy array of words, or an Expression, which has the same operators."""

_MASK = np.uint64(0xFFFFFFFF)
_HALF = np.uint64(32)


def split(x: Words) -> tuple[Words, Words]:
    """Splits 64-bit numbers into their low and high words."""
    return (x & _MASK).astype(np.uint32), (x >> _HALF).astype(np.uint32)


def join(low: Words, high: Words) -> Words:
    """Joins low and high words to 64-bit numbers."""
    return low.astype(np.uint64) | (high.astype(np.uint64) << _HALF)


def _rotate(x: Words, distance: int) -> Words:
    return (x << np.uint32(distance)) | (x >> np.uint32(32 - distance))


def three_fry_2x32(key: tuple[Words, Words], counter: tuple[Words, Words]) -> tuple[Words, Words]:
    """Computes twenty rounds of Threefry-2x32."""
    keys = (key[0], key[1], key[0] ^ key[1] ^ np.uint32(0x1BD11BDA))
    rotations = ((13, 15, 26, 6), (17, 29, 16, 24))
    a, b = counter[0] + keys[0], counter[1] + keys[1]
    for group in range(5):
        for distance in rotations[group % 2]:
            a = a + b
            b = _rotate(b, distance) ^ a
        a = a + keys[(group + 1) % 3]
        b = b + keys[(group + 2) % 3] + np.uint32(group + 1)
    return a, b


def philox_4x32(key: tuple[Words, Words], counter: tuple[Words, ...]) -> tuple[Words, ...]:
    """Computes ten rounds of Philox-4x32."""
    a, b = key
    x = counter
    for _ in range(10):
        low0, high0 = split(x[0].astype(np.uint64) * np.uint64(0xD2511F53))
        low1, high1 = split(x[2].astype(np.uint64) * np.uint64(0xCD9E8D57))
        x = (high1 ^ x[1] ^ a, low1, high0 ^ x[3] ^ b, low0)
        a, b = a + np.uint32(0x9E3779B9), b + np.uint32(0xBB67AE85)
    return x


def _narrowed(words: np.ndarray, width: int) -> np.ndarray:
    """Truncates 32-bit words to `width` bits, in the smallest unsigned type."""
    if width >= 32:
        return words
    return (words & np.uint32((1 << width) - 1)).astype(np.uint8 if width <= 8 else np.uint16)


def three_fry(state: np.ndarray, shape: Sequence[int], width: int) -> tuple[np.ndarray, np.ndarray]:
    """Maps a state (key, counter) to the new state and to bits of a shape, as unsigned integers.

    Each counter gives two 32-bit words. They are one number of 64 bits, or else two neighbours along the first even
    dimension (along the largest dimension where none is even).
    """
    key = split(state[0:1])
    if width == 64:
        count = math.prod(shape)
        counters = state[1] + np.arange(count, dtype=np.uint64)
        low, high = three_fry_2x32(key, split(counters))
        return np.array([state[0], state[1] + np.uint64(count)]), join(low, high).reshape(shape)
    if not shape:
        low, high = three_fry_2x32(key, split(state[1:2]))
        return np.array([state[0], state[1] + np.uint64(1)]), _narrowed(low.reshape(()), width)
    even = [d for d, size in enumerate(shape) if size % 2 == 0]
    axis = even[0] if even else max(range(len(shape)), key=lambda d: (shape[d], -d))
    half = list(shape)
    half[axis] = (shape[axis] + 1) // 2
    count = math.prod(half)
    counters = (state[1] + np.arange(count, dtype=np.uint64)).reshape(half)
    pair = three_fry_2x32(key, split(counters))
    words = np.stack(pair, axis + 1).reshape([*half[:axis], 2 * half[axis], *half[axis + 1 :]])
    words = words[(slice(None),) * axis + (slice(0, shape[axis]),)]
    return np.array([state[0], state[1] + np.uint64(count)]), _narrowed(words, width)


def philox(state: np.ndarray, shape: Sequence[int], width: int) -> tuple[np.ndarray, np.ndarray]:
    """Maps a state (key, counter of 64 or 128 bits) to the new state and to bits of a shape, as unsigned integers.

    In a state of two words, the key is also the high half of the counter. Each counter gives four 32-bit words, or two
    64-bit ones, in row-major order.
    """
    key = split(state[0:1])
    count = math.prod(shape)
    blocks = -(-count * (2 if width == 64 else 1) // 4)
    low = state[1] + np.arange(blocks, dtype=np.uint64)
    high = (state[2] if state.size > 2 else state[0]) + (low < state[1]).astype(np.uint64)
    words = np.stack(philox_4x32(key, (*split(low), *split(high))), -1).reshape(-1)
    last = state[1] + np.uint64(blocks)
    new = [state[0], last]
    if state.size > 2:
        new.append(state[2] + np.uint64(last < state[1]))
    if width == 64:
        numbers = join(words[0::2], words[1::2])
    else:
        numbers = _narrowed(words, width)
    return np.array(new, np.uint64), numbers[:count].reshape(shape)
