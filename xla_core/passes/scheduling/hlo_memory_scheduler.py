"""hlo_memory_scheduler: orders instructions to minimize peak memory (XLA: hlo_memory_scheduler.h).

The entry and every computation that control flow reaches gets an order in `HloModule.schedule`: post-order if no order
can have a smaller peak, else the best of post-order, depth first with the heaviest operand first, and list scheduling,
which always picks the ready instruction that frees most memory.

Some instructions update an operand in place: dynamic-update-slice, scatter, a loop (its state), the root of a loop body
(the parameter), and the output of the program (a donated parameter). Other readers of that operand are scheduled before
the update if possible, so that copy insertion need not copy it.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Sequence

from xla_core.analysis.control_flow import control_flow_callees, sequential_computations
from xla_core.hlo.ir.computation import HloComputation
from xla_core.hlo.ir.effects import EffectAnalysis
from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.hlo.ir.module import HloModule
from xla_core.hlo.table.op_table import Trait
from xla_core.hlo.table.opcode import Opcode
from xla_core.hlo.values.shape import Shape
from xla_core.passes.pass_manager import HloPass
from xla_core.traversal import post_order

_Order = list[HloInstruction]
_SizeFunction = Callable[[Shape], int]


class HloMemoryScheduler(HloPass):
    """Sets `module.schedule` to orders with a small peak of live memory."""

    def __init__(self, size: _SizeFunction | None = None) -> None:
        self._size = size

    def run(self, module: HloModule) -> bool:
        schedule_module(module, self._size)
        return True


def schedule_module(module: HloModule, size: _SizeFunction | None = None) -> dict[HloComputation, _Order]:
    """Orders the entry and every computation that control flow reaches; sets and returns `module.schedule`.

    `size` gives the bytes of an array; by default `Shape.byte_size`.

    Raises:
        FailedPreconditionError: the call graph is not flat.
    """
    measure = size or (lambda shape: shape.byte_size)
    order = sequential_computations(module)
    bodies = {i.attribute("body") for c in order for i in c.instructions if i.opcode == Opcode.WHILE}
    peaks: dict[HloComputation, int] = {}
    schedule: dict[HloComputation, _Order] = {}
    for computation in order:
        graph = _Memory(computation, measure, peaks)
        graph.find_hazards(is_body=computation in bodies)
        best = graph.depth_first(by_weight=False)
        peaks[computation] = graph.peak(best)
        if peaks[computation] > graph.least_peak():
            for other in (graph.depth_first(by_weight=True), graph.list_schedule()):
                if (peak := graph.peak(other)) < peaks[computation]:
                    best, peaks[computation] = other, peak
        schedule[computation] = best
    module.schedule = schedule
    return schedule


class _Version:
    """One state of a buffer. An in-place update makes a new version of the same buffer."""

    __slots__ = ("buffer", "users")

    def __init__(self, buffer: int) -> None:
        self.buffer = buffer
        self.users: list[HloInstruction] = []


class _Memory:
    """The buffers that the instructions of one computation define, read and free."""

    def __init__(
        self, computation: HloComputation, size: _SizeFunction, callee_peaks: dict[HloComputation, int]
    ) -> None:
        self.computation = computation
        self.instructions = computation.post_order()
        self.sizes: list[int] = []  # bytes by buffer; 0 for parameters and constants, which others own
        self.readers: list[dict[HloInstruction, None]] = []  # readers by buffer
        self.defines: dict[HloInstruction, int] = {}
        self.reads: dict[HloInstruction, list[int]] = {}
        self.inner: dict[HloInstruction, int] = {}  # peak bytes of called computations
        self.soft: dict[HloInstruction, list[HloInstruction]] = {}  # instructions that should precede it
        self.versions: dict[HloInstruction, list[_Version]] = {}
        for instruction in self.instructions:
            self._visit(instruction, size, callee_peaks)
        effects = EffectAnalysis(frozenset((Trait.SIDE_EFFECT,)))
        acting = [i for i in self.instructions if effects.of(i)]
        self.effect_before = dict(zip(acting[1:], acting, strict=False))  # the one before it with a side effect
        self.live_out = {v.buffer for v in self.versions[computation.root]}

    def _visit(self, instruction: HloInstruction, size: _SizeFunction, callee_peaks: dict[HloComputation, int]) -> None:
        opcode = instruction.opcode
        operands = [self.versions[o] for o in instruction.operands]
        self.defines[instruction] = 0
        self.reads[instruction] = []
        leaves = list(instruction.shape.leaves())
        if opcode == Opcode.TUPLE:
            self.versions[instruction] = [v for o in operands for v in o]
            return
        if opcode == Opcode.GET_TUPLE_ELEMENT:
            before = instruction.operand(0).shape.leaf_number((instruction.tuple_index,))
            self.versions[instruction] = operands[0][before : before + len(leaves)]
            return
        if Trait.FORWARDING in instruction.op.traits:
            self.versions[instruction] = operands[0]
            return
        read: dict[int, None] = {}
        for operand in operands:
            for version in operand:
                version.users.append(instruction)
                read[version.buffer] = None
        for buffer in read:
            self.readers[buffer][instruction] = None
        self.reads[instruction] = list(read)
        self.inner[instruction] = max((callee_peaks.get(c, 0) for c in control_flow_callees(instruction)), default=0)
        if opcode == Opcode.WHILE:
            self.versions[instruction] = [_Version(v.buffer) for v in operands[0]]
            return
        updated = instruction.op.in_place_operands(len(instruction.operands))
        made: list[_Version] = []
        for leaf, shape in enumerate(leaves):
            if leaf < len(updated) and len(operands[updated[leaf]]) == 1:
                made.append(_Version(operands[updated[leaf]][0].buffer))
                continue
            owned = shape.is_array and Trait.GIVEN not in instruction.op.traits
            self.sizes.append(size(shape) if owned else 0)
            self.readers.append({})
            made.append(_Version(len(self.sizes) - 1))
            self.defines[instruction] += self.sizes[-1]
        self.versions[instruction] = made

    def find_hazards(self, *, is_body: bool) -> None:
        """Fills `soft`: maps an instruction that overwrites a version to the other readers of that version."""
        for instruction in self.instructions:
            if instruction.opcode == Opcode.WHILE:
                for version in self.versions[instruction.operand(0)]:
                    self._before(version, instruction)
            for operand in instruction.op.in_place_operands(len(instruction.operands)):
                for version in self.versions[instruction.operand(operand)]:
                    self._before(version, instruction)
        module = self.computation.module
        definer = {v: i for i in self.instructions if Trait.FORWARDING not in i.op.traits for v in self.versions[i]}
        root = self.versions[self.computation.root]
        pairs: list[tuple[_Version, _Version]] = []
        if is_body:
            pairs += zip(self.versions[self.computation.parameters[0]], root, strict=True)
        elif module is not None and module.entry is self.computation:
            for a in module.input_output_aliases:
                parameter = self.computation.parameters[a.parameter_number]
                before = self.versions[parameter][parameter.shape.leaf_number(a.parameter_index)]
                pairs.append((before, root[self.computation.root.shape.leaf_number(a.output_index)]))
        for before, after in pairs:
            writer = definer[after]
            if before is not after and writer.opcode != Opcode.PARAMETER:
                self._before(before, writer)

    def _predecessors(self, i: HloInstruction) -> list[HloInstruction]:
        """The instructions that must precede an instruction."""
        effect = self.effect_before.get(i)
        return [*i.operands, *i.control_predecessors, *(() if effect is None else (effect,))]

    def _before(self, version: _Version, writer: HloInstruction) -> None:
        others = [user for user in dict.fromkeys(version.users) if user is not writer]
        if others:
            self.soft.setdefault(writer, []).extend(others)

    # -- orders ------------------------------------------------------------------------------------------------------

    def depth_first(self, *, by_weight: bool) -> _Order:
        """A post-order from the root, with soft predecessors before their instruction unless that makes a cycle."""
        weight: dict[HloInstruction, tuple[int, int]] = {}
        if by_weight:
            for i in self.instructions:
                extra = sum(weight[o][0] for o in i.operands) + max(0, i.user_count - 1)
                total = sum(weight[o][1] for o in i.operands) + self.defines[i]
                weight[i] = (min(extra, 1 << 60), min(total, 1 << 60))

        def before(i: HloInstruction) -> list[HloInstruction]:
            operands = list(dict.fromkeys(i.operands))
            if by_weight:
                operands.sort(key=weight.__getitem__, reverse=True)
            return [*operands, *self._predecessors(i)[len(i.operands) :], *self.soft.get(i, ())]

        given = [i for i in self.instructions if Trait.GIVEN in i.op.traits]
        ends = [i for i in self.instructions if i is self.computation.root or not i.user_count]
        order = post_order([*given, *ends], before)
        # Soft predecessors may have broken the order of operands; this restores it and keeps the rest.
        return post_order(order, self._predecessors)

    def list_schedule(self) -> _Order:
        """List scheduling: always picks the ready instruction with the smallest net increase of live memory."""
        waiting: dict[HloInstruction, int] = {}
        successors: dict[HloInstruction, list[HloInstruction]] = {}
        soft_waiting: dict[HloInstruction, int] = {}
        soft_successors: dict[HloInstruction, list[HloInstruction]] = {}
        for i in self.instructions:
            before = set(self._predecessors(i))
            waiting[i] = len(before)
            for b in before:
                successors.setdefault(b, []).append(i)
        for writer, readers in self.soft.items():
            distinct = set(readers)
            soft_waiting[writer] = len(distinct)
            for reader in distinct:
                soft_successors.setdefault(reader, []).append(writer)
        remaining = [len(r) for r in self.readers]
        place = {i: n for n, i in enumerate(self.instructions)}

        def priority(i: HloInstruction) -> tuple[bool, int, int]:
            freed = sum(self.sizes[b] for b in self.reads[i] if remaining[b] == 1 and b not in self.live_out)
            return (soft_waiting.get(i, 0) > 0, self.defines[i] - freed, place[i])

        ready: list[tuple[tuple[bool, int, int], int]] = []
        current: dict[HloInstruction, tuple[bool, int, int]] = {}

        def push(i: HloInstruction) -> None:
            current[i] = priority(i)
            heapq.heappush(ready, (current[i], place[i]))

        order: _Order = []
        for i in self.instructions:
            if not waiting[i]:
                push(i)
        while ready:
            key, number = heapq.heappop(ready)
            node = self.instructions[number]
            if current.get(node) != key:
                continue  # the entry is stale, since the priority changed
            del current[node]
            order.append(node)
            changed: dict[HloInstruction, None] = {}
            for buffer in self.reads[node]:
                remaining[buffer] -= 1
                if remaining[buffer] == 1:
                    changed.update(self.readers[buffer])
            for writer in soft_successors.get(node, ()):
                soft_waiting[writer] -= 1
                changed[writer] = None
            for other in changed:
                if other in current and current[other] != priority(other):
                    push(other)
            for successor in successors.get(node, ()):
                waiting[successor] -= 1
                if not waiting[successor]:
                    push(successor)
        return order

    def least_peak(self) -> int:
        """A lower bound of the peaks of all orders.

        The operands and results of an instruction live while it runs, and the computation's results at the end.
        """
        held = (self.defines[i] + self.inner.get(i, 0) + sum(self.sizes[b] for b in self.reads[i]) for i in self.reads)
        return max(sum(self.sizes[b] for b in self.live_out), *held)

    def peak(self, order: Sequence[HloInstruction]) -> int:
        """The peak of live bytes in an order, including those of called computations."""
        remaining = [len(r) for r in self.readers]
        now = most = 0
        for i in order:
            now += self.defines[i]
            most = max(most, now + self.inner.get(i, 0))
            for buffer in self.reads[i]:
                remaining[buffer] -= 1
                if not remaining[buffer] and buffer not in self.live_out:
                    now -= self.sizes[buffer]
        return most
