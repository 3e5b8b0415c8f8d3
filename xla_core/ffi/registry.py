"""Handlers as targets of custom calls."""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Mapping
from typing import Any, cast

from xla_core.checks import wrong_argument
from xla_core.errors import InvalidArgumentError
from xla_core.ffi.call_frame import ask_for_version
from xla_core.ffi.call_site import FfiCallSite
from xla_core.ffi.objects import register_type, take_error
from xla_core.ffi.structures import HANDLER, MAJOR_VERSION, MINOR_VERSION, STRUCTS, Stage
from xla_core.hlo.evaluation.environment import Value
from xla_core.hlo.evaluation.evaluation_context import EvaluationContext
from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.hlo.ops.custom_calls import register_custom_call
from xla_core.hlo.ops.in_place_calls import evaluate_in_place

_TypeId, _TypeInfo = STRUCTS["TypeId"], STRUCTS["TypeInfo"]


class FfiHandler:
    """A native function, or one for each stage, that runs custom calls on the host.

    Args:
        target: the name of the custom calls, for errors.
        function: see `register_ffi_handler`.

    Attributes:
        addresses: the functions by stage.
    """

    def __init__(self, target: str, function: Any) -> None:
        named = function if isinstance(function, Mapping) else {"execute": function}
        stages = {stage.name.lower(): stage for stage in Stage}
        if "execute" not in named or not stages.keys() >= named.keys():
            raise InvalidArgumentError(
                f"the handler of {target!r} has functions for {', '.join(map(repr, named)) or 'no stage'}; the stages "
                f"are {', '.join(stages)}, and execute is required"
            )
        self.addresses = {
            stages[name]: _address(given, f"the handler of {target!r}")
            for name, given in named.items()
            if given is not None
        }
        self._functions = {stage: HANDLER(address) for stage, address in self.addresses.items()}
        error, version = ask_for_version(self._functions[Stage.EXECUTE])
        if (raised := take_error(error)) is not None:
            raise InvalidArgumentError(f"the handler of {target!r} does not tell its version: {raised.message}")
        if version[0] != MAJOR_VERSION or not 0 < version[1] <= MINOR_VERSION:
            raise InvalidArgumentError(
                f"the handler of {target!r} has version {version[0]}.{version[1]} of XLA's FFI, and {MAJOR_VERSION}.1 "
                f"to {MAJOR_VERSION}.{MINOR_VERSION} are supported",
                hint="compile it with the headers of jax.ffi.include_dir(); in C, answer the metadata extension",
            )

    def call_site(self, instruction: HloInstruction) -> FfiCallSite:
        """Makes the call site of a custom call of a program that is loaded."""
        return FfiCallSite(self._functions, instruction)

    def __call__(self, context: EvaluationContext, instruction: HloInstruction, values: list[Value]) -> Value:
        """Evaluates a custom call: the operands are copied if they have another layout than the handler expects."""
        site = context.call_sites.get(instruction)
        if site is None:
            site = context.call_sites.setdefault(instruction, self.call_site(instruction))
        device = context.environment
        ordinal = device.replica * device.num_partitions + device.partition
        run = functools.partial(site.run_on_arrays, device_ordinal=ordinal)
        return evaluate_in_place(instruction, values, run)


def register_ffi_handler(target: str, function: Any) -> None:
    """Registers a native function that runs the custom calls of a target, for the evaluator and for every backend.

    It runs on the host: a device whose memory the host can't address copies the operands and the results. To register
    the same function again does nothing.

    Args:
        target: the name of the custom calls.
        function: a handler of XLA's FFI: a function of `ctypes`, an address, or a capsule, as `jax.ffi.pycapsule` makes
            it; or several of them by the names of their stages (instantiate, prepare, initialize, execute).

    Raises:
        AlreadyExistsError: the target is registered already.
        InvalidArgumentError: the function is no handler, or one of another version of the interface.
    """
    handler = FfiHandler(target, function)
    known = _registered.get(target)
    if known is None or known.addresses != handler.addresses:
        register_custom_call(target)(handler)
        _registered[target] = handler


_registered: dict[str, FfiHandler] = {}


def register_ffi_type(name: str, type_id: Any, type_info: Any = None) -> None:
    """Registers a type of states that handlers keep between calls.

    Args:
        name: the type's name.
        type_id: a capsule or the address of the XLA_FFI_TypeId, which gets a number unless it has one.
        type_info: a capsule or the address of the XLA_FFI_TypeInfo, whose deleter destroys states.

    Raises:
        AlreadyExistsError: the name is registered with another number.
        InvalidArgumentError: an argument is neither a capsule nor an address.
    """
    number = _TypeId.from_address(_address(type_id, f"the type_id of {name!r}"))
    info = None if type_info is None else _TypeInfo.from_address(_address(type_info, f"the type_info of {name!r}"))
    number.type_id = register_type(name, number.type_id, info.deleter if info else None)


def _address(given: Any, what: str) -> int:
    """Returns the address that an int, a function of ctypes or a capsule stands for."""
    address = 0
    if type(given).__name__ == "PyCapsule":
        name, pointer = ctypes.pythonapi.PyCapsule_GetName, ctypes.pythonapi.PyCapsule_GetPointer
        name.restype, name.argtypes = ctypes.c_char_p, (ctypes.py_object,)
        pointer.restype, pointer.argtypes = ctypes.c_void_p, (ctypes.py_object, ctypes.c_char_p)
        address = pointer(given, name(given)) or 0
    elif isinstance(given, int):
        address = given
    elif isinstance(given, HANDLER.__bases__):
        address = ctypes.cast(cast(Any, given), ctypes.c_void_p).value or 0
    if address <= 0:
        raise wrong_argument(what, given, "a capsule, a function of ctypes or an address")
    return address
