"""The table of decompositions. The modules of this package fill it when an instruction first needs one.

A decomposition is a `Rule`: (instruction, builder) -> replacement, or None if it doesn't apply. The instructions that
it adds may be decomposed in turn, down to the ops that the op table marks PRIMITIVE.
"""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable, Sequence

from xla_core.hlo.table.opcode import Opcode
from xla_core.passes.rewriter import Rule

DECOMPOSITIONS: dict[Opcode, list[Rule]] = {}
"""The decompositions of an op, in the order in which legalization tries them."""

_NEEDS: dict[Rule, frozenset[Opcode]] = {}

_MODULES = (
    "complex_numbers",
    "convolution",
    "dynamic_slices",
    "elementwise",
    "fourier",
    "gathers",
    "integer_power",
    "reductions",
    "remainder",
    "rounding",
    "scatters",
    "select_and_scatter",
    "sorting",
    "expansions",
    "structured",
)


def decomposition(*opcodes: Opcode, needs: Sequence[Opcode] = ()) -> Callable[[Rule], Rule]:
    """Adds a rule to the table, to be tried after those that are there already.

    The rule applies only to targets that support the ops of `needs`. Therefore each of two ops may be decomposed into
    the other.
    """

    def register(rule: Rule) -> Rule:
        _NEEDS[rule] = frozenset(needs)
        for opcode in opcodes:
            DECOMPOSITIONS.setdefault(opcode, []).append(rule)
        return rule

    return register


def decompositions_of(opcode: Opcode) -> Sequence[Rule]:
    """The decompositions of an op. The first call imports them all, which most programs don't need."""
    _load()
    return tuple(DECOMPOSITIONS.get(opcode, ()))


def needs_of(rule: Rule) -> frozenset[Opcode]:
    """The ops that the target must have itself for a rule; a target's own rule needs none."""
    return _NEEDS.get(rule, frozenset())


@functools.cache
def _load() -> None:
    for module in _MODULES:
        importlib.import_module(f"xla_core.passes.legalization.{module}")
