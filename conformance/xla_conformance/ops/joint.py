"""Several cases in one program: their results come from one compilation, which costs less than one for each.

Tests that may share a program have a marker `joint` with its name. When a worker gets several of them, the first test
compiles and runs the cases of all, and each test then takes its own results. A case whose results are wrong runs again
alone, so that a failure names one case.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence

import numpy as np
import pytest

from xla_conformance.claims import NotSupported
from xla_conformance.failures import Failure
from xla_conformance.ops.case_runs import joined_runs, results_of_each
from xla_conformance.ops.cases import OpCase
from xla_conformance.ops.contexts import Context, Placed
from xla_conformance.ops.executions import Before, device_number, run
from xla_conformance.ops.program import add_leaves
from xla_core import Client
from xla_core.hlo import OPS, HloComputation, HloInstruction, HloModule, Opcode, Trait

BESIDE = pytest.StashKey[Sequence[pytest.Item]]()
"""The stash key of the tests that the worker runs together; the first of them is the one that it starts."""


_TOGETHER = 8
"""The most cases in one program."""
_APART = 12
"""One of so many cases of an op, level and device has a program of its own, as programs of users may."""


class JointPrograms:
    """Gives cases to programs, in the order of the cases."""

    def __init__(self) -> None:
        self._cases: Counter[str] = Counter()

    def of(self, case: OpCase, context: Context) -> str:
        """Returns the name of the program that the next case shares with others, or "" if it has one of its own.

        Cases in which the op has other ops around it, and those whose results differ from run to run, run alone.
        """
        if not context.is_plain or Trait.NONDETERMINISTIC in OPS[case.opcode].traits:
            return ""
        kind = f"{case.opcode} O{context.level} {device_number(case.name)}"
        number = self._cases[kind]
        self._cases[kind] += 1
        shared = number - number // _APART - 1
        return f"{kind} {shared // _TOGETHER}" if number % _APART else ""


class JointRuns:
    """The results of cases that ran together, until their own tests take them."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._results: dict[str, list[tuple[Placed, list[np.ndarray]]]] = {}
        self._suspects: set[str] = set()
        self._failure: Exception | None = None
        self._module: HloModule | None = None

    def start(
        self,
        members: Mapping[str, Callable[[], Sequence[Placed] | None]],
        device: int,
        before: Before = "same",
    ) -> None:
        """Runs the cases of these names together, each with its executions' arguments.

        A case for which the function returns None is left out.
        """
        self._results, self._suspects, self._failure, self._module = {}, set(), None, None
        placed = {}
        for name, make in members.items():
            try:
                made = make()
            except Exception:  # a target's layouts may raise anything; the case's own test raises and reports it
                continue
            if made is not None:
                placed[name] = made
        if len(placed) < 2:
            return
        try:
            executions = joined_runs(join([runs[-1] for runs in placed.values()]), list(placed.values()))
            self._module = executions[-1].module
            before = "given" if len(executions) > 1 else before
            results = run(self._client, executions, device=device, before=before)
        except NotSupported:  # the backend doesn't claim one of them
            return
        except Exception as error:
            self._failure, self._suspects = error, set(placed)
            self._require_device(device)
            return
        for (name, runs), mine in zip(placed.items(), results_of_each(results, list(placed.values())), strict=True):
            self._results[name] = list(zip(runs, mine, strict=True))

    def _require_device(self, device: int) -> None:
        """Raises the error of a transfer if the device is lost, so that the program that lost it stays the last one."""
        self._client.buffer_from_host(np.zeros(8, np.int32), device).to_numpy()

    def take(self, name: str) -> list[tuple[Placed, list[np.ndarray]]] | None:
        """Returns a case in its context and the results of each execution; None if it has to run alone."""
        return self._results.pop(name, None)

    def is_wrong_alone(self, name: str, error: Exception) -> None:
        """Notes that a case fails alone. An error of the same kind explains the failure of the program."""
        self._suspects.discard(name)
        if type(error) is type(self._failure):
            self._failure = None

    def is_right_alone(self, name: str) -> None:
        """Notes that a case is right alone. Raises Failure if each case of a program that failed is right alone."""
        if name not in self._suspects:
            return
        self._suspects.remove(name)
        if not self._suspects and self._failure is not None:
            raise Failure(
                f"Programs that are right alone fail as one: {self._failure}",
                promise="compiler.run-backend",
                module=self._module or "",
            ) from self._failure

    def wrong_together(self, failure: Failure) -> Failure:
        """Returns the failure of a case that is wrong beside others and right alone."""
        return beside_others(failure, self._module or "")


def beside_others(failure: Failure, module: HloModule | str) -> Failure:
    """Returns the failure of a case that is right alone, and wrong in a module of several."""
    sentence = f"Beside other instructions in one program, which are independent of it: {failure.sentence}"
    return Failure(
        sentence,
        promise=failure.promise,
        module=module,
        results=failure.results,
        expected=failure.expected,
        number=failure.number,
        index=failure.index,
        ulp=failure.ulp,
        seed=failure.seed,
    )


def join(parts: Sequence[Placed]) -> Placed:
    """Makes one module that computes the results of several modules, which have the same optimization level."""
    module, entry = HloModule("joint"), HloComputation("main")
    results: list[HloInstruction] = []
    arguments: list[np.ndarray] = []
    for part in parts:
        alone = len(part.module.computations) == 1  # nothing of it moves to the joint module
        root = _splice(module, entry, part.module if alone else part.module.clone())
        results += add_leaves(entry, root)
        arguments += part.arguments
    entry.set_root(entry.add(Opcode.TUPLE, *results))
    module.add_computation(entry, entry=True)
    return Placed(module, arguments, Context(level=parts[0].context.level))


def _splice(module: HloModule, entry: HloComputation, part: HloModule) -> HloInstruction:
    """Adds a module's computations to another one, and its entry's instructions to that one's entry."""
    for computation in part.computations:
        if computation is not part.entry:
            module.add_computation(computation)
    first = len(entry.parameters)
    made: dict[HloInstruction, HloInstruction] = {}
    for parameter in part.entry.parameters:
        made[parameter] = entry.parameter(first + parameter.parameter_number, parameter.shape)
    for old in part.entry.post_order():
        if old.opcode is not Opcode.PARAMETER:
            new = old.clone([made[o] for o in old.operands])
            new.control_predecessors = [made[p] for p in old.control_predecessors]
            made[old] = entry.add_instruction(new)
    return made[part.entry.root]
