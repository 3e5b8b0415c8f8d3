"""dot_algorithm_rewriter: replaces a dot with an algorithm by a plain dot of rounded operands.

(XLA: xla/service/gpu/transforms/dot_algorithm_rewriter.h.)
"""

from __future__ import annotations

from xla_core.hlo.builder import Builder
from xla_core.hlo.element_type import ElementType
from xla_core.hlo.instruction import HloInstruction
from xla_core.hlo.opcode import Opcode
from xla_core.hlo.ops.contraction import algorithm_format
from xla_core.passes.expanders.expander import OpExpander


class DotAlgorithmRewriter(OpExpander):
    """Rounds the operands to the type that the algorithm prescribes.

    Algorithms that add several products of parts of an operand (`_x3`, ...) ask for at most the precision of the
    operand, which a plain dot has, so their operands are not rounded.
    """

    name = "dot-algorithm-rewriter"
    opcodes = frozenset({Opcode.DOT})

    def matches(self, instruction: HloInstruction) -> bool:
        return instruction.attribute("algorithm") is not None

    def expand(self, instruction: HloInstruction, b: Builder) -> HloInstruction:
        algorithm: str = instruction.attribute("algorithm")
        plain = {k: v for k, v in instruction.attributes.items() if k != "algorithm"}
        operands = [_rounded(o, algorithm, b) for o in instruction.operands]
        return b.add(Opcode.DOT, *operands, shape=instruction.shape.without_layout(), **plain)


def _rounded(operand: HloInstruction, algorithm: str, b: Builder) -> HloInstruction:
    name = algorithm_format(algorithm, operand.shape.element_type)
    if name is None:
        return operand
    if name == "tf32":
        return b.add(Opcode.REDUCE_PRECISION, operand, exponent_bits=8, mantissa_bits=10)
    narrow = b.convert(operand, operand.shape.with_element_type(ElementType(name)))
    return b.convert(narrow, operand.shape)
