"""Compares every op of the table, in each element type that the backend claims, with the reference evaluator."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial

import numpy as np
import pytest

from xla_conformance.chosen import may_be_chosen, passes_of
from xla_conformance.claims import held_types, not_supported
from xla_conformance.failures import Failure
from xla_conformance.ops import OpCase, generate
from xla_conformance.ops.case_runs import cases_run, placed_runs
from xla_conformance.ops.comparison import check, sentence_of
from xla_conformance.ops.contexts import Context, Placed, context_for, thorough_context_for
from xla_conformance.ops.executions import Before, before_for, device_for, run
from xla_conformance.ops.joint import BESIDE, JointPrograms, JointRuns
from xla_conformance.ops.names import words_of_cases
from xla_conformance.results import Unclaimed
from xla_core import Client
from xla_core.hlo import OPS, Opcode, Trait
from xla_core.target import TargetConfig

_FUNCTION = "test_ops.py::test_op"


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    config = metafunc.config
    chosen = config.getoption("keyword"), config.getoption("xla_test")
    opcodes = [o for o in OPS if may_be_chosen(_FUNCTION, f"{o}-", *chosen, words=partial(words_of_cases, o))]
    seed, shared = config.getoption("xla_seed"), config.getoption("xla_shared")
    programs = JointPrograms()
    parameters = {}
    for every_type in passes_of(config.getoption("xla_profile")):
        counts: Counter[str] = Counter()
        choose = thorough_context_for if every_type else context_for
        for case in generate(seed=seed, every_type=every_type, opcodes=opcodes, shared=shared):
            kind = f"{case.opcode} {case.element_type}" if every_type else str(case.opcode)
            context = choose(counts[kind], kind, often=0 if has_values(case.opcode) else 2)
            counts[kind] += 1
            name = f"{case.name}-{context}"
            if name not in parameters:
                program = programs.of(case, context)
                marks = [pytest.mark.joint(program)] if program else []
                parameters[name] = pytest.param(case, context, id=name, marks=marks)
    metafunc.parametrize(("case", "context"), parameters.values())


def has_values(opcode: Opcode) -> bool:
    """Whether `test_ops_values` has the op, in each type at level 2."""
    return OPS[opcode].is_elementwise and opcode is not Opcode.COPY


@pytest.fixture(scope="session")
def joint(client: Client) -> JointRuns:
    return JointRuns(client)


@pytest.fixture
def beside(request: pytest.FixtureRequest) -> Mapping[str, tuple[OpCase, Context]]:
    """The cases that run in one program with this test's, by name; none unless the test is the first of them."""
    found = {}
    for item in request.config.stash.get(BESIDE, ()):
        if isinstance(item, pytest.Function):
            case, context = item.callspec.params["case"], item.callspec.params["context"]
            assert isinstance(case, OpCase)
            assert isinstance(context, Context)
            found[case.name] = (case, context)
    return found


def test_op(
    backend: str,
    client: Client,
    target: TargetConfig,
    case: OpCase,
    context: Context,
    seed: int,
    request: pytest.FixtureRequest,
    joint: JointRuns,
    beside: Mapping[str, tuple[OpCase, Context]],
    record_property: Callable[[str, object], None],
) -> None:
    record_property("opcode", case.opcode)
    record_property("element_type", case.element_type.value)
    program = request.node.get_closest_marker("joint")
    before, device = before_for(program.args[0] if program else case.name), device_for(client, case.name)
    if beside:
        parts = {
            name: lambda c=c, at=at: placed_if_held(backend, target, cases_run(c, at, before), at)
            for name, (c, at) in beside.items()
        }
        joint.start(parts, device, before)
    if case.element_type not in held_types(backend):
        not_supported(f"the device holds no {case.element_type}", Unclaimed.ELEMENT_TYPE)
    if target.flushes_products and case.has_denormal_products:
        not_supported("the target declares that products take denormal numbers as zeros")
    cases = cases_run(case, context, before)
    expected = [one.expected() for one in cases]

    def compared(runs: Iterable[tuple[Placed, list[np.ndarray]]]) -> float:
        return max(
            check(
                f"{sentence_of(case.opcode, case.element_type, case.rule)}:",
                results,
                wanted,
                module=placed.module,
                arguments=placed.arguments,
                operands=one.operands,
                seed=seed,
            )
            for one, wanted, (placed, results) in zip(cases, expected, runs, strict=True)
        )

    together = joint.take(case.name)
    wrong: Failure | None = None
    if together is not None:
        try:
            record_property("max_ulp", compared(together))
            return
        except Failure as failure:
            wrong = failure
    placed = placed_runs(cases, context, target.layouts)
    deterministic = Trait.NONDETERMINISTIC not in OPS[case.opcode].traits
    try:
        kind: Before = "given" if len(placed) > 1 else before
        results = run(client, placed, device=device, deterministic=deterministic, before=kind)
        record_property("max_ulp", compared(zip(placed, results, strict=True)))
    except Exception as error:
        joint.is_wrong_alone(case.name, error)
        raise
    if wrong is not None:
        raise joint.wrong_together(wrong)
    joint.is_right_alone(case.name)


def placed_if_held(
    backend: str, target: TargetConfig, cases: Sequence[OpCase], context: Context
) -> list[Placed] | None:
    """Returns a program in its context, with the arguments of each case, unless programs of several can't have it.

    They can't have a type that the device doesn't hold, nor a module with aliases.
    """
    case = cases[-1]
    if case.element_type not in held_types(backend) or (target.flushes_products and case.has_denormal_products):
        return None
    placed = placed_runs(cases, context, target.layouts)
    module = placed[-1].module
    is_plain = all(shape.is_array and not shape.is_dynamic for shape in module.parameter_shapes)
    is_plain &= all(leaf.is_array and not leaf.is_dynamic for leaf in module.result_shape.leaves())
    return placed if is_plain and not module.input_output_aliases else None
