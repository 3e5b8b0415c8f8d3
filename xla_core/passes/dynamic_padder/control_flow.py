"""Pads loops and conditionals: their tuples contain the sizes of dynamic dimensions after each array."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from xla_core.hlo.ir.builder import Builder
from xla_core.hlo.ir.computation import HloComputation
from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.hlo.ir.module import HloModule
from xla_core.hlo.ops.control_flow import branch_computations
from xla_core.hlo.table.opcode import Opcode
from xla_core.hlo.values.shape import Shape
from xla_core.passes.dynamic_padder.padded import Padded, Value, size_of

Walk = Callable[[HloComputation, Sequence[HloInstruction], dict[HloInstruction, Value]], Value]
"""Pads the instructions of a computation, in order, given the padded parameters; returns the padded root."""

Structure = tuple[tuple[int, ...], ...]
"""For each array of a tuple: the dimensions whose sizes follow it in the packed tuple."""


def leaves_of(b: Builder, value: Value) -> tuple[Padded, ...]:
    """The padded elements of a tuple, or the array itself."""
    if isinstance(value, HloInstruction):
        if not value.shape.is_tuple:
            return (Padded.of(value),)
        return tuple(map(Padded.of, b.elements(value)))
    return (value,) if isinstance(value, Padded) else value


def _structure(leaves: Sequence[Padded], shape: Shape) -> Structure:
    """The dynamic dimensions of each leaf: those that are dynamic in the shape or that have a size."""
    shapes = shape.tuple_shapes if shape.is_tuple else (shape,)
    flags = [s.dynamic_dimensions or (False,) * s.rank for s in shapes]
    return tuple(
        tuple(d for d in range(len(flag)) if flag[d] or d in leaf.sizes)
        for leaf, flag in zip(leaves, flags, strict=True)
    )


def _packed(b: Builder, leaves: Sequence[Padded], structure: Structure) -> HloInstruction:
    parts: list[HloInstruction] = []
    for leaf, dimensions in zip(leaves, structure, strict=True):
        parts += [leaf.value, *(size_of(b, leaf, d) for d in dimensions)]
    return b.tuple(parts)


def _unpacked(b: Builder, value: HloInstruction, structure: Structure, is_tuple: bool) -> Value:
    leaves, at = [], 0
    for dimensions in structure:
        array, *sizes = (b.element(value, at + k) for k in range(1 + len(dimensions)))
        leaves.append(Padded(array, dict(zip(dimensions, sizes, strict=True))))
        at += 1 + len(dimensions)
    return tuple(leaves) if is_tuple else leaves[0].plain


def _body(
    module: HloModule, old: HloComputation, packed: Shape, structure: Structure, walk: Walk
) -> tuple[Builder, Value]:
    """Copies and pads a computation whose parameter is the packed tuple.

    Returns the builder of the copy and the padded root, which the caller must set.
    """
    made = module.add_computation(old.clone())
    order = made.post_order()
    (parameter,) = made.parameters
    was_tuple = parameter.shape.is_tuple
    parameter.shape = packed
    builder = Builder(made)
    value = _unpacked(builder, parameter, structure, was_tuple)
    if isinstance(value, HloInstruction):
        value = Padded(value)  # the users of an array parameter use the element of the packed tuple
    return builder, walk(made, order, {parameter: value})


def pad_while(b: Builder, i: HloInstruction, state: Value, walk: Walk) -> Value | None:
    """Pads a loop, whose state then contains the sizes; None if that is not possible."""
    leaves = leaves_of(b, state)
    structure = _structure(leaves, i.shape)
    packed = _packed(b, leaves, structure)
    condition, holds = _body(b.hlo_module, i.attribute("condition"), packed.shape, structure, walk)
    body, result = _body(b.hlo_module, i.attribute("body"), packed.shape, structure, walk)
    results = leaves_of(body, result)
    if not isinstance(holds, HloInstruction) or any(
        set(leaf.sizes) - set(dims) for leaf, dims in zip(results, structure, strict=True)
    ):
        return None
    condition.computation.set_root(holds)
    body.computation.set_root(_packed(body, results, structure))
    made = b.add(Opcode.WHILE, packed, condition=condition.computation, body=body.computation)
    return _unpacked(b, made, structure, i.shape.is_tuple)


def pad_conditional(b: Builder, i: HloInstruction, operands: Sequence[Value], walk: Walk) -> Value | None:
    """Pads a conditional, whose operands and result then contain the sizes; None if that is not possible."""
    selector = operands[0]
    if not isinstance(selector, HloInstruction):
        return None
    branches, given = [], []
    for old, operand in zip(branch_computations(i.attributes), operands[1:], strict=True):
        leaves = leaves_of(b, operand)
        structure = _structure(leaves, old.parameters[0].shape)
        given.append(_packed(b, leaves, structure))
        branches.append(_body(b.hlo_module, old, given[-1].shape, structure, walk))
    results = [leaves_of(builder, root) for builder, root in branches]
    structures = [_structure(leaves, i.shape) for leaves in results]
    result = tuple(tuple(sorted({*(d for dims in each for d in dims)})) for each in zip(*structures, strict=True))
    for (builder, _), leaves in zip(branches, results, strict=True):
        builder.computation.set_root(_packed(builder, leaves, result))
    computations = tuple(builder.computation for builder, _ in branches)
    if i.attribute("branch_computations"):
        made = b.add(Opcode.CONDITIONAL, selector, *given, branch_computations=computations)
    else:
        true, false = computations
        made = b.add(Opcode.CONDITIONAL, selector, *given, true_computation=true, false_computation=false)
    return _unpacked(b, made, result, i.shape.is_tuple)
