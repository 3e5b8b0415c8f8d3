"""FunctionWriter: writes a function of LLVM IR as a function of C.

A value of the IR becomes a variable that is assigned once. A block becomes a label, a branch a goto, and a phi a
variable that the blocks before it assign. C compilers find the loops again.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from xla_core.codegen.c.ir_module import BasicBlock, Constant, Function, Instruction, Name, Operand
from xla_core.codegen.c.ir_types import IrType, integer
from xla_core.codegen.c.memory import bitcast
from xla_core.codegen.c.scalars import is_finite, number
from xla_core.codegen.c.source import Source
from xla_core.errors import UnimplementedError

_KEYWORDS = """
    auto break case char const continue default do double else enum extern float for goto if inline int long register
    restrict return short signed sizeof static struct switch typedef union unsigned void volatile while bool true false
    asm typeof linux unix abort free malloc memcpy memmove memset fmod fmodf NAN INFINITY
"""
_RESERVED = frozenset(_KEYWORDS.split())


Writer = Callable[["FunctionWriter", Instruction], "str | None"]


class FunctionWriter:
    """Writes one LLVM function as C.

    Args:
        source: the file that is written.
        function: the LLVM function, as read.
        writers: for each op, a function that writes its instructions and returns the C expression of the result, if
            there is one.
        symbol: gives the C name of a function or a variable of the module.
        taken: names that the function's own names must differ from.
    """

    def __init__(
        self,
        source: Source,
        function: Function,
        writers: Mapping[str, Writer],
        symbol: Callable[[Name], str],
        taken: frozenset[str],
    ) -> None:
        self.source = source
        self._writers = writers
        self.function = function
        self.symbol = symbol
        self.lines: list[str] = []
        self.block = function.blocks[0]
        self._taken = set(taken)
        self._names: dict[str, str] = {}
        self._labels: dict[str, str] = {}
        self._next_label = ""
        self._skipped: frozenset[str] = frozenset()
        self._arrays: list[str] = []
        self._positions = {b.label: n for n, b in enumerate(function.blocks)}
        self._blocks = {b.label: b for b in function.blocks}
        self._extended = {
            i.result: i.operands[0].type.element
            for b in function.blocks
            for i in b.instructions
            if i.op == "sext" and i.operands
        }

    # -- values ------------------------------------------------------------------------------------------------------

    def value(self, operand: Operand) -> str:
        """The C expression of an operand: a name, a literal, or a call."""
        if isinstance(operand, Name):
            return self.symbol(operand) if operand.is_global else self.name(operand.name)
        return self.constant(operand)

    def name(self, name: str) -> str:
        """The variable of a value."""
        if name not in self._names:
            self._names[name] = self.fresh(name[1:])
        return self._names[name]

    def fresh(self, like: str) -> str:
        """A name for a new variable."""
        plain = re.sub(r"\W", "_", like)
        plain = f"v_{plain}" if not plain[:1].isalpha() else plain
        unique, count = plain, 1
        while unique in self._taken or unique in _RESERVED:
            unique, count = f"{plain}_{count}", count + 1
        self._taken.add(unique)
        return unique

    def is_half_width(self, operand: Operand) -> bool:
        """Whether an integer is known to have, as a signed number, at most half the bits of its type."""
        half = operand.type.bits // 2
        if isinstance(operand, Name):
            return operand.name in self._extended and self._extended[operand.name].bits <= half
        return isinstance(operand.value, int) and (operand.value + (1 << half - 1)) % (1 << 2 * half) < 1 << half

    def constant(self, constant: Constant) -> str:
        """A constant as C."""
        type_, value = constant.type, constant.value
        if isinstance(value, Instruction):
            return self.expression(value)
        if type_.kind in ("vector", "array", "struct"):
            name = self.source.type(type_)
            braces = (
                "XLA_VECTOR({})" if type_.is_native_vector else "{{{{{}}}}}" if type_.kind != "struct" else "{{{}}}"
            )
            if isinstance(value, tuple):
                members = [self.value(m) for m in value]
            else:
                count = type_.count or len(type_.members)
                members = ["0"] * (count if type_.kind == "vector" else 1)
                if type_.kind == "struct":
                    members = ["0"] * count
            return f"({name}){braces.format(', '.join(members))}"
        if type_.kind == "ptr":
            return "(char *)0"
        bits = value if isinstance(value, int) else 0
        if type_.is_float and type_.bits >= 32 and not is_finite(type_, bits):
            whole = integer(type_.bits)
            return bitcast(self.source, whole, type_, number(whole, bits))
        return number(type_, bits)

    def expression(self, instruction: Instruction) -> str:
        """The C expression of an instruction's result."""
        writer = self._writers.get(instruction.op)
        if writer is None:
            raise UnimplementedError(
                f"the translation to C doesn't know {instruction.op!r}: {instruction.text.strip()[:300]}"
            )
        return writer(self, instruction) or ""

    # -- statements --------------------------------------------------------------------------------------------------

    def write(self, line: str) -> None:
        self.lines.append(line if line.startswith("#") else f"  {line}")

    def add_array(self, declaration: str) -> None:
        """Declares memory of the function's frame."""
        self._arrays.append(f"  {declaration}")

    def to_text(self, skipped: frozenset[str] = frozenset()) -> str:
        """The body, in braces. `skipped` are the results that are parameters."""
        early = self._early_values()
        self._skipped = skipped = skipped | _unused_values(self.function, skipped)
        for number_, block in enumerate(self.function.blocks):
            self.block = block
            following = self.function.blocks[number_ + 1 :][:1]
            self._next_label = following[0].label if following else ""
            start = len(self.lines)
            for instruction in block.instructions:
                if instruction.op != "phi" and not (instruction.result in skipped and _is_pure(instruction)):
                    self._instruction(instruction, early)
            self.lines.insert(start, f"{block.label}\0")  # the label, if a goto names it
        body = []
        for line in self.lines:
            if not line.endswith("\0"):
                body.append(line)
            elif line[:-1] in self._labels:
                body.append(f"{self._labels[line[:-1]]}:;")
        declared = [
            f"  {self.source.declare(type_, self.name(result))};"
            for result, type_ in early.items()
            if result not in skipped
        ]
        return "{\n" + "\n".join([*self._arrays, *declared, *body]) + "\n}\n"

    def _instruction(self, instruction: Instruction, early: Mapping[str, IrType]) -> None:
        text = self.expression(instruction)
        if not text:
            return
        if not instruction.result or instruction.result in self._skipped:
            self.write(f"{text};")
        elif instruction.result in early:
            self.write(f"{self.name(instruction.result)} = {text};")
        else:
            self.write(f"{self.source.declare(instruction.type, self.name(instruction.result))} = {text};")

    def _early_values(self) -> dict[str, IrType]:
        """The values that are declared at the start: phis, and values that are used in a block before their own."""
        early: dict[str, IrType] = {}
        defined: dict[str, tuple[int, IrType]] = {}
        for number_, block in enumerate(self.function.blocks):
            for i in block.instructions:
                if i.op == "phi":
                    early[i.result] = i.type
                elif i.result:
                    defined[i.result] = (number_, i.type)
        for number_, block in enumerate(self.function.blocks):
            for i in block.instructions:
                places = (
                    [self._positions[label] for label in i.labels] if i.op == "phi" else [number_] * len(i.operands)
                )
                for operand, place in zip(i.operands, places, strict=True):
                    if isinstance(operand, Name) and operand.name in defined and defined[operand.name][0] > place:
                        early[operand.name] = defined[operand.name][1]
        return early

    # -- control flow ------------------------------------------------------------------------------------------------

    def edge(self, label: str) -> list[str]:
        """The statements that go from this block to another one: the values of its phis, and the goto."""
        return self._phi_values(self._blocks[label]) if label == self._next_label else self.jump(label)

    def _label(self, label: str) -> str:
        if label not in self._labels:
            self._labels[label] = self.fresh(label[1:])
        return self._labels[label]

    def jump(self, label: str) -> list[str]:
        """Like `edge`, with a goto even to the next block."""
        return [*self._phi_values(self._blocks[label]), f"goto {self._label(label)};"]

    def _phi_values(self, block: BasicBlock) -> list[str]:
        """Assigns the phis of a block that follows this one: all at once, so that no phi reads one assigned before."""
        moves: list[tuple[str, IrType, str]] = []
        for i in block.instructions:
            if i.op != "phi":
                break
            if i.result in self._skipped:
                continue
            source = self.value(i.operands[i.labels.index(self.block.label)])
            if source != self.name(i.result):
                moves.append((self.name(i.result), i.type, source))
        targets = [target for target, _, _ in moves]
        before, after = [], []
        for n, (target, type_, source) in enumerate(moves):
            if source in targets[:n]:
                held = self.fresh(f"{source}_old")
                before.append(f"{self.source.declare(type_, held)} = {source};")
                after.append(f"{target} = {held};")
            else:
                after.append(f"{target} = {source};")
        return [*before, *after]


_EFFECTS = frozenset({"store", "call", "atomicrmw", "cmpxchg", "fence", "br", "switch", "ret", "unreachable"})


def _is_pure(instruction: Instruction) -> bool:
    """Whether an instruction has no effect besides its result."""
    return instruction.op not in _EFFECTS and "volatile" not in instruction.flags


def _unused_values(function: Function, skipped: frozenset[str]) -> frozenset[str]:
    """The values that only unused values use; `skipped` are not computed here."""
    needed: set[str] = set()
    computed = {i.result: i for block in function.blocks for i in block.instructions if i.result not in skipped}
    waiting = [i for block in function.blocks for i in block.instructions if not _is_pure(i)]
    while waiting:
        for operand in _names(waiting.pop()):
            if operand not in needed:
                needed.add(operand)
                if operand in computed and _is_pure(computed[operand]):
                    waiting.append(computed[operand])
    return frozenset(name for name in computed if name and name not in needed)


def _names(instruction: Instruction) -> list[str]:
    """The values that an instruction reads, also in its constants."""
    callee = [instruction.callee] if instruction.callee else []
    found, waiting = [], [*instruction.operands, *callee]
    while waiting:
        operand = waiting.pop()
        if isinstance(operand, Name):
            found.append(operand.name)
        elif isinstance(operand.value, tuple):
            waiting += operand.value
    return found
