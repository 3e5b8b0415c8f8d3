"""What an op takes: the element types of its operands, and the values of its attributes."""

from __future__ import annotations

import pytest

from xla_core.errors import XlaError
from xla_core.stablehlo import parse_text, verify


def program(body: str, arguments: str = "%a: tensor<4xf32>, %t: !stablehlo.token") -> str:
    return f"func.func @main({arguments}) {{\n  {body}\n  return\n}}"


def refusal(text: str) -> str:
    with pytest.raises(XlaError) as caught:
        verify(parse_text(text))
    return caught.value.message


PERMUTE = '%0 = "stablehlo.collective_permute"(%a) {source_target_pairs = PAIRS} : (tensor<4xf32>) -> tensor<4xf32>'
SEND = (
    '%0 = "stablehlo.send"(%a, %t) {channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, '
    "is_host_transfer = false, source_target_pairs = PAIRS} : (tensor<4xf32>, !stablehlo.token) -> !stablehlo.token"
)
RECV = (
    '%0:2 = "stablehlo.recv"(%t) {channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, '
    "is_host_transfer = false, source_target_pairs = PAIRS} : (!stablehlo.token) -> (tensor<4xf32>, !stablehlo.token)"
)


@pytest.mark.parametrize("op", [PERMUTE, SEND, RECV])
@pytest.mark.parametrize("element", ["i32", "i1", "index", "ui8"])
def test_pairs_of_devices_are_64_bit_integers(op: str, element: str) -> None:
    pair = "[[false, true]]" if element == "i1" else "[[0, 1]]"
    message = refusal(program(op.replace("PAIRS", f"dense<{pair}> : tensor<1x2x{element}>")))
    assert (
        "attribute 'source_target_pairs' failed to satisfy constraint: 64-bit signless integer elements attribute"
        in message
    )
    verify(parse_text(program(op.replace("PAIRS", "dense<[[0, 1]]> : tensor<1x2xi64>"))))


@pytest.mark.parametrize(
    ("attribute", "constraint"),
    [
        ("api_version = 9 : i32", "Custom call API version"),
        ("api_version = -1 : i32", "Custom call API version"),
        ("api_version = 2 : i64", "Custom call API version"),
        ("backend_config = 1", "string attribute or dictionary of named attribute values"),
        ('called_computations = ["s"]', "flat symbol ref array attribute"),
    ],
)
def test_attributes_of_a_custom_call(attribute: str, constraint: str) -> None:
    call = '%0 = "stablehlo.custom_call"(%a) {call_target_name = "x", ATTRIBUTE} : (tensor<4xf32>) -> tensor<4xf32>'
    name = attribute.partition(" ")[0]
    message = refusal(program(call.replace("ATTRIBUTE", attribute)))
    assert message.endswith(f"attribute '{name}' failed to satisfy constraint: {constraint}")
    verify(parse_text(program(call.replace("ATTRIBUTE", "api_version = 0 : i32"))))


@pytest.mark.parametrize(("permutation", "is_right"), [("i64: 1, 0", True), ("i32: 1, 0", False), ("i1: 1, 0", False)])
def test_lists_of_integers_are_of_64_bits(permutation: str, is_right: bool) -> None:
    op = f'%0 = "stablehlo.transpose"(%a) {{permutation = array<{permutation}>}} : (tensor<4x3xf32>) -> tensor<3x4xf32>'
    text = program(op.replace("i1: 1, 0", "i1: true, false"), "%a: tensor<4x3xf32>")
    if is_right:
        verify(parse_text(text))
    else:
        assert "attribute 'permutation' failed to satisfy constraint: i64 dense array attribute" in refusal(text)
