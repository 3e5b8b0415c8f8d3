"""Communicator: the collectives between the devices of one execution. (XLA: xla/core/collectives/communicator.h.)"""

from __future__ import annotations

import abc
from collections.abc import Sequence
from typing import TYPE_CHECKING

from xla_core.backend.device_memory import DeviceMemory
from xla_core.backend.stream import Stream
from xla_core.errors import XlaError
from xla_core.handle import Handle

if TYPE_CHECKING:
    from xla_core.schedule import CollectiveThunk  # loaded only by backends that run thunks


class Communicator(Handle, abc.ABC):
    """Runs the collectives of one execution on one device.

    `StreamExecutor.create_communicator` makes one for each execution that has collectives. All devices of the execution
    enqueue the same collectives of a group in the same order.
    """

    @abc.abstractmethod
    def enqueue(
        self,
        stream: Stream,
        collective: CollectiveThunk,
        operands: Sequence[DeviceMemory],
        results: Sequence[DeviceMemory],
    ) -> None:
        """Enqueues this device's part of a collective, without blocking.

        In the stream's order, it reads `operands`, waits for the other devices and writes `results`. A failure or a
        timeout poisons the stream.

        Args:
            stream: the stream of this device's execution.
            collective: its `instruction` says which op it is: a collective, a `send` or `recv-done` between devices,
                `replica-id` or `partition-id`.
            operands, results: the memory of the array leaves of the instruction's operands and results.
        """

    @abc.abstractmethod
    def end(self, error: XlaError | None) -> None:
        """Records that this device has finished its part of the execution, or failed with `error`.

        The other devices then stop waiting for it.
        """
