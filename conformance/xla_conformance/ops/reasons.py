"""Why no case meets some ops, and some values of attributes."""

from __future__ import annotations

from xla_core.hlo import OPS, Opcode, Trait

__all__ = ["NO_CASE", "NO_VALUE"]

NO_CASE: dict[Opcode, str] = {
    **{o: "several devices: suite/test_collectives" for o, op in OPS.items() if Trait.COLLECTIVE in op.traits},
    **dict.fromkeys((Opcode.PARTITION_ID, Opcode.REPLICA_ID), "several devices: suite/test_collectives"),
    **{
        o: "the host at the other end: suite/test_executables"
        for o, op in OPS.items()
        if Trait.HOST_TRANSFER in op.traits
    },
    Opcode.CUSTOM_CALL: "its meaning is the program's own: suite/test_executables",
    Opcode.PARAMETER: "every case has it",
}
"""Ops that other tests of the suite are for."""

NO_VALUE: dict[tuple[str, str, str], str] = {}
"""(opcode, attribute, value) -> the reason; "*" stands for any."""
