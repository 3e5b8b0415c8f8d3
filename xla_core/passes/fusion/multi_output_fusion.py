"""multi_output_fusion: merges kernels with several results (XLA: xla/service/gpu/transforms/multi_output_fusion.h).

Two kernels whose loops run over the same elements are merged if one reads the result of the other at the same index, or
if both read one array, which is then read once. A bitcast between kernels is a view of an array, so that readers of the
bitcast read the array. A merge must not create a cycle. Kernels that are far apart in the order of the computation are
not merged, since that would extend the live ranges of their results.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator

from xla_core.analysis.control_flow import reachable_sequences
from xla_core.analysis.indexing import (
    accumulates,
    is_product,
    reduced_rows,
    row_parts,
    scanned_rows,
)
from xla_core.hlo.ir.computation import HloComputation
from xla_core.hlo.ir.fused import fused_instructions, fused_roots
from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.hlo.ir.module import HloModule
from xla_core.hlo.table.opcode import Opcode
from xla_core.hlo.values.shape import Shape
from xla_core.passes.fusion.fusion_node import replace_with_fusion
from xla_core.passes.fusion.kernel_code import code_size
from xla_core.passes.fusion.kernel_reads import fits_rows, is_view, reads_in_step, reads_its_row, viewed, with_views
from xla_core.passes.fusion.policy import FusionPolicy
from xla_core.passes.pass_manager import HloPass

_WINDOW = 100  # the most instructions between two kernels that are merged
_MOST_READERS = 64  # an array with more readers is not searched for siblings


class MultiOutputFusion(HloPass):
    """Merges kernels with equal loops. Runs after instruction fusion."""

    def __init__(self, policy: FusionPolicy | None = None) -> None:
        self._policy = policy or FusionPolicy()

    def run(self, module: HloModule) -> bool:
        preferences = self._policy.preferences
        if not (preferences.enabled and preferences.multi_output):
            return False
        changed = False
        for computation in reachable_sequences(module):
            changed |= _Joiner(computation, self._policy).run()
        if changed:
            module.remove_unreachable_computations()
        return changed


class _Node:
    """The instructions that will become one fusion."""

    __slots__ = ("members", "outputs", "position", "reads", "size", "users")

    def __init__(self, member: HloInstruction, position: int) -> None:
        self.members = [member]
        self.position = position
        self.outputs = len(fused_roots(member))
        self.size: int | None = None  # of the code, computed when it is needed
        self.reads: dict[_Node, None] = {}
        self.users: dict[_Node, None] = {}


class _Joiner:
    """The kernels of one computation, in order."""

    def __init__(self, computation: HloComputation, policy: FusionPolicy) -> None:
        self._computation, self._policy = computation, policy
        self._blocks = policy.parallel.has_blocks
        self._order: list[_Node | None] = []
        self._nodes: dict[HloInstruction, _Node] = {}
        for instruction in computation.post_order():
            if is_view(instruction):
                continue
            node = self._nodes[instruction] = _Node(instruction, len(self._order))
            self._order.append(node)
            for before in (*instruction.operands, *instruction.control_predecessors):
                source = self._nodes[viewed(before)]
                node.reads[source] = None
                source.users[node] = None

    def run(self) -> bool:
        joined: dict[_Node, None] = {}
        for instruction in list(self._nodes):
            node = self._nodes[instruction]
            for other in self._candidates(node):
                if other is not self._nodes[instruction] and self._join(self._nodes[instruction], other):
                    joined[self._nodes[instruction]] = None
        for node in joined:
            if self._order[node.position] is node and len(node.members) > 1:
                replace_with_fusion(*_roots_and_members(with_views(self._computation, node.members)))
        return bool(joined)

    def _candidates(self, node: _Node) -> Iterable[_Node]:
        """Returns the kernels that `node` may be merged with: its users, and later kernels that read the same array."""
        if self._is_kernel(node):
            for user in list(node.users):
                if self._is_kernel(user):
                    yield user
            for source in list(node.reads):
                if not self._is_worth_sharing(source) or len(source.users) > _MOST_READERS:
                    continue
                for sibling in list(source.users):
                    if sibling is not node and sibling.position > node.position and self._is_kernel(sibling):
                        if sibling.position - node.position > _WINDOW:
                            continue
                        yield sibling

    def _is_worth_sharing(self, source: _Node) -> bool:
        least = self._policy.preferences.least_shared_bytes
        return any(m.shape.is_array and m.shape.byte_size >= least for m in source.members)

    def _wanted(self, producer: _Node, consumer: _Node) -> bool:
        """Whether the policy allows every pair of a producer's and a consumer's root to be fused."""
        pairs = itertools.product(producer.members, consumer.members)
        roots = (pair for p, c in pairs for pair in itertools.product(fused_roots(p), fused_roots(c)))
        return all(self._policy.should_fuse(p, c) for p, c in roots)

    def _is_kernel(self, node: _Node) -> bool:
        return all(
            m.shape.is_array
            and (m.user_count > 0 or m.is_root)
            and all(self._policy.can_be_root(root) for root in fused_roots(m))
            for m in node.members
        )

    def _join(self, first: _Node, second: _Node) -> bool:
        """Merges two kernels if that is possible and profitable; returns whether it did."""
        if self._order[first.position] is not first or self._order[second.position] is not second:
            return False
        if first.position > second.position:
            first, second = second, first
        if second.position - first.position > _WINDOW:
            return False
        if first in second.reads and not self._wanted(first, second):
            return False
        if not (self._runs_together(first, second) and self._small_enough(first, second)):
            return False
        if not self._clear_way(first, second):
            return False
        self._merge(first, second)
        return True

    def _runs_together(self, first: _Node, second: _Node) -> bool:
        """Whether one kernel can compute both, with the same loops or the same rows of blocks of threads."""
        depends = first in second.reads
        accumulating = list(_accumulating(first, second)) if self._blocks else []
        if len(accumulating) > 1 and any(is_product(i) for i in accumulating):
            return False
        if any(scanned_rows(i) is not None for i in accumulating):  # a block scans the rows of one instruction
            return False
        accumulated = {reduced_rows(i) for i in accumulating}
        parts = row_parts(accumulated)
        if len(accumulated) > 1 and parts is None:  # a block of threads reduces rows of one kind, and their columns
            return False
        if parts is not None:
            columns = filter(parts.is_column, accumulating)
            if not self._policy.can_reduce_columns(parts, _operands(first, second), columns):
                return False
        rows = next(iter(accumulated), None) if parts is None else parts.rows
        if rows is not None and parts is None and rows.elements > self._policy.longest_row(rows):
            rows = None
        if rows is not None:
            if not fits_rows(rows, first.members, parts) or not fits_rows(rows, second.members, parts):
                return False
            return not depends or reads_its_row(first.members, second.members, rows, parts)
        if depends and not reads_in_step(first.members, second.members):
            return False  # each element of the second would need other elements of the first
        loops = _loops(first.members)
        return loops is not None and loops == _loops(second.members)

    def _merge(self, first: _Node, second: _Node) -> None:
        """Moves the members of the first kernel, and its edges, to the second one."""
        for source in first.reads:
            source.users.pop(first, None)
            if source is not second:
                source.users[second] = None
                second.reads[source] = None
        for user in first.users:
            user.reads.pop(first, None)
            if user is not second:
                user.reads[second] = None
                second.users[user] = None
        second.reads.pop(first, None)
        self._order[first.position] = None
        second.members = [*first.members, *second.members]
        second.outputs += first.outputs
        second.size = self._size(first) + self._size(second)
        for member in first.members:
            self._nodes[member] = second

    def _small_enough(self, first: _Node, second: _Node) -> bool:
        preferences = self._policy.preferences
        if first.outputs + second.outputs > preferences.max_outputs:
            return False
        if len(_operands(first, second)) > preferences.max_operands:
            return False
        return self._size(first) + self._size(second) <= preferences.max_instructions

    def _size(self, node: _Node) -> int:
        if node.size is None:
            (member,) = node.members
            node.size = code_size(member, self._policy)
        return node.size

    def _clear_way(self, first: _Node, second: _Node) -> bool:
        """Makes room for the merged kernel, which takes the place of `second` in the order.

        Moves the nodes between the two that depend on `first` behind `second`.

        Returns False, and moves nothing, if `second` depends on one of them.
        """
        between = self._order[first.position + 1 : second.position]
        behind: dict[_Node, None] = {}
        for node in between:
            if node is not None and (first in node.reads or any(r in behind for r in node.reads)):
                behind[node] = None
        if any(r in behind for r in second.reads):
            return False
        ahead = [n for n in between if n is not None and n not in behind]
        start = first.position
        for offset, node in enumerate([first, *ahead, second, *behind]):
            node.position = start + offset
            self._order[start + offset] = node
        for position in range(start + 2 + len(ahead) + len(behind), start + len(between) + 2):
            self._order[position] = None
        return True


def _loops(members: Iterable[HloInstruction]) -> object:
    """Returns the dimensions, layout and reduced dimensions of a kernel's loops, if they are its results'."""
    found: object = None
    for member in members:
        for root in fused_roots(member):
            shape = next(iter(root.shape.array_leaves()), None)
            if shape is None or root.opcode in (Opcode.DYNAMIC_UPDATE_SLICE, Opcode.CONCATENATE, Opcode.REDUCE_WINDOW):
                return None
            over: Shape | None = root.operand(0).shape if root.opcode == Opcode.REDUCE else None
            reduced = None if over is None else (over.dimensions, tuple(root.attribute("dimensions")))
            key = (shape.dimensions, shape.minor_to_major(), reduced)
            if found is not None and found != key:
                return None
            found = key
    return found


def _operands(*nodes: _Node) -> set[HloInstruction]:
    """Returns the operands of a kernel that has all members of the nodes."""
    inside = {member for node in nodes for member in node.members}
    return {o for member in inside for o in member.operands if o not in inside}


def _accumulating(*nodes: _Node) -> Iterator[HloInstruction]:
    """Yields the instructions of kernels that accumulate."""
    for member in (member for node in nodes for member in node.members):
        yield from filter(accumulates, fused_instructions(member))


def _roots_and_members(members: list[HloInstruction]) -> tuple[list[HloInstruction], list[HloInstruction]]:
    """Returns arguments of `replace_with_fusion`. Members that are used outside of the merged kernel are roots."""
    inside = set(members)
    roots = [m for m in members if m.is_root or any(u not in inside for u in m.users)]
    return roots, members
