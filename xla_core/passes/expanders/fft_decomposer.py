"""fft_decomposer: splits an FFT over several dimensions into FFTs over the last dimension, with transposes."""

from __future__ import annotations

from xla_core.hlo.ir.builder import Builder
from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.hlo.table.opcode import Opcode
from xla_core.passes.expanders.expander import OpExpander


class FftDecomposer(OpExpander):
    """Rewrites every FFT over more than one dimension.

    RFFT and IRFFT apply the real transform to the last dimension: RFFT as the first step, IRFFT as the last.
    """

    opcodes = frozenset({Opcode.FFT})

    def matches(self, instruction: HloInstruction) -> bool:
        return len(instruction.attribute("fft_length")) > 1

    def expand(self, instruction: HloInstruction, b: Builder) -> HloInstruction:
        kind, lengths = instruction.attribute("fft_type"), instruction.attribute("fft_length")
        rank = instruction.shape.rank

        def last(value: HloInstruction, kind: str, length: int) -> HloInstruction:
            return b.add(Opcode.FFT, value, fft_type=kind, fft_length=(length,))

        value = instruction.operand(0)
        if kind != "IRFFT":
            value = last(value, kind, lengths[-1])
        for axis in range(rank - len(lengths), rank - 1):
            swap = list(range(rank))
            swap[axis], swap[-1] = swap[-1], swap[axis]
            inner = "FFT" if kind in ("FFT", "RFFT") else "IFFT"
            value = b.transpose(last(b.transpose(value, swap), inner, lengths[axis - rank]), swap)
        return last(value, kind, lengths[-1]) if kind == "IRFFT" else value
