"""dot and convolution, element by element: loops over the contracted dimensions with an accumulator.

Floats below 32 bits are accumulated in f32, integers in the type of the result. `DotForm` and `ConvolutionForm` say
which elements of the operands each product needs; the tiled kernels use them too.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from xla_core.codegen.llvm.elements.data_movement import whole
from xla_core.codegen.llvm.elements.fused import ElementSource, FusedIrEmitter, generator
from xla_core.codegen.llvm.elements.reduce_window import window_position
from xla_core.codegen.llvm.ir.module import Value
from xla_core.codegen.llvm.ir.types import register_type
from xla_core.codegen.llvm.loops.index import Digit, Index, compose, merge_digits
from xla_core.codegen.llvm.loops.ir_array import Complex, ElementValue, as_register
from xla_core.hlo.attributes import ConvolutionDimensionNumbers, Window
from xla_core.hlo.element_type import ElementType
from xla_core.hlo.instruction import HloInstruction
from xla_core.hlo.opcode import Opcode

_FEW_TERMS = 16


def _terms(product: HloInstruction) -> int:
    """Returns the largest number of products that an element of a dot's or convolution's result sums."""
    lhs, rhs = (o.shape.dimensions for o in product.operands)
    if product.opcode == Opcode.DOT:
        return math.prod(lhs[d] for d in product.attribute("lhs_contracting_dims"))
    labels: ConvolutionDimensionNumbers = product.attribute("dim_labels")
    return math.prod(size for d, size in enumerate(rhs) if d != labels.kernel_output_feature)


class ProductSum:
    """A sum of products of elements of two operands."""

    def __init__(self, f: ElementSource, instruction: HloInstruction) -> None:
        self.f = f
        self.lhs_type = instruction.operand(0).shape.element_type
        self.rhs_type = instruction.operand(1).shape.element_type
        self.result_type = instruction.shape.element_type
        small = self.result_type.is_floating and self.result_type is not ElementType.F64
        self.type = ElementType.F32 if small else self.result_type
        # Few terms are added in order: that is as fast, and gives the same result as other compilers.
        self.flags = "reassoc contract" if _terms(instruction) > _FEW_TERMS else ""

    def zero(self) -> list[Value]:
        """Returns the registers of an empty sum."""
        type_ = register_type(self.type.component)
        zero = self.f.b.float_(0.0, type_) if self.type.is_floating or self.type.is_complex else Value(type_, "0")
        if type_ == "i1":
            zero = self.f.b.bool_(False)
        return [zero, zero] if self.type.is_complex else [zero]

    def add(self, total: Sequence[Value], lhs: ElementValue, rhs: ElementValue) -> list[Value]:
        """Adds a product: total + lhs * rhs."""
        b, e = self.f.b, self.f.elemental
        x, y = e.convert(lhs, self.lhs_type, self.type), e.convert(rhs, self.rhs_type, self.type)
        saved, b.fast_math = b.fast_math, self.flags
        if isinstance(x, Complex) and isinstance(y, Complex):
            real = b.fsub(b.fmul(x.real, y.real), b.fmul(x.imag, y.imag))
            imag = b.fadd(b.fmul(x.real, y.imag), b.fmul(x.imag, y.real))
            result = [b.fadd(total[0], real), b.fadd(total[1], imag)]
        else:
            assert isinstance(x, Value)
            assert isinstance(y, Value)
            if self.type.is_floating:
                result = [b.fadd(total[0], b.fmul(x, y))]
            elif self.type is ElementType.PRED:
                result = [b.or_(total[0], b.and_(x, y))]
            else:
                result = [b.add(total[0], b.mul(x, y))]
        b.fast_math = saved
        return result

    def finish(self, total: Sequence[Value]) -> ElementValue:
        """Returns the result's element."""
        sums = [as_register(self.f.b, part, self.type.component) for part in total]
        return self.f.elemental.convert(whole(sums), self.type, self.result_type)


class DotForm:
    """Maps an element of a dot's result to the elements of the operands whose products it sums."""

    def __init__(self, instruction: HloInstruction) -> None:
        self.lhs, self.rhs = instruction.operands
        lhs_batch, rhs_batch = instruction.attribute("lhs_batch_dims"), instruction.attribute("rhs_batch_dims")
        lhs_contracting = instruction.attribute("lhs_contracting_dims")
        rhs_contracting = instruction.attribute("rhs_contracting_dims")
        lhs_free = [d for d in range(self.lhs.shape.rank) if d not in (*lhs_batch, *lhs_contracting)]
        rhs_free = [d for d in range(self.rhs.shape.rank) if d not in (*rhs_batch, *rhs_contracting)]
        self.contracted = [self.lhs.shape.dimensions[d] for d in lhs_contracting]
        self.extent = math.prod(self.contracted)
        self._lhs = _sources(self.lhs, lhs_batch, lhs_contracting, lhs_free, len(lhs_batch))
        self._rhs = _sources(self.rhs, rhs_batch, rhs_contracting, rhs_free, len(rhs_batch) + len(lhs_free))
        self.rhs_free_is_minor = bool(rhs_free) and rhs_free[-1] == self.rhs.shape.minor_to_major()[0]

    def indices(self, f: FusedIrEmitter, index: Index, contracted: Index) -> tuple[Index, Index]:
        """Returns (lhs index, rhs index) of one product."""
        sources = (index, contracted)
        return (
            compose(f.b, self.lhs.shape.dimensions, sources, self._lhs),
            compose(f.b, self.rhs.shape.dimensions, sources, self._rhs),
        )


def _sources(
    operand: HloInstruction, batch: Sequence[int], contracting: Sequence[int], free: Sequence[int], first_free: int
) -> list[tuple[int, int]]:
    """Per operand dimension: (0, result dimension) or (1, contracted dimension)."""
    where: dict[int, tuple[int, int]] = {d: (0, i) for i, d in enumerate(batch)}
    where.update({d: (1, i) for i, d in enumerate(contracting)})
    where.update({d: (0, first_free + i) for i, d in enumerate(free)})
    return [where[d] for d in range(operand.shape.rank)]


@generator(Opcode.DOT)
def _dot(f: FusedIrEmitter, instruction: HloInstruction, index: Index) -> ElementValue:
    form, total = DotForm(instruction), ProductSum(f, instruction)

    def step(digits: list[Digit], carried: list[Value]) -> Sequence[Value]:
        lhs, rhs = form.indices(f, index, Index(form.contracted, digits))
        return total.add(carried, f.value(form.lhs, lhs), f.value(form.rhs, rhs))

    if form.extent == 0:
        return total.finish(total.zero())
    return total.finish(f.context.nest(("dot", instruction), form.extent, step, total.zero(), name="dot"))


class ConvolutionForm:
    """Maps an element of a convolution's result to the elements of the operands whose products it sums."""

    def __init__(self, instruction: HloInstruction) -> None:
        self.lhs, self.rhs = instruction.operands
        self.labels: ConvolutionDimensionNumbers = instruction.attribute("dim_labels")
        self.window: Window = instruction.attribute("window")
        self.feature_groups: int = instruction.attribute("feature_group_count")
        self.batch_groups: int = instruction.attribute("batch_group_count")
        self.result_dims = instruction.shape.dimensions
        self.taps = [w.size for w in self.window]
        self.features = self.rhs.shape.dimensions[self.labels.kernel_input_feature]

    def position(self, f: FusedIrEmitter, output: Digit, tap: Digit, spatial: int) -> tuple[Digit, Value]:
        """Returns (the input's index along a spatial dimension, whether it is inside the input)."""
        size = self.lhs.shape.dimensions[self.labels.input_spatial[spatial]]
        return window_position(f.context, self.window[spatial], size, output, tap)

    def tap_digit(self, f: FusedIrEmitter, tap: Digit, spatial: int) -> Digit:
        """Returns the kernel's index along a spatial dimension."""
        if not self.window[spatial].window_reversal:
            return tap
        with f.b.at_level(tap.level):
            return Digit(f.b.sub(f.b.int_(tap.extent - 1), tap.value, "nuw nsw"), tap.extent, tap.level)

    def indices(
        self, f: FusedIrEmitter, index: Index, places: Sequence[Digit], taps: Sequence[Digit], feature: Digit
    ) -> tuple[Index, Index]:
        """(input index, kernel index) of one product, from spatial indices of both and a feature of the group."""
        labels, b = self.labels, f.b
        batch = index.component(b, labels.output_batch)
        out_feature = index.component(b, labels.output_feature)
        in_feature: tuple[Digit, ...] = (feature,)
        in_batch: tuple[Digit, ...] = (batch,)
        outputs = self.result_dims[labels.output_feature]
        if self.feature_groups > 1:
            own = Index((outputs,), (out_feature,))
            group, _ = own.regroup(b, (self.feature_groups, outputs // self.feature_groups))
            in_feature = (*group, feature)
        if self.batch_groups > 1:
            own = Index((outputs,), (out_feature,))
            group, _ = own.regroup(b, (self.batch_groups, outputs // self.batch_groups))
            in_batch = (*group, batch)
        lhs: list[tuple[Digit, ...]] = [()] * self.lhs.shape.rank
        lhs[labels.input_batch], lhs[labels.input_feature] = in_batch, in_feature
        rhs: list[tuple[Digit, ...]] = [()] * self.rhs.shape.rank
        rhs[labels.kernel_input_feature], rhs[labels.kernel_output_feature] = (feature,), (out_feature,)
        for spatial, (place, tap) in enumerate(zip(places, taps, strict=True)):
            lhs[labels.input_spatial[spatial]] = (place,)
            rhs[labels.kernel_spatial[spatial]] = (self.tap_digit(f, tap, spatial),)
        return (
            Index(self.lhs.shape.dimensions, [d for group in lhs for d in group]),
            Index(self.rhs.shape.dimensions, [d for group in rhs for d in group]),
        )


@generator(Opcode.CONVOLUTION)
def _convolution(f: FusedIrEmitter, instruction: HloInstruction, index: Index) -> ElementValue:
    form, total = ConvolutionForm(instruction), ProductSum(f, instruction)
    context, b = f.context, f.b
    outputs = [index.component(b, d) for d in form.labels.output_spatial]

    def over_taps(taps: list[Digit], places: list[Digit], inside: Value, carried: list[Value]) -> list[Value]:
        spatial = len(taps)
        if spatial == len(form.taps):
            return context.choose(inside, lambda: over_features(taps, places, carried), lambda: carried)

        def step(digits: list[Digit], values: list[Value]) -> Sequence[Value]:
            tap = merge_digits(b, digits)
            place, fits = form.position(f, outputs[spatial], tap, spatial)
            return over_taps([*taps, tap], [*places, place], b.and_(inside, fits), values)

        return context.nest(("tap", instruction, spatial), form.taps[spatial], step, carried, name="tap")

    def over_features(taps: list[Digit], places: list[Digit], carried: list[Value]) -> list[Value]:
        def step(digits: list[Digit], values: list[Value]) -> Sequence[Value]:
            lhs, rhs = form.indices(f, index, places, taps, merge_digits(b, digits))
            return total.add(values, f.value(form.lhs, lhs), f.value(form.rhs, rhs))

        return context.nest(("feature", instruction), form.features, step, carried, name="feature")

    if not form.features or not math.prod(form.taps) or not form.lhs.shape.num_elements:
        return total.finish(total.zero())
    return total.finish(over_taps([], [], b.bool_(True), total.zero()))
