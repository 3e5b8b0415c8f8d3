from __future__ import annotations

import numpy as np
import pytest

from tests.xla_core.passes.legalization.devices import PRIMITIVES, SIMPLE, legal, rewritten
from xla_core.errors import UnimplementedError
from xla_core.hlo.parsing.parser import parse_hlo
from xla_core.hlo.table.opcode import Opcode
from xla_core.hlo.values.element_type import ElementType
from xla_core.passes.legalization import legalize
from xla_core.target import Capabilities

T = ElementType

SPECIAL = np.array(
    [0.0, -0.0, 0.5, -0.5, 1.0, -1.0, 1.5, -1.5, 2.5, -2.5, 3.0, 0.1, -0.1, 1e-6, -1e-6, 1e-3, 7.3, -7.3, 20.5, -20.5,
     88.0, 1e9, -1e9, 3e20, -3e20, 2**23 + 1.0, np.inf, -np.inf, np.nan],
    np.float32,
)  # fmt: skip
INTEGERS = np.array([0, 1, -1, 2, 7, -8, 100, 2**31 - 1, -(2**31), 12345, -54321, 65536], np.int32)


@pytest.mark.parametrize(
    "opcode",
    ["negate", "abs", "sign", "is-finite", "rsqrt", "tan", "exponential-minus-one", "log-plus-one", "tanh", "logistic",
     "ceil", "round-nearest-even", "round-nearest-afz"],
)  # fmt: skip
def test_functions_of_floats(opcode: str) -> None:
    result = "pred" if opcode == "is-finite" else "f32"
    x = SPECIAL if opcode != "tan" else SPECIAL[np.abs(SPECIAL) < 100]
    n = len(x)
    with np.errstate(all="ignore"):
        ((expected, found),) = rewritten(
            f"HloModule m\nENTRY e {{\n x = f32[{n}] parameter(0)\n ROOT y = {result}[{n}] {opcode}(x)\n}}\n", x
        )
    np.testing.assert_allclose(found, expected, rtol=3e-6, atol=1e-37)
    if opcode not in ("tan",):
        finite = np.isfinite(expected.astype(np.float64))
        np.testing.assert_array_equal(
            np.signbit(found[finite]), np.signbit(expected[finite])
        ) if result != "pred" else None


@pytest.mark.parametrize("opcode", ["floor", "ceil", "round-nearest-even", "round-nearest-afz", "abs"])
def test_rounding_is_exact(opcode: str) -> None:
    without = Capabilities.all_of([T.F32, T.S32, T.PRED], without=["floor", "ceil", "round-nearest-even",
                                                                  "round-nearest-afz", "abs"])  # fmt: skip
    n = len(SPECIAL)
    ((expected, found),) = rewritten(
        f"HloModule m\nENTRY e {{\n x = f32[{n}] parameter(0)\n ROOT y = f32[{n}] {opcode}(x)\n}}\n",
        SPECIAL,
        capabilities=without,
    )
    np.testing.assert_array_equal(found, expected)
    np.testing.assert_array_equal(np.signbit(found), np.signbit(expected))


@pytest.mark.parametrize("opcode", ["subtract", "minimum", "maximum"])
def test_pairs_of_floats(opcode: str) -> None:
    x, y = (a.reshape(-1) for a in np.meshgrid(SPECIAL, SPECIAL))
    text = f"HloModule m\nENTRY e {{\n x = f32[{x.size}] parameter(0)\n y = f32[{x.size}] parameter(1)\n"
    text += f" ROOT z = f32[{x.size}] {opcode}(x, y)\n}}\n"
    capabilities = SIMPLE.without_ops("maximum").with_ops(["or"], [T.PRED]) if opcode == "maximum" else SIMPLE
    with np.errstate(all="ignore"):
        ((expected, found),) = rewritten(text, x, y, capabilities=capabilities)
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize(
    "opcode", ["subtract", "minimum", "maximum", "remainder", "xor", "or", "shift-right-arithmetic"]
)
@pytest.mark.parametrize("dtype", [np.int32, np.uint32])
def test_pairs_of_integers(opcode: str, dtype: type) -> None:
    x, y = (a.reshape(-1).astype(dtype) for a in np.meshgrid(INTEGERS, INTEGERS))
    name = "s32" if dtype is np.int32 else "u32"
    if opcode == "shift-right-arithmetic":
        y = (y % 40).astype(dtype)
    text = f"HloModule m\nENTRY e {{\n x = {name}[{x.size}] parameter(0)\n y = {name}[{x.size}] parameter(1)\n"
    text += f" ROOT z = {name}[{x.size}] {opcode}(x, y)\n}}\n"
    ((expected, found),) = rewritten(text, x, y)
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("opcode", ["abs", "sign", "negate", "not", "popcnt", "count-leading-zeros"])
def test_functions_of_integers(opcode: str) -> None:
    n = len(INTEGERS)
    text = f"HloModule m\nENTRY e {{\n x = s32[{n}] parameter(0)\n ROOT y = s32[{n}] {opcode}(x)\n}}\n"
    ((expected, found),) = rewritten(text, INTEGERS)
    np.testing.assert_array_equal(found, expected)


def test_predicates():
    text = """
HloModule m
ENTRY e {
  x = pred[4] parameter(0)
  y = pred[4] parameter(1)
  a = pred[4] and(x, y)
  o = pred[4] or(x, y)
  e = pred[4] xor(x, y)
  n = pred[4] not(x)
  ROOT t = (pred[4], pred[4], pred[4], pred[4]) tuple(a, o, e, n)
}
"""
    x, y = np.array([0, 0, 1, 1], bool), np.array([0, 1, 0, 1], bool)
    for expected, found in rewritten(text, x, y, capabilities=SIMPLE.without_ops("and", "not")):
        np.testing.assert_array_equal(found, expected)


def test_structured_ops():
    text = """
HloModule m
add { a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = f32[] add(a, b) }
ENTRY e {
  x = f32[2,5,6] parameter(0)
  y = f32[2,6,3] parameter(1)
  d = f32[2,5,3] dot(x, y), lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_contracting_dims={1}
  r = f32[2,5,6] reverse(x), dimensions={1,2}
  zero = f32[] constant(0)
  w = f32[2,3,6] reduce-window(x, zero), window={size=1x3x2 stride=1x2x1 pad=0_0x1_1x0_1}, to_apply=add
  c = f32[2,10,6] concatenate(x, r), dimensions={1}
  lo = f32[] constant(-1)
  hi = f32[] constant(2)
  k = f32[2,5,6] clamp(lo, x, hi)
  ROOT t = (f32[2,5,3], f32[2,5,6], f32[2,3,6], f32[2,10,6], f32[2,5,6]) tuple(d, r, w, c, k)
}
"""
    rng = np.random.default_rng(0)
    x, y = rng.integers(-4, 5, (2, 5, 6)).astype("f"), rng.integers(-4, 5, (2, 6, 3)).astype("f")
    for expected, found in rewritten(text, x, y, capabilities=SIMPLE.without_ops("dot", "concatenate", "maximum")
                                .with_ops(["concatenate"], [T.F32])):  # fmt: skip
        np.testing.assert_array_equal(found, expected)
    for expected, found in rewritten(text, x, y, capabilities=SIMPLE.without_ops("concatenate")):
        np.testing.assert_array_equal(found, expected)


def test_small_integers_go_through_wide_ones_where_that_is_exact():
    x, y = (a.reshape(-1).astype(np.int8) for a in np.meshgrid(np.arange(-128, 128), np.arange(-128, 128, 5)))
    capabilities = Capabilities.all_of([T.S32, T.PRED]).with_ops(["convert"], [T.S8])
    for opcode in ("add", "multiply", "divide", "remainder", "maximum", "and"):
        text = f"HloModule m\nENTRY e {{\n x = s8[{x.size}] parameter(0)\n y = s8[{x.size}] parameter(1)\n"
        text += f" ROOT z = s8[{x.size}] {opcode}(x, y)\n}}\n"
        ((expected, found),) = rewritten(text, x, y, capabilities=capabilities)
        np.testing.assert_array_equal(found, expected)
    text = "HloModule m\nENTRY e {\n x = s8[4] parameter(0)\n ROOT z = s8[4] popcnt(x)\n}\n"
    with pytest.raises(UnimplementedError):
        legal(parse_hlo(text), capabilities)


def test_complex_arithmetic_by_parts():
    text = """
HloModule m
ENTRY e {
  x = c64[6] parameter(0)
  y = c64[6] parameter(1)
  p = c64[6] multiply(x, y)
  s = c64[6] subtract(p, y)
  n = c64[6] negate(s)
  e = c64[6] exponential(x)
  a = f32[6] abs(y)
  b = c64[2,6] broadcast(n), dimensions={1}
  q = pred[6] compare(x, y), direction=EQ
  ROOT t = (c64[2,6], c64[6], f32[6], pred[6]) tuple(b, e, a, q)
}
"""
    capabilities = SIMPLE.with_ops(["real", "imag", "complex"], [T.F32, T.C64])
    rng = np.random.default_rng(0)
    x, y = (rng.normal(size=6) + 1j * rng.normal(size=6) for _ in range(2))
    y[0] = x[0]
    for expected, found in rewritten(text, x.astype("F"), y.astype("F"), capabilities=capabilities):
        np.testing.assert_allclose(found, expected, rtol=1e-5)


def test_what_cannot_be_rewritten_is_listed_with_its_place():
    text = """
HloModule m
ENTRY e {
  x = f32[4,4] parameter(0)
  c = f32[4,4] custom-call(x), custom_call_target="chol", metadata={op_name="jit(f)/chol" source_file="user.py" source_line=7}
  s = f32[4,4] atan2(c, x), metadata={op_name="jit(f)/angle" source_file="user.py" source_line=9}
  ROOT d = f64[4,4] convert(s)
}
"""
    with pytest.raises(UnimplementedError) as caught:
        legal(parse_hlo(text), Capabilities.all_of([T.F32, T.PRED], opcodes=PRIMITIVES))
    message = str(caught.value)
    assert "cannot run 3 instructions" in message
    for part in (
        "user.py:7",
        "user.py:9",
        "the device has no custom call 'chol'",
        "there is no atan2",
        "the device holds no f64",
    ):
        assert part in message


def test_a_target_brings_its_own_decompositions():
    def own(i, b):
        return b.add("multiply", i.operand(0), i.operand(0))

    module = parse_hlo("HloModule m\nENTRY e {\n x = f32[4] parameter(0)\n ROOT z = f32[4] cosine(x)\n}\n")
    capabilities = Capabilities.all_of([T.F32], opcodes=["multiply"])
    legalize(module, capabilities.check, {"cosine": [own]})
    assert module.entry.root.opcode == "multiply"


def test_what_is_supported_is_left_alone():
    module = parse_hlo("HloModule m\nENTRY e {\n x = f32[4] parameter(0)\n ROOT z = f32[4] tanh(x)\n}\n")
    assert not legalize(module, Capabilities.all_of().check)


def _no_total_order(i):
    return "only numbers are compared" if i.attribute("type") == "TOTALORDER" else None


@pytest.mark.parametrize("kind", ["f32", "bf16"])
def test_a_total_order_becomes_one_of_integers(kind: str) -> None:
    x, y = (a.reshape(-1).astype(T(kind).dtype) for a in np.meshgrid(SPECIAL, SPECIAL))
    text = f"""
HloModule m
ENTRY e {{
  x = {kind}[{x.size}] parameter(0)
  y = {kind}[{x.size}] parameter(1)
  ROOT r = pred[{x.size}] compare(x, y), direction=LT, type=TOTALORDER
}}
"""
    capabilities = SIMPLE.with_constraint("compare", _no_total_order).with_ops(
        ["parameter", "convert", "bitcast-convert"], [T.BF16, T.S16]
    )
    ((expected, found),) = rewritten(text, x, y, capabilities=capabilities)
    np.testing.assert_array_equal(found, expected)


def _of_one_type(i):
    types = {i.shape.element_type, *(o.shape.element_type for o in i.operands)}
    return "a product has one type" if len(types) > 1 else None


@pytest.mark.parametrize(("narrow", "wide"), [("f32", "f64"), ("bf16", "f32"), ("bf16", "f64")])
def test_products_with_a_wider_result_are_computed_in_its_type(narrow: str, wide: str) -> None:
    text = f"""
HloModule m
ENTRY e {{
  x = {narrow}[4,8] parameter(0)
  y = {narrow}[8,4] parameter(1)
  ROOT r = {wide}[4,4] dot(x, y), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}
}}
"""
    capabilities = Capabilities.all_of([T.F32, T.F64, T.BF16]).with_constraint("dot", _of_one_type)
    assert [i.opcode for i in legal(parse_hlo(text), capabilities).entry.instructions].count("dot") == 1
    rng = np.random.default_rng(0)
    arguments = [rng.integers(-8, 8, s).astype(T(narrow).dtype) for s in ((4, 8), (8, 4))]
    ((expected, found),) = rewritten(text, *arguments, capabilities=capabilities)
    np.testing.assert_array_equal(found, expected)


def test_an_op_that_the_host_would_run_in_pieces_stays_whole() -> None:
    """The order in which a pass added the instructions doesn't matter."""
    text = """HloModule m
less {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT r = pred[] compare(a, b), direction=LT
}
ENTRY e {
  x = f32[40] parameter(0)
  sorted = f32[40] sort(x), dimensions={0}, to_apply=less
  ROOT r = f32[40] add(sorted, x)
}
"""
    module = parse_hlo(text)
    (x, sort, _) = module.entry.instructions
    sort.replace_operand(0, module.entry.add(Opcode.ADD, x, x))
    legalize(module, Capabilities().with_ops([Opcode.ADD], [ElementType.F32]).check, refuse=False)
    assert sorted(i.opcode for i in module.entry.instructions) == ["add", "add", "parameter", "sort"]


def test_an_op_that_the_host_would_run_in_a_loop_stays_whole() -> None:
    text = """HloModule m
ENTRY e {
  x = f32[400,3] parameter(0)
  i = s32[30] parameter(1)
  y = f32[400,3] add(x, x)
  ROOT g = f32[30,3] gather(y, i), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1,
    slice_sizes={1,3}
}
"""
    module = parse_hlo(text)
    legalize(module, Capabilities().with_ops([Opcode.ADD], [ElementType.F32]).check, refuse=False)
    assert [i.opcode for i in module.entry.instructions] == ["parameter", "parameter", "add", "gather"]


def test_a_fusion_becomes_its_instructions() -> None:
    text = """HloModule m
inside {
  x = f32[3] parameter(0)
  y = f32[3] negate(x)
  ROOT r = (f32[3], f32[3]) tuple(y, x)
}
ENTRY e {
  x = f32[3] parameter(0)
  y = f32[3] add(x, x)
  f = (f32[3], f32[3]) fusion(y), kind=kLoop, calls=inside
  ROOT z = f32[3] get-tuple-element(f), index=0
}
"""
    ((expected, found),) = rewritten(text, np.arange(3, dtype=np.float32))
    np.testing.assert_array_equal(found, expected)
