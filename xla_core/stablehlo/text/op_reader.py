"""Reads ops in any spacing, and reports errors in them. `fast_path` reads most ops before this reader has to."""

from __future__ import annotations

import re
from typing import Any

from xla_core.checks import did_you_mean
from xla_core.errors import UnimplementedError, XlaError
from xla_core.stablehlo import ir
from xla_core.stablehlo.table.op_table import OTHER_DIALECT_HINT, PROGRAMS_HINT, namesakes
from xla_core.stablehlo.text import assembly_format
from xla_core.stablehlo.text.assembly_format import BARE_NAMES, KNOWN_DIALECTS, assembly_of, is_known, known_names
from xla_core.stablehlo.text.cursor import TextLocation
from xla_core.stablehlo.text.fast_path import LINE_START, FastForm, fast_form
from xla_core.stablehlo.text.region_reader import OpState, RegionReader
from xla_core.wording import counted

_RESULTS = re.compile(r"%([\w$.\-]+)(?::([0-9]{1,6}))?", re.ASCII).match

Name = tuple[str, int, int]
"""A name on the left of `=`: the name, the number of results that share it, its offset."""


class OpReader(RegionReader):
    def __init__(self, source: str, file: str) -> None:
        super().__init__(source, file)
        self.fast_forms: tuple[dict[str, FastForm | None], dict[str, FastForm | None]] = ({}, {})  # pretty, generic

    def vhlo_attribute(self, mnemonic: str, start: int) -> Any:
        from xla_core.stablehlo.text import vhlo_attributes  # few texts are VHLO

        return vhlo_attributes.read_attribute(self, mnemonic, start)

    def vhlo_type(self, name: str, start: int) -> ir.Type:
        from xla_core.stablehlo.text import vhlo_types  # few texts are VHLO

        return vhlo_types.read_type(self, name, start)

    def ops(self, ops: list[ir.Op]) -> None:
        """Reads ops up to `}`, a label or the end of the text."""
        while True:
            start = LINE_START(self.source, self.position)
            if start is not None:
                name, is_generic = (start[3], False) if start[3] is not None else (start[4], True)
                forms_by_name = self.fast_forms[is_generic]
                form = forms_by_name.get(name)
                if form is None and name not in forms_by_name:
                    form = forms_by_name[name] = fast_form(self, name, is_generic)
                if form is not None:
                    op = form.read(start, start.start(4) - 1 if is_generic else start.start(3))
                    if op is not None:
                        ops.append(op)
                        continue
            self.skip()
            if self.source[self.position : self.position + 1] in ("}", "^", ""):
                return
            ops.append(self.operation())

    # Ops

    def operation(self) -> ir.Op:
        """Reads an op, with the names of its results and its location."""
        self.nodes = 0
        self.deepest = self.depth
        names: list[Name] = []
        if self.at("%"):
            while True:
                match = self.take(_RESULTS, "a result's name")
                names.append((match[1], int(match[2] or 1), match.start()))
                if not self.accept(","):
                    break
            self.expect("=", "after SSA name")
        offset = self.skip()
        if self.at_string():
            state = OpState(self.string(), offset)
            if not is_known(state.name):
                raise self.unknown_op(state.name, offset)
            steps = assembly_format.GENERIC_STEPS
            pretty_op = ""
        else:
            try:
                word = self.word("operation name in quotes, or an op's pretty form")
            except XlaError as error:
                error.hint = error.hint or self._program_hint(offset)
                raise
            state = OpState(BARE_NAMES.get(word, word), offset)
            form = assembly_of(state.name)
            if form is None:
                raise self.unknown_op(state.name, offset, is_pretty=True)
            steps = assembly_format.steps_of(form)
            pretty_op = state.name
        outer, self.pretty_op = self.pretty_op, pretty_op
        try:
            for step in steps:
                step(self, state)
            return self.finish(state, names, offset)
        except XlaError as error:
            error.op = error.op or state.name
            raise
        finally:
            self.pretty_op = outer

    def unknown_op(self, name: str, offset: int, is_pretty: bool = False) -> XlaError:
        """Returns the error for an op that doesn't exist, or has no pretty form."""
        error = self._unknown_op(name, offset, is_pretty)
        error.op = name  # not the op around it
        return error

    def _unknown_op(self, name: str, offset: int, is_pretty: bool) -> XlaError:
        known = known_names()
        if name in known:
            hint = f'write the generic form: "{name}"(...)'
            return self.error(f"custom op '{name}' has no custom assembly form", offset, hint=hint)
        if "." not in name:
            near = did_you_mean(name, BARE_NAMES, 1, 0.7) or self._program_hint(offset)
            short = name[:40]
            return self.error(f"custom op '{short}' is unknown (tried 'func.{short}' as well)", offset, hint=near)
        same = namesakes(name, known)
        near = f"did you mean {same[0]}?" if same else did_you_mean(name, known, 1, 0.7)
        dialect = name.partition(".")[0]
        if is_pretty and dialect in KNOWN_DIALECTS:
            return self.error(f"custom op '{name}' is unknown", offset, hint=near)
        if is_pretty:
            message = f"Dialect `{dialect}' not found for custom op '{name}'"
        else:
            message = (
                f"unregistered operation '{name}' found in dialect ('{dialect}') that does not allow unknown operations"
            )
        error = self.error(message, offset, hint=near)
        if near or dialect in KNOWN_DIALECTS:
            return error
        return UnimplementedError(  # like the verifier for the generic form
            error.message, location=error.location, snippet=error.snippet, hint=OTHER_DIALECT_HINT
        )

    def _program_hint(self, offset: int) -> str | None:
        """Returns a hint about the accepted formats if the text's first word begins no program."""
        return None if self.source[:offset].strip() else PROGRAMS_HINT

    def finish(self, state: OpState, names: list[Name], offset: int) -> ir.Op:
        """Checks the parts of an op, creates it, and defines its results."""
        types = state.operand_types
        if len(types) != len(state.operands):
            if not self.pretty_op:
                expected = counted(len(state.operands), "operand type")
                raise self.error(f"expected {expected} but had {len(types)}", offset)
            counts = f"got {len(state.operands)} operands and {len(types)} types"
            raise self.form_error(f"number of operands and types do not match: {counts}", offset)
        self.check_operands(state, types)
        count = sum(n for _, n, _ in names)
        if names and count != len(state.result_types):
            message = f"operation defines {len(state.result_types)} results but was provided {count} to bind"
            raise self.error(message if state.result_types else "cannot name an operation with no results", offset)
        if state.name == "func.func" and (wrong := ir.drop_empty_signatures(state.attributes)) is not None:
            raise self.error(f"{wrong}: expected an array of dictionaries", offset)
        location = state.location or self.accept_location() or TextLocation(self.text, state.start)
        op = ir.Op(state.name, state.operands, state.result_types, state.attributes, state.regions, location)
        index = 0
        for name, n, place in names:
            if n == 0:
                raise self.error("expected named operation to have at least 1 result", place)
            self.define(name, op.results[index], place)
            for i in range(n):
                value = op.results[index + i]
                value.name = name
                if n > 1:
                    self.define(f"{name}#{i}", value, place)
            index += n
        symbol = state.attributes.get("sym_name")
        if isinstance(symbol, str):
            if symbol in self.symbols:
                raise self.error(f"redefinition of symbol named '{symbol}'", offset)
            self.symbols.add(symbol)
        return op
