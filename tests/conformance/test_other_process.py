"""Programs that fail in another process cost little time, and say what became of them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from xla_conformance import child_process, other_process
from xla_conformance.other_process import run_in_other_process
from xla_conformance.programs.family import FAMILY

import xla_core as xla

Put = Callable[[str, str], str]

# a compiler that does `when(number of programs that this process has loaded)` before it loads one
DESERIALIZING = """
import sys

class Compiler(TemplateCompiler):
    count = 0

    def deserialize(self, *arguments, **named):
        Compiler.count += 1
        when(Compiler.count)
        return super().deserialize(*arguments, **named)

put(compiler=Compiler)
"""


Find = Callable[[str], tuple[int, list[str]]]


@pytest.fixture
def find(put_backend: Put, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Find:
    """`find(when)` runs six programs on a backend with this function; returns the processes, and how each failed."""
    started: list[object] = []

    def noted(*arguments: Any) -> child_process.Outcome:
        started.append(arguments)
        return child_process.run_in_stages(*arguments)

    monkeypatch.setattr(other_process, "run_in_stages", noted)
    monkeypatch.setattr(other_process, "_SECONDS", 5.0)

    def find(when: str) -> tuple[int, list[str]]:
        backend = put_backend("loader", DESERIALIZING + when)
        with xla.Client(backend) as client:
            blobs = {p.name: client.compile(p.text).serialize() for p in FAMILY[:6]}
        found = run_in_other_process(backend, (), blobs, tmp_path, 0)
        assert found.keys() == blobs.keys()
        return len(started), [said if isinstance(said, str) else "right" for said in found.values()]

    return find


def test_the_refusal_of_each_costs_no_process(find: Find) -> None:
    when = (
        "def when(count):\n    from xla_core.errors import InternalError\n    raise InternalError(f'broken {count}')\n"
    )
    processes, said = find(when)
    assert processes == 1
    assert said == [f"raised InternalError: INTERNAL: broken {number}" for number in range(1, 7)]


def test_hangs_are_waited_for_twice(find: Find) -> None:
    processes, said = find("def when(count):\n    time.sleep(100)\n")
    assert processes == 2
    assert [text.splitlines()[0] for text in said[:2]] == ["hung: it did not end in 5 s"] * 2
    assert set(said[2:]) == {
        f"was not tried, as the process of {FAMILY[0]} and that of {FAMILY[1]} failed: that hung: it did not end in 5 s"
    }


def test_after_a_crash_the_others_run(find: Find, tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    crash = f"open({str(mark)!r}, 'w').close()\n        os.abort()"
    processes, said = find(
        f"def when(count):\n    if count == 2 and not os.path.exists({str(mark)!r}):\n        {crash}\n"
    )
    assert processes == 2
    assert said[1].startswith("ended the process by SIGABRT")
    assert said[:1] + said[2:] == ["right"] * 5
