"""Results of random programs on a backend agree with the reference evaluator's, within bounds that are known beforehand."""

from __future__ import annotations

import dataclasses
import os
import random
import sys

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from xla_conformance.bisect.shrinking import shrink

import xla_core as xla
from tests.random_programs import compare
from tests.random_programs.bounds import epsilon
from tests.random_programs.compare import Outcome, Task, outcomes
from tests.random_programs.comparison import check, difference, seeded
from tests.random_programs.coverage import counted, missing
from tests.random_programs.generator import RandomProgram
from tests.random_programs.mutants import mutants
from xla_core.errors import UnimplementedError
from xla_core.hlo import evaluate_computation

QUICK = {"cpu": 20, "gpu": 10, "template": 20}
MANY = {"cpu": 2000, "gpu": 500, "template": 500}


@pytest.fixture(scope="module", params=["cpu", "gpu", "template"])
def client(request):
    with xla.Client(request.param) as made:
        yield made


def test_seeded_programs_agree(client):
    for seed in range(QUICK[client.platform_name]):
        check(seeded(seed, 4 + seed % 20), client, seed)


@settings(max_examples=8, deadline=None, suppress_health_check=list(HealthCheck), database=None)
@given(data=st.data(), size=st.integers(1, 12))
def test_programs_that_hypothesis_can_shrink_agree(shared, data, size):
    rng = data.draw(st.randoms(use_true_random=False))
    check(RandomProgram(rng, size), shared)


@pytest.fixture(scope="module")
def shared():
    with xla.Client("cpu") as made:
        yield made


@pytest.mark.slow
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("block", range(10))
def test_many_programs_agree(client, block):
    count = MANY[client.platform_name] // 10
    for seed in range(1000 + block * count, 1000 + (block + 1) * count):
        check(seeded(seed), client, seed)


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_the_evaluator_agrees_with_xlas_own_compiler():
    pytest.importorskip("jax")
    found = list(outcomes(Task("", oracle="jax", shrinks=False), range(500)))
    assert [o for o in found if o.what not in ("agree", "skip")] == []
    assert sum(o.what == "skip" for o in found) <= 0.08 * len(found)


def test_only_what_xla_is_known_to_lack_is_skipped(request):
    jax = pytest.importorskip("jax")
    from jaxlib.xla_client import XlaRuntimeError

    from tests.random_programs.xla_cpu import XlaCpu

    before = jax.config.jax_enable_x64
    request.addfinalizer(lambda: jax.config.update("jax_enable_x64", before))
    compiler = XlaCpu()
    with pytest.raises(UnimplementedError, match=r"XLA: .*cbrt"):
        compiler.compile(xla.parse("HloModule m\nENTRY e {\n x = c64[2] parameter(0)\n ROOT r = c64[2] cbrt(x)\n}"))
    wrong = xla.parse(
        "HloModule m\nENTRY e {\n x = f32[2] parameter(0)\n"
        ' ROOT r = f32[2] custom-call(x), custom_call_target="nobody_knows"\n}'
    )
    with pytest.raises(XlaRuntimeError, match="nobody_knows"):
        compiler.compile(wrong)


@dataclasses.dataclass(frozen=True)
class Ending(Task):
    """Its process ends at seed 1."""

    def client(self):
        return None

    def run(self, client, seed):
        if seed == 1:
            os._exit(7)
        return Outcome(seed, "agree")


def test_a_worker_that_ends_is_a_crash_whatever_the_oracle(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["compare", "--programs", "3", "--oracle", "jax"])
    monkeypatch.setattr(compare, "Task", Ending)
    assert compare.main() == 1
    out = capsys.readouterr().out
    assert "== seed 1, crash: the process ended with exit code 7" in out
    assert "jax: seeds 0 to 2: 2 agree, 0 differ, 1 crash;" in out


@dataclasses.dataclass(frozen=True)
class Unable(Task):
    """Its process ends before any seed."""

    def client(self):
        os._exit(7)


def test_workers_that_cannot_start_are_an_error():
    with pytest.raises(RuntimeError, match="can't start"):
        list(outcomes(Unable(""), range(3)))


# -- the generator and its bounds --------------------------------------------------------------------------------------


def test_every_op_is_drawn():
    assert missing(counted(seeded(seed) for seed in range(250))) == []


def test_a_seed_always_gives_the_same_program():
    for seed in (3, 19):
        assert seeded(seed).module.to_text() == seeded(seed).module.to_text()


def test_most_bounds_are_exact_or_tight():
    """Most results are exact, some are not, and all have finite bounds."""
    results = [v for seed in range(60) for v in RandomProgram(random.Random(seed), 20).results]
    exact = sum(v.is_exact for v in results)
    assert 0.6 * len(results) < exact < len(results)
    inexact = [v.error / v.bound for v in results if not v.is_exact]
    assert np.median(inexact) < 1e-4
    assert max(inexact) < 0.51  # half a unit in the last place of f4e2m1fn


@pytest.mark.parametrize("count", [60, pytest.param(2000, marks=pytest.mark.slow)])
def test_values_lie_within_their_bounds_and_on_their_grids(count):
    """The evaluator's values of the entry satisfy the generator's bounds."""
    for seed in range(count):
        program = RandomProgram(random.Random(seed), 5 + seed % 40)
        usual = [v for v in program.values if v.is_usual]
        program.c.set_root(program.c.add("tuple", *(v.instruction for v in usual)))
        for value, array in zip(usual, evaluate_computation(program.c, program.arguments(seed)), strict=True):
            wide = array.astype(np.complex128 if value.type.is_complex else np.float64)
            parts = np.stack([wide.real, wide.imag])
            limit = value.bound + value.error + (epsilon(value.type) * value.bound if value.rounds else 0)
            assert (np.abs(parts) <= limit).all(), f"seed {seed}: {value.instruction}"
            if value.rounds and value.is_exact and value.grid is not None:
                steps = parts * 2.0**value.grid
                assert (steps == np.round(steps)).all(), f"seed {seed}: {value.instruction}"


def test_a_mutant_differs_from_its_program():
    """One op exchanged for another, operands swapped, an attribute changed: where any result changes at all, nearly all
    such changes are larger than what the bounds allow.
    """
    told = live = 0
    for seed in range(80):
        program = RandomProgram(random.Random(seed), 12)
        module, arguments = program.module, program.arguments(seed)
        wants = xla.evaluate(module, *arguments)
        for mutant in mutants(module, random.Random(seed), 4):
            results = xla.evaluate(mutant, *arguments)
            changed = [i for i, (r, w) in enumerate(zip(results, wants, strict=True)) if r.tobytes() != w.tobytes()]
            live += bool(changed)
            told += any(difference(results[i], wants[i], program.results[i]) for i in changed)
    assert live > 60
    assert told >= 0.9 * live


def test_a_failing_program_is_reduced():
    """If every product counts as a difference, the reduced program consists of one product."""

    def fails(module, arguments):
        return any(i.opcode == "multiply" for i in module.entry.instructions)

    sizes = []
    for seed in range(40):
        program = RandomProgram(random.Random(seed), 25)
        index = next((i for i, v in enumerate(program.results) if _needs(v.instruction, "multiply")), None)
        if index is not None:
            small, arguments = shrink(program.module, program.arguments(seed), index, fails)
            assert any(i.opcode == "multiply" for i in small.entry.instructions)
            xla.evaluate(small, *arguments)
            sizes.append(small.entry.instruction_count)
    assert sizes
    assert sorted(sizes)[len(sizes) // 2] <= 6


def _needs(instruction, opcode):
    seen, stack = set(), [instruction]
    while stack:
        found = stack.pop()
        if found.opcode == opcode:
            return True
        if found not in seen:
            seen.add(found)
            stack.extend(found.operands)
    return False
