"""topk on a grid of blocks: a merge sort of each row in which every sorted run keeps at most k elements."""

from __future__ import annotations

import math
from collections.abc import Sequence

from xla_core.analysis.indexing import Index, delinearized
from xla_core.codegen.llvm.elements.element_emitter import ElementEmitter
from xla_core.codegen.llvm.forms.kernel_form import KernelBody, KernelForm
from xla_core.codegen.llvm.forms.merge_sort import (
    MergeSortPlan,
    Rows,
    emit_merge_sort,
    plan_merge_sort,
    tile_elements,
)
from xla_core.codegen.llvm.forms.top_k import ordered_key
from xla_core.codegen.llvm.ir.module import Value
from xla_core.codegen.llvm.ir.types import register_type
from xla_core.codegen.llvm.loops.context import EmissionContext
from xla_core.codegen.llvm.loops.index_values import IndexValues
from xla_core.codegen.llvm.target_abi import KernelFrame
from xla_core.hlo.table.opcode import Opcode


def _types(body: KernelBody) -> list[str]:
    """The types of an element and of its index in its row."""
    return [register_type(body.root.operand(0).shape.element_type), "i32"]


def _matches(body: KernelBody) -> bool:
    model = body.parallel
    return body.root.opcode == Opcode.TOPK and model.has_blocks and tile_elements(_types(body), model) > 0


def _plan(body: KernelBody) -> MergeSortPlan:
    *outer, length = body.root.operand(0).shape.dimensions
    rows, k = math.prod(outer), body.root.attribute("k")
    if not rows or not k:
        return MergeSortPlan(0)
    return plan_merge_sort(_types(body), rows, length, k, body.parallel)


def _emit(body: KernelBody, plan: MergeSortPlan, frame: KernelFrame, context: EmissionContext) -> None:
    emit_merge_sort(body, plan, frame, context, _BestOfRows(body, plan, context))


class _BestOfRows(Rows):
    """The rows of a topk. An element has two registers: its value, and its index in the row."""

    def __init__(self, body: KernelBody, plan: MergeSortPlan, context: EmissionContext) -> None:
        self._body, self._operand, self._b = body, body.root.operand(0), context.builder
        self._indices = IndexValues(context)
        self._emitter = ElementEmitter(context, body.bindings, self._indices, plan.loops)
        self._rows = plan.rows

    def _index(self, row: Value, position: Value, extent: int) -> Index:
        outer = delinearized(self._indices.new("row", self._rows, row), self._operand.shape.dimensions[:-1])
        return (*outer, self._indices.new("position", extent, position))

    def load(self, row: Value, position: Value) -> list[Value]:
        value = self._emitter.value(self._operand, self._index(row, position, self._operand.shape.dimensions[-1]))
        assert isinstance(value, Value)
        return [value, self._b.cast("trunc", position, "i32")]

    def less(self, x: Sequence[Value], y: Sequence[Value]) -> Value:
        left, right = (ordered_key(self._b, z[0], self._operand.shape.element_type) for z in (x, y))
        return self._b.icmp("ugt" if self._body.root.attribute("largest") else "ult", left, right)

    def store(self, row: Value, rank: Value, registers: Sequence[Value]) -> None:
        index = self._index(row, rank, self._body.root.attribute("k"))
        for result, register in zip(self._body.results, registers, strict=True):
            self._emitter.store(result, index, register)


TOP_K_BLOCKS = KernelForm("top-k by blocks", _matches, _plan, _emit)
