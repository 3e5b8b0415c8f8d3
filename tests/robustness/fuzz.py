"""Reads, verifies and lowers mutants of programs, and compiles and evaluates some of them.

Each must give a module or an XlaError, in bounded time and memory.

    python -m tests.robustness.fuzz --mutants 100000 -j 2           # each failure with what reproduces it
    python -m tests.robustness.fuzz --show 1234                     # the mutant itself
    python -m tests.robustness.fuzz --file MUTANT --format bytecode # one file again

Three formats in turn: StableHLO text, HLO text, MLIR bytecode. An INTERNAL error is a failure too: it says that the
compiler, not the program, is wrong. A failing mutant is written, made small, into --failures.
"""

from __future__ import annotations

import argparse
import queue
import sys
import threading
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from rich.console import Console
from rich.progress import Progress

from tests.robustness.mutants import ALL_FORMATS, mutant
from tests.robustness.shrink import shrink
from tests.robustness.worker import LIMITS, Outcome, Worker

HANGS = 120.0  # seconds by the clock; the limits proper count the processor's time


def run_mutants(
    seeds: Iterable[int],
    formats: Sequence[str] = ALL_FORMATS,
    *,
    compile_every: int = 4,
    evaluate_every: int = 2,
    processes: int = 1,
) -> Iterator[Outcome]:
    """Yields an outcome for each seed as it ends. Every n-th mutant is compiled, and every m-th evaluated."""
    todo: queue.SimpleQueue[int | None] = queue.SimpleQueue()
    done: queue.SimpleQueue[Outcome | None] = queue.SimpleQueue()
    for seed in seeds:
        todo.put(seed)

    def work() -> None:
        worker = Worker()
        while (seed := todo.get()) is not None:
            compiles, evaluates = seed % compile_every == 0, seed % evaluate_every == 0
            done.put(worker.examine(seed, list(formats), compiles=compiles, evaluates=evaluates, seconds=HANGS))
        worker.close()
        done.put(None)

    for _ in range(processes):
        todo.put(None)
    threads = [threading.Thread(target=work, daemon=True) for _ in range(processes)]
    for thread in threads:
        thread.start()
    running = processes
    while running:
        outcome = done.get()
        if outcome is None:
            running -= 1
        else:
            yield outcome


def keep(outcome: Outcome, formats: Sequence[str], folder: Path) -> Path:
    """Writes the mutant, made small where it is an exception of the readers."""
    case = mutant(outcome.seed, formats)
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{outcome.seed}.{'mlirbc' if case.format == 'bytecode' else 'txt'}"
    worker = Worker()

    def write(data: str | bytes) -> None:
        path.write_bytes(data if isinstance(data, bytes) else data.encode("utf-8", "surrogatepass"))

    def fails(data: str | bytes) -> bool:
        write(data)
        again = worker.examine(path, [case.format], compiles=False, evaluates=False, seconds=HANGS)
        return again.verdict == "FAILED" and _last_line(again) == _last_line(outcome)

    if len(case.data) < 1 << 20 and fails(case.data):
        write(shrink(case.data, fails))
    else:
        write(case.data)
    worker.close()
    return path


def _last_line(outcome: Outcome) -> str:
    return outcome.detail.strip().rsplit("\n", 1)[-1]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--show", type=int, metavar="SEED")
    parser.add_argument("--file", type=Path, help="examine this file, compiled and evaluated too")
    parser.add_argument("--format", choices=ALL_FORMATS, action="append", help="default: all three")
    parser.add_argument("--start", type=int, default=0, help="the first seed")
    parser.add_argument("--mutants", type=int, default=1000)
    parser.add_argument("--compile-every", type=int, default=4)
    parser.add_argument("--evaluate-every", type=int, default=2)
    parser.add_argument("-j", "--processes", type=int, default=1)
    parser.add_argument("--failures", type=Path, default=Path("out/fuzz"))
    given = parser.parse_args()
    formats = given.format or list(ALL_FORMATS)
    if given.show is not None:
        data = mutant(given.show, formats).data
        sys.stdout.buffer.write(data if isinstance(data, bytes) else data.encode("utf-8", "surrogatepass"))
        return 0
    if given.file is not None:
        outcome = Worker().examine(given.file, formats, compiles=True, evaluates=True, seconds=HANGS)
        print(f"{outcome.verdict}, {outcome.seconds:.2f} s\n{outcome.detail}")
        return 1 if outcome.verdict == "FAILED" else 0

    console = Console()
    console.print(
        f"Limits: {LIMITS.read_seconds:g} s for each 100 kB, {LIMITS.memory >> 30} GiB, {LIMITS.steps} steps",
        style="dim",
    )
    counts: Counter[str] = Counter()
    by_format: Counter[str] = Counter()
    compiled = evaluated = 0
    slowest = Outcome(0, "", 0.0)
    seeds = range(given.start, given.start + given.mutants)
    with Progress(console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("Mutants", total=given.mutants)
        for outcome in run_mutants(
            seeds, formats, compile_every=given.compile_every, evaluate_every=given.evaluate_every,
            processes=given.processes,
        ):  # fmt: skip
            progress.advance(task)
            counts[outcome.verdict] += 1
            by_format[outcome.format or mutant(outcome.seed, formats).format] += 1
            compiled += outcome.compiled
            evaluated += outcome.evaluated
            slowest = max(slowest, outcome, key=lambda o: o.seconds)
            if outcome.verdict == "FAILED":
                path = keep(outcome, formats, given.failures)
                console.print(f"seed {outcome.seed}: {path}\n{outcome.detail}\n", markup=False)
    verdicts = ", ".join(f"{count:,} {name}" for name, count in counts.most_common())
    kinds = ", ".join(f"{count:,} {name}" for name, count in sorted(by_format.items()))
    console.print(f"{sum(counts.values()):,} mutants ({kinds}): {verdicts}", highlight=False)
    console.print(
        f"{compiled:,} compiled, {evaluated:,} evaluated; slowest to read {slowest.seconds:.2f} s (seed {slowest.seed})",
        highlight=False,
    )
    return 1 if counts["FAILED"] else 0


if __name__ == "__main__":
    sys.exit(main())
