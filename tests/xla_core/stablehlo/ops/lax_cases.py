"""JAX's lax functions by element type, as data: what jax2tf's primitive harness, of which StableHLO's testdata are, covers.

Each entry is (name, function, argument shapes, element types, rule). A shape may be (shape, kind), where the kind says
what the argument holds: an index, a positive number, one in (-1, 1), a symmetric matrix, ...
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from typing import Any

import ml_dtypes
import numpy as np

BOOL = ("bool",)
SIGNED = ("int8", "int16", "int32", "int64")
UNSIGNED = ("uint8", "uint16", "uint32", "uint64")
INTEGERS = SIGNED + UNSIGNED
FLOATS = ("float16", "bfloat16", "float32", "float64")
WIDE_FLOATS = ("float32", "float64")
COMPLEX = ("complex64", "complex128")
INEXACT = FLOATS + COMPLEX
NUMBERS = INTEGERS + INEXACT
REAL = INTEGERS + FLOATS
ALL = BOOL + NUMBERS
LINALG = WIDE_FLOATS + COMPLEX


@dataclasses.dataclass(frozen=True)
class LaxCase:
    """`ulp` is what a float may differ by from JAX's own; `scaled`, in epsilons of the largest element, is allowed too.

    `oracle` stands for JAX in 64 bits, where JAX's own value is further off.
    """

    name: str
    function: Callable[..., Any]
    arguments: tuple[Any, ...]
    dtype: str
    ulp: int = 0
    scaled: float = 0.0
    oracle: Callable[..., Any] | None = None

    @property
    def id(self) -> str:
        return f"{self.name}-{self.dtype}"

    def values(self) -> list[np.ndarray]:
        random = np.random.default_rng(sum(map(ord, self.id)))
        return [make(argument, self.dtype, random) for argument in self.arguments]


def np_dtype(name: str) -> np.dtype:
    return np.dtype(getattr(ml_dtypes, name, name))


def make(argument: Any, dtype: str, random: np.random.Generator) -> np.ndarray:
    """An array for (shape, kind) or a shape; a kind of "dtype:..." is that type."""
    shape, kind = argument if len(argument) == 2 and isinstance(argument[1], str) else (argument, "")
    if kind.startswith("dtype:"):
        dtype, kind = kind.removeprefix("dtype:"), ""
    if kind.startswith("index"):
        limit = int(kind.removeprefix("index"))
        return random.integers(-1, limit + 1, shape).astype(np.int32)
    if kind == "pred":
        return random.integers(0, 2, shape).astype(np.bool_)
    type = np_dtype(dtype)
    if type.kind == "b":
        return random.integers(0, 2, shape).astype(np.bool_)
    if type.kind in "iu":
        low = 0 if type.kind == "u" or kind == "positive" else -9
        return random.integers(low + (kind in ("nonzero", "positive")), 10, shape).astype(type)
    values = random.normal(size=shape) * 2
    if kind == "positive":
        values = np.abs(values) + 0.25
    elif kind == "unit":
        values = np.tanh(values) * 0.9
    elif kind == "above one":
        values = np.abs(values) + 1.125
    if type.kind == "c":
        values = values + 1j * random.normal(size=shape)
        if kind in ("unit", "positive"):
            values = values * 0.5
    if kind in ("spd", "symmetric"):
        values = values @ np.conj(np.swapaxes(values, -1, -2)) + (4 * np.eye(shape[-1]) if kind == "spd" else 0)
    return values.astype(type)


def cases(lax: Any, jnp: Any, jax: Any) -> Iterator[LaxCase]:
    """All of them; the modules are JAX's."""
    for name, function, arguments, dtypes, *rule in [
        *_unary(lax),
        *_binary(lax),
        *_structure(lax, jnp),
        *_reductions(lax, jnp),
        *_indexing(lax, jnp),
        *_windows(lax),
        *_products(lax, jnp),
        *_linear_algebra(lax, jax),
        *_random(jax),
    ]:
        ulp, scaled = (*rule, 0, 0.0)[:2] if len(rule) == 2 else (rule[0] if rule else 0, 0.0)
        for dtype in dtypes:
            oracle = _ORACLES.get(name) if dtype in ("float64", "complex128") else None
            yield LaxCase(name, function, arguments, dtype, ulp, scaled, oracle)


# Of JAX 0.10: atanh is half of log1p(x) - log1p(-x), log of complex numbers near the unit circle cancels.
_ORACLES: dict[str, Callable[..., Any]] = {"atanh": np.arctanh, "log": np.log}

Entry = tuple[Any, ...]


def _unary(lax: Any) -> list[Entry]:
    one = ((5, 7),)
    return [
        ("neg", lax.neg, one, NUMBERS),
        ("sign", lax.sign, one, NUMBERS, 3),
        ("abs", lax.abs, one, SIGNED + INEXACT, 3),
        ("floor", lax.floor, one, FLOATS),
        ("ceil", lax.ceil, one, FLOATS),
        ("round_away", lambda x: lax.round(x, lax.RoundingMethod.AWAY_FROM_ZERO), one, FLOATS),
        ("round_even", lambda x: lax.round(x, lax.RoundingMethod.TO_NEAREST_EVEN), one, FLOATS),
        ("is_finite", lax.is_finite, one, FLOATS),
        ("not", lax.bitwise_not, one, BOOL + INTEGERS),
        ("population_count", lax.population_count, one, INTEGERS),
        ("clz", lax.clz, one, INTEGERS),
        *(
            (n, getattr(lax, n), one, INEXACT, 4, 4.0)
            for n in ("exp", "expm1", "sin", "cos", "tan", "tanh", "logistic")
        ),
        *((n, getattr(lax, n), one, INEXACT, 4, 4.0) for n in ("sinh", "cosh", "asinh", "atan")),
        *((n, getattr(lax, n), (((5, 7), "positive"),), INEXACT, 4, 4.0) for n in ("log", "log1p", "sqrt", "rsqrt")),
        ("cbrt", lax.cbrt, one, FLOATS, 4),
        *((n, getattr(lax, n), (((5, 7), "unit"),), INEXACT, 4, 4.0) for n in ("asin", "acos", "atanh")),
        ("acosh", lax.acosh, (((5, 7), "above one"),), INEXACT, 4, 4.0),
        *((n, getattr(lax, n), one, FLOATS, 4, 4.0) for n in ("erf", "erfc")),
        ("erf_inv", lax.erf_inv, (((5, 7), "unit"),), FLOATS, 4, 4.0),
        *((n, getattr(lax, n), (((5, 7), "positive"),), FLOATS, 16, 16.0) for n in ("lgamma", "digamma")),
        *((n, getattr(lax, n), one, FLOATS, 8, 8.0) for n in ("bessel_i0e", "bessel_i1e")),
        *((n, getattr(lax, n), one, COMPLEX) for n in ("real", "imag", "conj")),
        ("integer_pow_3", lambda x: lax.integer_pow(x, 3), one, NUMBERS, 4, 8.0),
        ("integer_pow_-2", lambda x: lax.integer_pow(x, -2), (((5, 7), "positive"),), INEXACT, 4, 8.0),
        ("square", lax.square, one, NUMBERS, 1, 4.0),
        ("reciprocal", lax.reciprocal, (((5, 7), "positive"),), INEXACT, 1, 4.0),
        ("reduce_precision", lambda x: lax.reduce_precision(x, 5, 7), one, FLOATS),
    ]


def _binary(lax: Any) -> list[Entry]:
    two = ((4, 1, 6), (4, 5, 6))
    wide = ((4, 5, 6), (4, 5, 6))
    scalars = ((), ())

    def pair(name: str) -> Callable[..., Any]:
        return lambda x, y: getattr(lax, name)(*lax_broadcast(lax, x, y))

    return [
        *((n, pair(n), two, NUMBERS, 1, 4.0) for n in ("add", "sub", "mul")),
        *((n + "_scalar", getattr(lax, n), scalars, NUMBERS, 1, 4.0) for n in ("add", "mul")),
        ("div", lax.div, ((4, 5, 6), ((4, 5, 6), "nonzero")), NUMBERS, 1, 8.0),
        ("rem", lax.rem, ((4, 5, 6), ((4, 5, 6), "nonzero")), REAL, 0),
        ("pow", lax.pow, (((4, 5), "positive"), ((4, 5), "unit")), INEXACT, 4, 8.0),
        ("max", pair("max"), two, BOOL + NUMBERS),
        ("min", pair("min"), two, BOOL + NUMBERS),
        ("atan2", lax.atan2, wide, FLOATS, 4),
        ("nextafter", lax.nextafter, wide, FLOATS),
        ("complex", lax.complex, wide, WIDE_FLOATS),
        *((n, getattr(lax, n), wide, BOOL + INTEGERS) for n in ("bitwise_and", "bitwise_or", "bitwise_xor")),
        *((n, getattr(lax, n), wide, REAL + BOOL) for n in ("ge", "gt", "le", "lt")),
        *((n, getattr(lax, n), wide, ALL) for n in ("eq", "ne")),
        *(
            (n, getattr(lax, n), ((4, 5), ((4, 5), "positive")), INTEGERS)
            for n in ("shift_left", "shift_right_arithmetic", "shift_right_logical")
        ),
        ("igamma", lax.igamma, (((4, 5), "positive"), ((4, 5), "positive")), FLOATS, 64, 64.0),
        ("igammac", lax.igammac, (((4, 5), "positive"), ((4, 5), "positive")), FLOATS, 64, 64.0),
        ("betainc", lax.betainc, (((9,), "positive"), ((9,), "positive"), ((9,), "unit positive")), FLOATS, 64, 64.0),
        ("zeta", lax.zeta, (((4, 5), "above one"), ((4, 5), "positive")), WIDE_FLOATS, 64, 64.0),
        ("polygamma", lambda x: lax.polygamma(x * 0 + 2, x), (((4, 5), "positive"),), WIDE_FLOATS, 64, 64.0),
    ]


def lax_broadcast(lax: Any, x: Any, y: Any) -> tuple[Any, Any]:
    shape = np.broadcast_shapes(x.shape, y.shape)
    return tuple(
        lax.broadcast_in_dim(
            lax.squeeze(v, [i for i, n in enumerate(v.shape) if n != shape[i]]),
            shape,
            [i for i, n in enumerate(v.shape) if n == shape[i]],
        )
        for v in (x, y)
    )


def _structure(lax: Any, jnp: Any) -> list[Entry]:
    x = ((2, 3, 4),)
    return [
        *(
            (f"convert_to_{t}", lambda v, t=t: lax.convert_element_type(v, np_dtype(t)), ((6, 5),), ALL)
            for t in ("bool", "int8", "int64", "uint16", "uint64", "float16", "bfloat16", "float32", "complex64")
        ),
        ("broadcast_in_dim", lambda v: lax.broadcast_in_dim(v, (5, 2, 3, 4), (1, 2, 3)), x, ALL),
        ("broadcast", lambda v: lax.broadcast(v, (2, 1)), x, ALL),
        ("reshape", lambda v: lax.reshape(v, (4, 6)), x, ALL),
        ("reshape_dimensions", lambda v: lax.reshape(v, (3, 8), (2, 0, 1)), x, ALL),
        ("transpose", lambda v: lax.transpose(v, (2, 0, 1)), x, ALL),
        ("rev", lambda v: lax.rev(v, (0, 2)), x, ALL),
        ("squeeze", lambda v: lax.squeeze(v, (0, 2)), ((1, 5, 1),), ALL),
        ("concatenate", lambda a, b, c: lax.concatenate([a, b, c], 1), ((2, 3), (2, 0), (2, 2)), ALL),
        ("pad", lambda v, p: lax.pad(v, p, ((1, 2, 0), (-1, 1, 2))), ((3, 4), ()), ALL),
        ("slice", lambda v: lax.slice(v, (0, 1, 0), (2, 3, 4), (1, 2, 3)), x, ALL),
        ("select", lax.select, (((5, 6), "pred"), (5, 6), (5, 6)), ALL),
        ("select_n", lambda w, a, b, c: lax.select_n(w % 3, a, b, c), (((5,), "index2"), (5,), (5,), (5,)), ALL),
        ("clamp", lax.clamp, ((), (5, 6), ()), REAL),
        ("clamp_arrays", lax.clamp, ((5, 6), (5, 6), (5, 6)), REAL),
        ("iota", lambda v: v + lax.broadcasted_iota(v.dtype, (3, 4), 1), ((3, 4),), NUMBERS, 1),
        ("bitcast_same", lambda v: lax.bitcast_convert_type(v, f"uint{8 * v.dtype.itemsize}"), x, INTEGERS + FLOATS),
        ("bitcast_narrow", lambda v: lax.bitcast_convert_type(v, np.uint8), x, INTEGERS + FLOATS),
        ("sort", lambda v: lax.sort(v, dimension=1), x, ALL),
        ("sort_0", lambda v: lax.sort(v, dimension=0, is_stable=False), ((19, 2),), REAL),
        ("sort_pairs", lambda k, v: lax.sort((k, v), num_keys=1), (((12,), "dtype:int8"), (12,)), ALL),
        ("sort_two_keys", lambda k, v: lax.sort((k, v), num_keys=2), (((12,), "dtype:int8"), (12,)), REAL),
        ("top_k", lambda v: lax.top_k(v, 3), ((4, 9),), REAL),
        ("argsort", lambda v: jnp.argsort(v), ((17,),), REAL),
        ("approx_max_k", lambda v: lax.approx_max_k(v, 3), ((4, 9),), ("bfloat16", "float32")),
        ("tie_in", lax.stop_gradient, x, ALL),
        ("optimization_barrier", lax.optimization_barrier, x, ALL),
    ]


def _reductions(lax: Any, jnp: Any) -> list[Entry]:
    x = ((3, 4, 5),)
    entries: list[Entry] = [
        ("reduce_sum", lambda v: jnp.sum(v, (0, 2)), x, ALL, 1, 32.0),
        ("reduce_prod", lambda v: jnp.prod(v, 1), x, ALL, 4, 32.0),
        ("reduce_max", lambda v: jnp.max(v, (0, 1)), x, BOOL + REAL),
        ("reduce_min", lambda v: jnp.min(v), x, BOOL + REAL),
        ("reduce_and", lambda v: jnp.all(v, 1), x, BOOL),
        ("reduce_or", lambda v: jnp.any(v, 1), x, BOOL),
        ("reduce_xor", lambda v: lax.reduce(v, np.zeros((), v.dtype), lax.bitwise_xor, (1,)), x, BOOL + INTEGERS),
        (
            "reduce_generic",
            lambda v: lax.reduce(v, np.zeros((), v.dtype), lambda a, b: a * b + a + b, (2,)),
            x,
            INTEGERS,
        ),
        ("argmax", lambda v: lax.argmax(v, 1, np.int32), x, BOOL + REAL),
        ("argmin_int64", lambda v: lax.argmin(v, 2, np.int64), x, BOOL + REAL),
    ]
    for name in ("cumsum", "cumprod", "cummax", "cummin", "cumlogsumexp"):
        types = {"cumsum": NUMBERS, "cumprod": NUMBERS, "cumlogsumexp": FLOATS}.get(name, REAL)
        for reverse in (False, True):
            entries.append(
                (
                    f"{name}{'_reverse' if reverse else ''}",
                    lambda v, n=name, r=reverse: getattr(lax, n)(v, axis=1, reverse=r),
                    ((3, 9),),
                    types,
                    4,
                    64.0,
                )
            )
    return entries


def _indexing(lax: Any, jnp: Any) -> list[Entry]:
    Gather, Scatter = lax.GatherDimensionNumbers, lax.ScatterDimensionNumbers
    Mode = lax.GatherScatterMode
    entries: list[Entry] = [
        ("dynamic_slice", lambda v, i: lax.dynamic_slice(v, (i, i), (2, 3)), ((5, 6), ((), "index9")), ALL),
        (
            "dynamic_update_slice",
            lambda v, u, i: lax.dynamic_update_slice(v, u, (i, i)),
            ((5, 6), (2, 3), ((), "index9")),
            ALL,
        ),
    ]
    for mode in (Mode.CLIP, Mode.FILL_OR_DROP, Mode.PROMISE_IN_BOUNDS):
        limit = 7 if mode is not Mode.PROMISE_IN_BOUNDS else 0
        name = str(mode).split(".")[-1].lower()

        def rows(v: Any, i: Any, mode: Any = mode) -> Any:
            i = abs(i) if mode is Mode.PROMISE_IN_BOUNDS else i
            return lax.gather(v, i, Gather((1,), (0,), (0,)), (1, 4), mode=mode)

        entries.append((f"gather_{name}", rows, ((5, 4), ((3, 1), f"index{limit}")), ALL))
        for kind in ("add", "mul", "min", "max", "set"):
            types = {"min": REAL, "max": REAL, "set": ALL}.get(kind, NUMBERS)

            def update(v: Any, i: Any, u: Any, kind: str = kind, mode: Any = mode) -> Any:
                i = abs(i) if mode is Mode.PROMISE_IN_BOUNDS else i
                numbers = Scatter((1,), (0,), (0,))
                function = lax.scatter if kind == "set" else getattr(lax, f"scatter_{kind}")
                return function(v, i, u, numbers, mode=mode)

            shapes: tuple[Any, ...] = ((5, 4), ((3, 1), f"index{limit}"), (3, 4))
            entries.append((f"scatter_{kind}_{name}", update, shapes, types, 2, 8.0))

        def apply(v: Any, i: Any, mode: Any = mode) -> Any:
            i = abs(i) if mode is Mode.PROMISE_IN_BOUNDS else i
            return lax.scatter_apply(v, i, lambda x: x + x, Scatter((1,), (0,), (0,)), update_shape=(3, 4), mode=mode)

        entries.append((f"scatter_apply_{name}", apply, ((5, 4), ((3, 1), f"index{limit}")), REAL))
    entries += [
        (
            "gather_batching",
            lambda v, i: lax.gather(
                v,
                i,
                Gather((2,), (1,), (1,), operand_batching_dims=(0,), start_indices_batching_dims=(0,)),
                (1, 1, 4),
                mode=Mode.CLIP,
            ),
            ((3, 5, 4), ((3, 2, 1), "index4")),
            ALL,
        ),
        (
            "gather_windows",
            lambda v, i: lax.gather(v, i, Gather((1, 2), (), (0, 1)), (2, 3), mode=Mode.CLIP),
            ((5, 6), ((4, 2), "index5")),
            ALL,
        ),
        (
            "scatter_add_windows",
            lambda v, i, u: lax.scatter_add(v, i, u, Scatter((1, 2), (), (0, 1)), mode=Mode.CLIP),
            ((5, 6), ((2, 2), "index5"), (2, 2, 3)),
            NUMBERS,
            2,
            8.0,
        ),
        (
            "scatter_add_batching",
            lambda v, i, u: lax.scatter_add(
                v,
                i,
                u,
                Scatter((2,), (1,), (1,), operand_batching_dims=(0,), scatter_indices_batching_dims=(0,)),
                mode=Mode.FILL_OR_DROP,
            ),
            ((3, 5, 4), ((3, 2, 1), "index6"), (3, 2, 4)),
            NUMBERS,
            2,
            8.0,
        ),
        ("take", lambda v, i: jnp.take(v, i, axis=1), ((3, 5), ((4,), "index4")), ALL),
    ]
    return entries


def _windows(lax: Any) -> list[Entry]:
    def window(init: Any, combine: Any, **options: Any) -> Callable[..., Any]:
        def function(v: Any) -> Any:
            value = np.array(init(np_dtype(v.dtype.name)), v.dtype)
            return lax.reduce_window(v, value, combine, **options)

        return function

    def lowest(dtype: np.dtype) -> Any:
        if dtype.kind == "b":
            return False
        return np.iinfo(dtype).min if dtype.kind in "iu" else -np.inf

    def highest(dtype: np.dtype) -> Any:
        if dtype.kind == "b":
            return True
        return np.iinfo(dtype).max if dtype.kind in "iu" else np.inf

    plain = {"window_dimensions": (2, 3), "window_strides": (1, 2), "padding": "VALID"}
    rich = {
        "window_dimensions": (2, 3),
        "window_strides": (2, 1),
        "padding": ((1, 0), (2, 1)),
        "base_dilation": (2, 1),
        "window_dilation": (1, 2),
    }
    x = ((6, 7),)
    entries: list[Entry] = []
    for suffix, options in (("", plain), ("_rich", rich)):
        entries += [
            (f"reduce_window_add{suffix}", window(lambda t: 0, lax.add, **options), x, NUMBERS, 2, 32.0),
            (f"reduce_window_mul{suffix}", window(lambda t: 1, lax.mul, **options), x, NUMBERS, 4, 32.0),
            (f"reduce_window_max{suffix}", window(lowest, lax.max, **options), x, BOOL + REAL),
            (f"reduce_window_min{suffix}", window(highest, lax.min, **options), x, BOOL + REAL),
            (f"reduce_window_generic{suffix}", window(lambda t: 0, lambda a, b: a * b + a + b, **options), x, INTEGERS),
        ]
    import jax

    def pool_gradient(v: Any) -> Any:
        return jax.grad(
            lambda a: lax.reduce_window(a, np.array(-np.inf, a.dtype), lax.max, (2, 3), (1, 2), "SAME").sum()
        )(v)

    def average_gradient(v: Any) -> Any:
        return jax.grad(
            lambda a: (lax.reduce_window(a, np.array(0, a.dtype), lax.add, (2, 3), (1, 2), "SAME") ** 2).sum()
        )(v)

    def second_order(v: Any, t: Any) -> Any:
        def f(a: Any) -> Any:
            return lax.reduce_window(a, np.array(-np.inf, a.dtype), lax.max, (2, 3), (1, 2), "VALID")

        return jax.jvp(f, (v,), (t,))[1]

    entries += [
        ("select_and_scatter_add", pool_gradient, x, WIDE_FLOATS, 2, 8.0),
        ("average_pool_gradient", average_gradient, x, WIDE_FLOATS, 4, 64.0),
        ("select_and_gather_add", second_order, (*x, *x), ("bfloat16", "float32")),
    ]
    return entries


def _products(lax: Any, jnp: Any) -> list[Entry]:
    def dot(numbers: Any, **options: Any) -> Callable[..., Any]:
        return lambda a, b: lax.dot_general(a, b, numbers, **options)

    def conv(numbers: Any = None, **options: Any) -> Callable[..., Any]:
        defaults = {"window_strides": (1, 1), "padding": "VALID"}
        return lambda a, b: lax.conv_general_dilated(a, b, **{**defaults, **options}, dimension_numbers=numbers)

    batched = (((2,), (1,)), ((0,), (0,)))
    strange = (((3, 0), (1, 2)), ((1,), (3,)))
    conv_types = tuple(t for t in NUMBERS)
    entries: list[Entry] = [
        ("dot", lambda a, b: lax.dot(a, b), ((4, 5), (5, 3)), ALL, 2, 64.0),
        ("dot_vectors", lambda a, b: lax.dot(a, b), ((5,), (5,)), ALL, 2, 64.0),
        ("dot_general_batch", dot(batched), ((3, 4, 5), (3, 5, 2)), ALL, 2, 64.0),
        ("dot_general_any_order", dot(strange), ((2, 3, 4, 5), (6, 5, 2, 3)), ALL, 2, 64.0),
        ("dot_general_outer", dot((((), ()), ((), ()))), ((2, 3), (4,)), ALL, 1, 8.0),
        ("dot_highest", lambda a, b: lax.dot(a, b, precision="highest"), ((4, 5), (5, 3)), INEXACT, 2, 64.0),
        (
            "dot_to_float32",
            lambda a, b: lax.dot(a, b, preferred_element_type=np.float32),
            ((4, 5), (5, 3)),
            ("float16", "bfloat16", "float32"),
            2,
            64.0,
        ),
        (
            "dot_to_int32",
            lambda a, b: lax.dot(a, b, preferred_element_type=np.int32),
            ((4, 5), (5, 3)),
            ("int8", "int16", "int32"),
        ),
        (
            "dot_mixed",
            lambda a, b: lax.dot_general(a, b, (((1,), (0,)), ((), ())), preferred_element_type=np.float32),
            ((4, 3), ((3, 6), "dtype:bfloat16")),
            ("float32", "float16"),
            4,
            64.0,
        ),
        ("conv", conv(), ((2, 3, 9, 8), (4, 3, 2, 3)), conv_types, 2, 64.0),
        (
            "conv_1d",
            conv(("NWC", "WIO", "NWC"), window_strides=(2,), padding=((2, 1),)),
            ((2, 9, 3), (3, 3, 4)),
            FLOATS,
            2,
            64.0,
        ),
        (
            "conv_3d",
            conv(("NDHWC", "DHWIO", "NDHWC"), window_strides=(1, 2, 1), padding="SAME"),
            ((1, 4, 5, 6, 2), (2, 3, 2, 2, 3)),
            WIDE_FLOATS,
            2,
            64.0,
        ),
        (
            "conv_dilated",
            conv(("NHWC", "HWIO", "NHWC"), lhs_dilation=(2, 1), rhs_dilation=(1, 2), padding=((1, 2), (0, -1))),
            ((2, 6, 7, 3), (3, 2, 3, 4)),
            INEXACT,
            2,
            64.0,
        ),
        (
            "conv_transposed_numbers",
            conv(("CHWN", "OHWI", "WNHC"), padding=((0, 1), (2, -1))),
            ((3, 6, 7, 2), (4, 2, 3, 3)),
            FLOATS,
            2,
            64.0,
        ),
        ("conv_grouped", conv(feature_group_count=2), ((2, 4, 6, 6), (6, 2, 3, 3)), INEXACT, 2, 64.0),
        (
            "conv_depthwise",
            conv(("NHWC", "HWIO", "NHWC"), feature_group_count=3),
            ((2, 6, 6, 3), (3, 3, 1, 6)),
            FLOATS,
            2,
            64.0,
        ),
        ("conv_batch_grouped", conv(batch_group_count=2), ((4, 3, 6, 6), (6, 3, 3, 3)), FLOATS, 2, 64.0),
        (
            "conv_to_float32",
            conv(preferred_element_type=np.float32),
            ((2, 3, 9, 8), (4, 3, 2, 3)),
            ("float16", "bfloat16"),
            2,
            64.0,
        ),
        (
            "conv_transpose",
            lambda a, b: lax.conv_transpose(a, b, (2, 2), "SAME"),
            ((2, 5, 6, 3), (3, 3, 3, 4)),
            WIDE_FLOATS,
            2,
            64.0,
        ),
    ]
    for kind, types, shape in (
        ("fft", COMPLEX, (3, 12)),
        ("ifft", COMPLEX, (3, 7)),
        ("rfft", WIDE_FLOATS, (2, 11)),
        ("irfft", COMPLEX, (2, 6)),
    ):
        entries.append((kind, getattr(jnp.fft, kind), (shape,), types, 0, 256.0))
    entries += [
        ("fft2", jnp.fft.fft2, ((2, 4, 6),), COMPLEX, 0, 256.0),
        ("rfftn", jnp.fft.rfftn, ((3, 4, 5),), WIDE_FLOATS, 0, 256.0),
        ("irfftn", jnp.fft.irfftn, ((3, 4, 5),), COMPLEX, 0, 256.0),
    ]
    return entries


def _linear_algebra(lax: Any, jax: Any) -> list[Entry]:
    jnp, linalg = jax.numpy, lax.linalg
    square, several = ((5, 5),), ((3, 4, 4),)
    return [
        ("cholesky", linalg.cholesky, (((2, 5, 5), "spd"),), LINALG, 0, 256.0),
        ("lu", lambda a: linalg.lu(a), several, LINALG, 0, 256.0),
        ("lu_pivots_to_permutation", lambda a: linalg.lu(a)[2], several, LINALG),
        ("qr", lambda a: tuple(map(jnp.abs, linalg.qr(a, full_matrices=False))), ((3, 5, 4),), LINALG, 0, 512.0),
        ("eigvalsh", lambda a: jnp.linalg.eigvalsh(a), (((5, 5), "symmetric"),), LINALG, 0, 512.0),
        ("svd_values", lambda a: jnp.linalg.svd(a, compute_uv=False), ((4, 3),), LINALG, 0, 512.0),
        ("eigvals", lambda a: jnp.sort(jnp.abs(linalg.eig(a)[0])), square, LINALG, 0, 4096.0),
        ("schur", lambda a: jnp.abs(jnp.trace(linalg.schur(a)[0])), square, WIDE_FLOATS, 0, 4096.0),
        ("hessenberg", lambda a: jnp.abs(linalg.hessenberg(a)[0]), square, LINALG, 0, 4096.0),
        ("tridiagonal", lambda a: jnp.abs(linalg.tridiagonal(a)[1]), (((5, 5), "symmetric"),), LINALG, 0, 4096.0),
        (
            "tridiagonal_solve",
            linalg.tridiagonal_solve,
            ((5,), ((5,), "above one"), (5,), (5, 2)),
            WIDE_FLOATS,
            0,
            4096.0,
        ),
        ("householder_product", lambda a, t: linalg.householder_product(a, t), ((5, 3), (3,)), LINALG, 0, 4096.0),
        *(
            (
                f"triangular_solve_{'left' if left else 'right'}{'_lower' if lower else ''}_{transpose}",
                lambda a, b, o=(left, lower, transpose): linalg.triangular_solve(
                    a,
                    b if o[0] else jnp.swapaxes(b, -1, -2),
                    left_side=o[0],
                    lower=o[1],
                    transpose_a=o[2] != "no",
                    conjugate_a=o[2] == "conjugate",
                ),
                (((4, 4), "spd"), (4, 2)),
                LINALG,
                0,
                512.0,
            )
            for left in (True, False)
            for lower in (True, False)
            for transpose in ("no", "yes", "conjugate")
        ),
        ("solve", jnp.linalg.solve, (((4, 4), "spd"), (4, 2)), LINALG, 0, 512.0),
        (
            "custom_linear_solve",
            lambda a, b: lax.custom_linear_solve(
                lambda x: a @ x, b, lambda matvec, y: jnp.linalg.solve(a, y), symmetric=True
            ),
            (((4, 4), "spd"), (4,)),
            WIDE_FLOATS,
            0,
            512.0,
        ),
        ("expm", lambda a: jax.scipy.linalg.expm(a * 0.25), ((4, 4),), WIDE_FLOATS, 0, 4096.0),
        ("det", jnp.linalg.det, ((3, 4, 4),), LINALG, 0, 512.0),
    ]


def _random(jax: Any) -> list[Entry]:
    random = jax.random

    def keyed(function: Callable[..., Any]) -> Callable[..., Any]:
        return lambda seed: function(random.key(seed[0]))

    seed = (((1,), "dtype:uint32"),)
    return [
        ("random_split", keyed(lambda k: random.key_data(random.split(k, 5))), seed, ("float32",)),
        ("random_bits", keyed(lambda k: random.bits(k, (5, 7))), seed, ("float32",)),
        *(
            (f"random_uniform_{t}", keyed(lambda k, t=t: random.uniform(k, (9,), t)), seed, ("float32",), 1)
            for t in (*WIDE_FLOATS, "bfloat16", "float16")
        ),
        *(
            (f"random_randint_{t}", keyed(lambda k, t=t: random.randint(k, (9,), 0, 100, t)), seed, ("float32",))
            for t in INTEGERS
        ),
        *(
            (f"random_normal_{t}", keyed(lambda k, t=t: random.normal(k, (9,), t)), seed, ("float32",), 8, 8.0)
            for t in WIDE_FLOATS
        ),
        ("random_gamma", keyed(lambda k: random.gamma(k, 2.5, (6,))), seed, ("float32",), 64, 64.0),
        (
            "random_categorical",
            keyed(lambda k: random.categorical(k, jax.numpy.arange(5.0), shape=(9,))),
            seed,
            ("float32",),
        ),
        ("random_permutation", keyed(lambda k: random.permutation(k, 11)), seed, ("float32",)),
        *(
            (
                f"rng_bit_generator_{t}",
                lambda s, t=t: jax.lax.rng_bit_generator(jax.numpy.concatenate([s, s, s, s]), (5, 3), t)[1],
                seed,
                ("float32",),
            )
            for t in ("uint8", "uint16", "uint32", "uint64")
        ),
    ]
