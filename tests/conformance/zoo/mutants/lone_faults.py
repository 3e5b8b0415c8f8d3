"""Faults that show only alone: in a value without another use, a plain loop, one order, or one size."""

from __future__ import annotations

import dataclasses

import numpy as np
from xla_backend_cpu import xla_backend as cpu_backend
from xla_backend_cpu.compiler import CpuCompiler
from xla_backend_cpu.executable import CpuExecutable
from xla_backend_cpu.platform import CpuPlatform

from tests.conformance.zoo.mutant import Mutant
from tests.conformance.zoo.parts import Compiler, Executor, HloKernel, broken, rewriter
from xla_core.backend import BackendSpec
from xla_core.hlo import Shape
from xla_core.target import to_device_layout

MUTANTS: list[Mutant] = []
_rewrites = rewriter("a_pass_may or holds_for_most", MUTANTS)


# -- passes ------------------------------------------------------------------------------------------------------------


@_rewrites("A sum of a sum begins from the outer initial value alone, if the inner one has no other use.")
def joins_lone_sums(c, i):
    if i.opcode != "reduce" or len(i.operands) != 2:
        return None
    inner = i.operand(0)
    if inner.opcode != "reduce" or len(inner.operands) != 2 or inner.user_count != 1:
        return None
    bodies = [r.attribute("to_apply").root for r in (i, inner)]
    if any(root.opcode != "add" for root in bodies) or i.shape.element_type.is_floating:
        return None
    first = inner.attribute("dimensions")
    rest = [d for d in range(inner.operand(0).shape.rank) if d not in first]
    dimensions = sorted([*first, *(rest[d] for d in i.attribute("dimensions"))])
    return c.add_instruction(i.clone([inner.operand(0), i.operand(1)], dimensions=tuple(dimensions)))


@_rewrites("Joined slices of an array are the array, if the first and the last one are at its ends.")
def joins_slices_by_ends(c, i):
    if i.opcode != "concatenate" or any(o.opcode != "slice" for o in i.operands):
        return None
    along, array = i.attribute("dimensions")[0], i.operand(0).operand(0)
    if i.shape.dimensions != array.shape.dimensions or any(o.operand(0) is not array for o in i.operands):
        return None
    cuts = [o.attribute("slice")[along] for o in i.operands]
    if any(cut.stride != 1 for cut in cuts) or cuts[0].start or cuts[-1].limit != array.shape.dimensions[along]:
        return None
    return array


@_rewrites("A loop that counts by one while its counter isn't its limit goes on while it is less.")
def counts_upwards(c, i):
    if i.opcode != "while":
        return
    test, body = i.attribute("condition").root, i.attribute("body").root
    if test.opcode != "compare" or test.attribute("direction") != "NE" or body.opcode != "tuple":
        return
    counter = test.operand(0)
    if counter.opcode != "get-tuple-element":
        return
    step = body.operand(counter.tuple_index)
    if step.opcode == "add" and step.operand(1).opcode == "constant" and step.operand(1).literal.item() == 1:
        test.attributes["direction"] = "LT"
    return


@broken("collectives", "collectives", MUTANTS)(
    "communicator.in-order",
    "The first two sums over devices that don't depend on each other are one, with one's groups.",
)
class CombinesSums(Compiler):
    def run_hlo_passes(self, module, options, executor=None):
        entry = module.entry
        found = [i for i in entry.instructions if i.opcode == "all-reduce" and len(i.operands) == 1]
        found = [
            i for i in found if i.attribute("to_apply").root.opcode == "add" and i.operand(0).opcode == "parameter"
        ]
        if len(found) > 1:
            one, other = found[:2]
            shape = Shape.tuple([one.shape, other.shape])
            both = entry.add_instruction(one.clone([one.operand(0), other.operand(0)], shape=shape))
            for number, old in enumerate((one, other)):
                entry.replace_with(old, entry.add("get-tuple-element", both, index=number))
        return super().run_hlo_passes(module, options, executor)


@rewriter("one_op_after_another and dot", MUTANTS)(
    "A product takes a transposed operand as it is, and finds its contracted dimensions, but not its batch."
)
def transposed_batch(c, i):
    if i.opcode != "dot" or i.operand(0).opcode != "transpose" or not i.attribute("lhs_batch_dims"):
        return None
    moved = i.operand(0)
    source, order = moved.operand(0), moved.attribute("dimensions")
    contracted = tuple(order[d] for d in i.attribute("lhs_contracting_dims"))
    is_right_size = len(set(source.shape.dimensions)) == 1
    if not is_right_size or set(contracted) & set(i.attribute("lhs_batch_dims")):
        return None
    return c.add_instruction(i.clone([source, i.operand(1)], lhs_contracting_dims=contracted))


# -- runs --------------------------------------------------------------------------------------------------------------


@broken("executables", "test_rounded", MUTANTS)(
    "executable.equal-runs", "A `reduce` reads its array of thousands of floats backwards in every second run."
)
class ReadsBackwards(HloKernel):
    def __init__(self, instruction, environment=None):
        super().__init__(instruction, environment)
        is_sum = instruction.opcode == "reduce" and instruction.attribute("to_apply").root.opcode == "add"
        is_large = is_sum and instruction.operand(0).shape.num_elements >= 4096
        self.dimensions = instruction.attribute("dimensions") if is_large else ()
        self.runs = 0

    def _run(self, stream, arguments):
        self.runs += 1
        if self.runs % 2 or not self.dimensions or self.result_shapes[0].dtype != np.float32:
            super()._run(stream, arguments)
            return
        array, start = (self._load(stream, m, s) for m, s in zip(arguments, self.operand_shapes, strict=False))
        rows = np.moveaxis(np.flip(array, self.dimensions), self.dimensions, range(-len(self.dimensions), 0))
        rows = rows.reshape(*self.result_shapes[0].dimensions, -1)
        result = np.cumsum(rows, axis=-1, dtype=np.float32)[..., -1] + start
        stream.write(arguments[-1], to_device_layout(result, self.result_shapes[0]))


@broken("executables", "test_rounded", MUTANTS)(
    "executable.equal-runs", "A `reduce` of thousands of floats has another kernel from its sixth run on."
)
class TunesAfterFiveRuns(ReadsBackwards):
    def _run(self, stream, arguments):
        self.runs += 1
        if self.runs <= 5:
            HloKernel._run(self, stream, arguments)
        else:
            self.runs |= 1  # an even one comes next
            super()._run(stream, arguments)


@broken("loading", "rng-bit-generator", MUTANTS)(
    "hooks.changes-nothing", "The compiler seeds numpy's generator for a program that makes random bits."
)
class SeedsNumpy(Compiler):
    def run_backend(self, module, options, executor=None):
        if any(i.opcode == "rng-bit-generator" for c in module.computations for i in c.instructions):
            np.random.seed(0)
        return super().run_backend(module, options, executor)


# -- memory ------------------------------------------------------------------------------------------------------------


@broken("memory", "memory", MUTANTS)("executor.deallocate", "A freed block is merged with the one behind it only.")
class MergesBehind(Executor):
    def __init__(self, ordinal, memory_bytes):
        super().__init__(ordinal, memory_bytes)
        ram = self.ram

        def deallocate(handle):
            with ram._lock:
                start, size = ram._blocks.pop(handle)
                behind = next((gap for gap in ram._free if gap[0] == start + size), None)
                if behind is not None:
                    ram._free.remove(behind)
                    size += behind[1]
                ram._free = sorted([*ram._free, (start, size)])

        ram.deallocate = deallocate


class _ShortTemporaries(CpuExecutable):
    def native_entry(self):
        entry = super().native_entry()
        if entry is None:
            return None
        sizes = tuple((number, size - 64 if size > 1024 else size) for number, size in entry.temporaries)
        return dataclasses.replace(entry, temporaries=sizes)


class _ShortCompiler(CpuCompiler):
    def run_backend(self, module, options, executor=None):
        made = super().run_backend(module, options, executor)
        made.__class__ = _ShortTemporaries
        return made


class _ShortPlatform(CpuPlatform):
    def create_compiler(self):
        return _ShortCompiler()


def _short_temporaries() -> BackendSpec:
    return dataclasses.replace(
        cpu_backend(), platform=_ShortPlatform, compiler=_ShortCompiler, executable=_ShortTemporaries
    )


MUTANTS.append(
    Mutant(
        name="executables/short-temporaries",
        breaks="native-entry.temporaries",
        fault="A native entry asks for 64 bytes of temporary memory less than it uses.",
        make=_short_temporaries,
        select="executables_native",
    )
)
