"""JointRun: a short program with collectives runs on all its devices in one thread.

Devices that wait for each other in threads of their own cost far more than a short program: each thread wakes, waits
for the others and for the GIL, and is woken again. Instead, the caller that starts the last device runs the code of
each device up to its next collective, combines the values of all, and goes on.
"""

from __future__ import annotations

import contextlib
import dataclasses
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from types import FrameType

import numpy as np

from xla_backend_cpu.calling_convention import Status
from xla_backend_cpu.host_calls import HostRun
from xla_core.errors import CancelledError, XlaError, as_xla_error
from xla_core.hlo import Value, evaluate_groups
from xla_core.runtime import HostStream


@dataclasses.dataclass(eq=False, slots=True)
class Member:
    """One device's part of the execution.

    Attributes:
        enter: calls the native code, which returns a `Status`.
        finish: runs the rest of the part in the stream's worker.
    """

    run: HostRun
    stream: HostStream
    enter: Callable[[], int]
    finish: Callable[[], None]
    error_of: Callable[[int], XlaError]
    done: bool = False
    error: XlaError | None = None


class JointRun:
    """The parts of one execution, which are kept back on their streams until all devices are started.

    If a part can't be kept back, because its stream is at work, every part runs in the worker of its stream, and they
    meet there. The same happens to unfinished parts when another one has failed.
    """

    def __init__(self, count: int) -> None:
        self._count = count
        self._members: list[Member] = []
        self._is_dissolved = False
        self._lock = threading.RLock()

    def add(self, member: Member) -> None:
        """Enqueues a device's part, and runs all parts if it is the last."""
        with self._lock:
            is_held = not self._is_dissolved and member.stream.hold(member.finish)
            if is_held:
                self._members.append(member)
        if not is_held:
            self.dissolve()
            member.stream.enqueue(member.finish)
            member.run.report_end(member.stream)  # also if the stream skips the work, because earlier work failed
        elif len(self._members) == self._count:
            self._run()

    def dissolve(self) -> None:
        """Lets the streams' workers run the parts."""
        with self._lock:
            self._is_dissolved = True
            members, self._members = self._members, []
        for member in members:
            member.stream.release()

    def _run(self) -> None:
        taken: list[Member] = []
        with _uninterrupted():
            try:
                taken.extend(member for member in self._members if member.stream.take())
                if len(taken) == self._count:
                    self._meet()
            except Exception as error:
                _fail(taken, as_xla_error(error, "a program on several devices"))
            except BaseException as error:  # of a signal's handler, say
                _fail(taken, CancelledError(f"the execution was interrupted by {type(error).__name__}"))
                raise
            finally:
                self._end(taken)

    def _end(self, taken: Sequence[Member]) -> None:
        rendezvous = taken[0].run.rendezvous if taken else None
        if rendezvous is not None and all(member.done for member in taken) and len(taken) == self._count:
            rendezvous.close()
        elif rendezvous is not None:
            for member in taken:
                if member.done or member.error is not None:
                    rendezvous.end(member.run.device, member.error)
        for member in taken:
            member.stream.give_back(done=member.done, error=member.error)
        self.dissolve()

    def _meet(self) -> None:
        """Runs the parts until all are done, or every unfinished part waits for one that is done or failed."""
        running: Sequence[Member] = self._members
        waiting: list[Member] = []
        while running:
            for member in running:
                status = member.enter()
                if status == Status.HOST_CALL:
                    waiting.append(member)
                elif status == Status.OK:
                    member.done = True
                else:
                    member.error = member.error_of(status)
            running = _met(waiting)
            waiting = [member for member in waiting if member not in running] if running else []


def _fail(members: Sequence[Member], error: XlaError) -> None:
    for member in members:
        if not member.done:
            member.error = member.error or error


@contextlib.contextmanager
def _uninterrupted() -> Iterator[None]:
    """Delays Ctrl-C until the end of the short block. Otherwise streams could be left that nobody gives back."""
    handler, came = signal.getsignal(signal.SIGINT), list[tuple[int, FrameType | None]]()
    is_kept_back = callable(handler)
    try:
        if is_kept_back:
            signal.signal(signal.SIGINT, lambda number, frame: came.append((number, frame)))
    except ValueError:  # only the main thread is interrupted
        is_kept_back = False
    try:
        yield
    finally:
        if is_kept_back:
            signal.signal(signal.SIGINT, handler)
        if callable(handler) and came:
            handler(*came[0])


def _met(waiting: Sequence[Member]) -> list[Member]:
    """Does the collectives at which all devices of a group wait; returns these devices."""
    met = []
    for number in {member.run.pending for member in waiting}:
        members = {member.run.device: member for member in waiting if member.run.pending == number}
        program = next(iter(members.values())).run.program
        instruction = program.calls[number - 1].instruction
        operands: dict[tuple[int, int], list[Value]] = {d: member.run.operands() for d, member in members.items()}
        try:
            with np.errstate(all="ignore"):
                results = evaluate_groups(program.evaluation, instruction, operands)
        except Exception:  # the workers do the collective again, where each device of the group raises the error
            return []
        for device, value in results.items():
            members[device].run.write(value)
            met.append(members[device])
    return met
