"""Mutants of real programs, read, verified and compiled: an XlaError or an executable, and nothing else, in bounded time.

    python -m tests.robustness.fuzz --cases 10000 --start 0    # prints each failure with what reproduces it
    python -m tests.robustness.fuzz --show 1234                # the mutant's text

The cases run in a process of their own, so that a crash or a hang costs one case. An INTERNAL error is a failure too: it
says that the compiler, not the program, is wrong.
"""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
import faulthandler
import functools
import json
import os
import random
import resource
import select
import subprocess
import sys
import time
import traceback
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

from tests.robustness.mutations import mutate

__all__ = ["Outcome", "mutant", "run_cases"]

ROOT = Path(__file__).parents[2]
SECONDS = 40.0
MEMORY = 12 << 30


@dataclasses.dataclass(frozen=True)
class Outcome:
    """`verdict` is "module", an error's status code, or "FAILED"; `detail` then says why."""

    seed: int
    verdict: str
    seconds: float
    detail: str = ""


@functools.cache
def _sources() -> list[tuple[str, str]]:
    """(name, text); the smaller, the more of them: they are read and compiled in less time."""
    from tests.programs import PROGRAMS

    programs = sorted(PROGRAMS, key=lambda p: p.path.stat().st_size)
    return [(p.name, p.text) for p in programs]


@functools.cache
def _hlo_text(index: int) -> str:
    import xla_core as xla

    return xla.parse(_sources()[index][1]).to_text()


def mutant(seed: int) -> tuple[str, str]:
    """The seed's program and its text: StableHLO two times of three, else HLO."""
    rng = random.Random(seed)
    sources = _sources()
    index = min(rng.randrange(len(sources)), rng.randrange(len(sources)))
    name, text = sources[index]
    if rng.randrange(3) == 0:
        name, text = f"{name} (HLO)", _hlo_text(index)
    return name, mutate(text, rng)


# -- the worker --------------------------------------------------------------------------------------------------------


def examine(text: str, compiles: bool) -> tuple[str, str]:
    """(verdict, detail) of one text."""
    import xla_core as xla

    try:
        module = xla.parse(text)
        if compiles:
            _client().compile(module, _options())
    except xla.InternalError as error:
        return "FAILED", f"{error}\n{''.join(traceback.format_exception(error))[-1500:]}"
    except xla.XlaError as error:
        if not str(error.message).strip():
            return "FAILED", "the error says nothing"
        return error.code.name, ""
    except BaseException as error:
        return "FAILED", "".join(traceback.format_exception(error))[-2500:]
    return "module", ""


@functools.cache
def _client():
    import xla_core as xla

    return xla.Client("cpu")


def _options():
    import xla_core as xla

    return xla.CompileOptions(backend={"llvm_optimization_level": 0, "threads": 1})


def _worker() -> None:
    faulthandler.enable()
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    replies = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    for line in sys.stdin:
        seed, compiles = json.loads(line)
        start = time.perf_counter()
        verdict, detail = examine(mutant(seed)[1], compiles)
        replies.write(json.dumps([seed, verdict, time.perf_counter() - start, detail]) + "\n")
        replies.flush()


# -- the parent --------------------------------------------------------------------------------------------------------


class Worker:
    """A process that examines seeds, replaced when it dies or hangs."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[str] | None = None

    def examine(self, seed: int, compiles: bool, seconds: float) -> Outcome:
        if self._process is None:
            self._process = self._start()
        process = self._process
        start = time.perf_counter()
        try:
            process.stdin.write(json.dumps([seed, compiles]) + "\n")
            process.stdin.flush()
            ready, _, _ = select.select([process.stdout], [], [], seconds)
            reply = process.stdout.readline() if ready else ""
        except BrokenPipeError:
            ready, reply = [1], ""
        if reply:
            return Outcome(*json.loads(reply))
        took = time.perf_counter() - start
        if not ready:
            with contextlib.suppress(ProcessLookupError):
                os.kill(process.pid, 6)  # faulthandler shows where it hangs
        output = self.close(kill=bool(ready))
        what = f"the worker died ({process.returncode})" if ready else f"no answer in {seconds:g} s"
        return Outcome(seed, "FAILED", took, f"{what}\n{output[-2500:]}")

    @staticmethod
    def _start() -> subprocess.Popen[str]:
        log = open(f"/tmp/fuzz-worker-{os.getpid()}.log", "w+")  # noqa: SIM115
        process = subprocess.Popen(
            [sys.executable, "-m", "tests.robustness.fuzz", "--worker"], cwd=ROOT, text=True, bufsize=1,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log,
        )  # fmt: skip
        process.log = log
        return process

    def close(self, *, kill: bool = False) -> str:
        """Ends the process; what it wrote to stderr."""
        process, self._process = self._process, None
        if process is None:
            return ""
        process.stdin.close()
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        process.log.seek(0)
        output = process.log.read()
        process.log.close()
        process.stdout.close()
        Path(process.log.name).unlink(missing_ok=True)
        return output


def run_cases(seeds: Iterable[int], *, compiles: bool = True, seconds: float = SECONDS) -> Iterator[Outcome]:
    """An outcome for each seed, in order."""
    worker = Worker()
    try:
        for seed in seeds:
            yield worker.examine(seed, compiles, seconds)
    finally:
        worker.close()


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--worker", action="store_true")
    parser.add_argument("--show", type=int)
    parser.add_argument("--start", type=int, default=0)
    parser.add_argument("--cases", type=int, default=1000)
    parser.add_argument("--no-compile", action="store_true")
    given = parser.parse_args()
    if given.worker:
        _worker()
        return 0
    if given.show is not None:
        print(mutant(given.show)[1])
        return 0
    counts: Counter[str] = Counter()
    slowest = 0.0
    for outcome in run_cases(range(given.start, given.start + given.cases), compiles=not given.no_compile):
        counts[outcome.verdict] += 1
        slowest = max(slowest, outcome.seconds)
        if outcome.verdict == "FAILED":
            print(
                f"seed {outcome.seed} ({mutant(outcome.seed)[0]}), {outcome.seconds:.1f} s:\n{outcome.detail}\n",
                flush=True,
            )
        if sum(counts.values()) % 500 == 0:
            print(f"{time.strftime('%H:%M:%S')} {dict(counts)}, slowest {slowest:.1f} s", flush=True)
    print(f"{sum(counts.values())} cases: {dict(counts)}, slowest {slowest:.1f} s")
    return 1 if counts["FAILED"] else 0


if __name__ == "__main__":
    sys.exit(main())
