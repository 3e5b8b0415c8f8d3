"""Plans the loops of a kernel before anything is emitted.

Indexing maps say which places in memory and which conditions each element needs, as expressions of the loops'
variables. A loop is split where an expression would divide its variable, cut into segments where a condition on it
changes, and two loops run in square tiles where the innermost one would stride through memory.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Collection, Hashable, Iterator, Sequence

from xla_core.analysis.indexing import FloorDiv, FusionAccesses, Index, IndexExpr, Load, Variable, joined
from xla_core.hlo.ir.instruction import HloInstruction

_MOST_SPLITS = 64  # after these, indices are divided
_LEAST_TILED = 8  # iterations of loops that run in tiles, and elements of the stride that they avoid
_LEAST_CUT = 32  # iterations; shorter loops are not cut into segments


@dataclasses.dataclass(frozen=True, slots=True)
class LoopVariable:
    """The key of the variable of a loop over `space`. `number` tells the loops over one space apart."""

    space: Hashable
    number: int


@dataclasses.dataclass(frozen=True, slots=True)
class Section:
    """The work of one nest of a kernel's loops.

    Attributes:
        space: the key of the loops.
        extents: of the loops, outermost first, before any is split.
        visit: adds the accesses of the element at a position.
    """

    space: Hashable
    extents: tuple[int, ...]
    visit: Callable[[FusionAccesses, IndexExpr], None]


class LoopPlan:
    """The loops of a kernel's sections, and of the accumulating instructions inside them.

    Args:
        sections: the nests of loops of the kernel itself.
        bound: instructions whose values are in memory.
        splits_sections: whether the sections' own loops may be split.

    Attributes:
        has_splits: whether any loop was split.
    """

    def __init__(
        self, sections: Sequence[Section], bound: Collection[HloInstruction], *, splits_sections: bool = True
    ) -> None:
        self._variables: dict[Hashable, list[Variable]] = {}
        for section in sections:
            keys = [LoopVariable(section.space, -1 - p) for p in range(len(section.extents))]
            own: list[Hashable] = list(keys) if splits_sections else [(section.space, p) for p in range(len(keys))]
            names = [f"i{p}" for p in range(len(keys))]
            self._variables[section.space] = [
                Variable(key, extent, name) for key, extent, name in zip(own, section.extents, names, strict=True)
            ]
        self._sections, self._bound = sections, bound
        self._accesses = self._find_accesses()
        self.has_splits = self._split(self._accesses.exprs)
        if self.has_splits:
            self._accesses = self._find_accesses()

    def loops(self, space: Hashable, count: int) -> Sequence[Variable]:
        """Returns the variables of the loops over a space of `count` iterations, outermost first."""
        return self._variables.setdefault(space, [Variable(LoopVariable(space, 0), count, "i0")])

    def variables(self, section: Section) -> Sequence[Variable]:
        """Returns the variables of a section's loops, outermost first."""
        return self._variables[section.space]

    def indices(self, instruction: HloInstruction) -> Sequence[Index]:
        """Returns the indices at which an instruction is computed."""
        return self._accesses.indices(instruction)

    def reads_in_order(self, inner: Variable) -> bool:
        """Whether each load moves by at most one element from one iteration of a loop to the next."""
        terms = [load.position.terms for load in self._accesses.loads]
        return all(found.get(inner, 0) in (0, 1) and all(isinstance(a, Variable) for a in found) for found in terms)

    def _find_accesses(self) -> FusionAccesses:
        accesses = FusionAccesses(self._bound, self.loops)
        for section in self._sections:
            section.visit(accesses, joined(self.variables(section)))
        return accesses

    def _split(self, exprs: Sequence[IndexExpr]) -> bool:
        """Splits loops whose variables would be divided; returns whether there are any."""
        pending, count = dict.fromkeys(exprs), 0
        while count < _MOST_SPLITS:
            found = next((d for expr in pending for d in _divisions(expr)), None)
            if found is None:
                break
            count += 1
            variable, space, factor = found
            parts = [
                Variable(LoopVariable(space, 2 * count + k), n, f"i{2 * count + k}")
                for k, n in enumerate((variable.extent // factor, factor))
            ]
            loops = self._variables[space]
            position = loops.index(variable)
            loops[position : position + 1] = parts
            pending = dict.fromkeys(expr.substitute({variable: joined(parts)}) for expr in pending)
        return count > 0

    @property
    def loads(self) -> Collection[Load]:
        """The loads of all sections, at positions in the variables of the loops."""
        return self._accesses.loads

    def across(self, section: Section, most_bits: int = 64) -> int:
        """The position of the loop to run in tiles with the innermost one, or -1."""
        *_, inner = variables = self.variables(section)
        for load in self._accesses.loads:
            terms = load.position.terms
            if (
                not _is_tileable(load.source, most_bits)
                or terms.get(inner, 0) < _LEAST_TILED
                or inner.extent < _LEAST_TILED
            ):
                continue
            for position, variable in enumerate(variables[:-1]):
                if terms.get(variable) == 1 and variable.extent >= _LEAST_TILED:
                    return position
        return -1

    def cuts(self, section: Section, positions: Sequence[int], most: int) -> tuple[tuple[int, ...], ...]:
        """Where to cut the loops at `positions`, so that conditions on one of them are known in each segment.

        The segments of all loops together make at most `most` copies of the body.
        """
        variables = self.variables(section)
        found: list[list[int]] = [[] for _ in variables]
        for condition in self._accesses.conditions:
            expr = condition.expr
            if len(expr.terms) != 1:
                continue
            ((atom, factor),) = expr.terms.items()
            position = variables.index(atom) if isinstance(atom, Variable) and atom in variables else -1
            if position not in positions or variables[position].extent < _LEAST_CUT:
                continue
            for at in _changes(factor, condition.low - expr.constant, condition.high - expr.constant):
                copies = math.prod(len(c) + 1 for p, c in enumerate(found) if p != position)
                is_new = 0 < at < variables[position].extent and at not in found[position]
                if is_new and copies * (len(found[position]) + 2) <= most:
                    found[position].append(at)
        return tuple(tuple(sorted(cuts)) for cuts in found)


def _is_tileable(source: HloInstruction, most_bits: int) -> bool:
    """Whether an array's elements may be moved in tiles, as whole words."""
    leaves = list(source.shape.leaves())
    packed = any(s.layout is not None and 0 < s.layout.element_size_in_bits < 8 for s in leaves)
    return not packed and all(s.element_type.bit_width <= most_bits for s in leaves)


def _changes(factor: int, low: int, high: int) -> list[int]:
    """Returns the first i for which low <= factor * i <= high, and the first i after them for which it is false."""
    if factor > 0:
        return [-(-low // factor), high // factor + 1]
    return [-(high // -factor), -low // -factor + 1]


def _divisions(expr: IndexExpr) -> Iterator[tuple[Variable, Hashable, int]]:
    """Yields (variable, its space, factor) of loops that, split by the factor, need no division."""
    for atom in expr.terms:
        if not isinstance(atom, FloorDiv):
            continue
        yield from _divisions(atom.dividend)
        if len(atom.dividend.terms) != 1:
            continue
        ((variable, c),) = atom.dividend.terms.items()
        if not isinstance(variable, Variable) or not isinstance(variable.key, LoopVariable):
            continue
        factor = atom.divisor // math.gcd(c, atom.divisor)
        stays = c > 0 and c * (factor - 1) + atom.dividend.constant < atom.divisor
        if stays and 1 < factor < variable.extent and variable.extent % factor == 0:
            yield variable, variable.key.space, factor
