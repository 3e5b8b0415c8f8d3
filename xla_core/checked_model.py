"""CheckedModel: pydantic models whose errors name the field, the given value and the allowed values."""

from __future__ import annotations

import difflib
import enum
import functools
import operator
import reprlib
import types
import typing
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from xla_core.checks import did_you_mean
from xla_core.errors import InvalidArgumentError


class CheckedModel(BaseModel):
    """A frozen pydantic model without extra fields. A wrong value raises InvalidArgumentError."""

    model_config = ConfigDict(frozen=True, extra="forbid", arbitrary_types_allowed=True, defer_build=True)

    def __init__(self, /, **values: Any) -> None:
        try:
            super().__init__(**values)
        except ValidationError as error:
            cls = type(self)
            raise wrong_value(error, cls, values, lambda name: f"{cls.__name__}.{name}") from error

    @classmethod
    def _beside(cls) -> type[BaseModel] | None:
        """Returns another model whose fields users might write here by mistake; errors suggest them."""
        return None


def wrong_value(
    error: ValidationError, model: type[BaseModel], values: Mapping[str, Any], label: Callable[[str], str]
) -> InvalidArgumentError:
    """Converts the first problem that pydantic found in `values` to an InvalidArgumentError.

    Args:
        error: pydantic's error.
        model: the model that refused the values.
        values: the values by field name.
        label: returns what the message calls a field.
    """
    # An unknown name is reported before the missing field that it was probably meant for.
    first = min(error.errors(include_url=False), key=lambda problem: problem["type"] != "extra_forbidden")
    own = first.get("ctx", {}).get("error")  # raised by a validator of the model
    if not first["loc"]:
        return InvalidArgumentError(f"{model.__name__}: {own or first['msg']}")
    name = str(first["loc"][0])
    if name not in model.model_fields:
        return InvalidArgumentError(f"{model.__name__} has no field {name!r}", hint=_meant(name, model))
    field = model.model_fields[name]
    allowed = allowed_values(field.annotation, field.metadata)
    if first["type"] == "missing":
        return InvalidArgumentError(f"{label(name)} must be given: {allowed}")
    given = reprlib.repr(values.get(name, first["input"]))
    if own is not None or first["type"] not in _OF_TYPE_AND_RANGE:
        return InvalidArgumentError(f"{label(name)} must not be {given}: {own or first['msg']}")
    inner = reprlib.repr(first["input"])
    part = "" if inner == given else f", because of {inner}"
    hint = None
    if isinstance(first["input"], str):
        known = _enum_values(field.annotation)
        whole = first["input"] in known and first["type"] in _OF_CONTAINER
        hint = f"write {{{first['input']!r}}}" if whole else did_you_mean(first["input"], known, 1)
    return InvalidArgumentError(f"{label(name)} must be {allowed}, not {given}{part}", hint=hint)


def _meant(name: str, model: type[BaseModel]) -> str:
    """Returns a hint about what an unknown field name was meant for."""
    listed = f"the fields are: {', '.join(model.model_fields) or 'none'}"
    names = {field: field for field in model.model_fields}
    other = model._beside() if issubclass(model, CheckedModel) else None
    if other is not None:
        listed += f"; those of {other.__name__}: {', '.join(other.model_fields)}"
        names = {**{field: f"{other.__name__}.{field}" for field in other.model_fields}, **names}
    near = difflib.get_close_matches(name, names, 1)
    return f"did you mean {names[near[0]]}?" if near else listed


# -- what a field allows ---------------------------------------------------------------------------------------------


_NOUNS: dict[Any, tuple[str, str]] = {
    int: ("an integer", "integers"),
    float: ("a number", "numbers"),
    bool: ("true or false", "booleans"),
    str: ("text", "texts"),
    bytes: ("bytes", "bytes"),
    type(None): ("None", "None"),
    Any: ("anything", "anything"),
}
_MOST_LISTED = 12  # members of an enum
_CONTAINERS = {tuple: "tuple", list: "list", set: "set", frozenset: "set"}
_LIMITS = {"ge": "of at least {}", "gt": "above {}", "le": "of at most {}", "lt": "below {}"}
_OF_TYPE_AND_RANGE = frozenset(
    {f"{kind}_type" for kind in ("int", "float", "bool", "string", "bytes", "tuple", "list", "set", "frozen_set")}
    | {f"{kind}_parsing" for kind in ("int", "float", "bool")}
    | {"int_from_float", "finite_number", "dict_type", "mapping_type", "model_type", "literal_error", "enum"}
    | {"is_instance_of", "none_required", "greater_than", "greater_than_equal", "less_than", "less_than_equal"}
)

_OF_CONTAINER = frozenset({"set_type", "frozen_set_type"})


def allowed_values(annotation: Any, metadata: Iterable[Any] = ()) -> str:
    """Describes a field's type and range: `an integer from 0 to 2`, `'none' or 'host'`, `a tuple of integers`."""
    if isinstance(annotation, types.UnionType) and annotation.__args__[-1] is type(None):
        rest = annotation.__args__[:-1]
        return f"{allowed_values(functools.reduce(operator.or_, rest), metadata)} or None"
    limits = {
        name: getattr(item, name) for item in metadata for name in _LIMITS if getattr(item, name, None) is not None
    }
    noun = _nouns(annotation)[0]
    if limits.keys() == {"ge", "le"}:
        return f"{noun} from {limits['ge']} to {limits['le']}"
    return " ".join([noun, " and ".join(_LIMITS[name].format(limit) for name, limit in limits.items())]).rstrip()


def _nouns(annotation: Any) -> tuple[str, str]:
    """Returns the singular and the plural noun for values of a type."""
    if annotation in _NOUNS:
        return _NOUNS[annotation]
    origin, parts = typing.get_origin(annotation), typing.get_args(annotation)
    if origin is typing.Annotated:
        return (allowed_values(parts[0], parts[1:]), _nouns(parts[0])[1])
    if origin in (typing.Union, types.UnionType):
        return _either(_nouns(part) for part in parts)
    if origin is typing.Literal:
        return _either((repr(part), repr(part)) for part in parts)
    if origin in _CONTAINERS:
        kind = _CONTAINERS[origin]
        if origin is tuple and Ellipsis not in parts:
            inside = ", ".join(_nouns(part)[0] for part in parts)
            return f"a tuple ({inside})", f"tuples ({inside})"
        return f"a {kind} of {_nouns(parts[0])[1]}", f"{kind}s of {_nouns(parts[0])[1]}"
    if isinstance(origin, type) and issubclass(origin, Mapping):
        inside = " to ".join(_nouns(part)[1] for part in parts)
        return f"a mapping of {inside}", f"mappings of {inside}"
    if isinstance(annotation, type) and issubclass(annotation, enum.Enum) and len(annotation) <= _MOST_LISTED:
        return _either((repr(member.value), repr(member.value)) for member in annotation)
    name = getattr(annotation, "__name__", str(annotation))
    return f"{'an' if name[:1] in 'AEIOU' else 'a'} {name}", f"{name}s"


def _enum_values(annotation: Any) -> list[str]:
    """The values of the enums within a type."""
    if isinstance(annotation, type) and issubclass(annotation, enum.Enum):
        return [str(member.value) for member in annotation]
    return [value for part in typing.get_args(annotation) for value in _enum_values(part)]


def _either(nouns: Iterable[tuple[str, str]]) -> tuple[str, str]:
    one, many = zip(*nouns, strict=True)
    return " or ".join(one), " or ".join(many)
