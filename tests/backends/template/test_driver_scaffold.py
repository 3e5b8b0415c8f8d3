"""A package of `xla new --driver c`: its driver is built by its own pyproject, and runs simulated and own kernels."""

from __future__ import annotations

import gc
import importlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from xla_conformance.levels import conforms
from xla_conformance.results import State
from xla_conformance.runner import Limits, run_suite

import xla_core as xla
from xla_core.backend import registry
from xla_core.cli import main
from xla_core.hlo import ElementType

pytestmark = pytest.mark.skipif(shutil.which("cc") is None, reason="there is no C compiler (cc)")

ADD = """HloModule m

ENTRY main {
  x = f32[3,5] parameter(0)
  n = s32[3,5] parameter(1)
  y = f32[3,5] add(x, x)
  z = f32[3,5] multiply(y, x)
  m = s32[3,5] add(n, n)
  ROOT r = (f32[3,5], s32[3,5]) tuple(z, m)
}
"""


def pip(root: Path, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--no-build-isolation", *arguments, str(root)]
    environment = {**os.environ, **variables}
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("new")
    assert main(["new", "cdriver", "--scenario", "3", "--driver", "c", "--directory", str(folder)]) == 0
    return folder / "xla-backend-cdriver"


@pytest.fixture(scope="module")
def installed(package: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    library = tmp_path_factory.mktemp("lib")
    done = pip(package, "--target", str(library))
    assert done.returncode == 0, done.stderr
    return library


@pytest.fixture
def cdriver(installed: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The name of the installed backend."""
    monkeypatch.syspath_prepend(str(installed))
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(installed), os.environ.get("PYTHONPATH", "")]))
    registry.clear_cache()
    return "cdriver"


def test_own_kernels_and_simulated_ones_run_on_its_stream(cdriver: str) -> None:
    x, n = np.random.default_rng(0).random((3, 5), np.float32), np.arange(15, dtype=np.int32).reshape(3, 5)
    with xla.Client(cdriver) as client:
        executable = client.compile(ADD)
        results = [np.asarray(result) for result in executable(x, n)]
        thunks = str(executable.artifacts()["thunks"]).splitlines()
    np.testing.assert_array_equal(results[0], (x + x) * x)
    np.testing.assert_array_equal(results[1], n + n)
    kernels = {line.split()[1]: line.split()[2] for line in thunks}
    assert kernels == {"y": "(CdriverKernel)", "z": "(HloKernel)", "m": "(HloKernel)"}


@pytest.mark.parametrize("is_held", [False, True])
def test_a_device_is_closed_with_its_client_and_its_last_memory(
    cdriver: str, monkeypatch: pytest.MonkeyPatch, is_held: bool
) -> None:
    driver = importlib.import_module("xla_backend_cdriver.driver").driver
    close, closed = driver.close, []
    monkeypatch.setitem(driver._functions, "close", lambda device: (closed.append(device), close(device)))
    client = xla.Client(cdriver)
    devices = [device.executor.handle for device in client.devices]
    buffer = client.buffer_from_host(np.ones(4, np.float32))
    buffer.block_until_ready()
    if not is_held:
        buffer.delete()
    client.close()
    if is_held:
        assert sorted(closed) == sorted(devices[1:])
        del buffer
        gc.collect()
    assert sorted(closed) == sorted(devices)


@pytest.mark.parametrize("raised", [SystemExit(3), ValueError("no")])
def test_a_callback_that_fails_poisons_the_queue(cdriver: str, raised: BaseException) -> None:
    def fail() -> None:
        raise raised

    with xla.Client(cdriver) as client:
        stream = client.devices[0].executor.create_stream()
        stream.host_callback(fail)
        done = stream.finish()
        done.synchronize()
        assert done.error is not None
        assert f"failed with {type(raised).__name__}: {raised}" in done.error.message
        stream.close()


def test_the_core_rewrites_programs_once_nothing_is_simulated(cdriver: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from xla_backend_cdriver.compiler import CdriverCompiler  # type: ignore[import-not-found]

    monkeypatch.setattr(CdriverCompiler, "simulates_others", False)
    with xla.Client(cdriver) as client, pytest.raises(xla.UnimplementedError, match="there is no multiply"):
        client.compile(ADD)


def test_an_op_without_a_kernel_is_an_error_that_names_it(cdriver: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from xla_backend_cdriver.compiler import CdriverCompiler  # type: ignore[import-not-found]

    more = CdriverCompiler.own_ops.with_ops(["multiply"], [ElementType.F32])
    monkeypatch.setattr(CdriverCompiler, "own_ops", more)
    with xla.Client(cdriver) as client, pytest.raises(xla.XlaError, match="the driver has no kernel 'multiply_f32'"):
        client.compile(ADD)


@pytest.mark.parametrize("name", ["open", "queue_create", "event_create"])
def test_a_handle_that_the_driver_cannot_make_is_an_error(
    cdriver: str, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    driver = importlib.import_module("xla_backend_cdriver.driver").driver
    monkeypatch.setitem(driver._functions, name, lambda *arguments: None)
    with pytest.raises(xla.XlaError, match=f"cdriver_{name} of libcdriver.so returned NULL"), xla.Client(cdriver) as c:
        np.asarray(c.compile(ADD)(np.ones((3, 5), np.float32), np.ones((3, 5), np.int32))[0])


def test_a_function_that_the_driver_lacks_is_named(installed: Path) -> None:
    from xla_backend_template.c_driver import CDriver

    driver = CDriver(installed / "xla_backend_cdriver" / "libcdriver.so", prefix="other_")
    with pytest.raises(xla.FailedPreconditionError, match="has no function 'other_open'"):
        driver.open(1 << 20)


def test_doctor_says_where_the_driver_is(cdriver: str, capfd: pytest.CaptureFixture[str]) -> None:
    main(["doctor"])
    (line,) = (line for line in capfd.readouterr().out.splitlines() if "libcdriver.so" in line)
    assert line.startswith("  has   driver: ")
    assert "missing" not in line


def test_it_passes(cdriver: str) -> None:
    run = run_suite(cdriver, expression="test_events or test_failures or test_op[sort or test_op[convert-bf16")
    bad = [(r.name, r.message[-300:]) for r in run.results if r.state not in (State.PASS, State.NOT_SUPPORTED)]
    assert bad == []
    assert run.count(State.PASS)


@pytest.mark.slow
def test_it_conforms(cdriver: str) -> None:
    run = run_suite(cdriver, limits=Limits(test=300, stage=300, total=4 * 3600))
    bad = [(r.name, r.message[-300:]) for r in run.results if r.state not in (State.PASS, State.NOT_SUPPORTED)]
    assert bad == []
    assert conforms(run)


def test_a_missing_compiler_is_named(package: Path, tmp_path: Path) -> None:
    done = pip(package, "--target", str(tmp_path), CC="/no/such/cc")
    assert done.returncode != 0
    assert "xla-backend-cdriver needs a C compiler: /no/such/cc is not on the PATH." in done.stderr
    assert "Traceback" not in done.stderr


def test_the_compilers_messages_are_shown(package: Path, tmp_path: Path) -> None:
    copied = tmp_path / "package"
    shutil.copytree(package, copied)
    (copied / "driver" / "kernels.c").write_text("int wrong = ;\n")
    done = pip(copied, "--target", str(tmp_path / "lib"))
    assert done.returncode != 0
    assert "kernels.c:1" in done.stderr
    assert "cc could not compile the driver" in done.stderr


def test_a_package_that_was_not_built_says_what_to_do(
    package: Path, cdriver: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    driver = importlib.import_module("xla_backend_cdriver.driver").driver

    monkeypatch.setattr(driver, "library", package / "nowhere.so")
    with pytest.raises(xla.XlaError, match=r"nowhere.so is missing") as raised:
        xla.Client(cdriver)
    assert "pip install -e ." in str(raised.value)


def test_a_library_older_than_its_source_is_used_with_a_warning(tmp_path: Path) -> None:
    from xla_backend_template.c_driver import CDriver

    source, library = tmp_path / "driver" / "kernels.c", tmp_path / "package" / "libold.so"
    for path in (source, library):
        path.parent.mkdir()
        path.touch()
    driver = CDriver(library, "old_")
    os.utime(library, (2, 2))
    os.utime(source, (1, 1))
    assert "is older than" not in str(driver.probe())
    os.utime(source, (3, 3))
    assert driver.probe().available
    assert f"is older than {source}" in str(driver.probe())
    with pytest.warns(RuntimeWarning, match="older than .*kernels.c"), pytest.raises(OSError, match="libold"):
        driver.allocate(0, 64)


def test_a_kernel_that_is_no_address_is_refused() -> None:
    from xla_backend_template.driver_stream import DriverStream

    stream = object.__new__(DriverStream)  # nothing is enqueued, so it needs no queue
    for kernel in ("add_f32", 0, None, True):
        with pytest.raises(xla.InvalidArgumentError, match="a kernel must be an address"):
            stream.launch(kernel, [], [])  # type: ignore[arg-type]
