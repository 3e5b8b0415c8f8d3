"""EmissionContext: a kernel under construction, with its nest of loops and the values already emitted in each.

A value is emitted once, in the outermost loop in which its index is defined. Code in that loop and in the loops inside
it uses the value again.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Hashable, Iterator, Sequence

from xla_core.codegen.llvm.ir.builder import IrBuilder, Loop
from xla_core.codegen.llvm.ir.module import Value
from xla_core.codegen.llvm.ir.types import type_bits
from xla_core.codegen.llvm.target_abi import TargetAbi


def minor_loop_metadata(extent: int) -> tuple[str, ...]:
    """Hints for a loop over contiguous elements.

    They keep LLVM from unrolling the loop before the vectorizer sees it: it would then vectorize the loop around it,
    with gathers.
    """
    return ('!{!"llvm.loop.unroll.disable"}',) if extent >= 8 else ()


_CHAINS = 4  # accumulators of a loop that combines elements: an addition takes about four cycles
_SHORT_BODY = 8  # lines of LLVM IR
_LONG_BODIES = range(25, 400)  # lines of LLVM IR; two copies of a longer body take LLVM too much time
_MANY_ELEMENTS = 1 << 14


class _Scope:
    """The values known within a loop body or a conditional block. `level` loops are open where it begins."""

    __slots__ = ("level", "values")

    def __init__(self, level: int) -> None:
        self.level = level
        self.values: dict[Hashable, object] = {}


class EmissionContext:
    """Builder, target and scopes of one kernel."""

    def __init__(self, builder: IrBuilder, abi: TargetAbi) -> None:
        self.builder = builder
        self.abi = abi
        self.floor = 0  # the level of the innermost conditional block: nothing inside is hoisted further out
        self._scopes = [_Scope(0)]
        self._serial = 0

    def serial(self) -> int:
        """Returns a new number, unique in this kernel."""
        self._serial += 1
        return self._serial

    # -- values known ------------------------------------------------------------------------------------------------

    def find(self, key: Hashable) -> object | None:
        """Returns the value that `remember` stored under the key, if it is valid here."""
        for scope in reversed(self._scopes):
            found = scope.values.get(key)
            if found is not None:
                return found
        return None

    def remember(self, key: Hashable, value: object) -> None:
        """Stores a value that is valid from here to the end of the innermost loop or conditional block."""
        self._scopes[-1].values[key] = value

    @contextlib.contextmanager
    def hoisted(self, level: int) -> Iterator[None]:
        """Code inside goes as far out as `level`, but stays inside the innermost conditional block."""
        level = max(level, self.floor)
        if level >= self.builder.level:
            yield
            return
        saved = self._scopes
        self._scopes = [s for s in saved if s.level <= level]
        with self.builder.at_level(level):
            yield
        self._scopes = saved

    # -- control flow ------------------------------------------------------------------------------------------------

    @contextlib.contextmanager
    def guarded(self) -> Iterator[None]:
        """Code inside runs under a condition, so that it is not hoisted out of it."""
        floor = self.floor
        self.floor = self.builder.level
        self._scopes.append(_Scope(self.builder.level))
        yield
        self._scopes.pop()
        self.floor = floor

    def choose(
        self,
        condition: Value,
        then: Callable[[], Sequence[Value]],
        otherwise: Callable[[], Sequence[Value]],
    ) -> list[Value]:
        """Returns the values of `then()` where the condition holds, else of `otherwise()`. Only one is executed."""
        if condition.integer is not None:
            return list(then() if condition.integer else otherwise())
        b = self.builder
        yes, no = b.function.add_block("then"), b.function.add_block("else")
        after = b.function.add_block("join")
        b.branch_if(condition, yes, no)
        results = []
        ends = []
        for block, branch in ((yes, then), (no, otherwise)):
            b.block = block
            with self.guarded():
                results.append(list(branch()))
            ends.append(b.block)
            b.branch(after)
        b.block = after
        return [b.phi((x, ends[0]), (y, ends[1])) for x, y in zip(*results, strict=True)]

    def when(self, condition: Value, body: Callable[[], None]) -> None:
        """Runs the body where the condition holds."""
        if condition.integer is not None:
            if condition.integer:
                body()
            return
        with self.builder.if_(condition), self.guarded():
            body()

    def repeat(
        self,
        body: Callable[[list[Value]], tuple[Value, Sequence[Value]]],
        carried: Sequence[Value],
        name: str = "again",
    ) -> list[Value]:
        """Emits a loop that runs at least once. Returns the carried values after it.

        `body(carried)` returns whether there is another iteration, and the next carried values.
        """
        b = self.builder
        before, header, after = b.block, b.function.add_block(name), b.function.add_block(f"{name}.end")
        phis = [Value(v.type, b.function.fresh()) for v in carried]
        b.branch(header)
        b.block = header
        with self.guarded():
            again, following = body(phis)
            following = list(following)
        for phi, first, next_ in zip(phis, carried, following, strict=True):
            b.define_phi(phi, header, (first, before), (next_, b.block))
        b.branch_if(again, header, after)
        b.block = after
        return following

    def open_loop(
        self, begin: Value, end: Value, step: Value | None = None, carried: Sequence[Value] = (), name: str = "loop"
    ) -> tuple[Loop, list[Value]]:
        """`IrBuilder.open_loop`, with a scope."""
        opened = self.builder.open_loop(begin, end, step, carried, name)
        self._scopes.append(_Scope(self.builder.level))
        return opened

    def close_loop(self, loop: Loop, carried: Sequence[Value] = ()) -> list[Value]:
        """`IrBuilder.close_loop`, with a scope."""
        self._scopes.pop()
        return self.builder.close_loop(loop, carried)

    def barrier_before_next(self) -> None:
        """Emits a barrier at the end of the innermost loop's body, whose next iteration uses a block's memory again."""
        if not self.builder.loops[-1].runs_once:
            self.abi.barrier(self.builder)

    def loop(
        self,
        begin: Value,
        end: Value,
        body: Callable[[Value, list[Value]], Sequence[Value]],
        carried: Sequence[Value] = (),
        *,
        step: Value | None = None,
        name: str = "loop",
        metadata: Sequence[str] = (),
    ) -> list[Value]:
        """Emits one loop. `body(index, carried)` returns the next carried values. Returns those after the loop."""
        loop, phis = self.open_loop(begin, end, step, carried, name)
        loop.metadata.extend(metadata)
        return self.close_loop(loop, body(loop.index, phis))

    def interleave(self, extent: int, accumulated: Sequence[Value]) -> None:
        """Lets LLVM accumulate in several vectors if the innermost loop does little else.

        The processor then begins an addition before the one before it ends. `minor_loop_metadata` alone keeps LLVM from
        that. Is called at the end of the loop's body, which may combine the elements in any order.
        """
        loop = self.builder.loops[-1]
        if len(accumulated) != 1 or self.builder.block is not loop.body or len(loop.body.lines) > _SHORT_BODY:
            return
        lanes = self.abi.vector_width // type_bits(accumulated[0].type)
        step = _CHAINS * lanes
        if step and (extent % step == 0 or extent > 16 * step):  # else many elements would be left for a scalar loop
            loop.metadata.append(f'!{{!"llvm.loop.interleave.count", i32 {_CHAINS}}}')

    def overlap(self, extent: int, elements: int) -> None:
        """Lets LLVM compute two vectors at once in the innermost loop, if its body is a long chain of instructions.

        Each instruction of a chain waits for the one before it, and a processor looks ahead at few chains. Call this at
        the end of a body that accumulates nothing. `elements` is how many elements the whole kernel computes.
        """
        loop = self.builder.loops[-1]
        if self.builder.block is not loop.body or len(loop.body.lines) not in _LONG_BODIES:
            return
        step = 2 * self.abi.vector_width // 8
        if step and elements >= _MANY_ELEMENTS and (extent % step == 0 or extent > 16 * step):
            loop.metadata.append('!{!"llvm.loop.interleave.count", i32 2}')

    def each(
        self,
        begin: Value,
        end: Value,
        body: Callable[[Value], None],
        *,
        step: Value | None = None,
        name: str = "loop",
        metadata: Sequence[str] = (),
    ) -> None:
        """Emits one loop that carries no values; `body(index)` is called inside."""
        loop, _ = self.open_loop(begin, end, step, name=name)
        loop.metadata.extend(metadata)
        body(loop.index)
        self.close_loop(loop)
