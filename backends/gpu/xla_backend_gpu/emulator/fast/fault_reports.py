"""Emits the reports of faults: branches from the checks to one block, which calls a function that all kernels share."""

from __future__ import annotations

from typing import NamedTuple

from xla_backend_gpu.emulator.fast.layout import Context, Faults
from xla_backend_gpu.emulator.fast.operands import context_word
from xla_core.codegen.llvm import Block, IrBuilder, IrFunction, IrModule, Value

REPORT = "report"
"""The name of the function that reports a fault, which all kernels call by its address in the context: LLVM compiles
such a call several times as fast as one of a name.
"""


KIND_BITS, CODE_BITS = 8, 32
"""A fault's code has its kind in the lowest bits, then the alignment in bytes that an access needs, and from the bit
`CODE_BITS` on the number of the instruction or of the site.
"""


class _Fault(NamedTuple):
    """A block that branches to the reporting block, and the fault that is reported: its code and the address."""

    block: Block
    code: Value
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

    def report_if(self, condition: Value, kind: Faults, address: Value, align: int = 1) -> None:
        """Emits a branch to the block that reports, if a condition holds. `align` is what an access needs."""
        b = self.b
        good = b.function.add_block("good")
        self._add(kind, address, align)
        b.branch_if(condition, self._block, good)
        b.block = good

    def report(self, kind: Faults) -> None:
        """Ends the block with a fault that has no address."""
        self._add(kind, self.b.int_(0))
        self.b.branch(self._block)

    def _add(self, kind: Faults, address: Value, align: int = 1) -> None:
        b = self.b
        code = self.position << CODE_BITS | align << KIND_BITS | kind
        self._faults.append(_Fault(b.block, b.int_(code), address))

    def emit(self, context: Value, place: Value) -> None:
        """Emits the one block that reports, which keeps the code of each check short. `place` is the thread's."""
        b = self.b
        b.block = self._block
        if not self._faults:
            b.line("unreachable")
            return
        code = b.phi(*((f.code, f.block) for f in self._faults))
        address = b.phi(*((f.address, f.block) for f in self._faults))
        emit_report_call(b, context, code, address, place)
        b.line("ret i32 -1")


def emit_report(module: IrModule) -> None:
    """Emits `REPORT`, which writes a fault to the context unless another thread has done so."""
    parameters = [("ptr", "", "context"), ("i64", "", "code"), ("i64", "", "address"), ("ptr", "", "place")]
    function = IrFunction(REPORT, "void", parameters, attributes="noinline cold nounwind")
    b = IrBuilder(module, module.add_function(function))
    context, code, address, place = function.parameters
    fault = b.gep("i64", context, b.int_(Context.FAULT))
    pair = b.emit("{i64, i1}", f"cmpxchg {fault}, i64 0, {code} acq_rel monotonic")
    with b.if_(b.emit("i1", f"extractvalue {pair}, 1")):
        indices = [b.load("i32", b.gep("i32", place, b.int_(n))) for n in range(4)]  # of the thread and its block
        words = [address, *(b.cast("zext", index, "i64") for index in indices)]
        for position, word in enumerate(words, Context.FAULT_ADDRESS):
            b.store(word, b.gep("i64", context, b.int_(position)), align=8)
    b.ret()


def emit_report_call(b: IrBuilder, context: Value, code: Value, address: Value, place: Value) -> None:
    """Emits a call of `REPORT` for the thread at a place (`INDICES`)."""
    report = context_word(b, context, Context.REPORT, "ptr")
    b.call_pointer(report, "void", [context, code, address, place])
