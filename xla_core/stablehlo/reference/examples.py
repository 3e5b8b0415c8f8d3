"""A small program for every op. The programs are in `ops/GROUP.mlir`, each below a comment that names its op.

A program has these placeholders: $T is an element type, $R the type of a complex number's parts, $B an integer type of
the same width; $zero, $one and $four are literals of the type, and $order is a comparison direction that the type
supports. Comments below the op's name say how to run the program:

    // replicas: 2      the number of replicas
    // partitions: 2    the number of partitions
    // infeed: 1        the program reads a value from the infeed
    // positive: 0 3    arguments that must be positive
    // values: random   the results differ from run to run
    // types: f32       the only element types that the program may have
    // shown: ui32      the element type to show, if it isn't the first that the op accepts

An op without a program in the file gets one that is made from its entry in the table.
"""

from __future__ import annotations

import dataclasses
import functools
import importlib.resources
import re
import string

from xla_core.errors import NotFoundError
from xla_core.stablehlo.table.op_table import OPS, REQUIRED, Arity, OpDef


@dataclasses.dataclass(frozen=True, slots=True)
class OpExample:
    """An example program of one op, with a placeholder for the element type.

    Attributes:
        op: the op's name.
        text: StableHLO with placeholders.
        replicas: the number of replicas that run it.
        partitions: the number of partitions of each replica.
        infeed: whether the program reads a value from the infeed.
        positive: the numbers of arguments that must be positive.
        is_random: whether the results differ from run to run.
        types: the only element types that the program may have; empty for any.
        shown: the element type to show; empty for the first one that the op accepts.
    """

    op: str
    text: str
    replicas: int = 1
    infeed: bool = False
    positive: frozenset[int] = frozenset()
    is_random: bool = False
    types: tuple[str, ...] = ()
    shown: str = ""
    partitions: int = 1

    @property
    def devices(self) -> int:
        """The number of devices that the program needs."""
        return self.replicas * self.partitions

    def program(self, element: str = "f32") -> str:
        """Returns StableHLO text for an element type in MLIR's spelling (`f32`, `ui8`, `complex<f32>`, `!quant...`).

        It doesn't check that the op accepts the type; the verifier does.
        """
        text = string.Template(self.text).substitute(_placeholders(element))
        if self.devices == 1:
            return text
        count = f"num_replicas = {self.replicas}" if self.replicas > 1 else f"num_partitions = {self.partitions}"
        body = "".join(f"  {line}" if line.strip() else line for line in text.splitlines(keepends=True))
        return f"module attributes {{mhlo.{count} : i32}} {{\n{body}}}\n"


def op_example(name: str) -> OpExample:
    """Returns the example of an op. Raises NotFoundError for an unknown op."""
    if name not in OPS:
        raise NotFoundError(f"there is no op {name!r}")
    op = OPS[name]
    return _written(op.group).get(name) or OpExample(name, _from_table(op))


@functools.cache
def _written(group: str) -> dict[str, OpExample]:
    """Reads the examples of a group from the file beside the group's entries."""
    file = importlib.resources.files("xla_core.stablehlo.ops") / f"{group}.mlir"
    if not file.is_file():
        return {}
    parts = re.split(r"^// (\S+\.?\S*)$", file.read_text(), flags=re.MULTILINE)
    return {name: _read(name, body) for name, body in zip(parts[1::2], parts[2::2], strict=True)}


def _read(name: str, body: str) -> OpExample:
    directions = dict(re.findall(r"^// (\w+): (.*)\n", body, flags=re.MULTILINE))
    text = re.sub(r"^// .*\n", "", body, flags=re.MULTILINE).strip() + "\n"
    return OpExample(
        name,
        text,
        int(directions.get("replicas", "1")),
        "infeed" in directions,
        frozenset(map(int, directions.get("positive", "").split())),
        directions.get("values") == "random",
        tuple(directions.get("types", "").split()),
        directions.get("shown", ""),
        int(directions.get("partitions", "1")),
    )


def _from_table(op: OpDef) -> str:
    """Makes the example of an op without required attributes and variadic or optional operands."""
    if any(v.arity is not Arity.ONE for v in op.operands) or any(a.default is REQUIRED for a in op.attributes.values()):
        raise NotFoundError(f"{op.name} has no example")
    whole = "tensor<2x3x$T>"
    broadcasts = op.name.startswith("chlo.broadcast_")
    types = [whole, "tensor<3x$T>"] if broadcasts else [whole] * len(op.operands)
    operands = ", ".join(f"%{v.name}" for v in op.operands)
    parameters = ", ".join(f"%{v.name}: {type}" for v, type in zip(op.operands, types, strict=True))
    if broadcasts:
        signature = f"({', '.join(types)}) -> {whole}"
    elif op.name.startswith("chlo."):
        signature = f"{', '.join(types)} -> {whole}"
    else:
        signature = whole
    return (
        f"func.func @main({parameters}) -> {whole} {{\n"
        f"  %result = {op.name} {operands} : {signature}\n"
        f"  return %result : {whole}\n}}\n"
    )


def _placeholders(element: str) -> dict[str, str]:
    part = element[8:-1] if element.startswith("complex<") else element
    literals = {"zero": "0", "one": "1", "four": "4"}
    if element == "i1":
        literals = {"zero": "false", "one": "true", "four": "true"}
    elif element.startswith("complex<"):
        literals = {name: f"({digits}.0, 0.0)" for name, digits in literals.items()}
    elif element.startswith(("f", "bf")):
        literals = {name: f"{digits}.0" for name, digits in literals.items()}
    elif element in ("i2", "ui2"):
        literals["four"] = "1"
    return {
        "T": element,
        "R": part,
        "B": _bits_of(element),
        "order": "EQ" if element.startswith("complex<") else "LT",
        **literals,
    }


def _bits_of(element: str) -> str:
    """Returns an integer type of the element's width: signless for an unsigned type, else unsigned.

    A type without such an integer type is returned unchanged.
    """
    width = re.fullmatch(r"(ui|i|bf|f)(\d+)\w*", element)
    if width is None or element == "i1":
        return element
    return f"i{width[2]}" if width[1] == "ui" else f"ui{width[2]}"
