"""Unique names. (XLA: xla/service/name_uniquer.h.)"""

from __future__ import annotations

__all__ = ["NameUniquer"]


class NameUniquer:
    """Hands out each name once; a name that is taken gets a number: add, add.1, add.2."""

    def __init__(self) -> None:
        self._taken: set[str] = set()
        self._next: dict[str, int] = {}

    def unique(self, wanted: str) -> str:
        name = wanted
        if name in self._taken:
            base, _, digits = wanted.rpartition(".")
            if not base or not digits.isdigit():
                base = wanted
            number = self._next.get(base, 1)
            while (name := f"{base}.{number}") in self._taken:
                number += 1
            self._next[base] = number + 1
        self._taken.add(name)
        return name
