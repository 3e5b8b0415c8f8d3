"""EvaluationContext: one evaluation on one device.

A computation is planned once (which slots each op reads, and which values are dead after it) and then run step by step.
"""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from xla_core.checks import require, require_limit
from xla_core.errors import (
    DeadlineExceededError,
    InternalError,
    ResourceExhaustedError,
    UnimplementedError,
    XlaError,
)
from xla_core.hlo.evaluation.agreeing_sizes import fit_operands
from xla_core.hlo.evaluation.environment import TOKEN, Environment, Value
from xla_core.hlo.ir.computation import HloComputation
from xla_core.hlo.ir.effects import EffectAnalysis
from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.hlo.table.op_table import Evaluate
from xla_core.hlo.table.opcode import Opcode
from xla_core.hlo.values.shape import Shape
from xla_core.traversal import reachable

ELEMENTS_PER_STEP = 4096
_ELEMENTS_PER_SECOND = 1e9  # an upper bound of any machine's speed

_MAX_RANK = 64


class _Step(NamedTuple):
    """A step: evaluate an instruction on the slots `sources`, store the result in `target`, clear the slots `dead`."""

    evaluate: Evaluate
    instruction: HloInstruction
    sources: tuple[int, ...]
    target: int
    dead: tuple[int, ...]
    cost: int


@dataclasses.dataclass(slots=True)
class _Plan:
    """The steps of a computation. `slots` holds the constants already."""

    slots: list[Value]
    parameters: list[int]
    steps: list[_Step]
    root: int


class EvaluationContext:
    """One evaluation of a module on one device.

    Args:
        environment: feeds, channels and other devices; by default, a device that runs alone.
        max_steps: raise DeadlineExceededError after this many steps. Each instruction counts as one step, and one more
            for every 4,096 elements of its result and its temporaries (see `charge`).
        max_bytes: raise ResourceExhaustedError for an instruction whose result or temporaries would be larger.
        timeout: raise DeadlineExceededError after this many seconds, or before work that would exceed them.
    """

    def __init__(
        self,
        environment: Environment | None = None,
        *,
        max_steps: int | None = None,
        max_bytes: int | None = None,
        timeout: float | None = None,
    ) -> None:
        if environment is not None:
            require("environment", environment, Environment, "an Environment or None")
        require_limit("max_steps", max_steps, "steps")
        require_limit("max_bytes", max_bytes, "bytes")
        require_limit("timeout", timeout, "seconds")
        self.environment = environment or Environment()
        self.steps = 0
        self.max_steps = max_steps
        self.max_bytes = max_bytes
        self._deadline = None if timeout is None else time.monotonic() + timeout
        self._timeout = timeout
        self.call_sites: dict[HloInstruction, Any] = {}  # what functions of custom calls keep between their calls
        self._definitions: dict[HloInstruction, Evaluate] = {}
        self._plans: dict[HloComputation, _Plan] = {}
        self._scalar_plans: dict[HloComputation, _Plan | None] = {}
        self._effects = EffectAnalysis()

    def call(self, computation: HloComputation, arguments: Sequence[Value]) -> Value:
        """Evaluates the computation on these arguments; returns the value of its root."""
        plan = self._plans.get(computation)
        if plan is None:
            plan = self._plans[computation] = self._make_plan(computation)
        return self._run(plan, arguments)

    def evaluate(self, instruction: HloInstruction, operands: Sequence[Value]) -> Value:
        """Evaluates one instruction by its op's definition.

        Raises:
            UnimplementedError: for an op that has no definition.
        """
        definition = self._definitions.get(instruction)
        if definition is None:
            check_rank(instruction)
            definition = self._definitions[instruction] = _definition(instruction)
        try:
            return definition(self, instruction, list(operands))
        except _EXPLAINED as error:
            raise _explained(error, instruction) from error

    def charge(self, elements: int, itemsize: int = 0) -> None:
        """Charges work that an op does besides filling its result, before the op does it.

        Args:
            elements: elements of the arrays that the op will fill, summed over all passes.
            itemsize: bytes of an element, if all elements are in memory at once; else 0.

        Raises:
            ResourceExhaustedError: where the arrays would exceed `max_bytes`.
            DeadlineExceededError: where the work would exceed `max_steps` or the timeout.
        """
        if self.max_bytes is not None and elements * itemsize > self.max_bytes:
            raise ResourceExhaustedError(
                f"the op needs {elements * itemsize} bytes on the way to its result, more than max_bytes = "
                f"{self.max_bytes}"
            )
        self._count(elements // ELEMENTS_PER_STEP)
        self.check_time(elements / _ELEMENTS_PER_SECOND)

    def check_time(self, needed: float = 0.0) -> None:
        """Checks the timeout and cancellation. Ops that run long call it repeatedly.

        Args:
            needed: seconds that the next piece of work takes at least.

        Raises:
            DeadlineExceededError: when the deadline has passed, or less than `needed` is left.
            CancelledError: when the evaluation was cancelled.
        """
        self.environment.check_cancelled()
        now = time.monotonic()
        if self._deadline is not None and now + needed > self._deadline:
            took = "took" if now > self._deadline else "would take"
            raise DeadlineExceededError(f"the evaluation {took} more than {self._timeout:g} s", hint="raise timeout")

    def map(self, computation: HloComputation, arguments: Sequence[np.ndarray]) -> tuple[np.ndarray, ...]:
        """Applies a computation of scalars elementwise to broadcast arrays; returns its results, tuples flattened."""
        result = self.map_value(computation, arguments)
        leaves = flatten_value(result)
        shape = np.broadcast_shapes(*(a.shape for a in arguments))
        return tuple(leaf if leaf.shape == shape else np.broadcast_to(leaf, shape) for leaf in leaves)

    def map_value(self, computation: HloComputation, arguments: Sequence[Value]) -> Value:
        """Does what `map` does, but keeps the computation's tuples. Results may lack dimensions in which they don't
        vary.
        """
        if computation not in self._scalar_plans:
            self._scalar_plans[computation] = self._make_scalar_plan(computation)
        plan = self._scalar_plans[computation]
        return self._run(plan, arguments) if plan is not None else self._map_one_by_one(computation, arguments)

    def _map_one_by_one(self, computation: HloComputation, arguments: Sequence[Value]) -> Value:
        leaves = [leaf for a in arguments for leaf in flatten_value(a)]
        arrays = np.broadcast_arrays(*leaves) if leaves else []
        shape = arrays[0].shape if arrays else ()
        shapes = list(computation.root.shape.leaves())
        results = [np.empty(shape, s.dtype) for s in shapes]
        for index in np.ndindex(*shape):
            elements = iter([np.asarray(a[index]) for a in arrays])
            value = self.call(computation, [unflatten_value(p.shape, elements) for p in computation.parameters])
            for result, leaf in zip(results, flatten_value(value), strict=True):
                result[index] = leaf
        return unflatten_value(computation.root.shape, iter(results))

    def _run(self, plan: _Plan, arguments: Sequence[Value]) -> Value:
        slots = plan.slots.copy()
        for slot, argument in zip(plan.parameters, arguments, strict=True):
            slots[slot] = argument
        self.check_time()
        instruction: HloInstruction | None = None
        try:
            for evaluate, instruction, sources, target, dead, cost in plan.steps:
                if cost > 1:
                    self.check_time()
                self._count(cost)
                slots[target] = evaluate(self, instruction, [slots[i] for i in sources])
                for slot in dead:
                    slots[slot] = None
        except XlaError as error:
            _locate(error, instruction)
            raise
        except _EXPLAINED as error:
            raise _explained(error, instruction) from error
        return slots[plan.root]

    def _count(self, steps: int) -> None:
        self.steps += steps
        if self.max_steps is not None and self.steps > self.max_steps:
            raise DeadlineExceededError(
                f"the evaluation took more than {self.max_steps} steps",
                hint="raise max_steps, or look for an endless loop",
            )

    def _make_plan(self, computation: HloComputation) -> _Plan:
        order = _live(computation, self._effects)
        numbers = {instruction: index for index, instruction in enumerate(order)}
        slots: list[Value] = [None] * len(order)
        steps: list[_Step] = []
        last_use = {operand: i for i in order for operand in i.operands}
        for instruction in order:
            if instruction.opcode == Opcode.PARAMETER:
                continue
            if instruction.opcode == Opcode.CONSTANT:
                slots[numbers[instruction]] = instruction.literal.value
                continue
            check_rank(instruction)
            size = instruction.shape.num_elements
            if self.max_bytes is not None and instruction.shape.byte_size > self.max_bytes:
                raise ResourceExhaustedError(
                    f"{instruction.name} would have {instruction.shape.byte_size} bytes, more than max_bytes = "
                    f"{self.max_bytes}",
                    op=instruction.opcode,
                    location=instruction.location,
                )
            dead = {o for o in instruction.operands if last_use[o] is instruction and o.opcode != Opcode.CONSTANT}
            steps.append(
                _Step(
                    _definition(instruction),
                    instruction,
                    tuple(numbers[o] for o in instruction.operands),
                    numbers[instruction],
                    tuple(numbers[o] for o in dead if o is not computation.root),
                    1 + size // ELEMENTS_PER_STEP,
                )
            )
        return _Plan(slots, [numbers[p] for p in computation.parameters], steps, numbers[computation.root])

    def _make_scalar_plan(self, computation: HloComputation) -> _Plan | None:
        """Makes a plan that runs on arrays in place of the computation's scalars; returns None if some op cannot."""
        plan = self._make_plan(computation)
        for index, step in enumerate(plan.steps):
            instruction = step.instruction
            if any(not s.is_array or s.rank for s in instruction.shape.leaves()):
                return None
            if instruction.op.rearranges or instruction.opcode == Opcode.OPT_BARRIER:
                if instruction.operand(0).shape.rank:
                    return None
                plan.steps[index] = step._replace(evaluate=lambda context, i, values: values[0])
            elif instruction.opcode in (Opcode.CALL, Opcode.FUSION):
                plan.steps[index] = step._replace(evaluate=lambda c, i, v: c.map_value(i.called_computations[0], v))
            elif instruction.opcode == Opcode.CONDITIONAL:
                if self._effects.of(instruction):
                    return None
                plan.steps[index] = step._replace(evaluate=_map_conditional)
            elif not (instruction.is_elementwise or instruction.opcode in (Opcode.TUPLE, Opcode.GET_TUPLE_ELEMENT)):
                return None
        return plan


def check_rank(instruction: HloInstruction) -> None:
    """Raises UnimplementedError where an array has more dimensions than numpy supports."""
    for shape in (instruction.shape, *(o.shape for o in instruction.operands)):
        if any(leaf.rank > _MAX_RANK for leaf in shape.leaves()):
            raise UnimplementedError(
                f"the evaluator computes arrays of at most {_MAX_RANK} dimensions, as numpy does; {instruction.name} "
                f"has one of {max(leaf.rank for leaf in shape.leaves())}",
                op=instruction.opcode,
                location=instruction.location,
                hint="reshape dimensions of size 1 away",
            )


def _live(computation: HloComputation, effects: EffectAnalysis) -> list[HloInstruction]:
    """Returns the parameters, what the root needs and what has effects, operands before users."""
    seeds = [computation.root, *computation.parameters, *(i for i in computation.instructions if effects.of(i))]
    needed = reachable(seeds, lambda i: (*i.operands, *i.control_predecessors))
    return [i for i in computation.post_order() if i in needed]


def _definition(instruction: HloInstruction) -> Evaluate:
    evaluate = instruction.op.evaluate
    if evaluate is None:
        raise UnimplementedError(
            f"the evaluator does not define {instruction.opcode}", op=instruction.opcode, location=instruction.location
        )
    fit = fit_operands(instruction)
    if fit is None:
        return evaluate
    return lambda context, i, values: evaluate(context, i, fit(values))


_EXPLAINED = (MemoryError, RecursionError, ArithmeticError, LookupError, TypeError, ValueError)


def _explained(error: Exception, instruction: HloInstruction | None) -> XlaError:
    """Converts an exception of numpy or Python within an op to an XlaError.

    Lack of memory or stack is RESOURCE_EXHAUSTED; anything else is an error in the op's definition, and INTERNAL.
    """
    kind: type[XlaError] = ResourceExhaustedError
    if isinstance(error, MemoryError):
        message = "not enough memory"
    elif isinstance(error, RecursionError):
        message = "computations are nested too deep"
    else:
        kind, message = InternalError, f"{type(error).__name__}: {error}"
    if instruction is None:
        return kind(message)
    return _locate(kind(f"evaluating {instruction!r}: {message}"), instruction)


def _locate(error: XlaError, instruction: HloInstruction | None) -> XlaError:
    if instruction is not None:
        error.op = error.op or instruction.opcode
        error.location = error.location or instruction.location
    return error


def _map_conditional(context: EvaluationContext, instruction: HloInstruction, values: list[Value]) -> Value:
    """Evaluates every branch on all elements, then selects for each element. The branches have no effects."""
    branches = instruction.called_computations
    results = [flatten_value(context.map_value(b, [v])) for b, v in zip(branches, values[1:], strict=True)]
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
    return unflatten_value(instruction.shape, iter(selected))


# -- values ----------------------------------------------------------------------------------------------------------


def flatten_value(value: Value) -> list[Any]:
    """Returns the leaves of a value from left to right."""
    if not isinstance(value, tuple):
        return [value]
    return [leaf for element in value for leaf in flatten_value(element)]


def unflatten_value(shape: Shape, leaves: Iterator[Any]) -> Value:
    """Builds a value of this shape from its array leaves; tokens are created."""
    if shape.is_tuple:
        return tuple(unflatten_value(s, leaves) for s in shape.tuple_shapes)
    return next(leaves) if shape.is_array else TOKEN
