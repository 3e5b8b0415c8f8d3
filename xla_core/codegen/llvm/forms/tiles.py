"""Kernels that accumulate a tile of the result along its minor dimension.

The loop over the tile is the innermost one; the loops over what is summed are around it. Each step reads a contiguous
piece of the operand and updates the whole tile, which stays in the nearest cache. Reductions of columns, windows over
major dimensions, products of matrices whose right side is row-major, and convolutions whose features (or pixels) are
minor take this form.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from xla_core.codegen.llvm.elements.fused import FusedIrEmitter
from xla_core.codegen.llvm.forms.accumulations import ACCUMULATIONS, Step
from xla_core.codegen.llvm.forms.kernel_form import KernelBody, KernelForm, Plan
from xla_core.codegen.llvm.ir.module import Value
from xla_core.codegen.llvm.loops.context import EmissionContext, minor_loop_metadata
from xla_core.codegen.llvm.loops.index import Digit, Index
from xla_core.codegen.llvm.loops.ir_array import ElementValue, IrArray
from xla_core.codegen.llvm.loops.partition import Partition, unit_digits
from xla_core.codegen.llvm.loops.schedule import LoopNest
from xla_core.codegen.llvm.target_abi import KernelFrame
from xla_core.hlo.instruction import HloInstruction
from xla_core.hlo.op_table import Trait
from xla_core.hlo.opcode import Opcode
from xla_core.traversal import reachable

_TILE = 512  # elements of a tile: a few kilobytes
_LEAST = 4  # elements; smaller minor dimensions are not worth a tile


def _accumulated(body: KernelBody) -> list[HloInstruction]:
    """Returns the instructions whose results tiles accumulate; the roots are elementwise functions of them."""
    dims = next(body.roots[0].shape.leaves()).dimensions
    inputs = () if body.instruction.opcode == Opcode.FUSION else body.instruction.operands

    def accumulates(i: HloInstruction) -> bool:
        leaf = next(i.shape.leaves(), None)
        return i not in inputs and i.opcode in ACCUMULATIONS and leaf is not None and leaf.dimensions == dims

    def operands(i: HloInstruction) -> Sequence[HloInstruction]:
        forwards = Trait.ELEMENTWISE in i.op.traits or i.opcode in (Opcode.GET_TUPLE_ELEMENT, Opcode.TUPLE)
        stops = i in inputs or i.opcode in (Opcode.PARAMETER, Opcode.BITCAST_CONVERT) or accumulates(i)
        return i.operands if forwards and not stops else ()

    return [i for i in reachable(body.roots, operands) if accumulates(i)]


def _matches(body: KernelBody) -> bool:
    if body.abi.flatten:
        return False
    leaves = [leaf for root in body.roots for leaf in root.shape.leaves()]
    dims = leaves[0].dimensions
    if not dims or dims[-1] < _LEAST or math.prod(dims) == 0:
        return False
    if any(leaf.dimensions != dims or not (leaf.layout is None or leaf.layout.is_row_major) for leaf in leaves):
        return False
    found = _accumulated(body)
    return bool(found) and all(ACCUMULATIONS[i.opcode].fits(i) for i in found)


def _partition(body: KernelBody) -> Partition:
    dims = next(body.roots[0].shape.leaves()).dimensions
    space = ("kernel", 0)
    last = _tile_dimensions(body, dims)
    outer = math.prod(dims[: len(dims) - last])
    nest = body.schedule.setdefault(space, LoopNest([outer, math.prod(dims[len(dims) - last :])]))
    return Partition(space, nest.extents, body.abi.parallel, tile=_TILE)


def _tile_dimensions(body: KernelBody, dims: Sequence[int]) -> int:
    """Returns how many of the last dimensions the tile may run over. For reductions: those after all reduced ones."""
    found = _accumulated(body)
    if any(i.opcode != Opcode.REDUCE for i in found):
        return 1
    count = len(dims)
    for instruction in found:
        operand_dims = instruction.operand(0).shape.dimensions
        reduced = max(d for d in instruction.attribute("dimensions") if operand_dims[d] > 1)
        count = min(
            count, sum(1 for d in range(reduced + 1, len(operand_dims)) if d not in instruction.attribute("dimensions"))
        )
    return max(count, 1)


def _plan(body: KernelBody) -> Plan:
    return Plan(_partition(body).count)


def _emit(body: KernelBody, frame: KernelFrame, context: EmissionContext, fused: FusedIrEmitter) -> None:
    b, partition = context.builder, _partition(body)
    dims = next(body.roots[0].shape.leaves()).dimensions
    accumulations = [ACCUMULATIONS[i.opcode](fused, i) for i in _accumulated(body)]
    loop, _ = context.open_loop(frame.begin, frame.end, frame.step, name="unit")
    prefix, chunk = unit_digits(context, loop.index, partition)
    first, limit = chunk or (b.int_(0), b.int_(partition.extents[-1]))
    last = len(partition.extents) - 1
    starts = [a.start() for a in accumulations]
    space = context.abi.stack_address_space
    tiles = [[b.alloca(v.type, partition.chunk, align=64, address_space=space) for v in start] for start in starts]

    def over_tile(visit: Callable[[Index, Value], None]) -> None:
        def one(index: Value) -> None:
            digit = Digit(index, partition.extents[-1], b.level, loop=(partition.space, last))
            visit(Index(dims, [*prefix, digit]), b.sub(index, first, "nuw nsw"))

        context.each(first, limit, one, name="tile", metadata=minor_loop_metadata(partition.chunk))

    def initialize(_: Index, slot: Value) -> None:
        for start, tile in zip(starts, tiles, strict=True):
            for value, memory in zip(start, tile, strict=True):
                b.store(value, b.gep(value.type, memory, slot))

    over_tile(initialize)
    for accumulation, start, tile in zip(accumulations, starts, tiles, strict=True):

        def run(step: Step, start: list[Value] = start, tile: list[Value] = tile) -> None:
            def visit(index: Index, slot: Value) -> None:
                places = [b.gep(v.type, memory, slot) for v, memory in zip(start, tile, strict=True)]
                values = [b.load(v.type, place) for v, place in zip(start, places, strict=True)]
                for value, place in zip(step(index, values), places, strict=True):
                    b.store(value, place)

            over_tile(visit)

        accumulation.walk(prefix, run)

    def store(index: Index, slot: Value) -> None:
        bindings: dict[HloInstruction, IrArray | list[IrArray] | list[ElementValue]] = dict(body.bindings)
        for accumulation, start, tile in zip(accumulations, starts, tiles, strict=True):
            loaded = [b.load(v.type, b.gep(v.type, memory, slot)) for v, memory in zip(start, tile, strict=True)]
            bindings[accumulation.instruction] = list(accumulation.finish(loaded))
        emitter = FusedIrEmitter(context, bindings, b.level)
        values = [value for root in body.roots for value in emitter.values(root, index)]
        for value, result in zip(values, body.results, strict=True):
            result.store(b, index, value)

    over_tile(store)
    context.close_loop(loop)


TILES = KernelForm(_matches, _plan, _emit)
