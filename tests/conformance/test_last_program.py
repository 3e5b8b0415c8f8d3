"""The program that was compiled last is kept whole, its large constants too."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from xla_conformance.last_program import LastProgram

from xla_core import parse
from xla_core.hlo import ElementType, HloComputation, HloModule, Literal, Opcode, Shape


def with_constants(*constants: Literal) -> HloModule:
    module, entry = HloModule("constants"), HloComputation("main")
    entry.set_root(entry.add(Opcode.TUPLE, *(entry.constant(constant) for constant in constants)))
    module.add_computation(entry, entry=True)
    return module


def kept_text(program: str | bytes | HloModule, folder: Path) -> str:
    last = LastProgram(folder)
    last.write(program)
    assert LastProgram(folder).keep(folder / "kept") == ["module.hlo"]
    return (folder / "kept" / "module.hlo").read_text()


@pytest.mark.parametrize("element", [t for t in ElementType if t.is_array], ids=lambda t: t.value)
@pytest.mark.parametrize("dimensions", [(3,), (7, 101)], ids=str)
def test_constants_are_written_as_the_printer_writes_them(
    tmp_path: Path, element: ElementType, dimensions: tuple[int, ...]
) -> None:
    random = np.random.default_rng(0)
    numbers = random.integers(0, 2, (2, *dimensions)).astype(element.dtype)
    module = with_constants(*(Literal(n, Shape(element, dimensions)) for n in numbers))
    text = kept_text(module, tmp_path)
    assert text == module.to_text()
    assert parse(text).to_text() == text


def test_constants_of_one_name_and_tuples_are_written_too(tmp_path: Path) -> None:
    large = Literal(np.arange(1000, dtype=np.int32), Shape(ElementType.S32, (1000,)))
    pair = Literal([large, large], Shape.tuple([large.shape, large.shape]))
    module = with_constants(large, pair)
    assert kept_text(module, tmp_path) == module.to_text()


def test_a_later_program_replaces_an_earlier_one(tmp_path: Path) -> None:
    large = with_constants(Literal(np.zeros(1000, np.float32), Shape(ElementType.F32, (1000,))))
    assert kept_text(large, tmp_path) == large.to_text()
    assert kept_text("HloModule other", tmp_path) == "HloModule other"
    assert kept_text(b"bytes", tmp_path) == "bytes"
    LastProgram(tmp_path).clear()
    assert LastProgram(tmp_path).keep(tmp_path / "none") == []


def test_without_room_there_is_no_program(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    last = LastProgram(tmp_path / "file")  # no folder, so nothing can be written
    last.write("HloModule m")
    assert last.keep(tmp_path / "kept") == []
