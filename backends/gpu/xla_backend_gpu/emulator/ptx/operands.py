"""Reads the operands of an instruction, and finds the names in them."""

from __future__ import annotations

import re
import struct

from xla_backend_gpu.emulator.ptx.program import (
    Address,
    Immediate,
    Label,
    Negation,
    Operand,
    Register,
    SpecialRegister,
    Symbol,
    Variable,
    Vector,
)
from xla_backend_gpu.emulator.ptx.tokens import TokenStream

_SPECIAL = re.compile(
    r"%(?:(?:n?tid|n?ctaid|n?clusterid|cluster_n?ctaid)\.[xyz]|laneid|n?warpid|n?smid|gridid|clock(?:64|_hi)?"
    r"|globaltimer(?:_lo|_hi)?|lanemask_(?:eq|le|lt|ge|gt)|dynamic_smem_size|total_smem_size)"
)


class Scopes:
    """Scopes with the names of registers and variables. The innermost scope is the last one."""

    def __init__(self, variables: dict[str, Variable]) -> None:
        self.names: list[dict[str, Register | Variable]] = [dict(variables)]

    def find(self, name: str) -> Register | Variable | None:
        for scope in reversed(self.names):
            if name in scope:
                return scope[name]
        return None

    def add(self, name: str, value: Register | Variable) -> None:
        self.names[-1][name] = value


def immediate(tokens: TokenStream) -> Immediate:
    """Reads a number: an integer, or a float given by its bits."""
    negative = tokens.accept("-")
    token = tokens.token
    if token.kind == "integer":
        value = tokens.integer()
        return Immediate(-value if negative else value)
    if token.kind != "float":
        raise tokens.error(f"expected a number here, not {token.text or 'the end of the text'!r}")
    tokens.take()
    if token.text[:2] in ("0f", "0F", "0d", "0D"):
        bits = 32 if token.text[1] in "fF" else 64
        return Immediate(int(token.text[2:], 16) ^ (negative << bits - 1), bits)
    number = -float(token.text) if negative else float(token.text)
    return Immediate(struct.unpack("<Q", struct.pack("<d", number))[0], 64)


def read_operand(tokens: TokenStream, scopes: Scopes) -> Operand:
    token = tokens.token
    if token.kind in ("integer", "float") or token.text == "-":
        return immediate(tokens)
    if tokens.accept("!"):
        register = _named(tokens, scopes)
        if not isinstance(register, Register):
            raise tokens.error("only a predicate can be negated", token)
        return Negation(register)
    if tokens.accept("{"):
        elements = [read_operand(tokens, scopes)]
        while tokens.accept(","):
            elements.append(read_operand(tokens, scopes))
        tokens.expect("}")
        return Vector(tuple(elements))
    if tokens.accept("["):
        base = read_operand(tokens, scopes)
        offset = _offset(tokens)
        tokens.expect("]")
        if isinstance(base, Symbol):
            return Address(Symbol(base.variable, base.offset + offset))
        if not isinstance(base, Register | Immediate):
            raise tokens.error(
                "an address must be a register, a variable or a number, with or without an offset", token
            )
        return Address(base, offset)
    named = _named(tokens, scopes)
    if isinstance(named, Symbol):
        return Symbol(named.variable, named.offset + _offset(tokens))
    return named


def _offset(tokens: TokenStream) -> int:
    """`+4`, `+-4`, `-4` or nothing."""
    if tokens.accept("+"):
        return tokens.integer()
    return tokens.integer() if tokens.token.text == "-" else 0


def _named(tokens: TokenStream, scopes: Scopes) -> Register | Symbol | SpecialRegister | Label | None:
    token = tokens.token
    name = tokens.word()
    if name == "_":
        return None
    found = scopes.find(name)
    if isinstance(found, Variable):
        return Symbol(found)
    if found is not None:
        return found
    if _SPECIAL.fullmatch(name):
        return SpecialRegister(name)
    if name.startswith("%"):
        raise tokens.error(
            f"{name} is neither a declared register nor a special register that the emulator supports", token
        )
    return Label(name)
