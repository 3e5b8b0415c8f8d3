"""Options of the simplifier; the rules are tested in algebraic_simplifier/*.hlo."""

from __future__ import annotations

import numpy as np

from xla_core.hlo.parsing.parser import parse_hlo
from xla_core.passes.simplifiers.algebraic_simplifier import (
    FAST_RULES,
    RULE_FILES,
    RULES,
    AlgebraicSimplifier,
    AlgebraicSimplifierOptions,
)

X = "x = f32[4,6] parameter(0)\n"


def test_accept_undoes_rules_whose_instructions_may_not_be():
    module = parse_hlo(
        "HloModule m\nENTRY e {\n"
        + X
        + "a = f32[4,6] negate(x)\ny = f32[4,6] parameter(1)\nROOT r = f32[4,6] add(y, a)\n}"
    )
    options = AlgebraicSimplifierOptions(accept=lambda i: i.opcode != "subtract")
    assert not AlgebraicSimplifier(options).run(module)
    assert [i.opcode for i in module.entry.instructions] == ["parameter", "negate", "parameter", "add"]


def test_the_entrys_result_keeps_its_layout():
    module = parse_hlo(
        "HloModule m, entry_computation_layout={(f32[2,3]{1,0})->f32[2,3]{0,1}}\n"
        "ENTRY e {\n x = f32[2,3]{1,0} parameter(0)\n a = f32[2,3]{1,0} negate(x)\n ROOT r = f32[2,3] negate(a)\n}"
    )
    AlgebraicSimplifier().run(module)
    assert str(module.result_shape) == "f32[2,3]{0,1}"
    assert str(module.entry.parameters[0].shape) == "f32[2,3]{1,0}"


def test_a_divisor_whose_reciprocal_is_infinite_stays():
    module = parse_hlo(
        f"HloModule m\nENTRY e {{\n {X} s = f32[] constant(1.4693679e-39)\n k = f32[4,6] broadcast(s), dimensions={{}}\n"
        " ROOT r = f32[4,6] divide(x, k)\n}"
    )
    with np.errstate(all="raise"):  # nor does numpy warn
        assert not AlgebraicSimplifier().run(module)


def test_every_rule_is_in_the_table_and_says_what_it_does():
    assert len(RULE_FILES) == 8
    for table in (RULES, FAST_RULES):
        for rules in table.values():
            for rule in rules:
                assert rule.__doc__, rule
