"""Infers shardings of a program's results that have none.

Shardings are carried forward from arguments, sharding constraints and manual computations: through ops whose result has
the dimensions of an operand, and through a few that move dimensions. Any sharding of a result is right. This one keeps
shards that the program has, and is in most cases what Shardy's propagation finds.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from xla_core.hlo.ops.custom_calls import SHARD_TO_FULL
from xla_core.spmd import Sharding
from xla_core.stablehlo import ir
from xla_core.stablehlo.sharding.mhlo_sharding import sharding_of, tiled_sharding
from xla_core.stablehlo.sharding.shardy import axis_names, parse_shardings

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
        rule = _RULES.get(op.name)
        if rule is not None:
            return (rule(op, operands[0]),) * len(op.results)
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
        if sharding is not None and _sizes(operand.type) == _sizes(result.type)
    ]
    return max(alike, key=lambda s: math.prod(s.shard_counts), default=None)


def _sizes(type: ir.Type) -> tuple[int, ...] | None:
    return tuple(type.shape) if isinstance(type, ir.TensorType) else None


def _numbers(op: ir.Op, name: str) -> list[int]:
    return [int(number) for number in np.ravel(np.asarray(op.attributes[name]))]


def _transpose(op: ir.Op, sharding: Sharding | None) -> Sharding | None:
    return _moved(sharding, _numbers(op, "permutation"))


def _broadcast(op: ir.Op, sharding: Sharding | None) -> Sharding | None:
    """A dimension of size 1 that becomes larger is not split, so that only the others keep their axes."""
    sources: list[int | None] = [None] * len(_sizes(op.results[0].type) or ())
    for source, target in enumerate(_numbers(op, "broadcast_dimensions")):
        sources[target] = source
    return _moved(sharding, sources)


def _reduce(op: ir.Op, sharding: Sharding | None) -> Sharding | None:
    reduced = set(_numbers(op, "dimensions"))
    return _moved(sharding, [d for d in range(len(sharding.dimensions) if sharding else 0) if d not in reduced])


def _slice(op: ir.Op, sharding: Sharding | None) -> Sharding | None:
    """A dimension of which the slice takes a part is whole in the result."""
    before, after = _sizes(op.operands[0].type) or (), _sizes(op.results[0].type) or ()
    return _moved(sharding, [d if before[d] == after[d] else None for d in range(len(after))])


def _gather(op: ir.Op, sharding: Sharding | None) -> Sharding | None:
    """Keeps the axes of dimensions that the slices take as a whole."""
    before, numbers, sizes = (
        _sizes(op.operands[0].type) or (),
        op.attributes["dimension_numbers"],
        _numbers(op, "slice_sizes"),
    )
    sources: list[int | None] = [None] * len(_sizes(op.results[0].type) or ())
    left_out = {*numbers.collapsed_slice_dims, *numbers.operand_batching_dims}
    in_slices = [d for d in range(len(before)) if d not in left_out]
    for source, target in zip(in_slices, numbers.offset_dims, strict=True):
        sources[target] = source if sizes[source] == before[source] else None
    return _moved(sharding, sources)


def _reshape(op: ir.Op, sharding: Sharding | None) -> Sharding | None:
    """Keeps the axes where the reshape only adds or removes dimensions of size 1."""
    before, after = _sizes(op.operands[0].type) or (), _sizes(op.results[0].type) or ()
    kept = [d for d, size in enumerate(before) if size != 1]
    if [before[d] for d in kept] != [size for size in after if size != 1]:
        return None
    sources = iter(kept)
    return _moved(sharding, [next(sources) if size != 1 else None for size in after])


def _moved(sharding: Sharding | None, sources: Sequence[int | None]) -> Sharding | None:
    """Returns the sharding of a result whose dimensions are these of the operand, or None for new ones."""
    if sharding is None:
        return None
    dimensions = tuple(() if source is None else sharding.dimensions[source] for source in sources)
    return dataclasses.replace(sharding, dimensions=dimensions)


_RULES: dict[str, Callable[[ir.Op, Sharding | None], Sharding | None]] = {
    "stablehlo.transpose": _transpose,
    "stablehlo.broadcast_in_dim": _broadcast,
    "stablehlo.reduce": _reduce,
    "stablehlo.slice": _slice,
    "stablehlo.dynamic_slice": _slice,
    "stablehlo.gather": _gather,
    "stablehlo.reshape": _reshape,
}
"""Ops that move dimensions -> the sharding of their results by that of their first operand."""
