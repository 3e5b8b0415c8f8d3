"""The device groups of collectives: made and checked in one place."""

from __future__ import annotations

import dataclasses
import enum
import functools
import itertools
from collections.abc import Iterable, Sequence

from xla_core.checks import counted
from xla_core.errors import InvalidArgumentError
from xla_core.hlo.evaluation.environment import Device
from xla_core.hlo.evaluation.evaluation_context import EvaluationContext
from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.hlo.table.attributes import ReplicaGroups
from xla_core.hlo.table.op_table import OPS, Attributes, GroupRule
from xla_core.hlo.table.opcode import Opcode

DeviceCounts = tuple[int | None, int | None]
"""The numbers of replicas and partitions that a program runs on; None where not known yet."""

DEVICE_COUNTS = "device_counts"
"""The attribute by which a verifier passes known device counts to a collective's shape rule."""


class GroupMode(enum.Enum):
    """The meaning of the numbers in a collective's groups. (XLA: CollectiveOpGroupMode.)"""

    CROSS_REPLICA = enum.auto()  # replicas, within the device's own partition
    CROSS_PARTITION = enum.auto()  # partitions, within the device's own replica
    CROSS_REPLICA_AND_PARTITION = enum.auto()  # replicas, each with all of its partitions
    FLATTENED_ID = enum.auto()  # devices: replica * num_partitions + partition

    @property
    def noun(self) -> str:
        return {GroupMode.CROSS_PARTITION: "partition", GroupMode.FLATTENED_ID: "device"}.get(self, "replica")


_SHOWN = 8
"""How many groups, and how many devices of a group, an error lists."""


@dataclasses.dataclass(frozen=True, slots=True)
class CollectiveGroups:
    """The groups of a collective. No groups at all mean one group of all devices.

    `of` makes and checks them. Checks that need the device counts are made where these are given.
    """

    mode: GroupMode
    groups: ReplicaGroups
    replicas: int | None = None
    partitions: int | None = None

    @staticmethod
    def of(opcode: Opcode, attributes: Attributes, counts: DeviceCounts | None = None) -> CollectiveGroups:
        """Makes the groups of an op with these attributes.

        Raises:
            InvalidArgumentError: for groups that no program can have, or that cannot run on `counts`.
        """
        return _checked(
            opcode,
            tuple(map(tuple, attributes.get("replica_groups") or ())),
            (attributes.get("channel_id") or 0) > 0,
            bool(attributes.get("use_global_device_ids")),
            *(counts or attributes.get(DEVICE_COUNTS) or (None, None)),
        )

    @property
    def count(self) -> int | None:
        """The number of replicas, partitions or devices, whichever the groups contain; None where not known."""
        match self.mode:
            case GroupMode.CROSS_PARTITION:
                return self.partitions
            case GroupMode.FLATTENED_ID if self.replicas or self.partitions:
                return (self.replicas or 1) * (self.partitions or 1)
            case GroupMode.FLATTENED_ID:
                return None
        return self.replicas

    @property
    def size(self) -> int | None:
        """The number of devices in each group; None where it is not known or the groups differ."""
        sizes = {len(group) for group in self.groups} if self.groups else {self.count}
        size = sizes.pop() if len(sizes) == 1 else None
        if size is None or self.mode is not GroupMode.CROSS_REPLICA_AND_PARTITION:
            return size
        return size * self.partitions if self.partitions else None

    def of_device(self, device: Device) -> tuple[Device, ...]:
        """Returns the devices of this device's group in the group's order; none where it is in no group.

        The device counts must be known.
        """
        assert self.count is not None
        assert self.partitions is not None
        replica, partition = device
        own = {
            GroupMode.CROSS_PARTITION: partition,
            GroupMode.FLATTENED_ID: replica * self.partitions + partition,
        }.get(self.mode, replica)
        groups: Sequence[Sequence[int]] = self.groups or (range(self.count),)
        group = next((group for group in groups if own in group), ())
        match self.mode:
            case GroupMode.CROSS_REPLICA:
                return tuple((r, partition) for r in group)
            case GroupMode.CROSS_PARTITION:
                return tuple((replica, p) for p in group)
            case GroupMode.CROSS_REPLICA_AND_PARTITION:
                return tuple((r, p) for p in range(self.partitions) for r in group)
            case GroupMode.FLATTENED_ID:
                return tuple((i // self.partitions, i % self.partitions) for i in group)

    def of_devices(self) -> tuple[tuple[Device, ...], ...]:
        """Returns the groups of all devices, each group once. The device counts must be known."""
        return _groups_of_devices(self)

    def check_number(self, number: int, where: str) -> None:
        """Raises InvalidArgumentError where no device has the number."""
        count, noun = self.count, self.mode.noun
        if number < 0 or (count is not None and number >= count):
            there = "numbers are not negative" if count is None else f"the program runs on {counted(count, noun)}"
            raise InvalidArgumentError(f"{where} names {noun} {number}; {there}", hint=_hint(count, noun))


@functools.lru_cache(maxsize=64)  # bounded, because groups may be long
def _groups_of_devices(groups: CollectiveGroups) -> tuple[tuple[Device, ...], ...]:
    devices = itertools.product(range(groups.replicas or 0), range(groups.partitions or 0))
    return tuple(dict.fromkeys(filter(None, map(groups.of_device, devices))))


@functools.lru_cache(maxsize=64)  # bounded, because groups may be long
def _checked(
    opcode: Opcode, groups: ReplicaGroups, channel: bool, flattened: bool, replicas: int | None, partitions: int | None
) -> CollectiveGroups:
    rule = OPS[opcode].groups
    assert rule is not None
    made = CollectiveGroups(_mode(rule, channel, flattened), groups, replicas, partitions)
    if not groups:
        return made
    noun, text = made.mode.noun, f"replica_groups={_text(groups)}"
    numbers = [number for group in groups for number in group]
    seen: set[int] = set()
    for number in numbers:
        made.check_number(number, text)
        if number in seen:
            raise InvalidArgumentError(f"{text} names {noun} {number} twice", hint="each is in one group at most")
        seen.add(number)
    if not all(groups):
        raise InvalidArgumentError(f"{text} has an empty group", hint="no groups at all are one of everybody: {}")
    if rule.equal and len({len(group) for group in groups}) > 1:
        raise InvalidArgumentError(f"{text} has groups of different sizes, which {opcode} cannot have")
    missing = _missing(seen, made.count) if rule.complete else None
    if missing is not None:
        known = "" if made.count is None else f"; the program runs on {counted(made.count, noun)}"
        raise InvalidArgumentError(
            f"{text} has {noun} {missing} in no group{known}",
            hint=f"every {noun} must be in one group; one alone can be a group of its own",
        )
    return made


def _missing(seen: set[int], count: int | None) -> int | None:
    """Returns the first number that is in no group.

    Where the count is not known, it is taken as the largest number in `seen` plus one.
    """
    least = max(seen) + 1 if count is None else count
    if len(seen) == least:
        return None
    return next(number for number in range(least) if number not in seen)


def _mode(rule: GroupRule, channel: bool, flattened: bool) -> GroupMode:
    """Returns the group mode of an op's attributes. (XLA: GetCollectiveOpGroupMode.)"""
    if flattened and not channel:
        raise InvalidArgumentError("use_global_device_ids without a channel", hint="give it a channel_id of 1 or more")
    if flattened:
        return GroupMode.FLATTENED_ID
    if not channel:
        return GroupMode.CROSS_REPLICA
    return GroupMode.CROSS_PARTITION if rule.of_partitions else GroupMode.CROSS_REPLICA_AND_PARTITION


def groups_of(context: EvaluationContext, instruction: HloInstruction) -> CollectiveGroups:
    """Returns the groups of the devices that run the program.

    Raises:
        InvalidArgumentError: where the devices that run the program can't have such groups.
    """
    counts = context.environment.num_replicas, context.environment.num_partitions
    return CollectiveGroups.of(instruction.opcode, instruction.attributes, counts)


def _text(groups: ReplicaGroups) -> str:
    """Formats the first few groups as in HLO text."""
    return _listed([_listed(map(str, group), len(group)) for group in groups[:_SHOWN]], len(groups))


def _listed(parts: Iterable[str], count: int) -> str:
    rest = [] if count <= _SHOWN else ["..."]
    return "{" + ",".join([*itertools.islice(parts, _SHOWN), *rest]) + "}"


def _hint(count: int | None, noun: str) -> str | None:
    if count is None:
        return None
    return (
        f"they are numbered from 0; if there are more {noun}s, say so: replica_count= and num_partitions= in the "
        "program's first line, or num_replicas and num_partitions in CompileOptions"
    )
