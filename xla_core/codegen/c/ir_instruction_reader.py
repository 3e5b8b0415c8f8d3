"""Reads the instructions and constant expressions of LLVM IR, each opcode by a function of its own."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import TypeAlias

from xla_core.codegen.c.ir_module import Constant, Instruction, Name, Operand
from xla_core.codegen.c.ir_tokens import Tokens
from xla_core.codegen.c.ir_types import BOOL, POINTER, VOID, scalar, struct_of, vector_of
from xla_core.registration import registers_in

_ORDERINGS = ("unordered", "monotonic", "acquire", "release", "acq_rel", "seq_cst")

_BINARY = (
    "add", "sub", "mul", "udiv", "sdiv", "urem", "srem", "shl", "lshr", "ashr", "and", "or", "xor",
    "fadd", "fsub", "fmul", "fdiv", "frem",
)  # fmt: skip
_CASTS = (
    "trunc", "zext", "sext", "fptrunc", "fpext", "fptoui", "fptosi", "uitofp", "sitofp", "ptrtoint", "inttoptr",
    "bitcast", "addrspacecast", "ptrtoaddr",
)  # fmt: skip


def read_instruction(line: str) -> Instruction:
    tokens = Tokens(line, read_expression)
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
    instruction = _READERS[op](op, tokens)
    align = 0
    while tokens.skip(","):
        if tokens.skip("align"):
            align = tokens.integer()
            continue
        break
    return dataclasses.replace(
        instruction,
        result=result,
        flags=instruction.flags | flags,
        align=align,
        facts=tokens.metadata(),
        text=line,
    )


def read_expression(tokens: Tokens) -> Instruction:
    """Reads a constant expression: an opcode, then its operands in parentheses."""
    op = tokens.take()
    if op not in ("getelementptr", *_CASTS, *_BINARY):
        raise tokens.unknown(f"the constant {op!r}")
    flags = tokens.words()
    tokens.expect("(")
    instruction = _READERS[op](op, tokens)
    tokens.expect(")")
    return dataclasses.replace(instruction, flags=flags, text=tokens.text)


Reader: TypeAlias = Callable[[str, Tokens], Instruction]
"""Reads the part of an instruction after its opcode."""

_READERS: dict[str, Reader] = {}


_reader = registers_in(_READERS)


@_reader(*_BINARY)
def _binary(op: str, t: Tokens) -> Instruction:
    flags = t.words()
    left = t.operand()
    t.expect(",")
    right = t.operand() if scalar(t.peek) else t.value(left.type)  # a constant expression repeats the type
    return Instruction(op, left.type, (left, right), flags=flags)


@_reader("fneg", "freeze")
def _unary(op: str, t: Tokens) -> Instruction:
    flags, operand = t.words(), t.operand()
    return Instruction(op, operand.type, (operand,), flags=flags)


@_reader("icmp", "fcmp")
def _compare(op: str, t: Tokens) -> Instruction:
    words = []
    while not t.at_type():
        words.append(t.take())
    left = t.operand()
    t.expect(",")
    right = t.value(left.type)
    type_ = vector_of(left.type.count, BOOL) if left.type.kind == "vector" else BOOL
    return Instruction(op, type_, (left, right), flags=frozenset(words[:-1]), word=words[-1])


@_reader(*_CASTS)
def _cast(op: str, t: Tokens) -> Instruction:
    flags, operand = t.words(), t.operand()
    t.expect("to")
    return Instruction(op, t.type(), (operand,), flags=flags)


@_reader("select")
def _select(op: str, t: Tokens) -> Instruction:
    flags = t.words()
    operands = _operands(t)
    return Instruction(op, operands[1].type, operands, flags=flags)


def _operands(t: Tokens) -> tuple[Operand, ...]:
    """Takes operands with their types, separated by commas."""
    found = [t.operand()]
    while t.peek == ",":
        t.take()
        if not t.at_type():
            t.give_back()
            break
        found.append(t.operand())
    return tuple(found)


@_reader("phi")
def _phi(op: str, t: Tokens) -> Instruction:
    flags, type_ = t.words(), t.type()
    operands, labels = [], []
    while t.skip("["):
        operands.append(t.value(type_))
        t.expect(",")
        labels.append(t.take().replace('"', ""))
        t.expect("]")
        t.skip(",")
    return Instruction(op, type_, tuple(operands), flags=flags, labels=tuple(labels))


def _ordering(t: Tokens) -> frozenset[str]:
    """Takes the words after the address of an atomic access."""
    found = []
    while t.peek in _ORDERINGS or t.peek == "syncscope":
        found.append(t.take())
        if t.peek == "(":
            t.parenthesis()
    return frozenset(found)


@_reader("load")
def _load(op: str, t: Tokens) -> Instruction:
    flags, type_ = t.words(), t.type()
    t.expect(",")
    pointer = t.operand()
    return Instruction(op, type_, (pointer,), flags=flags | _ordering(t), source=type_)


@_reader("store")
def _store(op: str, t: Tokens) -> Instruction:
    flags, value = t.words(), t.operand()
    t.expect(",")
    pointer = t.operand()
    return Instruction(op, VOID, (value, pointer), flags=flags | _ordering(t), source=value.type)


@_reader("getelementptr")
def _gep(op: str, t: Tokens) -> Instruction:
    flags, source = t.words(), t.type()
    t.expect(",")
    operands = _operands(t)
    return Instruction(op, operands[0].type, operands, flags=flags, source=source)


@_reader("alloca")
def _alloca(op: str, t: Tokens) -> Instruction:
    flags, source = t.words(), t.type()
    operands: tuple[Operand, ...] = ()
    if t.peek == ",":
        t.take()
        if t.at_type():
            operands = (t.operand(),)
        else:
            t.give_back()
    return Instruction(op, POINTER, operands, flags=flags, source=source)


@_reader("br")
def _br(op: str, t: Tokens) -> Instruction:
    operands: tuple[Operand, ...] = ()
    labels = []
    if t.peek != "label":
        operands = (t.operand(),)
        t.expect(",")
    labels.append(t.label())
    if operands:
        t.expect(",")
        labels.append(t.label())
    return Instruction(op, VOID, operands, labels=tuple(labels))


@_reader("switch")
def _switch(op: str, t: Tokens) -> Instruction:
    operand = t.operand()
    t.expect(",")
    labels, numbers = [t.label()], []
    t.expect("[")
    while not t.skip("]"):
        case = t.operand()
        numbers.append(case.value if isinstance(case, Constant) and isinstance(case.value, int) else 0)
        t.expect(",")
        labels.append(t.label())
    return Instruction(op, VOID, (operand,), labels=tuple(labels), numbers=tuple(numbers))


@_reader("ret")
def _ret(op: str, t: Tokens) -> Instruction:
    if t.skip("void"):
        return Instruction(op, VOID)
    return Instruction(op, VOID, (t.operand(),))


@_reader("unreachable")
def _unreachable(op: str, t: Tokens) -> Instruction:
    return Instruction(op, VOID)


@_reader("fence")
def _fence(op: str, t: Tokens) -> Instruction:
    return Instruction(op, VOID, flags=_ordering(t))


@_reader("call")
def _call(op: str, t: Tokens) -> Instruction:
    flags, type_ = t.words(), t.type()
    if t.peek == "(":  # the type of a function with more arguments than parameters
        t.parenthesis()
    callee = t.value(POINTER)
    if not isinstance(callee, Name):
        raise t.unknown("a call of a constant")
    t.expect("(")
    operands, aligns = [], []
    while not t.skip(")"):
        if t.peek == "metadata":
            while t.peek not in (",", ")"):
                t.take()
        else:
            argument = t.type()
            aligns.append(t.words_and_numbers().get("align", 0))
            operands.append(t.value(argument))
        t.skip(",")
    while t.peek.startswith("#") or t.peek in ("nounwind", "noreturn", "readnone"):
        t.take()
    return Instruction(op, type_, tuple(operands), flags=flags, callee=callee, numbers=tuple(aligns))


@_reader("extractelement", "insertelement")
def _element(op: str, t: Tokens) -> Instruction:
    operands = _operands(t)
    type_ = operands[0].type.element if len(operands) == 2 else operands[0].type
    return Instruction(op, type_, operands)


@_reader("shufflevector")
def _shuffle(op: str, t: Tokens) -> Instruction:
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
    return Instruction(op, vector_of(count, left.type.element), (left, right), numbers=tuple(numbers))


@_reader("extractvalue", "insertvalue")
def _field(op: str, t: Tokens) -> Instruction:
    operands = _operands(t)
    numbers = []
    while t.skip(","):
        numbers.append(t.integer())
    type_ = operands[0].type
    if len(operands) == 1:
        for number in numbers:
            type_ = type_.members[number] if type_.kind == "struct" else type_.element
    return Instruction(op, type_, operands, numbers=tuple(numbers))


@_reader("atomicrmw")
def _atomic(op: str, t: Tokens) -> Instruction:
    flags = {t.take()} if t.peek == "volatile" else set()
    word = t.take()
    pointer = t.operand()
    t.expect(",")
    value = t.operand()
    flags |= _ordering(t)
    return Instruction(op, value.type, (pointer, value), flags=frozenset(flags), word=word)


@_reader("cmpxchg")
def _exchange(op: str, t: Tokens) -> Instruction:
    flags = t.words()
    operands = _operands(t)
    flags |= _ordering(t)
    return Instruction(op, struct_of((operands[1].type, BOOL)), operands, flags=flags)
