"""Kernels that accumulate a tile of the result along its minor dimension.

The loop over the tile is the innermost one; the loops over the accumulated dimensions are around it. Each step reads a
contiguous piece of the operand and updates the whole tile, which stays in the nearest cache. Reductions of columns,
windows over major dimensions, products of matrices whose right side is row-major, and convolutions whose features (or
pixels) are minor take this form.
"""

from __future__ import annotations

import dataclasses
import functools
import math
from collections.abc import Callable, Mapping, Sequence

from xla_core.analysis.indexing import (
    Access,
    Condition,
    FusionAccesses,
    Index,
    IndexExpr,
    Variable,
    accumulates,
    delinearized,
    joined,
    looped,
    operand_accesses,
)
from xla_core.codegen.llvm.elements.accumulators import Accumulator, accumulator, is_empty
from xla_core.codegen.llvm.elements.element_emitter import Binding, ElementEmitter
from xla_core.codegen.llvm.forms.kernel_form import KernelBody, KernelForm, KernelPlan
from xla_core.codegen.llvm.ir.module import Value
from xla_core.codegen.llvm.loops.context import EmissionContext, minor_loop_metadata
from xla_core.codegen.llvm.loops.index_values import IndexValues
from xla_core.codegen.llvm.loops.ir_array import ElementValue
from xla_core.codegen.llvm.loops.partitioned_loops import PartitionedLoops
from xla_core.codegen.llvm.target_abi import KernelFrame
from xla_core.codegen.loop_plan import LoopPlan, Section
from xla_core.codegen.partition import Partition
from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.hlo.table.op_table import Trait
from xla_core.hlo.table.opcode import Opcode
from xla_core.traversal import reachable

_TILE = 512  # elements of a tile: a few kilobytes
_LEAST = 4  # elements; smaller tiles are not worth their loops
_UNROLL = 4  # steps in each pass over the tile


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class _TilePlan(KernelPlan):
    """Attributes: the partition of the loops, and their variables, of which the last runs over the tile.

    `stages` are the instructions that tiles accumulate one after another: later ones use the results of earlier ones.
    """

    partition: Partition
    variables: Sequence[Variable]
    stages: Sequence[HloInstruction]

    def describe_loops(self) -> str:
        loops = " x ".join(str(v.extent) for v in self.variables)
        stages = f", in {len(self.stages)} stages" if len(self.stages) > 1 else ""
        return f"; loops {loops}, of which the last is accumulated in tiles of {self.partition.chunk}{stages}"


def _accumulated(body: KernelBody) -> list[HloInstruction]:
    """Returns the accumulating instructions of which the roots are elementwise functions."""
    dims = next(body.roots[0].shape.leaves()).dimensions
    inputs = () if body.instruction.opcode == Opcode.FUSION else body.instruction.operands

    def is_tiled(i: HloInstruction) -> bool:
        leaf = next(i.shape.leaves(), None)
        return i not in inputs and accumulates(i) and leaf is not None and leaf.dimensions == dims

    def operands(i: HloInstruction) -> Sequence[HloInstruction]:
        forwards = Trait.ELEMENTWISE in i.op.traits or i.opcode in (Opcode.GET_TUPLE_ELEMENT, Opcode.TUPLE)
        stops = i in inputs or i.opcode in (Opcode.PARAMETER, Opcode.BITCAST_CONVERT) or is_tiled(i)
        return i.operands if forwards and not stops else ()

    return [i for i in reachable(body.roots, operands) if is_tiled(i)]


def _fits(instruction: HloInstruction) -> bool:
    """Whether an instruction reads its operand along the result's minor dimension as it lies in memory."""
    operand = instruction.operand(0).shape
    match instruction.opcode:
        case Opcode.REDUCE:
            reduced = [d for d in instruction.attribute("dimensions") if operand.dimensions[d] > 1]
            kept = [d for d in range(operand.rank) if operand.dimensions[d] > 1 and d not in reduced]
            return bool(reduced) and bool(kept) and kept[-1] > max(reduced)
        case Opcode.DOT:
            rhs = instruction.operand(1).shape
            used = (*instruction.attribute("rhs_batch_dims"), *instruction.attribute("rhs_contracting_dims"))
            free = [d for d in range(rhs.rank) if d not in used]
            extent = math.prod(operand.dimensions[d] for d in instruction.attribute("lhs_contracting_dims"))
            return extent > 1 and bool(free) and free[-1] == rhs.minor_to_major()[0]
        case Opcode.REDUCE_WINDOW:
            window = instruction.attribute("window")
            return bool(window) and bool(window[-1].is_trivial)
    return True


def _matches(body: KernelBody) -> bool:
    if body.parallel.has_blocks:
        return False
    leaves = [leaf for root in body.roots for leaf in root.shape.leaves()]
    dims = leaves[0].dimensions
    if not dims or math.prod(dims) == 0:
        return False
    if any(leaf.dimensions != dims or not (leaf.layout is None or leaf.layout.is_row_major) for leaf in leaves):
        return False
    found = _accumulated(body)
    return bool(found) and all(map(_fits, found)) and math.prod(dims[-_tile_dimensions(found, dims) :]) >= _LEAST


def _tile_dimensions(found: Sequence[HloInstruction], dims: Sequence[int]) -> int:
    """Returns how many of the last dimensions the tile may run over. For reductions: those after all reduced ones."""
    if any(i.opcode != Opcode.REDUCE for i in found):
        return 1
    count = len(dims)
    for instruction in found:
        sizes, reduced = instruction.operand(0).shape.dimensions, instruction.attribute("dimensions")
        last = max(d for d in reduced if sizes[d] > 1)
        count = min(count, sum(1 for d in range(last + 1, len(sizes)) if d not in reduced))
    return max(count, 1)


def _plan(body: KernelBody) -> _TilePlan:
    dims = next(body.roots[0].shape.leaves()).dimensions
    last = len(dims) - _tile_dimensions(_accumulated(body), dims)

    def visit(accesses: FusionAccesses, position: IndexExpr) -> None:
        for root in body.roots:
            accesses.visit(root, delinearized(position, dims))

    section = Section("tile", (math.prod(dims[:last]), math.prod(dims[last:])), visit)
    plan = LoopPlan([section], body.bound)
    if plan.variables(section)[-1].extent < _LEAST:  # an operand has few elements; its index takes a division instead
        plan = LoopPlan([section], body.bound, splits_sections=False)
    variables = plan.variables(section)
    partition = Partition.into_chunks([v.extent for v in variables], body.parallel, _TILE)
    stages = _stages(body, plan, delinearized(joined(variables), dims))
    return _TilePlan(partition.count, loops=plan.loops, partition=partition, variables=variables, stages=stages)


def _stages(body: KernelBody, plan: LoopPlan, index: Index) -> list[HloInstruction]:
    """Returns the instructions that tiles accumulate, operands first.

    These are the instructions below the roots, and those that others need at the same index, such as the mean of a
    column for its variance. Inside the loops of the others, they would be computed again for each row.
    """
    outer = _accumulated(body)

    def is_stage(i: HloInstruction) -> bool:
        return accumulates(i) and i.shape.is_array and list(plan.indices(i)) == [index] and _fits(i)

    return [i for i in body.members if i in outer or (i not in body.bound and is_stage(i))]


def _emit(body: KernelBody, plan: _TilePlan, frame: KernelFrame, context: EmissionContext) -> None:
    indices = IndexValues(context)
    loop, _ = context.open_loop(frame.begin, frame.end, frame.step, name="unit")
    _, chunk = PartitionedLoops(context, indices, plan.partition, plan.variables, ()).unit(loop.index)
    _Tile(body, plan, context, indices, chunk).emit()
    context.close_loop(loop)


class _Tile:
    """The code of one tile."""

    def __init__(
        self,
        body: KernelBody,
        plan: _TilePlan,
        context: EmissionContext,
        indices: IndexValues,
        chunk: tuple[Value, Value] | None,
    ) -> None:
        self._body, self._plan, self._context, self._indices = body, plan, context, indices
        self._b = b = context.builder
        self._variable = plan.variables[-1]
        self._first, self._limit = chunk or (b.int_(0), b.int_(self._variable.extent))
        self._emitter = ElementEmitter(context, body.bindings, indices, plan.loops)
        dims = next(body.roots[0].shape.leaves()).dimensions
        self._index: Index = delinearized(joined(plan.variables), dims)
        self._memory: list[list[Value]] = []
        self._known: Callable[[Value], Mapping[HloInstruction, list[ElementValue]]]  # the results of earlier stages

    def emit(self) -> None:
        """Accumulates and stores the tile."""
        b, body = self._b, self._body
        found = [(i, accumulator(self._emitter, i)) for i in self._plan.stages]
        starts = [total.start() for _, total in found]
        space, count = self._context.abi.stack_address_space, self._plan.partition.chunk
        self._memory = [[b.alloca(v.type, count, align=64, address_space=space) for v in start] for start in starts]

        def initialize(slot: Value) -> None:
            for start, memory in zip(starts, self._memory, strict=True):
                self._put(memory, slot, start)

        self._over(initialize)

        def results(slot: Value, count: int) -> dict[HloInstruction, list[ElementValue]]:
            """The elements of the first `count` instructions."""
            stages = zip(found[:count], self._memory, starts, strict=False)
            return {i: total.finish(self._take(memory, slot, start)) for (i, total), memory, start in stages}

        for number, (instruction, total) in enumerate(found):
            if not is_empty(instruction, total):
                self._known = functools.partial(results, count=number)
                self._accumulate(instruction, total, self._memory[number], starts[number])

        def store(slot: Value) -> None:
            bindings: dict[HloInstruction, Binding] = {**body.bindings, **results(slot, len(found))}
            emitter = ElementEmitter(self._context, bindings, self._indices, self._plan.loops, level=b.level)
            values = [value for root in body.roots for value in emitter.values(root, self._index)]
            for value, result in zip(values, body.results, strict=True):
                emitter.store(result, self._index, value)

        self._over(store)

    def _over(self, visit: Callable[[Value], None]) -> None:
        """Emits the loop over the tile; `visit` takes the place in the tile."""

        def one(index: Value) -> None:
            self._indices.bind(self._variable, index)
            visit(self._b.sub(index, self._first, "nuw nsw"))

        hints = minor_loop_metadata(self._plan.partition.chunk)
        self._context.each(self._first, self._limit, one, name="tile", metadata=hints)

    def _accumulate(
        self, instruction: HloInstruction, total: Accumulator, memory: Sequence[Value], start: Sequence[Value]
    ) -> None:
        """Emits the loops over the elements that an instruction accumulates, with passes over the tile inside."""
        accesses = looped(instruction, operand_accesses(instruction, self._index), self._plan.loops)
        variables, conditions = [v for v in accesses[0].variables if v.extent != 1], accesses[0].conditions
        apart = frozenset(c for c in conditions if self._variable in c.expr.variables or total.counts_padding)

        def inner(bound: int, tested: frozenset[Condition]) -> None:
            known = set(variables[bound:])
            ready = [c for c in conditions if c not in (*tested, *apart) and known.isdisjoint(c.expr.variables)]
            if ready:
                self._context.when(self._indices.holds(ready), lambda: inner(bound, tested.union(ready)))
            elif bound == len(variables):
                self._step(total, memory, start, [_without(accesses, apart)])
            elif bound == len(variables) - 1 and self._unrolls(variables[bound], conditions):
                self._unrolled(variables[bound], total, memory, start, _without(accesses, apart))
            else:
                body = lambda: inner(bound + 1, tested)  # noqa: E731
                self._indices.each_point([variables[bound]], body)

        inner(0, frozenset())

    def _unrolls(self, variable: Variable, conditions: Sequence[Condition]) -> bool:
        return variable.extent >= 2 * _UNROLL and all(variable not in c.expr.variables for c in conditions)

    def _unrolled(
        self,
        variable: Variable,
        total: Accumulator,
        memory: Sequence[Value],
        start: Sequence[Value],
        accesses: Sequence[Access],
    ) -> None:
        """Emits a loop in which each pass over the tile takes several steps."""
        rounds = Variable((variable.key, "rounds"), variable.extent // _UNROLL)
        places = [IndexExpr.of(rounds) * _UNROLL + n for n in range(_UNROLL)]
        several = [_at(accesses, variable, place) for place in places]
        self._indices.each_point([rounds], lambda: self._step(total, memory, start, several), name="block")
        for rest in range(rounds.extent * _UNROLL, variable.extent):
            self._step(total, memory, start, [_at(accesses, variable, IndexExpr.of(rest))])

    def _step(
        self,
        total: Accumulator,
        memory: Sequence[Value],
        start: Sequence[Value],
        steps: Sequence[Sequence[Access]],
    ) -> None:
        """Emits a pass over the tile that takes one step or several."""

        def visit(slot: Value) -> None:
            for instruction, elements in self._known(slot).items():
                self._emitter.define(instruction, self._index, elements)
            values = self._take(memory, slot, start)
            for accesses in steps:
                holds = self._indices.holds(accesses[0].conditions)
                values = self._context.choose(
                    holds,
                    lambda a=accesses, v=values: total.step(self._emitter, a, v),  # type: ignore[misc]
                    lambda v=values: total.pad(v),  # type: ignore[misc]
                )
            self._put(memory, slot, values)

        self._over(visit)

    def _take(self, memory: Sequence[Value], slot: Value, like: Sequence[Value]) -> list[Value]:
        return [self._b.load(v.type, self._b.gep(v.type, m, slot)) for v, m in zip(like, memory, strict=True)]

    def _put(self, memory: Sequence[Value], slot: Value, values: Sequence[Value]) -> None:
        for value, place in zip(values, memory, strict=True):
            self._b.store(value, self._b.gep(value.type, place, slot))


def _without(accesses: Sequence[Access], kept: frozenset[Condition]) -> list[Access]:
    """The accesses with only those of their conditions that are tested within the tile."""
    return [dataclasses.replace(a, conditions=tuple(c for c in a.conditions if c in kept)) for a in accesses]


def _at(accesses: Sequence[Access], variable: Variable, place: IndexExpr) -> list[Access]:
    """The accesses with an expression in place of a variable, which is in no condition."""
    return [dataclasses.replace(a, index=tuple(e.substitute({variable: place}) for e in a.index)) for a in accesses]


TILES = KernelForm("tiles", _matches, _plan, _emit)
