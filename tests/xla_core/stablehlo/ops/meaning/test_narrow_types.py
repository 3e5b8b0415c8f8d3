"""Elementwise ops on every value of the narrow types: computed exactly, then rounded once (or within one step)."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
import scipy.special

from tests.xla_core.stablehlo.ops.meaning.programs import (
    DTYPES,
    NARROW_FLOATS,
    NARROW_INTEGERS,
    every_value,
    main,
    tensor,
)

EXACT_UNARY = {
    "abs": np.abs,
    "ceil": np.ceil,
    "floor": np.floor,
    "negate": np.negative,
    "round_nearest_even": np.rint,
    "round_nearest_afz": lambda x: np.copysign(np.floor(np.abs(x) + 0.5), x),
    "sign": np.sign,
    "sqrt": np.sqrt,
}
CLOSE_UNARY = {
    "cbrt": np.cbrt,
    "cosine": np.cos,
    "exponential": np.exp,
    "exponential_minus_one": np.expm1,
    "log": np.log,
    "log_plus_one": np.log1p,
    "logistic": scipy.special.expit,
    "rsqrt": lambda x: 1 / np.sqrt(x),
    "sine": np.sin,
    "tan": np.tan,
    "tanh": np.tanh,
}
EXACT_BINARY = {
    "add": np.add,
    "divide": np.divide,
    "maximum": np.maximum,
    "minimum": np.minimum,
    "multiply": np.multiply,
    "remainder": np.fmod,
    "subtract": np.subtract,
}
CLOSE_BINARY = {"atan2": np.arctan2, "power": np.power}
DIRECTIONS = {
    "EQ": np.equal,
    "NE": np.not_equal,
    "LT": np.less,
    "LE": np.less_equal,
    "GT": np.greater,
    "GE": np.greater_equal,
}


def rounded(value: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """Float64 rounded once to the type: the nearest of its values, of two the one whose last bit is 0.

    What lies beyond them, and NaN, is ml_dtypes' to say; what lies between, isn't: it rounds float64 to float32 first.
    """
    with np.errstate(all="ignore"):
        result = value.astype(dtype)
    bits = np.arange(2 ** int(ml_dtypes.finfo(dtype).bits), dtype=np.uint32).astype(f"u{dtype.itemsize}")
    bits = bits[np.isfinite(bits.view(dtype).astype(np.float64))]
    wide = bits.view(dtype).astype(np.float64)
    wide, first = np.unique(wide, return_index=True)
    bits = bits[first]
    inside = (value > wide[0]) & (value < wide[-1]) & (value != 0)
    x = value[inside]
    above = np.searchsorted(wide, x)
    below = np.where(wide[above] == x, above, above - 1)
    to_above, to_below = wide[above] - x, x - wide[below]
    up = (to_above < to_below) | ((to_above == to_below) & (bits[above] % 2 == 0))
    nearest = bits[np.where(up, above, below)].view(dtype)
    result[inside] = np.where(nearest == dtype.type(0), np.copysign(0.0, x).astype(dtype), nearest)
    return result


def has_nan(dtype: np.dtype) -> bool:
    return bool(np.isnan(np.array(np.nan).astype(dtype).astype(np.float64)))


def step(x: np.ndarray) -> np.ndarray:
    """The place of each value in the order of the type's finite ones."""
    wide = x.astype(np.float64)
    bits = int(ml_dtypes.finfo(x.dtype).bits)
    values = np.arange(2**bits, dtype=np.uint8).view(x.dtype).astype(np.float64)
    return np.searchsorted(np.unique(values[~np.isnan(values)]), wide)


def check(name: str, got: np.ndarray, exact: np.ndarray, steps: int) -> None:
    """`got` is `exact` (float64) rounded to its type, or up to `steps` values beside it; NaN where that is NaN."""
    want = rounded(exact, got.dtype)
    defined = np.full(exact.shape, True) if has_nan(got.dtype) else ~np.isnan(exact)
    g, w = got.astype(np.float64)[defined], want.astype(np.float64)[defined]
    assert np.array_equal(np.isnan(g), np.isnan(w)), name
    ok = ~np.isnan(w)
    if steps == 0:
        np.testing.assert_array_equal(g[ok], w[ok], err_msg=name)
        zero = ok & (w == 0)
        if name != "sign":
            np.testing.assert_array_equal(np.signbit(g[zero]), np.signbit(w[zero]), err_msg=f"{name}: sign of zero")
    else:
        apart = np.abs(step(got[defined][ok]).astype(int) - step(want[defined][ok]).astype(int))
        assert apart.max(initial=0) <= steps, f"{name}: {apart.max()} steps"


@pytest.mark.parametrize("element", NARROW_FLOATS)
def test_functions_of_every_float(run, element: str) -> None:
    x = every_value(element)
    type = tensor(x.shape, element)
    names = [*EXACT_UNARY, *CLOSE_UNARY]
    lines = [f'%{n} = "stablehlo.{n}"(%a0) : ({type}) -> {type}' for n in names]
    lines.append(f"%finite = stablehlo.is_finite %a0 : ({type}) -> {tensor(x.shape, 'i1')}")
    results = [(f"%{n}", type) for n in names] + [("%finite", tensor(x.shape, "i1"))]
    *outs, finite = run(main([type], lines, results), x)
    wide = x.astype(np.float64)
    np.testing.assert_array_equal(finite, np.isfinite(wide))
    with np.errstate(all="ignore"):
        for name, out in zip(names, outs, strict=True):
            function = EXACT_UNARY.get(name) or CLOSE_UNARY[name]
            check(name, out, function(wide), 0 if name in EXACT_UNARY else 1)


@pytest.mark.parametrize("element", NARROW_FLOATS)
def test_functions_of_pairs_of_floats(run, element: str) -> None:
    values = every_value(element)
    rng = np.random.default_rng(1)
    x, y = (rng.choice(values, 4096) for _ in range(2))
    type, bools = tensor(x.shape, element), tensor(x.shape, "i1")
    names = [*EXACT_BINARY, *CLOSE_BINARY]
    lines = [f'%{n} = "stablehlo.{n}"(%a0, %a1) : ({type}, {type}) -> {type}' for n in names]
    lines += [f"%{d} = stablehlo.compare {d}, %a0, %a1 : ({type}, {type}) -> {bools}" for d in DIRECTIONS]
    lines.append(f"%clamped = stablehlo.clamp %a0, %a1, %a0 : {type}")
    lines.append(f"%selected = stablehlo.select %LT, %a0, %a1 : {bools}, {type}")
    results = [(f"%{n}", type) for n in names] + [(f"%{d}", bools) for d in DIRECTIONS]
    results += [("%clamped", type), ("%selected", type)]
    outs = run(main([type, type], lines, results), x, y)
    a, b = x.astype(np.float64), y.astype(np.float64)
    with np.errstate(all="ignore"):
        for name, out in zip(names, outs, strict=False):
            if name in ("maximum", "minimum"):  # between zeros either may be chosen
                either = (a == 0) & (b == 0)
                np.testing.assert_array_equal(out.astype(np.float64)[either], 0)
                check(name, out[~either], EXACT_BINARY[name](a, b)[~either], 0)
            else:
                check(name, out, (EXACT_BINARY.get(name) or CLOSE_BINARY[name])(a, b), 0 if name in EXACT_BINARY else 1)
        for name, out in zip(DIRECTIONS, outs[len(names) :], strict=False):
            np.testing.assert_array_equal(out, DIRECTIONS[name](a, b), err_msg=name)
    np.testing.assert_array_equal(outs[-2].astype(np.float64), np.where(np.isnan(a) | np.isnan(b), np.nan, a))
    np.testing.assert_array_equal(outs[-1].astype(np.float64), np.where(a < b, a, b))


def wrapped(value: np.ndarray, element: str) -> np.ndarray:
    """Integers modulo the width of the type."""
    info = ml_dtypes.iinfo(DTYPES[element])
    low, span = int(info.min), int(info.max) - int(info.min) + 1
    return (value - low) % span + low


def truncating(x: np.ndarray, y: np.ndarray, element: str) -> tuple[np.ndarray, np.ndarray]:
    """Quotient and remainder as StableHLO has them: by zero -1 (all ones) and x; the quotient rounds toward zero."""
    safe = np.where(y == 0, 1, y)
    quotient = np.sign(x) * np.sign(safe) * (np.abs(x) // np.abs(safe))
    ones = wrapped(np.full_like(x, -1), element)
    return np.where(y == 0, ones, wrapped(quotient, element)), np.where(y == 0, x, x - quotient * safe)


@pytest.mark.parametrize("element", [*NARROW_INTEGERS, "i8", "ui8"])
def test_integers_by_pairs(run, element: str) -> None:
    values = every_value(element)
    x, y = (v.reshape(-1) for v in np.meshgrid(values, values))
    type, bools = tensor(x.shape, element), tensor(x.shape, "i1")
    bits = int(ml_dtypes.iinfo(values.dtype).bits)
    a, b = x.astype(np.int64), y.astype(np.int64)
    mask = (1 << bits) - 1
    quotient, remainder = truncating(a, b, element)
    far = (b & mask if element.startswith("u") else b) >= bits
    far |= b < 0
    near = np.where(far, 0, b)
    want = {
        "add": a + b,
        "subtract": a - b,
        "multiply": a * b,
        "divide": quotient,
        "remainder": remainder,
        "maximum": np.maximum(a, b),
        "minimum": np.minimum(a, b),
        "and": a & b,
        "or": a | b,
        "xor": a ^ b,
        "shift_left": np.where(far, 0, a << near),
        "shift_right_logical": np.where(far, 0, (a & mask) >> near),
        "shift_right_arithmetic": np.where(
            far, np.where(wrapped(a, f"i{bits}") < 0, -1, 0), wrapped(a, f"i{bits}") >> near
        ),
    }
    names = list(want)
    lines = [f'%{n} = "stablehlo.{n}"(%a0, %a1) : ({type}, {type}) -> {type}' for n in names]
    lines += [f"%{d} = stablehlo.compare {d}, %a0, %a1 : ({type}, {type}) -> {bools}" for d in DIRECTIONS]
    outs = run(
        main([type, type], lines, [(f"%{n}", type) for n in names] + [(f"%{d}", bools) for d in DIRECTIONS]), x, y
    )
    for name, out in zip(names, outs, strict=False):
        np.testing.assert_array_equal(out.astype(np.int64), wrapped(want[name], element), err_msg=name)
    for name, out in zip(DIRECTIONS, outs[len(names) :], strict=True):
        np.testing.assert_array_equal(out, DIRECTIONS[name](a, b), err_msg=name)


@pytest.mark.parametrize("element", [*NARROW_INTEGERS, "i8", "ui8"])
def test_functions_of_every_integer(run, element: str) -> None:
    x = every_value(element)
    type = tensor(x.shape, element)
    a = x.astype(np.int64)
    bits = int(ml_dtypes.iinfo(x.dtype).bits)
    pattern = a & ((1 << bits) - 1)
    want = {
        "negate": -a,
        "not": ~a,
        "count_leading_zeros": np.array([bits - int(v).bit_length() for v in pattern]),
        "popcnt": np.array([int(v).bit_count() for v in pattern]),
    }
    if not element.startswith("u"):
        want |= {"abs": np.abs(a), "sign": np.sign(a)}
    lines = [f'%{n} = "stablehlo.{n}"(%a0) : ({type}) -> {type}' for n in want]
    outs = run(main([type], lines, [(f"%{n}", type) for n in want]), x)
    for name, out in zip(want, outs, strict=True):
        np.testing.assert_array_equal(out.astype(np.int64), wrapped(want[name], element), err_msg=name)


def converted(x: np.ndarray, target: str) -> np.ndarray:
    """What numpy and ml_dtypes make of it: one rounding; toward zero and held at the bounds for integers."""
    dtype = np.dtype(DTYPES[target])
    if target == "i1":
        return x != x.dtype.type(0)
    if "complex" in target:
        return x.astype(np.float64).astype(dtype)
    if dtype.name.startswith(("int", "uint")):
        if x.dtype.name.startswith(("int", "uint")) or x.dtype == bool:
            bits = int(ml_dtypes.iinfo(dtype).bits)
            exact = [int(v) & ((1 << bits) - 1) for v in x.astype(object)]
            signed = not target.startswith("u")
            return np.array([v - (1 << bits) if signed and v >> (bits - 1) else v for v in exact], object)
        info = ml_dtypes.iinfo(dtype)
        wide = x.astype(np.float64)
        return np.array(
            [0 if np.isnan(v) else min(max(int(np.clip(v, -1e30, 1e30)), int(info.min)), int(info.max)) for v in wide],
            object,
        )
    return x.astype(np.float64).astype(dtype)


@pytest.mark.parametrize("source", [*NARROW_FLOATS, *NARROW_INTEGERS, "f8E8M0FNU", "i1", "i8", "ui8"])
def test_conversions_of_every_value(run, source: str) -> None:
    """From each narrow type to every type."""
    x = every_value(source)
    targets = [t for t in DTYPES if t != source]
    lines = [
        f"%c{i} = stablehlo.convert %a0 : ({tensor(x.shape, source)}) -> {tensor(x.shape, t)}"
        for i, t in enumerate(targets)
    ]
    outs = run(
        main([tensor(x.shape, source)], lines, [(f"%c{i}", tensor(x.shape, t)) for i, t in enumerate(targets)]), x
    )
    for target, out in zip(targets, outs, strict=True):
        with np.errstate(all="ignore"):
            want = converted(x, target)
        defined = np.full(x.shape, True)
        if target in DTYPES and not out.dtype.name.startswith(("int", "uint", "bool")) and "complex" not in target:
            if not has_nan(out.dtype):
                defined = ~np.isnan(x.astype(np.float64))
            got, want = out.astype(np.float64), want.astype(np.float64)
        elif "complex" in target or target == "i1":
            got = out
        else:
            got = out.astype(object)
            got, want = np.array([int(v) for v in got]), np.array([int(v) for v in want])
        np.testing.assert_array_equal(got[defined], want[defined], err_msg=f"{source} to {target}")


@pytest.mark.parametrize("target", [*NARROW_FLOATS, "f16", "bf16"])
@pytest.mark.parametrize("source", ["f32", "f64", "bf16", "f16"])
def test_floats_round_once_to_the_narrower(run, source: str, target: str) -> None:
    """Every value of the target, the points halfway between two, and what lies just beside them."""
    if source == target:
        pytest.skip("one type")
    dtype = np.dtype(DTYPES[target])
    bits = int(ml_dtypes.finfo(dtype).bits)
    values = np.arange(2**bits, dtype=np.uint16).astype(f"u{dtype.itemsize}").view(dtype).astype(np.float64)
    values = np.unique(values[np.isfinite(values)])
    values = values[:: max(1, len(values) // 4096)]
    middle = (values[1:] + values[:-1]) / 2
    wide = np.dtype(DTYPES[source])
    with np.errstate(all="ignore"):
        x = np.concatenate([values, middle, [0.0, -0.0, np.inf, -np.inf, np.nan, 1e30, -1e30]]).astype(wide)
        beside = [np.nextafter(x, wide.type(s * np.inf)) for s in (1, -1)]
        x = np.concatenate([x, *beside])
        types = tensor(x.shape, source), tensor(x.shape, target)
        (out,) = run(
            main([types[0]], [f"%0 = stablehlo.convert %a0 : ({types[0]}) -> {types[1]}"], [("%0", types[1])]), x
        )
        want = rounded(x.astype(np.float64), dtype).astype(np.float64)
    defined = np.full(x.shape, True) if has_nan(dtype) else ~np.isnan(x.astype(np.float64))
    got = out.astype(np.float64)
    np.testing.assert_array_equal(got[defined], want[defined])
    np.testing.assert_array_equal(np.signbit(got[defined & (want == 0)]), np.signbit(want[defined & (want == 0)]))
