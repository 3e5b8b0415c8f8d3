"""Raises contractions, linear algebra and batch normalization."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np

from xla_core.errors import UnimplementedError
from xla_core.hlo.decompositions.dot_variants import decompose_ragged_dot
from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.hlo.table.opcode import Opcode
from xla_core.stablehlo import ir
from xla_core.stablehlo.ir.dot_algorithms import algorithm_of
from xla_core.stablehlo.translate.raising.context import RaisingContext, raises
from xla_core.stablehlo.translate.raising.data import i64s, numbers
from xla_core.stablehlo.translate.raising.decomposed import meaning_of
from xla_core.stablehlo.translate.raising.values import Raised


def i64_pairs(rows: Sequence[Sequence[int]]) -> ir.DenseElements:
    return ir.dense(np.reshape(rows, (len(rows), 2)))


def _precision(instruction: HloInstruction) -> dict[str, Any]:
    given = instruction.attribute("operand_precision") or ()
    if any(p not in ("default", "high", "highest") for p in given):
        raise UnimplementedError(f"the precision {', '.join(given)} has no counterpart in StableHLO")
    return {"precision_config": tuple([ir.EnumAttribute(p.upper(), "precision") for p in given])} if given else {}


def _algorithm(instruction: HloInstruction) -> dict[str, Any]:
    name = instruction.attributes.get("algorithm")
    if not name or name == "dot_unset":
        return {}
    algorithm = algorithm_of(name)
    if algorithm is None:
        raise UnimplementedError(f"the algorithm {name} has no counterpart in StableHLO")
    return {"algorithm": algorithm}


@raises(Opcode.DOT)
def _dot(ctx: RaisingContext, instruction: HloInstruction, operands: Sequence[Raised]) -> Raised:
    dims = numbers(ir.DotDimensionNumbers, instruction)
    attributes = {**_precision(instruction), **_algorithm(instruction)}
    return ctx.results("stablehlo.dot_general", operands, dot_dimension_numbers=dims, **attributes)


@raises(Opcode.RAGGED_DOT)
def _ragged_dot(ctx: RaisingContext, instruction: HloInstruction, operands: Sequence[Raised]) -> Raised:
    """Adds CHLO's ragged_dot, or a dot."""
    if not ctx.program.has_chlo:
        return ctx.inline(meaning_of(instruction, decompose_ragged_dot), operands)
    dims = numbers(ir.RaggedDotDimensionNumbers, instruction)
    return ctx.results("chlo.ragged_dot", operands, ragged_dot_dimension_numbers=dims, **_precision(instruction))


@raises(Opcode.CONVOLUTION)
def _convolution(ctx: RaisingContext, instruction: HloInstruction, operands: Sequence[Raised]) -> Raised:
    window, labels = instruction.attribute("window"), instruction.attribute("dim_labels")
    dims = ir.ConvDimensionNumbers(*dataclasses.astuple(labels))
    return ctx.results(
        "stablehlo.convolution",
        operands,
        dimension_numbers=dims,
        window_strides=i64s([w.stride for w in window]),
        padding=i64_pairs([(w.padding_low, w.padding_high) for w in window]),
        lhs_dilation=i64s([w.base_dilation for w in window]),
        rhs_dilation=i64s([w.window_dilation for w in window]),
        window_reversal=ir.DenseArray([w.window_reversal for w in window], "i1"),
        feature_group_count=int(instruction.attribute("feature_group_count")),
        batch_group_count=int(instruction.attribute("batch_group_count")),
        **_precision(instruction),
    )
