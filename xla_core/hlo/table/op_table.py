"""The HLO op table: the definition of every opcode as data.

Each opcode has one `OpDef` with arity, attributes, shape rule, reference evaluation and traits. The builder, verifier,
text reader and printer, evaluator, legalizer, conformance generator and docs read this table; none of them has a list
of ops of its own. The entries are in `xla_core/hlo/ops/`, one file for each op group, with each op's shape rule and
evaluation side by side.
"""

from __future__ import annotations

import dataclasses
import enum
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from xla_core.checks import did_you_mean, require
from xla_core.errors import AlreadyExistsError, InvalidArgumentError
from xla_core.hlo.table.opcode import Opcode
from xla_core.hlo.table.sharding_rule import ShardingRule
from xla_core.hlo.values.element_type import ElementType
from xla_core.hlo.values.shape import Shape

if TYPE_CHECKING:  # an evaluation takes an instruction, and instructions have their entries of this table
    from xla_core.hlo.evaluation.environment import Value
    from xla_core.hlo.evaluation.evaluation_context import EvaluationContext
    from xla_core.hlo.ir.instruction import HloInstruction

Attributes = Mapping[str, Any]

ShapeRule = Callable[[Sequence[Shape], Attributes, "Shape | None"], Shape]
"""(operand shapes, attributes, declared shape or None) -> result shape.

It raises InvalidArgumentError for operands and attributes that don't fit. Where the operands don't determine the result
(iota, reshape), it checks the declared shape and returns it.
"""

Evaluate = Callable[["EvaluationContext", "HloInstruction", "list[Value]"], "Value"]

EvaluateGroup = Callable[
    ["EvaluationContext", "HloInstruction", "Sequence[tuple[int, int]]", "Sequence[list[Value]]"], "list[Value]"
]
"""(context, instruction, devices of a group, operands of each of them) -> result of each of them."""

Count = Callable[["HloInstruction"], float]


class AttributeKind(enum.Enum):
    """The kinds of attributes; `form` says the Python type and the spelling of each in HLO text."""

    __hash__ = object.__hash__  # as in `Trait`

    BOOL = "bool"
    INT = "int"
    FLOAT = "float"
    INTS = "ints"
    BOOLS = "bools"
    STRING = "string"
    ENUM = "enum"
    ENUMS = "enums"
    COMPUTATION = "computation"
    COMPUTATIONS = "computations"
    WINDOW = "window"
    DIM_LABELS = "dim_labels"
    SLICE = "slice"
    PADDING = "padding"
    REPLICA_GROUPS = "replica_groups"
    SOURCE_TARGET_PAIRS = "source_target_pairs"
    SHAPE = "shape"
    SHAPES = "shapes"
    DICT = "dict"
    SHARDING = "sharding"
    BACKEND_CONFIG = "backend_config"
    BRACED = "braced"
    INT_LISTS = "int_lists"
    OUTPUT_TO_OPERAND_ALIASING = "output_to_operand_aliasing"
    LITERAL = "literal"
    OPERAND_TEXT = "operand_text"

    @property
    def form(self) -> str:
        """The Python type of an attribute's value, and how HLO text spells it."""
        return _FORMS[self]


_FORMS = {
    AttributeKind.BOOL: "bool",
    AttributeKind.INT: "int",
    AttributeKind.FLOAT: "float",
    AttributeKind.INTS: "tuple of int, in text {0,1}",
    AttributeKind.BOOLS: "tuple of bool",
    AttributeKind.STRING: "str, in text quoted",
    AttributeKind.ENUM: "str, in text without quotes",
    AttributeKind.ENUMS: "tuple of str, in text {a,b}",
    AttributeKind.COMPUTATION: "HloComputation, in text %name",
    AttributeKind.COMPUTATIONS: "tuple of HloComputation, in text {%a, %b}",
    AttributeKind.WINDOW: "Window, in text {size=3x3 stride=2x2 pad=0_1x0_1 ...}",
    AttributeKind.DIM_LABELS: "ConvolutionDimensionNumbers, in text b01f_01io->b01f",
    AttributeKind.SLICE: "tuple of SliceDimension(start, limit, stride), in text {[0:4], [1:8:2]}",
    AttributeKind.PADDING: "tuple of PaddingDimension(low, high, interior), in text 0_1x2_2_1",
    AttributeKind.REPLICA_GROUPS: "ReplicaGroups, in text {{0,1},{2,3}}",
    AttributeKind.SOURCE_TARGET_PAIRS: "tuple of (int, int), in text {{0,1},{1,0}}",
    AttributeKind.SHAPE: "Shape",
    AttributeKind.SHAPES: "tuple of Shape (layout constraints)",
    AttributeKind.DICT: 'tuple of (str, str), sorted, in text {a="b"}',
    AttributeKind.SHARDING: "str, as written in the text: {replicated}",
    AttributeKind.BACKEND_CONFIG: 'str, in text a dictionary as it is, or quoted: {"a":1}, "a"',
    AttributeKind.BRACED: 'str, as written in the text: {kind="sharding", ...}',
    AttributeKind.INT_LISTS: "tuple of tuples of int, in text {{1,2},{3}}",
    AttributeKind.OUTPUT_TO_OPERAND_ALIASING: "tuple of OutputToOperandAlias, in text {{0}: (1, {})}",
    AttributeKind.LITERAL: "Literal, in text the payload in constant(...)",
    AttributeKind.OPERAND_TEXT: "int, in text between the op's parentheses: parameter(0)",
}


REQUIRED: Any = object()


@dataclasses.dataclass(frozen=True, slots=True)
class Attribute:
    """One attribute of an op.

    `default` is the value where the text leaves the attribute out; a REQUIRED attribute has no default. XLA prints a
    `shown` attribute even where it has its default. An enum has one of `values`, if they are given. `doc` says what the
    attribute means to its op.
    """

    kind: AttributeKind
    default: Any = REQUIRED
    shown: bool = False
    values: tuple[str, ...] = ()
    doc: str = ""


class Trait(enum.Enum):
    __hash__ = object.__hash__  # Enum's own is written in Python, and passes ask for traits all the time

    ELEMENTWISE = enum.auto()  # output element i depends on element i of each operand (of the same dimensions) only
    COMMUTATIVE = enum.auto()  # binary, operands may be swapped
    ASSOCIATIVE = enum.auto()  # over integers and reals
    IDEMPOTENT = enum.auto()  # binary, and op(x, x) == x
    PROJECTION = enum.auto()  # unary, and op(op(x)) == op(x) except for complex x
    SIDE_EFFECT = enum.auto()  # never removed, never duplicated, never reordered against tokens
    COLLECTIVE = enum.auto()
    DATA_MOVEMENT = enum.auto()  # moves elements without computing any
    INDEX_MAP = enum.auto()  # each result element is an operand's element, or a constant, at an index of its own
    READS_PART = enum.auto()  # reads only as many elements of its first operand as its result has
    ACCUMULATES = enum.auto()  # each result element combines many operand elements by a computation
    PRODUCT = enum.auto()  # each result element is a sum of products of elements of the first two operands
    SUPERLINEAR = enum.auto()  # takes more work than its operands and results have elements
    CHEAP = enum.auto()  # costs almost nothing, or is computed within its users
    GIVEN = enum.auto()  # its value exists before its computation runs: a parameter or a constant
    CONVERSION = enum.auto()  # only changes the element type, by value or by bits
    NOT_FOLDED = enum.auto()  # stays where its operands are constants: it is smaller, or a pass made it on purpose
    TRANSCENDENTAL = enum.auto()  # takes many flops for each element
    NONDETERMINISTIC = enum.auto()  # each execution gives another value: rng
    CONTROL_FLOW = enum.auto()  # while, conditional, call: runs its computations as a whole, not per element
    PRIMITIVE = enum.auto()  # has no decomposition; a target that has these in a few types runs most programs
    NO_OPERAND_REQUIRED = enum.auto()  # variadic ops that allow zero operands
    NOP = enum.auto()  # needs no work at run time: it names, groups or orders values (XLA: IsNop)
    FORWARDING = enum.auto()  # its result shares its operands' buffers
    BARRIER = enum.auto()  # orders effects or marks a place: never moved, merged or folded
    ASYNC = enum.auto()  # a start, update or done of an asynchronous op: other work may run in between
    HOST_TRANSFER = enum.auto()  # transfers data to or from the host: infeed, outfeed, send, recv
    PER_DEVICE = enum.auto()  # its value depends on which device runs it
    KEEPS_BITS = enum.auto()  # each result element, or part of one, has the bits of an operand's: in NaNs too
    BITWISE = enum.auto()  # depends on bits, not numbers: gives another result in a wider type
    EXACT_IN_WIDER_INTEGERS = enum.auto()  # may be computed in wider integers and truncated to n bits
    KEEPS_PRECISION = enum.auto()  # a float type that holds the operands holds each result without rounding
    POSITIVE = enum.auto()  # positive operands give positive results, so that a 0 is one that underflowed
    ATOMIC = enum.auto()  # most processors have an instruction that combines an integer in memory with a value by it
    SIGNLESS = enum.auto()  # gives equal bits for signed and unsigned integers of one width, if its computation does


SameSizes = Callable[[Attributes, Sequence[int]], "list[list[tuple[int, int]]]"]
"""(attributes, ranks of the operands) -> groups of (operand, dimension) pairs that have equal sizes."""


def alike(ranks: Sequence[int], apart: Sequence[int] = ()) -> list[list[tuple[int, int]]]:
    """Returns groups for `same_sizes`: operands of the largest rank have equal sizes, except in dimensions `apart`."""
    rank = max(ranks, default=0)
    return [[(o, d) for o, r in enumerate(ranks) if r == rank] for d in range(rank) if d not in apart]


PINNED = frozenset(
    (Trait.SIDE_EFFECT, Trait.COLLECTIVE, Trait.NONDETERMINISTIC, Trait.BARRIER, Trait.ASYNC, Trait.PER_DEVICE)
)
"""Traits of ops whose meaning changes when they run elsewhere, at another time, or a different number of times."""


@dataclasses.dataclass(frozen=True, slots=True)
class GroupRule:
    """A collective's requirements on its device groups. (XLA: CheckReplicaGroups in xla/service/hlo_verifier.cc.)"""

    of_partitions: bool = False  # with a channel, the groups contain partitions
    equal: bool = True  # all groups have one size
    complete: bool = True  # every device is in a group


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class OpDef:
    """The definition of an opcode.

    Attributes:
        opcode: its name in HLO text.
        arity: the number of operands, or (least, most) with None for no limit.
        shape: checks operands and attributes and infers the result's shape.
        evaluate: the reference evaluation in numpy; None where the evaluator doesn't define the op.
        attributes: the op's own attributes, by name; every instruction also has `COMMON_ATTRIBUTES`.
        traits: further properties of the op.
        doc: a description in words.
        index_operands: number of operands -> the operands that are indices rather than data.
        in_place_operands: number of operands -> the operands that the op updates; result k begins as the k-th of them.
        predicate_operand: the operand that is pred whatever the others are.
        predicate_result: whether the result is pred whatever the operands are.
        same_sizes: which dimensions of its operands have equal sizes. None means all dimensions for an elementwise op,
            and no dimensions for another op.
        waits_for: for the second half of an asynchronous pair, the opcodes of its first half.
        operands_at: for a first half, the index in its result at which its operands are.
        result_at: for a second half, the index in its operand at which its result is.
        calls: the names of the attributes that hold computations, in order.
        identity: element type -> the value e for which op(e, x) == x for every x, including the sign of a zero (which
            products of complex numbers may change); None where there is no such value.
        ufunc: numpy's function for the op, by whose `reduce` and `at` the evaluator combines many elements at once. An
            op without one is evaluated step by step.
        applications: instruction -> how many times it applies `to_apply`; None where its cost isn't that of `to_apply`.
        flops: instruction -> how many floating-point operations it takes. None means one for each element of an
            elementwise op, and none for another op.
        cost: how many additions take as long as the op does for one element, in a loop of vectors on a CPU.
        sharding_rule: instruction -> how it is divided; None for an instruction that every device computes whole. An op
            without a rule is divided if it is elementwise.
        shard_attributes: (instruction, shapes of the operands' shards, shape of the result's shard) -> the attributes
            that a shard has in place of the instruction's.
        groups: for a collective, the requirements on its device groups.
        evaluate_group: a collective's evaluation for all devices of a group at once.
        group: the file of `xla_core/hlo/ops` that has its entry.
    """

    opcode: Opcode
    arity: int | tuple[int, int | None]
    shape: ShapeRule
    evaluate: Evaluate | None
    attributes: Mapping[str, Attribute] = dataclasses.field(default_factory=dict)
    traits: frozenset[Trait] = frozenset()
    doc: str = ""
    index_operands: Callable[[int], Sequence[int]] = lambda count: ()
    in_place_operands: Callable[[int], Sequence[int]] = lambda count: ()
    predicate_operand: int | None = None
    predicate_result: bool = False
    same_sizes: SameSizes | None = None
    waits_for: tuple[Opcode, ...] = ()
    operands_at: tuple[int, ...] | None = None
    result_at: tuple[int, ...] | None = None
    identity: Callable[[ElementType], complex | None] = lambda element_type: None
    ufunc: np.ufunc | None = None
    applications: Count | None = None
    flops: Count | None = None
    cost: float = 1.0
    sharding_rule: Callable[[HloInstruction], ShardingRule | None] | None = None
    shard_attributes: Callable[[HloInstruction, Sequence[Shape], Shape], Attributes] | None = None
    groups: GroupRule | None = None
    evaluate_group: EvaluateGroup | None = None
    group: str = ""
    calls: tuple[str, ...] = dataclasses.field(init=False)

    def __post_init__(self) -> None:
        kinds = (AttributeKind.COMPUTATION, AttributeKind.COMPUTATIONS)
        object.__setattr__(self, "calls", tuple(n for n, a in self.attributes.items() if a.kind in kinds))

    def complete(self, attributes: Attributes) -> Attributes:
        """Returns the attributes with the defaults of those that are left out."""
        if not self.attributes:
            return attributes
        defaults = {n: a.default for n, a in self.attributes.items() if a.default is not REQUIRED}
        return {**defaults, **attributes}

    @property
    def is_elementwise(self) -> bool:
        return Trait.ELEMENTWISE in self.traits

    @property
    def rearranges(self) -> bool:
        """Whether the result has elements of the one operand, at other indices and in the same type."""
        return self.arity == 1 and Trait.INDEX_MAP in self.traits and Trait.BITWISE not in self.traits

    def wrong_arity(self, n: int) -> str | None:
        """Says that the op doesn't take n operands; returns None where it does."""
        least, most = (self.arity, self.arity) if isinstance(self.arity, int) else self.arity
        if n >= least and (most is None or n <= most):
            return None
        count = str(least) if least == most else f"at least {least}" if most is None else f"{least} to {most}"
        return f"{self.opcode} takes {count} operands, not {n}"

    def missing_attribute(self, attributes: Attributes) -> str | None:
        """Says that a required attribute is left out; returns None where none is."""
        missing = [n for n, a in self.attributes.items() if a.default is REQUIRED and n not in attributes]
        return f"{self.opcode} lacks attribute {missing[0]}" if missing else None

    def attribute(self, name: str) -> Attribute | None:
        """Returns the op's own attribute or the common one of this name, or None."""
        return self.attributes.get(name) or COMMON_ATTRIBUTES.get(name)


OPS: dict[Opcode, OpDef] = {}
_BY_NAME: dict[str, OpDef] = {}

COMMON_ATTRIBUTES: Mapping[str, Attribute] = {
    "sharding": Attribute(AttributeKind.SHARDING, None),
    "frontend_attributes": Attribute(AttributeKind.DICT, ()),
    "backend_config": Attribute(AttributeKind.BACKEND_CONFIG, ""),
}
"""Attributes that any instruction may have besides its op's own."""


def define(op: OpDef) -> OpDef:
    if op.opcode in OPS:
        raise AlreadyExistsError(f"op {op.opcode!r} is in the table already")
    OPS[op.opcode] = op
    _BY_NAME[op.opcode.value] = op
    return op


def find(name: str) -> OpDef | None:
    """Returns the entry of the op that HLO text calls `name`."""
    return _BY_NAME.get(name)


def lookup(opcode: str) -> OpDef:
    """Returns the entry of an opcode.

    Raises:
        InvalidArgumentError: for an unknown opcode; it names the nearest ones.
    """
    try:
        return _BY_NAME[opcode]
    except (KeyError, TypeError):
        require("opcode", opcode, str, "text")
        raise InvalidArgumentError(f"unknown HLO opcode {opcode!r}", hint=did_you_mean(opcode, OPS)) from None
