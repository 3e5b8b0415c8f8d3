"""The errors of elementary functions in random programs come from the table of accuracy."""

from __future__ import annotations

import pytest

pytest.importorskip("flint")
pytest.importorskip("scipy")

from xla_conformance.accuracy.suite import all_checks

from tests.random_programs.functions import COMPLEX, GUARDED, GUARDED_COMPLEX, REAL, check_name, ulps
from xla_core.hlo import ElementType

OTHERS = ("divide", "power")  # what the generator asks about besides

ASKED = [
    *((opcode, ElementType.F32) for opcode in (*REAL, *GUARDED, *OTHERS, "atan2")),
    *((opcode, ElementType.C64) for opcode in (*COMPLEX, *GUARDED_COMPLEX, *OTHERS)),
]


def test_every_function_is_one_that_is_measured():
    measured = {(check.group, check.function) for check in all_checks()}
    assert [name for name in (check_name(*asked) for asked in ASKED) if name not in measured] == []


@pytest.mark.parametrize("strict", [False, True])
def test_every_function_has_a_bound_in_every_type(strict):
    kinds = {is_complex: [t for t in ElementType if t.is_complex == is_complex] for is_complex in (False, True)}
    for opcode, asked in ASKED:
        for element_type in kinds[asked.is_complex]:
            if element_type.is_floating or element_type.is_complex:
                assert ulps(opcode, element_type, strict) > 0


def test_a_function_without_a_bound_is_an_error(monkeypatch):
    monkeypatch.setattr("tests.random_programs.functions.bound", lambda *asked: None)
    with pytest.raises(LookupError, match="no bound for real tanh f32"):
        ulps.__wrapped__("tanh", ElementType.F32, True)
