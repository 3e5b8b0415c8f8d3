"""Raises ops that StableHLO lacks by decomposing them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from xla_core.errors import UnimplementedError
from xla_core.hlo.decompositions.dot_variants import decompose_scaled_dot
from xla_core.hlo.decompositions.elementwise import ELEMENTWISE
from xla_core.hlo.decompositions.scan import decompose_scan
from xla_core.hlo.ir.builder import Builder
from xla_core.hlo.ir.computation import HloComputation
from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.hlo.ir.module import HloModule
from xla_core.hlo.table.opcode import Opcode
from xla_core.stablehlo import ir
from xla_core.stablehlo.translate.raising.context import RaisingContext, raises
from xla_core.stablehlo.translate.raising.values import Raised, element_name


@raises(Opcode.STOCHASTIC_CONVERT)
def _stochastic_convert(ctx: RaisingContext, instruction: HloInstruction, operands: Sequence[Raised]) -> Raised:
    return ctx.inline(meaning_of(instruction, ELEMENTWISE[instruction.opcode]), operands)


@raises(Opcode.SCALED_DOT)
def _scaled_dot(ctx: RaisingContext, instruction: HloInstruction, operands: Sequence[Raised]) -> Raised:
    """Adds the composite that JAX writes and that XLA recognizes as a scaled dot."""
    meaning = meaning_of(instruction, decompose_scaled_dot, "xla.scaled_dot")
    if ctx.program.inlines_calls:
        return ctx.inline(meaning, operands)
    numbers = [
        tuple([tuple(instruction.attribute(f"{side}_{kind}_dims")) for side in ("lhs", "rhs")])
        for kind in ("contracting", "batch")
    ]
    return ctx.results(
        "stablehlo.composite",
        operands,
        name="xla.scaled_dot",
        composite_attributes={
            "dimension_numbers": tuple(numbers),
            "preferred_element_type": ir.ScalarType(element_name(instruction.shape.element_type)),
        },
        decomposition=ir.SymbolRef(ctx.program.called(meaning).attributes["sym_name"]),
        version=ir.TypedInt(0, "i32"),
    )


@raises(Opcode.SCAN)
def _scan(ctx: RaisingContext, instruction: HloInstruction, operands: Sequence[Raised]) -> Raised:
    """Adds CHLO's scan, or a loop."""
    if not ctx.program.has_chlo:
        return ctx.inline(meaning_of(instruction, decompose_scan), operands)
    carries, (dimension,) = int(instruction.attribute("num_carries")), instruction.attribute("dimensions")
    inputs, outputs = len(operands) - carries, len(list(instruction.shape.leaves())) - carries
    flags: dict[str, Any] = {
        name: True for name in ("is_reverse", "is_associative") if instruction.attributes.get(name)
    }
    if not inputs:  # then nothing else determines the number of iterations
        flags["scan_dim_size"] = next(iter(instruction.shape.leaves())).dimensions[dimension]
    return ctx.results(
        "chlo.scan",
        operands,
        [ctx.region(instruction.attribute("to_apply"))],
        dimension=int(dimension),
        operandSegmentSizes=ir.DenseArray((inputs, carries), "i32"),
        resultSegmentSizes=ir.DenseArray((outputs, carries), "i32"),
        **flags,
    )


def meaning_of(
    instruction: HloInstruction, decompose: Callable[[HloInstruction, Builder], HloInstruction | None], name: str = ""
) -> HloComputation:
    """Returns the decomposition of an instruction as a computation of its operands, in a module of its own.

    Raises UnimplementedError if there is no decomposition for operands of these types.
    """
    name = name or instruction.opcode.replace("-", "_")
    computation = HloModule(name).add_computation(HloComputation(name), entry=True)
    parameters = [computation.parameter(i, o.shape.without_layout()) for i, o in enumerate(instruction.operands)]
    same = computation.add_instruction(instruction.clone(parameters, shape=instruction.shape.without_layout()))
    builder = Builder(computation, same.metadata)
    root = decompose(same, builder)
    if root is None:
        raise UnimplementedError(f"{instruction.opcode} of {instruction.shape} has no counterpart in StableHLO")
    computation.set_root(root)
    computation.remove(same)
    return computation
