"""Products treat denormal numbers as zero; the kernels around them don't."""

from __future__ import annotations

import platform

import numpy as np
import pytest
from xla_backend_cpu.codegen.dot import dot_kernel
from xla_backend_cpu.codegen.processor import Processor
from xla_backend_cpu.host import host_features, host_triple

from tests.backends.cpu.test_dot import dot_text
from xla_core import parse
from xla_core.hlo import Opcode

CONVOLUTION = """HloModule convolution
ENTRY main {
  a = f32[2,9,9,8] parameter(0)
  b = f32[3,3,8,16] parameter(1)
  ROOT c = f32[2,7,7,16] convolution(a, b), window={size=3x3}, dim_labels=b01f_01io->b01f
}"""

COLUMNS = "lhs_contracting_dims={1}, rhs_contracting_dims={0}"
ROWS = "lhs_contracting_dims={1}, rhs_contracting_dims={1}"

pytestmark = pytest.mark.skipif(
    platform.machine().lower() not in ("x86_64", "amd64", "aarch64", "arm64"), reason="the mode of this CPU is not set"
)


@pytest.mark.parametrize(
    ("kernel", "text", "left", "right"),
    [
        ("BlockedProduct", dot_text((9, 65), (65, 47), (9, 47), COLUMNS), (9, 65), (65, 47)),
        ("RowProduct", dot_text((4, 65), (47, 65), (4, 47), ROWS), (4, 65), (47, 65)),
        ("PackedProduct", dot_text((40, 400), (400, 400), (40, 400), ROWS), (40, 400), (400, 400)),
        ("", CONVOLUTION, (2, 9, 9, 8), (3, 3, 8, 16)),
    ],
)
def test_products_read_denormals_as_zero(client, kernel, text, left, right):
    root = parse(text).entry.root
    if root.opcode is Opcode.DOT:
        processor = Processor.of(host_features(), host_triple())
        assert type(dot_kernel(root, processor, blas=True)).__name__ == kernel
    program = client.compile(text)
    ones = np.ones(right, np.float32)
    assert not np.any(np.asarray(program(np.full(left, 1e-40, np.float32), ones)[0]))
    assert np.all(np.asarray(program(np.full(left, 1e-36, np.float32), ones)[0]) > 1e-36)


@pytest.mark.parametrize("rows", [8, 20000])
def test_the_mode_ends_with_the_product(client, rows):
    program = client.compile(f"""HloModule mixed
ENTRY main {{
  a = f32[{rows},64] parameter(0)
  b = f32[64,64] parameter(1)
  c = f32[{rows},64] dot(a, b), {COLUMNS}
  d = f32[{rows},64] parameter(2)
  e = f32[{rows},64] multiply(d, d)
  ROOT r = (f32[{rows},64], f32[{rows},64]) tuple(c, e)
}}""")
    ones = np.ones((64, 64), np.float32)
    small = np.full((rows, 64), 1e-20, np.float32)
    for _ in range(3):
        product, square = map(np.asarray, program(np.ones((rows, 64), np.float32), ones, small))
        np.testing.assert_array_equal(product, 64)
        np.testing.assert_array_equal(square, small * small)
        assert small[0, 0] * small[0, 0] > 0
