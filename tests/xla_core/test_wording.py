"""The words of messages."""

from __future__ import annotations

from xla_core.wording import counted


def test_one_thing_is_in_the_singular() -> None:
    assert [counted(count, "row") for count in (0, 1, 2)] == ["0 rows", "1 row", "2 rows"]
