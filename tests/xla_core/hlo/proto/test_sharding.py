"""mhlo.sharding as the bytes of a proto, which JAX writes for many devices."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import xla_core
from tests.xla_core.hlo.structural_equality import structurally_equal
from xla_core.errors import InvalidArgumentError
from xla_core.hlo.proto.sharding import sharding_text
from xla_core.hlo.proto.wire import Message

TEXTS = [
    "{replicated}", "{manual}", "{unknown}", "{maximal device=3}", "{devices=[200]<=[200]}", "{devices=[2,1]0,1}",
    "{devices=[2,2]<=[2,2]T(1,0) last_tile_dim_replicate}", "{devices=[2,1,2]<=[4] last_tile_dims={manual}}",
    "{devices=[1,2,2,2]<=[8] last_tile_dims={manual, unreduced}}", "{replicated shard_as 1}", "{devices=[2]<=[2] shard_like 3}",
    "{{replicated}, {maximal device=0}, {devices=[300]<=[300]}}", "{devices=[3]300,200,100}",
]  # fmt: skip


def program(data: bytes) -> str:
    escaped = "".join(f"\\{byte:02X}" for byte in data)
    return (
        f'func.func @main(%a: tensor<4xf32> {{mhlo.sharding = "{escaped}"}}) -> tensor<4xf32> {{\n'
        "  return %a : tensor<4xf32>\n}\n"
    )


@pytest.mark.parametrize("text", TEXTS)
def test_xlas_bytes(text):
    xla_client = pytest.importorskip("jaxlib.xla_client", reason="jaxlib is not installed")
    data = xla_client.HloSharding.from_string(text).to_proto().SerializeToString()
    assert sharding_text(Message(data)) == text
    if data:  # the replicated one has no bytes
        module = xla_core.parse(program(data))
        assert module.entry.parameters[0].attribute("sharding") == text
        assert structurally_equal(module, xla_core.parse(module.to_text()))


def test_a_sharding_of_two_hundred_devices():
    module = xla_core.parse(program(b"\x08\x03\x1a\x02\xc8\x01J\x02\xc8\x01R\x01\x00"))
    assert module.entry.parameters[0].attribute("sharding") == "{devices=[200]<=[200]}"


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"\x08", "an integer ends at byte 1"),
        (b"\x08\x09", "there is no sharding of type 9"),
        (b"\x1a\x09\x01", "truncated protobuf message: field 3"),
        (b"\x08\x03", "expected replicated"),
        (b"\x08\x03\x1a\x01\x02\x4a\x01\x03", "2 tiles for 3 devices"),
        (b"\x08" + b"\xff" * 20, "more than 10 bytes"),
        (b"\x08\x02\x2a\x04\x08\x02\x2a\x00", "there is no sharding of type 2"),
    ],
)
def test_other_bytes_are_refused(data, message):
    with pytest.raises(InvalidArgumentError, match=message) as caught:
        xla_core.parse(program(data))
    assert caught.value.location is not None


@settings(deadline=None)
@given(st.binary(min_size=1, max_size=40))
def test_any_bytes_are_a_sharding_or_an_error(data):
    try:
        module = xla_core.parse(program(data))
    except InvalidArgumentError:
        return
    assert structurally_equal(module, xla_core.parse(module.to_text()))
