"""Which attributes are in the properties of an op, in which order: each op's names sorted, the optional ones flagged.

Source: llvm-project, mlir/tools/mlir-tblgen (what it generates for BytecodeOpInterface); the ops of func, builtin and
sdy as their dialects define them, those of stablehlo and chlo as the op table does.
"""

from __future__ import annotations

import functools

from xla_core.stablehlo.table.op_table import OPS, REQUIRED
from xla_core.stablehlo.vhlo.ops import VHLO_OPS, WITH_ACCURACY

__all__ = ["SEGMENTED", "Layout", "layouts"]

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
    "sdy.replicated_to_unreduced": "axes out_sharding",
    "sdy.sharded_to_unreduced": "axes out_sharding",
    "sdy.func_data_flow_edge": "",
    "arith.constant": "value",
    "check.expect_almost_eq": "tolerance?",
    "check.expect_almost_eq_const": "value tolerance?",
    "check.expect_close": "max_ulp_difference min_ulp_difference?",
    "check.expect_eq_const": "value",
    "stablehlo.torch_index_select": "dim batch_dims",
    "stablehlo.einsum": "einsum_config",
}
"""Attributes of the ops of other dialects: `?` is optional."""


_NEWER = {
    "chlo.scan": "scan_dim_size?",
    "chlo.top_k": "is_stable?",
    "stablehlo.collective_broadcast": "has_dynamic_root?",
    "stablehlo.custom_call": "result_tilings?",
    "stablehlo.recv": "source_target_pairs?",
    "stablehlo.send": "source_target_pairs?",
    **{f"stablehlo.{name}": "result_accuracy?" for name in WITH_ACCURACY.split()},
}
"""Attributes that an op had not from the start: its properties are with or without them."""

SEGMENTED = frozenset(("chlo.scan",))
"""Ops with several variadic operands and results, whose numbers are in their properties."""

Layout = tuple[tuple[str, bool], ...]
"""(attribute, whether it is optional) in the order of an op's properties."""


@functools.cache
def layouts(name: str) -> tuple[Layout, ...]:
    """The ways in which the properties of an op may be laid out, the newest first; none for an op that isn't known."""
    if name in VHLO_OPS:
        return (tuple([(attribute, False) for attribute in VHLO_OPS[name].attributes]),)
    if name in _OTHERS:
        found = dict(_words(_OTHERS[name]))
    elif name in OPS:
        found = {key: attribute.default is not REQUIRED for key, attribute in OPS[name].attributes.items()}
    else:
        return ()
    newer = dict(_words(_NEWER.get(name, "")))
    with_newer = tuple(sorted({**found, **newer}.items()))
    return (with_newer, tuple(item for item in with_newer if item[0] not in newer)) if newer else (with_newer,)


def _words(text: str) -> list[tuple[str, bool]]:
    return [(word.rstrip("?"), word.endswith("?")) for word in text.split()]
