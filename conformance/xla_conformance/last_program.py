"""The program that was compiled last, in files that outlive a process that crashes."""

from __future__ import annotations

import contextlib
import re
from collections import Counter
from pathlib import Path

import numpy as np

from xla_core.hlo import ElementType, HloComputation, HloModule, Literal, Opcode, PrintOptions, Shape

_LARGE = 256  # the elements from which on a constant is written as bytes, as its text takes longer than a compilation
_LEFT_OUT = re.compile(r"%(\S+) = (\w+)\[([\d,]*)\](\S*) constant\(\{\.\.\.\}\)")


class LastProgram:
    """Files of a folder that have the program compiled last."""

    def __init__(self, folder: Path) -> None:
        self._text, self._constants = folder / "program.hlo", folder / "constants.npz"

    def clear(self) -> None:
        for file in (self._text, self._constants):
            with contextlib.suppress(OSError):
                file.unlink(missing_ok=True)

    def write(self, program: str | bytes | HloModule) -> None:
        """Replaces the program by another one. Where this machine has no room for it, there is none."""
        try:
            self._write(program)
        except OSError:
            self.clear()

    def _write(self, program: str | bytes | HloModule) -> None:
        self.clear()
        if isinstance(program, HloModule):
            large = _large_constants(program)
            if large:
                np.savez(self._constants, np.array(list(large)), *large.values())
            program = program.to_text(PrintOptions(elide_constants_over=_LARGE if large else None))
        self._text.write_bytes(program if isinstance(program, bytes) else program.encode())

    def keep(self, folder: Path) -> list[str]:
        """Writes the program, if there is one, as text into the folder of a failure. Returns the file's name."""
        if not self._text.exists():
            return []
        program = self._text.read_bytes()
        if self._constants.exists():
            with np.load(self._constants) as file:
                names, *values = (file[name] for name in file.files)
            large = dict(zip(names.tolist(), values, strict=True))
            program = _LEFT_OUT.sub(lambda m: _with_value(m, large[m[1]]), program.decode()).encode()
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "module.hlo").write_bytes(program)
        return ["module.hlo"]


def _large_constants(module: HloModule) -> dict[str, np.ndarray]:
    """Returns the bytes of large constants by name; none if two of them have one name."""
    constants = [i for c in module.computations for i in c.instructions if i.opcode is Opcode.CONSTANT]
    large = [i for i in constants if any(leaf.num_elements > _LARGE for leaf in i.shape.leaves())]
    if any(i.shape.is_tuple for i in large) or max(Counter(i.name for i in large).values(), default=0) > 1:
        return {}
    return {i.name: np.ascontiguousarray(i.literal.array).view(np.uint8) for i in large}


def _with_value(left_out: re.Match[str], data: np.ndarray) -> str:
    name, element, dimensions, layout = left_out.groups()
    shape = Shape(ElementType(element), tuple(map(int, dimensions.split(","))))
    literal = Literal(data.view(shape.dtype).reshape(shape.dimensions), shape)
    _, _, value = str(HloComputation("constant").constant(literal)).partition(" constant")
    return f"%{name} = {element}[{dimensions}]{layout} constant{value}"
