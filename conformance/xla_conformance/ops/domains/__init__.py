"""The domains of all ops: those that each module of this folder makes. A new module needs no entry in a list."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Mapping, Sequence

from xla_conformance.ops.domain import REGISTERED, Domain
from xla_core.hlo import Opcode

for _module in pkgutil.iter_modules(__path__):  # by name, so in the same order everywhere
    importlib.import_module(f"{__name__}.{_module.name}")

DOMAINS: Mapping[Opcode, Sequence[Domain]] = REGISTERED
"""The domains of each opcode."""
