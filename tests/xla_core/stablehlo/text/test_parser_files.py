"""StableHLO's own test files: all are read, but those that are wrong on purpose are refused, on the line they say."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.xla_core.stablehlo.reading import stablehlo_tests, tree
from xla_core.errors import XlaError
from xla_core.stablehlo import Module, parse_text, split_modules
from xla_core.stablehlo.text import op_reader

FOLDERS = ("testdata", "interpret", "chlo", "math", "verify", "vhlo")
EXPECTED = re.compile(r"expected-error(?:-re)?\s*(?:@([+-]\d+))?\s*\{\{(.*?)\}\}")


def files(folder: str) -> list[Path]:
    return sorted((stablehlo_tests() / folder).rglob("*.mlir"))


def expected_errors(part: str) -> dict[int, list[str]]:
    """What a part says is wrong with it: messages by line."""
    errors: dict[int, list[str]] = {}
    for number, line in enumerate(part.split("\n"), 1):
        for offset, message in EXPECTED.findall(line):
            errors.setdefault(number + int(offset or 0), []).append(message)
    return errors


def problem(part: str, file: str) -> XlaError | None:
    """Why a part can't be read."""
    try:
        parse_text(part, file)
    except XlaError as error:
        return error
    return None


@pytest.mark.parametrize("folder", FOLDERS)
def test_every_file_reads(folder: str) -> None:
    count, refused = 0, 0
    for path in files(folder):
        for part in split_modules(path.read_text()):
            count += 1
            error = problem(part, path.name)
            if error is not None:
                refused += 1
                where = error.location
                assert where is not None
                assert where.line in expected_errors(part), f"{error} (the file expects {expected_errors(part)})"
    assert count > 0
    assert refused == 0 or folder == "verify"
    assert refused < 0.1 * count


@pytest.mark.slow
@pytest.mark.parametrize("folder", FOLDERS)
def test_the_fast_path_changes_nothing(folder: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for path in files(folder):
        for part in split_modules(path.read_text()):
            read = []
            for is_fast in (True, False):
                with monkeypatch.context() as patch:
                    if not is_fast:
                        patch.setattr(op_reader, "LINE_START", lambda source, position: None)
                    try:
                        read.append(tree(parse_text(part), names=True, locations=True))
                    except XlaError as error:
                        read.append(str(error))
            assert read[0] == read[1], path


@pytest.mark.slow
@pytest.mark.parametrize("folder", FOLDERS)
def test_what_jaxlib_prints_reads_to_the_same_tree(folder: str) -> None:
    """jaxlib's StableHLO reads each file and prints it in both forms."""
    mlir = pytest.importorskip("jax._src.interpreters.mlir")
    ir = pytest.importorskip("jaxlib.mlir.ir")
    compared = 0
    with mlir.make_ir_context() as context:
        context.emit_error_diagnostics = False
        for path in files(folder):
            for part in split_modules(path.read_text()):
                if "expected-error" in part:
                    continue  # some of these end jaxlib's process
                try:
                    operation = ir.Module.parse(part, context).operation
                except ir.MLIRError:
                    continue  # a dialect or a version that it doesn't have
                module = parse_text(part)
                generic = parse_text(operation.get_asm(print_generic_op_form=True))
                assert tree(generic) == tree(module), path
                if prints_whole(module):
                    assert tree(parse_text(operation.get_asm())) == tree(module), path
                compared += 1
    assert compared > 0 or folder in ("math", "vhlo", "chlo")


def prints_whole(module: Module) -> bool:
    """Whether MLIR's pretty form says all: it leaves out what types a loop's arguments have, which may differ."""
    for op in module.walk():
        types = [operand.type for operand in op.operands]
        if op.name == "stablehlo.while" and any(
            [argument.type for argument in region.block.arguments] != types for region in op.regions
        ):
            return False
    return True
