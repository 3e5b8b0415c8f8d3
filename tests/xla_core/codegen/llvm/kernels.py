"""Builds fusions in a line, runs them on this machine, and compares them with the reference evaluator."""

from __future__ import annotations

import ctypes
import dataclasses
import functools
import itertools
from collections.abc import Callable, Collection, Sequence
from typing import Any

import llvmlite.binding as llvm
import numpy as np

from xla_core.codegen import link_objects
from xla_core.codegen.llvm import EmittedKernel, KernelEmitter, LoopAbi, Planner, TargetAbi, compile_ir
from xla_core.codegen.llvm.planner import FORMS
from xla_core.hlo.evaluator import evaluate_computation
from xla_core.hlo.ir.computation import HloComputation
from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.hlo.values.element_type import ElementType
from xla_core.hlo.values.literal import Literal
from xla_core.hlo.values.shape import Shape

F32 = ElementType.F32
S32 = ElementType.S32


def single_elements() -> Planner:
    """A planner of kernels whose threads each compute an element, as on a grid."""
    return Planner(
        [dataclasses.replace(form, matches=lambda body: True) for form in FORMS if form.name == "thread elements"]
    )


@functools.cache
def host_abi(vector_width: int = 256) -> LoopAbi:
    """Makes the ABI of this machine."""
    features = llvm.get_host_cpu_features()
    abi = LoopAbi(llvm.get_process_triple(), llvm.get_host_cpu_name(), features.flatten(), vector_width=vector_width)
    abi.has_fma = bool(features.get("fma") or "aarch64" in abi.triple)
    if not (features.get("f16c") or "aarch64" in abi.triple):
        abi.native_floats = frozenset()
    return abi


def array(element_type: ElementType, *dims: int) -> Shape:
    return Shape.array(element_type, dims)


def f32(*dims: int) -> Shape:
    return Shape.array(F32, dims)


def scalar_body(opcode: str, element_type: ElementType = F32, **attributes: Any) -> HloComputation:
    """(a, b) -> opcode(a, b)."""
    body = HloComputation(opcode)
    body.add(opcode, body.parameter(0, array(element_type)), body.parameter(1, array(element_type)), **attributes)
    return body


def scalar(computation: HloComputation, value: float, element_type: ElementType = F32) -> HloInstruction:
    shape = array(element_type)
    return computation.add("constant", shape=shape, literal=Literal(np.asarray(value).astype(shape.dtype), shape))


def fuse(build: Callable[..., Any], *shapes: Shape) -> HloInstruction:
    """A fusion over parameters of some shapes; `build(computation, *parameters)` returns its root or its roots."""
    inner = HloComputation("fused")
    root = build(inner, *[inner.parameter(i, s) for i, s in enumerate(shapes)])
    if isinstance(root, (list, tuple)):
        root = inner.add("tuple", *root)
    inner.set_root(root)
    outer = HloComputation("outer")
    operands = [outer.parameter(i, s) for i, s in enumerate(shapes)]
    return outer.add("fusion", *operands, shape=root.shape, kind="kLoop", calls=inner, name="kernel")


def emit(
    instruction: HloInstruction,
    abi: TargetAbi | None = None,
    aliasing: Collection[tuple[int, int]] = (),
    planner: Planner | None = None,
) -> tuple[EmittedKernel, str]:
    """(the kernel, the module's text)."""
    emitter = KernelEmitter(abi or host_abi(), planner=planner)
    kernel = emitter.emit(instruction, "kernel", aliasing=aliasing)
    return kernel, emitter.module.to_text()


class Loaded:
    """A kernel in this process's memory."""

    def __init__(
        self,
        instruction: HloInstruction,
        abi: LoopAbi | None = None,
        aliasing: Collection[tuple[int, int]] = (),
        opt_level: int = 2,
        planner: Planner | None = None,
    ) -> None:
        abi = abi or host_abi()
        self.aliasing = aliasing
        self.kernel, self.text = emit(instruction, abi, aliasing, planner)
        self.compiled = compile_ir(self.text, abi, opt_level, jit=True, what="kernel")
        self.code = link_objects([self.compiled.object()], [phase.name for phase in self.kernel.phases])
        types = (None, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64)
        self.functions = [self.code.function(phase.name, *types) for phase in self.kernel.phases]

    def __call__(self, *arguments: Any, parts: int = 3) -> list[np.ndarray]:
        """Runs the kernel, with its units of work in several parts, and returns the results."""
        operands = [p for p in self.kernel.parameters if not p.is_result]
        results = [p for p in self.kernel.parameters if p.is_result]
        inputs = [_aligned(p.shape, a) for p, a in zip(operands, arguments, strict=True)]
        outputs = [_aligned(p.shape, None) for p in results]
        for result, operand in self.aliasing:
            outputs[result] = inputs[operand].view(outputs[result].dtype)
        scratch = _aligned(array(ElementType.U8, self.kernel.scratch_bytes), None)
        addresses = [a.ctypes.data for a in [*inputs, *outputs, scratch]]
        table = (ctypes.c_void_p * len(addresses))(*addresses)
        for phase, function in zip(self.kernel.phases, self.functions, strict=True):
            self.run(phase, function, ctypes.addressof(table), parts)
        return [_logical(p.shape, a) for p, a in zip(results, outputs, strict=True)]

    def run(self, phase: EmittedKernel, function: Callable[[int, int, int], None], table: int, parts: int) -> None:
        """Runs a phase, with its units of work in several parts."""
        grains = -(-phase.partition_count // phase.grain)
        ends = [min(phase.grain * (grains * part // parts), phase.partition_count) for part in range(parts + 1)]
        for begin, end in itertools.pairwise(ends):
            function(table, begin, end)


def _aligned(shape: Shape, value: Any) -> np.ndarray:
    """Makes an aligned buffer with the layout of the shape."""
    order = [*reversed(shape.minor_to_major())]
    physical = [shape.dimensions[d] for d in order]
    size = int(np.prod(physical, dtype=np.int64)) * shape.dtype.itemsize
    raw = np.full(size + 64, 0xA5, np.uint8)
    start = -raw.ctypes.data % 64
    result = raw[start : start + size].view(shape.dtype).reshape(physical)
    if value is not None:
        result[...] = np.asarray(value).transpose(order)
    return result


def _logical(shape: Shape, buffer: np.ndarray) -> np.ndarray:
    order = [*reversed(shape.minor_to_major())]
    return buffer.transpose(np.argsort(order)) if order else buffer


def random_array(shape: Shape, seed: int = 0) -> np.ndarray:
    """Makes integers of the whole range, or normally distributed floats."""
    rng, t, dims = np.random.default_rng(seed), shape.element_type, shape.dimensions
    if t is ElementType.PRED:
        return rng.integers(0, 2, dims).astype(bool)
    if t.is_integral:
        low = -(1 << t.bit_width - 1) if t.is_signed else 0
        high = (1 << t.bit_width - t.is_signed) - 1
        return rng.integers(low, high, dims, np.int64 if t.is_signed else np.uint64, endpoint=True).astype(t.dtype)
    if t.is_complex:
        return (rng.standard_normal(dims) + 1j * rng.standard_normal(dims)).astype(t.dtype)
    return rng.standard_normal(dims).astype(t.dtype)


def assert_same(got: np.ndarray, expected: np.ndarray, tolerance: float) -> None:
    """Equal, both NaN, or within a relative and absolute tolerance."""
    assert got.dtype == expected.dtype
    assert got.shape == expected.shape
    if tolerance == 0:
        assert _bits(got) == _bits(expected) or _equal(got, expected)
        return
    wide = np.complex128 if got.dtype.kind == "c" else np.float64
    np.testing.assert_allclose(got.astype(wide), expected.astype(wide), rtol=tolerance, atol=tolerance)


def _bits(value: np.ndarray) -> bytes:
    return np.ascontiguousarray(value).tobytes()


def _equal(got: np.ndarray, expected: np.ndarray) -> bool:
    wide = np.complex128 if got.dtype.kind == "c" else np.float64 if got.dtype.kind not in "iub" else got.dtype
    a, b = got.astype(wide), expected.astype(wide)
    different = ~((a == b) | ((a != a) & (b != b)))
    if different.any():
        raise AssertionError(f"{different.sum()} differ: {a[different][:5]} instead of {b[different][:5]}")
    return True


def check(
    build: Callable[..., Any],
    *shapes: Shape,
    arguments: Sequence[Any] | None = None,
    tolerance: float = 1e-5,
    aliasing: Collection[tuple[int, int]] = (),
    parts: int = 3,
) -> Loaded:
    """Runs a fusion natively and on the evaluator; the results agree."""
    instruction = fuse(build, *shapes)
    arguments = arguments or [random_array(s, i) for i, s in enumerate(shapes)]
    expected = evaluate_computation(instruction.attribute("calls"), list(arguments))
    loaded = Loaded(instruction, aliasing=aliasing)
    for got, want in zip(loaded(*arguments, parts=parts), expected, strict=True):
        assert_same(got, np.asarray(want), tolerance)
    return loaded
