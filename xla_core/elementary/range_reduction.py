"""Reduces x modulo pi / 2, accurately for any x.

An f32 is multiplied in f64 by 2 / pi without the bits that make whole turns, from a table with an entry for each
exponent. Otherwise, two or three constants whose sum is pi / 2 are subtracted from a moderate x by fused multiply-adds
(Cody and Waite). The mantissa of a large x is multiplied by the relevant bits of 2 / pi in integers (Payne and Hanek).
Both are computed and one is selected, so that loops vectorize.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Sequence

from xla_core.elementary.arithmetic import Arithmetic, V
from xla_core.elementary.coefficients import PI_OVER_2, TWO_OVER_PI

_PARTS_WITHOUT_FMA = (1.5707963267341256, 6.077100506303966e-11, 2.0222662487959506e-21)  # 33 bits each
_TWO_OVER_PI_BITS = 1408
_FIRST_WITH_TURNS = 153  # exponent field of the smallest f32 whose last bit times 2 / pi is a turn or more


def reduce_by_half_pi(m: Arithmetic[V], x: V) -> tuple[V, V | None, V]:
    """Returns (r, its low part, n) with x = n pi / 2 + r + low and |r| <= pi / 4. Only the last two bits of n are
    valid.

    An f32 that may be computed in f64 has no low part.
    """
    if m.prefers_f64(x):
        r, n = reduce_f32_by_half_pi(m, x)
        return m.narrow(r), None, n
    if m.is_wide(x):
        limit = 2.0**27 if m.has_fma else 2.0**19
        r, low, n = _moderate(m, x)
    else:
        limit, r, low, n = 0.5, x, m.constant(0.0, x), m.integer(0, x)
    big_r, big_low, big_n = _large(m, x, limit)
    large = m.fcmp("ogt", m.abs(x), m.constant(limit, x))
    n = m.select(large, big_n, m.truncate(n))
    return m.select(large, big_r, r), m.select(large, big_low, low), n


def reduce_f32_by_half_pi(m: Arithmetic[V], x: V) -> tuple[V, V]:
    """Returns (r, n) with x = n pi / 2 + r and |r| <= pi / 4 for an f32 x, as an f64 and an i32.

    Only the last two bits of n are valid. r is NaN for infinity and NaN.
    """
    high, low = _two_over_pi_by_exponent()
    bits = m.bits(x)
    field = m.and_(m.lshr(bits, 23), m.integer(0xFF, bits))
    place = m.isub(field, m.integer(_FIRST_WITH_TURNS - 1, bits))
    place = m.clamp(m.integer(0, bits), place, m.integer(len(high) - 1, bits))
    wide = m.widen(x)
    product, error = m.two_product(wide, m.entry(high, place))
    n, number = m.nearest(product, 1.0)
    quarters = m.fma(wide, m.entry(low, place), m.add(m.sub(product, n), error))
    return m.mul(quarters, PI_OVER_2["f64"][0]), m.truncate(number)


@functools.cache
def _two_over_pi_by_exponent() -> tuple[Sequence[float], Sequence[float]]:
    """The high and the low parts of numbers by which f32 numbers are multiplied to give quarters of a turn.

    The first entry is 2 / pi, for all small numbers. The others are for one exponent each. Bits of 2 / pi are left out
    whose products with every number of that exponent are multiples of a turn. The entry of infinity is its neighbour's.
    """
    high: list[float] = []
    low: list[float] = []
    for field in range(_FIRST_WITH_TURNS - 1, 256):
        last_bit = min(field, 254) - 150  # its exponent
        rest = TWO_OVER_PI % (1 << _TWO_OVER_PI_BITS + 2 - last_bit)
        for part in (high, low):
            below = max(0, rest.bit_length() - 53)
            part.append(math.ldexp(rest >> below, below - _TWO_OVER_PI_BITS))
            rest &= (1 << below) - 1
    return high, low


def _moderate(m: Arithmetic[V], x: V) -> tuple[V, V, V]:
    n, number = m.nearest(x, 0.6366197723675814)
    if not m.has_fma:
        first, second, third = _PARTS_WITHOUT_FMA
        t = m.sub(x, m.mul(n, first))
        w = m.mul(n, second)
        r = m.sub(t, w)
        return r, m.sub(m.sub(m.sub(t, r), w), m.mul(n, third)), number
    t = m.fma(n, m.constant(-PI_OVER_2["f64"][0], x), x)
    w, w_low = m.two_product(n, m.constant(PI_OVER_2["f64"][1], x))
    r = m.sub(t, w)
    low = m.sub(m.sub(m.sub(t, r), w), m.fma(n, m.constant(PI_OVER_2["f64"][2], x), w_low))
    return r, low, number


def _large(m: Arithmetic[V], x: V, limit: float) -> tuple[V, V, V]:
    """Computes Payne and Hanek's reduction for |x| > limit. For smaller |x|, the result is finite but meaningless."""
    single = m.kind(x) == "f32"
    mantissa_bits, bias = (23, 127) if single else (52, 1023)
    bits = m.bits(x)
    field = m.and_(m.lshr(bits, mantissa_bits), m.integer(0xFF if single else 0x7FF, bits))
    mantissa = m.and_(bits, m.integer((1 << mantissa_bits) - 1, bits))
    mantissa = m.or_(mantissa, m.integer(1 << mantissa_bits, bits))
    # |x| = mantissa 2^e. Bits of 2 / pi whose product with the mantissa is a multiple of 4 don't matter. Among the bits
    # below the point, counted from 0, the window therefore starts at e - 2. `lead` zeros precede the bits, so that the
    # window never starts before the first.
    lowest = int(limit).bit_length() - 1 - mantissa_bits - 2
    lead = 32 * -(min(0, lowest) // 32)
    start = m.iadd(m.truncate(field), m.number(lead - bias - mantissa_bits - 2, "i32"))
    first, last = lowest + lead, (bias - mantissa_bits - 2) + lead
    start = m.clamp(m.number(first, "i32"), start, m.number(last, "i32"))
    word, shift = m.lshr(start, 5), m.and_(start, m.number(31, "i32"))
    count = 3 if single else 6
    raw = _words(m, word, count + 1, lead, first // 32, last // 32)
    window = [m.funnel_shift(high, low, shift) for high, low in itertools.pairwise(raw)]
    limb = 16 if single else 32
    result = _product(m, mantissa, window, limb)
    # result: 2 integer bits, then the fraction, in limbs, most significant first
    top = m.or_(m.shl(result[0], limb), result[1])
    below = 2 * limb - 2
    n = m.lshr(m.iadd(top, m.integer(1 << (below - 1), top)), below)
    rest = m.isub(top, m.shl(n, below))
    negative = m.icmp("slt", bits, m.integer(0, bits))
    number = m.truncate(n)
    number = m.select(negative, m.isub(m.number(0, "i32"), number), number)
    # The fraction becomes head + tail. It has four limbs, of which the first two may be 0 near a multiple of pi / 2.
    kind, spare = m.kind(x), 10 if limb == 32 else 6
    scale, scale_low = (part * 2.0**-below for part in PI_OVER_2[kind][:2])
    coarse = m.and_(rest, m.integer(-1 << spare, rest))
    fine = m.shl(m.and_(rest, m.integer((1 << spare) - 1, rest)), limb)
    head = m.to_float(coarse, kind)
    middle = m.mul(m.to_float(m.or_(fine, result[2]), kind), 2.0**-limb)
    tiny = m.mul(m.to_float(result[3], kind), 2.0 ** (-2 * limb))
    head, tail = m.fast_two_sum(head, middle)
    head, tail = m.fast_two_sum(head, m.add(tail, tiny))
    r, error = m.two_product(head, m.constant(scale, x))
    low = m.fma(head, m.constant(scale_low, x), error)
    low = m.fma(tail, m.constant(scale, x), low)
    r, low = m.fast_two_sum(r, low)
    low = m.select(negative, m.neg(low), low)
    r = m.select(negative, m.neg(r), r)
    infinite = m.fcmp("ueq", m.abs(x), m.constant(float("inf"), x))
    return m.select(infinite, m.constant(float("nan"), r), r), low, number


def _words(m: Arithmetic[V], word: V, count: int, lead: int, first: int, last: int) -> list[V]:
    """Returns `count` 32-bit words of 2 / pi with `lead` zeros before it, from a word number in [first, last]."""
    total = last + count + 1
    bits = (
        TWO_OVER_PI >> (_TWO_OVER_PI_BITS - 32 * total + lead)
        if 32 * total - lead <= _TWO_OVER_PI_BITS
        else TWO_OVER_PI << 32
    )
    table = [(bits >> (32 * (total - 1 - i))) & 0xFFFFFFFF for i in range(total)]
    return m.window(table, first, last, word, count)


def _product(m: Arithmetic[V], mantissa: V, window: list[V], limb: int) -> list[V]:
    """Multiplies a mantissa by a window of i32 words, modulo 2^(32 words).

    The product is in limbs, most significant first: 32 bits in an i64, or 16 in an i32.
    """
    if limb == 32:
        window = [m.extend(word) for word in window]
    else:
        mask = m.number(0xFFFF, "i32")
        window = [half for word in window for half in (m.lshr(word, 16), m.and_(word, mask))]
    zero = m.integer(0, window[0])
    mask = m.integer((1 << limb) - 1, window[0])
    limbs = [m.and_(mantissa, mask), m.lshr(mantissa, limb)]
    columns: list[list[V]] = [[] for _ in window]  # least significant first
    for place, part in enumerate(limbs):
        for position, word in enumerate(reversed(window)):
            column = place + position
            if column >= len(window):
                continue
            product = m.imul(part, word)
            columns[column].append(m.and_(product, mask))
            if column + 1 < len(window):
                columns[column + 1].append(m.lshr(product, limb))
    words: list[V] = []
    carry = zero
    for values in columns:
        total = carry
        for value in values:
            total = m.iadd(total, value)
        words.append(m.and_(total, mask))
        carry = m.lshr(total, limb)
    return words[::-1]
