"""The objects to which a handler refers by pointers or numbers: errors, futures, types of states, and the context of a
call.
"""

from __future__ import annotations

import ctypes
import dataclasses
import itertools
import threading
import weakref
from typing import Any

import numpy as np

from xla_core.errors import (
    AlreadyExistsError,
    FailedPreconditionError,
    InvalidArgumentError,
    ResourceExhaustedError,
    XlaError,
    error_of_status,
)
from xla_core.ffi.structures import Stage

# -- errors ------------------------------------------------------------------------------------------------------------

_errors: dict[int, tuple[int, Any]] = {}  # address of the text -> code, text


def make_error(code: int, message: bytes) -> int:
    """Makes an error and returns its pointer, which points to its text."""
    text = ctypes.create_string_buffer(message)
    address = ctypes.addressof(text)
    _errors[address] = (code, text)
    return address


def error_from(exception: BaseException) -> int:
    """Makes the error of an exception that a function of the table raised."""
    if isinstance(exception, MemoryError):
        exception = ResourceExhaustedError("the host has no memory for it")
    if isinstance(exception, XlaError):
        return make_error(exception.code.value, exception.message.encode())
    return make_error(2, f"{type(exception).__name__}: {exception}".encode())


def destroy_error(address: int | None) -> None:
    _errors.pop(address or 0, None)


def take_error(address: int | None) -> XlaError | None:
    """Returns the error that a handler returned, or None for a null pointer. Its pointer is no longer valid."""
    if not address:
        return None
    if address not in _errors:
        return XlaError(f"the handler returned {address:#x}, which is no error that XLA_FFI_Error_Create made")
    code, text = _errors.pop(address)
    return error_of_status(code, text.value.decode("utf-8", "replace"))


# -- futures -----------------------------------------------------------------------------------------------------------


class Future:
    """The end of a call that goes on after its handler has returned."""

    def __init__(self) -> None:
        self.done = threading.Event()
        self.error: XlaError | None = None


_futures: dict[int, Future] = {}
_numbers = itertools.count(1)


def make_future() -> int:
    number = next(_numbers)
    _futures[number] = Future()
    return number


def complete_future(number: int | None, error: XlaError | None) -> None:
    """Ends a future, which no other function may use after that."""
    future = _futures.get(number or 0)
    if future is None or future.done.is_set():
        raise InvalidArgumentError(f"{number or 0} is no future that is pending")
    future.error = error
    future.done.set()


def wait_for_future(number: int | None) -> XlaError | None:
    """Waits for the future that a handler set, if any, and returns its error."""
    future = _futures.get(number or 0)
    if future is None:
        return None
    future.done.wait()
    del _futures[number or 0]
    return future.error


# -- types of states ---------------------------------------------------------------------------------------------------

_FIRST_TYPE = 1 << 32  # JAX's own CPU counts from 1, and the variable with a type's number may be shared with it

_types: dict[str, int] = {}
_deleters: dict[int, Any] = {}
_type_numbers = itertools.count(_FIRST_TYPE)
_Deleter = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


def register_type(name: str, number: int, deleter: int | None) -> int:
    """Registers a type of states and returns its number.

    Args:
        number: the number that another program gave the type; 0 for a new one.
        deleter: the address of the function that destroys a state; None if states are not destroyed.

    Raises:
        AlreadyExistsError: the name has another number.
    """
    number = number or _types.get(name) or next(_type_numbers)
    known = _types.setdefault(name, number)
    if known != number:
        raise AlreadyExistsError(f"type {name!r} is registered with the number {known}, not {number}")
    if deleter:
        _deleters[number] = _Deleter(deleter)
    return number


class States:
    """The states of one custom call by stage, which are destroyed with this object."""

    def __init__(self) -> None:
        self._states: dict[int, tuple[int, int]] = {}
        weakref.finalize(self, _destroy_states, self._states)

    def set(self, stage: int, type_number: int, state: int | None) -> None:
        if not type_number:
            raise FailedPreconditionError(
                "the type of the state is not registered",
                hint="register it with jax.ffi.register_ffi_type or xla_core.ffi.register_ffi_type",
            )
        if stage in self._states:
            raise FailedPreconditionError(f"the state of the stage {_name(stage)} is set already")
        self._states[stage] = (type_number, state or 0)

    def get(self, stage: int, type_number: int) -> int:
        found, state = self._states.get(stage, (0, 0))
        if found != type_number or not found:
            what = f"has the type {found}, not {type_number}" if found else "is not set"
            raise FailedPreconditionError(f"the state of the stage {_name(stage)} {what}")
        return state


def _destroy_states(states: dict[int, tuple[int, int]]) -> None:
    while states:
        _, (type_number, state) = states.popitem()
        if type_number in _deleters:
            _deleters[type_number](state)


def _name(stage: int) -> str:
    return Stage(stage).name.lower() if stage in Stage._value2member_map_ else str(stage)


# -- contexts ----------------------------------------------------------------------------------------------------------


@dataclasses.dataclass(eq=False)
class Context:
    """The data that a handler can query about its current call.

    Attributes:
        instance: the states of the custom call, which live as long as the program is loaded.
        call: the states of this call.
        memory: the arrays that the handler allocated, by address.
    """

    instance: States
    call: States
    device_ordinal: int = 0
    run_id: int = 0
    memory: dict[int, np.ndarray] = dataclasses.field(default_factory=dict)

    def __post_init__(self) -> None:
        _contexts[self.address] = self

    @property
    def address(self) -> int:
        """The pointer by which a handler refers to it."""
        return id(self)

    def states(self, stage: int) -> States:
        return self.instance if stage == Stage.INSTANTIATE else self.call

    def allocate(self, size: int, alignment: int) -> int:
        alignment = max(1, alignment)
        array = np.empty(size + alignment, np.uint8)
        address = -(-array.ctypes.data // alignment) * alignment
        self.memory[address] = array
        return address


_contexts: weakref.WeakValueDictionary[int, Context] = weakref.WeakValueDictionary()


def context_at(address: int | None) -> Context:
    context = _contexts.get(address or 0)
    if context is None:
        raise InvalidArgumentError(f"{address or 0:#x} is no execution context of a call in progress")
    return context
