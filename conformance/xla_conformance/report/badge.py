"""A badge (SVG) that says at which level a backend conforms."""

from __future__ import annotations

from html import escape
from typing import Any

from xla_conformance.results import State

_CHARACTER, _PADDING = 6.6, 8  # pixels at a font size of 11
_LABEL = "xla conform"


def badge(document: dict[str, Any]) -> str:
    """Returns the badge of a report."""
    level = document["conforms"]
    waived = document["summary"][State.WAIVED.value]
    marks = [*document["environment"].get("marks", []), *([f"{waived} waived"] if waived else [])]
    if level:
        text = ", ".join([level, document["profile"], *marks])
        color = "#97780a" if "simulated" in marks else "#2f7d32"
    elif document["selection"]:
        text, color = "a selection", "#6b6b6b"
    else:
        text, color = "does not conform", "#b3261e"
    left, right = (round(len(t) * _CHARACTER + 2 * _PADDING) for t in (_LABEL, text))
    title = escape(f"{document['backend']}: {_LABEL}: {text}")
    return f"""\
<svg xmlns="http://www.w3.org/2000/svg" width="{left + right}" height="20" role="img" aria-label="{title}">
  <title>{title}</title>
  <clipPath id="r"><rect width="{left + right}" height="20" rx="3"/></clipPath>
  <g clip-path="url(#r)">
    <rect width="{left}" height="20" fill="#444"/>
    <rect x="{left}" width="{right}" height="20" fill="{color}"/>
  </g>
  <g fill="#fff" text-anchor="middle" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11">
    <text x="{left / 2}" y="14">{_LABEL}</text>
    <text x="{left + right / 2}" y="14">{escape(text)}</text>
  </g>
</svg>
"""
