"""StableHLO modules as plain data. Two modules are the same if and only if their trees are equal."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from xla_core.stablehlo import Block, Module, Op, Value

_DEFAULTS: dict[str, Any] = {"api_version": 1, "called_computations": (), "has_side_effect": False}
"""Attributes that MLIR's pretty form leaves out where they have these values, and its generic form spells out."""


class Tree(NamedTuple):
    name: str
    attributes: Any
    functions: dict[str, Any]
    others: list[Any]


def tree(module: Module) -> Tree:
    """A module's name, attributes, functions by name, and other ops, without names of values and locations."""
    functions = {name: _op(function, {}) for name, function in module.functions.items()}
    return Tree(module.name, _attributes(module.attributes), functions, [_op(op, {}) for op in module.others])


def _value(value: Value, numbers: dict[Value, int]) -> Any:
    return numbers.setdefault(value, len(numbers)), value.type


def _op(op: Op, numbers: dict[Value, int]) -> Any:
    return (
        op.name,
        [numbers[operand] for operand in op.operands],
        [_value(result, numbers) for result in op.results],
        _attributes(op.attributes),
        [[_block(block, numbers) for block in region.blocks] for region in op.regions],
    )


def _block(block: Block, numbers: dict[Value, int]) -> Any:
    return [_value(a, numbers) for a in block.arguments], [_op(op, numbers) for op in block.ops]


def _attributes(values: Mapping[str, Any]) -> Any:
    return {
        name: _described(item)
        for name, item in values.items()
        if _DEFAULTS.get(name) != item and not _is_default_accuracy(item)
    }


def _is_default_accuracy(item: Any) -> bool:
    return type(item).__name__ == "ResultAccuracy" and item == type(item)()


def _described(item: Any) -> Any:
    """An attribute's value with its class, type and kind, which `==` doesn't compare."""
    if isinstance(item, dict):
        return {name: _described(inner) for name, inner in item.items()}
    if type(item) is tuple:
        return tuple(_described(inner) for inner in item)
    return type(item).__name__, *(getattr(item, name, None) for name in ("type", "kind", "element")), item
