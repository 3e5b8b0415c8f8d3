"""Cases in which the special values of an elementwise op's operands meet. They are made from the op table alone.

An op of one operand gets all values of a type of 8 or 16 bits, and for wider types each exponent, the ranges of its
formula and its edges. An op of several operands gets every combination of their special values, and each of them for
all operands at once. Arrays have an odd number of elements, so that a vector's last elements have values that matter,
and in most cases more than 65,536.
"""

from __future__ import annotations

import dataclasses
import functools
import itertools
import math
import zlib
from collections.abc import Container, Iterable, Iterator, Sequence

import numpy as np

from xla_conformance.accuracy.complex_functions.points import complex_pairs
from xla_conformance.accuracy.real_functions.formats import format_of
from xla_conformance.accuracy.real_functions.functions import FUNCTIONS
from xla_conformance.ops import values
from xla_conformance.ops.comparison import Expected, Rule, expected_results, rule_for, wide_type
from xla_conformance.ops.comparison_complex import expected_of_complex
from xla_conformance.ops.contexts import ALONE, CONTEXTS, Context, contexts_for
from xla_conformance.ops.elementwise_forms import Form, constants, forms
from xla_conformance.ops.values_points import points
from xla_core import evaluate
from xla_core.hlo import (
    OPS,
    ElementType,
    HloModule,
    Opcode,
    OpDef,
    Shape,
    Trait,
)

_T = ElementType


_MANY, _MILLION = 1 << 16, 1 << 20


@dataclasses.dataclass(frozen=True)
class ValueCase:
    """A form of an op in a context, with operands in which special values meet, of more than `least` elements."""

    form: Form
    context: Context
    seed: int
    least: int = _MANY

    @property
    def opcode(self) -> Opcode:
        return self.form.opcode

    @property
    def element_type(self) -> ElementType:
        """The type of the first operand that isn't pred whatever the others are."""
        return self.form.operands[1 if self.form.op.predicate_operand == 0 else 0]

    @property
    def types(self) -> set[ElementType]:
        """The element types of all arrays."""
        return {s.element_type for s in (*self.module().parameter_shapes, *self.module().result_shape.leaves())}

    @property
    def name(self) -> str:
        count = "million" if self.least == _MILLION else ""
        parts = (self.opcode, self.element_type, self.form.variant, count, self.context)
        return "-".join(str(p) for p in parts if str(p))

    @property
    def rule(self) -> Rule:
        return rule_for(self.form.op, self.element_type)

    def module(self) -> HloModule:
        """The op alone."""
        return self.form.module(self._data.dimensions)

    def arguments(self) -> list[list[np.ndarray]]:
        """The arguments of each run: of one, or of several if there are scalars."""
        return self._data.arguments

    def expected(self, arguments: Sequence[np.ndarray]) -> list[Expected]:
        """The expected results of a run."""
        rule, dimensions = self.rule, self._data.dimensions
        broad = {self.element_type: wide_type(self.element_type)}

        def build(element_type: ElementType) -> HloModule:
            return self.form.module(dimensions, broad if element_type is not self.element_type else None)

        if not self.element_type.is_complex or rule.is_exact:
            made = expected_results(build, self.element_type, arguments, rule)
            return self._without_nan(made, arguments) if rule.kind == "exact" else made
        module = build(wide_type(self.element_type))
        widened = [a.astype(s.dtype) for a, s in zip(arguments, module.parameter_shapes, strict=True)]
        types = [s.element_type for s in self.module().result_shape.leaves()]
        return [
            expected_of_complex(self.opcode.value, self.operands(arguments, number), wide, t, rule)
            for number, (wide, t) in enumerate(zip(evaluate(module, *widened), types, strict=True))
        ]

    def operands(self, arguments: Sequence[np.ndarray], number: int) -> Sequence[np.ndarray]:
        """Returns the operands of the instruction that computes a result."""
        if self.form.constant is None:
            chosen, _ = self.form.instructions[number // max(len(self.form.results), 1)]
            return [arguments[i] for i in chosen]
        (x,) = arguments
        constant = np.broadcast_to(constants(self.element_type)[number], x.shape)
        return (x, constant) if self.form.constant else (constant, x)

    def _without_nan(self, expected: list[Expected], arguments: Sequence[np.ndarray]) -> list[Expected]:
        """Marks results as free that are NaN in a wide type, if the result's type has no NaN."""
        elements = [ElementType.from_numpy(e.value.dtype) for e in expected]
        without = [t.is_floating and not format_of(t).has_nan for t in elements]
        if not any(without):
            return expected
        wide = {t: wide_type(t) for t in self.form.operands} if not self.form.results else None
        broad = dataclasses.replace(self.form, results=(_T.F64,) * len(self.form.results))
        module = broad.module(self._data.dimensions, wide)
        with np.errstate(all="ignore"):
            given = [a.astype(s.dtype) for a, s in zip(arguments, module.parameter_shapes, strict=True)]
            results = evaluate(module, *given)
        return [
            dataclasses.replace(e, free=np.isnan(r)) if is_free else e
            for is_free, e, r in zip(without, expected, results, strict=True)
        ]

    @property
    def _data(self) -> _Data:
        return _data(self.form, self.context.layouts == "mixed", self.seed, self.least)

    def without(self, held: Container[ElementType]) -> ValueCase | None:
        """Returns the part of the case for a device that holds only some element types."""
        form = self.form.without(held)
        return dataclasses.replace(self, form=form) if form is not None else None


@dataclasses.dataclass(frozen=True, eq=False)
class _Data:
    dimensions: tuple[int, ...]
    arguments: list[list[np.ndarray]]


@functools.lru_cache(8)
def _data(form: Form, square: bool, seed: int, least: int) -> _Data:
    """Returns the operands of a form: flat, or with as many rows as columns.

    At the ends of real ones, which kernels may compute apart from whole vectors, are the most special values.
    """
    random = np.random.default_rng([seed, zlib.crc32(f"{form.opcode} {form.operands} {form.variant}".encode())])
    arrays = [i for i in range(len(form.operands)) if i not in form.scalars and i != form.constant]
    inner, _ = form.shapes((1,))
    columns = inner[1:]
    given = _operands(form, [form.operands[i] for i in arrays], random, min(least, _MANY))
    types = [ElementType.from_numpy(a.dtype) for a in given]
    end = 0 if any(t.is_complex for t in types) else values.END
    rows = -(-max(len(given[0]) + end, least + 1) // math.prod(columns))
    side = math.isqrt(rows - 1) + 1 | 1
    dimensions = (side, side) if square else (rows | values.END,)
    missing = math.prod(dimensions) * math.prod(columns) - len(given[0]) - end
    order = random.permutation(len(given[0]) + missing)
    filled = [
        np.concatenate([a, values.magnitudes(t, missing, random)])[order] for a, t in zip(given, types, strict=True)
    ]
    ends = [random.choice(values.most_special(t), end) for t in types]
    shaped = [np.concatenate(parts).reshape(*dimensions, *columns) for parts in zip(filled, ends, strict=True)]
    if not form.scalars:
        return _Data(dimensions, [shaped])
    scalars = sorted(form.scalars)
    runs = []
    for row in itertools.product(*(_few(form.operands[i]) for i in scalars)):
        at = dict(zip(scalars, row, strict=True)) | dict(zip(arrays, shaped, strict=True))
        runs.append([np.asarray(at[i]) for i in range(len(form.operands))])
    return _Data(dimensions, runs)


def _operands(form: Form, types: Sequence[ElementType], random: np.random.Generator, least: int) -> list[np.ndarray]:
    """Returns arrays of one dimension, of more than `least` elements, for the operands that aren't scalars."""
    if form.constant is not None or len(types) < len(form.operands):
        return values.product(types, random)
    count = least + int(random.integers(1, 300))
    name = form.opcode.value.replace("-", "_")
    if len(types) == 1 and form.results and Trait.BITWISE in form.op.traits:
        some = values.special_values(types[0])
        rest = max(count - len(some), 300)
        return [np.concatenate([some, values.patterns(Shape(types[0], (rest,)), random)])]
    if len(types) == 1:
        module = functools.cache(lambda count: form.module((count,)))

        def function(x: np.ndarray) -> np.ndarray:
            return evaluate(module(len(x)), x)[0]

        return [points(name, types[0], count, function, random, form.results)]
    made = [values.product(types, random)]
    known = next((f for f in FUNCTIONS if f.name == name and f.pairs is not None), None)
    rest = max(count - len(made[0][0]), 0)
    if known is not None and known.pairs is not None and types[0].is_floating and rest:
        wide = np.dtype(np.float64 if types[0] is _T.F64 else np.float32)
        with np.errstate(all="ignore"):
            made.append([x.astype(types[0].dtype) for x in known.pairs(random, wide, rest // 2)])
        rest -= rest // 2
    if len(types) == 2 and types[0].is_complex and rest:  # parts of any exponents
        made.append(list(complex_pairs(types[0].dtype, rest // 2, int(random.integers(1 << 31)))))
        rest -= rest // 2
    made.append([values.magnitudes(t, rest, random) for t in types])
    return [np.concatenate(parts) for parts in zip(*made, strict=True)]


def _few(element: ElementType) -> list[np.ndarray]:
    """Returns a few values of a scalar operand."""
    some = constants(element)
    return some if len(some) < 6 else [some[i] for i in (0, 1, 2, 4, -3, -2)]


# -- which cases -------------------------------------------------------------------------------------------------------

TYPE_GROUPS = (
    (_T.F32,),
    (_T.S32,),
    (_T.U32,),
    (_T.PRED,),
    (_T.BF16,),
    (_T.F16,),
    (_T.S8,),
    (_T.U8,),
    (_T.F64,),
    (_T.C64,),
    (_T.C128,),
    (_T.S64, _T.U64),
    (_T.S16, _T.U16),
    tuple(t for t in _T if t.is_floating and t.bit_width <= 8),
    (_T.S2, _T.U2, _T.S4, _T.U4),
)
"""Element types that backends are likely to handle alike; those in which most programs compute come first."""

_OPERAND_GROUPS = tuple(
    part for group in TYPE_GROUPS for part in ([(t,) for t in group] if group[0].bit_width >= 16 else [group])
)
"""Types of operands: signed and unsigned integers take turns only where they are narrow."""


def value_cases(*, seed: int = 0, every_type: bool = False, opcodes: Iterable[Opcode] = OPS) -> Iterator[ValueCase]:
    """Yields the cases of those of the ops that are elementwise, by default of all in the op table's order.

    Args:
        every_type: whether each element type has all forms, in several contexts each. Otherwise the types of a group
            take turns in that, and the others have the plain form alone.
    """
    for opcode in opcodes:
        op = OPS[opcode]
        if op.is_elementwise and isinstance(op.arity, int) and opcode is not Opcode.COPY:
            yield from _cases_of(op, seed, every_type)
            if every_type:
                yield from _cases_of_a_million(op, seed)


def _cases_of(op: OpDef, seed: int, every_type: bool) -> Iterator[ValueCase]:
    number = zlib.crc32(op.opcode.encode()) + seed
    first = True
    kinds = set[bool]()  # of the types that met constants: integers, and others
    for turn, group in enumerate(_OPERAND_GROUPS):
        found = {t: list(forms(op, t, every_pair=every_type)) for t in _turned(group, number + turn)}
        accepted = [some for some in found.values() if some]
        in_turns = len(group) > 2 or group[0].is_complex
        if Trait.TRANSCENDENTAL in op.traits and not every_type and in_turns:
            accepted = accepted[:1]  # they have one formula for all types of the group
        whole = accepted if every_type else accepted[:1]
        for some in whole:
            is_new = group[0].is_integral not in kinds
            for form in some:
                if form.constant is not None and not (every_type or is_new):
                    continue
                is_further = form.constant is not None and not (every_type or first)  # small, and in one context
                contexts = _contexts(form, number, (len(CONTEXTS) if first else 2) if every_type else 1 + first)
                for context in contexts[:1] if is_further else contexts:
                    least = 0 if is_further else _MANY
                    yield ValueCase(dataclasses.replace(form, repeats=True), context, seed, least)
                number += not is_further
            first = False
            kinds.add(group[0].is_integral)
        for some in accepted[len(whole) :]:
            for form in _plain(some, turned=None if len(group) == 2 else number):
                yield ValueCase(form, _alone(number), seed, _MANY if len(group) == 2 else 0)
                number += 1


def _cases_of_a_million(op: OpDef, seed: int) -> Iterator[ValueCase]:
    """Yields a case of more than a million elements, in the first type that the op has: devices divide such work."""
    for group in _OPERAND_GROUPS:
        plain = [form for t in group for form in _plain(list(forms(op, t, every_pair=False)), turned=0)]
        if plain:
            yield ValueCase(plain[0], ALONE, seed, _MILLION)
            return


def _plain(some: Sequence[Form], turned: int | None) -> Iterator[Form]:
    """Yields the forms of whole arrays that have the first form's attributes.

    With `turned`, each result type is used by some of the cases only.
    """
    arrays = [form for form in some if form.constant is None and not form.scalars]
    for form in arrays:
        if form.attributes != arrays[0].attributes:
            continue
        if turned is not None:
            groups = [
                [t for t in _turned(group, turned + n) if t in form.results] for n, group in enumerate(TYPE_GROUPS)
            ]
            form = dataclasses.replace(form, results=tuple(group[0] for group in groups if group))
        yield form


def _alone(number: int) -> Context:
    return Context(level=0) if number % 2 else ALONE


def _turned(group: Sequence[ElementType], number: int) -> list[ElementType]:
    start = number % len(group)
    return [*group[start:], *group[:start]]


def _contexts(form: Form, number: int, count: int) -> list[Context]:
    if form.constant == 1:
        return [ALONE, Context(level=0)]
    if form.constant is not None or form.results:  # several instructions, which take long to compile in a context
        return [_alone(number)]
    if form.scalars:  # they differ from run to run
        return [c for c in CONTEXTS if c.operands == "arguments" and c.layouts == "default"][:count]
    return contexts_for(number, count)
