"""Names of instructions and of computations that are alike, or that mean something to a code generator."""

from __future__ import annotations

import numpy as np
import pytest

from xla_conformance.programs.alike_names import ALIKE, program_of_names
from xla_core import Client, CompileOptions


@pytest.mark.promise("executable.run", "compiler.run-backend")
@pytest.mark.parametrize("level", [0, 2])
@pytest.mark.parametrize("how", ALIKE)
def test_names_that_are_alike(client: Client, how: str, level: int, random: np.random.Generator) -> None:
    named = program_of_names(how)
    executable = client.compile(named.module, CompileOptions(optimization_level=level))
    values = named.arguments(random)
    named.require_results(
        f"Equal ops whose names are alike ({how}) give results of their own.", executable(*values), values
    )
