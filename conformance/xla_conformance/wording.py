"""The words of reports and messages."""

from __future__ import annotations


def counted(count: int, noun: str) -> str:
    """Returns "1 test", "2 tests"."""
    return f"{count} {noun}{'' if count == 1 else 's'}"
