"""dot_algorithm_rewriter: replaces a dot with an algorithm by a plain dot of rounded operands.

(XLA: xla/service/gpu/transforms/dot_algorithm_rewriter.h.)
"""

from __future__ import annotations

from xla_core.hlo.ir.builder import Builder
from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.hlo.ops.contraction import accumulates_in_f64, algorithm_format
from xla_core.hlo.table.opcode import Opcode
from xla_core.hlo.values.element_type import ElementType
from xla_core.hlo.values.shape import Shape
from xla_core.passes.expanders.expander import OpExpander


class DotAlgorithmRewriter(OpExpander):
    """Rounds the operands to the type that the algorithm prescribes.

    If it accumulates in f64, and the operands are narrower, they are converted to f64: a plain dot of narrower types
    accumulates in f32.

    Algorithms that add several products of parts of an operand (`_x3`, ...) ask for at most the precision of the
    operand, which a plain dot has, so their operands are not rounded.
    """

    opcodes = frozenset({Opcode.DOT})

    def matches(self, instruction: HloInstruction) -> bool:
        return instruction.attribute("algorithm") is not None

    def expand(self, instruction: HloInstruction, b: Builder) -> HloInstruction:
        algorithm: str = instruction.attribute("algorithm")
        plain = {k: v for k, v in instruction.attributes.items() if k != "algorithm"}
        operands = [_rounded(o, algorithm, b) for o in instruction.operands]
        shape = instruction.shape.without_layout()
        if not accumulates_in_f64(algorithm) or not all(_is_narrow_float(o.shape) for o in (*operands, instruction)):
            return b.add(Opcode.DOT, *operands, shape=shape, **plain)
        wide = [b.convert(o, o.shape.with_element_type(ElementType.F64)) for o in operands]
        return b.convert(b.add(Opcode.DOT, *wide, shape=shape.with_element_type(ElementType.F64), **plain), shape)


def _is_narrow_float(shape: Shape) -> bool:
    return shape.element_type.is_floating and shape.element_type is not ElementType.F64


def _rounded(operand: HloInstruction, algorithm: str, b: Builder) -> HloInstruction:
    name = algorithm_format(algorithm, operand.shape.element_type)
    if name is None:
        return operand
    if name == "tf32":
        return b.add(Opcode.REDUCE_PRECISION, operand, exponent_bits=8, mantissa_bits=10)
    narrow = b.convert(operand, operand.shape.with_element_type(ElementType(name)))
    return b.convert(narrow, operand.shape)
