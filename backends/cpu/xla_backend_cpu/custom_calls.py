"""The registry of custom calls that run on the host, in Python.

    def scale(call: CustomCall) -> None:
        call.results[0][...] = call.operands[0] * call.attributes["factor"]

    register_custom_call("acme_scale", scale)

A target that only the reference evaluator knows (`xla_core.hlo.register_custom_call`) runs by that definition.
"""

from __future__ import annotations

import dataclasses
import difflib
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from xla_core.errors import AlreadyExistsError, InvalidArgumentError
from xla_core.hlo import HloInstruction, is_custom_call_registered

__all__ = ["CustomCall", "CustomCallFunction", "custom_call_function", "register_custom_call", "why_unknown"]


@dataclasses.dataclass(frozen=True, slots=True)
class CustomCall:
    """One call, typed like XLA's FFI.

    Attributes:
        target: the name that it was registered under.
        attributes: backend_config as a dictionary, by `xla_core.hlo.parse_backend_config`; under "" the text itself
            where it isn't one.
        operands: the operands' array leaves, read-only views of the program's memory.
        results: the results' array leaves, to be filled. One that the program puts in an operand's place
            (output_operand_aliases) begins as that operand.
        replica, partition: the device's place.

    Views have the operand_layouts and result_layouts as strides: an array in column-major order is one in numpy too.
    They must not be kept.
    """

    target: str
    attributes: Mapping[str, Any]
    operands: tuple[np.ndarray, ...]
    results: tuple[np.ndarray, ...]
    replica: int = 0
    partition: int = 0


CustomCallFunction = Callable[[CustomCall], None]

_FUNCTIONS: dict[str, CustomCallFunction] = {}


def register_custom_call(target: str, function: CustomCallFunction) -> None:
    """Makes programs with custom calls of `target` compile; `function` is called at each. What it raises is the cause
    of the execution's error, an XlaError of code UNKNOWN. Raises AlreadyExistsError for a target that is registered,
    InvalidArgumentError for what is no name or no function.
    """
    if not (isinstance(target, str) and target):
        raise InvalidArgumentError(f"target must be the name of custom calls, not {target!r}")
    if not callable(function):
        raise InvalidArgumentError(
            f"what is registered for custom call {target!r} must be a function of a CustomCall, not {function!r}"
        )
    if target in _FUNCTIONS:
        raise AlreadyExistsError(f"custom call {target!r} is registered already")
    _FUNCTIONS[target] = function


def custom_call_function(target: str) -> CustomCallFunction | None:
    """What was registered; None for a target that only the evaluator knows, if it does."""
    return _FUNCTIONS.get(target)


def why_unknown(call: HloInstruction) -> str | None:
    """A reason why nothing can run this custom call; None where something can."""
    target = call.attribute("custom_call_target")
    if target in _FUNCTIONS or is_custom_call_registered(target):
        return None
    near = difflib.get_close_matches(target, _FUNCTIONS, 1, 0.8)
    return f"there is no custom call {target!r}{f'; did you mean {near[0]!r}?' if near else ''}"
