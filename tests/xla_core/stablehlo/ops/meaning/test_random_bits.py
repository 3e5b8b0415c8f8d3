"""rng and rng_bit_generator: XLA's bits, by JAX; bounds and moments where only the distribution is specified."""

from __future__ import annotations

import numpy as np
import pytest

from tests.xla_core.stablehlo.ops.meaning.programs import DTYPES, main, tensor

ALGORITHMS = ["THREE_FRY", "PHILOX", "DEFAULT"]
SHAPES = [(), (1,), (2,), (3,), (5,), (8,), (9,), (3, 5), (2, 3, 4), (0,), (33,)]


def generator(algorithm: str, state: int, results: list[tuple[tuple[int, ...], str]]) -> str:
    states = tensor((state,), "ui64")
    lines, outs = [], []
    for i, (shape, element) in enumerate(results):
        type = tensor(shape, element)
        lines.append(
            f"%s{i}, %v{i} = stablehlo.rng_bit_generator %a0, algorithm = {algorithm} : ({states}) -> ({states}, {type})"
        )
        outs += [(f"%s{i}", states), (f"%v{i}", type)]
    return main([states], lines, outs)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("element", ["ui8", "ui16", "ui32", "ui64"])
def test_the_bits_are_those_of_xla(run, element: str, algorithm: str) -> None:
    jax = pytest.importorskip("jax")
    state = np.array([0x123456789ABCDEF0, 0xFFFFFFFFFFFFFFFE], np.uint64)
    outs = run(generator(algorithm, 2, [(s, element) for s in SHAPES]), state)
    with jax.enable_x64(True):
        chosen = getattr(jax.lax.RandomAlgorithm, f"RNG_{algorithm}")
        key = state.view(np.uint32)
        for i, shape in enumerate(SHAPES):
            after, values = jax.lax.rng_bit_generator(key, shape, np.dtype(DTYPES[element]), algorithm=chosen)
            np.testing.assert_array_equal(outs[2 * i + 1], values, err_msg=str(shape))
            np.testing.assert_array_equal(
                outs[2 * i], np.asarray(after).view(np.uint64), err_msg=f"state after {shape}"
            )


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_signed_and_floating_results_have_the_bits_of_unsigned_ones(run, algorithm: str) -> None:
    pairs = [("ui8", "i8"), ("ui16", "i16"), ("ui32", "i32"), ("ui64", "i64")]
    state = np.array([7, 9], np.uint64)
    outs = run(generator(algorithm, 2, [((11,), e) for pair in pairs for e in pair]), state)[1::2]
    for unsigned, signed in zip(outs[::2], outs[1::2], strict=True):
        np.testing.assert_array_equal(unsigned, signed.view(unsigned.dtype))


@pytest.mark.parametrize("algorithm", ["PHILOX", "DEFAULT"])
def test_a_counter_of_two_words(run, algorithm: str) -> None:
    """Three words of state are a key and 128 bits of counter; of two, the key is the counter's high half too."""
    shapes = [((n,), e) for n in (1, 5, 8) for e in ("ui8", "ui32", "ui64")]
    key, low = 0x0123456789ABCDEF, 0xFFFFFFFFFFFFFFFF
    short = run(generator(algorithm, 2, shapes), np.array([key, low], np.uint64))
    long = run(generator(algorithm, 3, shapes), np.array([key, low, key], np.uint64))
    for a, b in zip(short[1::2], long[1::2], strict=True):
        np.testing.assert_array_equal(a, b)
    for ((n,), element), after in zip(shapes, long[::2], strict=True):
        blocks = -(-n * (2 if element == "ui64" else 1) // 4)
        assert after.tolist() == [key, (low + blocks) % 2**64, key + 1]


def rng(distribution: str, element: str, count: int) -> str:
    scalar, shape, type = tensor((), element), tensor((1,), "i64"), tensor((count,), element)
    lines = [f"%n = stablehlo.constant dense<{count}> : {shape}"]
    for i in range(2):
        lines.append(
            f"%{i} = stablehlo.rng %a0, %a1, %n, distribution = {distribution} : ({scalar}, {scalar}, {shape}) -> {type}"
        )
    return main([scalar, scalar], lines, [("%0", type), ("%1", type)])


@pytest.mark.parametrize("element", ["f32", "f64", "bf16", "f16"])
def test_uniform_floats(run, element: str) -> None:
    dtype = DTYPES[element]
    first, second = run(rng("UNIFORM", element, 4000), np.array(-2, dtype), np.array(3, dtype))
    wide = first.astype(np.float64)
    assert wide.min() >= -2
    assert wide.max() < 3 or element in ("bf16", "f16")
    assert abs(wide.mean() - 0.5) < 5 * 5 / np.sqrt(12 * 4000)
    assert abs(wide.var() - 25 / 12) < 0.15
    counts = np.histogram(wide, bins=10, range=(-2, 3))[0]
    assert np.sum((counts - 400.0) ** 2 / 400) < 40  # chi squared of 9 degrees: 27.9 at 1 in 1000
    assert np.any(first != second)


@pytest.mark.parametrize("element", ["i8", "i32", "ui32", "i64", "ui8", "i1"])
def test_uniform_integers(run, element: str) -> None:
    dtype = DTYPES[element]
    low, high = (0, 1) if element == "i1" else (3, 103)
    first, _ = run(rng("UNIFORM", element, 4000), np.array(low, dtype), np.array(high, dtype))
    values = first.astype(np.int64)
    assert values.min() >= low
    assert values.max() <= (high if element == "i1" else high - 1)
    if element != "i1":
        assert set(values.tolist()) == set(range(3, 103))
        assert abs(values.mean() - 52.5) < 5 * 100 / np.sqrt(12 * 4000)


@pytest.mark.parametrize("element", ["f32", "f64"])
def test_normal(run, element: str) -> None:
    from scipy import stats

    dtype = DTYPES[element]
    first, second = run(rng("NORMAL", element, 5000), np.array(1, dtype), np.array(2, dtype))
    for values in (first, second):
        assert stats.kstest((values.astype(np.float64) - 1) / 2, "norm").pvalue > 1e-4
    assert abs(np.corrcoef(first, second)[0, 1]) < 0.07
