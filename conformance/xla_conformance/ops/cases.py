"""Test cases: an op in one element type, with a module, arguments, and the expected result."""

from __future__ import annotations

import dataclasses
import functools
import zlib
from collections.abc import Callable, Iterable, Iterator

import numpy as np

from xla_conformance.accuracy.bounds import bound
from xla_conformance.ops import values
from xla_conformance.ops.comparison import EXACT, Expected, Rule, expected_results
from xla_conformance.ops.templates import Template, load_templates
from xla_core import parse
from xla_core.errors import InvalidArgumentError
from xla_core.hlo import (
    OPS,
    ElementType,
    HloComputation,
    HloModule,
    Opcode,
    OpDef,
    Shape,
    Trait,
    verify,
)

__all__ = ["OpCase", "generate"]

DIMENSIONS = (5, 13)  # not multiples of a vector's length, so that the remainders of loops are tested
TRANSCENDENTAL = Rule("ulp", bound("real", "default", "f32", "backend") or 0.0)
CONVERSIONS_QUICK = frozenset({ElementType.PRED, ElementType.S32, ElementType.F32, ElementType.BF16, ElementType.S8})


@dataclasses.dataclass(frozen=True)
class OpCase:
    """A test case. `build` makes the module for the case's element type, or for a wider one for expected results."""

    opcode: Opcode
    variant: str
    element_type: ElementType
    build: Callable[[ElementType], HloModule]
    rule: Rule
    special: bool = False
    index: frozenset[int] = frozenset()
    positive: frozenset[int] = frozenset()

    @property
    def name(self) -> str:
        return "-".join(p for p in (self.opcode, self.variant, self.element_type.value) if p)

    def module(self) -> HloModule:
        return self.build(self.element_type)

    def arguments(self) -> list[np.ndarray]:
        seed = zlib.crc32(self.name.encode())
        return [self._argument(i, shape, [seed, i]) for i, shape in enumerate(self.module().parameter_shapes)]

    def _argument(self, number: int, shape: Shape, seed: values.Seed) -> np.ndarray:
        if number in self.index:
            return values.indices(shape, seed)
        if self.special and not shape.element_type.is_complex:
            return values.special(shape, seed)
        return values.moderate(shape, seed, positive=number in self.positive)

    def expected(self) -> list[Expected]:
        """What each result should be."""
        return expected_results(self.build, self.element_type, self.arguments(), self.rule)


def generate(element_types: Iterable[ElementType], *, every_conversion: bool = True) -> Iterator[OpCase]:
    """Yields all cases of these element types in the op table's order, without types that an op doesn't accept."""
    wanted = frozenset(element_types)
    types = [t for t in ElementType if t in wanted]
    written: dict[Opcode, list[Template]] = {}
    for template in load_templates():
        written.setdefault(template.opcode, []).append(template)
    for opcode, op in OPS.items():
        if opcode in written:
            for template in written[opcode]:
                yield from _of_template(template, types)
        elif opcode == Opcode.CONVERT:
            yield from _conversions(types, every_conversion)
        elif op.is_elementwise and isinstance(op.arity, int):
            yield from _elementwise(op, types)


def _of_template(template: Template, types: list[ElementType]) -> Iterator[OpCase]:
    def build(element_type: ElementType) -> HloModule:
        return _parsed(template, element_type).clone()

    special = template.opcode in (
        Opcode.COMPARE,
        Opcode.CLAMP,
        Opcode.REDUCE_PRECISION,
        Opcode.SELECT,
        Opcode.BITCAST_CONVERT,
    )
    if template.rule.kind == "sum" and "$zero" in template.text:
        types = [t for t in types if t is not ElementType.F8E8M0FNU]  # it has no zero for a sum to begin at
    for element_type in types:
        if element_type in template.types and _builds(build, element_type):
            yield OpCase(
                template.opcode,
                template.variant,
                element_type,
                build,
                template.rule,
                special,
                template.index,
                template.positive,
            )


@functools.lru_cache(maxsize=4096)
def _parsed(template: Template, element_type: ElementType) -> HloModule:
    return parse(template.program(element_type))


def _elementwise(op: OpDef, types: list[ElementType]) -> Iterator[OpCase]:
    """Cases made from the op table alone: arity and shape rule say which operands the op takes."""

    def build(element_type: ElementType) -> HloModule:
        assert isinstance(op.arity, int)
        return _module(op.opcode, [Shape(element_type, DIMENSIONS)] * op.arity)

    for element_type in types:
        if _builds(build, element_type):
            transcendental = Trait.TRANSCENDENTAL in op.traits and not element_type.is_integral
            if element_type is ElementType.F8E8M0FNU:
                transcendental = False  # it has no zero to round to, so the evaluator's result is the definition
            rule = TRANSCENDENTAL if transcendental or element_type.is_complex else EXACT
            yield OpCase(op.opcode, "", element_type, build, rule, special=True)


def _conversions(types: list[ElementType], every: bool) -> Iterator[OpCase]:
    for source in types:
        for target in types:
            if source is target or not (every or {source, target} <= CONVERSIONS_QUICK):
                continue

            def build(element_type: ElementType, target: ElementType = target) -> HloModule:
                return _module(Opcode.CONVERT, [Shape(element_type, DIMENSIONS)], Shape(target, DIMENSIONS))

            if _builds(build, source):
                yield OpCase(Opcode.CONVERT, f"to_{target.value}", source, build, EXACT, special=True)


def _module(opcode: Opcode, shapes: list[Shape], result: Shape | None = None) -> HloModule:
    module = HloModule(opcode)
    entry = HloComputation("main")
    parameters = [entry.parameter(i, shape) for i, shape in enumerate(shapes)]
    entry.set_root(entry.add(opcode, *parameters, shape=result))
    module.add_computation(entry, entry=True)
    return module


def _builds(build: Callable[[ElementType], HloModule], element_type: ElementType) -> bool:
    """Whether the op takes the type, by its shape rule and the verifier."""
    try:
        verify(build(element_type))
    except InvalidArgumentError:
        return False
    return True
