"""ShardingRule: which shards of its operands an op needs for a shard of its result. (Shardy: OpShardingRuleAttr.)"""

from __future__ import annotations

import dataclasses


@dataclasses.dataclass(frozen=True, slots=True)
class ShardingRule:
    """How an op is divided.

    Attributes:
        operands: for each operand and each of its dimensions, the result's dimension with which it is divided; None for
            a dimension that every device needs whole.
        whole: the result's dimensions that can't be divided.
    """

    operands: tuple[tuple[int | None, ...], ...]
    whole: tuple[int, ...] = ()
