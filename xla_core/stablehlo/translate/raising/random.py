"""Raises random numbers."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from xla_core.errors import UnimplementedError
from xla_core.hlo.instruction import HloInstruction
from xla_core.hlo.opcode import Opcode
from xla_core.stablehlo import ir
from xla_core.stablehlo.translate.raising.context import RaisingContext, raises
from xla_core.stablehlo.translate.raising.data import constant
from xla_core.stablehlo.translate.raising.values import Raised, single


@raises(Opcode.RNG)
def _rng(ctx: RaisingContext, instruction: HloInstruction, operands: Sequence[Raised]) -> Raised:
    kind = instruction.attribute("distribution").removeprefix("rng_").upper()
    sizes = np.array(instruction.shape.dimensions, np.int64)
    shape = constant(ctx, sizes, ir.TensorType(sizes.shape, "i64"))
    distribution = ir.EnumAttribute(kind, "rng_distribution")
    return ctx.results("stablehlo.rng", [*(single(o) for o in operands), shape], rng_distribution=distribution)


@raises(Opcode.RNG_BIT_GENERATOR)
def _bit_generator(ctx: RaisingContext, instruction: HloInstruction, operands: Sequence[Raised]) -> Raised:
    name = instruction.attribute("algorithm").removeprefix("rng_").upper()
    algorithm = ir.EnumAttribute(name, "rng_algorithm")
    if not instruction.shape.is_tuple:
        raise UnimplementedError("rng-bit-generator without its new state has no counterpart in StableHLO")
    return ctx.results("stablehlo.rng_bit_generator", [single(operands[0])], rng_algorithm=algorithm)


@raises(Opcode.RNG_GET_AND_UPDATE_STATE)
def _state(ctx: RaisingContext, instruction: HloInstruction, operands: Sequence[Raised]) -> Raised:
    raise UnimplementedError(
        "rng-get-and-update-state has no counterpart in StableHLO, whose programs have no state of their own",
        hint="write the program before rng is expanded, or draw from a state that is passed in and out",
    )
