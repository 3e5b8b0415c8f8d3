"""batchnorm_expander: expands batch normalization to reductions and arithmetic.

(XLA: xla/service/batchnorm_expander.h.)
"""

from __future__ import annotations

import math

from xla_core.hlo.decompositions.expression import HloExpression, expressions
from xla_core.hlo.ir.builder import Builder
from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.hlo.table.opcode import Opcode
from xla_core.passes.expanders.expander import OpExpander


class BatchNormExpander(OpExpander):
    """Expands batch-norm-training, -inference and -grad, and computes in f32 or a wider type."""

    name = "batchnorm-expander"
    opcodes = frozenset({Opcode.BATCH_NORM_TRAINING, Opcode.BATCH_NORM_INFERENCE, Opcode.BATCH_NORM_GRAD})
    widens = True

    def expand(self, instruction: HloInstruction, b: Builder) -> HloInstruction:
        parts = _Parts(instruction, b)
        if instruction.opcode == Opcode.BATCH_NORM_TRAINING:
            return _training(parts)
        return _inference(parts) if instruction.opcode == Opcode.BATCH_NORM_INFERENCE else _grad(parts)


class _Parts:
    """Building blocks of the formulas: broadcasts of per-feature values, and sums over all other dimensions."""

    def __init__(self, instruction: HloInstruction, b: Builder) -> None:
        self.b = b
        self.x, *self.others = expressions(b, *instruction.operands)
        self.feature: int = instruction.attribute("feature_index")
        self.epsilon: float = instruction.attribute("epsilon")
        self.reduced = tuple(d for d in range(self.x.shape.rank) if d != self.feature)
        self.count = math.prod(self.x.shape.dimensions[d] for d in self.reduced)

    def spread(self, value: HloExpression) -> HloExpression:
        return HloExpression(self.b, self.b.broadcast(value.i, self.x.shape.dimensions, (self.feature,)))

    def sum(self, value: HloExpression) -> HloExpression:
        return HloExpression(self.b, self.b.reduce(value.i, Opcode.ADD, 0, self.reduced))

    def inverse_deviation(self, variance: HloExpression) -> HloExpression:
        return (variance + self.epsilon).op(Opcode.RSQRT)


def _training(p: _Parts) -> HloInstruction:
    scale, offset = p.others
    mean = p.sum(p.x) / p.count
    centered = p.x - p.spread(mean)
    variance = p.sum(centered * centered) / p.count
    result = centered * p.spread(p.inverse_deviation(variance)) * p.spread(scale) + p.spread(offset)
    return p.b.tuple([result.i, mean.i, variance.i])


def _inference(p: _Parts) -> HloInstruction:
    scale, offset, mean, variance = p.others
    factor = scale * p.inverse_deviation(variance)
    return ((p.x - p.spread(mean)) * p.spread(factor) + p.spread(offset)).i


def _grad(p: _Parts) -> HloInstruction:
    scale, mean, variance, grad = p.others
    inverse = p.inverse_deviation(variance)
    centered = p.x - p.spread(mean)
    grad_offset = p.sum(grad)
    product = p.sum(grad * centered)
    # scale * inverse / n * (n * grad - sum(grad) - centered * inverse**2 * sum(grad * centered))
    inner = grad * p.count - p.spread(grad_offset) - centered * p.spread(inverse * inverse * product)
    grad_operand = p.spread(scale * inverse / p.count) * inner
    return p.b.tuple([grad_operand.i, (product * inverse).i, grad_offset.i])
