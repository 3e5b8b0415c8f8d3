"""Reads `loc(...)` into tuples, and turns them into a SourceLocation when it is asked for."""

from __future__ import annotations

import re

from xla_core.errors import SourceLocation
from xla_core.stablehlo import ir
from xla_core.stablehlo.text.cursor import Cursor

Node = str | ir.LocationParts
"""A location, or an alias such as "#loc1"."""

_ALIAS = re.compile(r"#[A-Za-z_$.][\w$.\-]*|#[0-9]+", re.ASCII).match
_UNKNOWN: Node = ("", None, ())


class LocationTree:
    """A location that is resolved on demand, when the table of aliases is complete."""

    __slots__ = ("aliases", "node")

    def __init__(self, node: Node, aliases: dict[str, Node]) -> None:
        self.node = node
        self.aliases = aliases

    def resolve(self) -> SourceLocation:
        return ir.find_location(self.node, self._parts)

    def _parts(self, node: Node) -> ir.LocationParts:
        return ("", None, (self.aliases.get(node, _UNKNOWN),)) if isinstance(node, str) else node


class LocationReader(Cursor):
    """Reads `loc(...)` and keeps the table of location aliases."""

    def __init__(self, source: str, file: str) -> None:
        super().__init__(source, file)
        self.location_nodes: dict[str, Node] = {}
        self.location_uses: dict[str, tuple[LocationTree, int]] = {}

    def alias_location(self, alias: str, offset: int) -> LocationTree:
        """Returns the location of an alias, which may be defined later."""
        use = self.location_uses.get(alias)
        if use is None:
            use = (LocationTree(alias, self.location_nodes), offset)
            self.location_uses[alias] = use
        return use[0]

    def accept_location(self) -> LocationTree | None:
        """Reads `loc(...)` if it is next."""
        self.skip()
        if not self.source.startswith("loc(", self.position):
            return None
        start = self.position
        self.position += 4
        match = _ALIAS(self.source, self.position)
        if match is not None and self.source.startswith(")", match.end()):
            self.position = match.end() + 1
            return self.alias_location(match[0], start)
        node = self.plain(self.location)
        self.expect(")", "to end the location")
        return LocationTree(node, self.location_nodes)

    def location(self) -> Node:
        """Reads the text between the parentheses of `loc(...)`."""
        self.enter()
        try:
            if self.at_string():
                return self._file_or_name()
            if self.at("#"):
                match = self.take(_ALIAS, "a location alias")
                self.alias_location(match[0], match.start())
                return match[0]
            start = self.position
            word = self.word("a location")
            if word == "unknown":
                return _UNKNOWN
            if word == "callsite":
                self.expect("(")
                callee = self.location()
                self.expect_word("at")
                caller = self.location()
                self.expect(")")
                return ("", None, (callee, caller))
            if word == "fused":
                if self.at("<"):
                    self.balanced()
                children: list[Node] = []
                self.list_of("[", "]", lambda: children.append(self.location()))
                return ("", None, tuple(children))
            raise self.error(f"expected a location, found '{word}'", start)
        finally:
            self.leave()

    def _file_or_name(self) -> Node:
        name = self.string()
        if self.accept("("):
            child = self.location()
            self.expect(")", "to end the named location")
            return (name, None, (child,))
        if not self.accept(":"):
            return (name, None, ())
        line = self.integer("a line number")
        column = self.integer("a column") if self.accept(":") else 0
        if self.accept_word("to"):
            if not self.at(":"):
                self.integer("a line number")
            self.expect(":")
            self.integer("a column")
        return ("", (name, line, column), ())

    def check_location_aliases(self) -> None:
        """Checks at the end of the text that every alias that was used is defined."""
        for alias, (_, offset) in self.location_uses.items():
            if alias not in self.location_nodes:
                raise self.error(f"the location alias {alias} is never defined", offset)
