"""The StableHLO op tree: what the readers (text, bytecode) produce and the verifier and the lowering consume.

Generic on purpose: an `Op` is a name, operands, attributes, regions, result types and a location, as in MLIR's generic
form. What an op means is in the op table (`op_table.py`) and nowhere here; the values that attributes hold are in
`attributes.py`.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Protocol

from xla_core.checks import require
from xla_core.errors import InvalidArgumentError, SourceLocation

__all__ = [
    "DYNAMIC",
    "Block",
    "FunctionType",
    "LazyLocation",
    "Module",
    "Op",
    "OpaqueType",
    "QuantizedType",
    "Region",
    "ScalarType",
    "TensorType",
    "TokenType",
    "TupleType",
    "Type",
    "Value",
    "op_names",
    "require_module",
]

DYNAMIC = -1

_NO_ATTRIBUTES: Mapping[str, Any] = MappingProxyType({})


@dataclasses.dataclass(frozen=True, slots=True)
class QuantizedType:
    """`!quant.uniform<storage:expressed, ...>`.

    `scales` and `zero_points` have one entry per tensor (`axis` None), one per slice of `axis`, or, with `block_sizes`
    ((dimension, size) pairs, sub-channel quantization), one per block in row-major order.
    """

    storage: str
    expressed: str
    scales: tuple[float, ...]
    zero_points: tuple[int, ...]
    axis: int | None = None
    storage_min: int | None = None
    storage_max: int | None = None
    block_sizes: tuple[tuple[int, int], ...] = ()

    @property
    def storage_range(self) -> tuple[int, int]:
        """The least and the largest stored integer; of a storage type that is none, 0."""
        digits = self.storage.lstrip("sui")
        bits = int(digits) if digits.isdecimal() else 0
        if not bits:
            return self.storage_min or 0, self.storage_max or 0
        low, high = (0, (1 << bits) - 1) if self.storage.startswith("u") else (-(1 << bits - 1), (1 << bits - 1) - 1)
        return (
            low if self.storage_min is None else self.storage_min,
            high if self.storage_max is None else self.storage_max,
        )


@dataclasses.dataclass(frozen=True, slots=True)
class TensorType:
    """`tensor<2x?xf32>`.

    `element` is MLIR's spelling (i1, i32, ui8, f32, bf16, f8E4M3FN, "complex<f32>", index, "!other.dialect") or a
    QuantizedType. A `?` dimension is DYNAMIC (-1); `bounds` has an entry per dimension (None: unbounded) or is empty.
    `encoding` is any other encoding attribute. Raises InvalidArgumentError for a negative size.
    """

    shape: tuple[int, ...]
    element: str | QuantizedType
    bounds: tuple[int | None, ...] = ()
    encoding: Any = None

    def __post_init__(self) -> None:
        if self.shape and min(self.shape) < DYNAMIC:
            raise InvalidArgumentError(f"a tensor can't have the dimensions {list(self.shape)}: a size is not negative")

    @property
    def rank(self) -> int:
        return len(self.shape)

    @property
    def is_static(self) -> bool:
        return DYNAMIC not in self.shape

    def __str__(self) -> str:
        return type_text(self)


@dataclasses.dataclass(frozen=True, slots=True)
class TokenType:
    """`!stablehlo.token`."""

    def __str__(self) -> str:
        return type_text(self)


@dataclasses.dataclass(frozen=True, slots=True)
class TupleType:
    """`tuple<...>`."""

    elements: tuple[Type, ...]

    def __str__(self) -> str:
        return type_text(self)


@dataclasses.dataclass(frozen=True, slots=True)
class FunctionType:
    """`(inputs) -> results`."""

    inputs: tuple[Type, ...]
    results: tuple[Type, ...]

    def __str__(self) -> str:
        return type_text(self)


@dataclasses.dataclass(frozen=True, slots=True)
class OpaqueType:
    """Any other type (`!stablehlo.future<...>`, memref, vector, `tensor<*xf32>`, another dialect's), as written.

    `elements` has the types inside, where the reader knows how to find them (future: what it will hold).
    """

    text: str
    elements: tuple[Type, ...] = ()

    def __str__(self) -> str:
        return self.text


class ScalarType(str):
    """A bare scalar type, "i64", "f32" or "index": a str that can be told from a string attribute."""

    __slots__ = ()


Type = TensorType | TokenType | TupleType | FunctionType | OpaqueType | ScalarType


def type_text(root: Type | QuantizedType) -> str:
    """The MLIR text of a type. (Iterative: a type from a hostile program may be nested deeply.)"""
    out: list[str] = []
    stack: list[Any] = [root]
    while stack:
        item = stack.pop()
        if isinstance(item, TensorType):
            dims = "".join("?x" if d == DYNAMIC else f"{d}x" for d in item.shape)
            if item.bounds:
                text = ", ".join("?" if b is None else str(b) for b in item.bounds)
                tail = f", #stablehlo.bounds<{text}>>"
            else:
                tail = f", {item.encoding}>" if item.encoding is not None else ">"
            stack += [tail, item.element, f"tensor<{dims}"]
        elif isinstance(item, QuantizedType):
            out.append(_quantized_text(item))
        elif isinstance(item, TokenType):
            out.append("!stablehlo.token")
        elif isinstance(item, TupleType):
            stack += [">", *_commas(item.elements), "tuple<"]
        elif isinstance(item, FunctionType):
            if len(item.results) == 1 and not isinstance(item.results[0], FunctionType):
                stack.append(item.results[0])
            else:
                stack += [")", *_commas(item.results), "("]
            stack += [") -> ", *_commas(item.inputs), "("]
        else:
            out.append(str(item))
    return "".join(out)


def _commas(types: Sequence[Type]) -> list[Any]:
    """The types in reverse, with commas between them: what a stack wants."""
    items: list[Any] = []
    for t in reversed(types):
        items += [t, ", "]
    return items[:-1]


def _quantized_text(q: QuantizedType) -> str:
    storage = q.storage
    if q.storage_min is not None:
        storage += f"<{q.storage_min}:{q.storage_max}>"
    scales = [text if float(text := f"{s:e}") == s else repr(s) for s in q.scales]
    params = [f"{s}:{z}" if z else s for s, z in zip(scales, q.zero_points, strict=True)]
    if q.block_sizes:
        blocks = ",".join(f"{d}:{n}" for d, n in q.block_sizes)
        return f"!quant.uniform<{storage}:{q.expressed}:{{{blocks}}}, {{{','.join(params)}}}>"
    if q.axis is not None:
        return f"!quant.uniform<{storage}:{q.expressed}:{q.axis}, {{{','.join(params)}}}>"
    return f"!quant.uniform<{storage}:{q.expressed}, {params[0]}>"


class LazyLocation(Protocol):
    """A location that is resolved when it is first asked for."""

    def resolve(self) -> SourceLocation: ...


class Value:
    """One SSA value: the result of `owner` (an Op) or an argument of `owner` (a Block).

    `name` is what the text called it, without % ("0", "arg1"); the results of `%0:2` are both named "0".
    """

    __slots__ = ("index", "name", "owner", "type")

    def __init__(self, type: Type, owner: Op | Block, index: int, name: str = "") -> None:
        self.type = type
        self.owner = owner
        self.index = index
        self.name = name

    def __repr__(self) -> str:
        return f"%{self.name or self.index}: {self.type}"


class Op:
    """One op.

    `name` carries the dialect ("stablehlo.add", "func.func", "chlo.top_k"); `attributes` holds inherent and
    discardable ones alike; ops may share them, so they are replaced, never changed in place. `func.func` has sym_name,
    function_type, sym_visibility, arg_attrs and res_attrs as in MLIR, and one region, empty where it is only declared.
    """

    __slots__ = ("_location", "attributes", "name", "operands", "regions", "results")

    def __init__(
        self,
        name: str,
        operands: list[Value],
        result_types: Sequence[Type],
        attributes: Mapping[str, Any] = _NO_ATTRIBUTES,
        regions: Sequence[Region] = (),
        location: SourceLocation | LazyLocation | None = None,
    ) -> None:
        self.name = name
        self.operands = operands
        self.results = [Value(t, self, i) for i, t in enumerate(result_types)]
        self.attributes = attributes
        self.regions = regions
        self._location = location

    @property
    def location(self) -> SourceLocation | None:
        """Where the op comes from: the user's program if the text says so, else the place in the text."""
        location = self._location
        if location is None or isinstance(location, SourceLocation):
            return location
        self._location = resolved = location.resolve()
        return resolved

    @location.setter
    def location(self, location: SourceLocation | LazyLocation | None) -> None:
        self._location = location

    def __repr__(self) -> str:
        return f"<{self.name} at {self.location}>"

    def walk(self) -> Iterator[Op]:
        """The op itself and every op nested in it, outermost first."""
        stack = [self]
        while stack:
            op = stack.pop()
            yield op
            for region in reversed(op.regions):
                for block in reversed(region.blocks):
                    stack.extend(reversed(block.ops))


_new = object.__new__


def new_op(
    name: str,
    operands: list[Value],
    result_types: Sequence[Type],
    attributes: Mapping[str, Any],
    location: SourceLocation | LazyLocation | None,
) -> Op:
    """`Op` of an op without regions, for the readers, which make ops by the ten thousand: twice as fast."""
    op: Op = _new(Op)
    op.name = name
    op.operands = operands
    op.attributes = attributes
    op.regions = ()
    op._location = location
    if len(result_types) == 1:
        value: Value = _new(Value)
        value.type = result_types[0]
        value.owner = op
        value.index = 0
        value.name = ""
        op.results = [value]
    else:
        op.results = [Value(type, op, i) for i, type in enumerate(result_types)]
    return op


class Block:
    """A list of ops with arguments; its last op is its terminator.

    `argument_locations` has an entry per argument where the text gave any, else it is empty.
    """

    __slots__ = ("_argument_locations", "arguments", "ops")

    def __init__(self, argument_types: tuple[Type, ...] | list[Type] = ()) -> None:
        self.arguments = [Value(t, self, i) for i, t in enumerate(argument_types)]
        self.ops: list[Op] = []
        self._argument_locations: list[SourceLocation | LazyLocation | None] = []

    @property
    def argument_locations(self) -> list[SourceLocation | None]:
        return [x if x is None or isinstance(x, SourceLocation) else x.resolve() for x in self._argument_locations]

    @argument_locations.setter
    def argument_locations(self, locations: list[SourceLocation | LazyLocation | None]) -> None:
        self._argument_locations = locations


class Region:
    """A list of blocks; StableHLO has one a region, or none."""

    __slots__ = ("blocks",)

    def __init__(self, blocks: list[Block] | None = None) -> None:
        self.blocks: list[Block] = [] if blocks is None else blocks

    @property
    def block(self) -> Block:
        """The only block."""
        return self.blocks[0]


@dataclasses.dataclass(slots=True)
class Module:
    """`builtin.module`: its functions by name, its own attributes (mhlo.num_replicas, ...), other top-level ops.

    `others` holds what is neither: `sdy.mesh`, a nested `builtin.module`. `source` is the text it was read from
    (empty for bytecode), `file` that text's name.
    """

    name: str = ""
    attributes: dict[str, Any] = dataclasses.field(default_factory=dict)
    functions: dict[str, Op] = dataclasses.field(default_factory=dict)
    others: list[Op] = dataclasses.field(default_factory=list)
    source: str = ""
    file: str = ""

    def walk(self) -> Iterator[Op]:
        """Every op: the functions in order, then the others, each outermost first."""
        for function in self.functions.values():
            yield from function.walk()
        for op in self.others:
            yield from op.walk()


def require_module(module: object) -> None:
    """Raises InvalidArgumentError for what is no module of StableHLO."""
    hint = "xla_core.stablehlo.read makes one of text or bytecode, from_hlo one of HLO"
    require("module", module, Module, "a StableHLO module", hint=hint)


def op_names(module: Module) -> set[str]:
    """The names of all ops of a module; faster than a walk."""
    names = set()
    stack = [*module.functions.values(), *module.others]
    while stack:
        op = stack.pop()
        names.add(op.name)
        for region in op.regions:
            for block in region.blocks:
                stack += block.ops
    return names
