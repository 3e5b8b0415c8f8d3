"""A method for each LLVM instruction.

Integer arithmetic on constants is folded while it is built, so that index computations on static shapes leave no
instructions behind.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from xla_core.codegen.llvm.ir.module import IrFunction, IrModule, Value
from xla_core.codegen.llvm.ir.types import float_constant, is_float_type, type_bits


def _shift(op: str) -> Callable[[InstructionBuilder, Value, int], Value]:
    return lambda b, a, amount: b.emit(a.type, f"{op} {a.type} {a.name}, {amount}") if amount else a


def _float(op: str) -> Callable[[InstructionBuilder, Value, Value], Value]:
    return lambda b, x, y: b.emit(x.type, f"{op} {b.fast_math + ' ' if b.fast_math else ''}{x.type} {x.name}, {y.name}")


class InstructionBuilder:
    """Appends instructions at the end of `block`.

    Attributes:
        fast_math: flags that every floating operation gets.
        locations: the debug locations of the HLO instructions for which code is emitted, as metadata.
        location: the debug location that every instruction gets.
        root_location: the location of code that belongs to no other instruction.
    """

    def __init__(self, module: IrModule, function: IrFunction) -> None:
        self.module = module
        self.function = function
        self.block = function.blocks[0]
        self.fast_math = ""
        self.locations: Mapping[object, str] = {}
        self.location = self.root_location = ""
        self._bytes: dict[str, Value] = {}  # what the preds that `from_byte` returned were made of, by their names

    # -- writing -----------------------------------------------------------------------------------------------------

    def emit(self, type_: str, text: str) -> Value:
        """Appends `%new = text`; the result has type `type_`."""
        name = self.function.fresh()
        self.block.lines.append(f"{name} = {text}{self.location}")
        return Value(type_, name)

    def line(self, text: str) -> None:
        """Appends a line that yields no value."""
        self.block.lines.append(text + self.location)

    # -- constants ---------------------------------------------------------------------------------------------------

    @staticmethod
    def int_(value: int, type_: str = "i64") -> Value:
        return Value(type_, str(int(value)))

    @staticmethod
    def float_(value: float, type_: str = "float") -> Value:
        return Value(type_, float_constant(type_, value))

    def like(self, value: float, other: Value) -> Value:
        """Returns a constant of another value's scalar type."""
        if is_float_type(other.type):
            return Value(other.type, float_constant(other.type, value))
        return Value(other.type, str(int(value)))

    @staticmethod
    def bool_(value: bool) -> Value:
        return Value("i1", "true" if value else "false")

    # -- integers ----------------------------------------------------------------------------------------------------

    def add(self, a: Value, b: Value, flags: str = "") -> Value:
        x, y = a.integer, b.integer
        if x == 0:
            return b
        if y == 0:
            return a
        return self._with_flags("add", a, b, flags) if x is None or y is None else _wrapped(a.type, x + y)

    def sub(self, a: Value, b: Value, flags: str = "") -> Value:
        x, y = a.integer, b.integer
        if y == 0:
            return a
        return self._with_flags("sub", a, b, flags) if x is None or y is None else _wrapped(a.type, x - y)

    def mul(self, a: Value, b: Value, flags: str = "") -> Value:
        x, y = a.integer, b.integer
        if x == 1 or y == 0:
            return b
        if y == 1 or x == 0:
            return a
        return self._with_flags("mul", a, b, flags) if x is None or y is None else _wrapped(a.type, x * y)

    def _with_flags(self, op: str, a: Value, b: Value, flags: str) -> Value:
        return self.emit(a.type, f"{op} {flags + ' ' if flags else ''}{a.type} {a.name}, {b.name}")

    def udiv(self, a: Value, b: Value) -> Value:
        x, y = a.integer, b.integer
        if y == 1:
            return a
        if x is not None and y is not None and x >= 0 and y > 0:
            return Value(a.type, str(x // y))
        return self.emit(a.type, f"udiv {a.type} {a.name}, {b.name}")

    def urem(self, a: Value, b: Value) -> Value:
        x, y = a.integer, b.integer
        if y == 1:
            return Value(a.type, "0")
        if x is not None and y is not None and x >= 0 and y > 0:
            return Value(a.type, str(x % y))
        return self.emit(a.type, f"urem {a.type} {a.name}, {b.name}")

    def binary(self, op: str, a: Value, b: Value) -> Value:
        """Any two-operand instruction without flags: sdiv, shl, lshr, ashr, and, or, xor, ..."""
        return self.emit(a.type, f"{op} {a.type} {a.name}, {b.name}")

    def and_(self, a: Value, b: Value) -> Value:
        if a.type == "i1":
            if "true" in (a.name, b.name):
                return b if a.name == "true" else a
            if "false" in (a.name, b.name):
                return Value("i1", "false")
        return self.binary("and", a, b)

    def or_(self, a: Value, b: Value) -> Value:
        if a.type == "i1":
            if "false" in (a.name, b.name):
                return b if a.name == "false" else a
            if "true" in (a.name, b.name):
                return Value("i1", "true")
        return self.binary("or", a, b)

    def xor(self, a: Value, b: Value) -> Value:
        return self.binary("xor", a, b)

    def not_(self, a: Value) -> Value:
        return self.emit(a.type, f"xor {a.type} {a.name}, {'true' if a.type == 'i1' else '-1'}")

    shl, lshr, ashr = _shift("shl"), _shift("lshr"), _shift("ashr")

    def icmp(self, predicate: str, a: Value, b: Value) -> Value:
        x, y = a.integer, b.integer
        if x is not None and y is not None and predicate in _COMPARE:
            return self.bool_(_COMPARE[predicate](x, y))
        return self.emit("i1", f"icmp {predicate} {a.type} {a.name}, {b.name}")

    def clamp(self, low: Value, value: Value, high: Value) -> Value:
        """Signed clamp of integers."""
        x, lo, hi = value.integer, low.integer, high.integer
        if x is not None and lo is not None and hi is not None:
            return Value(value.type, str(min(max(x, lo), hi)))
        return self.intrinsic("smin", self.intrinsic("smax", value, low), high)

    # -- floats ------------------------------------------------------------------------------------------------------

    fadd, fsub, fmul, fdiv = _float("fadd"), _float("fsub"), _float("fmul"), _float("fdiv")

    def fneg(self, a: Value) -> Value:
        return self.emit(a.type, f"fneg {a.type} {a.name}")

    def fcmp(self, predicate: str, a: Value, b: Value) -> Value:
        return self.emit("i1", f"fcmp {predicate} {a.type} {a.name}, {b.name}")

    # -- conversions, selection --------------------------------------------------------------------------------------

    def cast(self, op: str, a: Value, type_: str) -> Value:
        """Any conversion (trunc, zext, fpext, bitcast, ...); the value itself if it has the type already."""
        if a.type == type_:
            return a
        number = a.integer
        if number is not None and op in ("trunc", "zext", "sext"):
            if op == "zext":
                number &= (1 << type_bits(a.type)) - 1
            elif a.type == "i1":
                number = -number
            return _wrapped(type_, number)
        return self.emit(type_, f"{op} {a.type} {a.name} to {type_}")

    def resize(self, a: Value, type_: str, *, signed: bool) -> Value:
        """Truncates or extends an integer to another width."""
        if a.type == type_:
            return a
        have, want = type_bits(a.type), type_bits(type_)
        return self.cast("trunc" if want < have else "sext" if signed else "zext", a, type_)

    def wrap(self, a: Value, bits: int, *, signed: bool) -> Value:
        """Returns the lowest `bits` of an integer, extended to its own type."""
        rest = type_bits(a.type) - bits
        if rest <= 0:
            return a
        if signed:
            return self.ashr(self.shl(a, rest), rest)
        return self.binary("and", a, self.int_((1 << bits) - 1, a.type))

    def bitcast(self, a: Value, type_: str) -> Value:
        return self.cast("bitcast", a, type_)

    def select(self, condition: Value, a: Value, b: Value) -> Value:
        if condition.name == "true" or a.name == b.name:
            return a
        if condition.name == "false":
            return b
        return self.emit(a.type, f"select {condition.type} {condition.name}, {a.type} {a.name}, {b.type} {b.name}")

    # -- vectors -----------------------------------------------------------------------------------------------------

    def vector(self, values: Sequence[Value]) -> Value:
        """Makes a vector of values of one type; one value stays as it is."""
        if len(values) == 1:
            return values[0]
        type_ = f"<{len(values)} x {values[0].type}>"
        result = Value(type_, "poison")
        for place, value in enumerate(values):
            result = self.emit(type_, f"insertelement {result}, {value}, i32 {place}")
        return result

    def elements(self, vector: Value, count: int) -> list[Value]:
        """Returns the elements of a vector that `vector` made."""
        if count == 1:
            return [vector]
        type_ = vector.type.partition(" x ")[2][:-1]
        return [self.emit(type_, f"extractelement {vector}, i32 {place}") for place in range(count)]

    # -- calls -------------------------------------------------------------------------------------------------------

    def call(self, name: str, return_type: str, arguments: Sequence[Value], *, attributes: str = "") -> Value:
        """Calls a function. If the module doesn't define it, it is declared, with these attributes."""
        self.module.declare(name, return_type, [a.type for a in arguments], attributes)
        return self.call_pointer(Value("ptr", f"@{name}"), return_type, arguments)

    def call_pointer(self, function: Value, return_type: str, arguments: Sequence[Value]) -> Value:
        """Calls the function at an address."""
        text = f"call {return_type} {function.name}({', '.join(map(str, arguments))})"
        if return_type == "void":
            self.line(text)
            return Value("void", "undef")
        return self.emit(return_type, text)

    def intrinsic(self, name: str, *arguments: Value, suffixes: Sequence[str] | None = None, result: str = "") -> Value:
        """Calls `llvm.name`, overloaded on the first argument's type unless `suffixes` say otherwise."""
        types = suffixes if suffixes is not None else (arguments[0].type,)
        full = ".".join(["llvm", name, *(_MANGLED.get(t) or _mangle(t) for t in types)])
        result = result or arguments[0].type
        self.module.declare(full, result, [a.type for a in arguments])
        flags = self.fast_math + " " if self.fast_math and is_float_type(result) else ""
        text = f"call {flags if result != 'void' else ''}{result} @{full}({', '.join(map(str, arguments))})"
        if result == "void":
            self.line(text)
            return Value("void", "undef")
        return self.emit(result, text)

    # -- memory ------------------------------------------------------------------------------------------------------

    def gep(self, element: str, pointer: Value, *indices: Value) -> Value:
        """`getelementptr inbounds`."""
        if len(indices) == 1 and indices[0].integer == 0:
            return pointer
        text = ", ".join(map(str, indices))
        return self.emit(pointer.type, f"getelementptr inbounds {element}, {pointer}, {text}")

    def load(self, type_: str, pointer: Value, *, align: int = 0, metadata: str = "") -> Value:
        align_text = f", align {align}" if align else ""
        return self.emit(type_, f"load {type_}, {pointer}{align_text}{metadata}")

    def store(self, value: Value, pointer: Value, *, align: int = 0, metadata: str = "") -> None:
        self.line(f"store {value}, {pointer}{f', align {align}' if align else ''}{metadata}")

    def from_byte(self, byte: Value) -> Value:
        """Returns the i1 that a byte of memory holds."""
        pred = self.cast("trunc", byte, "i1")
        self._bytes[pred.name] = byte
        return pred

    def held(self, value: Value) -> Value:
        """Returns a register's value as memory holds it: an i1 as a byte.

        The byte of an i1 that comes from memory is that in memory, without the i1: some targets keep an i1 in a
        register of which they have few.
        """
        if value.type != "i1":
            return value
        byte = self._bytes.get(value.name)
        return self.cast("zext", value, "i8") if byte is None else self.and_(byte, self.int_(1, "i8"))

    def load_register(self, type_: str, array: Value, index: Value) -> Value:
        """Returns an element of a scratch array of a register type. An i1 is held in a byte."""
        held = "i8" if type_ == "i1" else type_
        return self.cast("trunc", self.load(held, self.gep(held, array, index)), type_)

    def store_register(self, value: Value, array: Value, index: Value) -> None:
        """Writes an element that `load_register` reads."""
        value = self.held(value)
        self.store(value, self.gep(value.type, array, index))

    def atomic(self, operation: str, pointer: Value, value: Value, scope: str = "") -> Value:
        """`atomicrmw`: replaces the value in memory with `operation` of it and `value`; returns the old one."""
        text = f"atomicrmw {operation} {pointer}, {value}{_syncscope(scope)} monotonic"
        return self.emit(value.type, f"{text}, align {type_bits(value.type) // 8}")

    def compare_exchange(self, pointer: Value, old: Value, new: Value, scope: str = "") -> tuple[Value, Value]:
        """`cmpxchg`: writes `new` if memory has `old`. Returns what it had, and whether it was `old`."""
        text = f"cmpxchg {pointer}, {old}, {new}{_syncscope(scope)} monotonic monotonic"
        pair = self.emit(f"{{{old.type}, i1}}", f"{text}, align {type_bits(old.type) // 8}")
        return self.emit(old.type, f"extractvalue {pair}, 0"), self.emit("i1", f"extractvalue {pair}, 1")

    def load_atomic(self, type_: str, pointer: Value, scope: str = "") -> Value:
        """Loads a value that other threads may be writing."""
        return self.emit(
            type_, f"load atomic {type_}, {pointer}{_syncscope(scope)} monotonic, align {type_bits(type_) // 8}"
        )

    def alloca(self, type_: str, count: int = 1, *, align: int = 0, address_space: int = 0) -> Value:
        """Stack memory, allocated at the entry of the function."""
        name = self.function.fresh()
        space = f", addrspace({address_space})" if address_space else ""
        align_text = f", align {align}" if align else ""
        self.function.blocks[0].lines.insert(0, f"{name} = alloca {type_}, i64 {count}{align_text}{space}")
        return Value("ptr" + (f" addrspace({address_space})" if address_space else ""), name)


def _syncscope(scope: str) -> str:
    return f' syncscope("{scope}")' if scope else ""


def _wrapped(type_: str, value: int) -> Value:
    bits = type_bits(type_)
    if bits == 1:
        return Value(type_, "true" if value & 1 else "false")
    value &= (1 << bits) - 1
    return Value(type_, str(value - (1 << bits) if value >> bits - 1 else value))


_COMPARE = {
    "eq": int.__eq__,
    "ne": int.__ne__,
    "slt": int.__lt__,
    "sle": int.__le__,
    "sgt": int.__gt__,
    "sge": int.__ge__,
}

_MANGLED = {"float": "f32", "double": "f64", "half": "f16", "bfloat": "bf16", "ptr": "p0"}


def _mangle(type_: str) -> str:
    if type_.startswith("ptr addrspace("):
        return "p" + type_[14:-1]
    if type_.startswith("<"):
        count, _, element = type_[1:-1].partition(" x ")
        return f"v{count}{_MANGLED.get(element) or _mangle(element)}"
    return type_
