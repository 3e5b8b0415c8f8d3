"""Reductions of rows by a block of cooperating threads.

Each thread combines a strided part of the row; then the partial results are combined in a tree in shared memory. This
form is for targets whose `threads_per_block` is more than one.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from xla_core.analysis.indexing import delinearized, looped, operand_accesses
from xla_core.codegen.llvm.elements.accumulators import Reducer
from xla_core.codegen.llvm.elements.element_emitter import ElementEmitter
from xla_core.codegen.llvm.forms.kernel_form import KernelBody, KernelForm, KernelPlan
from xla_core.codegen.llvm.ir.module import Value
from xla_core.codegen.llvm.loops.context import EmissionContext
from xla_core.codegen.llvm.loops.index_values import IndexValues
from xla_core.codegen.llvm.target_abi import KernelFrame
from xla_core.hlo.instruction import HloInstruction
from xla_core.hlo.opcode import Opcode

_LEAST = 32  # elements; shorter rows are reduced by one thread


def _extent(reduce: HloInstruction) -> int:
    """Returns how many elements are reduced to one."""
    dims = reduce.operand(0).shape.dimensions
    return math.prod(dims[d] for d in reduce.attribute("dimensions"))


def _matches(body: KernelBody) -> bool:
    if body.abi.threads_per_block < 2 or body.root.opcode != Opcode.REDUCE or not body.results_are_row_major:
        return False
    dims = body.root.operand(0).shape.dimensions
    wide = [d for d in range(len(dims)) if dims[d] > 1]
    reduced = body.root.attribute("dimensions")
    return bool(wide) and wide[-1] in reduced and _extent(body.root) >= _LEAST and all(dims)


def _plan(body: KernelBody) -> KernelPlan:
    return KernelPlan(next(body.root.shape.leaves()).num_elements, 1, per_block=True)


def _emit(body: KernelBody, plan: KernelPlan, frame: KernelFrame, context: EmissionContext) -> None:
    b, abi = context.builder, context.abi
    indices = IndexValues(context)
    emitter = ElementEmitter(context, body.bindings, indices, plan.loops)
    reducer = Reducer(emitter, body.root)
    extent = _extent(body.root)
    threads = min(abi.threads_per_block, extent)
    start = reducer.start()
    shared = [abi.shared_array(b, "i8" if v.type == "i1" else v.type, threads) for v in start]
    thread = abi.thread_index(b)
    takes_part = b.icmp("ult", thread, b.int_(threads))
    loop, _ = context.open_loop(frame.begin, frame.end, frame.step, name="row")
    dims = next(body.root.shape.leaves()).dimensions
    row = delinearized(indices.new("row", plan.count, loop.index), dims)

    def element(position: Value) -> list[Value]:
        variable = indices.variable("element", extent, position)
        accesses = looped(body.root, operand_accesses(body.root, row), lambda space, count: [variable])
        return reducer.enter([emitter.value(o, a.index) for o, a in zip(reducer.operands, accesses, strict=False)])

    def put(values: Sequence[Value], slot: Value) -> None:
        for value, memory in zip(values, shared, strict=True):
            b.store_register(value, memory, slot)

    def take(slot: Value) -> list[Value]:
        return [b.load_register(v.type, memory, slot) for v, memory in zip(start, shared, strict=True)]

    def partial() -> None:
        first = element(thread)
        rest = context.loop(
            b.add(thread, b.int_(threads)),
            b.int_(extent),
            lambda position, carried: reducer.combine(carried, element(position)),
            first,
            step=b.int_(threads),
            name="reduce",
        )
        put(rest, thread)

    context.when(takes_part, partial)
    abi.barrier(b)
    count = threads
    while count > 1:
        distance = (count + 1) // 2  # with an odd count, the middle partial result waits for the next round

        def fold(distance: int = distance) -> None:
            put(reducer.combine(take(thread), take(b.add(thread, b.int_(distance)))), thread)

        context.when(b.icmp("ult", thread, b.int_(count - distance)), fold)
        abi.barrier(b)
        count = distance

    def finish() -> None:
        for value, result in zip(reducer.finish(reducer.combine(start, take(b.int_(0)))), body.results, strict=True):
            emitter.store(result, row, value)

    context.when(b.icmp("eq", thread, b.int_(0)), finish)
    abi.barrier(b)  # before the next row's partial results overwrite this row's
    context.close_loop(loop)


BLOCK_REDUCTION = KernelForm("block reduction", _matches, _plan, _emit)
