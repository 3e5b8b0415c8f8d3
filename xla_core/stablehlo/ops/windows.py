"""What windows are checked for, in reductions and convolutions alike."""

from __future__ import annotations

from collections.abc import Sequence

from xla_core.hlo.attributes import Window, WindowDimension
from xla_core.stablehlo import ir
from xla_core.stablehlo.attributes import DenseElements
from xla_core.stablehlo.compatibility import fail, list_text
from xla_core.stablehlo.ops.common import ints, matrix

__all__ = ["check_window"]


def check_window(
    op: ir.Op,
    sizes: Sequence[int],
    *,
    strides: str,
    base: str | None = None,
    dilation: str | None = None,
    reversal: str | None = None,
) -> Window:
    """Checks sizes, strides, padding, dilations and reversal (attributes by these names) against each other."""
    rank = len(sizes)
    ones = (1,) * rank
    for name, what in (
        (strides, "window-strides"),
        (base, "base-dilation factors"),
        (dilation, "window-dilation factors"),
        (reversal, "window-reversal"),
    ):
        count = rank if name is None else len(ints(op, name, ones))
        if count != rank:
            fail(
                op,
                f"expects {what} to have same dimension-size as size of window dimensions ({rank}), but got: {count}.",
            )
    _check_padding(op, rank)
    values = [
        sizes,
        ints(op, strides, ones),
        ones if base is None else ints(op, base, ones),
        ones if dilation is None else ints(op, dilation, ones),
    ]
    for what, row in zip(("value", "stride", "base dilation factor", "window dilation factor"), values, strict=True):
        for i, value in enumerate(row):
            # A size may be unknown, and is then checked when it is known.
            if value <= 0 and not (what == "value" and value == ir.DYNAMIC):
                fail(op, f"expects window to have positive {what} for {i}-th window dimension, but got {value}.")
    padding = matrix(op, "padding", rank)
    return tuple(
        WindowDimension(size, stride, low, high, lhs, rhs)
        for (size, stride, lhs, rhs), (low, high) in zip(zip(*values, strict=True), padding, strict=True)
    )


def _check_padding(op: ir.Op, rank: int) -> None:
    padding = op.attributes.get("padding")
    if not isinstance(padding, DenseElements):
        return
    shape = padding.type.shape
    if len(shape) != 2 or shape[1] != 2:
        fail(op, f"expects the shape of padding-attribute to be {{N, 2}}, but got {{{list_text(shape)}}}.")
    if shape[0] != rank:
        fail(
            op,
            f"expects padding-entries to have same dimension-size as size of window dimensions ({rank}), but got: "
            f"{shape[0]}.",
        )
