"""Finding, loading and checking backends. An error of one doesn't affect the others."""

from __future__ import annotations

import sys

import pytest

import xla_core
from xla_core import config
from xla_core.backend import BackendSpec, registry
from xla_core.errors import (
    AlreadyExistsError,
    FailedPreconditionError,
    InvalidArgumentError,
    NotFoundError,
    UnavailableError,
)

GOOD = "from toy_backend import xla_backend\n"
WRONG_SPEC = """
import dataclasses, toy_backend
from toy_backend import hookimpl

@hookimpl
def xla_backend():
    return dataclasses.replace(toy_backend.xla_backend(), {})
"""


def test_names_come_from_entry_points_and_nothing_is_imported(install, toy) -> None:
    install("acme-backend", "acme", "raise SystemExit('imported')")
    assert "acme" in xla_core.backends()
    assert "plugin_acme_backend" not in sys.modules


def test_a_good_backend_loads_once(install, toy) -> None:
    install("good", "good", GOOD)
    spec = registry.load_backend("good")
    assert isinstance(spec, BackendSpec)
    assert registry.load_backend("good") is spec


def test_a_broken_backend_breaks_alone_and_its_cause_is_kept(install, toy) -> None:
    install("good", "good", GOOD)
    install("broken", "broken", "def inner():\n    raise RuntimeError('driver 12 is too old')\n\ninner()\n")
    install("exits", "exits", "from toy_backend import *\n\n@hookimpl\ndef xla_backend():\n    return 1 / 0\n")
    infos = {info.name: info for info in registry.inspect_backends()}
    assert infos["good"].usable
    broken = infos["broken"]
    assert not broken.usable
    assert broken.distributions == ("broken 1.0",)
    assert "driver 12 is too old" in str(broken.error)
    assert "in inner" in broken.details
    assert "ZeroDivisionError" in str(infos["exits"].error)
    with pytest.raises(FailedPreconditionError, match="driver 12 is too old") as caught:
        registry.load_backend("broken")
    assert isinstance(caught.value.__cause__, RuntimeError)


@pytest.mark.parametrize(
    "source",
    ["raise SystemExit(3)\n", "from toy_backend import *\n\n@hookimpl\ndef xla_backend():\n    raise SystemExit(3)\n"],
    ids=["import", "hook"],
)
def test_a_backend_that_exits_breaks_alone(install, toy, source: str) -> None:
    install("good", "good", GOOD)
    install("exits", "exits", source)
    infos = {info.name: info for info in registry.inspect_backends()}
    assert infos["good"].usable
    assert "SystemExit: 3" in infos["exits"].cause
    with pytest.raises(FailedPreconditionError, match="does not load: SystemExit: 3"):
        registry.load_backend("exits")


def test_a_wrong_call_of_the_core_is_no_absent_device(install, toy) -> None:
    """The backend can't be used before its code is mended, so `xla doctor` must not say that all is well."""
    source = "from xla_core.target import Capabilities\n\nCapabilities(scalar_computations={'reduce': {'sum'}})\n"
    install("slip", "slip", source)
    (slip,) = (info for info in registry.inspect_backends() if info.name == "slip")
    assert not slip.declines
    assert "Capabilities(scalar_computations" in slip.details
    with pytest.raises(
        FailedPreconditionError, match=r"does not load: Capabilities.scalar_computations must be a mapping"
    ):
        registry.load_backend("slip")


def test_a_probe_that_exits_is_a_cause(install, toy) -> None:
    source = "from toy_backend import *\ndef probe():\n    raise SystemExit(3)\n@hookimpl\ndef xla_backend():\n"
    install("exits", "exits", source + "    return spec(probe=probe)\n")
    with pytest.raises(UnavailableError, match="failed with SystemExit: 3"):
        xla_core.Client("exits")


def test_two_distributions_with_one_name(install, toy) -> None:
    install("first", "same", GOOD)
    install("second", "same", GOOD, version="2.5")
    with pytest.raises(AlreadyExistsError, match=r"first 1.0 and second 2.5 both .*'same'"):
        registry.load_backend("same")
    info = next(i for i in registry.inspect_backends() if i.name == "same")
    assert set(info.distributions) == {"first 1.0", "second 2.5"}
    assert info.error is not None


def test_a_broken_backend_is_not_passed_over_silently(install, toy, monkeypatch) -> None:
    install("first", "same", GOOD)
    install("second", "same", GOOD)
    install("low", "low", GOOD)
    points = registry._entry_points()
    monkeypatch.setattr(registry, "_entry_points", lambda: [p for p in points if p.name in ("same", "low")])
    monkeypatch.delenv("XLA_PLATFORM", raising=False)
    with pytest.warns(RuntimeWarning, match="run on backend 'low'; .*: same: first 1.0 and second 1.0 both bring"):
        xla_core.Client().close()


@pytest.mark.parametrize("value", ["", "toy_backend::xla_backend"])
def test_a_malformed_entry_point_is_quoted(install, toy, value: str) -> None:
    install("slip", "slip", GOOD, entry_point=value)
    with pytest.raises(FailedPreconditionError, match=f"its entry point '{value}' names no module"):
        registry.load_backend("slip")


def test_all_missing_methods_of_all_classes_are_named(install, toy) -> None:
    source = """
from toy_backend import *
from xla_core.backend import *

class LazyExecutor(StreamExecutor):
    def synchronize(self):
        return None

class LazyCompiler(Compiler):
    pass

class LazyExecutable(Executable):
    pass

class LazyPlatform(ToyPlatform):
    create_compiler = Platform.create_compiler

@hookimpl
def xla_backend():
    return spec(platform=LazyPlatform, compiler=LazyCompiler, executable=LazyExecutable,
                stream_executor=LazyExecutor, transfer_manager=int)
"""
    install("lazy", "lazy", source)
    with pytest.raises(FailedPreconditionError) as caught:
        registry.load_backend("lazy")
    message = str(caught.value)
    for part in (
        "LazyExecutor (StreamExecutor) lacks allocate, create_stream, deallocate, description",
        "LazyCompiler (Compiler) lacks run_backend, target_config",
        "LazyExecutable (Executable) lacks execute_async_on_stream",
        "LazyPlatform (Platform) lacks create_compiler",
        "transfer_manager: <class 'int'> is not a subclass of TransferManager",
    ):
        assert part in message


@pytest.mark.parametrize("versions", ["((2, 0),)", "((1, 99), (0, 9))", "()"])
def test_another_version_of_the_contract_is_one_sentence(install, toy, versions: str) -> None:
    install(
        "other",
        "other",
        f"from toy_backend import *\n@hookimpl\ndef xla_backend():\n    return spec(contract_versions={versions})\n",
    )
    with pytest.raises(
        FailedPreconditionError, match=r"'other' of other 1.0 speaks contract version .*, this xla-core speaks 1\.1"
    ):
        registry.load_backend("other")


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("x = 1\n", "implements no `xla_backend` hook"),
        ("from toy_backend import *\n@hookimpl\ndef xla_backend():\n    return 5\n", "gave 5, not a BackendSpec"),
        ("from toy_backend import *\n@hookimpl\ndef xla_backnd():\n    return 5\n", "unknown hook 'xla_backnd'"),
    ],
)
def test_a_module_that_is_no_backend(install, toy, source: str, message: str) -> None:
    install("wrong", "wrong", source)
    with pytest.raises(FailedPreconditionError, match=message):
        registry.load_backend("wrong")


def test_an_unknown_name_lists_those_there_are(install, toy) -> None:
    install("good", "good", GOOD)
    with pytest.raises(NotFoundError, match=r"no backend named 'goood'; installed: .*good"):
        xla_core.Client("goood")


def test_no_backend_at_all(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "_entry_points", list)
    monkeypatch.delenv("XLA_PLATFORM", raising=False)
    with pytest.raises(NotFoundError, match="no backend is installed"):
        xla_core.Client()
    with pytest.raises(NotFoundError, match="pip install"):
        xla_core.Client("cpu")


UNAVAILABLE = """
from toy_backend import *
from xla_core.backend import *
@hookimpl
def xla_backend():
    need = Requirement("libacme.so", False, "not on the loader's path", "install the acme driver")
    return spec(probe=lambda: Availability.of(need), priority=1000)
"""


def test_a_backend_that_cannot_be_used_says_why_and_the_next_is_taken(install, toy, monkeypatch) -> None:
    monkeypatch.delenv("XLA_PLATFORM", raising=False)
    install("chip", "chip", UNAVAILABLE)
    only = registry._entry_points()
    monkeypatch.setattr(registry, "_entry_points", lambda: [p for p in only if p.name == "chip"])
    with pytest.raises(UnavailableError, match=r"chip: libacme.so: not on the loader's path"):
        xla_core.Client()
    with pytest.raises(UnavailableError, match=r"(?s)libacme.so.*install the acme driver"):
        xla_core.Client("chip")
    monkeypatch.undo()
    monkeypatch.delenv("XLA_PLATFORM", raising=False)


def test_the_default_is_the_highest_priority_that_works(install, toy, monkeypatch) -> None:
    install("chip", "chip", UNAVAILABLE)
    install("low", "low", "from toy_backend import *\n@hookimpl\ndef xla_backend():\n    return spec(priority=1)\n")
    install("high", "high", "from toy_backend import *\n@hookimpl\ndef xla_backend():\n    return spec(priority=2)\n")
    source = (
        "from toy_backend import *\nclass None_(ToyPlatform):\n    def visible_device_count(self):\n        return 0\n"
    )
    source += "@hookimpl\ndef xla_backend():\n    return spec(priority=3, platform=None_)\n"
    install("empty", "empty", source)
    points = registry._entry_points()
    ours = {"chip", "low", "high", "empty"}
    monkeypatch.setattr(registry, "_entry_points", lambda: [p for p in points if p.name in ours])
    monkeypatch.delenv("XLA_PLATFORM", raising=False)
    with xla_core.Client() as client:
        assert client.platform_name == "high"
    monkeypatch.setenv("XLA_PLATFORM", "low")
    with xla_core.Client() as client:
        assert client.platform_name == "low"
    with pytest.raises(UnavailableError, match="finds no device"):
        xla_core.Client("empty")


@pytest.mark.parametrize("fault", ["OSError('bus error')", "SystemExit('bus error')"])
def test_a_backend_whose_device_does_not_open_is_passed_over(install, toy, monkeypatch, fault: str) -> None:
    source = f"""
from toy_backend import *
class Shut(ToyPlatform):
    def create_executor(self, ordinal):
        raise {fault}
@hookimpl
def xla_backend():
    return spec(priority=9, platform=Shut)
"""
    install("shut", "shut", source)
    install("low", "low", "from toy_backend import *\n@hookimpl\ndef xla_backend():\n    return spec(priority=1)\n")
    points = registry._entry_points()
    monkeypatch.setattr(registry, "_entry_points", lambda: [p for p in points if p.name in ("shut", "low")])
    monkeypatch.delenv("XLA_PLATFORM", raising=False)
    with pytest.warns(RuntimeWarning, match=r"run on backend 'low'; .*: shut: backend 'shut' cannot open") as warned:
        client = xla_core.Client()
    assert warned[0].filename == __file__
    with client:
        assert client.platform_name == "low"
    with pytest.raises(UnavailableError, match="bus error"):
        xla_core.Client("shut")
    monkeypatch.setattr(registry, "_entry_points", lambda: [p for p in points if p.name == "shut"])
    with pytest.raises(UnavailableError, match=r"no installed backend can be used: shut: .* cannot open its devices"):
        xla_core.Client()


def test_a_probe_that_raises_is_a_cause(install, toy) -> None:
    install(
        "bad", "bad", "from toy_backend import *\n@hookimpl\ndef xla_backend():\n    return spec(probe=lambda: 1 / 0)\n"
    )
    info = next(i for i in registry.inspect_backends() if i.name == "bad")
    assert info.availability is not None
    assert "ZeroDivisionError" in info.availability.cause


def test_every_public_name_is_there() -> None:
    assert all(getattr(xla_core, name) is not None for name in xla_core.__all__)
    assert set(xla_core.__all__) <= set(dir(xla_core))


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ("contract_versions=(1, 0)", "contract_versions must be pairs of integers"),
        ("contract_versions=None", "contract_versions must be pairs of integers"),
        ("version=1", "version must be of type str, not 1"),
        ("priority='high'", "priority must be of type int, not 'high'"),
        ("probe=3", "probe must be a function, not 3"),
        ("options=dict", "options must be a subclass of BackendOptions"),
        ("flags='--a'", "flags must be a subclass of BaseModel"),
        ("description=None", "description must be of type str, not None"),
    ],
)
def test_a_wrong_spec_breaks_its_backend_alone(install, toy, fields: str, said: str) -> None:
    install("good", "good", GOOD)
    install("wrong", "wrong", WRONG_SPEC.format(fields))
    infos = {info.name: info for info in registry.inspect_backends()}
    assert infos["good"].usable
    assert infos["wrong"].error is not None
    assert said in infos["wrong"].error.message


def test_a_probe_that_gives_something_else_is_a_cause(install, toy) -> None:
    install("wrong", "wrong", WRONG_SPEC.format("probe=lambda: True"))
    info = next(i for i in registry.inspect_backends() if i.name == "wrong")
    assert info.availability is not None
    assert "must return an Availability, not True" in info.availability.cause


def test_flags_of_a_backend_that_is_not_used_are_known(install, toy, monkeypatch) -> None:
    source = """
import dataclasses, toy_backend
from pydantic import BaseModel
from xla_core import config
from toy_backend import hookimpl

class Flags(BaseModel):
    acme_tile: int = 8

config.plugin_flags("acme", Flags)  # while it is looked at, it may ask for its own

@hookimpl
def xla_backend():
    return dataclasses.replace(toy_backend.xla_backend(), flags=Flags)
"""
    install("acme", "acme", source)
    install("broken", "broken", "1 / 0")
    monkeypatch.setenv("XLA_CORE_FLAGS", "--acme_tile=2")
    try:
        assert not config.core_flags().xla_core_verify_passes
        monkeypatch.setenv("XLA_CORE_FLAGS", "--acme_tail=2")
        with pytest.raises(InvalidArgumentError, match="--acme_tail") as caught:
            config.core_flags()
        assert caught.value.hint == "did you mean --acme_tile?"
    finally:
        config.unregister_flags("acme")
