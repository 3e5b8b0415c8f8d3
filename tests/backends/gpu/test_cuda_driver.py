"""CUDA's driver, as far as it can be tested without a GPU: names, arguments, and what statuses mean."""

from __future__ import annotations

import ast
import ctypes
from pathlib import Path

import pytest

pytest.importorskip("xla_backend_gpu", reason="xla-backend-gpu is not installed")
cuda = pytest.importorskip("cuda.bindings.driver", reason="cuda-bindings is not installed")

from xla_backend_gpu import availability, cuda_calls, cuda_context, cuda_copies, cuda_driver, cuda_handles, cuda_timing
from xla_backend_gpu.statuses import KINDS, NO_GPU, STICKY, status_error

import xla_core as xla

MODULES = (cuda_calls, cuda_context, cuda_copies, cuda_driver, cuda_handles, cuda_timing)
NODES = [n for m in MODULES for n in ast.walk(ast.parse(Path(m.__file__).read_text()))]


def test_every_function_and_constant_is_in_the_bindings() -> None:
    called = {n.value for n in NODES if isinstance(n, ast.Constant) and str(n.value).startswith("cu")}
    read = {n.attr for n in NODES if isinstance(n, ast.Attribute) and ast.unparse(n.value) == "cuda"}
    assert len(called) > 15
    assert {name for name in called | read if not hasattr(cuda, name)} == set()


def test_every_device_attribute_is_in_the_bindings() -> None:
    calls = [n for n in NODES if isinstance(n, ast.Call) and ast.unparse(n.func) == "device_attribute"]
    names = {a.value for n in calls for a in n.args if isinstance(a, ast.Constant)} | {
        "COMPUTE_CAPABILITY_MAJOR",
        "COMPUTE_CAPABILITY_MINOR",
    }
    assert len(names) > 8
    assert {n for n in names if not hasattr(cuda.CUdevice_attribute, f"CU_DEVICE_ATTRIBUTE_{n}")} == set()


def test_every_status_is_in_the_bindings() -> None:
    assert {status for status in {*KINDS, *STICKY, *NO_GPU} if not hasattr(cuda.CUresult, status)} == set()


def test_parameters_of_a_kernel() -> None:
    """cuLaunchKernel reads an address of 64 bits through each pointer."""
    values, pointers = cuda_calls.kernel_parameters((0x7F00_0000_1000, 0, 2**64 - 1))
    read = [ctypes.cast(p, ctypes.POINTER(ctypes.c_uint64)).contents.value for p in pointers]
    assert read == list(values) == [0x7F00_0000_1000, 0, 2**64 - 1]


@pytest.mark.parametrize(
    ("status", "error"),
    [
        ("CUDA_ERROR_OUT_OF_MEMORY", xla.ResourceExhaustedError),
        ("CUDA_ERROR_INVALID_PTX", xla.FailedPreconditionError),
        ("CUDA_ERROR_NO_DEVICE", xla.UnavailableError),
        ("CUDA_ERROR_ILLEGAL_ADDRESS", xla.InternalError),
        ("CUDA_ERROR_UNKNOWN", xla.InternalError),
    ],
)
def test_a_status_is_an_error(status: str, error: type[xla.XlaError]) -> None:
    made = status_error("cuLaunchKernel", status, "it says so", kernel="fusion_1")
    assert type(made) is error
    assert made.message == f"cuLaunchKernel of kernel fusion_1 returned {status}: it says so"
    assert bool(made.hint) is (status in STICKY)


def test_a_sticky_status_names_the_last_kernels() -> None:
    made = status_error("cuEventQuery", "CUDA_ERROR_LAUNCH_FAILED", "unspecified", recent=("a", "b"))
    assert "the kernels launched last are a, b" in made.message


def test_a_wait_is_late_by_an_eighth_at_most() -> None:
    """Programs of less than a millisecond are not late at all, whatever the shortest sleep of the system."""
    assert {cuda_context.pause_seconds(waited) for waited in (0.0, 20e-6, 9e-4)} == {0.0}
    for waited in (1e-3, 5e-3, 1.0):
        assert 1e-4 < cuda_context.pause_seconds(waited) <= min(waited / 8, 2e-4)


@pytest.mark.parametrize("kernel", [1.3e-6, 40e-6, 5e-3])
@pytest.mark.parametrize("start", [0.0, 5e-6])
def test_short_kernels_are_measured_many_at_once(kernel: float, start: float) -> None:
    """The time until the device starts the first one is less than a percent, and the noise of a measurement, too."""
    noise = iter([0.0, 3e-5, 1e-5, 2e-5, 1e-5, 4e-5] * 10)
    runs = []

    def run(times: int):
        runs.append(times)
        return lambda: start + kernel * times + next(noise)

    assert cuda_timing.seconds_of_one(run) == pytest.approx(kernel, rel=0.03)
    assert runs[0] == 1
    assert kernel * runs[-1] >= 1e-3


def test_a_machine_without_a_driver_has_no_device() -> None:
    try:
        ctypes.CDLL("libcuda.so.1")
    except OSError:
        assert (availability.count_gpus(), availability.why_emulated()) == (0, "no NVIDIA driver found")
    else:
        pytest.skip("this machine has an NVIDIA driver")
