"""Merging of sorted runs by many threads, each of which writes a few neighbouring elements of the merged run.

The first `d` elements of a merged run are the first `i` elements of the left run and the first `d - i` of the right
one. A thread finds `i` for both ends of its part: first for the middle of the merged run, then for the middle of the
half that its part is in, and so on. Each search is limited to the range that the earlier searches left. Neighbouring
threads therefore agree on the end that they share, even if the comparator is inconsistent, and the result is always a
permutation. (O. Green, S. Odeh and Y. Birk, "Merge Path", 2014.)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from xla_core.codegen.llvm.ir.module import Value
from xla_core.codegen.llvm.loops.context import EmissionContext

Less = Callable[[Sequence[Value], Sequence[Value]], Value]
Load = Callable[[Value], list[Value]]
Store = Callable[[Value, Sequence[Value]], None]

PART = 8
"""Elements that a thread merges."""


def sort_part(context: EmissionContext, first: Value, end: Value, load: Load, store: Store, less: Less) -> None:
    """Sorts the elements [first, end) of an array by insertion. One thread does that."""
    b = context.builder

    def insert(position: Value) -> None:
        item = load(position)

        def shift(carried: list[Value]) -> tuple[Value, list[Value]]:
            """Moves the element before the hole behind it, if the item belongs before that element."""
            (hole,) = carried
            before = b.sub(hole, b.int_(1))
            previous = load(before)
            moves = less(item, previous)
            context.when(moves, lambda: store(hole, previous))
            hole = b.select(moves, before, hole)
            return b.and_(moves, b.icmp("ugt", hole, first)), [hole]

        (hole,) = context.repeat(shift, [position], name="insert")
        store(hole, item)

    context.each(b.add(first, b.int_(1)), end, insert, name="runs")


def merge_part(
    context: EmissionContext,
    source: Load,
    target: Store,
    less: Less,
    *,
    base: Value,
    sizes: tuple[Value, Value],
    begin: Value,
    end: Value,
    levels: Value,
) -> None:
    """Merges the elements [begin, end) of a merged run. One thread does that.

    Args:
        source: loads an element of the two runs, which follow each other.
        target: stores an element of the merged run at a position of it.
        less: the comparator; of equal elements, those of the left run come first.
        base: where the left run begins.
        sizes: of the left and of the right run; the left one isn't empty.
        begin, end: `begin` is a multiple of PART, and at most PART below `end`, which is not above the sum of sizes.
        levels: the binary logarithm of the number of parts, rounded up.
    """
    b, (m, n) = context.builder, sizes
    middle = b.add(base, m)

    def left(position: Value) -> list[Value]:
        return source(b.add(base, position))

    def right(position: Value) -> list[Value]:
        return source(b.add(middle, position))

    low, low_left, high, high_left = _find_part(context, left, right, less, sizes, begin, levels)
    right_end = b.sub(high, high_left)
    last = b.sub(b.add(m, n), b.int_(1))

    def step(out: Value, carried: list[Value]) -> Sequence[Value]:
        i, j = carried
        x, y = left(b.intrinsic("umin", i, last)), source(b.add(base, b.intrinsic("umin", b.add(m, j), last)))
        left_empty = b.icmp("uge", i, high_left)
        takes_right = b.and_(b.icmp("ult", j, right_end), b.or_(left_empty, less(y, x)))
        target(out, [b.select(takes_right, yy, xx) for xx, yy in zip(x, y, strict=True)])
        moved = b.cast("zext", takes_right, "i64")
        return [b.add(i, b.sub(b.int_(1), moved)), b.add(j, moved)]

    context.loop(begin, end, step, [low_left, b.sub(low, low_left)], name="merge")


def _find_part(
    context: EmissionContext,
    left: Load,
    right: Load,
    less: Less,
    sizes: tuple[Value, Value],
    begin: Value,
    levels: Value,
) -> list[Value]:
    """Finds the part of the merged run that begins at `begin`, by halving the parts that are left.

    Returns where the part begins, how many elements of the left run lie before that, and the same for its end.
    """
    b, (m, n) = context.builder, sizes

    def descend(level: Value, carried: list[Value]) -> list[Value]:
        low, low_left, high, high_left = carried
        step = b.binary("shl", b.int_(PART), b.sub(b.sub(levels, b.int_(1)), level))
        at = b.add(low, step)

        def split() -> list[Value]:
            first = b.intrinsic("smax", low_left, b.sub(at, b.sub(high, high_left)))
            last = b.intrinsic("smin", high_left, b.sub(at, b.sub(low, low_left)))
            (found,) = context.choose(
                b.icmp("ult", first, last),
                lambda: search(context, first, last, at, left, right, less),
                lambda: [first],
            )
            above = b.icmp("uge", begin, at)
            return [
                b.select(above, at, low),
                b.select(above, found, low_left),
                b.select(above, high, at),
                b.select(above, high_left, found),
            ]

        return context.choose(b.icmp("ult", at, high), split, lambda: list(carried))

    zero = b.int_(0)
    return context.loop(zero, levels, descend, [zero, zero, b.add(m, n), m], name="split")


def search(
    context: EmissionContext, first: Value, last: Value, at: Value, left: Load, right: Load, less: Less
) -> list[Value]:
    """Returns how many of the first `at` elements of the merged run are of the left one: from `first` to `last`."""
    b = context.builder

    def halve(carried: list[Value]) -> tuple[Value, list[Value]]:
        low, high = carried
        middle = b.lshr(b.add(low, high), 1)
        opposite = b.sub(b.sub(at, b.int_(1)), middle)
        right_first = less(right(opposite), left(middle))
        low = b.select(right_first, low, b.add(middle, b.int_(1)))
        high = b.select(right_first, middle, high)
        return b.icmp("ult", low, high), [low, high]

    return context.repeat(halve, [first, last], name="search")[:1]
