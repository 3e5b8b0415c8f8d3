"""The example program of every StableHLO op, on devices that lack ops."""

from __future__ import annotations

import functools
import random
from collections.abc import Callable, Iterator, Sequence

import numpy as np
import pytest
from xla_conformance.subjects import EvaluatorSubject
from xla_conformance.support.cells import ANY, ELEMENT_TYPES, Cell, CellState, run_cell

import xla_core as xla
from tests.xla_core.passes.host_offloading.restricted import Open, restricted
from tests.xla_core.passes.legalization.devices import PRIMITIVES
from xla_core.hlo.table.op_table import OPS as HLO_OPS
from xla_core.hlo.table.op_table import Trait
from xla_core.hlo.values.element_type import ElementType
from xla_core.hlo.verifier import verify
from xla_core.passes import PassContext, default_pipeline
from xla_core.passes.legalization import decompositions_of, unsupported_instructions
from xla_core.stablehlo import op_example
from xla_core.stablehlo.table.op_table import OPS
from xla_core.target import Capabilities, TargetConfig

T = ElementType
FEW = Capabilities().with_ops(PRIMITIVES, [T.F32, T.S32, T.PRED])
COLUMNS = ("f32", "i32", "i1", ANY)
CARRIED = {T.PRED, T.TOKEN, *(t for t in T if (t.is_integral or t.is_floating) and t.bit_width <= 32)}
"""The types of a device that has f32, s32 and pred, those that it carries in them, and tokens, which have no value."""
ELSEWHERE = {Trait.COLLECTIVE, Trait.ASYNC, Trait.HOST_TRANSFER, Trait.PER_DEVICE}
OUTSIDE = {"infeed", "outfeed", "custom-call", "rng", "rng-get-and-update-state"}
"""Ops that reach outside of the program."""

LONG = {f"chlo.{broadcast}{op}" for op in ("zeta", "polygamma") for broadcast in ("", "broadcast_")}
"""Ops that become thousands of instructions."""


class Legalized:
    """Compiles programs for a target, and evaluates what the passes made of them."""

    def __init__(self, capabilities: Capabilities) -> None:
        self.target = TargetConfig(name="few", capabilities=capabilities)

    def run_replicas(
        self,
        module: xla.HloModule,
        rows: Sequence[Sequence[np.ndarray]],
        infeed: Sequence[tuple[np.ndarray, ...]] = (),
    ) -> list[list[np.ndarray]]:
        PassContext(invariants=[verify]).run(default_pipeline(self.target), module, ())
        assert not unsupported_instructions(module, self.target.supports)
        return EvaluatorSubject().run_replicas(module, rows, infeed)


class OnHost:
    """Runs programs on a simulated device whose lacks the host makes up for."""

    def __init__(self, client: xla.Client) -> None:
        self.client = client
        self.reasons: list[str] = []

    def run_replicas(
        self,
        module: xla.HloModule,
        rows: Sequence[Sequence[np.ndarray]],
        infeed: Sequence[tuple[np.ndarray, ...]] = (),
    ) -> list[list[np.ndarray]]:
        executable = self.client.compile(module, xla.CompileOptions(fallback="host"))
        self.reasons = [p.reason for p in executable.placement() if p.on_host]
        return [[np.asarray(result) for result in executable(*rows[0])]]


def sampled(names: Sequence[str], count: int) -> list[object]:
    """Test parameters, all but a sample of `count` marked slow."""
    chosen = random.Random(14).sample([name for name in names if name not in LONG], count)
    return [pytest.param(name, marks=() if name in chosen else pytest.mark.slow) for name in names]


@functools.cache
def parsed(name: str, column: str) -> xla.HloModule | None:
    """An op's example in the type of a column; None where it has none."""
    example = op_example(name)
    element = "" if column == ANY else ELEMENT_TYPES[column]
    if ("$T" in example.text) == (column == ANY) or (element and example.types and element not in example.types):
        return None
    try:
        return xla.parse(example.program(element or "f32"))
    except xla.InvalidArgumentError:
        return None


def what_is_missing(module: xla.HloModule) -> set[str]:
    """The ops and element types for which neither the primitive ops nor carrying types can stand."""
    instructions = [i for c in module.computations for i in c.instructions]
    types = {leaf.element_type for i in instructions for leaf in i.shape.leaves()}
    ops = {i.opcode for i in instructions if not ELSEWHERE.isdisjoint(i.op.traits) or i.opcode in OUTSIDE}
    return {*ops, *(t.value for t in types - CARRIED)}


@pytest.fixture(scope="module")
def having() -> Iterator[Open]:
    with restricted() as opened:
        yield opened


@pytest.mark.parametrize("name", sampled(list(OPS), 50))
@pytest.mark.filterwarnings("ignore:.*run on the host:RuntimeWarning")
def test_the_primitive_ops_compute_it_or_the_host_does(name: str, having: Callable[[Capabilities], xla.Client]) -> None:
    modules = {column: made for column in COLUMNS if (made := parsed(name, column)) is not None}
    for column, module in modules.items():
        cell = run_cell(Legalized(FEW), name, column)
        missing = what_is_missing(module)
        if not missing:
            assert cell == Cell(CellState.PASS), column
        if cell.state is CellState.PASS:
            continue
        assert cell.state is CellState.UNSUPPORTED, (column, cell.reason)
        assert "there is no " in cell.reason or "the device holds no " in cell.reason
        traits = {trait for c in module.computations for i in c.instructions for trait in i.op.traits}
        if op_example(name).devices == 1 and traits.isdisjoint(ELSEWHERE) and name != "stablehlo.custom_call":
            subject = OnHost(having(FEW))
            assert run_cell(subject, name, column) == Cell(CellState.PASS), column
            assert subject.reasons
            assert all(subject.reasons)


WITHOUT = [name for name, op in HLO_OPS.items() if Trait.PRIMITIVE not in op.traits and decompositions_of(name)]
"""The ops that the core computes by others."""

NOT_OF_STABLEHLO = {"scaled-dot", "stochastic-convert", "dynamic-reshape", "fusion"}
"""HLO ops that no example has: the tests of their decompositions have programs of them."""


@functools.cache
def examples() -> dict[str, list[tuple[str, str]]]:
    """HLO op -> the examples that have it, and their columns."""
    found: dict[str, dict[tuple[str, str], None]] = {}
    for name in OPS:
        for column in (*COLUMNS, "c64"):
            module = parsed(name, column)
            if module is None or name in LONG:
                continue
            instructions = [i for c in module.computations for i in c.instructions]
            types = {leaf.element_type for i in instructions for leaf in i.shape.leaves()}
            opcodes = {i.opcode for i in instructions}
            if types & {T.C64, T.C128}:
                opcodes -= {"real", "imag"}  # what a device that holds pairs must have
            for opcode in opcodes:
                found.setdefault(opcode, {})[name, column] = None
    return {opcode: list(cells) for opcode, cells in found.items()}


def test_every_op_has_an_example() -> None:
    assert {opcode for opcode in WITHOUT if opcode not in examples()} == NOT_OF_STABLEHLO


@pytest.mark.parametrize("opcode", sampled([name for name in WITHOUT if name not in NOT_OF_STABLEHLO], 30))
def test_a_device_without_one_op_runs_its_examples(opcode: str) -> None:
    subject = Legalized(Capabilities.all_of(without=[opcode]))
    assert examples()[opcode]
    for name, column in examples()[opcode][:6]:
        assert run_cell(subject, name, column) == Cell(CellState.PASS), (name, column)
