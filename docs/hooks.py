"""Hooks of mkdocs, which insert tables that are made from the code.

A line `<!-- table: NAME -->` in a page is replaced by the text of `TABLES[NAME]`; where a line `<!-- end of table -->`
follows, the page keeps the table between them, and `python docs/hooks.py PAGE` refreshes it. A line
`<!-- reference: PACKAGE -->` is replaced by the documentation of every name in the package's `__all__`. The pages of
ops (`op_pages.py`) are made whole.
"""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

__all__ = ["TABLES", "expand", "on_files", "on_page_markdown", "refreshed"]

_TABLE = re.compile(
    r"^<!-- table: ([\w-]+) -->$(?P<kept>\n(?:(?!<!-- table: ).*\n)*?<!-- end of table -->$)?", re.MULTILINE
)
_PLAIN = {"COLUMNS": "100", "TERMINAL_WIDTH": "100", "NO_COLOR": "1", "TERM": "dumb"}
_REFERENCE = re.compile(r"^<!-- reference: ([\w.]+) -->$", re.MULTILINE)


def on_files(files: Any, *, config: Any, **_: Any) -> Any:
    """Adds the pages that are made from the op tables. mkdocs calls it."""
    from mkdocs.structure.files import File

    for path, text in _beside("op_pages").pages().items():
        files.append(File.generated(config, path, content=text))
    return files


def _beside(name: str) -> Any:
    """Imports a module or package that is beside this file, because hooks are not in a package."""
    beside = Path(__file__).parent
    package = beside / name / "__init__.py"
    spec = importlib.util.spec_from_file_location(
        f"docs_{name}", package if package.exists() else beside / f"{name}.py"
    )
    assert spec is not None
    assert spec.loader is not None
    sys.modules[spec.name] = module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Expands a page. mkdocs calls it."""
    return expand(markdown)


def expand(markdown: str) -> str:
    """Returns a page with its tables and references inserted. Raises KeyError for an unknown table."""
    markdown = _TABLE.sub(lambda found: TABLES[found[1]](), markdown)
    return _REFERENCE.sub(lambda found: reference(found[1]), markdown)


def refreshed(markdown: str) -> str:
    """Returns the source of a page with the tables that it keeps brought up to date."""

    def write(found: re.Match[str]) -> str:
        kept = f"<!-- table: {found[1]} -->\n\n{TABLES[found[1]]()}\n\n<!-- end of table -->"
        return kept if found["kept"] else found[0]

    return _TABLE.sub(write, markdown)


def main(pages: Sequence[str]) -> None:
    """Brings the tables in the given pages up to date."""
    for name in pages:
        page = Path(name)
        page.write_text(refreshed(page.read_text()))


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
    """Prints the core's pipeline for a target that supports everything."""
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


def options(package: str, model_name: str) -> Callable[[], str]:
    """A table of the fields of a model of options."""

    def make() -> str:
        model = getattr(importlib.import_module(package), model_name)
        documented = attributes(model)
        rows = [
            (f"`{name}`", f"`{field.get_default(call_default_factory=True)!r}`", documented[name])
            for name, field in model.model_fields.items()
        ]
        return table(("field", "default", "meaning"), rows)

    return make


def status_codes() -> str:
    """A table of the error classes."""
    import xla_core as xla

    kinds = [value for name in xla.__all__ if inspect.isclass(value := getattr(xla, name))]
    errors = [kind for kind in kinds if issubclass(kind, xla.XlaError) and kind is not xla.XlaError]
    rows = [
        (f"`{kind.code.name}`", str(kind.code.value), f"`{kind.__name__}`")
        for kind in sorted(errors, key=lambda kind: kind.code.value)
    ]
    return table(("code", "number", "Python"), rows)


def commands() -> str:
    """The help of every `xla` command in this environment."""
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
    """Returns the `Attributes:` of a docstring by name. One entry may describe several."""
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
    "accuracy-16": lambda: str(_beside("accuracy_tables").sixteen_bits()),
    "accuracy-8": lambda: str(_beside("accuracy_tables").eight_bits()),
    "accuracy-complex": lambda: str(_beside("accuracy_tables").group("complex")),
    "accuracy-fft": lambda: str(_beside("accuracy_tables").group("fft")),
    "accuracy-linear-algebra": lambda: str(_beside("accuracy_tables").group("linear-algebra")),
    "accuracy-sums": lambda: str(_beside("accuracy_tables").group("sums")),
    "accuracy-summary": lambda: str(_beside("accuracy_tables").summary()),
    "accuracy-wide": lambda: str(_beside("accuracy_tables").wide()),
    "commands": commands,
    "compile-options": options("xla_core", "CompileOptions"),
    "core-flags": flags("CoreFlags"),
    "cpu-options": options("xla_backend_cpu.compiler", "CpuOptions"),
    "jax-suite": lambda: str(_beside("jax_suite_tables").summary()),
    "jax-suite-causes": lambda: str(_beside("jax_suite_tables").causes()),
    "ops": lambda: str(_beside("op_pages").index()),
    "passes": passes,
    "pipeline": pipeline,
    "pjrt-functions": lambda: str(_beside("pjrt_tables").functions()),
    "status-codes": status_codes,
    "support-grid": lambda: str(_beside("support_tables").grid()),
    "support-reasons": lambda: str(_beside("support_tables").reasons()),
    "support-summary": lambda: str(_beside("support_tables").summary()),
    "xla-flags": flags("XlaFlags"),
    "zoo": lambda: str(_beside("zoo_tables").summary()),
    "zoo-missed": lambda: str(_beside("zoo_tables").missed()),
}

if __name__ == "__main__":
    main(sys.argv[1:])
