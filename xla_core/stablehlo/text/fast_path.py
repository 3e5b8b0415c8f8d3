"""Reads ops that are on one line in MLIR's own format, as most ops of a program are.

Each assembly format becomes one regular expression for the rest of the line. Where it matches, the op is built from the
groups; attributes and types are looked up by their text in tables, because programs repeat them. Where it does not
match, or something is wrong, `op_reader` reads the line. Both give the same op.

Matching takes linear time: a part that could match in two ways has a bounded length.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from typing import Any

from xla_core.errors import XlaError
from xla_core.stablehlo import ir
from xla_core.stablehlo.table.assembly_format import GENERIC_ASSEMBLY
from xla_core.stablehlo.table.op_table import commutative_ops, has_properties
from xla_core.stablehlo.text.assembly_format import BARE_NAMES, assembly_of, dictionary_problem, is_known
from xla_core.stablehlo.text.attribute_groups import ATTRIBUTE_GROUPS, attribute_dictionary
from xla_core.stablehlo.text.cursor import TextLocation
from xla_core.stablehlo.text.custom_assembly import CUSTOM, reducer, type_of_value
from xla_core.stablehlo.text.directives import ATTRIBUTES, Directive
from xla_core.stablehlo.text.region_reader import RegionReader
from xla_core.stablehlo.text.type_directives import SIGNATURES, Signature

LINE_START = re.compile(
    r"(?:[ \t\r\n]++|//[^\n]*+)*+"
    r"(?:%([\w$.\-]+)(?::([0-9]{1,6}))? = )?+"
    r"(?:([A-Za-z_][\w$.]*)|\"([\w.\-]+)\") *+",
    re.ASCII,
).match
"""The start of an op up to its name: result, number of results, pretty name, generic name."""

_OPERAND = r"%([\w$.\-]+(?:#[0-9]+)?)"
_OPERANDS = r"((?:%[\w$.\-]+(?:#[0-9]+)?(?:, )?)*+)"
_OPERANDS_WITH_COMMAS = r"((?:%[\w$.\-]+(?:#[0-9]+)?, ?)*+)"
_NAMES = re.compile(r"%([\w$.\-#]+)", re.ASCII).findall
_END = re.compile(r"(?: loc\((#[\w$.\-]+)\))? *+\n", re.ASCII)
_COMPACT_REDUCE = "( % init: % ) applies body:applied across dimensions = dimensions:dims attr-dict : :functional:"
_CONSTANT = r'dense<[^<>"\n\[]{0,64}> : tensor<[^<>\n]{0,64}(?:<f[0-9]{2}>)?>'
_LONGEST_KEY = 400
"""Longer texts are not cached, because they seldom repeat."""

_Read = Callable[[Any], Any]


class _NotFast(Exception):
    """A part of the format can't be delimited by a regular expression."""


class _Pattern:
    """An assembly format as a regular expression, with the meaning of its groups."""

    def __init__(self, form: str) -> None:
        self.operands: list[int] = []
        self.lists: list[int] = []
        self.attributes: list[tuple[int, str, _Read]] = []  # group, name ("" for several), reader
        self.signature: tuple[int, Callable[[Any, int], Signature]] | None = None
        self.groups = 0
        text = self._words(_COMPACT_REDUCE.split() if form == "<reduce>" else form.split())
        self.location = self._group()
        self.match = re.compile(text + _END.pattern, re.ASCII).match

    def _group(self) -> int:
        self.groups += 1
        return self.groups

    def _words(self, words: list[str]) -> str:
        parts = []
        for word in words:
            if word == "(?":
                parts.append("(?:")
            elif word == "?)":
                parts.append(")?")
            else:
                parts.append(self._word(word) + " ?")
        return "".join(parts).removesuffix(" ?")

    def _word(self, word: str) -> str:
        name, _, kind = word.rpartition(":")
        if word == "%":
            self.operands.append(self._group())
            return _OPERAND
        if word in ("%*", "%,*"):
            self.lists.append(self._group())
            return _OPERANDS if word == "%*" else _OPERANDS_WITH_COMMAS
        if word == "<constant>":
            return self._attribute("value", ATTRIBUTES["attribute"].read, _CONSTANT)
        if word == "body:applied":
            names = "|".join(map(re.escape, sorted(commutative_ops())))
            return self._attribute("body", lambda reader: reader.word("an op"), names)
        if word in ATTRIBUTE_GROUPS:
            return self._directive("", ATTRIBUTE_GROUPS[word])
        if word.startswith(":") and word[1:-1] in SIGNATURES:
            read, _, pattern = SIGNATURES[word[1:-1]]
            if pattern is None:
                raise _NotFast
            self.signature = self._group(), read
            return f"({pattern})"
        if word in CUSTOM or word == ":value:":
            raise _NotFast
        if name and kind in ATTRIBUTES:
            return self._directive(name, ATTRIBUTES[kind])
        return re.escape(word)

    def _directive(self, name: str, directive: Directive) -> str:
        return self._attribute(name, directive.read, directive.pattern)

    def _attribute(self, name: str, read: _Read, pattern: str | None) -> str:
        if pattern is None:
            raise _NotFast
        self.attributes.append((self._group(), name, read))
        return f"({pattern})"


@functools.cache
def _pattern(form: str) -> _Pattern | None:
    try:
        return _Pattern(form)
    except _NotFast:
        return None


def fast_form(reader: RegionReader, name: str, is_generic: bool) -> FastForm | None:
    """Returns one reader's reader of ops of a name, or None if the format has no regular expression."""
    if is_generic:
        generic = GENERIC_ASSEMBLY if has_properties(name) else GENERIC_ASSEMBLY.replace("<properties> ", "")
        pattern = _pattern(generic) if is_known(name) else None
        return FastForm(reader, name, pattern, is_generic) if pattern else None
    name = BARE_NAMES.get(name, name)
    form = assembly_of(name)
    pattern = _pattern(form) if form else None
    return FastForm(reader, name, pattern, is_generic) if pattern else None


def _checked_dictionary(op: str) -> _Read:
    """Reads the dictionary of a pretty form; raises for an illegal one, which `op_reader` then reports."""

    def read(reader: Any) -> dict[str, Any]:
        values = attribute_dictionary(reader)
        problem = dictionary_problem(op, values)
        if problem is not None:
            raise reader.error(problem)
        return values

    return read


class FastForm:
    """Reads ops of one name, and caches the attributes and types by their texts."""

    __slots__ = ("attributes", "is_reduce", "lists", "location", "match", "name", "operands", "reader", "signature",
                 "signatures")  # fmt: skip

    def __init__(self, reader: RegionReader, name: str, pattern: _Pattern, is_generic: bool) -> None:
        self.reader = reader
        self.name = name
        self.match = pattern.match
        self.operands = tuple(pattern.operands)
        self.lists = tuple(pattern.lists)
        self.location = pattern.location
        self.attributes: tuple[tuple[int, str, _Read, dict[str, Any]], ...] = tuple(
            (group, key, _checked_dictionary(name) if read is attribute_dictionary and not is_generic else read, {})
            for group, key, read in pattern.attributes
        )
        self.signature = pattern.signature
        self.signatures: dict[str, Signature] = {}
        self.is_reduce = any(key == "body" for _, key, _ in pattern.attributes)

    def read(self, start: re.Match[str], offset: int) -> ir.Op | None:
        """Returns the op whose name ends where `start` ends, or None if `op_reader` has to read it."""
        reader = self.reader
        match = self.match(reader.source, start.end())
        if match is None:
            return None
        values = reader.values
        operands: list[ir.Value] = []
        for group in self.operands:
            value = values.get(match[group])
            if value is None:
                return None
            operands.append(value)
        for group in self.lists:
            for name in _NAMES(match[group]):
                value = values.get(name)
                if value is None:
                    return None
                operands.append(value)
        attributes = self._attributes(match)
        if attributes is None:
            return None
        if self.signature is None:
            types: tuple[ir.Type, ...] = ()
            result = type_of_value(attributes["value"])
            if result is None:
                return None
            results: tuple[ir.Type, ...] = (result,)
        else:
            signature = self._signature(match, len(operands))
            if signature is None:
                return None
            types, results = signature
            for value, type in zip(operands, types, strict=True):
                if value.type is not type and value.type != type:
                    return None
        name, count = start[1], start[2]
        if name is not None and (name in values or len(results) != int(count or 1)):
            return None
        alias = match[self.location]
        location = (
            reader.alias_location(alias, match.start(self.location)) if alias else TextLocation(reader.text, offset)
        )
        if self.is_reduce:
            if not types:
                return None
            region = reducer(attributes.pop("body"), types[0], location)
            op = ir.Op(self.name, operands, results, attributes, [region], location)
        else:
            op = ir.new_op(self.name, operands, results, attributes, location)
        reader.position = match.end()
        if name is not None:
            self._define(name, op.results)
        return op

    def _define(self, name: str, results: list[ir.Value]) -> None:
        values, defined = self.reader.values, self.reader.defined
        values[name] = results[0]
        defined.append(name)
        for i, value in enumerate(results):
            value.name = name
            if len(results) > 1:
                values[f"{name}#{i}"] = value
                defined.append(f"{name}#{i}")

    def _attributes(self, match: re.Match[str]) -> dict[str, Any] | None:
        attributes: dict[str, Any] = {}
        for group, key, read, known in self.attributes:
            text = match[group]
            if text:
                item = known.get(text)
                if item is None:
                    item = self._fill(match, group, read, known)
                    if item is None:
                        return None
                if key:
                    attributes[key] = item
                elif not attributes.keys().isdisjoint(item) or "sym_name" in item:
                    return None
                else:
                    attributes.update(item)
        return attributes

    def _signature(self, match: re.Match[str], count: int) -> Signature | None:
        assert self.signature is not None
        group, read = self.signature
        text = match[group]
        signature = self.signatures.get(text)
        if signature is None or len(signature[0]) != count:
            found = self._fill(match, group, lambda reader: read(reader, count), self.signatures)
            if found is None or len(found[0]) != count:
                return None
            signature = found
        return signature

    def _fill(self, match: re.Match[str], group: int, read: _Read, known: dict[str, Any]) -> Any:
        """Reads a group by its reader and caches the result. Returns None if the text is wrong or ends elsewhere."""
        reader = self.reader
        before = reader.position
        reader.position = match.start(group)
        try:
            item = read(reader)
            is_whole = reader.position == match.end(group)
        except XlaError:
            is_whole = False
        reader.position = before
        if not is_whole:
            return None
        text = match[group]
        if len(text) <= _LONGEST_KEY:
            known[text] = item
        return item
