"""fft-decomposer: an FFT over several dimensions becomes FFTs over the last one, with transposes between."""

from __future__ import annotations

from xla_core.hlo import HloComputation, HloInstruction, HloModule
from xla_core.passes import HloPass

__all__ = ["FftDecomposer"]


class FftDecomposer(HloPass):
    """See the module's docstring."""

    name = "cpu-fft-decomposer"

    def run(self, module: HloModule) -> bool:
        """Rewrites every FFT over more than one dimension."""
        changed = False
        for computation in module.computations:
            for instruction in computation.post_order():
                if instruction.opcode == "fft" and len(instruction.attribute("fft_length")) > 1:
                    computation.replace_with(instruction, _chain(computation, instruction))
                    changed = True
        return changed


def _chain(computation: HloComputation, fft: HloInstruction) -> HloInstruction:
    kind, lengths = fft.attribute("fft_type"), fft.attribute("fft_length")
    rank = fft.shape.rank
    outer = list(range(rank - len(lengths), rank - 1))
    value = fft.operand(0)

    def last(value: HloInstruction, kind: str, length: int) -> HloInstruction:
        return computation.add("fft", value, fft_type=kind, fft_length=(length,), metadata=fft.metadata)

    def along(value: HloInstruction, axis: int, kind: str, length: int) -> HloInstruction:
        order = list(range(rank))
        order[axis], order[-1] = order[-1], order[axis]

        def swapped(value: HloInstruction) -> HloInstruction:
            return computation.add("transpose", value, dimensions=tuple(order), metadata=fft.metadata)

        return swapped(last(swapped(value), kind, length))

    if kind != "IRFFT":
        value = last(value, kind, lengths[-1])
    for axis in outer:
        inner = "FFT" if kind in ("FFT", "RFFT") else "IFFT"
        value = along(value, axis, inner, lengths[axis - rank])
    return last(value, kind, lengths[-1]) if kind == "IRFFT" else value
