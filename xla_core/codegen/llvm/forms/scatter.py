"""scatter: combines the windows of the updates with the operand's buffer, one after another.

A window that isn't wholly inside the operand is dropped. Units of work are pieces of the window, so that no two threads
write the same element, and updates of one element are applied in order.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from xla_core.codegen.llvm.elements.fused import FusedIrEmitter, call_computation
from xla_core.codegen.llvm.elements.indexing import gathered_starts
from xla_core.codegen.llvm.forms.kernel_form import KernelBody, KernelForm, Plan
from xla_core.codegen.llvm.ir.module import Value
from xla_core.codegen.llvm.loops.context import EmissionContext
from xla_core.codegen.llvm.loops.index import Digit, Index, compose, merge_digits, offset_digit
from xla_core.codegen.llvm.loops.ir_array import IrArray
from xla_core.codegen.llvm.loops.partition import Partition, unit_digits
from xla_core.codegen.llvm.loops.schedule import LoopNest
from xla_core.codegen.llvm.target_abi import KernelFrame
from xla_core.hlo.instruction import HloInstruction
from xla_core.hlo.opcode import Opcode

_SPACE = "scatter window"


class _Form:
    """Where the updates of a scatter go."""

    def __init__(self, body: KernelBody) -> None:
        root = body.root
        self.root = root
        count = len(root.operands) // 2
        self.operands, self.updates = root.operands[:count], root.operands[count + 1 :]
        self.indices = root.operands[count]
        self.dims = self.operands[0].shape.dimensions
        self.update_dims = self.updates[0].shape.dimensions
        self.window_dims = list(root.attribute("update_window_dims"))
        self.batching = dict(
            zip(root.attribute("input_batching_dims"), root.attribute("scatter_indices_batching_dims"), strict=True)
        )
        removed = {*root.attribute("inserted_window_dims"), *self.batching}
        self.kept = [d for d in range(len(self.dims)) if d not in removed]
        self.window = [self.update_dims[d] for d in self.window_dims]
        self.sizes = [1] * len(self.dims)  # of the window in the operand's dimensions
        for dimension, size in zip(self.kept, self.window, strict=True):
            self.sizes[dimension] = size
        self.batch = [n for d, n in enumerate(self.update_dims) if d not in self.window_dims]
        # Only a scatter in place is divided into units: the operands must be copied before the first update.
        self.in_place = all((i, body.operand_leaf(o)) in body.aliasing for i, o in enumerate(self.operands))
        self.empty = math.prod(self.update_dims) == 0


def _partition(body: KernelBody, form: _Form) -> Partition:
    extents = body.schedule.setdefault(_SPACE, LoopNest([math.prod(form.window)])).extents
    partition = Partition(_SPACE, extents, body.abi.parallel, tile=256 if form.in_place else 1 << 40)
    if not form.in_place:
        partition.prefix, partition.chunks, partition.chunk, partition.count = 0, 1, extents[-1], 1
    return partition


def _matches(body: KernelBody) -> bool:
    return body.root.opcode == Opcode.SCATTER and body.root.operand(0).shape.num_elements > 0


def _plan(body: KernelBody) -> Plan:
    form = _Form(body)
    if form.empty and form.in_place:
        return Plan(0)
    return Plan(1 if form.empty else _partition(body, form).count)


def _emit(body: KernelBody, frame: KernelFrame, context: EmissionContext, fused: FusedIrEmitter) -> None:
    form, b = _Form(body), context.builder
    loop, _ = context.open_loop(frame.begin, frame.end, frame.step, name="unit")
    if not form.in_place:
        _copy_operands(body, form, context, fused)
    if not form.empty:
        partition = _partition(body, form)
        prefix, chunk = unit_digits(context, loop.index, partition)
        last = len(partition.extents) - 1

        def window(digits: list[Digit], visit_index: Index, starts: list[Digit]) -> None:
            position = len(digits)
            if position > last:
                _update(body, form, context, fused, Index(form.window, digits), visit_index, starts)
                return
            base, first, limit = b.int_(0), b.int_(0), b.int_(partition.extents[position])
            if chunk is not None and position == last:
                if partition.extents[position] % partition.chunk == 0:  # LLVM then knows how long the loop is
                    base, limit = chunk[0], b.int_(partition.chunk)
                else:
                    first, limit = chunk
            if partition.extents[position] == 1:
                window([*digits, Digit(first, 1, 0)], visit_index, starts)
                return

            def one(index: Value) -> None:
                place = b.add(base, index, "nuw nsw")
                digit = Digit(place, partition.extents[position], b.level, (_SPACE, position))
                window([*digits, digit], visit_index, starts)

            context.each(first, limit, one, name="window")

        def each(digits: list[Digit]) -> None:
            batch = Index(form.batch, digits)
            starts = gathered_starts(
                fused,
                form.indices,
                batch,
                form.root.attribute("index_vector_dim"),
                form.root.attribute("scatter_dims_to_operand_dims"),
                form.batching,
                form.dims,
                None,
            )
            inside = b.bool_(True)
            for dimension in form.root.attribute("scatter_dims_to_operand_dims"):
                room = form.dims[dimension] - form.sizes[dimension]
                inside = b.and_(inside, b.icmp("ule", starts[dimension].value, b.int_(room)))
            context.when(inside, lambda: window(list(prefix), batch, starts))

        context.each_point("scatter", math.prod(form.batch), each, name="update")
    context.close_loop(loop)


def _copy_operands(body: KernelBody, form: _Form, context: EmissionContext, fused: FusedIrEmitter) -> None:
    for number, (operand, result) in enumerate(zip(form.operands, body.results, strict=True)):
        if (number, body.operand_leaf(operand)) not in body.aliasing:

            def copy(digits: list[Digit], operand: HloInstruction = operand, result: IrArray = result) -> None:
                index, types = Index(form.dims, digits), (operand.shape.element_type, result.shape.element_type)
                result.store(context.builder, index, fused.elemental.convert(fused.value(operand, index), *types))

            context.each_point(("copy", number), math.prod(form.dims), copy, name="copy")


def _update(
    body: KernelBody,
    form: _Form,
    context: EmissionContext,
    fused: FusedIrEmitter,
    window: Index,
    batch: Index,
    starts: Sequence[Digit],
) -> None:
    """Combines one element of the updates with the element of the result."""
    b = context.builder
    batch_dims = [d for d in range(len(form.update_dims)) if d not in form.window_dims]
    where = [
        (1, form.window_dims.index(d)) if d in form.window_dims else (0, batch_dims.index(d))
        for d in range(len(form.update_dims))
    ]
    source = compose(b, form.update_dims, (batch, window), where)
    groups = dict(zip(form.kept, window.per_dimension(b), strict=True))
    digits: list[Digit] = []
    for dimension, extent in enumerate(form.dims):
        group, start = groups.get(dimension, ()), starts[dimension]
        if form.sizes[dimension] == extent:
            digits.extend(group)
        else:
            digits.append(offset_digit(b, merge_digits(b, group), start.value, extent, 1, start.level))
    target = Index(form.dims, digits)
    updates = [fused.value(u, source) for u in form.updates]
    old = [result.load(b, target) for result in body.results]
    types = [p.shape.element_type for p in form.root.attribute("to_apply").parameters[: len(old)]]
    arguments = [
        fused.elemental.convert(v, s.shape.element_type, t)
        for values, shapes in ((old, body.results), (updates, form.updates))
        for v, s, t in zip(values, shapes, types, strict=True)
    ]
    new = call_computation(context, form.root.attribute("to_apply"), arguments)
    for value, result, type_ in zip(new, body.results, types, strict=True):
        result.store(b, target, fused.elemental.convert(value, type_, result.shape.element_type))


SCATTER = KernelForm(_matches, _plan, _emit, (Opcode.SCATTER,))
