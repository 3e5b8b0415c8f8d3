"""What mkdocs puts into pages when it builds them: tables that the code itself knows.

A line `<!-- table: NAME -->` in a page is replaced by the text of `TABLES[NAME]`; `<!-- reference: PACKAGE -->` by the
documentation of every name in the package's `__all__`.
"""

from __future__ import annotations

import importlib
import inspect
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

__all__ = ["TABLES", "expand", "on_page_markdown"]

_TABLE = re.compile(r"^<!-- table: ([\w-]+) -->$", re.MULTILINE)
_PLAIN = {"COLUMNS": "100", "TERMINAL_WIDTH": "100", "NO_COLOR": "1", "TERM": "dumb"}
_REFERENCE = re.compile(r"^<!-- reference: ([\w.]+) -->$", re.MULTILINE)


def on_page_markdown(markdown: str, **_: Any) -> str:
    """The hook that mkdocs calls."""
    return expand(markdown)


def expand(markdown: str) -> str:
    """A page with its tables and references in place. KeyError for a table that there isn't."""
    markdown = _TABLE.sub(lambda found: TABLES[found[1]](), markdown)
    return _REFERENCE.sub(lambda found: reference(found[1]), markdown)


def reference(package: str) -> str:
    """A mark of mkdocstrings for each public name of a package."""
    module = importlib.import_module(package)
    return "\n\n".join(f"::: {package}.{name}" for name in module.__all__)


def summary(documented: object) -> str:
    """The first sentence of a docstring, on one line."""
    doc = inspect.getdoc(documented) or ""
    paragraph = " ".join(doc.split("\n\n")[0].split())
    return re.split(r"(?<=[.:]) (?=[A-Z])", paragraph)[0]


def passes() -> str:
    """Every pass that `xla opt --passes` knows."""
    from xla_core.passes import PASSES, HloPassPipeline, create_pass

    rows = []
    for name in sorted(PASSES):
        made = create_pass(name)
        source = PASSES[name]
        if isinstance(made, HloPassPipeline) and isinstance(source, str):
            module, _, function = source.partition(":")
            documented = getattr(importlib.import_module(f"xla_core.passes.{module}"), function)
        else:
            documented = type(made)
        rows.append((f"`{name}`", summary(documented)))
    return table(("pass", "what it does"), rows)


def pipeline() -> str:
    """The core's pipeline for a target that can do everything, as it prints itself."""
    from xla_core.passes import default_pipeline
    from xla_core.target import Capabilities, TargetConfig

    whole = default_pipeline(TargetConfig(name="any", capabilities=Capabilities.all_of()))
    return f"```text\n{whole.describe()}\n```"


def flags(model_name: str) -> Callable[[], str]:
    """A table of the flags of a model of `xla_core.config`."""

    def make() -> str:
        from xla_core import config

        model = getattr(config, model_name)
        documented = attributes(model)
        rows = [
            (f"`--{name}`", f"`{str(field.default).lower() if field.default != '' else 'none'}`", documented[name])
            for name, field in model.model_fields.items()
        ]
        return table(("flag", "default", "meaning"), rows)

    return make


def compile_options() -> str:
    """A table of the fields of CompileOptions."""
    from xla_core import CompileOptions

    documented = attributes(CompileOptions)
    rows = [
        (f"`{name}`", f"`{field.get_default(call_default_factory=True)!r}`", documented[name])
        for name, field in CompileOptions.model_fields.items()
    ]
    return table(("field", "default", "meaning"), rows)


def status_codes() -> str:
    """A table of the kinds of error."""
    import xla_core as xla

    kinds = [value for name in xla.__all__ if inspect.isclass(value := getattr(xla, name))]
    errors = [kind for kind in kinds if issubclass(kind, xla.XlaError) and kind is not xla.XlaError]
    rows = [
        (f"`{kind.code.name}`", str(kind.code.value), f"`{kind.__name__}`")
        for kind in sorted(errors, key=lambda kind: kind.code.value)
    ]
    return table(("code", "number", "Python"), rows)


def commands() -> str:
    """The help of every command of `xla` that this environment has."""
    import typer
    from typer.testing import CliRunner

    from xla_core.cli.app import app

    group: Any = typer.main.get_command(app)
    parts = []
    for name in group.list_commands(None):
        shown = CliRunner().invoke(app, [name, "--help"], prog_name="xla", env=_PLAIN).output
        parts.append(f"### xla {name}\n\n```text\n{inspect.cleandoc(shown)}\n```")
    return "\n\n".join(parts)


def attributes(documented: object) -> Mapping[str, str]:
    """The `Attributes:` of a docstring, by name; one entry may name several."""
    doc = inspect.getdoc(documented) or ""
    section = doc.split("Attributes:\n", 1)[1]
    found: dict[str, str] = {}
    for entry in re.split(r"\n(?=    \w)", "\n" + section):
        names, colon, text = entry.strip().partition(": ")
        if colon:
            found.update(dict.fromkeys(names.split(", "), " ".join(text.split())))
    return found


def table(head: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> str:
    """A Markdown table."""
    lines = [head, ("---",) * len(head), *(tuple(cell.replace("|", "\\|") for cell in row) for row in rows)]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


TABLES: Mapping[str, Callable[[], str]] = {
    "commands": commands,
    "compile-options": compile_options,
    "core-flags": flags("CoreFlags"),
    "passes": passes,
    "pipeline": pipeline,
    "status-codes": status_codes,
    "xla-flags": flags("XlaFlags"),
}
