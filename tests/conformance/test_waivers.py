"""Waivers of wrong results."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from pathlib import Path

import pytest
from xla_conformance.results import Result, State
from xla_conformance.waivers import Waiver, apply_waivers, read_waivers

from xla_core.cli import main
from xla_core.errors import InvalidArgumentError, NotFoundError

TODAY = datetime.date(2026, 6, 1)
RESULTS = [
    Result("test_ops.py::test_op[tanh-f32]", State.FAIL, message="wrong."),
    Result("test_ops.py::test_op[tanh-bf16]", State.TIMEOUT),
    Result("test_ops.py::test_op[sine-f32]", State.PASS),
    Result("test_ops.py::test_op[sine-f64]", State.NOT_SUPPORTED),
]


def waive(tests: str, expires: datetime.date = TODAY, *, complete: bool = True) -> list[Result]:
    waiver = Waiver(tests, "denormals", "https://acme.example/12", expires)
    return apply_waivers(RESULTS, [waiver], complete=complete, today=TODAY)


def test_wrong_results_are_waived() -> None:
    found = waive("test_ops.py::test_op[tanh-*]")
    assert [r.state for r in found] == [State.WAIVED, State.WAIVED, State.PASS, State.NOT_SUPPORTED]
    assert found[0].message == "wrong. Waived: denormals (https://acme.example/12; until 2026-06-01)"


@pytest.mark.parametrize(
    ("tests", "expires", "said"),
    [
        ("test_ops.py::test_op[cosine-*]", TODAY, "matches no test"),
        ("test_ops.py::test_op[sine-f64]", TODAY, "covers no wrong result"),
        ("test_ops.py::test_op[????-f32]", TODAY, "covers test_ops.py::test_op[sine-f32], which passes"),
        ("test_ops.py::test_op[tanh-*]", TODAY - datetime.timedelta(1), "expired on 2026-05-31"),
    ],
)
def test_a_waiver_that_is_not_right_is_a_failure(tests: str, expires: datetime.date, said: str) -> None:
    judged = waive(tests, expires)[-1]
    assert (judged.id, judged.state, judged.group) == (f"waivers::{tests}", State.FAIL, "waivers")
    assert said in judged.message


def test_an_expired_waiver_waives_nothing() -> None:
    assert waive("*tanh*", TODAY - datetime.timedelta(1))[0].state is State.FAIL


def test_a_selection_may_leave_out_what_is_waived() -> None:
    assert waive("test_ops.py::test_op[cosine-*]", complete=False) == RESULTS


FILE = """\
[[waiver]]
tests = "test_ops.py::test_op[negate-f32*]"
reason = "negate adds one"
link = "https://acme.example/12"
expires = 2999-12-31
"""
WRONG_NEGATE = """
class Kernel(HloKernel):
    def __init__(self, instruction, *rest):
        super().__init__(instruction, *rest)
        if "negate" in self.name:
            definition = self._run
            def wrong(stream, arguments):
                definition(stream, arguments)
                stream.executor.ram.block(arguments[-1].handle)[0] ^= 1
            self._run = wrong

import xla_backend_template.compiler as compiler
compiler.HloKernel = Kernel

@hookimpl
def xla_backend():
    return spec()
"""


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        (("reason", "cause"), "reason is missing"),
        (('"negate adds one"', "7"), "reason must be a str"),
        (("2999-12-31", '"soon"'), "expires must be a date"),
        (("https://acme.example/12", ""), "link is empty"),
        (("expires =", "owner = 'x'\nexpires ="), "owner is unknown"),
        (("[[waiver]]", "[[waivers]]"), "it takes [[waiver]] entries"),
        (("=", ""), "is not valid TOML"),
    ],
)
def test_a_file_that_is_not_valid(changes: tuple[str, str], said: str, tmp_path: Path) -> None:
    (tmp_path / "w.toml").write_text(FILE.replace(*changes))
    with pytest.raises(InvalidArgumentError) as caught:
        read_waivers(tmp_path / "w.toml")
    assert said in str(caught.value)
    with pytest.raises(NotFoundError):
        read_waivers(tmp_path / "none.toml")


def test_the_command_waives(
    put_backend: Callable[[str, str], str], tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "w.toml").write_text(FILE)
    words = [
        "conform",
        "--backend",
        put_backend("negating", WRONG_NEGATE),
        "-k",
        "test_op[negate-f32 or test_op[abs-f32",
    ]
    assert main(words) == 1
    assert main([*words, "--waivers", str(tmp_path / "w.toml")]) == 0
    out = " ".join(capfd.readouterr().out.split())
    assert "Waived: negate adds one (https://acme.example/12; until 2999-12-31)" in out
    assert "waived, in" in out
