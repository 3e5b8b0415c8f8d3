"""Handle: base class of objects that own something on a device."""

from __future__ import annotations

from typing import ClassVar, NoReturn, TypeVar

from xla_core.errors import InvalidArgumentError

H = TypeVar("H", bound="Handle")


class Handle:
    """Base class of clients, buffers, executables, and objects that a backend owns: `copy` returns the same object.

    A second object for the same resource of a device would free it twice. `pickle` raises, because the resource belongs
    to this process.
    """

    __slots__ = ()

    _instead_of_pickle: ClassVar[str] = "make a Client in the other process"

    def __copy__(self: H) -> H:
        return self

    def __deepcopy__(self: H, memo: object) -> H:
        return self

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        raise InvalidArgumentError(
            f"a {type(self).__name__} belongs to the devices of this process and cannot be pickled",
            hint=self._instead_of_pickle,
        )
