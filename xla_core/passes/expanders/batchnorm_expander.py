"""batchnorm_expander: expands batch normalization to reductions and arithmetic.

(XLA: xla/service/batchnorm_expander.h.)
"""

from __future__ import annotations

from xla_core.hlo.builder import scalar_computation
from xla_core.hlo.computation import HloComputation
from xla_core.hlo.instruction import HloInstruction
from xla_core.hlo.opcode import Opcode
from xla_core.passes.expanders.expander import OpExpander
from xla_core.passes.rewriter import Builder

__all__ = ["BatchNormExpander"]


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
        self.instruction = instruction
        self.b = b
        self.x = instruction.operands[0]
        self.feature = instruction.attributes["feature_index"]
        self.others = tuple(d for d in range(self.x.shape.rank) if d != self.feature)
        self.count = 1
        for d in self.others:
            self.count *= self.x.shape.dimensions[d]
        self.adder: HloComputation | None = None

    def spread(self, value: HloInstruction) -> HloInstruction:
        return self.b.broadcast(value, self.x.shape.dimensions, (self.feature,))

    def sum(self, value: HloInstruction) -> HloInstruction:
        self.adder = self.adder or scalar_computation(Opcode.ADD, value.shape.element_type, module=self.b.hlo_module)
        zero = self.b.constant(0, value.shape.with_dimensions(()))
        return self.b.add(Opcode.REDUCE, value, zero, dimensions=self.others, to_apply=self.adder)

    def mean(self, value: HloInstruction) -> HloInstruction:
        total = self.sum(value)
        return self.b.add(Opcode.DIVIDE, total, self.b.constant(self.count, total.shape))

    def inverse_deviation(self, variance: HloInstruction) -> HloInstruction:
        epsilon = self.b.constant(self.instruction.attributes["epsilon"], variance.shape)
        return self.b.add(Opcode.RSQRT, self.b.add(Opcode.ADD, variance, epsilon))


def _training(p: _Parts) -> HloInstruction:
    b, x = p.b, p.x
    scale, offset = p.instruction.operands[1:]
    mean = p.mean(x)
    centered = b.add(Opcode.SUBTRACT, x, p.spread(mean))
    variance = p.mean(b.add(Opcode.MULTIPLY, centered, centered))
    normal = b.add(Opcode.MULTIPLY, centered, p.spread(p.inverse_deviation(variance)))
    result = b.add(Opcode.ADD, b.add(Opcode.MULTIPLY, normal, p.spread(scale)), p.spread(offset))
    return b.add(Opcode.TUPLE, result, mean, variance)


def _inference(p: _Parts) -> HloInstruction:
    b, x = p.b, p.x
    scale, offset, mean, variance = p.instruction.operands[1:]
    centered = b.add(Opcode.SUBTRACT, x, p.spread(mean))
    factor = b.add(Opcode.MULTIPLY, scale, p.inverse_deviation(variance))
    return b.add(Opcode.ADD, b.add(Opcode.MULTIPLY, centered, p.spread(factor)), p.spread(offset))


def _grad(p: _Parts) -> HloInstruction:
    b, x = p.b, p.x
    scale, mean, variance, grad = p.instruction.operands[1:]
    inverse = p.inverse_deviation(variance)
    centered = b.add(Opcode.SUBTRACT, x, p.spread(mean))
    grad_offset = p.sum(grad)
    product = p.sum(b.add(Opcode.MULTIPLY, grad, centered))
    grad_scale = b.add(Opcode.MULTIPLY, product, inverse)
    # scale * inverse / n * (n * grad - sum(grad) - centered * inverse**2 * sum(grad * centered))
    count = b.constant(p.count, x.shape)
    slope = b.add(Opcode.MULTIPLY, b.add(Opcode.MULTIPLY, inverse, inverse), product)
    inner = b.add(Opcode.SUBTRACT, b.add(Opcode.MULTIPLY, count, grad), p.spread(grad_offset))
    inner = b.add(Opcode.SUBTRACT, inner, b.add(Opcode.MULTIPLY, centered, p.spread(slope)))
    factor = b.add(Opcode.DIVIDE, b.add(Opcode.MULTIPLY, scale, inverse), b.constant(p.count, scale.shape))
    return b.add(Opcode.TUPLE, b.add(Opcode.MULTIPLY, p.spread(factor), inner), grad_scale, grad_offset)
