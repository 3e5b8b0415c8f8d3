"""Serialized HLO: hand-made messages, XLA's own where jaxlib is installed, and malformed ones."""

from __future__ import annotations

import contextlib
import struct

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import xla_core as xla
from tests.xla_core.hlo.structural_equality import structurally_equal
from xla_core.hlo import ElementType
from xla_core.hlo.proto import is_hlo_proto
from xla_core.hlo.proto.values import read_literal
from xla_core.hlo.proto.wire import Message


def varint(value: int) -> bytes:
    value &= (1 << 64) - 1
    out = b""
    while value >= 0x80:
        out += bytes([value & 0x7F | 0x80])
        value >>= 7
    return out + bytes([value])


def field(number: int, value: int | bytes | str) -> bytes:
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    data = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(data)) + data


def shape(element_type: int, *dimensions: int) -> bytes:
    return field(2, element_type) + field(3, b"".join(varint(d) for d in dimensions))


F32 = 11
F32_3 = shape(F32, 3)


def instruction(number: int, opcode: str, *parts: bytes, operands: tuple[int, ...] = (), of: bytes = F32_3) -> bytes:
    ids = field(36, b"".join(map(varint, operands))) if operands else b""
    return field(1, f"{opcode}.{number}") + field(2, opcode) + field(3, of) + field(35, number) + ids + b"".join(parts)


def module(*instructions: bytes, root: int = 3, entry: int = 1) -> bytes:
    body = field(1, "main") + b"".join(field(2, i) for i in instructions) + field(5, 1) + field(6, root)
    return field(1, "m") + field(2, "main") + field(3, body) + field(6, entry)


ADD = module(
    instruction(1, "parameter", field(9, 0)),
    instruction(2, "parameter", field(9, 1)),
    instruction(3, "add", operands=(1, 2)),
)


def test_a_module_is_read_and_runs():
    x, y = np.array([1, 2, 3], np.float32), np.array([10, 20, 30], np.float32)
    read = xla.parse(ADD)
    assert structurally_equal(read, xla.parse(read.to_text()))
    np.testing.assert_array_equal(xla.evaluate(ADD, x, y)[0], x + y)


def test_an_hlo_proto_holds_a_module():
    assert structurally_equal(xla.parse(field(1, ADD)), xla.parse(ADD))


def test_ids_may_have_the_computation_in_their_upper_half():
    high = 7 << 32
    data = module(
        instruction(high | 1, "parameter", field(9, 0)), instruction(high | 3, "negate", operands=(1,)), root=high | 3
    )
    assert xla.parse(data).entry.root.opcode == "negate"


def test_text_is_no_proto():
    assert not is_hlo_proto(b"\n   HloModule m\n")
    assert not is_hlo_proto(b"")
    assert is_hlo_proto(ADD)


def test_a_client_compiles_and_serializes_it():
    client = xla.Client("template")
    exe = client.compile(ADD)
    x = np.ones(3, np.float32)
    np.testing.assert_array_equal(np.asarray(exe(x, x)[0]), x + x)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (ADD[:-1], "neither MLIR bytecode"),  # the last field is cut: no longer a message
        (module(instruction(3, "adds")), "main, adds.3: unknown HLO opcode 'adds'"),
        (module(instruction(3, "add")), "main, add.3: add takes 2 operands, not 0"),
        (
            module(instruction(3, "negate", operands=(2,))),
            "an operand is the instruction 2, which is not defined before",
        ),
        (module(instruction(3, "constant")), "constant.3: a shape has the element type number 0"),
        (module(instruction(3, "parameter", field(9, 1))), "not numbered 0..0"),
        (module(instruction(3, "parameter"), root=4), "the root of main is the instruction 4"),
        (module(instruction(3, "parameter"), entry=2), "entry_computation_id is 2"),
        (module(instruction(3, "parameter", of=shape(99, 3))), "element type number 99"),
        (module(instruction(3, "parameter", of=shape(F32, -1))), "negative dimension"),
        (module(instruction(3, "constant", field(8, field(1, F32_3) + field(8, b"\0" * 8)))), "has 2 values"),
        (module(instruction(3, "constant", field(8, field(1, F32_3) + field(8, b"\0" * 7)))), "4-byte numbers"),
        (module(instruction(3, "constant", field(8, field(1, shape(F32, 1 << 40))))), "has 0 values"),
        (module(instruction(1, "parameter"), instruction(3, "fft", field(31, 9), operands=(1,))), "fft_type is 9"),
        (module(instruction(1, "parameter"), instruction(3, "call", field(38, 5), operands=(1,))), "computation 5"),
        (module(instruction(1, "parameter"), instruction(3, "iota", field(14, b"\x80"))), "ends within an integer"),
    ],
)
def test_a_malformed_message_is_refused(data, message):
    with pytest.raises(xla.InvalidArgumentError, match=message) as caught:
        xla.parse(data, file="model.pb")
    assert caught.value.location.file == "model.pb"


def test_a_cut_message_gets_a_hint_that_names_the_format():
    for data, words in (
        (ADD[:-1], "HloProto; save text as UTF-8; a binary file may be truncated"),
        (ADD[:20], "HloProto"),
    ):
        with pytest.raises(xla.InvalidArgumentError) as caught:
            xla.parse(data)
        assert words in caught.value.hint


@settings(max_examples=300, deadline=None)
@given(st.integers(0, len(ADD) - 1), st.integers(0, 255), st.booleans())
def test_mutants_are_read_or_refused(position, byte, cut):
    data = bytearray(ADD)
    data[position] = byte
    with contextlib.suppress(xla.InvalidArgumentError, xla.UnimplementedError):
        xla.parse(bytes(data[:position] if cut else data))


ABORTS_JAXLIB = ("f6e2m3fn", "f6e3m2fn")  # in hlo_module_from_text


@pytest.mark.parametrize("element_type", [t for t in ElementType if t.is_array and t.value not in ABORTS_JAXLIB])
def test_xlas_literals_of_every_type(element_type):
    """A constant of each type, as XLA itself serializes it."""
    jaxlib_hlo = pytest.importorskip("jaxlib._hlo", reason="jaxlib, of a release that reads HLO text, is not installed")
    values = ["1", "0"] if element_type is ElementType.PRED else ["1", "2"]
    if element_type.is_complex:
        values = ["(1, -2)", "(0.5, 3)"]
    elif element_type.is_signed:
        values = ["-1", "1", "-2"]
    text = f"HloModule m\n\nENTRY main {{\n  ROOT c = {element_type}[{len(values)}]{{0}} constant({{{', '.join(values)}}})\n}}\n"
    data = jaxlib_hlo.hlo_module_from_text(text).as_serialized_hlo_module_proto()
    assert xla.parse(data).entry.root.literal == xla.parse(text).entry.root.literal


def test_an_unpacked_list_is_a_list():
    """Protobuf readers take repeated numbers packed or one by one."""
    shape_of_two = shape(F32, 2)
    packed = field(1, shape_of_two) + field(8, struct.pack("<2f", 1, 2))
    one_by_one = field(1, shape_of_two) + b"".join(varint(8 << 3 | 5) + struct.pack("<f", v) for v in (1, 2))
    assert read_literal(Message(packed)) == read_literal(Message(one_by_one))
    assert Message(field(4, 5) + field(4, -1)).integers(4) == (5, -1)
