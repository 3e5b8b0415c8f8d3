"""EmulatorFault: the error of a kernel that an engine found, with its place."""

from __future__ import annotations

import enum

from xla_core.errors import SourceLocation, StatusCode, XlaError


class FaultKind(enum.StrEnum):
    """The kinds of faults. The fast engine finds out-of-bounds, misaligned, barrier divergence, endless and trap."""

    OUT_OF_BOUNDS = "out-of-bounds"
    MISALIGNED = "misaligned"
    UNINITIALIZED = "uninitialized"
    SHARED_MEMORY_RACE = "shared-memory race"
    GLOBAL_MEMORY_RACE = "global-memory race"
    BARRIER_DIVERGENCE = "barrier divergence"
    UNFINISHED = "unfinished product"
    MISSING_FENCE = "missing fence"
    ENDLESS = "endless"
    TRAP = "trap"


class EmulatorFault(XlaError):
    """A kernel's fault: its kind, and the instruction and the thread that caused it.

    Attributes:
        kind: what happened.
        kernel: the kernel's name.
        line: the line of the PTX text, from 1; 0 if no single line is the cause.
        text: that line.
        block, thread: (x, y, z) of the block in the grid, and of the thread in its block.
        computes: the computation at that place, such as an instruction of HLO as text; "" if it is not known.
        location: the place in the program that a `.loc` directive names.
    """

    code = StatusCode.INTERNAL

    def __init__(
        self,
        kind: FaultKind,
        detail: str,
        *,
        kernel: str = "",
        line: int = 0,
        text: str = "",
        block: tuple[int, int, int] = (0, 0, 0),
        thread: tuple[int, int, int] = (0, 0, 0),
        computes: str = "",
        location: SourceLocation | None = None,
    ) -> None:
        self.kind, self.kernel, self.line, self.text, self.block, self.thread = kind, kernel, line, text, block, thread
        self.detail, self.computes = detail, computes
        of = f", which computes `{computes}`," if computes else ""
        place = f" at line {line} of its PTX, `{text}`" if line else ""
        super().__init__(
            f"{kind}: {detail}; thread {_triple(thread)} of block {_triple(block)} of kernel {kernel}{of}{place}",
            op=kernel,
            location=location,
        )

    def replace(self, **fields: object) -> EmulatorFault:
        """Returns the fault with other attributes."""
        return _rebuild(self.kind, self.detail, {name: getattr(self, name) for name in _FIELDS} | fields)

    def __reduce__(self) -> tuple[object, ...]:
        return (_rebuild, (self.kind, self.detail, {name: getattr(self, name) for name in _FIELDS}))


_FIELDS = ("kernel", "line", "text", "block", "thread", "computes", "location")


def _rebuild(kind: FaultKind, detail: str, fields: dict[str, object]) -> EmulatorFault:
    return EmulatorFault(kind, detail, **fields)  # type: ignore[arg-type]


def _triple(index: tuple[int, int, int]) -> str:
    return f"({', '.join(map(str, index))})"
