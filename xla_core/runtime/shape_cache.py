"""Caches of shape properties that every call needs. A cache that reaches its limit is cleared."""

from __future__ import annotations

from xla_core.hlo.values.shape import Shape

_LIMIT = 8192  # shapes
_interned: dict[Shape, Shape] = {}
_row_major: dict[int, tuple[Shape, int | None]] = {}  # by id(shape); the entry keeps the shape alive


def intern_shape(shape: Shape) -> Shape:
    """Returns one object for all equal shapes, so that most checks of an argument are one `is`."""
    if len(_interned) >= _LIMIT:
        _interned.clear()
    return _interned.setdefault(shape, shape)


def row_major_bytes(shape: Shape) -> int | None:
    """Returns the number of bytes of an array in numpy's row-major layout; None for any other layout."""
    found = _row_major.get(id(shape))
    if found is None:
        if len(_row_major) >= _LIMIT:
            _row_major.clear()
        layout = shape.layout
        plain = layout is None or layout.is_dense_row_major
        found = _row_major[id(shape)] = (shape, shape.byte_size if plain else None)
    return found[1]
