"""What every call asks of a shape, looked up. The tables are bounded: beyond the bound they start anew."""

from __future__ import annotations

from xla_core.hlo.shape import Shape

__all__ = ["intern_shape", "row_major_bytes"]

_LIMIT = 8192  # shapes
_interned: dict[Shape, Shape] = {}
_row_major: dict[int, tuple[Shape, int | None]] = {}  # by the id of a shape, which the entry keeps alive


def intern_shape(shape: Shape) -> Shape:
    """One object for all equal shapes, so that checking an argument is mostly one `is`."""
    if len(_interned) >= _LIMIT:
        _interned.clear()
    return _interned.setdefault(shape, shape)


def row_major_bytes(shape: Shape) -> int | None:
    """Bytes of an array that lies in memory as numpy has it; None where the layout is another."""
    found = _row_major.get(id(shape))
    if found is None:
        if len(_row_major) >= _LIMIT:
            _row_major.clear()
        layout = shape.layout
        plain = layout is None or (layout.is_row_major and not layout.tiles and not layout.element_size_in_bits)
        found = _row_major[id(shape)] = (shape, shape.byte_size if plain else None)
    return found[1]
