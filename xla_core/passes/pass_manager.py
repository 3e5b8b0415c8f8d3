"""Passes and pipelines of passes (XLA: xla/hlo/pass/hlo_pass_interface.h, hlo_pass_pipeline.h, hlo_pass_fix.h)."""

from __future__ import annotations

import abc
import contextlib
import contextvars
import dataclasses
import re
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import ClassVar, TypeVar

from xla_core import config, profiler
from xla_core.errors import InternalError, XlaError
from xla_core.hlo.ir.computation import HloComputation
from xla_core.hlo.ir.effects import EffectAnalysis
from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.hlo.ir.module import HloModule
from xla_core.hlo.table.opcode import Opcode
from xla_core.passes.dump import ModuleDump

Invariant = Callable[[HloModule], None]
"""A check that raises XlaError for a module that is not valid."""

PassObserver = Callable[[str, str, HloModule], None]
"""Called after each pass that changed the module: (pipeline, name, module). The observer must not change the module."""

PassStart = Callable[[str, str], None]
"""Called before each pass: (its pipeline, its name)."""

P = TypeVar("P", bound="HloPass")

_observer: contextvars.ContextVar[PassObserver | None] = contextvars.ContextVar("pass_observer", default=None)
_start: contextvars.ContextVar[PassStart | None] = contextvars.ContextVar("pass_start", default=None)


@contextlib.contextmanager
def observe_passes(observer: PassObserver, start: PassStart | None = None) -> Iterator[None]:
    """Calls `start` before each pass, and `observer` after each that changes a module, while the block compiles."""
    tokens = _observer.set(observer), _start.set(start)
    try:
        yield
    finally:
        _observer.reset(tokens[0])
        _start.reset(tokens[1])


class HloPass(abc.ABC):
    """A transformation of a module. Pipelines, dumps and `xla opt --passes` refer to it by `name`.

    The name is that of the class by default: `hlo-dce` for HloDce.
    """

    name: str

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        if "name" not in cls.__dict__:
            cls.name = re.sub(r"(?<!^)(?=[A-Z])", "-", cls.__name__).lower()

    @abc.abstractmethod
    def run(self, module: HloModule) -> bool:
        """Transforms `module` in place; returns whether it changed."""

    def describe(self, indent: str = "") -> str:
        """The lines for the pass in a printed pipeline."""
        return indent + self.name

    def __str__(self) -> str:
        return self.describe()


class InstructionPass(HloPass):
    """A pass that looks at the instructions of some opcodes, one after the other.

    Attributes:
        opcodes: those that `rewrite` is called with.
        callers_first: whether a computation comes before those that it calls.
        effects: finds what has effects, from the start of a run on.
    """

    opcodes: ClassVar[frozenset[Opcode]]
    callers_first: ClassVar[bool] = False
    effects: EffectAnalysis

    @abc.abstractmethod
    def rewrite(self, computation: HloComputation, instruction: HloInstruction) -> bool:
        """Rewrites an instruction of the computation if that is possible; returns whether it did."""

    def run(self, module: HloModule) -> bool:
        self.effects, changed = EffectAnalysis(), False
        order = module.post_order()
        for computation in reversed(order) if self.callers_first else order:
            for instruction in computation.instructions:
                if instruction.opcode in self.opcodes and instruction.parent is computation:
                    changed |= self.rewrite(computation, instruction)
        if changed:
            module.remove_unreachable_computations()
        return changed


@dataclasses.dataclass(frozen=True, slots=True)
class PassTiming:
    """The record of one run of a pass. `pipeline` joins the names of its pipelines with "/", outermost first."""

    name: str
    pipeline: str
    seconds: float
    changed: bool
    instructions_before: int
    instructions_after: int


@dataclasses.dataclass(slots=True)
class PassContext:
    """The environment of a run of passes: dumps, checks after each pass, and the record of the passes that ran."""

    dump: ModuleDump | None = None
    invariants: list[Invariant] = dataclasses.field(default_factory=list)
    timings: list[PassTiming] = dataclasses.field(default_factory=list)
    observer: PassObserver | None = dataclasses.field(default_factory=_observer.get)
    start: PassStart | None = dataclasses.field(default_factory=_start.get)
    _changes: int = 0  # how many passes have changed the module
    _settled: dict[HloPass, int] = dataclasses.field(default_factory=dict)  # pass -> `_changes` when it changed nothing

    @staticmethod
    def default(module: HloModule | None = None, *, verify: bool | None = None) -> PassContext:
        """A context with the dumps that XLA_FLAGS requests.

        The verifier runs after each pass if `verify` is True, or if it is None and --xla_core_verify_passes is set.
        """
        context = PassContext(
            dump=None if module is None else ModuleDump.active() or ModuleDump.from_flags(module.name)
        )
        if config.core_flags().xla_core_verify_passes if verify is None else verify:
            from xla_core.hlo.verifier import verify as verify_module  # imported only if passes are verified

            context.invariants.append(verify_module)
        return context

    def run(self, hlo_pass: HloPass, module: HloModule, path: tuple[str, ...], following: str = "") -> bool:
        """Runs, times, dumps and checks one pass; returns whether it changed the module.

        The pass is skipped if it changed nothing when it ran last, and no pass has changed the module since.

        Args:
            hlo_pass: the pass, or a group of passes.
            module: the module, which is changed in place.
            path: the names of the enclosing pipelines, outermost first.
            following: the name of the next pass, for the dump's file name.

        Raises:
            InternalError: the module violates an invariant after the pass.
        """
        if isinstance(hlo_pass, PassGroup):
            return hlo_pass.run_in(module, self, path)
        if self._settled.get(hlo_pass) == self._changes:
            return False
        for computation in module.computations:
            computation.set_root(computation.root)  # an implicit root is the newest instruction
        before = module.instruction_count
        pipeline = path[-1] if path else "passes"
        if self.start is not None:
            self.start(pipeline, hlo_pass.name)
        start = time.perf_counter()
        with profiler.span(hlo_pass.name, category="pass", pipeline="/".join(path), module=module.name):
            changed = hlo_pass.run(module)
        seconds = time.perf_counter() - start
        if changed:
            self._changes += 1
        else:
            self._settled[hlo_pass] = self._changes
        self.timings.append(
            PassTiming(hlo_pass.name, "/".join(path), seconds, changed, before, module.instruction_count)
        )
        if self.dump is not None:
            self.dump.after_pass(module, pipeline, hlo_pass.name, following, changed)
        if changed and self.observer is not None:
            self.observer(pipeline, hlo_pass.name, module)
        for invariant in self.invariants:
            try:
                invariant(module)
            except XlaError as error:
                raise InternalError(
                    f"pass {hlo_pass.name} of {'/'.join(path)} broke the module: {error.message}",
                    op=error.op,
                    location=error.location,
                    hint="this is a mistake in the pass, not in your program; please report it",
                ) from error
        return changed


class PassGroup(HloPass):
    """A pass that runs other passes."""

    def run(self, module: HloModule) -> bool:
        return self.run_in(module, PassContext.default(module), ())

    @abc.abstractmethod
    def run_in(self, module: HloModule, context: PassContext, path: tuple[str, ...]) -> bool:
        """Runs the group; `path` holds the names of the enclosing pipelines, outermost first."""


class HloPassPipeline(PassGroup):
    """Runs passes in order. Its text is a tree of the passes."""

    def __init__(self, name: str, passes: Iterable[HloPass] = ()) -> None:
        self.name = name
        self._passes = list(passes)

    @property
    def passes(self) -> Sequence[HloPass]:
        return self._passes

    def add(self, hlo_pass: P) -> P:
        """Appends a pass or a pipeline, and returns it."""
        self._passes.append(hlo_pass)
        return hlo_pass

    def run_in(self, module: HloModule, context: PassContext, path: tuple[str, ...]) -> bool:
        path = (*path, self.name)
        if context.dump is not None and self._passes:
            context.dump.pipeline_start(module, self.name, self._passes[0].name)
        changed = False
        followers = [p.name for p in self._passes[1:]] + ["pipeline-end"]
        for hlo_pass, following in zip(self._passes, followers, strict=False):
            changed |= context.run(hlo_pass, module, path, following)
        return changed

    def describe(self, indent: str = "") -> str:
        return "\n".join([f"{indent}{self.name}:", *(p.describe(indent + "  ") for p in self._passes)])


class HloPassFix(PassGroup):
    """Runs a pass, or a pipeline, until it changes nothing, at most `limit` times."""

    def __init__(self, inner: HloPass, limit: int = 25) -> None:
        self.inner = inner
        self.limit = limit
        self.name = inner.name

    def run_in(self, module: HloModule, context: PassContext, path: tuple[str, ...]) -> bool:
        changed = False
        for _ in range(self.limit):
            if not context.run(self.inner, module, path):
                break
            changed = True
        return changed

    def describe(self, indent: str = "") -> str:
        text = self.inner.describe(indent)
        first, newline, rest = text.partition("\n")
        return f"{first}  (to a fixed point, at most {self.limit} times){newline}{rest}"
