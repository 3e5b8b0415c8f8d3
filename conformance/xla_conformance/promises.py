"""The sentences of the contract's docstrings, and which test of the suite names each promise.

`promises.toml` lists every sentence of the docstrings in `xla_core.backend`: those that a backend must keep, each with
an id, those that the core keeps, and those that only explain.

A test names a promise by a failure that it raises, `Failure(..., promise="stream.in-order")`. Those that its plain
assertions and exceptions are about it names by `@pytest.mark.promise("stream.in-order", ...)`. Neither has to repeat
the other.
"""

from __future__ import annotations

import ast
import dataclasses
import functools
import importlib.resources
import inspect
import re
import textwrap
import tomllib
from collections.abc import Iterator

import xla_core.backend

_SECTIONS = ("Args", "Attributes", "Raises", "Returns")


@dataclasses.dataclass(frozen=True, order=True)
class Sentence:
    """A sentence of the docstring of `member`: a module of the contract, a class, or "Class.method"."""

    member: str
    text: str


@dataclasses.dataclass(frozen=True)
class Promise:
    """A promise of every backend. `id` is its name in marks and reports."""

    id: str
    sentence: Sentence

    def __str__(self) -> str:
        return f"{self.sentence.member}: {self.sentence.text}"


def contract_sentences() -> list[Sentence]:
    """Returns every sentence of the docstrings in `xla_core.backend`, in the order of the files."""
    files = importlib.resources.files(xla_core.backend)
    found: list[Sentence] = []
    for file in sorted((f for f in files.iterdir() if f.name.endswith(".py")), key=lambda f: f.name):
        source = file.read_text(encoding="utf-8")
        name = file.name.removesuffix(".py")
        for member, docstring in _docstrings("backend" if name == "__init__" else name, source):
            if "._" not in member and not member.startswith("_"):
                found += [Sentence(member, text) for text in _sentences(docstring)]
    return found


def listed_sentences() -> list[Sentence]:
    """Returns every sentence that `promises.toml` lists, of all three kinds."""
    table = _table()
    plain = [Sentence(m, t) for kind in ("core", "explains") for m, texts in table[kind].items() for t in texts]
    return [promise.sentence for promise in PROMISES.values()] + plain


def named() -> dict[str, list[str]]:
    """Returns the tests of the suite that name each id, as "test_streams.py::test_order"."""
    tests: dict[str, list[str]] = {}
    for file in importlib.resources.files("xla_conformance").joinpath("suite").iterdir():
        if file.name.startswith("test_") and file.name.endswith(".py"):
            for id, test in _named(file.read_text(encoding="utf-8")):
                tests.setdefault(id, []).append(f"{file.name}::{test}")
    return tests


def uncovered() -> list[Promise]:
    """Returns the promises that no test of the suite names."""
    tests = named()
    return [promise for id, promise in PROMISES.items() if id not in tests]


# -- the docstrings ---------------------------------------------------------------------------------------------------


def _docstrings(module: str, source: str) -> Iterator[tuple[str, str]]:
    """Yields each public member of a module with its docstring. That of an attribute is the string after it."""
    tree = ast.parse(source)
    yield module, ast.get_docstring(tree) or ""
    for node in tree.body:
        if isinstance(node, ast.ClassDef):
            yield node.name, ast.get_docstring(node) or ""
            for member, after in zip(node.body, [*node.body[1:], None], strict=True):
                if isinstance(member, ast.FunctionDef):
                    yield f"{node.name}.{member.name}", ast.get_docstring(member) or ""
                elif isinstance(member, ast.AnnAssign) and isinstance(member.target, ast.Name):
                    yield f"{node.name}.{member.target.id}", _text(after)
        elif isinstance(node, ast.FunctionDef):
            yield node.name, ast.get_docstring(node) or ""


def _text(statement: ast.stmt | None) -> str:
    """The text of a statement that is a string alone."""
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant):
        return str(statement.value.value)
    return ""


def _sentences(docstring: str) -> Iterator[str]:
    """Splits a docstring into sentences. A sentence of an entry ("name: text") begins with the entry's name."""
    for paragraph in re.split(r"\n\s*\n", inspect.cleandoc(docstring)):
        head, _, rest = paragraph.partition("\n")
        if head.rstrip(":") in _SECTIONS and head.endswith(":"):
            for entry in re.split(r"\n(?=\S)", textwrap.dedent(rest)):
                name, _, text = entry.partition(":")
                yield from (f"{name}: {sentence}" for sentence in _split(text))
        else:
            yield from _split(paragraph)


def _split(text: str) -> list[str]:
    return [s for s in re.split(r"(?<=\.)\s+(?=[A-Z`])", " ".join(text.split())) if s]


# -- the table and the tests ------------------------------------------------------------------------------------------


@functools.cache
def _table() -> dict[str, dict[str, list[str]]]:
    text = importlib.resources.files("xla_conformance").joinpath("promises.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)


def _promises() -> dict[str, Promise]:
    entries = _table()["promises"].items()
    return {id: Promise(id, Sentence(*sentence)) for id, sentence in entries}


PROMISES = _promises()
"""All promises by id."""


def _named(source: str) -> Iterator[tuple[str, str]]:
    """Yields each id that a test names, with the test: by a mark of its own or of the module, or by a failure."""
    for node in ast.parse(source).body:
        test = node.name if isinstance(node, (ast.FunctionDef, ast.ClassDef)) else "all tests"
        marked = [id for part in ast.walk(node) for id in _marked(part)]
        texts = [
            part.value for part in ast.walk(node) if isinstance(part, ast.Constant) and isinstance(part.value, str)
        ]
        of_failures = [id for text in texts for id in text.split() if id in PROMISES]
        yield from ((id, test) for id in dict.fromkeys((*marked, *of_failures)))


def _marked(node: ast.AST) -> list[str]:
    if isinstance(node, ast.Call) and ast.unparse(node.func) == "pytest.mark.promise":
        return [str(ast.literal_eval(argument)) for argument in node.args]
    return []
