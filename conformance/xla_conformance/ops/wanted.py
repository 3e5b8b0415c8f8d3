"""What the cases of an op promise to show: values of attributes, numbers of operands, sizes and their places."""

from __future__ import annotations

from collections.abc import Iterator

from xla_conformance.ops.features import (
    FEW_OPERANDS,
    MANY,
    SIZE_GROUPS,
    SPOTS,
    Feature,
    count_name,
    group_name,
    value_names,
)
from xla_conformance.ops.reasons import LARGEST_SIZE, NO_CASE, NO_VALUE
from xla_core.hlo import OPS, Opcode, OpDef

_EXACT_SIZES = ("0", "1", *(str(2**k + i) for k in range(2, 13) for i in (-1, 0, 1)), MANY)


def wanted_features(opcode: Opcode, every_type: bool) -> list[Feature]:
    """Returns the features that an op's cases have to show, but for those that have a reason to be left out.

    With `every_type`, these are also single sizes: as the one dimension of an array, and as the first, the last, and
    one between. Without it, one of each group of sizes does.
    """
    if opcode in NO_CASE:
        return []
    op = OPS[opcode]
    features = [(name, value) for name, attribute in op.attributes.items() for value in value_names(name, attribute)]
    features += [("operands", count) for count in _operand_counts(op)]
    features += _sizes(LARGEST_SIZE.get(opcode, (1 << 62, ""))[0], every_type)
    return [feature for feature in features if not has_reason(opcode, *feature)]


def _sizes(largest: int, every_type: bool) -> Iterator[Feature]:
    if not every_type:
        yield from (("size", group_name(group)) for group in SIZE_GROUPS if group[0] <= largest)
        return
    sizes = [size for size in _EXACT_SIZES if (65537 if size == MANY else int(size)) <= largest]
    yield from (("size", size) for size in sizes)
    yield from (("place", f"{size} {spot}") for size in sizes[1:] if size != MANY for spot in SPOTS)


def has_reason(opcode: Opcode, name: str, value: str) -> bool:
    """Whether `NO_VALUE` says why no case of an op shows a feature, or is of a type."""
    at_any_size = f"* {value.rpartition(' ')[2]}"
    return any((opcode.value, name, v) in NO_VALUE for v in (value, "*", at_any_size))


def _operand_counts(op: OpDef) -> list[str]:
    if isinstance(op.arity, int):
        return []
    least, most = op.arity
    return list(dict.fromkeys(count_name(n) for n in range(least, 1 + (most or FEW_OPERANDS + 1))))
