"""IrBuilder: instructions, branches and loops of one function."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence

from xla_core.codegen.llvm.ir.instructions import InstructionBuilder
from xla_core.codegen.llvm.ir.module import Block, IrFunction, IrModule, Value
from xla_core.errors import InternalError


class Loop:
    """A loop whose body is being built. Code that runs once before the loop may still be added to `preheader`."""

    __slots__ = ("begin", "body", "end", "exit", "header", "index", "metadata", "phis", "preheader", "step")

    def __init__(self, preheader: Block, header: Block, body: Block, exit_: Block, index: Value) -> None:
        self.preheader = preheader
        self.header = header
        self.body = body
        self.exit = exit_
        self.index = index
        self.begin = self.end = self.step = index
        self.phis: list[tuple[Value, Value]] = []  # (phi, value before the first iteration)
        self.metadata: list[str] = []

    @property
    def runs_once(self) -> bool:
        """Whether the body runs at most once, because a step leads beyond the end. Such a loop carries no values."""
        step, end = self.step.integer, self.end.integer
        return not self.phis and step is not None and end is not None and step >= end >= 0


class IrBuilder(InstructionBuilder):
    """Writes a function.

    `loops` are the loops that are open here, outermost first; their number is the level of the code being written.
    `at_level` writes code further out, before the loop that is open there.
    """

    def __init__(self, module: IrModule, function: IrFunction) -> None:
        super().__init__(module, function)
        self.loops: list[Loop] = []

    def branch(self, target: Block) -> None:
        self.line(f"br {target}")

    def branch_if(self, condition: Value, then: Block, otherwise: Block) -> None:
        self.line(f"br {condition}, {then}, {otherwise}")

    def phi(self, *incoming: tuple[Value, Block]) -> Value:
        """Adds a phi; only other phis may stand before it in its block."""
        type_ = incoming[0][0].type
        return self.emit(type_, _phi(type_, incoming))

    def define_phi(self, value: Value, block: Block, *incoming: tuple[Value, Block]) -> None:
        """Makes a value, which code may use already, a phi of a block, behind the phis that it has."""
        place = next((n for n, line in enumerate(block.lines) if " = phi " not in line), len(block.lines))
        block.lines.insert(place, f"{value.name} = {_phi(value.type, incoming)}")

    def ret(self, value: Value | None = None) -> None:
        self.line("ret void" if value is None else f"ret {value}")

    @contextlib.contextmanager
    def if_(self, condition: Value) -> Iterator[None]:
        """Code inside runs if the condition is true."""
        then, after = self.function.add_block("then"), self.function.add_block("after")
        self.branch_if(condition, then, after)
        self.block = then
        yield
        self.branch(after)
        self.block = after

    def open_loop(
        self, begin: Value, end: Value, step: Value | None = None, carried: Sequence[Value] = (), name: str = "loop"
    ) -> tuple[Loop, list[Value]]:
        """Starts `for (i = begin; i < end; i += step)` (unsigned); returns the loop and the carried values' phis.

        `carried` are the first values of those phis; `close_loop` takes their next values.
        """
        function = self.function
        header, body = function.add_block(name), function.add_block(f"{name}.body")
        exit_ = function.add_block(f"{name}.exit")
        loop = Loop(self.block, header, body, exit_, Value(begin.type, function.fresh()))
        loop.begin, loop.end, loop.step = begin, end, step or Value(begin.type, "1")
        loop.phis = [(Value(v.type, function.fresh()), v) for v in carried]
        self.loops.append(loop)
        self.block = body
        return loop, [phi for phi, _ in loop.phis]

    def close_loop(self, loop: Loop, carried: Sequence[Value] = ()) -> list[Value]:
        """Ends the innermost loop. Returns the carried values after it."""
        if self.loops.pop() is not loop:
            raise InternalError("a loop was closed before the loops inside it")
        if loop.runs_once:
            self._close_once(loop)
            return []
        next_index = self.emit(loop.index.type, f"add nuw nsw {loop.index}, {loop.step.name}")
        hints = f", !llvm.loop {self._loop_metadata(loop)}" if loop.metadata else ""
        self.line(f"br {loop.header}{hints}")
        header = loop.header.lines
        loop.preheader.lines.append(f"br {loop.header}")
        for (phi, first), after in zip([(loop.index, loop.begin), *loop.phis], [next_index, *carried], strict=True):
            self.define_phi(phi, loop.header, (first, loop.preheader), (after, self.block))
        condition = self.function.fresh()
        header.append(f"{condition} = icmp ult {loop.index}, {loop.end.name}")
        header.append(f"br i1 {condition}, {loop.body}, {loop.exit}")
        self.block = loop.exit
        return [phi for phi, _ in loop.phis]

    def _close_once(self, loop: Loop) -> None:
        self.branch(loop.exit)
        loop.preheader.lines.append(f"br {loop.header}")
        self.block = loop.header
        self.line(f"{loop.index.name} = {_phi(loop.index.type, [(loop.begin, loop.preheader)])}")
        self.branch_if(self.icmp("ult", loop.index, loop.end), loop.body, loop.exit)
        self.block = loop.exit

    def _loop_metadata(self, loop: Loop) -> str:
        hints = [self.module.metadata(hint) for hint in loop.metadata]
        return self.module.metadata(f"!{{{', '.join(['$self', *hints])}}}", distinct=True)

    @property
    def level(self) -> int:
        """How many loops are open here."""
        return len(self.loops)

    @contextlib.contextmanager
    def at_level(self, level: int) -> Iterator[None]:
        """Code inside goes before the loop at `level` starts: only the `level` outer loops are open there."""
        if level >= len(self.loops):
            yield
            return
        block, inner = self.block, self.loops[level:]
        self.block, self.loops = inner[0].preheader, self.loops[:level]
        yield
        inner[0].preheader = self.block
        self.block, self.loops = block, [*self.loops, *inner]


def _phi(type_: str, incoming: Sequence[tuple[Value, Block]]) -> str:
    return f"phi {type_} " + ", ".join(f"[ {value.name}, %{block.label} ]" for value, block in incoming)
