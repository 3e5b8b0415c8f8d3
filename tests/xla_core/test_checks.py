"""Checks of arguments, and hints."""

from __future__ import annotations

from xla_core.checks import did_you_mean

KNOWN = ["tan", "tanh", "transpose", "multiply"]


def test_the_likeliest_name_has_the_same_letters() -> None:
    assert did_you_mean("tahn", KNOWN) == "did you mean tanh, tan?"
    assert did_you_mean("tahn", KNOWN, 1) == "did you mean tanh?"
    assert did_you_mean("mulitply", KNOWN) == "did you mean multiply?"


def test_there_may_be_no_hint() -> None:
    assert did_you_mean("qqq", KNOWN) is None
    assert did_you_mean("tan" * 100, ["tan" * 100 + "h"]) is None
