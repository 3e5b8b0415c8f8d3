"""Source: a C file under construction. It has only the types and functions that the translated code uses."""

from __future__ import annotations

import dataclasses
import importlib.resources
from collections.abc import Callable, Collection, Sequence

from xla_core.codegen.c.ir_types import IrType

Scalar = Callable[[Sequence[str]], str]
"""Returns the C expression of one element from those of its operands."""


@dataclasses.dataclass(frozen=True, slots=True)
class CTarget:
    """The properties of the processor that the C code depends on.

    Attributes:
        pointer_bytes: the size of an address.
        big_endian: whether the highest byte of a number is stored first.
    """

    pointer_bytes: int = 8
    big_endian: bool = False


PORTABLE = CTarget()


class Source:
    """The parts of a C file that precede its functions: headers, types, and small functions, each made at first use.

    `taken` are the names of the module's functions and variables.
    """

    def __init__(self, target: CTarget, taken: Collection[str] = ()) -> None:
        self._taken = taken
        self.pointer_bytes = target.pointer_bytes
        self.big_endian = target.big_endian
        self.headers = {"stdbool.h", "stddef.h", "stdint.h", "string.h"}
        self._types: dict[str, str] = {}
        self._helpers: dict[str, str] = {}

    def preamble(self) -> str:
        """The text before the functions."""
        shared = importlib.resources.files("xla_core.codegen.c").joinpath("preamble.h").read_text()
        includes = "".join(f"#include <{name}>\n" for name in sorted(self.headers))
        size, order = self.pointer_bytes, "BIG" if self.big_endian else "LITTLE"
        check = (
            f"typedef char xla_pointers_have_{size}_bytes[sizeof(void *) == {size} ? 1 : -1];\n"
            f"#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ != __ORDER_{order}_ENDIAN__\n"
            '#error "this code is for another order of bytes"\n#endif\n'
        )
        parts = [includes, shared, check, *self._types.values()]
        return "\n".join(parts) + "\n" + "\n".join(self._helpers.values())

    # -- types -------------------------------------------------------------------------------------------------------

    def type(self, type_: IrType) -> str:
        """C's name of a type. A vector's, an array's or a structure's is defined."""
        name = type_.c_name
        if type_.kind in ("vector", "array", "struct") and name not in self._types:
            for member in type_.members:
                self.type(member)
            self._types[name] = self._definition(type_, name)
        return name

    def _definition(self, type_: IrType, name: str) -> str:
        if type_.kind == "struct":
            fields = " ".join(_declared(m.c_name, f"f{i}") + ";" for i, m in enumerate(type_.members))
            return f"typedef struct {{ {fields or 'char unused;'} }} {name};"
        array = f"typedef struct {{ {_declared(type_.element.c_name, f'e[{type_.count}]')}; }} {name};"
        if not type_.is_native_vector:
            return array
        size = type_.size(self.pointer_bytes)
        native = f"typedef {type_.element.c_name} {name} __attribute__((vector_size({size})));"
        return f"#ifdef XLA_VECTORS\n{native}\n#else\n{array}\n#endif"

    def declare(self, type_: IrType, name: str) -> str:
        """A declaration without initializer or semicolon."""
        return _declared(self.type(type_), name)

    @staticmethod
    def lane(type_: IrType, vector: str, index: str | int) -> str:
        """An element of a vector, which is a variable."""
        return f"XLA_LANE({vector}, {index})" if type_.is_native_vector else f"{vector}.e[{index}]"

    # -- functions ---------------------------------------------------------------------------------------------------

    def function(
        self, name: str, result: IrType, parameters: Sequence[tuple[IrType, str]], body: Callable[[], str]
    ) -> str:
        """Defines a small function at its first use; returns its name. `body` makes the lines between its braces."""
        while name in self._taken:
            name += "_"
        if name not in self._helpers:
            self._helpers[name] = ""  # reserves the name; functions that the body uses are defined first
            lines = "".join(f"  {line}\n" for line in body().splitlines())
            signature = ", ".join(self.declare(t, n) for t, n in parameters) or "void"
            del self._helpers[name]
            self._helpers[name] = f"static inline {self.declare(result, name)}({signature}) {{\n{lines}}}\n"
        return name

    def elementwise(
        self,
        name: str,
        result: IrType,
        operands: Sequence[tuple[IrType, str]],
        scalar: Scalar,
        native: Scalar | None = None,
    ) -> str:
        """An operation on each element: `scalar` of scalars, or a call of a function that has a loop over the lanes.

        `native` is the same operation on vectors of GCC and Clang, if they have it.
        """
        values = [value for _, value in operands]
        if all(t.kind != "vector" for t, _ in operands):
            return scalar(values)
        letters = "abcd"[: len(operands)]
        suffix = "_".join(dict.fromkeys([*(t.suffix for t, _ in operands), result.suffix]))

        def body() -> str:
            lanes = [
                self.lane(t, letter, "i") if t.kind == "vector" else letter
                for (t, _), letter in zip(operands, letters, strict=True)
            ]
            loop = (
                f"{self.declare(result, 'r')};\n"
                f"for (int i = 0; i < {result.count}; ++i) {self.lane(result, 'r', 'i')} = {scalar(lanes)};\nreturn r;"
            )
            if native is None or not result.is_native_vector:
                return loop
            return f"#ifdef XLA_VECTORS\nreturn {native(letters)};\n#else\n{loop}\n#endif"

        parameters = [(t, letter) for (t, _), letter in zip(operands, letters, strict=True)]
        return f"{self.function(f'{name}_{suffix}', result, parameters, body)}({', '.join(values)})"


def _declared(type_name: str, name: str) -> str:
    return f"{type_name}{name}" if type_name.endswith("*") else f"{type_name} {name}"
