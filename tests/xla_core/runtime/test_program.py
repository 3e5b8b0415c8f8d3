"""Which reader a program is for."""

from __future__ import annotations

import numpy as np
import pytest

import xla_core
from xla_core.errors import InvalidArgumentError
from xla_core.runtime.programs.program import is_hlo_text
from xla_core.stablehlo import PolymorphicProgram, lower, parse_text, write_portable_artifact

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


def test_the_tree_of_a_program_is_lowered_or_written_first():
    closed = parse_text(STABLEHLO)
    opened = parse_text(STABLEHLO.replace("tensor<f32>", "tensor<?xf32>"))
    x = np.ones(2, np.float32)
    client = xla_core.Client("cpu")
    for given, said in (
        (closed, "xla_core.stablehlo.lower(module)"),
        (opened, "xla_core.stablehlo.write_portable_artifact(module)"),
        (PolymorphicProgram(opened), "xla_core.stablehlo.write_portable_artifact(module)"),
        (3, "text, bytes, or an HloModule"),
    ):
        for call in (xla_core.parse, client.compile, lambda program: xla_core.evaluate(program, x)):
            with pytest.raises(InvalidArgumentError, match=f"{type(given).__name__} is not a program") as caught:
                call(given)
            assert said in caught.value.hint
    assert xla_core.evaluate(lower(closed), x[0])[0] == 1
    artifact = write_portable_artifact(opened)
    assert xla_core.evaluate(artifact, x)[0].shape == (2,)
    assert np.asarray(client.compile(artifact)(x)[0]).shape == (2,)
