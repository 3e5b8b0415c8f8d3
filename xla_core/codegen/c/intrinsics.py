"""LLVM's intrinsics and their translations to C, as data."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

from xla_core.codegen.c.ir_module import Constant, Instruction
from xla_core.codegen.c.ir_types import VOID, IrType
from xla_core.codegen.c.memory import bitcast, load_function, store_function
from xla_core.codegen.c.scalar_intrinsics import BUILTINS, ELEMENTWISE, LOOPS, MATH
from xla_core.codegen.c.scalars import BINARY, masked, number, to_integer
from xla_core.codegen.c.source import Source
from xla_core.errors import UnimplementedError

IGNORED = (
    "lifetime.start", "lifetime.end", "assume", "experimental.noalias.scope.decl", "donothing", "dbg.value",
    "dbg.declare", "dbg.label", "invariant.start", "invariant.end", "sideeffect",
)  # fmt: skip
"""Intrinsics that are hints to LLVM and have no effect in C."""

SAME = ("launder.invariant.group", "strip.invariant.group", "expect", "ssa.copy", "annotation", "arithmetic.fence")
"""Intrinsics whose result is their first argument."""

_CLASSES = {  # the bits of llvm.is.fpclass; E is the exponent's mask, M the mantissa's, Q its highest bit
    0: "n > E && !(n & Q)", 1: "n > E && n & Q", 2: "s && n == E", 3: "s && n > M && n < E",
    4: "s && n && n <= M", 5: "s && !n", 6: "!s && !n", 7: "!s && n && n <= M", 8: "!s && n > M && n < E",
    9: "!s && n == E",
}  # fmt: skip

_REDUCTIONS = {
    "add": "add", "mul": "mul", "and": "and", "or": "or", "xor": "xor", "fadd": "fadd", "fmul": "fmul",
    "umin": "umin", "umax": "umax", "smin": "smin", "smax": "smax", "fmin": "minnum", "fmax": "maxnum",
    "fminimum": "minimum", "fmaximum": "maximum",
}  # fmt: skip


class Intrinsics:
    """Calls of intrinsics in one function. `write` appends a statement."""

    def __init__(self, source: Source, write: Callable[[str], None]) -> None:
        self.source = source
        self.write = write

    def call(self, name: str, i: Instruction, values: Sequence[str]) -> str | None:
        """The expression of a call's result; None if it has no result.

        Raises:
            UnimplementedError: the intrinsic has no translation.
        """
        base = _base_name(name)
        t = i.operands[0].type if i.operands else i.type
        if base in IGNORED:
            return None
        if base in SAME:
            return values[0]
        special = _SPECIAL.get(base) or _SPECIAL.get(base.partition(".")[0])
        if special is not None:
            return special(self, base, i, values)
        if base in ("abs", "ctlz", "cttz"):
            values = values[:1]
        operands = [(o.type, v) for o, v in zip(i.operands, values, strict=False)]
        return self.elementwise(base, i.type, operands, t)

    def elementwise(self, base: str, result: IrType, operands: Sequence[tuple[IrType, str]], t: IrType) -> str:
        """An operation on each element."""
        element = t.element
        if base in ELEMENTWISE:
            native = (lambda v: f"{v[0]} * {v[1]} + {v[2]}") if base == "fmuladd" else None
            formula = ELEMENTWISE[base]

            def scalar(v: Sequence[str]) -> str:
                text = formula(element, v)
                whole = result.element
                return masked(whole, f"({whole.c_name})({text})") if base in ("scmp", "ucmp") else text

            return self.source.elementwise(base.replace(".", "_"), result, operands, scalar, native)
        name = self.scalar_function(base, result.element, [o.element for o, _ in operands])
        return self.source.elementwise(
            base.replace(".", "_") + "_lanes", result, operands, lambda v: f"{name}({', '.join(v)})"
        )

    def scalar_function(self, base: str, result: IrType, operands: Sequence[IrType]) -> str:
        """The name of a C function of scalars."""
        t = operands[0]
        if base in MATH and t.is_float and t.bits >= 32:
            self.source.headers.add("math.h")
            return MATH[base] + ("" if t.bits == 64 else "f")
        if base in ("maximum", "minimum", "maximumnum", "minimumnum") and t.is_float:
            return self._extremum_function(base, t)
        if base in LOOPS and t.is_int:
            return self._bit_function(base, t)
        if base in ("fptosi.sat", "fptoui.sat"):
            is_signed = base == "fptosi.sat"
            return self.source.function(
                f"{base.replace('.', '_')}_{t.suffix}_{result.suffix}",
                result,
                [(t, "a")],
                lambda: to_integer(t, result, is_signed=is_signed, saturates=True),
            )
        raise UnimplementedError(f"the translation to C doesn't know llvm.{base} of {t}")

    def _extremum_function(self, base: str, t: IrType) -> str:
        """Maximum and minimum: -0 is less than 0, and a NaN is the result; maximumnum and minimumnum ignore a NaN."""
        less, either = (">", "&") if base.startswith("max") else ("<", "|")
        whole = IrType("int", f"i{t.bits}", t.bits)

        def body() -> str:
            a, b = (bitcast(self.source, t, whole, v) for v in "ab")
            equal = bitcast(self.source, whole, t, f"{a} {either} {b}")
            c = t.c_name
            ending = (
                "return a != a ? b : b != b ? a : r;"
                if base.endswith("num")
                else "return (a != a) | (b != b) ? a + b : r;"
            )
            return f"{c} r = a {less} b ? a : b;\nr = a == b ? {equal} : r;\n{ending}"

        return self.source.function(f"{base}_{t.suffix}", t, [(t, "a"), (t, "b")], body)

    def _bit_function(self, base: str, t: IrType) -> str:
        text = re.sub(r"\bW\b", str(t.bits), re.sub(r"\bT\b", t.c_name, LOOPS[base]))
        builtin = BUILTINS.get((base, t.bits))
        if builtin is not None:
            text = f"#ifdef XLA_GNU\nreturn {builtin};\n#else\n{text}\n#endif"
        return self.source.function(f"{base}_{t.suffix}", t, [(t, "a")], lambda: text)


def _base_name(name: str) -> str:
    """An intrinsic's name without "llvm." and the types that overload it."""
    parts = name.removeprefix("@").removeprefix("llvm.").split(".")
    while len(parts) > 1 and re.fullmatch(r"(v\d+)?(i\d+|f\d+|bf16|p\d+)", parts[-1]):
        parts.pop()
    return ".".join(parts)


# -- those that are not elementwise ----------------------------------------------------------------------------------

Special = Callable[[Intrinsics, str, Instruction, Sequence[str]], "str | None"]


def _copy(s: Intrinsics, base: str, i: Instruction, v: Sequence[str]) -> None:
    del i
    s.write(f"{base.removesuffix('.inline').replace('.', '_')}({v[0]}, {v[1]}, (size_t){v[2]});")


def _prefetch(s: Intrinsics, base: str, i: Instruction, v: Sequence[str]) -> None:
    s.write(f"XLA_PREFETCH({v[0]});")


def _trap(s: Intrinsics, base: str, i: Instruction, v: Sequence[str]) -> None:
    s.source.headers.add("stdlib.h")
    s.write("abort();")


def _masked(s: Intrinsics, base: str, i: Instruction, v: Sequence[str]) -> str | None:
    """masked.load(address, mask, others) and masked.store(value, address, mask); older LLVM has the alignment too."""
    is_load = base == "masked.load"
    operands = [(o, value) for o, value in zip(i.operands, v, strict=True) if o.type.kind in ("vector", "ptr")]
    vector = i.type if is_load else i.operands[0].type
    element = vector.element
    size, mask = element.size(s.source.pointer_bytes), operands[1 if is_load else 2][0].type
    plain = [o for o in i.operands if o.type.is_int]
    aligns = [n for n in i.numbers if n] + [
        o.value for o in plain if isinstance(o, Constant) and isinstance(o.value, int)
    ]
    align = min([size, *aligns]) if aligns else 1
    lane = s.source.lane(vector, "v", "i")
    if is_load:
        function = s.source.function(
            f"masked_load_{vector.suffix}_{align}",
            vector,
            [(operands[0][0].type, "p"), (mask, "m"), (vector, "v")],
            lambda: (
                f"for (int i = 0; i < {vector.count}; ++i)\n"
                f"  if (m.e[i]) {lane} = {load_function(s.source, element, align)}(p + {size} * i);\nreturn v;"
            ),
        )
        return f"{function}({', '.join(value for _, value in operands)})"
    function = s.source.function(
        f"masked_store_{vector.suffix}_{align}",
        VOID,
        [(vector, "v"), (operands[1][0].type, "p"), (mask, "m")],
        lambda: (
            f"for (int i = 0; i < {vector.count}; ++i)\n"
            f"  if (m.e[i]) {store_function(s.source, element, align)}(p + {size} * i, {lane});"
        ),
    )
    s.write(f"{function}({', '.join(value for _, value in operands)});")
    return None


def _class(s: Intrinsics, base: str, i: Instruction, v: Sequence[str]) -> str:
    t, bits = i.operands[0].type.element, i.operands[1]
    asked = bits.value if isinstance(bits, Constant) and isinstance(bits.value, int) else 0
    whole = IrType("int", f"i{t.bits}", t.bits)
    exponent, mantissa = (0x7FF << 52, (1 << 52) - 1) if t.bits == 64 else (0xFF << 23, (1 << 23) - 1)
    tests = " || ".join(f"({test})" for n, test in _CLASSES.items() if asked >> n & 1) or "0"
    for letter, mask in (("E", exponent), ("M", mantissa), ("Q", mantissa + 1 >> 1)):
        tests = re.sub(rf"\b{letter}\b", number(whole, mask), tests)

    def body() -> str:
        word = bitcast(s.source, t, whole, "a")
        unsigned = number(whole, (1 << t.bits - 1) - 1)
        return f"{whole.c_name} w = {word}, n = w & {unsigned};\nbool s = w >> {t.bits - 1};\n(void)s;\nreturn {tests};"

    name = s.source.function(f"is_fpclass_{asked}_{t.suffix}", i.type.element, [(t, "a")], body)
    return s.source.elementwise(f"{name}_lanes", i.type, [(i.operands[0].type, v[0])], lambda x: f"{name}({x[0]})")


def _overflowing(s: Intrinsics, base: str, i: Instruction, v: Sequence[str]) -> str:
    """add, sub and mul with overflow: the wrapped result, and whether the operation overflowed."""
    t = i.operands[0].type
    if t.kind == "vector" or t.bits > 64 or not t.has_whole_storage:
        raise UnimplementedError(f"the translation to C doesn't know llvm.{base} of {t}")
    operator = {"add": "+", "sub": "-", "mul": "*"}[base[1:4]]
    is_signed, c = base[0] == "s", t.c_name

    def body() -> str:
        r = f"r.f0 = {'(uint32_t)' if t.bits < 32 else ''}a {operator} b;\n"
        if operator == "*":
            if not is_signed:
                return f"{s.source.declare(i.type, 'r')};\n{r}r.f1 = a && r.f0 / a != b;\nreturn r;"
            sign = t.signed_c_name
            least = number(t, 1 << t.bits - 1)
            magnitudes = f"{c} x = ({sign})a < 0 ? ({c})(0 - a) : a, y = ({sign})b < 0 ? ({c})(0 - b) : b;\n"
            most = f"{c} most = ({sign})(a ^ b) < 0 ? {least} : ({c})({least} - 1);\n"
            return f"{s.source.declare(i.type, 'r')};\n{r}{magnitudes}{most}r.f1 = x && y > most / x;\nreturn r;"
        if is_signed:
            other = "~(a ^ b)" if operator == "+" else "(a ^ b)"
            return f"{s.source.declare(i.type, 'r')};\n{r}r.f1 = ({other} & (a ^ r.f0)) >> {t.bits - 1} & 1;\nreturn r;"
        return f"{s.source.declare(i.type, 'r')};\n{r}r.f1 = {'r.f0 < a' if operator == '+' else 'a < b'};\nreturn r;"

    name = s.source.function(f"{base.replace('.', '_')}_{t.suffix}", i.type, [(t, "a"), (t, "b")], body)
    return f"{name}({v[0]}, {v[1]})"


def _reduction(s: Intrinsics, base: str, i: Instruction, v: Sequence[str]) -> str:
    """vector.reduce.OP: in the order of the lanes; of floats, after the first argument."""
    operation = base.removeprefix("vector.reduce.")
    if operation not in _REDUCTIONS:
        raise UnimplementedError(f"the translation to C doesn't know llvm.{base}")
    vector, t = i.operands[-1].type, i.type
    called = _REDUCTIONS[operation]

    def body() -> str:
        def step(a: str, b: str) -> str:
            if called in BINARY:
                return BINARY[called](t, a, b)
            return s.elementwise(called, t, [(t, a), (t, b)], t)

        first = "a" if len(i.operands) == 2 else s.source.lane(vector, "v", 0)
        start = 0 if len(i.operands) == 2 else 1
        lane = s.source.lane(vector, "v", "i")
        loop = f"for (int i = {start}; i < {vector.count}; ++i) r = {step('r', lane)};"
        return f"{t.c_name} r = {first};\n{loop}\nreturn r;"

    parameters = [(o.type, "v" if o.type.kind == "vector" else "a") for o in i.operands]
    name = s.source.function(f"reduce_{operation}_{vector.suffix}", t, parameters, body)
    return f"{name}({', '.join(v)})"


def _control_word(s: Intrinsics, base: str, i: Instruction, v: Sequence[str]) -> str | None:
    """Reads or writes a processor's floating-point mode; where the target has no such word, the mode stays as it is."""
    read, write, macro = _CONTROL_WORDS[base.split(".")[0]]
    if "get" in base:
        name = s.source.function(
            "get_fpcr", i.type, [], lambda: f"#if {macro}\nreturn {read};\n#else\nreturn 0;\n#endif"
        )
        return f"{name}()"
    s.write(
        f"#if {macro}\n  {write.format(v[0]) if 'ldmxcsr' in base or 'set' in base else read.format(v[0])};\n#endif"
    )
    return None


_CONTROL_WORDS = {
    "x86": (
        "*(unsigned *){0} = __builtin_ia32_stmxcsr()",
        "__builtin_ia32_ldmxcsr(*(unsigned *){0})",
        "defined(__GNUC__) && defined(__SSE__)",
    ),
    "aarch64": (
        "__builtin_aarch64_get_fpcr64()",
        "__builtin_aarch64_set_fpcr64({0})",
        "defined(__GNUC__) && !defined(__clang__) && defined(__aarch64__)",
    ),
}

_SPECIAL: Mapping[str, Special] = {
    "memcpy": _copy,
    "memcpy.inline": _copy,
    "memmove": _copy,
    "memset": _copy,
    "memset.inline": _copy,
    "prefetch": _prefetch,
    "trap": _trap,
    "masked.load": _masked,
    "masked.store": _masked,
    "is.fpclass": _class,
    **{f"{sign}{op}.with.overflow": _overflowing for sign in "us" for op in ("add", "sub", "mul")},
    **{f"vector.reduce.{name}": _reduction for name in _REDUCTIONS},
    "x86.sse.ldmxcsr": _control_word,
    "x86.sse.stmxcsr": _control_word,
    "aarch64.get.fpcr": _control_word,
    "aarch64.set.fpcr": _control_word,
}


def call_intrinsic(
    source: Source, write: Callable[[str], None], name: str, instruction: Instruction, values: Sequence[str]
) -> str | None:
    """The expression of an intrinsic's result, or None; `write` takes the statements that it needs.

    Raises:
        UnimplementedError: it has no translation.
    """
    return Intrinsics(source, write).call(name, instruction, values)
