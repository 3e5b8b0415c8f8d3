"""Results of one run: each has its own memory, also when others are deleted or donated."""

from __future__ import annotations

import numpy as np
import pytest

from xla_conformance.bench import compiled
from xla_conformance.bits import require_bits
from xla_conformance.family_program import FamilyProgram
from xla_conformance.programs.family import FAMILY, FLOW
from xla_core import Client

SEVERAL = [p for p in (*FAMILY, *FLOW) if sum(leaf.is_array for leaf in p.module.entry.root.shape.leaves()) > 1]


@pytest.mark.promise("executable.results-distinct", "executable.arguments-kept")
@pytest.mark.parametrize("program", SEVERAL, ids=str)
def test_a_result_outlives_the_others(client: Client, program: FamilyProgram, random: np.random.Generator) -> None:
    """The results are deleted one by one, and new arrays of their size take the memory that becomes free."""
    executable = compiled(client, program)
    values = program.arguments(random)
    expected = program.results(values)
    for order in (range(len(expected)), range(len(expected))[::-1]):
        arguments = [client.buffer_from_host(v) for v in values]
        results = list(executable.execute(arguments))
        later = []  # buffers that live as long as the test
        for number, index in enumerate(order):
            results[index].delete()
            later.append(client.buffer_from_host(~np.frombuffer(expected[index].tobytes(), np.uint8)))
            left = [i for i in range(len(expected)) if i not in order[: number + 1]]
            require_bits(
                "A result keeps its values after another one was deleted.",
                [np.asarray(results[i]) for i in left],
                [expected[i] for i in left],
                module=program.text,
                arguments=values,
                promise="executable.results-distinct",
            )
        kept = [i for i, argument in enumerate(arguments) if not argument.is_deleted()]
        require_bits(
            "An argument that isn't donated keeps its values after the results were deleted.",
            [np.asarray(arguments[i]) for i in kept],
            [values[i] for i in kept],
            module=program.text,
            promise="executable.arguments-kept",
        )
