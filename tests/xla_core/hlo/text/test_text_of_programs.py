"""HLO text of many programs, before and after compilation, is read back as the same module."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest

import xla_core
from tests.xla_core.hlo.structural_equality import structurally_equal
from xla_core.errors import InvalidArgumentError, NotFoundError, UnimplementedError
from xla_core.hlo import HloModule, verify
from xla_core.stablehlo import OPS, op_example

PROGRAMS = sorted((Path(__file__).parents[3] / "programs" / "text").glob("*.mlir"))
ELEMENTS = ("f32", "bf16", "f8E4M3FN", "i4", "ui64", "i1", "complex<f64>")


def check(module: HloModule) -> None:
    text = module.to_text()
    again = xla_core.parse(text)
    assert structurally_equal(module, again, metadata=True)
    assert again.to_text() == text
    assert again.name == module.name
    assert len(again.computations) == len(module.computations)


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda p: p.stem)
def test_stored_programs(path):
    check(xla_core.parse(path.read_text(), file=path.name))


@pytest.mark.parametrize("name", sorted(OPS))
def test_examples_of_ops(name):
    """In every element type that the op takes, of a few."""
    read = []
    for element in ELEMENTS:
        try:
            module = xla_core.parse(op_example(name).program(element))
        except (InvalidArgumentError, UnimplementedError, NotFoundError):
            continue  # another type, dynamic shapes, or no example
        check(module)
        read.append(element)
    if not read:
        pytest.skip("no example of this op has an HLO module")


def compiled(path: Path, client: xla_core.Client) -> None:
    executable = client.compile(path.read_text())
    again = xla_core.parse(executable.as_text())
    verify(again)
    assert structurally_equal(again, xla_core.parse(again.to_text()), metadata=True)
    assert client.deserialize(executable.serialize()).as_text() == executable.as_text()


@pytest.fixture(scope="module")
def template():
    pytest.importorskip("xla_backend_template")
    with xla_core.Client("template") as made:
        yield made


@pytest.mark.parametrize("path", list(itertools.islice(PROGRAMS, 0, None, 12)), ids=lambda p: p.stem)
def test_compiled_programs(path, template):
    compiled(path, template)


@pytest.mark.slow
@pytest.mark.parametrize("path", PROGRAMS, ids=lambda p: p.stem)
def test_every_compiled_program(path, template):
    compiled(path, template)
