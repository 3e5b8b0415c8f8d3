"""Reads LLVM IR: the text that LLVM 20 to 22 and this project's own builder write."""

from __future__ import annotations

import re

from xla_core.codegen.c.ir_instruction_reader import read_expression, read_instruction
from xla_core.codegen.c.ir_module import BasicBlock, Function, GlobalVariable, Module, Name
from xla_core.codegen.c.ir_tokens import Tokens

_COMMENT = re.compile(r'^([^";]*(?:"[^"]*"[^";]*)*);.*$')
_LABEL = re.compile(r'^("[^"]*"|[-\w.$]+):')
_IGNORED = ("target ", "source_filename", "!", "module asm", "$", "uselistorder", "#dbg")


def read_module(text: str) -> Module:
    """Reads a module of LLVM IR.

    Raises:
        UnimplementedError: the module has something that the translation doesn't support.
    """
    variables: dict[str, GlobalVariable] = {}
    functions: dict[str, Function] = {}
    groups: dict[str, str] = {}
    body: list[str] | None = None
    header = ""
    for raw in text.splitlines():
        line = _COMMENT.sub(r"\1", raw).rstrip()
        if not line:
            continue
        if body is not None:
            if line == "}":
                function = _function(header, body)
                functions[function.name] = function
                body = None
            else:
                body.append(line)
        elif line.startswith("define "):
            header, body = line, []
        elif line.startswith("declare "):
            function = _function(line, [])
            functions.setdefault(function.name, function)
        elif line.startswith("@"):
            variable = _variable(line)
            variables[variable.name] = variable
        elif line.startswith("attributes #"):
            name, _, words = line.partition(" = ")
            groups[name.split()[1]] = words
        elif not line.startswith(_IGNORED):
            raise Tokens(line, read_expression).unknown("this line")
    for function in functions.values():
        if any("noinline" in groups.get(word, "").split() for word in function.words):
            function.words |= {"noinline"}
    return Module(variables, functions)


def _variable(line: str) -> GlobalVariable:
    tokens = Tokens(line, read_expression)
    name = tokens.take().replace('"', "")
    tokens.expect("=")
    words = set()
    while not tokens.at_type():
        words.add(tokens.take())
        if tokens.peek == "(":
            tokens.parenthesis()
    type_ = tokens.type()
    value = None if "external" in words else tokens.value(type_)
    align = 0
    while tokens.skip(","):
        if tokens.take() == "align":
            align = tokens.integer()
    internal = bool(words & {"private", "internal"})
    return GlobalVariable(name, type_, value, "constant" in words, internal, align)


def _function(header: str, lines: list[str]) -> Function:
    tokens = Tokens(header, read_expression)
    tokens.take()
    words = set(tokens.words())
    type_ = tokens.type()
    name = tokens.take().replace('"', "")
    tokens.expect("(")
    parameters: list[Name] = []
    disjoint: set[int] = set()
    while not tokens.skip(")"):
        if tokens.skip("..."):
            continue
        parameter = tokens.type()
        if "noalias" in tokens.words():
            disjoint.add(len(parameters))
        named = tokens.take().replace('"', "") if tokens.peek[:1] == "%" else f"%{len(parameters)}"
        parameters.append(Name(parameter, named))
        tokens.skip(",")
    while tokens.peek and tokens.peek != "{":
        words.add(tokens.take())
    unnamed = sum(p.name[1:].isdigit() for p in parameters)
    return Function(name, type_, parameters, frozenset(words), _blocks(lines, str(unnamed)), frozenset(disjoint))


def _blocks(lines: list[str], first_label: str) -> list[BasicBlock]:
    """The blocks of a function; `first_label` is the name of a first block that has none."""
    blocks: list[BasicBlock] = []
    joined = iter(lines)
    for line in joined:
        label = _LABEL.match(line)
        if label is not None:
            blocks.append(BasicBlock("%" + label[1].replace('"', ""), []))
            continue
        if line.lstrip().startswith(_IGNORED):
            continue
        if not blocks:
            blocks.append(BasicBlock("%" + first_label, []))
        if line.endswith("["):  # the cases of a switch
            for more in joined:
                line += " " + more.strip()
                if more.strip().startswith("]"):
                    break
        blocks[-1].instructions.append(read_instruction(line))
    return blocks
