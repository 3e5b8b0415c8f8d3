"""The C of each instruction, by its opcode: an expression, or statements that are written on the way."""

from __future__ import annotations

from collections.abc import Callable

from xla_core.codegen.c.functions import FunctionWriter, Writer
from xla_core.codegen.c.intrinsics import call_intrinsic
from xla_core.codegen.c.ir_module import Constant, Instruction, Name, Operand
from xla_core.codegen.c.ir_types import POINTER, VOID, IrType
from xla_core.codegen.c.memory import (
    atomic_function,
    atomic_load_function,
    atomic_store_function,
    bitcast,
    exchange_function,
    load_function,
    order,
    store_function,
)
from xla_core.codegen.c.scalars import BINARY, COMPARISONS, NATIVE, compare, masked, signed_value, to_integer
from xla_core.errors import UnimplementedError
from xla_core.registration import registers_in

WRITERS: dict[str, Writer] = {}

_ATOMIC = frozenset({"unordered", "monotonic", "acquire", "release", "acq_rel", "seq_cst"})


_writer = registers_in(WRITERS)


def _elementwise(
    w: FunctionWriter, i: Instruction, name: str, scalar: Callable[..., str], native: Callable[..., str] | None = None
) -> str:
    return w.source.elementwise(name, i.type, [(o.type, w.value(o)) for o in i.operands], scalar, native)


@_writer(*BINARY)
def _binary(w: FunctionWriter, i: Instruction) -> str:
    element, formula, operator = i.type.element, BINARY[i.op], NATIVE.get(i.op)
    if element.is_float and element.bits < 32:
        raise UnimplementedError(f"the translation to C has no arithmetic of {element}")
    if i.op == "frem":
        w.source.headers.add("math.h")
    if i.op == "mul" and i.type.kind == "int" and i.type.bits in (32, 64) and all(map(w.is_half_width, i.operands)):
        # GCC 12 vectorizes the high half of an unsigned product of such numbers as if they were unsigned too.
        a, b = (signed_value(i.type, w.value(o)) for o in i.operands)
        return f"({i.type.c_name})({a} * {b})"
    native = (lambda v: f"{v[0]} {operator} {v[1]}") if operator else None
    return _elementwise(w, i, i.op, lambda v: formula(element, *v), native)


@_writer("fneg")
def _negate(w: FunctionWriter, i: Instruction) -> str:
    return _elementwise(w, i, "fneg", lambda v: f"-{v[0]}", lambda v: f"-{v[0]}")


@_writer("freeze")
def _freeze(w: FunctionWriter, i: Instruction) -> str:
    return w.value(i.operands[0])


@_writer("icmp", "fcmp")
def _compare(w: FunctionWriter, i: Instruction) -> str:
    if i.word not in COMPARISONS:
        raise UnimplementedError(f"the translation to C doesn't know the comparison {i.word}")
    operand = i.operands[0].type.element
    return _elementwise(w, i, f"{i.op}_{i.word}", lambda v: compare(i.word, operand, *v))


@_writer("select")
def _select(w: FunctionWriter, i: Instruction) -> str:
    condition, a, b = (w.value(o) for o in i.operands)
    if i.operands[0].type.kind != "vector":
        return f"{condition} ? {a} : {b}"
    return _elementwise(w, i, "select", lambda v: f"{v[0]} ? {v[1]} : {v[2]}")


# -- conversions -----------------------------------------------------------------------------------------------------


@_writer("trunc", "zext", "sext", "uitofp", "sitofp", "fpext", "fptrunc", "fptosi", "fptoui")
def _convert(w: FunctionWriter, i: Instruction) -> str:
    have, want = i.operands[0].type.element, i.type.element
    for type_ in (have, want):
        if type_.is_float and type_.bits < 32:
            raise UnimplementedError(f"the translation to C has no conversion from {have} to {want}")
    if i.op in ("fptosi", "fptoui"):
        is_signed = i.op == "fptosi"
        name = w.source.function(
            f"{i.op}_{have.suffix}_{want.suffix}",
            want,
            [(have, "a")],
            lambda: to_integer(have, want, is_signed=is_signed, saturates=False),
        )
        return _elementwise(w, i, f"{i.op}_lanes", lambda v: f"{name}({v[0]})")

    def scalar(v: list[str]) -> str:
        a = v[0]
        if i.op == "trunc":
            return masked(want, f"({want.c_name}){a}" if want.bits > 1 else a)
        if i.op == "sext":
            return masked(want, f"({want.c_name}){signed_value(have, a)}")
        return f"({want.c_name}){signed_value(have, a) if i.op == 'sitofp' else a}"

    return _elementwise(w, i, i.op, scalar)


@_writer("bitcast", "addrspacecast")
def _bitcast(w: FunctionWriter, i: Instruction) -> str:
    return bitcast(w.source, i.operands[0].type, i.type, w.value(i.operands[0]))


@_writer("ptrtoint", "ptrtoaddr")
def _address(w: FunctionWriter, i: Instruction) -> str:
    return masked(i.type, f"({i.type.c_name})(uintptr_t){w.value(i.operands[0])}")


@_writer("inttoptr")
def _pointer(w: FunctionWriter, i: Instruction) -> str:
    return f"(char *)(uintptr_t){w.value(i.operands[0])}"


# -- memory ----------------------------------------------------------------------------------------------------------


@_writer("load")
def _load(w: FunctionWriter, i: Instruction) -> str:
    place = w.value(i.operands[0])
    if i.flags & _ATOMIC:
        return f"{atomic_load_function(w.source, i.type, i.flags)}({place})"
    return f"{load_function(w.source, i.type, i.align, 'volatile' in i.flags)}({place})"


@_writer("store")
def _store(w: FunctionWriter, i: Instruction) -> None:
    value, place = (w.value(o) for o in i.operands)
    type_ = i.operands[0].type
    if i.flags & _ATOMIC:
        function = atomic_store_function(w.source, type_, i.flags)
    else:
        function = store_function(w.source, type_, i.align, "volatile" in i.flags)
    w.write(f"{function}({place}, {value});")


@_writer("getelementptr")
def _gep(w: FunctionWriter, i: Instruction) -> str:
    base, *indices = i.operands
    if base.type.kind == "vector" or any(o.type.kind == "vector" for o in indices):
        raise UnimplementedError(f"the translation to C has no vectors of addresses: {i.text.strip()[:300]}")
    assert i.source is not None
    constant, terms = address_offset(i.source, indices, w)
    expression = w.value(base)
    for term in terms:
        expression += f" + {term}"
    if constant:
        expression += f" {'+' if constant > 0 else '-'} {abs(constant)}"
    return expression


def address_offset(type_: IrType, indices: list[Operand], w: FunctionWriter) -> tuple[int, list[str]]:
    """The offset, in bytes, of an indexed address: a constant, and C expressions to add."""
    constant, terms = 0, []
    bytes_ = w.source.pointer_bytes
    for position, index in enumerate(indices):
        if position:
            if type_.kind == "struct":
                field = index.value if isinstance(index, Constant) and isinstance(index.value, int) else 0
                constant += type_.offset(field, bytes_)
                type_ = type_.members[field]
                continue
            type_ = type_.element
        size = type_.size(bytes_)
        if isinstance(index, Constant):
            value = index.value if isinstance(index.value, int) else 0
            bits = index.type.bits
            constant += size * (value - (1 << bits) if value >> (bits - 1) else value)
        else:
            whole = signed_value(index.type, w.value(index))
            if size == 1:
                terms.append(f"(ptrdiff_t){w.value(index)}" if index.type.bits == 64 else f"({whole})")
            elif index.type.bits == 64:
                terms.append(f"(ptrdiff_t)({size} * {w.value(index)})")
            else:
                terms.append(f"(ptrdiff_t){size} * ({whole})")
    return constant, terms


@_writer("alloca")
def _alloca(w: FunctionWriter, i: Instruction) -> str:
    assert i.source is not None
    count = i.operands[0] if i.operands else None
    if count is not None and not (isinstance(count, Constant) and isinstance(count.value, int)):
        raise UnimplementedError(f"the translation to C has no memory of a size that varies: {i.text.strip()}")
    number = count.value if count is not None and isinstance(count.value, int) else 1
    size = max(1, number * i.source.size(w.source.pointer_bytes))
    align = i.align or i.source.alignment(w.source.pointer_bytes)
    memory = w.fresh(f"{i.result[1:]}_memory")
    w.add_array(f"XLA_ALIGNED({max(align, 1)}) char {memory}[{size}];")
    return memory


@_writer("atomicrmw")
def _atomic(w: FunctionWriter, i: Instruction) -> str:
    place, value = (w.value(o) for o in i.operands)
    return f"{atomic_function(w.source, i.word, i.type, i.flags)}({place}, {value})"


@_writer("cmpxchg")
def _exchange(w: FunctionWriter, i: Instruction) -> str:
    return f"{exchange_function(w.source, i.type)}({', '.join(w.value(o) for o in i.operands)})"


@_writer("fence")
def _fence(w: FunctionWriter, i: Instruction) -> None:
    w.source.headers.add("stdatomic.h")
    kind = "signal" if "syncscope" in i.flags else "thread"
    w.write(f"atomic_{kind}_fence(memory_order_{order(i.flags - {'syncscope'}).lower()});")


# -- vectors and structures ------------------------------------------------------------------------------------------


@_writer("extractelement")
def _extract(w: FunctionWriter, i: Instruction) -> str:
    vector, index = i.operands
    type_ = vector.type
    if isinstance(vector, Constant):
        name = w.fresh("vector")
        w.write(f"{w.source.declare(type_, name)} = {w.value(vector)};")
    else:
        name = w.value(vector)
    return w.source.lane(type_, name, w.value(index))


@_writer("insertelement")
def _insert(w: FunctionWriter, i: Instruction) -> str:
    vector, element, index = i.operands
    type_ = i.type
    name = w.source.function(
        f"insert_{type_.suffix}",
        type_,
        [(type_, "v"), (type_.element, "x"), (index.type, "i")],
        lambda: f"{w.source.lane(type_, 'v', 'i')} = x;\nreturn v;",
    )
    return f"{name}({w.value(vector)}, {w.value(element)}, {w.value(index)})"


@_writer("shufflevector")
def _shuffle(w: FunctionWriter, i: Instruction) -> str:
    left, right = i.operands
    have, want, lanes = left.type, i.type, i.numbers

    def picked(lane: int) -> str:
        vector, place = ("a", lane) if lane < have.count else ("b", lane - have.count)
        return w.source.lane(have, vector, max(place, 0))

    def body() -> str:
        result = w.source.declare(want, "r")
        lines = [f"{result};", "(void)b;"]
        lines += [f"{w.source.lane(want, 'r', n)} = {picked(lane)};" for n, lane in enumerate(lanes)]
        text = "\n".join([*lines, "return r;"])
        if not (want.is_native_vector and have.is_native_vector):
            return text
        numbers = ", ".join(map(str, lanes))
        return f"#ifdef XLA_SHUFFLES\nreturn __builtin_shufflevector(a, b, {numbers});\n#else\n{text}\n#endif"

    order_ = "_".join("x" if n < 0 else str(n) for n in lanes)
    name = w.source.function(f"shuffle_{have.suffix}_{order_}", want, [(have, "a"), (have, "b")], body)
    return f"{name}({w.value(left)}, {w.value(right)})"


@_writer("extractvalue")
def _field(w: FunctionWriter, i: Instruction) -> str:
    return w.value(i.operands[0]) + _path(i.operands[0].type, i.numbers)


@_writer("insertvalue")
def _set_field(w: FunctionWriter, i: Instruction) -> str:
    whole = w.fresh("whole")
    w.write(f"{w.source.declare(i.type, whole)} = {w.value(i.operands[0])};")
    w.write(f"{whole}{_path(i.type, i.numbers)} = {w.value(i.operands[1])};")
    return whole


def _path(type_: IrType, numbers: tuple[int, ...]) -> str:
    text = ""
    for n in numbers:
        text += f".f{n}" if type_.kind == "struct" else f".e[{n}]"
        type_ = type_.members[n] if type_.kind == "struct" else type_.element
    return text


# -- calls and control flow ------------------------------------------------------------------------------------------


@_writer("call")
def _call(w: FunctionWriter, i: Instruction) -> str | None:
    assert i.callee is not None
    name = i.callee.name
    values = [w.value(o) for o in i.operands]
    if name.startswith("@llvm."):
        return call_intrinsic(w.source, w.write, name, i, values)
    if i.callee.is_global:
        text = f"{w.symbol(Name(VOID, name))}({', '.join(values)})"
    else:
        types = ", ".join(w.source.type(o.type) for o in i.operands) or "void"
        text = f"(({w.source.type(i.type)} (*)({types})){w.value(i.callee)})({', '.join(values)})"
    if i.result and i.type == POINTER:
        return f"(char *){text}"
    return text


@_writer("br")
def _branch(w: FunctionWriter, i: Instruction) -> None:
    if not i.operands:
        for line in w.edge(i.labels[0]):
            w.write(line)
        return
    w.write(f"if ({w.value(i.operands[0])}) {{ {' '.join(w.jump(i.labels[0]))} }}")
    for line in w.edge(i.labels[1]):
        w.write(line)


@_writer("switch")
def _switch(w: FunctionWriter, i: Instruction) -> None:
    w.write(f"switch ({w.value(i.operands[0])}) {{")
    for number, label in zip(i.numbers, i.labels[1:], strict=True):
        w.write(f"case {number}{'ull' if number >> 31 else ''}: {{ {' '.join(w.jump(label))} }}")
    w.write(f"default: {{ {' '.join(w.jump(i.labels[0]))} }}")
    w.write("}")


@_writer("ret")
def _return(w: FunctionWriter, i: Instruction) -> None:
    w.write(f"return {w.value(i.operands[0])};" if i.operands else "return;")


@_writer("unreachable")
def _unreachable(w: FunctionWriter, i: Instruction) -> None:
    w.write("XLA_UNREACHABLE;")
