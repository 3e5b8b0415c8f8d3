"""Processes that examine mutants, so that a crash or a hang affects only one mutant."""

from __future__ import annotations

import contextlib
import dataclasses
import faulthandler
import functools
import json
import os
import resource
import select
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from pathlib import Path

import numpy as np

import xla_core as xla
from tests.robustness.mutants import mutant

ROOT = Path(__file__).parents[2]


@dataclasses.dataclass(frozen=True)
class Limits:
    """The limits of one mutant: seconds of the processor's time to be read, verified and lowered, for each started 100
    kB; the same to be compiled; bytes of memory that the process holds at most; the evaluator's steps and bytes.
    """

    read_seconds: float = 2.0
    compile_seconds: float = 60.0
    memory: int = 4 << 30
    steps: int = 20_000
    result_bytes: int = 64 << 20


LIMITS = Limits()


@dataclasses.dataclass(frozen=True)
class Outcome:
    """`verdict` is "module", an error's status code, or "FAILED"; `detail` then says why. `seconds` is what reading took;
    `format` the mutant's, empty where the process died before it said so."""

    seed: int
    verdict: str
    seconds: float
    detail: str = ""
    compiled: bool = False
    evaluated: bool = False
    format: str = ""


def examine(data: str | bytes, compiles: bool, evaluates: bool) -> Outcome:
    """Reads, verifies and lowers; compiles and evaluates what is a module, where wanted."""
    start = time.process_time()
    seconds = 0.0
    compiled = evaluated = False
    try:
        try:
            module = xla.parse(data)
        finally:
            seconds = time.process_time() - start
        limit = LIMITS.read_seconds * (1 + len(data) // 100_000)
        if seconds > limit:
            return Outcome(0, "FAILED", seconds, f"reading {len(data)} bytes took {seconds:.1f} s")
        if compiles:
            compiled = True
            start = time.process_time()
            _client().compile(module, xla.CompileOptions(backend={"llvm_optimization_level": 0, "threads": 1}))
            if time.process_time() - start > LIMITS.compile_seconds:
                return Outcome(0, "FAILED", seconds, f"compiling took {time.process_time() - start:.1f} s")
        if evaluates and _arguments_fit(module):
            evaluated = True
            _evaluate(module)
    except xla.InternalError as error:
        return Outcome(0, "FAILED", seconds, f"{error}\n{''.join(traceback.format_exception(error))[-1500:]}")
    except xla.XlaError as error:
        if not str(error.message).strip():
            return Outcome(0, "FAILED", seconds, "the error says nothing")
        return Outcome(0, error.code.name, seconds, "", compiled, evaluated)
    except BaseException as error:
        return Outcome(0, "FAILED", seconds, "".join(traceback.format_exception(error))[-2500:])
    return Outcome(0, "module", seconds, "", compiled, evaluated)


def _arguments_fit(module: xla.HloModule) -> bool:
    shapes = [s for p in module.entry.parameters for s in p.shape.leaves()]
    return sum(s.num_elements for s in shapes if s.is_array) <= 1 << 20


def _evaluate(module: xla.HloModule) -> None:
    shapes = [s for p in module.entry.parameters for s in p.shape.array_leaves()]
    arrays = [np.ones(s.dimensions, s.dtype) for s in shapes]
    xla.evaluate(module, *arrays, max_steps=LIMITS.steps, max_bytes=LIMITS.result_bytes, timeout=30.0)


@functools.cache
def _client() -> xla.Client:
    return xla.Client("cpu")


def serve() -> None:
    """Answers each line of [seed, formats, compiles, evaluates] or [path, ...] by one line of an outcome."""
    faulthandler.enable()
    resource.setrlimit(resource.RLIMIT_AS, (4 * LIMITS.memory, 4 * LIMITS.memory))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    replies = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    for line in sys.stdin:
        seed, formats, compiles, evaluates = json.loads(line)
        if isinstance(seed, str):
            data = Path(seed).read_bytes()
            outcome = examine(
                data if formats == ["bytecode"] else data.decode("utf-8", "surrogatepass"), compiles, evaluates
            )
        else:
            case = mutant(seed, formats)
            outcome = dataclasses.replace(examine(case.data, compiles, evaluates), seed=seed, format=case.format)
        held = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10
        if held > LIMITS.memory:
            outcome = dataclasses.replace(
                outcome, verdict="FAILED", detail=f"it held {held >> 20} MiB; {outcome.detail}"
            )
        replies.write(json.dumps(dataclasses.asdict(outcome)) + "\n")
        replies.flush()
        if held > LIMITS.memory:
            return


class Worker:
    """A process that examines mutants, replaced when it dies or hangs."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[str] | None = None
        self._log = tempfile.TemporaryFile("w+")  # noqa: SIM115 (lives as long as the worker)

    def examine(
        self, seed: int | Path, formats: list[str], *, compiles: bool, evaluates: bool, seconds: float
    ) -> Outcome:
        """A seed's mutant, or a file; `seconds` by the clock is when it counts as hanging."""
        if self._process is None or self._process.poll() is not None:
            self.close()
            self._process = self._start()
        process = self._process
        assert process.stdin is not None
        assert process.stdout is not None
        start = time.perf_counter()
        ready = True
        reply = ""
        with contextlib.suppress(BrokenPipeError):
            given = str(seed) if isinstance(seed, Path) else seed
            process.stdin.write(json.dumps([given, formats, compiles, evaluates]) + "\n")
            process.stdin.flush()
            ready = bool(select.select([process.stdout], [], [], seconds)[0])
            reply = process.stdout.readline() if ready else ""
        if reply:
            return Outcome(**json.loads(reply))
        took = time.perf_counter() - start
        if not ready:
            process.send_signal(signal.SIGABRT)  # faulthandler shows where it hangs
        output = self.close()
        what = f"the process died ({process.returncode})" if ready else f"no answer in {seconds:g} s"
        return Outcome(seed if isinstance(seed, int) else 0, "FAILED", took, f"{what}\n{output[-2500:]}")

    def _start(self) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, "-m", "tests.robustness.worker"], cwd=ROOT, text=True, bufsize=1,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._log,
        )  # fmt: skip

    def close(self) -> str:
        """Ends the process; what it wrote to stderr."""
        process, self._process = self._process, None
        if process is None:
            return ""
        assert process.stdin is not None
        assert process.stdout is not None
        with contextlib.suppress(BrokenPipeError):
            process.stdin.close()
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        process.stdout.close()
        self._log.seek(0)
        output = self._log.read()
        self._log.seek(0)
        self._log.truncate()
        return output


if __name__ == "__main__":
    serve()
