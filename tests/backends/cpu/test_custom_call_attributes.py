"""The attributes of typed custom calls, in every format of programs."""

from __future__ import annotations

import io
import math
import uuid

import numpy as np
import pytest
import xla_backend_cpu

import xla_core as xla
from xla_core.errors import InvalidArgumentError
from xla_core.stablehlo import from_hlo, lower, parse_bytecode, parse_text, write_portable_artifact, write_text

X = np.arange(4, dtype=np.float32)
DICTIONARY = (
    "{a = array<f32: 0x7F800000, 1.0>, d = {z = 0xFF800000 : f32}, dense = dense<[1.0, 0x7F800000]> : tensor<2xf32>, "
    "f = f32, h = 0x7F80 : bf16, huge = 1.0e400 : f64, l = [0x7F800000 : f32, 1 : i32], low = 0xFFF0000000000000 : f64, "
    'n = 3 : i32, nan = 0x7FC00000 : f32, nested = dense<[[1, 2], [3, -4]]> : tensor<2x2xi64>, s = "q", '
    "splat = dense<2.0> : tensor<2x3xf64>, symbol = @other, z = 0x7F800000 : f32}"
)


@pytest.fixture
def call():
    """(target, what its calls were given)."""
    target, seen = f"test.{uuid.uuid4().hex}", []

    def function(call):
        seen.append(dict(call.attributes))
        call.results[0][...] = 0

    xla_backend_cpu.register_custom_call(target, function)
    return target, seen


def pretty(target):
    return f"""func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {{
  %0 = stablehlo.custom_call @{target}(%x) {{api_version = 4 : i32, backend_config = {DICTIONARY}}}
    : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}}
func.func private @other() {{
  return
}}"""


def as_jax_writes_it(target):
    return pretty(target).replace("api_version = 4 : i32, backend_config", 'backend_config = "", mhlo.backend_config')


def hlo_text(target):
    return f"""HloModule typed
ENTRY main {{
  x = f32[4] parameter(0)
  ROOT y = f32[4] custom-call(x), custom_call_target="{target}", api_version=API_VERSION_TYPED_FFI, backend_config={DICTIONARY}
}}"""


def mlir_bytecode(target):
    ir = pytest.importorskip("jaxlib.mlir.ir")
    from jax._src.interpreters import mlir  # no other name has a context with StableHLO

    with mlir.make_ir_context() as context:
        context.allow_unregistered_dialects = True
        out = io.BytesIO()
        ir.Module.parse(pretty(target)).operation.write_bytecode(out)
        return out.getvalue()


def raised(target):
    """Converts HLO to StableHLO and back to HLO text."""
    return lower(parse_text(write_text(from_hlo(xla.parse(hlo_text(target)))))).to_text()


WAYS = {
    "pretty": pretty,
    "jax": as_jax_writes_it,
    "generic": lambda target: write_text(parse_text(pretty(target)), generic=True),
    "written": lambda target: write_text(parse_text(pretty(target))),
    "bytecode": mlir_bytecode,
    "bytecode written": lambda target: write_text(parse_bytecode(mlir_bytecode(target))),
    "artifact": lambda target: write_portable_artifact(parse_text(pretty(target))),
    "old artifact": lambda target: write_portable_artifact(parse_text(pretty(target)), version="1.0.0"),
    "hlo": hlo_text,
    "hlo written": lambda target: xla.parse(pretty(target)).to_text(),
    "raised": raised,
}


@pytest.mark.parametrize("way", WAYS)
def test_every_way_in_gives_the_same(client, call, way):
    target, seen = call
    executable = client.compile(WAYS[way](target))
    executable(X)[0].block_until_ready()
    client.deserialize(executable.serialize())(X)[0].block_until_ready()
    for given in seen:
        assert given["z"] == given["huge"] == given["h"] == given["a"][0] == given["l"][0] == math.inf
        assert given["low"] == given["d"]["z"] == -math.inf
        assert math.isnan(given["nan"])
        assert all(type(given[name]) is float for name in ("z", "huge", "h", "low", "nan"))
        assert (given["n"], given["s"], given["a"][1], given["l"][1]) == (3, "q", 1.0, 1)
        np.testing.assert_array_equal(given["dense"], np.array([1, np.inf], np.float32), strict=True)
        np.testing.assert_array_equal(given["nested"], np.array([[1, 2], [3, -4]]), strict=True)
        np.testing.assert_array_equal(given["splat"], np.full((2, 3), 2.0), strict=True)
        assert (given["f"], given["symbol"]) == (np.dtype(np.float32), "other")
    assert len(seen) == 2


def test_jax_numpy_attributes(client, call):
    jax = pytest.importorskip("jax")
    target, seen = call
    shape = jax.ShapeDtypeStruct(X.shape, X.dtype)
    attributes = {"n": np.int32(3), "thr": np.float32(np.inf), "s": "q", "arr": np.array([1.0, 2.0], np.float32)}
    attributes |= {"many": np.arange(100.0), "t": np.dtype(np.int8), "b": True, "none": np.zeros((0, 2), np.int32)}
    lowered = jax.jit(lambda x: jax.ffi.ffi_call(target, shape)(x, **attributes)).lower(shape)
    client.compile(lowered.as_text())(X)[0].block_until_ready()
    assert (seen[0]["n"], seen[0]["thr"], seen[0]["s"], seen[0]["t"]) == (3, math.inf, "q", np.dtype(np.int8))
    for name in ("arr", "many", "none"):
        np.testing.assert_array_equal(seen[0][name], attributes[name], strict=True)


def test_a_typed_call_whose_dictionary_cannot_be_read_is_refused(client, call):
    target, _ = call
    text = hlo_text(target).replace("symbol = @other", "symbol = other")
    with pytest.raises(InvalidArgumentError, match="no dictionary of MLIR's attributes") as caught:
        client.compile(text)
    assert target in caught.value.message


@pytest.mark.parametrize("value", ["dense<[1, 2]> : tensor<2xi32>", '"x"', '"{}"', "dense<[1, 2]> : tensor<3xi32>"])
def test_an_attribute_without_a_name(client, call, value):
    target, seen = call
    client.compile(hlo_text(target).replace(DICTIONARY, f'{{"" = {value}}}'))(X)[0].block_until_ready()
    expected = np.array([1, 2]) if "2xi32" in value else value.strip('"')
    np.testing.assert_array_equal(seen[0].pop(""), expected)
    assert not seen[0]


def test_a_literal_that_cannot_be_read_leaves_the_rest_readable(client, call):
    target, seen = call
    text = hlo_text(target).replace("[1.0, 0x7F800000]", "[1.0, 2.0, 3.0]")
    client.compile(text)(X)[0].block_until_ready()
    assert (seen[0]["dense"], seen[0]["n"]) == ("dense<[1.0, 2.0, 3.0]> : tensor<2xf32>", 3)
