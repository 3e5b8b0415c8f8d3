"""Checks what an executable says about where its instructions run."""

from __future__ import annotations

from xla_core.analysis import place_instructions
from xla_core.backend import Executable
from xla_core.target import TargetConfig, Unsupported


def require_placement(executable: Executable, target: TargetConfig) -> None:
    """Requires a placement of each instruction that computes, with at most the possible bytes crossing between host and
    device.

    Instructions that the target doesn't support run on the host, with the reason.
    """
    placement = executable.placement()
    by_name = {i.name: i for c in executable.module.computations for i in c.instructions}
    names = [placed.name for placed in placement]
    assert len(set(names)) == len(names), "A placement names each instruction once."
    missing = {placed.name for placed in place_instructions(executable.module, target)}.difference(names)
    assert not missing, f"A placement says where each instruction runs, but it lacks {', '.join(sorted(missing)[:5])}."
    for placed in placement:
        instruction = by_name.get(placed.name)
        assert instruction is not None, f"{placed.name} must be an instruction of the optimized module"
        said = (placed.opcode, placed.shape.without_layout())
        assert said == (instruction.opcode, instruction.shape.without_layout()), f"{placed.name} has another {said}"
        answer = target.supports(instruction)
        if placed.on_host:
            assert placed.reason, f"{placed.name} runs on the host, but no reason is given"
        else:
            assert not isinstance(answer, Unsupported), f"{placed.name} must run on the host: {answer}"
            assert placed.bytes_crossed == 0, f"{placed.name} runs on the device, so that nothing crosses"
        given = sum(target.shape_size_bytes(operand.shape) for operand in instruction.operands)
        assert 0 <= placed.bytes_to_host <= given, f"{placed.name} has operands of {given} bytes: {placed}"
        made = target.shape_size_bytes(instruction.shape)
        assert 0 <= placed.bytes_to_device <= made, f"{placed.name} has results of {made} bytes: {placed}"
