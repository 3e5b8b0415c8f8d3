"""Draws a buffer assignment: which bytes hold which value at which time."""

from __future__ import annotations

from pathlib import Path
from typing import IO

from xla_core.analysis.buffer_assignment import AllocationKind, BufferAssignment
from xla_core.checks import matplotlib_is_missing

_KINDS = (AllocationKind.TEMP,)
_LINE = 0.03  # the height of a name, as a fraction of the picture's
_LETTER = 0.011  # the width of a letter, as a fraction of the picture's
_UNITS = ("bytes", "KiB", "MiB", "GiB", "TiB")


def plot_memory_map(
    assignment: BufferAssignment, file: str | Path | IO[bytes], *, kinds: tuple[AllocationKind, ...] = _KINDS
) -> None:
    """Draws the allocations of `kinds`, stacked, to a file (.png, .svg, .pdf; an open file gets PNG).

    The horizontal axis shows the steps of the schedule, the vertical axis bytes. Each box is a value; its width is its
    live range.

    Raises:
        UnavailableError: matplotlib is not installed.
    """
    try:
        import matplotlib as mpl
        from matplotlib.figure import Figure
    except ImportError as error:
        raise matplotlib_is_missing() from error

    bases: dict[int, int] = {}
    height = 0
    for allocation in assignment.allocations:
        if allocation.kind in kinds:
            bases[allocation.index] = height
            height += allocation.size
    shown = [(value, place) for value, place in assignment.slices.items() if place.allocation.index in bases]
    last = 1 + max((end for value, _ in shown for _, end in value.segments()), default=0)
    unit, scale = _unit(height)

    figure = Figure(figsize=(8, 4.5), layout="constrained")
    axes = figure.add_subplot()
    colours = mpl.colormaps["tab20"]
    for number, (value, place) in enumerate(sorted(shown, key=lambda item: item[0].start)):
        bottom, size = (bases[place.allocation.index] + place.offset) / scale, place.size / scale
        spans = [(start, end + 1 - start) for start, end in value.segments()]
        colour = colours(number % colours.N)
        axes.broken_barh(spans, (bottom, size), facecolors=colour, edgecolors="#37474f", linewidth=0.5)
        if place.size > _LINE * height and spans[0][1] > _LETTER * last * len(value.name):
            axes.text(value.start + 0.1, bottom + size / 2, value.name, va="center", fontsize=7)
    for base in list(bases.values())[1:]:
        axes.axhline(base / scale, color="#37474f", linewidth=1)
    axes.set_xlim(0, last)
    axes.set_ylim(0, max(height, 1) / scale)
    axes.set_xlabel("step of the schedule")
    axes.set_ylabel(unit)
    axes.set_title(
        f"{assignment.module.name}: {assignment.temp_bytes} bytes of temporaries, "
        f"{assignment.temp_bytes_without_reuse} without reuse",
        fontsize=10,
    )
    figure.savefig(file)


def _unit(size: int) -> tuple[str, int]:
    """The largest unit that is at most `size` bytes, and the number of bytes in it."""
    power = min(max(size.bit_length() - 1, 0) // 10, len(_UNITS) - 1)
    return _UNITS[power], 1 << (10 * power)
