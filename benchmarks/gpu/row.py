"""One line of the report."""

from __future__ import annotations

import dataclasses


@dataclasses.dataclass(frozen=True)
class Row:
    """A figure, or the reason why there is none.

    Attributes:
        section, what: which figure.
        value: as it is printed; "" where there is none.
        wanted: the figure that is wanted, or "".
        good: whether it is reached; None where nothing is wanted or nothing was measured.
        note: how it was measured, or why it wasn't.
    """

    section: str
    what: str
    value: str = ""
    wanted: str = ""
    good: bool | None = None
    note: str = ""
