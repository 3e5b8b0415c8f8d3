"""A device without one of the primitive ops runs every stored program of JAX by fallback="host"."""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest

import xla_core as xla
from tests.programs import PROGRAMS, Program
from tests.xla_core.passes.host_offloading.restricted import Open, restricted
from tests.xla_core.passes.legalization.devices import PRIMITIVES
from xla_core.hlo.values.element_type import ElementType
from xla_core.target import Capabilities

FULL = Capabilities().with_ops(PRIMITIVES, [ElementType.F32, ElementType.S32, ElementType.PRED])
PAIRS = [(program, opcode) for program in PROGRAMS for opcode in PRIMITIVES]
SAMPLE = frozenset(random.Random(7).sample(range(len(PAIRS)), 40))
MOST_PARTS = 100


@pytest.fixture(scope="module")
def having() -> Iterator[Open]:
    with restricted() as opened:
        yield opened


@pytest.mark.parametrize(
    ("program", "opcode"),
    [
        pytest.param(*pair, id=f"{pair[0]}-{pair[1]}", marks=() if number in SAMPLE else pytest.mark.slow)
        for number, pair in enumerate(PAIRS)
    ],
)
@pytest.mark.filterwarnings("ignore:.*run on the host:RuntimeWarning")
def test_the_host_runs_what_is_missing(program: Program, opcode: str, having: Open) -> None:
    client = having(FULL.without_ops(opcode))
    executable = client.compile(program.text, xla.CompileOptions(fallback="host"))
    program.check(executable(*program.inputs()))
    placement = executable.placement()
    parts = {p.part for p in placement if p.on_host}
    assert len(parts) <= min(MOST_PARTS, max(len(placement), 1))
    assert all(p.reason for p in placement if p.on_host)
