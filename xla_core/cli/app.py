"""The command line: xla-core's own commands, those of other distributions, and the handling of errors."""

from __future__ import annotations

import importlib.metadata
import inspect
import re
import sys
import traceback
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from typing import Annotated, Any

import typer
import typer.core

from xla_core.cli.commands import COMMANDS, COMMANDS_GROUP, CONFORMANCE_COMMANDS
from xla_core.cli.output import flush, of_system, print_error
from xla_core.errors import FailedPreconditionError, InternalError, NotFoundError, ResourceExhaustedError, XlaError

DEBUG = "--debug"


class _Commands(Mapping[str, Any]):
    """The typer commands of xla-core and of entry points by name. Each is loaded when it is first used."""

    def __getitem__(self, name: str) -> Any:
        point = COMMANDS.get(name) or _contributed().get(name)
        if point is not None:
            return _load(point)
        if name in CONFORMANCE_COMMANDS:
            raise NotFoundError(
                f"the command {name!r} belongs to the distribution xla-conformance, which is not installed",
                hint="pip install xla-conformance",
            )
        raise KeyError(name)

    def __iter__(self) -> Iterator[str]:
        return iter([*COMMANDS, *sorted(_contributed().keys() - COMMANDS.keys())])

    def __len__(self) -> int:
        return len(COMMANDS.keys() | _contributed().keys())


class _Group(typer.core.TyperGroup):
    def __init__(self, **attributes: Any) -> None:
        super().__init__(**attributes)
        self.commands: Any = _Commands()


def _contributed() -> dict[str, importlib.metadata.EntryPoint]:
    return {point.name: point for point in importlib.metadata.entry_points(group=COMMANDS_GROUP)}


@cache
def _load(point: importlib.metadata.EntryPoint) -> Any:
    """Returns the typer command of an entry point, or a command that raises the reason why it doesn't load."""
    try:
        function = point.load()
        return _command(point.name, function, getattr(function, "context_settings", None))
    except Exception as error:  # another distribution may raise any exception, which must not break the other commands
        cause = error

    def broken() -> None:
        owner = point.dist.metadata["Name"] if point.dist is not None else point.value
        raise FailedPreconditionError(
            f"the command {point.name!r} of {owner} does not load: {type(cause).__name__}: {cause}",
            hint=f"reinstall or uninstall {owner}",
        ) from cause

    broken.__doc__ = f"(does not load: {type(cause).__name__}: {cause})"
    return _command(point.name, broken, {"allow_extra_args": True, "ignore_unknown_options": True})


def _command(name: str, function: Callable[..., Any], settings: dict[str, Any] | None) -> Any:
    single = typer.Typer(add_completion=False)
    single.command(name, context_settings=settings, help=_help(function))(function)
    return typer.main.get_command(single)


def _help(function: Callable[..., Any]) -> str | None:
    """The docstring with each paragraph on one line, which the terminal wraps. Indented lines stay as they are."""
    text = inspect.getdoc(function)
    return None if text is None or "\b" in text else re.sub(r"(?<=\S)\n(?=\S)", " ", text)


app = typer.Typer(
    name="xla",
    cls=_Group,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    help="Compile, run and check programs on any installed backend.",
)


def _print_version(wanted: bool) -> None:
    if wanted:
        from xla_core import __version__

        typer.echo(f"xla-core {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", help="Print the version and exit.", is_eager=True, callback=_print_version)
    ] = False,
    debug: Annotated[
        bool, typer.Option(DEBUG, help="Show the traceback of an error. May stand anywhere on the line.")
    ] = False,
) -> None:
    pass


def run(arguments: Sequence[str] | None = None) -> int:
    words = list(sys.argv[1:] if arguments is None else arguments)
    debug = DEBUG in words
    code = _run([word for word in words if word != DEBUG], debug)
    try:
        flush()
    except BrokenPipeError:
        return code or 1
    except XlaError as error:
        if code in (0, 1):  # otherwise an error was already printed
            _print(error, debug)
        return code if code > 1 else 2
    return code


def _run(words: list[str], debug: bool) -> int:
    try:
        with warnings.catch_warnings():
            warnings.showwarning = _show_warning
            app(args=words, prog_name="xla")
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    except XlaError as error:
        _print(error, debug)
        return 2
    except Exception as error:  # an error of the system, or any exception of a driver
        _print(_described(error), debug)
        return 2
    except KeyboardInterrupt:
        typer.echo("interrupted", err=True)
        return 130
    return 0


def _show_warning(
    message: Warning | str, category: type[Warning], filename: str, lineno: int, *_: object, **__: object
) -> None:
    """Prints a warning without the line of the source that gave it."""
    typer.echo(f"warning: {message}", err=True)


def _print(error: XlaError, debug: bool) -> None:
    """Prints the error; with --debug, the traceback of the exception that is being handled."""
    if debug:
        traceback.print_exc()
    else:
        print_error(error)


def _described(error: Exception) -> XlaError:
    """An XlaError for another exception, with a system error's reason and file, or else the line that raised it."""
    hint = "--debug shows the traceback"
    if isinstance(error, MemoryError):
        return ResourceExhaustedError(f"out of memory{f': {error}' if str(error) else ''}", hint=hint)
    if isinstance(error, OSError) and (error.filename is not None or error.errno is not None):
        found = of_system(error, error.filename or "cannot read or write a file or the output")
        found.hint = found.hint or hint
        return found
    frames = traceback.extract_tb(error.__traceback__)
    where = f" (raised in {frames[-1].filename}:{frames[-1].lineno})" if frames else ""
    return InternalError(f"{type(error).__name__}: {error}{where}", hint=hint)
