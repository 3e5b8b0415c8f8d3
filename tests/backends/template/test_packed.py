"""Elements of 4 and 2 bits are packed in the template's memory. Results of programs and transfers don't depend on it."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

import xla_core as xla

TYPES = {
    "i4": (ml_dtypes.int4, 4),
    "ui4": (ml_dtypes.uint4, 4),
    "i2": (ml_dtypes.int2, 2),
    "ui2": (ml_dtypes.uint2, 2),
    "f4E2M1FN": (ml_dtypes.float4_e2m1fn, 4),
}
EACH = pytest.mark.parametrize("element", TYPES)


@pytest.fixture(scope="module")
def client():
    with xla.Client("template") as made:
        yield made


def values(element: str, *shape: int) -> np.ndarray:
    dtype, bits = TYPES[element]
    raw = np.random.default_rng(1).integers(0, 1 << bits, shape, dtype=np.uint8)
    if element.startswith("i"):
        raw = raw.astype(np.int8)
        return np.where(raw >= 1 << (bits - 1), raw - (1 << bits), raw).astype(dtype)
    return raw.astype(dtype) if element.startswith("u") else raw.view(dtype)


@EACH
@pytest.mark.parametrize("shape", [(), (1,), (7,), (3, 5), (4, 4), (0, 3), (2, 3, 5)])
def test_a_buffer_takes_the_bits_it_needs(client: xla.Client, element: str, shape: tuple[int, ...]) -> None:
    x = values(element, *shape)
    buffer = client.buffer_from_host(x)
    assert buffer.byte_size == -(-x.size * TYPES[element][1] // 8)
    np.testing.assert_array_equal(np.asarray(buffer), x)


@EACH
def test_memory_of_the_device_shows_it(client: xla.Client, element: str) -> None:
    """A million elements take half or a quarter of a megabyte."""
    device = client.devices[0]
    device.synchronize()
    before = device.memory_stats().bytes_in_use
    buffer = client.buffer_from_host(values(element, 1 << 20))
    taken = device.memory_stats().bytes_in_use - before
    assert taken == (1 << 20) * TYPES[element][1] // 8
    buffer.delete()


@EACH
def test_programs_read_and_write_packed_buffers(client: xla.Client, element: str) -> None:
    """Odd counts, slices that begin inside a byte, transposes, concatenations."""
    x = values(element, 3, 5)
    t = f"x{element}>"
    text = f"""func.func @main(%x: tensor<3x5{t}) -> (tensor<5x3{t}, tensor<2x3{t}, tensor<6x5{t}, tensor<15{t}, tensor<3x5xf32>) {{
      %0 = stablehlo.transpose %x, dims = [1, 0] : (tensor<3x5{t}) -> tensor<5x3{t}
      %1 = stablehlo.slice %x [1:3, 1:4] : (tensor<3x5{t}) -> tensor<2x3{t}
      %2 = stablehlo.concatenate %x, %x, dim = 0 : (tensor<3x5{t}, tensor<3x5{t}) -> tensor<6x5{t}
      %3 = stablehlo.reshape %x : (tensor<3x5{t}) -> tensor<15{t}
      %4 = stablehlo.convert %x : (tensor<3x5{t}) -> tensor<3x5xf32>
      return %0, %1, %2, %3, %4 : tensor<5x3{t}, tensor<2x3{t}, tensor<6x5{t}, tensor<15{t}, tensor<3x5xf32>
    }}"""
    executable = client.compile(text)
    outs = executable(x)
    want = [x.T, x[1:3, 1:4], np.concatenate([x, x]), x.reshape(15), x.astype(np.float32)]
    for out, expected in zip(outs, want, strict=True):
        np.testing.assert_array_equal(np.asarray(out), expected)
        if expected.dtype != np.float32:
            assert out.byte_size == -(-expected.size * TYPES[element][1] // 8)
    again = executable(client.buffer_from_host(x))  # results of a program as arguments of another
    np.testing.assert_array_equal(np.asarray(client.compile(text)(np.asarray(again[0]).T)[3]), x.reshape(15))


def test_weights_of_four_bits(client: xla.Client) -> None:
    x, w = np.random.default_rng(2).normal(size=(4, 9)).astype(np.float32), values("i4", 9, 5)
    text = """func.func @main(%x: tensor<4x9xf32>, %w: tensor<9x5xi4>) -> tensor<4x5xf32> {
      %0 = stablehlo.convert %w : (tensor<9x5xi4>) -> tensor<9x5xf32>
      %1 = stablehlo.dot_general %x, %0, contracting_dims = [1] x [0] : (tensor<4x9xf32>, tensor<9x5xf32>) -> tensor<4x5xf32>
      return %1 : tensor<4x5xf32>
    }"""
    np.testing.assert_allclose(
        np.asarray(client.compile(text)(x, w)[0]), x @ w.astype(np.float32), rtol=1e-5, atol=1e-5
    )


def test_a_compiled_layout_says_so(client: xla.Client) -> None:
    text = "func.func @main(%x: tensor<3x5xi4>) -> tensor<3x5xi4> {\n  %0 = stablehlo.negate %x : tensor<3x5xi4>\n  return %0 : tensor<3x5xi4>\n}"
    assert "s4[3,5]{1,0:E(4)}" in client.compile(text).as_text()


@EACH
def test_scalar_constants_are_packed_too(client: xla.Client, element: str) -> None:
    x = values(element, 3, 5)
    t = f"x{element}>"
    text = f"""func.func @main(%x: tensor<3x5{t}) -> tensor<5x7{t} {{
      %z = stablehlo.constant dense<1> : tensor<{element}>
      %0 = stablehlo.pad %x, %z, low = [1, 1], high = [1, 1], interior = [0, 0] : (tensor<3x5{t}, tensor<{element}>) -> tensor<5x7{t}
      return %0 : tensor<5x7{t}
    }}""".replace("dense<1>", "dense<1.0>" if element.startswith("f") else "dense<1>")
    want = np.pad(x.astype(np.float32), 1, constant_values=1)
    np.testing.assert_array_equal(np.asarray(client.compile(text)(x)[0]).astype(np.float32), want)


def test_memory_stats_count_packed_bytes(client: xla.Client) -> None:
    exe = client.compile(
        "HloModule m, input_output_alias={ {}: (0, {}, may-alias) }\n\n"
        "ENTRY e {\n  x = s4[1000] parameter(0)\n  ROOT n = s4[1000] negate(x)\n}\n"
    )
    for executable in (exe, client.deserialize(exe.serialize())):
        stats = executable.memory_stats()
        assert (stats.argument_bytes, stats.output_bytes, stats.alias_bytes) == (500, 500, 500)
