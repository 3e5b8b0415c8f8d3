"""Reads the lines that a compiler writes: a statement, a label, or a `.loc` on a line of its own.

One regular expression takes such a line apart, and each operand of a function is read once. That is several times as
fast as reading its tokens. Lines in another form, or with errors, are left to the general reader.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Mapping, Sequence
from typing import NamedTuple

from xla_backend_gpu.emulator.ptx.operands import Scopes, read_operand
from xla_backend_gpu.emulator.ptx.program import (
    Address,
    Call,
    Immediate,
    Instruction,
    Label,
    Negation,
    Operand,
    Register,
    Symbol,
    Vector,
)
from xla_backend_gpu.emulator.ptx.tokens import TokenStream
from xla_backend_gpu.emulator.ptx.types import TYPES, PtxType
from xla_backend_gpu.emulator.ptx.verifier import verify
from xla_backend_gpu.emulator.table import Definition, find
from xla_core.errors import InvalidArgumentError, SourceLocation

_LINE = re.compile(
    r"""[ \t]*(?:
      (?:@(!?)(%[\w$]+)\s+)?([a-z]\w*(?:\.\w+(?:::\w+)*)*)(?:\s+([^;|/"]*))?;
      | \.loc\s+(\d+)\s+(\d+)\s+(\d+)
      | ([A-Za-z_$][\w$]*):
      | \.reg\s+\.(\w+)\s+(%[\w$]+)<(\d+)>;
    )?\s*""",
    re.VERBOSE,
)
"""A statement: the guard's negation and name, the mnemonic, the operands. A location: its file, line and column. Or a
label's name. Or registers: their type, their name and their number. Or nothing."""

_COLUMN, _LABEL, _REGISTERS = 7, 8, 11  # groups of `_LINE`
_VECTOR = re.compile(r"\{[^{}]*\}")
_ADDRESS = re.compile(r"\[([%\w$]+)(?:\+(-?(?:0|[1-9]\d*)))?\]")
_INTEGER = re.compile(r"-?(?:0|[1-9]\d*)")

_MOST_FORMS = 1 << 14


class _Form(NamedTuple):
    """The common properties of all instructions with a mnemonic and operands of certain kinds."""

    definition: Definition
    modifiers: Mapping[str, str]
    types: tuple[PtxType, ...]
    space: str
    order: (
        tuple[int, ...] | None
    )  # the number of each operand of the definition, -1 if it is absent; None: all in order


_forms: dict[Hashable, _Form | None] = {}
"""The forms that were seen, by mnemonic and kinds of operands. None is a form that the general reader must read."""


class PlainLines:
    """Reads the lines of one function.

    Args:
        registers: those of the function, to which it adds those that a line declares.
        files: the names of source files by the numbers that `.loc` has for them.
    """

    def __init__(
        self, tokens: TokenStream, scopes: Scopes, registers: list[Register], files: Mapping[int, str]
    ) -> None:
        self._tokens, self._scopes, self._registers, self._files = tokens, scopes, registers, files
        self._operands: dict[str, tuple[Operand, Hashable]] = {}

    def forget_names(self) -> None:
        """Forgets the names, which may have another meaning from here on."""
        self._operands.clear()

    def read(self, body: list[Instruction | Call | Label], location: SourceLocation | None) -> SourceLocation | None:
        """Reads lines and appends their statements to a body, up to a line that must be read by its tokens.

        Returns the location of the code that follows them.
        """
        number = self._tokens.whole_line()
        if number is None:
            return location
        lines = self._tokens.lines
        while number <= len(lines):
            text = lines[number - 1]
            match = _LINE.fullmatch(text)
            if match is None:
                break
            kind = match.lastindex
            if kind == _LABEL:
                body.append(Label(match[_LABEL]))
            elif kind == _COLUMN:
                file, line, column = map(int, match.groups()[4:_COLUMN])
                location = SourceLocation(self._files.get(file, str(file)), line, column)
            elif kind == _REGISTERS:
                type_, name, count = match.groups()[_LABEL:]
                if type_ not in TYPES:
                    break
                self.forget_names()
                declare(self._registers, self._scopes, TYPES[type_], [f"{name}{i}" for i in range(int(count))])
            elif kind is not None:
                instruction = self._statement(match, number, text, location)
                if instruction is None:
                    break
                body.append(instruction)
            number += 1
        self._tokens.skip_to_line(number)
        return location

    def _statement(
        self, match: re.Match[str], line: int, line_text: str, location: SourceLocation | None
    ) -> Instruction | None:
        negation, guard_name, mnemonic, text, *_ = match.groups()
        guard = None
        if guard_name is not None:
            found = self._scopes.find(guard_name)
            if not isinstance(found, Register) or found.bits != 1:
                return None
            guard = found
        operands: list[Operand] = []
        key: list[Hashable] = [mnemonic]
        if text:
            if "{" in text:  # a statement has no semicolon, which therefore may stand for a vector's commas
                text = _VECTOR.sub(lambda vector: vector[0].replace(",", ";"), text)
            for part in text.split(","):
                name = part.strip()
                read = self._operands.get(name) or self._operand(name)
                if read is None:
                    return None
                operands.append(read[0])
                key.append(read[1])
        form = _form_of(tuple(key), mnemonic, operands)
        if form is None:
            return None
        return Instruction(
            form.definition,
            form.modifiers,
            form.types,
            _placed(form.order, operands),
            line,
            " ".join(line_text.split()),
            guard,
            negation == "!",
            form.space,
            location,
        )

    def _operand(self, name: str) -> tuple[Operand, Hashable] | None:
        """Returns an operand and its kind, or None if the text is not one operand."""
        operand: Operand = self._simple(name)
        if operand is None:
            tokens = TokenStream(name.replace(";", ","))
            try:
                operand = read_operand(tokens, self._scopes)
                if tokens.token.kind != "end":
                    return None
            except InvalidArgumentError:  # which the general reader raises with its place
                return None
        self._operands[name] = made = operand, _kind(operand)
        return made

    def _simple(self, name: str) -> Operand:
        """Returns a register, an integer, or an address in a register or in a variable. Returns None for the rest."""
        found = self._scopes.find(name)
        if isinstance(found, Register):
            return found
        if _INTEGER.fullmatch(name):
            return Immediate(int(name))
        match = _ADDRESS.fullmatch(name)
        base = self._scopes.find(match[1]) if match is not None else None
        if match is None or base is None:
            return None
        offset = int(match[2] or 0)
        return Address(base, offset) if isinstance(base, Register) else Address(Symbol(base, offset))


def declare(registers: list[Register], scopes: Scopes, type_: PtxType, names: Sequence[str]) -> None:
    """Adds registers of a type to a function and to the innermost scope."""
    made = [Register(number, type_.bits, name) for number, name in enumerate(names, len(registers))]
    registers += made
    scopes.names[-1].update(zip(names, made, strict=True))


def _form_of(key: Hashable, mnemonic: str, operands: list[Operand]) -> _Form | None:
    if key not in _forms:
        if len(_forms) >= _MOST_FORMS:
            _forms.clear()
        _forms[key] = _form(mnemonic, operands)
    return _forms[key]


def _kind(operand: Operand) -> Hashable:
    """Returns the properties of an operand that the verifier checks: its class, and the width of registers."""
    if isinstance(operand, Register):
        return operand.bits
    if isinstance(operand, Negation):
        return "Negation", operand.register.bits
    if isinstance(operand, Vector):
        return tuple(map(_kind, operand.elements))
    return type(operand).__name__


def _form(mnemonic: str, operands: list[Operand]) -> _Form | None:
    found = find(mnemonic, len(operands))
    if found is None or mnemonic.split(".")[0] == "call":
        return None
    definition, modifiers, types = found
    if any(spec.in_vector or spec.kind == "labels" for spec in definition.operands):
        return None
    order: list[int] = []
    for spec in definition.operands:
        count = sum(place >= 0 for place in order)
        order.append(-1 if spec.after_bar or count == len(operands) else count)
    form = _Form(definition, modifiers, types, space_of(modifiers), tuple(order) if -1 in order else None)
    placed = _placed(form.order, operands)
    sample = Instruction(definition, modifiers, types, placed, 0, "", space=form.space)
    return form if verify(sample) is None else None


def _placed(order: tuple[int, ...] | None, operands: list[Operand]) -> tuple[Operand, ...]:
    if order is None:
        return tuple(operands)
    return tuple(operands[place] if place >= 0 else None for place in order)


def space_of(modifiers: Mapping[str, str]) -> str:
    """Returns the state space of a memory access."""
    return modifiers.get("space", "").partition("::")[0] or "generic"
