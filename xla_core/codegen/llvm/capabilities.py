"""The ops that `KernelEmitter` can emit, as data for a target's `Capabilities`, and the buffers that its kernels may
share.
"""

from __future__ import annotations

import functools

from xla_core.analysis.buffer_sharing import can_share_buffer
from xla_core.codegen.llvm.elements.element_emitter import GENERATORS
from xla_core.codegen.llvm.forms.top_k import why_sorted, why_wide
from xla_core.codegen.llvm.planner import FORMS
from xla_core.codegen.llvm.scalars.complex_ops import COMPLEX_OPS
from xla_core.codegen.llvm.scalars.elemental import ELEMENTAL
from xla_core.codegen.llvm.scalars.float_ops import FLOAT_OPS
from xla_core.codegen.llvm.scalars.integer_ops import INTEGER_OPS
from xla_core.hlo.ir.fused import fused_instructions, fused_roots
from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.hlo.table.op_table import OPS, AttributeKind
from xla_core.hlo.table.opcode import Opcode
from xla_core.hlo.values.element_type import ElementType
from xla_core.target import Capabilities


@functools.cache
def emitter_capabilities(*, has_wide_words: bool = True) -> Capabilities:
    """Returns every opcode that the emitter has code for, with its element types, and fusions of them.

    A backend starts from these and adds what it runs in other ways (collectives, custom calls, transfers).

    Args:
        has_wide_words: whether the compiled code may have integers of 128 bits. C for processors of 32 bits has none.
    """
    arrays = [t for t in ElementType if t.is_array]
    everything = {*ELEMENTAL, *GENERATORS, Opcode.FUSION, *(opcode for form in FORMS for opcode in form.opcodes)}
    by_category = {*INTEGER_OPS, *FLOAT_OPS, *COMPLEX_OPS}
    capabilities = (
        Capabilities.all_of(opcodes=everything - by_category)
        .with_ops(INTEGER_OPS, [t for t in arrays if not t.is_floating and not t.is_complex])
        .with_ops(FLOAT_OPS, [t for t in arrays if t.is_floating])
        .with_ops(COMPLEX_OPS, [t for t in arrays if t.is_complex])
        .with_constraint(Opcode.FFT, _over_one_dimension)
        .with_constraint(Opcode.TOPK, why_sorted)
        .with_constraint(Opcode.FUSION, _is_one_kernel)
    )
    for opcode in sorted(everything - {Opcode.FUSION}):
        if any(a.kind is AttributeKind.COMPUTATION for a in OPS[opcode].attributes.values()):
            capabilities = capabilities.with_constraint(opcode, _applies_straight_code)
    return capabilities if has_wide_words else capabilities.with_constraint(Opcode.TOPK, why_wide)


def _applies_straight_code(instruction: HloInstruction) -> str | None:
    inner = (i for callee in instruction.called_computations for i in callee.instructions)
    found = next((i.opcode for i in inner if i.opcode in (Opcode.WHILE, Opcode.CONDITIONAL)), None)
    return None if found is None else f"its computation has a {found}"


def _is_one_kernel(fusion: HloInstruction) -> str | None:
    """Why no kernel computes a fusion of the given program. Legalization then computes its instructions one by one."""
    for member in fused_instructions(fusion):
        if member.opcode in _FORMS_ALONE and not member.is_root and not _accumulates(member):
            return f"{member.name} is not its result, and only a kernel's result can be a {member.opcode}"
    for part in fused_roots(fusion):
        if len({leaf.dimensions for leaf in part.shape.leaves()}) > 1:
            return f"the results of {part.name} have different dimensions"
    return None


def _accumulates(instruction: HloInstruction) -> bool:
    """Whether it combines the whole of its operand with updates, as parts of a divided reduction do by atomics."""
    return instruction.opcode == Opcode.SCATTER and not instruction.attribute("scatter_dims_to_operand_dims")


_FORMS_ALONE = {opcode for form in FORMS for opcode in form.opcodes} - {*ELEMENTAL, *GENERATORS}
"""The ops of which a kernel computes whole arrays, not single elements."""


def _over_one_dimension(fft: HloInstruction) -> str | None:
    return None if len(fft.attribute("fft_length")) == 1 else "it is over several dimensions"


def may_share_buffer(instruction: HloInstruction, result_leaf: int, operand_leaf: int) -> bool:
    """Returns whether the kernel of `instruction` may write this leaf of the result over this leaf of the operands.

    (XLA: xla/service/hlo_dataflow_analysis.h, CanShareOperandBufferWithUser.)
    Leaves are counted as in `EmittedKernel.parameters`, those of the operands and those of the result each from 0.
    """
    # Unlike XLA's sort, the emitted one does not work in place. The emitter has no custom calls.
    if instruction.opcode in (Opcode.SORT, Opcode.CUSTOM_CALL):
        return False
    results = sum(s.is_array for s in instruction.shape.leaves())
    owners = [n for n, o in enumerate(instruction.operands) for s in o.shape.array_leaves()]
    if result_leaf >= results or operand_leaf >= len(owners):
        return False
    return can_share_buffer(instruction, owners[operand_leaf], result_leaf)
