"""InProcessCommunicator: the collectives between the devices of one process, exchanged in the host's memory."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from xla_core.backend.communicator import Communicator
from xla_core.backend.device_memory import DeviceMemory
from xla_core.backend.stream import Stream
from xla_core.backend.stream_executor import RunOptions
from xla_core.errors import XlaError
from xla_core.hlo.evaluation.environment import Device, Environment, Rendezvous

if TYPE_CHECKING:
    from xla_core.schedule import CollectiveThunk  # loaded only by backends that run thunks


class InProcessRendezvous(Rendezvous):
    """The rendezvous of the devices of one execution in this process. Each device calls `end` when it is done.

    `exchange` and `send` pass values on without a copy, so the values must not change afterwards.

    Attributes:
        when_failed: called when a device has failed or could not be started. A backend that waits until all devices are
            started then starts the devices that it has.
    """

    def __init__(self, run_id: int, devices: Sequence[Device], timeout: float, timeout_name: str) -> None:
        super().__init__(timeout)
        self.timeout_name = timeout_name
        self.run_id = run_id
        self.devices = tuple(devices)
        self.when_failed: Callable[[], None] = lambda: None
        self._left = set(devices)

    def end(self, device: Device, error: XlaError | None = None) -> None:
        """Records that the device is done, or failed with `error`.

        Devices that wait for it get an error that names it.
        """
        with _lock:
            if device not in self._left:
                return
            self._left.discard(device)
            if not self._left:
                _running.pop(self.run_id, None)
        super().end(device, error)
        if error is not None:
            self.when_failed()

    def close(self) -> None:
        """Ends all devices, none of which waits for another."""
        with _lock:
            _running.pop(self.run_id, None)
            self._left.clear()


_lock = threading.Lock()
_running: dict[int, InProcessRendezvous] = {}  # key: run_id
_failed: dict[int, dict[Device, XlaError]] = {}  # the same key: devices that failed before any had a rendezvous


def rendezvous_of(options: RunOptions, timeout: float, timeout_name: str) -> InProcessRendezvous:
    """Returns the rendezvous of an execution, which all its devices share.

    An execution on one device gets a rendezvous of its own.

    Args:
        options: the options of the run.
        timeout: seconds that a device waits for another.
        timeout_name: the option or flag by which a user sets the timeout; errors name it.
    """
    assignment = options.device_assignment
    devices = [(r, p) for r, row in enumerate(assignment) for p in range(len(row))]
    if not options.run_id or len(devices) == 1:
        return InProcessRendezvous(0, devices, timeout, timeout_name)
    with _lock:
        found = _running.get(options.run_id)
        if found is None:
            found = _running[options.run_id] = InProcessRendezvous(options.run_id, devices, timeout, timeout_name)
        failed = _failed.pop(options.run_id, {})
    for device, error in failed.items():
        found.end(device, error)
    return found


def end_in_process(run_id: int, device: Device, error: XlaError) -> None:
    """Ends a device of an execution that could not be started. Other devices may be started later, until `started`."""
    with _lock:
        found = _running.get(run_id)
        if found is None:
            _failed.setdefault(run_id, {})[device] = error
    if found is not None:
        found.end(device, error)


def started(run_id: int) -> None:
    """Records that no device of an execution will be started any more."""
    with _lock:
        _failed.pop(run_id, None)


class InProcessCommunicator(Communicator):
    """The default communicator, which works for any device.

    It copies operands to the host and exchanges them there. Each device computes its result by the op table's
    definition.

    Args:
        options: the options of the run.
        timeout_name: the option by which a user sets `options.collective_timeout`; errors name it.
    """

    def __init__(self, options: RunOptions, timeout_name: str) -> None:
        # Imported here, so that a backend loads quickly.
        from xla_core.hlo.evaluation.evaluation_context import EvaluationContext

        self._manager = options.transfer_manager
        self._device = (options.replica_id, options.partition_id)
        self._rendezvous = rendezvous_of(options, options.collective_timeout, timeout_name)
        environment = Environment(
            replica=options.replica_id,
            partition=options.partition_id,
            num_replicas=len(options.device_assignment),
            num_partitions=len(options.device_assignment[0]),
            rendezvous=self._rendezvous,
        )
        self._evaluation = EvaluationContext(environment)

    def enqueue(
        self,
        stream: Stream,
        collective: CollectiveThunk,
        operands: Sequence[DeviceMemory],
        results: Sequence[DeviceMemory],
    ) -> None:
        from xla_core.hlo.evaluation.evaluation_context import flatten_value, unflatten_value

        manager, instruction = self._manager, collective.instruction
        operand_shapes, result_shapes = collective.operand_shapes, collective.result_shapes
        brought = [
            manager.transfer_from_device_async(stream, memory, shape)
            for memory, shape in zip(operands, operand_shapes, strict=True)
        ]
        taken = [np.empty(manager.byte_size(shape), np.uint8) for shape in result_shapes]

        def meet() -> None:
            arrays = iter([manager.from_device(d, s) for d, s in zip(brought, operand_shapes, strict=True)])
            values = [unflatten_value(operand.shape, arrays) for operand in instruction.operands]
            with np.errstate(all="ignore"):
                value = self._evaluation.evaluate(instruction, values)
            leaves = zip(instruction.shape.leaves(), flatten_value(value), strict=True)
            made = [array for shape, array in leaves if shape.is_array]
            for array, shape, data in zip(made, result_shapes, taken, strict=True):
                laid_out = manager.to_device(array, shape)
                data[: laid_out.size] = laid_out

        stream.host_callback(meet)
        for memory, data in zip(results, taken, strict=True):
            stream.memcpy_h2d(memory, data)

    def end(self, error: XlaError | None) -> None:
        self._rendezvous.end(self._device, error)


def _after_fork() -> None:
    global _lock
    _lock = threading.Lock()
    _running.clear()
    _failed.clear()


os.register_at_fork(after_in_child=_after_fork)
