"""The places where an op is defined and tested."""

from __future__ import annotations

import functools
import inspect
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from xla_core import hlo, stablehlo

__all__ = ["ROOT", "place_of", "source_of", "tests_of"]

ROOT = Path(__file__).parents[2]


def place_of(function: Callable[..., Any]) -> str:
    """Returns a place such as `xla_core/hlo/ops/movement.py:120`, or an empty string if the source is not ours."""
    try:
        file = Path(inspect.getsourcefile(function) or "").resolve()
        line = inspect.getsourcelines(function)[1]
        return f"`{file.relative_to(ROOT).as_posix()}:{line}`"
    except (OSError, TypeError, ValueError):
        return ""


def source_of(function: Callable[..., Any]) -> str:
    try:
        return inspect.cleandoc("\n" + inspect.getsource(function))
    except (OSError, TypeError):
        return ""


def tests_of(name: str) -> str:
    always = "tests/xla_core/stablehlo/reference/test_op_examples.py" if name in stablehlo.OPS else "tests/xla_core/hlo"
    files = list(dict.fromkeys([always, *_mentions().get(name, [])]))
    shown = ", ".join(f"`{f}`" for f in files[:8])
    more = f" and {len(files) - 8} more" if len(files) > 8 else ""
    return f"Tests: {shown}{more}."


@functools.cache
def _mentions() -> dict[str, list[str]]:
    """Finds the test files of each op: StableHLO's by full name, HLO's as an opcode in HLO text or in quotes."""
    found: dict[str, list[str]] = {}
    opcodes = re.compile(r"(?<![\w.-])(" + "|".join(sorted(map(re.escape, hlo.OPS), key=len, reverse=True)) + r")[(\"]")
    for file in sorted([*(ROOT / "tests").rglob("*.py"), *(ROOT / "conformance").rglob("*.hlo")]):
        text = file.read_text()
        names = {n for n in re.findall(r"(?:stablehlo|chlo)\.[\w-]*\w", text) if n in stablehlo.OPS}
        for name in names | set(opcodes.findall(text)):
            found.setdefault(name, []).append(file.relative_to(ROOT).as_posix())
    return found
