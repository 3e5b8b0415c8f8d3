"""A mistake in a mutant's Python is told from what the mutant raises on purpose, and from errors of the suite."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from tests.conformance.zoo.own_mistakes import mistake_in, mistake_in_text
from xla_core.errors import as_xla_error

PRINTED = """\
Traceback (most recent call last):
  File "/repository/xla_core/runtime/client.py", line 12, in compile
    return self.platform.compiler
  File "/repository/tests/conformance/zoo/mutants/loading.py", line 44, in create_compiler
    return self.compiler_clas()
           ^^^^^^^^^^^^^^^^^^
AttributeError: 'Opens' object has no attribute 'compiler_clas'
"""


def _raised(work) -> Exception:
    with pytest.raises((AttributeError, KeyError, TypeError)) as found:
        work()
    return found.value


def _misspelt() -> object:
    return SimpleNamespace(size=1).sise


def _on_purpose() -> None:
    raise TypeError("a fault")


def test_a_misspelt_name_is_a_mistake() -> None:
    assert "no attribute 'sise'" in mistake_in(_raised(_misspelt))
    assert "test_own_mistakes.py" in mistake_in(_raised(_misspelt))


def test_the_cause_of_an_error_may_be_a_mistake() -> None:
    assert "no attribute 'sise'" in mistake_in(as_xla_error(_raised(_misspelt), "work"))


def test_what_is_raised_on_purpose_is_none() -> None:
    assert mistake_in(_raised(_on_purpose)) == ""
    assert mistake_in(_raised(lambda: {}["s64"])) == ""
    assert mistake_in(None) == ""


def test_a_printed_traceback_may_show_a_mistake() -> None:
    assert mistake_in_text(PRINTED) == (
        "loading.py:44: `return self.compiler_clas()`: AttributeError: 'Opens' object has no attribute 'compiler_clas'"
    )
    as_pytest = "tests/conformance/zoo/mutants/loading.py:44: in f\n    g()\nE   NameError: name 'g' is not defined\n"
    assert "NameError" in mistake_in_text(as_pytest)
    assert mistake_in_text(PRINTED.replace("return self.compiler_clas()", "raise AttributeError(1)")) == ""
    assert mistake_in_text(PRINTED.replace("zoo/mutants/loading", "suite/test_loading")) == ""
