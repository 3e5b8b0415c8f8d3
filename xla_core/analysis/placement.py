"""Where the instructions of a compiled program run: on the device, or on the host by fallback="host"."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Sequence

from xla_core.analysis.control_flow import control_flow_callees, reachable_sequences
from xla_core.analysis.host_costs import PlacementCosts, format_seconds, trips
from xla_core.errors import SourceLocation
from xla_core.hlo.ir.computation import HloComputation
from xla_core.hlo.ir.fused import fused_roots
from xla_core.hlo.ir.host_compute import is_host_compute
from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.hlo.ir.module import HloModule
from xla_core.hlo.ops.custom_calls import CALLBACK, PARTITIONED_CALLBACK
from xla_core.hlo.table.op_table import Trait
from xla_core.hlo.table.opcode import Opcode
from xla_core.hlo.values.shape import Shape
from xla_core.target import Lack, TargetConfig, Unsupported
from xla_core.traversal import reachable
from xla_core.wording import counted

_MOST_CAUSES = 5


@dataclasses.dataclass(frozen=True, slots=True)
class InstructionPlacement:
    """Where one instruction of the optimized program runs.

    Attributes:
        name, opcode, shape: the instruction's.
        on_host: whether the host runs it.
        reason: why the host runs it: what the device lacks, or what transfers would cost; "" on the device.
        lacks: what the device would need first in order to run it. `LoadedExecutable.placement` names the few primitive
            ops that its decomposition needs instead, if they are enough.
        bytes_to_host, bytes_to_device: operands and results that cross between the two in one run of the instruction.
        location: its place in the user's program.
        part: the instruction that groups it with others for the host; "" on the device.
        saves: for an instruction that the device lacks, the estimated seconds that one run of the program would save if
            the device had it: the transfers, and the difference between its time on the host and on the device.
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
    part: str = ""
    saves: float = 0.0

    @property
    def bytes_crossed(self) -> int:
        return self.bytes_to_host + self.bytes_to_device


def place_instructions(module: HloModule, target: TargetConfig) -> tuple[InstructionPlacement, ...]:
    """Returns where each instruction runs that computes, moves or transfers values.

    The module is optimized, so that the target supports every instruction but those that are left to the host.
    Instructions of the device's fusions and of applied computations run where the fusion or the caller runs.
    Instructions of a part that the host runs are listed one by one.
    """
    return tuple(_Placing(module, target).placed())


class _Placing:
    def __init__(self, module: HloModule, target: TargetConfig) -> None:
        self._module = module
        self._target = target
        self._size: Callable[[Shape], int] = target.shape_size_bytes
        self._known: PlacementCosts | None = None

    @property
    def _costs(self) -> PlacementCosts:
        if self._known is None:  # most programs have nothing on the host
            self._known = PlacementCosts(self._module, self._target)
        return self._known

    def placed(self) -> Iterator[InstructionPlacement]:
        runs: dict[HloComputation, float] = {self._module.entry: 1.0}
        for computation in reachable_sequences(self._module):
            count = runs.get(computation, 1.0)
            for i in computation.instructions:
                for callee in control_flow_callees(i):
                    runs[callee] = runs.get(callee, 0.0) + count * trips(i)
                if is_host_compute(i):
                    yield from self._part(i, count)
                elif _is_work(i):
                    yield self._alone(i, count)

    def _alone(self, i: HloInstruction, runs: float) -> InstructionPlacement:
        answer = self._target.supports(i)
        if not isinstance(answer, Unsupported):
            return _placement(i)
        to_host, to_device = sum(self._size(o.shape) for o in i.operands), self._size(i.shape)
        saved = self._seconds([i]) + sum(self._costs.transfer(s) for s in (i.shape, *(o.shape for o in i.operands)))
        return dataclasses.replace(
            _placement(i),
            on_host=True,
            reason=answer.reason,
            lacks=answer.lacks,
            bytes_to_host=to_host,
            bytes_to_device=to_device,
            part=i.name,
            saves=runs * saved,
        )

    def _part(self, part: HloInstruction, runs: float) -> Iterator[InstructionPlacement]:
        """The instructions of a part. An operand crosses where it is first read, and a result where it is made."""
        outer: HloComputation = part.attribute("calls")
        results = set(fused_roots(part))
        inside = [
            i
            for c in reachable([outer], lambda c: [d for i in c.instructions for d in control_flow_callees(i)])
            for i in c.post_order()
            if _is_work(i)
        ]
        transfers = sum(self._costs.transfer(s) for s in (part.shape, *(o.shape for o in part.operands)))
        lacking = [i for i in inside if not self._target.supports(i)]
        saves = runs * (transfers + self._seconds(inside)) / max(len(lacking), 1)
        read: set[HloInstruction] = set()
        for i in inside:
            arrived = [o for o in dict.fromkeys(i.operands) if o.opcode == Opcode.PARAMETER and o.parent is outer]
            to_host = sum(self._size(o.shape) for o in arrived if o not in read)
            read.update(arrived)
            made = [i, *(u for u in i.users if u.opcode == Opcode.GET_TUPLE_ELEMENT)]
            answer = self._target.supports(i)
            is_lacking = isinstance(answer, Unsupported)
            yield dataclasses.replace(
                _placement(i),
                on_host=True,
                reason=answer.reason if isinstance(answer, Unsupported) else self._along(i),
                lacks=answer.lacks if isinstance(answer, Unsupported) else (),
                bytes_to_host=to_host,
                bytes_to_device=sum(self._size(m.shape) for m in made if m in results),
                part=part.name,
                saves=saves if is_lacking else 0.0,
            )

    def _along(self, i: HloInstruction) -> str:
        """The reason why the host runs an instruction that the device supports."""
        transfers = sum(self._costs.transfer(s) for s in (i.shape, *(o.shape for o in i.operands)))
        saved = max(self._seconds([i]), 0.0)
        return (
            f"it stays with its neighbours on the host: the device would save {format_seconds(saved)}, its transfers "
            f"take up to {format_seconds(transfers)}"
        )

    def _seconds(self, instructions: Sequence[HloInstruction]) -> float:
        """How much longer the host takes than the device."""
        return sum(self._costs.on_host(i) - self._costs.on_device(i) for i in instructions)


def _is_work(i: HloInstruction) -> bool:
    return Trait.NOP not in i.op.traits and Trait.CONTROL_FLOW not in i.op.traits


def _placement(i: HloInstruction) -> InstructionPlacement:
    return InstructionPlacement(i.name, i.opcode, i.shape.without_layout(), location=i.location)


def placement_text(placement: Sequence[InstructionPlacement]) -> str:
    """A line for each instruction: where it runs, what crosses and why, and its place in the program."""
    rows = [("instruction", "runs on", "part", "bytes crossed", "reason", "place")]
    for p in placement:
        place = "" if p.location is None else str(p.location)
        crossed = str(p.bytes_crossed) if p.on_host else ""
        where = "host" if p.on_host else "device"
        rows.append((f"{p.name} = {p.shape} {p.opcode}", where, p.part, crossed, p.reason, place))
    shown = [k for k, column in enumerate(zip(*rows, strict=True)) if any(column[1:]) or k in (0, 1)]
    widths = [max(len(row[k]) for row in rows) for k in shown]
    lines = ("  ".join(row[k].ljust(width) for k, width in zip(shown, widths, strict=True)).rstrip() for row in rows)
    return "\n".join(lines) + "\n"


def host_summary(placement: Sequence[InstructionPlacement]) -> str:
    """One sentence with the instructions that the host runs and the features that the device lacks for them; "" if the
    host runs nothing.

    Lacks are ordered by `InstructionPlacement.saves`, the largest first. Calls of Python functions are left out,
    because no device can run them.
    """
    on_host = [p for p in placement if p.on_host and not _calls_python(p)]
    if not on_host:
        return ""
    saved: dict[str, float] = {}
    for p in on_host:
        if p.lacks or p.saves:
            wanted = ", ".join(map(str, p.lacks)) or str(p.opcode)
            saved[wanted] = saved.get(wanted, 0.0) + p.saves
    first = sorted(saved, key=lambda wanted: -saved[wanted])
    causes = [
        wanted + (f" (would save about {format_seconds(saved[wanted])} a run)" if saved[wanted] > 0 else "")
        for wanted in first[:_MOST_CAUSES]
    ]
    more = f" and {len(first) - _MOST_CAUSES} more" if len(first) > _MOST_CAUSES else ""
    parts = len({p.part for p in on_host})
    return (
        f"{len(on_host)} of {len(placement)} instructions run on the host, in {counted(parts, 'part')}, "
        f"and {sum(p.bytes_crossed for p in on_host)} bytes cross between it and the device; "
        f"the device lacks {'; '.join(causes)}{more}"
    )


def _calls_python(p: InstructionPlacement) -> bool:
    return any(lack.detail in (CALLBACK, PARTITIONED_CALLBACK) for lack in p.lacks)
