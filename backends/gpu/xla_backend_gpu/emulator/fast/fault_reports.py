"""Emits the reports of faults: branches from the checks to one block, which calls a function that all kernels share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from xla_backend_gpu.emulator.fast.layout import Context, Faults
from xla_backend_gpu.emulator.fast.operands import context_word
from xla_core.codegen.llvm import Block, IrBuilder, IrFunction, IrModule, Value

REPORT = "report"
"""The name of the function that reports a fault, which all kernels call by its address in the context: LLVM compiles
such a call several times as fast as one of a name.
"""


class _Fault(NamedTuple):
    """A block that branches to the reporting block, and the fault that is reported.

    The kind is OUT_OF_BOUNDS instead if `outside`, an i1, holds.
    """

    block: Block
    kind: Value
    outside: Value
    position: Value
    address: Value


class FaultReports:
    """The faults that a thread function may report.

    Attributes:
        position: the number of the instruction for which code is emitted.
    """

    def __init__(self, b: IrBuilder) -> None:
        self.b = b
        self.position = 0
        self._faults: list[_Fault] = []
        self._block = b.function.add_block("faulted")

    def report_if(self, condition: Value, kind: Faults, address: Value, outside: Value | None = None) -> None:
        """Emits a branch to the block that reports, if a condition holds. See `_Fault`."""
        b = self.b
        good = b.function.add_block("good")
        self._add(kind, address, b.bool_(False) if outside is None else outside)
        b.branch_if(condition, self._block, good)
        b.block = good

    def report(self, kind: Faults) -> None:
        """Ends the block with a fault that has no address."""
        self._add(kind, self.b.int_(0), self.b.bool_(False))
        self.b.branch(self._block)

    def _add(self, kind: Faults, address: Value, outside: Value) -> None:
        b = self.b
        self._faults.append(_Fault(b.block, b.int_(kind), outside, b.int_(self.position), address))

    def emit(self, context: Value, indices: Sequence[Value]) -> None:
        """Emits the one block that reports, which keeps the code of each check short.

        `indices` are the thread's number in its block, and the block's x, y and z.
        """
        b = self.b
        b.block = self._block
        if not self._faults:
            b.line("unreachable")
            return
        kind = b.phi(*((f.kind, f.block) for f in self._faults))
        outside = b.phi(*((f.outside, f.block) for f in self._faults))
        position = b.phi(*((f.position, f.block) for f in self._faults))
        address = b.phi(*((f.address, f.block) for f in self._faults))
        kind = b.select(outside, b.int_(Faults.OUT_OF_BOUNDS), kind)
        emit_report_call(b, context, kind, position, address, indices)
        b.line("ret i32 -1")


def emit_report(module: IrModule) -> None:
    """Emits `REPORT`, which writes a fault to the context unless another thread has done so."""
    parameters = [("ptr", "", "context"), *(("i64", "", name) for name in ("kind", "instruction", "address"))]
    parameters += [("i32", "", name) for name in ("thread", "x", "y", "z")]
    function = IrFunction(REPORT, "void", parameters, attributes="noinline cold nounwind")
    b = IrBuilder(module, module.add_function(function))
    context, kind, instruction, address, *indices = function.parameters
    place = b.gep("i64", context, b.int_(Context.FAULT))
    pair = b.emit("{i64, i1}", f"cmpxchg {place}, i64 0, {kind} acq_rel monotonic")
    with b.if_(b.emit("i1", f"extractvalue {pair}, 1")):
        words = [instruction, address, *(b.cast("zext", index, "i64") for index in indices)]
        for position, word in enumerate(words, Context.FAULT_INSTRUCTION):
            b.store(word, b.gep("i64", context, b.int_(position)), align=8)
    b.ret()


def emit_report_call(
    b: IrBuilder, context: Value, kind: Value, position: Value, address: Value, indices: Sequence[Value]
) -> None:
    """Emits a call of `REPORT`. `indices` are the thread's number in its block, and the block's x, y and z."""
    report = context_word(b, context, Context.REPORT, "ptr")
    b.call_pointer(report, "void", [context, kind, position, address, *indices])
