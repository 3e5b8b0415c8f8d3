"""Output of the commands: results go to stdout, errors and progress to stderr."""

from __future__ import annotations

import contextlib
import errno
import itertools
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from xla_core.errors import (
    FailedPreconditionError,
    InvalidArgumentError,
    NotFoundError,
    ResourceExhaustedError,
    SourceLocation,
    XlaError,
    snippet,
)

if TYPE_CHECKING:
    import numpy as np
    from rich.console import Console

_PIPED = 240


def console(*, stderr: bool = False) -> Console:
    """A console on stdout, for results, or on stderr, for errors and progress.

    Lines that go to a file or a pipe are not wrapped at a terminal's width, so that `grep` finds them; COLUMNS sets
    another width. Each call makes a console, because tests replace stdout.
    """
    from rich.console import Console

    made = Console(stderr=stderr, highlight=False)
    if not made.is_terminal and "COLUMNS" not in os.environ:
        made.width = _PIPED
    return made


def print_error(error: XlaError) -> None:
    """Prints an error with its location, message, source line and hint, without a traceback."""
    from rich.text import Text

    text = Text()
    if error.location is not None:
        text.append(f"{error.location}: ", style="bold")
    text.append(f"{error.code.name}: ", style="bold red")
    text.append(error.message)
    if error.op is not None and error.op not in error.message:
        text.append(f" [op: {error.op}]")
    snippet = error.snippet or _source_line(error.location)
    if snippet:
        text.append(f"\n{snippet}", style="dim")
    if error.hint:
        text.append("\n  hint: ", style="bold cyan")
        text.append(error.hint)
    console(stderr=True).print(text, soft_wrap=True)


def _source_line(location: SourceLocation | None) -> str:
    """The source line of a location with a caret below its column, or "" if the file can't be read."""
    if location is None or not location.line:
        return ""
    try:
        with Path(location.file).open(encoding="utf-8") as file:
            line = next(itertools.islice(file, location.line - 1, None), "").rstrip()
    except (OSError, ValueError):
        return ""
    return snippet(line, max(location.column, 1)) if line else ""


def describe_array(array: np.ndarray) -> tuple[str, str]:
    """Two texts about an array: "minimum .. maximum, mean", and its first values."""
    import numpy as np

    if array.size == 0:
        return "", "[]"
    flat = array.reshape(-1)
    first = ", ".join(_number(v) for v in flat[:4]) + (", ..." if flat.size > 4 else "")
    if array.dtype.kind == "c":
        return f"mean {_number(flat.mean())}", f"[{first}]"
    wide = flat.astype(np.float64)
    finite = wide[np.isfinite(wide)]
    odd = wide.size - finite.size
    spread = f"{finite.min():.6g} .. {finite.max():.6g}, mean {finite.mean():.6g}" if finite.size else ""
    return spread + (f", {odd} not finite" if odd else ""), f"[{first}]"


def _number(value: object) -> str:
    text = str(value)
    try:
        return f"{value:.6g}" if "." in text or "e" in text else text
    except (TypeError, ValueError):
        return text


def write(content: str | bytes, path: Path | None) -> None:
    """Writes text or bytes to a file, or to stdout; refuses to write bytes to a terminal."""
    if path is None and isinstance(content, bytes) and sys.stdout.isatty():
        raise InvalidArgumentError("the output is binary and is not written to a terminal", hint="name a file: -o OUT")
    with writing(path):
        if path is not None:
            if isinstance(content, bytes):
                path.write_bytes(content)
            else:
                path.write_text(content)
        elif isinstance(content, str):
            sys.stdout.write(content if content.endswith("\n") else content + "\n")
        else:
            sys.stdout.buffer.write(content)
            sys.stdout.flush()


@contextlib.contextmanager
def writing(path: Path | None) -> Iterator[None]:
    """Turns an OSError inside the block into an XlaError that names the file; None means stdout."""
    try:
        yield
    except BrokenPipeError:
        raise  # the reader of the pipe closed it: no error
    except OSError as error:
        raise of_system(error, f"cannot write {path or 'the output'}") from error


def of_system(error: OSError, what: str) -> XlaError:
    """The XlaError for an OSError; `what` begins its message."""
    message = f"{what}: {error.strerror or error}"
    if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG) or _is_cut_short(error):
        return ResourceExhaustedError(message, hint="free some space, or name another file")
    kind = NotFoundError if isinstance(error, FileNotFoundError) else FailedPreconditionError
    return kind(message)


def _is_cut_short(error: OSError) -> bool:
    """Whether numpy reports that it wrote too few bytes. It doesn't say why; the usual cause is a full disk."""
    return error.errno is None and str(error).endswith(" written")


def flush() -> None:
    """Flushes stdout. If that fails, it raises and replaces stdout, so that Python's flush at exit doesn't fail too."""
    if sys.stdout is None or sys.stdout.closed:
        return
    try:
        with writing(None):
            sys.stdout.flush()
    except (OSError, XlaError):
        sys.stdout = open(os.devnull, "w")  # noqa: SIM115 - it stays open
        raise
