"""Programs that need too much memory, no memory at all, and the memory that a compilation keeps."""

from __future__ import annotations

import gc
import resource
from pathlib import Path

import numpy as np
import pytest

import xla_core as xla

from .conftest import ADD

HUGE = 2**45
SORT = """({ ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %p = stablehlo.compare LT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1> })"""


def main(results, *lines, arguments=""):
    return f"func.func @main({arguments}) -> {results} {{\n" + "\n".join(lines) + "\n}\n"


def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


PROGRAMS = {
    "a result": main(f"tensor<{HUGE}xf32>", f"%0 = stablehlo.iota dim = 0 : tensor<{HUGE}xf32>", f"return %0 : tensor<{HUGE}xf32>"),
    "a constant": main(f"tensor<{HUGE}xf32>", f"%0 = stablehlo.constant dense<1.0> : tensor<{HUGE}xf32>", f"return %0 : tensor<{HUGE}xf32>"),
    "a constant of 2^60": main(f"tensor<{2**60}xf32>", f"%0 = stablehlo.constant dense<1.0> : tensor<{2**60}xf32>", f"return %0 : tensor<{2**60}xf32>"),
    "a temporary": main(
        "tensor<1xf32>",
        f"%0 = stablehlo.iota dim = 0 : tensor<{HUGE}xf32>",
        f'%1 = "stablehlo.sort"(%0) <{{dimension = 0 : i64}}> {SORT} : (tensor<{HUGE}xf32>) -> tensor<{HUGE}xf32>',
        f"%2 = stablehlo.slice %1 [5:6] : (tensor<{HUGE}xf32>) -> tensor<1xf32>",
        "return %2 : tensor<1xf32>",
    ),
    "2^80 elements": main(f"tensor<{2**40}x{2**40}xf32>", f"%0 = stablehlo.iota dim = 0 : tensor<{2**40}x{2**40}xf32>", f"return %0 : tensor<{2**40}x{2**40}xf32>"),
}  # fmt: skip


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs_larger_than_memory(client, refused, name):
    before = peak()
    error = refused(xla.ResourceExhaustedError, ["bytes"], lambda: client.compile(PROGRAMS[name])())
    assert error.hint
    assert peak() - before < 300_000, "kilobytes were touched for it"


def test_an_argument_larger_than_memory(client, refused):
    exe = client.compile(
        main(f"tensor<{HUGE}xf32>", f"return %x : tensor<{HUGE}xf32>", arguments=f"%x: tensor<{HUGE}xf32>")
    )
    refused(xla.InvalidArgumentError, ["argument 0", str(HUGE)], lambda: exe(np.ones(3, np.float32)))
    view = np.broadcast_to(np.float32(1), HUGE)  # as an array of that size may be, without its memory
    refused(xla.ResourceExhaustedError, ["bytes"], lambda: exe(view))
    refused(xla.ResourceExhaustedError, ["bytes"], lambda: client.buffer_from_host(view))


def test_a_splat_of_2_to_the_60_that_is_not_needed_whole(client):
    text = main(
        "tensor<2xf32>",
        f"%0 = stablehlo.constant dense<1.5> : tensor<{2**60}xf32>",
        f"%1 = stablehlo.slice %0 [{2**59}:{2**59 + 2}] : (tensor<{2**60}xf32>) -> tensor<2xf32>",
        "return %1 : tensor<2xf32>",
    )
    assert np.asarray(client.compile(text)()[0]).tolist() == [1.5, 1.5]


def test_a_memory_limit(backend, refused):
    with xla.Client(backend) as client:
        device = client.devices[0]
        device.memory_limit = 1 << 20
        held = client.buffer_from_host(np.zeros(1 << 17, np.float32))
        error = refused(
            xla.ResourceExhaustedError, ["1.0 MiB", "512.0 KiB", "f32[131072]", "in use"],
            lambda: client.buffer_from_host(np.zeros(1 << 18, np.float32)),
        )  # fmt: skip
        assert "delete buffers" in str(error.hint)
        text = main(
            "tensor<262144xf32>", "%0 = stablehlo.iota dim = 0 : tensor<262144xf32>", "return %0 : tensor<262144xf32>"
        )
        exe = client.compile(text)
        refused(xla.ResourceExhaustedError, ["its limit is 1.0 MiB"], exe)
        held.delete()
        assert np.asarray(exe()[0])[-1] == 262143
        assert np.asarray(client.compile(ADD)(np.ones(3, np.float32), np.ones(3, np.float32))[0]).tolist() == [2, 2, 2]


EMPTY = """HloModule empty
sum { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT c = f32[] add(a, b) }
lt { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT c = pred[] compare(a, b), direction=LT }
ENTRY e {
  x = f32[0,3] parameter(0)
  y = f32[3,0] parameter(1)
  zero = f32[] constant(0)
  product = f32[3,3] dot(y, x), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  none = f32[0,0] dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  sum = f32[3] reduce(x, zero), dimensions={0}, to_apply=sum
  nothing = f32[0] reduce(x, zero), dimensions={1}, to_apply=sum
  sorted = f32[0,3] sort(x), dimensions={0}, to_apply=lt
  turned = f32[3,0] transpose(sorted), dimensions={1,0}
  both = f32[3,0] add(turned, y)
  padded = f32[2,3] pad(x, zero), padding=1_1x0_0
  cut = f32[0,3] slice(padded), slice={[1:1], [0:3]}
  joined = f32[0,6] concatenate(cut, x), dimensions={1}
  flat = f32[0] reshape(joined)
  ROOT r = (f32[3,3], f32[0,0], f32[3], f32[0], f32[3,0], f32[2,3], f32[0], f32[0,3]) tuple(product, none, sum, nothing, both, padded, flat, x)
}
"""


def test_arrays_without_elements(client):
    arguments = np.zeros((0, 3), np.float32), np.zeros((3, 0), np.float32)
    results = [np.asarray(r) for r in client.compile(EMPTY)(*arguments)]
    expected = xla.evaluate(xla.parse(EMPTY), *arguments)
    assert [r.shape for r in results] == [(3, 3), (0, 0), (3,), (0,), (3, 0), (2, 3), (0,), (0, 3)]
    for result, want in zip(results, expected, strict=True):
        np.testing.assert_array_equal(result, want)


def test_huge_arrays_without_elements(client):
    shape = f"tensor<0x{2**62}x{2**62}xf32>"
    exe = client.compile(
        main(shape, f"%0 = stablehlo.abs %x : {shape}", f"return %0 : {shape}", arguments=f"%x: {shape}")
    )
    refused_or_run = client.compile(
        main("tensor<f32>", "%0 = stablehlo.constant dense<1.0> : tensor<f32>", "return %0 : tensor<f32>")
    )
    assert exe.result_shapes[0].num_elements == 0
    assert float(refused_or_run()[0]) == 1


KERNEL = """
define void @scale(ptr noalias %from, ptr noalias %to, i64 %n) {
entry:
  br label %loop
loop:
  %i = phi i64 [0, %entry], [%next, %loop]
  %source = getelementptr float, ptr %from, i64 %i
  %x = load float, ptr %source
  %y = fmul float %x, 2.0
  %target = getelementptr float, ptr %to, i64 %i
  store float %y, ptr %target
  %next = add i64 %i, 1
  %more = icmp slt i64 %next, %n
  br i1 %more, label %loop, label %done
done:
  ret void
}
"""


def own_kilobytes():
    """Returns the private memory of this process."""
    lines = Path("/proc/self/smaps_rollup").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("Private_Dirty"))


@pytest.mark.skipif(not Path("/proc/self/smaps_rollup").exists(), reason="only Linux tells")
def test_llvm_keeps_nothing_of_a_compilation():
    """A pass manager alone is 70 kB."""
    pytest.importorskip("llvmlite")
    from xla_core.codegen.llvm import LoopAbi, compile_ir

    def compile_some(count):
        for _ in range(count):
            compile_ir(KERNEL, LoopAbi()).object()
        gc.collect()
        return own_kilobytes()

    before = compile_some(10)
    assert (compile_some(40) - before) / 40 < 25
