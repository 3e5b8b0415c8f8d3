"""The workers of a run share results: each is made once, whatever happens to a worker."""

from __future__ import annotations

import multiprocessing
import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from xla_conformance.ops import cases, generate
from xla_conformance.ops.shared import SharedResults

from xla_core.hlo import Opcode

NAMES = [f"name {number}" for number in range(12)]
PROCESSES = multiprocessing.get_context("fork")


def _noted(folder: Path) -> Callable[[str], str]:
    """Returns a function that notes in a file who makes what."""

    def make(name: str) -> str:
        with (folder / "made").open("a") as file:
            file.write(f"{os.getpid()} {name}\n")
        time.sleep(0.02)
        return name.upper()

    return make


def _require_all(folder: Path) -> None:
    assert SharedResults(folder, _noted(folder)).of(NAMES) == {name: name.upper() for name in NAMES}


def test_two_workers_make_a_part_each(tmp_path: Path) -> None:
    workers = [PROCESSES.Process(target=_require_all, args=(tmp_path,)) for _ in range(2)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    made = [line.split(" ", 1) for line in (tmp_path / "made").read_text().splitlines()]
    assert sorted(name for _, name in made) == sorted(NAMES)
    assert len({process for process, _ in made}) == 2
    assert [worker.exitcode for worker in workers] == [0, 0]


def test_a_worker_ends_while_it_makes_a_result(tmp_path: Path) -> None:
    ending = SharedResults(tmp_path, lambda name: os._exit(3))
    worker = PROCESSES.Process(target=ending.of, args=(NAMES,))
    worker.start()
    worker.join()
    _require_all(tmp_path)


def test_without_room_each_worker_makes_its_own(tmp_path: Path) -> None:
    assert SharedResults(tmp_path / "missing", str.upper).of(NAMES) == {name: name.upper() for name in NAMES}


@pytest.mark.parametrize("every_type", [False, True])
def test_shared_cases_are_the_same(tmp_path: Path, every_type: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    opcodes = [Opcode.PAD, Opcode.ADD, Opcode.COPY]
    wanted = [str(case.name) for case in generate(every_type=every_type, opcodes=opcodes)]
    for _ in range(2):  # the first one makes them, and the second one reads them
        monkeypatch.setattr(cases, "_CHOSEN", {})
        found = generate(every_type=every_type, opcodes=opcodes, shared=tmp_path)
        assert [case.name for case in found] == wanted
    assert len(list(tmp_path.glob("*.lock"))) == len(opcodes)
