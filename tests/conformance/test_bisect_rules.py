"""Tests of the rules by which `xla bisect` compares single instructions: the reference evaluator obeys each."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from xla_conformance.bisect.comparison import first_difference, instruction_difference, rule_of
from xla_conformance.ops.contexts import ALONE
from xla_conformance.ops.domains import DOMAINS
from xla_conformance.ops.element_types import EVERY
from xla_conformance.ops.elementwise import ValueCase
from xla_conformance.ops.elementwise_forms import forms

from xla_core.hlo import OPS, EvaluationContext, HloInstruction, Opcode, Trait, Value, flatten_value

ELEMENTWISE = [o for o in OPS if Trait.ELEMENTWISE in OPS[o].traits and o in DOMAINS and o is not Opcode.MAP]


def instructions(opcode: Opcode) -> Iterator[tuple[HloInstruction, tuple[Value, ...], list[np.ndarray]]]:
    """Yields instructions of the op in each type, with operands in which special values meet, and their results."""
    context = EvaluationContext()
    for element_type in EVERY:
        for form in forms(OPS[opcode], element_type):
            if form.scalars or form.constant is not None:
                continue
            case = ValueCase(form, ALONE, 0, least=0)
            with np.errstate(all="ignore"):  # converting special values overflows
                (arguments,) = case.arguments()
            root = case.module().entry.root
            made = root.operand(0) if root.opcode == Opcode.TUPLE else root
            operands = tuple(arguments[o.parameter_number] for o in made.operands)
            with np.errstate(all="ignore"):
                yield made, operands, flatten_value(context.evaluate(made, operands))
            break


@pytest.mark.parametrize("opcode", ELEMENTWISE, ids=str)
def test_the_evaluator_obeys_the_rule_of_each_elementwise_op(opcode: Opcode) -> None:
    for made, operands, results in instructions(opcode):
        assert rule_of(made) is not None
        assert instruction_difference(made, operands, results, results) == "", str(made)


@pytest.mark.parametrize("opcode", [Opcode.MULTIPLY, Opcode.TANH, Opcode.COPY, Opcode.CONVERT], ids=str)
def test_a_result_that_breaks_the_rule_is_described(opcode: Opcode) -> None:
    for made, operands, results in instructions(opcode):
        if made.shape.element_type.value != "f32":
            continue
        rule = rule_of(made)
        assert rule is not None
        for _ in range(int(rule.factor) + 2):
            results = [np.nextafter(r, np.float32(0)) for r in results]
        with np.errstate(all="ignore"):
            expected = flatten_value(EvaluationContext().evaluate(made, operands))
        said = instruction_difference(made, operands, results, expected)
        assert said.startswith(f"the rule of {opcode} is {rule}. ")
        assert "got" in said


def test_what_no_op_rounds_differently_is_compared_exactly() -> None:
    got, wanted = np.float32([0.01, 1e6]), np.float32([0, 1e6])
    assert first_difference([got], [wanted], [False]) == ""
    assert first_difference([got], [wanted], [True]).startswith("result 0: 1 of 2 wrong")


def test_sums_and_control_flow_have_the_tolerance_of_programs() -> None:
    for opcode in (Opcode.REDUCE, Opcode.DOT, Opcode.WHILE, Opcode.FUSION, Opcode.CHOLESKY):
        (domain, *_) = DOMAINS[opcode]
        choice = next(iter(domain.choices(0, every_type=False)))
        module = domain.program(choice, choice.type).module
        made = next(i for c in module.computations for i in c.instructions if i.opcode == opcode)
        assert rule_of(made) is None
