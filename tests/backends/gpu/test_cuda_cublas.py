"""Products of cuBLASLt on a GPU. See `cuda_stub`."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("xla_backend_gpu", reason="xla-backend-gpu is not installed")
pytest.importorskip("cuda.bindings.driver", reason="cuda-bindings is not installed")

from tests.backends.gpu import cublas_stub
from tests.backends.gpu.cuda_stub import Run, result

LAYERS = """
library = driver.connect_cublas(PATH)
text = '''HloModule layers
ENTRY main {
  x = f32[8,96] parameter(0)
  u = f32[96,16] parameter(1)
  v = f32[16,8] parameter(2)
  b = f32[16] parameter(3)
  h = f32[8,16] dot(x, u), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  bb = f32[8,16] broadcast(b), dimensions={1}
  s = f32[8,16] add(h, bb)
  zero = f32[] constant(0)
  zeros = f32[8,16] broadcast(zero), dimensions={}
  r = f32[8,16] maximum(s, zeros)
  y = f32[8,8] dot(r, v), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  ROOT e = f32[8,8] negate(y)
}
'''
executable = client.compile(text, xla.CompileOptions(backend=dict(products="library")))
rng = np.random.default_rng(0)
arrays = [rng.integers(-2, 3, s).astype(np.float32) for s in ((8, 96), (96, 16), (16, 8), (16,))]
x, u, v, b = arrays
wanted = -(np.maximum(x @ u + b, 0) @ v)
arguments = [client.buffer_from_host(array) for array in arrays]
for _ in range(5):
    (y,) = executable.execute(arguments)
    np.testing.assert_array_equal(np.asarray(y), wanted)
    del y
again = client.deserialize(executable.serialize())
np.testing.assert_array_equal(np.asarray(again(*arrays)[0]), wanted)
steps = executable.artifacts()["thunks"].split()[::2]
counts = [driver.calls.get(name, 0) for name in ("cuStreamBeginCapture", "cuGraphLaunch")]
calls = library.cublaslt_stub_calls()
del executable, again, arguments
gc.collect()
client.close()
print(json.dumps([steps, counts, calls, library.cublaslt_stub_live(), driver.devices[0].emulated.memory.blocks()]))
"""


def test_products_of_cublas_are_part_of_graphs(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The calls are captured with their addresses, and nothing is left of the library when the client is closed."""
    library = cublas_stub.build(tmp_path)
    monkeypatch.setenv("XLA_CORE_FLAGS", f"--xla_gpu_cublas_library={library}")
    steps, counts, calls, live, blocks = result(run(LAYERS.replace("PATH", repr(str(library)))))
    assert steps == ["MatmulThunk", "MatmulThunk", "KernelThunk"]
    assert counts == [1, 4]
    assert calls == 2 * 6
    assert (live, blocks) == (0, [])


def test_a_library_that_fails_leaves_products_to_own_kernels(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The compilation goes on, and one warning says why."""
    library = cublas_stub.build(tmp_path)
    monkeypatch.setenv("XLA_CORE_FLAGS", f"--xla_gpu_cublas_library={library}")
    monkeypatch.setenv("XLA_TEST_CUBLAS_HEURISTIC", "14")
    done = run(LAYERS.replace("PATH", repr(str(library))))
    steps, *_ = result(done)
    assert set(steps) == {"KernelThunk"}
    assert done.stderr.count("products don't use cuBLASLt, which fails: cublasLtMatmulAlgoGetHeuristic") == 1


SHARDS = """
library = driver.connect_cublas(PATH)
text = '''HloModule shards, replica_count=2
ENTRY main {
  x = f32[8,96] parameter(0)
  y = f32[96,16] parameter(1)
  ROOT d = f32[8,16] dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={0}
}
'''
executable = client.compile(text, xla.CompileOptions(backend=dict(products="library")))
rng = np.random.default_rng(0)
arrays = [[rng.integers(-2, 3, s).astype(np.float32) for s in ((8, 96), (96, 16))] for _ in range(2)]
rows = [[client.buffer_from_host(a, device=d) for a in own] for own, d in zip(arrays, client.devices)]
for (result,), (x, y), device in zip(executable.execute_sharded(rows), arrays, client.devices):
    assert result.device is device
    np.testing.assert_array_equal(np.asarray(result), x @ y)
del executable, rows, result
gc.collect()
client.close()
print(json.dumps([library.cublaslt_stub_calls(), library.cublaslt_stub_live()]))
"""


def test_each_device_has_the_library(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    library = cublas_stub.build(tmp_path)
    monkeypatch.setenv("XLA_CORE_FLAGS", f"--xla_gpu_cublas_library={library}")
    assert result(run(SHARDS.replace("PATH", repr(str(library))), devices=2)) == [2, 0]
