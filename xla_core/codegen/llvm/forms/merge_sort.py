"""MergeSort: sorts rows on a grid of blocks, or finds the first elements of sorted rows.

Blocks sort tiles of rows in shared memory: each thread sorts a few elements by insertion, and then the threads merge
runs, twice as long each time. Longer rows take further phases, each of which merges pairs of runs in scratch memory,
with a thread for a few neighbouring elements. Where only the first elements of a row are wanted, a run keeps no more.

The sort is stable, and a permutation of the row for every comparator, even one that doesn't order NaNs.
"""

from __future__ import annotations

import abc
import dataclasses
from collections.abc import Callable, Sequence

from xla_core.codegen.llvm.blocks.merging import PART, Load, Store, merge_part, sort_part
from xla_core.codegen.llvm.blocks.register_arrays import RegisterArrays, element_bytes
from xla_core.codegen.llvm.forms.kernel_form import KernelBody, KernelPlan
from xla_core.codegen.llvm.ir.module import Value
from xla_core.codegen.llvm.loops.context import EmissionContext
from xla_core.codegen.llvm.target_abi import KernelFrame
from xla_core.sizes import ceil_div, power_above, power_below
from xla_core.target import ParallelModel
from xla_core.wording import counted

_BLOCK = 256  # threads


class Rows(abc.ABC):
    """The rows that are sorted, during the emission of a phase."""

    @abc.abstractmethod
    def load(self, row: Value, position: Value) -> list[Value]:
        """Returns the registers of an element of a row."""

    @abc.abstractmethod
    def less(self, x: Sequence[Value], y: Sequence[Value]) -> Value:
        """Returns whether an element comes before another one."""

    @abc.abstractmethod
    def store(self, row: Value, rank: Value, registers: Sequence[Value]) -> None:
        """Stores an element that has a rank in its row."""


@dataclasses.dataclass(frozen=True, slots=True)
class MergeSortPlan(KernelPlan):
    """One phase. The runs that it leaves have at most `limit` elements each.

    Attributes:
        types: those of an element's registers.
        rows, length: how many rows there are, and their length.
        limit: how many elements of each sorted row are wanted.
        number: of the phase: 0 sorts tiles, the others merge runs.
        run: the length of a run before the phase; of a tile in the first phase.
        total: the elements of a row that are left before the phase.
        rows_per_block: how many rows a block sorts, in the first phase.
        halves: how many elements each half of the scratch memory has. Phases read one and write the other, in turn.
        is_last: whether this phase writes the results.
    """

    types: Sequence[str] = ()
    rows: int = 0
    length: int = 0
    limit: int = 0
    number: int = 0
    run: int = 1
    total: int = 0
    rows_per_block: int = 1
    halves: tuple[int, int] = (0, 0)
    is_last: bool = True

    def describe_loops(self) -> str:
        if self.number:
            return f"; merges runs of {self.run}"
        return f"; {counted(self.rows, 'row')} of {self.length}, in tiles of {self.run}"

    @property
    def out_run(self) -> int:
        """The most elements of a run after the phase."""
        return min(self.run * (2 if self.number else 1), self.limit)

    @property
    def out_total(self) -> int:
        """The elements of a row that are left after the phase."""
        before = self.run * (2 if self.number else 1)
        whole, rest = divmod(self.total, before)
        return whole * self.out_run + min(rest, self.out_run)


def tile_elements(types: Sequence[str], model: ParallelModel) -> int:
    """Returns how many elements a block sorts in shared memory; 0 if that has no room for the parts of two threads."""
    room = min(model.shared_bytes // (2 * element_bytes(types)), PART * min(_BLOCK, model.threads))
    return power_below(room) if room >= 2 * PART else 0


def plan_merge_sort(types: Sequence[str], rows: int, length: int, limit: int, model: ParallelModel) -> MergeSortPlan:
    """Plans the phases of a sort of `rows` rows, all of which have elements."""
    room = tile_elements(types, model)
    tile = min(room, max(PART, power_above(length)))
    at_once = room // tile
    least = max(2, min(model.lanes, room // PART))  # threads of a block
    while at_once > 1 and at_once // 2 * tile >= least * PART and ceil_div(rows, at_once) < model.units:
        at_once //= 2
    tiles = ceil_div(length, tile)
    first = MergeSortPlan(
        ceil_div(rows, at_once) * tiles,
        threads=at_once * tile // PART,
        types=types,
        rows=rows,
        length=length,
        limit=limit,
        run=tile,
        total=length,
        rows_per_block=at_once,
    )
    phases = [first]
    while phases[-1].out_total > phases[-1].out_run:
        before = phases[-1]
        merge = dataclasses.replace(
            before, number=before.number + 1, run=before.out_run, total=before.out_total, threads=1, rows_per_block=1
        )
        pairs, parts = _pairs(merge), _parts(merge)
        phases.append(dataclasses.replace(merge, count=rows * pairs * parts))
    kept = [rows * phase.out_total for phase in phases[:-1][:2]]  # the later ones leave no more
    halves = (sum(kept[:1]), sum(kept[1:]))
    phases = [dataclasses.replace(phase, halves=halves, is_last=phase is phases[-1]) for phase in phases]
    scratch = sum(RegisterArrays.size(types, count) for count in kept)
    return dataclasses.replace(phases[0], later=phases[1:], scratch_bytes=scratch)


def _pairs(plan: MergeSortPlan) -> int:
    """Pairs of runs in a row; the last one may be a single run."""
    return ceil_div(plan.total, 2 * plan.run)


def _parts(plan: MergeSortPlan) -> int:
    """Threads for a pair of runs."""
    return ceil_div(plan.out_run, PART)


def emit_merge_sort(
    body: KernelBody, plan: MergeSortPlan, frame: KernelFrame, context: EmissionContext, rows: Rows
) -> None:
    """Emits one phase."""
    if not plan.count:
        return
    loop, _ = context.open_loop(frame.begin, frame.end, frame.step, name="unit")
    emission = _Emission(body, plan, context, rows)
    (emission.merge_runs if plan.number else emission.sort_tiles)(loop.index)
    context.close_loop(loop)


class _Emission:
    """Emits the work of a unit."""

    def __init__(self, body: KernelBody, plan: MergeSortPlan, context: EmissionContext, rows: Rows) -> None:
        self._body, self._plan, self._context, self._rows = body, plan, context, rows
        self._b = context.builder

    def sort_tiles(self, unit: Value) -> None:
        """A block sorts a tile, or several whole rows. The threads of a tile are neighbours."""
        b, plan, context, abi = self._b, self._plan, self._context, self._context.abi
        tiles, team = ceil_div(plan.length, plan.run), plan.run // PART
        memory = RegisterArrays.shared(abi, b, plan.types, 2 * plan.rows_per_block * plan.run)
        thread = abi.thread_index(b)
        member = b.urem(thread, b.int_(team))
        row = b.add(b.mul(b.udiv(unit, b.int_(tiles)), b.int_(plan.rows_per_block)), b.udiv(thread, b.int_(team)))
        tile = b.urem(unit, b.int_(tiles))
        first = b.mul(tile, b.int_(plan.run))
        size = b.int_(plan.length)
        if tiles > 1:
            size = b.intrinsic("umin", b.sub(b.int_(plan.length), first), b.int_(plan.run))
        if plan.rows % plan.rows_per_block:  # there is nothing to do for threads without a row
            size = b.select(b.icmp("ult", row, b.int_(plan.rows)), size, b.int_(0))
        halves = b.int_(plan.rows_per_block * plan.run)
        base = b.mul(b.udiv(thread, b.int_(team)), b.int_(plan.run))

        def each(limit: Value, visit: Callable[[Value], None], name: str) -> None:
            """Neighbouring threads visit neighbouring elements."""
            context.each(member, limit, visit, step=b.int_(team), name=name)

        each(
            size,
            lambda at: memory.store(b.add(base, at), self._rows.load(row, b.add(first, at))),
            "gather",
        )
        abi.barrier(b)
        part = b.mul(member, b.int_(PART))
        has_part = b.icmp("ult", part, size)
        begin = b.add(base, part)
        end = b.add(base, b.intrinsic("umin", b.add(part, b.int_(PART)), size))
        context.when(has_part, lambda: sort_part(context, begin, end, memory.load, memory.store, self._rows.less))
        abi.barrier(b)
        passes = team.bit_length() - 1

        def merge(number: Value) -> None:
            source = b.mul(b.and_(number, b.int_(1)), halves)
            target = b.sub(halves, source)
            run = b.binary("shl", b.int_(PART), number)
            pair = b.and_(part, b.not_(b.sub(b.shl(run, 1), b.int_(1))))  # where the pair of runs begins
            self._merge(
                lambda at: memory.load(b.add(b.add(source, base), b.add(pair, at))),
                lambda at, item: memory.store(b.add(b.add(target, base), b.add(pair, at)), item),
                sizes=self._sizes(b.sub(size, pair), run),
                part=b.sub(part, pair),
                limit=b.shl(run, 1),
                levels=b.add(number, b.int_(1)),
            )
            abi.barrier(b)

        context.each(b.int_(0), b.int_(passes), merge, name="passes")
        last = b.add(base, b.int_(plan.rows_per_block * plan.run * (passes % 2)))
        kept = b.intrinsic("umin", size, b.int_(plan.out_run))
        rank = b.mul(tile, b.int_(plan.out_run))
        each(kept, lambda at: self._put(row, b.add(rank, at), memory.load(b.add(last, at))), "put")
        context.barrier_before_next()

    def merge_runs(self, unit: Value) -> None:
        """A thread merges a part of a pair of runs."""
        b, plan = self._b, self._plan
        parts, pairs = _parts(plan), _pairs(plan)
        pair = b.urem(b.udiv(unit, b.int_(parts)), b.int_(pairs))
        row = b.udiv(unit, b.int_(parts * pairs))
        start = b.mul(pair, b.int_(2 * plan.run))
        source, at_row = self._half(0), b.add(b.mul(row, b.int_(plan.total)), start)
        rank = b.mul(pair, b.int_(plan.out_run))
        self._merge(
            lambda at: source.load(b.add(at_row, at)),
            lambda at, item: self._put(row, b.add(rank, at), item),
            sizes=self._sizes(b.sub(b.int_(plan.total), start), b.int_(plan.run)),
            part=b.mul(b.urem(unit, b.int_(parts)), b.int_(PART)),
            limit=b.int_(plan.out_run),
            levels=b.int_((ceil_div(2 * plan.run, PART) - 1).bit_length()),
        )

    def _sizes(self, rest: Value, run: Value) -> tuple[Value, Value]:
        """The sizes of two runs of which `rest` elements are left; it may be negative."""
        b, zero = self._b, self._b.int_(0)
        return b.clamp(zero, rest, run), b.clamp(zero, b.sub(rest, run), run)

    def _merge(
        self, source: Load, target: Store, *, sizes: tuple[Value, Value], part: Value, limit: Value, levels: Value
    ) -> None:
        """Merges the part of a thread, if there is one."""
        b = self._b
        total = b.intrinsic("umin", b.add(*sizes), limit)
        end = b.intrinsic("umin", b.add(part, b.int_(PART)), total)

        def merge() -> None:
            merge_part(
                self._context,
                source,
                target,
                self._rows.less,
                base=b.int_(0),
                sizes=sizes,
                begin=part,
                end=end,
                levels=levels,
            )

        self._context.when(b.icmp("ult", part, total), merge)

    def _put(self, row: Value, position: Value, registers: Sequence[Value]) -> None:
        """Stores an element of the runs that the phase leaves."""
        if self._plan.is_last:
            self._rows.store(row, position, registers)
        else:
            b = self._b
            self._half(1).store(b.add(b.mul(row, b.int_(self._plan.out_total)), position), registers)

    def _half(self, ahead: int) -> RegisterArrays:
        """The half of the scratch memory that the phase reads (0) or writes (1)."""
        b, plan = self._b, self._plan
        assert self._body.scratch is not None
        number, offset = (plan.number + 1 + ahead) % 2, RegisterArrays.size(plan.types, plan.halves[0])
        memory = b.gep("i8", self._body.scratch, b.int_(number * offset))
        return RegisterArrays.at(b, memory, plan.types, plan.halves[number])
