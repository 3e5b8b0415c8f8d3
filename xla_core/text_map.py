"""TextMap: the lines and columns of a program's text."""

from __future__ import annotations

import bisect
import re

from xla_core.errors import SourceLocation, snippet


class TextMap:
    """Converts offsets in a text to lines and columns. The table of lines is made at the first use."""

    __slots__ = ("_starts", "file", "source")

    def __init__(self, source: str, file: str) -> None:
        self.source = source
        self.file = file
        self._starts: list[int] | None = None

    def location(self, offset: int) -> SourceLocation:
        """Returns file, line and column (both from 1) of an offset."""
        if self._starts is None:
            self._starts = [0, *(m.end() for m in re.finditer("\n", self.source))]
        line = bisect.bisect_right(self._starts, offset)
        return SourceLocation(self.file, line, offset - self._starts[line - 1] + 1)

    def snippet(self, offset: int) -> str:
        """Returns the line of an offset (at most about 160 characters of it), with a caret below."""
        start = self.source.rfind("\n", 0, offset) + 1
        end = self.source.find("\n", offset)
        return snippet(self.source[start : len(self.source) if end < 0 else end], offset - start + 1)
