"""The contexts in which a case runs: the source of its operands, its neighbours, and the layouts of its arrays.

`place` puts a module of an op into a context; its results stay the same.
"""

from __future__ import annotations

import dataclasses
import itertools
import zlib
from collections.abc import Container, Sequence
from typing import Literal as OneOf

import numpy as np

from xla_core.hlo import ElementType, HloComputation, HloInstruction, HloModule, Literal, Opcode, Shape, verify
from xla_core.target import LayoutRules


@dataclasses.dataclass(frozen=True, slots=True)
class Context:
    """The context in which a case runs.

    Attributes:
        operands: arguments of the program; constants, except the last of several; only the last one a constant; results
            of other kernels, which branches that no pass can choose between keep apart from the op.
        neighbours: none, or elementwise ops before and after it that give their operand for this program's arguments,
            which no pass can know.
        layouts: the target's default layouts, or another order of dimensions for some arrays of the entry.
        level: the optimization level.
    """

    operands: OneOf["arguments", "constants", "last-constant", "kernels"] = "arguments"
    neighbours: OneOf["alone", "fused"] = "alone"
    layouts: OneOf["default", "mixed"] = "default"
    level: OneOf[0, 1, 2] = 2

    @property
    def is_plain(self) -> bool:
        """Whether the op is alone, with arguments as operands, in the default layouts."""
        return (self.operands, self.neighbours, self.layouts) == ("arguments", "alone", "default")

    def __str__(self) -> str:
        parts = [self.operands, self.neighbours, "" if self.layouts == "default" else "mixed-layouts", f"O{self.level}"]
        return "-".join(p for p in parts if p not in ("", "arguments", "alone"))


ALONE = Context()

CONTEXTS: tuple[Context, ...] = (
    ALONE,
    Context("kernels", "alone", "default", 0),
    Context("constants", "fused", "default", 2),
    Context("arguments", "fused", "mixed", 0),
    Context("kernels", "fused", "default", 2),
    Context("constants", "alone", "default", 0),
    Context("kernels", "fused", "mixed", 2),
    Context("constants", "alone", "mixed", 0),
)
"""Every combination of two properties occurs. The level alternates, so that two successive contexts have both."""


def contexts_for(number: int, count: int) -> list[Context]:
    """Returns the contexts of the case `number` of an op, `count` of them.

    Cases of successive numbers take successive contexts, so that an op with enough cases meets all of them.
    """
    start = number * count
    return [CONTEXTS[(start + i) % len(CONTEXTS)] for i in range(min(count, len(CONTEXTS)))]


def context_for(number: int, name: str, *, often: OneOf[0, 2] = 2) -> Context:
    """Returns the context in which case `number` of an op, or of anything else with a name, runs.

    Five cases of six run the op alone. Nine of ten of these are compiled at level 0, because level 2 takes several
    times as long.

    Args:
        often: the level of the tenth; 0 if other tests compile the op at level 2.
    """
    if number % 6 < 5:
        return Context(level=0 if number % 12 else often)
    return CONTEXTS[1:][(number // 6 + zlib.crc32(name.encode())) % (len(CONTEXTS) - 1)]


def thorough_context_for(number: int, name: str, *, often: OneOf[0, 2] = 2) -> Context:
    """Returns the context in which case `number` of an op in one element type runs in the full profile.

    Each third case is in one of the contexts, which take turns; the others are alone, in turn at level 0 and 2.

    Args:
        name: of the op and the type. It decides with which context they begin.
        often: the level of the latter; 0 if other tests compile the op at level 2.
    """
    turn, place = divmod(number, 3)
    if place:
        return Context(level=0 if place == 1 else often)
    return CONTEXTS[1:][(turn + zlib.crc32(name.encode())) % (len(CONTEXTS) - 1)]


@dataclasses.dataclass(frozen=True, eq=False)
class Placed:
    """A module in a context, with its arguments."""

    module: HloModule
    arguments: list[np.ndarray]
    context: Context

    def with_each(self, runs: Sequence[Sequence[np.ndarray]]) -> list[Placed]:
        """Returns the executions of the module: itself for one run, whose operands may have become constants.

        Args:
            runs: arguments of the module before it was placed; those that its context added stay.
        """
        if len(runs) == 1:
            return [self]
        return [dataclasses.replace(self, arguments=[*run, *self.arguments[len(run) :]]) for run in runs]


def place(
    module: HloModule, context: Context, arguments: Sequence[np.ndarray], *, layouts: LayoutRules | None = None
) -> Placed:
    """Puts a module into a context. A module of dynamic shapes or with aliases stays alone.

    Args:
        module: the module; it is not changed.
        arguments: its arguments, which become constants in some contexts.
        layouts: the target's layouts. Layouts are mixed only if they have no tiles.
    """
    if context.is_plain:
        return Placed(module, list(arguments), context)
    module = module.clone()
    shapes = [i.shape for c in module.computations for i in c.instructions]
    if module.input_output_aliases or any(s.is_dynamic for shape in shapes for s in shape.leaves()):
        context = Context(level=context.level)
    entry = module.entry
    given = list(arguments)
    if context.operands in ("constants", "last-constant"):
        last = len(given) - 1
        given = _with_constants(entry, given, [last] if context.operands == "last-constant" else range(max(last, 1)))
    uses = [(p, [(u, i) for u in p.users for i, o in enumerate(u.operands) if o is p]) for p in entry.parameters]
    values = list(entry.parameters)
    root = entry.root
    if context.operands == "kernels" and values:
        number = entry.parameter(len(given), Shape(ElementType.S32, ()))
        given.append(np.array(1, np.int32))
        values = _through_branch(module, number, values)
    if context.neighbours == "fused":
        flag = entry.parameter(len(given), Shape(ElementType.PRED, ()))
        given.append(np.array(True))
        values = [_selected(entry, flag, v) for v in values]
    for (parameter, users), value in zip(uses, values, strict=True):
        for user, operand in users:
            user.replace_operand(operand, value)
        root = value if root is parameter else root
    if context.neighbours == "fused":
        root = _selected(entry, flag, root)
    entry.set_root(root)
    if context.layouts == "mixed":
        _mix_layouts(module, layouts or LayoutRules())
    verify(module)
    return Placed(module, given, context)


def _with_constants(
    entry: HloComputation, arguments: Sequence[np.ndarray], numbers: Container[int]
) -> list[np.ndarray]:
    """Replaces parameters of some numbers by constants, and returns the arguments of the others."""
    kept = []
    for number in reversed(range(len(arguments))):
        parameter = entry.parameters[number]
        if not parameter.shape.is_array or number not in numbers:
            kept.append(arguments[number])
            continue
        constant = entry.constant(Literal(arguments[number], parameter.shape.without_layout()))
        root = entry.root
        parameter.replace_all_uses_with(constant)
        entry.set_root(constant if root is parameter else root)
        entry.remove_parameter(number)
    return kept[::-1]


def _selected(entry: HloComputation, flag: HloInstruction, value: HloInstruction) -> HloInstruction:
    """Adds a select, by a flag that is true, between each array of the value and ones."""
    if value.shape.is_tuple:
        parts = [entry.add(Opcode.GET_TUPLE_ELEMENT, value, index=i) for i in range(len(value.shape.tuple_shapes))]
        return entry.add(Opcode.TUPLE, *(_selected(entry, flag, part) for part in parts))
    if not value.shape.is_array:
        return value
    predicate = entry.add(Opcode.BROADCAST, flag, shape=Shape(ElementType.PRED, value.shape.dimensions), dimensions=())
    return entry.add(Opcode.SELECT, predicate, value, _filled(entry, value.shape, 1))


def _filled(entry: HloComputation, shape: Shape, number: OneOf[0, 1]) -> HloInstruction:
    return entry.constant(np.asarray(number).astype(shape.dtype), shape.without_layout())


def _through_branch(module: HloModule, number: HloInstruction, values: list[HloInstruction]) -> list[HloInstruction]:
    """Adds a conditional whose branch 0 gives zeros, and whose branch 1 gives the arrays among the values."""
    entry, arrays = module.entry, [v for v in values if v.shape.is_array]
    given = entry.add(Opcode.TUPLE, *arrays)
    branches = HloComputation("zeros"), HloComputation("arrays")
    for branch in branches:
        parts = branch.parameter(0, given.shape)
        results = [branch.add(Opcode.GET_TUPLE_ELEMENT, parts, index=i) for i in range(len(arrays))]
        if branch is branches[0]:
            results = [_filled(branch, array.shape, 0) for array in arrays]
        branch.set_root(branch.add(Opcode.TUPLE, *results))
        module.add_computation(branch)
    chosen = entry.add(Opcode.CONDITIONAL, number, given, given, branch_computations=branches)
    kept = {v: entry.add(Opcode.GET_TUPLE_ELEMENT, chosen, index=i) for i, v in enumerate(arrays)}
    return [kept.get(v, v) for v in values]


_TRANSPOSED = ((False, True), (False, True, True))
"""Which arrays in turn are transposed. Each two of the first four differ in one of the patterns."""


def _mix_layouts(module: HloModule, rules: LayoutRules) -> None:
    """Gives the arrays of the entry layouts of their own: some of those of several dimensions are transposed.

    If no parameter has several dimensions, the result is transposed. A copy transposes the result of a bitcast, because
    another layout of the bitcast itself would give other values.
    """
    if module.entry.root.opcode == Opcode.BITCAST:
        module.entry.set_root(module.entry.add(Opcode.COPY, module.entry.root))
    number = zlib.crc32(str([*module.parameter_shapes, module.result_shape]).encode()) % len(_TRANSPOSED)
    turns = itertools.cycle(_TRANSPOSED[number])

    def mixed(shape: Shape) -> Shape:
        if shape.is_tuple:
            return Shape.tuple([mixed(s) for s in shape.tuple_shapes])
        if not shape.is_array:
            return shape
        layout = rules.layout(shape.without_layout())
        if shape.rank > 1 and not layout.tiles and next(turns):
            layout = dataclasses.replace(layout, minor_to_major=layout.minor_to_major[::-1])
        return shape.with_layout(layout)

    parameters = [mixed(s) for s in module.parameter_shapes]
    if all(s.rank < 2 for shape in module.parameter_shapes for s in shape.array_leaves()):
        next(turns)  # so that the result is transposed
    module.set_entry_layout(parameters, mixed(module.result_shape))
