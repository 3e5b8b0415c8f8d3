"""Kernels of a grid of threads, each of which computes a few neighbouring elements of the results.

A thread computes as many elements as make one wide store, of results of one shape. Their indices differ by a constant,
so that what depends on a row only is computed once, and LLVM joins their loads and stores to wide ones.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from xla_core.analysis.indexing import Index, IndexExpr, delinearized
from xla_core.codegen.llvm.elements.element_emitter import ElementEmitter
from xla_core.codegen.llvm.elements.fused import FusedIrEmitter
from xla_core.codegen.llvm.forms.kernel_form import KernelBody, KernelForm, Plan
from xla_core.codegen.llvm.ir.module import Value
from xla_core.codegen.llvm.loops.context import EmissionContext
from xla_core.codegen.llvm.loops.index_values import IndexValues
from xla_core.codegen.llvm.loops.ir_array import ElementValue, IrArray
from xla_core.codegen.llvm.target_abi import KernelFrame
from xla_core.hlo.instruction import HloInstruction
from xla_core.hlo.op_table import Trait
from xla_core.hlo.opcode import Opcode
from xla_core.hlo.shape import Shape

_WIDE_STORE = 16  # bytes
_UNROLLED_SIZE = 64  # HLO instructions in all copies of the body, at most


class _Section:
    """Results whose elements one set of threads computes.

    Attributes:
        shape: what the threads run over: the shape of the results, or of an update.
        roots: (instruction, its results).
        update: for a dynamic-update-slice that updates its operand in place, the instruction.
    """

    def __init__(self, shape: Shape, update: HloInstruction | None = None) -> None:
        self.shape = shape
        self.update = update
        self.roots: list[tuple[HloInstruction, list[int]]] = []


def _sections(body: KernelBody) -> list[_Section]:
    found: dict[object, _Section] = {}
    leaf = 0
    for root in body.roots:
        shape = next(root.shape.leaves())
        leaves = list(range(leaf, leaf + sum(1 for _ in root.shape.leaves())))
        leaf += len(leaves)
        in_place = root.opcode == Opcode.DYNAMIC_UPDATE_SLICE and _shares_buffer(body, leaves[0], root.operand(0))
        key = root if in_place else (shape.dimensions, tuple(shape.minor_to_major()))
        update = root if in_place else None
        section = found.setdefault(key, _Section(root.operand(1).shape if in_place else shape, update))
        section.roots.append((root.operand(1) if in_place else root, leaves))
    return list(found.values())


def _shares_buffer(body: KernelBody, leaf: int, operand: HloInstruction) -> bool:
    return (leaf, body.operand_leaf(operand)) in body.aliasing


def _per_thread(body: KernelBody, section: _Section) -> int:
    """How many elements a thread computes: as many as make a wide store, if the body is small."""
    count = section.shape.num_elements
    accumulates = any(Trait.ACCUMULATES in i.op.traits or Trait.SUPERLINEAR in i.op.traits for i in _members(body))
    if accumulates or count < body.abi.parallel.units * body.abi.threads_per_block * 2:
        return 1
    widest = max(leaf.element_type.byte_width for root, _ in section.roots for leaf in root.shape.leaves())
    wanted = max(1, _WIDE_STORE // widest)
    while wanted > 1 and (count % wanted or wanted * body.size > _UNROLLED_SIZE):
        wanted //= 2
    return wanted


def _members(body: KernelBody) -> Sequence[HloInstruction]:
    if body.instruction.opcode != Opcode.FUSION:
        return [body.instruction]
    return list(body.instruction.attribute("calls").instructions)


def _matches(body: KernelBody) -> bool:
    return body.abi.flatten


def _units(body: KernelBody, section: _Section) -> int:
    return section.shape.num_elements // _per_thread(body, section)


def _plan(body: KernelBody) -> Plan:
    return Plan(max(_units(body, section) for section in _sections(body)), body.abi.parallel.grain_elements)


def _emit(body: KernelBody, frame: KernelFrame, context: EmissionContext, fused: FusedIrEmitter) -> None:
    for section in _sections(body):
        if _units(body, section):
            _emit_section(body, frame, context, section)


def _emit_section(body: KernelBody, frame: KernelFrame, context: EmissionContext, section: _Section) -> None:
    b, units, each = context.builder, _units(body, section), _per_thread(body, section)
    indices = IndexValues(context)
    elements = ElementEmitter(context, body.bindings, indices)

    def thread(unit: Value) -> None:
        first = indices.new("unit", units, unit) * each
        stores = [s for k in range(each) for s in _element(body, section, elements, first + k)]
        for array, index, value in stores:  # after all loads: a result may be in an operand's buffer
            elements.store(array, index, value)

    end = frame.end if units == _plan(body).count else b.intrinsic("umin", frame.end, b.int_(units))
    context.each(frame.begin, end, thread, step=frame.step, name="unit")


def _element(
    body: KernelBody, section: _Section, elements: ElementEmitter, position: IndexExpr
) -> Iterator[tuple[IrArray, Index, ElementValue]]:
    """(array, index, value) of each result at a position in memory."""
    index = _element_at(section.shape, position)
    for root, leaves in section.roots:
        dimensions = next(root.shape.leaves()).dimensions
        place = index
        if section.update is not None:
            place = _updated(section.update, index, elements)
        for leaf, value in zip(leaves, elements.values(root, index[: len(dimensions)]), strict=True):
            yield body.results[leaf], place, value


def _element_at(shape: Shape, position: IndexExpr) -> Index:
    """The index of the element at a position in memory."""
    order = list(reversed(shape.minor_to_major()))
    physical = delinearized(position, [shape.dimensions[d] for d in order])
    return tuple(physical[order.index(d)] for d in range(shape.rank))


def _updated(update: HloInstruction, index: Index, elements: ElementEmitter) -> Index:
    """Where the element at `index` of an update is in the result."""
    dimensions = next(update.shape.leaves()).dimensions
    zero = tuple(IndexExpr.of(0) for _ in dimensions)
    starts = elements.accesses(update, zero)[1].index  # 0 - start in each dimension
    return tuple(expr - start for expr, start in zip(index, starts, strict=True))


ELEMENTS = KernelForm(_matches, _plan, _emit)
