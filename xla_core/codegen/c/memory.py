"""Loads, stores, addresses, atomics and copies between types of the same size, as C."""

from __future__ import annotations

from xla_core.codegen.c.ir_types import BOOL, POINTER, VOID, IrType, integer
from xla_core.codegen.c.source import Source
from xla_core.errors import UnimplementedError

__all__ = ["atomic_function", "bitcast", "exchange_function", "load_function", "store_function"]

_ORDERS = {
    "unordered": "RELAXED", "monotonic": "RELAXED", "acquire": "ACQUIRE", "release": "RELEASE", "acq_rel": "ACQ_REL",
}  # fmt: skip
_FETCHES = {"add": "add", "sub": "sub", "and": "and", "or": "or", "xor": "xor"}


def _check_layout(type_: IrType) -> None:
    element = type_.element
    if type_.kind == "struct":
        raise UnimplementedError(f"the translation to C doesn't move structures through memory: {type_}")
    whole = not element.is_int or element.has_whole_storage or (element.bits == 1 and type_.kind == "int")
    if not whole:
        raise UnimplementedError(f"the translation to C has no layout in memory of {type_}")


def load_function(source: Source, type_: IrType, align: int, volatile: bool = False) -> str:
    """The name of the function that loads a value from an address of an alignment."""
    _check_layout(type_)
    align = align or type_.alignment(source.pointer_bytes)
    name = f"load_{type_.suffix}_{align}{'_volatile' if volatile else ''}"

    def body() -> str:
        held = _held(source, type_)
        if volatile:
            return f"return *(const volatile {held} *)p;"
        value = "v & 1" if type_ is BOOL else "v"
        return (
            f"#ifdef XLA_GNU\ntypedef {_spaced(held)}place __attribute__((aligned({align}), may_alias));\n"
            f"return *(const place *)p{' & 1' if type_ is BOOL else ''};\n"
            f"#else\n{_spaced(held)}v;\nmemcpy(&v, p, sizeof v);\nreturn {value};\n#endif"
        )

    return source.function(name, type_, [(POINTER, "p")], body)


def store_function(source: Source, type_: IrType, align: int, volatile: bool = False) -> str:
    """The name of the function that stores a value at an address of an alignment."""
    _check_layout(type_)
    align = align or type_.alignment(source.pointer_bytes)
    name = f"store_{type_.suffix}_{align}{'_volatile' if volatile else ''}"

    def body() -> str:
        held = _held(source, type_)
        if volatile:
            return f"*(volatile {held} *)p = v;"
        copy = f"{held} held = v;\nmemcpy(p, &held, sizeof held);" if type_ is BOOL else "memcpy(p, &v, sizeof v);"
        return (
            f"#ifdef XLA_GNU\ntypedef {_spaced(held)}place __attribute__((aligned({align}), may_alias));\n"
            f"*(place *)p = v;\n#else\n{copy}\n#endif"
        )

    return source.function(name, VOID, [(POINTER, "p"), (type_, "v")], body)


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


def _atomic_body(builtin: str, standard: str) -> str:
    return f"#ifdef XLA_GNU\n{builtin}\n#else\n{standard}\n#endif"


def atomic_load_function(source: Source, type_: IrType, flags: frozenset[str]) -> str:
    source.headers.add("stdatomic.h")
    name, c, how = f"atomic_load_{type_.suffix}_{order(flags).lower()}", type_.c_name, order(flags)
    body = _atomic_body(
        f"return __atomic_load_n(({c} *)p, __ATOMIC_{how});",
        f"return atomic_load_explicit((_Atomic {c} *)p, memory_order_{how.lower()});",
    )
    return source.function(name, type_, [(POINTER, "p")], lambda: body)


def atomic_store_function(source: Source, type_: IrType, flags: frozenset[str]) -> str:
    source.headers.add("stdatomic.h")
    name, c, how = f"atomic_store_{type_.suffix}_{order(flags).lower()}", type_.c_name, order(flags)
    body = _atomic_body(
        f"__atomic_store_n(({c} *)p, v, __ATOMIC_{how});",
        f"atomic_store_explicit((_Atomic {c} *)p, v, memory_order_{how.lower()});",
    )
    return source.function(name, VOID, [(POINTER, "p"), (type_, "v")], lambda: body)


def atomic_function(source: Source, operation: str, type_: IrType, flags: frozenset[str]) -> str:
    """The name of the function of an atomicrmw."""
    if not type_.is_int or (operation not in _FETCHES and operation != "xchg"):
        raise UnimplementedError(f"the translation to C has no atomicrmw {operation} of {type_}")
    source.headers.add("stdatomic.h")
    how, c = order(flags), type_.c_name
    called = f"fetch_{operation}" if operation in _FETCHES else "exchange"
    builtin = called if operation in _FETCHES else "exchange_n"
    body = _atomic_body(
        f"return __atomic_{builtin}(({c} *)p, v, __ATOMIC_{how});",
        f"return atomic_{called}_explicit((_Atomic {c} *)p, v, memory_order_{how.lower()});",
    )
    name = f"atomic_{operation}_{type_.suffix}_{how.lower()}"
    return source.function(name, type_, [(POINTER, "p"), (type_, "v")], lambda: body)


def exchange_function(source: Source, pair: IrType) -> str:
    """The name of the function of a cmpxchg, which returns `pair`: what memory had, and whether it was replaced."""
    type_ = pair.members[0]
    if not type_.is_int:
        type_ = integer(8 * source.pointer_bytes) if type_.kind == "ptr" else type_
    source.headers.add("stdatomic.h")
    c = type_.c_name
    body = _atomic_body(
        f"r.f1 = __atomic_compare_exchange_n(({c} *)p, &old, v, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);",
        f"r.f1 = atomic_compare_exchange_strong((_Atomic {c} *)p, &old, v);",
    )
    text = f"{source.declare(pair, 'r')};\n{body}\nr.f0 = old;\nreturn r;"
    return source.function(
        f"exchange_{type_.suffix}", pair, [(POINTER, "p"), (type_, "old"), (type_, "v")], lambda: text
    )
