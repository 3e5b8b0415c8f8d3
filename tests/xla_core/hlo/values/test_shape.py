"""The leaves of shapes."""

from __future__ import annotations

from xla_core.hlo import ElementType, Shape

A, B = Shape.array(ElementType.F32, (2,)), Shape.array(ElementType.S8, (3, 4))


def test_the_arrays_among_the_leaves_are_in_their_order() -> None:
    whole = Shape.tuple([A, Shape.tuple([Shape.token(), B, Shape.tuple([])]), A])
    assert whole.array_leaves() == (A, B, A)
    assert B.array_leaves() == (B,)
    assert Shape.token().array_leaves() == ()
