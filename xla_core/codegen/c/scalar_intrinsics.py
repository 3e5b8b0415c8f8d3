"""LLVM's intrinsics of integers and floats that C computes by an expression, a function of <math.h> or a loop."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from xla_core.codegen.c.ir_types import IrType
from xla_core.codegen.c.scalars import masked, number, signed_value

MATH = {  # the function of <math.h> for double; that for float ends with f
    "fabs": "fabs", "sqrt": "sqrt", "floor": "floor", "ceil": "ceil", "trunc": "trunc", "round": "round",
    "roundeven": "rint", "rint": "rint", "nearbyint": "nearbyint", "copysign": "copysign", "fma": "fma",
    "minnum": "fmin", "maxnum": "fmax", "ldexp": "ldexp", "sin": "sin", "cos": "cos", "tan": "tan", "exp": "exp",
    "exp2": "exp2", "log": "log", "log2": "log2", "log10": "log10", "pow": "pow",
}  # fmt: skip

Expression = Callable[[IrType, Sequence[str]], str]

_EXTREMA = {"umin": "<", "umax": ">", "smin": "<", "smax": ">"}


def _extremum(name: str) -> Expression:
    def expression(t: IrType, v: Sequence[str]) -> str:
        a, b = (signed_value(t, x) for x in v) if name[0] == "s" else v
        return f"{a} {_EXTREMA[name]} {b} ? {v[0]} : {v[1]}"

    return expression


def _three_way(is_signed: bool) -> Expression:
    def expression(t: IrType, v: Sequence[str]) -> str:
        a, b = (signed_value(t, x) for x in v) if is_signed else v
        return f"({a} > {b}) - ({a} < {b})"

    return expression


def _abs(t: IrType, v: Sequence[str]) -> str:
    return f"{signed_value(t, v[0])} < 0 ? ({masked(t, f'({t.c_name})(0 - {v[0]})')}) : {v[0]}"


def _funnel(left: bool) -> Expression:
    """The higher bits of two integers that are joined and shifted left, or the lower ones after a shift right."""

    def expression(t: IrType, v: Sequence[str]) -> str:
        a, b, amount = v
        w = t.bits
        near, far = (a, b) if left else (b, a)
        if t.storage_bits < 32:  # an int, to which C promotes it, could overflow
            near, far = f"(uint32_t){near}", f"(uint32_t){far}"
        to, back = ("<<", ">>") if left else (">>", "<<")
        if amount.rstrip("ul").isdigit():
            k = int(amount.rstrip("ul"), 0) % w
            return (a if left else b) if k == 0 else masked(t, f"({near} {to} {k}) | ({far} {back} {w - k})")
        step = f"({far} {back} 1 {back} ({w - 1} - {amount} % {w}))"
        return masked(t, f"({near} {to} {amount} % {w}) | {step}")

    return expression


def _saturating(name: str) -> Expression:
    def expression(t: IrType, v: Sequence[str]) -> str:
        a, b = v
        most = number(t, (1 << t.bits) - 1)
        if name == "uadd":
            return f"{a} > {most} - {b} ? {most} : {a} + {b}"
        return f"{a} > {b} ? {a} - {b} : 0"

    return expression


def _saturating_signed(adds: bool) -> Expression:
    """A sum of unsigned numbers overflows as a signed sum if its sign differs from the signs of both operands."""

    def expression(t: IrType, v: Sequence[str]) -> str:
        a, b = v
        sign = t.bits - 1
        most, least = number(t, (1 << sign) - 1), number(t, 1 << sign)
        wrapped = masked(t, f"({t.c_name})({a} {'+' if adds else '-'} {b})")
        overflows = f"(({'~' if adds else ''}({a} ^ {b}) & ({a} ^ ({wrapped}))) >> {sign}) & 1"
        return f"({overflows}) ? (({a} >> {sign}) ? {least} : {most}) : ({wrapped})"

    return expression


ELEMENTWISE: Mapping[str, Expression] = {
    **{name: _extremum(name) for name in _EXTREMA},
    "abs": _abs,
    "fshl": _funnel(True),
    "fshr": _funnel(False),
    "scmp": _three_way(True),
    "ucmp": _three_way(False),
    "sadd.sat": _saturating_signed(True),
    "ssub.sat": _saturating_signed(False),
    "uadd.sat": _saturating("uadd"),
    "usub.sat": _saturating("usub"),
    "fmuladd": lambda t, v: f"{v[0]} * {v[1]} + {v[2]}",
}
"""Expressions of the type of the operands, and of the operands."""

LOOPS: Mapping[str, str] = {  # bodies of functions of `a`; W is the width, T the type
    "ctpop": "unsigned n = 0;\nfor (; a; a &= a - 1) ++n;\nreturn n;",
    "ctlz": "unsigned n = W;\nfor (; a; a >>= 1) --n;\nreturn n;",
    "cttz": "unsigned n = 0;\nfor (; n < W && !(a >> n & 1); ++n) {}\nreturn n;",
    "bswap": "T r = 0;\nfor (unsigned i = 0; i < W; i += 8) r |= (T)(a >> i & 255) << (W - 8 - i);\nreturn r;",
    "bitreverse": "T r = 0;\nfor (unsigned i = 0; i < W; ++i) r |= (T)(a >> i & 1) << (W - 1 - i);\nreturn r;",
}
BUILTINS: Mapping[tuple[str, int], str] = {
    ("ctpop", 32): "__builtin_popcount(a)", ("ctpop", 64): "__builtin_popcountll(a)",
    ("ctlz", 32): "a ? __builtin_clz(a) : 32", ("ctlz", 64): "a ? __builtin_clzll(a) : 64",
    ("cttz", 32): "a ? __builtin_ctz(a) : 32", ("cttz", 64): "a ? __builtin_ctzll(a) : 64",
    ("bswap", 32): "__builtin_bswap32(a)", ("bswap", 64): "__builtin_bswap64(a)",
}  # fmt: skip
