"""The ops that a drawn program may have next. Each result is exact, in any order of computation."""

from __future__ import annotations

from xla_conformance.programs.drawn.values import Drawing, Step
from xla_conformance.programs.patterns.values import Value
from xla_core.hlo import ElementType, Opcode, Shape, scalar_computation

_T, _O = ElementType, Opcode
_UNARY = (_O.NEGATE, _O.ABS, _O.NOT, _O.SIGN, _O.POPCNT, _O.COUNT_LEADING_ZEROS)
_BINARY = (_O.ADD, _O.SUBTRACT, _O.MULTIPLY, _O.MAXIMUM, _O.MINIMUM, _O.AND, _O.OR, _O.XOR)
_RARE = (_O.DIVIDE, _O.REMAINDER, _O.SHIFT_LEFT, _O.SHIFT_RIGHT_LOGICAL, _O.SHIFT_RIGHT_ARITHMETIC)
_OF_TRUTHS = (_O.AND, _O.OR, _O.XOR)
_OF_FLOATS = (_O.ADD, _O.SUBTRACT, _O.MAXIMUM, _O.MINIMUM)
_FOLDS = ("add", "maximum", "minimum", "and", "or", "xor")
_DIRECTIONS = ("LT", "LE", "GT", "GE", "EQ", "NE")


def _is_integer(value: Value) -> bool:
    element = value.shape.element_type
    return element.is_integral and element is not _T.PRED


def _unary(d: Drawing) -> Value | None:
    value = d.pick()
    assert value is not None
    if value.shape.element_type is _T.PRED:
        return ~value
    return value.op(d.one(_UNARY if _is_integer(value) else _UNARY[:2]))


def _binary(d: Drawing) -> Value | None:
    value = d.pick()
    assert value is not None
    if value.shape.element_type is _T.PRED:
        opcode = d.one(_OF_TRUTHS)
    elif _is_integer(value):
        opcode = d.one(_RARE if d.happens(0.25) else _BINARY)
    else:
        opcode = d.one(_OF_FLOATS)
    other = value if d.happens(0.1) else d.like(value)
    return other.op(opcode, value) if d.happens(0.3) else value.op(opcode, other)


def _scaled(d: Drawing) -> Value | None:
    """The product with a power of two: a product of floats and a sum must not be rounded once."""
    value = d.pick(lambda v: v.shape.element_type is not _T.PRED)
    return value and value * d.one([2, 1, 4] if _is_integer(value) else [2, -1, 0.5, 1])


def _converted(d: Drawing) -> Value | None:
    value = d.pick()
    assert value is not None
    return value.to(d.one([t for t in d.types if t is not value.shape.element_type]).value)


def _compared(d: Drawing) -> Value | None:
    value = d.pick()
    assert value is not None
    return value.compare(d.one(_DIRECTIONS), d.like(value))


def _chosen(d: Drawing) -> Value | None:
    value = d.pick()
    assert value is not None
    truths = Shape(_T.PRED, value.dimensions)
    test = d.pick(lambda v: v.shape == truths) or value.compare(d.one(_DIRECTIONS), d.like(value))
    return test.choose(value, d.like(value))


def _limited(d: Drawing) -> Value | None:
    value = d.pick(lambda v: v.shape.element_type is not _T.PRED)
    return value and value.limit(d.like(value), d.like(value))


# -- movement ----------------------------------------------------------------------------------------------------------


def _transposed(d: Drawing) -> Value | None:
    value = d.pick(lambda v: v.shape.rank > 1)
    return value and value.turn(*(int(n) for n in d.random.permutation(value.shape.rank)))


def _reshaped(d: Drawing) -> Value | None:
    value = d.array()
    count = value.shape.num_elements
    forms = [
        (count,),
        (1, count),
        value.dimensions[::-1],
        *((n, count // n) for n in (2, 3) if count and not count % n),
    ]
    return value.form(*d.one(forms))


def _reversed(d: Drawing) -> Value | None:
    value = d.array()
    return value.reverse(d.number(0, value.shape.rank)) if value.shape.rank else None


def _cut(d: Drawing) -> Value | None:
    value, along = _along(d)
    size = value.dimensions[along]
    start = d.number(0, size)
    return value.cut(start, d.number(start, size) + 1, d.one([1, 1, 2]), along=along)


def _padded(d: Drawing) -> Value | None:
    value, along = _along(d)
    low, high, interior = d.number(-1, 3), d.number(-1, 3), d.one([0, 0, 1])
    return value.pad(low, high, interior, along=along, value=d.number(0, 2))


def _joined(d: Drawing) -> Value | None:
    value, along = _along(d)
    others = [v for v in (value, d.like(value), d.like(value).reverse(along)) if d.happens(0.6)]
    return value.join(*others, along=along) if others else None


def _spread(d: Drawing) -> Value | None:
    value = d.pick(lambda v: v.shape.rank < 2)
    if value is None:
        return None
    if not value.shape.rank:
        return value.spread((d.number(1, 5), 3), ())
    size = value.dimensions[0]
    return value.spread((size, 3), (0,)) if d.happens(0.5) else value.spread((3, size), (1,))


def _sliced_at(d: Drawing) -> Value | None:
    """A dynamic slice, whose places may be beyond either end."""
    value = d.array()
    sizes = [d.number(min(n, 1), n + 1) for n in value.dimensions]
    return value.at(*(d.scalar() for _ in sizes), sizes=sizes)


def _updated_at(d: Drawing) -> Value | None:
    value = d.array()
    sizes = tuple(d.number(min(n, 1), n + 1) for n in value.dimensions)
    shape = value.shape.with_dimensions(sizes)
    update = d.pick(lambda v: v.shape == shape)
    if update is None:
        update = d.like(value).at(*(d.scalar() for _ in sizes), sizes=sizes)
    return value.put(update, *(d.scalar() for _ in sizes))


def _taken(d: Drawing) -> Value | None:
    """Rows of an array, at places that may be beyond its ends or equal."""
    value = d.array()
    places = d.pick(lambda v: v.shape.element_type is _T.S32 and v.shape.rank == 1 and v.shape.num_elements < 9)
    return value.take(places if places is not None else d.constant(Shape(_T.S32, (3,))))


def _scattered(d: Drawing) -> Value | None:
    """Sums of rows at places, of which some are equal, and some beyond the ends."""
    value = d.pick(lambda v: v.shape.rank > 0 and _is_integer(v))
    if value is None:
        return None
    places = d.pick(lambda v: v.shape.element_type is _T.S32 and v.shape.rank == 1 and v.shape.num_elements < 9)
    places = places if places is not None else d.constant(Shape(_T.S32, (3,)))
    updates = d.like(value).take(places)
    body = scalar_computation(d.one([_O.ADD, _O.MAXIMUM, _O.XOR]), value.shape.element_type, module=d.module)
    return value.op(
        _O.SCATTER,
        places,
        updates,
        update_window_dims=tuple(range(1, value.shape.rank)),
        inserted_window_dims=(0,),
        scatter_dims_to_operand_dims=(0,),
        index_vector_dim=1,
        to_apply=body,
    )


# -- several elements --------------------------------------------------------------------------------------------------


def _folded(d: Drawing) -> Value | None:
    value = d.pick(lambda v: v.shape.rank > 0 and v.shape.element_type.is_integral)
    if value is None:
        return None
    by = d.one(_FOLDS[3:] if value.shape.element_type is _T.PRED else _FOLDS)
    count = d.number(1, value.shape.rank + 1)
    dimensions = sorted(int(n) for n in d.random.permutation(value.shape.rank)[:count])
    return value.fold(by, d.number(0, 2), *dimensions)


def _windows(d: Drawing) -> Value | None:
    value = d.pick(lambda v: v.shape.rank > 0 and _is_integer(v) and v.dimensions[0] > 0)
    if value is None:
        return None
    size = d.number(1, value.dimensions[0] + 1)
    return value.windows(d.one(_FOLDS), d.number(0, 2), size, d.number(1, 3), d.number(0, size), d.number(0, 2))


def _product(d: Drawing) -> Value | None:
    value = d.pick(lambda v: v.shape.rank == 2 and _is_integer(v))
    if value is None:
        return None
    other = d.like(value)
    own = d.number(0, 2)
    return value.dot(other, own, own)


def _sorted(d: Drawing) -> Value | None:
    value = d.pick(lambda v: v.shape.rank > 0 and _is_integer(v))
    return value and value.sort(d.one(["LT", "GT"]), along=d.number(0, value.shape.rank))


def _kept(d: Drawing) -> Value | None:
    value = d.pick()
    return value and value.op(_O.OPT_BARRIER)


def _along(d: Drawing) -> tuple[Value, int]:
    value = d.pick(lambda v: v.shape.rank > 0 and v.shape.num_elements > 0)
    if value is None:
        value = d.constant(Shape(_T.S32, (4,)))
    return value, d.number(0, value.shape.rank)


STEPS: tuple[Step, ...] = (
    *(_unary, _binary, _binary, _binary, _scaled, _converted, _compared, _chosen, _limited),
    *(_transposed, _reshaped, _reversed, _cut, _padded, _joined, _spread),
    *(_sliced_at, _updated_at, _taken, _scattered, _folded, _folded, _windows, _product, _sorted, _kept),
)
