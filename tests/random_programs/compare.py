"""Runs random programs on a backend and on the reference evaluator.

    python -m tests.random_programs.compare --programs 2000 --start 0 --backend cpu -j 2
    python -m tests.random_programs.compare --programs 2000 --oracle jax      # the evaluator and XLA's own CPU compiler
    python -m tests.random_programs.compare --show 17                         # a program's text

Prints the number of programs that agree, and for each other one the difference and the smallest program that shows it.
"""

from __future__ import annotations

import argparse
import collections
import dataclasses
import multiprocessing
import queue
import random
import sys
import threading
import time
import traceback
from collections.abc import Iterator, Sequence
from multiprocessing.connection import Connection
from typing import Any

import xla_core as xla
from tests.random_programs.comparison import Difference, Program, check, seeded, smallest, smallest_error
from tests.random_programs.generator import RandomProgram
from xla_core.errors import UnimplementedError


@dataclasses.dataclass(frozen=True)
class Outcome:
    """The outcome of a program.

    It is "agree", "differ", "fail" (an error), "crash" (the process ended), or "skip" (the oracle lacks something). `where`
    is the location of an error.
    """

    seed: int
    what: str
    message: str = ""
    where: str = ""
    program: str = ""


@dataclasses.dataclass(frozen=True)
class Task:
    """The size of programs, and what is compared with the evaluator: a backend or XLA."""

    backend: str
    oracle: str = ""
    size: int | None = None
    shrinks: bool = True

    def client(self) -> Any:
        if not self.oracle:
            return xla.Client(self.backend)
        from tests.random_programs.xla_cpu import XlaCpu  # needs JAX

        return XlaCpu()

    def program(self, seed: int) -> Program:
        if not self.oracle:
            return seeded(seed, self.size)
        from tests.random_programs.xla_cpu import TYPES, WITHOUT

        rng = random.Random(seed)
        size = self.size or rng.randint(5, 60)
        return RandomProgram(rng, size, strict=False, types=TYPES, without=WITHOUT)

    def run(self, client: Any, seed: int) -> Outcome:
        program = self.program(seed)
        try:
            check(program, client, seed)
        except Difference as error:
            text = smallest(program, client, seed, error.index) if self.shrinks else ""
            return Outcome(seed, "differ", str(error), program=text)
        except Exception as error:
            if self.oracle and isinstance(error, UnimplementedError):
                return Outcome(seed, "skip", str(error))
            last = traceback.extract_tb(error.__traceback__)[-1]
            text = smallest_error(program, client, seed, str(error)) if self.shrinks else ""
            return Outcome(seed, "fail", f"{type(error).__name__}: {error}", f"{last.filename}:{last.lineno}", text)
        return Outcome(seed, "agree")


def _serve(task: Task, pipe: Connection) -> None:
    """Runs a worker, which takes seeds and returns outcomes."""
    client = task.client()
    pipe.send(None)  # ready
    while (seed := pipe.recv()) is not None:
        try:
            pipe.send(task.run(client, seed))
        except Exception:  # of the generator itself
            pipe.send(Outcome(seed, "fail", traceback.format_exc()[-500:]))


def _drive(
    task: Task, seeds: queue.SimpleQueue[int | None], done: queue.SimpleQueue[Outcome | RuntimeError | None]
) -> None:
    """Runs one worker process after another, so that a seed that ends its process affects no other seed.

    Puts None when there are no more seeds, or an error if no worker starts.
    """
    context = multiprocessing.get_context("spawn")
    process: multiprocessing.context.SpawnProcess | None = None
    while (seed := seeds.get()) is not None:
        if process is None:
            here, there = context.Pipe()
            process = context.Process(target=_serve, args=(task, there), daemon=True)
            process.start()
            there.close()
            try:
                here.recv()
            except EOFError:
                done.put(RuntimeError(f"a worker of {task} can't start: see above"))
                return
        try:
            here.send(seed)
            done.put(here.recv())
        except (EOFError, OSError):
            process.join()
            done.put(Outcome(seed, "crash", f"the process ended with exit code {process.exitcode}"))
            process = None
    if process is not None:
        here.send(None)
        process.join()
    done.put(None)


def outcomes(task: Task, numbers: Sequence[int], jobs: int = 1) -> Iterator[Outcome]:
    """Yields an outcome for each seed, in any order. Raises RuntimeError if a worker can't start."""
    seeds: queue.SimpleQueue[int | None] = queue.SimpleQueue()
    done: queue.SimpleQueue[Outcome | RuntimeError | None] = queue.SimpleQueue()
    for item in [*numbers, *[None] * jobs]:
        seeds.put(item)
    for _ in range(jobs):
        threading.Thread(target=_drive, args=(task, seeds, done), daemon=True).start()
    while jobs:
        outcome = done.get()
        if isinstance(outcome, RuntimeError):
            raise outcome
        if outcome is None:
            jobs -= 1
        else:
            yield outcome


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--programs", type=int, default=100)
    parser.add_argument("--start", type=int, default=0, help="the first seed")
    parser.add_argument("--size", type=int, help="steps a program; 5 to 60 by default")
    parser.add_argument("--backend", default="cpu")
    parser.add_argument(
        "--oracle", choices=["jax"], help="compare the evaluator with XLA's CPU compiler, not a backend"
    )
    parser.add_argument("-j", "--jobs", type=int, default=1, help="processes")
    parser.add_argument("--no-shrink", action="store_true", help="don't look for smaller programs")
    parser.add_argument("--show", type=int, metavar="SEED", help="print a program and run nothing")
    given = parser.parse_args()
    task = Task(given.backend, given.oracle or "", given.size, not given.no_shrink)
    if given.show is not None:
        print(task.program(given.show).module.to_text())
        return 0
    start, counts, wrong = time.perf_counter(), collections.Counter[str](), []
    skipped: collections.Counter[str] = collections.Counter()
    seeds = range(given.start, given.start + given.programs)
    for done, outcome in enumerate(outcomes(task, seeds, given.jobs), 1):
        counts[outcome.what] += 1
        if outcome.what == "skip":
            skipped[outcome.message.split("\n")[0][:100]] += 1
        elif outcome.what != "agree":
            wrong.append(outcome.seed)
            print(f"== seed {outcome.seed}, {outcome.what}: {outcome.message[:600]}\n{outcome.where}\n{outcome.program}", flush=True)  # fmt: skip
        if done % 500 == 0:
            print(f"{done} programs, {time.perf_counter() - start:.0f} s, {len(wrong)} wrong", flush=True)
    seconds = time.perf_counter() - start
    for reason, count in skipped.most_common():
        print(f"skipped {count}: {reason}")
    counted = ", ".join(
        f"{counts[w]} {w}" for w in ("agree", "differ", "fail", "crash", "skip") if counts[w] or w == "differ"
    )
    print(
        f"{given.oracle or given.backend}: seeds {seeds.start} to {seeds.stop - 1}: {counted}; {seconds:.0f} s, "
        f"{given.programs / seconds:.1f} programs/s" + (f"; {sorted(wrong)}" if wrong else "")
    )
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
