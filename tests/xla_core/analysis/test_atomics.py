"""Which ops are one atomic instruction."""

from __future__ import annotations

import pytest

from xla_core.analysis.atomics import has_atomic
from xla_core.hlo import OPS
from xla_core.hlo.values.element_type import ElementType as T
from xla_core.target import ParallelModel

MODEL = ParallelModel(atomic_bits=(32, 64))


@pytest.mark.parametrize(
    ("opcode", "element_type", "expected"),
    [
        ("add", T.S32, True),
        ("maximum", T.U64, True),
        ("xor", T.S64, True),
        ("multiply", T.S32, False),
        ("add", T.S16, False),  # it is a part of the narrowest word
        ("add", T.F32, True),
        ("add", T.F64, True),
        ("maximum", T.F32, False),
        ("add", T.BF16, False),
        ("add", T.C64, False),
        ("and", T.PRED, False),
    ],
)
def test_the_ops_that_most_processors_have(opcode: str, element_type: T, expected: bool) -> None:
    assert has_atomic(OPS[opcode], element_type, MODEL) == expected
