"""Finds the value of a `stablehlo.constant`."""

from __future__ import annotations

import numpy as np

from xla_core.stablehlo import ir
from xla_core.stablehlo.ir.attributes import DenseElements

__all__ = ["constant_of"]


def constant_of(value: ir.Value) -> np.ndarray | None:
    """The value of a `stablehlo.constant`, None for what any other op makes."""
    owner = value.owner
    if not isinstance(owner, ir.Op) or owner.name != "stablehlo.constant":
        return None
    elements = owner.attributes.get("value")
    return elements.array if isinstance(elements, DenseElements) else None
