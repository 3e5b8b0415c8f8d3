"""C from LLVM IR computes what LLVM's own code computes, without undefined behaviour of C."""

from __future__ import annotations

import ctypes
import functools
import itertools
import shutil
import struct
import zlib
from collections.abc import Iterator

import pytest
from xla_backend_cpu.host import host_triple
from xla_backend_cpu.machine_code import CCodeGenerator, CodeGenerator, LlvmCodeGenerator

from xla_core.codegen import LinkedCode
from xla_core.codegen.llvm import IrPart, LoopAbi
from xla_core.errors import InternalError, UnavailableError

pytestmark = pytest.mark.skipif(shutil.which("gcc") is None, reason="not installed: gcc")

WIDTHS = (1, 4, 8, 16, 24, 32, 33, 64)
_COUNTS = "ctpop ctlz cttz"
_PAIRS = "umin umax smin smax sadd.sat ssub.sat uadd.sat usub.sat scmp ucmp"


def _corners(bits: int) -> list[int]:
    full = (1 << bits) - 1
    values = {0, 1, 2, 3, 7, full, full - 1, full >> 1, (full >> 1) + 1, 0x55AA55AA55AA55AA & full}
    return sorted(value & full for value in values)


_FLOATS = (0.0, -0.0, 1.0, -1.5, 0.1, 3.0e9, -3.0e9, 2147483648.0, -2147483649.0, 1e19, -1e19, 127.5, -128.9, 1e-40)
_SPECIALS = (float("inf"), float("-inf"), float("nan"))


def _bits(type_: str, value: float) -> int:
    form = ("<f", "<I") if type_ == "float" else ("<d", "<Q")
    return int(struct.unpack(form[1], struct.pack(form[0], value))[0])


def _held(type_: str) -> str:
    """The integer type of 64 bits or less through which a value passes."""
    return {"float": "i32", "double": "i64"}.get(type_, type_)


def _wrapped(name: str, body: str, operands: list[str], result: str) -> str:
    """A function of integers of 64 bits that hold the operands, which returns the result's bits in one."""
    lines = []
    for letter, type_ in zip("abc", operands, strict=False):
        held = _held(type_)
        lines.append(f"%{letter}h = {'bitcast i64' if held == 'i64' else 'trunc i64'} %{letter}i to {held}")
        lines.append(f"%{letter} = bitcast {held} %{letter}h to {type_}")
    held = _held(result)
    lines += [body, f"%rh = bitcast {result} %r to {held}"]
    lines.append(f"%ri = {'bitcast' if held == 'i64' else 'zext'} {held} %rh to i64\n  ret i64 %ri")
    parameters = ", ".join(f"i64 %{letter}i" for letter in "abc"[: len(operands)])
    return f"define i64 @{name}({parameters}) {{\n  " + "\n  ".join(lines) + "\n}\n"


def _guarded(op: str, bits: int) -> str:
    """A division whose divisor is never 0, and a quotient that never overflows."""
    return f"%b1 = or i{bits} %b, 1\n  %n = icmp eq i{bits} %b1, -1\n  %d = select i1 %n, i{bits} 1, i{bits} %b1\n  %r = {op} i{bits} %a, %d"


def _cases() -> Iterator[tuple[str, str, list[str], str]]:
    """(name, body, types of the operands, type of the result) of each function."""
    for bits in WIDTHS:
        t = f"i{bits}"
        for op in ("add", "sub", "mul", "and", "or", "xor"):
            yield f"{op}_{t}", f"%r = {op} {t} %a, %b", [t, t], t
        for op in ("udiv", "urem", "sdiv", "srem"):
            if bits > 1:
                yield f"{op}_{t}", _guarded(op, bits), [t, t], t
        for op, n in itertools.product(("shl", "lshr", "ashr"), sorted({0, 1, bits // 2, bits - 1})):
            if n < bits:
                yield f"{op}_{t}_{n}", f"%r = {op} {t} %a, {n}", [t], t
            if bits in (8, 16, 32, 64):
                yield f"{op}_{t}_by_{n}", f"%s = and {t} %b, {bits - 1}\n  %r = {op} {t} %a, %s", [t, t], t
        for word in ("eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge"):
            yield f"icmp_{word}_{t}", f"%r = icmp {word} {t} %a, %b", [t, t], "i1"
        for name in _COUNTS.split():
            flag = "" if name == "ctpop" else ", i1 false"
            yield f"{name}_{t}", f"%r = call {t} @llvm.{name}.{t}({t} %a{flag})", [t], t
        for name in _PAIRS.split():
            suffix = f"{t}.{t}" if name.endswith("cmp") else t
            if not (bits < 3 and name.endswith("cmp")):
                yield f"{name.replace('.', '_')}_{t}", f"%r = call {t} @llvm.{name}.{suffix}({t} %a, {t} %b)", [t, t], t
        yield f"abs_{t}", f"%r = call {t} @llvm.abs.{t}({t} %a, i1 false)", [t], t
        for shift in ("fshl", "fshr"):
            yield f"{shift}_{t}", f"%r = call {t} @llvm.{shift}.{t}({t} %a, {t} %b, {t} %c)", [t, t, t], t
        for op in ("bswap", "bitreverse"):
            if bits in (16, 32, 64) or op == "bitreverse":
                yield f"{op}_{t}", f"%r = call {t} @llvm.{op}.{t}({t} %a)", [t], t
        for other in WIDTHS:
            if other > bits:
                yield f"sext_{t}_i{other}", f"%r = sext {t} %a to i{other}", [t], f"i{other}"
                yield f"zext_{t}_i{other}", f"%r = zext {t} %a to i{other}", [t], f"i{other}"
                yield f"trunc_i{other}_{t}", f"%r = trunc i{other} %a to {t}", [f"i{other}"], t
        if bits in (8, 32, 64):
            for name in ("sadd", "uadd", "ssub", "usub", "smul", "umul"):
                pair = f"%p = call {{ {t}, i1 }} @llvm.{name}.with.overflow.{t}({t} %a, {t} %b)"
                yield f"{name}_over_{t}", f"{pair}\n  %r = extractvalue {{ {t}, i1 }} %p, 1", [t, t], "i1"
    for f, suffix in (("float", "f32"), ("double", "f64")):
        for op in ("fadd", "fsub", "fmul", "fdiv", "frem"):
            yield f"{op}_{suffix}", f"%r = {op} {f} %a, %b", [f, f], f
        for word in ["oeq", "ogt", "oge", "olt", "ole", "one", "ord", "ueq", "ugt", "uge", "ult", "ule", "une", "uno"]:
            yield f"fcmp_{word}_{suffix}", f"%r = fcmp {word} {f} %a, %b", [f, f], "i1"
        for name in ("maximum", "minimum", "copysign"):
            yield f"{name}_{suffix}", f"%r = call {f} @llvm.{name}.{suffix}({f} %a, {f} %b)", [f, f], f
        for name in ("fabs", "sqrt", "floor", "ceil", "trunc", "round", "roundeven"):
            yield f"{name}_{suffix}", f"%r = call {f} @llvm.{name}.{suffix}({f} %a)", [f], f
        yield f"fneg_{suffix}", f"%r = fneg {f} %a", [f], f
        yield f"fma_{suffix}", f"%r = call {f} @llvm.fma.{suffix}({f} %a, {f} %b, {f} %c)", [f, f, f], f
        for test in range(10):
            yield (
                f"class_{test}_{suffix}",
                f"%r = call i1 @llvm.is.fpclass.{suffix}({f} %a, i32 {1 << test})",
                [f],
                "i1",
            )
        for bits in (8, 16, 32, 64):
            t = f"i{bits}"
            for sign in "su":
                yield (
                    f"fpto{sign}i_sat_{suffix}_{t}",
                    f"%r = call {t} @llvm.fpto{sign}i.sat.{t}.{suffix}({f} %a)",
                    [f],
                    t,
                )
                yield f"{sign}itofp_{t}_{suffix}", f"%r = {sign}itofp {t} %a to {f}", [t], f
    for n, t in ((1, "float"), (3, "i32"), (2, "i64")):  # the first two are structures in C
        vector, last = f"<{n} x {t}>", f"i32 {n - 1}"
        body = f"""%v = insertelement {vector} zeroinitializer, {t} %a, {last}
  %m = alloca {vector}, align 16
  store {vector} %v, ptr %m, align {8 if t == "i64" else 4}
  %w = load {vector}, ptr %m, align {8 if t == "i64" else 4}
  %r = extractelement {vector} %w, {last}"""
        yield f"memory_of_{n}_{t}", body, [t], t
    yield "fpext", "%r = fpext float %a to double", ["float"], "double"
    yield "fptrunc", "%r = fptrunc double %a to float", ["double"], "float"


CASES = {name: (body, operands, result) for name, body, operands, result in _cases()}


@functools.cache
def _library(kind: str) -> LinkedCode:
    generator: CodeGenerator = LlvmCodeGenerator()
    if kind != "llvm":
        options = ["-Wall", "-Wextra", "-Werror", "-fsanitize=undefined", "-fsanitize-undefined-trap-on-error"]
        generator = CCodeGenerator("gcc", [*options, *(["-DXLA_PLAIN_C"] if kind == "plain" else [])])
    bodies = [_wrapped(name, *case) for name, case in CASES.items()]
    declared = sorted({_declaration(body) for body, _, _ in CASES.values() if "@llvm" in body})
    text = "\n".join([*bodies, *declared])
    code = generator.compile([IrPart(text)], LoopAbi(host_triple()), 0, what="operations", threads=1)
    return generator.load(code, list(CASES), {})


def _declaration(body: str) -> str:
    call = body.partition("call ")[2].partition("\n")[0]
    head, _, arguments = call.partition("(")
    types = [argument.rpartition(" ")[0] for argument in arguments.rstrip(")").split(", ")]
    return f"declare {head}({', '.join(types)})"


def _values(type_: str) -> list[int]:
    if type_ in ("float", "double"):
        return [_bits(type_, value) for value in (*_FLOATS, *_SPECIALS)]
    return _corners(int(type_[1:]))


def _is_nan(type_: str, bits: int) -> bool:
    exponent, rest = (0xFF << 23, (1 << 23) - 1) if type_ == "float" else (0x7FF << 52, (1 << 52) - 1)
    return type_ in ("float", "double") and bits & exponent == exponent and bool(bits & rest)


def _named_cases() -> list[object]:
    """All operations, as GCC and as any compiler sees the C. About sixty are not slow."""
    cases = []
    for name, kind in itertools.product(CASES, ("gnu", "plain")):
        marks = [] if zlib.crc32(f"{name}/{kind}".encode()) % 40 == 0 else [pytest.mark.slow]
        cases.append(pytest.param(name, kind, id=f"{name}-{kind}", marks=marks))
    return cases


@pytest.mark.parametrize(("name", "kind"), _named_cases())
def test_an_operation_gives_the_bits_of_llvm(name: str, kind: str) -> None:
    _, operands, result = CASES[name]
    types = [ctypes.c_uint64] * len(operands)
    ours = _library(kind).function(name, ctypes.c_uint64, *types)
    theirs = _library("llvm").function(name, ctypes.c_uint64, *types)
    step = 3 if len(operands) == 3 else 1
    for values in itertools.product(*(_values(operand)[::step] for operand in operands)):
        got, wanted = ours(*values), theirs(*values)
        same = got == wanted or (_is_nan(result, got) and _is_nan(result, wanted))
        assert same, f"{name}{tuple(map(hex, values))} is {got:#x}, not {wanted:#x}"


VECTORS = """
define void @mixed(ptr %x, ptr %y, ptr %r) {
  %a = load <8 x float>, ptr %x, align 4
  %b = load <8 x float>, ptr %y, align 4
  %less = fcmp olt <8 x float> %a, %b
  %high = select <8 x i1> %less, <8 x float> %b, <8 x float> %a
  %sum = call <8 x float> @llvm.fmuladd.v8f32(<8 x float> %high, <8 x float> splat (float 2.0), <8 x float> %b)
  %turned = shufflevector <8 x float> %sum, <8 x float> %a, <8 x i32> <i32 7, i32 15, i32 0, i32 8, i32 1, i32 2, i32 3, i32 4>
  %w = bitcast <8 x float> %turned to <8 x i32>
  %k = lshr <8 x i32> %w, splat (i32 3)
  %e = insertelement <8 x i32> %k, i32 9, i64 5
  %m = bitcast <8 x i1> %less to i8
  %n = zext i8 %m to i32
  %t = call i32 @llvm.vector.reduce.add.v8i32(<8 x i32> %e)
  %u = xor i32 %t, %n
  %z = insertelement <8 x i32> %e, i32 %u, i64 0
  %old = call <8 x i32> @llvm.masked.load.v8i32.p0(ptr align 4 %y, <8 x i1> %less, <8 x i32> %z)
  call void @llvm.masked.store.v8i32.p0(<8 x i32> %old, ptr align 4 %r, <8 x i1> <i1 1, i1 0, i1 1, i1 1, i1 0, i1 1, i1 1, i1 1>)
  ret void
}
declare <8 x float> @llvm.fmuladd.v8f32(<8 x float>, <8 x float>, <8 x float>)
declare i32 @llvm.vector.reduce.add.v8i32(<8 x i32>)
declare <8 x i32> @llvm.masked.load.v8i32.p0(ptr, <8 x i1>, <8 x i32>)
declare void @llvm.masked.store.v8i32.p0(<8 x i32>, ptr, <8 x i1>)
"""


@pytest.mark.parametrize("kind", ["gnu", "plain"])
@pytest.mark.parametrize("level", [0, 2])
def test_vectors_give_the_bits_of_llvm(kind: str, level: int) -> None:
    results = []
    for generator in (LlvmCodeGenerator(), CCodeGenerator("gcc", ["-DXLA_PLAIN_C"] if kind == "plain" else [])):
        code = generator.compile([IrPart(VECTORS)], LoopAbi(host_triple()), level, what="vectors", threads=1)
        run = generator.load(code, ["mixed"], {})
        x = (ctypes.c_float * 8)(1, -2, 3.5, 4, 0.25, -6, 7, 8)
        y = (ctypes.c_float * 8)(2, -3, 4.5, 1, 0.5, -7, 9, 8)
        r = (ctypes.c_uint32 * 8)(*range(8))
        run.function("mixed", None, *[ctypes.c_void_p] * 3)(x, y, r)
        results.append(list(r))
    assert results[0] == results[1]


def test_parts_call_each_other_and_imported_functions() -> None:
    first = "declare i32 @inner(i32)\ndeclare i32 @host(i32)\ndefine i32 @outer(i32 %a) {\n  %b = call i32 @inner(i32 %a)\n  %c = call i32 @host(i32 %b)\n  ret i32 %c\n}"
    second = "define i32 @inner(i32 %a) {\n  %b = add i32 %a, 1\n  ret i32 %b\n}"
    host = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_int32)(lambda value: 10 * value)
    generator = CCodeGenerator("gcc")
    code = generator.compile([IrPart(first), IrPart(second)], LoopAbi(host_triple()), 2, what="parts", threads=2)
    address = ctypes.cast(host, ctypes.c_void_p).value
    assert address is not None
    library = generator.load(code, ["outer"], {"host": address, "unused": 0})
    assert library.function("outer", ctypes.c_int32, ctypes.c_int32)(4) == 50


def test_a_missing_compiler_is_an_error() -> None:
    with pytest.raises(UnavailableError, match=r"no-such-cc.*\n.*CC"):
        CCodeGenerator("no-such-cc").object_file("", LoopAbi(), 2, what="m")


def test_a_failing_compiler_is_an_error_with_its_words() -> None:
    with pytest.raises(InternalError, match="unrecognized command-line option"):
        CCodeGenerator("gcc -no-such-option").object_file("", LoopAbi(), 2, what="m")


def test_the_compiler_is_that_of_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CC", "gcc -O1")
    assert CCodeGenerator(options=["-g"]).command == ("gcc", "-O1", "-g")
    assert CCodeGenerator("gcc").fingerprint() != CCodeGenerator("gcc", ["-g"]).fingerprint()
