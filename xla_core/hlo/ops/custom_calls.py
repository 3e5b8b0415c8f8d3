"""The registry of the custom calls that the evaluator, and the host beside a device, can evaluate.

Its functions take values and return values. `in_place_calls` and `xla_core.ffi` register functions that write results
in place.

An installed distribution extends it by an entry point: the entry point's name is the target, and its value is the
function.

    [project.entry-points."xla_core.custom_calls"]
    acme_scale = "acme.meanings:scale"
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable, Sequence
from importlib.metadata import EntryPoint, entry_points
from typing import Any

import numpy as np

from xla_core.checks import did_you_mean, wrong_argument
from xla_core.errors import (
    AlreadyExistsError,
    FailedPreconditionError,
    InvalidArgumentError,
    UnimplementedError,
    XlaError,
)
from xla_core.hlo.evaluation.environment import Token, Value
from xla_core.hlo.evaluation.evaluation_context import EvaluationContext, flatten_value, unflatten_value
from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.hlo.ops.rules import zeros
from xla_core.hlo.table.op_table import Attributes, Evaluate
from xla_core.hlo.values.shape import Shape

CallShapeRule = Callable[["Sequence[Shape]", "Attributes", "Shape"], "Shape"]
"""(operands, attributes, declared shape) -> the shape of a custom call."""

_CUSTOM_CALLS: dict[str, Evaluate] = {}
_SHAPES: dict[str, CallShapeRule] = {}
_FINDERS: list[Callable[[str], Evaluate | None]] = []

PORTABLE_LINEAR_ALGEBRA = frozenset({"Eigh", "ProductOfElementaryHouseholderReflectors", "Qr"})
"""XLA's custom calls that are routines of LAPACK on any device."""

_BUILT_IN = dict.fromkeys(
    ["lapack_", "tridiagonal_solve_perturbed_ffi", *sorted(PORTABLE_LINEAR_ALGEBRA)], "xla_core.lapack"
)
"""Prefix of a target -> the package that registers it. The package is loaded for the first program that needs it."""
_GROUP = "xla_core.custom_calls"
_PYTHON_CALLBACK = re.compile(r"xla_(\w+_)?python_\w+_callback")

FULL_TO_SHARD, SHARD_TO_FULL = "SPMDFullToShardShape", "SPMDShardToFullShape"
RESHARDING = (FULL_TO_SHARD, SHARD_TO_FULL)
"""Targets that split a tensor into shards or join the shards. On one device, the result is the operand."""

CALLBACK, PARTITIONED_CALLBACK = "xla_core_python_callback", "xla_core_partitioned_python_callback"
"""Targets that call a Python function: once with whole arrays, or on each device with its shards of them."""

ANNOTATIONS = ("Sharding", *RESHARDING, "LayoutConstraint")
"""Targets that annotate the sharding or layout of their operand. Their result is the operand."""

PLACEMENTS = ("annotate_device_placement", "MoveToHost", "MoveToDevice")
"""Targets that say in which memory an array should be. Their result is the operand."""


def register_custom_call(target: str) -> Callable[[Evaluate], Evaluate]:
    """Returns a decorator that registers the evaluation of custom calls to `target`.

    The decorated function takes (context, instruction, values). The arrays in `values` are read-only.

    Raises:
        InvalidArgumentError: where the target is no name or the function is not callable.
        AlreadyExistsError: where the target is registered already.
    """
    _require_target(target)

    def register(function: Evaluate) -> Evaluate:
        _require_function(target, function, "of (context, instruction, values)")
        _load_built_in(target)
        if target in _CUSTOM_CALLS:
            raise AlreadyExistsError(f"custom call {target!r} is registered already")
        _CUSTOM_CALLS[target] = function
        return function

    return register


def register_custom_call_shape(target: str) -> Callable[[CallShapeRule], CallShapeRule]:
    """Returns a decorator that registers the shape rule of custom calls to `target`. The verifier applies it."""
    _require_target(target)

    def register(rule: CallShapeRule) -> CallShapeRule:
        _require_function(target, rule, "of (operands, attributes, declared shape)")
        _SHAPES[target] = rule
        return rule

    return register


def add_custom_call_finder(find: Callable[[str], Evaluate | None]) -> None:
    """Adds a function that is asked for targets which nobody registered. To add it again does nothing.

    It returns what evaluates the target, as in `register_custom_call`, or None.
    """
    if find not in _FINDERS:
        _FINDERS.append(find)


def _require_target(target: Any) -> None:
    if not (isinstance(target, str) and target):
        raise wrong_argument("target", target, "the name of custom calls")


def _require_function(target: str, function: Any, takes: str) -> None:
    if not callable(function):
        raise wrong_argument(f"what is registered for custom call {target!r}", function, f"a function {takes}")


def custom_call_shape(operands: Sequence[Shape], attributes: Attributes, declared: Shape | None) -> Shape:
    """Returns the target's own shape, or the declared shape where the target has no rule."""
    if declared is None:
        raise InvalidArgumentError("the shape must be given")
    _load_built_in(attributes["custom_call_target"])
    rule = _SHAPES.get(attributes["custom_call_target"])
    result = declared if rule is None else rule(operands, attributes, declared)
    check_aliasing(operands, attributes, result)
    return result


def check_aliasing(operands: Sequence[Shape], attributes: Attributes, result: Shape) -> None:
    """Raises InvalidArgumentError where output_to_operand_aliasing names a missing index or shapes that differ."""
    for alias in attributes["output_to_operand_aliasing"]:
        number = alias.operand_number
        if not 0 <= number < len(operands):
            raise InvalidArgumentError(f"output_to_operand_aliasing names operand {number} of {len(operands)}")
        output = result.subshape(alias.output_index, "output_to_operand_aliasing: index")
        operand = operands[number].subshape(alias.operand_index, "output_to_operand_aliasing: index")
        if not output.compatible(operand):
            raise InvalidArgumentError(
                f"output_to_operand_aliasing: the result at {list(alias.output_index)} is {output.without_layout()}, "
                f"operand {number} at {list(alias.operand_index)} is {operand.without_layout()}"
            )


def is_custom_call_registered(target: str) -> bool:
    """Whether the evaluator can evaluate custom calls to this target."""
    _load_built_in(target)
    return target in _CUSTOM_CALLS or bool(_installed(target)) or any(find(target) for find in _FINDERS)


def hint_for_unknown(target: str) -> str:
    """Returns a hint about what to do with an unregistered target."""
    if _PYTHON_CALLBACK.fullmatch(target):
        return (
            "this is a callback of JAX (pure_callback, io_callback, debug.print), and the program holds only an index "
            "into the process that exported it: remove the callback, or name the function with jax.ffi.ffi_call and "
            "register a custom call of that name (docs/jax-programs.md)"
        )
    for prefix in _BUILT_IN:
        _load_built_in(prefix)
    meant = did_you_mean(target, {*_CUSTOM_CALLS, *_targets()}, 1, 0.8)
    return (f"{meant} Else " if meant else "") + (
        "give it a meaning with xla_core.hlo.register_custom_call, or install a distribution with an entry "
        f"point of the group {_GROUP} (docs/custom-calls.md)"
    )


def broken_custom_calls() -> dict[str, XlaError]:
    """Loads all targets of installed distributions; returns the errors of those that don't load."""
    broken: dict[str, XlaError] = {}
    for target in sorted(_targets()):
        try:
            find_custom_call(target)
        except XlaError as error:
            broken[target] = error
    return broken


def _targets() -> set[str]:
    return {point.name for point in entry_points(group=_GROUP)}


def _load_built_in(target: str) -> None:
    """Imports the package of xla_core that registers the target, if there is one."""
    if target not in _CUSTOM_CALLS:
        for prefix, package in _BUILT_IN.items():
            if target.startswith(prefix):
                importlib.import_module(package)


def _installed(target: str) -> list[EntryPoint]:
    return list(entry_points(group=_GROUP, name=target))


def find_custom_call(target: str) -> Evaluate | None:
    """Returns the function that is registered for a target, or None.

    A function of an installed distribution is loaded and registered first.

    Raises:
        AlreadyExistsError, FailedPreconditionError: the distribution's function can't be used.
    """
    _load_built_in(target)
    if target not in _CUSTOM_CALLS and (found := _installed(target)):
        owners = sorted({str(point.dist.name) for point in found if point.dist is not None})
        if len(found) > 1:
            raise AlreadyExistsError(
                f"custom call {target!r} comes from {' and '.join(owners)}", hint="uninstall all but one of them"
            )
        point = found[0]
        named = f"custom call {target!r} of {', '.join(owners)} ({point.value})"
        hint = "repair or uninstall the distribution"
        try:
            function = point.load()
        except (Exception, SystemExit) as error:  # another project's code may raise anything
            raise FailedPreconditionError(
                f"{named} does not load: {type(error).__name__}: {error}", hint=hint
            ) from error
        if not callable(function):
            raise FailedPreconditionError(f"{named} is {function!r}, not a function", hint=hint)
        _CUSTOM_CALLS[target] = function
    if target in _CUSTOM_CALLS:
        return _CUSTOM_CALLS[target]
    return next((function for find in _FINDERS if (function := find(target)) is not None), None)


def custom_call(context: EvaluationContext, instruction: HloInstruction, values: list[Value]) -> Value:
    """Evaluates the custom call by its registered function.

    An exception that the function raises becomes an XlaError of code UNKNOWN. This includes SystemExit, but not Ctrl-C.
    """
    target = instruction.attribute("custom_call_target")
    function = find_custom_call(target)
    if function is None:
        raise UnimplementedError(
            f"custom call {target!r} is not registered",
            op="custom-call",
            location=instruction.location,
            hint=hint_for_unknown(target),
        )
    try:
        value = function(context, instruction, [_read_only(v) for v in values])
    except (XlaError, MemoryError, KeyboardInterrupt):
        raise
    except BaseException as error:
        raise XlaError(
            f"custom call {target!r} raised {type(error).__name__}: {error}",
            op="custom-call",
            location=instruction.location,
            hint="the function that is registered for it failed; this error's __cause__ has the traceback",
        ) from error
    return _checked(value, instruction, target)


def _read_only(value: Value) -> Value:
    """Returns read-only views, because the arrays may be the caller's own or used again."""
    if isinstance(value, tuple):
        return tuple(map(_read_only, value))
    if isinstance(value, np.ndarray):
        value = value.view()
        value.flags.writeable = False
    return value


def _checked(value: Value, instruction: HloInstruction, target: str) -> Value:
    """Checks that the function's results have the declared shapes, because the function is another project's code.

    Returns them in the form of the declared shape, with its tokens, which the function may leave out.
    """
    declared = instruction.shape.array_leaves()

    def wrong(what: str, expected: str, hint: str) -> InvalidArgumentError:
        message = f"custom call {target!r} {what}, the program expects {expected}"
        return InvalidArgumentError(message, op="custom-call", location=instruction.location, hint=hint)

    count = f"return a tuple of {len(declared)} arrays" if len(declared) != 1 else "return one array"
    if value is None:
        if not declared:
            return zeros(instruction.shape)
        raise wrong("returned None", str(instruction.shape.without_layout()), count)
    results = [leaf for leaf in flatten_value(value) if not isinstance(leaf, Token)]
    if len(results) != len(declared):
        raise wrong(f"gave {len(results)} results", str(len(declared)), count)
    for number, (result, shape) in enumerate(zip(results, declared, strict=True)):
        array = np.asarray(result)
        if array.dtype != shape.dtype or not shape.admits(array.shape):
            raise wrong(
                f"gave {array.dtype}{list(array.shape)} as result {number}",
                str(shape.without_layout()),
                f"return an array of numpy dtype {shape.dtype} and shape {list(shape.dimensions)}",
            )
    return unflatten_value(instruction.shape, iter(results))


for _target in (
    *ANNOTATIONS,
    *PLACEMENTS,
    "xla.sdy.FuncResultSharding",
    "xla.sdy.GlobalToLocalShape",
    "xla.sdy.LocalToGlobalShape",
):
    register_custom_call(_target)(lambda context, instruction, values: values[0])


register_custom_call("AllocateBuffer")(lambda context, i, values: np.zeros(i.shape.dimensions, i.shape.dtype))
