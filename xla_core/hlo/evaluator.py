"""The reference evaluator: runs HLO by the op table's definitions on numpy arrays.

Backends are compared with it, and constant folding uses it.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from xla_core.checks import require_limit, wrong_argument
from xla_core.errors import InternalError, InvalidArgumentError, ResourceExhaustedError, XlaError
from xla_core.hlo.evaluation.argument_checks import check_argument, wrong_count
from xla_core.hlo.evaluation.environment import Alone, Environment, Rendezvous, Token, Value
from xla_core.hlo.evaluation.evaluation_context import EvaluationContext, check_rank, flatten_value, unflatten_value
from xla_core.hlo.ir.computation import HloComputation
from xla_core.hlo.ir.module import HloModule, require_module
from xla_core.hlo.values.shape import Shape
from xla_core.hlo.verifier import verify_collectives


def _argument(array: npt.ArrayLike, shape: Shape, position: int) -> np.ndarray:
    """Checks a caller's array against a parameter's shape; returns the array."""
    given = np.asarray(array)
    given = given if given.dtype.isnative else given.astype(given.dtype.newbyteorder("="))
    check_argument(f"argument {position}", Shape.of(given), shape.without_layout())
    return given


def _arguments(computation: HloComputation, arrays: Sequence[npt.ArrayLike]) -> list[Value]:
    for parameter in computation.parameters:
        check_rank(parameter)
    shapes = [leaf for p in computation.parameters for leaf in p.shape.array_leaves()]
    if len(arrays) != len(shapes):
        raise wrong_count(computation.name, shapes, len(arrays))
    given = iter([_argument(a, s, i) for i, (a, s) in enumerate(zip(arrays, shapes, strict=True))])
    return [unflatten_value(p.shape, given) for p in computation.parameters]


def _results(value: Value, arguments: Sequence[Value]) -> tuple[np.ndarray, ...]:
    """Returns the arrays among a value's leaves. Each is the caller's to change and shares memory with no other."""
    taken = {id(leaf) for argument in arguments for leaf in flatten_value(argument)}
    results = []
    for leaf in flatten_value(value):
        if isinstance(leaf, Token):
            continue
        array = np.asarray(leaf)
        if id(array) in taken or not (array.flags.writeable and array.flags.owndata):
            array = array.copy()
        taken.add(id(array))
        results.append(array)
    return tuple(results)


# -- entry points ----------------------------------------------------------------------------------------------------


def evaluate_computation(
    computation: HloComputation, arrays: Sequence[npt.ArrayLike], context: EvaluationContext | None = None
) -> tuple[np.ndarray, ...]:
    """Evaluates any computation on arrays, which are given and returned as by `evaluate`."""
    context = context or EvaluationContext()
    with np.errstate(all="ignore"):
        arguments = _arguments(computation, arrays)
        value = context.call(computation, arguments)
        try:
            return _results(value, arguments)
        except MemoryError as error:
            raise ResourceExhaustedError(
                f"not enough memory for the results of {computation.name}", location=computation.root.location
            ) from error


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
        arrays: one for each array among the entry's parameters, with tuples flattened, of the parameter's shape and
            dtype.
        environment, max_steps, max_bytes, timeout: see EvaluationContext.

    Returns:
        The arrays of the result, with tuples flattened and tokens left out.

    Raises:
        InvalidArgumentError: when number, shape or dtype of the arrays is wrong, or the program's collectives need
            other numbers of replicas or partitions.
        FailedPreconditionError: when the program exchanges values with other devices; `evaluate_replicas` runs several.
        DeadlineExceededError, ResourceExhaustedError: when a limit is exceeded.
    """
    if not isinstance(module, HloModule):
        raise InvalidArgumentError(
            f"evaluate takes an HloModule, not {type(module).__name__}", hint="xla_core.parse makes one of text"
        )
    if environment is None:
        count = module.num_replicas, module.num_partitions
        environment = Environment(num_replicas=count[0], num_partitions=count[1], rendezvous=Alone(module.name, *count))
    context = EvaluationContext(environment, max_steps=max_steps, max_bytes=max_bytes, timeout=timeout)
    verify_collectives(module, environment.num_replicas, environment.num_partitions)
    return evaluate_computation(module.entry, arrays, context)


def evaluate_replicas(
    module: HloModule,
    arguments: Sequence[Sequence[npt.ArrayLike]],
    *,
    num_partitions: int | None = None,
    timeout: float | None = 60.0,
    max_steps: int | None = None,
    environments: Sequence[Environment] | None = None,
) -> list[tuple[np.ndarray, ...]]:
    """Runs a module on several devices at once, each in a thread.

    Args:
        module: the program that all devices run.
        arguments: a list of arrays for each device; device i is replica i // num_partitions, partition i %
            num_partitions.
        num_partitions: the number of partitions; by default, the module's.
        timeout: seconds that a device waits for others in a collective, and that the whole run may take; None for no
            limit.
        max_steps: the limit of EvaluationContext, for each device.
        environments: one for each device, if feeds or channels are needed; their ids and rendezvous are set here.

    Returns:
        A tuple of arrays for each device.

    Raises:
        InvalidArgumentError: before anything runs, where so many devices can't run the collectives.
        XlaError: the error of the device that failed first.
    """
    require_module(module)
    _require_rows(arguments)
    computations = [module.entry] * len(arguments)
    partitions = module.num_partitions if num_partitions is None else num_partitions
    return evaluate_parallel(
        computations,
        arguments,
        num_partitions=partitions,
        timeout=timeout,
        max_steps=max_steps,
        environments=environments,
    )


def _require_rows(arguments: Sequence[Sequence[npt.ArrayLike]]) -> None:
    lists = (Sequence, np.ndarray)
    if not isinstance(arguments, lists) or not all(isinstance(row, lists) for row in arguments):
        raise wrong_argument("arguments", arguments, "a list of arrays for each device, in a list")


def _surroundings(environments: Sequence[Environment] | None, count: int) -> list[Environment]:
    if environments is None:
        return [Environment() for _ in range(count)]
    given = list(environments) if isinstance(environments, Sequence) else []
    if len(given) != count or not all(isinstance(environment, Environment) for environment in given):
        raise wrong_argument("environments", environments, f"an Environment for each of the {count} devices")
    return given


def evaluate_parallel(
    computations: Sequence[HloComputation],
    arguments: Sequence[Sequence[npt.ArrayLike]],
    *,
    num_partitions: int = 1,
    timeout: float | None = 60.0,
    max_steps: int | None = None,
    environments: Sequence[Environment] | None = None,
) -> list[tuple[np.ndarray, ...]]:
    """Does what `evaluate_replicas` does, for devices that run different computations."""
    _require_rows(arguments)
    require_limit("timeout", timeout, "seconds")
    count = len(arguments)
    if not (isinstance(num_partitions, int) and num_partitions >= 1):
        raise wrong_argument("num_partitions", num_partitions, "a number of at least 1")
    if count % num_partitions:
        raise InvalidArgumentError(f"{count} devices are not a multiple of {num_partitions} partitions")
    for module in {c.module for c in computations if c.module is not None}:
        verify_collectives(module, count // num_partitions, num_partitions)
    rendezvous = Rendezvous(threading.TIMEOUT_MAX if timeout is None else timeout)
    surroundings = _surroundings(environments, count)
    contexts = [EvaluationContext(e, max_steps=max_steps, timeout=timeout) for e in surroundings]
    results: list[tuple[np.ndarray, ...]] = [()] * count
    errors: list[tuple[float, BaseException]] = []

    def run(index: int) -> None:
        environment = surroundings[index]
        try:
            results[index] = evaluate_computation(computations[index], arguments[index], contexts[index])
            rendezvous.end(environment.device)
        except BaseException as error:  # raised again in the caller's thread below
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
