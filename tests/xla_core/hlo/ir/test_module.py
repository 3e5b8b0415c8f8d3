from __future__ import annotations

import pickle
from collections.abc import Callable

import pytest

import xla_core as xla
from xla_core.errors import InvalidArgumentError
from xla_core.hlo import HloInstruction, HloModule, Opcode

TEXT = "HloModule m ENTRY e { x = f32[2] parameter(0) ROOT y = f32[2] sine(x) }"


@pytest.mark.parametrize("part", [lambda m: m, lambda m: m.entry, lambda m: m.entry.root])
def test_pickle_says_what_to_send(part: Callable[[HloModule], object]) -> None:
    with pytest.raises(InvalidArgumentError, match=r"can't be pickled\n.*to_text"):
        pickle.dumps(part(xla.parse(TEXT)))


def test_an_opcode_may_be_given_as_text() -> None:
    instruction = HloInstruction("sine", xla.parse(TEXT).entry.root.shape)
    assert instruction.opcode is Opcode.SINE
