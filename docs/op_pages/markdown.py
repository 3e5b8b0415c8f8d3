"""Markdown: tables, blocks of code, folded notes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

__all__ = ["details", "fenced", "table"]


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *([cell.replace("|", "\\|") for cell in row] for row in rows)]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def fenced(language: str, text: str) -> str:
    return f"```{language}\n{text.strip()}\n```"


def details(kind: str, title: str, body: str) -> str:
    """A section that is folded until the reader opens it."""
    indented = "\n".join(f"    {line}" if line else "" for line in body.splitlines())
    quoted = title.replace('"', "'")
    return f'??? {kind} "{quoted}"\n\n{indented}'
