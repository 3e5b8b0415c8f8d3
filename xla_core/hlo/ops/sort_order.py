"""The order that a sort puts its rows into, for any comparator.

The comparators that frontends emit (chains of keys, compared directly or after the same function of either side) are
read as keys and sorted by numpy; every other one drives a merge sort whose comparisons are evaluated on whole arrays.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from xla_core.hlo.op_table import COMMON_ATTRIBUTES
from xla_core.hlo.ops.numerics import CLASS, Array, total_order_key

if TYPE_CHECKING:
    from xla_core.hlo.computation import HloComputation
    from xla_core.hlo.evaluator import EvaluationContext
    from xla_core.hlo.instruction import HloInstruction

__all__ = ["sort_order"]

_Key = tuple["HloInstruction", bool]
"""(the left side of a compare, whether the order is descending)"""


def sort_order(context: EvaluationContext, comparator: HloComputation, operands: Sequence[Array]) -> Array:
    """The stable order of each last-dimension row of the operands (all of shape [rows, length])."""
    keys = _keys(comparator.root, comparator)
    if keys is not None:
        return _by_keys(context, comparator, keys, operands)
    return _by_merging(context, comparator, operands)


# -- comparators that are keys ---------------------------------------------------------------------------------------


def _keys(root: HloInstruction, comparator: HloComputation) -> list[_Key] | None:
    """The keys, most significant first, where the comparator is `a < b`, `a < b or (a == b and rest)`, or
    `select(a == b, rest, a < b)`, with a and b one function of the left and the right parameters.
    """
    if root.opcode == "compare":
        return _single(root)
    if root.opcode == "select" and root.operand(0).opcode == "compare":
        equal, rest, less = root.operands
        return _chain(less, equal, rest, comparator)
    if root.opcode == "or":
        for less, other in (root.operands, root.operands[::-1]):
            if less.opcode == "compare" and other.opcode == "and":
                for equal, rest in (other.operands, other.operands[::-1]):
                    found = _chain(less, equal, rest, comparator)
                    if found is not None:
                        return found
    return None


def _chain(
    less: HloInstruction, equal: HloInstruction, rest: HloInstruction, comparator: HloComputation
) -> list[_Key] | None:
    if equal.opcode != "compare" or equal.attributes["direction"] != "EQ" or less.opcode != "compare":
        return None
    first, others = _single(less), _keys(rest, comparator)
    sides = {*map(_text, equal.operands)}
    if first is None or others is None or sides != {*map(_text, less.operands)}:
        return None
    if CLASS[less.operand(0).shape.dtype] in "fe" and (less.attributes.get("type") != equal.attributes.get("type")):
        return None
    return first + others


def _single(root: HloInstruction) -> list[_Key] | None:
    direction = root.attributes["direction"]
    left, right = root.operands
    dtype = left.shape.dtype
    if direction not in ("LT", "GT") or CLASS[dtype] == "c":
        return None
    if CLASS[dtype] in "fe" and root.attributes.get("type") != "TOTALORDER":
        return None  # NaN is unordered: no key says so
    sides = _parity(left), _parity(right)
    if sides not in ((0, 1), (1, 0)) or _text(left) != _text(right):
        return None
    descending = (direction == "GT") != (sides == (1, 0))
    return [(left if sides[0] == 0 else right, descending)]


def _parity(instruction: HloInstruction) -> int | None:
    """0 when it is a function of left parameters only (the even ones), 1 of right ones, None of both or neither."""
    found: int | None = None
    stack = [instruction]
    while stack:
        node = stack.pop()
        if node.opcode == "parameter":
            side = node.parameter_number % 2
            if found not in (None, side):
                return None
            found = side
        elif node.called_computations:
            return None
        stack += node.operands
    return found


def _text(instruction: HloInstruction) -> str:
    """What an expression computes, parameter 2i and 2i + 1 alike."""
    if instruction.opcode == "parameter":
        return f"p{instruction.parameter_number // 2}"
    if instruction.opcode == "constant":
        return f"{instruction.shape.element_type}:{instruction.literal.array.tobytes()!r}"
    attributes = sorted((k, repr(v)) for k, v in instruction.attributes.items() if k not in COMMON_ATTRIBUTES)
    inner = ",".join(map(_text, instruction.operands))
    return f"{instruction.opcode}{instruction.shape.element_type}{attributes}({inner})"


def _by_keys(
    context: EvaluationContext, comparator: HloComputation, keys: Sequence[_Key], operands: Sequence[Array]
) -> Array:
    columns = []
    for expression, descending in keys:
        column = _evaluated(context, expression, operands)
        column = total_order_key(np.broadcast_to(column, operands[0].shape))
        columns.append(~column if descending else column)
    if len(columns) == 1:
        return np.argsort(columns[0], axis=-1, kind="stable")
    return np.lexsort(columns[::-1], axis=-1)


def _evaluated(context: EvaluationContext, expression: HloInstruction, operands: Sequence[Array]) -> Array:
    """An expression of one side's parameters on whole operands."""
    if expression.opcode == "parameter":
        return operands[expression.parameter_number // 2]
    if expression.opcode == "constant":
        return expression.literal.array
    values = [_evaluated(context, o, operands) for o in expression.operands]
    if not expression.is_elementwise or expression.op.evaluate is None:
        return values[0]  # a scalar that changes its form
    result: Array = expression.op.evaluate(context, expression, values)
    return result


# -- any comparator --------------------------------------------------------------------------------------------------


def _by_merging(context: EvaluationContext, comparator: HloComputation, operands: Sequence[Array]) -> Array:
    """Merges runs of 1, 2, 4, ... elements: an element's new place is found by binary search in the neighbouring run,
    for all elements of all rows at once.
    """
    rows, length = operands[0].shape
    row = np.arange(rows)[:, None]
    place = np.arange(length)
    order = np.broadcast_to(place, (rows, length)).copy()

    def less(a: Array, b: Array) -> Array:
        sides = [side for o in operands for side in (o[row, a], o[row, b])]
        return context.map(comparator, sides)[0]

    width = 1
    while width < length:
        start = place // (2 * width) * (2 * width)
        is_left = place < start + width
        other = np.where(is_left, start + width, start)
        count = np.clip(np.where(is_left, length - other, width), 0, width)
        low, high = np.zeros((rows, length), np.int64), np.broadcast_to(count, (rows, length)).copy()
        while (searching := low < high).any():
            middle = (low + high) // 2
            candidate = order[row, np.minimum(other + middle, length - 1)]
            left, right = np.where(is_left, candidate, order), np.where(is_left, order, candidate)
            # Of the right run, what is less than x precedes it; of the left run, what x is not less than.
            before = np.where(is_left, less(left, right), ~less(right, left))
            low = np.where(searching & before, middle + 1, low)
            high = np.where(searching & ~before, middle, high)
        new = place + low - np.where(is_left, 0, width)
        if not (np.sort(new, axis=-1) == place).all():
            return _by_calls(less, rows, length)
        merged = np.empty_like(order)
        merged[row, new] = order
        order = merged
        width *= 2
    return order


def _by_calls(less: Callable[[Array, Array], Array], rows: int, length: int) -> Array:
    """For a comparator that is no strict order: some permutation, as a sort of single comparisons gives it."""
    table = less(
        np.broadcast_to(np.repeat(np.arange(length), length), (rows, length * length)),
        np.broadcast_to(np.tile(np.arange(length), length), (rows, length * length)),
    ).reshape(rows, length, length)
    order = np.empty((rows, length), np.int64)
    for row in range(rows):

        def compare(a: int, b: int, first: Array = table[row]) -> int:
            return -1 if first[a, b] else int(bool(first[b, a]))

        order[row] = sorted(range(length), key=functools.cmp_to_key(compare))
    return order
