"""The reference evaluator: runs HLO by the op table's own definitions, on numpy arrays.

It is the oracle that backends are compared with, and the engine of constant folding. A computation is planned once
(which op reads which slot, what is dead after it) and then run step by step.
"""

from __future__ import annotations

import dataclasses
import threading
import time
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from xla_core.errors import (
    DeadlineExceededError,
    InternalError,
    InvalidArgumentError,
    ResourceExhaustedError,
    UnimplementedError,
    XlaError,
)
from xla_core.hlo.computation import HloComputation
from xla_core.hlo.environment import TOKEN, Environment, Rendezvous, Token, Value
from xla_core.hlo.instruction import HloInstruction
from xla_core.hlo.literal import Literal
from xla_core.hlo.module import HloModule
from xla_core.hlo.op_table import Evaluate, Trait
from xla_core.hlo.shape import Shape

__all__ = [
    "TOKEN",
    "Environment",
    "EvaluationContext",
    "Token",
    "Value",
    "evaluate",
    "evaluate_computation",
    "evaluate_instruction",
    "evaluate_parallel",
    "evaluate_replicas",
    "flatten",
]

_ELEMENTS_PER_STEP = 4096

_SAME_SCALAR = frozenset({"broadcast", "reshape", "transpose", "bitcast", "copy", "opt-barrier", "reverse"})


@dataclasses.dataclass(slots=True)
class _Plan:
    """`slots` has the constants in place; a step is (evaluate, instruction, sources, target, dead after, cost)."""

    slots: list[Value]
    parameters: list[int]
    steps: list[tuple[Evaluate, HloInstruction, tuple[int, ...], int, tuple[int, ...], int]]
    root: int


class EvaluationContext:
    """A run of a module on one device.

    Args:
        environment: feeds, channels, other devices; a device alone by default.
        max_steps: raise DeadlineExceededError after this many steps (an instruction is one, and one more every 4,096
            elements of its result).
        max_bytes: raise ResourceExhaustedError for an instruction whose result would be larger.
        timeout: raise DeadlineExceededError after this many seconds.
    """

    def __init__(
        self,
        environment: Environment | None = None,
        *,
        max_steps: int | None = None,
        max_bytes: int | None = None,
        timeout: float | None = None,
    ) -> None:
        self.environment = environment or Environment()
        self.steps = 0
        self.max_steps = max_steps
        self.max_bytes = max_bytes
        self._deadline = None if timeout is None else time.monotonic() + timeout
        self._timeout = timeout
        self._plans: dict[HloComputation, _Plan] = {}
        self._scalar_plans: dict[HloComputation, _Plan | None] = {}

    def call(self, computation: HloComputation, arguments: Sequence[Value]) -> Value:
        """The root's value for these arguments."""
        plan = self._plans.get(computation)
        if plan is None:
            plan = self._plans[computation] = self._make_plan(computation)
        return self._run(plan, arguments)

    def map(self, computation: HloComputation, arguments: Sequence[np.ndarray]) -> tuple[np.ndarray, ...]:
        """A computation of scalars, for every element of (broadcast) arrays at once; its results, a tuple flattened."""
        result = self.map_value(computation, arguments)
        leaves = flatten(result)
        shape = np.broadcast_shapes(*(a.shape for a in arguments))
        return tuple(leaf if leaf.shape == shape else np.broadcast_to(leaf, shape) for leaf in leaves)

    def map_value(self, computation: HloComputation, arguments: Sequence[Value]) -> Value:
        """As `map`, with the computation's own tuples; results may lack dimensions that they don't vary in."""
        if computation not in self._scalar_plans:
            self._scalar_plans[computation] = self._make_scalar_plan(computation)
        plan = self._scalar_plans[computation]
        return self._run(plan, arguments) if plan is not None else self._map_one_by_one(computation, arguments)

    def _map_one_by_one(self, computation: HloComputation, arguments: Sequence[Value]) -> Value:
        leaves = [leaf for a in arguments for leaf in flatten(a)]
        arrays = np.broadcast_arrays(*leaves) if leaves else []
        shape = arrays[0].shape if arrays else ()
        shapes = list(computation.root.shape.leaves())
        results = [np.empty(shape, s.dtype) for s in shapes]
        for index in np.ndindex(*shape):
            elements = iter([np.asarray(a[index]) for a in arrays])
            value = self.call(computation, [_unflatten(p.shape, elements) for p in computation.parameters])
            for result, leaf in zip(results, flatten(value), strict=True):
                result[index] = leaf
        return _unflatten(computation.root.shape, iter(results))

    def _run(self, plan: _Plan, arguments: Sequence[Value]) -> Value:
        slots = plan.slots.copy()
        for slot, argument in zip(plan.parameters, arguments, strict=True):
            slots[slot] = argument
        self._check_time()
        limit = self.max_steps
        instruction: HloInstruction | None = None
        try:
            for evaluate, instruction, sources, target, dead, cost in plan.steps:
                self.steps += cost
                if limit is not None and self.steps > limit:
                    raise DeadlineExceededError(
                        f"the evaluation took more than {limit} steps",
                        hint="raise max_steps, or look for an endless loop",
                    )
                slots[target] = evaluate(self, instruction, [slots[i] for i in sources])
                for slot in dead:
                    slots[slot] = None
        except XlaError as error:
            if instruction is not None and error.op is None:
                error.op = instruction.opcode
            if instruction is not None and error.location is None:
                error.location = instruction.location
            raise
        except MemoryError as error:
            raise _described(ResourceExhaustedError, instruction, "not enough memory", error) from error
        except (ValueError, TypeError, IndexError, KeyError, OverflowError, RecursionError) as error:
            raise _described(InternalError, instruction, f"{type(error).__name__}: {error}", error) from error
        return slots[plan.root]

    def _check_time(self) -> None:
        self.environment.check_cancelled()
        if self._deadline is not None and time.monotonic() > self._deadline:
            raise DeadlineExceededError(f"the evaluation took more than {self._timeout:g} s", hint="raise timeout")

    def _make_plan(self, computation: HloComputation) -> _Plan:
        order = _live(computation)
        numbers = {instruction: index for index, instruction in enumerate(order)}
        slots: list[Value] = [None] * len(order)
        steps = []
        last_use = {operand: i for i in order for operand in i.operands}
        for instruction in order:
            if instruction.opcode == "parameter":
                continue
            if instruction.opcode == "constant":
                slots[numbers[instruction]] = _value(instruction.literal)
                continue
            size = instruction.shape.num_elements
            if self.max_bytes is not None and instruction.shape.byte_size > self.max_bytes:
                raise ResourceExhaustedError(
                    f"{instruction.name} would have {instruction.shape.byte_size} bytes, more than max_bytes = "
                    f"{self.max_bytes}",
                    op=instruction.opcode,
                    location=instruction.location,
                )
            dead = {o for o in instruction.operands if last_use[o] is instruction and o.opcode != "constant"}
            steps.append(
                (
                    _evaluate_of(instruction),
                    instruction,
                    tuple(numbers[o] for o in instruction.operands),
                    numbers[instruction],
                    tuple(numbers[o] for o in dead if o is not computation.root),
                    1 + size // _ELEMENTS_PER_STEP,
                )
            )
        return _Plan(slots, [numbers[p] for p in computation.parameters], steps, numbers[computation.root])

    def _make_scalar_plan(self, computation: HloComputation) -> _Plan | None:
        """A plan whose every op takes arrays where the computation says scalars; None where some op can't."""
        plan = self._make_plan(computation)
        for index, (_, instruction, *rest) in enumerate(plan.steps):
            if any(not s.is_array or s.rank for s in instruction.shape.leaves()):
                return None
            if instruction.opcode in _SAME_SCALAR:
                if instruction.opcode == "bitcast" or instruction.operand(0).shape.rank:
                    return None
                plan.steps[index] = (_same, instruction, *rest)  # type: ignore[assignment]
            elif instruction.opcode in ("call", "fusion"):
                plan.steps[index] = (_map_call, instruction, *rest)  # type: ignore[assignment]
            elif instruction.opcode == "conditional":
                if instruction.has_side_effect:
                    return None
                plan.steps[index] = (_map_conditional, instruction, *rest)  # type: ignore[assignment]
            elif not (instruction.is_elementwise or instruction.opcode in ("tuple", "get-tuple-element")):
                return None
        return plan


def _live(computation: HloComputation) -> list[HloInstruction]:
    """What the root needs and what has effects, operands first; parameters always."""
    needed: set[HloInstruction] = set()
    stack = [computation.root, *computation.parameters]
    stack += [i for i in computation.instructions if i.has_side_effect or Trait.COLLECTIVE in i.op.traits]
    while stack:
        instruction = stack.pop()
        if instruction not in needed:
            needed.add(instruction)
            stack += [*instruction.operands, *instruction.control_predecessors]
    return [i for i in computation.post_order() if i in needed]


def _evaluate_of(instruction: HloInstruction) -> Evaluate:
    evaluate = instruction.op.evaluate
    if evaluate is None:
        raise UnimplementedError(
            f"the evaluator does not define {instruction.opcode}", op=instruction.opcode, location=instruction.location
        )
    return evaluate


def _described(kind: type[XlaError], instruction: HloInstruction | None, message: str, cause: Exception) -> XlaError:
    if instruction is None:
        return kind(message)
    return kind(f"evaluating {instruction!r}: {message}", op=instruction.opcode, location=instruction.location)


def _same(context: EvaluationContext, instruction: HloInstruction, values: list[Value]) -> Value:
    return values[0]


def _map_call(context: EvaluationContext, instruction: HloInstruction, values: list[Value]) -> Value:
    return context.map_value(instruction.called_computations[0], values)


def _map_conditional(context: EvaluationContext, instruction: HloInstruction, values: list[Value]) -> Value:
    """All branches for all elements, then each element's own; branches have no effects."""
    branches = instruction.called_computations
    results = [flatten(context.map_value(b, [v])) for b, v in zip(branches, values[1:], strict=True)]
    if instruction.operand(0).shape.dtype == np.bool_:
        index = np.where(values[0], 0, 1)
    else:
        index = np.where((values[0] < 0) | (values[0] >= len(branches)), len(branches) - 1, values[0])
    selected = []
    for leaves in zip(*results, strict=True):
        result = leaves[-1]
        for number, leaf in enumerate(leaves[:-1]):
            result = np.where(index == number, leaf, result)
        selected.append(result)
    return _unflatten(instruction.shape, iter(selected))


# -- values ----------------------------------------------------------------------------------------------------------


def flatten(value: Value) -> list[Any]:
    """The leaves of a value, left to right."""
    if not isinstance(value, tuple):
        return [value]
    return [leaf for element in value for leaf in flatten(element)]


def _unflatten(shape: Shape, leaves: Any) -> Value:
    """A value of this shape from its leaves; tokens are made."""
    if shape.is_tuple:
        return tuple(_unflatten(s, leaves) for s in shape.tuple_shapes)
    return next(leaves) if shape.is_array else TOKEN


def _value(literal: Literal) -> Value:
    return tuple(_value(e) for e in literal.elements) if literal.shape.is_tuple else literal.array


def _argument(array: npt.ArrayLike, shape: Shape, position: int) -> np.ndarray:
    """A caller's array, checked against a parameter's shape."""
    given = np.asarray(array)
    given = given if given.dtype.isnative else given.astype(given.dtype.newbyteorder("="))
    if given.dtype != shape.dtype:
        raise InvalidArgumentError(
            f"argument {position} has dtype {given.dtype}; the parameter is {shape.without_layout()}",
            hint=f"pass an array of numpy dtype {shape.dtype}",
        )
    flags = shape.dynamic_dimensions or (False,) * shape.rank
    fits = len(given.shape) == shape.rank and all(
        size <= bound if flag else size == bound
        for size, bound, flag in zip(given.shape, shape.dimensions, flags, strict=True)
    )
    if not fits:
        raise InvalidArgumentError(
            f"argument {position} has shape {list(given.shape)}; the parameter is {shape.without_layout()}"
        )
    return given


def _arguments(computation: HloComputation, arrays: Sequence[npt.ArrayLike]) -> list[Value]:
    shapes = [leaf for p in computation.parameters for leaf in p.shape.leaves() if leaf.is_array]
    if len(arrays) != len(shapes):
        raise InvalidArgumentError(f"{computation.name} takes {len(shapes)} arrays, not {len(arrays)}")
    given = iter([_argument(a, s, i) for i, (a, s) in enumerate(zip(arrays, shapes, strict=True))])
    return [_unflatten(p.shape, given) for p in computation.parameters]


def _results(value: Value, arguments: Sequence[Value]) -> tuple[np.ndarray, ...]:
    """The arrays among a value's leaves, each the caller's to change: it shares memory with nothing."""
    taken = {id(leaf) for argument in arguments for leaf in flatten(argument)}
    results = []
    for leaf in flatten(value):
        if isinstance(leaf, Token):
            continue
        array = np.asarray(leaf)
        if id(array) in taken or not (array.flags.writeable and array.flags.owndata):
            array = array.copy()
        taken.add(id(array))
        results.append(array)
    return tuple(results)


# -- the ways in -----------------------------------------------------------------------------------------------------


def evaluate_computation(
    computation: HloComputation, arrays: Sequence[npt.ArrayLike], context: EvaluationContext | None = None
) -> tuple[np.ndarray, ...]:
    """As `evaluate`, of any computation."""
    context = context or EvaluationContext()
    with np.errstate(all="ignore"):
        arguments = _arguments(computation, arrays)
        return _results(context.call(computation, arguments), arguments)


def evaluate(
    module: HloModule,
    *arrays: npt.ArrayLike,
    environment: Environment | None = None,
    max_steps: int | None = None,
    max_bytes: int | None = None,
    timeout: float | None = None,
) -> tuple[np.ndarray, ...]:
    """Runs a module's entry on one device.

    Args:
        module: the program.
        arrays: one for every array among the entry's parameters, tuples flattened, of its shape and dtype.
        environment, max_steps, max_bytes, timeout: as of EvaluationContext.

    Returns:
        The arrays of the result, tuples flattened, tokens left out.

    Raises:
        InvalidArgumentError: when number, shape or dtype of the arrays is wrong.
        DeadlineExceededError, ResourceExhaustedError: when a limit is passed.
    """
    context = EvaluationContext(environment, max_steps=max_steps, max_bytes=max_bytes, timeout=timeout)
    return evaluate_computation(module.entry, arrays, context)


def evaluate_instruction(instruction: HloInstruction, operands: Sequence[Literal]) -> Literal:
    """One instruction on constant operands: what constant folding needs."""
    with np.errstate(all="ignore"):
        value = _evaluate_of(instruction)(EvaluationContext(), instruction, [_value(o) for o in operands])
    return _literal(value, instruction.shape)


def _literal(value: Value, shape: Shape) -> Literal:
    if shape.is_tuple:
        return Literal([_literal(v, s) for v, s in zip(value, shape.tuple_shapes, strict=True)], shape)
    return Literal(np.asarray(value), shape)


def evaluate_replicas(
    module: HloModule,
    arguments: Sequence[Sequence[npt.ArrayLike]],
    *,
    num_partitions: int | None = None,
    timeout: float = 60.0,
    max_steps: int | None = None,
    environments: Sequence[Environment] | None = None,
) -> list[tuple[np.ndarray, ...]]:
    """Runs a module on several devices at once, a thread each.

    Args:
        module: the program that all devices run.
        arguments: a list of arrays a device; device i is replica i // num_partitions, partition i % num_partitions.
        num_partitions: the module's by default.
        timeout: seconds that a device waits for others in a collective, and that the whole run may take.
        max_steps: as of EvaluationContext, for each device.
        environments: one a device, where feeds or channels are wanted; their numbers and rendezvous are set here.

    Returns:
        A tuple of arrays a device. The first device's error is raised, where one fails.
    """
    computations = [module.entry] * len(arguments)
    partitions = num_partitions or module.num_partitions
    return evaluate_parallel(
        computations,
        arguments,
        num_partitions=partitions,
        timeout=timeout,
        max_steps=max_steps,
        environments=environments,
    )


def evaluate_parallel(
    computations: Sequence[HloComputation],
    arguments: Sequence[Sequence[npt.ArrayLike]],
    *,
    num_partitions: int = 1,
    timeout: float = 60.0,
    max_steps: int | None = None,
    environments: Sequence[Environment] | None = None,
) -> list[tuple[np.ndarray, ...]]:
    """As `evaluate_replicas`, where devices may run different computations."""
    count = len(arguments)
    if count % num_partitions:
        raise InvalidArgumentError(f"{count} devices are not a multiple of {num_partitions} partitions")
    rendezvous = Rendezvous(timeout)
    surroundings = list(environments or (Environment() for _ in range(count)))
    results: list[tuple[np.ndarray, ...]] = [()] * count
    errors: list[tuple[float, BaseException]] = []

    def run(index: int) -> None:
        environment = surroundings[index]
        context = EvaluationContext(environment, max_steps=max_steps, timeout=timeout)
        try:
            results[index] = evaluate_computation(computations[index], arguments[index], context)
            rendezvous.end(environment.device)
        except BaseException as error:  # reaches the caller below
            errors.append((time.monotonic(), error))
            known = error if isinstance(error, XlaError) else InternalError(f"{type(error).__name__}: {error}")
            rendezvous.end(environment.device, known)

    for index, environment in enumerate(surroundings):
        environment.replica, environment.partition = divmod(index, num_partitions)
        environment.num_replicas, environment.num_partitions = count // num_partitions, num_partitions
        environment.rendezvous = rendezvous
    threads = [threading.Thread(target=run, args=(i,), name=f"device-{i}", daemon=True) for i in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise min(errors, key=lambda e: e[0])[1]
    return results
