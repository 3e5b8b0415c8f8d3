"""Ops between replicas and partitions: the entries of collectives and of their asynchronous halves."""

from __future__ import annotations

from typing import Any

import numpy as np

from xla_core.hlo.evaluation.environment import Value
from xla_core.hlo.evaluation.evaluation_context import EvaluationContext
from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.hlo.ops import collective_evaluation as evaluation
from xla_core.hlo.ops import collective_shapes as shapes
from xla_core.hlo.ops.rules import OpGroup, attr, first_value, same_shape
from xla_core.hlo.table.op_table import OPS, Evaluate, EvaluateGroup, GroupRule, ShapeRule, Trait
from xla_core.hlo.table.opcode import Opcode

entry = OpGroup("collectives").entry

_SOME = (1, None)
_GROUPS: dict[str, Any] = {"channel_id": attr("int", None), "replica_groups": attr("replica_groups", ())}
_GROUPS_SHOWN: dict[str, Any] = {**_GROUPS, "replica_groups": attr("replica_groups", (), shown=True)}
_LAYOUT: dict[str, Any] = {"constrain_layout": attr("bool", False)}
_GLOBAL: dict[str, Any] = {"use_global_device_ids": attr("bool", False)}
_MODE: dict[str, Any] = {"mode": attr("enum", None)}
_ROOT: dict[str, Any] = {"has_dynamic_root": attr("bool", False)}
_AXES: dict[str, Any] = {"dimensions": attr("ints")}
_MAYBE_AXES: dict[str, Any] = {"dimensions": attr("ints", None)}
_COMBINES: dict[str, Any] = {"to_apply": attr("computation")}
_ALL_REDUCE = {**_GROUPS_SHOWN, **_LAYOUT, **_GLOBAL, **_MODE, **_COMBINES, "groups": GroupRule(equal=False)}
_ALL_GATHER = {**_GROUPS_SHOWN, **_AXES, **_LAYOUT, **_GLOBAL, "groups": GroupRule()}
_PARTITIONS = GroupRule(of_partitions=True)
_PERMUTE: dict[str, Any] = {
    "channel_id": attr("int", None),
    "source_target_pairs": attr("source_target_pairs"),
    "slice_sizes": attr("int_lists", ()),
    "groups": _PARTITIONS,
}

_Collective = tuple[Opcode, int | tuple[int, int | None], ShapeRule, EvaluateGroup, dict[str, Any], str]
_COLLECTIVES: tuple[_Collective, ...] = (
    (
        Opcode.ALL_REDUCE,
        _SOME,
        shapes.all_reduce,
        evaluation.all_reduce,
        _ALL_REDUCE,
        "The operands of all devices of a group, combined by to_apply.",
    ),
    (
        Opcode.ALL_GATHER,
        _SOME,
        shapes.all_gather,
        evaluation.all_gather,
        _ALL_GATHER,
        "The operands of all devices of a group, concatenated along a dimension.",
    ),
    (
        Opcode.REDUCE_SCATTER,
        _SOME,
        shapes.reduce_scatter,
        evaluation.reduce_scatter,
        {**_GROUPS_SHOWN, **_LAYOUT, **_GLOBAL, **_MODE, **_AXES, **_COMBINES, "groups": GroupRule()},
        "all-reduce, then each device of a group keeps its part along a dimension.",
    ),
    (
        Opcode.ALL_TO_ALL,
        _SOME,
        shapes.all_to_all,
        evaluation.all_to_all,
        {**_GROUPS_SHOWN, **_LAYOUT, **_MAYBE_AXES, "groups": _PARTITIONS},
        "Part j of device i's operand becomes part i of device j's result.",
    ),
    (
        Opcode.RAGGED_ALL_TO_ALL,
        6,
        shapes.ragged_all_to_all,
        evaluation.ragged_all_to_all,
        {**_GROUPS, **_MAYBE_AXES, "groups": _PARTITIONS},
        "all-to-all of row ranges given by offsets and sizes.",
    ),
    (
        Opcode.COLLECTIVE_BROADCAST,
        _SOME,
        shapes.rooted_broadcast,
        evaluation.collective_broadcast,
        {**_GROUPS, **_ROOT, "groups": GroupRule(of_partitions=True, equal=False, complete=False)},
        "The operand of a group's root: the first device, or the one that the last operand names.",
    ),
    (
        Opcode.COLLECTIVE_REDUCE,
        _SOME,
        shapes.rooted_reduce,
        evaluation.collective_reduce,
        {**_GROUPS, **_ROOT, **_LAYOUT, **_GLOBAL, **_COMBINES, "groups": GroupRule(equal=False, complete=False)},
        "A group's root (the first device, or the one that the last operand names) gets the combined operands; the "
        "others get zeros.",
    ),
    (
        Opcode.COLLECTIVE_PERMUTE,
        _SOME,
        shapes.collective_permute,
        evaluation.collective_permute,
        _PERMUTE,
        "Sends operands from sources to targets; a device that is no target gets zeros.",
    ),
)
for _opcode, _arity, _rule, _evaluate_group, _attributes, _doc in _COLLECTIVES:
    _evaluate = evaluation.on_device(_evaluate_group, once=_opcode is not Opcode.RAGGED_ALL_TO_ALL)
    _fields = {**_attributes, "evaluate_group": _evaluate_group}
    entry(_opcode, _arity, _rule, _evaluate, Trait.COLLECTIVE, doc=_doc, **_fields)


def _second(context: EvaluationContext, instruction: HloInstruction, values: list[Value]) -> Value:
    return values[0][1]


_TRAITS = (Trait.COLLECTIVE, Trait.ASYNC)
# synchronous opcode, whether the start op's result is a pair (operands, results), shape rule, attributes
_ASYNCHRONOUS: tuple[tuple[Opcode, bool, ShapeRule, dict[str, Any]], ...] = (
    (Opcode.ALL_REDUCE, False, shapes.all_reduce, _ALL_REDUCE),
    (Opcode.ALL_GATHER, True, shapes.start_pair(shapes.all_gather), _ALL_GATHER),
    (Opcode.COLLECTIVE_PERMUTE, True, shapes.start_pair(shapes.collective_permute), _PERMUTE),
)
for _opcode, _is_pair, _rule, _attributes in _ASYNCHRONOUS:
    _start = Opcode(f"{_opcode}-start")
    _fields = {**_attributes, "operands_at": (0,) if _is_pair else None}
    _doc = f"Starts {_opcode}, so that other ops may run at the same time."
    entry(_start, _SOME, _rule, OPS[_opcode].evaluate, *_TRAITS, doc=_doc, **_fields)
    _done = (shapes.done_pair, _second) if _is_pair else (same_shape, first_value)
    _fields = {"waits_for": (_start,), "result_at": (1,) if _is_pair else ()}
    entry(Opcode(f"{_opcode}-done"), 1, *_done, *_TRAITS, doc=f"The result of {_start}.", **_fields)


def _device_id(noun: str) -> Evaluate:
    """Makes the evaluation of an op that gives the number of the replica or partition."""
    return lambda context, instruction, values: np.asarray(getattr(context.environment, noun), instruction.shape.dtype)


for _opcode, _noun in ((Opcode.PARTITION_ID, "partition"), (Opcode.REPLICA_ID, "replica")):
    entry(_opcode, 0, shapes.device_id, _device_id(_noun), Trait.PER_DEVICE, doc=f"The {_noun} that runs this.")
