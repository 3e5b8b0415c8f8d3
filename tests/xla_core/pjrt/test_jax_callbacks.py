"""What a Python function that a JAX program calls may do with its arguments and results."""

from __future__ import annotations

import pytest

from tests.xla_core.pjrt.jax_process import run_jax

PROGRAM = """
    from jax.experimental import io_callback

    kept = []

    def keep(x, flag):
        kept.append((x, flag))
        return np.asfortranarray(np.asarray(x) * 2), np.asarray(flag)

    results = jax.ShapeDtypeStruct((2, 3), "f"), jax.ShapeDtypeStruct((), bool)

    @jax.jit
    def program(x):
        def turn(i, x):
            doubled, flag = io_callback(keep, results, x, i % 2 == 0, ordered=True)
            return jnp.where(flag, doubled, doubled + 1)
        return jax.lax.fori_loop(0, 5, turn, x)

    x = np.arange(6, dtype="f").reshape(2, 3)
    for _ in range(3):
        result, expected, wanted = program(x), x, []
        for i in range(5):
            wanted.append((expected, i % 2 == 0))
            expected = expected * 2 + i % 2
        np.testing.assert_array_equal(result, expected)
        jax.effects_barrier()
    assert len(kept) == 15
    for (array, flag), (expected, is_even) in zip(kept, wanted * 3):
        np.testing.assert_array_equal(array, expected)
        assert bool(flag) == is_even
    """


@pytest.mark.parametrize("platform", ["xla_cpu", "template"])
def test_a_function_may_keep_its_arguments_and_return_any_layout(platform: str) -> None:
    """The program uses the memory again, in each turn of a loop and in each run."""
    run_jax(PROGRAM, f"{platform},cpu")
