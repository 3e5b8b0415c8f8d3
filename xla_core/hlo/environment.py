"""What a replica sees of the world while it is evaluated: its number, its feeds, its channels, the other replicas."""

from __future__ import annotations

import collections
import dataclasses
import threading
import time
from collections.abc import Callable, Hashable, Sequence
from typing import Any

import numpy as np

from xla_core.errors import CancelledError, DeadlineExceededError, FailedPreconditionError, XlaError

__all__ = ["TOKEN", "Alone", "Device", "Environment", "Rendezvous", "Token", "Value", "device_name"]


class Token:
    """The value of a token: it orders effects and holds nothing."""

    def __repr__(self) -> str:
        return "token"


TOKEN = Token()

Value = Any
"""np.ndarray | tuple[Value, ...] | Token"""

Device = tuple[int, int]
"""(replica, partition)"""


_ALIKE = "every device of a group must run the same collectives"


class Rendezvous:
    """Where the devices of a group meet: each brings something, each leaves with what all brought.

    A device that doesn't come within `timeout` seconds gives all that wait a DeadlineExceededError that names it, also
    those that wait for one that waited for it; one that failed a FailedPreconditionError that names it, whose cause is
    that device's own error. `timeout_name` is what a user can set the timeout by, for errors.
    """

    timeout_name = "timeout"

    def __init__(self, timeout: float = 60.0) -> None:
        self.timeout = timeout
        self._changed = threading.Condition()
        self._brought: dict[Hashable, dict[Device, Any]] = {}
        self._taken: collections.Counter[Hashable] = collections.Counter()
        self._mail: dict[Hashable, collections.deque[Any]] = collections.defaultdict(collections.deque)
        self._claims: dict[Hashable, Device] = {}
        self._ended: dict[Device, XlaError | None] = {}
        self._broken: dict[Hashable, XlaError] = {}  # meetings that somebody was missing from
        self._raised: set[XlaError] = set()  # they name the device whose fault it is

    def exchange(self, key: Hashable, group: Sequence[Device], me: Device, value: Any) -> list[Any]:
        """What each device of the group brought, in the group's order. `key` tells one meeting from another."""
        if len(group) == 1:
            return [value]
        with self._changed:
            brought = self._brought.setdefault(key, {})
            brought[me] = value
            self._changed.notify_all()

            def missing() -> Sequence[Device]:
                if key in self._broken:
                    raise self._passed_on(self._broken[key])
                return [d for d in group if d not in brought]

            try:
                self._wait(missing, f"a meeting of {len(group)} devices")
            except XlaError as error:
                self._broken.setdefault(key, error)
                self._changed.notify_all()
                raise
            result = [brought[d] for d in group]
            self._taken[key] += 1
            if self._taken[key] == len(group):
                del self._brought[key], self._taken[key]
            return result

    def claim(self, key: Hashable, device: Device) -> Device:
        """The first device that claimed the key: this one, unless another came before."""
        with self._changed:
            return self._claims.setdefault(key, device)

    def send(self, key: Hashable, value: Any) -> None:
        with self._changed:
            self._mail[key].append(value)
            self._changed.notify_all()

    def receive(self, key: Hashable, senders: Sequence[Device]) -> Any:
        """The next value under a key, which one of `senders` will send."""
        with self._changed:
            if not (senders or self._mail[key]):
                raise FailedPreconditionError(
                    f"the program runs on one device, and no other sends a value to channel {key}",
                    hint="run it on the devices that send; a value of the host is received with is_host_transfer=true",
                )
            self._wait(lambda: [] if self._mail[key] else senders, f"a value from channel {key}")
            return self._mail[key].popleft()

    def end(self, device: Device, error: XlaError | None = None) -> None:
        """A device will bring nothing more: it has finished, or failed."""
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
                        f"{', '.join(device_name(d) for d in absent)} did not come to {what} within {self.timeout:g} s",
                        hint=f"{_ALIKE}; where one is only slow, raise {self.timeout_name}",
                    )
                )

    def _gone(self, device: Device, what: str, error: XlaError | None) -> XlaError:
        """The error of who waits for a device that has ended, or failed with `error`."""
        if error is not None and error in self._raised:
            return self._passed_on(error)  # it only waited itself
        if error is None:
            failed = FailedPreconditionError(f"{device_name(device)} ended before it came to {what}", hint=_ALIKE)
        else:
            failed = FailedPreconditionError(
                f"{device_name(device)} failed before it came to {what}: {error.code.name}: {error.message}",
                hint=error.hint or "that device's own error, with its place, is the cause of this one",
            )
            failed.__cause__ = error
        return self._blaming(failed)

    def _passed_on(self, error: XlaError) -> XlaError:
        """An error for one more device, which adds the place where it was itself."""
        copy = type(error)(error.message, hint=error.hint)
        copy.__cause__ = error.__cause__
        return self._blaming(copy)

    def _blaming(self, error: XlaError) -> XlaError:
        self._raised.add(error)
        return error


class Alone(Rendezvous):
    """Where one device runs of a program of `replicas` x `partitions`: what needs another is an error at once."""

    def __init__(self, program: str, replicas: int, partitions: int) -> None:
        super().__init__(0.0)
        self._program = program
        self._count = f"{replicas * partitions} devices ({replicas} replicas x {partitions} partitions)"
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
    """One device's surroundings.

    `seed` is what `rng` starts from; its numbers are the evaluator's own. `rng_state` is what rng-get-and-update-state
    gives first. That number is XLA's (xla/backends/cpu/runtime/rng_state_lib.cc), so that a program which draws by it
    draws the same wherever it first runs.
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
        """The generator behind `rng`; it goes on from call to call."""
        if self._random is None:
            self._random = np.random.Generator(np.random.Philox(key=[self.seed, self.replica]))
        return self._random

    def exchange(self, key: Hashable, group: Sequence[Device], value: Any) -> list[Any]:
        """Meets the group; the n-th meeting of a group under a key is one, whoever comes first."""
        meeting = (key, tuple(group))
        self._meetings[meeting] += 1
        return self.rendezvous.exchange((meeting, self._meetings[meeting]), group, self.device, value)

    def take_infeed(self) -> Value:
        if self.infeed:
            return self.infeed.popleft()
        if self.next_infeed is not None:
            return self.next_infeed()
        raise FailedPreconditionError("the infeed is empty", hint="put a value in before the program takes it")

    def check_cancelled(self) -> None:
        if self.cancelled.is_set():
            raise CancelledError("the evaluation was cancelled")
