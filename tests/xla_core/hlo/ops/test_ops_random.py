"""Random bits against JAX's compiler, which they must equal, and known answers of the generators' authors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.xla_core.hlo.ops.ops_testing import run
from xla_core.errors import InvalidArgumentError
from xla_core.hlo import ElementType, Shape
from xla_core.hlo.ops.bit_generators import philox_4x32, three_fry_2x32

SHAPES = [(), (1,), (7,), (8,), (3, 5), (3, 4), (2, 3, 3), (0,), (5, 1)]


def word(value: int) -> np.ndarray:
    return np.array([value], np.uint32)


def test_known_answers() -> None:
    """From the test vectors of Random123 (kat_vectors)."""
    ones = 0xFFFFFFFF
    a, b = three_fry_2x32((word(0), word(0)), (word(0), word(0)))
    assert (a[0], b[0]) == (0x6B200159, 0x99BA4EFE)
    a, b = three_fry_2x32((word(ones), word(ones)), (word(ones), word(ones)))
    assert (a[0], b[0]) == (0x1CB996FC, 0xBB002BE7)
    with np.errstate(over="ignore"):
        words = philox_4x32((word(0), word(0)), (word(0),) * 4)
        assert [w[0] for w in words] == [0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8]
        words = philox_4x32((word(ones), word(ones)), (word(ones),) * 4)
        assert [w[0] for w in words] == [0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD]


def generate(algorithm: str, state: np.ndarray, t: ElementType, shape: tuple[int, ...]) -> Any:
    declared = Shape.tuple([Shape.of(state), Shape.array(t, shape)])
    return run("rng-bit-generator", state, shape=declared, algorithm=algorithm)


@pytest.mark.parametrize("algorithm", ["rng_three_fry", "rng_philox", "rng_default"])
@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.uint32, np.uint64])
@pytest.mark.parametrize("words", [2, 3])
def test_the_same_bits_as_xla(algorithm: str, dtype: type, words: int) -> None:
    """Counters that carry into the next word too. One program for all shapes, given to XLA's CPU compiler as text."""
    jax = pytest.importorskip("jax")
    if algorithm == "rng_three_fry" and words == 3:
        pytest.skip("a state of Threefry has two words")
    name = {"rng_three_fry": "THREE_FRY", "rng_philox": "PHILOX", "rng_default": "DEFAULT"}[algorithm]
    state_type, bits = f"tensor<{words}xui64>", f"ui{np.dtype(dtype).itemsize * 8}"
    types = [f"{state_type}, tensor<{'x'.join([*map(str, shape), bits])}>" for shape in SHAPES]
    lines = [
        f"%a{i}, %b{i} = stablehlo.rng_bit_generator %s, algorithm = {name} : ({state_type}) -> ({t})"
        for i, t in enumerate(types)
    ]
    results = ", ".join(f"%a{i}, %b{i}" for i in range(len(SHAPES)))
    text = (
        f"func.func @main(%s: {state_type}) -> ({', '.join(types)}) {{\n"
        + "\n".join(lines)
        + f"\nreturn {results} : {', '.join(types)}\n}}"
    )
    device = jax.devices("cpu")[0]
    executable = device.client.compile_and_load(text, [device])
    for state in ([7, 3, 9][:words], [2**64 - 2, 2**64 - 1, 2**64 - 1][:words]):
        given = np.array(state, np.uint64)
        with jax.enable_x64(True):
            expected = [np.asarray(v) for v in executable.execute([jax.device_put(given, device)])]
        for shape, new_state, numbers in zip(SHAPES, expected[::2], expected[1::2], strict=True):
            new, got = generate(algorithm, given, ElementType.from_numpy(dtype), shape)
            np.testing.assert_array_equal(got, numbers, err_msg=f"{shape} {state}")
            np.testing.assert_array_equal(new, new_state, err_msg=f"{shape} {state}")


def test_floats_and_small_integers_take_the_low_bits() -> None:
    state = np.array([1, 2], np.uint64)
    _, whole = generate("rng_three_fry", state, ElementType.U32, (6,))
    _, signed = generate("rng_three_fry", state, ElementType.S32, (6,))
    _, floats = generate("rng_three_fry", state, ElementType.F32, (6,))
    _, nibbles = generate("rng_three_fry", state, ElementType.U4, (6,))
    np.testing.assert_array_equal(signed.view(np.uint32), whole)
    assert floats.tobytes() == whole.tobytes()
    np.testing.assert_array_equal(nibbles.astype(np.uint32), whole & 15)


def test_rng() -> None:
    shape = Shape.array(ElementType.F32, (4000,))
    uniform = run("rng", np.float32(-1), np.float32(3), shape=shape, distribution="rng_uniform")
    assert uniform.min() >= -1
    assert uniform.max() < 3
    assert abs(uniform.mean() - 1) < 0.1
    normal = run("rng", np.float32(5), np.float32(2), shape=shape, distribution="rng_normal")
    assert abs(normal.mean() - 5) < 0.2
    assert abs(normal.std() - 2) < 0.2
    integers = run(
        "rng", np.int8(-3), np.int8(4), shape=Shape.array(ElementType.S8, (500,)), distribution="rng_uniform"
    )
    assert set(integers.tolist()) == set(range(-3, 4))
    with pytest.raises(InvalidArgumentError, match="rng_normal of s8"):
        run("rng", np.int8(0), np.int8(1), shape=Shape.array(ElementType.S8, (1,)), distribution="rng_normal")


def test_rng_get_and_update_state() -> None:
    assert run("rng-get-and-update-state", delta=5).tolist() == [117515157, 0]
