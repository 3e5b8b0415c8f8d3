"""A text of configurations, for fingerprints."""

from __future__ import annotations

import dataclasses
import enum
import functools
import inspect
from collections.abc import Mapping
from types import FunctionType, ModuleType, NoneType
from typing import Any

from pydantic import BaseModel

_SIMPLE = (NoneType, str, bytes, int, float, enum.Enum)


def stable_text(value: Any) -> str:
    """Returns a text that is the same for equal values in every process.

    A function contributes its name, its default arguments and the values that it closes over. Lambdas, and functions
    within others, share names: they contribute the names and constants of their code, and the line where it begins. A
    method contributes its object. An object of any other class contributes its class, and its attributes that are data:
    not its dictionaries and lists, which may be caches.
    """
    return _StableText().of(value)


class _StableText:
    def __init__(self) -> None:
        self._outer: list[object] = []  # the values whose text is being made
        self._sets: dict[frozenset[Any], str] = {}  # most ops of a table share one set of element types

    def of(self, value: Any) -> str:
        if isinstance(value, enum.Enum):
            return f"{type(value).__name__}.{value.name}"
        if isinstance(value, _SIMPLE):
            return repr(value)
        if isinstance(value, set):
            value = frozenset(value)
        if isinstance(value, frozenset):
            if value not in self._sets:
                self._sets[value] = "<" + ",".join(sorted(map(self.of, value))) + ">"
            return self._sets[value]
        if any(value is outer for outer in self._outer):
            return f"the {type(value).__qualname__} that contains it"
        self._outer.append(value)
        try:
            return self._of_compound(value)
        finally:
            self._outer.pop()

    def _of_compound(self, value: Any) -> str:
        if isinstance(value, BaseModel):
            value = {name: getattr(value, name) for name in type(value).model_fields}
        elif dataclasses.is_dataclass(value) and not isinstance(value, type):
            value = {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
        if isinstance(value, Mapping):
            return "{" + ",".join(sorted(f"{self.of(k)}:{self.of(v)}" for k, v in value.items())) + "}"
        if isinstance(value, (tuple, list)):
            return "[" + ",".join(map(self.of, value)) + "]"
        if isinstance(value, functools.partial):
            return self.of((value.func, value.args, value.keywords))
        if inspect.ismethod(value):
            return self.of((value.__func__, value.__self__))
        if isinstance(value, FunctionType):
            return _name(value) + self.of(_values_of(value))
        owner = getattr(value, "__self__", None)
        if inspect.isroutine(value) and not isinstance(owner, (NoneType, ModuleType, type)):  # such as a dict's `get`
            return self.of((value.__qualname__, owner))
        if hasattr(value, "__wrapped__"):  # by `functools.lru_cache`
            return self.of(value.__wrapped__)
        if isinstance(value, type) or inspect.isroutine(value):
            return _name(value)
        return _name(type(value)) + self.of({k: v for k, v in getattr(value, "__dict__", {}).items() if _is_data(v)})


def _is_data(value: Any) -> bool:
    if isinstance(value, tuple):
        return all(map(_is_data, value))
    return isinstance(value, (*_SIMPLE, frozenset, BaseModel)) or dataclasses.is_dataclass(value)


def _name(value: Any) -> str:
    return f"{value.__module__}.{value.__qualname__}"


def _values_of(function: FunctionType) -> tuple[object, ...]:
    """The values that a function uses besides its arguments and its module's names."""
    code, cells = function.__code__, []
    for cell in function.__closure__ or ():
        try:
            cells.append(cell.cell_contents)
        except ValueError:  # a variable without a value yet
            cells.append(None)
    values = (cells, function.__defaults__, function.__kwdefaults__)
    if "<" not in function.__qualname__:
        return values
    constants = [value for value in code.co_consts if _is_data(value)]
    return (*values, code.co_firstlineno, code.co_names, constants)
