"""Drawn cases run as one program, and alone where that one fails, so that a failure names a case."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from xla_conformance.failures import Failure
from xla_conformance.ops.drawn import DrawnCase, drawn_cases, together
from xla_conformance.ops.drawn_runs import require_group

from xla_core import Client, CompileOptions, InternalError, LoadedExecutable
from xla_core.hlo import HloModule, Opcode, parse_hlo


def group_of(opcode: Opcode) -> Sequence[DrawnCase]:
    return max(together(list(drawn_cases(opcode, 0, 0, 12))), key=len)


class Changing(Client):
    """A client that compiles another program than the one of several cases, or none of these."""

    with_floor = False

    def compile(
        self, program: str | bytes | HloModule, options: CompileOptions | None = None, *, file: str = ""
    ) -> LoadedExecutable:
        if isinstance(program, HloModule) and program.name == "joint":
            if not self.with_floor:
                raise InternalError("too many results")
            program = parse_hlo(program.to_text().replace(" ceil(", " floor("))
        return super().compile(program, options, file=file)


def test_what_fails_only_together_fails() -> None:
    group = group_of(Opcode.CEIL)
    assert len(group) > 1
    with Changing("template") as client, pytest.raises(InternalError, match="too many results"):
        require_group(client, client.platform.compiler.target_config, group, 0)


def test_what_is_wrong_only_together_says_so() -> None:
    group = group_of(Opcode.CEIL)
    with Changing("template") as client:
        client.with_floor = True
        with pytest.raises(Failure, match="Beside other instructions in one program"):
            require_group(client, client.platform.compiler.target_config, group, 0)
