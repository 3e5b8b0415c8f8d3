"""Shape rules on operands and attributes that nearly fit return a shape or an error, and never fail themselves."""

from __future__ import annotations

import contextlib
import random
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import xla_core as xla
from xla_core.hlo import OPS, ElementType, HloComputation, Literal, Opcode, Shape
from xla_core.hlo.ops.rules import OpGroup
from xla_core.hlo.table import op_table
from xla_core.hlo.table.attributes import ConvolutionDimensionNumbers, PaddingDimension, SliceDimension, WindowDimension
from xla_core.hlo.table.op_table import REQUIRED, AttributeKind
from xla_core.stablehlo import OPS as STABLEHLO_OPS
from xla_core.stablehlo import op_example

PROGRAMS = Path(__file__).parents[3] / "programs" / "text"
TYPES = [ElementType.F32, ElementType.S32, ElementType.PRED, ElementType.C64, ElementType.U8]
WORDS = ["", "LT", "FLOAT", "RFFT", "IRFFT", "rng_uniform", "rng_three_fry", "TRANSPOSE", "kLoop", "HIGHEST", "TopK"]
Example = tuple[list[Shape], dict[str, Any], Shape]


class Misfits:
    """Random shapes and attribute values: of the right kind, and of any rank and number."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def number(self) -> int:
        return self.random.choice([-5, -1, 0, 0, 1, 1, 2, 2, 3, 4, 2**63])

    def many(self, make: Any, most: int = 4) -> tuple[Any, ...]:
        return tuple(make() for _ in range(self.random.randint(0, most)))

    def shape(self, depth: int = 0) -> Shape:
        chance = self.random.random()
        if chance < 0.06 and depth < 2:
            return Shape.tuple(self.many(lambda: self.shape(depth + 1)))
        if chance < 0.09:
            return Shape.token()
        sizes = self.many(lambda: self.random.choice([0, 1, 2, 2, 3, 4]))
        flags = tuple(self.random.random() < 0.5 for _ in sizes) if chance > 0.9 else ()
        return Shape(self.random.choice(TYPES), sizes, None, flags)

    def computation(self) -> HloComputation:
        made = HloComputation("c")
        for number in range(self.random.randint(0, 4)):
            made.parameter(number, Shape(self.random.choice(TYPES)) if self.random.random() < 0.8 else self.shape())
        chance = self.random.random()
        if not made.parameters or chance < 0.1:
            made.constant(self.random.choice([np.float32(1), np.bool_(True), np.int32(2)]))
        elif chance < 0.3:
            made.add("tuple", *made.parameters)
        return made

    def value(self, kind: AttributeKind) -> Any:
        number, many, word = self.number, self.many, lambda: self.random.choice(WORDS)
        make = {
            AttributeKind.BOOL: lambda: self.random.random() < 0.5,
            AttributeKind.INT: number,
            AttributeKind.OPERAND_TEXT: number,
            AttributeKind.FLOAT: self.random.random,
            AttributeKind.INTS: lambda: many(number),
            AttributeKind.BOOLS: lambda: many(lambda: True),
            AttributeKind.ENUMS: lambda: many(word),
            AttributeKind.COMPUTATION: self.computation,
            AttributeKind.COMPUTATIONS: lambda: many(self.computation),
            AttributeKind.WINDOW: lambda: many(lambda: WindowDimension(*(number() for _ in range(6)))),
            AttributeKind.DIM_LABELS: lambda: ConvolutionDimensionNumbers(
                number(), number(), many(number), number(), number(), many(number), number(), number(), many(number)
            ),
            AttributeKind.SLICE: lambda: many(lambda: SliceDimension(number(), number(), number())),
            AttributeKind.PADDING: lambda: many(lambda: PaddingDimension(number(), number(), number())),
            AttributeKind.REPLICA_GROUPS: lambda: many(lambda: many(number)),
            AttributeKind.SOURCE_TARGET_PAIRS: lambda: many(lambda: many(number)),
            AttributeKind.INT_LISTS: lambda: many(lambda: many(number)),
            AttributeKind.SHAPE: self.shape,
            AttributeKind.SHAPES: lambda: many(self.shape),
            AttributeKind.DICT: lambda: (("a", "b"),),
            AttributeKind.OUTPUT_TO_OPERAND_ALIASING: lambda: (),
            AttributeKind.LITERAL: lambda: Literal(np.float32(1)),
        }
        return make.get(kind, word)()

    def near(self, shape: Shape) -> Shape:
        sizes, chance = list(shape.dimensions), self.random.random()
        if not shape.is_array or chance < 0.15:
            return self.shape()
        if chance < 0.4 and sizes:
            sizes[self.random.randrange(len(sizes))] = self.random.choice([0, 1, 2, 3, 7])
        elif chance < 0.6:
            sizes.insert(self.random.randint(0, len(sizes)), self.random.choice([1, 2]))
        elif chance < 0.8 and sizes:
            sizes.pop(self.random.randrange(len(sizes)))
        return Shape(shape.element_type if chance < 0.9 else self.random.choice(TYPES), tuple(sizes))

    def near_value(self, kind: AttributeKind, value: Any) -> Any:
        if not isinstance(value, tuple) or not value or self.random.random() < 0.35:
            return self.value(kind)
        parts, at = list(value), self.random.randrange(len(value))
        other = self.value(kind)
        match self.random.randrange(3):
            case 0:
                parts.pop(at)
            case 1:
                parts.append(parts[at])
            case _ if other:
                parts[at] = other[0]
        return tuple(parts)

    def example(self, given: Example, kinds: dict[str, AttributeKind]) -> tuple[list[Shape], dict[str, Any], Any]:
        """An instruction in which one thing or two are no longer what they were."""
        operands, attributes, declared = list(given[0]), dict(given[1]), given[2]
        for _ in range(self.random.randint(1, 2)):
            chance = self.random.random()
            if chance < 0.4 and operands:
                at = self.random.randrange(len(operands))
                operands[at] = self.near(operands[at])
            elif chance < 0.8 and kinds:
                name = self.random.choice(list(kinds))
                attributes[name] = self.near_value(kinds[name], attributes.get(name))
            elif chance < 0.9:
                declared = self.near(declared)
            elif operands:
                operands = operands[:-1] if chance < 0.95 else [*operands, operands[-1]]
        return operands, attributes, declared if self.random.random() < 0.7 else None


@pytest.fixture(scope="module")
def examples() -> dict[str, list[Example]]:
    """Instructions of every kind that the examples of StableHLO's ops and JAX's programs lower to."""
    found: dict[str, list[Example]] = defaultdict(list)
    texts = [path.read_text() for path in sorted(PROGRAMS.iterdir()) if path.suffix == ".mlir"][:20]
    for name in STABLEHLO_OPS:
        for element in ("f32", "i1"):
            with contextlib.suppress(xla.XlaError):
                texts.append(op_example(name).program(element))
    for text in texts:
        with contextlib.suppress(xla.XlaError):
            for computation in xla.parse(text).computations:
                for i in computation.instructions:
                    if len(found[i.opcode]) < 25:
                        found[i.opcode].append(([o.shape for o in i.operands], dict(i.attributes), i.shape))
    assert len(found) > 100
    return found


def check(examples: dict[str, list[Example]], seed: int, count: int) -> None:
    misfits = Misfits(seed)
    for op in OPS.values():
        kinds = {name: attribute.kind for name, attribute in op.attributes.items()}
        least = op.arity if isinstance(op.arity, int) else op.arity[0]
        most = op.arity if isinstance(op.arity, int) else least + 4
        for _ in range(count):
            operands = [misfits.shape() for _ in range(misfits.random.randint(least, most))]
            attributes = {
                name: misfits.value(attribute.kind)
                for name, attribute in op.attributes.items()
                if attribute.default is REQUIRED or misfits.random.random() < 0.5
            }
            cases: list[tuple[list[Shape], dict[str, Any], Any]] = [(operands, attributes, misfits.shape())]
            if examples[op.opcode]:
                cases.append(misfits.example(misfits.random.choice(examples[op.opcode]), kinds))
            for case in cases:
                if op.wrong_arity(len(case[0])) is None:
                    with contextlib.suppress(xla.InvalidArgumentError, xla.UnimplementedError):
                        op.shape(*case)


def test_misfits_are_errors_of_the_program(examples):
    check(examples, 1, 60)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2, 4))
def test_many_misfits_are_errors_of_the_program(examples, seed):
    check(examples, seed, 3000)


@pytest.mark.parametrize(("name", "value"), [
    ("dimensions", "0"), ("dimensions", (0.5,)), ("dimensions", None), ("dimensions", 1), ("dimensions", ("x",)),
])  # fmt: skip
def test_an_attribute_of_another_kind_is_named(name, value):
    computation = HloComputation("c")
    x = computation.parameter(0, Shape(ElementType.F32, (2,)))
    with pytest.raises(
        xla.InvalidArgumentError, match=r"attribute dimensions is .*expected a value of kind ints"
    ) as caught:
        computation.add("reverse", x, **{name: value})
    assert caught.value.op == "reverse"


@pytest.mark.parametrize(("opcode", "value"), [
    ("pad", (PaddingDimension("1", 0),)), ("slice", (SliceDimension(0, None),)),  # type: ignore[arg-type]
])  # fmt: skip
def test_parts_of_an_attribute_are_of_their_types(opcode, value):
    computation = HloComputation("c")
    x = computation.parameter(0, Shape(ElementType.F32, (2,)))
    operands = [x, computation.constant(np.float32(0))] if opcode == "pad" else [x]
    with pytest.raises(xla.InvalidArgumentError, match="expected a value of kind"):
        computation.add(opcode, *operands, **{"padding" if opcode == "pad" else "slice": value})


def test_a_slip_of_a_rule_is_internal(monkeypatch):
    for table in ("OPS", "_BY_NAME"):
        monkeypatch.setattr(op_table, table, {})
    op = OpGroup("test").entry(Opcode.ADD, 1, lambda operands, values, declared: operands[1], None, doc="Slips.")
    with pytest.raises(xla.InternalError, match=r"IndexError(.|\n)*bug of xla-core") as caught:
        op.shape([Shape(ElementType.F32)], {}, None)
    assert caught.value.op == "add"
