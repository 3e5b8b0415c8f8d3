"""The site builds, and its tables that are made from the code are complete."""

from __future__ import annotations

import importlib.util
import inspect
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

import xla_core as xla
from xla_core import backend, config, hlo, stablehlo
from xla_core.errors import StatusCode
from xla_core.passes import PASSES, default_pipeline
from xla_core.target import Capabilities, TargetConfig

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"


def _load_hooks() -> ModuleType:
    spec = importlib.util.spec_from_file_location("docs_hooks", DOCS / "hooks.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


hooks = _load_hooks()


def rows(table: str) -> dict[str, list[str]]:
    """Cells by the first, without backquotes."""
    lines = [re.split(r"(?<!\\)\|", line)[1:-1] for line in table.splitlines()[2:]]
    return {cells[0].strip().strip("`"): [cell.strip() for cell in cells[1:]] for cells in lines}


def test_every_pass_is_listed_with_what_it_does() -> None:
    listed = rows(hooks.passes())
    assert listed.keys() == PASSES.keys()
    assert all(text for (text,) in listed.values())


def test_pipeline_is_the_default_one() -> None:
    whole = default_pipeline(TargetConfig(name="any", capabilities=Capabilities.all_of()))
    assert whole.describe() in hooks.pipeline()


def test_every_flag_and_option_is_documented() -> None:
    for name, model in (("xla-flags", config.XlaFlags), ("core-flags", config.CoreFlags)):
        listed = rows(hooks.TABLES[name]())
        assert listed.keys() == {f"--{field}" for field in model.model_fields}
        assert all(meaning for _, meaning in listed.values())
    assert rows(hooks.TABLES["compile-options"]()).keys() == xla.CompileOptions.model_fields.keys()
    assert rows(hooks.TABLES["cpu-options"]()).keys() == backend.load_backend("cpu").options.model_fields.keys()


def test_every_status_code_is_explained() -> None:
    codes = {code.name for code in StatusCode} - {"UNKNOWN"}
    assert rows(hooks.status_codes()).keys() == codes
    explained = re.findall(r"^\| `([A-Z_]+)` \|", (DOCS / "errors.md").read_text(), re.MULTILINE)
    assert set(explained) == codes


def test_every_command_is_shown() -> None:
    shown = hooks.commands()
    for command in ("run", "compile", "opt", "backends", "doctor", "new", "replay", "bench", "conform"):
        assert f"### xla {command}\n" in shown
    assert "--check" in shown


def test_contract_page_names_every_class_of_the_contract() -> None:
    page = (DOCS / "contract.md").read_text()
    for _, base in backend.BackendSpec.classes(backend.load_backend("template")).values():
        assert f"`{base.__name__}`" in page


def test_every_device_feature_is_explained() -> None:
    page = (DOCS / "contract.md").read_text()
    for name in inspect.signature(backend.DeviceFeatures).parameters:
        assert f"| `{name}` |" in page


def test_references_name_what_is_public() -> None:
    made = hooks.expand("<!-- reference: xla_core.hlo -->\n")
    assert made.count("::: ") == len(hlo.__all__)
    packages = {"xla_core", *re.findall(r"^<!-- reference: ([\w.]+) -->", _all_references(), re.MULTILINE)}
    for package in packages:
        assert importlib.import_module(package).__all__


def test_every_public_package_has_a_page() -> None:
    found = set(re.findall(r"^<!-- reference: ([\w.]+) -->", _all_references(), re.MULTILINE))
    named = re.findall(r"^\| `(xla_core[\w.]*)`", (DOCS / "architecture.md").read_text(), re.MULTILINE)
    assert set(named) - {"xla_core.errors", "xla_core.cli"} <= found


OP_PAGES: dict[str, str] = {}


def op_pages() -> dict[str, str]:
    """Made once: every example is run."""
    if not OP_PAGES:
        OP_PAGES.update(hooks._beside("op_pages").pages())
    return OP_PAGES


def test_every_op_has_a_section_with_what_it_needs() -> None:
    sections: dict[str, str] = {}
    for path, text in op_pages().items():
        for part in text.split("\n## ")[1:]:
            if (head := re.match(r"(\S+) \{ #\1 \}\n", part)) is not None:
                sections[f"{'hlo:' if path.startswith('ops/hlo') else ''}{head[1]}"] = part
    assert set(sections) == {*stablehlo.OPS, *(f"hlo:{opcode}" for opcode in hlo.OPS)}
    for name, text in sections.items():
        assert "\nTests: " in text, name
        if name.startswith("hlo:"):
            assert '??? note "Its meaning: `xla_core/hlo/ops/' in text, name
        else:
            assert "**Example**" in text, name
            assert "func.func @main" in text, name
            assert '??? note "The example in HLO"' in text, name


def test_every_page_of_ops_is_in_the_navigation() -> None:
    listed = re.findall(r"\bops/[\w/]+\.md", (ROOT / "mkdocs.yml").read_text())
    assert sorted(listed) == sorted(["ops/index.md", *op_pages()])
    index = hooks.TABLES["ops"]()
    for name in stablehlo.OPS:
        assert f"#{name})" in index


def test_results_of_examples_are_the_evaluators() -> None:
    section = op_pages()["ops/slices.md"]
    assert "-> [[-2.75, 3.5], [-4.75, 5.5]]" in section


def test_what_is_drawn_at_random_is_shown_as_that() -> None:
    section = op_pages()["ops/rng.md"].split("\n## ")[1]
    assert "-> [" in section
    assert "the numbers of one run" in section


def test_support_tables_show_what_was_measured() -> None:
    tables = hooks._beside("support_tables")
    assert [m["subject"] for m in tables.measured()] == ["evaluator", "cpu", "template"]
    summary = rows(hooks.TABLES["support-summary"]())
    for matrix in tables.measured():
        states = [state for row in matrix["ops"].values() for state in row.values()]
        counts = [int(cell) for cell in summary[matrix["subject"]][:4]]
        assert counts == [states.count(s) for s in ("pass", "unsupported", "wrong", "error")]
        assert sum(counts) == len(states)
        for op in matrix["reasons"]:
            assert f"`{op}`" in hooks.TABLES["support-reasons"]()
    grid = hooks.TABLES["support-grid"]()
    assert grid.count("<tr>") == len(stablehlo.OPS) + 1


@pytest.mark.parametrize("page", ["cli", "errors", "flags-and-dumps"])
def test_tables_that_pages_keep_are_as_the_code_says(page: str) -> None:
    text = (DOCS / f"{page}.md").read_text()
    assert "<!-- end of table -->" in text
    assert hooks.refreshed(text) == text, f"python docs/hooks.py docs/{page}.md"
    assert "<!--" not in hooks.expand(text)


def test_unknown_table_is_an_error() -> None:
    with pytest.raises(KeyError):
        hooks.expand("<!-- table: nothing -->\n")


def _all_references() -> str:
    return "\n".join(page.read_text() for page in (DOCS / "reference").glob("*.md"))


def test_site_builds_without_a_warning(tmp_path: Path) -> None:
    pytest.importorskip("mkdocs")
    pytest.importorskip("material")
    pytest.importorskip("mkdocstrings_handlers.python")
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(tmp_path / "site")],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    site = tmp_path / "site"
    pages = {path.relative_to(site).as_posix() for path in site.rglob("*.html")}
    assert {"index.html", "contract/index.html", "reference/backend/index.html"} <= pages
    reference = (site / "reference" / "backend" / "index.html").read_text()
    assert 'id="xla_core.backend.Compiler.run_backend"' in reference
    for name in ("getting-started", "writing-a-backend", "how-a-program-becomes-a-run"):
        text = (site / name / "index.html").read_text()
        assert "```" not in text
        assert "<!-- table" not in text
