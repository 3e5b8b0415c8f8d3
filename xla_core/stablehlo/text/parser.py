"""Parses StableHLO text into a module."""

from __future__ import annotations

import re

from xla_core.checks import require
from xla_core.errors import XlaError
from xla_core.stablehlo import ir
from xla_core.stablehlo.ir.garbage_collection import reading
from xla_core.stablehlo.text.op_reader import OpReader

_ALIAS = re.compile(r"([#!])([A-Za-z_$.][\w$.\-]*|[0-9]+)", re.ASCII).match
_SEPARATOR = re.compile(r"^// -----.*$", re.MULTILINE)


def parse_text(source: str, file: str = "<input>") -> ir.Module:
    """Reads MLIR text: a module, or ops and functions without a module.

    The pretty and the generic form give the same tree. The reader checks types of operands, dominance and names; the
    verifier checks the ops.

    Args:
        source: the text.
        file: what to call it in locations and errors.

    Raises:
        InvalidArgumentError: with file, line, column, the line and what was expected.
    """
    require("source", source, str, "StableHLO text")
    with reading(file):
        return _Parser(source.removeprefix("\ufeff"), file).module()


def split_modules(source: str) -> list[str]:
    """Splits a text at lines `// -----`. Each part keeps its line numbers."""
    require("source", source, str, "StableHLO text")
    parts, start, line = [], 0, 0
    for match in _SEPARATOR.finditer(source):
        parts.append("\n" * line + source[start : match.start()])
        line += source.count("\n", start, match.end())
        start = match.end()
    parts.append("\n" * line + source[start:])
    return [part for part in parts if part.strip()] or [source]


class _Parser(OpReader):
    def module(self) -> ir.Module:
        self._find_resources()
        ops: list[ir.Op] = []
        while True:
            self.skip()
            char = self.source[self.position : self.position + 1]
            if not char:
                break
            if char in "#!":
                self._alias()
            elif self.source.startswith("{-#", self.position):
                self._resources()
            else:
                ops.append(self.operation())
        self.check_location_aliases()
        return self._to_module(ops)

    def _alias(self) -> None:
        """`#name = attribute`, `#loc1 = loc(...)`, `!name = type`."""
        match = self.take(_ALIAS, "an alias")
        kind, name = match.groups()
        self.expect("=", "after the alias")
        if kind == "!":
            if name in self.type_aliases or "." in name:
                raise self.error(f"the type alias !{name} is defined already or has a dot", match.start())
            self.type_aliases[name] = self.alias(self.type)
            return
        if name in self.attribute_aliases or f"#{name}" in self.location_nodes or "." in name:
            raise self.error(f"the alias #{name} is defined already or has a dot", match.start())
        if self.at("loc("):
            self.position += len("loc(")
            self.location_nodes[f"#{name}"] = self.location()
            self.expect(")", "to end the location")
        else:
            self.attribute_aliases[name] = self.alias(self.attribute)

    def _find_resources(self) -> None:
        """Reads `{-# ... #-}`, which stands at the end, before the attributes that refer to it."""
        start = self.source.rfind("{-#")
        if start >= 0:
            self.position = start
            try:
                self._resources()
            except XlaError:  # a string may look like one; a malformed one is reported when it is read in order
                self.resources.clear()
            self.position = self.depth = 0

    def _resources(self) -> None:
        """`{-# dialect_resources: {builtin: {name: "0x..."}} #-}`."""
        self.expect("{-#")
        while not self.accept("#-}"):
            self._resource()
            self.accept(",")

    def _resource(self) -> None:
        name = self.string() if self.at_string() else self.word("a resource's name")
        self.expect(":", "after the resource's name")
        if self.at("{"):
            self.enter()
            self.list_of("{", "}", self._resource)
            self.leave()
        elif self.at_string():
            self.resources[name] = self.string()
        else:
            self.attribute()

    def _to_module(self, ops: list[ir.Op]) -> ir.Module:
        if "vhlo." in self.source:
            from xla_core.stablehlo.text import vhlo_ops  # few texts are VHLO

            ops = vhlo_ops.convert_ops(ops)
        return ir.Module.of(ops, self.source, self.text.file)
