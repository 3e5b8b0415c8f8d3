"""Reads and runs the code blocks of a page, and compares what they print with the outputs on the page.

    python             run, in one namespace a page, in a directory of the page's own
    bash               run by bash; `xla` is this environment's
    any, title="FILE"  written to FILE, for the blocks after it
    any, output        must be what the run block before it printed; "..." stands for anything within a line, and a line
                       that is only "..." for any number of lines

Numbers in names that the compiler made up (`add.3`, `%v12`, `.LBB1_4`) don't count, nor does how wide the columns of a
table are. `only="EXPRESSION"` compares an output only where that is true in the page's namespace.

Options of a run block: `notest="reason"` leaves it out, `needs="module"` leaves it out where a module is not installed,
`exit="1"` expects that exit code, `env="NAME=VALUE"` sets a variable of a bash block.

`python tests/docs/page_blocks.py PAGE...` runs pages and writes what was printed into them, in place of outputs that
are wrong.
"""

from __future__ import annotations

import contextlib
import dataclasses
import importlib.util
import io
import os
import re
import shlex
import subprocess
import sys
import tempfile
import textwrap
import traceback
from pathlib import Path
from typing import Any

_FENCE = re.compile(r"^( *)(`{3,})([\w+-]*)(.*)$")
_ANYTHING = "..."
_MADE_UP = re.compile(r"(?<=[A-Za-z_])\.\d+|(?<=%v)\d+|(?<=!)\d+|(?<=\.LBB)\d+_\d+")
_GAP = re.compile(r"(?<=\S) {2,}")
_SECONDS = 300


@dataclasses.dataclass(frozen=True, slots=True)
class Block:
    """A fenced block. `line` is the fence's, from 1; `text` has no indentation that the fence has."""

    language: str
    options: dict[str, str]
    text: str
    line: int
    indent: str = ""


@dataclasses.dataclass(slots=True)
class PageRun:
    """The result of a page: the number of blocks that ran, the failures, and the right text of each output block."""

    ran: int = 0
    left_out: list[str] = dataclasses.field(default_factory=list)
    failures: list[str] = dataclasses.field(default_factory=list)
    corrections: dict[int, str] = dataclasses.field(default_factory=dict)


def read_blocks(page: Path) -> list[Block]:
    """All fenced blocks of a page, in order."""
    blocks: list[Block] = []
    lines = page.read_text().splitlines()
    number = 0
    while number < len(lines):
        opening = _FENCE.match(lines[number])
        if opening is None:
            number += 1
            continue
        indent, ticks, language, rest = opening.groups()
        end = next(i for i in range(number + 1, len(lines)) if lines[i].strip() == ticks)
        body = textwrap.dedent("".join(line + "\n" for line in lines[number + 1 : end]))
        options = dict(word.partition("=")[::2] for word in shlex.split(rest))
        blocks.append(Block(language, options, body, number + 1, indent))
        number = end + 1
    return blocks


def matches(shown: str, printed: str) -> bool:
    """Whether the output on the page matches what was printed."""
    shown, printed = (_GAP.sub(" ", _MADE_UP.sub("", text)) for text in (shown, printed))
    rows = [row.rstrip() for row in shown.strip("\n").splitlines()]
    pattern = ""
    for row in rows:
        if row.strip() == _ANYTHING:
            pattern += r"(?:[^\n]*\n)*?"
        else:
            pattern += "[^\n]*".join(re.escape(part) for part in row.split(_ANYTHING)) + "\n"
    text = "\n".join(row.rstrip() for row in printed.strip("\n").splitlines()) + "\n"
    return re.fullmatch(pattern, text) is not None


def run_page(page: Path, directory: Path) -> PageRun:
    """Runs all blocks of a page in `directory`, which must be empty."""
    run = PageRun()
    namespace: dict[str, Any] = {"__name__": "__page__"}
    printed: str | None = None
    left_out = False
    with contextlib.chdir(directory):
        for block in read_blocks(page):
            place = f"{page.name}:{block.line}"
            if "output" in block.options:
                condition = block.options.get("only", "True")
                if left_out or not eval(condition, namespace):
                    continue
                if printed is None:
                    run.failures.append(f"{place}: an output without a block that ran before it")
                elif not matches(block.text, printed):
                    run.failures.append(f"{place}: shown\n{block.text}but printed\n{printed}")
                    run.corrections[block.line] = printed
                continue
            if "notest" in block.options:
                if not block.options["notest"]:
                    run.failures.append(f"{place}: notest without a reason")
                printed = None
                continue
            if "title" in block.options:
                (directory / block.options["title"]).write_text(block.text)
                if block.language not in ("python", "bash"):
                    continue
            if block.language not in ("python", "bash"):
                continue
            needed = block.options.get("needs")
            left_out = bool(needed) and importlib.util.find_spec(str(needed)) is None
            if left_out:
                run.left_out.append(f"{place} needs {needed}")
                continue
            try:
                printed = _run_python(block, namespace, place) if block.language == "python" else _run_bash(block)
                run.ran += 1
            except Exception:  # a page may do anything; what it did wrong is the answer
                run.failures.append(f"{place}:\n{traceback.format_exc()}")
                return run
    return run


def _run_python(block: Block, namespace: dict[str, Any], place: str) -> str:
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(compile("\n" * block.line + block.text, place, "exec"), namespace)
    return out.getvalue()


def _run_bash(block: Block) -> str:
    scripts = str(Path(sys.executable).parent)
    environment = {
        **{k: v for k, v in os.environ.items() if not k.startswith(("XLA_", "JAX_", "PYTEST_"))},
        "PATH": f"{scripts}{os.pathsep}{os.environ.get('PATH', '')}",
        "COLUMNS": "100",
        "NO_COLOR": "1",
        "TERM": "dumb",
    }
    if "env" in block.options:
        name, _, value = block.options["env"].partition("=")
        environment[name] = value
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", block.text],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=_SECONDS,
        check=False,
    )
    wanted = int(block.options.get("exit", "0"))
    if done.returncode != wanted:
        raise AssertionError(f"exit code {done.returncode}, not {wanted}:\n{block.text}{done.stdout}")
    return done.stdout


def _write_corrections(page: Path, run: PageRun) -> None:
    blocks = {block.line: block for block in read_blocks(page)}
    lines = page.read_text().splitlines()
    for line in sorted(run.corrections, reverse=True):
        block = blocks[line]
        count = len(block.text.splitlines())
        new = run.corrections[line].rstrip("\n").splitlines()
        lines[line : line + count] = [block.indent + row.rstrip() for row in new]
    page.write_text("\n".join(lines) + "\n")


def main(arguments: list[str]) -> int:
    """Runs pages and writes outputs into them. Returns 1 if a block failed."""
    failed = 0
    for name in arguments:
        page = Path(name).resolve()
        with tempfile.TemporaryDirectory() as directory:
            run = run_page(page, Path(directory).resolve())
        broken = len(run.failures) - len(run.corrections)
        _write_corrections(page, run)
        print(f"{name}: {run.ran} blocks ran, {len(run.corrections)} outputs written, {broken} failed", *run.left_out)
        if broken:
            failed = 1
            print(run.failures[-1])
    return failed


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
