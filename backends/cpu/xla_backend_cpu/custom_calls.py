"""The registry of Python functions that run custom calls on the host.

    def scale(call: CustomCall) -> None:
        call.results[0][...] = call.operands[0] * call.attribute("factor")

    register_custom_call("acme_scale", scale)

A target that is registered only for the reference evaluator (`xla_core.hlo.register_custom_call`) runs as it does
there.
"""

from __future__ import annotations

import dataclasses
import difflib
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from xla_core.errors import AlreadyExistsError, InvalidArgumentError
from xla_core.hlo import HloInstruction, is_custom_call_registered


@dataclasses.dataclass(frozen=True, slots=True)
class CustomCall:
    """The operands, results and attributes of one call, as in XLA's typed FFI.

    Attributes:
        target: the name under which the function was registered.
        attributes: backend_config, parsed by `xla_core.hlo.parse_backend_config`. Text that is not a dictionary is
            stored under the key "".
        operands: the array leaves of the operands, as read-only views of the program's memory.
        results: the array leaves of the results, which the function must fill. A result that aliases an operand
            (output_operand_aliases) holds the operand's values at first.
        replica, partition: the replica and partition number of the device that runs the call.

    The strides of the views follow operand_layouts and result_layouts: a column-major array is column-major in numpy
    too. The function must not keep the views after the call.
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
    """Registers the implementation of the custom calls of `target`.

    If the function raises, the execution fails with an XlaError of code UNKNOWN, whose cause is that exception.

    Raises:
        AlreadyExistsError: the target is registered already.
        InvalidArgumentError: `target` is not a non-empty string, or `function` is not callable.
    """
    if not (isinstance(target, str) and target):
        raise InvalidArgumentError(f"target must be the name of custom calls, not {target!r}")
    if not callable(function):
        raise InvalidArgumentError(
            f"the function that is registered for custom call {target!r} must be a function of a CustomCall, not "
            f"{function!r}"
        )
    if target in _FUNCTIONS:
        raise AlreadyExistsError(f"custom call {target!r} is registered already")
    _FUNCTIONS[target] = function


def custom_call_function(target: str) -> CustomCallFunction | None:
    """The function that is registered for `target`, or None."""
    return _FUNCTIONS.get(target)


def why_unknown(call: HloInstruction) -> str | None:
    """The reason why the backend can't run a custom call, or None if it can."""
    target = call.attribute("custom_call_target")
    if target in _FUNCTIONS or is_custom_call_registered(target):
        return None
    near = difflib.get_close_matches(target, _FUNCTIONS, 1, 0.8)
    return f"there is no custom call {target!r}{f'; did you mean {near[0]!r}?' if near else ''}"
