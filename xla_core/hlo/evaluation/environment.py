"""The state around one device while it is evaluated: its ids, its feeds, its channels, and the other devices."""

from __future__ import annotations

import collections
import dataclasses
import threading
import time
from collections.abc import Callable, Hashable, Sequence
from typing import Any

import numpy as np

from xla_core.checks import counted
from xla_core.errors import CancelledError, DeadlineExceededError, FailedPreconditionError, XlaError


class Token:
    """The value of a token. A token orders effects and holds no data."""

    def __repr__(self) -> str:
        return "token"


TOKEN = Token()

Value = Any
"""np.ndarray | tuple[Value, ...] | Token"""

Device = tuple[int, int]
"""(replica, partition)"""


_ALIKE = "every device of a group must run the same collectives"


class Rendezvous:
    """Exchanges values between the devices that run a program.

    Each device of a group contributes a value and receives the values of all. Where a device doesn't contribute within
    `timeout` seconds, every device that waits for it gets a DeadlineExceededError that names it. Where a device failed,
    those that wait get a FailedPreconditionError that names it and has that device's own error as its cause. Devices
    that wait for a waiting device get the same error. Errors tell the user to raise the timeout by `timeout_name`.
    """

    timeout_name = "timeout"

    def __init__(self, timeout: float = 60.0) -> None:
        self.timeout = timeout
        self._changed = threading.Condition()
        self._brought: dict[Hashable, dict[Device, Any]] = {}
        self._combined: dict[Hashable, Any] = {}
        self._taken: collections.Counter[Hashable] = collections.Counter()
        self._mail: dict[Hashable, collections.deque[Any]] = collections.defaultdict(collections.deque)
        self._claims: dict[Hashable, Device] = {}
        self._ended: dict[Device, XlaError | None] = {}
        self._broken: dict[Hashable, XlaError] = {}  # exchanges that failed because a device was missing
        self._raised: set[XlaError] = set()  # errors that already name the device at fault

    def exchange(self, key: Hashable, group: Sequence[Device], me: Device, value: Any) -> list[Any]:
        """Contributes `value` and returns what each device contributed, in the group's order. `key` identifies the
        exchange.
        """
        exchanged: list[Any] = self.combine(key, group, me, value, list)
        return exchanged

    def combine(
        self, key: Hashable, group: Sequence[Device], me: Device, value: Any, function: Callable[[Sequence[Any]], Any]
    ) -> Any:
        """Contributes `value` and returns `function` of the devices' contributions, in the group's order.

        The device that comes last calls the function, for all. If it raises an XlaError, every device raises it. After
        any other exception, the others get an error that the device failed.
        """
        if len(group) == 1:
            return function([value])
        with self._changed:
            if key in self._broken:  # devices that have left may have freed their values
                raise self._passed_on(self._broken[key])
            brought = self._brought.setdefault(key, {})
            brought[me] = value
            is_last = len(brought) == len(group)
        if is_last:  # without the lock, so that other groups can exchange values meanwhile
            try:
                combined = function([brought[d] for d in group])
            except XlaError as error:
                with self._changed:
                    self._broken[key] = error
                    self._changed.notify_all()
                raise
        with self._changed:
            if is_last:  # no device is woken earlier, because all wait for the last one
                self._combined[key] = combined
                self._changed.notify_all()

            def missing() -> Sequence[Device]:
                if key in self._broken:
                    raise self._passed_on(self._broken[key])
                return [d for d in group if d not in brought]

            meeting = f"a meeting of {len(group)} devices"
            try:
                self._wait(missing, meeting)
                last = next(reversed(brought))
                while key not in self._combined:  # no timeout: the function reads the other devices' values
                    if key in self._broken:
                        raise self._passed_on(self._broken[key])
                    if last in self._ended:
                        raise self._gone(last, meeting, self._ended[last])
                    self._changed.wait()
            except XlaError as error:
                self._broken.setdefault(key, error)
                self._changed.notify_all()
                raise
            result = self._combined[key]
            self._taken[key] += 1
            if self._taken[key] == len(group):
                del self._brought[key], self._combined[key], self._taken[key]
            return result

    def claim(self, key: Hashable, device: Device) -> Device:
        """Returns the first device that claimed the key, which may be this one."""
        with self._changed:
            return self._claims.setdefault(key, device)

    def send(self, key: Hashable, value: Any) -> None:
        with self._changed:
            self._mail[key].append(value)
            self._changed.notify_all()

    def receive(self, key: Hashable, senders: Sequence[Device]) -> Any:
        """Waits for the next value under a key, which one of `senders` sends.

        Raises:
            FailedPreconditionError: where no device can send it, or the sender ended or failed.
            DeadlineExceededError: where it doesn't come within the timeout.
        """
        with self._changed:
            if not (senders or self._mail[key]):
                raise FailedPreconditionError(
                    f"the program runs on one device, and no other sends a value to channel {key}",
                    hint="run it on the devices that send; a value of the host is received with is_host_transfer=true",
                )
            self._wait(lambda: [] if self._mail[key] else senders, f"a value from channel {key}")
            return self._mail[key].popleft()

    def end(self, device: Device, error: XlaError | None = None) -> None:
        """Records that a device finished, or failed with `error`, and will contribute nothing more."""
        with self._changed:
            self._ended[device] = error
            self._changed.notify_all()

    def _wait(self, missing: Callable[[], Sequence[Device]], what: str) -> None:
        deadline = time.monotonic() + self.timeout
        while absent := missing():
            gone = [d for d in absent if d in self._ended]
            if gone and (len(gone) == len(absent) or any(self._ended[d] is not None for d in gone)):
                failed = next((d for d in gone if self._ended[d] is not None), gone[0])
                raise self._gone(failed, what, self._ended[failed])
            left = deadline - time.monotonic()
            if left <= 0 or not self._changed.wait(left):
                if not (absent := missing()):
                    return
                raise self._blaming(
                    DeadlineExceededError(
                        f"{', '.join(device_name(d) for d in absent)} did not reach {what} within {self.timeout:g} s",
                        hint=f"{_ALIKE}; where one is only slow, raise {self.timeout_name}",
                    )
                )

    def _gone(self, device: Device, what: str, error: XlaError | None) -> XlaError:
        """Returns the error for a device that waits for one that has ended, or has failed with `error`."""
        if error is not None and error in self._raised:
            return self._passed_on(error)  # that device was itself waiting for another
        if error is None:
            failed = FailedPreconditionError(f"{device_name(device)} ended before it reached {what}", hint=_ALIKE)
        else:
            failed = FailedPreconditionError(
                f"{device_name(device)} failed before it reached {what}: {error.code.name}: {error.message}",
                hint=error.hint or "that device's own error, with its location, is the cause of this one",
            )
            failed.__cause__ = error
        return self._blaming(failed)

    def _passed_on(self, error: XlaError) -> XlaError:
        """Copies an error for one more device, so that the copy can carry that device's own location."""
        copy = type(error)(error.message, hint=error.hint)
        copy.__cause__ = error.__cause__
        return self._blaming(copy)

    def _blaming(self, error: XlaError) -> XlaError:
        self._raised.add(error)
        return error


class Alone(Rendezvous):
    """The rendezvous of one device that runs alone: an exchange with another device raises an error at once.

    `replicas` and `partitions` are the counts that the program declares.
    """

    def __init__(self, program: str, replicas: int, partitions: int) -> None:
        super().__init__(0.0)
        self._program = program
        self._count = (
            f"{counted(replicas * partitions, 'device')} "
            f"({counted(replicas, 'replica')} x {counted(partitions, 'partition')})"
        )
        self._single = replicas * partitions == 1

    def _wait(self, missing: Callable[[], Sequence[Device]], what: str) -> None:
        if missing():
            needs = f"{self._program} has {what}" if self._single else f"{self._program} runs on {self._count}"
            raise FailedPreconditionError(
                f"{needs}; evaluate runs one",
                hint="run them all: xla_core.hlo.evaluate_replicas(module, [arguments of the first device, ...])",
            )


def device_name(device: Device) -> str:
    return f"replica {device[0]}, partition {device[1]}"


@dataclasses.dataclass
class Environment:
    """The surroundings of one device.

    `seed` starts the generator of `rng`, whose numbers are the evaluator's own. `rng_state` is the first state of
    rng-get-and-update-state. It starts at XLA's value (xla/backends/cpu/runtime/rng_state_lib.cc), so that a program
    draws the same numbers as under XLA.
    """

    replica: int = 0
    partition: int = 0
    num_replicas: int = 1
    num_partitions: int = 1
    rendezvous: Rendezvous = dataclasses.field(default_factory=lambda: Rendezvous(0.0))
    infeed: collections.deque[Value] = dataclasses.field(default_factory=collections.deque)
    outfeed: list[Value] = dataclasses.field(default_factory=list)
    sent: dict[int, list[Value]] = dataclasses.field(default_factory=dict)  # to the host, by channel
    to_receive: dict[int, collections.deque[Value]] = dataclasses.field(default_factory=dict)  # from the host
    next_infeed: Callable[[], Value] | None = None  # called when `infeed` is empty
    cancelled: threading.Event = dataclasses.field(default_factory=threading.Event)
    seed: int = 42
    _meetings: collections.Counter[Hashable] = dataclasses.field(default_factory=collections.Counter)
    _random: np.random.Generator | None = None
    rng_state: int = 0x7012395

    @property
    def device(self) -> Device:
        return self.replica, self.partition

    @property
    def random(self) -> np.random.Generator:
        """The generator behind `rng`. It keeps its state between calls."""
        if self._random is None:
            self._random = np.random.Generator(np.random.Philox(key=[self.seed, self.replica]))
        return self._random

    def exchange(self, key: Hashable, group: Sequence[Device], value: Any) -> list[Any]:
        """Exchanges values with the group. The n-th call with one key and group meets the others' n-th call."""
        return self.rendezvous.exchange(self._meeting(key, group), group, self.device, value)

    def combine(
        self, key: Hashable, group: Sequence[Device], value: Any, function: Callable[[Sequence[Any]], Any]
    ) -> Any:
        """Does what `exchange` does, and returns `function` of the values, which one device of the group calls."""
        return self.rendezvous.combine(self._meeting(key, group), group, self.device, value, function)

    def _meeting(self, key: Hashable, group: Sequence[Device]) -> Hashable:
        meeting = (key, tuple(group))
        self._meetings[meeting] += 1
        return meeting, self._meetings[meeting]

    def take_infeed(self) -> Value:
        if self.infeed:
            return self.infeed.popleft()
        if self.next_infeed is not None:
            return self.next_infeed()
        raise FailedPreconditionError("the infeed is empty", hint="put a value in before the program takes it")

    def check_cancelled(self) -> None:
        if self.cancelled.is_set():
            raise CancelledError("the evaluation was cancelled")
