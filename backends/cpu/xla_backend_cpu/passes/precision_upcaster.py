"""Some results in f32 and c64 are computed in f64 and c128 and rounded once, where that costs little.

- complex64 arithmetic and functions: parts of a product cancel, so that rounding each step shows in a part that is
  small; memory is what such programs wait for;
- small products and scans: their terms cancel too, and a call of a kernel costs more than the wider arithmetic.

The conversions are instructions like any other, and fuse.
"""

from __future__ import annotations

import math

from xla_core.hlo import ElementType, HloComputation, HloInstruction, scalar_computation
from xla_core.passes import Builder, OpExpander

__all__ = ["PrecisionUpcaster"]

_WIDER = {ElementType.F32: ElementType.F64, ElementType.C64: ElementType.C128}
_SMALL_PRODUCT = 4096  # multiplications
_SMALL_SCAN = 4096  # elements


class PrecisionUpcaster(OpExpander):
    """See the module's docstring."""

    name = "cpu-precision-upcaster"
    opcodes = frozenset(
        {
            "dot",
            "convolution",
            "reduce-window",
            "multiply",
            "divide",
            "power",
            "exponential",
            "exponential-minus-one",
            "log",
            "log-plus-one",
            "sine",
            "cosine",
            "tan",
            "tanh",
            "logistic",
            "sqrt",
            "rsqrt",
            "cbrt",
        }
    )

    def matches(self, instruction: HloInstruction) -> bool:
        """An instruction of one of the two types alone, of the kinds above."""
        types = {instruction.shape.element_type, *(o.shape.element_type for o in instruction.operands)}
        if instruction.shape.is_tuple or len(types) != 1 or not types <= _WIDER.keys():
            return False
        match instruction.opcode:
            case "dot" | "convolution":
                return _multiplications(instruction) <= _SMALL_PRODUCT
            case "reduce-window":
                if len(instruction.operands) != 2 or _combined_by(instruction.attribute("to_apply")) is None:
                    return False
                return instruction.operand(0).shape.num_elements <= _SMALL_SCAN
        return types == {ElementType.C64} and instruction.shape.rank > 0

    def expand(self, instruction: HloInstruction, b: Builder) -> HloInstruction:
        """The same in the wider type, converted back."""
        element_type = _WIDER[instruction.shape.element_type]
        wide = instruction.shape.with_element_type(element_type).without_layout()
        changed = {}
        if instruction.opcode == "reduce-window":
            assert b.computation.module is not None
            opcode = _combined_by(instruction.attribute("to_apply"))
            assert opcode is not None
            changed["to_apply"] = b.computation.module.add_computation(scalar_computation(opcode, element_type))
        made = b.clone(instruction, [b.convert(o, wide) for o in instruction.operands], shape=wide, **changed)
        return b.convert(made, instruction.shape)


def _multiplications(product: HloInstruction) -> int:
    """Of real or complex numbers."""
    left, right = product.operand(0).shape, product.operand(1).shape
    if product.opcode == "dot":
        each = math.prod(left.dimensions[d] for d in product.attribute("lhs_contracting_dims"))
    else:
        labels = product.attribute("dim_labels")
        each = right.num_elements // max(right.dimensions[labels.kernel_output_feature], 1)
    return product.shape.num_elements * each


def _combined_by(computation: HloComputation) -> str | None:
    """The op that a sum or a product is made by; None for other computations."""
    root = computation.root
    simple = root.opcode in ("add", "multiply") and set(root.operands) == set(computation.parameters)
    return root.opcode if simple else None
