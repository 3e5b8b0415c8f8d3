"""Small programs that need much time or memory are read, compiled and evaluated within fixed limits."""

from __future__ import annotations

import pytest

from .bombs import BOMBS, STRUCTURES
from .worker import Worker

SOUND = {
    "a float of a million digits",
    "an exponent of a million digits",
    "a symbol of a megabyte",
    "a mesh's axis of many quotes",
    "HLO: a tuple of many arrays",
    "HLO: many parameters",
}
RUNS = {"a long chain", "loops in loops"}


@pytest.fixture(scope="module")
def worker():
    made = Worker()
    yield made
    made.close()


def examine(worker, tmp_path, data, *, runs):
    program = tmp_path / "program"
    program.write_bytes(data if isinstance(data, bytes) else data.encode())
    formats = ["bytecode" if isinstance(data, bytes) else "stablehlo"]
    return worker.examine(program, formats, compiles=runs, evaluates=runs, seconds=60)


@pytest.mark.parametrize("name", STRUCTURES)
def test_a_bomb_is_read_or_refused_quickly(worker, tmp_path, name):
    outcome = examine(worker, tmp_path, STRUCTURES[name](), runs=False)
    wanted = {"module"} if name in SOUND else {"INVALID_ARGUMENT", "RESOURCE_EXHAUSTED"}
    assert outcome.verdict in wanted, outcome.detail


@pytest.mark.parametrize("name", BOMBS)
def test_bomb_ends_with_an_error_or_an_executable(worker, tmp_path, name):
    outcome = examine(worker, tmp_path, BOMBS[name](), runs=True)
    wanted = {"module"} if name in RUNS else {"RESOURCE_EXHAUSTED", "DEADLINE_EXCEEDED"}
    assert outcome.verdict in wanted, outcome.detail
