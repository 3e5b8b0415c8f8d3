"""The forms of an fft on a grid of threads.

Rows that fit a block's shared memory are transformed there: the threads of a row share the iterations of each loop, and
wait for each other after it. For longer rows, each loop is a phase of the kernel, of all rows together, and the rows
between two loops are in scratch memory.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from xla_core.codegen.llvm.forms.fft.complex_code import FftCode
from xla_core.codegen.llvm.forms.fft.kernel import Transform, is_row_transform
from xla_core.codegen.llvm.forms.kernel_form import KernelBody, KernelForm, KernelPlan
from xla_core.codegen.llvm.ir.builder import IrBuilder
from xla_core.codegen.llvm.ir.module import IrFunction, IrModule, Value
from xla_core.codegen.llvm.loops.context import EmissionContext
from xla_core.codegen.llvm.target_abi import KernelFrame, TargetAbi
from xla_core.sizes import ceil_div
from xla_core.wording import counted

_BLOCK = 256  # threads
_ITERATIONS = 4  # of a loop over a row, for each thread, at least


def _body(b: IrBuilder, counts: Sequence[int], body: Callable[[Value], Any], position: Value) -> None:
    """Emits the body of nested loops at a position of all their iterations."""
    rest = math.prod(counts)
    for count in counts:
        rest //= count
        body = body(b.urem(b.udiv(position, b.int_(rest)), b.int_(count)))


class _BlockCode(FftCode):
    """Code whose loops are shared by the threads of a row: `member` of `team`."""

    def __init__(self, abi: TargetAbi, b: IrBuilder, dtype: np.dtype, memory: Value, member: Value, team: int) -> None:
        super().__init__(b, dtype, memory, abi.constant_address_space)
        self._abi, self._member, self._team = abi, member, team

    def each(self, count: int, body: Callable[[Value], None]) -> None:
        self.each_of([count], body)

    def each_of(self, counts: Sequence[int], body: Callable[[Value], Any]) -> None:
        if not math.prod(counts):
            return
        b = self.builder
        loop, _ = b.open_loop(self._member, b.int_(math.prod(counts)), b.int_(self._team), name="fft")
        _body(b, counts, body, loop.index)
        b.close_loop(loop)
        self._abi.barrier(b)


class _PhaseCode(FftCode):
    """Code of one loop, `number`, at one of its iterations, `position`.

    Attributes:
        loops: for each loop so far, the number of its iterations, and whether every row has them.
        once_used: the real numbers in the memory of all rows.
    """

    def __init__(
        self,
        abi: TargetAbi,
        b: IrBuilder,
        dtype: np.dtype,
        memory: tuple[Value, Value],
        number: int = -1,
        position: Value | None = None,
    ) -> None:
        super().__init__(b, dtype, memory[1], abi.constant_address_space)
        self._common, self._number, self._position = memory[0], number, position
        self._is_once = False
        self.once_used = 0
        self.loops: list[tuple[int, bool]] = []

    def each(self, count: int, body: Callable[[Value], None]) -> None:
        self.each_of([count], body)

    def each_of(self, counts: Sequence[int], body: Callable[[Value], Any]) -> None:
        if not math.prod(counts):
            return
        if len(self.loops) == self._number and self._position is not None:
            _body(self.builder, counts, body, self._position)
        self.loops.append((math.prod(counts), not self._is_once))

    @contextmanager
    def once(self) -> Iterator[None]:
        kept = self._memory, self._used, self.most_used
        self._memory, self._used, self.most_used, self._is_once = self._common, 0, 0, True
        yield
        self.once_used = self.most_used
        (self._memory, self._used, self.most_used), self._is_once = kept, False


@dataclasses.dataclass(frozen=True, slots=True)
class _FftPlan(KernelPlan):
    """The plan of one phase of an FFT.

    Attributes:
        rows: the number of rows.
        loop: the number of the loop that is this phase; -1 if blocks transform rows in shared memory.
        iterations: the iterations of the loop over one row, or of a loop over all rows.
        row_elements, once_elements: the real numbers of scratch or shared memory for each row, and for all rows.
        team: the threads of a row in a block.
    """

    rows: int = 0
    loop: int = -1
    iterations: int = 0
    row_elements: int = 0
    once_elements: int = 0
    team: int = 1

    def describe_loops(self) -> str:
        each = f"{counted(self.team, 'thread')} a row" if self.loop < 0 else f"loop {self.loop}"
        return f"; {counted(self.rows, 'row')}, {each}"


def _matches(body: KernelBody) -> bool:
    return body.parallel.has_blocks and is_row_transform(body)


def _plan(body: KernelBody) -> _FftPlan:
    transform, model = Transform(body.root), body.parallel
    rows = math.prod(body.root.shape.dimensions[:-1])
    if not rows:
        return _FftPlan(0)
    code = _recorded(body.abi, transform)
    row = code.most_used * transform.dtype.itemsize
    if not code.once_used and row <= model.shared_bytes:
        most = max(count for count, _ in code.loops)
        limit = min(_BLOCK, model.threads)
        team = 1
        while team * 2 <= limit and team * 2 * _ITERATIONS <= most:
            team *= 2
        at_once = limit // team
        while at_once > 1 and at_once * row > model.shared_bytes:
            at_once //= 2
        while at_once > 1 and at_once // 2 * team >= max(2, model.lanes) and ceil_div(rows, at_once) < model.units:
            at_once //= 2
        team = max(team, 2 // at_once)
        count = ceil_div(rows, at_once)
        return _FftPlan(count, threads=at_once * team, rows=rows, row_elements=code.most_used, team=team)
    first, *later = [
        _FftPlan(
            count * (rows if of_row else 1),
            rows=rows,
            loop=number,
            iterations=count,
            row_elements=code.most_used,
            once_elements=code.once_used,
        )
        for number, (count, of_row) in enumerate(code.loops)
    ]
    scratch = (code.once_used + rows * code.most_used) * transform.dtype.itemsize
    return dataclasses.replace(first, later=later, scratch_bytes=scratch)


def _recorded(abi: TargetAbi, transform: Transform) -> _PhaseCode:
    """The loops of a transform and the memory that it needs. The code that this takes is dropped."""
    b = IrBuilder(IrModule("plan"), IrFunction("plan", "void", []))
    null = Value("ptr", "null")
    code = _PhaseCode(abi, b, transform.dtype, (null, null))
    frame = KernelFrame(b, [null, null], *[b.int_(0)] * 3)
    transform.emit_row(code, frame, b.int_(0), transform.tables(code))
    return code


def _emit(body: KernelBody, plan: _FftPlan, frame: KernelFrame, context: EmissionContext) -> None:
    if not plan.count:
        return
    b = frame.builder
    b.fast_math = "contract"
    transform = Transform(body.root)
    if plan.loop < 0:
        _emit_block(transform, plan, frame, context.abi)
        return
    assert body.scratch is not None
    loop, _ = b.open_loop(frame.begin, frame.end, frame.step, name="unit")
    row, position = b.udiv(loop.index, b.int_(plan.iterations)), b.urem(loop.index, b.int_(plan.iterations))
    first = b.add(b.int_(plan.once_elements), b.mul(row, b.int_(plan.row_elements)))
    memory = body.scratch, b.gep(transform.type, body.scratch, first)
    code = _PhaseCode(context.abi, b, transform.dtype, memory, plan.loop, position)
    transform.emit_row(code, frame, row, transform.tables(code))
    b.close_loop(loop)


def _emit_block(transform: Transform, plan: _FftPlan, frame: KernelFrame, abi: TargetAbi) -> None:
    """A block transforms the rows of a unit, `team` threads each."""
    b, at_once = frame.builder, plan.threads // plan.team
    shared = Value("ptr", "null")  # for rows that need no intermediate values
    if plan.row_elements:
        shared = abi.shared_array(b, transform.type, at_once * plan.row_elements)
    loop, _ = b.open_loop(frame.begin, frame.end, frame.step, name="rows")
    thread = abi.thread_index(b)
    number, member = b.udiv(thread, b.int_(plan.team)), b.urem(thread, b.int_(plan.team))
    row = b.add(b.mul(loop.index, b.int_(at_once)), number)
    if plan.rows % at_once:  # threads without a row transform the last one too
        row = b.intrinsic("umin", row, b.int_(plan.rows - 1))
    memory = b.gep(transform.type, shared, b.mul(number, b.int_(plan.row_elements)))
    code = _BlockCode(abi, b, transform.dtype, memory, member, plan.team)
    transform.emit_row(code, frame, row, None)
    b.close_loop(loop)


FFT_BLOCKS = KernelForm("fft by blocks", _matches, _plan, _emit)
