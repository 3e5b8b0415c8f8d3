"""infeed, outfeed, send and recv."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.hlo.ops.channels import SOURCE_TARGET_PAIRS
from xla_core.hlo.table.opcode import Opcode
from xla_core.hlo.values.element_type import ElementType
from xla_core.hlo.values.shape import Shape
from xla_core.stablehlo import ir
from xla_core.stablehlo.lower.context import LoweringContext
from xla_core.stablehlo.lower.type_conversion import shape_of
from xla_core.stablehlo.ops.common import FALSE, matrix
from xla_core.stablehlo.table.op_table import Arity, Attribute, Kind, OpGroup, Trait, Values
from xla_core.stablehlo.table.type_constraints import RECEIVED, TENSOR_OR_PER_AXIS, TOKEN

define = OpGroup("host_transfer").define

_MANY = (Values("results", RECEIVED, Arity.VARIADIC),)


def _check_received(op: ir.Op, all_but: str) -> None:
    types = [r.type for r in op.results]
    if not types:
        op.fail("result is expected to be at least of size 1, but got 0")
    for type in types[:-1]:
        if not isinstance(type, (ir.TensorType, ir.TupleType)):
            op.fail(f"{all_but} to be of tensor type, but got '{type}'")
    if not isinstance(types[-1], ir.TokenType):
        op.fail(f"last element of result types is expected to be of token type, but got '{types[-1]}'")


def _infeed_rule(op: ir.Op, module: ir.Module) -> None:
    _check_received(op, "all elements of result types, except the last element, are expected")
    layout = op.attributes.get("layout")
    if layout is None:
        return
    if not isinstance(layout, (tuple, list)):
        op.fail("layout-attribute expected to be of array type.")
    if len(layout) != len(op.results) - 1:
        op.fail(
            f"layout-attribute size must be {len(op.results) - 1} (which is the number of op-results - 1 (for token "
            f"result)), but got {len(layout)}"
        )
    for entry in layout:
        if not isinstance(entry, (tuple, list)):
            op.fail(f"layout-attribute expected to have elements of type array, but got {entry} : i64")
        for leaf in entry:
            if not isinstance(leaf, int):
                op.fail(
                    "layout-attribute's leaf elements are expected to be of type integer, but got "
                    f"{list(leaf) if isinstance(leaf, (tuple, list)) else leaf}"
                )


def _lower_infeed(ctx: LoweringContext, op: ir.Op, token: HloInstruction) -> Sequence[HloInstruction]:
    """HLO `infeed`, whose result is ((data...), token)."""
    data = Shape.tuple([shape_of(r.type) for r in op.results[:-1]])
    config = str(op.attributes.get("infeed_config", ""))
    made = ctx.add(Opcode.INFEED, token, shape=Shape.tuple([data, Shape.token()]), infeed_config=config)
    received = ctx.element(made, 0)
    return [*ctx.elements(received), ctx.element(made, 1)]


define(
    "stablehlo.infeed",
    (Values("token", TOKEN),),
    _MANY,
    rule=_infeed_rule,
    lower=_lower_infeed,
    traits=(Trait.SIDE_EFFECT, Trait.ON_STORAGE),
    attributes={"infeed_config": Attribute(Kind.STRING, ""), "layout": Attribute(Kind.ANY, None)},
    doc=("Takes the next value of the device's infeed, which the host fills; the token orders it among other effects."),
)


def _lower_outfeed(ctx: LoweringContext, op: ir.Op, *operands: HloInstruction) -> HloInstruction:
    """HLO `outfeed` of the data as a tuple."""
    *data, token = operands
    config = str(op.attributes.get("outfeed_config", ""))
    packed = ctx.tuple(data)
    return ctx.add(Opcode.OUTFEED, packed, token, outfeed_shape=packed.shape, outfeed_config=config)


define(
    "stablehlo.outfeed",
    (Values("inputs", TENSOR_OR_PER_AXIS, Arity.VARIADIC), Values("token", TOKEN)),
    (Values("result", TOKEN),),
    lower=_lower_outfeed,
    traits=(Trait.SIDE_EFFECT, Trait.ON_STORAGE),
    attributes={"outfeed_config": Attribute(Kind.STRING, "")},
    doc=("Puts the inputs into the device's outfeed, which the host empties; the token orders it among other effects."),
)


def _check_transfer(op: ir.Op, host: ir.ChannelType) -> None:
    """Checks that the channel's type is `host` if `is_host_transfer` is set, and else device to device."""
    handle = op.attributes["channel_handle"]
    if not isinstance(handle, ir.ChannelHandle):
        return
    is_host = bool(op.attributes.get("is_host_transfer"))
    needed = host if is_host else ir.ChannelType.DEVICE_TO_DEVICE
    if handle.type != needed:
        op.fail(f"channel_type should be {needed.name} when is_host_transfer is {str(is_host).lower()}")


def _send_rule(op: ir.Op, module: ir.Module) -> None:
    _check_transfer(op, ir.ChannelType.DEVICE_TO_HOST)


def _recv_rule(op: ir.Op, module: ir.Module) -> None:
    _check_transfer(op, ir.ChannelType.HOST_TO_DEVICE)
    _check_received(op, "everything but the last element of result types is expected")


def _transfer_attributes(op: ir.Op) -> dict[str, Any]:
    attributes: dict[str, Any] = {}
    handle = op.attributes.get("channel_handle")
    if isinstance(handle, ir.ChannelHandle):
        attributes["channel_id"] = handle.handle
    if op.attributes.get("is_host_transfer"):
        attributes["is_host_transfer"] = True
    pairs = matrix(op, "source_target_pairs", 0)
    if pairs:
        text = ",".join(f"{{{source},{target}}}" for source, target in pairs)
        attributes["frontend_attributes"] = ((SOURCE_TARGET_PAIRS, f"{{{text}}}"),)
    return attributes


def _lower_send(ctx: LoweringContext, op: ir.Op, *operands: HloInstruction) -> HloInstruction:
    """HLO `send` and `send-done`; several operands go as a tuple."""
    *data, token = operands
    attributes = _transfer_attributes(op)
    sent = ctx.add(Opcode.SEND, data[0] if len(data) == 1 else ctx.tuple(data), token, **attributes)
    return ctx.add(Opcode.SEND_DONE, sent, **attributes)


def _lower_recv(ctx: LoweringContext, op: ir.Op, token: HloInstruction) -> Sequence[HloInstruction]:
    """HLO `recv` and `recv-done`; several results come as a tuple."""
    attributes = _transfer_attributes(op)
    shapes = [shape_of(r.type) for r in op.results[:-1]]
    data = shapes[0] if len(shapes) == 1 else Shape.tuple(shapes)
    started = ctx.add(
        Opcode.RECV, token, shape=Shape.tuple([data, Shape(ElementType.U32), Shape.token()]), **attributes
    )
    done = ctx.add(Opcode.RECV_DONE, started, **attributes)
    received = ctx.element(done, 0)
    return [*([received] if len(shapes) == 1 else ctx.elements(received)), ctx.element(done, 1)]


_TRANSFER = {
    "channel_handle": Attribute(Kind.STRUCT, classes=(ir.ChannelHandle,)),
    "is_host_transfer": FALSE,
    "source_target_pairs": Attribute(Kind.ELEMENTS, None, since=2),
}
define(
    "stablehlo.send",
    (Values("inputs", TENSOR_OR_PER_AXIS, Arity.VARIADIC), Values("token", TOKEN)),
    (Values("result", TOKEN),),
    rule=_send_rule,
    lower=_lower_send,
    traits=(Trait.SIDE_EFFECT, Trait.ON_STORAGE),
    attributes=_TRANSFER,
    releases="0.9 1.12",
    doc="Sends the inputs to a channel: to another device, or to the host (`is_host_transfer`).",
)
define(
    "stablehlo.recv",
    (Values("token", TOKEN),),
    _MANY,
    rule=_recv_rule,
    lower=_lower_recv,
    traits=(Trait.SIDE_EFFECT, Trait.ON_STORAGE),
    attributes=_TRANSFER,
    releases="0.9 1.12",
    doc="Receives values from a channel: from another device, or from the host (`is_host_transfer`).",
)
