"""LLVM IR as text under construction: values, blocks, functions, modules.

Text, because llvmlite.ir lacks types that targets need and is slow; LLVM's own parser checks what is written here.
"""

from __future__ import annotations

import dataclasses
import re
import sys
from collections.abc import Collection, Mapping, Sequence

import numpy as np

from xla_core.codegen.llvm.ir.parts import IrPart, divided
from xla_core.codegen.llvm.ir.resources import KernelResources
from xla_core.errors import InternalError

_BYTE_TEXT = [chr(b) if 32 <= b < 127 and chr(b) not in '"\\' else f"\\{b:02X}" for b in range(256)]

_BIG_ENDIAN = re.compile(
    r"s390x|systemz|sparc(?!el)|m68k|lanai|bpfeb|armeb|thumbeb|aarch64_be|riscv(32|64)be|"
    r"mips(?!\w*el)|(powerpc|ppc)(?!\w*le)"
)

_SYMBOL = re.compile(r"@([-\w.$]+)")
_NODE = re.compile(r"!(\d+)")


def is_big_endian(triple: str) -> bool:
    """Whether a target stores the highest byte of a number first."""
    return _BIG_ENDIAN.match(triple) is not None


class Value:
    """An SSA value or a constant: its LLVM type and its name as operands spell it (`%v7`, `42`, `@table`)."""

    __slots__ = ("name", "type")

    def __init__(self, type: str, name: str) -> None:
        self.type = type
        self.name = name

    @property
    def integer(self) -> int | None:
        """The value of an integer constant, signed except for i1; else None."""
        first = self.name[0]
        if first in "%@" or self.type[0] != "i":
            return None
        if self.name in ("true", "false"):
            return int(self.name == "true")
        try:
            value = int(self.name)
        except ValueError:  # poison, undef
            return None
        half = 1 << (int(self.type[1:]) - 1)
        return (value + half) % (2 * half) - half if half > 1 else value

    def __str__(self) -> str:
        return f"{self.type} {self.name}"

    def __repr__(self) -> str:
        return f"<{self}>"


class Block:
    """A basic block: its label and its lines; the last line is the terminator."""

    __slots__ = ("label", "lines")

    def __init__(self, label: str) -> None:
        self.label = label
        self.lines: list[str] = []

    def __str__(self) -> str:
        return f"label %{self.label}"


class IrFunction:
    """A function definition under construction.

    Attributes:
        optimized: whether to leave out LLVM's passes on IR, because the instructions are optimized already.
        shared: whether it is the same in other programs. Such a function refers to no variable and no other function.
        plain: whether LLVM doesn't optimize it, at any level (its attribute `optnone`).
        resources: what it needs of its launch, if it is a kernel.
    """

    def __init__(
        self,
        name: str,
        return_type: str,
        parameters: Sequence[tuple[str, str, str]],
        *,
        prefix: str = "",
        attributes: str = "",
    ) -> None:
        """`parameters` are (type, attributes, name); `prefix` holds linkage and calling convention; `attributes` holds
        the text after the parameter list.
        """
        self.name = name
        self.return_type = return_type
        self.parameters = [Value(type_, f"%{n}") for type_, _, n in parameters]
        signature = ", ".join(" ".join(filter(None, (type_, extra, f"%{n}"))) for type_, extra, n in parameters)
        parts = ("define", prefix, f"{return_type} @{name}({signature})", attributes, "{")
        self._header = " ".join(filter(None, parts))
        self.optimized = self.shared = False
        self.plain = "optnone" in attributes.split()
        self.resources = KernelResources()
        self.subprogram = ""  # its metadata for debug locations
        self.blocks: list[Block] = []
        self._names = 0
        self.add_block("entry")

    def add_block(self, label: str) -> Block:
        if self.blocks:
            label = f"{label}.{len(self.blocks)}"
        block = Block(label)
        self.blocks.append(block)
        return block

    def fresh(self) -> str:
        self._names += 1
        return f"%v{self._names}"

    @property
    def is_internal(self) -> bool:
        """Whether other modules can't refer to it."""
        return self._header.startswith("define internal")

    def internalize(self, attributes: str) -> None:
        """Hides the function from other modules, if it isn't hidden, and adds attributes."""
        if not self.is_internal:
            self._header = f"define internal{self._header.removeprefix('define')}"
        self._header = f"{self._header.removesuffix(' {')} {attributes}".rstrip() + " {"

    def declaration(self) -> str:
        """Returns the line that declares the function in another module."""
        return f"declare{self._header.removeprefix('define').removesuffix(' {')}"

    def to_text(self) -> str:
        parts = [f"{self._header[:-1]}!dbg {self.subprogram} {{" if self.subprogram else self._header]
        parts.extend("\n  ".join([f"{block.label}:", *block.lines]) for block in self.blocks)
        parts.append("}\n")
        return "\n".join(parts)


class IrModule:
    """A module under construction: globals, declarations, functions, metadata.

    Attributes:
        helpers: the functions that several kernels call, by their purpose.
        features: LLVM's names of the features that its code needs besides those of the ABI, such as "+ptx84".
        debug_unit: the metadata of debug locations, if functions have any.
    """

    def __init__(self, name: str, *, triple: str = "", data_layout: str = "") -> None:
        self.name = name
        self.triple = triple
        self.data_layout = data_layout
        self.functions: dict[str, IrFunction] = {}
        self.helpers: dict[str, IrFunction] = {}
        self.features: set[str] = set()
        self._globals: dict[str, str] = {}
        self._declarations: dict[str, str] = {}
        self._metadata: list[str] = []
        self._metadata_ids: dict[str, int] = {}
        self.debug_unit = ""
        self._constants: dict[tuple[str, bytes], Value] = {}

    @property
    def big_endian(self) -> bool:
        """Whether the module's target stores the highest byte of a number first."""
        return is_big_endian(self.triple)

    def symbol(self, name: str) -> str:
        """Returns a name like `name` for a new function or variable.

        It consists of letters, digits and underscores, which every target's assembler accepts, and is unique in the
        module.
        """
        plain = re.sub(r"[^A-Za-z0-9_]", "_", name)
        plain = plain if plain[:1].isalpha() else f"_{plain}"
        count = 1
        unique = plain
        while unique in self.functions or unique in self._globals or unique in self._declarations:
            unique = f"{plain}_{count}"
            count += 1
        return unique

    def add_function(self, function: IrFunction) -> IrFunction:
        if function.name in self.functions:
            raise InternalError(f"function {function.name} is in the LLVM module already")
        self.functions[function.name] = function
        return function

    def declare(self, name: str, return_type: str, parameter_types: Sequence[str], attributes: str = "") -> None:
        """Declares an external function once."""
        if name not in self._declarations and name not in self.functions:
            signature = f"declare {return_type} @{name}({', '.join(parameter_types)})"
            self._declarations[name] = f"{signature} {attributes}".rstrip()

    def add_global(self, name: str, definition: str) -> str:
        """Adds `@name = definition` once; returns `@name`."""
        self._globals.setdefault(name, definition)
        return f"@{name}"

    def constant_array(self, array: np.ndarray, alignment: int, address_space: int = 0) -> Value:
        """Returns a pointer to the elements of an array, row-major, in the byte order of the module's target."""
        data = array.tobytes()
        width = array.itemsize // (2 if array.dtype.kind == "c" else 1)
        if width > 1 and self.big_endian != (sys.byteorder == "big"):
            data = np.frombuffer(data, f"u{width}").byteswap().tobytes()
        return self.constant_bytes(data, alignment, address_space)

    def constant_bytes(self, data: bytes, alignment: int, address_space: int = 0) -> Value:
        """Returns a pointer to read-only bytes; equal bytes share one global."""
        key = (f"{alignment},{address_space}", data)
        if key not in self._constants:
            space = f"addrspace({address_space}) " if address_space else ""
            if any(data):
                text = 'c"' + "".join(_BYTE_TEXT[byte] for byte in data) + '"'
            else:
                text = "zeroinitializer"
            name = f"constant.{len(self._constants)}"
            definition = f"private unnamed_addr {space}constant [{len(data)} x i8] {text}, align {alignment}"
            pointer = self.add_global(name, definition)
            self._constants[key] = Value("ptr" + (f" addrspace({address_space})" if address_space else ""), pointer)
        return self._constants[key]

    def metadata(self, text: str, *, distinct: bool = False) -> str:
        """Returns a metadata node; `$self` in the text stands for its own name. Equal plain nodes are one node."""
        if not distinct and text in self._metadata_ids:
            return f"!{self._metadata_ids[text]}"
        number = len(self._metadata)
        self._metadata.append(f"!{number} = {'distinct ' if distinct else ''}{text.replace('$self', f'!{number}')}")
        if not distinct:
            self._metadata_ids[text] = number
        return f"!{number}"

    def internalize(self, exports: Collection[str], attributes: str = "") -> None:
        """Hides all functions but `exports` from other modules, and adds attributes such as "optsize" to them.

        LLVM then removes those that nothing calls, and modules with equal names can be linked together.
        """
        for name, function in self.functions.items():
            if name not in exports:
                function.internalize(attributes)

    def to_text(self) -> str:
        return self._text([function.to_text() for function in self.functions.values()], self.functions, self.name)

    __str__ = to_text

    def split(self, lines: int) -> list[IrPart]:
        """Splits the module into several of about `lines` lines each. Linked together, they define the same functions.

        Functions that share an internal function or a variable stay together; constants are repeated. Each shared
        function is a part of its own. Optimized and plain functions are in parts of their own if they are many lines,
        or if the module has no others.
        """
        texts = {name: function.to_text() for name, function in self.functions.items()}
        sizes = {name: text.count("\n") for name, text in texts.items()}
        groups = [(self._kind(group), group) for group in self._inseparable(texts)]
        parts = []
        for kind, chosen in divided(groups, sizes, lines):
            names = [name for name in texts if name in chosen]
            text = self._text([texts[name] for name in names], names, names[0] if kind.shared else self.name)
            parts.append(dataclasses.replace(kind, text=text))
        return parts

    def _kind(self, group: Sequence[str]) -> IrPart:
        """Returns how functions that stay together are compiled, as a part without text."""
        functions = [self.functions[name] for name in group]
        plain, shared = all(f.plain for f in functions), all(f.shared for f in functions)
        return IrPart("", plain or all(f.optimized for f in functions), shared, plain)

    def _inseparable(self, texts: Mapping[str, str]) -> list[list[str]]:
        """Returns the groups of functions of which each must stay in one module."""
        groups: dict[str, list[str]] = {name: [name] for name in texts}
        owners: dict[str, str] = {}  # the first function that uses a variable or an internal function
        for name, text in texts.items():
            for symbol in {name, *_SYMBOL.findall(text)}:
                function, variable = self.functions.get(symbol), self._globals.get(symbol)
                if (function is None or not function.is_internal) and (variable is None or _is_constant(variable)):
                    continue
                other = owners.setdefault(symbol, name)
                if groups[other] is not groups[name]:
                    groups[other].extend(groups[name])
                    for member in groups[name]:
                        groups[member] = groups[other]
        return list({id(group): group for group in groups.values()}.values())

    def _text(self, bodies: Sequence[str], names: Collection[str], title: str) -> str:
        """Makes a module of the functions `names`, whose texts are `bodies`, and the functions and globals they use."""
        whole = len(names) == len(self.functions)
        code = "\n".join(bodies)
        used = None if whole else set(_SYMBOL.findall(code))
        parts = [f"; ModuleID = {title!r}"]
        if self.data_layout:
            parts.append(f'target datalayout = "{self.data_layout}"')
        if self.triple:
            parts.append(f'target triple = "{self.triple}"')
        parts.append("")
        parts.extend(f"@{name} = {text}" for name, text in self._globals.items() if used is None or name in used)
        if self.debug_unit:
            version = self.metadata('!{i32 2, !"Debug Info Version", i32 3}')
            code += f"\n!llvm.dbg.cu = !{{{self.debug_unit}}}\n!llvm.module.flags = !{{{version}}}\n"
        parts += ["", code]
        if used is not None:
            others = [f for name, f in self.functions.items() if name in used and name not in names]
            parts.extend(function.declaration() for function in others)
        # Sorted, so that a shared function's text doesn't depend on the functions before it.
        parts.extend(
            text
            for name, text in sorted(self._declarations.items())
            if name not in self.functions and (used is None or name in used)
        )
        parts.append("")
        parts.extend(self._metadata if used is None else self._metadata_of(code))
        return "\n".join(parts) + "\n"

    def _metadata_of(self, code: str) -> list[str]:
        """Returns the metadata nodes that a text refers to, directly or through others."""
        reached: set[int] = set()
        waiting = [code]
        while waiting:
            for number in map(int, set(_NODE.findall(waiting.pop()))):
                if number not in reached:
                    reached.add(number)
                    waiting.append(self._metadata[number])
        return [self._metadata[number] for number in sorted(reached)]


def _is_constant(definition: str) -> bool:
    """Returns whether a global's definition is that of a constant whose address doesn't matter: it may be repeated."""
    return (
        "unnamed_addr" in definition and " constant " in definition and definition.startswith(("private", "internal"))
    )
