"""The tokens of LLVM IR, and the types and operands that they spell."""

from __future__ import annotations

import re
import struct
from collections.abc import Callable

from xla_core.codegen.c.ir_module import Constant, Instruction, Name, Operand
from xla_core.codegen.c.ir_types import IrType, array_of, integer, scalar, struct_of, vector_of
from xla_core.errors import UnimplementedError

_TOKEN = re.compile(
    r"""c?"[^"]*" | [%@](?:"[^"]*"|[-\w.$]+) | ![-\w.]* | \#\d+ | -?\w[\w.]*(?:(?<=[\d.]e)[-+]\d+)? | \.\.\. | \S""",
    re.VERBOSE,
)
_CONSTANTS = ("true", "false", "null", "undef", "poison", "zeroinitializer", "none", "splat")
_SIGNED_NUMBER = re.compile(r"-?\d+$")


class Tokens:
    """The tokens of an instruction, read from left to right.

    `expression` reads a constant expression, whose opcode is the next token.
    """

    def __init__(self, text: str, expression: Callable[[Tokens], Instruction]) -> None:
        self.text = text
        self._tokens: list[str] = _TOKEN.findall(text)
        self._next = 0
        self._expression = expression

    @property
    def peek(self) -> str:
        """The next token, or "" at the end."""
        return self._tokens[self._next] if self._next < len(self._tokens) else ""

    def take(self) -> str:
        token = self.peek
        self._next += 1
        return token

    def give_back(self) -> None:
        """Makes the token that was taken last the next one again."""
        self._next -= 1

    def skip(self, token: str) -> bool:
        """Takes the next token if it is this one."""
        if self.peek != token:
            return False
        self._next += 1
        return True

    def expect(self, token: str) -> None:
        if not self.skip(token):
            raise self.unknown(f"{token!r} instead of {self.peek!r}")

    def unknown(self, what: str) -> UnimplementedError:
        """The error for text that isn't understood."""
        return UnimplementedError(f"the translation to C doesn't know {what} in: {self.text.strip()[:300]}")

    def words(self) -> frozenset[str]:
        """Takes the words before a type or a value, and any parenthesized text or number after each."""
        return frozenset(self.words_and_numbers())

    def words_and_numbers(self) -> dict[str, int]:
        """Takes the words before a type or a value. Returns each with the number after it, or 0."""
        found: dict[str, int] = {}
        while (
            self.peek
            and not self.at_type()
            and (self.peek[0].isalpha() or self.peek[0] in '_"')
            and not self.at_value()
        ):
            word = self.take()
            found[word] = 0
            if self.peek == "(":
                self.parenthesis()
            elif word in ("align", "cc", "addrspace") and self.peek.isdigit():
                found[word] = int(self.take())
        return found

    def parenthesis(self) -> None:
        """Skips what is in parentheses."""
        depth = 0
        while self.peek:
            token = self.take()
            depth += (token == "(") - (token == ")")
            if depth == 0:
                return

    def at_type(self) -> bool:
        return self.peek in ("<", "[", "{", "label", "metadata") or scalar(self.peek) is not None

    def at_value(self) -> bool:
        return self.peek in _CONSTANTS or self.peek[:1] in "%@" or self.peek[:1].isdigit()

    def type(self) -> IrType:
        """Takes a type."""
        token = self.take()
        if token == "ptr" and self.skip("addrspace"):
            self.parenthesis()
        found = scalar(token)
        if found is not None:
            return found
        if token in ("<", "["):
            if self.peek == "vscale":
                raise self.unknown("vectors of a length that only the processor knows")
            count = int(self.take())
            self.expect("x")
            element = self.type()
            self.expect(">" if token == "<" else "]")
            return vector_of(count, element) if token == "<" else array_of(count, element)
        if token == "{":
            members = []
            while not self.skip("}"):
                members.append(self.type())
                self.skip(",")
            return struct_of(tuple(members))
        raise self.unknown(f"the type {token!r}")

    def operand(self) -> Operand:
        """Takes a type, attributes and a value."""
        type_ = self.type()
        self.words()
        return self.value(type_)

    def value(self, type_: IrType) -> Operand:
        """Takes a value of a type."""
        token = self.peek
        if token[:1] in "%@":
            return Name(type_, self.take().replace('"', ""))
        if token in ("<", "[", "{"):
            self.take()
            members = []
            while not self.skip({"<": ">", "[": "]", "{": "}"}[token]):
                members.append(self.operand())
                self.skip(",")
            return Constant(type_, tuple(members))
        self.take()
        if token in ("undef", "poison"):
            return Constant(type_, "undef")
        if token in ("zeroinitializer", "null", "none"):
            return Constant(type_, "zero")
        if token in ("true", "false"):
            return Constant(type_, int(token == "true"))
        if token.startswith('c"'):
            return Constant(type_, _text_bytes(token[2:-1]))
        if token == "splat":
            self.expect("(")
            element = self.operand()
            self.expect(")")
            return Constant(type_, (element,) * type_.count)
        if type_.is_float:
            return Constant(type_, self._float_bits(type_, token))
        if _SIGNED_NUMBER.match(token):
            return Constant(type_, int(token) & ((1 << type_.bits) - 1))
        self._next -= 1
        return Constant(type_, self._expression(self))

    def _float_bits(self, type_: IrType, token: str) -> int:
        """The bits of a number as LLVM spells it: decimal, or the bits of a double, or those of a small float."""
        if token[:3] in ("0xH", "0xR"):
            return int(token[3:], 16)
        if token.startswith("0x"):
            bits = int(token, 16)
            if type_.bits == 64:
                return bits
            # A float's bits from the double's, so that the payload of a NaN is kept.
            if bits >> 52 & 0x7FF == 0x7FF:
                return bits >> 32 & 0x80000000 | 0x7F800000 | bits >> 29 & 0x7FFFFF
            number = struct.unpack("<d", struct.pack("<Q", bits))[0]
        else:
            try:
                number = float(token)
            except ValueError:
                raise self.unknown(f"the number {token!r}") from None
        form, width = ("<d", "<Q") if type_.bits == 64 else ("<f", "<I")
        bits_: int = struct.unpack(width, struct.pack(form, number))[0]
        return bits_

    def integer(self) -> int:
        return int(self.take())

    def label(self) -> str:
        """Takes `label %name`."""
        self.expect("label")
        return self.take().replace('"', "")

    def metadata(self) -> frozenset[str]:
        """Takes the rest: the kinds of attached metadata."""
        kinds = {t[1:] for t in self._tokens[self._next :] if t[0] == "!" and t[1:2].isalpha()}
        self._next = len(self._tokens)
        return frozenset(kinds)


def _text_bytes(text: str) -> bytes:
    """The bytes of text, in which a backslash is two, and other bytes may be a backslash and two digits."""
    return re.sub(
        rb"\\(\\|[0-9A-Fa-f]{2})",
        lambda m: m[1] if m[1] == b"\\" else bytes([int(m[1], 16)]),
        text.encode("latin-1"),
    )


def signed(value: int, bits: int) -> int:
    """An integer's bits as a signed number."""
    return value - (1 << bits) if bits and value >> (bits - 1) else value


INDEX = integer(64)
