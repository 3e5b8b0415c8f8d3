"""The contexts in which a case runs: the source of its operands, its neighbours, and the layouts of its arrays.

`place` puts a module of an op into a context; its results stay the same. `run` compiles and runs it, and checks what
every execution promises: it leaves its arguments as they are, and gives the same results again, whatever ran before.
"""

from __future__ import annotations

import dataclasses
import itertools
import zlib
from collections.abc import Sequence
from typing import Literal as OneOf

import numpy as np

from xla_conformance.bench import ExecutableBench
from xla_conformance.bits import require_bits
from xla_conformance.failures import Failure
from xla_core import Buffer, Client, CompileOptions, LoadedExecutable
from xla_core.hlo import ElementType, HloComputation, HloInstruction, HloModule, Literal, Opcode, Shape, verify
from xla_core.target import LayoutRules


@dataclasses.dataclass(frozen=True, slots=True)
class Context:
    """The context in which a case runs.

    Attributes:
        operands: arguments of the program; constants, except one of several; results of other kernels, which branches
            that no pass can choose between keep apart from the op.
        neighbours: none, or elementwise ops before and after it that give their operand for this program's arguments,
            which no pass can know.
        layouts: the target's default layouts, or another order of dimensions for some arrays of the entry.
        level: the optimization level.
    """

    operands: OneOf["arguments", "constants", "kernels"] = "arguments"
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


# -- placing -----------------------------------------------------------------------------------------------------------


def place(
    module: HloModule, context: Context, arguments: Sequence[np.ndarray], *, layouts: LayoutRules | None = None
) -> Placed:
    """Puts a module into a context. A module of dynamic shapes or with aliases stays alone.

    Args:
        module: the module; it is not changed.
        arguments: its arguments, which become constants in some contexts.
        layouts: the target's layouts. Layouts are mixed only if they have no tiles.
    """
    module = module.clone()
    shapes = [i.shape for c in module.computations for i in c.instructions]
    if module.input_output_aliases or any(s.is_dynamic for shape in shapes for s in shape.leaves()):
        context = Context(level=context.level)
    entry = module.entry
    given = list(arguments)
    if context.operands == "constants":
        given = _with_constants(entry, given)
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


def _with_constants(entry: HloComputation, arguments: list[np.ndarray]) -> list[np.ndarray]:
    """Replaces parameters by constants, except the last of several, and returns its argument."""
    last = len(arguments) - 1
    kept = []
    for number in range(last, -1, -1):
        parameter = entry.parameters[number]
        if not parameter.shape.is_array or (last and number == last):
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


# -- running -----------------------------------------------------------------------------------------------------------


def device_number(name: str) -> int:
    """Returns the device that the case of a name runs on, if there are two: for one of three the second."""
    return int(zlib.crc32(name.encode()) % 3 == 0)


def device_for(client: Client, name: str) -> int:
    """Returns the device that the case of a name runs on."""
    return device_number(name) if len(client.devices) > 1 else 0


def run(
    client: Client,
    executions: Sequence[Placed],
    *,
    device: int = 0,
    deterministic: bool = True,
    before: OneOf["same", "other", "alike"] = "same",
) -> list[list[np.ndarray]]:
    """Compiles a placed module, executes it several times for each execution, and returns the results.

    The last execution is by the contract alone, without the core's runtime: it finds writes of a kernel behind its
    results.

    Args:
        executions: the module with its arguments, for one execution after the other (`Placed.with_each`).
        device: the place of the device among the client's.
        deterministic: whether two executions with the same arguments must give the same bits.
        before: the arguments of an earlier execution: the same ones, the same elements at other places of each array,
            or arrays that differ only after their beginning. A kernel that keeps data of its first launch is wrong in
            the second one.

    Raises:
        Failure: an argument changed, an execution with the same arguments as another gave other results, or one wrote
            behind its memory.
    """
    module, context = executions[0].module, executions[0].context
    options = CompileOptions(
        optimization_level=context.level,
        use_entry_layouts=context.layouts == "mixed",
        donate=(),
        device_assignment=((device,),) if device else None,
    )
    executable = client.compile(module, options)
    if before == "same" or _has_promises(module):
        results = [_run_twice(client, executable, placed, device, deterministic) for placed in executions]
    else:
        results = [_run_after(client, executable, placed, device, before) for placed in executions]
    with ExecutableBench(executable.executable, executable.devices[0]) as bench:
        for placed, first in zip(executions, results, strict=True):
            _run_by_contract(bench, placed, first if deterministic else None)
    return results


_SMALL = 1 << 12


def before_for(name: str) -> OneOf["same", "other", "alike"]:
    """Returns the kind of arguments with which the case of a name is executed first; mostly other ones."""
    turns: tuple[OneOf["same", "other", "alike"], ...] = ("same", "other", "alike", "other")
    return turns[(zlib.crc32(name.encode()) >> 8) % len(turns)]


def _has_promises(module: HloModule) -> bool:
    """Whether an instruction has an attribute that promises properties of its operands' values, which other values may
    lack.
    """
    promises = ("indices_are_sorted", "unique_indices")
    return any(i.attributes.get(name) for c in module.computations for i in c.instructions for name in promises)


def _run_twice(
    client: Client, executable: LoadedExecutable, placed: Placed, device: int, deterministic: bool
) -> list[np.ndarray]:
    buffers = [client.buffer_from_host(a, device) for a in placed.arguments]
    first, *others = [[np.array(r) for r in executable.execute(buffers)] for _ in range(1 if _is_large(placed) else 4)]
    _require_kept(buffers, placed)
    for results in others if deterministic else ():
        _require_same(results, first, placed)
    return first


def _is_large(placed: Placed) -> bool:
    """Whether executions take more time than comparing their results."""
    return sum(a.size for a in placed.arguments) > _SMALL


def _run_after(
    client: Client, executable: LoadedExecutable, placed: Placed, device: int, before: OneOf["other", "alike"]
) -> list[np.ndarray]:
    """Executes a module with other arguments, whose memory it frees, and then with its own."""
    buffers = [client.buffer_from_host(_moved(a, int(before == "alike")), device) for a in placed.arguments]
    for buffer in [*executable.execute(buffers), *buffers]:
        buffer.block_until_ready()
        buffer.delete()
    buffers = [client.buffer_from_host(a, device) for a in placed.arguments]
    results = [np.array(r) for r in executable.execute(buffers)]
    _require_kept(buffers, placed)
    return results


def _moved(array: np.ndarray, kept: int) -> np.ndarray:
    """Returns the array with each element in the next one's place, but for the first `kept` ones. Scalars stay."""
    flat = array.reshape(-1)
    return np.concatenate([flat[:kept], np.roll(flat[kept:], 1)]).reshape(array.shape)


def _run_by_contract(bench: ExecutableBench, placed: Placed, first: Sequence[np.ndarray] | None) -> None:
    """Executes a module on memory whose end has a pattern. The results must be the `first` ones, if there are any."""
    results = bench.results_of(placed.arguments)
    if bench.stream.error is not None:
        raise bench.stream.error
    if not bench.allocator.canaries_live():
        raise Failure(
            "A kernel writes only to its results, but bytes behind a block of memory changed.",
            promise="executable.arguments-kept",
            module=placed.module,
            arguments=placed.arguments,
        )
    if first is not None:
        _require_same(results, first, placed)


def _require_same(results: Sequence[np.ndarray], first: Sequence[np.ndarray], placed: Placed) -> None:
    require_bits(
        "A second execution with the same arguments gives the same results.",
        results,
        first,
        module=placed.module,
        arguments=placed.arguments,
        promise="executable.equal-runs",
    )


def _require_kept(buffers: Sequence[Buffer], placed: Placed) -> None:
    require_bits(
        "An execution leaves its arguments as they are.",
        [np.array(b) for b in buffers],
        placed.arguments,
        module=placed.module,
        arguments=placed.arguments,
        promise="executable.arguments-kept",
    )
