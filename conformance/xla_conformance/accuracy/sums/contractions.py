"""dot and convolution."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

import numpy as np

from xla_conformance.accuracy.real_functions.formats import epsilon
from xla_conformance.accuracy.sums.trials import Case, Expected, Trial, inputs, wide
from xla_core.hlo import ElementType

Array = np.ndarray
T = ElementType

FLOATS = (T.F16, T.BF16, T.F32, T.F64, T.C64, T.C128)
_F8 = tuple(t for t in ElementType if t.is_floating and t.bit_width == 8 and t is not T.F8E8M0FNU)
_INTEGERS = (T.S8, T.U8, T.S16, T.S32, T.U32, T.S64)


def program(result: str, operands: Sequence[tuple[T, Sequence[int]]], op: str) -> str:
    """HLO of one op: `op` names its operands p0, p1, ..."""
    lines = [f"  p{i} = {t.value}[{','.join(map(str, s))}] parameter({i})" for i, (t, s) in enumerate(operands)]
    body = "\n".join(lines)
    return f"HloModule m\n\nENTRY main {{\n{body}\n  ROOT r = {result} {op}\n}}\n"


# -- dot ---------------------------------------------------------------------------------------------------------------

_DOTS: tuple[tuple[str, str], ...] = (
    ("lhs_contracting_dims={1}, rhs_contracting_dims={0}", "ik,kj->ij"),
    ("lhs_contracting_dims={0}, rhs_contracting_dims={1}", "ki,jk->ij"),
    ("lhs_contracting_dims={1}, rhs_contracting_dims={1}", "ik,jk->ij"),
    ("lhs_contracting_dims={0}, rhs_contracting_dims={0}", "k,k->"),
    ("lhs_contracting_dims={1}, rhs_contracting_dims={0}", "ik,k->i"),
    (
        "lhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_batch_dims={2}, rhs_contracting_dims={0}",
        "bik,kjb->bij",
    ),
)


def _dots(element_type: T, suffix: str = "", result: T | None = None, sizes: Sequence[int] = ()) -> Iterator[Trial]:
    result = result or element_type
    narrow = element_type.is_floating and element_type.bit_width == 8
    sizes = sizes or ((1, 24) if narrow else (1, 33, 700))
    for number, ((dims, indices), k) in enumerate(itertools.product(_DOTS, sizes)):
        lhs, rhs, out = _split(indices)
        size = {"b": 3, "i": 5, "j": 18, "k": k}
        shapes = [[size[c] for c in part] for part in (lhs, rhs)]
        shape = ",".join(str(size[c]) for c in out)
        operands = [(element_type, s) for s in shapes]
        text = program(f"{result.value}[{shape}]", operands, f"dot(p0, p1), {dims}{suffix}")
        left, right = (inputs(element_type, s, number + 99 * i) for i, s in enumerate(shapes))
        for a, b in zip(left, right, strict=True):
            yield Trial(text, (a, b), [_contraction(indices, a, b, k)])


def _split(indices: str) -> tuple[str, str, str]:
    operands, out = indices.split("->")
    lhs, rhs = operands.split(",")
    return lhs, rhs, out


def _contraction(indices: str, a: Array, b: Array, k: int) -> Expected:
    x, y = wide(a), wide(b)
    exact = np.einsum(indices, x, y)
    if exact.dtype.kind == "i":
        return Expected(exact)
    return Expected(exact, k, np.einsum(indices, np.abs(x), np.abs(y)))


def _algorithm(name: str, eps: float) -> Case:
    """Makes a case of an algorithm of bf16 or tf32 products for f32 operands; `eps` is a product's relative error."""

    def trials(element_type: T) -> Iterator[Trial]:
        return _dots(element_type, f", algorithm={name}")

    return Case(name, (T.F32,), trials, lambda t: max(eps, epsilon(t)))


def _highest(element_type: T) -> Iterator[Trial]:
    return _dots(element_type, ", operand_precision={highest,highest}")


# -- convolution -------------------------------------------------------------------------------------------------------

# lhs [n, c, x, y], rhs [o, c / groups, u, v]; window: sizes, strides, padding, dilations of both, reversal; groups
_CONVOLUTIONS: tuple[tuple[tuple[int, ...], tuple[int, ...], str, int], ...] = (
    ((2, 3, 9, 8), (5, 3, 3, 3), "size=3x3 pad=1_1x1_1", 1),
    ((2, 16, 7, 7), (8, 16, 1, 1), "size=1x1", 1),
    ((1, 32, 12, 11), (16, 32, 3, 5), "size=3x5 stride=2x1 pad=0_2x2_1", 1),
    ((2, 4, 6, 7), (6, 2, 2, 3), "size=2x3 pad=1_0x1_1 rhs_dilate=2x1", 2),
    ((1, 6, 5, 6), (6, 1, 3, 3), "size=3x3 pad=2_2x1_2 lhs_dilate=2x1", 6),
    ((1, 3, 6, 6), (4, 3, 2, 3), "size=2x3 pad=1_1x0_1 rhs_reversal=1x0", 1),
    ((1, 64, 14, 14), (64, 64, 3, 3), "size=3x3 pad=1_1x1_1", 1),
)


def _convolutions(element_type: T) -> Iterator[Trial]:
    for number, (lhs, rhs, window, groups) in enumerate(_CONVOLUTIONS):
        many = f", feature_group_count={groups}" if groups > 1 else ""
        for a, b in zip(inputs(element_type, lhs, number), inputs(element_type, rhs, 50 + number), strict=True):
            expected = _convolution(a, b, window, groups)
            shape = ",".join(map(str, expected.exact.shape))
            op = f"convolution(p0, p1), window={{{window}}}, dim_labels=bf01_oi01->bf01{many}"
            text = program(f"{element_type.value}[{shape}]", [(element_type, lhs), (element_type, rhs)], op)
            yield Trial(text, (a, b), [expected])


def _convolution(a: Array, b: Array, window: str, groups: int) -> Expected:
    x, y = wide(a), wide(b)
    exact = _convolved(x, y, window, groups)
    terms = b.shape[1] * b.shape[2] * b.shape[3]
    return (
        Expected(exact)
        if exact.dtype.kind == "i"
        else Expected(exact, terms, _convolved(abs(x), abs(y), window, groups))
    )


def _convolved(x: Array, y: Array, window: str, groups: int) -> Array:
    """Computes a convolution, one position of the kernel after another."""
    fields = dict(part.split("=") for part in window.split())

    def pair(name: str, default: str) -> list[str]:
        return fields.get(name, default).split("x")

    strides, base, spread = ([int(n) for n in pair(k, "1x1")] for k in ("stride", "lhs_dilate", "rhs_dilate"))
    padding = [tuple(map(int, p.split("_"))) for p in pair("pad", "0_0x0_0")]
    reverse = [2 + i for i, flag in enumerate(pair("rhs_reversal", "0x0")) if flag == "1"]
    y = np.flip(y, tuple(reverse))
    sizes = [(n - 1) * d + 1 + low + high for n, d, (low, high) in zip(x.shape[2:], base, padding, strict=True)]
    padded = np.zeros((*x.shape[:2], *sizes), x.dtype)
    inner = [slice(p[0], p[0] + (n - 1) * d + 1, d) for n, d, p in zip(x.shape[2:], base, padding, strict=True)]
    padded[(slice(None), slice(None), *inner)] = x
    counts = [
        (size - (k - 1) * d - 1) // s + 1 for size, k, d, s in zip(sizes, y.shape[2:], spread, strides, strict=True)
    ]
    result = np.zeros((x.shape[0], y.shape[0], *counts), x.dtype)
    inputs_each, outputs_each = x.shape[1] // groups, y.shape[0] // groups
    for u, v in itertools.product(*map(range, y.shape[2:])):
        at = [
            slice(k * d, k * d + (n - 1) * s + 1, s) for k, d, n, s in zip((u, v), spread, counts, strides, strict=True)
        ]
        seen = padded[(slice(None), slice(None), *at)]
        for g in range(groups):
            ours = slice(g * outputs_each, (g + 1) * outputs_each)
            theirs = seen[:, g * inputs_each : (g + 1) * inputs_each]
            result[:, ours] += np.einsum("ncxy,oc->noxy", theirs, y[ours, :, u, v])
    return result


CASES: tuple[Case, ...] = (
    Case("dot", (*_F8, *FLOATS, *_INTEGERS), _dots),
    Case("dot, k = 5000", FLOATS, lambda t: _dots(t, sizes=(5000,))),
    Case("dot highest", (T.F32,), _highest),
    Case("dot to s32", (T.S8, T.U8), lambda t: _dots(t, result=T.S32)),
    Case("dot to f32", (*_F8, T.F16, T.BF16), lambda t: _dots(t, result=T.F32), lambda t: epsilon(T.F32)),
    _algorithm("dot_bf16_bf16_f32", 2.0**-7),
    _algorithm("dot_bf16_bf16_f32_x3", 2.0**-15),
    _algorithm("dot_bf16_bf16_f32_x6", 2.0**-22),
    _algorithm("dot_bf16_bf16_f32_x9", 2.0**-23),
    _algorithm("dot_tf32_tf32_f32", 2.0**-10),
    _algorithm("dot_tf32_tf32_f32_x3", 2.0**-20),
    _algorithm("dot_f32_f32_f32", 2.0**-23),
    Case("convolution", (*FLOATS, T.S8, T.S32), _convolutions),
)
