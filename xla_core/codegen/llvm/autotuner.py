"""Autotuner: chooses the plan of a kernel by measuring the time of several plans."""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import json
import os
import threading
import uuid
from collections.abc import Callable, Collection, Iterator
from pathlib import Path

from xla_core.codegen.kernel_choice import KernelChoice
from xla_core.codegen.llvm.forms.kernel_form import KernelBody
from xla_core.codegen.llvm.planner import Planner
from xla_core.codegen.llvm.target_abi import TargetAbi
from xla_core.errors import FailedPreconditionError, InvalidArgumentError, XlaError
from xla_core.hlo.ir.extractor import extract_module
from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.hlo.ir.module import HloModule
from xla_core.hlo.ir.printer import PrintOptions
from xla_core.target import ParallelModel

_GAIN = 0.97  # another plan must take at most this share of the time of the best one so far: times vary


class Autotuner:
    """Writes the fastest `KernelChoice` of a kernel to its instruction.

    It measures the plan of the rule first. Then it changes each figure of the choice in turn, and keeps the others at
    the best values so far. It skips a choice that gives no plan, or a plan that it has measured.

    Args:
        abi: the target.
        measure: returns the seconds that a module of one kernel takes, which is planned by the choice in its
            `backend_config`. An XlaError means that the kernel can't be compiled or run so, which rules the choice out.
        cache: keeps the results.
        device: what the times depend on besides the ABI: the device's name, the compiler's version and options.
    """

    def __init__(
        self,
        abi: TargetAbi,
        measure: Callable[[HloModule], float],
        *,
        cache: TuningCache | None = None,
        device: str = "",
    ) -> None:
        self._abi = abi
        self._measure = measure
        self._planner = Planner()
        self._cache = cache if cache is not None else TuningCache()
        model = abi.parallel.model_dump_json()
        self._target = f"{device}\n{abi.triple} {abi.cpu} {abi.features} {abi.fast_math}\n{model}\n"

    def tune(self, instruction: HloInstruction, aliasing: Collection[tuple[int, int]] = ()) -> KernelChoice:
        """Chooses the plan of an instruction's kernel, and records it there unless it is the plan of the rule.

        An instruction that carries a choice keeps it. `aliasing` is that of `KernelEmitter.emit`.

        Raises:
            XlaError: that of `measure` for the plan by rule.
        """
        given = KernelChoice.of(instruction)
        if given != KernelChoice():
            return given
        key = self._key(instruction, aliasing)
        chosen = self._cache.get(key)
        if chosen is None:
            chosen = self._search(instruction, aliasing)
            self._cache.put(key, chosen)
        if chosen != KernelChoice():
            chosen.record(instruction)
        return chosen

    def _key(self, instruction: HloInstruction, aliasing: Collection[tuple[int, int]]) -> str:
        """Returns a digest of the target and of the kernel, which does not depend on names."""
        module = extract_module(instruction, "kernel")
        for computation in module.computations:
            for number, each in enumerate(computation.post_order()):
                each.name = f"i{number}"
        text = f"{self._target}{sorted(aliasing)}\n{module.to_text(PrintOptions(metadata=False))}"
        return hashlib.sha256(text.encode()).hexdigest()

    def _search(self, instruction: HloInstruction, aliasing: Collection[tuple[int, int]]) -> KernelChoice:
        best = KernelChoice()
        plans = {self._plan(instruction, aliasing, best)}
        fastest = self._seconds(instruction, best)
        for variants in self._variants():
            for choice in variants(best):
                plan = self._plan(instruction, aliasing, choice)
                if plan is None or plan in plans:
                    continue
                plans.add(plan)
                try:
                    seconds = self._seconds(instruction, choice)
                except XlaError:
                    continue
                if seconds < fastest * _GAIN:
                    best, fastest = choice, seconds
        return best

    def _plan(
        self, instruction: HloInstruction, aliasing: Collection[tuple[int, int]], choice: KernelChoice
    ) -> str | None:
        """Returns the form and the plan of a choice as text, or None if there is none."""
        planned = instruction.clone()
        choice.record(planned)
        try:
            form, plan = self._planner.choose(KernelBody(self._abi, planned, aliasing))
        except XlaError:
            return None
        return f"{form.name}: {plan}"

    def _seconds(self, instruction: HloInstruction, choice: KernelChoice) -> float:
        planned = instruction.clone()
        choice.record(planned)
        return self._measure(extract_module(planned))

    def _variants(self) -> Iterator[Callable[[KernelChoice], Iterator[KernelChoice]]]:
        """Yields the searches: one over the forms, and one for each figure."""

        def forms(best: KernelChoice) -> Iterator[KernelChoice]:
            for form in self._planner.forms:
                yield best.model_copy(update={"form": form.name})

        def values(name: str, candidates: Collection[int]) -> Callable[[KernelChoice], Iterator[KernelChoice]]:
            return lambda best: (best.model_copy(update={name: value}) for value in candidates)

        yield forms
        for name, candidates in _candidates(self._abi.parallel).items():
            yield values(name, candidates)


def _candidates(model: ParallelModel) -> dict[str, list[int]]:
    """Returns values of the figures of a choice that the target allows, near the target's own first."""

    def halves(value: int, least: int) -> list[int]:
        return [value >> n for n in range(1, 5) if value >> n >= least and (value >> n) % least == 0]

    return {
        "threads": halves(model.threads, model.lanes),
        "registers": [model.registers * 2, *halves(model.registers, 4), model.registers * 4],
        "vector_bytes": halves(model.vector_bytes, 4),
        "units": [model.units * 2, max(1, model.units // 2), model.units * 4, max(1, model.units // 4)],
        "resident_threads": [n for n in (model.resident_threads * 2, model.resident_threads // 2) if n],
    }


class TuningCache:
    """The choices of kernels by their keys; in memory, and in a file if a path is given.

    Several processes may share the file: each adds what it has found. It is safe for threads.

    Raises:
        InvalidArgumentError: the file is not one that this class wrote.
        FailedPreconditionError: the file can't be read.
    """

    def __init__(self, path: str | os.PathLike[str] = "") -> None:
        self._path = Path(path) if path else None
        self._lock = threading.Lock()
        self._choices = self._read()

    def get(self, key: str) -> KernelChoice | None:
        return self._choices.get(key)

    def put(self, key: str, choice: KernelChoice) -> None:
        """Adds a choice, also to the file.

        Raises:
            FailedPreconditionError: the file can't be written.
        """
        with self._lock:
            if self._path is None:
                self._choices[key] = choice
                return
            try:
                with _locked(self._path):
                    self._choices = {**self._choices, **self._read(), key: choice}
                    self._write(self._path)
            except OSError as error:
                raise FailedPreconditionError(
                    f"the cache of kernel plans {self._path} can't be written: {error.strerror}",
                    hint="name a file in a directory that can be written, or none",
                ) from error

    def _write(self, path: Path) -> None:
        text = json.dumps({k: c.model_dump(exclude_defaults=True) for k, c in self._choices.items()}, indent=1)
        temporary = path.with_name(f"{path.name}.{uuid.uuid4().hex}")
        try:
            temporary.write_text(text)
            temporary.replace(path)  # so that readers, who take no lock, find a whole file
        finally:
            temporary.unlink(missing_ok=True)

    def _read(self) -> dict[str, KernelChoice]:
        if self._path is None:
            return {}
        try:
            found = json.loads(self._path.read_text())
            return {key: KernelChoice(**choice) for key, choice in found.items()}
        except FileNotFoundError:
            return {}
        except OSError as error:
            raise FailedPreconditionError(
                f"the cache of kernel plans {self._path} can't be read: {error.strerror}"
            ) from error
        except (ValueError, TypeError, AttributeError, InvalidArgumentError) as error:
            raise InvalidArgumentError(
                f"{self._path} is no cache of kernel plans: {error}", hint="remove the file; it is made anew"
            ) from error


@contextlib.contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Keeps other processes, and other caches of this one, from writing the file meanwhile."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path.with_name(f"{path.name}.lock"), "a") as file:  # a file of its own, because `path` is replaced
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
