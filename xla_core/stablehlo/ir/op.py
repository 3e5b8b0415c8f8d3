"""The op tree: modules, regions, blocks, ops and values.

An `Op` is generic: a name, operands, attributes, regions, result types and a location, as in MLIR's generic form. The
op table (`xla_core.stablehlo.table`) says what an op means.
"""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NoReturn, Protocol

from xla_core.checks import did_you_mean, require
from xla_core.errors import InvalidArgumentError, SourceLocation, XlaError
from xla_core.stablehlo.ir.types import FunctionType, Type

__all__ = [
    "Block",
    "LazyLocation",
    "LocationParts",
    "Module",
    "Op",
    "Region",
    "Value",
    "captured_values",
    "find_location",
    "new_op",
    "op_names",
    "require_module",
]

_NO_ATTRIBUTES: Mapping[str, Any] = MappingProxyType({})


class LazyLocation(Protocol):
    """A location that is resolved when it is first asked for."""

    def resolve(self) -> SourceLocation: ...


LocationParts = tuple[str, "tuple[str, int, int] | None", Sequence[Any]]
"""The name and the (file, line, column) of a location, where it has them, and the locations within it."""


def find_location(root: Any, parts: Callable[[Any], LocationParts]) -> SourceLocation:
    """Returns two parts of a tree of locations, `root`, whose nodes `parts` reads.

    They are the place in the user's program (the first one, the innermost frame of a call stack) and the name stack
    (the outermost name).
    """
    name, place = "", None
    seen: set[Any] = set()
    stack = [root]
    while stack and not (name and place):
        node = stack.pop()
        if node not in seen:
            seen.add(node)
            own_name, own_place, inner = parts(node)
            name, place = name or own_name, place or own_place
            stack.extend(reversed(inner))
    return SourceLocation(*(place or ("", 0, 0)), name)


class Value:
    """One SSA value: the result of `owner` (an Op) or an argument of `owner` (a Block).

    `name` is the name in the text without % ("0", "arg1"). The results of `%0:2` are both named "0".
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

    `name` has the dialect ("stablehlo.add", "func.func", "chlo.top_k"). `attributes` has inherent and discardable
    attributes. Ops may share the mapping, so it is replaced, never changed. `func.func` has sym_name, function_type,
    sym_visibility, arg_attrs and res_attrs as in MLIR, and one region, which is empty for a declaration.
    `given_location` is the location as a reader gave it, which `location` resolves.
    """

    __slots__ = ("attributes", "given_location", "name", "operands", "regions", "results")

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
        self.given_location = location

    @property
    def location(self) -> SourceLocation | None:
        """Where the op comes from: the place in the user's program if it is given, else the place in the text."""
        location = self.given_location
        if location is None or isinstance(location, SourceLocation):
            return location
        self.given_location = resolved = location.resolve()
        return resolved

    @location.setter
    def location(self, location: SourceLocation | LazyLocation | None) -> None:
        self.given_location = location

    def __repr__(self) -> str:
        return f"<{self.name} at {self.location}>"

    def fail(self, message: str, *, hint: str | None = None) -> NoReturn:
        """Raises InvalidArgumentError at the op's location, worded as MLIR words an op's error."""
        raise InvalidArgumentError(f"'{self.name}' op {message}", op=self.name, location=self.location, hint=hint)

    @contextlib.contextmanager
    def located(self) -> Iterator[None]:
        """Names this op and its location in an XlaError that the block raises."""
        try:
            yield
        except XlaError as error:
            error.op, error.location = self.name, self.location
            raise

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
    """Makes an `Op` without regions. The readers use it because it is twice as fast."""
    op: Op = _new(Op)
    op.name = name
    op.operands = operands
    op.attributes = attributes
    op.regions = ()
    op.given_location = location
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

    `argument_locations` has an entry for each argument, or none if the text gives no location. It resolves
    `given_argument_locations`, which are as a reader gave them.
    """

    __slots__ = ("arguments", "given_argument_locations", "ops")

    def __init__(self, argument_types: tuple[Type, ...] | list[Type] = ()) -> None:
        self.arguments = [Value(t, self, i) for i, t in enumerate(argument_types)]
        self.ops: list[Op] = []
        self.given_argument_locations: list[SourceLocation | LazyLocation | None] = []

    @property
    def argument_locations(self) -> list[SourceLocation | None]:
        return [x if x is None or isinstance(x, SourceLocation) else x.resolve() for x in self.given_argument_locations]

    @argument_locations.setter
    def argument_locations(self, locations: list[SourceLocation | LazyLocation | None]) -> None:
        self.given_argument_locations = locations


class Region:
    """A list of blocks: one in StableHLO, or none."""

    __slots__ = ("blocks",)

    def __init__(self, blocks: list[Block] | None = None) -> None:
        self.blocks: list[Block] = [] if blocks is None else blocks

    @property
    def block(self) -> Block:
        return self.blocks[0]


def captured_values(region: Region) -> list[Value]:
    """Returns the operands in a region, in order, that are defined outside of it."""
    ops = [op for block in region.blocks for outer in block.ops for op in outer.walk()]
    blocks = [*region.blocks, *(block for op in ops for nested in op.regions for block in nested.blocks)]
    inside = {result for op in ops for result in op.results}.union(*(block.arguments for block in blocks))
    return [value for op in ops for value in op.operands if value not in inside]


@dataclasses.dataclass(slots=True)
class Module:
    """`builtin.module`: its functions by name, its own attributes (mhlo.num_replicas, ...), other top-level ops.

    `others` has the other ops, such as `sdy.mesh` or a nested `builtin.module`. `source` is the text of the module
    (empty for bytecode), and `file` the name of the text.
    """

    name: str = ""
    attributes: dict[str, Any] = dataclasses.field(default_factory=dict)
    functions: dict[str, Op] = dataclasses.field(default_factory=dict)
    others: list[Op] = dataclasses.field(default_factory=list)
    source: str = ""
    file: str = ""

    @staticmethod
    def of(ops: list[Op], source: str = "", file: str = "") -> Module:
        """Makes a module of top-level ops, or of the contents of the only `builtin.module`.

        Raises InvalidArgumentError if two ops have the same symbol.
        """
        module = Module(source=source, file=file)
        if len(ops) == 1 and ops[0].name == "builtin.module":
            module.attributes = dict(ops[0].attributes)
            module.name = str(module.attributes.pop("sym_name", ""))
            ops = [op for region in ops[0].regions for block in region.blocks for op in block.ops]
        symbols: set[str] = set()
        for op in ops:
            name = op.attributes.get("sym_name")
            if isinstance(name, str):
                if name in symbols:
                    raise InvalidArgumentError(f"the symbol @{name} is defined twice", op=op.name, location=op.location)
                symbols.add(name)
            if op.name == "func.func" and isinstance(name, str):
                module.functions[name] = op
            else:
                module.others.append(op)
        return module

    @staticmethod
    def of_function(block: Block) -> Module:
        """Makes a module whose only function is `main` with this body."""
        type = FunctionType(tuple(a.type for a in block.arguments), tuple(v.type for v in block.ops[-1].operands))
        function = Op("func.func", [], (), {"sym_name": "main", "function_type": type}, [Region([block])])
        return Module(functions={"main": function})

    def function(self, name: str, op: Op) -> Op:
        """Returns the function that `op` names. Raises InvalidArgumentError at `op` if there is none."""
        if name not in self.functions:
            op.fail(f"'{name}' does not reference a valid function", hint=did_you_mean(name, self.functions, 1, 0.7))
        return self.functions[name]

    def types(self) -> Iterator[Type]:
        """The types of all results and block arguments."""
        for op in self.walk():
            yield from (result.type for result in op.results)
            yield from (a.type for region in op.regions for block in region.blocks for a in block.arguments)

    def walk(self) -> Iterator[Op]:
        """Every op: the functions in order, then the others, each outermost first."""
        for function in self.functions.values():
            yield from function.walk()
        for op in self.others:
            yield from op.walk()


def require_module(module: object) -> None:
    """Raises InvalidArgumentError unless `module` is a StableHLO module."""
    hint = "xla_core.stablehlo.read makes one of text or bytecode, from_hlo one of HLO"
    require("module", module, Module, "a StableHLO module", hint=hint)


def op_names(module: Module) -> set[str]:
    """Returns the names of all ops of a module. It is faster than a walk."""
    names = set()
    stack = [*module.functions.values(), *module.others]
    while stack:
        op = stack.pop()
        names.add(op.name)
        for region in op.regions:
            for block in region.blocks:
                stack += block.ops
    return names
