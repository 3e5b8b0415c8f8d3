"""Makes the matrix of a subject. The cells run in a separate process, so that a crash or a hang fails one cell."""

from __future__ import annotations

import dataclasses
import json
import queue
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from xla_conformance.subjects import EVALUATOR, BackendSubject, EvaluatorSubject, ReplicaSubject, set_device_count
from xla_conformance.support.cells import (
    ANY,
    ELEMENT_TYPES,
    Cell,
    CellState,
    run_cell,
)
from xla_core.stablehlo import OPS

_DEVICES = 2
_CELL_SECONDS = 60.0

Progress = Callable[[int, int, str], None]
"""(cells that are done, all, the op)"""


@dataclasses.dataclass(frozen=True)
class SupportMatrix:
    """The cell of each op and element type, as `cells[op][column]`, without INVALID ones."""

    subject: str
    cells: dict[str, dict[str, Cell]]

    def counts(self) -> Counter[CellState]:
        return Counter(cell.state for row in self.cells.values() for cell in row.values())

    @property
    def is_right(self) -> bool:
        """Whether no cell is WRONG or ERROR."""
        return not any(self.counts()[s] for s in (CellState.WRONG, CellState.ERROR))

    def to_json(self) -> dict[str, Any]:
        """Plain data: states by op and type, and the reasons of those that don't pass."""
        return {
            "subject": self.subject,
            "command": f"xla conform --support-matrix {_option(self.subject)}",
            "types": [*ELEMENT_TYPES, ANY],
            "ops": {op: {c: cell.state.value for c, cell in row.items()} for op, row in self.cells.items()},
            "reasons": {
                op: reasons
                for op, row in self.cells.items()
                if (reasons := {c: cell.reason for c, cell in row.items() if cell.reason})
            },
        }

    def write(self, directory: Path) -> Path:
        """Writes `SUBJECT.json`; returns its path."""
        directory.mkdir(parents=True, exist_ok=True)
        path = directory / f"{self.subject}.json"
        path.write_text(json.dumps(self.to_json(), indent=1) + "\n")
        return path


def _option(subject: str) -> str:
    return "--evaluator" if subject == EVALUATOR else f"--backend {subject}"


def measure_support(subject: str, expression: str = "", progress: Progress | None = None) -> SupportMatrix:
    """Runs every op's example in every type.

    Args:
        subject: a backend's name, or "evaluator".
        expression: only ops whose name contains it.
        progress: called after each op.
    """
    names = [name for name in OPS if expression in name]
    todo = [(name, column) for name in names for column in (*ELEMENT_TYPES, ANY)]
    total = len(todo)
    cells: dict[str, dict[str, Cell]] = {name: {} for name in names}
    while todo:
        worker = _Worker(subject, todo)
        done = 0
        for cell in worker.cells():
            name, column = todo[done]
            done += 1
            _keep(cells[name], column, cell)
            if progress is not None and column == ANY:
                progress(total - len(todo) + done, total, name)
        if done < len(todo):
            name, column = todo[done]
            _keep(cells[name], column, Cell(CellState.ERROR, worker.end()))
            done += 1
        todo = todo[done:]
    return SupportMatrix(subject, {name: row for name, row in cells.items() if row})


def _keep(row: dict[str, Cell], column: str, cell: Cell) -> None:
    if cell.state is not CellState.INVALID:
        row[column] = cell


class _Worker:
    """A process that runs cells in order and prints a line for each."""

    def __init__(self, subject: str, todo: list[tuple[str, str]]) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", __name__, subject],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        self._todo = todo
        self._hangs = False

    def cells(self) -> Iterator[Cell]:
        """Yields cells until the process ends or one takes too long."""
        lines: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        assert self._process.stdin is not None
        threading.Thread(target=self._read, args=(lines,), daemon=True).start()
        threading.Thread(target=self._write, daemon=True).start()
        while True:
            try:
                line = lines.get(timeout=_CELL_SECONDS)
            except queue.Empty:
                self._hangs = True
                self._process.kill()
                return
            if line is None:
                return
            state, reason = json.loads(line)
            yield Cell(CellState(state), reason)

    def end(self) -> str:
        """Returns the reason why the process ended early."""
        code = self._process.wait()
        return f"took more than {_CELL_SECONDS:g} s" if self._hangs else f"crashed: exit code {code}"

    def _read(self, lines: queue.SimpleQueue[str | None]) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            if line.startswith("["):
                lines.put(line)
        lines.put(None)

    def _write(self) -> None:
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(json.dumps(self._todo))
            self._process.stdin.close()
        except BrokenPipeError:  # the process ended before it read; `end` returns the reason
            return


def main(subject: str) -> None:
    """The worker: reads cells from stdin and writes a line for each to stdout."""
    todo = json.load(sys.stdin)
    if subject == EVALUATOR:
        _run(EvaluatorSubject(), todo)
        return
    from xla_core import Client

    set_device_count(subject, _DEVICES)
    with Client(subject) as client:
        _run(BackendSubject(client), todo)


def _run(subject: ReplicaSubject, todo: list[tuple[str, str]]) -> None:
    for name, column in todo:
        cell = run_cell(subject, name, column)
        print(json.dumps([cell.state.value, cell.reason]), flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
