"""copy_insertion: copies where values that must share a buffer are alive together (XLA: xla/service/copy_insertion.h).

What a loop carries stays in one place from the initial value to the result, and so does what branches return; results
of the program have memory of their own. Where that can't be (the old state is read after the new one is written, a
constant or an argument is returned, one value is returned twice, a body swaps two leaves), a copy resolves it. None is
inserted where lifetimes permit to do without: the pass joins all values that must share and copies what it can't join.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

from xla_core.analysis.buffer_classes import BufferClasses, SizeFunction
from xla_core.analysis.buffer_sharing import CanShare, can_share_buffer
from xla_core.analysis.dataflow import AliasEdge, EdgeKind, HloDataflowAnalysis
from xla_core.errors import InternalError, InvalidArgumentError
from xla_core.hlo.computation import HloComputation
from xla_core.hlo.instruction import HloInstruction
from xla_core.hlo.module import HloModule
from xla_core.hlo.opcode import Opcode
from xla_core.hlo.shape import Shape
from xla_core.passes.pass_manager import HloPass
from xla_core.passes.scheduling.memory_scheduler import schedule_module

__all__ = ["CopyInsertion", "insert_copies"]

_MAX_ROUNDS = 10


class CopyInsertion(HloPass):
    """Makes buffer assignment possible. Keeps `module.schedule`, or makes one where there is none."""

    name = "copy-insertion"

    def __init__(self, size: SizeFunction | None = None, can_share: CanShare = can_share_buffer) -> None:
        self._size = size
        self._can_share = can_share

    def run(self, module: HloModule) -> bool:
        return insert_copies(module, self._size, self._can_share) > 0


def insert_copies(module: HloModule, size: SizeFunction | None = None, can_share: CanShare = can_share_buffer) -> int:
    """Inserts what copies are needed; returns how many.

    Raises InvalidArgumentError when a donated parameter's buffer doesn't have the size of the result it is bound to.
    """
    measure = size or (lambda shape: shape.byte_size)
    if module.schedule is None:
        schedule_module(module, measure)
    inserted = 0
    for _ in range(_MAX_ROUNDS):
        classes = BufferClasses(HloDataflowAnalysis(module), measure, can_share)
        if not classes.failures:
            return inserted
        for edges in _by_place(classes.failures):
            inserted += _Resolver(module, classes, edges).run()
    raise InternalError(f"copy insertion of {module.name} does not end")


def _by_place(failures: Sequence[AliasEdge]) -> list[list[AliasEdge]]:
    """Failed edges whose copies go to one point of the program."""
    groups: dict[object, list[AliasEdge]] = defaultdict(list)
    for edge in failures:
        if edge.kind is EdgeKind.OUTPUT_ALIAS:
            raise InvalidArgumentError(
                f"the result {edge.target.shape} cannot take the buffer of parameter {edge.source.name}, "
                f"{edge.source.shape}",
                hint="donate parameters to results of the same size",
            )
        before = edge.kind in (EdgeKind.LOOP_INIT, EdgeKind.IN_PLACE)
        groups[(edge.place, edge.operand) if before else edge.computation].append(edge)
    return list(groups.values())


class _Resolver:
    """Copies some leaves of one operand, or of one computation's root, as if all at once."""

    def __init__(self, module: HloModule, classes: BufferClasses, edges: Sequence[AliasEdge]) -> None:
        assert module.schedule is not None
        self._classes = classes
        self._edges = {edge.leaf: edge for edge in edges}
        first = edges[0]
        self._computation: HloComputation = first.computation
        self._consumer = first.place if first.kind in (EdgeKind.LOOP_INIT, EdgeKind.IN_PLACE) else None
        self._operand = first.operand
        self._order = module.schedule[self._computation]
        self._made: list[HloInstruction] = []

    def run(self) -> int:
        old = self._computation.root if self._consumer is None else self._consumer.operand(self._operand)
        copies = self._copy_leaves(old)
        new = self._rebuild(old, old.shape, 0, copies)
        if self._consumer is None:
            self._computation.set_root(new)
            self._order.extend(self._made)
        else:
            self._consumer.replace_operand(self._operand, new)
            at = self._order.index(self._consumer)
            self._order[at:at] = self._made
        if old.opcode == Opcode.TUPLE and not old.user_count and not old.is_root:
            self._order.remove(old)
            self._computation.remove(old)
        return sum(1 for i in self._made if i.opcode == Opcode.COPY)

    def _copy_leaves(self, old: HloInstruction) -> dict[int, HloInstruction]:
        """The copies, in an order in which none overwrites what a later one reads; one more breaks a cycle."""
        sources = {leaf: self._leaf(old, old.shape, leaf) for leaf in self._edges}
        reads = {leaf: id(self._classes.of(edge.source)) for leaf, edge in self._edges.items()}
        writes = {leaf: id(self._classes.of(edge.target)) for leaf, edge in self._edges.items()}
        copies: dict[int, HloInstruction] = {}
        todo = dict.fromkeys(self._edges)
        while todo:
            read_by: dict[int, set[int]] = defaultdict(set)
            for leaf in todo:
                read_by[reads[leaf]].add(leaf)
            free = [leaf for leaf in todo if not read_by[writes[leaf]] - {leaf}]
            for leaf in free:
                copies[leaf] = self._add(Opcode.COPY, sources[leaf])
                del todo[leaf]
            if not free:
                leaf = next(iter(todo))
                sources[leaf], reads[leaf] = self._add(Opcode.COPY, sources[leaf]), 0
        return copies

    def _leaf(self, node: HloInstruction, shape: Shape, leaf: int) -> HloInstruction:
        """The instruction whose whole value is a leaf of `node`."""
        while shape.is_tuple:
            for i, element in enumerate(shape.tuple_shapes):
                count = sum(1 for _ in element.leaves())
                if leaf < count:
                    node, shape = self._element(node, i), element
                    break
                leaf -= count
        return node

    def _rebuild(
        self, node: HloInstruction, shape: Shape, first: int, copies: Mapping[int, HloInstruction]
    ) -> HloInstruction:
        """`node` with some leaves replaced; `first` is the number of its first leaf."""
        if not shape.is_tuple:
            return copies.get(first, node)
        parts = []
        for i, element in enumerate(shape.tuple_shapes):
            count = sum(1 for _ in element.leaves())
            if not element.is_tuple and first in copies:
                parts.append(copies[first])
            else:
                part = self._element(node, i)
                changed = any(first <= leaf < first + count for leaf in copies)
                parts.append(self._rebuild(part, element, first, copies) if changed else part)
            first += count
        return self._add(Opcode.TUPLE, *parts)

    def _element(self, node: HloInstruction, index: int) -> HloInstruction:
        if node.opcode == Opcode.TUPLE:
            return node.operand(index)
        return self._add(Opcode.GET_TUPLE_ELEMENT, node, index=index)

    def _add(self, opcode: Opcode, *operands: HloInstruction, **attributes: int) -> HloInstruction:
        if opcode == Opcode.COPY:
            shape = operands[0].shape
        elif opcode == Opcode.TUPLE:
            shape = Shape.tuple([o.shape for o in operands])
        else:
            shape = operands[0].shape.tuple_shapes[attributes["index"]]
        made = HloInstruction(opcode, shape, operands, attributes)
        if operands:
            made.metadata = operands[0].metadata
        self._computation.add_instruction(made)
        self._made.append(made)
        return made
