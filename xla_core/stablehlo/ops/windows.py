"""Checks of windows that reductions and convolutions share."""

from __future__ import annotations

from collections.abc import Sequence

from xla_core.hlo.table.attributes import Window, WindowDimension
from xla_core.stablehlo import ir
from xla_core.stablehlo.ops.common import ints, matrix
from xla_core.stablehlo.verify.compatibility import list_text


def check_window(op: ir.Op, sizes: Sequence[int], base: str = "", dilation: str = "", reversal: str = "") -> Window:
    """Checks that the attributes of a window fit each other, and returns the window.

    The arguments after `sizes` are the names of the attributes that not all ops have.
    """
    rank = len(sizes)
    ones = (1,) * rank
    for name, what in (
        ("window_strides", "window-strides"),
        (base, "base-dilation factors"),
        (dilation, "window-dilation factors"),
        ("padding", "padding-entries"),
        (reversal, "window-reversal"),
    ):
        # An empty list stands for its default.
        count = _count(op, name) or rank
        if count != rank:
            op.fail(
                f"expects {what} to have same dimension-size as size of window dimensions ({rank}), but got: {count}."
            )
    values = [sizes, *(ints(op, name) or ones for name in ("window_strides", base, dilation))]
    for i, row in enumerate(zip(*values, strict=True)):
        for what, value in zip(_PARTS, row, strict=True):
            # A dynamic size is checked once it is known.
            if value <= 0 and not (what == "value" and value == ir.DYNAMIC):
                op.fail(f"expects window to have positive {what} for {i}-th window dimension, but got {value}.")
    rows = zip(*values, matrix(op, "padding", rank), ints(op, reversal) or (0,) * rank, strict=True)
    return tuple(
        WindowDimension(size, stride, low, high, lhs, rhs, bool(reversed))
        for size, stride, lhs, rhs, (low, high), reversed in rows
    )


_PARTS = ("value", "stride", "base dilation factor", "window dilation factor")


def _count(op: ir.Op, name: str) -> int:
    value = op.attributes.get(name)
    return 0 if value is None else value.type.shape[0] if name == "padding" else len(ints(op, name))


def check_padding_shape(op: ir.Op) -> None:
    """Checks that the padding's shape is [N, 2]: low and high for each dimension."""
    padding = op.attributes.get("padding")
    if not isinstance(padding, ir.DenseElements):
        return
    shape = padding.type.shape
    if len(shape) != 2 or shape[1] != 2:
        op.fail(f"expects the shape of padding-attribute to be {{N, 2}}, but got {{{list_text(shape)}}}.")
