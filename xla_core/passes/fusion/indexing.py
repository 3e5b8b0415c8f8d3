"""Finds the indices at which a fused instruction is computed, and how often.

A kernel is a nest of loops over the elements of its root. An index into a fused value has one symbol per dimension: a
loop variable, or an expression that an instruction derives from one. A value is computed once per index, in the
innermost loop that the index depends on. The number of `evaluations` of an index is therefore the product of the sizes
of the loops around it. (XLA: xla/service/fusion_node_indexing_evaluation.h, which counts the indices only.)
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from xla_core.hlo.instruction import HloInstruction
from xla_core.hlo.opcode import Opcode
from xla_core.hlo.shape import Shape
from xla_core.target import ParallelModel

Index = tuple[int, ...]
"""One symbol, an interned number, for each dimension."""

_ZERO = 0  # the symbol of a dimension of size 1


def is_elementwise_use(user: HloInstruction, operand: HloInstruction) -> bool:
    """Whether `user` reads `operand` at the same index that it writes."""
    if not user.is_elementwise:
        return False
    shape = next(user.shape.leaves(), None)
    return shape is not None and shape.dimensions == operand.shape.dimensions


class IndexSpace:
    """The symbols of one kernel, whose loops run over the result of `root` in memory order.

    The work of the kernel is divided into `parallel.units` units. Each unit computes values that depend on no loop.
    """

    def __init__(self, root: HloInstruction, parallel: ParallelModel) -> None:
        shape = next((s for s in root.shape.leaves() if s.is_array), root.shape)
        units, least = parallel.units, parallel.row_elements
        self._symbols: dict[object, int] = {"zero": _ZERO}
        self._evaluations: list[float] = [1.0]
        self._units = units if shape.num_elements > 1 else 1
        order = [d for d in reversed(shape.minor_to_major()) if shape.dimensions[d] != 1]
        rows = math.prod(shape.dimensions[d] for d in order[:-1])
        inner = shape.dimensions[order[-1]] if order else 1
        # If there are few rows, they are divided too, and each part computes the values that depend on the row only.
        chunks = min(units / rows, inner / least) if 0 < rows < units and inner >= 2 * least and len(order) > 1 else 1.0
        symbols = [_ZERO] * shape.rank
        count = 1.0
        for position, d in enumerate(order):
            count *= shape.dimensions[d]
            last = position == len(order) - 1
            symbols[d] = self._symbol(("root", d), count if last else count * chunks)
        self.root: Index = tuple(symbols)

    def evaluations(self, index: Index) -> float:
        """How often the kernel computes a value at `index`."""
        most = 0.0
        for symbol in index:
            if symbol != _ZERO:
                most = max(most, self._evaluations[symbol])
        return most or float(self._units)

    def operand_index(self, user: HloInstruction, number: int, index: Index) -> Index:
        """The index at which `user`, computed at `index`, reads its operand `number`."""
        operand = user.operands[number]
        shape = operand.shape
        if not shape.is_array or shape.num_elements == 1:
            return (_ZERO,) * shape.rank
        if is_elementwise_use(user, operand):
            return index
        attributes = user.attributes
        match user.opcode:
            case Opcode.BROADCAST:
                return tuple(
                    index[d] if n != 1 else _ZERO
                    for d, n in zip(attributes.get("dimensions", ()), shape.dimensions, strict=True)
                )
            case Opcode.TRANSPOSE:
                found = [_ZERO] * shape.rank
                for d, source in enumerate(attributes["dimensions"]):
                    found[source] = index[d]
                return tuple(found)
            case Opcode.REVERSE:
                reversed_ = attributes["dimensions"]
                return tuple(
                    self._derive((Opcode.REVERSE, shape.dimensions[d], s), [s]) if d in reversed_ else s
                    for d, s in enumerate(index)
                )
            case Opcode.SLICE:
                return tuple(
                    s if r.start == 0 and r.stride == 1 else self._derive((Opcode.SLICE, r.start, r.stride, s), [s])
                    for r, s in zip(attributes["slice"], index, strict=True)
                )
            case Opcode.PAD:
                return tuple(
                    s if p.low == 0 and p.interior == 0 else self._derive((Opcode.PAD, p.low, p.interior, s), [s])
                    for p, s in zip(attributes["padding"], index, strict=True)
                )
            case Opcode.CONCATENATE:
                (axis,) = attributes["dimensions"]
                first = sum(o.shape.dimensions[axis] for o in user.operands[:number])
                share = shape.dimensions[axis] / user.shape.dimensions[axis]
                return tuple(
                    self._derive((Opcode.CONCATENATE, user, number, first, s), [s], share) if d == axis else s
                    for d, s in enumerate(index)
                )
            case Opcode.RESHAPE | Opcode.BITCAST:
                return self._reshaped(user, shape, index)
            case Opcode.DYNAMIC_SLICE:
                return tuple(
                    s if n == m else self._derive((Opcode.DYNAMIC_SLICE, user, d, s), [s])
                    for d, (s, n, m) in enumerate(zip(index, shape.dimensions, user.shape.dimensions, strict=True))
                )
            case Opcode.REDUCE:
                return self._reduced(user, shape, index)
            case Opcode.REDUCE_WINDOW:
                size = math.prod(w.size for w in attributes["window"])
                return tuple(self._derive(("window", user, d, s), index, size) for d, s in enumerate(index))
            case Opcode.DYNAMIC_UPDATE_SLICE:
                return tuple(self._derive(("update", user, d), [], shape.num_elements) for d in range(shape.rank))
        return tuple(self._derive(("any", user, number, d, index), index) for d in range(shape.rank))

    # -- parts -------------------------------------------------------------------------------------------------------

    def _symbol(self, key: object, evaluations: float) -> int:
        found = self._symbols.get(key)
        if found is None:
            found = self._symbols[key] = len(self._evaluations)
            self._evaluations.append(evaluations)
        return found

    def _derive(self, key: object, sources: Sequence[int], factor: float = 1.0) -> int:
        """A symbol that is derived from `sources` and evaluated `factor` times as often."""
        base = max((self._evaluations[s] for s in sources), default=1.0)
        return self._symbol(key, base * factor)

    def _reshaped(self, user: HloInstruction, shape: Shape, index: Index) -> Index:
        """The index before a reshape. If it only adds or removes sizes of 1, other dimensions keep their symbols."""
        kept = [(n, s) for n, s in zip(user.shape.dimensions, index, strict=True) if n != 1]
        wanted = [n for n in shape.dimensions if n != 1]
        if [n for n, _ in kept] == wanted:
            symbols = iter(s for _, s in kept)
            return tuple(next(symbols) if n != 1 else _ZERO for n in shape.dimensions)
        # Equal leading dimensions keep their symbols, so that values per row are recognized.
        found: list[int] = []
        names = list(index)
        for d, (n, m) in enumerate(zip(shape.dimensions, user.shape.dimensions, strict=False)):
            if n != m or math.prod(shape.dimensions[d + 1 :]) != math.prod(user.shape.dimensions[d + 1 :]):
                break
            found.append(names[d])
        rest = tuple(names[len(found) :])
        for d in range(len(found), shape.rank):
            size_one = shape.dimensions[d] == 1
            found.append(
                _ZERO if size_one else self._derive((Opcode.RESHAPE, shape.dimensions, d, rest), rest or index)
            )
        return tuple(found)

    def _reduced(self, user: HloInstruction, shape: Shape, index: Index) -> Index:
        reduced = user.attribute("dimensions")
        count = max((self._evaluations[s] for s in index if s != _ZERO), default=float(self._units if index else 1))
        found, kept = [], iter(index)
        for d, n in enumerate(shape.dimensions):
            if d in reduced:
                count *= n
                found.append(_ZERO if n == 1 else self._symbol(("reduce", user, d, index), count))
            else:
                found.append(next(kept))
        return tuple(found)
