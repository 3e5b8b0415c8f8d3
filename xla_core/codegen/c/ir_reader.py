"""Reads LLVM IR: the text that LLVM 20 to 22 and this project's own builder write."""

from __future__ import annotations

import re
from collections.abc import Callable

from xla_core.codegen.c.ir_module import (
    BasicBlock,
    Constant,
    Function,
    GlobalVariable,
    Instruction,
    Module,
    Name,
    Operand,
)
from xla_core.codegen.c.ir_tokens import Tokens
from xla_core.codegen.c.ir_types import BOOL, POINTER, VOID, scalar, struct_of, vector_of

__all__ = ["read_module"]

_COMMENT = re.compile(r'^([^";]*(?:"[^"]*"[^";]*)*);.*$')
_LABEL = re.compile(r'^("[^"]*"|[-\w.$]+):')
_ORDERINGS = ("unordered", "monotonic", "acquire", "release", "acq_rel", "seq_cst")
_IGNORED = ("target ", "source_filename", "!", "module asm", "$", "uselistorder", "#dbg")

_BINARY = (
    "add", "sub", "mul", "udiv", "sdiv", "urem", "srem", "shl", "lshr", "ashr", "and", "or", "xor",
    "fadd", "fsub", "fmul", "fdiv", "frem",
)  # fmt: skip
_CASTS = (
    "trunc", "zext", "sext", "fptrunc", "fpext", "fptoui", "fptosi", "uitofp", "sitofp", "ptrtoint", "inttoptr",
    "bitcast", "addrspacecast", "ptrtoaddr",
)  # fmt: skip


def read_module(text: str) -> Module:
    """Reads a module.

    Raises:
        UnimplementedError: it has something that the translation doesn't know.
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
            raise Tokens(line, _expression).unknown("this line")
    for function in functions.values():
        if any("noinline" in groups.get(word, "").split() for word in function.words):
            function.words |= {"noinline"}
    return Module(variables, functions)


def _variable(line: str) -> GlobalVariable:
    tokens = Tokens(line, _expression)
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
    tokens = Tokens(header, _expression)
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
        blocks[-1].instructions.append(_instruction(line))
    return blocks


def _instruction(line: str) -> Instruction:
    tokens = Tokens(line, _expression)
    result = ""
    if tokens.peek[:1] == "%":
        result = tokens.take().replace('"', "")
        tokens.expect("=")
    flags = set()
    while tokens.peek in ("tail", "musttail", "notail"):
        flags.add(tokens.take())
    op = tokens.take()
    if op not in _READERS:
        raise tokens.unknown(f"the instruction {op!r}")
    fields = _READERS[op](tokens)
    flags |= fields.pop("flags", frozenset())  # type: ignore[arg-type]
    align = 0
    while tokens.skip(","):
        if tokens.skip("align"):
            align = tokens.integer()
            continue
        break
    facts = tokens.metadata()
    return Instruction(op, result=result, flags=frozenset(flags), align=align, facts=facts, text=line, **fields)  # type: ignore[arg-type]


def _expression(tokens: Tokens) -> Instruction:
    """Reads a constant expression: an opcode, and what an instruction has, in parentheses."""
    op = tokens.take()
    if op not in ("getelementptr", *_CASTS, *_BINARY):
        raise tokens.unknown(f"the constant {op!r}")
    flags = tokens.words()
    tokens.expect("(")
    fields = _READERS[op](tokens)
    tokens.expect(")")
    fields["flags"] = flags
    return Instruction(op, text=tokens.text, **fields)  # type: ignore[arg-type]


Fields = dict[str, object]
_READERS: dict[str, Callable[[Tokens], Fields]] = {}


def _reader(*ops: str) -> Callable[[Callable[[Tokens], Fields]], Callable[[Tokens], Fields]]:
    def register(read: Callable[[Tokens], Fields]) -> Callable[[Tokens], Fields]:
        _READERS.update(dict.fromkeys(ops, read))
        return read

    return register


@_reader(*_BINARY)
def _binary(t: Tokens) -> Fields:
    flags = t.words()
    left = t.operand()
    t.expect(",")
    right = t.operand() if scalar(t.peek) else t.value(left.type)  # a constant expression repeats the type
    return {"flags": flags, "type": left.type, "operands": (left, right)}


@_reader("fneg", "freeze")
def _unary(t: Tokens) -> Fields:
    flags, operand = t.words(), t.operand()
    return {"flags": flags, "type": operand.type, "operands": (operand,)}


@_reader("icmp", "fcmp")
def _compare(t: Tokens) -> Fields:
    words = []
    while not t.at_type():
        words.append(t.take())
    left = t.operand()
    t.expect(",")
    right = t.value(left.type)
    type_ = vector_of(left.type.count, BOOL) if left.type.kind == "vector" else BOOL
    return {"flags": frozenset(words[:-1]), "word": words[-1], "type": type_, "operands": (left, right)}


@_reader(*_CASTS)
def _cast(t: Tokens) -> Fields:
    flags, operand = t.words(), t.operand()
    t.expect("to")
    return {"flags": flags, "type": t.type(), "operands": (operand,)}


@_reader("select")
def _select(t: Tokens) -> Fields:
    flags = t.words()
    operands = _operands(t)
    return {"flags": flags, "type": operands[1].type, "operands": operands}


def _operands(t: Tokens) -> tuple[Operand, ...]:
    """Takes operands with their types, separated by commas."""
    found = [t.operand()]
    while t.peek == ",":
        t.take()
        if not t.at_type():
            t._next -= 1
            break
        found.append(t.operand())
    return tuple(found)


@_reader("phi")
def _phi(t: Tokens) -> Fields:
    flags, type_ = t.words(), t.type()
    operands, labels = [], []
    while t.skip("["):
        operands.append(t.value(type_))
        t.expect(",")
        labels.append(t.take().replace('"', ""))
        t.expect("]")
        t.skip(",")
    return {"flags": flags, "type": type_, "operands": tuple(operands), "labels": tuple(labels)}


def _ordering(t: Tokens) -> frozenset[str]:
    """Takes the words after the address of an atomic access."""
    found = []
    while t.peek in _ORDERINGS or t.peek == "syncscope":
        found.append(t.take())
        if t.peek == "(":
            t.parenthesis()
    return frozenset(found)


@_reader("load")
def _load(t: Tokens) -> Fields:
    flags, type_ = t.words(), t.type()
    t.expect(",")
    pointer = t.operand()
    return {"flags": flags | _ordering(t), "type": type_, "source": type_, "operands": (pointer,)}


@_reader("store")
def _store(t: Tokens) -> Fields:
    flags, value = t.words(), t.operand()
    t.expect(",")
    pointer = t.operand()
    return {"flags": flags | _ordering(t), "type": VOID, "source": value.type, "operands": (value, pointer)}


@_reader("getelementptr")
def _gep(t: Tokens) -> Fields:
    flags, source = t.words(), t.type()
    t.expect(",")
    operands = _operands(t)
    return {"flags": flags, "type": operands[0].type, "source": source, "operands": operands}


@_reader("alloca")
def _alloca(t: Tokens) -> Fields:
    flags, source = t.words(), t.type()
    operands: tuple[Operand, ...] = ()
    if t.peek == ",":
        t.take()
        if t.at_type():
            operands = (t.operand(),)
        else:
            t._next -= 1
    return {"flags": flags, "type": POINTER, "source": source, "operands": operands}


@_reader("br")
def _br(t: Tokens) -> Fields:
    operands: tuple[Operand, ...] = ()
    labels = []
    if t.peek != "label":
        operands = (t.operand(),)
        t.expect(",")
    labels.append(t.label())
    if operands:
        t.expect(",")
        labels.append(t.label())
    return {"type": VOID, "operands": operands, "labels": tuple(labels)}


@_reader("switch")
def _switch(t: Tokens) -> Fields:
    operand = t.operand()
    t.expect(",")
    labels, numbers = [t.label()], []
    t.expect("[")
    while not t.skip("]"):
        case = t.operand()
        numbers.append(case.value if isinstance(case, Constant) and isinstance(case.value, int) else 0)
        t.expect(",")
        labels.append(t.label())
    return {"type": VOID, "operands": (operand,), "labels": tuple(labels), "numbers": tuple(numbers)}


@_reader("ret")
def _ret(t: Tokens) -> Fields:
    if t.skip("void"):
        return {"type": VOID}
    return {"type": VOID, "operands": (t.operand(),)}


@_reader("unreachable")
def _unreachable(t: Tokens) -> Fields:
    return {"type": VOID}


@_reader("fence")
def _fence(t: Tokens) -> Fields:
    return {"type": VOID, "flags": _ordering(t)}


@_reader("call")
def _call(t: Tokens) -> Fields:
    flags, type_ = t.words(), t.type()
    if t.peek == "(":  # the type of a function with more arguments than parameters
        t.parenthesis()
    callee = t.value(POINTER)
    t.expect("(")
    operands, aligns = [], []
    while not t.skip(")"):
        if t.peek == "metadata":
            while t.peek not in (",", ")"):
                t.take()
        else:
            argument = t.type()
            start = t._next
            words = t.words()
            taken = t._tokens[start : t._next]
            aligns.append(int(taken[taken.index("align") + 1]) if "align" in words else 0)
            operands.append(t.value(argument))
        t.skip(",")
    while t.peek.startswith("#") or t.peek in ("nounwind", "noreturn", "readnone"):
        t.take()
    return {
        "flags": flags,
        "type": type_,
        "callee": callee,
        "operands": tuple(operands),
        "numbers": tuple(aligns),
    }


@_reader("extractelement", "insertelement")
def _element(t: Tokens) -> Fields:
    operands = _operands(t)
    type_ = operands[0].type.element if len(operands) == 2 else operands[0].type
    return {"type": type_, "operands": operands}


@_reader("shufflevector")
def _shuffle(t: Tokens) -> Fields:
    left = t.operand()
    t.expect(",")
    right = t.operand()
    t.expect(",")
    mask = t.operand()
    assert isinstance(mask, Constant)
    count = mask.type.count
    numbers = [0] * count
    if isinstance(mask.value, tuple):
        values = [m.value for m in mask.value if isinstance(m, Constant)]
        numbers = [v if isinstance(v, int) else 0 if v == "zero" else -1 for v in values]
    return {"type": vector_of(count, left.type.element), "operands": (left, right), "numbers": tuple(numbers)}


@_reader("extractvalue", "insertvalue")
def _field(t: Tokens) -> Fields:
    operands = _operands(t)
    numbers = []
    while t.skip(","):
        numbers.append(t.integer())
    type_ = operands[0].type
    if len(operands) == 1:
        for number in numbers:
            type_ = type_.members[number] if type_.kind == "struct" else type_.element
    return {"type": type_, "operands": operands, "numbers": tuple(numbers)}


@_reader("atomicrmw")
def _atomic(t: Tokens) -> Fields:
    flags = {t.take()} if t.peek == "volatile" else set()
    word = t.take()
    pointer = t.operand()
    t.expect(",")
    value = t.operand()
    flags |= _ordering(t)
    return {"flags": frozenset(flags), "word": word, "type": value.type, "operands": (pointer, value)}


@_reader("cmpxchg")
def _exchange(t: Tokens) -> Fields:
    flags = t.words()
    operands = _operands(t)
    flags |= _ordering(t)
    return {"flags": flags, "type": struct_of((operands[1].type, BOOL)), "operands": operands}
