"""Finds backends by entry points.

Each is loaded and checked on its own, so that one's failure doesn't affect others.
"""

from __future__ import annotations

import dataclasses
import difflib
import importlib.metadata
import inspect
import traceback
from functools import cache

import pluggy
from pydantic import BaseModel

from xla_core import config
from xla_core.backend import version
from xla_core.backend.hooks import ENTRY_POINT_GROUP, PROJECT, Availability, BackendHooks, BackendSpec
from xla_core.checks import require
from xla_core.compile_options import BackendOptions
from xla_core.errors import (
    AlreadyExistsError,
    FailedPreconditionError,
    InvalidArgumentError,
    NotFoundError,
    UnavailableError,
    UnimplementedError,
    XlaError,
)
from xla_core.interruptible import run_uninterrupted

INSTALL_HINT = f"pip install a backend: a distribution with an entry point of the group {ENTRY_POINT_GROUP}"
"""The hint where no backend is installed."""


@dataclasses.dataclass(frozen=True, slots=True)
class BackendInfo:
    """The row of one backend name in `xla backends` and `xla doctor`.

    Attributes:
        distributions: "name version" of each distribution that claims the name; more than one is an error.
        spec: the backend's spec; None where it didn't load.
        error: the reason why it didn't load; `details` holds the traceback of the exception in the backend, if any.
        availability: the result of its probe; None where it didn't load.
    """

    name: str
    distributions: tuple[str, ...]
    entry_point: str
    spec: BackendSpec | None = None
    availability: Availability | None = None
    error: XlaError | None = None
    details: str = ""

    @property
    def usable(self) -> bool:
        return self.availability is not None and self.availability.available

    def rank(self) -> tuple[int, str]:
        """A key that sorts the default backend first."""
        return (-self.spec.priority if self.spec is not None else 0, self.name)

    @property
    def cause(self) -> str:
        """The reason why the backend can't be used, or ""."""
        if self.error is not None:
            return self.error.message
        return self.availability.cause if self.availability is not None else ""

    @property
    def declines(self) -> bool:
        """Whether the backend reports that it can't be used, instead of failing to load."""
        kinds = (UnavailableError, UnimplementedError)
        return isinstance(self.error, kinds) or (self.error is not None and isinstance(self.error.__cause__, kinds))


def backends() -> tuple[str, ...]:
    """Returns the sorted platform names of the installed backends. It reads entry points and imports nothing."""
    return tuple(sorted({point.name for point in _entry_points()}))


def load_backend(name: str) -> BackendSpec:
    """Imports and checks one backend. The result is cached for the process.

    An error's `__cause__` is the exception that caused it.

    Raises:
        NotFoundError: where no distribution has a backend of this name.
        AlreadyExistsError: where several distributions do.
        FailedPreconditionError: where the backend fails on import, calls the core wrongly there, implements another
            version of the contract, or lacks methods, all of which the error lists.
        UnavailableError: where the backend's hook says that it can't be used, by another XlaError.
    """
    require("name", name, str, "a backend's")
    points = [point for point in _entry_points() if point.name == name]
    if not points:
        installed = backends()
        have = f"installed: {', '.join(installed)}" if installed else "no backend is installed"
        misnamed = [misnaming(*each) for each in misnamed_entry_points() if each[0] == name]
        raise NotFoundError(
            f"there is no backend named {name!r}; {have}",
            hint="; ".join(misnamed) or ("use one of these names" if installed else INSTALL_HINT),
        )
    if len(points) > 1:
        owners = " and ".join(sorted(_distribution(point) for point in points))
        raise AlreadyExistsError(f"{owners} both bring a backend named {name!r}", hint="uninstall one of them")
    return _load(points[0])


def inspect_backends() -> list[BackendInfo]:
    """Loads and probes every installed backend. A failure in one doesn't affect the others."""
    return [inspect_backend(name) for name in backends()]


def misnamed_entry_points() -> list[tuple[str, str, str]]:
    """Returns entry points whose group is almost the backends' one: the name, the group and the distribution."""
    every = importlib.metadata.entry_points()
    groups = difflib.get_close_matches(ENTRY_POINT_GROUP, every.groups, n=len(every.groups) or 1, cutoff=0.8)
    return [(p.name, g, _distribution(p)) for g in groups if g != ENTRY_POINT_GROUP for p in every.select(group=g)]


def misnaming(name: str, group: str, distribution: str) -> str:
    """Returns the sentence about an entry point whose group is almost the backends' one."""
    return f"{distribution} puts the entry point {name!r} into the group {group!r}: did you mean {ENTRY_POINT_GROUP!r}?"


def clear_cache() -> None:
    """Forgets which backends are installed and loaded: for tests, and after an installation in the same process."""
    _installed.cache_clear()
    _load.cache_clear()


def unavailable_error(name: str, availability: Availability) -> UnavailableError:
    """Makes the error that says why the backend can't be used, with the hints of the requirements that aren't met."""
    hints = [r.hint for r in availability.requirements if not r.met and r.hint]
    return UnavailableError(
        f"backend {name!r} cannot be used: {availability.cause or 'its probe gives no cause'}",
        hint="; ".join(hints) or "run `xla doctor`",
    )


def probe(name: str, spec: BackendSpec) -> Availability:
    """Runs the spec's probe. If it raises, the backend is unavailable, with the exception as the cause."""
    try:
        answer: object = spec.probe()
    except (Exception, SystemExit) as error:
        return Availability(False, f"the probe of {name!r} failed with {type(error).__name__}: {error}")
    if not isinstance(answer, Availability):
        return Availability(False, f"the probe of {name!r} must return an Availability, not {answer!r}")
    return answer


def _register_all_flags() -> None:
    """Registers the flags of every installed backend, so that XLA_CORE_FLAGS may hold flags of an unused one."""
    for name in backends():
        try:
            load_backend(name)
        except XlaError:  # its flags are unknown, which must not affect users of other backends
            continue


config.find_flags_with(_register_all_flags)


@cache
def _installed() -> tuple[importlib.metadata.EntryPoint, ...]:
    """Returns one entry point for each distribution and name, since an editable distribution may be found twice.

    The result is cached, because each search reads the metadata of every installed distribution.
    """
    unique: dict[tuple[str, str], importlib.metadata.EntryPoint] = {}
    for point in importlib.metadata.entry_points(group=ENTRY_POINT_GROUP):
        unique.setdefault((point.name, _distribution(point)), point)
    return tuple(unique.values())


def _entry_points() -> tuple[importlib.metadata.EntryPoint, ...]:
    return _installed()


def _distribution(point: importlib.metadata.EntryPoint) -> str:
    dist = point.dist
    return f"{dist.metadata['Name']} {dist.version}" if dist is not None else point.value


def describe_backend(name: str) -> BackendInfo:
    """Returns what the entry points say of an installed backend, which is not loaded."""
    points = [point for point in _entry_points() if point.name == name]
    return BackendInfo(name, tuple(sorted(_distribution(point) for point in points)), points[0].value)


def inspect_backend(name: str) -> BackendInfo:
    """Loads and probes an installed backend."""
    info = describe_backend(name)
    try:
        spec = load_backend(name)
    except XlaError as error:
        cause = error.__cause__  # without a cause, the message is complete
        details = "" if cause is None else "".join(traceback.format_exception(type(cause), cause, cause.__traceback__))
        return dataclasses.replace(info, error=error, details=details)
    return dataclasses.replace(info, spec=spec, availability=probe(name, spec))


@cache
def _load(point: importlib.metadata.EntryPoint) -> BackendSpec:
    owner = _distribution(point)
    if not point.pattern.match(point.value):
        raise FailedPreconditionError(
            f"backend {point.name!r} of {owner} does not load: its entry point {point.value!r} names no module",
            hint='write it as "package.module" or "package.module:object", and reinstall the distribution',
        )

    def describe() -> object:
        plugin = point.load()
        manager = pluggy.PluginManager(PROJECT)
        manager.add_hookspecs(BackendHooks)
        manager.register(plugin, name=point.name)
        manager.check_pending()
        return manager.hook.xla_backend()

    try:
        spec = run_uninterrupted(describe, f"load {point.name}")
    except InvalidArgumentError as error:  # the backend's own code calls the core wrongly
        raise FailedPreconditionError(
            f"backend {point.name!r} of {owner} does not load: {error.message}", hint=error.hint
        ) from error
    except XlaError as error:
        raise UnavailableError(
            f"backend {point.name!r} of {owner} cannot be used: {error.message}", hint=error.hint
        ) from error
    except (Exception, SystemExit) as error:  # a plugin may raise any exception, which must not affect other plugins
        raise FailedPreconditionError(
            f"backend {point.name!r} of {owner} does not load: {type(error).__name__}: {error}",
            hint="`xla doctor` shows the whole cause; reinstall or uninstall the distribution",
        ) from error
    try:
        checked = _checked(point.name, owner, spec)
        if checked.flags is not None:
            config.register_flags(point.name, checked.flags)
    except XlaError:
        raise
    except Exception as error:  # a spec's fields may have any type
        raise FailedPreconditionError(
            f"the spec of backend {point.name!r} of {owner} is wrong: {type(error).__name__}: {error}",
            hint="xla_core/backend/hooks.py says what each field of BackendSpec holds",
        ) from error
    return checked


def _checked(name: str, owner: str, spec: object) -> BackendSpec:
    if spec is None:
        raise FailedPreconditionError(
            f"backend {name!r} of {owner}: its entry point implements no `xla_backend` hook",
            hint="name a module that has a function xla_backend marked by xla_core.backend.hookimpl",
        )
    if not isinstance(spec, BackendSpec):
        raise FailedPreconditionError(f"backend {name!r} of {owner}: xla_backend() gave {spec!r}, not a BackendSpec")
    wrong = _wrong_fields(spec)
    if wrong:
        raise FailedPreconditionError(
            f"the spec of backend {name!r} of {owner} is wrong: " + "; ".join(wrong),
            hint="xla_core/backend/hooks.py says what each field of BackendSpec holds",
        )
    if not version.accepts(spec.contract_versions):
        theirs = ", ".join(version.version_text(v) for v in spec.contract_versions) or "none"
        raise FailedPreconditionError(
            f"backend {name!r} of {owner} speaks contract version {theirs}, "
            f"this xla-core speaks {version.version_text()}",
            hint="install versions of both that go together",
        )
    problems = []
    hint = "implement these methods; xla_core/backend documents each"
    for field, (cls, base) in spec.classes().items():
        if not (inspect.isclass(cls) and issubclass(cls, base)):
            problems.append(f"{field}: {cls!r} is not a subclass of {base.__name__}")
            hint = "name a subclass of the contract's class, or of another backend's"
            continue
        missing = sorted(getattr(cls, "__abstractmethods__", ()))
        if missing:
            problems.append(f"{cls.__name__} ({base.__name__}) lacks {', '.join(missing)}")
    if problems:
        raise FailedPreconditionError(
            f"backend {name!r} of {owner} is incomplete: " + "; ".join(problems),
            hint=hint,
        )
    return spec


def _wrong_fields(spec: BackendSpec) -> list[str]:
    """Returns what is wrong with fields of the spec that aren't classes, since a dataclass accepts any value."""
    wrong = []
    versions: object = spec.contract_versions
    if not isinstance(versions, (tuple, list)) or not all(_is_version(v) for v in versions):
        wrong.append(f"contract_versions must be pairs of integers, as in ((1, 0),), not {versions!r}")
    for field, kind in (("version", str), ("description", str), ("priority", int)):
        value = getattr(spec, field)
        if not isinstance(value, kind):
            wrong.append(f"{field} must be of type {kind.__name__}, not {value!r}")
    if not callable(spec.probe):
        wrong.append(f"probe must be a function, not {spec.probe!r}")
    for field, base in (("options", BackendOptions), ("flags", BaseModel)):
        value = getattr(spec, field)
        if value is not None and not (inspect.isclass(value) and issubclass(value, base)):
            wrong.append(f"{field} must be a subclass of {base.__name__}, not {value!r}")
    return wrong


def _is_version(value: object) -> bool:
    return isinstance(value, (tuple, list)) and len(value) == 2 and all(isinstance(n, int) for n in value)
