"""Products by cuBLASLt, whose stub computes in the memory of the emulated device."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

pytest.importorskip("xla_backend_gpu", reason="xla-backend-gpu is not installed")


import xla_core as xla

CALL = '"__cublas$lt$matmul"'


@pytest.fixture(scope="module")
def client(library: Path) -> Iterator[xla.Client]:
    """An emulated device that has the library."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XLA_CORE_FLAGS", f"--xla_gpu_emulate --xla_gpu_cublas_library={library}")
        with xla.Client("gpu") as made:
            yield made


def compiled(client: xla.Client, text: str, products: str = "library", **more: object) -> xla.LoadedExecutable:
    return client.compile(text, xla.CompileOptions(backend={"products": products, **more}))


def config_of(executable: xla.LoadedExecutable) -> dict:
    """The `backend_config` of the only call of the library."""
    (line,) = [line for line in executable.as_text().splitlines() if CALL in line]
    return json.loads(line.partition("backend_config=")[2])


def values(rng: np.random.Generator, *shape: int, dtype: object = np.float32) -> np.ndarray:
    """Small integers, whose sums of products every type has exactly."""
    return rng.integers(-2, 3, shape).astype(dtype)


def product(m: int, n: int, k: int, *, type: str = "f32", result: str = "", more: str = "", root: str = "d") -> str:
    text = f"""HloModule product
ENTRY main {{
  x = {type}[{m},{k}] parameter(0)
  y = {type}[{k},{n}] parameter(1)
  d = {result or type}[{m},{n}] dot(x, y), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}
{more}
}}
"""
    return text.replace(f"  {root} =", f"  ROOT {root} =")


# -- programs ---------------------------------------------------------------------------------------------------------


def test_a_dot_is_a_call_and_stays_one_when_it_is_stored(client: xla.Client) -> None:
    text, rng = product(5, 7, 70), np.random.default_rng(0)
    x, y = values(rng, 5, 70), values(rng, 70, 7)
    executable = compiled(client, text)
    assert "MatmulThunk d_cublas" in executable.artifacts()["thunks"]
    assert config_of(executable)["workspace_bytes"] == 4096
    assert executable.memory_stats().temp_bytes == 4096
    assert not any(where.on_host for where in executable.placement())
    assert executable.cost_analysis() == compiled(client, text, "own").cost_analysis()
    again = client.deserialize(executable.serialize())
    for each in (executable, again):
        np.testing.assert_array_equal(np.asarray(each(x, y)[0]), x @ y)
    np.testing.assert_array_equal(xla.evaluate(executable.as_text(), x, y)[0], x @ y)


def test_a_program_for_the_library_where_it_is_missing(client: xla.Client, monkeypatch: pytest.MonkeyPatch) -> None:
    stored = compiled(client, product(5, 7, 3)).serialize()
    monkeypatch.setenv("XLA_CORE_FLAGS", "--xla_gpu_emulate")
    with xla.Client("gpu") as other:
        with pytest.raises(xla.FailedPreconditionError, match="product \\(d_cublas\\) calls cuBLASLt") as caught:
            other.deserialize(stored)
        assert "xla-backend-gpu[cublas]" in caught.value.hint
        assert CALL not in compiled(other, product(5, 7, 3)).as_text()
        text = compiled(client, product(5, 7, 3)).as_text()
        with pytest.raises(xla.FailedPreconditionError, match="calls cuBLASLt, which this device does not have"):
            other.compile(text)


def test_a_program_with_calls_is_compiled_again(client: xla.Client) -> None:
    """An optimized program, as it is dumped, runs as it is."""
    text, rng = compiled(client, DENSE).as_text(), np.random.default_rng(0)
    arguments = [values(rng, *shape) for shape in ((4, 8, 16), (16, 12), (12,), (4, 8, 12))]
    executable = compiled(client, text)
    assert CALL in executable.as_text()
    np.testing.assert_array_equal(np.asarray(executable(*arguments)[0]), xla.evaluate(DENSE, *arguments)[0])


def test_a_library_that_is_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XLA_CORE_FLAGS", "--xla_gpu_emulate --xla_gpu_cublas_library=/no/such/library.so")
    with xla.Client("gpu") as client, pytest.raises(xla.FailedPreconditionError, match="no/such/library"):
        compiled(client, product(5, 7, 3))


@pytest.mark.parametrize(("products", "size", "calls"), [("own", 256, 0), ("auto", 8, 0), ("auto", 256, 1)])
def test_the_cost_decides(client: xla.Client, products: str, size: int, calls: int) -> None:
    assert compiled(client, product(size, size, size), products).as_text().count(CALL) == calls


@pytest.mark.parametrize(("size", "calls"), [(256, 0), (512, 1)])
@pytest.mark.parametrize("place", ["before", "after"])
def test_the_cost_counts_what_own_kernels_compute_besides(
    client: xla.Client, size: int, calls: int, place: str
) -> None:
    """An own kernel computes the exponentials too, which are a kernel of their own beside a call."""
    text = f"""HloModule m

ENTRY main {{
  x = f32[{size * size}] parameter(0)
  y = f32[{size},{size}] parameter(1)
  e = f32[{size * size}] exponential(x)
  r = f32[{size},{size}] reshape({"e" if place == "before" else "x"})
  d = f32[{size},{size}] dot(r, y), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}
  s = f32[{size * size}] reshape(d)
  ROOT f = f32[{size * size}] {"copy" if place == "before" else "exponential"}(s)
}}
"""
    assert compiled(client, text, "auto").as_text().count(CALL) == calls


def test_measured_products_are_measured_once(client: xla.Client, tmp_path: Path) -> None:
    path, rng = tmp_path / "plans.json", np.random.default_rng(0)
    x, y = values(rng, 4, 100), values(rng, 100, 8)
    for _ in range(2):
        executable = compiled(client, product(4, 8, 100), "measured", autotune_cache=str(path))
        np.testing.assert_array_equal(np.asarray(executable(x, y)[0]), x @ y)
        (choice,) = json.loads(path.read_text()).values()
        assert (choice.get("form") == "library") == (CALL in executable.as_text())
    path.write_text(json.dumps({key: {} for key in json.loads(path.read_text())}))
    assert CALL not in compiled(client, product(4, 8, 100), "measured", autotune_cache=str(path)).as_text()


@pytest.mark.parametrize(
    ("changed", "says"),
    [
        ({"epilogue": "BIAS"}, "it has 2 operands, not 3"),
        ({"epilogue": "NONE"}, "epilogue"),
        ({"lhs_contracting_dims": [0]}, "contract"),
        ({"lhs_contracting_dims": [7]}, "7"),
        ({"compute_type": "s32"}, "does not multiply"),
        ({"more": 1}, "more"),
    ],
)
def test_a_damaged_call_is_refused(client: xla.Client, changed: dict, says: str) -> None:
    executable = compiled(client, product(5, 7, 3))
    before = json.dumps(config_of(executable), separators=(",", ":"))
    after = json.dumps(json.loads(before) | changed, separators=(",", ":"))
    fields = json.loads(executable._compilation("").serialize())
    assert before in fields["hlo"]
    fields["hlo"] = fields["hlo"].replace(before, after)
    with pytest.raises(xla.InvalidArgumentError, match=says):
        client.platform.compiler.deserialize(json.dumps(fields).encode())


# -- every product against the evaluator ------------------------------------------------------------------------------

GELU = """
  d3 = {t} multiply({s}, {s})
  d4 = {t} multiply(d3, {s})
  c1 = {e}[] constant(0.044715)
  b1 = {t} broadcast(c1), dimensions={{}}
  d5 = {t} multiply(b1, d4)
  d6 = {t} add({s}, d5)
  c2 = {e}[] constant(0.7978845608)
  b2 = {t} broadcast(c2), dimensions={{}}
  d7 = {t} multiply(d6, b2)
  d8 = {t} tanh(d7)
  c3 = {e}[] constant(1)
  b3 = {t} broadcast(c3), dimensions={{}}
  d9 = {t} add(b3, d8)
  c4 = {e}[] constant(0.5)
  b4 = {t} broadcast(c4), dimensions={{}}
  d10 = {t} multiply(d9, b4)
  r = {t} multiply({s}, d10)
"""

TYPES = {
    "f32": np.float32,
    "f64": np.float64,
    "f16": np.float16,
    "bf16": ml_dtypes.bfloat16,
    "s8": np.int8,
    "s32": np.int32,
    "f8e4m3fn": ml_dtypes.float8_e4m3fn,
    "f8e5m2": ml_dtypes.float8_e5m2,
}
PRODUCTS = [
    ("f32", "f32", "f32"),
    ("f64", "f64", "f64"),
    ("f16", "f16", "f16"),
    ("f16", "f16", "f32"),
    ("bf16", "bf16", "bf16"),
    ("bf16", "bf16", "f32"),
    ("s8", "s8", "s32"),
    ("f8e4m3fn", "f8e4m3fn", "f32"),
    ("f8e4m3fn", "f8e5m2", "bf16"),
    ("f8e5m2", "f8e4m3fn", "f16"),
]


@st.composite
def programs(draw: st.DrawFn) -> tuple[str, list[tuple[tuple[int, ...], str]], str]:
    """Returns a program, the shapes and types of its parameters, and the epilogue that it should get."""
    left, right, result = draw(st.sampled_from(PRODUCTS))
    eight = left in ("s8", "f8e4m3fn", "f8e5m2")
    unit = {"s8": 4}.get(left, 16) if eight else 1
    m, n, k = (unit * draw(st.integers(*((1, 2) if eight else (2, 9)))) for _ in range(3))
    k = k if eight else draw(st.sampled_from([k, 70]))
    batch = draw(st.lists(st.integers(1, 3), max_size=2))
    names = [chr(ord("p") + i) for i in range(len(batch))]
    sizes = dict(zip("mnk", (m, n, k), strict=True)) | dict(zip(names, batch, strict=True))
    orders = []
    for free in "mn":
        order = [free, "k"] if eight or draw(st.booleans()) else ["k", free]
        place = draw(st.integers(0, 1)) if not eight else 0  # batches before everything, or between
        orders.append(order[:place] + names + order[place:])
    lhs, rhs = orders
    dims = [f"{side}_{kind}_dims={{{','.join(str(own.index(x)) for x in of)}}}"
            for side, own in (("lhs", lhs), ("rhs", rhs))
            for kind, of in (("batch", names), ("contracting", ["k"]))]  # fmt: skip
    shape = [*(sizes[x] for x in names), m, n]
    t = f"{result}[{','.join(map(str, shape))}]"
    parameters = [(tuple(sizes[x] for x in own), type) for own, type in ((lhs, left), (rhs, right))]
    lines = [f"d = {t} dot(x0, x1), {', '.join(dims)}"]

    def parameter(dimensions: list[int]) -> str:
        parameters.append((tuple(dimensions), result))
        return f"x{len(parameters) - 1}"

    last, epilogue = "d", "DEFAULT"
    is_float = result != "s32"
    if is_float and draw(st.booleans()):
        lines += [f"two = {result}[] constant(2)", f"twos = {t} broadcast(two), dimensions={{}}"]
        lines += [f"a = {t} multiply({last}, twos)"]
        last = "a"
    if draw(st.booleans()):
        lines.append(f"b = {t} add({parameter(shape)}, {last})")
        last = "b"
    if is_float and not (result == "f32" and left.startswith("f8")) and draw(st.booleans()):
        lines.append(f"v = {t} broadcast({parameter([n])}), dimensions={{{len(shape) - 1}}}")
        lines.append(f"c = {t} add({last}, v)")
        last, epilogue = "c", "BIAS"
    activations = ["", "RELU"] + ["GELU"] * (result != "f64")
    activation = draw(st.sampled_from(activations)) if is_float else ""
    if activation == "RELU":
        lines += [f"z = {result}[] constant(0)", f"zs = {t} broadcast(z), dimensions={{}}"]
        lines += [f"r = {t} maximum({last}, zs)"]
    if activation == "GELU":
        lines += GELU.format(t=t, e=result, s=last).strip().split("\n")
    if activation:
        last = "r"
        epilogue = activation if epilogue == "DEFAULT" else f"{activation}_BIAS"
    given = [f"x{i} = {type}[{','.join(map(str, dims))}] parameter({i})" for i, (dims, type) in enumerate(parameters)]
    body = "".join(f"  {line.strip()}\n" for line in (*given, *lines)).replace(f"  {last} =", f"  ROOT {last} =")
    return f"HloModule m\n\nENTRY main {{\n{body}}}\n", parameters, epilogue


@settings(
    max_examples=60,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(programs(), st.integers(0, 99))
def test_any_product_is_the_evaluators(client: xla.Client, program: tuple, seed: int) -> None:
    """Types, sizes, batches, orders in memory, what is added and multiplied, and activations, each in one call."""
    text, parameters, epilogue = program
    rng = np.random.default_rng(seed)
    arguments = [values(rng, *shape, dtype=TYPES[type]) for shape, type in parameters]
    executable = compiled(client, text)
    found = config_of(executable).get("epilogue", "DEFAULT")
    steps = executable.artifacts()["thunks"].split()[::2]
    assert steps.count("MatmulThunk") == 1
    if " transpose(" not in executable.as_text():  # several batch dimensions may lie apart
        assert (found, steps) == (epilogue, ["MatmulThunk"])
    got, want = np.asarray(executable(*arguments)[0]), xla.evaluate(text, *arguments)[0]
    meant = xla.evaluate(executable.as_text(), *arguments)[0]
    tolerance = {2: 2e-2, 4: 1e-5, 8: 1e-12}[got.dtype.itemsize] if "GELU" in epilogue else 0
    for each in (want, meant):
        assert got.dtype == each.dtype
        np.testing.assert_allclose(got.astype(np.float64), each.astype(np.float64), rtol=tolerance, atol=tolerance)


# -- patterns ---------------------------------------------------------------------------------------------------------

DENSE = """HloModule m

ENTRY main {
  x = f32[4,8,16] parameter(0)
  y = f32[16,12] parameter(1)
  b = f32[12] parameter(2)
  w = f32[4,8,12] parameter(3)
  d = f32[4,8,12] dot(x, y), lhs_contracting_dims={2}, rhs_contracting_dims={0}
  bb = f32[4,8,12] broadcast(b), dimensions={2}
  s = f32[4,8,12] add(d, bb)
  t = f32[4,8,12] add(w, s)
  z = f32[] constant(0)
  zz = f32[4,8,12] broadcast(z), dimensions={}
  ROOT r = f32[4,8,12] maximum(zz, t)
}
"""


def run(client: xla.Client, text: str, seed: int = 0) -> xla.LoadedExecutable:
    """Compiles a program, and checks its results against the evaluator's."""
    executable, rng = compiled(client, text), np.random.default_rng(seed)
    arguments = [values(rng, *shape.dimensions, dtype=shape.dtype) for shape in executable.parameter_shapes]
    for got, want in zip(executable(*arguments), xla.evaluate(text, *arguments), strict=True):
        np.testing.assert_array_equal(np.asarray(got), want)
    return executable


def test_a_product_whose_operands_change_sides_is_one_call(client: xla.Client) -> None:
    """The simplifier multiplies the operands in the other order, and transposes the result."""
    text = """HloModule m

ENTRY main {
  x = f32[70,3,2] parameter(0)
  y = f32[3,4,70] parameter(1)
  b = f32[4] parameter(2)
  d = f32[3,2,4] dot(x, y), lhs_batch_dims={1}, lhs_contracting_dims={0}, rhs_batch_dims={0}, rhs_contracting_dims={2}
  bb = f32[3,2,4] broadcast(b), dimensions={2}
  ROOT r = f32[3,2,4] add(d, bb)
}
"""
    executable = run(client, text)
    assert config_of(executable)["epilogue"] == "BIAS"
    assert executable.artifacts()["thunks"].split()[::2] == ["MatmulThunk"]


def test_a_layer_of_sequences_is_one_call(client: xla.Client) -> None:
    """The product has two dimensions, what follows has three."""
    executable = run(client, DENSE)
    assert config_of(executable)["epilogue"] == "RELU_BIAS"
    assert executable.artifacts()["thunks"].split() == ["MatmulThunk", "dot_cublas"]


@pytest.mark.parametrize(
    ("before", "after", "epilogue"),
    [
        ("broadcast(b), dimensions={2}", "broadcast(b), dimensions={1}", "DEFAULT"),  # a bias of columns
        ("constant(0)", "constant(1)", "BIAS"),
        ("maximum(zz, t)", "maximum(d, t)", "DEFAULT"),  # the product has another user
        ("maximum(zz, t)", "minimum(zz, t)", "BIAS"),
    ],
)
def test_what_a_call_does_not_compute_stays(client: xla.Client, before: str, after: str, epilogue: str) -> None:
    text = DENSE.replace(before, after)
    if "dimensions={1}" in after:
        text = text.replace("b = f32[12]", "b = f32[8]")
    assert config_of(run(client, text)).get("epilogue", "DEFAULT") == epilogue


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (product(8, 8, 8, type="s32"), "no type of the library"),
        (product(8, 8, 8, type="s8", result="s32"), "its terms are not neighbours in both operands"),
        (
            product(8, 8, 8, type="f32")
            .replace("f32[8,8] dot", "f64[8,8] dot")
            .replace("ROOT d = f32", "ROOT d = f64"),
            "",
        ),
        (product(0, 8, 8), "nothing"),
    ],
)
def test_what_is_no_product_of_the_library(client: xla.Client, text: str, why: str) -> None:
    assert CALL not in run(client, text).as_text(), why


def test_tf32_is_an_option_and_an_algorithm(client: xla.Client) -> None:
    executable = compiled(client, product(8, 9, 10), tf32=True)
    assert config_of(executable)["compute_type"] == "tf32"
    assert "reduce-precision" not in executable.as_text()
    asked = product(8, 9, 10).replace("dims={0}", "dims={0}, algorithm=dot_tf32_tf32_f32")
    assert config_of(run(client, asked))["compute_type"] == "tf32"
    rounding = "  r = f32[8,10] reduce-precision(x), exponent_bits=8, mantissa_bits=10\n  ROOT d = "
    one = product(8, 9, 10).replace("  ROOT d = ", rounding).replace("dot(x, y)", "dot(r, y)")
    assert config_of(run(client, one))["compute_type"] == "f32"


@pytest.mark.parametrize(("narrow", "wide"), [("bf16", "f32"), ("f16", "f32"), ("f8e4m3fn", "f32"), ("s8", "s32")])
def test_widened_operands_are_multiplied_as_they_are(client: xla.Client, narrow: str, wide: str) -> None:
    text = f"""HloModule m

ENTRY main {{
  x = {narrow}[16,32] parameter(0)
  y = {narrow}[48,32] parameter(1)
  a = {wide}[16,32] convert(x)
  b = {wide}[48,32] convert(y)
  ROOT d = {wide}[16,48] dot(a, b), lhs_contracting_dims={{1}}, rhs_contracting_dims={{1}}
}}
"""
    executable = run(client, text)
    assert executable.artifacts()["thunks"].split() == ["MatmulThunk", "d_cublas"]


def test_products_of_a_loop_and_of_branches(client: xla.Client) -> None:
    text = """HloModule m

below {
  s = (s32[], f32[6,6]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  n = s32[] constant(3)
  ROOT l = pred[] compare(i, n), direction=LT
}

step {
  s = (s32[], f32[6,6]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  x = f32[6,6] get-tuple-element(s), index=1
  one = s32[] constant(1)
  next = s32[] add(i, one)
  y = f32[6,6] dot(x, x), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  ROOT r = (s32[], f32[6,6]) tuple(next, y)
}

ENTRY main {
  i = s32[] parameter(0)
  x = f32[6,6] parameter(1)
  y = f32[6,6] parameter(2)
  s = (s32[], f32[6,6]) tuple(i, x)
  w = (s32[], f32[6,6]) while(s), condition=below, body=step
  z = f32[6,6] get-tuple-element(w), index=1
  a = f32[6,6] dot(z, y), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  b = f32[6,6] dot(y, y), lhs_contracting_dims={1}, rhs_contracting_dims={1}
  ROOT r = (f32[6,6], f32[6,6]) tuple(a, b)
}
"""
    assert run(client, text).as_text().count(CALL) == 3


@pytest.mark.parametrize(
    ("before", "after", "epilogue"),
    [
        ("0.044715", "0.044715", "GELU"),
        ("0.044715", "0.0447", "DEFAULT"),  # another function, though nearly the same
        ("multiply(d, d10)", "multiply(d4, d10)", "DEFAULT"),
        ("add(b3, d8)", "subtract(b3, d8)", "DEFAULT"),
        ("tanh(d7)", "sine(d7)", "DEFAULT"),
        ("constant(0.5)", "constant(0.25)", "DEFAULT"),
    ],
)
def test_gelu_is_recognized_by_its_coefficients(client: xla.Client, before: str, after: str, epilogue: str) -> None:
    lines = GELU.format(t="f32[4,6]", e="f32", s="d").replace(before, after).strip().replace("r = ", "ROOT r = ")
    text = product(4, 6, 5).replace("ROOT d", "d").replace("\n}", f"\n  {lines}\n}}")
    config = config_of(compiled(client, text))
    assert config.get("epilogue", "DEFAULT") == epilogue


@pytest.mark.parametrize(("number", "alpha"), [("1e30", 1e30), ("1e-30", 1e-30)])
def test_factors_whose_product_is_no_number_stay_apart(client: xla.Client, number: str, alpha: float) -> None:
    more = (
        f"  c = f32[] constant({number})\n  cc = f32[4,6] broadcast(c), dimensions={{}}\n"
        "  e = f32[4,6] multiply(d, cc)\n  ROOT r = f32[4,6] multiply(e, cc)"
    )
    executable = compiled(client, product(4, 6, 5, more=more, root="none"))
    assert config_of(executable).get("alpha", 1.0) in (np.float32(alpha), 1.0)
    x, y = np.zeros((4, 5), np.float32), np.ones((5, 6), np.float32)
    assert not np.asarray(executable(x, y)[0]).any()
    x += np.float32(3e34)
    want = ((x @ y) * np.float32(number)) * np.float32(number)
    np.testing.assert_allclose(np.asarray(executable(x, y)[0]), want, rtol=1e-5)


@pytest.mark.parametrize(("number", "alpha"), [("2", 2.0), ("0", 1.0), ("inf", 1.0)])
def test_a_factor_keeps_what_is_no_number(client: xla.Client, number: str, alpha: float) -> None:
    """cuBLASLt reads no operands for a factor of 0, so that a NaN among them would be lost."""
    more = f"  c = f32[] constant({number})\n  cc = f32[4,6] broadcast(c), dimensions={{}}\n  ROOT r = f32[4,6] multiply(d, cc)"
    text = product(4, 6, 5, more=more, root="none")
    executable = compiled(client, text)
    assert config_of(executable).get("alpha", 1.0) == alpha
    x, y = np.full((4, 5), np.nan, np.float32), np.ones((5, 6), np.float32)
    assert np.isnan(np.asarray(executable(x, y)[0])).all()


def test_long_sums_that_stay_with_our_own_kernels_are_divided(client: xla.Client) -> None:
    """The library divides its sums itself; a product behind an exponential is cheaper as a kernel of our own."""
    text = """HloModule m
ENTRY e {
  x = f32[16,65536] parameter(0)
  a = f32[16,65536] exponential(x)
  b = f32[65536,16] parameter(1)
  ROOT d = f32[16,16] dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}
}
"""
    executor = client.devices[0].executor
    compiler = client.platform.compiler
    modules = [compiler.run_hlo_passes(xla.parse(text), xla.CompileOptions(), on) for on in (executor, None)]
    dots = [[i.shape.rank for c in m.computations for i in c.instructions if i.opcode == "dot"] for m in modules]
    assert dots == [[3], [3]]
