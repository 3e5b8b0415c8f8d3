"""Access rules of the ops that move elements."""

from __future__ import annotations

import math
from collections.abc import Sequence

from xla_core.analysis.indexing.access import (
    Access,
    AccessRule,
    Condition,
    StartIndex,
    whole_dimensions,
    whole_operand,
    whole_operands,
)
from xla_core.analysis.indexing.expression import (
    Index,
    IndexExpr,
    Variable,
    delinearized,
    floor_div,
    linearized,
    modulo,
)
from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.hlo.table.opcode import Opcode
from xla_core.hlo.values.shape import Shape
from xla_core.registration import registers_in

MOVEMENTS: dict[Opcode, AccessRule] = {}

access_rule = registers_in(MOVEMENTS)

_ZERO = IndexExpr.of(0)


@access_rule(Opcode.BROADCAST)
def _broadcast(instruction: HloInstruction, index: Index) -> Sequence[Access]:
    sizes = instruction.operand(0).shape.dimensions
    target = instruction.attribute("dimensions")
    return [Access(tuple(index[d] if n != 1 else _ZERO for d, n in zip(target, sizes, strict=True)))]


@access_rule(Opcode.TRANSPOSE)
def _transpose(instruction: HloInstruction, index: Index) -> Sequence[Access]:
    found = [_ZERO] * len(index)
    for expr, source in zip(index, instruction.attribute("dimensions"), strict=True):
        found[source] = expr
    return [Access(tuple(found))]


@access_rule(Opcode.REVERSE)
def _reverse(instruction: HloInstruction, index: Index) -> Sequence[Access]:
    reversed_, sizes = instruction.attribute("dimensions"), instruction.shape.dimensions
    return [Access(tuple(-e + (sizes[d] - 1) if d in reversed_ else e for d, e in enumerate(index)))]


@access_rule(Opcode.SLICE)
def _slice(instruction: HloInstruction, index: Index) -> Sequence[Access]:
    ranges = instruction.attribute("slice")
    return [Access(tuple(e * r.stride + r.start for e, r in zip(index, ranges, strict=True)))]


@access_rule(Opcode.PAD)
def _pad(instruction: HloInstruction, index: Index) -> Sequence[Access]:
    sizes = instruction.operand(0).shape.dimensions
    found, conditions = [], []
    for expr, edge, extent in zip(index, instruction.attribute("padding"), sizes, strict=True):
        place, tests = inverse_strided(expr - edge.low, edge.interior + 1, extent)
        found.append(place)
        conditions += tests
    return [Access(tuple(found), conditions=tuple(conditions)), Access(())]


def inverse_strided(position: IndexExpr, stride: int, extent: int) -> tuple[IndexExpr, list[Condition]]:
    """Returns i with position = i * stride, and the conditions under which there is such an i in [0, extent)."""
    place = floor_div(position, stride)
    tests = [Condition.of(place, 0, extent - 1)]
    if stride != 1:
        tests.append(Condition.of(modulo(position, stride), 0, 0))
    return place, [test for test in tests if not test.is_true]


@access_rule(Opcode.CONCATENATE)
def _concatenate(instruction: HloInstruction, index: Index) -> Sequence[Access]:
    (axis,) = instruction.attribute("dimensions")
    accesses, first = [], 0
    for operand in instruction.operands:
        extent = operand.shape.dimensions[axis]
        place = index[axis] - first
        inside = Condition.of(place, 0, extent - 1)
        moved = (*index[:axis], place if extent > 1 else _ZERO, *index[axis + 1 :])
        accesses.append(Access(moved, conditions=() if inside.is_true else (inside,)))
        first += extent
    return accesses


@access_rule(Opcode.RESHAPE)
def _reshape(instruction: HloInstruction, index: Index) -> Sequence[Access]:
    return [Access(reshaped(index, instruction.shape.dimensions, instruction.operand(0).shape.dimensions))]


@access_rule(Opcode.BITCAST)
def _bitcast(instruction: HloInstruction, index: Index) -> Sequence[Access]:
    operand, shape = instruction.operand(0).shape, instruction.shape
    if operand.num_elements != shape.num_elements:
        return [whole_operand(instruction, 0)]
    order, sources = _major_to_minor(shape), _major_to_minor(operand)
    place = reshaped(
        tuple(index[d] for d in order),
        [shape.dimensions[d] for d in order],
        [operand.dimensions[d] for d in sources],
    )
    return [Access(tuple(place[sources.index(d)] for d in range(operand.rank)))]


def _major_to_minor(shape: Shape) -> list[int]:
    return list(reversed(shape.minor_to_major()))


@access_rule(Opcode.BITCAST_CONVERT)
def _bitcast_convert(instruction: HloInstruction, index: Index) -> Sequence[Access]:
    """Returns the accesses of a bitcast-convert.

    A narrower result has a further dimension at the end. A wider result reads all elements of the last dimension.
    """
    operand = instruction.operand(0).shape
    if operand.rank <= len(index):
        return [Access(tuple(index[: operand.rank]))]
    return [whole_dimensions(instruction, (*index, _ZERO), [operand.rank - 1])]


@access_rule(Opcode.IOTA)
def _iota(instruction: HloInstruction, index: Index) -> Sequence[Access]:
    return []


@access_rule(Opcode.DYNAMIC_SLICE)
def _dynamic_slice(instruction: HloInstruction, index: Index) -> Sequence[Access]:
    limits = [n - m for n, m in zip(instruction.operand(0).shape.dimensions, instruction.shape.dimensions, strict=True)]
    starts, variables = _starts(instruction, 1, limits)
    found = tuple(expr + start for expr, start in zip(index, starts, strict=True))
    return [Access(found, variables), *whole_operands(instruction, 1)]


def _starts(instruction: HloInstruction, first: int, limits: Sequence[int]) -> tuple[Index, tuple[Variable, ...]]:
    """Returns the start indices and their variables. The operands from `first` on are scalars, or one vector."""
    is_vector = len(instruction.operands) == first + 1 and instruction.operand(first).shape.rank == 1
    starts: list[IndexExpr] = []
    variables: list[Variable] = []
    for d, limit in enumerate(limits):
        number, place = (first, (IndexExpr.of(d),)) if is_vector else (first + d, ())
        starts.append(_start(instruction, number, place, limit, variables))
    return tuple(starts), tuple(variables)


def _start(instruction: HloInstruction, operand: int, index: Index, limit: int, variables: list[Variable]) -> IndexExpr:
    """Returns a start index in [0, limit]. Adds its variable to `variables` unless the index can only be 0."""
    variable = Variable(StartIndex(instruction, operand, index), limit + 1, f"rt{len(variables)}")
    if limit:
        variables.append(variable)
    return IndexExpr.of(variable)


@access_rule(Opcode.DYNAMIC_UPDATE_SLICE)
def _dynamic_update_slice(instruction: HloInstruction, index: Index) -> Sequence[Access]:
    sizes = instruction.operand(1).shape.dimensions
    starts, variables = _starts(
        instruction, 2, [n - m for n, m in zip(instruction.shape.dimensions, sizes, strict=True)]
    )
    place = tuple(expr - start for expr, start in zip(index, starts, strict=True))
    inside = (Condition.of(expr, 0, size - 1) for expr, size in zip(place, sizes, strict=True))
    updated = Access(place, variables, tuple(c for c in inside if not c.is_true))
    return [Access(index), updated, *whole_operands(instruction, 2)]


@access_rule(Opcode.GATHER)
def _gather(instruction: HloInstruction, index: Index) -> Sequence[Access]:
    operand, indices = (o.shape for o in instruction.operands)
    offset_dims, vector_dim = instruction.attribute("offset_dims"), instruction.attribute("index_vector_dim")
    sizes = instruction.attribute("slice_sizes")
    batching = instruction.attribute("operand_batching_dims")
    dropped = (*instruction.attribute("collapsed_slice_dims"), *batching)
    batch = [expr for d, expr in enumerate(index) if d not in offset_dims]
    offsets = iter([index[d] for d in offset_dims])
    window = [_ZERO if d in dropped else next(offsets) for d in range(operand.rank)]
    variables: list[Variable] = []
    for position, d in enumerate(instruction.attribute("start_index_map")):
        place = list(batch)
        if vector_dim < indices.rank:
            place.insert(vector_dim, IndexExpr.of(position))
        limit = operand.dimensions[d] - sizes[d]
        window[d] = window[d] + _start(instruction, 1, tuple(place), limit, variables)
    for d, source in zip(batching, instruction.attribute("start_indices_batching_dims"), strict=True):
        window[d] = batch[source - (source > vector_dim)]
    read = list(batch)
    if vector_dim < indices.rank:
        read.insert(vector_dim, _ZERO)
        return [Access(tuple(window), tuple(variables)), whole_dimensions(instruction, read, [vector_dim], 1)]
    return [Access(tuple(window), tuple(variables)), Access(tuple(read))]


def reshaped(index: Index, source: Sequence[int], target: Sequence[int]) -> Index:
    """Converts the `index` of an element for a reshape of an array from sizes `source` to sizes `target`.

    Both lists of sizes are split into the shortest runs of equal products, and each run is linearized separately.
    Therefore a dimension that the reshape doesn't change keeps its expression.
    """
    if math.prod(source) == 0 or tuple(source) == tuple(target):
        return tuple(index[: len(target)]) if tuple(source) == tuple(target) else (_ZERO,) * len(target)
    found: list[IndexExpr] = []
    first = 0
    for have, want in _common_runs(source, target):
        sizes = source[first : first + have]
        part = index[first : first + have]
        wanted = target[len(found) : len(found) + want]
        found += part if tuple(sizes) == tuple(wanted) else delinearized(linearized(part, sizes), wanted)
        first += have
    return tuple(found)


def _common_runs(source: Sequence[int], target: Sequence[int]) -> list[tuple[int, int]]:
    """Splits two lists of sizes into the shortest runs of equal products; returns the lengths of both in each run."""
    runs: list[tuple[int, int]] = []
    a = b = 0
    while a < len(source) or b < len(target):
        start_a, start_b = a, b
        have = want = 1
        if a < len(source):
            have, a = source[a], a + 1
        if b < len(target):
            want, b = target[b], b + 1
        while have != want:
            if (have < want and a < len(source)) or b == len(target):
                have, a = have * source[a], a + 1
            else:
                want, b = want * target[b], b + 1
        runs.append((a - start_a, b - start_b))
    return runs
