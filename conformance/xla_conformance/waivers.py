"""Waivers: wrong results that a vendor knows and accepts for a while (`xla conform --waivers FILE`).

[[waiver]]
tests = "test_ops.py::test_op[tanh-*]"     # * stands for any text, ? for one character
reason = "tanh flushes denormals to zero"
link = "https://acme.example/bugs/12"
expires = 2027-03-31
"""

from __future__ import annotations

import dataclasses
import datetime
import re
import tomllib
from collections.abc import Sequence
from pathlib import Path

from xla_conformance.results import WAIVERS, Result, State
from xla_core.errors import InvalidArgumentError, NotFoundError

_KEYS = {"tests": str, "reason": str, "link": str, "expires": datetime.date}


@dataclasses.dataclass(frozen=True)
class Waiver:
    """Accepts wrong results of the tests whose ids match `tests`, until the day `expires` is over."""

    tests: str
    reason: str
    link: str
    expires: datetime.date

    def matches(self, id: str) -> bool:
        pattern = re.escape(self.tests).replace(r"\*", ".*").replace(r"\?", ".")
        return re.fullmatch(pattern, id) is not None

    @property
    def why(self) -> str:
        return f"{self.reason} ({self.link}; until {self.expires})"


def read_waivers(file: Path) -> list[Waiver]:
    """Reads a file of waivers.

    Raises:
        NotFoundError: there is no such file.
        InvalidArgumentError: the file is not valid.
    """
    if not file.is_file():
        raise NotFoundError(f"there is no file of waivers {file}")
    try:
        table = tomllib.loads(file.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InvalidArgumentError(f"{file} is not valid TOML: {error}") from error
    entries = table.pop("waiver", [])
    if table or not isinstance(entries, list):
        raise InvalidArgumentError(f"{file} has {', '.join(table) or 'no list'}", hint="it takes [[waiver]] entries")
    made = []
    for number, entry in enumerate(entries):
        wrong = [f"{key} is missing" for key in _KEYS if key not in entry]
        wrong += [f"{key} is unknown" for key in entry if key not in _KEYS]
        wrong += [
            f"{key} must be a {kind.__name__}" for key, kind in _KEYS.items() if not isinstance(entry.get(key), kind)
        ]
        wrong += [f"{key} is empty" for key in ("tests", "reason", "link") if entry.get(key) == ""]
        if wrong:
            raise InvalidArgumentError(
                f"{file}: waiver {number}: {wrong[0]}", hint=f"a waiver has {', '.join(_KEYS)}; expires is a date"
            )
        made.append(Waiver(**entry))
    return made


def apply_waivers(
    results: Sequence[Result], waivers: Sequence[Waiver], *, complete: bool, today: datetime.date | None = None
) -> list[Result]:
    """Marks wrong results as waived, and adds a failure for each waiver that is not right.

    Args:
        results: the results of a run.
        waivers: as read from the file.
        complete: whether all tests ran; else a waiver may match nothing.
        today: the day on which waivers must not have expired; by default today.
    """
    today = today or datetime.date.today()
    found = list(results)
    judged: list[Result] = []
    for waiver in waivers:
        matched = [i for i, r in enumerate(found) if waiver.matches(r.id)]
        problem = _problem(waiver, [results[i] for i in matched], complete, today)
        if problem:
            judged.append(Result(f"{WAIVERS}::{waiver.tests}", State.FAIL, message=problem))
        if waiver.expires < today:
            continue
        for i in matched:
            if found[i].state.is_wrong:
                message = f"{found[i].message} Waived: {waiver.why}"
                found[i] = dataclasses.replace(found[i], state=State.WAIVED, message=message)
    return found + judged


def _problem(waiver: Waiver, results: Sequence[Result], complete: bool, today: datetime.date) -> str:
    if waiver.expires < today:
        return f"the waiver expired on {waiver.expires}: {waiver.reason} ({waiver.link})"
    passing = [r.id for r in results if r.state is State.PASS]
    if passing:
        return f"the waiver covers {passing[0]}, which passes: narrow or remove it"
    if not any(r.state.is_wrong for r in results) and (complete or results):
        what = "matches no test" if not results else "covers no wrong result"
        return f"the waiver {what}: remove it"
    return ""
