"""The core's HLO pipeline for a target, stage by stage (XLA: CpuCompiler::RunHloPasses and its like).

    simplification -> target -> legalization -> simplification-after-legalization -> host-offloading -> layout
        -> fusion -> scheduling

Each stage is a pass, usually a pipeline of passes. A backend can replace any stage by name. After `legalization` every
instruction satisfies `target.supports`; later stages that add instructions end with a pass that checks it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from xla_core.analysis import CanShare, can_share_buffer
from xla_core.checks import require
from xla_core.compile_options import CompileOptions
from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.hlo.ir.module import HloModule, require_module
from xla_core.hlo.table.opcode import Opcode
from xla_core.passes.dynamic_padder import DynamicPadder
from xla_core.passes.expanders.bitcast_expander import BitcastExpander
from xla_core.passes.expanders.composite_rewriter import CompositeRewriter
from xla_core.passes.expanders.concatenate_splitter import ConcatenateSplitter
from xla_core.passes.expanders.dynamic_index_splitter import DynamicIndexSplitter
from xla_core.passes.expanders.lapack_expander import LapackExpander
from xla_core.passes.expanders.operand_converter import OperandConverter
from xla_core.passes.expanders.reduction_splitter import ReductionSplitter
from xla_core.passes.fusion.instruction_fusion import InstructionFusion
from xla_core.passes.fusion.multi_output_fusion import MultiOutputFusion
from xla_core.passes.fusion.policy import FusionPolicy
from xla_core.passes.host_offloading import HostOffloading
from xla_core.passes.layout_assignment import LayoutAssignment
from xla_core.passes.legalization import LegalityChecker, Legalization
from xla_core.passes.legalization.carriers import carrier_passes
from xla_core.passes.pass_manager import HloPass, HloPassPipeline, PassContext
from xla_core.passes.scheduling.copy_insertion import CopyInsertion
from xla_core.passes.scheduling.flatten_call_graph import FlattenCallGraph
from xla_core.passes.scheduling.hlo_memory_scheduler import HloMemoryScheduler
from xla_core.passes.scheduling.optimize_input_output_buffer_alias import OptimizeInputOutputBufferAlias
from xla_core.passes.simplification import SimplificationOptions, simplification_pipeline
from xla_core.passes.simplifiers.call_inliner import CallInliner
from xla_core.passes.simplifiers.hlo_cse import HloCse
from xla_core.passes.simplifiers.hlo_dce import HloDce
from xla_core.passes.simplifiers.map_inliner import MapInliner
from xla_core.passes.simplifiers.tuple_simplifier import TupleSimplifier
from xla_core.passes.simplifiers.zero_sized_hlo_elimination import ZeroSizedHloElimination
from xla_core.target import TargetConfig


def _simplification(target: TargetConfig, options: CompileOptions) -> HloPass:
    composites = target.capabilities.composites
    first: list[HloPass] = [CompositeRewriter(composites, target.supports)] if composites else []
    first += [BitcastExpander(), DynamicIndexSplitter(), DynamicPadder(), OperandConverter()]
    if not options.optimization_level:
        passes = [*first, CallInliner(), MapInliner(), TupleSimplifier(), ZeroSizedHloElimination(), HloDce()]
        return HloPassPipeline("simplification", passes)
    simplify = simplification_pipeline(SimplificationOptions(fast_math=options.precision == "fast"))
    return HloPassPipeline("simplification", [*first, *simplify.passes])


def _target(target: TargetConfig, options: CompileOptions) -> HloPass:
    """An empty stage, which backends replace with their own rewrites."""
    return HloPassPipeline("target")


def lapack_expansion(target: TargetConfig) -> HloPass:
    """Expands LAPACK calls that the target doesn't support to loops."""
    return LapackExpander(lambda call: not target.supports(call))


def _legalization(target: TargetConfig, options: CompileOptions) -> HloPass:
    rewrite = Legalization(target.supports, refuse=options.fallback != "host")
    # The host calls LAPACK, which is faster than loops of a device.
    lapack = [] if options.fallback == "host" else [lapack_expansion(target)]
    return HloPassPipeline("legalization", [*lapack, *carrier_passes(target), rewrite])


def _simplification_after_legalization(target: TargetConfig, options: CompileOptions) -> HloPass:
    name = "simplification-after-legalization"
    if not options.optimization_level:
        return HloPassPipeline(name)

    def accept(instruction: HloInstruction) -> bool:
        return bool(target.supports(instruction))

    own = SimplificationOptions(
        fast_math=options.precision == "fast", accept=accept, canonical_dots=False, keep_call=lambda _: True, limit=2
    )
    pipeline = simplification_pipeline(own, name=name)
    return _checked(pipeline, target, options)


def _host_offloading(target: TargetConfig, options: CompileOptions) -> HloPass:
    """Empty unless the host runs instructions that the target lacks."""
    passes = [HostOffloading(target)] if options.fallback == "host" else []
    return HloPassPipeline("host-offloading", passes)


def _layout(target: TargetConfig, options: CompileOptions) -> HloPass:
    pipeline = HloPassPipeline("layout")
    if target.fusion.enabled:
        pipeline.add(ConcatenateSplitter(target.fusion.max_operands))
    if options.optimization_level and Opcode.FUSION in target.capabilities.ops:
        pipeline.add(ReductionSplitter(target.parallel))  # after simplification, which would join the two steps
    pipeline.add(LayoutAssignment(target.layouts))
    pipeline.add(HloDce())
    return _checked(pipeline, target, options)


def _fusion(target: TargetConfig, options: CompileOptions) -> HloPass:
    pipeline = HloPassPipeline("fusion")
    if options.optimization_level >= 2 and Opcode.FUSION in target.capabilities.ops:
        policy = FusionPolicy(target.fusion, target.parallel)
        pipeline.add(InstructionFusion(policy))
        pipeline.add(MultiOutputFusion(policy))
        pipeline.add(HloCse())  # merges instructions that two joined fusions both computed
        pipeline.add(HloDce())
        return _checked(pipeline, target, options)
    return pipeline


def scheduling_pipeline(target: TargetConfig, can_share: CanShare = can_share_buffer) -> HloPassPipeline:
    """Orders the instructions and inserts the copies that buffer assignment needs.

    `can_share` decides which operands the target's kernels may overwrite with their results.
    """
    size = target.shape_size_bytes
    return HloPassPipeline(
        "scheduling",
        [
            OptimizeInputOutputBufferAlias(size),
            FlattenCallGraph(),
            HloMemoryScheduler(size),
            CopyInsertion(size, can_share),
        ],
    )


def _scheduling(target: TargetConfig, options: CompileOptions) -> HloPass:
    return scheduling_pipeline(target)  # adds copies that keep the layout only, which every target has


def _checked(pipeline: HloPassPipeline, target: TargetConfig, options: CompileOptions) -> HloPassPipeline:
    if options.fallback != "host":
        pipeline.add(LegalityChecker(target.supports))
    return pipeline


STAGES: Mapping[str, Callable[[TargetConfig, CompileOptions], HloPass]] = {
    "simplification": _simplification,
    "target": _target,
    "legalization": _legalization,
    "simplification-after-legalization": _simplification_after_legalization,
    "host-offloading": _host_offloading,
    "layout": _layout,
    "fusion": _fusion,
    "scheduling": _scheduling,
}
"""Stage -> the function that makes its default pass."""


def default_pipeline(
    target: TargetConfig, options: CompileOptions | None = None, stages: Mapping[str, HloPass] | None = None
) -> HloPassPipeline:
    """The whole pipeline, with stages replaced by those of `stages`, by name. Its text lists every pass."""
    require("target", target, TargetConfig, "a TargetConfig")
    own, replaced = options or CompileOptions(), stages or {}
    made = [replaced[name] if name in replaced else make(target, own) for name, make in STAGES.items()]
    return HloPassPipeline("optimization", made)


def run_hlo_passes(
    module: HloModule,
    target: TargetConfig,
    options: CompileOptions | None = None,
    stages: Mapping[str, HloPass] | None = None,
) -> HloModule:
    """Runs the default pipeline on `module` in place, and returns the module.

    `stages` replaces stages of the pipeline, by name.

    Raises:
        UnimplementedError: the target cannot run the program.
    """
    require_module(module)
    PassContext.default(module).run(default_pipeline(target, options, stages), module, ())
    return module
