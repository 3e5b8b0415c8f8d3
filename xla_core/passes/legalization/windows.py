"""Padding and slices of windows, for decompositions that combine window elements one by one."""

from __future__ import annotations

from collections.abc import Sequence

from xla_core.hlo.attributes import PaddingDimension, SliceDimension, WindowDimension


def window_padding(window: Sequence[WindowDimension]) -> tuple[PaddingDimension, ...]:
    """The padding attribute of a `pad` that applies a window's padding and base dilation."""
    return tuple(PaddingDimension(w.padding_low, w.padding_high, w.base_dilation - 1) for w in window)


def window_element(w: WindowDimension, position: int, count: int) -> SliceDimension:
    """The slice of a padded dimension that the window element at `position` reads in `count` windows."""
    start = (w.size - 1 - position if w.window_reversal else position) * w.window_dilation
    return SliceDimension(start, start + (count - 1) * w.stride + 1 if count else start, w.stride)
