"""Computes the order of a sort for any comparator.

Frontends emit comparators of chained keys, which are compared directly or after the same function of both sides. Such
comparators are recognized and sorted by numpy. Any other comparator, or one that meets a NaN which it doesn't order,
drives a merge sort whose comparisons are evaluated on whole arrays.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from xla_core.hlo.evaluation.evaluation_context import EvaluationContext
from xla_core.hlo.ir.computation import HloComputation
from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.hlo.ops.numerics import CLASS, Array, total_order_key
from xla_core.hlo.table.op_table import COMMON_ATTRIBUTES
from xla_core.hlo.table.opcode import Opcode
from xla_core.traversal import post_order

_Key = tuple["HloInstruction", bool, bool]
"""(left operand of a compare, whether the order is descending, whether it is a total order of floats)"""

_LEFT, _RIGHT, _OTHER = 1, 2, 4


def sort_order(context: EvaluationContext, comparator: HloComputation, operands: Sequence[Array]) -> Array:
    """Returns the stable order of each last-dimension row of the operands, which have shape [rows, length]."""
    keys = _Comparator(comparator).keys(comparator.root)
    order = None if keys is None else _by_keys(context, keys, operands)
    return _by_merging(context, comparator, operands) if order is None else order


# -- comparators of keys ---------------------------------------------------------------------------------------------


class _Comparator:
    """Analyzes the instructions of a comparator.

    Attributes:
        number: instructions that compute the same function of one side's scalars have the same number (parameters 2i
            and 2i + 1 count as the same).
        sides: a bit mask of the sides that an instruction reads.
    """

    def __init__(self, comparator: HloComputation) -> None:
        self.number: dict[HloInstruction, int] = {}
        self.sides: dict[HloInstruction, int] = {}
        known: dict[tuple[object, ...], int] = {}
        for instruction in comparator.post_order():
            sides = 0
            for operand in instruction.operands:
                sides |= self.sides[operand]
            what: object
            if instruction.opcode == Opcode.PARAMETER:
                what, sides = instruction.parameter_number // 2, 1 << (instruction.parameter_number % 2)
            elif instruction.opcode == Opcode.CONSTANT:
                what = instruction.literal.array.tobytes()
            else:
                attributes = instruction.attributes.items()
                what = tuple(sorted((k, repr(v)) for k, v in attributes if k not in COMMON_ATTRIBUTES))
                if not instruction.is_elementwise and not instruction.op.rearranges:
                    sides |= _OTHER
            operands = tuple(self.number[o] for o in instruction.operands)
            key = (instruction.opcode, instruction.shape.without_layout(), what, operands)
            self.number[instruction] = known.setdefault(key, len(known))
            self.sides[instruction] = sides

    def keys(self, root: HloInstruction) -> list[_Key] | None:
        """Returns the keys of the comparator, most significant first; None where it has another form.

        The forms are `a < b`, `a < b or (a == b and rest)` and `select(a == b, rest, a < b)`, where a and b are the
        same function of the left and the right parameters.
        """
        keys: list[_Key] = []
        while root.opcode != Opcode.COMPARE:
            step = self._step(root)
            if step is None:
                return None
            keys.append(step[0])
            root = step[1]
        last = self._single(root)
        return None if last is None else [*keys, last]

    def _step(self, root: HloInstruction) -> tuple[_Key, HloInstruction] | None:
        """Returns the first of several keys, and the instruction that decides where that key is equal."""
        forms: list[tuple[HloInstruction, HloInstruction, HloInstruction]] = []
        if root.opcode == Opcode.SELECT:
            equal, rest, less = root.operands
            forms = [(less, equal, rest)]
        elif root.opcode == Opcode.OR:
            for less, both in (root.operands, root.operands[::-1]):
                if both.opcode == Opcode.AND:
                    one, other = both.operands
                    forms += [(less, one, other), (less, other, one)]
        for less, equal, rest in forms:
            if less.opcode != Opcode.COMPARE or equal.opcode != Opcode.COMPARE or equal.attribute("direction") != "EQ":
                continue
            key = self._single(less)
            same = {*map(self.number.get, less.operands)} == {*map(self.number.get, equal.operands)}
            sides = {*map(self.sides.get, equal.operands)} == {_LEFT, _RIGHT}
            if key is not None and same and sides and less.attribute("type") == equal.attribute("type"):
                return key, rest
        return None

    def _single(self, compare: HloInstruction) -> _Key | None:
        direction = compare.attribute("direction")
        left, right = compare.operands
        kind = CLASS[left.shape.dtype]
        if direction not in ("LT", "GT") or kind == "c":
            return None
        is_total = kind not in "fe" or compare.attribute("type") == "TOTALORDER"
        sides = self.sides[left], self.sides[right]
        if sides not in ((_LEFT, _RIGHT), (_RIGHT, _LEFT)) or self.number[left] != self.number[right]:
            return None
        descending = (direction == "GT") != (sides == (_RIGHT, _LEFT))
        return (left if sides[0] == _LEFT else right, descending, is_total)


def _by_keys(context: EvaluationContext, keys: Sequence[_Key], operands: Sequence[Array]) -> Array | None:
    """Sorts by the keys. Returns None if the values have a NaN that their comparison doesn't order, since no key
    expresses that.
    """
    columns = []
    known: dict[HloInstruction, Array] = {}
    for expression, descending, is_total in keys:
        values = np.broadcast_to(_evaluated(context, expression, operands, known), operands[0].shape)
        if not is_total:
            if np.isnan(values).any():
                return None
            numbers = values.astype(np.float64)
            columns.append(-numbers if descending else numbers)
            continue
        column = total_order_key(values)
        columns.append(~column if descending else column)
    if len(columns) == 1:
        return np.argsort(columns[0], axis=-1, kind="stable")
    return np.lexsort(columns[::-1], axis=-1)


def _evaluated(
    context: EvaluationContext,
    expression: HloInstruction,
    operands: Sequence[Array],
    known: dict[HloInstruction, Array],
) -> Array:
    """Evaluates an expression of one side's scalars on whole operands.

    Ops that rearrange elements leave scalars as they are.
    """
    for node in post_order([expression], lambda i: i.operands, known=known):
        if node.opcode == Opcode.PARAMETER:
            known[node] = operands[node.parameter_number // 2]
        elif node.opcode == Opcode.CONSTANT:
            known[node] = node.literal.array
        elif node.is_elementwise and node.op.evaluate is not None:
            known[node] = node.op.evaluate(context, node, [known[o] for o in node.operands])
        else:
            known[node] = known[node.operand(0)]
    return known[expression]


# -- any comparator --------------------------------------------------------------------------------------------------


def _by_merging(context: EvaluationContext, comparator: HloComputation, operands: Sequence[Array]) -> Array:
    """Sorts by merging runs of 1, 2, 4, ... elements.

    Each element finds its new place by binary search in the neighbouring run, for all elements of all rows at once.
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
            # Elements of the right run precede x if they are less than x; elements of the left run, if x is not less
            # than them.
            before = less(np.where(is_left, candidate, order), np.where(is_left, order, candidate)) == is_left
            low = np.where(searching & before, middle + 1, low)
            high = np.where(searching & ~before, middle, high)
        # A comparator that is no strict order may give two elements one place. Any permutation is right then.
        order = order[row, np.argsort(place + low - np.where(is_left, 0, width), axis=-1, kind="stable")]
        width *= 2
    return order


def extreme_elements(x: Array, k: int, *, largest: bool) -> tuple[Array, Array]:
    """Returns the first k elements of each row in total order, and their indices. Equal elements keep their order."""
    key = total_order_key(x)
    order = np.argsort(~key if largest else key, axis=-1, kind="stable")[..., :k]
    return np.take_along_axis(x, order, -1), order.astype(np.int32)
