"""Links kernels: inlines calls, places variables in memory, and resolves labels."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

from xla_backend_gpu.emulator.ptx.program import (
    Address,
    Call,
    Function,
    Instruction,
    Kernel,
    Label,
    Negation,
    Operand,
    Register,
    Symbol,
    Variable,
    Vector,
)
from xla_backend_gpu.emulator.ptx.types import PtxType
from xla_backend_gpu.emulator.table import Definition, Effect, find
from xla_core.errors import InvalidArgumentError, SourceLocation, UnimplementedError

_MOST_INSTRUCTIONS = 1_000_000


def link(entry: Function, functions: Mapping[str, Function]) -> Kernel:
    """Makes a kernel of an entry and the functions that it calls.

    Raises:
        InvalidArgumentError: a branch names a label that doesn't exist, or a call a function that doesn't.
        UnimplementedError: a function calls itself, or there are more than a million instructions after inlining.
    """
    return _Linker(entry, functions).link()


class _Linker:
    def __init__(self, entry: Function, functions: Mapping[str, Function]) -> None:
        self.entry, self.functions = entry, functions
        self.instructions: list[Instruction] = []
        self.registers: list[Register] = []
        self.sizes = {"shared": 0, "local": 0, "param": 0}
        self.globals: dict[Variable, None] = {}
        self.shared: dict[Variable, Variable] = {}
        self.branches: list[tuple[int, dict[str, int]]] = []

    def link(self) -> Kernel:
        parameters = tuple(self._place(p, "param") for p in self.entry.parameters)
        for variable in sorted(self._shared_variables(self.entry, set()), key=lambda v: v.size == 0):
            self.shared[variable] = self._place(variable, "shared")  # arrays without a size are dynamic, and come last
        self._inline(self.entry, dict(zip(self.entry.parameters, parameters, strict=True)), ())
        for position, labels in self.branches:
            self.instructions[position] = _resolved(self.instructions[position], labels)
        return Kernel(
            self.entry.name,
            tuple(self.instructions),
            tuple(self.registers),
            parameters,
            self.sizes["param"],
            self.sizes["shared"],
            self.sizes["local"],
            tuple(self.globals),
            self.entry.reqntid,
            self.entry.maxntid,
            (self.entry.line, self.entry.last_line),
        )

    def _place(self, variable: Variable, space: str) -> Variable:
        """Places a variable at the next address of a space."""
        start = -(-self.sizes[space] // variable.align) * variable.align
        self.sizes[space] = start + variable.size
        return dataclasses.replace(variable, space=space, address=start)

    def _storage(self, variable: Variable, places: dict[Variable, Variable]) -> Variable:
        """Returns the placed variable. A function's own variables have an instance for each inlined call."""
        if variable in places:
            return places[variable]
        if variable.space in ("global", "const"):
            self.globals[variable] = None
            return variable
        if variable in self.shared:
            return self.shared[variable]
        raise InvalidArgumentError(f"{variable.name} is not declared in {self.entry.name}")

    def _shared_variables(self, function: Function, visited: set[str]) -> dict[Variable, None]:
        """Returns the variables in shared memory that a function and its callees use."""
        found = {v: None for v in function.variables if v.space == "shared"}
        visited.add(function.name)
        for item in function.body:
            if type(item) is Instruction:
                for operand in item.operands:
                    base = operand.base if type(operand) is Address else operand
                    if type(base) is Symbol and base.variable.space == "shared":
                        found[base.variable] = None
            elif isinstance(item, Call) and item.function in self.functions and item.function not in visited:
                found |= self._shared_variables(self.functions[item.function], visited)
        return found

    def _inline(self, function: Function, places: dict[Variable, Variable], callers: tuple[str, ...]) -> None:
        if function.name in callers:
            raise UnimplementedError(f"{function.name} calls itself; the emulator inlines every call")
        base = len(self.registers)
        moved = (
            [dataclasses.replace(r, index=base + r.index) for r in function.registers] if base else function.registers
        )
        self.registers += moved
        for variable in function.variables:
            if variable.space != "shared":
                places[variable] = self._place(variable, "local")
        labels: dict[str, int] = {}
        for item in function.body:
            if isinstance(item, Label):
                labels[item.name] = len(self.instructions)
            elif isinstance(item, Call):
                self._call(item, places, base, (*callers, function.name), labels)
            else:
                mapped = self._mapped(item, places, base)
                if callers and item.definition.base == "ret":
                    mapped = self._jump(mapped, "$return")
                if mapped.definition.effect is Effect.BRANCH:
                    self.branches.append((len(self.instructions), labels))
                self.instructions.append(mapped)
            if len(self.instructions) > _MOST_INSTRUCTIONS:
                raise UnimplementedError(f"{self.entry.name} has more than {_MOST_INSTRUCTIONS} instructions")
        labels["$return"] = len(self.instructions)
        if not callers:
            definition, modifiers, types = _entry_of("ret", 0)
            line = function.last_line
            self.instructions.append(Instruction(definition, modifiers, types, (), line, "}"))

    def _call(
        self, call: Call, places: dict[Variable, Variable], base: int, callers: tuple[str, ...], labels: dict[str, int]
    ) -> None:
        callee = self.functions.get(call.function)
        if callee is None:
            raise InvalidArgumentError(
                f"the PTX text has no function {call.function}", location=SourceLocation("<ptx>", call.line)
            )
        if call.guard is not None:
            definition, modifiers, types = _entry_of("bra", 1)
            after = f"$after{len(self.instructions)}"
            guard = dataclasses.replace(call.guard, index=base + call.guard.index)
            self.branches.append((len(self.instructions), labels))
            self.instructions.append(
                Instruction(definition, modifiers, types, (Label(after),), call.line, "call", guard, True)
            )
        passed = (*call.results, *call.arguments)
        taken = (*callee.results, *callee.parameters)
        if len(passed) != len(taken):
            raise InvalidArgumentError(
                f"{call.function} takes {len(taken)} variables, not {len(passed)}",
                location=SourceLocation("<ptx>", call.line),
            )
        inner = {t: self._storage(p, places) for t, p in zip(taken, passed, strict=True)}
        self._inline(callee, inner, callers)
        if call.guard is not None:
            labels[after] = len(self.instructions)

    def _jump(self, instruction: Instruction, target: str) -> Instruction:
        definition, modifiers, types = _entry_of("bra", 1)
        return dataclasses.replace(
            instruction, definition=definition, modifiers=modifiers, types=types, operands=(Label(target),)
        )

    def _mapped(self, instruction: Instruction, places: dict[Variable, Variable], base: int) -> Instruction:
        """Returns an instruction with the registers and variables of this inlined call."""
        if not base and not any(map(_has_variable, [o for o in instruction.operands if type(o) is not Register])):
            return instruction  # of the entry itself, whose registers keep their numbers

        operands = tuple([self._operand(operand, places, base) for operand in instruction.operands])
        space = instruction.space
        for operand in operands:
            if space == "param" and isinstance(operand, Address) and isinstance(operand.base, Symbol):
                space = operand.base.variable.space
        guard = instruction.guard and self.registers[base + instruction.guard.index]
        return _with_operands(instruction, operands, guard, space)

    def _operand(self, operand: Operand, places: dict[Variable, Variable], base: int) -> Operand:
        if isinstance(operand, Register):
            return self.registers[base + operand.index]
        if isinstance(operand, Negation):
            return Negation(self.registers[base + operand.register.index])
        if isinstance(operand, Symbol):
            return Symbol(self._storage(operand.variable, places), operand.offset)
        if isinstance(operand, Vector):
            return Vector(tuple([self._operand(e, places, base) for e in operand.elements]))
        if isinstance(operand, Address):
            inner = self._operand(operand.base, places, base)
            assert isinstance(inner, Register | Symbol) or operand.base is inner
            return Address(inner, operand.offset)
        return operand


def _resolved(instruction: Instruction, labels: Mapping[str, int]) -> Instruction:
    return _with_operands(instruction, tuple([_target(o, labels, instruction.line) for o in instruction.operands]))


def _target(operand: Operand, labels: Mapping[str, int], line: int) -> Operand:
    if isinstance(operand, Vector):
        return Vector(tuple([_target(element, labels, line) for element in operand.elements]))
    if not isinstance(operand, Label):
        return operand
    if operand.name not in labels:
        raise InvalidArgumentError(
            f"{operand.name} is neither a label nor a declared name", location=SourceLocation("<ptx>", line)
        )
    return Label(operand.name, labels[operand.name])


def _with_operands(
    instruction: Instruction, operands: tuple[Operand, ...], guard: Register | None = None, space: str = ""
) -> Instruction:
    """Returns an instruction with other operands. `dataclasses.replace` takes three times as long."""
    return Instruction(
        instruction.definition,
        instruction.modifiers,
        instruction.types,
        operands,
        instruction.line,
        instruction.text,
        guard or instruction.guard,
        instruction.guard_negated,
        space or instruction.space,
        instruction.location,
    )


def _has_variable(operand: Operand) -> bool:
    base = operand.base if isinstance(operand, Address) else operand
    return isinstance(base, Symbol) or (isinstance(base, Vector) and any(map(_has_variable, base.elements)))


def _entry_of(mnemonic: str, operands: int) -> tuple[Definition, dict[str, str], tuple[PtxType, ...]]:
    found = find(mnemonic, operands)
    assert found is not None
    return found
