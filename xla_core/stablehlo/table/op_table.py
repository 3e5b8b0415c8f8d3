"""The StableHLO op table: the definition of every op of the stablehlo, chlo and func dialects, as data.

An op has one `OpDef`: operands, attributes, regions, results, the rule that checks the op and infers its result types,
and its lowering to HLO. Verifier, refinement, lowering and docs read the table, and none has its own list of ops. The
entries are in `xla_core/stablehlo/ops/`, with a file for each group of ops.
"""

from __future__ import annotations

import dataclasses
import difflib
import enum
import functools
import inspect
from collections.abc import Callable, Container, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from xla_core.errors import AlreadyExistsError, UnimplementedError
from xla_core.hlo.table.op_table import lookup as hlo_op
from xla_core.hlo.table.opcode import Opcode
from xla_core.stablehlo import ir
from xla_core.stablehlo.table.type_constraints import ANY_TENSOR, TENSOR, TypeConstraint

if TYPE_CHECKING:
    from xla_core.hlo.ir.instruction import HloInstruction
    from xla_core.spmd import Sharding


class Kind(enum.Enum):
    """The kind of an attribute. The value is the kind's name in MLIR's diagnostics."""

    BOOL = "bool attribute"
    INT = "64-bit signless integer attribute"
    INT32 = "32-bit signless integer attribute"
    FLOAT = "32-bit float attribute"
    STRING = "string attribute"
    INTS = "i64 dense array attribute"
    INT32S = "i32 dense array attribute"
    BOOLS = "i1 dense array attribute"
    ELEMENTS = "64-bit signless integer elements attribute"  # DenseElements
    CONSTANT = "constant vector/tensor attribute"  # DenseElements of any type
    ENUM = "one of the enumeration's cases"
    CASE_NUMBER = "32-bit number of one of the enumeration's cases"
    PRECISIONS = "Precision Config attribute"
    SYMBOL = "flat symbol reference attribute"
    SYMBOLS = "flat symbol ref array attribute"
    DICTIONARY = "dictionary of named attribute values"
    STRING_OR_DICTIONARY = "string attribute or dictionary of named attribute values"
    ARRAY = "array attribute"
    STRUCT = "attribute of the op's own kind"  # DotDimensionNumbers, ChannelHandle, ...
    UNIT = "unit attribute"
    ANY = "any attribute"


REQUIRED: Any = object()


@dataclasses.dataclass(frozen=True, slots=True)
class Attribute:
    """One attribute of an op.

    An absent attribute has the value `default`. `minimum` is the least allowed integer, and `cases` has the values of
    an enum. A STRUCT is an instance of one of `classes`, which diagnostics call `says`. Versions of the op before
    version `since` lack the attribute.
    """

    kind: Kind
    default: Any = REQUIRED
    minimum: int | None = None
    cases: tuple[str, ...] = ()
    classes: tuple[type, ...] = ()
    says: str = ""
    since: int = 1


class Arity(enum.Enum):
    ONE = "one"
    OPTIONAL = "optional"
    VARIADIC = "variadic"


@dataclasses.dataclass(frozen=True, slots=True)
class Values:
    """An operand or result, or a variadic group of them: its name in the specification and the allowed types.

    The value of a `static` operand gives a shape and must be known when the program is compiled.
    """

    name: str
    types: TypeConstraint = TENSOR
    arity: Arity = Arity.ONE
    static: bool = False


class Trait(enum.Enum):
    COMMUTATIVE = enum.auto()  # a binary op whose operands may be swapped
    TERMINATOR = enum.auto()  # ends a block and may not stand elsewhere
    SIDE_EFFECT = enum.auto()
    ISOLATED_REGIONS = enum.auto()  # its regions may not capture values
    COLLECTIVE = enum.auto()
    ASYNCHRONOUS = enum.auto()  # may stand in the region of async_start
    PER_DEVICE = enum.auto()  # its value depends on the device that runs it
    INFERRED_FROM_REGIONS = enum.auto()  # its rule needs the region's results and runs after the region's checks
    PROMOTES = enum.auto()  # since release 0.17 results may have other element types than operands
    VERSION_BY_OPERANDS = enum.auto()  # operands, results or regions determine the version of its VHLO op
    SEGMENTED = enum.auto()  # its properties have the sizes of its variadic groups of operands and results
    ON_STORAGE = enum.auto()  # only moves elements, so a quantized op runs on the storage type


Rule = Callable[[ir.Op, ir.Module], "Sequence[ir.Type] | None"]
"""(op, its module) -> result types that follow from operands and attributes, None where the declared ones stand. Raises
InvalidArgumentError for operands and attributes that the specification forbids.
"""

ResultSharding = Callable[[ir.Op, "Sharding | None"], "Sharding | None"]
"""(op, sharding of its first operand) -> sharding of its results."""

Lower = Callable[..., "HloInstruction | Sequence[HloInstruction] | None"]
"""(context, op, *operands as HLO instructions) -> the result, or one instruction a result."""


class OneOpLowering:
    """A lowering to one HLO op. The two ops compute the same.

    Attributes:
        attributes: StableHLO's name of each attribute, by HLO's. It is in a tuple where HLO has a list of one number
            and StableHLO has the number. The fields of a structure are attributes in HLO (see `hlo_name`).
    """

    opcode: Opcode
    attributes: dict[str, str | tuple[str] | Columns]


@dataclasses.dataclass(frozen=True, slots=True)
class Columns:
    """An attribute of HLO that has one structure for each dimension; StableHLO has a list for each of its fields."""

    structure: type
    names: tuple[str, ...]


def hlo_name(field: str) -> str:
    """Returns the name of the HLO attribute that a field of a structure becomes."""
    return field.replace("batching_dimensions", "batch_dims").replace("_dimensions", "_dims")


@dataclasses.dataclass(frozen=True, kw_only=True)
class OpDef:
    """The definition of an op.

    Attributes:
        name: the name with the dialect.
        regions: the number of regions; None for any number.
        type_traits: the relations between the types of operands and results; `verify/type_traits.py` checks them.
        rule: makes the checks that only this op needs, and infers the result types.
        symbols: checks the functions and meshes that an op names, after all other checks; None if the op names none.
        lower: lowers the op to HLO; None for ops that have no HLO of their own, such as the return of a region.
        counterpart: the HLO op that is translated to this op, with its attributes; None if there is none.
        result_sharding: how an op that moves dimensions is sharded; None where results are sharded as operands of their
            sizes.
        assembly: the pretty form, in the notation of `assembly_format.py`; None if the op has only the generic form.
        releases: the release of StableHLO that added each version of the op; empty if portable artifacts lack it.
        doc: what the op computes.
        lowering: a description of the HLO that the op is lowered to.
        group: the file of `xla_core/stablehlo/ops` that has its entry.
    """

    name: str
    operands: tuple[Values, ...]
    results: tuple[Values, ...]
    attributes: Mapping[str, Attribute]
    regions: int | None
    type_traits: tuple[str, ...]
    rule: Rule
    symbols: Rule | None
    lower: Lower | None
    counterpart: OneOpLowering | None
    result_sharding: ResultSharding | None
    traits: frozenset[Trait]
    assembly: str | None
    releases: tuple[tuple[int, int], ...]
    doc: str
    lowering: str
    group: str

    @functools.cached_property
    def operand_count(self) -> tuple[int, int | None]:
        """(least, most) operands; most is None without a limit."""
        return _count(self.operands)

    @functools.cached_property
    def result_count(self) -> tuple[int, int | None]:
        return _count(self.results)

    def attribute(self, op: ir.Op, name: str) -> Any:
        """Returns the value of an op's attribute, or its default."""
        value = op.attributes.get(name)
        return self.attributes[name].default if value is None else value


def _count(values: Sequence[Values]) -> tuple[int, int | None]:
    least = sum(v.arity is Arity.ONE for v in values)
    return least, None if any(v.arity is Arity.VARIADIC for v in values) else len(values)


OPS: dict[str, OpDef] = {}


class OpGroup:
    """A file of `xla_core/stablehlo/ops`, whose ops it adds to the table."""

    def __init__(self, name: str) -> None:
        self.name = name

    def define(
        self,
        name: str,
        operands: str | Sequence[Values],
        results: str | Sequence[Values] = "result",
        *,
        lower: Lower | None,
        counterpart: OneOpLowering | None = None,
        result_sharding: ResultSharding | None = None,
        rule: Rule | None = None,
        symbols: Rule | None = None,
        attributes: Mapping[str, Attribute] | None = None,
        regions: int | None = 0,
        traits: Sequence[Trait] = (),
        type_traits: Sequence[str] = (),
        types: TypeConstraint | None = None,
        result_types: TypeConstraint | None = None,
        assembly: str | None = None,
        releases: str | None = None,
        doc: str = "",
    ) -> OpDef:
        """Adds an op to the table.

        Operands and results may be given as a string of names separated by spaces, each with a suffix `*` (variadic),
        `?` (optional) or `!` (static). Then operands have `types`, and results `result_types`, by default `types`.
        `releases` such as "0.9 1.5" lists the releases of StableHLO that added the versions of the op; the default is
        0.9, the first release, and none for other dialects. Without a `doc`, an op that is lowered to one HLO op has
        that op's documentation, and any other op has the docstring of `lower`. A OneOpLowering is also the
        `counterpart`.
        """
        if name in OPS:
            raise AlreadyExistsError(f"op {name!r} is in the table already")
        if types is None:
            types = ANY_TENSOR if name.startswith("chlo.") else TENSOR
        if releases is None:
            releases = "0.9" if name.startswith("stablehlo.") else ""
        lowering = inspect.getdoc(lower) or ""
        if not doc:
            doc = hlo_op(lower.opcode).doc if isinstance(lower, OneOpLowering) else lowering
        op = OpDef(
            name=name,
            operands=_values(operands, _of_dialect(name, types)),
            results=_values(results, _of_dialect(name, types if result_types is None else result_types)),
            attributes=dict(attributes or {}),
            regions=regions,
            type_traits=tuple(type_traits),
            rule=rule or (lambda op, module: None),
            symbols=symbols,
            lower=lower,
            counterpart=lower if isinstance(lower, OneOpLowering) else counterpart,
            result_sharding=result_sharding,
            traits=frozenset(traits),
            assembly=assembly,
            releases=tuple([_release(text) for text in releases.split()]),
            doc=doc,
            lowering=lowering,
            group=self.name,
        )
        OPS[name] = op
        return op


def _release(text: str) -> tuple[int, int]:
    major, _, minor = text.partition(".")
    return int(major), int(minor)


def _of_dialect(name: str, types: TypeConstraint) -> TypeConstraint:
    """Makes the constraint of a CHLO op accept unranked tensors too."""
    is_plain = types.rank is None and not types.static
    return dataclasses.replace(types, unranked=True) if name.startswith("chlo.") and is_plain else types


_SUFFIX = {"*": Arity.VARIADIC, "?": Arity.OPTIONAL}


def _values(values: str | Sequence[Values], types: TypeConstraint) -> tuple[Values, ...]:
    if not isinstance(values, str):
        return tuple(values)
    return tuple(
        Values(word.rstrip("*?!"), types, _SUFFIX.get(word.rstrip("!")[-1], Arity.ONE), "!" in word)
        for word in values.split()
    )


PROGRAMS_HINT = (
    "programs are text of StableHLO, text of HLO, which begins with HloModule, MLIR bytecode, or a serialized "
    "HloModuleProto or HloProto"
)
OTHER_DIALECT_HINT = "programs are StableHLO and CHLO, with func and sdy: lower other dialects to these first"


@functools.cache
def commutative_ops() -> frozenset[str]:
    """Returns the names of the ops that may stand in `reduce ... applies op`."""
    return frozenset(name for name, op in OPS.items() if Trait.COMMUTATIVE in op.traits)


def has_properties(name: str) -> bool:
    """Tells whether an op may have properties, `<{...}>`. An op without attributes may not even have empty ones."""
    definition = OPS.get(name)
    return definition is None or bool(definition.attributes)


def namesakes(name: str, known: Container[str]) -> list[str]:
    """Returns the known ops of StableHLO and CHLO that have the same name as an op of another dialect."""
    own = name.partition(".")[2]
    return [other for other in (f"stablehlo.{own}", f"chlo.{own}") if own and other in known]


def lookup(op: ir.Op) -> OpDef:
    """Returns the entry of an op. Raises UnimplementedError, with similar names, for an unknown op."""
    try:
        return OPS[op.name]
    except KeyError:
        near = namesakes(op.name, OPS) or difflib.get_close_matches(op.name, OPS, 3)
        hint = f"did you mean {', '.join(near)}?" if near else OTHER_DIALECT_HINT
        raise UnimplementedError(f"unknown op '{op.name}'", op=op.name, location=op.location, hint=hint) from None
