"""Makes backend packages from scaffolds, for `xla new`. A backend provides scaffolds through entry points."""

from __future__ import annotations

import dataclasses
import importlib
import importlib.metadata
import importlib.resources
import re
from importlib.resources.abc import Traversable
from pathlib import Path
from string import Template

from xla_core.errors import AlreadyExistsError, InvalidArgumentError, NotFoundError, XlaError

SCAFFOLDS_GROUP = "xla_core.scaffolds"
"""Entry points of this group refer to a `Scaffold`. Their name is the scenario's number, then "-grid" for
grids of threads, then "-c" for a driver in C."""

SUFFIX = ".tmpl"
PACKAGE_DIRECTORY = "package"
SHARED = "scaffold_files"


@dataclasses.dataclass(frozen=True, slots=True)
class Scaffold:
    """One kind of backend package.

    Attributes:
        description: one line: what the vendor has.
        package: import name of the package that holds the templates; also what `--copy` copies.
        templates: directories in it, each with `common`, `subclass` or both. The files in `common` go into every new
            package, those in `subclass` into a package that subclasses `package`. Files are string.Template texts;
            ".tmpl" is cut off their names, and a directory named "package" becomes the new package. Variables: name,
            class_name, module (import name), distribution, dependencies, base (import name of what it subclasses).
        distribution: that `package` comes from; a package that subclasses it depends on it.
        copy_dependencies: what a copy depends on instead, as requirements.
        copy_into: where the copy goes in the new package, which then subclasses it; "" makes the copy the package.
        renames: (regular expression, template of its replacement) for the sources of a copy, in order.
        build: the end of pyproject.toml, as TOML, for a package that is more than Python.
    """

    description: str
    package: str
    templates: tuple[str, ...]
    distribution: str
    copy_dependencies: tuple[str, ...] = ()
    copy_into: str = ""
    renames: tuple[tuple[str, str], ...] = ()
    build: str = ""


def load_scaffold(scenario: int, kind: str = "loop", driver: str = "") -> Scaffold:
    """The scaffold of a scenario, a kind of kernels ("loop" or "grid") and a driver's language ("c", or "" for none).

    Raises InvalidArgumentError if a scenario has no such choice, NotFoundError if no installed distribution provides
    the scaffold.
    """
    if kind != "loop" and scenario != 2:
        raise InvalidArgumentError(
            f"scenario {scenario} has no kind of kernels to choose",
            hint="--kind goes with --scenario 2: a device with an LLVM target",
        )
    if driver and scenario != 3:
        raise InvalidArgumentError(
            f"scenario {scenario} has no driver to make",
            hint="--driver goes with --scenario 3: a device without LLVM",
        )
    name = "-".join([str(scenario), *([] if kind == "loop" else [kind]), *([driver] if driver else [])])
    points = importlib.metadata.entry_points(group=SCAFFOLDS_GROUP)
    for point in points:
        if point.name == name:
            loaded = point.load()
            if not isinstance(loaded, Scaffold):
                raise InvalidArgumentError(f"{point.value} is not a Scaffold")
            return loaded
    have = ", ".join(sorted({p.name for p in points})) or "none"
    raise NotFoundError(
        f"no installed distribution provides a scaffold for scenario {name}; installed: {have}",
        hint="install the backend that it subclasses; in a clone, one of ./backends",
    )


def create(scaffold: Scaffold, name: str, directory: Path, *, copy: bool = False) -> Path:
    """Writes the package `xla-backend-NAME` into `directory`; returns where.

    Raises InvalidArgumentError for a name that can't be a platform's, AlreadyExistsError where it is there already,
    or a backend of that name is installed.
    """
    if not re.fullmatch(r"[a-z][a-z0-9_]*", name):
        raise InvalidArgumentError(
            f"{name!r} is not a valid platform name",
            hint="use lower-case letters, digits and _, beginning with a letter",
        )
    from xla_core.backend import backends

    if name in backends():
        raise AlreadyExistsError(
            f"a backend named {name!r} is already installed, and the new package would replace it",
            hint="choose another name, or uninstall that one",
        )
    root = directory / f"xla-backend-{name.replace('_', '-')}"
    if root.exists():
        raise AlreadyExistsError(f"{root} already exists", hint="choose another name, or remove it")
    class_name = "".join(part.capitalize() for part in name.split("_"))
    variables = {
        "name": name,
        "class_name": class_name,
        "module": f"xla_backend_{name}",
        "distribution": root.name,
        "base": f"xla_backend_{name}.{scaffold.copy_into}" if copy else scaffold.package,
        "build": scaffold.build,
        "dependencies": "".join(f', "{d}"' for d in (scaffold.copy_dependencies if copy else (scaffold.distribution,))),
    }
    package = importlib.resources.files(importlib.import_module(scaffold.package))
    _render(importlib.resources.files("xla_core.cli").joinpath(SHARED), root, variables)
    parts = ["common"]
    if copy:
        renames = [(re.compile(old), Template(new).substitute(variables)) for old, new in scaffold.renames]
        target = root / variables["module"] / scaffold.copy_into
        _copy(package, target, renames, skip=scaffold.templates[0].split("/")[0])
    if not copy or scaffold.copy_into:
        parts.append("subclass")
    for templates in scaffold.templates:
        for part in parts:
            source = package.joinpath(templates, part)
            if source.is_dir():
                _render(source, root, variables)
    return root


def _render(source: Traversable, target: Path, variables: dict[str, str]) -> None:
    target.mkdir(parents=True, exist_ok=True)
    for item in source.iterdir():
        if item.name == "__pycache__":
            continue
        if item.is_dir():
            name = variables["module"] if item.name == PACKAGE_DIRECTORY else item.name
            _render(item, target / name, variables)
            continue
        try:
            text = Template(item.read_text()).substitute(variables)
        except (KeyError, ValueError) as error:
            raise XlaError(f"the template {item} is wrong: {error}") from error
        (target / item.name.removesuffix(SUFFIX)).write_text(text)


def _copy(source: Traversable, target: Path, renames: list[tuple[re.Pattern[str], str]], skip: str = "") -> None:
    """The sources of a package, renamed; without its directory `skip`."""
    target.mkdir(parents=True)
    for item in source.iterdir():
        if item.name in ("__pycache__", skip):
            continue
        if item.is_dir():
            _copy(item, target / item.name, renames)
        elif item.name.endswith(".py"):
            text = item.read_text()
            for old, new in renames:
                text = old.sub(new, text)
            (target / item.name).write_text(text)
        else:
            (target / item.name).write_bytes(item.read_bytes())
