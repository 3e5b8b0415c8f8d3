"""The texts, inputs and expected outputs of stored programs fit each other, and JAX agrees with them."""

from __future__ import annotations

import re

import numpy as np
import pytest

from tests.programs import PROGRAMS, Program
from tests.programs.arrays import ArraySpec
from tests.programs.transformer import training_step_text

ALL = pytest.mark.parametrize("program", PROGRAMS, ids=str)


@ALL
def test_text_inputs_and_results_agree(program: Program) -> None:
    main = re.search(r"func\.func public @main\((.*?)\) -> (.*)\{$", program.text, re.MULTILINE)
    assert main is not None
    assert main[1].count("tensor<") == len(program.inputs())
    assert main[2].count("tensor<") == len(program.expected())
    assert program.path.stat().st_size < 70_000
    assert not re.search(r'loc\("(/|[A-Z]:)', program.text), "a location names a path of one machine"


@ALL
def test_results_depend_on_something(program: Program) -> None:
    """An all-zero gradient would mean that the source differentiates by something its loss does not use."""
    results = [result for result in program.expected() if result.dtype.kind in "fc" and result.size > 1]
    if program.name != "empty_and_scalar":
        assert all(np.any(result != 0) for result in results)


def test_check_refuses_wrong_results() -> None:
    program = next(program for program in PROGRAMS if program.name == "sorts")
    right = program.expected()
    program.check(right)
    for wrong in (right[:-1], [right[0] + 1e-3, *right[1:]], [right[0], right[1].astype(np.int64), *right[2:]]):
        with pytest.raises(AssertionError):
            program.check(wrong)


def test_inputs_are_the_same_everywhere() -> None:
    np.testing.assert_array_equal(ArraySpec((4,), "int32", -5, 5).make("a"), [-5, -2, 4, -2])
    np.testing.assert_array_equal(ArraySpec((2,)).make("a"), [0.12831902503967285, -0.6718909740447998])


@pytest.mark.parametrize(
    "program",
    [
        pytest.param(program, id=program.name, marks=[] if index % 8 == 0 else [pytest.mark.slow])
        for index, program in enumerate(PROGRAMS)
    ],
)
def test_jax_computes_the_expected_results_from_the_text(program: Program) -> None:
    jax = pytest.importorskip("jax")
    xla_client = pytest.importorskip("jaxlib.xla_client")
    device = jax.devices("cpu")[0]
    devices = xla_client.DeviceList((device,))
    executable = device.client.compile_and_load(program.text, devices, xla_client.CompileOptions())
    with jax.enable_x64(True):
        arguments = [jax.device_put(array, device) for array in program.inputs()]
        results = executable.execute_sharded(arguments).disassemble_into_single_device_arrays()
        program.check([shards[0] for shards in results])


def test_transformer_is_as_long_as_promised() -> None:
    pytest.importorskip("jax")
    text = training_step_text(layers=2)
    assert 1_000 < len(text.splitlines()) < 4_000
    assert "stablehlo.dot_general" in text
