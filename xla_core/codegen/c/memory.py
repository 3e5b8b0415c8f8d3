"""Loads, stores, addresses, atomics and copies between types of the same size, as C."""

from __future__ import annotations

from collections.abc import Sequence

from xla_core.codegen.c.ir_types import BOOL, POINTER, VOID, IrType, integer
from xla_core.codegen.c.source import Source
from xla_core.errors import UnimplementedError

_ORDERS = {
    "unordered": "RELAXED", "monotonic": "RELAXED", "acquire": "ACQUIRE", "release": "RELEASE", "acq_rel": "ACQ_REL",
}  # fmt: skip
_FETCHES = ("add", "sub", "and", "or", "xor")


def _check_layout(type_: IrType) -> None:
    element = type_.element
    if type_.kind == "struct":
        raise UnimplementedError(f"the translation to C doesn't move structures through memory: {type_}")
    whole = not element.is_int or element.has_whole_storage or (element.bits == 1 and type_.kind == "int")
    if not whole:
        raise UnimplementedError(f"the translation to C has no layout in memory of {type_}")


def load_function(source: Source, type_: IrType, align: int, volatile: bool = False) -> str:
    """The name of the function that loads a value from an address of an alignment."""
    mask = " & 1" if type_ is BOOL else ""
    access = f"return *(const place *)p{mask};"
    copy = f"{_spaced(_held(source, type_))}v;\nmemcpy(&v, p, sizeof v);\nreturn v{mask};"
    return _access_function(source, "load", type_, align, volatile, type_, [(POINTER, "p")], access, copy)


def store_function(source: Source, type_: IrType, align: int, volatile: bool = False) -> str:
    """The name of the function that stores a value at an address of an alignment."""
    copy = f"{_spaced(_held(source, type_))}held = v;\nmemcpy(p, &held, sizeof held);"
    parameters = [(POINTER, "p"), (type_, "v")]
    return _access_function(source, "store", type_, align, volatile, VOID, parameters, "*(place *)p = v;", copy)


def _access_function(
    source: Source,
    name: str,
    type_: IrType,
    align: int,
    volatile: bool,
    result: IrType,
    parameters: Sequence[tuple[IrType, str]],
    access: str,
    copy: str,
) -> str:
    """Defines a function that accesses memory; returns its name.

    `access` is its body in terms of `place`, the type of the memory, to which GCC and Clang give the alignment. `copy`
    is its body for other compilers, and for types that are structures in C: these get no alignment.
    """
    _check_layout(type_)
    align = align or type_.alignment(source.pointer_bytes)

    def body() -> str:
        held = _spaced(_held(source, type_))
        if volatile:
            return f"typedef {held}volatile place;\n{access}"
        if type_.kind in ("vector", "array") and not type_.is_native_vector:
            return copy
        place = f"typedef {held}place __attribute__((aligned({align}), may_alias));"
        return f"#ifdef XLA_GNU\n{place}\n{access}\n#else\n{copy}\n#endif"

    full_name = f"{name}_{type_.suffix}_{align}{'_volatile' if volatile else ''}"
    return source.function(full_name, result, parameters, body)


def _held(source: Source, type_: IrType) -> str:
    return "uint8_t" if type_ is BOOL else source.type(type_)


def _spaced(name: str) -> str:
    return name if name.endswith("*") else name + " "


def bitcast(source: Source, from_: IrType, to: IrType, value: str) -> str:
    """The bits of a value as another type of the same size."""
    if from_ == to:
        return value
    if {from_.kind, to.kind} <= {"int", "float"} and from_.bits == to.bits == 16:
        return value
    bools = from_ if from_.element is BOOL and from_.kind == "vector" else to

    def body() -> str:
        if bools.element is BOOL and bools.kind == "vector" and {from_.kind, to.kind} == {"vector", "int"}:
            return _packed(source, from_, to)
        return f"{source.declare(to, 'r')};\nmemcpy(&r, &v, sizeof r);\nreturn r;"

    if bools.element is not BOOL or bools.kind != "vector":
        _check_layout(from_)
        _check_layout(to)
    name = source.function(f"bits_{from_.suffix}_{to.suffix}", to, [(from_, "v")], body)
    return f"{name}({value})"


def _packed(source: Source, from_: IrType, to: IrType) -> str:
    """The body of a conversion between a vector of i1 and an integer, whose lowest bit is lane 0, or the last lane."""
    count = from_.count or to.count
    place = f"{count - 1} - i" if source.big_endian else "i"
    if from_.kind == "vector":
        wide = f"({to.c_name})v.e[i]"
        return f"{source.declare(to, 'r')} = 0;\nfor (int i = 0; i < {count}; ++i) r |= {wide} << ({place});\nreturn r;"
    return f"{source.declare(to, 'r')};\nfor (int i = 0; i < {count}; ++i) r.e[i] = v >> ({place}) & 1;\nreturn r;"


# -- atomics ---------------------------------------------------------------------------------------------------------


def order(flags: frozenset[str]) -> str:
    """C's order of memory accesses of an atomic instruction: the strongest that it names."""
    names = flags & (set(_ORDERS) | {"seq_cst"})
    return "SEQ_CST" if "seq_cst" in names or len(names) != 1 else _ORDERS[next(iter(names))]


def atomic_load_function(source: Source, type_: IrType, flags: frozenset[str]) -> str:
    """The name of the function of an atomic load."""
    return _atomic(source, "load", "load_n", type_, flags, type_, [])


def atomic_store_function(source: Source, type_: IrType, flags: frozenset[str]) -> str:
    """The name of the function of an atomic store."""
    return _atomic(source, "store", "store_n", type_, flags, VOID, [(type_, "v")])


def atomic_function(source: Source, operation: str, type_: IrType, flags: frozenset[str]) -> str:
    """The name of the function of an atomicrmw."""
    if not type_.is_int or (operation not in _FETCHES and operation != "xchg"):
        raise UnimplementedError(f"the translation to C has no atomicrmw {operation} of {type_}")
    name, builtin = ("exchange", "exchange_n") if operation == "xchg" else (f"fetch_{operation}",) * 2
    return _atomic(source, name, builtin, type_, flags, type_, [(type_, "v")])


def _atomic(
    source: Source,
    name: str,
    builtin: str,
    type_: IrType,
    flags: frozenset[str],
    result: IrType,
    values: Sequence[tuple[IrType, str]],
) -> str:
    """Defines a function of an atomic access by the compiler's builtin or by stdatomic.h; returns its name."""
    source.headers.add("stdatomic.h")
    how, c = order(flags), type_.c_name
    given = "".join(f"{value}, " for _, value in values)
    gives = "" if result is VOID else "return "
    body = _either(
        f"{gives}__atomic_{builtin}(({c} *)p, {given}__ATOMIC_{how});",
        f"{gives}atomic_{name}_explicit((_Atomic {c} *)p, {given}memory_order_{how.lower()});",
    )
    full_name = f"atomic_{name}_{type_.suffix}_{how.lower()}"
    return source.function(full_name, result, [(POINTER, "p"), *values], lambda: body)


def _either(builtin: str, standard: str) -> str:
    return f"#ifdef XLA_GNU\n{builtin}\n#else\n{standard}\n#endif"


def exchange_function(source: Source, pair: IrType) -> str:
    """The name of the function of a cmpxchg, which returns `pair`: the old value, and whether it was replaced."""
    type_ = pair.members[0]
    if not type_.is_int:
        type_ = integer(8 * source.pointer_bytes) if type_.kind == "ptr" else type_
    source.headers.add("stdatomic.h")
    c = type_.c_name
    body = _either(
        f"r.f1 = __atomic_compare_exchange_n(({c} *)p, &old, v, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);",
        f"r.f1 = atomic_compare_exchange_strong((_Atomic {c} *)p, &old, v);",
    )
    text = f"{source.declare(pair, 'r')};\n{body}\nr.f0 = old;\nreturn r;"
    return source.function(
        f"exchange_{type_.suffix}", pair, [(POINTER, "p"), (type_, "old"), (type_, "v")], lambda: text
    )
