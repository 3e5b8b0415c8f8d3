"""Loading the backend: its description, its classes, its platform."""

from __future__ import annotations

import inspect

from xla_core import Client
from xla_core.backend import (
    CONTRACT_VERSION,
    Availability,
    BackendSpec,
    CompileOptions,
    Compiler,
    Platform,
    backends,
    inspect_backends,
)
from xla_core.hlo import ElementType
from xla_core.target import TargetConfig


def test_entry_point_names_it(backend: str) -> None:
    assert backend in backends()


def test_spec_says_what_it_is(spec: BackendSpec) -> None:
    assert spec.version, "a version stands in serialized executables"
    assert spec.description, "`xla backends` shows one line"
    assert spec.contract_versions


def test_contract_version_is_accepted(spec: BackendSpec) -> None:
    majors = {major for major, _ in spec.contract_versions}
    assert CONTRACT_VERSION[0] in majors, f"it speaks {spec.contract_versions}, the core {CONTRACT_VERSION}"


def test_no_class_lacks_a_method(spec: BackendSpec) -> None:
    classes = [cls for cls, _ in spec.classes().values() if inspect.isabstract(cls)]
    lacking = {cls.__name__: sorted(getattr(cls, "__abstractmethods__", ())) for cls in classes}
    assert not lacking


def test_probe_answers(spec: BackendSpec) -> None:
    answer = spec.probe()
    assert isinstance(answer, Availability)
    assert answer.available, answer.cause
    for requirement in answer.requirements:
        assert requirement.name
        assert requirement.met or requirement.hint, f"{requirement.name} is missing, and nothing says how to get it"


def test_the_core_lists_it_as_usable(backend: str) -> None:
    info = next(info for info in inspect_backends() if info.name == backend)
    assert info.error is None, info.details
    assert info.usable


def test_making_a_platform_opens_no_device(spec: BackendSpec) -> None:
    class Watched(spec.platform):  # type: ignore[name-defined, misc]  # whatever class the backend has
        opened = 0

        def create_executor(self, ordinal: int) -> object:
            Watched.opened += 1
            return super().create_executor(ordinal)

    platform = Watched()
    assert isinstance(platform, Platform)
    assert platform.visible_device_count() >= 1
    assert Watched.opened == 0


def test_options_have_defaults(spec: BackendSpec) -> None:
    options = spec.options()
    assert CompileOptions(backend=options).backend == options
    assert spec.options.model_config.get("extra") == "forbid", "a misspelt option must be an error"


def test_platform_and_executors_are_kept(platform: Platform, backend: str) -> None:
    assert platform.name == backend
    assert platform.executor(0) is platform.executor(0)
    assert platform.executor(0).ordinal == 0
    assert platform.compiler is platform.compiler
    assert isinstance(platform.compiler, Compiler)


def test_device_is_described(client: Client) -> None:
    for device in client.devices:
        assert device.description.name
        assert device.description.memory_bytes >= 0
        assert device.description.core_count >= 1


def test_target_is_described(target: TargetConfig, backend: str) -> None:
    assert target.fingerprint() == target.fingerprint()
    assert target.capabilities.held_types, "it claims to hold no element type at all"
    assert ElementType.TUPLE not in target.capabilities.held_types


def test_a_second_client_works_beside_the_first(backend: str, client: Client) -> None:
    with Client(backend) as second:
        assert len(second.devices) == len(client.devices)
        assert second.buffer_from_host([1, 2, 3]).to_numpy().tolist() == [1, 2, 3]
    assert client.buffer_from_host([4, 5]).to_numpy().tolist() == [4, 5]
