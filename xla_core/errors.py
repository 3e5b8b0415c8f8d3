"""The errors of xla-core: subclasses of `XlaError`, one for each status code.

An error has a status code with absl's name and number, and, if known, the op, its location in the user's program, and a
hint about what to do next.
"""

from __future__ import annotations

import dataclasses
import enum

__all__ = [
    "AlreadyExistsError",
    "CancelledError",
    "DeadlineExceededError",
    "FailedPreconditionError",
    "InternalError",
    "InvalidArgumentError",
    "NotFoundError",
    "ResourceExhaustedError",
    "SourceLocation",
    "StatusCode",
    "UnavailableError",
    "UnimplementedError",
    "XlaError",
    "as_xla_error",
    "error_of_status",
    "snippet",
]


class StatusCode(enum.Enum):
    """Names and numbers of absl::StatusCode, which PJRT uses too."""

    CANCELLED = 1
    UNKNOWN = 2
    INVALID_ARGUMENT = 3
    DEADLINE_EXCEEDED = 4
    NOT_FOUND = 5
    ALREADY_EXISTS = 6
    RESOURCE_EXHAUSTED = 8
    FAILED_PRECONDITION = 9
    UNIMPLEMENTED = 12
    INTERNAL = 13
    UNAVAILABLE = 14


@dataclasses.dataclass(frozen=True, slots=True)
class SourceLocation:
    """A place in the text of a program, or in the user's source that a `loc(...)` names.

    `line` and `column` count from 1; 0 means unknown. `name` is the op's name stack ("jit(step)/conv1/add").
    """

    file: str = ""
    line: int = 0
    column: int = 0
    name: str = ""

    def __str__(self) -> str:
        place = self.file or "<input>" if self.line or self.file else ""
        if self.line:
            place += f":{self.line}" + (f":{self.column}" if self.column else "")
        if self.name and place:
            return f"{place} ({self.name})"
        return place or self.name or "<unknown>"


def snippet(line: str, column: int) -> str:
    """Returns about 160 characters of a program's line at most, with a caret below its `column` (from 1)."""
    first = max(0, column - 1 - 100)
    head = "..." if first else ""
    tail = "..." if len(line) - first > 160 else ""
    shown = line[first : first + 160].replace("\t", " ").rstrip()
    return f"  {head}{shown}{tail}\n  {' ' * (len(head) + column - 1 - first)}^"


_ESCAPED = {code: f"\\x{code:02x}" for code in (*range(32), 127) if chr(code) not in "\n\t"}
"""Control characters of programs and file names, which a terminal would execute and a log would take for binary data.
"""


class XlaError(Exception):
    """The base class of every error that xla-core raises deliberately.

    Args:
        message: what is wrong, in one sentence.
        op: the op or instruction that the error is about.
        location: its place in the user's program; None, or an empty one, where it isn't known.
        hint: what to do next.
        snippet: the offending line with a caret below it, if a reader raised the error.
    """

    code = StatusCode.UNKNOWN

    def __init__(
        self,
        message: str,
        *,
        op: str | None = None,
        location: SourceLocation | None = None,
        hint: str | None = None,
        snippet: str | None = None,
    ) -> None:
        self.message = message
        self.op = op
        self.location = None if location == SourceLocation() else location
        self.hint = hint
        self.snippet = snippet
        super().__init__(message)

    def __str__(self) -> str:
        return self._text(f"{self.code.name}: ")

    @property
    def text_without_code(self) -> str:
        """The text without the code, for callers that print both."""
        return self._text("")

    def _text(self, code: str) -> str:
        text = f"{code}{self.message}"
        if self.location is not None:
            text = f"{self.location}: {text}"
        if self.op is not None and self.op not in self.message:
            text += f" [op: {self.op}]"
        if self.snippet:
            text += f"\n{self.snippet}"
        if self.hint:
            text += f"\n  hint: {self.hint}"
        return text.translate(_ESCAPED)

    def __reduce__(self) -> tuple[object, ...]:
        return (_rebuild, (type(self), self.message, vars(self)))


def _rebuild(cls: type[XlaError], message: str, state: dict[str, object]) -> XlaError:
    error = cls(message)
    error.__dict__.update(state)
    return error


class CancelledError(XlaError):
    code = StatusCode.CANCELLED


class InvalidArgumentError(XlaError):
    code = StatusCode.INVALID_ARGUMENT


class DeadlineExceededError(XlaError):
    code = StatusCode.DEADLINE_EXCEEDED


class NotFoundError(XlaError):
    code = StatusCode.NOT_FOUND


class AlreadyExistsError(XlaError):
    code = StatusCode.ALREADY_EXISTS


class ResourceExhaustedError(XlaError):
    code = StatusCode.RESOURCE_EXHAUSTED


class FailedPreconditionError(XlaError):
    code = StatusCode.FAILED_PRECONDITION


class UnimplementedError(XlaError):
    code = StatusCode.UNIMPLEMENTED


class InternalError(XlaError):
    code = StatusCode.INTERNAL


class UnavailableError(XlaError):
    code = StatusCode.UNAVAILABLE


def as_xla_error(error: BaseException, what: str) -> XlaError:
    """Returns `error` itself if it is an XlaError, else an InternalError with `error` as its cause."""
    if isinstance(error, XlaError):
        return error
    wrapped = InternalError(f"{what} failed with {type(error).__name__}: {error}")
    wrapped.__cause__ = error
    return wrapped


def error_of_status(code: int, message: str) -> XlaError:
    """Makes the error of a status that another program describes by its code, an absl::StatusCode, and its text."""
    for kind in XlaError.__subclasses__():
        if kind.code.value == code:
            return kind(message)
    error = XlaError(message)
    error.code = StatusCode(code) if code in StatusCode._value2member_map_ else StatusCode.UNKNOWN
    return error
