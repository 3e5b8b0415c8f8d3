"""Infers shardings of a program's results that have none.

Shardings are carried forward from arguments, sharding constraints and manual computations: through ops whose result has
the dimensions of an operand, and through a few that move dimensions. Any sharding of a result is right. This one keeps
shards that the program has, and is in most cases what Shardy's propagation finds.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence

from xla_core.hlo.ops.custom_calls import SHARD_TO_FULL
from xla_core.spmd import Sharding
from xla_core.stablehlo import ir
from xla_core.stablehlo.sharding.mhlo_sharding import sharding_of, tiled_sharding
from xla_core.stablehlo.sharding.result_shardings import sizes_of
from xla_core.stablehlo.sharding.shardy import axis_names, parse_shardings
from xla_core.stablehlo.table.op_table import OPS

Shardings = tuple[Sharding | None, ...]


def value_shardings(module: ir.Module, function: ir.Op, arguments: Shardings) -> Mapping[ir.Value, Sharding | None]:
    """Returns the shardings of the values of a function's block, given those of its arguments.

    None, or a value that is left out, stands for an array that every device holds whole.
    """
    return _Propagation(module).values(function, arguments)


def is_split(sharding: Sharding | None, type: ir.Type) -> bool:
    """Whether a sharding splits a tensor into equal shards, of which there are several."""
    if sharding is None or not isinstance(type, ir.TensorType) or len(sharding.dimensions) != type.rank:
        return False
    return sharding.is_divided and not any(
        size == ir.DYNAMIC or size % count for size, count in zip(type.shape, sharding.shard_counts, strict=True)
    )


class _Propagation:
    def __init__(self, module: ir.Module) -> None:
        self.module = module
        self._known: dict[tuple[int, Shardings], Shardings] = {}  # of functions by their arguments' shardings

    def results(self, function: ir.Op, arguments: Shardings) -> Shardings:
        key = id(function), arguments
        if key not in self._known:
            of = self.values(function, arguments)
            self._known[key] = tuple(of.get(value) for value in function.regions[0].block.ops[-1].operands)
        return self._known[key]

    def values(self, function: ir.Op, arguments: Shardings) -> Mapping[ir.Value, Sharding | None]:
        block = function.regions[0].block
        of: dict[ir.Value, Sharding | None] = dict(zip(block.arguments, arguments, strict=True))
        for op in block.ops[:-1]:
            found = self._of_results(op, [of.get(operand) for operand in op.operands])
            of |= {r: s for r, s in zip(op.results, found, strict=True) if is_split(s, r.type)}
        return of

    def _of_results(self, op: ir.Op, operands: Sequence[Sharding | None]) -> Shardings:
        match op.name:
            case "sdy.manual_computation":
                axes = axis_names(op.attributes["manual_axes"])
                return tuple(
                    _along(sharding, axes)
                    for sharding in parse_shardings(op.attributes["out_shardings"], self.module, op)
                )
            case "sdy.sharding_constraint":
                return tuple(parse_shardings(op.attributes["sharding"], self.module, op))
            case "stablehlo.custom_call" if op.attributes.get("call_target_name") == SHARD_TO_FULL:
                text = sharding_of(op.attributes, op.location).get("sharding")
                return (None if text is None else tiled_sharding(text, op),)
            case "func.call":
                return self.results(self.module.functions[op.attributes["callee"]], tuple(operands))
        if all(operand is None for operand in operands):
            return (None,) * len(op.results)
        # an op of a sum is in general not the sum of the op's results
        operands = [operand and dataclasses.replace(operand, unreduced=()) for operand in operands]
        definition = OPS.get(op.name)
        if definition is not None and definition.result_sharding is not None:
            return (definition.result_sharding(op, operands[0]),) * len(op.results)
        return tuple(_of_operand_alike(op, operands, result) for result in op.results)


def _along(sharding: Sharding, names: frozenset[str]) -> Sharding:
    """Drops the axes that are not manual, along which the values of a manual computation are whole."""
    dimensions = tuple(tuple(axis for axis in axes if axis.name in names) for axes in sharding.dimensions)
    unreduced = tuple(axis for axis in sharding.unreduced if axis.name in names)
    return dataclasses.replace(sharding, dimensions=dimensions, unreduced=unreduced)


def _of_operand_alike(op: ir.Op, operands: Sequence[Sharding | None], result: ir.Value) -> Sharding | None:
    """Returns the finest sharding of an operand that has the result's dimensions."""
    alike = [
        sharding
        for operand, sharding in zip(op.operands, operands, strict=True)
        if sharding is not None and sizes_of(operand.type) == sizes_of(result.type)
    ]
    return max(alike, key=lambda s: math.prod(s.shard_counts), default=None)
