"""Raises ops with effects: tokens, barriers, transfers between device and host, random numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from xla_core.errors import UnimplementedError
from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.hlo.ops.channels import source_target_pairs
from xla_core.hlo.table.opcode import Opcode
from xla_core.stablehlo import ir
from xla_core.stablehlo.translate.raising.context import RaisingContext, raises
from xla_core.stablehlo.translate.raising.contraction import i64_pairs
from xla_core.stablehlo.translate.raising.data import constant
from xla_core.stablehlo.translate.raising.values import Raised, leaves, single, type_of


@raises(Opcode.AFTER_ALL)
def _after_all(ctx: RaisingContext, instruction: HloInstruction, operands: Sequence[Raised]) -> Raised:
    tokens = [single(o) for o in operands]
    return ctx.add("stablehlo.after_all" if tokens else "stablehlo.create_token", tokens, ir.TokenType())


@raises(Opcode.ADD_DEPENDENCY)
def _add_dependency(ctx: RaisingContext, instruction: HloInstruction, operands: Sequence[Raised]) -> Raised:
    """Adds a barrier of both operands; its first result is the value."""
    values = [single(o) for o in operands]
    return ctx.op("stablehlo.optimization_barrier", values, [v.type for v in values])[0]


@raises(Opcode.OPT_BARRIER)
def _barrier(ctx: RaisingContext, instruction: HloInstruction, operands: Sequence[Raised]) -> Raised:
    return ctx.results("stablehlo.optimization_barrier", list(leaves(operands[0])))


@raises(Opcode.INFEED)
def _infeed(ctx: RaisingContext, instruction: HloInstruction, operands: Sequence[Raised]) -> Raised:
    config = instruction.attribute("infeed_config") or None
    return ctx.results("stablehlo.infeed", operands[:1], infeed_config=config)


@raises(Opcode.OUTFEED)
def _outfeed(ctx: RaisingContext, instruction: HloInstruction, operands: Sequence[Raised]) -> Raised:
    config = instruction.attribute("outfeed_config") or None
    return ctx.results("stablehlo.outfeed", list(leaves(tuple(operands))), outfeed_config=config)


def _transfer(instruction: HloInstruction, host: ir.ChannelType) -> dict[str, Any]:
    is_host = bool(instruction.attributes.get("is_host_transfer"))
    channel = int(instruction.attribute("channel_id") or 0)
    handle = ir.ChannelHandle(channel, host if is_host else ir.ChannelType.DEVICE_TO_DEVICE)
    attributes: dict[str, Any] = {"channel_handle": handle, "is_host_transfer": is_host}
    pairs = source_target_pairs(instruction)
    if pairs:
        attributes["source_target_pairs"] = i64_pairs(pairs)
    return attributes


@raises(Opcode.SEND)
def _send(ctx: RaisingContext, instruction: HloInstruction, operands: Sequence[Raised]) -> Raised:
    values = list(leaves(tuple(operands)))
    return ctx.add("stablehlo.send", values, ir.TokenType(), **_transfer(instruction, ir.ChannelType.DEVICE_TO_HOST))


@raises(Opcode.RECV)
def _recv(ctx: RaisingContext, instruction: HloInstruction, operands: Sequence[Raised]) -> Raised:
    """Returns the data and a token, which are the result of recv-done."""
    data = instruction.shape.tuple_shapes[0]
    types = [*(type_of(leaf) for leaf in data.leaves()), ir.TokenType()]
    attributes = _transfer(instruction, ir.ChannelType.HOST_TO_DEVICE)
    *received, token = ctx.op("stablehlo.recv", [single(operands[0])], types, **attributes)
    return (tuple(received) if data.is_tuple else received[0]), token


@raises(Opcode.SEND_DONE, Opcode.RECV_DONE)
def _done(ctx: RaisingContext, instruction: HloInstruction, operands: Sequence[Raised]) -> Raised:
    return operands[0]


@raises(Opcode.RNG)
def _rng(ctx: RaisingContext, instruction: HloInstruction, operands: Sequence[Raised]) -> Raised:
    kind = instruction.attribute("distribution").removeprefix("rng_").upper()
    sizes = np.array(instruction.shape.dimensions, np.int64)
    shape = constant(ctx, sizes, ir.TensorType(sizes.shape, "i64"))
    distribution = ir.EnumAttribute(kind, "rng_distribution")
    return ctx.results("stablehlo.rng", [*operands, shape], rng_distribution=distribution)


@raises(Opcode.RNG_BIT_GENERATOR)
def _bit_generator(ctx: RaisingContext, instruction: HloInstruction, operands: Sequence[Raised]) -> Raised:
    name = instruction.attribute("algorithm").removeprefix("rng_").upper()
    algorithm = ir.EnumAttribute(name, "rng_algorithm")
    if not instruction.shape.is_tuple:
        raise UnimplementedError("rng-bit-generator without its new state has no counterpart in StableHLO")
    return ctx.results("stablehlo.rng_bit_generator", operands[:1], rng_algorithm=algorithm)


@raises(Opcode.RNG_GET_AND_UPDATE_STATE)
def _state(ctx: RaisingContext, instruction: HloInstruction, operands: Sequence[Raised]) -> Raised:
    raise UnimplementedError(
        "rng-get-and-update-state has no counterpart in StableHLO, whose programs have no state of their own",
        hint="write the program before rng is expanded, or draw from a state that is passed in and out",
    )
