"""algebraic_simplifier: applies local rewrite rules until none matches.

A rule is an equation in `identities`, or a function whose docstring says what it rewrites. Each file here contains the
rules of one family of ops, and adds them to the table `RULES`, which is keyed by opcode.
(XLA: xla/hlo/transforms/simplifiers/algebraic_simplifier.h.)
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping

from xla_core.hlo.instruction import HloInstruction
from xla_core.hlo.module import HloModule
from xla_core.hlo.opcode import Opcode
from xla_core.passes.pass_manager import HloPass
from xla_core.passes.patterns import is_dynamic
from xla_core.passes.rewriter import Rewriter, Rule
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
from xla_core.passes.simplifiers.algebraic_simplifier.rule_table import FAST_RULES, RULES, rule

__all__ = ["FAST_RULES", "RULES", "RULE_FILES", "AlgebraicSimplifier", "AlgebraicSimplifierOptions", "rule"]

RULE_FILES = (arithmetic, identities, conversion, structure, movement, slicing, reduction, contraction)
"""The files of rules. Importing them fills the table."""


@dataclasses.dataclass(frozen=True, slots=True)
class AlgebraicSimplifierOptions:
    """Options of the algebraic simplifier.

    Attributes:
        fast_math: whether to apply rules that change rounding, NaN, infinities or the sign of zero.
        accept: whether a rule may add an instruction; after legalization, whether the target supports it.
        layout_sensitive: whether layouts are assigned, so that a replacement must have the same layout.
    """

    fast_math: bool = False
    accept: Callable[[HloInstruction], bool] | None = None
    layout_sensitive: bool = False


class AlgebraicSimplifier(HloPass):
    """Simplifies every computation to a fixed point."""

    name = "algebraic-simplifier"

    def __init__(self, options: AlgebraicSimplifierOptions | None = None) -> None:
        self.options = options or AlgebraicSimplifierOptions()
        self._rules = _chosen(self.options)

    def run(self, module: HloModule) -> bool:
        options, changed = self.options, False
        for computation in module.post_order():
            changed |= Rewriter(
                computation,
                self._rules,
                accept=options.accept,
                layout_sensitive=options.layout_sensitive,
                skip=_is_left_alone,
            ).run()
        return changed


def _is_left_alone(i: HloInstruction) -> bool:
    """Whether rules skip an instruction: it is dynamic, or f8e8m0fnu, which has no zero and no sign."""
    t = i.shape.element_type if i.shape.is_array else None
    return is_dynamic(i) or (t is not None and t.is_floating and not t.has_zero)


def _chosen(options: AlgebraicSimplifierOptions) -> Mapping[Opcode | None, list[Rule]]:
    if not options.fast_math:
        return RULES
    return {opcode: [*RULES.get(opcode, ()), *FAST_RULES.get(opcode, ())] for opcode in {**RULES, **FAST_RULES}}
