"""Finds the few primitive ops that would be enough for the instructions that the host runs."""

from __future__ import annotations

import dataclasses
from collections.abc import Hashable, Sequence

from xla_core.analysis import InstructionPlacement
from xla_core.hlo.ir.extractor import extract_module
from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.hlo.ir.module import HloModule
from xla_core.hlo.ir.structural_key import StructuralKeys
from xla_core.hlo.table.op_table import OPS, Trait
from xla_core.passes.legalization.legalize import rewrite_unsupported
from xla_core.target import Lack, LackKind, TargetConfig

_MOST = 3  # the op itself is simpler to add than more of them


def with_primitive_lacks(
    placement: Sequence[InstructionPlacement], module: HloModule, target: TargetConfig
) -> Sequence[InstructionPlacement]:
    """Returns the placement with the primitive ops that decompositions lack in the place of the ops themselves.

    An op keeps its own lacks if its decomposition needs many primitive ops, or anything else.
    """
    lacking = {p.name for p in placement if p.on_host and p.lacks and all(map(_is_op, p.lacks))}
    if not lacking:
        return placement
    instructions = {i.name: i for c in module.computations for i in c.instructions if i.name in lacking}
    keys, known = StructuralKeys(), dict[Hashable, tuple[Lack, ...]]()
    replaced = []
    for p in placement:
        if (instruction := instructions.get(p.name)) is not None:
            key = (keys.instruction(instruction), *(operand.shape for operand in instruction.operands))
            if key not in known:
                known[key] = _primitive_lacks(instruction, target)
            p = dataclasses.replace(p, lacks=known[key] or p.lacks)
        replaced.append(p)
    return tuple(replaced)


def _primitive_lacks(instruction: HloInstruction, target: TargetConfig) -> tuple[Lack, ...]:
    """The primitive ops that are enough for the decomposition of an instruction; none if it needs others or many."""
    found: dict[Lack, None] = {}
    while len(found) <= _MOST:
        capable = target.model_copy(update={"capabilities": target.capabilities.with_lacks(found)})
        _, unmet = rewrite_unsupported(extract_module(instruction), capable.supports)
        if not unmet:
            return tuple(sorted(found, key=str))
        before = len(found)
        for one in unmet:
            ways = (one.answer.lacks, *one.missing)
            found |= dict.fromkeys(next((way for way in ways if way and all(map(_is_primitive, way))), ()))
        if len(found) == before:
            break
    return ()


def _is_op(lack: Lack) -> bool:
    return lack.kind is LackKind.OP and lack.opcode is not None


def _is_primitive(lack: Lack) -> bool:
    return _is_op(lack) and lack.opcode is not None and Trait.PRIMITIVE in OPS[lack.opcode].traits
