"""Programs in which one condition of a rewrite fails: the product of a table of expressions and of what may be changed.

An expression is what a pass looks for. The changes are another number, an array that is of one number but for one
element, another attribute, exchanged operands, another array where one is used twice, another op, a value that is a
result, too, another element type, and sizes of 0 and 1. An expression is also called twice, and is in a loop whose
operand changes in one turn only, and in one of two branches.
"""

from __future__ import annotations

import dataclasses
import inspect
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial

from xla_conformance.programs.patterns.arithmetic import INTEGERS, NUMBERS, TRUTHS, Row
from xla_conformance.programs.patterns.changes import changed, changes
from xla_conformance.programs.patterns.movement import CONVERSIONS, FOLDS, MOVEMENT, ORDERS
from xla_conformance.programs.patterns.places import PLACES
from xla_conformance.programs.patterns.values import Value
from xla_conformance.programs.rewrites import Rewritten
from xla_core.errors import InvalidArgumentError
from xla_core.hlo import ElementType, HloComputation, HloModule, Shape
from xla_core.passes import Builder

_T = ElementType
_N = 4


@dataclasses.dataclass(frozen=True)
class _Kind:
    """Expressions, the types that they are changed in, and the types that they are also in as they are."""

    rows: Mapping[str, Row]
    types: tuple[ElementType, ...]
    others: tuple[ElementType, ...] = ()


_KINDS = {
    "numbers": _Kind(NUMBERS, (_T.F32, _T.S32), (_T.U8, _T.BF16, _T.S8, _T.F16, _T.F64, _T.S64)),
    "integers": _Kind(INTEGERS, (_T.S32, _T.U8), (_T.S8, _T.U32, _T.S64)),
    "truths": _Kind(TRUTHS, (_T.PRED,)),
    "conversions": _Kind(CONVERSIONS, (_T.S32,), (_T.F32, _T.U8)),
    "movement": _Kind(MOVEMENT, (_T.S32,), (_T.F32, _T.BF16)),
    "folds": _Kind(FOLDS, (_T.S32,), (_T.F32,)),
    "orders": _Kind(ORDERS, (_T.S32,), (_T.U8,)),
}
_SIZES = ((1, _N), (_N, 1), (1, 1), (0, _N))
_SHAPES: Mapping[str, tuple[int, ...]] = {"i": (), "k": (), "j": (3,)}
_TYPES = {"i": _T.S32, "k": _T.S32, "j": _T.S32, "p": _T.PRED, "q": _T.PRED}
_ROWS = 10
"""So many expressions are a part in the full profile."""

_Make = Callable[[], HloModule | None]


def parts(*, every: bool) -> list[tuple[str, int]]:
    """Returns (kind, number) of each part of the programs. Where all of them run, a kind has several parts."""
    return [(kind, n) for kind, of in _KINDS.items() for n in range(-(-len(of.rows) // _ROWS) if every else 1)]


def broken_conditions(kind: str, part: int, seed: int, *, every: bool) -> tuple[Rewritten, ...]:
    """Returns the programs of a part: all, or one of every second expression, which depend on the seed."""
    found = []
    rows = list(_KINDS[kind].rows.items())
    for name, row in rows[part * _ROWS :][:_ROWS] if every else rows[seed % 2 :: 2]:
        candidates = list(_programs(_KINDS[kind], row))
        turn = (seed + zlib.crc32(name.encode())) % len(candidates)
        for said, make in candidates if every else candidates[turn : turn + 1]:
            module = make()
            if module is not None:
                found.append(Rewritten(f"{name}, {said}", str(module)))
    return tuple(found)


def rows() -> Iterator[tuple[Row, tuple[ElementType, ...]]]:
    """Yields each expression with the types that it may be in."""
    for kind in _KINDS.values():
        for row in kind.rows.values():
            yield row, (*kind.types, *kind.others)


def _programs(kind: _Kind, row: Row) -> Iterator[tuple[str, _Make]]:
    """Yields (what is changed, how the program is made)."""
    for element in kind.types:
        of = f"of {element.value}"
        base = expression(row, element)
        if base is None:
            continue
        yield of, base.clone
        for said, change in changes(base.entry):
            yield f"{of}, {said}", partial(changed, base, change)
        for sizes in _SIZES:
            yield f"{of} and {sizes}", partial(expression, row, element, sizes)
        for place, put in PLACES.items():
            yield f"{of}, {place}", partial(put, base)
    for element in kind.others:
        yield f"of {element.value}", partial(expression, row, element)


def expression(row: Row, element: ElementType, sizes: Sequence[int] = (_N, _N)) -> HloModule | None:
    """Returns the program of an expression; None if it has no meaning for a type or for sizes."""
    module = HloModule("pattern")
    entry = module.add_computation(HloComputation("main"), entry=True)
    builder = Builder(entry)
    try:
        parameters = [
            entry.parameter(n, Shape(_TYPES.get(name, element), _SHAPES.get(name, tuple(sizes))), name)
            for n, name in enumerate(inspect.signature(row).parameters)
        ]
        entry.set_root(row(*(Value(builder, p) for p in parameters)).instruction)
    except (InvalidArgumentError, IndexError, ValueError):
        return None
    return module
