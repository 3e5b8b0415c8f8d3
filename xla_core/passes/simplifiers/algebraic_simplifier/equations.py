"""Reads equations (see `identities`) and makes rules of them."""

from __future__ import annotations

import dataclasses
import itertools
import re
from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np

from xla_core.hlo.ir.builder import Builder
from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.hlo.table.op_table import Trait, lookup
from xla_core.hlo.table.opcode import Opcode
from xla_core.hlo.values.element_type import ElementType
from xla_core.passes.patterns import is_all, is_constant, is_ordered, is_total_order, uniform_value
from xla_core.passes.rewriter import Rule
from xla_core.passes.simplifiers.algebraic_simplifier.rule_table import FAST_RULES, RULES

_DIRECTIONS = ("eq", "ne", "lt", "le", "gt", "ge")
_CONSTANTS = frozenset({Opcode.CONSTANT, Opcode.BROADCAST})
_Found = dict[str, HloInstruction]  # "op" is the instruction that the pattern matches

_TYPES: Mapping[str, Callable[[ElementType], bool]] = {
    "exact": is_total_order,
    "float": lambda t: t.is_floating,
    "inexact": lambda t: t.is_floating or t.is_complex,
    "integral": lambda t: t.is_integral,
    "number": lambda t: t.is_integral or t.is_floating,
    "pred": lambda t: t is ElementType.PRED,
    "real": lambda t: not t.is_complex,
    "real_and_wide": lambda t: not t.is_complex and not (t.is_floating and t.bit_width < 32),
    "signed": lambda t: t.is_signed or t.is_floating,
    "unsigned": lambda t: t.is_unsigned,
}

_INSTRUCTIONS: Mapping[str, Callable[..., bool]] = {
    "equal": lambda c, d: c.opcode == d.opcode == Opcode.CONSTANT and c.literal == d.literal,
    "one_use": lambda z: z.user_count == 1,
    "ordered": is_ordered,
    "sized": lambda p, i: p.shape.dimensions == i.shape.dimensions,
}


@dataclasses.dataclass(frozen=True, slots=True)
class _Term:
    """An op with operands, a value, or a variable; `name` is the variable."""

    name: str = ""
    value: str = ""
    opcodes: tuple[Opcode, ...] = ()
    directions: tuple[str, ...] = ()  # of compares
    operands: tuple[_Term, ...] = ()

    def may_match(self, opcode: Opcode) -> bool:
        if self.value or self.name in ("c", "d", "u"):
            return opcode in _CONSTANTS
        return not self.opcodes or opcode in self.opcodes

    def matches(self, i: HloInstruction, found: _Found) -> bool:
        if self.opcodes:
            if i.opcode not in self.opcodes or len(i.operands) != len(self.operands):
                return False
            if self.directions and i.attribute("direction") not in self.directions:
                return False
            for term, operand in zip(self.operands, i.operands, strict=True):
                if not term.matches(operand, found):
                    return False
        elif self.value:
            value = _value(self.value, i.shape.element_type)
            if value is None or not is_all(i, value):
                return False
        elif self.name in _KINDS and not _KINDS[self.name](i):
            return False
        return not self.name or found.setdefault(self.name, i) is i

    def orders(self) -> Iterator[_Term]:
        """The term with the operands of commutative ops in every order."""
        if not self.operands:
            yield self
            return
        for operands in itertools.product(*(term.orders() for term in self.operands)):
            yield dataclasses.replace(self, operands=operands)
            if Trait.COMMUTATIVE in lookup(self.opcodes[0]).traits and operands[0] != operands[1]:
                yield dataclasses.replace(self, operands=operands[::-1])

    def build(self, found: _Found, b: Builder) -> HloInstruction:
        i = found["op"]
        if self.value:
            value = _value(self.value, i.shape.element_type)
            assert value is not None
            return b.constant(value, i.shape)
        if self.name.startswith("-"):
            constant = found[self.name[1:]]
            uniform = uniform_value(constant)
            assert uniform is not None
            with np.errstate(all="ignore"):
                negated = np.negative(uniform).astype(uniform.dtype)  # numpy has 2 and 4 bits as int8
            return b.constant(negated, constant.shape)
        operands = [term.build(found, b) for term in self.operands]
        if self.name == "op":
            return b.add(i.opcode, *operands, **i.attributes)
        return b.add(self.opcodes[0], *operands) if self.opcodes else found[self.name]


_KINDS: Mapping[str, Callable[[HloInstruction], bool]] = {
    "c": is_constant,
    "d": is_constant,
    "n": lambda i: not is_constant(i),
    "u": lambda i: uniform_value(i) is not None,
}


def _value(text: str, element_type: ElementType) -> complex | None:
    match text:
        case "ones":
            return -1 if element_type.is_signed else (1 << element_type.bit_width) - 1
        case "least":
            return element_type.least
        case "greatest":
            return element_type.greatest
        case "true" | "false":
            return text == "true"
    return float(text) if "." in text else int(text)


@dataclasses.dataclass(frozen=True, slots=True)
class _Equation:
    pattern: _Term
    replacement: _Term
    conditions: tuple[tuple[str, tuple[str, ...]], ...]

    def apply(self, i: HloInstruction, b: Builder) -> HloInstruction | None:
        found: _Found = {"op": i}
        if not self.pattern.matches(i, found):
            return None
        for name, arguments in self.conditions:
            given = [found[a] for a in arguments]
            if name in _INSTRUCTIONS:
                holds = _INSTRUCTIONS[name](*given)
            else:
                holds = _TYPES[name]((given or i.operands)[-1].shape.element_type)
            if not holds:
                return None
        return self.replacement.build(found, b)


def _rule(lines: Sequence[str]) -> Rule:
    """A rule that tries equations in order, but only those that fit the opcodes of the operands.

    The lines are parsed when they are needed first, because most programs have few of the ops.
    """
    equations: list[_Equation] = []
    fitting: dict[tuple[Opcode, ...], list[_Equation]] = {}

    def apply(i: HloInstruction, b: Builder) -> HloInstruction | None:
        """The first equation that applies."""
        opcodes = tuple([o.opcode for o in i.operands])
        if opcodes not in fitting:
            if not equations:
                equations.extend(equation for line in lines for equation in _equations(line))
            fitting[opcodes] = [
                e
                for e in equations
                if len(e.pattern.operands) == len(opcodes)
                and all(term.may_match(o) for term, o in zip(e.pattern.operands, opcodes, strict=True))
            ]
        for equation in fitting[opcodes]:
            new = equation.apply(i, b)
            if new is not None:
                return new
        return None

    return apply


def _equations(line: str) -> list[_Equation]:
    formulas, _, condition = line.partition(" if ")
    pattern, _, replacement = formulas.partition("->")
    conditions = tuple(
        (name, tuple(arguments.replace(",", " ").split()))
        for name, arguments in re.findall(r"(\w+)(?:\(([^)]*)\))?", condition)
    )
    return [_Equation(order, _parsed(replacement), conditions) for order in _parsed(pattern).orders()]


def _parsed(text: str) -> _Term:
    tokens = re.findall(r"[-\w.|]+|[():]", text)[::-1]

    def term() -> _Term:
        word = tokens.pop()
        following = tokens[-1] if tokens else ""
        if following == ":":
            tokens.pop()
            return dataclasses.replace(term(), name=word)
        if following != "(":
            is_variable = word == "op" or (len(word.lstrip("-")) == 1 and word[-1].isalpha())
            return _Term(name=word) if is_variable else _Term(value=word)
        tokens.pop()
        operands = []
        while tokens[-1] != ")":
            operands.append(term())
        tokens.pop()
        if word == "op":
            return _Term(name="op", operands=tuple(operands))
        names = word.split("|")
        if names[0] in _DIRECTIONS:
            return _Term("", "", (Opcode.COMPARE,), tuple(n.upper() for n in names), tuple(operands))
        return _Term("", "", tuple(Opcode(n.replace("_", "-")) for n in names), (), tuple(operands))

    return term()


def register(table: str, *, fast: bool = False) -> None:
    """Adds the equations of a table to `RULES`, or to `FAST_RULES`."""
    groups: dict[Opcode, list[str]] = {}
    for line in filter(None, map(str.strip, table.splitlines())):
        for name in line.partition("(")[0].split("|"):
            opcode = Opcode.COMPARE if name in _DIRECTIONS else Opcode(name.replace("_", "-"))
            group = groups.setdefault(opcode, [])
            if line not in group:  # compares are one op
                group.append(line)
    for opcode, lines in groups.items():
        (FAST_RULES if fast else RULES).setdefault(opcode, []).append(_rule(lines))
