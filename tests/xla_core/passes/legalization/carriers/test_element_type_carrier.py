"""Values that are carried in another type keep every bit."""

from __future__ import annotations

import numpy as np
import pytest

import xla_core as xla
from xla_core.hlo.table.op_table import OPS
from xla_core.hlo.table.opcode import Opcode
from xla_core.hlo.values.element_type import ElementType
from xla_core.hlo.verifier import verify
from xla_core.passes.legalization.carriers import ConstantsOfLackingTypes, ElementTypeCarrier
from xla_core.target import Capabilities

T = ElementType
FEW = Capabilities().with_ops([Opcode.ADD], [T.F32, T.S32, T.PRED])
INTEGERS = (T.U32, T.U16, T.S16, T.U8, T.S8, T.U4, T.S4, T.U2, T.S2)
FLOATS = tuple(t for t in T if t.is_floating and t.bit_width <= 16)
ELEMENTWISE = [
    *("add", "subtract", "multiply", "divide", "remainder", "maximum", "minimum", "and", "or", "xor"),
    *("shift-left", "shift-right-logical", "shift-right-arithmetic"),
    *("negate", "abs", "sign", "not", "popcnt", "count-leading-zeros", "clamp"),
]
DIRECTIONS = ("EQ", "NE", "LT", "LE", "GT", "GE")


def carried(text: str, *arguments: np.ndarray) -> xla.HloModule:
    """Carries the types of a program, and compares its results bit by bit."""
    module = xla.parse(text)
    before = xla.evaluate(module, *arguments)
    with np.errstate(all="ignore"):
        assert ElementTypeCarrier(FEW).run(module)
        verify(module)
        after = xla.evaluate(module, *arguments)
    for expected, found in zip(before, after, strict=True):
        np.testing.assert_array_equal(np.asarray(found), np.asarray(expected))
        assert found.dtype == expected.dtype
    return module


OUTSIDE = ("parameter", "convert", "bitcast-convert", "bitcast", "reshape", "concatenate", "slice", "constant")
"""How parameters and results are read and written. Constants of a narrow type fill their last word."""


def types_of(module: xla.HloModule) -> set[ElementType]:
    """The element types of the computed values."""
    inner = [i for i in module.entry.instructions if i.opcode not in OUTSIDE]
    return {leaf.element_type for i in inner for leaf in i.shape.leaves()}


def ends(kind: ElementType) -> np.ndarray:
    low, high = kind.integer_range
    numbers = {
        low,
        low + 1,
        low // 2,
        -2,
        -1,
        0,
        1,
        2,
        3,
        7,
        kind.bit_width - 1,
        high // 2,
        high // 2 + 1,
        high - 1,
        high,
    }
    return np.array(sorted(n for n in numbers if low <= n <= high), object).astype(kind.dtype)


@pytest.mark.parametrize("kind", INTEGERS, ids=str)
@pytest.mark.parametrize("opcode", ELEMENTWISE)
def test_integers_keep_every_bit(opcode: str, kind: ElementType) -> None:
    count = OPS[Opcode(opcode)].arity
    arrays = [a.reshape(-1) for a in np.meshgrid(*[ends(kind)] * count)]
    n = arrays[0].size
    lines = "".join(f"  p{k} = {kind}[{n}] parameter({k})\n" for k in range(count))
    operands = ", ".join(f"p{k}" for k in range(count))
    module = carried(f"HloModule m\n\nENTRY e {{\n{lines}  ROOT r = {kind}[{n}] {opcode}({operands})\n}}\n", *arrays)
    assert types_of(module) <= {T.S32, T.PRED}


@pytest.mark.parametrize("kind", [T.U32, T.U8, T.S8], ids=str)
@pytest.mark.parametrize("direction", DIRECTIONS)
def test_integers_keep_their_order(direction: str, kind: ElementType) -> None:
    x, y = (a.reshape(-1) for a in np.meshgrid(ends(kind), ends(kind)))
    lines = f"  x = {kind}[{x.size}] parameter(0)\n  y = {kind}[{x.size}] parameter(1)\n"
    carried(
        f"HloModule m\n\nENTRY e {{\n{lines}  ROOT r = pred[{x.size}] compare(x, y), direction={direction}\n}}\n", x, y
    )


NUMBERS = np.array(
    [0.0, -0.0, 0.5, -0.5, 1.5, 2.5, -1.5, 7.0, 8.0, -8.0, -9.0, 127.6, 255.0, 255.9, 256.0, -128.9, 65504.0, 65519.9,
     65520.0, 2.0**-14, 2.0**-24, 2.0**-25, 3 * 2.0**-25, 1e-7, -1e-7, 1e-30, 2.0**31, 2.0**31 + 256, 4294967040.0, 2.0**32,
     3e9, -3e9, 1e20, 3.39e38, np.inf, -np.inf, np.nan],
    np.float32,
)  # fmt: skip


@pytest.mark.parametrize("kind", [*INTEGERS, *FLOATS], ids=str)
def test_conversions_of_floats_keep_every_bit(kind: ElementType) -> None:
    n = NUMBERS.size
    module = carried(
        f"HloModule m\n\nENTRY e {{\n  x = f32[{n}] parameter(0)\n  y = {kind}[{n}] convert(x)\n"
        f"  b = pred[{n}] convert(y)\n  z = f32[{n}] convert(y)\n  ROOT t = (f32[{n}], pred[{n}]) tuple(z, b)\n}}\n",
        NUMBERS,
    )
    assert types_of(module) <= {T.F32, T.S32, T.PRED}


@pytest.mark.parametrize("source", [*INTEGERS, T.S32, T.S64, T.U64], ids=str)
@pytest.mark.parametrize("target", [*INTEGERS, T.S32, T.F32, T.S64, T.U64, T.F64], ids=str)
def test_conversions_of_integers_keep_every_bit(source: ElementType, target: ElementType) -> None:
    if source is not target and {source, target} & set(INTEGERS):
        x = ends(source)
        carried(
            f"HloModule m\n\nENTRY e {{\n  x = {source}[{x.size}] parameter(0)\n"
            f"  ROOT y = {target}[{x.size}] convert(x)\n}}\n",
            x,
        )


@pytest.mark.parametrize("source", [T.S32, T.U32], ids=str)
@pytest.mark.parametrize("target", FLOATS, ids=str)
def test_integers_that_f32_does_not_hold_are_rounded_once(source: ElementType, target: ElementType) -> None:
    near = np.array([(m << k) + d for m in range(128, 512) for k in range(24) for d in (-1, 0, 1)])
    x = np.concatenate([near, -near]).astype(np.uint32).view(source.dtype)
    carried(
        f"HloModule m\n\nENTRY e {{\n  x = {source}[{x.size}] parameter(0)\n  y = {target}[{x.size}] convert(x)\n"
        f"  ROOT z = f32[{x.size}] convert(y)\n}}\n",
        x,
    )


@pytest.mark.parametrize("kind", FLOATS, ids=str)
def test_floats_round_as_numpy_does(kind: ElementType) -> None:
    x = np.random.default_rng(0).integers(0, 2**32, 1 << 16, dtype=np.uint32).view(np.float32)
    x = np.concatenate([x, np.ldexp(np.random.default_rng(1).normal(size=1 << 14), -20).astype(np.float32)])
    carried(
        f"HloModule m\n\nENTRY e {{\n  x = f32[{x.size}] parameter(0)\n  y = {kind}[{x.size}] convert(x)\n"
        f"  ROOT z = f32[{x.size}] convert(y)\n}}\n",
        x,
    )


@pytest.mark.parametrize(
    ("source", "target"),
    [
        ("u32", "f32"),
        ("f32", "u32"),
        ("u16", "s16"),
        ("bf16", "u16"),
        ("u16", "bf16"),
        ("s8", "u8"),
        ("f16", "u16"),
        ("u16", "f16"),
        ("f16", "bf16"),
    ],
)
def test_bits_are_kept(source: str, target: str) -> None:
    kind = T(source)
    words = np.arange(0, 1 << min(kind.bit_width, 16), 7).astype(f"u{max(kind.bit_width, 8) // 8}")
    words = words * np.uint32(65521) if kind.bit_width == 32 else words
    if "bf16" in (source, target):
        words = words[words & 0x7F80 != 0x7F80]  # numpy changes the bits of NaNs
    if "f16" in (source, target):
        words = words[words & 0x7C00 != 0x7C00]
    x = words.view(kind.dtype)
    carried(
        f"HloModule m\n\nENTRY e {{\n  x = {source}[{x.size}] parameter(0)\n"
        f"  ROOT y = {target}[{x.size}] bitcast-convert(x)\n}}\n",
        x,
    )


@pytest.mark.parametrize("opcode", ["add", "subtract", "multiply", "divide", "maximum"])
@pytest.mark.parametrize("kind", [t for t in FLOATS if t.bit_width <= 8], ids=str)
def test_arithmetic_of_small_floats_keeps_every_bit(kind: ElementType, opcode: str) -> None:
    every = np.arange(1 << kind.bit_width, dtype=np.uint8)
    x, y = (a.reshape(-1).view(kind.dtype) for a in np.meshgrid(every, every))
    shape = f"{kind}[{x.size}]"
    text = f"HloModule m\nENTRY e {{\n  x = {shape} parameter(0)\n  y = {shape} parameter(1)\n  z = {shape} {opcode}(x, y)\n"
    carried(f"{text}  ROOT r = f32[{x.size}] convert(z)\n}}\n", x, y)


@pytest.mark.parametrize("kind", [T.BF16, T.F16], ids=str)
def test_a_nan_whose_bits_the_type_lacks_stays_one(kind: ElementType) -> None:
    bits = np.array([0x7F800001, 0xFF800001, 0x7F800000, 0xFF81FFFF, 0x7FC00000, 0x3F800001], np.uint32)
    text = f"HloModule m\nENTRY e {{ x = f32[6] parameter(0)\n ROOT y = {kind}[6] convert(x) }}"
    module = xla.parse(text)
    assert ElementTypeCarrier(FEW).run(module)
    with np.errstate(invalid="ignore"):
        (found,) = xla.evaluate(module, bits.view(np.float32))
    wanted = np.array([np.nan, np.nan, np.inf, np.nan, np.nan, 1], np.float32)
    np.testing.assert_array_equal(np.asarray(found).astype(np.float32), wanted)


def test_indices_that_are_too_large_for_s32_stay_too_large() -> None:
    text = """HloModule m

ENTRY e {
  x = f32[8] parameter(0)
  n = u32[] parameter(1)
  ROOT y = f32[2] dynamic-slice(x, n), dynamic_slice_sizes={2}
}
"""
    for n in (0, 3, 7, 2**31 + 1):
        carried(text, np.arange(8, dtype=np.float32), np.uint32(n))


def test_ops_without_a_rule_are_computed_in_a_wider_type() -> None:
    module = carried(
        "HloModule m\n\nENTRY e {\n  x = f32[4] parameter(0)\n  y = bf16[4] convert(x)\n  z = bf16[4] tanh(y)\n"
        "  ROOT r = f32[4] convert(z)\n}\n",
        np.float32([0.1, -2, 3, 0]),
    )
    assert types_of(module) == {T.F32}


def test_effects_keep_their_types_and_their_order() -> None:
    text = """HloModule m

ENTRY e {
  x = u32[4] parameter(0)
  t = token[] after-all()
  y = u32[4] multiply(x, x)
  ROOT o = token[] outfeed(y, t)
}
"""
    module = xla.parse(text)
    ElementTypeCarrier(FEW).run(module)
    verify(module)
    outfeed = next(i for i in module.entry.instructions if i.opcode == "outfeed")
    assert outfeed.operand(0).shape.element_type is T.U32


@pytest.mark.parametrize(
    ("source", "target"),
    [("f32[5]", "u8[5,4]"), ("u32[2,3]", "s16[2,3,2]"), ("s16[3]", "u8[3,2]"), ("bf16[4]", "s8[4,2]"), ("u8[6]", "u4[6,2]"),
     ("s8[5,4]", "s32[5]"), ("u16[2,3,2]", "f32[2,3]"), ("u8[3,2]", "f16[3]"), ("s4[3,2]", "u8[3]"), ("f16[2,2]", "u32[2]")],
)  # fmt: skip
def test_bits_of_numbers_of_other_widths_are_kept(source: str, target: str) -> None:
    shape = xla.parse(f"HloModule m\nENTRY e {{ ROOT x = {source} parameter(0) }}").result_shape
    kind = shape.element_type
    x = np.random.default_rng(0).integers(
        0, 1 << min(kind.bit_width, 8), shape.num_elements * kind.byte_width, np.uint8
    )
    x &= 0x5B if kind.is_floating or target[0] in "bf" else 0xFF  # no NaN
    x = x.view(kind.dtype) if kind.bit_width >= 8 else x.astype(kind.dtype)
    text = f"HloModule m\nENTRY e {{\n  x = {source} parameter(0)\n  ROOT y = {target} bitcast-convert(x)\n}}\n"
    carried(text, x.reshape(shape.dimensions))


def test_what_has_no_rule_keeps_its_types() -> None:
    text = """HloModule m

ENTRY e {
  x = u32[4,2] parameter(0)
  y = u32[4,2] add(x, x)
  b = u64[4] bitcast-convert(y)
  r = u64[4] reverse(b), dimensions={0}
  ROOT z = u32[4,2] bitcast-convert(r)
}
"""
    carried(text, np.array([[1, 2**31], [77, 2**32 - 1], [0, 5], [6, 7]], np.uint32))


def test_the_computation_of_a_collective_keeps_its_types() -> None:
    text = """HloModule m

add {
  a = u32[] parameter(0)
  b = u32[] parameter(1)
  ROOT c = u32[] add(a, b)
}

ENTRY e {
  x = u32[4] parameter(0)
  zero = u32[] constant(0)
  s = u32[4] all-reduce(x), replica_groups={}, to_apply=add
  ROOT r = u32[] reduce(s, zero), dimensions={0}, to_apply=add
}
"""
    carried(text, np.array([1, 2**31, 77, 2**32 - 1], np.uint32))


def test_a_target_that_computes_in_a_type_keeps_it() -> None:
    text = "HloModule m\n\nENTRY e {\n  x = u32[4] parameter(0)\n  ROOT y = u32[4] add(x, x)\n}\n"
    assert not ElementTypeCarrier(FEW.with_ops([Opcode.ADD], [T.U32])).run(xla.parse(text))
    assert not ElementTypeCarrier(Capabilities().with_ops([Opcode.ADD], [T.F32])).run(xla.parse(text))


def test_constants_of_types_that_are_lacking_are_computed() -> None:
    text = """HloModule m

ENTRY e {
  n = u64[6] iota(), iota_dimension=0
  k = u64[] constant(4294967299)
  w = u64[6] broadcast(k), dimensions={}
  m = u64[6] multiply(n, w)
  half = u64[] constant(32)
  halves = u64[6] broadcast(half), dimensions={}
  high = u64[6] shift-right-logical(m, halves)
  ROOT r = u32[6] convert(high)
}
"""
    module = xla.parse(text)
    (before,) = xla.evaluate(module)
    assert ConstantsOfLackingTypes(FEW).run(module)
    assert [i.opcode for i in module.entry.instructions] == ["constant"]
    np.testing.assert_array_equal(xla.evaluate(module)[0], before)


def test_a_long_chain_of_a_lacking_type_is_computed() -> None:
    lines = "\n".join(f"  c{n + 1} = u64[2] add(c{n}, one)" for n in range(3000))
    text = f"""HloModule chain
ENTRY e {{
  one = u64[2] constant({{1, 1}})
  c0 = u64[2] iota(), iota_dimension=0
{lines}
  ROOT r = s32[2] convert(c3000)
}}"""
    module = xla.parse(text)
    assert ConstantsOfLackingTypes(FEW).run(module)
    np.testing.assert_array_equal(module.entry.root.literal.array, [3000, 3001])
