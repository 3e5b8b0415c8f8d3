"""Where the instructions of a compiled program run: on the device, or on the host by fallback="host"."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence

from xla_core.analysis.control_flow import reachable_sequences
from xla_core.errors import SourceLocation
from xla_core.hlo.module import HloModule
from xla_core.hlo.op_table import Trait
from xla_core.hlo.opcode import Opcode
from xla_core.hlo.shape import Shape
from xla_core.target import Lack, TargetConfig, Unsupported

_MOST_CAUSES = 5


@dataclasses.dataclass(frozen=True, slots=True)
class InstructionPlacement:
    """Where one instruction of the optimized program runs.

    Attributes:
        name, opcode, shape: the instruction's.
        on_host: whether the host runs it, because the device doesn't support it.
        reason: why the host runs it; "" on the device.
        lacks: what the device would need first in order to run it.
        bytes_to_host, bytes_to_device: operands and results that cross between the two in one run of the instruction.
        location: its place in the user's program.
    """

    name: str
    opcode: Opcode
    shape: Shape
    on_host: bool = False
    reason: str = ""
    lacks: tuple[Lack, ...] = ()
    bytes_to_host: int = 0
    bytes_to_device: int = 0
    location: SourceLocation | None = None

    @property
    def bytes_crossed(self) -> int:
        return self.bytes_to_host + self.bytes_to_device


def place_instructions(module: HloModule, target: TargetConfig) -> tuple[InstructionPlacement, ...]:
    """Returns where each instruction runs that computes, moves or transfers values.

    The module is optimized, so that the target supports every instruction but those that are left to the host.
    Instructions of fusions and of applied computations run where those do.
    """
    size: Callable[[Shape], int] = target.shape_size_bytes
    found = []
    for computation in reachable_sequences(module):
        for i in computation.instructions:
            if Trait.NOP in i.op.traits or Trait.CONTROL_FLOW in i.op.traits:
                continue
            placed = InstructionPlacement(i.name, i.opcode, i.shape.without_layout(), location=i.location)
            answer = target.supports(i)
            if isinstance(answer, Unsupported):
                placed = dataclasses.replace(
                    placed,
                    on_host=True,
                    reason=answer.reason,
                    lacks=answer.lacks,
                    bytes_to_host=sum(size(o.shape) for o in i.operands),
                    bytes_to_device=size(i.shape),
                )
            found.append(placed)
    return tuple(found)


def placement_text(placement: Sequence[InstructionPlacement]) -> str:
    """A line for each instruction: where it runs, what crosses and why, and its place in the program."""
    rows = [("instruction", "runs on", "bytes crossed", "reason", "place")]
    for p in placement:
        place = "" if p.location is None else str(p.location)
        crossed = str(p.bytes_crossed) if p.on_host else ""
        rows.append((f"{p.name} = {p.shape} {p.opcode}", "host" if p.on_host else "device", crossed, p.reason, place))
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows)
    return "\n".join(lines) + "\n"


def host_summary(placement: Sequence[InstructionPlacement]) -> str:
    """What the host runs, and what the device would need instead, in one sentence; "" if it runs nothing.

    The ops by which most bytes cross come first.
    """
    on_host = [p for p in placement if p.on_host]
    if not on_host:
        return ""
    crossed: dict[str, int] = {}
    for p in on_host:
        wanted = ", ".join(map(str, p.lacks)) or str(p.opcode)
        crossed[wanted] = crossed.get(wanted, 0) + p.bytes_crossed
    first = sorted(crossed, key=lambda wanted: -crossed[wanted])
    more = f" and {len(first) - _MOST_CAUSES} more" if len(first) > _MOST_CAUSES else ""
    return (
        f"{len(on_host)} of {len(placement)} instructions run on the host, and {sum(crossed.values())} bytes cross "
        f"between it and the device; the device lacks {'; '.join(first[:_MOST_CAUSES])}{more}"
    )
