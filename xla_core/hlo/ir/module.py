"""HloModule: the unit of compilation. (XLA: xla/hlo/ir/hlo_module.h.)"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Sequence
from typing import NoReturn

from xla_core.checks import refuse_pickle, require
from xla_core.errors import InvalidArgumentError, ResourceExhaustedError
from xla_core.hlo.ir.call_graph import callees_first
from xla_core.hlo.ir.computation import HloComputation
from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.hlo.ir.names import NameUniquer, sanitized_name
from xla_core.hlo.ir.printer import PrintOptions, module_to_text
from xla_core.hlo.values.shape import Shape

ShapeIndex = tuple[int, ...]
_MAX_INSTRUCTIONS = 100_000
_MAX_GROWTH = 64


@dataclasses.dataclass(frozen=True, slots=True)
class InputOutputAlias:
    """The result at `output_index` may (or must) reuse the buffer of a donated parameter."""

    output_index: ShapeIndex
    parameter_number: int
    parameter_index: ShapeIndex = ()
    must_alias: bool = False


class HloModule:
    """A program: its computations, one of which is the entry, and its aliasing, device counts and schedule."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.names = NameUniquer()
        self.input_output_aliases: list[InputOutputAlias] = []
        self.buffer_donors: list[tuple[int, ShapeIndex]] = []  # donated parameters that no result is aliased to
        self.num_replicas = 1
        self.num_partitions = 1
        self.frontend_attributes: dict[str, str] = {}
        self.entry_layouts_fixed = False  # the caller fixed the entry layouts, so layout assignment keeps them
        self.schedule: dict[HloComputation, list[HloInstruction]] | None = None
        self._computations: dict[HloComputation, None] = {}
        self._entry: HloComputation | None = None

    @property
    def name(self) -> str:
        """The module's name. Assigning any text sanitizes it for HLO text."""
        return self._name

    @name.setter
    def name(self, wanted: str) -> None:
        self._name = sanitized_name(wanted)

    @property
    def computations(self) -> Sequence[HloComputation]:
        """A snapshot in the order in which computations were added."""
        return list(self._computations)

    @property
    def entry(self) -> HloComputation:
        if self._entry is None:
            raise InvalidArgumentError(f"module {self.name} has no entry computation")
        return self._entry

    @property
    def instruction_count(self) -> int:
        return sum(c.instruction_count for c in self._computations)

    @property
    def parameter_shapes(self) -> list[Shape]:
        return [p.shape for p in self.entry.parameters]

    @property
    def result_shape(self) -> Shape:
        return self.entry.root.shape

    def set_entry_layout(self, parameters: Sequence[Shape], result: Shape) -> None:
        """Sets the layouts of the entry's parameters and result.

        Where every array has a layout, layout assignment keeps them. Call this after the schedule is set, because a
        scheduled root keeps its own layout.

        Raises:
            InvalidArgumentError: for shapes that differ from the entry's by more than layouts.
        """
        given, mine = [*parameters, result], [*self.parameter_shapes, self.result_shape]
        if len(given) != len(mine) or not all(a.compatible(b) for a, b in zip(given, mine, strict=True)):
            raise InvalidArgumentError(
                "entry_computation_layout doesn't fit the parameters and the root of the ENTRY computation"
            )
        self.entry_layouts_fixed = all(
            leaf.layout is not None for shape in given for leaf in shape.leaves() if leaf.dimensions
        )
        for parameter, shape in zip(self.entry.parameters, parameters, strict=True):
            parameter.shape = shape
        if self.schedule is None:
            self.entry.root.shape = result

    def add_computation(self, computation: HloComputation, *, entry: bool = False) -> HloComputation:
        """Adds a computation, and makes its name and its instructions' names unique in the module."""
        computation.module = self
        computation.name = computation.unique_name(computation.name)
        for instruction in computation._instructions:
            instruction.name = computation.unique_name(instruction.name)
        self._computations[computation] = None
        if entry:
            self._entry = computation
        return computation

    def remove_computation(self, computation: HloComputation) -> None:
        del self._computations[computation]
        computation.module = None

    def remove_unreachable_computations(self) -> int:
        """Removes the computations that the entry doesn't reach; returns how many they were."""
        reached = set(self.post_order())
        dead = [c for c in self._computations if c not in reached]
        for computation in dead:
            self.remove_computation(computation)
        return len(dead)

    def post_order(self) -> list[HloComputation]:
        """Returns the computations reachable from the entry, callees first.

        Raises:
            InvalidArgumentError: for recursion.
        """
        return callees_first(self.entry, refuse_recursion=True)

    def check_growth(self, copied: Callable[[HloInstruction], Iterable[HloComputation]]) -> None:
        """Checks that cloning called computations keeps the module's size within bounds, before any clone is made.

        Where each computation calls another one twice, cloning doubles the module at each level.

        Args:
            copied: returns the computations that are cloned for an instruction.

        Raises:
            ResourceExhaustedError: when the module would exceed both 100,000 instructions and 64 times its current
                size.
        """
        sizes: dict[HloComputation, int] = {}
        for computation in self.post_order():
            inside = sum(sizes[c] for i in computation.instructions if i.op.calls for c in copied(i))
            sizes[computation] = computation.instruction_count + inside
        limit = max(_MAX_INSTRUCTIONS, _MAX_GROWTH * self.instruction_count)
        if max(sizes.values()) > limit:
            raise ResourceExhaustedError(
                f"module {self.name} has more than {limit} instructions once each instruction that calls a computation "
                "has a copy of it",
                hint="computations that call another one twice double the program at each level; use while for "
                "repetition",
            )

    def unique_name(self, wanted: str) -> str:
        return self.entry.unique_name(wanted)

    def clone(self, name: str | None = None) -> HloModule:
        """Returns a deep copy. Computations and instructions are new; literals are shared."""
        copy = HloModule(name or self.name)
        copies: dict[HloComputation, HloComputation] = {}
        instructions: dict[HloInstruction, HloInstruction] = {}
        order = dict.fromkeys(self.post_order())
        for unreachable in self._computations:
            order |= dict.fromkeys(callees_first(unreachable, order))
        for computation in order:
            new = HloComputation(computation.name)
            for old in computation.post_order():
                made = old.clone([instructions[o] for o in old.operands])
                made.name = old.name
                made.control_predecessors = [instructions[p] for p in old.control_predecessors]
                for callee in old.called_computations:
                    made.replace_called_computation(callee, copies[callee])
                new.add_instruction(made)
                instructions[old] = made
            new.set_root(instructions[computation.root])
            copies[computation] = new
        for computation in self._computations:
            copy.add_computation(copies[computation], entry=computation is self._entry)
        copy.input_output_aliases = list(self.input_output_aliases)
        copy.buffer_donors = list(self.buffer_donors)
        copy.num_replicas, copy.num_partitions = self.num_replicas, self.num_partitions
        copy.frontend_attributes = dict(self.frontend_attributes)
        copy.entry_layouts_fixed = self.entry_layouts_fixed
        if self.schedule is not None:
            copy.schedule = {copies[c]: [instructions[i] for i in order] for c, order in self.schedule.items()}
        return copy

    def to_text(self, options: PrintOptions | None = None) -> str:
        """Returns XLA's HLO text; `options` say what to leave out."""
        return module_to_text(self, options or PrintOptions())

    def __str__(self) -> str:
        return self.to_text()

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        refuse_pickle(self)

    def __repr__(self) -> str:
        return f"<HloModule {self.name}: {len(self._computations)} computations, {self.instruction_count} instructions>"


def require_module(module: object) -> None:
    """Raises InvalidArgumentError where the value is not an HloModule."""
    require("module", module, HloModule, "an HloModule", hint="xla_core.parse makes one of text or bytecode")
