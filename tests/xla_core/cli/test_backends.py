"""`xla backends` and `xla doctor`: installed and broken backends, which don't affect each other."""

from __future__ import annotations

import importlib.metadata
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from xla_core import Client
from xla_core.backend import registry
from xla_core.cli import rehearsal
from xla_core.errors import FailedPreconditionError, NotFoundError, UnavailableError
from xla_core.hlo.ops import custom_calls

TOY = "from toy_backend import xla_backend\n"
LACKING = """\
from toy_backend import *
from xla_core.backend import Availability, Requirement, hookimpl

def probe():
    return Availability.of(
        Requirement("driver", False, "version 9 is not installed", "install chip-driver 9"),
        Requirement("compiler", True, "chipcc 3"),
    )

@hookimpl
def xla_backend():
    return spec(probe=probe, description="a chip")
"""


@pytest.fixture
def none_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "_entry_points", list)


@pytest.fixture
def only_these(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Hides what else this environment has installed."""
    every = registry._entry_points

    def limit(*names: str) -> None:
        monkeypatch.setattr(registry, "_entry_points", lambda: [p for p in every() if p.name in names])

    return limit


@pytest.mark.usefixtures("none_installed")
def test_nothing_installed(xla: Callable[..., Any], program: Any) -> None:
    listed = xla("backends")
    assert listed.code == 1
    assert "no backend is installed: pip install" in listed.out
    examined = xla("doctor")
    assert examined.code == 1
    assert examined.out.splitlines()[-1].startswith("No backend is installed: pip install")
    run = xla("run", program)
    assert run.code == 2
    assert "no backend is installed" in run.err


def test_a_backend_that_works(
    xla: Callable[..., Any], install: Callable[..., None], toy: Any, only_these: Callable[..., None]
) -> None:
    install("toy", "toy", TOY)
    only_these("toy")
    listed = xla("backends")
    assert listed.code == 0
    line = next(line for line in listed.out.splitlines() if line.startswith("toy"))
    assert line.split()[1:5] == ["1.0", "1.0", "-5", "available"]
    examined = xla("doctor")
    assert examined.code == 0, examined.out
    assert "toy from toy 1.0 (plugin_toy): available" in examined.out
    assert "2 devices: toy" in examined.out
    assert examined.out.splitlines()[-1] == "All is well: programs run on 'toy' unless you name another."


def test_a_missing_requirement_is_named_with_its_hint(
    xla: Callable[..., Any], install: Callable[..., None], toy: Any, only_these: Callable[..., None]
) -> None:
    install("chip", "chip", LACKING)
    only_these("chip")
    assert "driver: version 9 is not installed" in xla("backends").out
    examined = xla("doctor")
    assert examined.code == 1
    assert "lacks driver: version 9 is not installed" in examined.out
    assert examined.out.count("version 9 is not installed") == 2  # the requirement, and the last sentence
    assert "hint: install chip-driver 9" in examined.out
    assert "has   compiler: chipcc 3" in examined.out
    assert examined.out.splitlines()[-1] == (
        "No installed backend can be used: chip: driver: version 9 is not installed."
    )


def test_a_broken_backend_shows_its_cause_and_breaks_no_other(
    xla: Callable[..., Any], install: Callable[..., None], toy: Any, only_these: Callable[..., None], program: Any
) -> None:
    install("toy", "toy", TOY)
    install("smoke", "smoke", "def wire():\n    raise OSError('libsmoke.so: no such file')\n\nwire()\n")
    only_these("toy", "smoke")
    listed = xla("backends")
    assert listed.code == 0
    assert "broken" in listed.out
    examined = xla("doctor")
    assert examined.code == 1
    assert "OSError: libsmoke.so: no such file" in examined.out
    assert "in wire" in examined.out
    assert "hint: reinstall or uninstall the distribution" in examined.out
    assert "xla doctor" not in examined.out
    last = examined.out.splitlines()[-1]
    assert last == "Programs run on 'toy' unless you name another; cannot be loaded: smoke."
    assert xla("run", program).code == 0
    assert "libsmoke.so" in xla("run", program, "-b", "smoke").err


ENDING = """\
import ctypes, os, time

from toy_backend import ToyPlatform, spec
from xla_core.backend import Availability, hookimpl

def fault():
    print("chip driver 9: no firmware", flush=True)
    {fault}

class Platform(ToyPlatform):
    def create_executor(self, ordinal):
        {open}

def probe():
    {probe}
    return Availability(True)

{load}

@hookimpl
def xla_backend():
    return spec(platform=Platform, probe=probe)
"""


@pytest.mark.parametrize(
    ("step", "fault", "said"),
    [
        ("load", "os.abort()", "backend 'smoke' of smoke 1.0 cannot be used: loading it ended its process by SIGABRT"),
        (
            "probe",
            "time.sleep(600)",
            "backend 'smoke' of smoke 1.0 cannot be used: its probe did not finish within 6 s",
        ),
        ("open", "os._exit(5)", "opening it ended its process with code 5"),
    ],
)
def test_a_backend_that_ends_or_hangs_is_told(
    xla: Callable[..., Any],
    install: Callable[..., None],
    toy: Any,
    only_these: Callable[..., None],
    monkeypatch: pytest.MonkeyPatch,
    step: str,
    fault: str,
    said: str,
) -> None:
    monkeypatch.setattr(rehearsal, "LIMIT_SECONDS", 6.0)
    monkeypatch.syspath_prepend(str(Path(toy.__file__).parent))
    holes = {each: "fault()" if each == step else "pass" for each in ("load", "probe", "open")}
    install("toy", "toy", TOY)
    install("smoke", "smoke", ENDING.format(fault=fault, **holes))
    only_these("toy", "smoke")
    examined = xla("doctor")
    assert examined.code == 1
    assert said in examined.out
    assert "    chip driver 9: no firmware" in examined.out
    assert "`xla conform --backend smoke -k loading` shows where" in examined.out
    kind = "opened" if step == "open" else "loaded"
    last = examined.out.splitlines()[-1]
    assert last == f"Programs run on 'toy' unless you name another; cannot be {kind}: smoke."


def test_custom_calls_that_are_broken_are_listed(
    xla: Callable[..., Any],
    install: Callable[..., None],
    toy: Any,
    only_these: Callable[..., None],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    install("toy", "toy", TOY)
    only_these("toy")
    error = FailedPreconditionError("custom call 'scale' of plug (plug:scale) is 3, not a function", hint="repair it")
    monkeypatch.setattr(custom_calls, "broken_custom_calls", lambda: {"scale": error})
    examined = xla("doctor")
    assert examined.code == 1
    assert "custom call scale: broken\n  custom call 'scale' of plug (plug:scale) is 3, not a function" in examined.out
    assert "hint: repair it" in examined.out
    last = examined.out.splitlines()[-1]
    assert last == "Programs run on 'toy' unless you name another; broken custom calls: scale."


def test_a_backend_that_declines_is_not_broken(
    xla: Callable[..., Any], install: Callable[..., None], toy: Any, only_these: Callable[..., None]
) -> None:
    install("toy", "toy", TOY)
    source = (
        "from xla_core.backend import hookimpl\nfrom xla_core.errors import UnimplementedError\n\n"
        "@hookimpl\ndef xla_backend():\n    raise UnimplementedError('the chip comes next year')\n"
    )
    install("later", "later", source)
    only_these("toy", "later")
    line = next(line for line in xla("backends").out.splitlines() if line.startswith("later"))
    assert "not available" in line
    assert "the chip comes next year" in line
    examined = xla("doctor")
    assert "the chip comes next year" in examined.out
    assert "Traceback" not in examined.out
    last = examined.out.splitlines()[-1]
    assert last == "All is well: programs run on 'toy' unless you name another; not available: later."
    assert examined.code == 0


def test_a_mistake_in_a_plugin_is_one_sentence(
    xla: Callable[..., Any], install: Callable[..., None], toy: Any, only_these: Callable[..., None]
) -> None:
    install("toy", "toy", TOY)
    source = "from xla_core.backend import hookimpl\n\n@hookimpl\ndef xla_backend():\n    return 1\n"
    install("slip", "slip", source)
    only_these("toy", "slip")
    examined = xla("doctor")
    assert examined.code == 1
    assert "Traceback" not in examined.out
    assert "not a BackendSpec" in examined.out


def test_a_device_that_does_not_open(
    xla: Callable[..., Any],
    install: Callable[..., None],
    toy: Any,
    only_these: Callable[..., None],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fail(self: Any, ordinal: int) -> None:
        raise OSError("bus error")

    monkeypatch.setattr(toy.ToyPlatform, "create_executor", fail)
    install("toy", "toy", TOY)
    only_these("toy")
    examined = xla("doctor")
    assert examined.code == 1
    assert "opening it failed with OSError: bus error" in examined.out.splitlines()[-1]


def test_a_device_that_opens_beside_one_that_does_not(
    xla: Callable[..., Any],
    install: Callable[..., None],
    toy: Any,
    only_these: Callable[..., None],
) -> None:
    source = "from toy_backend import *\nclass Shut(ToyPlatform):\n    def create_executor(self, ordinal):\n"
    source += "        raise OSError('bus error')\n@hookimpl\ndef xla_backend():\n"
    install("shut", "shut", source + "    return spec(platform=Shut, priority=10000)\n")
    install("toy", "toy", TOY)
    only_these("toy", "shut")
    examined = xla("doctor")
    assert examined.code == 1
    assert examined.out.splitlines()[-1] == ("Programs run on 'toy' unless you name another; cannot be opened: shut.")
    with Client() as client:
        assert client.platform_name == "toy"


@pytest.mark.parametrize("group", ["xla_core.backend", "xla-core.backends", "xla_core_backends"])
def test_a_group_that_is_almost_right(
    xla: Callable[..., Any],
    install: Callable[..., None],
    toy: Any,
    only_these: Callable[..., None],
    tmp_path: Path,
    group: str,
) -> None:
    install("toy", "toy", TOY)
    only_these("toy")
    install("acme", "acme", TOY)
    (tmp_path / "site" / "acme-1.0.dist-info" / "entry_points.txt").write_text(f"[{group}]\nacme = plugin_acme\n")
    examined = xla("doctor")
    assert examined.code == 1
    said = f"acme 1.0 puts the entry point 'acme' into the group '{group}': did you mean 'xla_core.backends'?"
    assert said in examined.out
    assert examined.out.splitlines()[-1].endswith("; in a misspelt group of entry points: acme.")
    with pytest.raises(NotFoundError) as raised:
        Client("acme")
    assert raised.value.hint == said


def test_the_variable_that_chooses(
    xla: Callable[..., Any],
    install: Callable[..., None],
    toy: Any,
    only_these: Callable[..., None],
    monkeypatch: pytest.MonkeyPatch,
    program: Any,
) -> None:
    install("toy", "toy", TOY)
    only_these("toy")
    monkeypatch.setenv("XLA_PLATFORM", "elsewhere")
    examined = xla("doctor")
    assert examined.code == 1
    assert "XLA_PLATFORM names 'elsewhere'" in examined.out.splitlines()[-1]
    ran = xla("run", program)
    assert ran.code == 2
    assert "NOT_FOUND: XLA_PLATFORM is 'elsewhere': there is no backend named 'elsewhere'" in ran.err
    assert "XLA_PLATFORM" not in xla("run", program, "--backend", "nowhere").err


def test_what_a_driver_raises_is_an_error_of_its_backend(
    xla: Callable[..., Any], install: Callable[..., None], toy: Any, monkeypatch: pytest.MonkeyPatch, program: Any
) -> None:
    def fail(*_: object) -> None:
        raise OSError("bus error")

    install("toy", "toy", TOY)
    for method in ("visible_device_count", "create_executor"):
        with monkeypatch.context() as patch:
            patch.setattr(toy.ToyPlatform, method, fail)
            with pytest.raises(
                UnavailableError, match="backend 'toy' cannot open its devices: OSError: bus error"
            ) as caught:
                Client("toy")
            assert isinstance(caught.value.__cause__, OSError)
            run = xla("run", program, "-b", "toy")
            assert run.code == 2
            assert "Traceback" not in run.err
            line = next(line for line in xla("backends").out.splitlines() if line.startswith("toy"))
            assert "not available" in line


def test_a_backend_without_devices_is_not_available(
    xla: Callable[..., Any], install: Callable[..., None], toy: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(toy.ToyPlatform, "visible_device_count", lambda self: 0)
    install("toy", "toy", TOY)
    line = next(line for line in xla("backends").out.splitlines() if line.startswith("toy"))
    assert "not available" in line
    assert "finds no device" in line


def test_where_jax_is_missing_it_says_how_to_install_it(
    xla: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    installed = importlib.metadata.version

    def version(name: str) -> str:
        if name == "jax":
            raise importlib.metadata.PackageNotFoundError(name)
        return installed(name)

    monkeypatch.setattr(importlib.metadata, "version", version)
    examined = xla("doctor").out
    assert "jax not installed" in examined
    assert "`pip install jax`, to run its programs on these backends and to export them" in examined


def test_a_misspelled_flag_of_xla_is_pointed_at(xla: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XLA_FLAGS", "--xla_dum_to=x --xla_gpu_autotune_level=0 --xla_dump_hlo_as_proto")
    examined = xla("doctor").out
    assert "no installed backend reads --xla_dum_to of XLA_FLAGS: did you mean --xla_dump_to?" in examined
    assert "--xla_gpu_autotune_level of" not in examined
    assert "--xla_dump_hlo_as_proto of" not in examined
