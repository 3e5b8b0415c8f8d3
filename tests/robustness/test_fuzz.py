"""Mutants of real programs, read, verified and compiled: see fuzz.py."""

from __future__ import annotations

import random

import pytest

import xla_core as xla

from .bombs import BOMBS
from .byte_mutations import mutate_bytes, sections, varint
from .corpus import sources
from .fuzz import run_mutants
from .mutants import ALL_FORMATS, mutant
from .shrink import shrink
from .worker import Worker

START, QUICK, MANY, BLOCKS = 0, 450, 100_000, 10


def check(seeds):
    outcomes = list(run_mutants(seeds))
    failures = [o for o in outcomes if o.verdict == "FAILED"]
    shown = "\n".join(f"seed {o.seed} ({mutant(o.seed).name}): {o.detail}" for o in failures[:3])
    assert not failures, f"{len(failures)} failures; `python -m tests.robustness.fuzz --show SEED` prints one\n{shown}"
    return outcomes


@pytest.mark.timeout(300)
def test_some_mutants():
    outcomes = check(range(START, START + QUICK))
    assert {"module", "INVALID_ARGUMENT"} <= {o.verdict for o in outcomes}
    assert len(outcomes) == QUICK
    assert any(o.compiled for o in outcomes)
    assert any(o.evaluated for o in outcomes)


@pytest.mark.slow
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("block", range(BLOCKS))
def test_a_hundred_thousand_mutants(block):
    size = MANY // BLOCKS
    check(range(1000 + block * size, 1000 + (block + 1) * size))


def test_a_seed_is_the_same_mutant_each_time():
    assert mutant(7) == mutant(7)
    mutants = [mutant(seed) for seed in range(60)]
    assert len({m.data for m in mutants}) > 50
    assert {m.format for m in mutants} <= set(ALL_FORMATS)


def test_sections_of_a_file_are_found():
    data = sources("bytecode")[0][1]
    found = sections(data)
    assert len(found) >= 6
    assert found[-1][2] == len(data)
    assert all(start <= end for _, start, end in found)


def test_every_mutation_of_bytes_changes_something():
    data = sources("bytecode")[0][1]
    changed = sum(mutate_bytes(data, random.Random(seed)) != data for seed in range(200))
    assert changed > 180


@pytest.mark.parametrize(("value", "size"), [(0, 1), (127, 1), (128, 2), ((1 << 56) - 1, 8), ((1 << 64) - 1, 9)])
def test_varints_of_every_size(value, size):
    assert len(varint(value)) == size


def test_reducing_keeps_the_failure():
    assert shrink("some words, a needle and more words", lambda text: "needle" in text) == "needle"
    assert shrink(bytes(range(200)), lambda data: 77 in data) == b"M"


def test_a_worker_that_dies_or_hangs_is_replaced(tmp_path):
    worker = Worker()
    program = tmp_path / "program.txt"
    program.write_text("func.func @main() {\n return\n}")
    how = {"compiles": False, "evaluates": False, "seconds": 60}
    assert worker.examine(program, ["stablehlo"], **how).verdict == "module"
    worker._process.kill()
    worker._process.wait()
    assert worker.examine(program, ["stablehlo"], **how).verdict == "module"
    long = tmp_path / "long.txt"
    long.write_text(BOMBS["a long chain"]())
    lost = worker.examine(long, ["stablehlo"], **(how | {"compiles": True, "seconds": 0.01}))
    assert (lost.verdict, lost.detail.split("\n")[0]) == ("FAILED", "no answer in 0.01 s")
    assert worker.examine(program, ["stablehlo"], **how).verdict == "module"
    worker.close()


@pytest.fixture(scope="module")
def client():
    with xla.Client("cpu") as made:
        yield made


def test_temporaries_whose_offsets_pass_64_bits(client):
    """The offsets in buffer assignment would exceed 64 bits."""
    size = f"f32[{2**40},{2**21}]"
    text = f"""HloModule m
lt {{ a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT c = pred[] compare(a, b), direction=LT }}
ENTRY e {{
  x = {size} iota(), iota_dimension=0
  y = {size} sort(x), dimensions={{0}}, to_apply=lt
  ROOT z = f32[1,1] slice(y), slice={{[5:6], [0:1]}}
}}
"""
    with pytest.raises(xla.ResourceExhaustedError, match="more memory than 64 bits can address"):
        client.compile(text)
