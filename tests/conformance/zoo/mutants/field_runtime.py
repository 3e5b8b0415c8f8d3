"""Faults of kernels' state and of compilers that were found in the field."""

from __future__ import annotations

import dataclasses
import os
import re
import time
from typing import Any

import numpy as np

from tests.conformance.zoo.mutant import Mutant
from tests.conformance.zoo.parts import Compiler, HloKernel, broken
from xla_core.hlo import evaluate_computation
from xla_core.target import to_device_layout

MUTANTS: list[Mutant] = []
_runs = broken("executables", "executables or programs", MUTANTS)
_compiles = broken("executables", "executables or claims", MUTANTS)
_ops = broken("executables", "ops", MUTANTS)


# -- what a kernel keeps between launches -----------------------------------------------------------------------------


class _Stateful(HloKernel):
    opcodes: tuple[str, ...] = ()

    def __init__(self, instruction, environment=None):
        super().__init__(instruction, environment)
        self.instruction = instruction
        self.launches = 0

    def _run(self, stream, arguments):
        if self.instruction.opcode not in self.opcodes:
            super()._run(stream, arguments)
            return
        self.launches += 1
        count = len(self.operand_shapes)
        arrays = [self._load(stream, m, s) for m, s in zip(arguments[:count], self.operand_shapes, strict=True)]
        for memory, shape, value in zip(arguments[count:], self.result_shapes, self.values(arrays), strict=True):
            stream.write(memory, to_device_layout(value, shape))

    def right(self, arrays):
        return evaluate_computation(self.computation, arrays, self.context)


def _stateful(opcodes: str, fault: str, **fields: Any):
    """A kernel of some ops whose results `values` makes; its tests are those of these ops."""

    def add(part: type) -> type:
        part.opcodes = tuple(opcodes.split())
        select = " or ".join(f"[{opcode}-" for opcode in part.opcodes)
        return broken("executables", select, MUTANTS)("executable.run", fault, **fields)(part)

    return add


@_stateful("sort topk", "A kernel gives the results of its first launch again, whatever its operands are.")
class FirstOrder(_Stateful):
    kept = None

    def values(self, arrays):
        self.kept = self.kept or self.right(arrays)
        return self.kept


@_stateful("gather", "A kernel keeps its indices from the first launch.")
class FirstIndices(_Stateful):
    indices = None

    def values(self, arrays):
        self.indices = arrays[1] if self.indices is None else self.indices
        return self.right([arrays[0], self.indices])


@_stateful("convolution dot", "A kernel packs its second operand on the first launch, and uses that from then on.")
class PacksOnce(_Stateful):
    packed = None

    def values(self, arrays):
        self.packed = arrays[1] if self.packed is None else self.packed
        return self.right([arrays[0], self.packed])


@_stateful("reduce", "Sums of a launch begin with what the launch before left in the first place.")
class LeavesSums(_Stateful):
    left = None

    def values(self, arrays):
        before, given = self.left, arrays[0]
        self.left = given.reshape(-1)[:1].copy()
        if before is not None and given.size and before[0].tobytes() != self.left[0].tobytes():
            given = given.copy()
            given.reshape(-1)[0] = before[0]
        return self.right([given, *arrays[1:]])


@_stateful("dynamic-slice dynamic-update-slice", "A kernel keeps its result as long as its first operand begins alike.")
class BeginsAlike(_Stateful):
    kept = None

    def values(self, arrays):
        key = arrays[0].tobytes()[:4]
        if self.kept is None or self.kept[0] != key:
            self.kept = (key, self.right(arrays))
        return self.kept[1]


@_stateful("scatter select-and-scatter", "A kernel adds to a scratch array that only its first launch clears.")
class ClearsOnce(_Stateful):
    scratch = None

    def values(self, arrays):
        right = self.right(arrays)
        before, self.scratch = self.scratch, right
        return (
            right
            if before is None
            else [b if b.tobytes() != r.tobytes() else r for b, r in zip(before, right, strict=True)]
        )


@_stateful("fft cholesky", "A kernel has wrong factors from its third launch on.", select="[fft- or [cholesky-")
class ThirdLaunch(_Stateful):
    def values(self, arrays):
        right = self.right(arrays)
        return [np.flip(r) for r in right] if self.launches > 2 else right


@_runs("executable.run", "A `dot` skips its launch number 100.")
class HundredthLaunch(_Stateful):
    opcodes = ("dot",)

    def values(self, arrays):
        right = self.right(arrays)
        return [np.zeros_like(r) for r in right] if self.launches == 100 else right


_SCRATCH: dict[str, Any] = {}


@_runs("executable.many-threads", "All kernels of an op share one scratch array, also on several streams.")
class OneScratch(HloKernel):
    def _run(self, stream, arguments):
        count = len(self.operand_shapes)
        arrays = [self._load(stream, m, s) for m, s in zip(arguments[:count], self.operand_shapes, strict=True)]
        key = f"{self.computation.root.opcode} {self.computation.root.shape}"
        _SCRATCH[key] = arrays
        time.sleep(0)
        values = evaluate_computation(self.computation, _SCRATCH[key], self.context)
        for memory, shape, value in zip(arguments[count:], self.result_shapes, values, strict=True):
            stream.write(memory, to_device_layout(value, shape))


@_ops("kernel.launch", "A kernel of more than 64 bytes clears its result before it reads its operands.")
class ClearsFirst(HloKernel):
    def _run(self, stream, arguments):
        for memory in arguments[len(self.operand_shapes) :]:
            if memory.size > 64:
                stream.fill(memory, 0)
        super()._run(stream, arguments)


@_ops("executable.run", "A result of rank 3 in another layout than the default one is written in the default one.")
class ForgetsLayouts(HloKernel):
    def __init__(self, instruction, environment=None):
        super().__init__(instruction, environment)
        self.result_shapes = tuple(
            shape.with_layout(dataclasses.replace(shape.layout, minor_to_major=(2, 1, 0)))
            if shape.rank == 3 and shape.layout is not None
            else shape
            for shape in self.result_shapes
        )


@_ops(
    "executable.run",
    "The last operand of several in another layout than the first one's is read in the first one's.",
    select="mixed-layouts",
)
class FirstLayout(HloKernel):
    def __init__(self, instruction, environment=None):
        super().__init__(instruction, environment)
        shapes = self.operand_shapes
        if len(shapes) > 2 and shapes[0].rank == shapes[-1].rank and shapes[0].layout and shapes[-1].layout:
            layout = dataclasses.replace(shapes[-1].layout, minor_to_major=shapes[0].layout.minor_to_major)
            self.operand_shapes = (*shapes[:-1], shapes[-1].with_layout(layout))


# -- compilers --------------------------------------------------------------------------------------------------------


class _Levels(Compiler):
    level = 2

    def run_backend(self, module, options, executor=None):
        self.level = options.optimization_level
        return super().run_backend(module, options, executor)


class _Changed(HloKernel):
    """A kernel whose results `change` changes."""

    change: Any = None

    def _run(self, stream, arguments):
        super()._run(stream, arguments)
        for memory, shape in zip(arguments[len(self.operand_shapes) :], self.result_shapes, strict=True):
            value = type(self).change(np.array(self._load(stream, memory, shape)))
            stream.write(memory, to_device_layout(value.astype(shape.dtype), shape))


def _reversed(value):
    return np.flip(value)


def _at_level(level: int, opcode: str, types: str, fault: str, name: str) -> None:
    """A compiler whose kernels of one op and type are wrong at one optimization level."""

    def make_kernel(self, instruction, environment):
        element = instruction.operand(0).shape
        if self.level != level or instruction.opcode != opcode or not element.is_array:
            return Compiler.make_kernel(self, instruction, environment)
        if element.element_type.value not in types.split():
            return Compiler.make_kernel(self, instruction, environment)
        kernel = type("Changed", (_Changed,), {"change": staticmethod(_reversed)})
        return kernel(instruction, environment)

    part = type(name, (_Levels,), {"make_kernel": make_kernel})
    broken("executables", f"[{opcode}-", MUTANTS)("compiler.run-backend", fault)(part)


_at_level(
    0, "convert", "s8", "At optimization level 0 a `convert` of s8 writes its elements backwards.", "ConvertsBackwards"
)
_at_level(2, "reduce", "bf16", "At level 2 a `reduce` of bf16 writes its elements backwards.", "ReducesBackwards")
_at_level(0, "concatenate", "f64", "At level 0 a `concatenate` of f64 writes its elements backwards.", "JoinsBackwards")
_at_level(2, "gather", "u8", "At level 2 a `gather` of u8 writes its elements backwards.", "GathersBackwards")
_at_level(
    0, "dynamic-slice", "u16", "At level 0 a `dynamic-slice` of u16 writes its elements backwards.", "SlicesBackwards"
)


def _kernel_key(instruction, ignored):
    """The key of an instruction in a cache."""
    text = str(instruction)
    text = re.sub(r"%[\w.-]+", "%", text)
    return re.sub(ignored, "", text)


class _KernelCache(Compiler):
    """Kernels are cached by a key that lacks something."""

    ignored = "x^"

    def make_kernel(self, instruction, environment):
        cache = self.__dict__.setdefault("kernels", {})
        key = _kernel_key(instruction, self.ignored)
        if key not in cache:
            cache[key] = super().make_kernel(instruction, environment)
        return cache[key]


@_compiles(
    "compiler.run-backend",
    "Kernels are cached without what they call: a `reduce` by minimum may be one by maximum.",
    select="ops or executables",
)
class CachesWithoutCalls(_KernelCache):
    pass


@_compiles("compiler.run-backend", "Kernels are cached without their attributes.", select="ops or executables")
class CachesWithoutAttributes(_KernelCache):
    ignored = r", (?!dimensions)\w+=(?:\{[^}]*\}|[^,]*)"


@_compiles(
    "compiler.run-backend",
    "Kernels are cached by the types of their operands, without that of the result.",
    select="ops or executables",
)
class CachesWithoutResults(_KernelCache):
    ignored = r"^\s*(?:ROOT )?% = \S+ "


@_compiles("compiler.run-backend", "A compilation that is refused leaves an open file.")
class RefusalsLeaveFiles(Compiler):
    def compile(self, module, options=None, executor=None):
        file = os.open("/dev/null", os.O_RDONLY)
        made = super().compile(module, options, executor)
        os.close(file)
        return made


@_compiles(
    "compiler.shape-size",
    "Buffers of 4-bit elements are half a byte short where their number is odd.",
    select="ops or transfers",
)
class ShortNibbles(Compiler):
    def shape_size_bytes(self, shape):
        size = super().shape_size_bytes(shape)
        if shape.is_array and shape.element_type.bit_width == 4 and shape.num_elements % 2 and shape.num_elements > 1:
            return size - 1
        return size
