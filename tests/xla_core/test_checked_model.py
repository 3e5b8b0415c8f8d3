"""Values with types: errors say which field, what was given and what is allowed, in our words."""

from __future__ import annotations

import enum
import json
from collections.abc import Mapping
from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel, Field, field_validator

import xla_core
from xla_core.backend import BackendOptions, CompileOptions
from xla_core.checked_model import CheckedModel, allowed_values
from xla_core.errors import InvalidArgumentError
from xla_core.target import DeviceDescription, MemorySpace, TargetConfig


class Speed(enum.Enum):
    SLOW = "slow"
    FAST = "fast"


class ChipOptions(BackendOptions):
    lanes: int = Field(default=4, ge=1)
    code: str = Field(default="ab", pattern="^[a-z]+$")
    even: int = 0

    @field_validator("even")
    @classmethod
    def _is_even(cls, value: int) -> int:
        if value % 2:
            raise ValueError("it is odd")
        return value


class Strict(CheckedModel):
    size: int


@pytest.mark.parametrize(
    ("annotation", "metadata", "said"),
    [
        (int, [], "an integer"),
        (int, Field(ge=0, le=2).metadata, "an integer from 0 to 2"),
        (int | None, Field(ge=1).metadata, "an integer of at least 1 or None"),
        (float, Field(gt=0, lt=1).metadata, "a number above 0 and below 1"),
        (Annotated[int, *Field(le=3).metadata], [], "an integer of at most 3"),
        (bool, [], "true or false"),
        (Literal["none", "host"], [], "'none' or 'host'"),
        (Speed, [], "'slow' or 'fast'"),
        (tuple[int, ...] | None, [], "a tuple of integers or None"),
        (tuple[tuple[int, ...], ...], [], "a tuple of tuples of integers"),
        (tuple[int, str], [], "a tuple (an integer, text)"),
        (frozenset[str], [], "a set of texts"),
        (list[MemorySpace], [], "a list of MemorySpaces"),
        (Mapping[str, float], [], "a mapping of texts to numbers"),
        (DeviceDescription, [], "a DeviceDescription"),
        (Any, [], "anything"),
    ],
)
def test_what_a_field_allows(annotation: Any, metadata: list[Any], said: str) -> None:
    assert allowed_values(annotation, metadata) == said


@pytest.mark.parametrize(
    ("model", "values", "said"),
    [
        (
            CompileOptions,
            {"num_replicas": 0},
            "CompileOptions.num_replicas must be an integer of at least 1 or None, not 0",
        ),
        (CompileOptions, {"num_replicas": "x"}, "an integer of at least 1 or None, not 'x'"),
        (CompileOptions, {"optimization_level": 7}, "optimization_level must be an integer from 0 to 2, not 7"),
        (CompileOptions, {"fallback": "hst"}, "CompileOptions.fallback must be 'none' or 'host', not 'hst'"),
        (CompileOptions, {"donate": (1.5,)}, "donate must be a tuple of integers or None, not (1.5,)"),
        (CompileOptions, {"dump_to": 3}, "CompileOptions.dump_to must be text or None, not 3"),
        (
            CompileOptions,
            {"device_assignment": ((0,), (1, 2))},
            "CompileOptions: device_assignment must have one row a replica, all of the same length",
        ),
        (CompileOptions, {"opt_level": 3}, "CompileOptions has no field 'opt_level'"),
        (ChipOptions, {"lanes": -1}, "ChipOptions.lanes must be an integer of at least 1, not -1"),
        (ChipOptions, {"even": 3}, "ChipOptions.even must not be 3: it is odd"),
        (ChipOptions, {"code": "A"}, "ChipOptions.code must not be 'A': "),
        (Strict, {}, "Strict.size must be given: an integer"),
        (MemorySpace, {"number": -1, "name": "x"}, "MemorySpace.number must be an integer of at least 0, not -1"),
        (TargetConfig, {"name": "x", "device": 3}, "TargetConfig.device must be a DeviceDescription, not 3"),
        (TargetConfig, {"name": "x", "device": {"name": 3}}, "DeviceDescription.name must be text, not 3"),
    ],
)
def test_wrong_values(model: type[CheckedModel], values: dict[str, Any], said: str) -> None:
    for make in (lambda: model(**values), lambda: model.model_validate(values)):
        with pytest.raises(InvalidArgumentError) as caught:
            make()
        assert said in caught.value.message
    assert "Input should" not in caught.value.message


def test_long_values_are_cut() -> None:
    with pytest.raises(InvalidArgumentError, match=r"not 'x+\.\.\.x+'$") as caught:
        CompileOptions(donate="x" * 10_000)
    assert len(caught.value.message) < 200


@pytest.mark.parametrize(
    ("model", "name", "hint"),
    [
        (CompileOptions, "opt_level", "did you mean optimization_level?"),
        (ChipOptions, "lane", "did you mean lanes?"),
        (ChipOptions, "optimisation_level", "did you mean CompileOptions.optimization_level?"),
        (ChipOptions, "zzz", "the fields are: lanes, code, even; those of CompileOptions: num_replicas, "),
        (Strict, "zzz", "the fields are: size"),
    ],
)
def test_unknown_names(model: type[CheckedModel], name: str, hint: str) -> None:
    with pytest.raises(InvalidArgumentError, match=f"{model.__name__} has no field '{name}'") as caught:
        model(**{name: 1})
    assert str(caught.value.hint).startswith(hint)


def test_every_error_of_every_field_of_the_core_is_said() -> None:
    """A value of no type at all is wrong for each: what is allowed has no name of Python's in it."""
    models = [m for m in _subclasses(CheckedModel) if m.__module__.startswith("xla_core.")]
    assert CompileOptions in models
    for model in models:
        for name, field in model.model_fields.items():
            said = allowed_values(field.annotation, field.metadata)
            assert not any(word in said for word in ("typing", "Optional", "[", "NoneType")), (model, name, said)


def _subclasses(model: type[BaseModel]) -> list[type[BaseModel]]:
    return [below for direct in model.__subclasses__() for below in (direct, *_subclasses(direct))]


def test_read_back_from_json() -> None:
    options = xla_core.CompileOptions(donate=(1, 2), num_replicas=3)
    assert CompileOptions.model_validate(json.loads(options.model_dump_json())) == options
