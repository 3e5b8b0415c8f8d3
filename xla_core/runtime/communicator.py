"""Communicators: where the devices of one sharded execution that live in this process meet."""

from __future__ import annotations

import os
import threading
from collections.abc import Sequence

from xla_core.backend.executable import RunOptions
from xla_core.errors import XlaError
from xla_core.hlo.environment import Device, Rendezvous

__all__ = ["InProcessCommunicator", "communicator_of", "report_failure"]

_lock = threading.Lock()
_running: dict[int, InProcessCommunicator] = {}  # by run_id


class InProcessCommunicator(Rendezvous):
    """A Rendezvous of one execution. `devices` are its (replica, partition)s; each calls `end` when it is through.

    What is brought to `exchange` and `send` is handed on as it is: it must not change any more.
    """

    timeout_name = (
        'the backend\'s option collective_timeout: CompileOptions(backend={"collective_timeout": 300}), or --set '
        "collective_timeout=300"
    )

    def __init__(self, run_id: int, devices: Sequence[Device], timeout: float) -> None:
        super().__init__(timeout)
        self.run_id = run_id
        self.devices = tuple(devices)
        self._left = set(devices)

    def end(self, device: Device, error: XlaError | None = None) -> None:
        """A device will bring nothing more; with `error`, those who wait for it get one that names it."""
        with _lock:
            if device not in self._left:
                return
            self._left.discard(device)
            if not self._left:
                _running.pop(self.run_id, None)
        super().end(device, error)


def communicator_of(options: RunOptions, timeout: float) -> InProcessCommunicator:
    """The communicator of an execution, the same for all its devices. An execution on one device meets nobody.

    `timeout`: seconds that a device waits for another.
    """
    assignment = options.device_assignment
    devices = [(r, p) for r, row in enumerate(assignment) for p in range(len(row))]
    if not options.run_id or len(devices) == 1:
        return InProcessCommunicator(0, devices, timeout)
    with _lock:
        found = _running.get(options.run_id)
        if found is None:
            found = _running[options.run_id] = InProcessCommunicator(options.run_id, devices, timeout)
        return found


def report_failure(run_id: int, device: Device, error: XlaError) -> None:
    """A device of an execution could not be started; nothing where its devices don't communicate."""
    with _lock:
        found = _running.get(run_id)
    if found is not None:
        found.end(device, error)


def _after_fork() -> None:
    global _lock
    _lock = threading.Lock()
    _running.clear()


os.register_at_fork(after_in_child=_after_fork)
