"""Every error has its location in the program, also for programs without a file name."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import xla_core as xla
from xla_core.errors import XlaError
from xla_core.hlo import HloModule, parse_hlo
from xla_core.stablehlo import from_hlo, parse_text

X = np.ones(4, np.float32)
STABLEHLO = """\
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.custom_call @acme_nope(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
"""
HLO = """\
HloModule m

/* what nobody
   knows */
ENTRY e {
  a = f32[4] parameter(0)
  b = f32[4] custom-call(a), custom_call_target="acme_nope"METADATA
  ROOT c = f32[4] negate(b)
}
"""
RECV = """\
HloModule m

ENTRY e {
  t = token[] after-all()
  r = (f32[4], u32[], token[]) recv(t), channel_id=5, is_host_transfer=true
  d = (f32[4], token[]) recv-done(r), channel_id=5, is_host_transfer=true
  ROOT g = f32[4] get-tuple-element(d), index=0
}
"""


def place(run: Callable[[], object]) -> str:
    with pytest.raises(XlaError) as caught:
        run()
    return str(caught.value.location)


@pytest.fixture(scope="module")
def client() -> xla.Client:
    return xla.Client("cpu")


@pytest.mark.parametrize(("file", "name"), [("", "<input>"), ("z.mlir", "z.mlir")])
def test_of_stablehlo(client: xla.Client, file: str, name: str) -> None:
    assert place(lambda: client.compile(STABLEHLO, file=file)) == f"{name}:2:8"
    assert place(lambda: xla.evaluate(STABLEHLO, X, file=file)) == f"{name}:2:8"


@pytest.mark.parametrize(
    ("metadata", "want"),
    [
        ("", "{}:7:3"),
        (', metadata={op_name="jit(f)/nope"}', "{}:7:3 (jit(f)/nope)"),
        (', metadata={op_name="nope" source_file="f.py" source_line=3}', "f.py:3 (nope)"),
    ],
)
def test_of_hlo(client: xla.Client, metadata: str, want: str) -> None:
    text = HLO.replace("METADATA", metadata)
    assert place(lambda: client.compile(text)) == want.format("<input>")
    assert place(lambda: xla.evaluate(text, X)) == want.format("<input>")
    assert place(lambda: xla.evaluate(text, X, file="z.hlo")) == want.format("z.hlo")


def test_places_in_hlo_text_are_no_metadata() -> None:
    text = HLO.replace("METADATA", "")
    module = parse_hlo(text, file="z.hlo")
    assert [str(i.location) for i in module.entry.instructions] == ["z.hlo:6:3", "z.hlo:7:3", "z.hlo:8:3"]
    assert [str(i.location) for i in module.clone().entry.instructions][1] == "z.hlo:7:3"
    assert "metadata" not in module.to_text()
    assert {str(op.location) for op in from_hlo(module).walk()} == {"None"}


def test_what_the_verifier_refuses_in_hlo_shows_the_line() -> None:
    with pytest.raises(XlaError) as caught:
        xla.parse(HLO.replace("METADATA", "").replace("ROOT c = f32[4]", "ROOT c = f32[5]"))
    assert str(caught.value.location) == "<input>:8:3"
    assert str(caught.value.snippet).splitlines()[0].strip() == "ROOT c = f32[5] negate(b)"


def test_what_has_no_counterpart_in_stablehlo() -> None:
    module = parse_hlo("HloModule m\n\nENTRY e {\n  ROOT s = u64[1] rng-get-and-update-state(), delta=1\n}\n")
    assert place(lambda: from_hlo(module)) == "<input>:4:3"


@pytest.mark.parametrize("type", ["tensor<*xf32>", "memref<4xf32>"])
def test_types_that_hlo_lacks(type: str) -> None:
    with pytest.raises(XlaError, match="has no counterpart in HLO") as caught:
        xla.parse(f"\nfunc.func @main(%x: {type}) -> {type} {{\n  return %x : {type}\n}}")
    assert str(caught.value.location) == "<input>:2:1"
    assert "HLO" in str(caught.value.hint)


def test_a_value_that_the_host_never_gave(client: xla.Client) -> None:
    for run in (lambda: np.asarray(client.compile(RECV)()[0]), lambda: xla.evaluate(RECV)):
        with pytest.raises(XlaError, match="the host has put nothing into channel 5") as caught:
            run()
        assert str(caught.value.location) == "<input>:6:3"
        assert "infeed" in str(caught.value.hint)


def test_a_value_that_no_device_sends(client: xla.Client) -> None:
    alone = RECV.replace(", is_host_transfer=true", "")
    for run in (lambda: np.asarray(client.compile(alone)()[0]), lambda: xla.evaluate(alone)):
        with pytest.raises(XlaError, match="no other sends a value to channel 5") as caught:
            run()
        assert str(caught.value.location) == "<input>:6:3"
        assert "is_host_transfer" in str(caught.value.hint)


# What a program is not


@pytest.mark.parametrize("name", ["err/add.mlir", "/tmp/a.hlo", "C:\\a b.mlir".replace(" ", "_"), "model.mlirbc"])
def test_the_name_of_a_file_is_no_program(client: xla.Client, name: str) -> None:
    with pytest.raises(XlaError, match="looks like the name of a file") as caught:
        client.compile(name)
    assert "read_bytes" in str(caught.value.hint)


@pytest.mark.parametrize("text", [STABLEHLO, HLO.replace("METADATA", "")])
def test_a_mark_of_the_byte_order_is_skipped(text: str) -> None:
    for program in ("\ufeff" + text, ("\ufeff" + text).encode()):
        module = xla.parse(program)
        assert isinstance(module, HloModule)
        assert module.to_text() == xla.parse(text).to_text()


def test_the_mark_is_skipped_by_each_reader() -> None:
    assert list(parse_text("\ufeff" + STABLEHLO).functions) == ["main"]
    assert parse_hlo("\ufeff" + HLO.replace("METADATA", "")).name == "m"
