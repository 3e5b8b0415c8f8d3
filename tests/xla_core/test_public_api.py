"""A change of a public signature is a decision, which public_api.txt records.

    python tests/xla_core/test_public_api.py

writes it anew; its difference is what a commit changes for those who build on us.
"""

from __future__ import annotations

import dataclasses
import difflib
import enum
import importlib
import inspect
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

SNAPSHOT = Path(__file__).with_name("public_api.txt")
PACKAGES = (
    "xla_core",
    "xla_core.errors",
    "xla_core.config",
    "xla_core.profiler",
    "xla_core.hlo",
    "xla_core.ffi",
    "xla_core.lapack",
    "xla_core.stablehlo",
    "xla_core.target",
    "xla_core.analysis",
    "xla_core.passes",
    "xla_core.codegen",
    "xla_core.codegen.llvm",
    "xla_core.codegen.c",
    "xla_core.schedule",
    "xla_core.backend",
    "xla_core.runtime",
    "xla_core.pjrt",
    "xla_core.cli",
)


def describe(package: str) -> Iterator[str]:
    """A package's public names and what they take, a line each; members of classes are indented."""
    module = importlib.import_module(package)
    yield f"# {package}"
    for name in sorted(module.__all__):
        yield from _described(package, name, getattr(module, name))
    yield ""


def _described(package: str, name: str, value: Any) -> Iterator[str]:
    home = _home(value)
    if home is not None and home != package:
        yield f"{name}: as of {home}"
    elif value is Any:
        yield f"{name}: Any"
    elif inspect.isclass(value):
        yield from _class(name, value)
    elif inspect.isroutine(value):
        yield f"def {name}{_signature(value)}"
    else:
        yield f"{name}: {type(value).__name__}"


def _home(value: Any) -> str | None:
    """The first package that has a class or function in its `__all__`, the root apart."""
    if not (inspect.isclass(value) or inspect.isroutine(value)):
        return None
    for package in PACKAGES[1:]:
        module = importlib.import_module(package)
        if any(getattr(module, name, None) is value for name in module.__all__):
            return package
    return None


def _class(name: str, cls: type) -> Iterator[str]:
    bases = ", ".join(b.__name__ for b in cls.__bases__ if b is not object)
    yield f"class {name}({bases})" if bases else f"class {name}"
    if issubclass(cls, enum.Enum):
        yield "    " + " ".join(member.name for member in cls)
    elif issubclass(cls, BaseModel):
        yield from (f"    {n}: {a}{_default(cls, n)}" for n, a in _annotations(cls) if n in cls.model_fields)
    elif dataclasses.is_dataclass(cls):
        fields = {f.name: f for f in dataclasses.fields(cls) if f.init}
        yield from (f"    {n}: {a}{_field(fields[n])}" for n, a in _annotations(cls) if n in fields and _public(n))
    else:
        yield from (f"    {n}: {a}" for n, a in _annotations(cls) if _public(n))
    for member, value in sorted(vars(cls).items()):
        if member != "__call__" and (member != "__init__" or dataclasses.is_dataclass(cls)) and not _public(member):
            continue
        yield from _member(member, value)


def _member(name: str, value: Any) -> Iterator[str]:
    if isinstance(value, property) or type(value).__name__ == "cached_property":
        function = value.fget if isinstance(value, property) else value.func
        yield f"    {name}{_abstract(function)}: {inspect.get_annotations(function).get('return', 'Any')}"
    elif isinstance(value, staticmethod | classmethod):
        yield f"    {type(value).__name__} {name}{_signature(value.__func__)}"
    elif inspect.isfunction(value) and value.__module__ != "typing":
        yield f"    def {name}{_signature(value)}{_abstract(value)}"


def _public(name: str) -> bool:
    return not name.startswith("_")


def _abstract(function: Any) -> str:
    return " (abstract)" if getattr(function, "__isabstractmethod__", False) else ""


def _annotations(cls: type) -> list[tuple[str, str]]:
    """Of a NamedTuple they are ForwardRefs."""
    return [(n, str(getattr(a, "__forward_arg__", a))) for n, a in inspect.get_annotations(cls).items()]


def _field(field: dataclasses.Field[Any]) -> str:
    return "" if field.default is field.default_factory is dataclasses.MISSING else " = ..."


def _default(cls: type[BaseModel], name: str) -> str:
    return "" if cls.model_fields[name].is_required() else " = ..."


def _signature(function: Callable[..., Any]) -> str:
    """As `inspect.signature` writes it; of a default only that there is one, where it isn't a plain constant."""
    signature = inspect.signature(function)
    parameters = [
        p.replace(annotation=_written(p.annotation), default=_default_value(p.default))
        for p in signature.parameters.values()
    ]
    return str(signature.replace(parameters=parameters, return_annotation=_written(signature.return_annotation)))


class _Text:
    """Prints as it stands, without quotes."""

    def __init__(self, text: str) -> None:
        self.text = text

    def __repr__(self) -> str:
        return self.text


def _written(annotation: Any) -> Any:
    return _Text(annotation) if isinstance(annotation, str) else annotation


def _default_value(value: Any) -> Any:
    if isinstance(value, enum.Enum):
        return _Text(f"{type(value).__name__}.{value.name}")
    plain = (int, float, str, bytes, bool, type(None), type(inspect.Parameter.empty))
    return value if isinstance(value, plain) or value == () else _Text("...")


def snapshot() -> str:
    """Every package's."""
    return "\n".join(line for package in PACKAGES for line in describe(package)).rstrip()


def test_public_signatures() -> None:
    difference = list(
        difflib.unified_diff(SNAPSHOT.read_text().splitlines(), snapshot().splitlines(), "recorded", "now", "", "", 0)
    )
    if difference:
        text = "\n".join(difference)
        pytest.fail(f"public signatures changed; if that is meant: python tests/xla_core/{Path(__file__).name}\n{text}")


@pytest.mark.parametrize("package", PACKAGES)
def test_names_are_sorted_and_there(package: str) -> None:
    module = importlib.import_module(package)
    assert len(module.__all__) == len(set(module.__all__))
    assert [name for name in module.__all__ if not hasattr(module, name)] == []


def test_everything_public_is_documented() -> None:
    bare = []
    for package in PACKAGES:
        module = importlib.import_module(package)
        for name in module.__all__:
            value = getattr(module, name)
            own = getattr(value, "__module__", "").startswith("xla_core")
            if own and (inspect.isclass(value) or inspect.isfunction(value)) and not inspect.getdoc(value):
                bare.append(f"{package}.{name}")
    assert bare == []


if __name__ == "__main__":
    SNAPSHOT.write_text(snapshot() + "\n")
    sys.stdout.write(f"{SNAPSHOT}\n")
