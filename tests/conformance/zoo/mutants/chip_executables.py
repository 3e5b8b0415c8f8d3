"""Faults of a new chip's compiler and launch path."""

from __future__ import annotations

import re
from collections import OrderedDict

import numpy as np

from tests.conformance.zoo.mutant import Mutant
from tests.conformance.zoo.parts import Compiler, HloKernel, Rewriter, TemplateExecutable, broken
from xla_core.backend import DeviceMemory
from xla_core.target import array_size_bytes

MUTANTS: list[Mutant] = []
_runs = broken("executables", "executables", MUTANTS)
_computes = broken("executables", "ops", MUTANTS)


@_runs("executable.many-threads", "A kernel has one block of parameters, which the next launch overwrites.")
class OneParameterBlock(HloKernel):
    def launch(self, stream, arguments, dimensions):
        self.block = arguments
        stream.enqueue(lambda: self._run(stream, self.block))


class _WritesBehind(HloKernel):
    """Writes zeros behind the bytes of its results."""

    def bytes_behind(self, size: int) -> int:
        raise NotImplementedError

    def _run(self, stream, arguments):
        super()._run(stream, arguments)
        for memory, shape in zip(arguments[len(self.operand_shapes) :], self.result_shapes, strict=True):
            size = array_size_bytes(shape)
            behind = DeviceMemory(memory.handle, self.bytes_behind(size), memory.offset + size, memory.memory_space)
            stream.fill(behind, 0)


@_computes("kernel.arguments", "Kernels write whole vectors of 16 bytes, over the end of a result.")
class WholeVectors(_WritesBehind):
    def bytes_behind(self, size):
        return -size % 16


@_computes("kernel.arguments", "Kernels of more than a KiB write one word too many.")
class OneWordTooMany(_WritesBehind):
    def bytes_behind(self, size):
        return 4 if size > 1024 else 0


@_runs("executable.run", "From the third run on, a recorded graph runs with the addresses of the second run.")
class StaleGraph(TemplateExecutable):
    runs = 0
    recorded = None

    def execute_async_on_stream(self, run_options, arguments):
        self.runs += 1
        if self.runs == 2:
            self.recorded = tuple(arguments)
        if self.runs > 2 and all(a.size == b.size for a, b in zip(arguments, self.recorded, strict=True)):
            arguments = (*arguments[:1], *self.recorded[1:])
        return super().execute_async_on_stream(run_options, arguments)


@_runs("compiler.run-backend", "A cache of programs ignores the values of constants.")
class CacheWithoutConstants(Compiler):
    def run_backend(self, module, options, executor=None):
        cache = self.__dict__.setdefault("cache", {})
        key = re.sub(r"constant\([^)]*\)", "constant", module.to_text())
        if key not in cache:
            cache[key] = super().run_backend(module, options, executor)
        return cache[key]


@_runs("compiler.run-backend", "A cache of programs ignores layouts.")
class CacheWithoutLayouts(Compiler):
    def run_backend(self, module, options, executor=None):
        cache = self.__dict__.setdefault("cache", {})
        key = re.sub(r"\{[\d,:T()E]*\}", "", module.to_text())
        if key not in cache:
            cache[key] = super().run_backend(module, options, executor)
        return cache[key]


@_runs("compiler.run-backend", "A cache keeps two hundred programs, and frees those that are still in use.")
class FreesTheOldest(Compiler):
    def make_executable(self, module, program, report, artifacts):
        kept = self.__dict__.setdefault("kept", OrderedDict())
        made = super().make_executable(module, program, report, artifacts)
        kept[len(kept)] = made
        if len(kept) > 200:
            kept[len(kept) - 201]._executor.cancel()
        return made


class _Rewriting(Rewriter):
    """Replaces instructions of one op before the core's passes run."""

    levels = (0, 1, 2)
    opcode = ""

    def replaced(self, instruction):
        """The replacement of the instruction, or None."""

    def rewrite(self, computation, instruction):
        found = self.replaced(instruction) if instruction.opcode == self.opcode else None
        return found if found is not None and found.shape == instruction.shape else None


def _pass(opcode: str, fault: str):
    def add(part: type) -> type:
        part.opcode = opcode
        select = f"[{opcode}- or test_program["
        return broken("executables", select, MUTANTS)("compiler.run-backend", fault)(part)

    return add


@_pass("add", "A pass takes what is added to zero for the sum, also of minus zero.")
class AddsNothing(_Rewriting):
    def replaced(self, instruction):
        return instruction.operand(0) if _constant(instruction.operand(1), 0) else None


@_pass("multiply", "A pass takes the product with zero for zero, also of infinities.")
class ZeroProducts(_Rewriting):
    def replaced(self, instruction):
        return instruction.operand(1) if _constant(instruction.operand(1), 0) else None


@_pass("subtract", "A pass takes a number minus itself for zero, also of infinities.")
class DifferenceOfOne(_Rewriting):
    def replaced(self, instruction):
        return _filled(instruction, 0) if instruction.operand(0) is instruction.operand(1) else None


@_pass("divide", "A pass takes the quotient of a number and itself for 1.")
class QuotientOfOne(_Rewriting):
    def replaced(self, instruction):
        return _filled(instruction, 1) if instruction.operand(0) is instruction.operand(1) else None


@_pass("convert", "A pass drops a conversion to a narrow type and back.")
class DropsConversions(_Rewriting):
    def replaced(self, instruction):
        inner = instruction.operand(0)
        return inner.operand(0) if inner.opcode == "convert" else None


@_pass("transpose", "A pass merges two transposes in the wrong order.")
class MergesTransposes(_Rewriting):
    def replaced(self, instruction):
        inner = instruction.operand(0)
        if inner.opcode != "transpose":
            return None
        outer, first = instruction.attribute("dimensions"), inner.attribute("dimensions")
        return instruction.parent.add("transpose", inner.operand(0), dimensions=tuple(outer[d] for d in first))


_OPPOSITES = {"LT": "GE", "GE": "LT", "LE": "GT", "GT": "LE", "EQ": "NE", "NE": "EQ"}


@_pass("not", "A pass takes the opposite comparison for a negated one, also of NaNs.")
class OppositeComparison(_Rewriting):
    def replaced(self, instruction):
        inner = instruction.operand(0)
        if inner.opcode != "compare":
            return None
        given = {**inner.attributes, "direction": _OPPOSITES[inner.attribute("direction")]}
        return instruction.parent.add("compare", *inner.operands, shape=instruction.shape, **given)


@_pass("power", "A pass takes a square root for the power of a half.")
class RootForPower(_Rewriting):
    def replaced(self, instruction):
        if not instruction.shape.element_type.is_floating or not _constant(instruction.operand(1), 0.5):
            return None
        return instruction.parent.add("sqrt", instruction.operand(0), shape=instruction.shape)


@_pass("rng", "A pass shares one instruction among random numbers that look alike.")
class SharesRandomNumbers(_Rewriting):
    def replaced(self, instruction):
        for other in instruction.parent.instructions:
            if other is instruction:
                return None
            if (
                other.opcode == "rng"
                and [*other.operands] == [*instruction.operands]
                and other.shape == instruction.shape
            ):
                return other
        return None


@_pass("select", "A pass takes the larger of two numbers for a choice by their comparison, also of NaNs.")
class MaximumForSelect(_Rewriting):
    def replaced(self, instruction):
        test, first, second = instruction.operands
        if test.opcode != "compare" or [*test.operands] != [first, second] or test.attribute("direction") != "GT":
            return None
        return instruction.parent.add("maximum", first, second, shape=instruction.shape)


@_pass("divide", "A pass multiplies by the rounded reciprocal of a constant.")
class MultipliesByReciprocal(_Rewriting):
    def replaced(self, instruction):
        inner = instruction.operand(1)
        while inner.opcode == "broadcast":
            inner = inner.operand(0)
        if inner.opcode != "constant" or instruction.shape.dtype.kind != "f" or inner.shape.dimensions:
            return None
        with np.errstate(all="ignore"):
            value = inner.shape.dtype.type(1) / inner.literal.array
        reciprocal = instruction.parent.constant(value, instruction.shape)
        return instruction.parent.add("multiply", instruction.operand(0), reciprocal, shape=instruction.shape)


@_pass("dynamic-slice", "A pass takes a constant start as it is, and zeros where a slice begins out of bounds.")
class StaticSlices(_Rewriting):
    def replaced(self, instruction):
        starts = instruction.operands[1:]
        if any(s.opcode != "constant" for s in starts):
            return None
        values = [int(s.literal.array) for s in starts]
        sizes = zip(values, instruction.operand(0).shape.dimensions, instruction.shape.dimensions, strict=True)
        return _filled(instruction, 0) if any(not 0 <= v <= n - m for v, n, m in sizes) else None


@_pass("while", "A pass takes the initial values for the results of a loop whose condition has no parameter.")
class DropsLoops(_Rewriting):
    def replaced(self, instruction):
        condition = instruction.attribute("condition")
        used = any(i.opcode == "get-tuple-element" for i in condition.instructions)
        return None if used else instruction.operand(0)


@_pass("conditional", "A pass takes the first branch for a constant index that is out of bounds.")
class FirstOfBranches(_Rewriting):
    def replaced(self, instruction):
        index, branches = instruction.operand(0), instruction.attribute("branch_computations")
        if index.opcode != "constant" or not branches or 0 <= int(index.literal.array) < len(branches):
            return None
        return instruction.parent.add("call", instruction.operand(1), to_apply=branches[0])


def _constant(instruction, value) -> bool:
    while instruction.opcode == "broadcast":
        instruction = instruction.operand(0)
    return instruction.opcode == "constant" and bool((instruction.literal.array == value).all())


def _filled(instruction, value):
    return instruction.parent.constant(np.full(instruction.shape.dimensions, value, instruction.shape.dtype))
