"""Handle: base class of objects that own something on a device."""

from __future__ import annotations

from typing import ClassVar, NoReturn, TypeVar

from xla_core.errors import InvalidArgumentError

H = TypeVar("H", bound="Handle")


class Handle:
    """Base class of buffers, executables, devices and clients: `copy` returns the same object, `pickle` raises.

    A second object for the same device memory would free the memory twice.
    """

    __slots__ = ()

    _instead_of_pickle: ClassVar[str]

    def __copy__(self: H) -> H:
        return self

    def __deepcopy__(self: H, memo: object) -> H:
        return self

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        raise InvalidArgumentError(
            f"a {type(self).__name__} belongs to the devices of this process and cannot be pickled",
            hint=self._instead_of_pickle,
        )
