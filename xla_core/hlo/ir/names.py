"""Makes names valid for HLO text and unique. (XLA: xla/service/name_uniquer.h.)"""

from __future__ import annotations

import re

from xla_core.checks import wrong_argument
from xla_core.hlo.values.element_type import ElementType

_is_name = re.compile(r"(?!__(?!xla_))[A-Za-z_][A-Za-z0-9_.\-]*").fullmatch
_without_others = re.compile(r"[^A-Za-z0-9_.\-]").sub
_TYPES = frozenset(t.value for t in ElementType) - {"tuple"}


def sanitized_name(wanted: str) -> str:
    """Replaces characters that HLO text doesn't allow in names by "_".

    ASCII letters, digits, "_", "." and "-" are allowed. A name that begins with an invalid first character gets "_"
    before it. XLA's parser refuses names of element types and names that begin with "__", so `f32` becomes `f32_` and
    `__x` becomes `a_x`.
    """
    try:
        is_name = _is_name(wanted)
    except TypeError:
        raise wrong_argument("a name", wanted, "text") from None
    if is_name:
        return f"{wanted}_" if wanted in _TYPES else wanted
    name = _without_others("_", wanted)
    if name.startswith("__"):
        return f"a{name[1:]}"
    return name if _is_name(name) else f"_{name}"


class NameUniquer:
    """Makes names unique by numbers: add, add.1, add.2."""

    def __init__(self) -> None:
        self._taken: set[str] = set()
        self._next: dict[str, int] = {}

    def unique(self, wanted: str) -> str:
        """Returns `wanted`, sanitized, with a number where the name is taken."""
        wanted = sanitized_name(wanted)
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
