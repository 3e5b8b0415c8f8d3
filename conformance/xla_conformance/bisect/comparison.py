"""Compares the results of whole programs as `xla run --check` does, and those of an instruction by its op's rule."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from xla_conformance.accuracy.real_functions.formats import format_of
from xla_conformance.failures import Failure
from xla_conformance.ops.comparison import Expected, Rule, check, wide_type, within
from xla_conformance.ops.comparison_complex import expected_of_complex
from xla_conformance.ops.domains import DOMAINS
from xla_core.cli import comparison
from xla_core.hlo import (
    ElementType,
    EvaluationContext,
    HloComputation,
    HloInstruction,
    Value,
    compare_arrays,
    extract_module,
    flatten_value,
)

_SMALL = 12  # elements of an operand that is shown whole
_FOR_ANY_VALUES = ("bits", "exact", "ulp")
"""The kinds of rules that hold for all operands, the strictest first. The others suit the suite's own operands."""


def first_difference(actual: Sequence[np.ndarray], expected: Sequence[np.ndarray], exact: Sequence[bool]) -> str:
    """Describes the first result that differs by more than the tolerance of whole programs; "" if none does.

    Args:
        exact: for each result, whether it must be equal.
    """
    if len(actual) != len(expected):
        return f"there are {len(actual)} results, {len(expected)} are expected"
    for number, (got, wanted) in enumerate(zip(actual, expected, strict=True)):
        if got.shape != wanted.shape or got.dtype != wanted.dtype:
            return f"result {number} is {got.dtype}{list(got.shape)}, not {wanted.dtype}{list(wanted.shape)}"
        tolerance = comparison.tolerance_for(ElementType.from_numpy(wanted.dtype), exact[number])
        difference = compare_arrays(got, wanted, tolerance)
        if not difference.equal:
            return f"result {number}: {difference}"
    return ""


def rule_of(instruction: HloInstruction) -> Rule | None:
    """Returns the rule by which the suite compares the op; None where that depends on the operands, as for sums."""
    element_type = _element_type(instruction)
    if element_type is None:
        return None
    domains = DOMAINS.get(instruction.opcode, [])
    fitting = [d for d in domains if d.types is None or element_type in d.types] or domains
    rules = [domain.rule(element_type) for domain in fitting]
    if not rules or any(rule.kind not in _FOR_ANY_VALUES for rule in rules):
        return None
    return max(rules, key=lambda rule: (_FOR_ANY_VALUES.index(rule.kind), rule.factor))


def instruction_difference(
    instruction: HloInstruction,
    operands: Sequence[Value],
    actual: Sequence[np.ndarray],
    expected: Sequence[np.ndarray],
) -> str:
    """Describes the first result of an instruction alone that its op's rule doesn't allow; "" if there is none.

    Where an op has no rule for all operands, its results have the tolerance of whole programs.

    Args:
        actual: the leaves of the device's result.
        expected: those of the evaluator's.
    """
    rule = rule_of(instruction)
    leaves = [leaf for value in operands for leaf in flatten_value(value)]
    if rule is None:
        difference = first_difference(actual, expected, comparison.exact_results(extract_module(instruction)))
        return difference and difference + _operands(leaves, [])
    try:
        right = _expected(instruction, operands, expected, rule)
        check(f"the rule of {instruction.opcode} is {rule}.", actual, right, operands=lambda number: leaves)
    except Failure as failure:
        return str(failure) + _operands(leaves, failure.operands)
    return ""


def _operands(leaves: Sequence[np.ndarray], elements: Sequence[str]) -> str:
    """Says the operands: whole where they are small, such as indices, else by the element at the wrong one's place."""
    whole = [
        "" if leaf.size > _SMALL else np.array2string(leaf, separator=",").replace("\n", "")
        for leaf in map(np.asarray, leaves)
    ]
    there = [*elements, *[""] * len(leaves)]
    said = [f"{number}: {small or element}" for number, (small, element) in enumerate(zip(whole, there, strict=False))]
    shown = [text for text in said if not text.endswith(": ")]
    return f" Operands there: {'; '.join(shown)}." if shown else ""


def _element_type(instruction: HloInstruction) -> ElementType | None:
    """Returns the type of the operands, without a predicate of other operands; an iota's is that of its result."""
    shapes = [o.shape for i, o in enumerate(instruction.operands) if i != instruction.op.predicate_operand]
    leaves = [leaf for shape in (*shapes, instruction.shape) for leaf in shape.array_leaves()]
    return leaves[0].element_type if leaves else None


def _expected(
    instruction: HloInstruction, operands: Sequence[Value], values: Sequence[np.ndarray], rule: Rule
) -> list[Expected]:
    if rule.is_exact:
        made = [Expected(v, nan_bits=rule.kind == "bits") for v in values]
        result = instruction.shape.element_type if instruction.shape.is_array else None
        if rule.kind == "bits" or result is None or not result.is_floating or format_of(result).has_nan:
            return made
        return [Expected(made[0].value, free=np.isnan(_in_wide_types(instruction, operands, {result})))]
    source, result = _element_type(instruction), instruction.shape.element_type
    assert source is not None
    wide = _in_wide_types(instruction, operands, {source, result})
    if source.is_complex:
        return [expected_of_complex(instruction.opcode.value, [np.asarray(o) for o in operands], wide, result, rule)]
    return [within(wide, rule, result)]


def _in_wide_types(instruction: HloInstruction, operands: Sequence[Value], types: set[ElementType]) -> np.ndarray:
    """Evaluates an instruction of arrays with these element types replaced by their wide types."""
    change = {t: wide_type(t) for t in types}
    shapes = [o.shape for o in (*instruction.operands, instruction)]
    *inner, outer = [s.with_element_type(change.get(s.element_type, s.element_type)) for s in shapes]
    entry = HloComputation("wide")
    parameters = [entry.parameter(number, shape) for number, shape in enumerate(inner)]
    with np.errstate(all="ignore"):
        widened = [np.asarray(o).astype(shape.dtype) for o, shape in zip(operands, inner, strict=True)]
        (value,) = flatten_value(EvaluationContext().evaluate(instruction.clone(parameters, shape=outer), widened))
    return np.asarray(value)
