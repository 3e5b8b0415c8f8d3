"""Which reader a program is for."""

from __future__ import annotations

import pytest

import xla_core
from xla_core.errors import InvalidArgumentError
from xla_core.runtime.program import is_hlo_text

STABLEHLO = "func.func @main(%a: tensor<f32>) -> tensor<f32> { return %a : tensor<f32> }\n"
HLO = "HloModule m\nENTRY e { ROOT p = f32[] parameter(0) }\n"


@pytest.mark.parametrize(
    "before", ["", " \n\t", "// HloModule\n", "/* HloModule */", "/**/ " * 1000, "// a\n/* b\n */ // c\n"]
)
def test_hlo_text_is_told_by_its_first_word(before):
    assert is_hlo_text(before + HLO)
    assert not is_hlo_text(before + STABLEHLO)
    assert xla_core.parse(before + HLO).parameter_shapes


@pytest.mark.parametrize("program", [HLO, STABLEHLO])
def test_a_lone_surrogate_is_no_text(program):
    assert xla_core.parse(program + "// \udcff\n").parameter_shapes
    with pytest.raises(InvalidArgumentError, match=r"character \d+ is a lone surrogate, '\\ud800'") as caught:
        xla_core.parse(program + "// \ud800\n", file="a.txt")
    assert caught.value.location is not None
    assert caught.value.location.file == "a.txt"
