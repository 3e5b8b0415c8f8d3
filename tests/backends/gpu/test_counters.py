"""The bytes and launches of the memory-bound benchmark programs' kernels, as the emulated device counts them."""

from __future__ import annotations

import dataclasses
import re

import numpy as np
import pytest

pytest.importorskip("xla_backend_gpu", reason="xla-backend-gpu is not installed")

from xla_backend_gpu.counting import counted
from xla_backend_gpu.emulator import Counters

import xla_core as xla
from benchmarks.suite import Array, Benchmark, load

LAUNCHES = {
    # program: (kernels of XLA's GPU compiler, why; read from its fusion passes, not measured)
    "elementwise_chain": (1, "one loop fusion"),
    "gelu_tanh": (1, "one loop fusion"),
    "gelu_erf": (1, "one loop fusion"),
    "exp_log_sin_sqrt": (1, "one loop fusion"),
    "bf16_silu": (1, "one loop fusion"),
    "adam_update": (1, "one loop fusion of three results, with the scalars in it"),
    "transpose": (1, "one transpose fusion"),
    "transpose_nhwc_to_nchw": (1, "one transpose fusion"),
    "concatenate_pad_slice": (1, "one loop fusion"),
    "embedding": (1, "one gather fusion"),
    "reduce_all": (2, "TreeReductionRewriter splits it in two"),
    "reduce_rows": (1, "one fusion of two results"),
    "reduce_columns": (2, "TreeReductionRewriter splits it in two, or the columns use atomics after a fill"),
    "argmax_rows": (1, "one variadic reduction"),
    "cumsum": (3, "ReduceWindowRewriter makes scans of blocks, of their totals, and their sum"),
    "random_uniform": (1, "one loop fusion of the unrolled rounds"),
    "softmax": (1, "SoftmaxRewriterTriton makes one fusion"),
    "layer_norm": (1, "SoftmaxRewriterTriton makes one fusion"),
    "layer_norm_grad": (3, "a row reduction of several results, the rows' gradient, and two column reductions in one"),
    "batch_norm_train": (5, "the mean and the variance in two each, as other columns, and the normalization"),
}

PASSES = {
    # program: (how often its largest input must be read, why)
    "batch_norm_train": (
        3,
        "no block holds a column, whose mean the variance needs, and whose variance the result needs",
    ),
}

ASKED = {
    # program: (bytes that threads ask for, as a multiple of the floor, why); others ask for each byte once
    "elementwise_chain": (1.34, "each thread reads the scale of its few rows, which the cache holds"),
    "bf16_silu": (1.5, "each thread reads the bias of its few rows, which the cache holds"),
    "layer_norm": (2.0, "each row reads scale and shift, which the cache holds"),
    "layer_norm_grad": (1.4, "each block reads the scale, which the cache holds, and writes its sums of the columns"),
    "random_uniform": (2.0, "each thread reads the key, which the cache holds"),
    "embedding": (2.1, "several tokens read one row of the smaller table, which the cache holds"),
    "batch_norm_train": (
        4.4,
        "three kernels read the operand; each thread reads the columns' figures, which the cache holds",
    ),
}

COALESCING = {
    # program: (bytes that threads ask for, as a part of the sectors' bytes, why); others use all bytes of a sector
    "concatenate_pad_slice": (0.58, "it reads every second element, and rows of 1283 floats begin within a sector"),
}

MOVED = {
    # program: (bytes of memory that are moved, as a multiple of the floor, why); others move each byte once
    # docs/gpu.md, "Bytes that a program must move", has the arithmetic.
    "layer_norm_grad": (1.2, "each block writes its sums of the columns, which a second kernel adds up in order"),
}


@dataclasses.dataclass(frozen=True, slots=True)
class Run:
    """The counters of a program, and the bytes of its inputs and outputs; and with those that must be read again."""

    counters: Counters
    floor: int
    needed: int


def smaller(benchmark: Benchmark) -> tuple[str, list[Array]]:
    """Returns a program and its inputs, with a smaller leading dimension of the largest input.

    The input has 2^18 elements or up to twice as many then, so that there are threads enough for vectors. A program
    with slices stays as it is, because their bounds are attributes.
    """
    arguments, text = benchmark.arguments or (), benchmark.text
    largest = max((a.shape for a in arguments), key=np.prod)
    size, factor = largest[0], 1
    while np.prod(largest) >> largest.count(size) * factor.bit_length() >= 1 << 18 and not size % (2 * factor):
        factor *= 2
    if "stablehlo.slice" in text:
        factor = 1

    def types(found: re.Match[str]) -> str:
        return re.sub(rf"(?<!\d){size}(?=x)", str(size // factor), found[0])

    inputs, random = [], np.random.default_rng(0)
    for spec in arguments:
        shape = tuple(size // factor if n == size else n for n in spec.shape)
        high = spec.high / factor if spec.high == size else spec.high
        inputs.append(dataclasses.replace(spec, shape=shape, high=high).make(random))
    return re.sub(r"tensor<[^>]*>", types, text), inputs


@pytest.fixture(scope="module")
def runs(client):
    """Returns the run of a program. Each runs once, and its results are those of the CPU backend."""
    benchmarks = {benchmark.name: benchmark for benchmark in load()}
    known: dict[tuple[str, bool], Run] = {}
    with xla.Client("cpu") as cpu:

        def run(name: str, *, deterministic: bool = True) -> Run:
            if (name, deterministic) not in known:
                text, inputs = smaller(benchmarks[name])
                backend = {"engine": "checked", "deterministic": deterministic}
                executable = client.compile(text, xla.CompileOptions(backend=backend))
                with counted(client) as count:
                    results = [np.asarray(result) for result in executable(*inputs)]
                for got, want in zip(results, cpu.compile(text)(*inputs), strict=True):
                    wide = [np.asarray(a, np.float64) for a in (got, want)]
                    np.testing.assert_allclose(*wide, rtol=2e-2 if got.dtype.itemsize == 2 else 2e-4, atol=2e-4)
                floor, largest = sum(a.nbytes for a in [*inputs, *results]), max(a.nbytes for a in inputs)
                needed = floor + largest * (PASSES.get(name, (1,))[0] - 1)
                known[name, deterministic] = Run(count.counters, floor, needed)
            return known[name, deterministic]

        yield run


programs = pytest.mark.parametrize("name", LAUNCHES)


@programs
def test_threads_ask_for_no_more_than_they_need(runs, name: str) -> None:
    run = runs(name)
    assert run.counters.global_bytes <= ASKED.get(name, (1.05,))[0] * run.floor


@programs
def test_each_byte_of_memory_is_moved_once(runs, name: str) -> None:
    """Data that a launch reads again is in the cache."""
    run = runs(name)
    assert run.counters.touched_bytes <= MOVED.get(name, (1.05,))[0] * run.needed


@pytest.mark.parametrize("name", MOVED)
def test_atomics_move_each_byte_once(runs, name: str) -> None:
    run = runs(name, deterministic=False)
    assert run.counters.touched_bytes <= 1.05 * run.needed
    assert run.counters.launches <= LAUNCHES[name][0]
    assert run.counters.local_bytes == 0


@programs
def test_sectors_are_moved_for_all_of_their_bytes(runs, name: str) -> None:
    """A result of one element a row is a sector for itself."""
    assert runs(name).counters.coalescing >= COALESCING.get(name, (0.97,))[0]


@programs
def test_programs_have_as_few_kernels_as_with_xlas_compiler(runs, name: str) -> None:
    assert runs(name).counters.launches <= LAUNCHES[name][0]


@programs
def test_no_thread_has_memory_of_its_own(runs, name: str) -> None:
    assert runs(name).counters.local_bytes == 0


@pytest.mark.parametrize("name", ["transpose", "transpose_nhwc_to_nchw"])
def test_transposes_have_no_bank_conflicts(runs, name: str) -> None:
    counters = runs(name).counters
    assert counters.shared_accesses > 0
    assert counters.shared_bank_conflicts == 0


RMS_NORM = """HloModule m
add {{
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = f32[] add(a, b)
}}
ENTRY e {{
  x = f32[{rows},{columns}] parameter(0)
  scale = f32[{columns}] parameter(1)
  zero = f32[] constant(0)
  squares = f32[{rows},{columns}] multiply(x, x)
  sum = f32[{rows}] reduce(squares, zero), dimensions={{1}}, to_apply=add
  root = f32[{rows}] rsqrt(sum)
  roots = f32[{rows},{columns}] broadcast(root), dimensions={{0}}
  y = f32[{rows},{columns}] multiply(x, roots)
  scales = f32[{rows},{columns}] broadcast(scale), dimensions={{1}}
  ROOT z = f32[{rows},{columns}] multiply(y, scales)
}}"""


@pytest.mark.parametrize("columns", [384, 512, 640, 768, 1536])
def test_no_thread_is_idle_in_rows_of_many_widths(client: xla.Client, columns: int) -> None:
    """Each row reads the scale, which the cache holds. An idle thread would ask for elements that others have, too."""
    rows, options = 1024, xla.CompileOptions(backend={"engine": "checked"})
    random = np.random.default_rng(0)
    x, scale = (random.random(shape, np.float32) for shape in ((rows, columns), columns))
    executable = client.compile(RMS_NORM.format(rows=rows, columns=columns), options)
    with counted(client) as count:
        (result,) = (np.asarray(result) for result in executable(x, scale))
    wide = x.astype(np.float64)
    np.testing.assert_allclose(result, wide / np.sqrt((wide * wide).sum(1, keepdims=True)) * scale, rtol=1e-5)
    assert count.counters.launches == 1
    assert count.counters.blocks < rows, "a block has several rows"
    assert count.counters.global_bytes == x.nbytes + rows * scale.nbytes + result.nbytes
