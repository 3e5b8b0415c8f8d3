"""sort on a grid of blocks: see `merge_sort`."""

from __future__ import annotations

import math
from collections.abc import Sequence

from xla_core.analysis.indexing import Index, delinearized
from xla_core.codegen.llvm.elements.element_emitter import ElementEmitter
from xla_core.codegen.llvm.elements.registers import parts, register_types, unflatten
from xla_core.codegen.llvm.forms.kernel_form import KernelBody, KernelForm
from xla_core.codegen.llvm.forms.merge_sort import (
    MergeSortPlan,
    Rows,
    emit_merge_sort,
    plan_merge_sort,
    tile_elements,
)
from xla_core.codegen.llvm.forms.sort import comes_before
from xla_core.codegen.llvm.ir.module import Value
from xla_core.codegen.llvm.loops.context import EmissionContext
from xla_core.codegen.llvm.loops.index_values import IndexValues
from xla_core.codegen.llvm.target_abi import KernelFrame
from xla_core.hlo.table.opcode import Opcode


def _types(body: KernelBody) -> list[str]:
    """The types of the registers of an element of all operands."""
    return register_types(operand.shape.element_type for operand in body.root.operands)


def _matches(body: KernelBody) -> bool:
    model = body.parallel
    return body.root.opcode == Opcode.SORT and model.has_blocks and tile_elements(_types(body), model) > 0


def _plan(body: KernelBody) -> MergeSortPlan:
    dims, (dimension,) = body.root.operand(0).shape.dimensions, body.root.attribute("dimensions")
    if not math.prod(dims):
        return MergeSortPlan(0)
    length = dims[dimension]
    return plan_merge_sort(_types(body), math.prod(dims) // length, length, length, body.parallel)


def _emit(body: KernelBody, plan: MergeSortPlan, frame: KernelFrame, context: EmissionContext) -> None:
    emit_merge_sort(body, plan, frame, context, _SortedRows(body, plan, context))


class _SortedRows(Rows):
    """The rows of a sort."""

    def __init__(self, body: KernelBody, plan: MergeSortPlan, context: EmissionContext) -> None:
        self._body, self._root, self._context = body, body.root, context
        self._indices = IndexValues(context)
        self._emitter = ElementEmitter(context, body.bindings, self._indices, plan.loops)
        self._types = [o.shape.element_type for o in self._root.operands]
        self._rows = plan.rows

    def _index(self, row: Value, position: Value) -> Index:
        dims, (dimension,) = self._root.operand(0).shape.dimensions, self._root.attribute("dimensions")
        others = [*dims[:dimension], *dims[dimension + 1 :]]
        index = delinearized(self._indices.new("row", self._rows, row), others)
        place = self._indices.new("position", dims[dimension], position)
        return (*index[:dimension], place, *index[dimension:])

    def load(self, row: Value, position: Value) -> list[Value]:
        index = self._index(row, position)
        return [r for operand in self._root.operands for r in parts(self._emitter.value(operand, index))]

    def less(self, x: Sequence[Value], y: Sequence[Value]) -> Value:
        left, right = (unflatten(z, self._types) for z in (x, y))
        return comes_before(self._context, self._root.attribute("to_apply"), left, right)

    def store(self, row: Value, rank: Value, registers: Sequence[Value]) -> None:
        index = self._index(row, rank)
        for value, result in zip(unflatten(registers, self._types), self._body.results, strict=True):
            self._emitter.store(result, index, value)


SORT_BLOCKS = KernelForm("sort by blocks", _matches, _plan, _emit)
