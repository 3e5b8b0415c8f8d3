"""Which attributes are in the properties of an op, in which order: each op's names sorted, the optional ones flagged.

Source: llvm-project, mlir/tools/mlir-tblgen (what it generates for BytecodeOpInterface); the ops of func, builtin and
sdy as their dialects define them, those of stablehlo and chlo as the op table does.
"""

from __future__ import annotations

import functools

from xla_core.stablehlo.bytecode.vhlo_ops import VHLO_OPS
from xla_core.stablehlo.op_table import OPS, REQUIRED

__all__ = ["layout"]

_OTHERS = {
    "builtin.module": "sym_name? sym_visibility?",
    "builtin.unrealized_conversion_cast": "",
    "func.func": "sym_name function_type sym_visibility? arg_attrs? res_attrs? no_inline?",
    "func.call": "callee arg_attrs? res_attrs? no_inline?",
    "func.return": "",
    "sdy.mesh": "sym_name mesh",
    "sdy.sharding_constraint": "sharding",
    "sdy.sharding_group": "group_id",
    "sdy.reshard": "sharding",
    "sdy.manual_computation": "in_shardings out_shardings manual_axes",
    "sdy.named_computation": "name in_shardings? out_shardings?",
    "sdy.return": "",
    "sdy.constant": "value",
    "sdy.data_flow_edge": "sharding?",
    "sdy.propagation_barrier": "allowed_direction",
    "sdy.all_gather": "gathering_axes out_sharding",
    "sdy.all_reduce": "reduction_axes out_sharding",
    "sdy.all_slice": "slicing_axes out_sharding",
    "sdy.all_to_all": "params out_sharding",
    "sdy.collective_permute": "out_sharding",
    "sdy.reduce_scatter": "reduce_scatter_axes out_sharding",
    "arith.constant": "value",
    "check.expect_almost_eq": "tolerance?",
    "check.expect_almost_eq_const": "value tolerance?",
    "check.expect_close": "max_ulp_difference min_ulp_difference?",
    "check.expect_eq_const": "value",
}
"""Attributes of the ops of other dialects: `?` is optional."""


@functools.cache
def layout(name: str) -> tuple[tuple[str, bool], ...] | None:
    """(attribute, whether it is optional) in the order of an op's properties; None for an op that isn't known."""
    if name in VHLO_OPS:
        return tuple([(attribute, False) for attribute in VHLO_OPS[name].attributes])
    if name in _OTHERS:
        words = _OTHERS[name].split()
        return tuple(sorted((word.rstrip("?"), word.endswith("?")) for word in words))
    if name in OPS:
        attributes = OPS[name].attributes
        return tuple(sorted((key, attribute.default is not REQUIRED) for key, attribute in attributes.items()))
    return None
