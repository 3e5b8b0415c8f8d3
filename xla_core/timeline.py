"""Draws the spans of a profile over time, with a row for each thread or stream."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import IO

from xla_core.checks import matplotlib_is_missing
from xla_core.errors import InvalidArgumentError
from xla_core.profile_span import Span

PICTURE_SUFFIXES = (".pdf", ".png", ".svg")

_UNITS = ((1e9, "s"), (1e6, "ms"), (1e3, "µs"), (1.0, "ns"))
_LETTER = 0.008  # the width of a letter, as a fraction of the picture's


def plot_timeline(spans: Sequence[Span], file: str | Path | IO[bytes]) -> None:
    """Draws spans to a file (.png, .svg, .pdf; an open file gets PNG).

    Each thread or stream is a row, in the order of its first span. A span that lies within another one of its row is
    drawn below it. Colours tell the categories of spans apart.

    Raises:
        UnavailableError: matplotlib is not installed.
        InvalidArgumentError: there are no spans.
    """
    if not spans:
        raise InvalidArgumentError(
            "there is nothing to draw: nothing was recorded", hint="trace a compilation or a run"
        )
    try:
        import matplotlib as mpl
        from matplotlib.figure import Figure
        from matplotlib.patches import Patch
    except ImportError as error:
        raise matplotlib_is_missing() from error

    origin, end = min(span.start for span in spans), max(span.end for span in spans)
    scale, unit = next(((s, u) for s, u in _UNITS if end - origin >= s), _UNITS[-1])
    length = max(end - origin, 1) / scale
    rows: dict[str, list[Span]] = {}
    for span in sorted(spans, key=lambda span: (span.start, -span.end)):
        rows.setdefault(span.track, []).append(span)
    categories = list(dict.fromkeys(span.category or "other" for span in spans))
    colours = {name: mpl.colormaps["tab10"](number % 10) for number, name in enumerate(categories)}

    depths = {track: nesting_depths(row) for track, row in rows.items()}
    height = sum(max(row) + 1.5 for row in depths.values())
    figure = Figure(figsize=(10, 1.2 + 0.28 * height), layout="constrained")
    axes = figure.add_subplot()
    top = 0.0
    ticks = []
    for track, row in rows.items():
        ticks.append(top + (max(depths[track]) + 1) / 2)
        for span, depth in zip(row, depths[track], strict=True):
            start, width = (span.start - origin) / scale, (span.end - span.start) / scale
            colour = colours[span.category or "other"]
            axes.broken_barh([(start, width)], (top + depth, 0.9), facecolors=colour, edgecolors="white", linewidth=0.4)
            if width > _LETTER * length * len(span.name):
                axes.text(start + width / 2, top + depth + 0.45, span.name, ha="center", va="center", fontsize=7)
        top += max(depths[track]) + 1.5
    axes.set_yticks(ticks, list(rows), fontsize=8)
    axes.set_ylim(top - 0.5, -0.2)
    axes.set_xlim(0, length)
    axes.set_xlabel(unit)
    axes.legend(
        handles=[Patch(color=colour, label=name) for name, colour in colours.items()],
        loc="upper center",
        bbox_to_anchor=(0.5, -0.12 - 0.9 / height),
        ncols=min(len(colours), 6),
        fontsize=7,
        frameon=False,
    )
    figure.savefig(file, dpi=110)


def nesting_depths(row: Sequence[Span]) -> list[int]:
    """Returns a lane for each span: one below every earlier span that has not ended when this one starts.

    `row` is sorted by start, longer spans first.
    """
    lanes: list[int] = []  # the end of the last span in each lane
    depths = []
    for span in row:
        open_lanes = [number for number, end in enumerate(lanes) if end > span.start]
        depth = open_lanes[-1] + 1 if open_lanes else 0
        lanes[depth:] = [span.end]
        depths.append(depth)
    return depths
