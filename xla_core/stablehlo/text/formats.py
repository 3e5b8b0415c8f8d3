"""Looks up assembly formats in the op table and among the ops of other dialects."""

from __future__ import annotations

from xla_core.stablehlo.table.op_table import OPS
from xla_core.stablehlo.table.other_dialects import OTHER_OPS

__all__ = ["BARE_NAMES", "KNOWN_DIALECTS", "assembly_of", "is_known", "known_names"]

BARE_NAMES = {"call": "func.call", "func": "func.func", "module": "builtin.module", "return": "func.return"}
"""Names that may stand without their dialect."""

KNOWN_DIALECTS = ("stablehlo", "chlo")
"""Dialects whose every op is in the table."""


def assembly_of(name: str) -> str | None:
    """The assembly format of an op; None where there is no such op, or it has the generic form alone."""
    op = OPS.get(name) or OTHER_OPS.get(name)
    return None if op is None else op.assembly


def known_names() -> list[str]:
    """The names of all ops that may be written."""
    return [*(name for name in OPS if "." in name), *OTHER_OPS]


def is_known(name: str) -> bool:
    """Whether an op may be written in the generic form: any op of a dialect whose ops we don't list, too."""
    dialect, _, rest = name.partition(".")
    return name in OPS if dialect in KNOWN_DIALECTS else bool(rest)
