"""The calls of cuBLASLt: what they demand of products and memory, how errors read, and where the library is found."""

from __future__ import annotations

import ctypes
import dataclasses
import re
import types
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("xla_backend_gpu", reason="xla-backend-gpu is not installed")

from xla_backend_gpu.availability import cuda_missing, probe
from xla_backend_gpu.cublas.call import matmul_of_call
from xla_backend_gpu.cublas.find import find, installed
from xla_backend_gpu.cublas.library import CublasLt
from xla_backend_gpu.cublas.matmul import Matmul, MatmulConfig, matmul_of

import xla_core as xla
from xla_core.hlo import ElementType, Layout, Shape


def matmul(m: int = 8, n: int = 8, k: int = 64, **config: object) -> Matmul:
    shapes = [Shape.array(ElementType.F32, d).with_default_layout() for d in ((m, k), (k, n), (m, n))]
    made = matmul_of(
        MatmulConfig(lhs_contracting_dims=(1,), rhs_contracting_dims=(0,), compute_type="f32", **config), *shapes
    )
    assert made is not None
    return made


class Memory:
    """Aligned memory for the matrices of a product, and the places of `CublasLt.multiply`."""

    def __init__(self, *sizes: int) -> None:
        whole = np.zeros(sum(-(-size // 256) * 256 for size in sizes) + 256, np.uint8)
        start = -whole.ctypes.data % 256
        self.arrays, self.places = [], []
        for size in sizes:
            self.arrays.append(whole[start : start + size])
            self.places.append((whole.ctypes.data + start, size))
            start += -(-size // 256) * 256


A, B, D, SCRATCH = 0, 1, 2, 3


@pytest.mark.parametrize(
    ("number", "change", "says", "error"),
    [
        (
            A,
            lambda address, size: (address, size - 1),
            "the matrix B of the product .* takes 2048 bytes",
            xla.InternalError,
        ),
        (D, lambda address, size: (address, 8), "the matrix [CD] .* takes 256 bytes, but has 8", xla.InternalError),
        (
            A,
            lambda address, size: (address + 4, size),
            "the address of B is no multiple of 128",
            xla.InvalidArgumentError,
        ),
        (D, lambda address, size: (0, size), "the address of [CD] is null", xla.InvalidArgumentError),
        (SCRATCH, lambda address, size: (0, size), "the scratch memory is null", xla.InvalidArgumentError),
        (
            SCRATCH,
            lambda address, size: (address, 16),
            "the scratch memory has 16 bytes of 4096",
            xla.InvalidArgumentError,
        ),
        (SCRATCH, lambda address, size: (address + 8, size), "is no multiple of 16", xla.InvalidArgumentError),
    ],
)
def test_wrong_memory_is_refused(library: Path, number: int, change, says: str, error: type, capfd) -> None:
    product, memory = matmul(workspace_bytes=4096), Memory(2048, 2048, 256, 4096)
    memory.places[number] = change(*memory.places[number])
    lt = CublasLt(str(library))
    with pytest.raises(error, match=r"cublasLtMatmul of the product 8 x 8 x 64|takes") as caught:
        lt.multiply(product, memory.places, 0)
    lt.close()
    assert re.search(says, caught.value.message + capfd.readouterr().err)


def test_results_over_operands_are_refused(library: Path, capfd) -> None:
    memory = Memory(2048, 2048, 256)
    memory.places[D] = (memory.places[B][0] + 256, 256)
    lt = CublasLt(str(library))
    with pytest.raises(xla.InvalidArgumentError, match="CUBLAS_STATUS_INVALID_VALUE"):
        lt.multiply(matmul(), memory.places, 0)
    lt.close()
    assert "D overlaps A" in capfd.readouterr().err


def test_nothing_is_left_of_descriptors(library: Path) -> None:
    live = ctypes.CDLL(str(library)).cublaslt_stub_live
    before = live()
    lt = CublasLt(str(library))
    assert lt.version == 130000
    assert [lt.workspace(matmul(k=k)) for k in (8, 64)] == [0, 4096]
    memory = Memory(2048, 2048, 256)
    for _ in range(3):
        lt.multiply(matmul(), memory.places, 0)
    assert live() == before + 6  # the handle, a description, four layouts
    lt.close()
    assert live() == before


def test_a_product_that_the_library_lacks(library: Path, capfd) -> None:
    """Such a product is not chosen. If it is asked for, the error names the function and the sizes."""
    made = dataclasses.replace(matmul(), config=matmul().config.model_copy(update={"compute_type": "s32"}))
    lt = CublasLt(str(library))
    assert lt.workspace(made) is None
    with pytest.raises(xla.UnimplementedError, match=r"AlgoGetHeuristic of the product 8 x 8 x 64, .*NOT_SUPPORTED"):
        lt.multiply(made, Memory(2048, 2048, 256).places, 0)
    lt.close()
    assert "F32 has sums of F32" in capfd.readouterr().err


@pytest.mark.parametrize(
    ("lhs", "layout", "wanted"),
    [
        ((4, 8), (1, 0), (8, 4, 8, False)),  # the terms are neighbours
        ((4, 8), (0, 1), (4, 8, 4, True)),
    ],
)
def test_layouts_are_transposes(lhs: tuple[int, ...], layout: tuple[int, ...], wanted: tuple) -> None:
    """The left operand is B: it is not transposed if its terms are its rows."""
    config = MatmulConfig(lhs_contracting_dims=(1,), rhs_contracting_dims=(0,), compute_type="f32")
    x = Shape.array(ElementType.F32, lhs).with_layout(Layout(layout))
    y, d = (Shape.array(ElementType.F32, s).with_default_layout() for s in ((8, 6), (4, 6)))
    made = matmul_of(config, x, y, d)
    assert made is not None
    assert (made.b.rows, made.b.columns, made.b.leading, made.b.transposed) == wanted


def test_the_installed_library_takes_the_descriptors() -> None:
    """NVIDIA's library checks descriptors also where there is no GPU. It refuses only the handle there."""
    if not installed():
        pytest.skip("cuBLASLt is not installed")

    class WithoutHandle(CublasLt):
        def _call(self, name: str, what: str, *arguments: object) -> None:
            if name not in ("cublasLtCreate", "cublasLtDestroy"):
                super()._call(name, what, *arguments)

    library = WithoutHandle(installed()[0])
    assert library.version >= 120000
    with pytest.raises(xla.FailedPreconditionError, match=r"AlgoGetHeuristic of the product .*NOT_INITIALIZED"):
        library.workspace(matmul(epilogue="BIAS"))


@pytest.mark.parametrize("wheel", ["cu13/lib/libcublasLt.so.13", "cublas/lib/libcublasLt.so.12"])
def test_doctor_says_whether_the_library_was_found(tmp_path: Path, wheel: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The wheels of CUDA 13 and of CUDA 12 have different folders."""
    said = [r.detail for r in probe().requirements if r.name == "products"]
    assert (
        installed()
        or not cuda_missing()
        or said == ['by own kernels; cuBLASLt was not found (pip install "xla-backend-gpu[cublas]")']
    )
    path = tmp_path / "nvidia" / wheel
    path.parent.mkdir(parents=True)
    path.touch()
    namespace = types.SimpleNamespace(submodule_search_locations=[str(tmp_path / "nvidia")])
    monkeypatch.setattr("importlib.util.find_spec", lambda name: namespace)
    assert installed() == [str(path)]
    assert find() == str(path)


def test_the_bias_of_a_column_major_result() -> None:
    """Its rows are those of the left operand, and so is its bias."""
    text = """HloModule m, entry_computation_layout={(f32[4,5]{1,0}, f32[5,6]{1,0}, f32[4]{0})->f32[4,6]{0,1}}

ENTRY main {
  x = f32[4,5]{1,0} parameter(0)
  y = f32[5,6]{1,0} parameter(1)
  b = f32[4]{0} parameter(2)
  ROOT r = f32[4,6]{0,1} custom-call(x, y, b), custom_call_target="__cublas$lt$matmul",
    backend_config={"lhs_contracting_dims":[1],"rhs_contracting_dims":[0],"epilogue":"BIAS","compute_type":"f32"}
}
"""
    module = xla.parse(text)
    made = matmul_of_call(module.entry.root)
    assert (made.swapped, made.d.rows, made.a.transposed, made.b.transposed) == (False, 4, True, True)
    rng = np.random.default_rng(0)
    x, y, b = (rng.integers(-2, 3, shape).astype(np.float32) for shape in ((4, 5), (5, 6), (4,)))
    np.testing.assert_array_equal(xla.evaluate(module, x, y, b)[0], x @ y + b[:, None])
