"""Creates and extends fusion instructions (XLA: HloInstruction::CreateFusion, FuseInstruction, MergeFusion).

A fusion has a `kind`: kLoop is computed element by element, kInput has a reduction at its root, and kOutput contains an
op that is not computed by an element loop. Its attribute `calls` is a computation whose parameter k is operand k and
whose root is the result. A multi-output fusion has a tuple as root.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from xla_core.errors import InternalError
from xla_core.hlo.ir.computation import HloComputation
from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.hlo.table.opcode import Opcode
from xla_core.hlo.values.shape import Shape
from xla_core.passes.inlining import copy_into
from xla_core.traversal import post_order


def fusion_kind(roots: Iterable[HloInstruction]) -> str:
    """Returns the kind of a fusion with these roots."""
    return "kInput" if any(root.opcode == Opcode.REDUCE for root in roots) else "kLoop"


def create_fusion(
    roots: Sequence[HloInstruction], members: Iterable[HloInstruction], kind: str | None = None, name: str | None = None
) -> HloInstruction:
    """Adds a fusion instruction that computes `roots` to their computation. It has no users yet.

    Args:
        roots: the results of the fusion, which is a tuple if there are several.
        members: the instructions that the fusion computes, including the roots, in any order. Their operands that are
            not members become operands. Members that are fusions are merged into the new one.
        kind, name: derived from the roots by default.

    Raises:
        InternalError: the roots are not in a module.
    """
    computation = roots[0].parent
    if computation is None or computation.module is None:
        raise InternalError("only instructions of a module can be fused")
    fused = HloComputation("fused_computation")
    inside: dict[HloInstruction, HloInstruction] = {}
    operands: list[HloInstruction] = []

    def source(operand: HloInstruction) -> HloInstruction:
        found = inside.get(operand)
        if found is None:
            found = inside[operand] = fused.parameter(len(operands), operand.shape, f"param_{len(operands)}")
            operands.append(operand)
        return found

    for member in _post_order(members):
        if member.opcode == Opcode.FUSION:
            inside[member], _ = copy_into(fused, member.attribute("calls"), [source(o) for o in member.operands])
        elif member.opcode == Opcode.GET_TUPLE_ELEMENT and inside.get(member.operand(0), member).opcode == Opcode.TUPLE:
            inside[member] = inside[member.operand(0)].operand(member.tuple_index)
        else:
            inside[member] = fused.add_instruction(member.clone([source(o) for o in member.operands]))
    results = [inside[root] for root in roots]
    if len(results) > 1:
        shape = Shape.tuple([r.shape for r in results])
        fused.set_root(fused.add_instruction(HloInstruction(Opcode.TUPLE, shape, results)))
    else:
        fused.set_root(results[0])
    _remove_unused(fused)
    module = computation.module
    module.add_computation(fused)
    attributes = {"kind": kind or fusion_kind(results), "calls": fused}
    if roots[0].attribute("backend_config"):  # it may say how the kernel of the root is planned
        attributes["backend_config"] = roots[0].attribute("backend_config")
    fusion = HloInstruction(Opcode.FUSION, fused.root.shape, operands, attributes, metadata=roots[0].metadata)
    return computation.add_instruction(fusion, name or f"{results[-1].opcode}_fusion")


def replace_with_fusion(
    roots: Sequence[HloInstruction], members: Iterable[HloInstruction], kind: str | None = None, name: str | None = None
) -> HloInstruction:
    """Like `create_fusion`, but also replaces the uses of `roots` with the fusion, and removes dead members."""
    kept = list(members)
    fusion = create_fusion(roots, kept, kind, name)
    computation = fusion.parent
    assert computation is not None
    results = [fusion]
    if len(roots) > 1:
        results = []
        for k, root in enumerate(roots):
            element = HloInstruction(
                Opcode.GET_TUPLE_ELEMENT, root.shape, [fusion], {"index": k}, metadata=root.metadata
            )
            results.append(computation.add_instruction(element))
    for root, result in zip(roots, results, strict=True):
        root.replace_all_uses_with(result)
    for member in reversed(_post_order(kept)):
        if not member.user_count and not member.is_root and member.parent is computation:
            computation.remove(member)
    return fusion


def _post_order(members: Iterable[HloInstruction]) -> list[HloInstruction]:
    wanted = dict.fromkeys(members)
    return post_order(wanted, lambda i: [o for o in i.operands if o in wanted])


def _remove_unused(fused: HloComputation) -> None:
    """Removes unused result tuples of merged fusions."""
    for instruction in reversed(fused.post_order()):
        if instruction.opcode == Opcode.TUPLE and not instruction.user_count and not instruction.is_root:
            fused.remove(instruction)
