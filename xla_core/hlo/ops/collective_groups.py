"""Which devices take part in a collective together, and how they meet."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from xla_core.errors import InvalidArgumentError

if TYPE_CHECKING:
    from xla_core.hlo.environment import Value
    from xla_core.hlo.evaluator import EvaluationContext
    from xla_core.hlo.instruction import HloInstruction

__all__ = ["Device", "meet", "own_group", "participants"]

Device = tuple[int, int]
"""(replica, partition)"""


def participants(context: EvaluationContext, instruction: HloInstruction, *, pairs_partitions: bool) -> list[Device]:
    """The devices of this one's group, in the group's order; empty where no group has it.

    Without a channel, groups are of replicas (of this partition). With one, they are of partitions (of this replica)
    where `pairs_partitions`, else of replicas with all their partitions; with use_global_device_ids, of devices, by
    replica * num_partitions + partition. (XLA: xla/service/collective_ops_utils.h, CollectiveOpGroupMode.)
    """
    environment = context.environment
    replica, partition = environment.device
    replicas, partitions = range(environment.num_replicas), range(environment.num_partitions)
    groups = instruction.attribute("replica_groups")
    channel = instruction.attributes.get("channel_id") or 0
    if channel > 0 and instruction.attributes.get("use_global_device_ids"):
        count = len(partitions)
        groups = groups or (tuple(range(len(replicas) * count)),)
        named = [[divmod(i, count) for i in group] for group in groups]
    elif channel > 0 and pairs_partitions:
        named = [[(replica, p) for p in group] for group in groups or (tuple(partitions),)]
    elif channel > 0:
        named = [[(r, p) for p in partitions for r in group] for group in groups or (tuple(replicas),)]
    else:
        named = [[(r, partition) for r in group] for group in groups or (tuple(replicas),)]
    return next((group for group in named if (replica, partition) in group), [])


def own_group(
    context: EvaluationContext, instruction: HloInstruction, *, pairs_partitions: bool = False
) -> list[Device]:
    group = participants(context, instruction, pairs_partitions=pairs_partitions)
    if not group:
        raise InvalidArgumentError(f"no replica group has device {context.environment.device}")
    return group


def meet(context: EvaluationContext, instruction: HloInstruction, group: Sequence[Device], value: Value) -> list[Value]:
    return context.environment.exchange(instruction.name, group, value)
