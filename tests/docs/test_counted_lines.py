"""The lines and functions that the pages of new devices count are as many as `xla new` and the pages themselves have."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.docs.page_blocks import read_blocks
from xla_core.backend import registry
from xla_core.cli import main

DOCS = Path(__file__).parents[2] / "docs"


def lines(page: str, name: str) -> int:
    """The lines of a file that a page has whole."""
    (block,) = [b for b in read_blocks(DOCS / page) if Path(b.options.get("title", "")).name == name]
    return len(block.text.splitlines())


def made(folder: Path, name: str, *options: str) -> Path:
    """The package that `xla new` makes."""
    registry.clear_cache()
    assert main(["new", name, *options, "--directory", str(folder)]) == 0
    return folder / f"xla-backend-{name}"


@pytest.mark.parametrize(
    ("page", "name", "scenario"), [("processor-with-llvm.md", "orca", "1"), ("device-with-llvm.md", "nova", "2")]
)
def test_packages(page: str, name: str, scenario: str, tmp_path: Path) -> None:
    package = made(tmp_path, name, "--scenario", scenario) / f"xla_backend_{name}"
    count = sum(len(path.read_text().splitlines()) for path in package.glob("*.py"))
    assert f"The package has {count} lines of Python" in (DOCS / page).read_text()


def test_kernel_of_llvm() -> None:
    page = "device-with-llvm.md"
    assert f"These are {lines(page, 'kernel.py')} lines:" in (DOCS / page).read_text()


def test_driver(tmp_path: Path) -> None:
    page = "device-with-a-driver.md"
    text = (DOCS / page).read_text()
    c, python = lines(page, "kernels.c"), lines(page, "kernels.py")
    assert f"| {c} of C, {python} of Python |" in text
    header = (made(tmp_path, "acme", "--scenario", "3", "--driver", "c") / "driver" / "driver.h").read_text()
    functions = set(re.findall(r"\bacme_\w+(?=\()", header))
    assert text.count(f"the {len(functions)} functions") >= 2
