"""The commands, one file each. A command imports what it needs inside its function, so that `xla --help` is quick."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from xla_core.cli.commands.backends import backends, doctor
from xla_core.cli.commands.bench import bench
from xla_core.cli.commands.compile import compile_program
from xla_core.cli.commands.new import new
from xla_core.cli.commands.ops import ops
from xla_core.cli.commands.opt import opt
from xla_core.cli.commands.replay import replay
from xla_core.cli.commands.run import run
from xla_core.cli.commands.translate import translate

__all__ = ["COMMANDS"]

Command = Callable[..., Any]

COMMANDS: list[tuple[str, Command, dict[str, Any]]] = [
    ("run", run, {}),
    ("compile", compile_program, {}),
    ("translate", translate, {}),
    ("opt", opt, {}),
    ("ops", ops, {}),
    ("backends", backends, {}),
    ("doctor", doctor, {}),
    ("new", new, {}),
    ("replay", replay, {}),
    # the benchmarks read their own options, including --help
    ("bench", bench, {"allow_extra_args": True, "ignore_unknown_options": True, "help_option_names": []}),
]
"""Name, function and typer settings of each command, in the order of `xla --help`."""
