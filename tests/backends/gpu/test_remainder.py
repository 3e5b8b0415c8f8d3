"""The remainder of floats, compiled for this machine: it is that of C, bit by bit."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("xla_backend_gpu", reason="xla-backend-gpu is not installed")

from xla_backend_gpu.remainder import remainder

from tests.xla_core.codegen.llvm.kernels import Loaded, array, fuse, host_abi
from xla_core.codegen.llvm import LoopAbi
from xla_core.hlo import ElementType


class ExactAbi(LoopAbi):
    """This machine's, with our remainder in place of C's."""

    def math(self, builder, name, arguments):
        return remainder(builder, *arguments) if name == "remainder" else None


def operands(dtype: np.dtype, bits: np.dtype, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Any bits, pairs of special values, quotients near 1, and denormals."""
    random = np.random.default_rng(0)
    x, y = (random.integers(0, np.iinfo(bits).max, count, dtype=bits).view(dtype) for _ in range(2))
    limits = np.finfo(dtype)
    special = np.array([0, 1, np.inf, np.nan, limits.tiny, limits.smallest_subnormal, limits.max, 3, 2.5], dtype)
    pairs = np.meshgrid(np.concatenate([special, -special]), special)
    part = count // 4
    x[: pairs[0].size], y[: pairs[1].size] = (p.ravel() for p in pairs)
    with np.errstate(over="ignore", invalid="ignore"):
        y[part : 2 * part] = x[part : 2 * part] * random.random(part).astype(dtype)
    x[2 * part : 3 * part] = random.integers(0, 999, part) * limits.smallest_subnormal
    y[2 * part : 3 * part] = random.integers(0, 99, part) * limits.smallest_subnormal
    return x, y


@pytest.mark.parametrize(
    ("element_type", "dtype", "bits"),
    [(ElementType.F32, np.float32, np.uint32), (ElementType.F64, np.float64, np.uint64)],
)
def test_it_is_exact(element_type, dtype, bits) -> None:
    host = host_abi()
    abi = ExactAbi(host.triple, host.cpu, host.features, native_floats=host.native_floats)
    x, y = operands(dtype, bits, 1 << 16)
    shape = array(element_type, x.size)
    (found,) = Loaded(fuse(lambda c, a, b: c.add("remainder", a, b), shape, shape), abi)(x, y)
    with np.errstate(invalid="ignore"):
        expected = np.fmod(x, y)
    same = (found.view(bits) == expected.view(bits)) | (np.isnan(found) & np.isnan(expected))
    assert same.all(), (x[~same][:4], y[~same][:4], found[~same][:4], expected[~same][:4])
