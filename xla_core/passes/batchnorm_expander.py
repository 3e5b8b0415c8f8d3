"""batchnorm_expander: batch normalization as reductions and arithmetic. (XLA: xla/service/batchnorm_expander.h.)"""

from __future__ import annotations

from xla_core.hlo.computation import HloComputation
from xla_core.hlo.instruction import HloInstruction
from xla_core.passes.expander import OpExpander, scalar_computation
from xla_core.passes.rewriter import Builder

__all__ = ["BatchNormExpander"]


class BatchNormExpander(OpExpander):
    """Expands batch-norm-training, -inference and -grad; in f32 at least."""

    name = "batchnorm-expander"
    opcodes = frozenset({"batch-norm-training", "batch-norm-inference", "batch-norm-grad"})
    widens = True

    def expand(self, instruction: HloInstruction, b: Builder) -> HloInstruction:
        parts = _Parts(instruction, b)
        if instruction.opcode == "batch-norm-training":
            return _training(parts)
        return _inference(parts) if instruction.opcode == "batch-norm-inference" else _grad(parts)


class _Parts:
    """The words of the formulas: per-feature values spread over the operand, sums over all but features."""

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
        self.adder = self.adder or scalar_computation(self.instruction, "add", value.shape.element_type)
        zero = self.b.constant(0, value.shape.with_dimensions(()))
        return self.b.add("reduce", value, zero, dimensions=self.others, to_apply=self.adder)

    def mean(self, value: HloInstruction) -> HloInstruction:
        total = self.sum(value)
        return self.b.add("divide", total, self.b.constant(self.count, total.shape))

    def inverse_deviation(self, variance: HloInstruction) -> HloInstruction:
        epsilon = self.b.constant(self.instruction.attributes["epsilon"], variance.shape)
        return self.b.add("rsqrt", self.b.add("add", variance, epsilon))


def _training(p: _Parts) -> HloInstruction:
    b, x = p.b, p.x
    scale, offset = p.instruction.operands[1:]
    mean = p.mean(x)
    centered = b.add("subtract", x, p.spread(mean))
    variance = p.mean(b.add("multiply", centered, centered))
    normal = b.add("multiply", centered, p.spread(p.inverse_deviation(variance)))
    result = b.add("add", b.add("multiply", normal, p.spread(scale)), p.spread(offset))
    return b.add("tuple", result, mean, variance)


def _inference(p: _Parts) -> HloInstruction:
    b, x = p.b, p.x
    scale, offset, mean, variance = p.instruction.operands[1:]
    centered = b.add("subtract", x, p.spread(mean))
    factor = b.add("multiply", scale, p.inverse_deviation(variance))
    return b.add("add", b.add("multiply", centered, p.spread(factor)), p.spread(offset))


def _grad(p: _Parts) -> HloInstruction:
    b, x = p.b, p.x
    scale, mean, variance, grad = p.instruction.operands[1:]
    inverse = p.inverse_deviation(variance)
    centered = b.add("subtract", x, p.spread(mean))
    grad_offset = p.sum(grad)
    product = p.sum(b.add("multiply", grad, centered))
    grad_scale = b.add("multiply", product, inverse)
    # scale * inverse / n * (n * grad - sum(grad) - centered * inverse**2 * sum(grad * centered))
    count = b.constant(p.count, x.shape)
    slope = b.add("multiply", b.add("multiply", inverse, inverse), product)
    inner = b.add("subtract", b.add("multiply", count, grad), p.spread(grad_offset))
    inner = b.add("subtract", inner, b.add("multiply", centered, p.spread(slope)))
    factor = b.add("divide", b.add("multiply", scale, inverse), b.constant(p.count, scale.shape))
    return b.add("tuple", b.add("multiply", p.spread(factor), inner), grad_scale, grad_offset)
