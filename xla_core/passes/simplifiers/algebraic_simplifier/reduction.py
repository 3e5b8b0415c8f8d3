"""Rules for reductions and windows."""

from __future__ import annotations

import dataclasses
import math

import numpy as np

from xla_core.hlo.ir.builder import Builder
from xla_core.hlo.ir.combiner import combiner
from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.hlo.table.op_table import OPS, Trait
from xla_core.hlo.table.opcode import Opcode
from xla_core.passes.patterns import is_all, is_same_value, uniform_value
from xla_core.passes.simplifiers.algebraic_simplifier.movement import degenerate_map
from xla_core.passes.simplifiers.algebraic_simplifier.rule_table import pair_rule, rule


def _simple(i: HloInstruction) -> Opcode | None:
    """The opcode of the binary op by which a reduction of one array combines elements, or None."""
    if len(i.operands) != 2 or i.operands[0].shape.element_type is not i.shape.element_type:
        return None
    op = combiner(i.attribute("to_apply"))
    return None if op is None else op.opcode


def _is_identity(start: HloInstruction, opcode: Opcode) -> bool:
    """Whether a reduction gives the same result if this initial value is used once or many times.

    That holds for the identity, and for 0 in sums, whose result is never -0.
    """
    value = OPS[opcode].identity(start.shape.element_type)
    return value is not None and (is_all(start, value) or (opcode == Opcode.ADD and is_all(start, 0)))


@rule(Opcode.REDUCE)
def reduce_nothing(i: HloInstruction, b: Builder) -> HloInstruction | None:
    """Reduce of an array without elements -> the initial value"""
    if len(i.operands) != 2 or i.operands[0].shape.num_elements or not i.shape.num_elements:
        return None
    return b.broadcast(i.operands[1], i.shape.dimensions)


@rule(Opcode.REDUCE)
def reduce_ones(i: HloInstruction, b: Builder) -> HloInstruction | None:
    """Reduce along no dimension, or only such of size 1 -> op(reshape(x), initial)"""
    opcode, dimensions = _simple(i), i.attribute("dimensions")
    x, initial = i.operands[0], i.operands[-1]
    if opcode is None or any(x.shape.dimensions[d] != 1 for d in dimensions):
        return None
    return b.add(opcode, b.reshape(x, i.shape.dimensions), b.broadcast(initial, i.shape.dimensions))


@pair_rule(Opcode.REDUCE, Opcode.RESHAPE)
def reduce_some_ones(i: HloInstruction, x: HloInstruction, b: Builder) -> HloInstruction | None:
    """reduce(reshape(x)) -> reduce(x), if the reshape only adds or removes reduced dimensions of size 1"""
    if len(i.operands) != 2:
        return None
    source = x.operands[0]
    moved = degenerate_map(source.shape.dimensions, x.shape.dimensions)
    if moved is None:
        return None
    reduced = set(i.attribute("dimensions"))
    if any(size == 1 and d not in reduced for d, size in enumerate(x.shape.dimensions)):
        return None
    dimensions = tuple(d for d in range(source.shape.rank) if d not in moved or moved[d] in reduced)
    if dimensions == () or not any(d in moved for d in dimensions):
        return None
    return b.add(Opcode.REDUCE, source, i.operands[1], dimensions=dimensions, to_apply=i.attribute("to_apply"))


@pair_rule(Opcode.REDUCE, Opcode.TRANSPOSE)
def reduce_transposed(i: HloInstruction, x: HloInstruction, b: Builder) -> HloInstruction | None:
    """reduce(transpose(x)) -> reduce(x), transposed where the order of the remaining dimensions differs"""
    if len(i.operands) != 2:
        return None
    permutation = x.attribute("dimensions")
    reduced = tuple(sorted(permutation[d] for d in i.attribute("dimensions")))
    left = [permutation[d] for d in range(x.shape.rank) if d not in i.attribute("dimensions")]
    plain = b.add(Opcode.REDUCE, x.operands[0], i.operands[1], dimensions=reduced, to_apply=i.attribute("to_apply"))
    rank = {d: number for number, d in enumerate(sorted(left))}
    return b.transpose(plain, [rank[d] for d in left])


@pair_rule(Opcode.REDUCE, Opcode.REDUCE)
def reduce_reduced(i: HloInstruction, x: HloInstruction, b: Builder) -> HloInstruction | None:
    """reduce(reduce(x)) -> reduce(x), by the same op from its identity"""
    opcode = _simple(i)
    if opcode is None or x.user_count != 1 or _simple(x) != opcode:
        return None
    identity, start = OPS[opcode].identity(x.shape.element_type), uniform_value(i.operands[1])
    same_start = start is not None and is_all(x.operands[1], start.item()) and _is_identity(x.operands[1], opcode)
    if not same_start and (identity is None or not is_all(x.operands[1], identity)):
        return None
    inner = sorted(x.attribute("dimensions"))
    left = [d for d in range(x.operands[0].shape.rank) if d not in inner]
    dimensions = tuple(sorted([*inner, *(left[d] for d in i.attribute("dimensions"))]))
    return b.add(Opcode.REDUCE, x.operands[0], i.operands[1], dimensions=dimensions, to_apply=i.attribute("to_apply"))


@pair_rule(Opcode.ADD, Opcode.REDUCE)
def add_zero_to_sum(i: HloInstruction, x: HloInstruction, b: Builder) -> HloInstruction | None:
    """reduce(x) + 0 -> reduce(x), if the reduction is a sum that starts at 0: it is never -0"""
    is_sum = _simple(x) == Opcode.ADD and is_all(x.operands[1], 0)
    return x if is_sum and is_all(i.operands[1], 0) else None


@pair_rule(Opcode.REDUCE, Opcode.BROADCAST)
def reduce_broadcast(i: HloInstruction, x: HloInstruction, b: Builder) -> HloInstruction | None:
    """reduce(broadcast(x)) -> reduce(x), for idempotent ops; reduce(count * x), for sums"""
    opcode = _simple(i)
    if opcode is None or (opcode != Opcode.ADD and Trait.IDEMPOTENT not in OPS[opcode].traits):
        return None
    if not x.shape.num_elements:
        return None
    own = x.attribute("dimensions")
    repeated = [d for d in i.attribute("dimensions") if d not in own]
    if not repeated or list(own) != sorted(own):
        return None
    source, initial = x.operands[0], i.operands[1]
    element_type = i.shape.element_type
    if opcode == Opcode.ADD:
        count = math.prod(x.shape.dimensions[d] for d in repeated)
        whole = np.asarray(count).astype(element_type.dtype)
        if not _is_identity(initial, Opcode.ADD) or element_type.is_complex or int(whole) != count:
            return None
        source = b.add(Opcode.MULTIPLY, source, b.constant(whole, source.shape))
    reduced = tuple(own.index(d) for d in i.attribute("dimensions") if d in own)
    left = [d for d in range(x.shape.rank) if d not in i.attribute("dimensions")]
    if reduced:
        smaller = b.add(Opcode.REDUCE, source, initial, dimensions=reduced, to_apply=i.attribute("to_apply"))
    else:
        smaller = b.add(opcode, source, b.broadcast(initial, source.shape.dimensions))
    kept = [left.index(d) for d in own if d in left]
    return b.broadcast(smaller, i.shape.dimensions, kept)


@rule(Opcode.REDUCE_WINDOW)
def window_of_one(i: HloInstruction, b: Builder) -> HloInstruction | None:
    """reduce-window whose windows are single elements -> op(x, initial)"""
    opcode = _simple(i)
    if opcode is None or not all(w.is_trivial for w in i.attribute("window")):
        return None
    return b.add(opcode, i.operands[0], b.broadcast(i.operands[1], i.shape.dimensions))


@rule(Opcode.REDUCE_WINDOW)
def window_beyond_array(i: HloInstruction, b: Builder) -> HloInstruction | None:
    """reduce-window -> reduce-window without the part of the window that always lies in padding by the identity"""
    opcode = _simple(i)
    if opcode is None or not _is_identity(i.operands[1], opcode):
        return None
    window = []
    for w, base, count in zip(i.attribute("window"), i.operands[0].shape.dimensions, i.shape.dimensions, strict=True):
        if w.base_dilation != 1 or w.window_dilation != 1 or not base or not count:
            return None
        low = max(0, w.padding_low - (count - 1) * w.stride)  # the part of the last window before the array
        high = max(0, w.size - w.padding_low - base)  # the part of the first window behind the array
        if w.size - low - high < 1:
            return None
        padding = {"padding_low": w.padding_low - low, "padding_high": w.padding_high - high}
        window.append(dataclasses.replace(w, size=w.size - low - high, **padding))
    if tuple(window) == tuple(i.attribute("window")):
        return None
    return b.add(Opcode.REDUCE_WINDOW, *i.operands, window=tuple(window), to_apply=i.attribute("to_apply"))


@pair_rule(Opcode.REDUCE_WINDOW, Opcode.PAD)
def window_of_padded(i: HloInstruction, x: HloInstruction, b: Builder) -> HloInstruction | None:
    """reduce-window(pad(x, initial)) -> reduce-window(x) with the padding in the window"""
    initial, opcode = i.operands[1], _simple(i)
    if opcode is None or not _is_identity(initial, opcode) or not is_same_value(x.operands[1], initial):
        return None
    window = []
    for w, p in zip(i.attribute("window"), x.attribute("padding"), strict=True):
        if p.interior or p.low < 0 or p.high < 0 or w.base_dilation != 1:
            return None
        padding = {"padding_low": w.padding_low + p.low, "padding_high": w.padding_high + p.high}
        window.append(dataclasses.replace(w, **padding))
    return b.add(Opcode.REDUCE_WINDOW, x.operands[0], initial, window=tuple(window), to_apply=i.attribute("to_apply"))
