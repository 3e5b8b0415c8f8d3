"""Uses expander passes, inlining and the decompositions of `hlo` as decompositions."""

from __future__ import annotations

from xla_core.hlo.decompositions.dot_variants import decompose_ragged_dot, decompose_scaled_dot
from xla_core.hlo.decompositions.scan import decompose_scan
from xla_core.hlo.ir.builder import Builder
from xla_core.hlo.ir.computation import HloComputation
from xla_core.hlo.ir.host_compute import is_host_compute
from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.hlo.table.opcode import Opcode
from xla_core.passes.expanders.expander import OpExpander
from xla_core.passes.legalization.decompositions import decomposition
from xla_core.passes.registry import create_pass

_EXPANDERS = (
    "batchnorm-expander",
    "cholesky-expander",
    "comparison-expander",
    "dot-algorithm-rewriter",
    "gather-expander",
    "operand-upcaster",
    "reduce-window-rewriter",
    "rng-bit-generator-expander",
    "rng-expander",
    "scatter-expander",
    "select-and-scatter-expander",
    "topk-decomposer",
    "triangular-solve-expander",
)


def _use(name: str) -> None:
    expander = create_pass(name)
    assert isinstance(expander, OpExpander)

    def rule(i: HloInstruction, b: Builder) -> HloInstruction | None:
        return expander.expand_in_width(i, b) if expander.matches(i) else None

    decomposition(*expander.opcodes)(rule)


for _name in _EXPANDERS:
    _use(_name)
decomposition(Opcode.RAGGED_DOT)(decompose_ragged_dot)
decomposition(Opcode.SCALED_DOT)(decompose_scaled_dot)
decomposition(Opcode.SCAN)(decompose_scan)


@decomposition(Opcode.FUSION)
def _fusion(i: HloInstruction, b: Builder) -> HloInstruction | None:
    """The instructions of a fusion that the target has no kernel for."""
    if is_host_compute(i):
        return None
    inside: HloComputation = i.attribute("calls")
    values = dict(zip(inside.parameters, i.operands, strict=True))
    for member in inside.post_order():
        if member not in values:
            values[member] = b.clone(member, [values[o] for o in member.operands])
    return values[inside.root]
