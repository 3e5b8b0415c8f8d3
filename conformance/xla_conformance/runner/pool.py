"""Gives tests to worker processes one at a time, and replaces a worker that crashes, hangs or loses its device."""

from __future__ import annotations

import contextlib
import dataclasses
import queue
import time
from collections import deque
from collections.abc import Callable, Collection
from typing import Any

from xla_conformance.fair_time import TICK
from xla_conformance.results import Result, State, name_of
from xla_conformance.runner.interruption import interruptible
from xla_conformance.runner.joint_tests import JointTests
from xla_conformance.runner.limits import Limits
from xla_conformance.runner.outcomes import ended_result, lost_result
from xla_conformance.runner.process import Events, Suite, WorkerProcess, folder_name
from xla_conformance.runner.processors import processor_for
from xla_conformance.runner.scratch import Scratch, remove_abandoned

_GRACE_SECONDS = 1.0  # after a limit, in which the worker writes its stacks
_FEW = 50  # the most tests that a worker gets the names of before it collects
_OPENINGS = 2  # how often a replaced worker may fail to open the device, before no more is tried


class Pool:
    """Runs the tests of a suite.

    Attributes:
        results: of all tests that ran, in the order they ended.
        environment: the first worker's description of itself and of the device.
        refusal: the backend's reason for refusing to be opened; its tests did not run.
        failed_stage: the first stage that failed: "start", "open" or "collect".
        problem: why not all tests ran.
        promises: the contract's sentences by test.
        collected: the ids of all tests.
        not_run: the tests that were chosen and did not run.
        timed_out: whether the total time was over before all tests ran.
    """

    def __init__(
        self,
        suite: Suite,
        limits: Limits,
        workers: int,
        only: Collection[str] | None,
        on_result: Callable[[int, Result], None],
    ) -> None:
        self.suite, self._limits, self._count, self._only = suite, limits, max(1, workers), only
        self._on_result = on_result
        self.results: list[Result] = []
        self.environment: dict[str, Any] = {}
        self.refusal: dict[str, Any] | None = None
        self.failed_stage = ""
        self.problem = ""
        self.promises: dict[str, list[str]] = {}
        self.collected: list[str] = []
        self.not_run: list[str] = []
        self.timed_out = False
        self._alone: set[str] = set()
        self._exclusive = False
        self._elsewhere: set[str] = set()
        self._joint = JointTests()
        self._pending: deque[str] | None = None  # None until the first worker has collected
        self._total = 0
        self._openings = 0
        self._started = 0
        self._events: Events = queue.SimpleQueue()
        self._workers: list[WorkerProcess] = []

    def run(self) -> None:
        """Runs until no test or worker is left, the time is over, or Ctrl-C or SIGTERM comes. Leaves no process."""
        end = time.monotonic() + self._limits.total
        remove_abandoned()
        shared = Scratch()
        self.suite = dataclasses.replace(self.suite, shared=shared.folder)
        try:
            with interruptible():
                self._run_until(end)
        except KeyboardInterrupt:
            self._give_up("it was interrupted, so this report is partial")
        finally:
            for worker in self._workers:
                worker.stop()
            shared.remove()
            self.not_run = list(self._pending or ())

    def _run_until(self, end: float) -> None:
        """Runs the tests, or raises KeyboardInterrupt.

        All workers start at once, and each collects the tests. If only some tests are wanted, one worker starts before
        the others, because its list shows how many it takes.
        """
        whole = self._only is None and not self.suite.expression
        for _ in range(self._count if whole else 1):
            self._start()
        while self._workers:
            worker, event = self._next_event(end)
            if worker is None:
                self.timed_out = True
                self._give_up(f"the total time of {self._limits.total:.0f} s is over")
            elif worker in self._workers:
                self._handle(worker, event)

    def _start(self) -> None:
        """Starts a worker that collects the files of the tests that are left."""
        chosen = self._pending if self._pending is not None else self._only or ()
        whole = all("::" in id for id in chosen)  # a name alone may be in any file
        files = frozenset(id.partition("::")[0] for id in chosen) if whole else frozenset[str]()
        suite = dataclasses.replace(
            self.suite,
            files=files,
            tests=tuple(chosen) if len(chosen) <= _FEW else (),
            opens="later" if self._is_elsewhere else self.suite.opens,
        )
        taken = [w.processor for w in self._workers]
        processor = processor_for(self._count, taken) if suite.profile != "stress" else None
        self._started += 1
        self._workers.append(
            WorkerProcess(suite, self._events, self._limits.test, self._limits.stage, self._started, processor)
        )

    def _next_event(self, end: float) -> tuple[WorkerProcess | None, dict[str, Any]]:
        """Waits for the next event and returns it, or None if the total time is over. Ends workers that are overdue."""
        while True:
            now = time.monotonic()
            if now >= end:
                return None, {}
            running = [w for w in self._workers if not w.overdue]
            for worker in running:
                worker.clock.tick()
                if worker.clock.seconds > worker.limit + _GRACE_SECONDS:
                    worker.end_overdue()
            with contextlib.suppress(queue.Empty):
                return self._events.get(timeout=max(min(end - now, TICK), 0.01))

    def _give_up(self, reason: str) -> None:
        self.problem = self.problem or "; ".join([reason, *filter(None, (w.doing() for w in self._workers))])
        running = [test for w in self._workers for test in (w.test, *w.queue) if test]
        self._pending = deque([*running, *(self._pending or ())])
        for worker in self._workers:
            worker.stop()
        self._workers.clear()

    # -- events ------------------------------------------------------------------------------------------------------

    def _handle(self, worker: WorkerProcess, event: dict[str, Any]) -> None:
        match event["event"]:
            case "stage":
                worker.enter(event["name"])
            case "opened":
                self._opened(event)
            case "refused":
                worker.refusal = event
            case "collected":
                self._collected(worker, event)
            case "begun":
                worker.begun = event["id"]
            case "end":
                self._ended(worker, event)
            case "closed":
                worker.enter("closed")
            case "exit":
                self._exited(worker)

    def _opened(self, event: dict[str, Any]) -> None:
        self._openings = 0
        if event["exclusive"]:
            self._exclusive, self._count = True, 1
        if not self.environment:
            self.environment = event["environment"]
            self.suite = dataclasses.replace(self.suite, backend=event["backend"])

    def _collected(self, worker: WorkerProcess, event: dict[str, Any]) -> None:
        if self._pending is None:
            self.collected = event["ids"]
            only = None if self._only is None else set(self._only)
            chosen = [id for id in event["ids"] if only is None or id in only or name_of(id) in only]
            if self._count > 1:  # those that need the device for themselves come last, on one worker
                self._alone = set(event["alone"])
            if self._exclusive:  # those that need it in another process come last, on a worker that doesn't hold it
                self._elsewhere = set(event["elsewhere"])
            self._joint = JointTests(event["joint"])
            arranged = self._joint.arranged(chosen)
            self._pending = deque(sorted(arranged, key=lambda id: (id in self._elsewhere, id in self._alone)))
            self._total = len(self._pending)
            self.promises = event["promises"]
            for _ in range(len(self._workers), min(self._count, self._total)):  # for those that were lost before
                self._start()
        self._give(worker)

    def _give(self, worker: WorkerProcess) -> None:
        """Gives a worker its next test. A test that needs the device for itself waits until all other workers ended."""
        if worker.queue:
            worker.run(worker.queue.popleft())
            return
        others = [w for w in self._workers if w is not worker]
        if (
            not self._pending
            or (worker.opens == "later") != self._is_elsewhere
            or (self._is_alone and any(w.stage in ("open", "collect", "run", "wait") for w in others))
        ):
            worker.finish()
        elif self._is_alone and others:
            worker.enter("wait")
        else:
            test = self._pending.popleft()
            while self._joint.are_together(test, self._pending[0] if self._pending else ""):
                worker.queue.append(self._pending.popleft())
            worker.run(test, [test, *worker.queue] if worker.queue else ())

    @property
    def _is_alone(self) -> bool:
        """Whether the next test needs the device for itself."""
        return bool(self._pending and self._pending[0] in self._alone)

    @property
    def _is_elsewhere(self) -> bool:
        """Whether the next test needs a device in another process that serves one process at a time."""
        return bool(self._pending and self._pending[0] in self._elsewhere)

    def _ended(self, worker: WorkerProcess, event: dict[str, Any]) -> None:
        if worker.test != event["id"]:  # a file that can't be collected
            if all(r.id != event["id"] for r in self.results):
                self._add(ended_result(worker, event))
            return
        result = ended_result(worker, event)
        if result.state.is_wrong and (printed := worker.printed()):
            result = dataclasses.replace(result, details=f"{result.details}\n{printed}".strip())
        lost = result.state in (State.DEVICE_LOST, State.CRASH)
        if lost and worker.is_joint:
            self._split(worker, result)
        else:
            self._add(result)
        worker.before.append(worker.test)
        worker.test = ""
        if lost:
            worker.enter("lost")  # it ends by itself
        else:
            self._give(worker)

    def _exited(self, worker: WorkerProcess) -> None:
        self._workers.remove(worker)
        state = State.TIMEOUT if worker.overdue else State.CRASH
        replaced = True
        if worker.stage == "run" and not worker.has_started and self._pending is not None:
            self._pending.appendleft(worker.test)
            replaced = self._died_after(worker, state)
        elif worker.stage == "run":
            folder = folder_name(worker.test)
            artifacts = self.suite.artifacts
            files = worker.keep_program(artifacts / folder) if artifacts is not None else []
            failure = {"folder": folder, "files": files} if files else {}
            if worker.is_joint:
                self._split(worker, lost_result(worker, worker.test, state, failure))
            else:
                self._lose(worker, worker.test, state, failure)
        elif worker.stage in ("start", "open", "collect"):
            replaced = self._lost_at_start(worker, state)
        elif worker.stage == "close":
            self._lose(worker, "test_loading.py::close", state, {})
        if self._pending is not None:
            self._pending.extendleft(reversed(worker.queue))
        count = 1 if self._is_alone else self._count
        if replaced and self._pending and len(self._workers) < min(count, len(self._pending)):
            self._start()
        worker.stop()
        for other in self._workers:
            if other.stage == "wait":
                self._give(other)

    def _split(self, worker: WorkerProcess, result: Result) -> None:
        """Lets the tests whose program ended the process or lost the device run again, alone."""
        assert self._pending is not None
        self._joint.split([worker.test, *worker.queue], result)
        self._pending.appendleft(worker.test)

    def _died_after(self, worker: WorkerProcess, state: State) -> bool:
        """Blames the test before, after which the process ended. Returns whether another worker is worth a try."""
        number = next((i for i, r in enumerate(self.results) if worker.before and r.id == worker.before[-1]), None)
        worker.test = ""
        if number is None:
            return self._lost_at_start(worker, state)
        result = self.results[number]
        message = f"after it, {worker.cause()}"
        details = f"{result.details}\n{worker.remains()}".strip()
        self.results[number] = dataclasses.replace(result, state=state, message=message, details=details)
        return True

    def _lost_at_start(self, worker: WorkerProcess, state: State) -> bool:
        """Whether another worker is worth a try."""
        if self._pending is None:  # nothing has run
            if not self._workers:  # where others are left, one of them may open the device: some serve one process
                self._fail(worker, state)
            return False
        self._openings += 1
        if self._openings <= _OPENINGS:
            return True
        if not self._workers:
            before = self.results[-1].id if self.results else "the start"
            self.problem = f"after {before} the device could not be opened again ({worker.stage}: {worker.cause()})"
        return False

    def _fail(self, worker: WorkerProcess, state: State) -> None:
        """Gives up, as no worker has got to the tests."""
        self.failed_stage, self.refusal = worker.stage, worker.refusal
        if worker.refusal is None:
            self._lose(worker, f"test_loading.py::{worker.stage}", state, {})
        elif not worker.refusal["refuses"]:
            message = worker.refusal["message"]
            details = "\n".join(p for p in (worker.refusal["details"], worker.remains()) if p)
            self._add(Result("test_loading.py::open", State.FAIL, worker.seconds, message, details=details))

    def _lose(self, worker: WorkerProcess, id: str, state: State, failure: dict[str, Any]) -> None:
        self._add(lost_result(worker, id, state, failure))

    def _add(self, result: Result) -> None:
        result = self._joint.judged(result)
        if result.state.is_wrong and result.id in self.promises:
            named = {**result.properties, "promises": self.promises[result.id]}
            result = dataclasses.replace(result, properties=named)
        self.results.append(result)
        self._total = max(self._total, len(self.results))
        self._on_result(self._total, result)
