"""x modulo pi / 2, exactly enough for any x.

Moderate x: two or three constants whose sum is pi / 2, by fused multiply-adds (Cody and Waite). Large x: an integer
product of the mantissa with the bits of 2 / pi that matter (Payne and Hanek). Both are computed, and one is chosen, so
that loops stay vectors.
"""

from __future__ import annotations

import itertools

from xla_core.codegen.llvm.builder import Value
from xla_core.codegen.llvm.math.coefficients import PI_OVER_2, TWO_OVER_PI
from xla_core.codegen.llvm.math.emitter import MathEmitter

__all__ = ["reduce_by_half_pi"]

_PARTS_WITHOUT_FMA = (1.5707963267341256, 6.077100506303966e-11, 2.0222662487959506e-21)  # 33 bits each


def reduce_by_half_pi(m: MathEmitter, x: Value, *, wide: bool = False) -> tuple[Value, Value | None, Value]:
    """(r, its low part, n) with x = n pi / 2 + r + low, |r| <= pi / 4; only the last two bits of n count.

    For f32, r is an f32 without a low part; with `wide`, an f64.
    """
    b = m.b
    single = x.type == "float"
    value = b.cast("fpext", x, "double") if single else x
    limit = 2.0**27 if m.abi.has_fma else 2.0**19
    r, low, n = _moderate(m, value, single=single)
    big_r, big_low, big_n = _large(m, x, limit)
    large = b.fcmp("ogt", m.abs(value), b.like(limit, value))
    n = b.select(large, big_n, b.cast("trunc", n, "i32"))
    if single:
        r = b.select(large, big_r, r)
        return (r, None, n) if wide else (b.cast("fptrunc", r, "float"), None, n)
    assert low is not None
    assert big_low is not None
    return b.select(large, big_r, r), b.select(large, big_low, low), n


def _moderate(m: MathEmitter, x: Value, *, single: bool) -> tuple[Value, Value | None, Value]:
    b = m.b
    n, number = m.nearest(m.mul(x, 0.6366197723675814))
    if not m.abi.has_fma:
        first, second, third = _PARTS_WITHOUT_FMA
        t = b.fsub(x, m.mul(n, first))
        w = m.mul(n, second)
        r = b.fsub(t, w)
        low = b.fsub(b.fsub(b.fsub(t, r), w), m.mul(n, third))
        return (b.fadd(r, low), None, number) if single else (r, low, number)
    t = m.fma(n, m.constant(-PI_OVER_2[0], x), x)
    if single:
        return m.fma(n, m.constant(-PI_OVER_2[1], x), t), None, number
    w, w_low = m.two_product(n, m.constant(PI_OVER_2[1], x))
    r = b.fsub(t, w)
    low = b.fsub(b.fsub(b.fsub(t, r), w), m.fma(n, m.constant(PI_OVER_2[2], x), w_low))
    return r, low, number


def _large(m: MathEmitter, x: Value, limit: float) -> tuple[Value, Value | None, Value]:
    """Payne and Hanek's reduction of |x| > limit (anything below gives some finite result)."""
    b = m.b
    single = x.type == "float"
    mantissa_bits, bias = (23, 127) if single else (52, 1023)
    bits = m.bits(x)
    field = b.binary("and", b.lshr(bits, mantissa_bits), m.integer(0xFF if single else 0x7FF, bits))
    mantissa = b.binary("and", bits, m.integer((1 << mantissa_bits) - 1, bits))
    mantissa = b.cast("zext", b.or_(mantissa, m.integer(1 << mantissa_bits, bits)), "i64")
    # |x| = mantissa 2^e. Bits of 2 / pi whose product with it is a multiple of 4 don't matter: of the bits below the
    # point, counted from 0, the window starts at e - 2; here they stand behind `lead` zeros, so that it never starts
    # before the first.
    lowest = int(limit).bit_length() - 1 - mantissa_bits - 2
    lead = 32 * -(min(0, lowest) // 32)
    start = b.add(b.cast("trunc", field, "i32"), b.int_(lead - bias - mantissa_bits - 2, "i32"))
    first, last = lowest + lead, (bias - mantissa_bits - 2) + lead
    start = b.clamp(b.int_(first, "i32"), start, b.int_(last, "i32"))
    word, shift = b.lshr(start, 5), b.binary("and", start, b.int_(31, "i32"))
    count = 3 if single else 6
    raw = _words(m, word, count + 1, lead, first // 32, last // 32)
    window = [b.intrinsic("fshl", high, low, shift) for high, low in itertools.pairwise(raw)]
    result = _product(m, mantissa, [b.cast("zext", w, "i64") for w in window], single=single)
    # result: 2 integer bits, then the fraction, in 32-bit words, most significant first
    top = b.or_(b.shl(result[0], 32), result[1])
    n = b.lshr(b.add(top, b.int_(1 << 61)), 62)
    rest = b.sub(top, b.shl(n, 62))
    scale = PI_OVER_2[0] * 2.0**-62
    negative = b.icmp("slt", bits, m.integer(0, bits))
    number = b.cast("trunc", n, "i32")
    number = b.select(negative, b.sub(b.int_(0, "i32"), number), number)
    if single:
        r = m.mul(b.cast("sitofp", rest, "double"), scale)
        low = None
    else:
        # The fraction as head + tail: four words, of which up to the first two are 0 near a multiple of pi / 2.
        coarse = b.binary("and", rest, b.int_(-1024))
        fine = b.shl(b.binary("and", rest, b.int_(1023)), 32)
        head = b.cast("sitofp", coarse, "double")
        middle = m.mul(b.cast("sitofp", b.or_(fine, result[2]), "double"), 2.0**-32)
        tiny = m.mul(b.cast("sitofp", result[3], "double"), 2.0**-64)
        head, tail = m.fast_two_sum(head, middle)
        head, tail = m.fast_two_sum(head, b.fadd(tail, tiny))
        r, error = m.two_product(head, m.constant(scale, x))
        low = m.fma(head, m.constant(PI_OVER_2[1] * 2.0**-62, x), error)
        low = m.fma(tail, m.constant(scale, x), low)
        r, low = m.fast_two_sum(r, low)
        low = b.select(negative, b.fneg(low), low)
    r = b.select(negative, b.fneg(r), r)
    infinite = b.fcmp("ueq", m.abs(x), m.constant(float("inf"), x))
    return b.select(infinite, b.like(float("nan"), r), r), low, number


def _words(m: MathEmitter, word: Value, count: int, lead: int, first: int, last: int) -> list[Value]:
    """`count` 32-bit words of 2 / pi, behind `lead` zeros, from a word number in [first, last]."""
    b = m.b
    total = last + count + 1
    bits = TWO_OVER_PI >> (1408 - 32 * total + lead) if 32 * total - lead <= 1408 else TWO_OVER_PI << 32
    table = [(bits >> (32 * (total - 1 - i))) & 0xFFFFFFFF for i in range(total)]
    if last - first <= 6:  # few candidates: chosen by comparisons, which is faster than reading a table
        chosen = [b.int_(table[first + i], "i32") for i in range(count)]
        for candidate in range(first + 1, last + 1):
            here = b.icmp("uge", word, b.int_(candidate, "i32"))
            chosen = [b.select(here, b.int_(table[candidate + i], "i32"), c) for i, c in enumerate(chosen)]
        return chosen
    data = b"".join(w.to_bytes(4, "little") for w in table)
    pointer = b.module.constant_bytes(data, 64, m.abi.constant_address_space)
    place = b.cast("zext", word, "i64")
    return [b.load("i32", b.gep("i32", pointer, b.add(place, b.int_(i))), align=4) for i in range(count)]


def _product(m: MathEmitter, mantissa: Value, window: list[Value], *, single: bool) -> list[Value]:
    """The product mantissa x window modulo 2^(32 words), in words as i64, most significant first."""
    b = m.b
    mask = b.int_(0xFFFFFFFF)
    if single:
        limbs = [mantissa]
    else:
        limbs = [b.binary("and", mantissa, mask), b.lshr(mantissa, 32)]
    words: list[Value] = []
    carry = b.int_(0)
    columns: list[list[Value]] = [[] for _ in window]  # least significant first
    reverse = window[::-1]
    for place, limb in enumerate(limbs):
        for position, word in enumerate(reverse):
            column = place + position
            if column >= len(window):
                continue
            product = b.mul(limb, word, "nuw")
            columns[column].append(b.binary("and", product, mask))
            if column + 1 < len(window):
                columns[column + 1].append(b.lshr(product, 32))
    for column_values in columns:
        total = carry
        for value in column_values:
            total = b.add(total, value)
        words.append(b.binary("and", total, mask))
        carry = b.lshr(total, 32)
    return words[::-1]
