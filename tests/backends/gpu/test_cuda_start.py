"""What starts NVIDIA's driver, and who may use it. See `cuda_stub`."""

from __future__ import annotations

import sys

import pytest

pytest.importorskip("xla_backend_gpu", reason="xla-backend-gpu is not installed")
pytest.importorskip("cuda.bindings.driver", reason="cuda-bindings is not installed")

from tests.backends.gpu.cuda_stub import Run, result

DEFAULT = """
import json
import os
import warnings
os.environ.pop("XLA_PLATFORM", None)
import xla_core as xla
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    said = [xla.Client().platform_name]
said.append(" ".join(str(warning.message) for warning in caught))
try:
    with xla.Client("gpu") as client:
        said.append(client.devices[0].description.name)
except xla.UnavailableError as error:
    said.append(str(error))
print(json.dumps(said))
"""


@pytest.mark.parametrize(("devices", "flags"), [(0, ""), (1, "--xla_gpu_emulate")])
def test_an_emulated_device_is_not_the_default(
    run: Run, devices: int, flags: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """There is NVIDIA's driver, as in a container without its GPU; or the user asks for emulation."""
    monkeypatch.setenv("XLA_CORE_FLAGS", flags)
    chosen, cause, named = result(run("", sys.executable, "-c", DEFAULT, devices=devices))
    assert (chosen == "gpu", cause, named) == (False, "", "emulated GPU")


def test_an_unknown_flag_is_no_fault_of_the_backend(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XLA_CORE_FLAGS", "--xla_gpu_emulate --nobody_has_this")
    program = "from xla_core.backend import registry\nprint(registry.load_backend('gpu').priority)"
    assert result(run("", sys.executable, "-c", program)) == 200


HOOK = """
import json
import sys
from xla_core.backend import registry
spec = registry.load_backend("gpu")
loaded = "cuda.bindings.driver" in sys.modules
from tests.backends.gpu.cuda_stub import driver
print(json.dumps([spec.priority, loaded, driver.calls, "emulated" in spec.description]))
"""


@pytest.mark.parametrize(
    ("devices", "visible", "priority"),
    [
        (0, None, 10),
        (1, None, 200),
        (2, "1,0", 200),
        (1, "GPU-8932f937", 200),
        (1, "", 10),
        (1, "-1", 10),
        (1, "void", 10),
    ],
)
def test_the_hook_does_not_start_the_driver(
    run: Run, devices: int, visible: str | None, priority: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The driver opens files of its devices and can't be used after a fork. CUDA_VISIBLE_DEVICES may hide all GPUs."""
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    if visible is not None:
        monkeypatch.setenv("CUDA_VISIBLE_DEVICES", visible)
    said = result(run("", sys.executable, "-c", HOOK, devices=devices))
    assert said == [priority, False, {}, False]


def test_a_driver_that_does_not_work_is_no_emulated_device(run: Run) -> None:
    chosen, cause, named = result(run("", sys.executable, "-c", DEFAULT, started=803))
    assert chosen != "gpu"
    for text in (cause, named):
        assert "cuInit returned CUDA_ERROR_SYSTEM_DRIVER_MISMATCH" in text
    assert "--xla_gpu_emulate" in named


def test_the_child_of_a_fork_is_told_to_spawn(run: Run) -> None:
    """CUDA can't be used in it, by another client either."""
    program = """
import os
x = client.buffer_from_host(X)
x.block_until_ready()
read, write = os.pipe()
pid = os.fork()
if pid == 0:
    said = []
    for act in (lambda: client.buffer_from_host(X), lambda: xla.Client("gpu").devices):
        try:
            act()
            said.append("")
        except xla.XlaError as error:
            said.append(str(error))
    os.write(write, json.dumps(said).encode())
    os._exit(0)
os.close(write)
print(os.fdopen(read).read())
os.waitpid(pid, 0)
"""
    own, other = result(run(program))
    assert "before a fork" in own
    assert "CUDA was started before this process was forked" in other
    assert "'spawn'" in other


def test_a_function_that_the_driver_lacks(run: Run) -> None:
    program = """
from xla_backend_gpu.cuda_calls import call
try:
    call("cuProfilerStart")
except xla.UnimplementedError as error:
    print(json.dumps(error.message))
"""
    assert result(run(program)).startswith("NVIDIA's driver has no cuProfilerStart")
