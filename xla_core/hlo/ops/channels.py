"""Ops that transfer data between the device and the host, or between devices: infeed, outfeed, send, recv."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from xla_core.errors import FailedPreconditionError, InvalidArgumentError
from xla_core.hlo.evaluation.environment import TOKEN, Device, Environment, Value, device_name
from xla_core.hlo.evaluation.evaluation_context import EvaluationContext
from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.hlo.ops.rules import OpGroup, attr, check, zeros
from xla_core.hlo.table.op_table import Attributes, Trait
from xla_core.hlo.table.opcode import Opcode
from xla_core.hlo.values.element_type import ElementType
from xla_core.hlo.values.shape import Shape

entry = OpGroup("channels").entry

SOURCE_TARGET_PAIRS = "_xla_send_recv_source_target_pairs"
"""XLA's frontend attribute of send and recv, `{{0,1},{1,2}}`. Each pair is a channel of its own."""


def _check_token(shape: Shape) -> None:
    if not shape.is_token:
        raise InvalidArgumentError(f"the last operand is {shape}; expected a token")


def _infeed_shape(operands: Sequence[Shape], attributes: Attributes, declared: Shape | None) -> Shape:
    _check_token(operands[0])
    parts = declared.tuple_shapes if declared is not None else ()
    check(len(parts) == 2 and parts[1].is_token, "the result (data, token) must be given")
    return Shape.tuple([parts[0].without_layout(), Shape.token()])


def _infeed(context: EvaluationContext, instruction: HloInstruction, values: list[Value]) -> Value:
    value, shape = context.environment.take_infeed(), instruction.shape.tuple_shapes[0]
    if len(shape.tuple_shapes) == 1 and isinstance(value, np.ndarray):
        value = (value,)  # an infeed of one tensor in StableHLO is a tuple in HLO
    _check_value(value, shape, "the infeed")
    return value, TOKEN


def _outfeed_shape(operands: Sequence[Shape], attributes: Attributes, declared: Shape | None) -> Shape:
    _check_token(operands[1])
    given = attributes["outfeed_shape"]
    check(
        given is None or given.compatible(operands[0]), lambda: f"outfeed_shape is {given}, the operand {operands[0]}"
    )
    return Shape.token()


def _outfeed(context: EvaluationContext, instruction: HloInstruction, values: list[Value]) -> Value:
    context.environment.outfeed.append(values[0])
    return TOKEN


def _send_shape(operands: Sequence[Shape], attributes: Attributes, declared: Shape | None) -> Shape:
    """Checks a send; its shape is (data, context, token)."""
    _check_token(operands[1])
    return Shape.tuple([operands[0].without_layout(), Shape(ElementType.U32), Shape.token()])


def _send(context: EvaluationContext, instruction: HloInstruction, values: list[Value]) -> Value:
    environment, channel = context.environment, instruction.attribute("channel_id") or 0
    pairs = source_target_pairs(instruction)
    if instruction.attribute("is_host_transfer"):
        environment.sent.setdefault(channel, []).append(values[0])
    elif pairs:
        for target in [target for source, target in pairs if source == _number(environment)]:
            environment.rendezvous.send((channel, environment.device, _device(environment, target)), values[0])
    else:
        _check_alone(environment, channel, "send to")
        environment.rendezvous.send(channel, values[0])
    return values[0], np.zeros((), np.uint32), TOKEN


def _recv_shape(operands: Sequence[Shape], attributes: Attributes, declared: Shape | None) -> Shape:
    """Checks a recv; its shape is (data, context, token)."""
    _check_token(operands[0])
    parts = declared.tuple_shapes if declared is not None else ()
    check(len(parts) == 3, "the result (data, u32[], token) must be given")
    return Shape.tuple([parts[0].without_layout(), Shape(ElementType.U32), Shape.token()])


def _check_started(operand: Shape, what: str) -> Shape:
    parts = operand.tuple_shapes
    if len(parts) != 3 or not parts[2].is_token:
        raise InvalidArgumentError(f"the operand is {operand.without_layout()}; expected the result of {what}")
    return parts[0].without_layout()


def _send_done_shape(operands: Sequence[Shape], attributes: Attributes, declared: Shape | None) -> Shape:
    _check_started(operands[0], "send")
    return Shape.token()


def _recv_done(context: EvaluationContext, instruction: HloInstruction, values: list[Value]) -> Value:
    environment = context.environment
    start = instruction.operand(0)
    start = start if start.opcode == Opcode.RECV else instruction
    channel = start.attribute("channel_id") or 0
    shape = instruction.shape.tuple_shapes[0]
    pairs = source_target_pairs(start)
    if start.attribute("is_host_transfer"):
        waiting = environment.to_receive.get(channel)
        if not waiting:
            raise FailedPreconditionError(
                f"the host has put nothing into channel {channel}",
                hint="let the program take values of the host from its infeed (docs/values.md); for the reference "
                "evaluator alone, give them in Environment.to_receive",
            )
        value = waiting.popleft()
    elif pairs:
        sources = [source for source, target in pairs if target == _number(environment)]
        if not sources:
            return zeros(shape), TOKEN
        sender = _device(environment, sources[0])
        value = environment.rendezvous.receive((channel, sender, environment.device), [sender])
    else:
        _check_alone(environment, channel, "receive from")
        devices = [(r, p) for r in range(environment.num_replicas) for p in range(environment.num_partitions)]
        value = environment.rendezvous.receive(channel, [d for d in devices if d != environment.device])
    _check_value(value, shape, f"channel {channel}")
    return value, TOKEN


def source_target_pairs(instruction: HloInstruction) -> list[tuple[int, int]]:
    """Returns the (source, target) pairs; empty where the text names none, so that any sender serves any receiver."""
    text = dict(instruction.attribute("frontend_attributes")).get(SOURCE_TARGET_PAIRS, "")
    return [(int(source), int(target)) for source, target in re.findall(r"(\d+)\s*,\s*(\d+)", text)]


def _check_alone(environment: Environment, channel: int, what: str) -> None:
    """Checks that only one device uses this side of a channel without pairs, since no pair tells two devices apart."""
    first = environment.rendezvous.claim((channel, what), environment.device)
    if first != environment.device:
        raise InvalidArgumentError(
            f"{device_name(first)} and {device_name(environment.device)} both {what} channel {channel}, and nothing "
            "says which value is whose",
            hint=f"say who sends to whom: source_target_pairs in StableHLO, {SOURCE_TARGET_PAIRS} in HLO",
        )


def _number(environment: Environment) -> int:
    """Returns a device's number in pairs: its partition if the program has several, else its replica."""
    return environment.partition if environment.num_partitions > 1 else environment.replica


def _device(environment: Environment, number: int) -> Device:
    """Returns the (replica, partition) of a number in pairs, in this device's own replica or partition."""
    partitions = environment.num_partitions > 1
    count = environment.num_partitions if partitions else environment.num_replicas
    if number >= count:
        noun = "partition" if partitions else "replica"
        raise InvalidArgumentError(
            f"{SOURCE_TARGET_PAIRS} names {noun} {number}; the program runs on {count}",
            hint=f"{noun}s are numbered from 0",
        )
    return (environment.replica, number) if partitions else (number, environment.partition)


_ARRAYS = (np.ndarray, np.generic)
"""Arrays, and the scalars that numpy computes from arrays of rank 0."""


def _check_value(value: Value, shape: Shape, what: str) -> None:
    """Checks a value from the host or another device against the declared shape."""
    if shape.is_tuple:
        fits = isinstance(value, tuple) and len(value) == len(shape.tuple_shapes)
        for element, part in zip(value, shape.tuple_shapes, strict=False) if fits else ():
            _check_value(element, part, what)
    else:
        fits = isinstance(value, _ARRAYS) and value.dtype == shape.dtype and value.shape == shape.dimensions
    if not fits:
        raise InvalidArgumentError(f"{what} has {_describe(value)}; expected {shape.without_layout()}")


def _describe(value: Value) -> str:
    """Describes a value by its shape in HLO's notation, if it has one."""
    if isinstance(value, tuple):
        return f"({', '.join(map(_describe, value))})"
    return str(Shape.of(np.asarray(value))) if isinstance(value, _ARRAYS) else repr(value)


_CHANNEL: dict[str, Any] = {"channel_id": attr("int", None), "is_host_transfer": attr("bool", False)}
_TRANSFER = (Trait.SIDE_EFFECT, Trait.HOST_TRANSFER)
_ASYNC = (*_TRANSFER, Trait.ASYNC)

entry(
    Opcode.INFEED,
    1,
    _infeed_shape,
    _infeed,
    *_TRANSFER,
    doc="(token) -> (data, token): the next value of the device's infeed.",
    infeed_config=attr("string", ""),
)
entry(
    Opcode.OUTFEED,
    2,
    _outfeed_shape,
    _outfeed,
    *_TRANSFER,
    doc="(data, token) -> token: puts a value into the device's outfeed.",
    outfeed_shape=attr("shape", None),
    outfeed_config=attr("string", ""),
)
entry(
    Opcode.SEND,
    2,
    _send_shape,
    _send,
    *_ASYNC,
    doc="(data, token) -> (data, context, token).",
    operands_at=(0,),
    **_CHANNEL,
)
entry(
    Opcode.SEND_DONE,
    1,
    _send_done_shape,
    lambda context, instruction, values: TOKEN,
    *_ASYNC,
    doc="Waits for a send; returns its token.",
    waits_for=(Opcode.SEND,),
    **_CHANNEL,
)
entry(
    Opcode.RECV,
    1,
    _recv_shape,
    lambda context, instruction, values: (None, np.zeros((), np.uint32), TOKEN),  # the data comes with recv-done
    *_ASYNC,
    doc="(token) -> (data, context, token).",
    **_CHANNEL,
)
entry(
    Opcode.RECV_DONE,
    1,
    lambda operands, attributes, declared: Shape.tuple([_check_started(operands[0], "recv"), Shape.token()]),
    _recv_done,
    *_ASYNC,
    doc="Waits for the data; returns (data, token).",
    waits_for=(Opcode.RECV,),
    **_CHANNEL,
)
