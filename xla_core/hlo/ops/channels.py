"""Ops between the device and the host, or between programs: infeed, outfeed, send, recv."""

from __future__ import annotations

from collections.abc import Sequence

from xla_core.errors import InvalidArgumentError
from xla_core.hlo.element_type import ElementType
from xla_core.hlo.op_table import Attributes, Trait
from xla_core.hlo.ops.rules import attr, check, entry, normalize
from xla_core.hlo.shape import Shape

__all__: list[str] = []


def _check_token(shape: Shape) -> None:
    if not shape.is_token:
        raise InvalidArgumentError(f"the last operand is {shape}; expected a token")


def _infeed(operands: Sequence[Shape], attributes: Attributes, declared: Shape | None) -> Shape:
    _check_token(operands[0])
    parts = declared.tuple_shapes if declared is not None else ()
    check(len(parts) == 2 and parts[1].is_token, "the result (data, token) must be given")
    return Shape.tuple([normalize(parts[0]), Shape.token()])


def _outfeed(operands: Sequence[Shape], attributes: Attributes, declared: Shape | None) -> Shape:
    _check_token(operands[1])
    given = attributes.get("outfeed_shape")
    check(
        given is None or given.compatible(operands[0]), lambda: f"outfeed_shape is {given}, the operand {operands[0]}"
    )
    return Shape.token()


def _send(operands: Sequence[Shape], attributes: Attributes, declared: Shape | None) -> Shape:
    """(data, context, token)."""
    _check_token(operands[1])
    return Shape.tuple([normalize(operands[0]), Shape(ElementType.U32), Shape.token()])


def _recv(operands: Sequence[Shape], attributes: Attributes, declared: Shape | None) -> Shape:
    """(data, context, token)."""
    _check_token(operands[0])
    parts = declared.tuple_shapes if declared is not None else ()
    check(len(parts) == 3, "the result (data, u32[], token) must be given")
    return Shape.tuple([normalize(parts[0]), Shape(ElementType.U32), Shape.token()])


def _check_started(operand: Shape, what: str) -> Shape:
    parts = operand.tuple_shapes
    if len(parts) != 3 or not parts[2].is_token:
        raise InvalidArgumentError(f"the operand is {operand.without_layout()}; expected the result of {what}")
    return normalize(parts[0])


def _send_done(operands: Sequence[Shape], attributes: Attributes, declared: Shape | None) -> Shape:
    _check_started(operands[0], "send")
    return Shape.token()


def _recv_done(operands: Sequence[Shape], attributes: Attributes, declared: Shape | None) -> Shape:
    return Shape.tuple([_check_started(operands[0], "recv"), Shape.token()])


_CHANNEL = {"channel_id": attr("int", None), "is_host_transfer": attr("bool", False)}

entry(
    "infeed",
    1,
    _infeed,
    None,
    Trait.SIDE_EFFECT,
    doc="(token) -> (data, token): the next value of the device's infeed.",
    infeed_config=attr("string", ""),
)
entry(
    "outfeed",
    2,
    _outfeed,
    None,
    Trait.SIDE_EFFECT,
    doc="(data, token) -> token: puts a value into the device's outfeed.",
    outfeed_shape=attr("shape", None),
    outfeed_config=attr("string", ""),
)
entry("send", 2, _send, None, Trait.SIDE_EFFECT, doc="(data, token) -> (data, context, token).", **_CHANNEL)
entry("send-done", 1, _send_done, None, Trait.SIDE_EFFECT, doc="The token after a send has ended.", **_CHANNEL)
entry("recv", 1, _recv, None, Trait.SIDE_EFFECT, doc="(token) -> (data, context, token).", **_CHANNEL)
entry("recv-done", 1, _recv_done, None, Trait.SIDE_EFFECT, doc="(data, token), once the data is there.", **_CHANNEL)
