"""The shardings that a function's arguments and results have in Shardy's attributes or XLA's."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from xla_core.spmd import Sharding
from xla_core.spmd.sharding import REPLICATED
from xla_core.stablehlo import ir
from xla_core.stablehlo.sharding.mhlo_sharding import sharding_of, tiled_sharding
from xla_core.stablehlo.sharding.propagation import value_shardings
from xla_core.stablehlo.sharding.shardy import parse_shardings


@dataclasses.dataclass(frozen=True)
class EntryShardings:
    """The sharding of each argument and result; None for one that every device holds whole.

    Attributes:
        values: what the program's shardings imply for the values of the function's block.
    """

    arguments: tuple[Sharding | None, ...]
    results: tuple[Sharding | None, ...]
    values: Mapping[ir.Value, Sharding | None] = dataclasses.field(default_factory=dict)

    @staticmethod
    def none(function: ir.Op) -> EntryShardings:
        block = function.regions[0].block
        return EntryShardings((None,) * len(block.arguments), (None,) * len(block.ops[-1].operands))


def entry_shardings(module: ir.Module, function: ir.Op) -> EntryShardings:
    """Reads the attribute `sdy.sharding` or `mhlo.sharding` of each argument and result.

    In a program for several partitions, a result without the attribute has the sharding that the program's shardings
    imply.

    Raises:
        InvalidArgumentError: for an unknown mesh or axis.
        UnimplementedError: for an `mhlo.sharding` of another kind than replicated, maximal and tiled.
    """
    nothing = EntryShardings.none(function)
    arguments = _read(module, function, "arg_attrs", len(nothing.arguments))
    results = _read(module, function, "res_attrs", len(nothing.results))
    if module.attributes.get("mhlo.num_partitions", 1) != 1:
        values = value_shardings(module, function, arguments)
        returned = function.regions[0].block.ops[-1].operands
        results = tuple(
            sharding if _is_given(function, number) else values.get(returned[number])
            for number, sharding in enumerate(results)
        )
        return EntryShardings(arguments, results, values)
    return EntryShardings(arguments, results)


def _is_given(function: ir.Op, number: int) -> bool:
    """Whether the program says how a result is sharded."""
    given: Any = function.attributes.get("res_attrs") or ()
    attributes = (given[number] or {}) if number < len(given) else {}
    return "sdy.sharding" in attributes or "mhlo.sharding" in attributes


def _read(module: ir.Module, function: ir.Op, name: str, count: int) -> tuple[Sharding | None, ...]:
    given: Any = function.attributes.get(name) or ()
    found: list[Sharding | None] = []
    for number in range(count):
        attributes = (given[number] or {}) if number < len(given) else {}
        attribute = attributes.get("sdy.sharding")
        if attribute is None:
            text = sharding_of(attributes, function.location).get("sharding", REPLICATED)
            sharding = tiled_sharding(text, function)
        else:
            sharding = next(iter(parse_shardings(attribute, module, function)), None)
        found.append(sharding if sharding is not None and sharding.is_divided else None)
    return tuple(found)
