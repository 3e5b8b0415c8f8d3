"""Ops across devices, and between device and host: collectives, infeed, outfeed, send, recv, async."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from xla_core.errors import UnimplementedError
from xla_core.hlo.attributes import ReplicaGroups
from xla_core.hlo.element_type import ElementType
from xla_core.hlo.instruction import HloInstruction
from xla_core.hlo.shape import Shape
from xla_core.stablehlo import ir
from xla_core.stablehlo.attributes import ChannelHandle, DenseElements, Mesh, ReplicaGroupMeshAxes
from xla_core.stablehlo.compatibility import compatible, compatible_dimensions, compatible_elements, fail, list_text, types_text
from xla_core.stablehlo.ir import DYNAMIC, TensorType
from xla_core.stablehlo.lowering import LoweringContext
from xla_core.stablehlo.mesh_groups import mesh_groups
from xla_core.stablehlo.op_table import Arity, Attribute, Kind, Trait, Values, define
from xla_core.stablehlo.ops.common import CHANNEL, INDEX, SIZE, tensor
from xla_core.stablehlo.ops.reducers import check_reducer, element_text, promote
from xla_core.stablehlo.type_constraints import ANY, TENSOR, TOKEN
from xla_core.stablehlo.type_conversion import shape_of

__all__: list[str] = []

_OPERANDS = (Values("operands", TENSOR, Arity.VARIADIC),)
_RESULTS = (Values("results", TENSOR, Arity.VARIADIC),)
_GROUPS = {"replica_groups": Attribute(Kind.STRUCT), "channel_handle": CHANNEL}
_GLOBAL = {"use_global_device_ids": Attribute(Kind.ANY, None)}
_COLLECTIVE = (Trait.COLLECTIVE,)


# -- replica groups and channels -------------------------------------------------------------------------------------


def _groups(op: ir.Op, module: ir.Module) -> ReplicaGroups:
    """The replica groups; -1, which fills up rows of different length, is left out."""
    value = op.attributes["replica_groups"]
    if isinstance(value, ReplicaGroupMeshAxes):
        return mesh_groups(value, module, op)
    rows = value.array.tolist() if isinstance(value, DenseElements) else [list(row) for row in value]
    return tuple(tuple(int(i) for i in row if i >= 0) for row in rows if row)


def _check_groups(op: ir.Op, module: ir.Module, *, ragged: bool = False, size: int | None = None) -> int | None:
    """Checks the groups: rank 2, ids unique, none left out. Returns the size of a group, where it is known."""
    value = op.attributes["replica_groups"]
    if isinstance(value, ReplicaGroupMeshAxes):
        if not isinstance(value.mesh, Mesh) and not _has_symbol(module, str(value.mesh)):
            fail(op, f"replica_groups: mesh symbol '{value.mesh}' not found")
        return None
    if not isinstance(value, DenseElements) or value.type.rank != 2:
        fail(op, "replica groups should be a rank 2 tensor")
    if value.size == 0 and op.attributes.get("use_global_device_ids"):
        fail(op, "replica groups cannot be empty")
    ids = [int(i) for i in value.array.reshape(-1).tolist()] if value.size <= 1 << 20 else []
    seen: set[int] = set()
    for i in ids:
        if i == -1:
            if not ragged:
                fail(op, "Invalid replica id -1")
            continue
        if i in seen:
            fail(op, f"replica id #{i} seen more than once")
        seen.add(i)
    for i in range(len(seen)):
        if i not in seen:
            fail(op, f"replica id #{i} not seen in replica groups")
    if size is not None and value.type.shape[1] != size:
        fail(op, f"group size of replica_groups must be {size}")
    return value.type.shape[1]


def _has_symbol(module: ir.Module, name: str) -> bool:
    return name in module.functions or any(str(o.attributes.get("sym_name")) == name for o in module.others)


def _check_channel(op: ir.Op, *, negative: str = "") -> None:
    handle = op.attributes.get("channel_handle")
    channel = handle.handle if isinstance(handle, ChannelHandle) else 0
    if not op.attributes.get("use_global_device_ids") or channel > 0:
        return
    if not negative:
        fail(op, f"channel_id must be positive when useGlobalDeviceIds is set but got: {channel}")
    if channel < 0:
        fail(op, negative)


def _attributes(ctx: LoweringContext, op: ir.Op) -> dict[str, Any]:
    """`replica_groups`, `channel_id` and `use_global_device_ids` of HLO."""
    attributes: dict[str, Any] = {}
    if "replica_groups" in op.attributes:
        attributes["replica_groups"] = _groups(op, ctx.module.source)
    attributes.update(_channel(op))
    if op.attributes.get("use_global_device_ids"):
        attributes["use_global_device_ids"] = True
    return attributes


def _channel(op: ir.Op) -> dict[str, Any]:
    """A handle of 0 means none: HLO's channels count from 1."""
    handle = op.attributes.get("channel_handle")
    return {"channel_id": handle.handle} if isinstance(handle, ChannelHandle) and handle.handle > 0 else {}


# -- reductions across devices ---------------------------------------------------------------------------------------


def _scalar(type: TensorType) -> TensorType:
    return TensorType((), type.element)


def _all_reduce_rule(op: ir.Op, module: ir.Module) -> Sequence[ir.Type]:
    types = [tensor(op, i) for i in range(len(op.operands))]
    _check_groups(op, module, ragged=True)
    _check_channel(op)
    if not types:
        fail(op, "expects at least 1 operand")
    results = []
    for type in types:
        (result,) = check_reducer(op, op.regions[0], [_scalar(type)], [_scalar(type)])
        results.append(TensorType(type.shape, result.element, type.bounds))
    return results


def _lower_all_reduce(ctx: LoweringContext, op: ir.Op, *operands: HloInstruction) -> Sequence[HloInstruction]:
    """HLO `all-reduce`, one for each operand."""
    reducer = ctx.region(op.regions[0], "all_reduce_region")
    attributes = _attributes(ctx, op)
    inputs = [promote(ctx, [o], op.regions[0].block.arguments[:1])[0] for o in operands]
    if len(inputs) > 1 and len({i.shape.element_type for i in inputs}) == 1:
        return ctx.elements(ctx.add("all-reduce", *inputs, to_apply=reducer, **attributes))
    return [ctx.add("all-reduce", i, to_apply=reducer, **attributes) for i in inputs]


define(
    "stablehlo.all_reduce",
    _OPERANDS,
    _RESULTS,
    rule=_all_reduce_rule,
    lower=_lower_all_reduce,
    regions=1,
    traits=_COLLECTIVE,
    attributes={**_GROUPS, **_GLOBAL},
)


def _reduce_scatter_rule(op: ir.Op, module: ir.Module) -> None:
    operand, result = tensor(op, 0), op.results[0].type
    assert isinstance(result, TensorType)
    dim = int(op.attributes["scatter_dimension"])
    _check_groups(op, module)
    _check_channel(op)
    if operand.rank != result.rank:
        fail(op, "operand and result should have same rank")
    if dim >= operand.rank:
        fail(op, "scatter dim should be less than operand/result rank")
    (reduced,) = check_reducer(op, op.regions[0], [_scalar(operand)], [_scalar(operand)])
    here, there = operand.shape[dim], result.shape[dim]
    if here == 0:
        fail(op, "operand dimension size at scatter_dimension cannot be zero")
    if there == 0:
        fail(op, "result dimension size at scatter_dimension cannot be zero")
    if DYNAMIC not in (here, there) and here % there:
        fail(op, f"operand scatter dimension has size {here}, expected to be a multiple of result scatter dimension size {there}")
    for i, (a, b) in enumerate(zip(operand.shape, result.shape, strict=True)):
        if i != dim and not compatible_dimensions(a, b):
            fail(op, f"non scatter dimensions should be same for operand ({a}) and result ({b})")
    if not compatible_elements(reduced.element, result.element):
        fail(op, f"result element-type is expected to be '{element_text(reduced)}', but got '{element_text(result)}'")


def _lower_reduce_scatter(ctx: LoweringContext, op: ir.Op, operand: HloInstruction) -> HloInstruction:
    """HLO `reduce-scatter`."""
    (operand,) = promote(ctx, [operand], op.regions[0].block.arguments[:1])
    return ctx.add(
        "reduce-scatter",
        operand,
        shape=ctx.result_shape(op),
        dimensions=(int(op.attributes["scatter_dimension"]),),
        to_apply=ctx.region(op.regions[0], "reduce_scatter_region"),
        **_attributes(ctx, op),
    )


define(
    "stablehlo.reduce_scatter",
    "operand",
    rule=_reduce_scatter_rule,
    lower=_lower_reduce_scatter,
    regions=1,
    traits=_COLLECTIVE,
    attributes={"scatter_dimension": INDEX, **_GROUPS, **_GLOBAL},
)


def _rooted_rule(op: ir.Op, name: str) -> list[TensorType]:
    """The data operands of collective_broadcast and collective_reduce, whose last operand may say the roots."""
    types = [tensor(op, i) for i in range(len(op.operands))]
    if not op.attributes.get("has_dynamic_root"):
        if not types:
            fail(op, f"{name} requires at least one data operand")
        return types
    if len(types) < 2:
        fail(op, f"{name} with has_dynamic_root=true requires at least two operands (data + root)")
    *data, root = types
    if root.rank != 1 or root.element != "i32":
        fail(op, f"last operand of {name} with has_dynamic_root=true must be a rank-1 i32 tensor")
    if root.shape[0] not in (DYNAMIC, len(data)):
        fail(
            op,
            f"last operand of {name} with has_dynamic_root=true must have the same number of elements as data operands "
            f"({len(data)}), but got {root.shape[0]}",
        )
    return data


def _static_root(op: ir.Op) -> None:
    if op.attributes.get("has_dynamic_root"):
        raise UnimplementedError(f"{op.name} with a root that is known at run time only has no form in HLO", op=op.name)


def _collective_broadcast_rule(op: ir.Op, module: ir.Module) -> Sequence[ir.Type]:
    data = _rooted_rule(op, "collective_broadcast")
    _check_groups(op, module, ragged=True)
    return data


def _lower_collective_broadcast(ctx: LoweringContext, op: ir.Op, *operands: HloInstruction) -> Sequence[HloInstruction]:
    """HLO `collective-broadcast`, one for each operand."""
    _static_root(op)
    attributes = _attributes(ctx, op)
    return [ctx.add("collective-broadcast", o, **attributes) for o in operands]


define(
    "stablehlo.collective_broadcast",
    _OPERANDS,
    _RESULTS,
    rule=_collective_broadcast_rule,
    lower=_lower_collective_broadcast,
    traits=_COLLECTIVE,
    attributes={**_GROUPS, "has_dynamic_root": Attribute(Kind.BOOL, False)},
)


def _collective_reduce_rule(op: ir.Op, module: ir.Module) -> Sequence[ir.Type]:
    data = _rooted_rule(op, "collective_reduce")
    _check_groups(op, module, ragged=True)
    _check_channel(op)
    results = []
    for type in data:
        (result,) = check_reducer(op, op.regions[0], [_scalar(type)], [_scalar(type)])
        results.append(TensorType(type.shape, result.element))
    return results


def _lower_collective_reduce(ctx: LoweringContext, op: ir.Op, *operands: HloInstruction) -> Sequence[HloInstruction]:
    """HLO `collective-reduce`, one for each operand."""
    _static_root(op)
    reducer = ctx.region(op.regions[0], "collective_reduce_region")
    attributes = _attributes(ctx, op)
    inputs = [promote(ctx, [o], op.regions[0].block.arguments[:1])[0] for o in operands]
    return [ctx.add("collective-reduce", i, to_apply=reducer, **attributes) for i in inputs]


define(
    "stablehlo.collective_reduce",
    _OPERANDS,
    _RESULTS,
    rule=_collective_reduce_rule,
    lower=_lower_collective_reduce,
    regions=1,
    traits=_COLLECTIVE,
    attributes={**_GROUPS, **_GLOBAL, "has_dynamic_root": Attribute(Kind.BOOL, False)},
)


# -- movement across devices -----------------------------------------------------------------------------------------


def _all_gather_rule(op: ir.Op, module: ir.Module) -> None:
    dim = int(op.attributes["all_gather_dim"])
    _check_groups(op, module)
    _check_channel(op, negative="channel_id cannot be negative when useGlobalDeviceIds is set")
    for i, (value, result) in enumerate(zip(op.operands, op.results, strict=True)):
        operand, out = tensor(op, i), result.type
        assert isinstance(out, TensorType)
        del value
        if operand.rank != out.rank:
            fail(op, "operand and result must have the same rank")
        if dim >= operand.rank:
            fail(op, "all_gather_dim must be a valid index of operand")
        if any(j != dim and not compatible_dimensions(a, b) for j, (a, b) in enumerate(zip(operand.shape, out.shape, strict=True))):
            fail(op, "operand and result should have the same shape except for the dimension size at 'all_gather_dim'")
        here, there = operand.shape[dim], out.shape[dim]
        if here == 0:
            fail(op, "dimension size of operand at 'all_gather_dim' cannot be zero")
        if DYNAMIC not in (here, there) and there % here:
            fail(op, f"result gather dimension has size {there}, expected to be a multiple of operand gather dimension size {here}")
        if not compatible_elements(operand.element, out.element):
            fail(op, "requires the same element type for operand and result")


def _lower_all_gather(ctx: LoweringContext, op: ir.Op, *operands: HloInstruction) -> Sequence[HloInstruction]:
    """HLO `all-gather`, one for each operand."""
    attributes = _attributes(ctx, op)
    dims = (int(op.attributes["all_gather_dim"]),)
    return [
        ctx.add("all-gather", o, shape=shape_of(r.type), dimensions=dims, **attributes)
        for o, r in zip(operands, op.results, strict=True)
    ]


define(
    "stablehlo.all_gather",
    _OPERANDS,
    _RESULTS,
    rule=_all_gather_rule,
    lower=_lower_all_gather,
    traits=_COLLECTIVE,
    attributes={"all_gather_dim": INDEX, **_GROUPS, **_GLOBAL},
)


def _all_to_all_rule(op: ir.Op, module: ir.Module) -> Sequence[ir.Type]:
    split, concat = int(op.attributes["split_dimension"]), int(op.attributes["concat_dimension"])
    count = int(op.attributes["split_count"])
    if len(op.operands) != len(op.results):
        fail(op, "requires the same number of operands and results")
    for i, result in enumerate(op.results):
        if not isinstance(result.type, TensorType) or not compatible_elements(tensor(op, i).element, result.type.element):
            fail(op, f"requires the same element type for operand and result at index {i}")
    results: list[ir.Type] = []
    for i in range(len(op.operands)):
        operand = tensor(op, i)
        for name, dim in (("split", split), ("concat", concat)):
            if dim >= operand.rank:
                fail(op, f"AllToAll {name}_dimension {dim} is out-of-bounds for input rank {operand.rank}")
        if operand.shape[split] != DYNAMIC and operand.shape[split] % count:
            fail(op, f"split dimension has size {operand.shape[split]}, expected to be a multiple of split_count {count}")
        shape = list(operand.shape)
        if shape[split] != DYNAMIC:
            shape[split] //= count
        if shape[concat] != DYNAMIC:
            shape[concat] *= count
        results.append(TensorType(tuple(shape), operand.element))
    _check_groups(op, module, size=count)
    return results


def _lower_all_to_all(ctx: LoweringContext, op: ir.Op, *operands: HloInstruction) -> Sequence[HloInstruction]:
    """HLO `all-to-all` along the split dimension; another concat dimension gets its parts by a transpose."""
    attributes = _attributes(ctx, op)
    split, concat = int(op.attributes["split_dimension"]), int(op.attributes["concat_dimension"])
    count = int(op.attributes["split_count"])
    made = []
    for operand, result in zip(operands, op.results, strict=True):
        exchanged = ctx.add("all-to-all", operand, dimensions=(split,), **attributes)
        if split != concat:
            dims = operand.shape.dimensions
            parts = ctx.reshape(exchanged, (*dims[:split], count, dims[split] // count, *dims[split + 1 :]))
            order = [i for i in range(len(dims) + 1) if i != split]
            target = concat if concat < split else concat + 1
            order.insert(order.index(target), split)
            moved = ctx.add("transpose", parts, dimensions=tuple(order))
            exchanged = ctx.reshape(moved, shape_of(result.type).dimensions)
        made.append(exchanged)
    return made


define(
    "stablehlo.all_to_all",
    _OPERANDS,
    _RESULTS,
    rule=_all_to_all_rule,
    lower=_lower_all_to_all,
    traits=_COLLECTIVE,
    attributes={"split_dimension": INDEX, "concat_dimension": INDEX, "split_count": SIZE, **_GROUPS},
)


def _permute_rule(op: ir.Op, module: ir.Module) -> Sequence[ir.Type]:
    pairs = op.attributes["source_target_pairs"]
    if isinstance(pairs, DenseElements):
        if pairs.type.rank != 2:
            fail(op, f"expect source_target_pairs attribute to be of rank 2, but got rank {pairs.type.rank}")
        if pairs.type.shape[1] != 2:
            fail(op, f"expect source_target_pairs attribute of shape (N, 2), but got ({list_text(pairs.type.shape)})")
    rows = _pairs(op)
    for name, ids in (("sources", [a for a, _ in rows]), ("targets", [b for _, b in rows])):
        if any(i < 0 for i in ids):
            fail(op, "replica ids in source_target_pairs must be >= 0.")
        if len(set(ids)) != len(ids):
            fail(op, f"duplicate {name} not allowed")
    return [o.type for o in op.operands]


def _pairs(op: ir.Op) -> list[tuple[int, int]]:
    value = op.attributes["source_target_pairs"]
    rows = value.array.reshape(-1, 2).tolist() if isinstance(value, DenseElements) else value
    return [(int(a), int(b)) for a, b in rows]


def _lower_permute(ctx: LoweringContext, op: ir.Op, *operands: HloInstruction) -> Sequence[HloInstruction]:
    """HLO `collective-permute`, one for each operand."""
    pairs = tuple(_pairs(op))
    return [ctx.add("collective-permute", o, source_target_pairs=pairs, **_channel(op)) for o in operands]


define(
    "stablehlo.collective_permute",
    _OPERANDS,
    _RESULTS,
    rule=_permute_rule,
    lower=_lower_permute,
    traits=_COLLECTIVE,
    attributes={"source_target_pairs": Attribute(Kind.ELEMENTS), "channel_handle": CHANNEL},
)


def _lower_cross_replica_sum(ctx: LoweringContext, op: ir.Op, operand: HloInstruction) -> HloInstruction:
    """HLO `all-reduce` with a sum."""
    child = ctx.child("sum")
    scalar = operand.shape.with_dimensions(())
    a, b = (child.computation.parameter(i, scalar) for i in range(2))
    child.set_root([child.add("add", a, b)])
    return ctx.add("all-reduce", operand, to_apply=child.computation, **_attributes(ctx, op))


define(
    "stablehlo.cross-replica-sum",
    "operand",
    rule=lambda op, module: [tensor(op, 0)],
    lower=_lower_cross_replica_sum,
    traits=_COLLECTIVE,
    attributes={"replica_groups": Attribute(Kind.STRUCT)},
    doc="HLO `all-reduce` with a sum.",
)


def _lower_id(opcode: str) -> Any:
    def lower(ctx: LoweringContext, op: ir.Op) -> HloInstruction:
        return ctx.add(opcode, shape=Shape(ElementType.U32))

    lower.__doc__ = f"HLO `{opcode}`."
    return lower


def _id_rule(op: ir.Op, module: ir.Module) -> Sequence[ir.Type]:
    return [TensorType((), "ui32")]


define("stablehlo.partition_id", "", rule=_id_rule, lower=_lower_id("partition-id"))
define("stablehlo.replica_id", "", rule=_id_rule, lower=_lower_id("replica-id"))


# -- the host --------------------------------------------------------------------------------------------------------

_MANY = (Values("results", ANY, Arity.VARIADIC),)


def _check_received(op: ir.Op, all_but: str) -> None:
    types = [r.type for r in op.results]
    if not types:
        fail(op, "result is expected to be at least of size 1, but got 0")
    for type in types[:-1]:
        if not isinstance(type, (TensorType, ir.TupleType)):
            fail(op, f"{all_but} to be of tensor type, but got '{type}'")
    if not isinstance(types[-1], ir.TokenType):
        fail(op, f"last element of result types is expected to be of token type, but got '{types[-1]}'")


def _infeed_rule(op: ir.Op, module: ir.Module) -> None:
    _check_received(op, "all elements of result types, except the last element, are expected")
    layout = op.attributes.get("layout")
    if layout is None:
        return
    if not isinstance(layout, (tuple, list)):
        fail(op, "layout-attribute expected to be of array type.")
    if len(layout) != len(op.results) - 1:
        fail(
            op,
            f"layout-attribute size must be {len(op.results) - 1} (which is the number of op-results - 1 (for token "
            f"result)), but got {len(layout)}",
        )
    for entry in layout:
        if not isinstance(entry, (tuple, list)):
            fail(op, f"layout-attribute expected to have elements of type array, but got {entry} : i64")
        for leaf in entry:
            if not isinstance(leaf, int):
                fail(op, f"layout-attribute's leaf elements are expected to be of type integer, but got {list(leaf) if isinstance(leaf, (tuple, list)) else leaf}")


def _lower_infeed(ctx: LoweringContext, op: ir.Op, token: HloInstruction) -> Sequence[HloInstruction]:
    """HLO `infeed`, whose result is ((data...), token)."""
    data = Shape.tuple([shape_of(r.type) for r in op.results[:-1]])
    extra = {"infeed_config": str(op.attributes["infeed_config"])} if op.attributes.get("infeed_config") else {}
    made = ctx.add("infeed", token, shape=Shape.tuple([data, Shape.token()]), **extra)
    received = ctx.element(made, 0)
    return [*ctx.elements(received), ctx.element(made, 1)]


define(
    "stablehlo.infeed",
    (Values("token", TOKEN),),
    _MANY,
    rule=_infeed_rule,
    lower=_lower_infeed,
    traits=(Trait.SIDE_EFFECT,),
    attributes={"infeed_config": Attribute(Kind.STRING, ""), "layout": Attribute(Kind.ANY, None)},
)


def _lower_outfeed(ctx: LoweringContext, op: ir.Op, *operands: HloInstruction) -> HloInstruction:
    """HLO `outfeed` of the data as a tuple."""
    *data, token = operands
    extra = {"outfeed_config": str(op.attributes["outfeed_config"])} if op.attributes.get("outfeed_config") else {}
    packed = ctx.tuple(data)
    return ctx.add("outfeed", packed, token, outfeed_shape=packed.shape, **extra)


define(
    "stablehlo.outfeed",
    (Values("inputs", ANY, Arity.VARIADIC), Values("token", TOKEN)),
    (Values("result", TOKEN),),
    lower=_lower_outfeed,
    traits=(Trait.SIDE_EFFECT,),
    attributes={"outfeed_config": Attribute(Kind.STRING, "")},
)


def _check_transfer(op: ir.Op, host: int, name: str) -> None:
    """The type of a channel: 1 between devices, 2 from device to host, 3 from host to device."""
    handle = op.attributes["channel_handle"]
    if not isinstance(handle, ChannelHandle):
        return
    if op.attributes.get("is_host_transfer"):
        if handle.type != host:
            fail(op, f"channel_type should be {name} when is_host_transfer is true")
    elif handle.type != 1:
        fail(op, "channel_type should be DEVICE_TO_DEVICE when is_host_transfer is false")


def _send_rule(op: ir.Op, module: ir.Module) -> None:
    _check_transfer(op, 2, "DEVICE_TO_HOST")


def _recv_rule(op: ir.Op, module: ir.Module) -> None:
    _check_transfer(op, 3, "HOST_TO_DEVICE")
    _check_received(op, "everything but the last element of result types is expected")


def _transfer_attributes(op: ir.Op) -> dict[str, Any]:
    attributes: dict[str, Any] = {}
    handle = op.attributes.get("channel_handle")
    if isinstance(handle, ChannelHandle):
        attributes["channel_id"] = handle.handle
    if op.attributes.get("is_host_transfer"):
        attributes["is_host_transfer"] = True
    return attributes


def _lower_send(ctx: LoweringContext, op: ir.Op, *operands: HloInstruction) -> HloInstruction:
    """HLO `send` and `send-done`; several operands go as a tuple."""
    *data, token = operands
    attributes = _transfer_attributes(op)
    sent = ctx.add("send", data[0] if len(data) == 1 else ctx.tuple(data), token, **attributes)
    return ctx.add("send-done", sent, **attributes)


def _lower_recv(ctx: LoweringContext, op: ir.Op, token: HloInstruction) -> Sequence[HloInstruction]:
    """HLO `recv` and `recv-done`; several results come as a tuple."""
    attributes = _transfer_attributes(op)
    shapes = [shape_of(r.type) for r in op.results[:-1]]
    data = shapes[0] if len(shapes) == 1 else Shape.tuple(shapes)
    started = ctx.add("recv", token, shape=Shape.tuple([data, Shape(ElementType.U32), Shape.token()]), **attributes)
    done = ctx.add("recv-done", started, **attributes)
    received = ctx.element(done, 0)
    return [*([received] if len(shapes) == 1 else ctx.elements(received)), ctx.element(done, 1)]


_TRANSFER = {
    "channel_handle": Attribute(Kind.STRUCT),
    "is_host_transfer": Attribute(Kind.BOOL, False),
    "source_target_pairs": Attribute(Kind.ELEMENTS, None),
}
define(
    "stablehlo.send",
    (Values("inputs", ANY, Arity.VARIADIC), Values("token", TOKEN)),
    (Values("result", TOKEN),),
    rule=_send_rule,
    lower=_lower_send,
    traits=(Trait.SIDE_EFFECT,),
    attributes=_TRANSFER,
)
define(
    "stablehlo.recv",
    (Values("token", TOKEN),),
    _MANY,
    rule=_recv_rule,
    lower=_lower_recv,
    traits=(Trait.SIDE_EFFECT,),
    attributes=_TRANSFER,
)


# -- async -----------------------------------------------------------------------------------------------------------

_ASYNC_OPS = frozenset(
    f"stablehlo.{n}"
    for n in (
        "all_gather all_reduce all_to_all collective_broadcast collective_permute reduce_scatter collective_reduce slice "
        "dynamic_slice dynamic_update_slice"
    ).split()
)


def _async_start_rule(op: ir.Op, module: ir.Module) -> Sequence[ir.Type]:
    block = op.regions[0].block
    if len(block.ops) != 2:
        fail(op, "region must contain exactly one operation and a return")
    if block.ops[0].name not in _ASYNC_OPS:
        fail(op, "region must contain a collective or slice operation")
    if len(op.operands) != len(block.arguments):
        fail(
            op,
            f"number of operands ({len(op.operands)}) must match number of region arguments ({len(block.arguments)})",
        )
    for i, (operand, argument) in enumerate(zip(op.operands, block.arguments, strict=True)):
        if operand.type != argument.type:
            fail(op, f"operand type '{operand.type}' at index {i} must match region argument type '{argument.type}'")
    types = tuple(v.type for v in block.ops[-1].operands)
    result = op.results[0].type
    if not isinstance(result, ir.OpaqueType) or len(result.elements) != len(types) or not all(map(compatible, types, result.elements)):
        inside = ", ".join(map(str, types))
        fail(
            op,
            f"inferred type(s) '!stablehlo.future<{inside}>' are incompatible with return type(s) of operation "
            f"{types_text([result])}",
        )
    return [result]


def _lower_async_start(ctx: LoweringContext, op: ir.Op, *operands: HloInstruction) -> HloInstruction:
    """HLO `async-start` of the region's op."""
    return ctx.add("async-start", *operands, calls=ctx.region(op.regions[0], "async_region"))


define(
    "stablehlo.async_start",
    (Values("operands", ANY, Arity.VARIADIC),),
    (Values("result", ANY),),
    rule=_async_start_rule,
    lower=_lower_async_start,
    regions=1,
)


def _async_done_rule(op: ir.Op, module: ir.Module) -> Sequence[ir.Type] | None:
    type = op.operands[0].type
    return list(type.elements) if isinstance(type, ir.OpaqueType) and type.elements else None


def _lower_async_done(ctx: LoweringContext, op: ir.Op, started: HloInstruction) -> Sequence[HloInstruction]:
    """HLO `async-done`."""
    return ctx.results(ctx.add("async-done", started, calls=started.attributes["calls"]), op)


define(
    "stablehlo.async_done",
    (Values("operand", ANY),),
    _MANY,
    rule=_async_done_rule,
    lower=_lower_async_done,
)
