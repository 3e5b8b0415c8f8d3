"""Integers of every width at their edges, floats to integers, reduce_precision, bits of one type as another's."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

from tests.xla_core.stablehlo.ops.meaning.programs import DTYPES, main, tensor, type_of

WIDTHS = {f"{sign}i{n}": (sign == "", n) for n in (8, 16, 32, 64) for sign in ("", "u")}


def edges(element: str) -> np.ndarray:
    """The ends of the range, powers of two and what lies beside them, and some others."""
    info = np.iinfo(DTYPES[element])
    powers = [2**k for k in range(WIDTHS[element][1])]
    near = {v + d for v in [0, *powers, *(-p for p in powers)] for d in (-1, 0, 1)}
    rng = np.random.default_rng(5)
    some = [int(v) for v in rng.integers(info.min, info.max, 40, dtype=info.dtype, endpoint=True)]
    return np.array(sorted(v for v in {*near, *some} if info.min <= v <= info.max), dtype=info.dtype)


@pytest.mark.parametrize("element", WIDTHS)
def test_integer_arithmetic_wraps_and_never_traps(run, element: str) -> None:
    signed, bits = WIDTHS[element]
    values = edges(element)
    rng = np.random.default_rng(2)
    x = np.concatenate([rng.choice(values, 2000), values, np.full(3, np.iinfo(values.dtype).min, values.dtype)])
    y = np.concatenate(
        [rng.choice(values, 2000), np.zeros_like(values), np.array([-1 if signed else 1, 0, 1], values.dtype)]
    )
    mask = (1 << bits) - 1

    def wrap(value: int) -> int:
        value &= mask
        return value - (1 << bits) if signed and value >> (bits - 1) else value

    def quotient(a: int, b: int) -> int:
        return -1 if b == 0 else abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)

    def amount(b: int) -> int | None:
        return b if 0 <= b < bits else None

    def right(a: int, b: int | None) -> int:
        return (a & mask) >> b if b is not None else 0

    def arithmetic(a: int, b: int | None) -> int:
        a = a - (1 << bits) if (a & mask) >> (bits - 1) and a > 0 else a
        return a >> (bits if b is None else b)

    want = {
        "add": lambda a, b: a + b,
        "subtract": lambda a, b: a - b,
        "multiply": lambda a, b: a * b,
        "divide": quotient,
        "remainder": lambda a, b: a if b == 0 else a - quotient(a, b) * b,
        "shift_left": lambda a, b: 0 if amount(b) is None else a << b,
        "shift_right_logical": lambda a, b: right(a, amount(b)),
        "shift_right_arithmetic": lambda a, b: arithmetic(a, amount(b)),
        "power": lambda a, b: pow(a, b, 1 << bits) if b >= 0 else (1 if a == 1 else (-1) ** (b % 2) if a == -1 else 0),
    }
    type = type_of(x)
    lines = [f'%{n} = "stablehlo.{n}"(%a0, %a1) : ({type}, {type}) -> {type}' for n in want]
    outs = run(main([type, type], lines, [(f"%{n}", type) for n in want]), x, y)
    for name, out in zip(want, outs, strict=True):
        exact = np.array([wrap(want[name](int(a), int(b))) for a, b in zip(x, y, strict=True)], x.dtype)
        np.testing.assert_array_equal(out, exact, err_msg=name)


@pytest.mark.parametrize("element", WIDTHS)
def test_bits_of_integers(run, element: str) -> None:
    bits = WIDTHS[element][1]
    x = edges(element)
    pattern = [int(v) & ((1 << bits) - 1) for v in x]
    type = type_of(x)
    names = ("count_leading_zeros", "popcnt", "not", "negate")
    lines = [f'%{n} = "stablehlo.{n}"(%a0) : ({type}) -> {type}' for n in names]
    zeros, ones, inverse, negative = run(main([type], lines, [(f"%{n}", type) for n in names]), x)
    assert zeros.tolist() == [bits - v.bit_length() for v in pattern]
    assert ones.tolist() == [v.bit_count() for v in pattern]
    np.testing.assert_array_equal(inverse, ~x)
    np.testing.assert_array_equal(negative, np.zeros_like(x) - x)


@pytest.mark.parametrize("source", ["f16", "bf16", "f32", "f64"])
def test_floats_to_integers_stop_at_the_ends(run, source: str) -> None:
    """Toward zero; NaN is 0; what is out of range is the nearest bound."""
    dtype = np.dtype(DTYPES[source])
    ends = [
        float(s * 2.0**k + d) for k in (1, 2, 3, 4, 7, 8, 15, 16, 31, 32, 63, 64) for s in (1, -1) for d in (-1, 0, 1)
    ]
    with np.errstate(all="ignore"):
        x = np.array([*ends, 0.0, -0.0, 0.5, -0.5, 0.99, -0.99, 2.5, -2.5, 1e-30, 1e30, -1e30, np.inf, -np.inf, np.nan])
        x = x.astype(dtype)
    targets = [*WIDTHS, "i4", "ui4", "i2", "ui2"]
    types = [tensor(x.shape, t) for t in targets]
    lines = [f"%c{i} = stablehlo.convert %a0 : ({type_of(x)}) -> {t}" for i, t in enumerate(types)]
    outs = run(main([type_of(x)], lines, [(f"%c{i}", t) for i, t in enumerate(types)]), x)
    for target, out in zip(targets, outs, strict=True):
        info = ml_dtypes.iinfo(DTYPES[target])
        want = []
        for v in x.astype(np.float64):
            whole = 0 if np.isnan(v) else int(v) if np.isfinite(v) else int(np.sign(v)) << 70
            want.append(min(max(whole, int(info.min)), int(info.max)))
        assert [int(v) for v in out] == want, target


@pytest.mark.parametrize("target", ["f16", "bf16", "f32", "f64"])
@pytest.mark.parametrize("source", ["i32", "ui32", "i64", "ui64"])
def test_integers_to_floats_round_once(run, source: str, target: str) -> None:
    x = edges(source)
    half = {"f16": 11, "bf16": 8, "f32": 24, "f64": 53}[target]
    extra = [(1 << k) + (1 << (k - half)) + d for k in range(half + 1, WIDTHS[source][1] - 1) for d in (-1, 0, 1)]
    x = np.concatenate([x, np.array(extra, x.dtype)]) if extra else x
    types = type_of(x), tensor(x.shape, target)
    (out,) = run(main([types[0]], [f"%0 = stablehlo.convert %a0 : ({types[0]}) -> {types[1]}"], [("%0", types[1])]), x)
    for value, got in zip(x, out, strict=True):
        assert float(got) == nearest(int(value), half, {"f16": 65504.0}.get(target, np.inf)), (int(value), got)


def nearest(value: int, precision: int, largest: float) -> float:
    """An integer rounded to `precision` bits, ties to even, as a float; infinite beyond `largest`."""
    magnitude = abs(value)
    drop = max(magnitude.bit_length() - precision, 0)
    kept, rest = magnitude >> drop, magnitude & ((1 << drop) - 1)
    if drop:
        middle = 1 << (drop - 1)
        kept += rest > middle or (rest == middle and kept & 1)
    result = float(kept << drop)
    return float(np.copysign(np.inf if result > largest else result, value)) if value else 0.0


@pytest.mark.parametrize(
    ("exponent", "mantissa"), [(8, 23), (8, 7), (5, 10), (5, 2), (4, 3), (8, 0), (2, 1), (11, 30), (1, 0)]
)
@pytest.mark.parametrize("element", ["f16", "bf16", "f32", "f64"])
def test_reduce_precision(run, element: str, exponent: int, mantissa: int) -> None:
    """Against exact rational arithmetic: round to the mantissa, ties to even; too large is infinite, too small is 0."""
    rng = np.random.default_rng(8)
    dtype = np.dtype(DTYPES[element])
    info = ml_dtypes.finfo(dtype)
    with np.errstate(all="ignore"):
        x = np.ldexp(rng.normal(size=600), rng.integers(-30, 30, 600))
        x = np.concatenate(
            [x, 2.0 ** np.arange(-20, 20), 1.5 * 2.0 ** np.arange(-20, 20), [0, -0.0, np.inf, -np.inf, np.nan]]
        )
        x = x.astype(dtype)
        x = x[
            ~(np.abs(x.astype(np.float64)) < float(info.smallest_normal)) | (x == 0)
        ]  # denormals lose bits of their own
        if mantissa == 0:  # between two powers of two the even exponent is taken, not the even multiple
            x = x[np.abs(np.frexp(x.astype(np.float64))[0]) != 0.75]
    type = type_of(x)
    text = f"%0 = stablehlo.reduce_precision %a0, format = e{exponent}m{mantissa} : {type}"
    (out,) = run(main([type], [text], [("%0", type)]), x)
    bias = 2 ** (exponent - 1) - 1
    keep = min(mantissa, int(info.nmant))
    for value, got in zip(x.astype(np.float64), out.astype(np.float64), strict=True):
        if np.isnan(value) and mantissa == 0:
            want = np.copysign(np.inf, value)  # such a format has no bit that tells NaN from infinity
        elif not np.isfinite(value) or value == 0:
            want = value
        else:
            _, e = np.frexp(value)
            unit = 2.0 ** (int(e) - 1 - keep)
            want = np.rint(value / unit) * unit
            top = np.frexp(want)[1] - 1
            if exponent < int(info.bits) - 1 - int(info.nmant):
                if top > bias:
                    want = np.copysign(np.inf, value)
                elif top < 1 - bias:
                    want = np.copysign(0.0, value)
        with np.errstate(all="ignore"):
            want = float(np.float64(want).astype(dtype))
        assert got == want or (np.isnan(got) and np.isnan(want)), (value, got, want)
        assert np.signbit(got) == np.signbit(want) or np.isnan(got)


BITCASTS = [("f32", "i32"), ("f32", "ui8"), ("f64", "i16"), ("ui8", "f32"), ("i16", "f64"), ("bf16", "i8"), ("f16", "bf16"),
            ("i32", "i4"), ("i4", "i8"), ("ui8", "i2"), ("i2", "ui8"), ("f8E4M3FN", "ui8"), ("i8", "f8E5M2"),
            ("f4E2M1FN", "ui8"), ("complex<f64>", "complex<f32>"), ("complex<f32>", "complex<f64>"), ("i64", "f8E4M3")]  # fmt: skip


def bit_width(element: str) -> int:
    if element.startswith("complex"):
        return 2 * bit_width(element[8:-1])
    return int(element.lstrip("uif").partition("E")[0]) if element != "bf16" else 16


def bit_string(x: np.ndarray, element: str) -> int:
    """All bits of an array as one number, the first element lowest."""
    width = bit_width(element)
    raw = x.reshape(-1).view(np.uint8).reshape(-1, x.dtype.itemsize)
    return sum((int.from_bytes(bytes(b), "little") & ((1 << width) - 1)) << (i * width) for i, b in enumerate(raw))


@pytest.mark.parametrize(("source", "target"), BITCASTS)
def test_bitcast_between_widths(run, source: str, target: str) -> None:
    """The bits of the array, the first element's lowest first, are the same."""
    a, b = bit_width(source), bit_width(target)
    shape = (3, 4) if a >= b else (3, 4, b // a)
    result = (3, 4, a // b) if a > b else (3, 4)
    dtype = np.dtype(DTYPES[source])
    rng = np.random.default_rng(3)
    raw = rng.integers(0, 256, int(np.prod(shape)) * dtype.itemsize, dtype=np.uint8)
    if a < 8:
        raw &= (1 << a) - 1
        if dtype.name.startswith("int"):  # kept with its sign in a whole byte
            x = raw.astype(np.int8)
            x = np.where(x >= 1 << (a - 1), x - (1 << a), x).astype(dtype).reshape(shape)
        else:
            x = raw.view(dtype).reshape(shape)
    else:
        x = raw.view(dtype).reshape(shape)
    types = tensor(shape, source), tensor(result, target)
    text = main([types[0]], [f"%0 = stablehlo.bitcast_convert %a0 : ({types[0]}) -> {types[1]}"], [("%0", types[1])])
    (out,) = run(text, x)
    assert out.shape == result
    assert out.dtype == np.dtype(DTYPES[target])
    assert bit_string(out, target) == bit_string(x, source)
