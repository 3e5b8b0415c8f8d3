"""Mutants of the CPU backend's code: each changes a class of LLVM's instructions."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterator

from tests.conformance.zoo.mutant import Mutant
from tests.conformance.zoo.native_code import bounds, native_mutant, replaced, with_control_bits

Replacement = str | Callable[[re.Match[str]], str]

_FLOAT = r"(?:<\d+ x )?(?:half|bfloat|float|double)>?"
_ELEMENTS = ("i8", "i16", "i32", "i64", "half", "bfloat", "float", "double")

# -- flags of float ops ------------------------------------------------------------------------------------------------

_FLAGS = ("nnan", "ninf", "nsz", "arcp", "contract", "afn", "reassoc", "fast")
_FLAGGED = {op: rf"(= {op} )(?=.*{_FLOAT})" for op in ("fadd", "fsub", "fmul", "fdiv", "fcmp", "select")}
_FLAGGED["call"] = rf"(= call )(?={_FLOAT} @llvm)"


def _flags() -> Iterator[Mutant]:
    for flag, (op, pattern) in itertools.product(_FLAGS, _FLAGGED.items()):
        name, rewriting = f"{flag}-{op}", replaced(pattern, rf"\1{flag} ")
        selected = "one_op_after" if name == "nsz-fmul" else "test_ops"  # LLVM has to know the operand
        yield native_mutant(name, f"`{op}` of floats has the flag `{flag}`.", rewriting, select=selected)


# -- words that take the place of others -------------------------------------------------------------------------------

_SWAPS = {
    "icmp ": "slt:ult,sle sgt:ugt,sge sle:ule,slt sge:uge,sgt ult:slt,ule ugt:sgt,uge ule:sle,ult uge:sge,ugt",
    "fcmp ": "oeq:ueq une:one one:une olt:ult,ole ole:ule,olt ogt:ugt,oge oge:uge,ogt ueq:oeq ult:olt,ule",
    "= ": "ashr:lshr lshr:ashr sext:zext zext:sext udiv:sdiv sdiv:udiv urem:srem srem:urem sitofp:uitofp uitofp:sitofp",
    "= fpto": "si:ui ui:si",
    "@llvm.": "maximum:maxnum,maximumnum minimum:minnum,minimumnum roundeven:round round:roundeven ceil:trunc,roundeven "
    "floor:trunc trunc:floor smax:umax smin:umin umin:smin umax:smax fshl:fshr ctlz:cttz",
}
"""The text before a word of an instruction -> the words, each with its replacements."""

_OF_INTEGERS = ("icmp ", "= ")


def _swaps() -> Iterator[Mutant]:
    for before, pairs in _SWAPS.items():
        kinds = ("i1", "i8", "i16", "i32", "i64") if before in _OF_INTEGERS else ("",)
        for one, others in (pair.split(":") for pair in pairs.split()):
            for other, kind in itertools.product(others.split(","), kinds):
                pattern = rf"(?<={re.escape(before)}){one}(?={f' {kind} ' if kind else '[ .]'})"
                if (one, kind) == ("ult", "i64"):  # loops have mutants of their own
                    pattern += r"(?!.*\n  br i1 %v\d+, label %\w+\.body)"
                name = "-".join(part for part in (before.strip("= @").replace("llvm.", ""), one, other, kind) if part)
                what = f"{before.strip('= ')} {one} {kind}".strip()
                yield native_mutant(f"swap-{name}", f"`{what}` is `{other}`.", replaced(pattern, other))


# -- loops -------------------------------------------------------------------------------------------------------------

_LOOPS = (
    *("unit", *(f"dim{d}" for d in range(1, 7)), "tile", "edge", "edges", "square", "squares", "reduce", "dot"),
    *(
        "update",
        "copy",
        "put",
        "tap",
        "window",
        "block",
        "loop",
        "columns",
        "piece",
        "pairs",
        "passes",
        "merge",
        "runs",
    ),
    *("gather", "row", "features", "initialize", "source", "insert", "remove", "order", "begin", "greatest", "fft"),
    *("feature", "vectors", "pack", "rows"),
)
_BOUNDS = {
    "short": ("ends one iteration early", "%wrong = sub i64 {bound}, 1"),
    "large": (
        "ends one iteration early if it has 256 or more",
        "%wrong.b = icmp uge i64 {bound}, 256\n  %wrong.d = zext i1 %wrong.b to i64\n"
        "  %wrong = sub i64 {bound}, %wrong.d",
    ),
    "tail": (
        "leaves out what follows the last 16 iterations",
        "%wrong.b = icmp ugt i64 {bound}, 16\n  %wrong.m = select i1 %wrong.b, i64 -16, i64 -1\n"
        "  %wrong = and i64 {bound}, %wrong.m",
    ),
}


def _loops() -> Iterator[Mutant]:
    for loop, (name, (what, changed)) in itertools.product(_LOOPS, _BOUNDS.items()):
        yield native_mutant(f"loop-{loop}-{name}", f"The loop `{loop}` {what}.", bounds(loop, changed))


_PARALLEL: dict[str, tuple[str, Callable[[int, int], int]]] = {
    "last": ("leave out the last element", lambda size, piece: size - 1),
    "remainder": ("leave out the last piece if it is smaller", lambda size, piece: size // piece * piece),
    "eighth": ("leave out what follows the last eight elements", lambda size, piece: size & -8),
    "large": ("run for 65,536 elements at most", lambda size, piece: min(size, 1 << 16)),
}


def _parallel() -> Iterator[Mutant]:
    for name, (what, sized) in _PARALLEL.items():

        def change(found: re.Match[str], sized: Callable[[int, int], int] = sized) -> str:
            return f"{found[1]}{sized(int(found[2]), int(found[3]))}, i64 {found[3]}"

        pattern = r"(call void @xla_cpu_parallel_for\(ptr \S+, ptr \S+, i64 )(\d+), i64 (\d+)"
        yield native_mutant(f"parallel-{name}", f"Loops on several threads {what}.", replaced(pattern, change))


# -- precision ---------------------------------------------------------------------------------------------------------

_SUMS = {"sum": r"fadd reassoc(?: contract)?", "product": r"fmul reassoc(?: contract)?", "each": "fadd"}
_CONTROL = {
    "denormal-results": (0x8000, "flush denormal results to zero"),
    "denormal-operands": (0x40, "take denormal operands for zero"),
    "round-down": (0x2000, "round down"),
    "round-up": (0x4000, "round up"),
    "round-to-zero": (0x6000, "round towards zero"),
}


def _precision() -> Iterator[Mutant]:
    for kind, narrow in (("float", "bfloat"), ("float", "half"), ("double", "float")):
        for what, op in _SUMS.items():
            pattern = rf"^  (%v\d+) = ({op} {kind} .*)$"
            rounded = rf"  \1.w = \2\n  \1.n = fptrunc {kind} \1.w to {narrow}\n  \1 = fpext {narrow} \1.n to {kind}"
            fault = f"`{op}` of {kind} is rounded to {narrow}."
            yield native_mutant(f"narrow-{what}-{kind}-{narrow}", fault, replaced(pattern, rounded))
    for width in (4, 8, 16):
        wide, narrow = f"<{width} x float>", f"<{width} x bfloat>"
        rounded = rf"  \1.w = \2\n  \1.n = fptrunc {wide} \1.w to {narrow}\n  \1 = fpext {narrow} \1.n to {wide}"
        rewriting = replaced(rf"^  (%v\d+) = (call {wide} @llvm.fma.*)$", rounded)
        yield native_mutant(f"narrow-fma-{width}", f"Vectors of {width} products are rounded to bfloat.", rewriting)
    for name, (bits, what) in _CONTROL.items():
        yield native_mutant(f"mode-{name}", f"Kernels {what}.", with_control_bits(bits))


# -- the rest of what the emitter wrote --------------------------------------------------------------------------------

_BUFFERS = (
    r"  %v1 (= load ptr, ptr %buffers, .*!dereferenceable (?P<size>!\d+), .*\n  %v2 = getelementptr .* i64 1\n)"
    r"  %v3 (= load ptr, ptr %v2, .*!dereferenceable (?P=size), .*\n)(?=  %v4 = getelementptr .*ptr %buffers, i64 2)"
)


def _lower(least: int, step: int) -> Replacement:
    return lambda m: m[1] + str(int(m[2]) - step * (int(m[2]) > least))


def _shorter(place: int) -> Replacement:
    """One less in an argument of a library's product."""

    def change(found: re.Match[str]) -> str:
        parts = found[0].split(", ")
        parts[place] = f"i32 {max(1, int(parts[place].split()[1]) - 1)}"
        return ", ".join(parts)

    return change


_FIRST = r"select i1 true, \1 \2, \1 \2"
_OTHERS: list[tuple[str, str, str, Replacement]] = [
    (
        "mode-kept",
        "A product leaves denormals off.",
        r"  store i32 .*\n  call void @llvm.x86.sse.ldmxcsr.*\n(?=  ret void)",
        "",
    ),
    *(
        (
            f"align-{op}-{kind}",
            f"`{op}` of {kind} claims an alignment of 64 bytes.",
            rf"(= load {kind}, .*|  store {kind} .*), align \d+",
            r"\1, align 64",
        )
        for op, kind in itertools.product(("load", "store"), _ELEMENTS)
    ),
    ("operands-swapped", "Kernels take two operands for each other.", _BUFFERS, r"  %v3 \1  %v1 \3"),
    (
        "not-aliased",
        "Kernels claim that an operand below the result aliases nothing.",
        r"(load .*)!alias.scope (!\d+)",
        r"\1!noalias \2",
    ),
    (
        "temporaries-overlap",
        "Temporaries beyond 4,096 bytes begin 64 bytes early.",
        r"(getelementptr inbounds i8, ptr %v\d+, i64 )(\d+)$",
        _lower(4096, 64),
    ),
    (
        "coefficients-double",
        "Constants of double have the precision of float.",
        r"(double 0x[0-9A-F]{9})[0-9A-F]{7}\b",
        r"\g<1>0000000",
    ),
    (
        "coefficients-float",
        "Constants of float have 16 bits of mantissa.",
        r"(float 0x[0-9A-F]{7})[0-9A-F]{9}\b",
        r"\g<1>000000000",
    ),
    (
        "fma-split",
        "A fused product and sum is rounded twice.",
        rf"^  (%v\d+) = call (?:\w+ )*({_FLOAT}) @llvm.fma[^(]*\({_FLOAT} (\S+), {_FLOAT} (\S+), {_FLOAT} (\S+)\)",
        r"  \1.p = fmul \2 \3, \4\n  \1 = fadd \2 \1.p, \5",
    ),
    ("absolute-value-kept", "`fabs` keeps the sign.", rf"call ({_FLOAT}) @llvm.fabs[^(]*\({_FLOAT} (\S+)\)", _FIRST),
    (
        "sign-not-copied",
        "`copysign` keeps its own sign.",
        rf"call ({_FLOAT}) @llvm.copysign[^(]*\({_FLOAT} (\S+), {_FLOAT} (\S+)\)",
        _FIRST,
    ),
    *(
        (
            f"no-{name}",
            f"`{name}` gives its first operand.",
            rf"call (i\d+) @llvm.{name}\.i\d+\(i\d+ (\S+), i\d+ (\S+)\)",
            _FIRST,
        )
        for name in ("smax", "smin", "umin", "umax")
    ),
    (
        "shuffle-last",
        "The last two elements of a shuffle are swapped.",
        r"(shufflevector .*)(i32 \d+), (i32 \d+)>$",
        r"\1\3, \2>",
    ),
    (
        "insert-last",
        "An element is inserted one place too far ahead.",
        r"(insertelement .*, i(?:32|64) )([1-9]\d*)$",
        _lower(0, 1),
    ),
    *(
        (
            f"gemm-{axis}",
            f"The library's products are shorter by one in {axis}.",
            r"call void @cblas_.gemm\(.*",
            _shorter(place),
        )
        for axis, place in (("m", 3), ("n", 4), ("k", 5))
    ),
    (
        "gemm-sum",
        "The library's products are added to what was there.",
        r"(call void @cblas_[cz]gemm\((?:[^,]+, ){6}(ptr [^,]+),(?:[^,]+,){4}) ptr [^,]+",  # beta becomes alpha, 1
        r"\1 \2",
    ),
]

# -- what LLVM's passes made of it -------------------------------------------------------------------------------------

_VECTOR = rf"<\d+ x (?:{'|'.join(_ELEMENTS)})>"


def _repeated(name: str, kind: str, width: int, value: str) -> str:
    """A vector whose last lane is the one before it."""
    mask = ", ".join(f"i32 {min(lane, width - 2)}" for lane in range(width))
    return f"  {name} = shufflevector {kind} {value}, {kind} poison, <{width} x i32> <{mask}>\n"


def _last_lane(found: re.Match[str]) -> str:
    kind, value, place = found["kind"], found["value"], found["place"]
    name = "%lane" + re.sub(r"\W", "", place + value)
    return f"{_repeated(name, kind, int(found['width']), value)}  store {kind} {name}, ptr {place}"


def _reduced_lane(found: re.Match[str]) -> str:
    name = "%lane" + re.sub(r"\W", "", found["result"])
    repeated = _repeated(name, found["kind"], int(found["width"]), found["value"])
    return f"{repeated}  {found['result']} = {found['call']}{found['kind']} {name})"


_OF_VECTORS: list[tuple[str, str, str, Replacement]] = [
    ("no-tail", "Nothing follows the bodies of vectors.", r"(%cmp\.n\d* = icmp eq i64) .*", r"\1 0, 0"),
    (
        "no-tail-of-epilogue",
        "Nothing follows the second body of vectors.",
        r"(vec\.epilog\.middle\.block:.*\n  %cmp\.n\d+ = icmp eq i64) .*",
        r"\1 0, 0",
    ),
    *(
        (
            f"last-lane-{kind}",
            f"The last lane of stored vectors of {kind} is the one before it.",
            rf"^  store (?P<kind><(?P<width>\d+) x {kind}>) (?P<value>%\S+), ptr (?P<place>%[^\s,]+)",
            _last_lane,
        )
        for kind in _ELEMENTS
    ),
    *(
        (
            f"reduced-lane-{op}",
            f"`{op}` of a vector takes the last lane but one for the last.",
            rf"^  (?P<result>%\S+) = (?P<call>(?:tail )?call .*@llvm\.vector\.reduce\.{op}\..*)"
            rf"(?P<kind><(?P<width>\d+) x \w+>) (?P<value>%[^\s)]+)\)",
            _reduced_lane,
        )
        for op in ("fadd", "fmul", "add", "mul", "and", "or", "xor", "smax", "umax", "smin", "umin", "fmax", "fmaximum")
    ),
]


def _rest() -> Iterator[Mutant]:
    for name, fault, pattern, replacement in _OTHERS:
        yield native_mutant(name, fault, replaced(pattern, replacement))
    for name, fault, pattern, replacement in _OF_VECTORS:
        yield native_mutant(f"vectors-{name}", fault, replaced(pattern, replacement), optimized=True)


MUTANTS = [*_flags(), *_swaps(), *_loops(), *_parallel(), *_precision(), *_rest()]
