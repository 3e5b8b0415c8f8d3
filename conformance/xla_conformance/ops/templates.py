"""The cases that are written as HLO text: `hlo/*.hlo`.

A file holds programs named OPCODE.VARIANT. In a program, $T is the element type, and $zero, $one, $lowest are literals
of it. Comments right above a program direct it:

    // types: real f64 ...     element types or classes of them (see CLASSES); default: every type that verifies
    // index: 0 2              parameters that are indices: small, some out of bounds
    // positive: 1             parameters above 0
    // tolerance: sum 9        see `comparison`
"""

from __future__ import annotations

import dataclasses
import functools
import importlib.resources
import re
import string

import numpy as np

from xla_conformance.ops.comparison import EXACT, Rule
from xla_conformance.ops.fills import Fill
from xla_conformance.ops.values import indices, moderate, special
from xla_core.hlo import ElementType, Opcode

__all__ = ["CLASSES", "Template", "load_templates"]

CLASSES: dict[str, frozenset[ElementType]] = {
    "numeric": frozenset(t for t in ElementType if t.is_integral or t.is_floating or t.is_complex),
    "real": frozenset(t for t in ElementType if t.is_integral or t.is_floating),
    "any": frozenset(t for t in ElementType if t.is_array),
}


@dataclasses.dataclass(frozen=True, slots=True)
class Template:
    """A program for any element type, which tests the op `opcode`."""

    opcode: Opcode
    variant: str
    text: str
    types: frozenset[ElementType]
    index: frozenset[int]
    positive: frozenset[int]
    rule: Rule

    def program(self, element_type: ElementType) -> str:
        """The HLO text for an element type."""
        return string.Template(self.text).substitute(T=element_type.value, **_literals(element_type))

    def fill(self, number: int) -> Fill:
        """What makes the argument of a parameter."""
        if number in self.index:
            return indices
        if self.opcode in _SPECIAL:
            return special
        return functools.partial(moderate, positive=number in self.positive)


_SPECIAL = (Opcode.COMPARE, Opcode.CLAMP, Opcode.REDUCE_PRECISION, Opcode.SELECT, Opcode.BITCAST_CONVERT)


@functools.cache
def load_templates() -> tuple[Template, ...]:
    """All templates, in the order of the files."""
    directory = importlib.resources.files(__package__).joinpath("hlo")
    files = sorted((f for f in directory.iterdir() if f.name.endswith(".hlo")), key=lambda f: f.name)
    return tuple(template for file in files for template in _read(file.read_text()))


def _read(text: str) -> list[Template]:
    templates = []
    parts = re.split(r"^HloModule (\S+)$", text, flags=re.MULTILINE)
    comments = parts[0]
    for name, body in zip(parts[1::2], parts[2::2], strict=True):
        lines = body.rstrip().splitlines()
        after = len(lines)
        while after and (lines[after - 1].startswith("//") or not lines[after - 1]):
            after -= 1
        given = dict(re.findall(r"^// (\w+): (.*)$", comments, flags=re.MULTILINE))
        opcode, _, variant = name.partition(".")
        templates.append(
            Template(
                Opcode(opcode),
                variant,
                f"HloModule {name}\n" + "\n".join(lines[:after]) + "\n",
                _types(given.get("types", "any")),
                frozenset(map(int, given.get("index", "").split())),
                frozenset(map(int, given.get("positive", "").split())),
                Rule.parse(given["tolerance"]) if "tolerance" in given else EXACT,
            )
        )
        comments = "\n".join(lines[after:])
    return templates


def _types(names: str) -> frozenset[ElementType]:
    return frozenset().union(*(CLASSES.get(n) or {ElementType(n)} for n in names.split()))


def _literals(element_type: ElementType) -> dict[str, str]:
    if element_type is ElementType.PRED:
        return {"zero": "false", "one": "true", "lowest": "false"}
    if element_type.is_complex:
        return {"zero": "(0, 0)", "one": "(1, 0)", "lowest": "(0, 0)"}
    if element_type.is_floating:
        has_infinity = bool(np.isinf(np.asarray(-np.inf).astype(element_type.dtype)))
        lowest = "-inf" if has_infinity else _least_finite(element_type)
        return {"zero": "0", "one": "1", "lowest": lowest}
    least = -(1 << (element_type.bit_width - 1)) if element_type.is_signed else 0
    return {"zero": "0", "one": "1", "lowest": str(least)}


def _least_finite(element_type: ElementType) -> str:
    """Returns the least value of a type without infinities."""
    bits = np.arange(1 << (8 * element_type.byte_width), dtype=np.uint16).astype(np.uint8)
    with np.errstate(all="ignore"):
        values = bits.view(element_type.dtype).astype(np.float64)
    return repr(float(np.nanmin(values)))
