"""scatter: combines the windows of the updates with the operand's buffer, one after another.

A window that isn't wholly inside the operand is dropped. Units of work are pieces of the window, so that no two threads
write the same element, and updates of one element are applied in order.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence

from xla_core.analysis.indexing import (
    FusionAccesses,
    Index,
    IndexExpr,
    Variable,
    delinearized,
    joined,
    memory_position,
)
from xla_core.codegen.llvm.elements.element_emitter import ElementEmitter, call_computation
from xla_core.codegen.llvm.forms.kernel_form import KernelBody, KernelForm, KernelPlan
from xla_core.codegen.llvm.ir.module import Value
from xla_core.codegen.llvm.loops.context import EmissionContext
from xla_core.codegen.llvm.loops.index_values import IndexValues
from xla_core.codegen.llvm.loops.partition import Partition, PartitionedLoops
from xla_core.codegen.llvm.target_abi import KernelFrame
from xla_core.codegen.loop_plan import LoopPlan, Section
from xla_core.hlo.instruction import HloInstruction
from xla_core.hlo.opcode import Opcode

_BATCH = "scatter updates"
_CHUNK = 256  # elements of a window that a unit updates


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
        self.window_dims: list[int] = list(root.attribute("update_window_dims"))
        self.batching: dict[int, int] = dict(
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
        scattered: Sequence[int] = root.attribute("scatter_dims_to_operand_dims")
        self.starts = {
            d: Variable((root, "start", d), self.dims[d] - self.sizes[d] + 1, f"start{d}") for d in scattered
        }

    def start_place(self, number: int, batch: Index) -> Index:
        """Returns where the indices have the `number`-th part of the start of a window."""
        place, vector_dim = list(batch), self.root.attribute("index_vector_dim")
        if vector_dim < self.indices.shape.rank:
            place.insert(vector_dim, IndexExpr.of(number))
        return tuple(place)

    def source(self, batch: Index, window: Index) -> Index:
        """Returns the index in the updates of an element of a window."""
        batches, windows = iter(batch), dict(zip(self.window_dims, window, strict=True))
        return tuple(windows[d] if d in windows else next(batches) for d in range(len(self.update_dims)))

    def target(self, batch: Index, window: Index) -> Index:
        """Returns the index in the operands of an element of a window."""
        vector_dim = self.root.attribute("index_vector_dim")
        found = [IndexExpr.of(0)] * len(self.dims)
        for dimension, expr in zip(self.kept, window, strict=True):
            found[dimension] = expr
        for dimension, start in self.starts.items():
            found[dimension] = found[dimension] + IndexExpr.of(start)
        for dimension, source in self.batching.items():
            found[dimension] = batch[source - (source > vector_dim)]
        return tuple(found)

    def visit(self, accesses: FusionAccesses, position: IndexExpr) -> None:
        """Names what the elements of the windows at a position need."""
        batch = delinearized(joined(accesses.loops(_BATCH, math.prod(self.batch))), self.batch)
        window = delinearized(position, self.window)
        for number in range(len(self.starts)):
            accesses.visit(self.indices, self.start_place(number, batch))
        for update in self.updates:
            accesses.visit(update, self.source(batch, window))
        accesses.values[memory_position(self.operands[0].shape, self.target(batch, window))] = None


@dataclasses.dataclass(frozen=True, slots=True)
class _ScatterPlan(KernelPlan):
    """Attributes: the loops over the window, and how they are divided; None where there are no updates."""

    form: _Form = dataclasses.field(kw_only=True)
    variables: Sequence[Variable] = ()
    partition: Partition | None = None


def _matches(body: KernelBody) -> bool:
    return body.root.opcode == Opcode.SCATTER and body.root.operand(0).shape.num_elements > 0


def _plan(body: KernelBody) -> _ScatterPlan:
    form = _Form(body)
    if form.empty:
        return _ScatterPlan(0 if form.in_place else 1, form=form)
    section = Section("scatter window", (math.prod(form.window),), form.visit)
    plan = LoopPlan([section], body.bound)
    variables = plan.variables(section)
    partition = Partition([v.extent for v in variables], body.abi.parallel, tile=_CHUNK if form.in_place else 1 << 40)
    if not form.in_place:
        partition.prefix, partition.chunks, partition.chunk, partition.count = 0, 1, variables[-1].extent, 1
    return _ScatterPlan(partition.count, loops=plan.loops, form=form, variables=variables, partition=partition)


def _emit(body: KernelBody, plan: _ScatterPlan, frame: KernelFrame, context: EmissionContext) -> None:
    form, b, indices = plan.form, context.builder, IndexValues(context)
    emitter = ElementEmitter(context, body.bindings, indices, plan.loops)
    loop, _ = context.open_loop(frame.begin, frame.end, frame.step, name="unit")
    if not form.in_place:
        _copy_operands(body, form, emitter)
    if plan.partition is not None:
        _, chunk = PartitionedLoops(context, indices, plan.partition, plan.variables, ()).unit(loop.index)
        first, limit = chunk or (b.int_(0), b.int_(plan.variables[-1].extent))
        base = b.int_(0)
        if chunk is not None and plan.variables[-1].extent % plan.partition.chunk == 0:
            # LLVM then knows how long the loop is.
            base, first, limit = first, base, b.int_(plan.partition.chunk)
        inner = plan.variables[plan.partition.prefix : -1]
        loops = plan.loops(_BATCH, math.prod(form.batch))
        batch = delinearized(joined(loops), form.batch)
        window = delinearized(joined(plan.variables), form.window)

        def last(index: Value) -> None:
            indices.bind(plan.variables[-1], b.add(base, index, "nuw nsw"))
            _update(body, form, emitter, batch, window)

        def each() -> None:
            inside = _load_starts(form, emitter, batch)
            visit = lambda: context.each(first, limit, last, name="window")  # noqa: E731
            context.when(inside, lambda: indices.each_point(inner, visit, name="window"))

        indices.each_point(loops, each, name="update")
    context.close_loop(loop)


def _load_starts(form: _Form, emitter: ElementEmitter, batch: Index) -> Value:
    """Loads the start of a window; returns whether the window is inside the operand."""
    b, indices = emitter.b, emitter.indices
    inside = b.bool_(True)
    for number, (dimension, variable) in enumerate(form.starts.items()):
        element_type = form.indices.shape.element_type
        value = emitter.value(form.indices, form.start_place(number, batch))
        assert isinstance(value, Value)
        start = b.resize(value, "i64", signed=element_type.is_signed)
        indices.bind(variable, start)
        room = form.dims[dimension] - form.sizes[dimension]
        inside = b.and_(inside, b.icmp("ule", start, b.int_(room)))
    return inside


def _copy_operands(body: KernelBody, form: _Form, emitter: ElementEmitter) -> None:
    for number, operand in enumerate(form.operands):
        if (number, body.operand_leaf(operand)) in body.aliasing:
            continue
        count = math.prod(form.dims)

        def copy(position: Value, operand: HloInstruction = operand, number: int = number, count: int = count) -> None:
            index = delinearized(emitter.indices.new("position", count, position), form.dims)
            target = body.results[number]
            types = operand.shape.element_type, target.shape.element_type
            emitter.store(target, index, emitter.elemental.convert(emitter.value(operand, index), *types))

        emitter.context.each(emitter.b.int_(0), emitter.b.int_(count), copy, name="copy")


def _update(body: KernelBody, form: _Form, emitter: ElementEmitter, batch: Index, window: Index) -> None:
    """Combines one element of the updates with the element of the result."""
    elemental, target = emitter.elemental, form.target(batch, window)
    updates = [emitter.value(u, form.source(batch, window)) for u in form.updates]
    places = [emitter.indices.value(memory_position(result.shape, target)) for result in body.results]
    old = [result.load(emitter.b, place) for result, place in zip(body.results, places, strict=True)]
    types = [p.shape.element_type for p in form.root.attribute("to_apply").parameters[: len(old)]]
    arguments = [
        elemental.convert(v, s.shape.element_type, t)
        for values, shapes in ((old, body.results), (updates, form.updates))
        for v, s, t in zip(values, shapes, types, strict=True)
    ]
    new = call_computation(emitter.context, form.root.attribute("to_apply"), arguments)
    for value, result, type_, place in zip(new, body.results, types, places, strict=True):
        result.store(emitter.b, place, elemental.convert(value, type_, result.shape.element_type))


SCATTER = KernelForm("scatter", _matches, _plan, _emit, (Opcode.SCATTER,))
