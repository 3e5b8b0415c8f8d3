"""Translates a module of LLVM IR to a C file."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Collection, Mapping, Sequence

from xla_core.codegen.c.functions import FunctionWriter
from xla_core.codegen.c.instructions import WRITERS, address_offset
from xla_core.codegen.c.ir_module import Function, Instruction, Module, Name
from xla_core.codegen.c.ir_reader import read_module
from xla_core.codegen.c.ir_types import POINTER, IrType
from xla_core.codegen.c.source import PORTABLE, CTarget, Source
from xla_core.codegen.c.variables import variable_text
from xla_core.errors import UnimplementedError

IMPORT_PREFIX = "xla_import_"

_LIBRARY: Mapping[str, tuple[str, Sequence[str]]] = {
    "malloc": ("stdlib.h", ("size_t",)),
    "free": ("stdlib.h", ("",)),
    "memcpy": ("string.h", ("", "", "size_t")),
    "memmove": ("string.h", ("", "", "size_t")),
    "memset": ("string.h", ("", "int", "size_t")),
    "fmod": ("math.h", ("", "")),
    "fmodf": ("math.h", ("", "")),
}
"""Functions of the C library: their header, and the types that their arguments are converted to."""


@dataclasses.dataclass(frozen=True, slots=True)
class CSource:
    """A C file.

    Attributes:
        text: the file.
        imports: the definition of each variable that must hold the address of a function before the code runs, by the
            function's name. The variable's name is `IMPORT_PREFIX` and the function's.
    """

    text: str
    imports: Mapping[str, str]


def translate(
    ir_text: str,
    target: CTarget = PORTABLE,
    *,
    prologue: str = "",
    provided: Collection[str] = (),
    hidden: Collection[str] = (),
    imported: Callable[[str], bool] = lambda name: False,
) -> CSource:
    """Translates a module to C11, without extensions. Where the compiler is GCC or Clang, it uses their vectors.

    The meaning of the code doesn't depend on options of the compiler, if it isn't told to change the meaning of
    floating-point numbers (`-ffast-math`).

    Args:
        ir_text: the module, as LLVM or `IrModule.to_text()` writes it.
        target: what the module is for. The C file checks that its compiler's target is like that.
        prologue: C text before the functions, such as `#include "model.h"`.
        provided: the external functions that the prologue declares.
        hidden: functions that other files don't see, besides those that are internal.
        imported: whether an external function, by its name, is called through a variable; see `CSource.imports`.

    Raises:
        UnimplementedError: the module has something that isn't translated; the error names it.
    """
    module = read_module(ir_text)
    for name in hidden:
        module.functions[f"@{name}"].words |= {"internal"}
    return _Translation(module, target, provided, imported).to_source(prologue)


class _Translation:
    def __init__(
        self, module: Module, target: CTarget, provided: Collection[str], imported: Callable[[str], bool]
    ) -> None:
        self.module = module
        self._provided = provided
        self._imported = imported
        self._externals: dict[str, str] = {}
        self._imports: dict[str, str] = {}
        self._taken = frozenset(map(_plain, [*module.functions, *module.variables]))
        self.source = Source(target, self._taken)

    def to_source(self, prologue: str) -> CSource:
        bodies = [self._function(f) for f in self.module.functions.values() if f.blocks]
        prototypes = [self._header(f) + ";\n" for f in self.module.functions.values() if f.blocks]
        variables = [
            variable_text(self.source, v, _plain(v.name)) for v in self.module.variables.values() if v.value is not None
        ]
        preamble = self.source.preamble()
        parts = [
            preamble,
            prologue,
            "".join(variables),
            "".join(prototypes),
            *(f"{text};\n" for text in self._externals.values()),
            *(f"extern {text};\n" for text in self._imports.values()),
            *bodies,
        ]
        return CSource("\n".join(filter(None, parts)), dict(self._imports))

    def symbol(self, name: Name) -> str:
        """The C name of a function or a variable; of a function as a value, its address."""
        plain = _plain(name.name)
        function = self.module.functions.get(name.name)
        if function is None:
            if name.name not in self.module.variables:
                raise UnimplementedError(f"the translation to C doesn't know {name.name}")
            return f"(char *){plain}"
        if not function.blocks:
            self._declare(function, plain)
            plain = IMPORT_PREFIX * (plain in self._imports) + plain
        return f"(char *){plain}" if name.type == POINTER else plain

    def _declare(self, function: Function, plain: str) -> None:
        if plain in _LIBRARY:
            self.source.headers.add(_LIBRARY[plain][0])
        elif self._imported(plain):
            types = ", ".join(self.source.type(p.type) for p in function.parameters) or "void"
            pointer = self.source.declare(function.type, f"(*{IMPORT_PREFIX}{plain})")
            self._imports[plain] = f"{pointer}({types})"
        elif plain not in self._provided:
            types = ", ".join(self.source.type(p.type) for p in function.parameters) or "void"
            self._externals[plain] = f"{self.source.declare(function.type, plain)}({types})"

    def _header(self, function: Function) -> str:
        parameters = ", ".join(self.source.declare(p.type, _plain(p.name)) for p in function.parameters) or "void"
        return self._signature(function, _plain(function.name), parameters)

    def _signature(self, function: Function, name: str, parameters: str) -> str:
        static = "static " if function.is_internal else ""
        noinline = "XLA_NOINLINE " if "noinline" in function.words else ""
        return f"{static}{noinline}{self.source.declare(function.type, name)}({parameters})"

    def _function(self, function: Function) -> str:
        """The text of a function. A function that loads pointers to disjoint buffers becomes two: the outer one loads
        the pointers, and passes them to the inner one as restricted pointers.
        """
        writer = FunctionWriter(self.source, function, WRITERS, self.symbol, self._taken)
        buffers = _disjoint_buffers(function)
        parameters = [
            _parameter(self.source, p.type, writer.name(p.name), n in function.disjoint and not buffers)
            for n, p in enumerate(function.parameters)
        ]
        name = _plain(function.name)
        if not buffers:
            body = _with_unused(writer.to_text(), [writer.name(p.name) for p in function.parameters])
            return f"{self._signature(function, name, ', '.join(parameters) or 'void')} {body}"
        places = {i.result: f"{self._place(i, function, writer)}" for i in buffers}
        taken = [f"char *restrict {writer.name(result)}" for result in places]
        text = writer.to_text(frozenset(places))
        inner = f"{name}_on"
        arguments = ", ".join([*places.values(), *(writer.name(p.name) for p in function.parameters)])
        body = _with_unused(text, [writer.name(n) for n in [*places, *(p.name for p in function.parameters)]])
        return (
            f"static {self.source.declare(function.type, inner)}({', '.join([*taken, *parameters])}) {body}\n"
            f"{self._signature(function, name, ', '.join(parameters))} {{\n  {inner}({arguments});\n}}\n"
        )

    def _place(self, load: Instruction, function: Function, writer: FunctionWriter) -> str:
        """The expression of an address that is read from the table, which is the function's first parameter."""
        address = _table_address(load, function)
        assert address is not None
        table = writer.name(function.parameters[0].name)
        offset = address_offset(address.source, list(address.operands[1:]), writer)[0] if address.source else 0
        from xla_core.codegen.c.memory import load_function

        return f"{load_function(self.source, POINTER, load.align)}({table}{f' + {offset}' if offset else ''})"


def _with_unused(body: str, names: Sequence[str]) -> str:
    """A function's body, without warnings of parameters that it doesn't use."""
    unused = "".join(f"  (void){name};\n" for name in names if not re.search(rf"\b{name}\b", body))
    return f"{{\n{unused}{body[2:]}"


def _plain(name: str) -> str:
    return re.sub(r"\W", "_", name[1:])


def _parameter(source: Source, type_: IrType, name: str, restrict: bool) -> str:
    return f"char *restrict {name}" if restrict and type_ == POINTER else source.declare(type_, name)


def _table_address(load: Instruction, function: Function) -> Instruction | None:
    """The instruction that computes where in the table a load reads: constant indices from the first parameter."""
    (place,) = load.operands
    first = function.parameters[0].name
    if isinstance(place, Name) and place.name == first:
        return Instruction("getelementptr", POINTER, (place,))
    for i in function.blocks[0].instructions:
        if i.op == "getelementptr" and isinstance(place, Name) and i.result == place.name:
            base, *indices = i.operands
            is_table = isinstance(base, Name) and base.name == first
            return i if is_table and not any(isinstance(index, Name) for index in indices) else None
    return None


def _disjoint_buffers(function: Function) -> list[Instruction]:
    """The loads of a kernel's buffers from its table.

    `LoopAbi` says of each that it never changes and how many bytes may be read there. A kernel writes its results
    alone, which overlap no other buffer; an operand that is overwritten has the same address as the result.
    """
    if function.type.name != "void" or not function.parameters or function.parameters[0].type != POINTER:
        return []
    return [
        i
        for i in function.blocks[0].instructions
        if i.op == "load"
        and {"invariant.load", "dereferenceable"} <= i.facts
        and _table_address(i, function) is not None
    ]
