"""Modules, launches, and measurements. See `cuda_stub`."""

from __future__ import annotations

import pytest

pytest.importorskip("xla_backend_gpu", reason="xla-backend-gpu is not installed")
pytest.importorskip("cuda.bindings.driver", reason="cuda-bindings is not installed")

from tests.backends.gpu.cuda_stub import Run, result

TUNED = """
text = '''HloModule rows
add { a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = f32[] add(a, b) }
ENTRY e {
  x = f32[4,96] parameter(0)
  z = f32[] constant(0)
  ROOT s = f32[4] reduce(x, z), dimensions={1}, to_apply=add
}
'''
from xla_backend_gpu import cuda_timing
cuda_timing._LEAST_SECONDS = 1e-9  # the stub takes long enough
executable = client.compile(text, xla.CompileOptions(backend=dict(autotune=True)))
x = np.arange(4 * 96, dtype=np.float32).reshape(4, 96)
np.testing.assert_array_equal(np.asarray(executable(x)[0]), x.sum(1))
calls = {name: driver.calls.get(name, 0) for name in ("cuGraphLaunch", "cuEventElapsedTime", "cuStreamBeginCapture")}
del executable
gc.collect()
client.close()
print(json.dumps([calls, len(driver.handles)]))
"""


def test_kernels_are_tuned_by_the_clock_of_the_device(run: Run) -> None:
    """The host doesn't enqueue during a measurement."""
    calls, left = result(run(TUNED))
    measured = calls["cuEventElapsedTime"]
    assert measured >= 2 * 6
    assert calls == {"cuGraphLaunch": measured, "cuEventElapsedTime": measured, "cuStreamBeginCapture": measured // 6}
    assert left == 0


SHARED = """
import contextlib
from xla_backend_gpu.cuda_driver import CudaDriver
text = "HloModule m\\nENTRY main {\\n  x = bf16[16,64,256] parameter(0)\\n  y = bf16[16,256,512] parameter(1)\\n"
text += "  d = f32[16,64,512] dot(x, y), lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={2}, "
text += "rhs_contracting_dims={1}\\n  n = bf16[16,64,256] negate(x)\\n  ROOT r = (f32[16,64,512], bf16[16,64,256]) "
text += "tuple(d, n)\\n}"
executable = client.compile(text, xla.CompileOptions(backend={"sm": "sm_90a", "products": "own"}))
x, y = (client.buffer_from_host(np.ones(p.dimensions, p.dtype)) for p in executable.parameter_shapes)
ALLOW
said = ""
for _ in range(4):  # from the third run on as a graph
    try:
        z, _ = executable.execute([x, y])
        assert (np.asarray(z) == 256).all()
    except xla.XlaError as error:
        said = str(error)
asked = driver.calls.get("cuFuncSetAttribute", 0)
(z,) = client.compile(CHAIN)(X)  # the device is not lost
np.testing.assert_array_equal(np.asarray(z), X * X + 6 * X)
print(json.dumps([asked, driver.calls.get("cuGraphLaunch", 0), said]))
"""


def test_a_kernel_is_allowed_its_shared_memory_once(run: Run) -> None:
    asked, graphs, said = result(run(SHARED.replace("ALLOW", "")))
    assert (asked, said) == (1, "")
    assert graphs > 0


def test_a_launch_without_permission_is_refused(run: Run) -> None:
    """By default, a launch may ask for 48 KiB."""
    asked, _, said = result(run(SHARED.replace("ALLOW", "CudaDriver._allow = lambda *arguments: None")))
    assert asked == 0
    assert "CUDA_ERROR_INVALID_VALUE" in said


MACHINE_CODE = """
import base64
from xla_backend_gpu.compiler import GpuCompiler
program = json.loads(GpuCompiler("sm_90").compile(xla.parse(CHAIN)).serialize())
cubin = b"\\x7fELF" + bytes(range(200, 256))
program |= {"cubin": base64.b64encode(cubin).decode(), "processor": PROCESSOR}
program["ptx"] = program["ptx"].replace("sm_90", PROCESSOR)
if IS_KNOWN:
    driver.cubins[cubin] = program["ptx"]
(y,) = client.load(GpuCompiler().deserialize(json.dumps(program).encode()))(X)
np.testing.assert_array_equal(np.asarray(y), X * X + 6 * X)
print(json.dumps([image.decode("latin1") for image in driver.images]))
"""


@pytest.mark.parametrize(
    ("processor", "known", "loaded"),
    [("sm_90", True, ["ELF"]), ("sm_80", True, ["PTX"]), ("sm_90", False, ["ELF", "PTX"])],
)
def test_machine_code_is_loaded_by_its_processor(run: Run, processor: str, known: bool, loaded: list[str]) -> None:
    """Another processor compiles the PTX, and so does a driver that doesn't know the machine code."""
    images = result(run(f"PROCESSOR, IS_KNOWN = {processor!r}, {known}\n{MACHINE_CODE}"))
    assert ["ELF" if image.startswith("\x7fELF") else "PTX" for image in images] == loaded


def test_kernels_are_loaded_when_a_program_is_compiled(run: Run) -> None:
    """The first run doesn't wait for the driver's compiler. What that refuses is an error with the compiler's words."""
    program = """
from xla_backend_gpu.compiler import GpuCompiler
executable = client.compile(CHAIN)
compiled = len(driver.images)
executable(X)
ran = len(driver.images)
program = json.loads(GpuCompiler("sm_90").compile(xla.parse(CHAIN)).serialize())
program["ptx"] = program["ptx"].replace("mul", "multiply")
try:
    GpuCompiler().deserialize(json.dumps(program).encode(), None, client.platform.executor(0))
except xla.XlaError as error:
    said = str(error)
print(json.dumps([compiled, ran, said]))
"""
    compiled, ran, said = result(run(program))
    assert (compiled, ran) == (1, 1)
    assert "cuModuleLoadDataEx returned CUDA_ERROR_INVALID_PTX" in said
    assert "the PTX is for sm_90, and stub of CUDA's driver, device 0 is sm_90; the driver's compiler says: " in said
    assert "multiply" in said


def test_code_for_a_newer_processor_is_refused_with_both_names(run: Run) -> None:
    """The driver says no more than that it has no code for the device."""
    program = """
try:
    client.compile(CHAIN, xla.CompileOptions(backend={"sm": "sm_120"}))
except xla.XlaError as error:
    print(json.dumps(str(error)))
"""
    said = result(run(program))
    assert "cuModuleLoadDataEx returned CUDA_ERROR_NO_BINARY_FOR_GPU" in said
    assert "hint: the PTX is for sm_120, and stub of CUDA's driver, device 0 is sm_90" in said
