"""Reads the statements that a compiler writes: an optional guard, a mnemonic, and operands with commas between them.

One regular expression takes such a statement apart, and each operand of a function is read once. That is several times
as fast as reading its tokens. Whatever is written in another way, or is wrong, is left to the general reader.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Mapping
from typing import NamedTuple

from xla_backend_gpu.emulator.ptx.operands import Scopes, read_operand
from xla_backend_gpu.emulator.ptx.program import Instruction, Negation, Operand, Register, Vector
from xla_backend_gpu.emulator.ptx.tokens import TokenStream
from xla_backend_gpu.emulator.ptx.types import PtxType
from xla_backend_gpu.emulator.ptx.verifier import verify
from xla_backend_gpu.emulator.table import Definition, find
from xla_core.errors import InvalidArgumentError, SourceLocation

__all__ = ["PlainStatements", "space_of"]

_STATEMENT = re.compile(r"(?:@(!?)(%[\w$]+)\s+)?([a-z]\w*(?:\.\w+(?:::\w+)*)*)(?:\s+([^;|/\"]*))?;")
_VECTOR = re.compile(r"\{[^{}]*\}")

_MOST_FORMS = 1 << 14


class _Form(NamedTuple):
    """What all instructions with a mnemonic and operands of certain kinds share."""

    definition: Definition
    modifiers: Mapping[str, str]
    types: tuple[PtxType, ...]
    space: str
    order: (
        tuple[int, ...] | None
    )  # the number of each operand of the definition, -1 if it is absent; None: all in order


_forms: dict[Hashable, _Form | None] = {}
"""The forms that were seen, by mnemonic and kinds of operands. None is a form that the general reader must read."""


class PlainStatements:
    """Reads the statements of one function."""

    def __init__(self, tokens: TokenStream, scopes: Scopes) -> None:
        self._tokens, self._scopes = tokens, scopes
        self._operands: dict[str, tuple[Operand, Hashable]] = {}

    def forget_names(self) -> None:
        """A name may stand for something else from here on."""
        self._operands.clear()

    def read(self, location: SourceLocation | None) -> Instruction | None:
        """Takes the next statement. Returns None, and takes nothing, if it must be read by its tokens."""
        match = self._tokens.match(_STATEMENT)
        if match is None:
            return None
        negation, guard_name, mnemonic, text = match.groups()
        guard = None
        if guard_name is not None:
            found = self._scopes.find(guard_name)
            if not isinstance(found, Register) or found.bits != 1:
                return None
            guard = found
        operands: list[Operand] = []
        kinds: list[Hashable] = []
        if text:
            if "{" in text:  # a statement has no semicolon, which therefore may stand for a vector's commas
                text = _VECTOR.sub(lambda vector: vector[0].replace(",", ";"), text)
            for part in text.split(","):
                operand = self._operand(part.strip().replace(";", ","))
                if operand is None:
                    return None
                operands.append(operand[0])
                kinds.append(operand[1])
        key = (mnemonic, *kinds)
        if key not in _forms:
            if len(_forms) >= _MOST_FORMS:
                _forms.clear()
            _forms[key] = _form(mnemonic, operands)
        form = _forms[key]
        if form is None:
            return None
        line = self._tokens.take_match(match)
        return Instruction(
            form.definition,
            form.modifiers,
            form.types,
            _placed(form.order, operands),
            line,
            self._tokens.line_text(line),
            guard,
            negation == "!",
            form.space,
            location,
        )

    def _operand(self, text: str) -> tuple[Operand, Hashable] | None:
        """Returns an operand and its kind, or None if the text is not one operand."""
        known = self._operands.get(text)
        if known is not None:
            return known
        operand: Operand = None
        found = self._scopes.find(text)
        if isinstance(found, Register):
            operand = found
        else:
            tokens = TokenStream(text)
            try:
                operand = read_operand(tokens, self._scopes)
                if tokens.token.kind != "end":
                    return None
            except InvalidArgumentError:  # which the general reader raises with its place
                return None
        self._operands[text] = made = operand, _kind(operand)
        return made


def _kind(operand: Operand) -> Hashable:
    """Returns what the verifier asks of an operand: its class, and the width of registers."""
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
