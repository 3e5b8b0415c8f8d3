"""Every code block of the README and of the documentation runs, and prints what the page says it prints."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.docs.page_blocks import matches, read_blocks, run_page

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_page_runs(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("XLA_FLAGS", "XLA_CORE_FLAGS", "XLA_PLATFORM"):
        monkeypatch.delenv(name, raising=False)
    run = run_page(page, tmp_path)
    if run.corrections:
        run.failures.append(f"python tests/docs/page_blocks.py {page.relative_to(ROOT)} writes what is printed now")
    assert not run.failures, "\n\n".join(run.failures)
    if run.left_out and not run.ran:
        pytest.skip("; ".join(run.left_out))


def test_blocks_are_read(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text('# A\n\n```python notest="why not"\nx\n```\n\n    ```text output\n    a\n      b\n    ```\n')
    first, second = read_blocks(page)
    assert (first.language, first.options, first.text, first.line) == ("python", {"notest": "why not"}, "x\n", 3)
    assert (second.options, second.text, second.indent) == ({"output": ""}, "a\n  b\n", "    ")


@pytest.mark.parametrize(
    ("shown", "printed", "same"),
    [
        ("a\nb\n", "a\nb\n", True),
        ("a\nb\n", "a\nc\n", False),
        ("a\n", "a\nb\n", False),
        ("took ... ms\n", "took 1.5 ms\n", True),
        ("took ... ms\n", "took 1.5 s\n", False),
        ("a\n...\nd\n", "a\nb\nc\nd\n", True),
        ("a\n...\nd\n", "a\nd\n", True),
        ("a\n...\nd\n", "a\nb\n", False),
        ("...\nb\n...\n", "a\nb\nc\n", True),
        ("a    b ...\n", "a  b  c\n", True),
        ("  a\n", "    a\n", False),
        ("add.3 = %v1 (.LBB0_2)\n", "add = %v77 (.LBB10_4)\n", True),
        ("add.3 = 1.5\n", "add.3 = 1.6\n", False),
        ("f(x)[0]\n", "f(x)[0]  \n\n", True),
    ],
)
def test_output_matches(shown: str, printed: str, same: bool) -> None:
    assert matches(shown, printed) is same


def test_wrong_pages_fail(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    directory = tmp_path / "run"
    directory.mkdir()
    page.write_text("```python\nprint(1)\n```\n```text output\n2\n```\n```python notest\n```\n```bash\nexit 3\n```\n")
    run = run_page(page, directory)
    assert run.ran == 1
    assert [failure.split(":")[1].split("\n")[0] for failure in run.failures] == ["4", "7", "9"]
    assert run.corrections == {4: "1\n"}
