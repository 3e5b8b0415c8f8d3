"""What `KernelEmitter` can emit, as data for a target's `Capabilities`."""

from __future__ import annotations

import functools

from xla_core.codegen.llvm.elements.fused import GENERATORS
from xla_core.codegen.llvm.forms.top_k import why_sorted
from xla_core.codegen.llvm.kernel_emitter import FORMS
from xla_core.codegen.llvm.scalars.complex_ops import COMPLEX_OPS
from xla_core.codegen.llvm.scalars.elemental import ELEMENTAL
from xla_core.codegen.llvm.scalars.float_ops import FLOAT_OPS
from xla_core.codegen.llvm.scalars.integer_ops import INTEGER_OPS
from xla_core.hlo.element_type import ElementType
from xla_core.hlo.instruction import HloInstruction
from xla_core.hlo.opcode import Opcode
from xla_core.target import Capabilities

__all__ = ["emitter_capabilities"]


@functools.cache
def emitter_capabilities() -> Capabilities:
    """Every opcode that the emitter has code for, with its element types; fusions of them too.

    A backend starts from these and adds what it runs in other ways (collectives, custom calls, transfers).
    """
    arrays = [t for t in ElementType if t.is_array]
    everything = {*ELEMENTAL, *GENERATORS, Opcode.FUSION, *(opcode for form in FORMS for opcode in form.opcodes)}
    by_category = {*INTEGER_OPS, *FLOAT_OPS, *COMPLEX_OPS}
    return (
        Capabilities.all_of(opcodes=everything - by_category)
        .with_ops(INTEGER_OPS, [t for t in arrays if not t.is_floating and not t.is_complex])
        .with_ops(FLOAT_OPS, [t for t in arrays if t.is_floating])
        .with_ops(COMPLEX_OPS, [t for t in arrays if t.is_complex])
        .with_constraint(Opcode.FFT, _over_one_dimension)
        .with_constraint(Opcode.TOPK, why_sorted)
        .with_constraint(Opcode.STOCHASTIC_CONVERT, _to_integers)
    )


def _over_one_dimension(fft: HloInstruction) -> str | None:
    return None if len(fft.attribute("fft_length")) == 1 else "it is over several dimensions"


def _to_integers(convert: HloInstruction) -> str | None:
    target = convert.shape.element_type
    return None if target.is_integral else f"{target} is no integer type"
