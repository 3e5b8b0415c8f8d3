"""Ops of other dialects that StableHLO programs contain. They are read and written, not verified or lowered."""

from __future__ import annotations

import dataclasses

from xla_core.stablehlo.table.assembly_format import CHLO_UNARY_ASSEMBLY


@dataclasses.dataclass(frozen=True, slots=True)
class OtherOp:
    """How an op of another dialect is written.

    Attributes:
        assembly: its assembly format; None where it has the generic form alone.
        properties: the attributes in its properties, `?` behind the optional ones; None where they are not known.
    """

    assembly: str | None = None
    properties: str | None = None


_CAST_ASSEMBLY = "%* attr-dict : :cast:"

OTHER_OPS: dict[str, OtherOp] = {
    "arith.constant": OtherOp("<constant>", properties="value"),
    "arith.index_cast": OtherOp(_CAST_ASSEMBLY),
    "builtin.module": OtherOp("<module>", properties="sym_name? sym_visibility?"),
    "builtin.unrealized_conversion_cast": OtherOp(_CAST_ASSEMBLY, properties=""),
    "check.expect_almost_eq": OtherOp(
        "% , % (? , tolerance = tolerance:f64 ?) attr-dict : :each:", properties="tolerance?"
    ),
    "check.expect_almost_eq_const": OtherOp(
        "% , value:attribute (? , tolerance = tolerance:f64 ?) attr-dict :value:", properties="value tolerance?"
    ),
    "check.expect_close": OtherOp(
        "% , % , max_ulp_difference = max_ulp_difference:ui64"
        " (? , min_ulp_difference = min_ulp_difference:ui64 ?) attr-dict : :list:",
        properties="max_ulp_difference min_ulp_difference?",
    ),
    "check.expect_eq": OtherOp("% , % attr-dict : :each:"),
    "check.expect_eq_const": OtherOp("% , value:attribute attr-dict :value:", properties="value"),
    "check.expect_serialized_eq": OtherOp(
        "% , probe_id = probe_id:string (? , iter = iteration:ui32 ?) attr-dict : :each:"
    ),
    "func.func": OtherOp(
        "<function>", properties="sym_name function_type sym_visibility? arg_attrs? res_attrs? no_inline?"
    ),
    "interpreter.print": OtherOp("% attr-dict : :each:"),
    "interpreter.probe": OtherOp("% , probe_id = probe_id:string attr-dict : :same:"),
    "sdy.all_gather": OtherOp(
        "gathering_axes:axis_lists % out_sharding = out_sharding:sharding attr-dict : :same:",
        properties="gathering_axes out_sharding",
    ),
    "sdy.all_reduce": OtherOp(properties="reduction_axes out_sharding"),
    "sdy.all_slice": OtherOp(properties="slicing_axes out_sharding"),
    "sdy.all_to_all": OtherOp(properties="params out_sharding"),
    "sdy.collective_permute": OtherOp(properties="out_sharding"),
    "sdy.constant": OtherOp(properties="value"),
    "sdy.data_flow_edge": OtherOp(properties="sharding?"),
    "sdy.func_data_flow_edge": OtherOp(properties=""),
    "sdy.mesh": OtherOp("<mesh>", properties="sym_name mesh"),
    "sdy.named_computation": OtherOp(properties="name in_shardings? out_shardings?"),
    "sdy.propagation_barrier": OtherOp(properties="allowed_direction"),
    "sdy.reduce_scatter": OtherOp(properties="reduce_scatter_axes out_sharding"),
    "sdy.replicated_to_unreduced": OtherOp(properties="axes out_sharding"),
    "sdy.reshard": OtherOp("% sharding:sharding attr-dict : :same:", properties="sharding"),
    "sdy.sharded_to_unreduced": OtherOp(properties="axes out_sharding"),
    "sdy.sharding_group": OtherOp("% group_id = group_id:int attr-dict : :each:", properties="group_id"),
    "shape.broadcast": OtherOp("%* attr-dict : :arrow:"),
    "shape.num_elements": OtherOp(CHLO_UNARY_ASSEMBLY),
    "shape.shape_of": OtherOp(CHLO_UNARY_ASSEMBLY),
    "tensor.cast": OtherOp(_CAST_ASSEMBLY),
    "vhlo.func_v1": OtherOp("<vhlo_function>"),
}
