"""The core's HLO pipeline for a target, stage by stage (XLA: CpuCompiler::RunHloPasses and its like).

    simplification -> target -> legalization -> simplification-after-legalization -> layout -> fusion -> scheduling

Each stage is a pipeline of passes; a backend replaces any of them by name. After `legalization` every instruction must
satisfy `target.supports`, and `LegalityChecker` sees to it where later stages end.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

from xla_core.hlo.module import HloModule
from xla_core.passes.copy_insertion import CopyInsertion
from xla_core.passes.flatten_call_graph import FlattenCallGraph
from xla_core.passes.fusion.instruction_fusion import InstructionFusion
from xla_core.passes.fusion.multi_output_fusion import MultiOutputFusion
from xla_core.passes.fusion.policy import FusionPolicy
from xla_core.passes.layout_assignment import LayoutAssignment
from xla_core.passes.legalization import Legalization
from xla_core.passes.memory_scheduler import HloMemoryScheduler
from xla_core.passes.optimize_input_output_buffer_alias import OptimizeInputOutputBufferAlias
from xla_core.passes.pass_manager import HloPass, HloPassFix, HloPassPipeline, PassContext
from xla_core.passes.registry import PASSES, create_pass
from xla_core.target import TargetConfig

__all__ = ["STAGES", "default_pipeline", "run_hlo_passes"]


class _Options(Protocol):
    @property
    def optimization_level(self) -> int: ...


_SIMPLIFY = ("algebraic-simplifier", "hlo-constant-folding", "tuple-simplifier", "hlo-cse", "hlo-dce")


def _named(names: Sequence[str]) -> list[HloPass]:
    return [create_pass(name) for name in names if name in PASSES]


def _simplification(target: TargetConfig, level: int) -> HloPass:
    if not level:
        return HloPassPipeline("simplification", [*_named(["call-inliner", "tuple-simplifier", "hlo-dce"])])
    return HloPassPipeline(
        "simplification",
        [*_named(["call-inliner"]), HloPassFix(HloPassPipeline("simplify", _named(_SIMPLIFY)), limit=4)],
    )


def _target(target: TargetConfig, level: int) -> HloPass:
    """The backend's own patterns: the core has none."""
    return HloPassPipeline("target")


def _legalization(target: TargetConfig, level: int) -> HloPass:
    return HloPassPipeline("legalization", [Legalization(target.supports)])


def _simplification_after_legalization(target: TargetConfig, level: int) -> HloPass:
    return HloPassPipeline("simplification-after-legalization", _named(_SIMPLIFY) if level else [])


def _layout(target: TargetConfig, level: int) -> HloPass:
    return HloPassPipeline("layout", [LayoutAssignment(target.layouts)])


def _fusion(target: TargetConfig, level: int) -> HloPass:
    policy = FusionPolicy(target.fusion)
    return HloPassPipeline("fusion", [InstructionFusion(policy), MultiOutputFusion(policy)] if level else [])


def _scheduling(target: TargetConfig, level: int) -> HloPass:
    size = target.shape_size_bytes
    return HloPassPipeline(
        "scheduling",
        [OptimizeInputOutputBufferAlias(size), FlattenCallGraph(), HloMemoryScheduler(size), CopyInsertion(size)],
    )


STAGES: Mapping[str, Callable[[TargetConfig, int], HloPass]] = {
    "simplification": _simplification,
    "target": _target,
    "legalization": _legalization,
    "simplification-after-legalization": _simplification_after_legalization,
    "layout": _layout,
    "fusion": _fusion,
    "scheduling": _scheduling,
}
"""Stage -> a maker of its default: (target, optimization level) -> pass."""


def default_pipeline(
    target: TargetConfig, optimization_level: int = 2, stages: Mapping[str, HloPass] | None = None
) -> HloPassPipeline:
    """The whole pipeline. `stages` replaces stages by name. Printing it shows every pass."""
    replaced = stages or {}
    made = [replaced[name] if name in replaced else make(target, optimization_level) for name, make in STAGES.items()]
    return HloPassPipeline("optimization", made)


def run_hlo_passes(
    module: HloModule,
    target: TargetConfig,
    options: _Options | None = None,
    stages: Mapping[str, HloPass] | None = None,
) -> HloModule:
    """Runs the default pipeline, with the stages of `stages` in place of the core's, on `module`; returns it."""
    level = 2 if options is None else options.optimization_level
    PassContext.default(module).run(default_pipeline(target, level, stages), module, ())
    return module
