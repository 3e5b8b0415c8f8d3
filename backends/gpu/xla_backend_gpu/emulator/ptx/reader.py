"""Reads PTX text: directives, functions, instructions."""

from __future__ import annotations

import re
from collections.abc import Callable

import numpy as np

from xla_backend_gpu.emulator.ptx.operands import Scopes, immediate, read_operand
from xla_backend_gpu.emulator.ptx.program import (
    Call,
    Function,
    Instruction,
    Label,
    Operand,
    Register,
    Symbol,
    Variable,
    Vector,
)
from xla_backend_gpu.emulator.ptx.statements import PlainLines, declare, space_of
from xla_backend_gpu.emulator.ptx.tokens import TokenStream
from xla_backend_gpu.emulator.ptx.types import TYPES, PtxType
from xla_backend_gpu.emulator.ptx.verifier import verify
from xla_backend_gpu.emulator.table import find
from xla_core.errors import SourceLocation

_SPACES = {".global": "global", ".const": "const", ".shared": "shared", ".local": "local", ".param": "param"}
_LINKAGE = (".visible", ".extern", ".weak", ".common")
_ONE_LINE = (".file", ".version", ".target", ".address_size", ".pragma", ".noreturn", ".explicitcluster")
_POINTER = re.compile(r"\.param \.u64 \.ptr \.global \.align \d+ ([A-Za-z_$][\w$]*)(?=[,\s)])")
_FILE = re.compile(r'^\s*\.file\s+(\d+)\s+"([^"\n]*)"', re.MULTILINE)


def read(text: str) -> dict[str, Function]:
    """Returns the functions of a PTX text by name, including the entries.

    Raises:
        InvalidArgumentError: the text has something that the emulator doesn't know; the error has the line.
    """
    reader = _Reader(text)
    reader.module()
    return reader.functions


class _Reader:
    def __init__(self, text: str) -> None:
        self.tokens = TokenStream(text)
        self.functions: dict[str, Function] = {}
        self.variables: dict[str, Variable] = {}
        self.files = {int(number): name for number, name in _FILE.findall(text)}  # which may follow their use
        self.location: SourceLocation | None = None

    def module(self) -> None:
        tokens = self.tokens
        while tokens.token.kind != "end":
            while tokens.token.text in _LINKAGE:
                tokens.take()
            word = tokens.token.text
            if word in (".entry", ".func"):
                self._function()
            elif word in _SPACES:
                variable = self._variable()
                self.variables[variable.name] = variable
            elif word == ".section":
                self._skip_section()
            elif word in _ONE_LINE:
                self._skip_line(tokens.token.line)
            else:
                raise tokens.error(f"{word or 'this'!r} is not a directive that the emulator supports")

    def _skip_line(self, line: int) -> None:
        """Skips the rest of the line."""
        while self.tokens.token.line == line and self.tokens.token.kind != "end":
            self.tokens.take()

    def _skip_section(self) -> None:
        while not self.tokens.accept("{"):
            self.tokens.take()
        while not self.tokens.accept("}"):
            self.tokens.take()

    # -- variables ---------------------------------------------------------------------------------------------------

    def _variable(self) -> Variable:
        """`.space .align 16 .b8 name[64] = {...};`"""
        variable = self._declaration()
        data = None
        if self.tokens.accept("="):
            data = self._initializer(variable.size, self._element)
        self.tokens.expect(";")
        return Variable(variable.name, variable.space, variable.size, variable.align, data)

    def _declaration(self) -> Variable:
        """Reads the declaration of a variable or a parameter, up to its initializer."""
        tokens = self.tokens
        space = _SPACES.get(tokens.token.text)
        if space is None:
            raise tokens.error(f"{tokens.token.text!r} is not a state space")
        tokens.take()
        align, count, element, pointer = 0, 1, None, False
        while tokens.token.text.startswith("."):
            first = tokens.take()
            for word in first.text.split(".")[1:]:
                if word == "align":
                    number = tokens.integer()
                    align = align if pointer else number  # after .ptr it is the alignment of the pointed-to memory
                elif word == "ptr":
                    pointer = True
                elif word in ("v2", "v4"):
                    count = int(word[1:])
                elif word in TYPES:
                    element = TYPES[word]
                elif word not in ("global", "shared", "local", "const", "attribute"):
                    raise tokens.error(f".{word} is not supported in a declaration", first)
        if element is None:
            raise tokens.error("the declaration has no type")
        name = tokens.word()
        self._element = element
        size = element.size * count
        while tokens.accept("["):
            size *= 0 if tokens.token.text == "]" else tokens.integer()
            tokens.expect("]")
        return Variable(name, space, size, align or element.size * count)

    def _initializer(self, size: int, element: PtxType) -> bytes:
        if self.tokens.token.kind == "numbers":
            numbers = np.fromstring(self.tokens.take().text[1:-1], np.uint64, sep=",")
            return numbers.astype(f"u{element.size}").tobytes().ljust(size, b"\0")
        data = bytearray()
        self._values(element, data)
        return bytes(data).ljust(size, b"\0")

    def _values(self, element: PtxType, data: bytearray) -> None:
        """Reads a number, or values in braces."""
        if self.tokens.accept("{"):
            self._values(element, data)
            while self.tokens.accept(","):
                self._values(element, data)
            self.tokens.expect("}")
        else:
            number = immediate(self.tokens)
            data.extend((number.value & (1 << element.bits) - 1).to_bytes(element.size, "little"))

    # -- functions ---------------------------------------------------------------------------------------------------

    def _function(self) -> None:
        tokens = self.tokens
        line = tokens.token.line
        is_entry = tokens.take().text == ".entry"
        results = self._parameters() if tokens.token.text == "(" else []
        function = Function(tokens.word(), is_entry, line, results)
        function.parameters = self._parameters() if tokens.token.text == "(" else []
        while tokens.token.text.startswith("."):
            word = tokens.take().text
            if word in (".reqntid", ".maxntid"):
                sizes = [tokens.integer()]
                while tokens.accept(","):
                    sizes.append(tokens.integer())
                x, y, z = (*sizes, 1, 1)[:3]
                if word == ".reqntid":
                    function.reqntid = (x, y, z)
                else:
                    function.maxntid = (x, y, z)
            elif tokens.token.kind == "integer":
                tokens.integer()  # .minnctapersm, .maxnreg, ... advise the assembler
        if tokens.accept(";"):
            return  # a declaration; its definition, if the text has one, follows
        _Body(self, function).read()
        self.functions[function.name] = function

    def _parameters(self) -> list[Variable]:
        self.tokens.expect("(")
        found: list[Variable] = []
        while not self.tokens.accept(")"):
            pointer = self.tokens.match(_POINTER)
            found.append(Variable(pointer[1], "param", 8, 8) if pointer else self._declaration())
            self.tokens.accept(",")
        return found

    # -- for bodies --------------------------------------------------------------------------------------------------

    def read_location(self) -> None:
        """Reads `.loc file line column` and its options."""
        tokens = self.tokens
        here = tokens.token.line
        file, line, column = tokens.integer(), tokens.integer(), tokens.integer()
        self.location = SourceLocation(self.files.get(file, str(file)), line, column)
        self._skip_line(here)

    def declare(self, function: Function, scopes: Scopes) -> None:
        """Declares a variable of a function."""
        variable = self._variable()
        function.variables.append(variable)
        scopes.add(variable.name, variable)


class _Body:
    """The statements of one function."""

    def __init__(self, reader: _Reader, function: Function) -> None:
        self.reader, self.tokens, self.function = reader, reader.tokens, function
        self.scopes = Scopes(reader.variables)
        for variable in (*function.results, *function.parameters):
            self.scopes.add(variable.name, variable)
        self.plain = PlainLines(self.tokens, self.scopes, function.registers, reader.files)
        self.targets: dict[str, Vector] = {}

    def read(self) -> None:
        tokens = self.tokens
        tokens.expect("{")
        depth = 1
        while depth:
            self.reader.location = self.plain.read(self.function.body, self.reader.location)
            token = tokens.token
            if tokens.accept("{"):
                depth += 1
                self.scopes.names.append({})
                self.plain.forget_names()
            elif tokens.accept("}"):
                depth -= 1
                self.scopes.names.pop()
                self.plain.forget_names()
            elif token.text in _SPACES:
                self.reader.declare(self.function, self.scopes)
                self.plain.forget_names()
            elif token.text in _DIRECTIVES:
                self.plain.forget_names()
                tokens.take()
                _DIRECTIVES[token.text](self)
            elif token.kind == "word" and tokens.peek().text == ":":
                self._label()
            else:
                self._statement()
            self.function.last_line = token.line

    def _label(self) -> None:
        """`name:`, or `name: .branchtargets a, b, c;`."""
        tokens = self.tokens
        label = Label(tokens.word())
        tokens.expect(":")
        if not tokens.accept(".branchtargets"):
            self.function.body.append(label)
            return
        targets: list[Operand] = []
        while not tokens.accept(";"):
            targets.append(Label(tokens.word()))
            tokens.accept(",")
        self.targets[label.name] = Vector(tuple(targets))

    def _until_semicolon(self) -> None:
        while not self.tokens.accept(";"):
            self.tokens.take()

    def _registers(self) -> None:
        """`.reg .b32 %r<5>, %x;`"""
        tokens = self.tokens
        token = tokens.token
        type_ = TYPES.get(tokens.word().removeprefix("."))
        if type_ is None:
            raise tokens.error(f"{token.text!r} is not the type of a register", token)
        while True:
            name = tokens.word()
            if tokens.accept("<"):
                names = [f"{name}{i}" for i in range(tokens.integer())]
                tokens.expect(">")
            else:
                names = [name]
            declare(self.function.registers, self.scopes, type_, names)
            if not tokens.accept(","):
                break
        tokens.expect(";")

    def _statement(self) -> None:
        tokens = self.tokens
        start = tokens.token
        guard: Register | None = None
        negated = False
        if tokens.accept("@"):
            negated = tokens.accept("!")
            found = self.scopes.find(tokens.word())
            if not isinstance(found, Register) or found.bits != 1:
                raise tokens.error("a guard must be a predicate register", start)
            guard = found
        mnemonic_token = tokens.token
        mnemonic = tokens.word()
        if mnemonic.split(".")[0] == "call":
            self._call(guard)
            return
        operands = self._operands()
        count = len(operands)
        braces = tuple(len(g[0].elements) if isinstance(g[0], Vector) else 0 for g in operands)
        found_entry = find(mnemonic, count, braces)
        if found_entry is None:
            raise tokens.error(
                f"the emulator does not support {mnemonic} with {count} operands",
                mnemonic_token,
                hint="its instructions are the entries of xla_backend_gpu.emulator.table",
            )
        definition, modifiers, types = found_entry
        placed: list[Operand] = []
        unused = 0
        group: list[Operand] = []
        for spec in definition.operands:
            if not spec.after_bar:
                unused += len(group)
                group = operands.pop(0) if operands else []
                if spec.in_vector and len(group) == 1 and isinstance(group[0], Vector):
                    group = list(group[0].elements)
            operand = group.pop(0) if group else None
            if spec.kind == "labels" and isinstance(operand, Label):
                operand = self.targets.get(operand.name)
            placed.append(operand)
        if unused or group:
            raise tokens.error(f"{mnemonic} has no operand after the bar", mnemonic_token)
        instruction = Instruction(
            definition,
            modifiers,
            types,
            tuple(placed),
            start.line,
            tokens.line_text(start.line),
            guard,
            negated,
            space_of(modifiers),
            self.reader.location,
        )
        problem = verify(instruction)
        if problem is not None:
            raise tokens.error(problem, mnemonic_token)
        self.function.body.append(instruction)

    def _operands(self) -> list[list[Operand]]:
        """Reads the operands up to the semicolon, in groups that `|` joins."""
        tokens = self.tokens
        groups: list[list[Operand]] = []
        while not tokens.accept(";"):
            groups.append([read_operand(tokens, self.scopes)])
            while tokens.accept("|"):
                groups[-1].append(read_operand(tokens, self.scopes))
            if tokens.token.text != ";":
                tokens.expect(",")
        return groups

    def _call(self, guard: Register | None) -> None:
        """`call.uni (results), name, (arguments);` with variables of the space param."""
        tokens = self.tokens
        token = tokens.token
        results = self._call_variables() if token.text == "(" else ()
        if results:
            tokens.expect(",")
        name = tokens.word()
        arguments = self._call_variables() if tokens.accept(",") else ()
        tokens.expect(";")
        if name not in self.reader.functions and self.scopes.find(name) is not None:
            raise tokens.error("the emulator does not support indirect calls", token)
        self.function.body.append(Call(name, results, arguments, token.line, guard))

    def _call_variables(self) -> tuple[Variable, ...]:
        tokens = self.tokens
        tokens.expect("(")
        found: list[Variable] = []
        while not tokens.accept(")"):
            token = tokens.token
            operand = read_operand(tokens, self.scopes)
            if not isinstance(operand, Symbol):
                raise tokens.error("arguments of a call must be variables in the space param", token)
            found.append(operand.variable)
            tokens.accept(",")
        return tuple(found)


_DIRECTIVES: dict[str, Callable[[_Body], None]] = {
    ".reg": _Body._registers,
    ".loc": lambda body: body.reader.read_location(),
    ".pragma": _Body._until_semicolon,
}
