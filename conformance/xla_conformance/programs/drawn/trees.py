"""Trees of a few ops, none of whose values has another user, as most passes ask for.

A pass looks at an op and at what its operands are: a choice of two conversions, a slice of a sum, a shift of a shift of
a mask. Here each op stands over each other one, and over two others of its family. An op's other operands are often of
the same op, with attributes and types of their own, or they are a number, which is the same one in the whole tree, or
copies of a row or a column.
"""

from __future__ import annotations

import dataclasses
import functools
import itertools
from collections.abc import Callable, Collection, Sequence

import numpy as np

from xla_conformance.programs.drawn.values import Drawing
from xla_conformance.programs.patterns.values import Value
from xla_conformance.programs.rewrites import Rewritten
from xla_core.hlo import ElementType, HloComputation, HloModule, Opcode, Shape

_T, _O = ElementType, Opcode
_TYPES = (_T.S32, _T.U8, _T.S8, _T.F32, _T.U32, _T.S16, _T.S64, _T.PRED)
_TWINS = {_T.S8: _T.U8, _T.U8: _T.S8, _T.S32: _T.U32, _T.U32: _T.S32}
"""The types of the same size."""
_SIZES = ((4, 4), (4, 4), (3, 4), (4,))
_COPIES, _CONSTANT = 0.2, 0.05
"""How often an operand that no op gives is copies of a row or a column, or a constant other than the tree's number."""

Operand = Callable[[Shape], Value]
"""Gives an operand of a shape. The first one of an op is what the op stands over."""


@dataclasses.dataclass(frozen=True)
class _Op:
    """An op of a tree.

    Attributes:
        gives: whether its result may have a shape.
        make: (the tree, its operands, the shape of its result) -> the result.
        numbers: how often an operand other than the first one is the tree's number.
        alike: how often the op is beside another one of its kind, under one op.
        twin: gives that other one, if it isn't the op itself.
    """

    gives: Callable[[Shape], bool]
    make: Callable[[_Tree, Operand, Shape], Value]
    numbers: float = 0.4
    alike: float = 0.5
    twin: Callable[[_Tree], _Op] | None = None


class _Tree:
    """A program that is being drawn from its result down.

    Attributes:
        path: the ops under each other.
        made: how many of them there are so far.
    """

    def __init__(self, random: np.random.Generator, path: Sequence[_Op], types: Sequence[ElementType]) -> None:
        module = HloModule("tree")
        entry = module.add_computation(HloComputation("main"), entry=True)
        self.drawing = Drawing(random, module, entry, types, (), [], 0)
        self.path, self.made = path, 0
        self._number = self.drawing.one([1, 2, 3, 3, 5, 7])
        self._names = iter("xyz")

    def grow(self, shape: Shape) -> HloModule:
        self.drawing.computation.set_root(self._value(shape, self.path, True).instruction)
        return self.drawing.module

    def _value(self, shape: Shape, path: Sequence[_Op], counts: bool) -> Value:
        if not path or not path[0].gives(shape):
            return self._leaf(shape)
        self.made += counts
        given = itertools.count()

        def operand(wanted: Shape) -> Value:
            if next(given) == 0:
                return self._value(wanted, path[1:], counts)
            if len(path) > 1 and self.drawing.happens(path[1].alike):
                twin = path[1].twin
                return self._value(wanted, [twin(self) if twin else path[1]], False)
            return self._leaf(wanted, path[0].numbers)

        return path[0].make(self, operand, shape)

    def _leaf(self, shape: Shape, numbers: float = 0.1) -> Value:
        d = self.drawing
        if shape.element_type is not _T.PRED and d.happens(numbers):
            return d.value(d.builder.constant(np.asarray(self._number), shape))
        if shape.rank == 2 and d.happens(_COPIES):
            return _repeated(self, self._parameter, shape)
        if d.happens(_CONSTANT):
            return d.constant(shape)
        return self._parameter(shape)

    def _parameter(self, shape: Shape) -> Value:
        """An argument: one that there is already, or a new one."""
        d = self.drawing
        known = d.pick(lambda v: v.shape == shape)
        if known is not None and d.happens(0.3):
            return known
        number = len(d.computation.parameters)
        name = next(self._names, None) if shape.element_type.is_integral else None
        d.values.append(d.value(d.computation.parameter(number, shape, name or f"v{number}")))
        return d.values[-1]

    def place(self) -> Value:
        """A number of type s32: an argument that is a place in an array or beyond its end, or a constant."""
        d = self.drawing
        name = d.one("iij")
        known = {p.name: p for p in d.computation.parameters}
        if d.happens(0.3):
            return d.value(d.builder.constant(np.int32(self._number)))
        return d.value(known.get(name) or d.computation.parameter(len(known), Shape(_T.S32), name))


def drawn_trees(
    seed: int, first: int, count: int, held: Collection[ElementType] = tuple(ElementType)
) -> tuple[Rewritten, ...]:
    """Returns the trees from number `first` on. About 4,000 of them have each op over each other one.

    Args:
        held: the element types that values may have. Trees with others are left out.
    """
    made = (_tree(seed, number, held) for number in range(first, first + count))
    return tuple(tree for tree in made if tree is not None)


def _tree(seed: int, number: int, held: Collection[ElementType]) -> Rewritten | None:
    paths, random = _paths(seed), np.random.default_rng([seed, number])
    path, types = paths[number % len(paths)], [t for t in _TYPES if t in held]
    for n in random.permutation(len(types)):
        tree = _Tree(random, path, types)
        module = tree.grow(Shape(types[n], tree.drawing.one(_SIZES)))
        if tree.made == len(path) and all(i.shape.element_type in held for i in module.entry.instructions):
            return Rewritten(f"tree {number} of seed {seed}", str(module))
    return None


@functools.cache
def _paths(seed: int) -> list[tuple[_Op, ...]]:
    """The ops that stand over each other in each tree, in an order by the seed."""
    paths: list[tuple[_Op, ...]] = list(itertools.product(_OPS, repeat=2))
    paths += [*itertools.product(_JOINING, _CONVERSIONS.values())] * 3
    for family in _FAMILIES:
        paths += itertools.product(family, repeat=3)
    paths += [*itertools.product(_MOVES, _JOINING, _MOVES[:1])] * 4
    return [paths[n] for n in np.random.default_rng(seed).permutation(len(paths))]


# -- elementwise -------------------------------------------------------------------------------------------------------


def _is_integer(shape: Shape) -> bool:
    return shape.element_type.is_integral and shape.element_type is not _T.PRED


def _is_number(shape: Shape) -> bool:
    return shape.element_type is not _T.PRED


def _is_truth(shape: Shape) -> bool:
    return shape.element_type is _T.PRED


def _any(shape: Shape) -> bool:
    return True


def _elementwise(
    opcode: Opcode, count: int, gives: Callable[[Shape], bool], turned: float = 0.5, numbers: float = 0.4
) -> _Op:
    """An op of operands of its result's type. `turned` is how often the last one is what it stands over."""

    def make(tree: _Tree, operand: Operand, shape: Shape) -> Value:
        operands = [operand(shape) for _ in range(count)]
        if tree.drawing.happens(turned):
            operands.reverse()
        return operands[0].op(opcode, *operands[1:])

    return _Op(gives, make, numbers, alike=0.2)


def _compared(tree: _Tree, operand: Operand, shape: Shape) -> Value:
    of = shape.with_element_type(tree.drawing.one(tree.drawing.types))
    return operand(of).compare(tree.drawing.one(("LT", "LE", "GT", "GE", "EQ", "NE")), operand(of))


def _chosen(tree: _Tree, operand: Operand, shape: Shape) -> Value:
    x, y = operand(shape), operand(shape)
    return operand(shape.with_element_type(_T.PRED)).choose(x, y)


def _limited(tree: _Tree, operand: Operand, shape: Shape) -> Value:
    return operand(shape).limit(operand(shape), operand(shape))


def _converted(source: ElementType) -> _Op:
    def make(tree: _Tree, operand: Operand, shape: Shape) -> Value:
        return operand(shape.with_element_type(source)).to(shape.element_type.value)

    others = [source, *[_TWINS[source]] * 4] if source in _TWINS else [source]

    def twin(tree: _Tree) -> _Op:
        return _CONVERSIONS[tree.drawing.one([*others, *_TYPES])]

    return _Op(lambda shape: shape.element_type is not source, make, twin=twin)


# -- movement ----------------------------------------------------------------------------------------------------------


def _has_parts(shape: Shape) -> bool:
    return shape.rank > 0 and min(shape.dimensions) > 2


def _is_matrix(shape: Shape) -> bool:
    return shape.rank == 2


def _resized(shape: Shape, along: int, more: int) -> Shape:
    return shape.with_dimensions([n + more * (d == along) for d, n in enumerate(shape.dimensions)])


def _along(tree: _Tree, shape: Shape) -> int:
    return tree.drawing.number(0, shape.rank)


def _turned(tree: _Tree, operand: Operand, shape: Shape) -> Value:
    return operand(shape.with_dimensions(shape.dimensions[::-1])).turn()


def _reversed(tree: _Tree, operand: Operand, shape: Shape) -> Value:
    return operand(shape).reverse(_along(tree, shape))


def _cut(tree: _Tree, operand: Operand, shape: Shape) -> Value:
    along, before, after = _along(tree, shape), tree.drawing.number(0, 3), tree.drawing.number(0, 2)
    size = shape.dimensions[along]
    if tree.drawing.happens(0.2):
        return operand(_resized(shape, along, before + size)).cut(before, before + 2 * size, 2, along=along)
    return operand(_resized(shape, along, before + after)).cut(before, before + size, along=along)


def _padded(tree: _Tree, operand: Operand, shape: Shape) -> Value:
    along, low, high = _along(tree, shape), tree.drawing.number(-1, 2), tree.drawing.number(-1, 2)
    return operand(_resized(shape, along, -low - high)).pad(low, high, along=along, value=tree.drawing.number(0, 2))


def _formed(tree: _Tree, operand: Operand, shape: Shape) -> Value:
    count = shape.num_elements
    forms = [(count,), shape.dimensions[::-1], (2, count // 2)] if count % 2 == 0 else [(count,), (1, count)]
    return operand(shape.with_dimensions(tree.drawing.one(forms))).form(*shape.dimensions)


def _repeated(tree: _Tree, operand: Operand, shape: Shape) -> Value:
    along = _along(tree, shape)
    return operand(shape.with_dimensions([shape.dimensions[along]])).spread(shape.dimensions, [along])


def _joined(tree: _Tree, operand: Operand, shape: Shape) -> Value:
    along = _along(tree, shape)
    first = tree.drawing.number(1, shape.dimensions[along])
    rest = shape.dimensions[along] - first
    return operand(_resized(shape, along, -rest)).join(operand(_resized(shape, along, -first)), along=along)


def _sliced_at(tree: _Tree, operand: Operand, shape: Shape) -> Value:
    larger = _resized(shape, _along(tree, shape), 2)
    return operand(larger).at(*(tree.place() for _ in shape.dimensions), sizes=shape.dimensions)


def _updated_at(tree: _Tree, operand: Operand, shape: Shape) -> Value:
    whole, update = operand(shape), operand(_resized(shape, shape.rank - 1, -2))
    return whole.put(update, *(tree.place() for _ in shape.dimensions))


def _folded(tree: _Tree, operand: Operand, shape: Shape) -> Value:
    along = tree.drawing.number(0, shape.rank + 1)
    by = tree.drawing.one(("and", "or", "xor") if _is_truth(shape) else ("add", "maximum", "minimum", "xor"))
    sizes = [*shape.dimensions[:along], 3, *shape.dimensions[along:]]
    return operand(shape.with_dimensions(sizes)).fold(by, tree.drawing.number(0, 2), along)


def _product(tree: _Tree, operand: Operand, shape: Shape) -> Value:
    rows, columns = shape.dimensions
    own, others = tree.drawing.one((1, 1, 0)), tree.drawing.one((0, 0, 1))
    x = operand(shape.with_dimensions((rows, 4) if own else (4, rows)))
    return x.dot(operand(shape.with_dimensions((columns, 4) if others else (4, columns))), own, others)


_CONVERSIONS = {element: _converted(element) for element in _TYPES}
_BITS = [
    *(_elementwise(o, 2, _is_integer) for o in (_O.AND, _O.OR, _O.XOR)),
    *(
        _elementwise(o, 2, _is_integer, turned=0.1, numbers=0.8)
        for o in (_O.SHIFT_LEFT, _O.SHIFT_RIGHT_LOGICAL, _O.SHIFT_RIGHT_ARITHMETIC)
    ),
    _elementwise(_O.NOT, 1, _is_integer),
]
_SUMS = [
    *(_elementwise(o, 2, _is_number) for o in (_O.ADD, _O.SUBTRACT)),
    *(_elementwise(o, 2, _is_integer) for o in (_O.MULTIPLY, _O.DIVIDE, _O.REMAINDER)),
    _elementwise(_O.NEGATE, 1, _is_number),
]
_ORDERS = [
    *(_elementwise(o, 2, _is_number) for o in (_O.MAXIMUM, _O.MINIMUM)),
    *(_elementwise(o, 1, _is_number) for o in (_O.ABS,)),
    _elementwise(_O.SIGN, 1, _is_integer),
    _Op(_is_number, _limited),
]
_TRUTHS = [
    *(_elementwise(o, 2, _is_truth) for o in (_O.AND, _O.OR, _O.XOR)),
    _elementwise(_O.NOT, 1, _is_truth),
    _Op(_is_truth, _compared),
    _Op(_any, _chosen),
]
_MOVES = [
    *(_Op(_is_matrix, make) for make in (_repeated, _turned)),
    *(_Op(_has_parts, make) for make in (_reversed, _cut, _padded, _formed, _joined, _sliced_at, _updated_at)),
]
_JOINING = [*_SUMS[:3], *_BITS[:2], *_ORDERS[:2], *_TRUTHS[-2:]]
"""Ops of several operands, which may be of one kind."""
_FAMILIES = (_BITS, _SUMS, _ORDERS, _TRUTHS, _MOVES)
_OPS = [
    *itertools.chain(*_FAMILIES, _CONVERSIONS.values()),
    _Op(lambda shape: _has_parts(shape) and shape.element_type.is_integral, _folded),
    _Op(lambda shape: _is_matrix(shape) and _is_integer(shape), _product),
]
