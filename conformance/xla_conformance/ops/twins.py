"""Twins: instructions that differ in one thing, side by side in one program, where a pass may take them for one.

Passes that eliminate common subexpressions, that move, combine, batch or outline ops look for instructions that are
alike. Such a pass has to compare the opcode, the operands and their order, each attribute, and what a called
computation does. So each op's cases give instructions, and the op table says what may be changed in them, by itself.
The twins are beside each other, in computations of their own, and in the branches of a conditional.
"""

from __future__ import annotations

import dataclasses
import functools
import itertools
import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeAlias

import numpy as np

from xla_conformance.bits import split_parts
from xla_conformance.ops.choices import choose_each, members
from xla_conformance.ops.comparison import Expected, rule_for
from xla_conformance.ops.domain import Domain
from xla_conformance.ops.domains import DOMAINS
from xla_conformance.ops.program import Program, add_leaves
from xla_conformance.ops.twin_changes import attribute_changes
from xla_core import evaluate
from xla_core.errors import InvalidArgumentError
from xla_core.hlo import OPS, ElementType, HloComputation, HloInstruction, HloModule, Opcode, OpDef, Shape, Trait

_T = ElementType
_TYPES = (_T.S32, _T.F32, _T.PRED)
"""Sums of integers are exact in any order, so they come first."""
_COMMON = {"accumulator": "same", "index": _T.S32, "second": _T.S32}
"""Values of axes that are types: a device that lacks some types runs the twins of all ops that it has."""
_RESULTS = (_T.F32, _T.U32, _T.S16, _T.U16, _T.S64, _T.F64)
_SIZE, _RANK, _MOST = 4, 3, 300
_OF_ONE_SIZE = ("square", "alike")
"""Domains whose arrays have dimensions of one size, of which one may be taken for another."""
_PINNED = {
    *(Trait.SIDE_EFFECT, Trait.COLLECTIVE, Trait.NONDETERMINISTIC, Trait.ASYNC, Trait.PER_DEVICE, Trait.BARRIER),
    *(Trait.NOP, Trait.FORWARDING),
}
_LEFT_OUT = {Opcode.WHILE, Opcode.CONDITIONAL, Opcode.FUSION, Opcode.SET_DIMENSION_SIZE, Opcode.GET_DIMENSION_SIZE}
"""Ops whose changed computations may not end, or that are about dynamic sizes."""
_SLOW = {
    *(Opcode.SCAN, Opcode.POWER, Opcode.ATAN2, Opcode.BATCH_NORM_GRAD, Opcode.BATCH_NORM_TRAINING, Opcode.CHOLESKY),
    *(Opcode.SELECT_AND_SCATTER, Opcode.TOPK, Opcode.RNG_BIT_GENERATOR, Opcode.RAGGED_DOT, Opcode.SCALED_DOT),
    *(Opcode.TRIANGULAR_SOLVE, Opcode.FFT, Opcode.BATCH_NORM_INFERENCE),
}
"""Ops that compilers make much code of."""
_CASES = 3
_CERTAIN = {"is_stable": True, "indices_are_sorted": False, "unique_indices": False}
"""Attributes without which a result is free, or with which another operand breaks a promise."""
_Ways: TypeAlias = Sequence[Callable[[HloInstruction], Iterator[tuple[str, HloInstruction]]]]
"""Functions that add twins of an instruction, and yield what differs in each."""

_GIVEN: dict[Opcode, dict[str, Any]] = {
    Opcode.COMPARE: {"direction": "LT"},
    Opcode.REDUCE_PRECISION: {"exponent_bits": 5, "mantissa_bits": 4},
    Opcode.CONVERT: {},
}


@dataclasses.dataclass(frozen=True, eq=False)
class Twins:
    """A program of twins.

    Attributes:
        name: that of the case that the first twin is from.
        labels: for each result, what differs in it, and where the instruction is.
    """

    name: str
    program: Program
    labels: tuple[str, ...]

    @property
    def text(self) -> str:
        return str(self.program.module)

    def module(self) -> HloModule:
        return self.program.module.clone()

    def arguments(self, seed: int) -> list[np.ndarray]:
        """Arguments of the case. The conditionals take their second branch, which is the other twin's, or the first."""
        given = self.program.arguments(np.random.default_rng([seed, zlib.crc32(self.name.encode())]))
        return [*given[:-1], np.array(seed % 2 > 0)]

    def expected(self, arguments: list[np.ndarray]) -> list[Expected]:
        module = self.program.module
        values = [np.asarray(value) for value in evaluate(module, *arguments)]
        return [Expected(v) if _is_exact(self.program.opcode, v) else _near(v) for v in values]


def _near(value: np.ndarray) -> Expected:
    wide = split_parts(value).astype(np.float64)
    with np.errstate(all="ignore"):
        largest = np.max(np.abs(wide), initial=1, where=np.isfinite(wide))
        return Expected(value, wide, np.full(wide.shape, 1e-5 * largest))


def _is_exact(opcode: Opcode, value: np.ndarray) -> bool:
    op = OPS[opcode]
    if value.dtype.kind in "biu" or op.is_elementwise:
        return value.dtype.kind in "biu" or rule_for(op, ElementType.from_numpy(value.dtype)).is_exact
    return bool({Trait.DATA_MOVEMENT, Trait.INDEX_MAP, Trait.READS_PART} & op.traits)


def groups(*, every: bool) -> list[str]:
    """Returns the groups of ops that have twins."""
    return list(dict.fromkeys(op.group for op in OPS.values() if _has_twins(op, every)))


def _has_twins(op: OpDef, every: bool) -> bool:
    """Whether instructions of the op may differ in more than one operand, and a pass may take them for one."""
    if _PINNED & op.traits or op.opcode in (_LEFT_OUT if every else {*_LEFT_OUT, *_SLOW}):
        return False
    if op.is_elementwise:
        return op.opcode in _GIVEN or (op.arity not in (0, 1) and Trait.COMMUTATIVE not in op.traits)
    return op.opcode in DOMAINS


@functools.cache
def twins(group: str, seed: int, *, every: bool) -> tuple[Twins, ...]:
    """Returns the programs of a group's ops: of one case, or of one for each value in the ops' domains.

    Twins whose results have other types have programs of their own, because a device may lack a type.

    Args:
        every: whether an attribute has several other values, and ops that take long to compile have twins, too.
    """
    found: list[Twins] = []
    most = 4 if every else 2
    ways = (_with_operands, _with_attributes)
    for op in OPS.values():
        if op.group == group and _has_twins(op, every):
            made = ((_twins(name, make, seed, ways, most=most), make) for name, make in _makers(op.opcode, seed))
            some = list(itertools.islice(((one, make) for one, make in made if one is not None), _CASES))
            for one, make in some if every else sorted(some, key=lambda pair: -_differences(pair[0], seed))[:1]:
                found += [one, *itertools.islice(_of_other_types(one.name, make, seed), most)]
    return tuple(found)


def _of_other_types(name: str, make: Callable[[], Program], seed: int) -> Iterator[Twins]:
    """Yields programs of a case's instruction and one whose result has another type, if the operands leave it free."""
    for element_type in _RESULTS:
        ways = (functools.partial(_with_type, element_type=element_type),)
        one = _twins(f"{name}-other.{element_type.value}", make, seed, ways, most=1)
        if one is not None and _differences(one, seed) > 1:
            yield one


def _differences(one: Twins, seed: int) -> int:
    """Returns how many values the results have: twins of extreme values may have one."""
    values = evaluate(one.program.module, *one.arguments(seed))
    return len({np.asarray(value).tobytes() for value in values})


def _makers(opcode: Opcode, seed: int) -> Iterator[tuple[str, Callable[[], Program]]]:
    if OPS[opcode].is_elementwise:
        converts = Trait.CONVERSION in OPS[opcode].traits  # integers of one width have the same bits
        for element_type in (_T.F32, *_TYPES) if converts else _TYPES:
            yield f"{opcode}-{element_type.value}", functools.partial(_elementwise, opcode, element_type)
        return
    for domain in sorted(DOMAINS[opcode], key=lambda d: d.variant not in _OF_ONE_SIZE):
        for accepted in [t for t in (*_TYPES, *_T) if t.is_array and domain.accepts(t)][:1]:
            for choice in choose_each(_axes(domain), seed, domain.name):
                yield f"{domain.name}-{choice}", functools.partial(domain.program, choice, accepted)


def _axes(domain: Domain) -> dict[str, Sequence[Any]]:
    """Returns axes with one small size for all dimensions: one of them may then be taken for another."""
    axes: dict[str, Sequence[Any]] = {axis: members(values) for axis, values in domain.axes.items()}
    if domain.sizes:
        sizes = members(domain.sizes)
        axes["size"] = [min(sizes, key=lambda n: abs(n - _SIZE) if isinstance(n, int) else _MOST)]
        axes["place"] = ["every"] if "every" in domain.places else [*domain.places, "minor"][:1]
    if "rank" in axes:
        axes["rank"] = [min(axes["rank"], key=lambda n: abs(n - _RANK))]
    return axes | {axis: [value] for axis, value in _COMMON.items() if value in axes.get(axis, ())}


def _elementwise(opcode: Opcode, element_type: ElementType) -> Program:
    program = Program(opcode, element_type)
    op = OPS[opcode]
    count = op.arity if isinstance(op.arity, int) else op.arity[0]
    types = [_T.PRED if n == op.predicate_operand else element_type for n in range(count)]
    operands = [program.parameter((_SIZE, _SIZE), t) for t in types]
    other = _T.S32 if element_type is not _T.S32 else _T.F32
    shape = program.shape((_SIZE, _SIZE), other) if Trait.CONVERSION in op.traits else None
    program.finish(program.add(opcode, *operands, shape=shape, **_GIVEN.get(opcode, {})))
    return program


# -- one program -------------------------------------------------------------------------------------------------------


def _twins(name: str, make: Callable[[], Program], seed: int, ways: _Ways, *, most: int) -> Twins | None:
    """Makes a program of twins; None if the case has no instruction that some other one is like."""
    try:
        program = make()
    except InvalidArgumentError:
        return None
    first = next((i for i in program.entry.instructions if i.opcode == program.opcode), None)
    if first is None or any(not 0 < s.num_elements < _MOST or s.is_dynamic for s in _arrays(program.entry)):
        return None
    first.attributes.update({name: value for name, value in _CERTAIN.items() if name in first.op.attributes})
    random = np.random.default_rng([seed, zlib.crc32(name.encode())])
    found = [("nothing", first), *_chosen(first, ways, most, random)]
    if len(found) < 2:
        return None
    entry, module = program.entry, program.module
    flag = program.parameter((), _T.PRED)
    results = [(label, i) for label, i in found if label != "nothing"]
    results += [(f"{label}, in a computation", _called(module, entry, i)) for label, i in found]
    alike = [(label, i) for label, i in found if i.shape == first.shape]
    alike.sort(key=lambda one: one[1].operands != first.operands)  # stable: first come those of equal operands
    results += [
        (f"{label}, in a branch", _in_branch(module, entry, flag, first, i))
        for label, i in alike[1:][: max(1, most // 4)]
    ]
    leaves = [(label, leaf) for label, i in results for leaf in add_leaves(entry, i)]
    entry.set_root(entry.add(Opcode.TUPLE, *(leaf for _, leaf in leaves)))
    for computation in [c for i in entry.instructions for c in i.called_computations]:
        if computation not in module.computations:
            module.add_computation(computation)
    return Twins(name, program, tuple(label for label, _ in leaves))


def _arrays(computation: HloComputation) -> list[Shape]:
    return [s for i in computation.instructions for s in i.shape.array_leaves()]


def _chosen(
    first: HloInstruction, ways: _Ways, most: int, random: np.random.Generator
) -> list[tuple[str, HloInstruction]]:
    """Adds twins of an instruction: so many for each thing in which they may differ, first those of its shape."""
    found: list[tuple[str, HloInstruction]] = []
    assert first.parent is not None
    for way in ways:
        made = list(way(first))
        order = sorted(range(len(made)), key=lambda n: (made[n][1].shape != first.shape, random.random()))
        counts: Counter[str] = Counter()
        for number in order:
            label, twin = made[number]
            thing = label.partition(" ")[0]
            if counts[thing] < most and len(found) < 4 * most:
                counts[thing] += 1
                found.append((label, twin))
            else:
                first.parent.remove(twin)
    return found


def _with_attributes(first: HloInstruction) -> Iterator[tuple[str, HloInstruction]]:
    for label, attributes in attribute_changes(first):
        twin = _added(first, first.operands, {**first.attributes, **attributes})
        if twin is not None:
            yield label, twin


def _with_operands(first: HloInstruction) -> Iterator[tuple[str, HloInstruction]]:
    """Yields twins with two operands exchanged, and with one operand reversed, or one more."""
    assert first.parent is not None
    count = len(first.operands)
    operands = list(first.operands)
    for one in range(min(count, 3)):
        for other in range(one + 1, min(count, 4)):
            if operands[one].shape == operands[other].shape and operands[one] is not operands[other]:
                turned = list(operands)
                turned[one], turned[other] = turned[other], turned[one]
                if (twin := _added(first, turned, first.attributes)) is not None:
                    yield f"operands {one} and {other}", twin
    for number, operand in enumerate(operands[:6]):
        if operand.shape.is_array and operand.shape.rank and first.opcode not in _OF_SPECIAL_MATRICES:
            new = first.parent.add(Opcode.REVERSE, operand, dimensions=(operand.shape.rank - 1,))
            twin = _added(first, [*operands[:number], new, *operands[number + 1 :]], first.attributes)
            if twin is not None:
                yield f"operand-{number}", twin


_OF_SPECIAL_MATRICES = (Opcode.CHOLESKY, Opcode.TRIANGULAR_SOLVE)


def _with_type(first: HloInstruction, element_type: ElementType) -> Iterator[tuple[str, HloInstruction]]:
    """Yields a twin whose result has this element type, if that isn't the type of the first, and may be."""
    if first.shape.is_array and first.shape.element_type is not element_type:
        shape = first.shape.with_element_type(element_type)
        if (twin := _added(first, first.operands, first.attributes, shape)) is not None:
            yield f"type {element_type.value}", twin


def _added(
    first: HloInstruction, operands: Sequence[HloInstruction], attributes: dict[str, Any], *shapes: Shape
) -> HloInstruction | None:
    """Adds an instruction; None if it isn't valid."""
    assert first.parent is not None
    for shape in shapes or (first.shape, None):
        try:
            made = first.parent.add(first.opcode, *operands, shape=shape, **attributes)
        except (InvalidArgumentError, IndexError):
            continue
        return made
    return None


# -- where they are ----------------------------------------------------------------------------------------------------


def _alone(i: HloInstruction, module: HloModule, name: str, *, of_tuple: bool) -> HloComputation:
    """Makes a computation of an instruction, whose operands are its parameters, or are parts of its one parameter."""
    made = HloComputation(module.unique_name(name))
    operands = list(dict.fromkeys(i.operands))
    if of_tuple:
        given = made.parameter(0, Shape.tuple([o.shape for o in operands]))
        values = [made.add(Opcode.GET_TUPLE_ELEMENT, given, index=n) for n in range(len(operands))]
    else:
        values = [made.parameter(n, o.shape) for n, o in enumerate(operands)]
    by_operand = dict(zip(operands, values, strict=True))
    made.set_root(made.add_instruction(i.clone([by_operand[o] for o in i.operands])))
    return module.add_computation(made)


def _called(module: HloModule, entry: HloComputation, i: HloInstruction) -> HloInstruction:
    computation = _alone(i, module, "twin", of_tuple=False)
    return entry.add(Opcode.CALL, *dict.fromkeys(i.operands), to_apply=computation)


def _in_branch(
    module: HloModule, entry: HloComputation, flag: HloInstruction, first: HloInstruction, second: HloInstruction
) -> HloInstruction:
    """Adds a conditional between two twins."""
    operands = [entry.add(Opcode.TUPLE, *dict.fromkeys(i.operands)) for i in (first, second)]
    if first.operands == second.operands:
        operands = operands[:1] * 2
    branches = [_alone(i, module, "branch", of_tuple=True) for i in (first, second)]
    return entry.add(Opcode.CONDITIONAL, flag, *operands, true_computation=branches[0], false_computation=branches[1])
