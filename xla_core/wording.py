"""The words of messages."""

from __future__ import annotations


def counted(count: int, noun: str) -> str:
    """Returns a number and its noun, which is in the plural unless there is one: "1 row", "2 rows"."""
    return f"{count} {noun}{'' if count == 1 else 's'}"
