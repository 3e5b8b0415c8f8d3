"""x modulo pi / 2, exactly enough for any x.

Moderate x: two or three constants whose sum is pi / 2, by fused multiply-adds (Cody and Waite). Large x: an integer
product of the mantissa with the bits of 2 / pi that matter (Payne and Hanek). Both are computed, and one is chosen, so
that loops stay vectors.
"""

from __future__ import annotations

import itertools

from xla_core.elementary.arithmetic import Arithmetic, V
from xla_core.elementary.coefficients import PI_OVER_2, TWO_OVER_PI

__all__ = ["reduce_by_half_pi"]

_PARTS_WITHOUT_FMA = (1.5707963267341256, 6.077100506303966e-11, 2.0222662487959506e-21)  # 33 bits each


def reduce_by_half_pi(m: Arithmetic[V], x: V, *, wide: bool = False) -> tuple[V, V | None, V]:
    """(r, its low part, n) with x = n pi / 2 + r + low, |r| <= pi / 4; only the last two bits of n count.

    For f32, r is an f32 without a low part; with `wide`, an f64.
    """
    single = m.kind(x) == "f32"
    value = m.widen(x) if single else x
    limit = 2.0**27 if m.has_fma else 2.0**19
    r, low, n = _moderate(m, value, single=single)
    big_r, big_low, big_n = _large(m, x, limit)
    large = m.fcmp("ogt", m.abs(value), m.constant(limit, value))
    n = m.select(large, big_n, m.truncate(n))
    if single:
        r = m.select(large, big_r, r)
        return (r, None, n) if wide else (m.narrow(r), None, n)
    assert low is not None
    assert big_low is not None
    return m.select(large, big_r, r), m.select(large, big_low, low), n


def _moderate(m: Arithmetic[V], x: V, *, single: bool) -> tuple[V, V | None, V]:
    n, number = m.nearest(m.mul(x, 0.6366197723675814))
    if not m.has_fma:
        first, second, third = _PARTS_WITHOUT_FMA
        t = m.sub(x, m.mul(n, first))
        w = m.mul(n, second)
        r = m.sub(t, w)
        low = m.sub(m.sub(m.sub(t, r), w), m.mul(n, third))
        return (m.add(r, low), None, number) if single else (r, low, number)
    t = m.fma(n, m.constant(-PI_OVER_2[0], x), x)
    if single:
        return m.fma(n, m.constant(-PI_OVER_2[1], x), t), None, number
    w, w_low = m.two_product(n, m.constant(PI_OVER_2[1], x))
    r = m.sub(t, w)
    low = m.sub(m.sub(m.sub(t, r), w), m.fma(n, m.constant(PI_OVER_2[2], x), w_low))
    return r, low, number


def _large(m: Arithmetic[V], x: V, limit: float) -> tuple[V, V | None, V]:
    """Payne and Hanek's reduction of |x| > limit (anything below gives some finite result)."""
    single = m.kind(x) == "f32"
    mantissa_bits, bias = (23, 127) if single else (52, 1023)
    bits = m.bits(x)
    field = m.and_(m.lshr(bits, mantissa_bits), m.integer(0xFF if single else 0x7FF, bits))
    mantissa = m.and_(bits, m.integer((1 << mantissa_bits) - 1, bits))
    mantissa = m.extend(m.or_(mantissa, m.integer(1 << mantissa_bits, bits)))
    # |x| = mantissa 2^e. Bits of 2 / pi whose product with it is a multiple of 4 don't matter: of the bits below the
    # point, counted from 0, the window starts at e - 2; here they stand behind `lead` zeros, so that it never starts
    # before the first.
    lowest = int(limit).bit_length() - 1 - mantissa_bits - 2
    lead = 32 * -(min(0, lowest) // 32)
    start = m.iadd(m.truncate(field), m.number(lead - bias - mantissa_bits - 2, "i32"))
    first, last = lowest + lead, (bias - mantissa_bits - 2) + lead
    start = m.clamp(m.number(first, "i32"), start, m.number(last, "i32"))
    word, shift = m.lshr(start, 5), m.and_(start, m.number(31, "i32"))
    count = 3 if single else 6
    raw = _words(m, word, count + 1, lead, first // 32, last // 32)
    window = [m.funnel_shift(high, low, shift) for high, low in itertools.pairwise(raw)]
    result = _product(m, mantissa, [m.extend(w) for w in window], single=single)
    # result: 2 integer bits, then the fraction, in 32-bit words, most significant first
    top = m.or_(m.shl(result[0], 32), result[1])
    n = m.lshr(m.iadd(top, m.number(1 << 61, "i64")), 62)
    rest = m.isub(top, m.shl(n, 62))
    scale = PI_OVER_2[0] * 2.0**-62
    negative = m.icmp("slt", bits, m.integer(0, bits))
    number = m.truncate(n)
    number = m.select(negative, m.isub(m.number(0, "i32"), number), number)
    if single:
        r = m.mul(m.to_float(rest, "f64"), scale)
        low = None
    else:
        # The fraction as head + tail: four words, of which up to the first two are 0 near a multiple of pi / 2.
        coarse = m.and_(rest, m.number(-1024, "i64"))
        fine = m.shl(m.and_(rest, m.number(1023, "i64")), 32)
        head = m.to_float(coarse, "f64")
        middle = m.mul(m.to_float(m.or_(fine, result[2]), "f64"), 2.0**-32)
        tiny = m.mul(m.to_float(result[3], "f64"), 2.0**-64)
        head, tail = m.fast_two_sum(head, middle)
        head, tail = m.fast_two_sum(head, m.add(tail, tiny))
        r, error = m.two_product(head, m.constant(scale, x))
        low = m.fma(head, m.constant(PI_OVER_2[1] * 2.0**-62, x), error)
        low = m.fma(tail, m.constant(scale, x), low)
        r, low = m.fast_two_sum(r, low)
        low = m.select(negative, m.neg(low), low)
    r = m.select(negative, m.neg(r), r)
    infinite = m.fcmp("ueq", m.abs(x), m.constant(float("inf"), x))
    return m.select(infinite, m.constant(float("nan"), r), r), low, number


def _words(m: Arithmetic[V], word: V, count: int, lead: int, first: int, last: int) -> list[V]:
    """`count` 32-bit words of 2 / pi, behind `lead` zeros, from a word number in [first, last]."""
    total = last + count + 1
    bits = TWO_OVER_PI >> (1408 - 32 * total + lead) if 32 * total - lead <= 1408 else TWO_OVER_PI << 32
    table = [(bits >> (32 * (total - 1 - i))) & 0xFFFFFFFF for i in range(total)]
    return m.window(table, first, last, word, count)


def _product(m: Arithmetic[V], mantissa: V, window: list[V], *, single: bool) -> list[V]:
    """The product mantissa x window modulo 2^(32 words), in words as i64, most significant first."""
    mask = m.number(0xFFFFFFFF, "i64")
    if single:
        limbs = [mantissa]
    else:
        limbs = [m.and_(mantissa, mask), m.lshr(mantissa, 32)]
    words: list[V] = []
    carry = m.number(0, "i64")
    columns: list[list[V]] = [[] for _ in window]  # least significant first
    reverse = window[::-1]
    for place, limb in enumerate(limbs):
        for position, word in enumerate(reverse):
            column = place + position
            if column >= len(window):
                continue
            product = m.imul(limb, word)
            columns[column].append(m.and_(product, mask))
            if column + 1 < len(window):
                columns[column + 1].append(m.lshr(product, 32))
    for column_values in columns:
        total = carry
        for value in column_values:
            total = m.iadd(total, value)
        words.append(m.and_(total, mask))
        carry = m.lshr(total, 32)
    return words[::-1]
