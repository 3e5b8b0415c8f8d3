"""Qualcomm's Hexagon with HVX, a DSP with vectors of 1024 bits, as a subclass of `LoopAbi`."""

from __future__ import annotations

import functools
from collections.abc import Sequence

from xla_core.codegen.llvm import KernelParameter, LoopAbi
from xla_core.hlo import ElementType

__all__ = ["HexagonAbi"]

_VECTOR_BITS = 1024


class HexagonAbi(LoopAbi):
    """Kernels are loops over their part of the work, which LLVM writes with HVX instructions.

    HVX computes floats by the rules of IEEE 754 from v73 on; `hvx-qfloat` of earlier versions rounds differently. It
    has no conversions from and to f16 that LLVM uses, so the emitter's own formulas convert.
    """

    pointer_bytes = 4

    def __init__(self) -> None:
        _use_hvx()
        super().__init__(
            "hexagon-unknown-elf",
            "hexagonv73",
            f"+hvxv73,+hvx-length{_VECTOR_BITS // 8}b,+hvx-ieee-fp",
            vector_width=_VECTOR_BITS,
            native_floats=frozenset(),
        )

    def function_attributes(self, parameters: Sequence[KernelParameter]) -> str:
        """Leaves out HVX if a kernel has arrays of pred: LLVM 22 aborts on some of their vectors."""
        scalar = any(parameter.shape.element_type is ElementType.PRED for parameter in parameters)
        return super().function_attributes(parameters) + (' "target-features"="-hvx"' if scalar else "")


@functools.cache
def _use_hvx() -> None:
    """Lets LLVM's vectorizer use HVX, as Qualcomm's compilers do. An option of LLVM may be set once a process."""
    import llvmlite.binding as llvm

    llvm.set_option("", "-hexagon-autohvx")
