"""FFT compared with numpy in float64."""

from __future__ import annotations

import numpy as np
import pytest

import xla_core as xla

TYPES = {"f32": np.float32, "f64": np.float64, "c64": np.complex64, "c128": np.complex128}


def shape_text(kind, dims):
    return f"{kind}[{','.join(map(str, dims))}]"


def run(client, kind, dims, lengths, precision=32, seed=0):
    """The result of an fft op on random numbers, and numpy's in double precision."""
    rng = np.random.default_rng(seed)
    real, complex_ = ("f32", "c64") if precision == 32 else ("f64", "c128")
    axes = list(range(len(dims) - len(lengths), len(dims)))
    source = [*dims[: len(dims) - len(lengths)], *lengths]
    half = [*source[:-1], lengths[-1] // 2 + 1]
    given, made = {
        "FFT": ((complex_, source), (complex_, source)),
        "IFFT": ((complex_, source), (complex_, source)),
        "RFFT": ((real, source), (complex_, half)),
        "IRFFT": ((complex_, half), (real, source)),
    }[kind]
    x = rng.standard_normal(given[1])
    if given[0][0] == "c":
        x = x + 1j * rng.standard_normal(given[1])
    x = x.astype(TYPES[given[0]])
    text = f"""HloModule f
ENTRY main {{
  x = {shape_text(*given)} parameter(0)
  ROOT y = {shape_text(*made)} fft(x), fft_type={kind}, fft_length={{{",".join(map(str, lengths))}}}
}}"""
    result = np.asarray(client.compile(text)(x)[0])
    wide = x.astype(np.complex128) if np.iscomplexobj(x) else x.astype(np.float64)
    reference = {
        "FFT": lambda: np.fft.fftn(wide, axes=axes),
        "IFFT": lambda: np.fft.ifftn(wide, axes=axes),
        "RFFT": lambda: np.fft.rfftn(wide, axes=axes),
        "IRFFT": lambda: np.fft.irfftn(wide, s=lengths, axes=axes),
    }[kind]()
    assert result.dtype == TYPES[made[0]]
    assert result.shape == reference.shape
    return result, reference


def check(client, kind, dims, lengths, precision=32, bound=1.0):
    """The error's norm is within bound * eps * log2 of the number of points."""
    result, reference = run(client, kind, dims, lengths, precision)
    if reference.size == 0:
        return
    eps = np.finfo(np.float32 if precision == 32 else np.float64).eps
    points = max(float(np.prod(lengths)), 2.0)
    error = np.linalg.norm(result - reference) / max(np.linalg.norm(reference), 1e-300)
    assert error <= bound * eps * (2 + np.log2(points)), error / eps


KINDS = ["FFT", "IFFT", "RFFT", "IRFFT"]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("length", [1, 2, 3, 5, 6, 8, 9, 16, 17, 26, 30, 77, 97])
def test_lengths(client, kind, length):
    check(client, kind, (2, length), (length,), bound=1.5)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("length", [4, 13, 38, 100])
def test_double(client, kind, length):
    check(client, kind, (3, length), (length,), precision=64, bound=1.5)


@pytest.mark.parametrize("kind", KINDS)
def test_long(client, kind):
    check(client, kind, (16384,), (16384,))


@pytest.mark.parametrize(("length", "bound"), [(30000, 1.0), (4099, 2.0)])
def test_long_and_odd(client, length, bound):
    check(client, "FFT", (2, length), (length,), bound=bound)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("dims", "lengths"), [((4, 6), (4, 6)), ((2, 3, 5, 8), (3, 5, 8)), ((3, 4, 9), (4, 9))])
def test_several_dimensions(client, kind, dims, lengths):
    check(client, kind, dims, lengths, bound=1.5)


def test_many_rows_are_shared_out(client):
    check(client, "FFT", (300, 4, 64), (64,))


@pytest.mark.parametrize("kind", KINDS)
def test_no_rows(client, kind):
    check(client, kind, (0, 8), (8,))


def test_a_round_trip_in_a_program(client):
    text = """HloModule f
ENTRY main {
  x = f32[5,48] parameter(0)
  y = f32[5,48] multiply(x, x)
  z = c64[5,25] fft(y), fft_type=RFFT, fft_length={48}
  w = c64[5,25] multiply(z, z)
  ROOT v = f32[5,48] fft(w), fft_type=IRFFT, fft_length={48}
}"""
    x = np.random.default_rng(3).standard_normal((5, 48)).astype(np.float32)
    expected = np.fft.irfft(np.fft.rfft(x.astype(np.float64) ** 2) ** 2, 48)
    np.testing.assert_allclose(np.asarray(client.compile(text)(x)[0]), expected, rtol=1e-5, atol=1e-4)
    module = xla.parse(text)
    np.testing.assert_allclose(xla.evaluate(module, x)[0], expected, rtol=1e-5, atol=1e-4)


@pytest.mark.parametrize(("kind", "n"), [("FFT", 40009), ("RFFT", 200000), ("IRFFT", 200000)])
def test_tables_of_long_transforms_are_no_constants(client, kind, n):
    check(client, kind, [2, n], [n])
    given, made = {"FFT": ("c64", "c64"), "RFFT": ("f32", "c64"), "IRFFT": ("c64", "f32")}[kind]
    dims = {"f32": [n], "c64": [n if kind == "FFT" else n // 2 + 1]}
    text = f"""HloModule f
ENTRY main {{
  x = {shape_text(given, dims[given])} parameter(0)
  ROOT y = {shape_text(made, dims[made])} fft(x), fft_type={kind}, fft_length={{{n}}}
}}"""
    assert len(client.compile(text).serialize()) < 400_000
