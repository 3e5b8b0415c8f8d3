"""The commands, one file each. A command imports what it needs inside its function, so that `xla --help` is quick."""

from __future__ import annotations

from importlib.metadata import EntryPoint

__all__ = ["COMMANDS", "COMMANDS_GROUP", "CONFORMANCE_COMMANDS"]

COMMANDS_GROUP = "xla_core.commands"
"""Entry points of this group add commands: an entry point has the command's name and refers to a typer function.

The function's attribute `context_settings`, if it has one, holds typer's settings of the command."""

_FUNCTIONS = {
    "run": "run:run",
    "compile": "compile:compile_program",
    "aot": "aot:aot",
    "translate": "translate:translate",
    "opt": "opt:opt",
    "ops": "ops:ops",
    "plan": "plan:plan",
    "backends": "backends:backends",
    "doctor": "backends:doctor",
    "new": "new:new",
    "replay": "replay:replay",
    "pjrt": "pjrt:pjrt",
    "bench": "bench:bench",
}
COMMANDS = {name: EntryPoint(name, f"{__name__}.{function}", COMMANDS_GROUP) for name, function in _FUNCTIONS.items()}
"""The function of each command, in the order of `xla --help`."""

CONFORMANCE_COMMANDS = ("accuracy", "bisect", "conform")
"""Commands that the conformance suite adds by entry points, if it is installed."""
