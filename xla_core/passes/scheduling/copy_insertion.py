"""copy_insertion: copies values that must share a buffer but cannot (XLA: xla/service/copy_insertion.h).

The initial value, the phi and the result of a loop must share one buffer, and so must the results of branches. Results
of the program have buffers of their own. That is impossible if the old state is read after the new state is written, a
constant or an argument is returned, one value is returned twice, or a body swaps two leaves. The pass joins all values
that must share a buffer, and inserts a copy only where the live ranges do not permit that.
"""

from __future__ import annotations

import bisect
import itertools
from collections import defaultdict
from collections.abc import Mapping, Sequence

from xla_core.analysis.alias_edge import AliasEdge, EdgeKind
from xla_core.analysis.buffer_classes import BufferClasses, SizeFunction
from xla_core.analysis.buffer_sharing import CanShare, can_share_buffer
from xla_core.analysis.dataflow import HloDataflowAnalysis
from xla_core.errors import InternalError, InvalidArgumentError
from xla_core.hlo.ir.computation import HloComputation
from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.hlo.ir.module import HloModule
from xla_core.hlo.table.opcode import Opcode
from xla_core.hlo.values.shape import Shape
from xla_core.passes.pass_manager import HloPass
from xla_core.passes.scheduling.hlo_memory_scheduler import schedule_module

_MAX_ROUNDS = 10


class CopyInsertion(HloPass):
    """Inserts the copies that buffer assignment needs, and extends `module.schedule`, or creates it."""

    def __init__(self, size: SizeFunction | None = None, can_share: CanShare = can_share_buffer) -> None:
        self._size = size
        self._can_share = can_share

    def run(self, module: HloModule) -> bool:
        return insert_copies(module, self._size, self._can_share) > 0


def insert_copies(module: HloModule, size: SizeFunction | None = None, can_share: CanShare = can_share_buffer) -> int:
    """Inserts the copies that buffer assignment needs; returns their number.

    Raises:
        InvalidArgumentError: a donated parameter's buffer doesn't have the size of the result that takes it.
        InternalError: the pass doesn't converge.
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
    """Groups failed edges by the point of the program where their copies are inserted."""
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
    """Copies some leaves of one operand or of a computation's root, with the effect of simultaneous copies."""

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
        self._starts: dict[int, list[int]] = {}  # keyed by the id of a shape that the program keeps alive

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
        """Adds the copies in an order in which none overwrites a later one's source; an extra copy breaks a cycle."""
        sources = {leaf: self._leaf(old, old.shape, leaf) for leaf in self._edges}
        reads = {leaf: id(self._classes.of(edge.source)) for leaf, edge in self._edges.items()}
        writes = {leaf: id(self._classes.of(edge.target)) for leaf, edge in self._edges.items()}
        readers: dict[int, set[int]] = defaultdict(set)
        writers: dict[int, list[int]] = defaultdict(list)
        for leaf in self._edges:
            readers[reads[leaf]].add(leaf)
            writers[writes[leaf]].append(leaf)
        copies: dict[int, HloInstruction] = {}
        todo = dict.fromkeys(self._edges)
        free = [leaf for leaf in todo if readers[writes[leaf]] <= {leaf}]
        while todo:
            leaf = free.pop() if free else next(iter(todo))
            if leaf not in todo:
                continue  # the leaf was queued twice
            copy, read = self._add(Opcode.COPY, sources[leaf]), reads[leaf]
            if readers[writes[leaf]] <= {leaf}:
                copies[leaf] = copy
                del todo[leaf]
            else:
                sources[leaf], reads[leaf] = copy, 0
            readers[read].discard(leaf)
            if len(readers[read]) < 2:
                free += [w for w in writers[read] if w in todo]
        return copies

    def _leaf(self, node: HloInstruction, shape: Shape, leaf: int) -> HloInstruction:
        """The instruction whose value is leaf number `leaf` of `node`."""
        while shape.is_tuple:
            starts = self._leaf_starts(shape)
            i = bisect.bisect_right(starts, leaf) - 1
            node, shape, leaf = self._element(node, i), shape.tuple_shapes[i], leaf - starts[i]
        return node

    def _leaf_starts(self, shape: Shape) -> list[int]:
        """The number of the first leaf of each element of a tuple; an element without leaves has that of the next."""
        found = self._starts.get(id(shape))
        if found is None:
            counts = [sum(1 for _ in s.leaves()) if s.is_tuple else 1 for s in shape.tuple_shapes]
            found = self._starts[id(shape)] = list(itertools.accumulate(counts[:-1], initial=0))
        return found

    def _rebuild(
        self, node: HloInstruction, shape: Shape, first: int, copies: Mapping[int, HloInstruction]
    ) -> HloInstruction:
        """Rebuilds `node` with some leaves replaced by copies; `first` is the number of its first leaf."""
        if not shape.is_tuple:
            return copies.get(first, node)
        parts = []
        for i, (element, start) in enumerate(zip(shape.tuple_shapes, self._leaf_starts(shape), strict=True)):
            if first + start in copies and not element.is_tuple:
                parts.append(copies[first + start])
                continue
            part = self._element(node, i)
            parts.append(self._rebuild(part, element, first + start, copies) if element.is_tuple else part)
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
