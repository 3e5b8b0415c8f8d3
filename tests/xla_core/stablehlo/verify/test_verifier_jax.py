"""On programs with one change, the verifier reports what MLIR's verifier reports."""

from __future__ import annotations

import collections

import pytest

from tests.xla_core.stablehlo.verify.verifier_mutants import Mutant, judge_apart, programs

pytest.importorskip("jax")

DIFFERENCES = (
    # MLIR says that these sizes don't go together, and then goes on.
    ("ours refuses", "chlo.broadcast_", "incompatible shapes for broadcasting"),
    ("ours refuses", "chlo.broadcast_", "cannot mix bounded and static dimensions"),
    # No type has a dimension of negative size.
    ("ours refuses", "chlo.top_k", "attribute 'k' failed to satisfy constraint"),
    ("other words", "chlo.top_k", "attribute 'k' failed to satisfy constraint"),
    # MLIR checks the number of segments while it reads.
    ("other words", "chlo.scan", "does not match with the total size"),
    # MLIR prints all of the op's properties before the reason.
    ("other words", "stablehlo.custom_call", "Invalid attribute `api_version`"),
    # JAX's wheel has version 1.17, since when the op has taken more operands.
    ("ours accepts", "stablehlo.collective_broadcast", "requires"),
    ("other words", "stablehlo.collective_broadcast", "requires a single operand"),
    ("other words", "stablehlo.collective_broadcast", "requires one result"),
    ("other words", "stablehlo.collective_broadcast", "requires the same element type"),
    ("other words", "stablehlo.collective_broadcast", "must be ranked tensor of"),
    ("other words", "stablehlo.async_start", "unregistered operation"),
)
"""Expected differences: the verdict, how the op's name begins, and words of either error."""


def is_expected(mutant: Mutant) -> bool:
    said = " ".join([*(mutant.theirs or ()), mutant.ours or ""])
    return any(
        mutant.verdict == verdict and mutant.op.startswith(op) and words in said for verdict, op, words in DIFFERENCES
    )


def check(count: int, seed: int) -> None:
    made = judge_apart(count, seed)
    assert len(made) > count / 2
    wrong = [m for m in made if m.verdict not in ("same words", "accepted") and not is_expected(m)]
    assert not wrong, "\n".join(f"{m.verdict}: {m.op}, {m.change}: {m.theirs} / {m.ours}" for m in wrong)
    verdicts = collections.Counter(m.verdict for m in made)
    assert verdicts["same words"] > 0.7 * len(made)


def test_a_sample() -> None:
    check(100, 11)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(30, 35))
def test_many(seed: int) -> None:
    check(2000, seed)


def test_nearly_every_op_has_a_program() -> None:
    assert len(programs()) > 150
