"""algebraic_simplifier: applies local rewrite rules until none matches.

A rule is an equation in `identities`, or a function whose docstring says what it rewrites. Each file here contains the
rules of one family of ops, and adds them to the table `RULES`, which is keyed by opcode.
(XLA: xla/hlo/transforms/simplifiers/algebraic_simplifier.h.)
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping

from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.hlo.table.opcode import Opcode
from xla_core.hlo.values.element_type import ElementType
from xla_core.passes.patterns import is_dynamic
from xla_core.passes.rewriter import RewritePass, Rule
from xla_core.passes.simplifiers.algebraic_simplifier import (
    arithmetic,
    contraction,
    conversion,
    identities,
    movement,
    reduction,
    slicing,
    structure,
)
from xla_core.passes.simplifiers.algebraic_simplifier.rule_table import FAST_RULES, RULES

RULE_FILES = (arithmetic, identities, conversion, structure, movement, slicing, reduction, contraction)
"""The files of rules. Importing them fills the table."""


@dataclasses.dataclass(frozen=True, slots=True)
class AlgebraicSimplifierOptions:
    """Options of the algebraic simplifier.

    Attributes:
        fast_math: whether to apply rules that change rounding, NaN, infinities or the sign of zero.
        accept: whether a rule may add an instruction; after legalization, whether the target supports it.
    """

    fast_math: bool = False
    accept: Callable[[HloInstruction], bool] | None = None


class AlgebraicSimplifier(RewritePass):
    """Simplifies every computation to a fixed point."""

    def __init__(self, options: AlgebraicSimplifierOptions | None = None) -> None:
        options = options or AlgebraicSimplifierOptions()
        super().__init__(options.accept)
        self.rules = _chosen(options)

    def skips(self, instruction: HloInstruction) -> bool:
        """Rules also skip f8e8m0fnu, which has no zero and no sign."""
        shape = instruction.shape
        return (shape.is_array and shape.element_type is ElementType.F8E8M0FNU) or is_dynamic(instruction)


def _chosen(options: AlgebraicSimplifierOptions) -> Mapping[Opcode, list[Rule]]:
    if not options.fast_math:
        return RULES
    return {opcode: [*RULES.get(opcode, ()), *FAST_RULES.get(opcode, ())] for opcode in {**RULES, **FAST_RULES}}
