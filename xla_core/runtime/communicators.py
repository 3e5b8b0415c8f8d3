"""Makes the communicators of executions, and tells those of devices that could not be started."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Iterator

from xla_core.backend.communicator import Communicator
from xla_core.backend.stream_executor import RunOptions
from xla_core.errors import XlaError
from xla_core.hlo.evaluation.environment import Device
from xla_core.hlo.ir.module import HloModule
from xla_core.runtime.in_process_communicator import InProcessCommunicator, end_in_process, started

_starting: dict[int, set[Device]] = {}  # run_id -> the devices that have a communicator, until all are started


@contextlib.contextmanager
def starting(run_id: int) -> Iterator[None]:
    """Notes which devices of an execution get a communicator while it is started."""
    _starting[run_id] = set()
    try:
        yield
    finally:
        del _starting[run_id]
        started(run_id)


def make_communicator(options: RunOptions, timeout_name: str) -> Communicator:
    """Makes the communicator of a device for an execution: the backend's, or else an `InProcessCommunicator`."""
    made = options.executor.create_communicator(options) or InProcessCommunicator(options, timeout_name)
    devices = _starting.get(options.run_id)
    if devices is not None:
        devices.add((options.replica_id, options.partition_id))
    return made


def report_failure(options: RunOptions, run_id: int, module: HloModule, error: XlaError) -> None:
    """Tells the other devices of an execution that the device of `options` could not be started.

    A device that has a communicator has ended it itself.
    """
    from xla_core.schedule.thunk_emitter import is_of_several_devices  # deferred: only failures need it

    device = (options.replica_id, options.partition_id)
    end_in_process(run_id, device, error)
    if device in _starting.get(run_id, ()) or not any(
        is_of_several_devices(i) for computation in module.computations for i in computation.instructions
    ):
        return
    with contextlib.suppress(Exception):  # the device may be lost, and `error` says why
        communicator = options.executor.create_communicator(dataclasses.replace(options, run_id=run_id))
        if communicator is not None:
            communicator.end(error)
