"""The command `xla`. Each command is a file in `commands`, which imports what it needs when it runs.

Commands of other distributions may use `options`, `programs` and `comparison`, as the ones here do.
"""

from __future__ import annotations

import faulthandler
import gc
import importlib
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from xla_core.cli.commands import COMMANDS_GROUP

if TYPE_CHECKING:
    from xla_core.cli import comparison as comparison
    from xla_core.cli import options as options
    from xla_core.cli import programs as programs
    from xla_core.cli.output import console as console
    from xla_core.cli.scaffold import Scaffold as Scaffold

__all__ = ["COMMANDS_GROUP", "Scaffold", "comparison", "console", "main", "options", "programs"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs one command. Returns its exit code: 0 for success, 1 for a negative answer, 2 for an error."""
    own_process = arguments is None
    if own_process:
        if sys.stderr is not None:
            faulthandler.enable()  # a crash in a driver or a kernel says where Python was
        gc.set_threshold(200_000)  # modules make fewer objects, and they live until the process ends
    from xla_core.cli.app import run  # `import xla_core.cli` costs nothing

    try:
        return run(arguments)
    finally:
        if own_process:
            gc.freeze()  # so that Python doesn't examine every object once more at exit


def __getattr__(name: str) -> Any:
    if name == "Scaffold":
        from xla_core.cli.scaffold import Scaffold

        return Scaffold
    if name == "console":
        from xla_core.cli.output import console

        return console
    if name in ("comparison", "options", "programs"):
        return importlib.import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
