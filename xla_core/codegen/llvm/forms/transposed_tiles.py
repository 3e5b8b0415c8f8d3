"""Kernels that read some operands along one loop and write along another one: transposed tiles.

A block of threads computes a square tile of two loops. First it copies the tile of each such operand to shared memory,
where neighbouring threads read neighbouring elements of the operand. After a barrier, neighbouring threads compute and
write neighbouring elements of the results. A row of shared memory is one word longer than the tile, so that the words
of a column are in different banks. Elements of less than a word are moved in words: a thread transposes squares of
`width` x `width` elements in registers::

    operand in memory             shared memory                  result in memory
    -> outer                      -> outer group, one word pad   -> inner
    t0 t1 t2 ... t31              t0 t1 t2 ... t31 .             t0 reads down a column of shared memory,
    t32 ...                       t32 ...          .             and writes along the result's row
"""

from __future__ import annotations

import dataclasses
import functools
import math
from collections.abc import Sequence

from xla_core.analysis.indexing import Condition, IndexExpr, Load, Variable, delinearized, joined
from xla_core.codegen.llvm.elements.element_emitter import ElementEmitter
from xla_core.codegen.llvm.elements.registers import from_bits
from xla_core.codegen.llvm.forms.kernel_form import KernelBody, KernelForm, KernelPlan
from xla_core.codegen.llvm.forms.sections import Section, planned, sections
from xla_core.codegen.llvm.ir.builder import IrBuilder
from xla_core.codegen.llvm.ir.module import Value
from xla_core.codegen.llvm.ir.types import type_bits
from xla_core.codegen.llvm.loops.context import EmissionContext
from xla_core.codegen.llvm.loops.index_values import IndexValues
from xla_core.codegen.llvm.loops.ir_array import ElementValue, IrArray
from xla_core.codegen.llvm.loops.vectors import Vectors
from xla_core.codegen.llvm.target_abi import KernelFrame
from xla_core.codegen.loop_plan import LoopPlan
from xla_core.hlo.table.op_table import Trait
from xla_core.sizes import ceil_div, power_below

_SIDE = 32  # groups of elements along each side of a tile
_PITCH = _SIDE + 1  # words from one row of shared memory to the next
_THREADS = 256
_WORD = 4  # bytes
_MOST_CODE = 256  # HLO instructions in all copies of the body


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class _TransposedTilesPlan(KernelPlan):
    """How a section is divided into tiles.

    Attributes:
        section: what is computed.
        variables: its loops, outermost first. Tiles are of the `outer` loop and of the innermost one.
        outer: the loop along which the staged operands lie.
        staged, direct: the loads that go through shared memory, and the others. Positions are in the loops' variables.
        width: neighbouring elements that are moved at once.
    """

    section: Section
    variables: Sequence[Variable]
    outer: Variable
    staged: Sequence[Load]
    direct: Sequence[Load]
    width: int

    @property
    def inner(self) -> Variable:
        return self.variables[-1]

    @property
    def others(self) -> list[Variable]:
        """The loops that are not tiled."""
        return [v for v in self.variables if v not in (self.outer, self.inner)]

    def describe_loops(self) -> str:
        side = _SIDE * self.width
        loops = " x ".join(f"{v.extent}{'' if v in self.others else ' (tiled)'}" for v in self.variables)
        return f"; loops {loops}, tiles of {side} x {side}, staged operands: {len(self.staged)}"


def _matches(body: KernelBody) -> bool:
    combining = {Trait.ACCUMULATES, Trait.SUPERLINEAR}
    return body.parallel.threads >= _SIDE and not any(i.op.traits & combining for i in body.members)


def _plan(body: KernelBody) -> _TransposedTilesPlan | None:
    """Returns the plan, if loads of the kernel stride while its stores don't."""
    model = body.parallel
    parts = [section for section in sections(body, parts=False) if section.shape.num_elements]
    if len(parts) != 1:
        return None
    outline = planned(parts[0], 0)
    plan = LoopPlan([outline], body.bound)
    variables, across = plan.variables(outline), plan.across(outline, most_bits=128)
    if across < 0:
        return None
    outer, inner = variables[across], variables[-1]
    strided = [load for load in plan.loads if _is_strided(load, outer, inner, variables) and load.source in body.bound]
    if not strided:
        return None
    width = max(1, _WORD // max(_bytes(load) for load in strided))
    squares = (v.extent % width for v in (outer, inner))
    if (
        any(squares)
        or not all(_is_aligned(load, outer, width) for load in strided)
        or width**2 * body.size > _MOST_CODE
    ):
        width = 1
    staged: list[Load] = []
    for load in strided:
        if _shared_bytes([*staged, load], width) <= model.shared_bytes:
            staged.append(load)
    if not staged:
        return None
    tiles = math.prod(ceil_div(v.extent, _SIDE * width) for v in (outer, inner))
    count = tiles * math.prod(v.extent for p, v in enumerate(variables[:-1]) if p != across)
    threads = power_below(min(_THREADS, model.threads))  # its lines divide a tile's
    return _TransposedTilesPlan(
        count,
        threads=threads,
        section=parts[0],
        loops=plan.loops,
        variables=variables,
        outer=outer,
        staged=staged,
        direct=[load for load in plan.loads if load not in staged],
        width=width,
    )


def _is_strided(load: Load, outer: Variable, inner: Variable, variables: Sequence[Variable]) -> bool:
    """Whether a load is contiguous along `outer`, strides along `inner`, and is valid in the whole of a tile."""
    position = load.position
    rest = position - IndexExpr.of(outer) - IndexExpr.of(inner) * position.terms.get(inner, 0)
    return (
        position.terms.get(outer) == 1
        and position.terms.get(inner, 0) > 1
        and rest.variables <= set(variables) - {outer, inner}
        and position.low >= 0
        and position.high < load.source.shape.num_elements
        and load.source.shape.is_array
        and not IrArray(Value("ptr", "null"), load.source.shape).bits
    )


def _is_aligned(load: Load, outer: Variable, width: int) -> bool:
    return _bytes(load) * width == _WORD and (load.position - IndexExpr.of(outer)).is_multiple_of(width)


def _bytes(load: Load) -> int:
    return load.source.shape.element_type.byte_width


def _shared_bytes(loads: Sequence[Load], width: int) -> int:
    return sum(width * _SIDE * _PITCH * max(_WORD, _bytes(load) * width) for load in loads)


def _emit(body: KernelBody, plan: _TransposedTilesPlan, frame: KernelFrame, context: EmissionContext) -> None:
    tiles = _Tiles(body, plan, context)
    begin, end, step = (tiles.indices.counter(value, plan.count) for value in (frame.begin, frame.end, frame.step))
    context.each(begin, end, tiles.emit, step=step, name="tile")


class _Tiles:
    """Emits the work of a block on a tile, in variables of groups of `width` elements along the two loops."""

    def __init__(self, body: KernelBody, plan: _TransposedTilesPlan, context: EmissionContext) -> None:
        self._body, self._plan, self._context = body, plan, context
        self._b = b = context.builder
        self.indices = IndexValues(context)
        self._arrays = [body.bindings[load.source] for load in plan.staged]
        self._types = [f"i{8 * _bytes(load) * plan.width}" for load in plan.staged]
        self._held = [f"i{max(8 * _WORD, type_bits(t))}" for t in self._types]  # an element of its own is a word
        self._shared = [context.abi.shared_array(b, t, plan.width * _SIDE * _PITCH) for t in self._held]
        thread = context.abi.thread_index(b)
        self._lines = plan.threads // _SIDE
        self._lane = self.indices.new("lane", _SIDE, b.urem(thread, b.int_(_SIDE)))
        self._line = self.indices.new("line", self._lines, b.udiv(thread, b.int_(_SIDE)))
        self._groups = [self.indices.unbound(v.name, v.extent // plan.width) for v in (plan.outer, plan.inner)]
        numbers = range(plan.width)
        self._places = {
            (n, self._at(load.position, a, IndexExpr.of(k))): (n, a, k)
            for n, load in enumerate(plan.staged)
            for a in numbers
            for k in numbers
        }

    def _at(self, expr: IndexExpr, a: int, k: IndexExpr) -> IndexExpr:
        """Returns an expression of the loops at an element of two groups: `a` of the outer and `k` of the inner one."""
        plan, (outer, inner) = self._plan, (IndexExpr.of(v) * self._plan.width for v in self._groups)
        return expr.substitute({plan.outer: outer + a, plan.inner: inner + k})

    def emit(self, unit: Value) -> None:
        """Emits the copies to shared memory, and the computation."""
        plan, indices, b = self._plan, self.indices, self._b
        tiles = [ceil_div(v.extent, _SIDE) for v in self._groups]
        number = indices.new("unit", plan.count, unit)
        *places, row, column = delinearized(number, [*(v.extent for v in plan.others), *tiles])
        for variable, place in zip(plan.others, places, strict=True):
            indices.bind(variable, indices.value(place))
        outer = indices.new("row", tiles[0], indices.value(row)) * _SIDE
        inner = indices.new("column", tiles[1], indices.value(column)) * _SIDE
        staged = [self._words(n, outer + self._lane, inner) for n in range(len(plan.staged))]
        for shared, held, words in zip(self._shared, self._held, staged, strict=True):  # after all loads have begun
            for place, word in words:
                b.store_register(b.resize(word, held, signed=False), shared, indices.value(place))
        self._context.abi.barrier(b)
        steps = _SIDE // self._lines

        def store(step: Value) -> None:
            line = self._line + indices.new("step", steps, step) * self._lines
            holds = indices.holds(self._inside(outer + line, inner + self._lane))
            self._context.when(holds, lambda: self._store(outer + line, inner + self._lane, line))

        copies = steps * plan.width**2 * self._body.size
        unroll = ('!{!"llvm.loop.unroll.full"}',) if copies <= _MOST_CODE else ()
        self._context.each(b.int_(0), b.int_(steps), store, name="line", metadata=unroll)
        self._context.barrier_before_next()

    def _inside(self, outer: IndexExpr, inner: IndexExpr) -> list[Condition]:
        """Returns the conditions that two groups are in the loops."""
        return [Condition.of(e, 0, v.extent - 1) for e, v in zip((outer, inner), self._groups, strict=True)]

    def _words(self, number: int, outer: IndexExpr, first_inner: IndexExpr) -> list[tuple[IndexExpr, Value]]:
        """Loads a thread's part of a staged tile. Returns the words, and where in shared memory they belong."""
        type_ = self._types[number]
        squares = []
        for start in range(0, _SIDE, self._lines):
            inner = first_inner + self._line + start
            load = functools.partial(self._square, number, outer, inner)
            holds = self.indices.holds(self._inside(outer, inner))
            nothing = [self._b.int_(0, type_)] * self._plan.width
            squares.append((start, self._context.choose(holds, load, functools.partial(list, nothing))))
        return [
            ((self._line + start + a * _SIDE) * _PITCH + self._lane, word)
            for start, square in squares
            for a, word in enumerate(_turned(self._b, square, 8 * _bytes(self._plan.staged[number])))
        ]

    def _square(self, number: int, outer: IndexExpr, inner: IndexExpr) -> list[Value]:
        """Loads the elements of two groups: a word along the outer loop for each element of the inner one."""
        plan, array, type_ = self._plan, self._arrays[number], self._types[number]
        assert isinstance(array, IrArray)
        words = []
        for k in range(plan.width):
            place = {plan.outer: outer * plan.width, plan.inner: inner * plan.width + k}
            position = plan.staged[number].position.substitute(place)
            address = array.address(self._b, self.indices.value(position))
            align = _bytes(plan.staged[number]) * plan.width
            words.append(self._b.load(type_, address, align=align, metadata=array.load_metadata))
        return words

    def _store(self, outer: IndexExpr, inner: IndexExpr, line: IndexExpr) -> None:
        """Computes and stores the elements of two groups. The first is on a line of the tile."""
        plan, indices = self._plan, self.indices
        for variable, group in zip(self._groups, (outer, inner), strict=True):
            indices.bind(variable, indices.value(group))
        vectors = Vectors(self._context, indices, plan.width, self._direct_vectors())
        loader = functools.partial(self._load, line, vectors)
        emitter = ElementEmitter(self._context, self._body.bindings, indices, plan.loops, loader=loader)
        whole = joined(plan.variables)
        for a in range(plan.width):
            positions = [self._at(whole, a, IndexExpr.of(k)) for k in range(plan.width)]
            vectors.store([list(plan.section.elements(self._body, emitter, position)) for position in positions])

    def _direct_vectors(self) -> list[IndexExpr]:
        """Returns where loads that aren't staged begin to read neighbours."""
        lane = IndexExpr.of(self.indices.unbound("neighbour", self._plan.width))
        found = []
        for load in self._plan.direct:
            for a in range(self._plan.width):
                first = self._at(load.position, a, IndexExpr.of(0))
                if self._at(load.position, a, lane) == first + lane:
                    found.append(first)
        return found

    def _load(self, line: IndexExpr, vectors: Vectors, array: IrArray, position: IndexExpr) -> ElementValue:
        """Loads the element at a position, from shared memory if it is staged."""
        b = self._b
        for number, staged in enumerate(self._arrays):
            found = self._places.get((number, position)) if staged is array else None
            if found is None:
                continue
            _, a, k = found
            word = self._context.find(("staged", number, a))
            if not isinstance(word, Value):
                place = self.indices.value((self._lane + a * _SIDE) * _PITCH + line)
                word = b.load_register(self._held[number], self._shared[number], place)
                self._context.remember(("staged", number, a), word)
            bits = 8 * array.shape.element_type.byte_width
            return from_bits(b, b.resize(b.lshr(word, k * bits), f"i{bits}", signed=False), array.shape.element_type)
        return vectors.load(array, position)


def _turned(b: IrBuilder, rows: Sequence[Value], bits: int) -> list[Value]:
    """Transposes a square of elements of so many bits, whose rows are words."""
    if len(rows) == 1:
        return list(rows)
    mask = b.int_((1 << bits) - 1, rows[0].type)
    columns = []
    for a in range(len(rows)):
        elements = [b.shl(b.and_(b.lshr(row, a * bits), mask), k * bits) for k, row in enumerate(rows)]
        columns.append(functools.reduce(b.or_, elements))
    return columns


TRANSPOSED_TILES = KernelForm("transposed tiles", _matches, _plan, _emit)
