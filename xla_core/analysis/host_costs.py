"""Estimates how long instructions take on the device and on the host, and transfers between the two."""

from __future__ import annotations

from xla_core.analysis.control_flow import control_flow_callees
from xla_core.analysis.cost_analysis import HloCostAnalysis
from xla_core.analysis.while_loop import known_trip_count
from xla_core.hlo.ir.computation import HloComputation
from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.hlo.ir.module import HloModule
from xla_core.hlo.table.op_table import Trait
from xla_core.hlo.table.opcode import Opcode
from xla_core.hlo.values.shape import Shape
from xla_core.target import TargetConfig

_UNKNOWN_TRIPS = 16.0  # of a loop whose trip count isn't known
_PRODUCTS = 16.0  # how many times as fast the host computes products of matrices


class PlacementCosts:
    """Seconds by the rates of a target (`TargetConfig.host` and `TargetConfig.device`)."""

    def __init__(self, module: HloModule, target: TargetConfig) -> None:
        self._analysis = HloCostAnalysis(module)
        self._target = target
        self._host: dict[HloComputation, float] = {}
        for computation in module.post_order():  # callees first: no deep recursion
            self.of_computation(computation)

    def on_device(self, i: HloInstruction) -> float:
        """The seconds that the device would take, whether it supports the instruction or not; without control flow."""
        if Trait.NOP in i.op.traits:
            return 0.0
        device, host = self._target.device, self._target.host
        cost = self._analysis.instruction(i)
        flops = max(device.peak_flops.values(), default=0.0) or host.device_flops
        bandwidth = device.memory_bandwidth or host.device_bandwidth
        return host.kernel_seconds + max(cost.operations / flops, cost.bytes_accessed / bandwidth)

    def on_host(self, i: HloInstruction) -> float:
        """The seconds that the host takes for one execution, with the computations of control flow."""
        callees = control_flow_callees(i)
        if callees:
            spent = [self.of_computation(c) for c in callees]
            return max(spent) if i.opcode == Opcode.CONDITIONAL else trips(i) * sum(spent)
        if Trait.NOP in i.op.traits:
            return 0.0
        host, cost = self._target.host, self._analysis.instruction(i)
        flops = host.flops * (_PRODUCTS if Trait.PRODUCT in i.op.traits else 1.0)
        return host.instruction_seconds + cost.operations / flops + cost.bytes_accessed / host.bandwidth

    def of_computation(self, computation: HloComputation) -> float:
        """The seconds that the host takes for a computation."""
        found = self._host.get(computation)
        if found is None:
            found = self._host[computation] = sum(map(self.on_host, computation.instructions))
        return found

    def transfer(self, shape: Shape) -> float:
        """The seconds that it takes to copy a value from the device to the host, or back."""
        host = self._target.host
        return sum(
            host.transfer_seconds + self._target.shape_size_bytes(leaf) / host.transfer_bandwidth
            for leaf in shape.leaves()
            if leaf.is_array
        )


def trips(instruction: HloInstruction) -> float:
    """How often control flow runs its computations; an assumed count for loops whose trip count is unknown."""
    if instruction.opcode != Opcode.WHILE:
        return 1.0
    known = known_trip_count(instruction)
    return _UNKNOWN_TRIPS if known is None else float(known)


def format_seconds(seconds: float) -> str:
    """A time in a unit that fits it."""
    for unit, size in (("s", 1.0), ("ms", 1e-3)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds / 1e-6:.3g} us"
