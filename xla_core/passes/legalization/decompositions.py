"""Loads the decompositions of the core, in the order in which legalization tries them."""

from __future__ import annotations

import functools
import importlib
from collections.abc import Sequence

from xla_core.hlo.opcode import Opcode
from xla_core.passes.legalization.rules import DECOMPOSITIONS
from xla_core.passes.rewriter import Rule

_MODULES = (
    "complex_numbers",
    "convolution",
    "elementary",
    "elementwise",
    "fourier",
    "integer_power",
    "remainder",
    "rounding",
    "sorting",
    "expansions",
    "structured",
)


def decompositions_of(opcode: Opcode) -> Sequence[Rule]:
    """The decompositions of an op. The first call imports them all, which most programs don't need."""
    _load()
    return tuple(DECOMPOSITIONS.get(opcode, ()))


@functools.cache
def _load() -> None:
    for module in _MODULES:
        importlib.import_module(f"xla_core.passes.legalization.{module}")
