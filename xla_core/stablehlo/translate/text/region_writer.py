"""Writes regions and blocks, and names values. `OpWriter` writes the ops in them."""

from __future__ import annotations

from collections.abc import Sequence

from xla_core.errors import InternalError
from xla_core.stablehlo import ir
from xla_core.stablehlo.ir.attribute_text import location_text
from xla_core.stablehlo.text.type_directives import type_text


class RegionWriter:
    """Writes the regions of ops, and names the values in them."""

    def __init__(self, *, generic: bool = False, locations: bool = False) -> None:
        self.generic = generic
        self.with_locations = locations
        self.names: dict[ir.Value, str] = {}
        self._next_result = 0
        self._next_argument: dict[str, int] = {}

    # Values

    def value(self, value: ir.Value) -> str:
        name = self.names.get(value)
        if name is None:
            owner = value.owner
            raise InternalError(
                f"{value!r} is used where it is not defined",
                location=owner.location if isinstance(owner, ir.Op) else None,
            )
        return f"%{name}"

    def values(self, values: Sequence[ir.Value]) -> str:
        return ", ".join([self.value(value) for value in values])

    def begin_function(self) -> None:
        self.names.clear()
        self._next_result = 0
        self._next_argument.clear()

    def new_arguments(self, block: ir.Block, prefix: str) -> list[str]:
        """Returns names for a block's arguments, without %."""
        first = self._next_argument.get(prefix, 0)
        self._next_argument[prefix] = first + len(block.arguments)
        names = [f"{prefix}{first + i}" for i in range(len(block.arguments))]
        self.names.update(zip(block.arguments, names, strict=True))
        return names

    def _new_results(self, op: ir.Op) -> str:
        """Writes `%0 = ` or `%0:2 = `."""
        if not op.results:
            return ""
        name = str(self._next_result)
        self._next_result += 1
        if len(op.results) == 1:
            self.names[op.results[0]] = name
            return f"%{name} = "
        for i, result in enumerate(op.results):
            self.names[result] = f"{name}#{i}"
        return f"%{name}:{len(op.results)} = "

    # Regions

    def block(self, block: ir.Block, indent: str) -> str:
        """Writes `{ ops }` of a block whose arguments are named elsewhere."""
        inner = indent + "  "
        lines = [f"{inner}{self.op(op, inner)}\n" for op in block.ops]
        return f"{{\n{''.join(lines)}{indent}}}"

    def region(self, region: ir.Region, indent: str) -> str:
        """Writes `{ ^bb0(arguments): ops }`."""
        inner = indent + "  "
        parts = ["{\n"]
        for i, block in enumerate(region.blocks):
            if block.arguments or len(region.blocks) > 1 or not block.ops:
                names = self.new_arguments(block, "arg")
                places = self.argument_locations(block)
                rows = zip(names, block.arguments, places, strict=True)
                arguments = ", ".join(f"%{name}: {type_text(a.type)}{place}" for name, a, place in rows)
                parts.append(f"{indent}^bb{i}{f'({arguments})' if arguments else ''}:\n")
            parts += [f"{inner}{self.op(op, inner)}\n" for op in block.ops]
        return f"{''.join(parts)}{indent}}}"

    def regions(self, op: ir.Op, indent: str) -> str:
        """Writes `({...}, {...})`, or nothing."""
        if not op.regions:
            return ""
        return f"({', '.join([self.region(region, indent) for region in op.regions])})"

    def argument_locations(self, block: ir.Block) -> list[str]:
        """Writes ` loc(...)` for each argument, or nothing."""
        locations = block.argument_locations if self.with_locations else []
        return [f" {location_text(place)}" for place in locations] or [""] * len(block.arguments)

    def op(self, op: ir.Op, indent: str) -> str:
        """Writes one op, without the indentation before it."""
        raise NotImplementedError
