"""Small programs that a pass may rewrite wrongly: identities that hold for most values only, or for most attributes.

Each file of the folder `rewrites` has programs of one kind. A program is a comment that says what it computes, and the
instructions of its entry computation; computations that several programs call are in `computations.hlo`.
"""

from __future__ import annotations

import dataclasses
import functools
import importlib.resources
import re
import textwrap
import zlib
from collections.abc import Iterator
from typing import Any

import ml_dtypes
import numpy as np

from xla_conformance.bits import split_parts
from xla_conformance.ops.comparison import Expected, rule_for
from xla_core import evaluate, parse
from xla_core.hlo import OPS, ElementType, HloInstruction, HloModule, Opcode, Shape, Trait
from xla_core.passes import create_pass

__all__ = ["KINDS", "Rewritten", "apart", "is_inexact", "rewritten"]

KINDS = (
    *("floats", "functions", "integers", "conversions", "choices", "movement", "places", "reductions", "products"),
    *("orders", "control", "combiners", "fusions", "lifetimes", "constants"),
)

_NORMALIZED = (Opcode.BATCH_NORM_INFERENCE, Opcode.BATCH_NORM_TRAINING)
_SUMS = (Opcode.REDUCE, Opcode.REDUCE_WINDOW, Opcode.SCATTER)
_PLACES = ("i", "j")
_ANY = ("x", "y", "z")


@dataclasses.dataclass(frozen=True)
class Rewritten:
    """A program of the folder. `name` says what it computes."""

    name: str
    text: str

    @functools.cached_property
    def _module(self) -> HloModule:
        return parse(self.text, file=self.name)

    def module(self) -> HloModule:
        """Returns the program, which is to stay as it is."""
        return self._module

    def arguments(self, seed: int) -> list[np.ndarray]:
        """Values by the parameters' names.

        Those of x, y and z are special ones and others, those of i and j are places in an array and behind its ends,
        and all others are small whole numbers, whose sums have no rounding errors. With three seeds in turn, a single
        place is in front of an array, near its start, and near or behind its end.
        """
        number = zlib.crc32(self.name.encode())
        random = np.random.default_rng([seed, number])
        arrays = [
            _place(random, seed + number + p.parameter_number, p.shape)
            if p.name in _PLACES and not p.shape.rank
            else _array(random, p.name, p.shape)
            for p in self._module.entry.parameters
        ]
        names = [p.name for p in self._module.entry.parameters]
        _meet([array for array, name in zip(arrays, names, strict=True) if name in _ANY], random)
        return arrays

    def expected(self, arguments: list[np.ndarray]) -> list[Expected]:
        """Returns the evaluator's results. Behind a sum of floats, a zero may have any sign.

        Such a sum may begin with its first term instead of a zero.
        """
        module = self._module
        results = [np.asarray(result) for result in evaluate(module, *arguments)]
        instructions = [i for c in module.computations for i in c.instructions if i.shape.is_array or i.operands]
        if not any(i.opcode in _NORMALIZED or is_inexact(i.opcode, i.shape) for i in instructions):
            any_zero = any(map(_is_sum, instructions))
            return [Expected(r, any_sign=split_parts(r) == 0 if any_zero else None) for r in results]
        with np.errstate(all="ignore"):
            wide = [split_parts(result).astype(np.float64) for result in results]
            return [Expected(v, w, 1e-5 * np.abs(w) + 1e-5) for v, w in zip(results, wide, strict=True)]


def _is_sum(i: HloInstruction) -> bool:
    """Whether the instruction adds floats, in any order."""
    if not i.shape.is_array or i.shape.element_type.is_integral:
        return False
    return Trait.PRODUCT in i.op.traits or (i.opcode in _SUMS and i.attribute("to_apply").root.opcode is Opcode.ADD)


def apart(program: Rewritten) -> Iterator[Rewritten]:
    """Yields a program for each result that is computed from a value which other results are computed from, too.

    It has this result alone. Most passes rewrite a value only if it has no other use.
    """
    root = program.module().entry.root
    if root.opcode is not Opcode.TUPLE:
        return
    sources = [_sources(result) for result in root.operands]
    for number, own in enumerate(sources):
        others = set().union(*sources[:number], *sources[number + 1 :])
        if any(i.operands and i.opcode is not Opcode.BROADCAST for i in own & others):
            module = program.module().clone()
            module.entry.set_root(module.entry.root.operand(number))
            create_pass("hlo-dce").run(module)
            yield Rewritten(f"{program.name}, result {number} alone", str(module))


def _sources(value: HloInstruction) -> set[HloInstruction]:
    """Returns what a value is computed from, and the value itself."""
    found, new = {value}, [value]
    while new:
        new = [operand for i in new for operand in i.operands if operand not in found]
        found.update(new)
    return found


def is_inexact(opcode: Opcode, shape: Shape) -> bool:
    """Whether results of the op may have an error."""
    return shape.is_array and OPS[opcode].is_elementwise and not rule_for(OPS[opcode], shape.element_type).is_exact


@functools.cache
def rewritten(kind: str) -> tuple[Rewritten, ...]:
    """Returns the programs of a kind."""
    shared = dict(re.findall(r"^(\w+) (\{.*?^\})$", _text("computations"), re.DOTALL | re.MULTILINE))
    return tuple(_program(kind, part, shared) for part in re.split(r"^// ", _text(kind), flags=re.MULTILINE)[1:])


def _text(kind: str) -> str:
    return importlib.resources.files(__package__).joinpath(f"rewrites/{kind}.hlo").read_text()


def _program(kind: str, part: str, shared: dict[str, str]) -> Rewritten:
    name, _, text = part.partition("\n")
    own = "".join(re.findall(r"^\w+ \{.*?^\}\n", text, re.DOTALL | re.MULTILINE))
    entry = textwrap.indent(text.replace(own, "").strip("\n"), "  ")
    called = "".join(f"{name} {shared[name]}\n\n" for name in shared if re.search(rf"=\{{?{name}\b", text))
    return Rewritten(name, f"HloModule {kind}\n\n{called}{own}ENTRY main {{\n{entry}\n}}\n")


def _place(random: np.random.Generator, turn: int, shape: Shape) -> np.ndarray:
    low, high = shape.element_type.integer_range
    kinds = [range(max(low, -3), 0), range(5), [*range(5, 12), high]]
    found = [kind for kind in kinds if len(kind)]
    return np.asarray(random.choice(found[turn % len(found)]), shape.dtype)


def _array(random: np.random.Generator, name: str, shape: Shape) -> np.ndarray:
    element, dimensions = shape.element_type, shape.dimensions
    if element is ElementType.PRED:
        return np.asarray(random.integers(0, 2, dimensions).astype(bool))
    if name in _PLACES:
        low, high = element.integer_range
        return np.asarray(random.choice([*range(max(low, -3), 12), high], dimensions).astype(element.dtype))
    if name not in _ANY:
        return np.asarray(random.integers(-3, 4, dimensions).astype(element.dtype))
    if element.is_integral:
        low, high = element.integer_range
        known = (low, low + 1, -8, -7, -3, -1, 0, 1, 2, 3, 7, 8, 240, 255, 46341, 65536, 16777217, high - 1, high)
        whole = [n for n in known if low <= n <= high]
        return _mixed(random, np.array(whole, element.dtype), random.integers(low, high, dimensions, element.dtype))
    finfo: Any = ml_dtypes.finfo  # its stub has no types
    numbers = finfo(element.dtype)
    largest, least, eps = (float(n) for n in (numbers.max, numbers.tiny, numbers.eps))
    special = [0.0, -0.0, 1, -1, np.inf, -np.inf, np.nan, largest, -largest, largest / 4, least, -least, least / 4]
    special += [1 + eps, -1 - eps, 0.5, -0.5, 2, -3, 0.75, 300, -129, 2.5, 2.0**-9]
    return _mixed(random, np.array(special).astype(element.dtype), random.uniform(-4, 4, dimensions))


def _meet(arrays: list[np.ndarray], random: np.random.Generator) -> None:
    """Lets arrays have numbers of earlier ones in a third of the places, some with the other sign. 0 also meets -0."""
    for number, array in enumerate(arrays):
        alike = [a for a in arrays[:number] if a.shape == array.shape and a.dtype == array.dtype]
        if not alike or not array.ndim or array.dtype == np.bool_:
            continue
        other = alike[random.integers(len(alike))]
        way = random.random(array.shape)
        array[...] = np.where(way < 0.2, other, np.where(way < 1 / 3, np.negative(other), array))
        if array.dtype.kind not in "iu" and array.size > 3:
            places = np.unravel_index(random.permutation(array.size)[:2], array.shape)
            other[places] = np.array([0.0, -0.0]).astype(array.dtype)
            array[places] = np.negative(other[places])


def _mixed(random: np.random.Generator, special: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Returns special values, and others in one place of four."""
    chosen = random.choice(special, others.shape)
    return np.where(random.integers(0, 4, others.shape) == 0, others.astype(special.dtype), chosen)
