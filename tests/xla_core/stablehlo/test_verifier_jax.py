"""The verifier says what MLIR's own says of programs with one thing changed."""

from __future__ import annotations

import collections

import pytest

from tests.xla_core.stablehlo.verifier_mutants import judge_apart, programs

pytest.importorskip("jax")

# What no lowering has a meaning for, we refuse, though MLIR's verifier lets it pass: shapes that don't broadcast,
# subscripts and dimensions out of range, types that the specification rules out.
STRICTER = """
    chlo.constant_like chlo.scan chlo.top_k
    stablehlo.bitcast_convert stablehlo.dynamic_broadcast_in_dim stablehlo.dynamic_conv stablehlo.dynamic_gather
    stablehlo.dynamic_iota stablehlo.dynamic_pad stablehlo.dynamic_reshape stablehlo.einsum stablehlo.get_tuple_element
    stablehlo.real_dynamic_slice stablehlo.reduce stablehlo.reduce_scatter stablehlo.reduce_window
    stablehlo.rng_bit_generator stablehlo.scatter stablehlo.select_and_scatter stablehlo.torch_index_select
    stablehlo.unary_einsum
"""

# JAX's wheel has version 1.17, since when some ops have taken more operands; elsewhere another part's error comes first.
OTHER_WORDS = """
    chlo.scan chlo.top_k stablehlo.all_gather stablehlo.all_reduce stablehlo.async_start stablehlo.collective_broadcast
    stablehlo.custom_call stablehlo.dot stablehlo.dynamic_iota stablehlo.fft stablehlo.if stablehlo.map stablehlo.reduce
    stablehlo.reduce_window stablehlo.scatter stablehlo.select_and_scatter stablehlo.set_dimension_size
"""


def check(count: int, seed: int) -> None:
    made = judge_apart(count, seed)
    assert len(made) > count / 2
    wrong = [
        mutant
        for mutant in made
        if (mutant.verdict == "ours accepts" and not mutant.op.startswith("chlo.scan"))
        or (mutant.verdict == "ours refuses" and not (mutant.op in STRICTER.split() or "broadcast_" in mutant.op))
        or (mutant.verdict == "other words" and not (mutant.op in OTHER_WORDS.split() or "broadcast_" in mutant.op))
    ]
    assert not wrong, "\n".join(f"{m.op}, {m.change}: {m.theirs} / {m.ours}" for m in wrong)
    verdicts = collections.Counter(m.verdict for m in made)
    assert verdicts["same words"] > 0.7 * len(made)


def test_a_sample() -> None:
    check(100, 11)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(20, 25))
def test_many(seed: int) -> None:
    check(2000, seed)


def test_nearly_every_op_has_a_program() -> None:
    assert len(programs()) > 150
