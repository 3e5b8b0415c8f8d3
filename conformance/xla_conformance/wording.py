"""The words of reports and messages."""

from __future__ import annotations


def counted(count: int, noun: str) -> str:
    """Returns "1 test", "2 tests"."""
    return f"{count} {noun}{'' if count == 1 else 's'}"


def wrong_of(wrong: int, count: int, noun: str) -> str:
    """Returns "1 of 2 bytes is wrong", "2 of 3 bytes are wrong"."""
    return f"{wrong} of {counted(count, noun)} {'is' if wrong == 1 else 'are'} wrong"
