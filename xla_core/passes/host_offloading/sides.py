"""Chooses which instructions run on the device and which on the host.

The division of a computation is the cheapest cut of its graph: an instruction costs the time that it takes on its side,
and a value that is used on the other side costs a transfer. Instructions that the device doesn't support run on the
host. A supported instruction stays with them if its transfers would take longer than the device saves.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

from xla_core.analysis.control_flow import control_flow_callees
from xla_core.analysis.host_costs import PlacementCosts, trips
from xla_core.analysis.min_cut import INFINITE, MinCut
from xla_core.hlo.ir.computation import HloComputation
from xla_core.hlo.ir.effects import EffectAnalysis
from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.hlo.ir.module import HloModule
from xla_core.hlo.table.op_table import PINNED, Trait
from xla_core.hlo.table.opcode import Opcode
from xla_core.target import TargetConfig

_STAYS = PINNED | {Trait.HOST_TRANSFER}


@dataclasses.dataclass(frozen=True, slots=True)
class Division:
    """How a computation is divided.

    Attributes:
        on_host: the instructions that the host runs, operands first.
        seconds: the estimated time of one execution.
    """

    on_host: tuple[HloInstruction, ...]
    seconds: float


class Divider:
    """Divides the computations of a module."""

    def __init__(self, module: HloModule, target: TargetConfig) -> None:
        self._target = target
        self._costs = PlacementCosts(module, target)
        self._stays = EffectAnalysis(_STAYS)
        self._known: dict[HloComputation, Division] = {}
        for computation in module.post_order():
            self.divide(computation)

    def divide(self, computation: HloComputation) -> Division:
        found = self._known.get(computation)
        if found is None:
            found = self._known[computation] = self._divided(computation)
        return found

    def is_free(self, i: HloInstruction) -> bool:
        """Whether each side may compute the instruction itself, because that costs almost nothing."""
        if i.opcode == Opcode.CONSTANT:
            return i.shape.is_array
        if i.opcode == Opcode.BROADCAST and i.operand(0).opcode == Opcode.CONSTANT and not i.operand(0).shape.rank:
            return bool(self._target.supports(i))
        return i.opcode == Opcode.IOTA and bool(self._target.supports(i))

    def is_wrapped(self, i: HloInstruction) -> bool:
        """Whether an instruction may be part of a computation that the host runs as a whole."""
        if i.opcode == Opcode.PARAMETER or i.control_predecessors or i.control_successors:
            return False
        if i.shape.is_tuple and leader(i) is i and (i.is_root or not all(map(_names_a_result, i.users))):
            return False
        return all(leaf.is_array for leaf in i.shape.leaves()) and not self._stays.of(i)

    def _divided(self, computation: HloComputation) -> Division:
        order = computation.post_order()
        seconds = {i: self._seconds(i) for i in order if not self.is_free(i)}
        base = sum(min(pair) for pair in seconds.values())
        if all(device <= host for device, host in seconds.values()):
            return Division((), base * 1e-9)
        graph, nodes = MinCut(), dict[HloInstruction, int]()
        for i, (device, host) in seconds.items():
            first = leader(i)
            if first not in nodes:
                nodes[first] = graph.node()
            node = nodes[i] = nodes[first]
            both = min(device, host)
            graph.edge(node, MinCut.SINK, device - both)
            graph.edge(MinCut.SOURCE, node, host - both)
        for i in seconds:
            self._add_transfers(graph, i, nodes)
        cut, on_host = graph.solve()
        return Division(tuple(i for i in order if nodes.get(i) in on_host), (cut + base) * 1e-9)

    def _add_transfers(self, graph: MinCut, i: HloInstruction, nodes: Mapping[HloInstruction, int]) -> None:
        """Adds the cost of using a value on the other side. A value is transferred once to each side."""
        node = nodes[i]
        users = {nodes[u] for u in i.users if u in nodes} - {node}
        if i.is_root:
            users.add(MinCut.SOURCE)  # results are on the device
        if not users:
            return
        cost = round(self._costs.transfer(i.shape) * 1e9)
        to_host, to_device = graph.node(), graph.node()
        graph.edge(node, to_host, cost)
        graph.edge(to_device, node, cost)
        for user in users:
            graph.edge(to_host, user, INFINITE)
            graph.edge(user, to_device, INFINITE)

    def _seconds(self, i: HloInstruction) -> tuple[int, int]:
        """Nanoseconds on the device and on the host; INFINITE where the instruction can't run."""
        callees = control_flow_callees(i)
        if callees:
            spent = [self.divide(c).seconds for c in callees]
            device = round((max(spent) if i.opcode == Opcode.CONDITIONAL else trips(i) * sum(spent)) * 1e9)
        elif Trait.NOP in i.op.traits:
            device = 0
        else:
            device = round(self._costs.on_device(i) * 1e9) if self._target.supports(i) else INFINITE
        is_result = i.opcode == Opcode.TUPLE and leader(i) is i
        if device != INFINITE and (is_result or not self.is_wrapped(i)):
            return device, INFINITE
        return device, round(self._costs.on_host(i) * 1e9)


def leader(i: HloInstruction) -> HloInstruction:
    """The instruction that decides on which side this one runs: the tuple of an element, the loop of a loop's state."""
    while True:
        users = i.users
        if _names_a_result(i):
            i = i.operand(0)
        elif i.opcode == Opcode.TUPLE and not i.is_root and len(users) == 1 and control_flow_callees(users[0]):
            i = users[0]
        else:
            return i


def _names_a_result(i: HloInstruction) -> bool:
    return i.opcode == Opcode.GET_TUPLE_ELEMENT
