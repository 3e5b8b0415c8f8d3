"""Which op runs in which element type: `xla conform --support-matrix`.

The example of each op (`xla_core.stablehlo.op_example`) runs in every element type on one subject, a backend or the
reference evaluator. A cell has the result of the run; there is no cell for a program that the verifier refuses.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from xla_conformance.support.cells import ELEMENT_TYPES as ELEMENT_TYPES
    from xla_conformance.support.cells import CellState as CellState
    from xla_conformance.support.matrix import SupportMatrix as SupportMatrix
    from xla_conformance.support.matrix import measure_support as measure_support

_LAZY = {"CellState": "cells", "ELEMENT_TYPES": "cells", "SupportMatrix": "matrix", "measure_support": "matrix"}

__all__ = ["ELEMENT_TYPES", "CellState", "SupportMatrix", "measure_support"]


def __getattr__(name: str) -> Any:
    if name not in _LAZY:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_LAZY[name]}"), name)
