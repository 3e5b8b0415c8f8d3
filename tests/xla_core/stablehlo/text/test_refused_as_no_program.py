"""Input that is not a supported program: hints, ops of other dialects, properties of ops without properties."""

from __future__ import annotations

import io
import re
import zipfile

import pytest

import xla_core as xla
from tests.xla_core.stablehlo.reading import in_function, refusal
from xla_core.errors import InvalidArgumentError, UnimplementedError
from xla_core.stablehlo import lower, parse_text, read
from xla_core.stablehlo.table.op_table import OPS, has_properties

UNARY = "(tensor<f32>) -> tensor<f32>"


def zipped() -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("model.txt", "text")
    return file.getvalue()


@pytest.mark.parametrize(
    "program",
    [
        "<!DOCTYPE html><html></html>", '{"a": 1}', " \n[1, 2]", "hello world", zipped(), b"PK\3\4", b"\x89PNG\r\n\x1a\n",
        b"\x7fELF\2\1", "import jax",
    ],
)  # fmt: skip
def test_what_programs_are(program: str | bytes) -> None:
    with pytest.raises(InvalidArgumentError) as caught:
        xla.parse(program)
    assert "programs are text of StableHLO, text of HLO, which begins with HloModule, MLIR" in str(caught.value.hint)


@pytest.mark.parametrize("program", ["module {", "func.func @main() {\n  {\n}", in_function("hello %a")])
def test_programs_that_began_well_are_told_nothing_of_that(program: str) -> None:
    assert "programs are" not in str(refusal(program).hint)


@pytest.mark.parametrize(
    ("name", "meant"), [("mhlo.abs", "stablehlo.abs"), ("mhlo.asin", "chlo.asin"), ("stablehlo.asin", "chlo.asin")]
)
def test_the_same_name_in_a_known_dialect_is_what_was_meant(name: str, meant: str) -> None:
    for body in (f'%0 = "{name}"(%a) : {UNARY}', f"%0 = {name} %a : tensor<f32>"):
        with pytest.raises((InvalidArgumentError, UnimplementedError)) as caught:
            lower(read(in_function(body)))
        assert caught.value.hint == f"did you mean {meant}?"


# -- properties ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("properties", ["<{foo = 3 : i64}>", "<{}>", "<{foo = {a = 1}}>", " < {foo}>"])
@pytest.mark.parametrize(
    ("op", "rest"),
    [
        ('"stablehlo.add"(%a, %a)', "(tensor<f32>, tensor<f32>) -> tensor<f32>"),
        ('"stablehlo.abs"(%a)', UNARY),
        ('"chlo.asin"(%a)', UNARY),
    ],
)
def test_an_op_without_attributes_has_no_properties(op: str, rest: str, properties: str) -> None:
    error = refusal(in_function(f"%0 = {op} {properties} : {rest}"))
    name = op[1 : op.index("(") - 1]
    assert error.message == f"invalid properties for op {name}: this operation has empty properties"
    assert error.location is not None
    assert (error.location.line, error.location.column) == (2, 8)


def test_other_ops_have_properties_of_any_name() -> None:
    parse_text(in_function(f'%0 = "stablehlo.exponential"(%a) <{{foo = 3 : i64}}> : {UNARY}'))
    parse_text(in_function(f'%0 = "stablehlo.abs"(%a) {{foo = 3 : i64}} : {UNARY}'))
    parse_text(in_function(f'%0 = "test.op"(%a) <{{foo = 3 : i64}}> : {UNARY}'))


def test_mlir_has_properties_of_the_same_ops() -> None:
    mlir = pytest.importorskip("jax._src.interpreters.mlir")
    from jaxlib.mlir import ir as theirs

    context, refuses = mlir.make_ir_context(), {}
    for name in OPS:
        try:
            theirs.Module.parse(f'"{name}"() <{{foo = 1 : i64}}> : () -> ()', context)
        except theirs.MLIRError as error:
            if re.search("unregistered|not found", str(error)):
                continue
            refuses[name] = "this operation has empty properties" in str(error)
    assert len(refuses) > 100
    assert refuses == {name: not has_properties(name) for name in refuses}
