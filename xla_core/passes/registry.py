"""The registry of passes by name, for `xla opt --passes a,b,c` and for pipelines that are written as text.

A built-in pass has the name of its file. Its module is imported when the pass is created.
"""

from __future__ import annotations

import difflib
import importlib
from collections.abc import Callable
from typing import Any

from xla_core.checks import require
from xla_core.errors import AlreadyExistsError, InvalidArgumentError
from xla_core.passes.pass_manager import HloPass

__all__ = ["PASSES", "create_pass", "register_pass"]

PassFactory = Callable[..., HloPass]

PASSES: dict[str, PassFactory | str] = {
    "algebraic-simplifier": "simplifiers.algebraic_simplifier:AlgebraicSimplifier",
    "async-to-sync": "expanders.async_to_sync:AsyncToSync",
    "batchnorm-expander": "expanders.batchnorm_expander:BatchNormExpander",
    "bitcast-expander": "expanders.bitcast_expander:BitcastExpander",
    "call-inliner": "simplifiers.call_inliner:CallInliner",
    "cholesky-expander": "expanders.cholesky_expander:CholeskyExpander",
    "comparison-expander": "expanders.comparison_expander:ComparisonExpander",
    "composite-rewriter": "expanders.composite_rewriter:CompositeRewriter",
    "concatenate-splitter": "expanders.concatenate_splitter:ConcatenateSplitter",
    "conditional-simplifier": "control_flow.conditional_simplifier:ConditionalSimplifier",
    "convert-mover": "simplifiers.convert_mover:ConvertMover",
    "convolution-canonicalizer": "expanders.convolution_canonicalizer:ConvolutionCanonicalizer",
    "copy-insertion": "scheduling.copy_insertion:CopyInsertion",
    "dot-algorithm-rewriter": "expanders.dot_algorithm_rewriter:DotAlgorithmRewriter",
    "dot-decomposer": "expanders.dot_decomposer:DotDecomposer",
    "dot-strength-reduction": "expanders.dot_strength_reduction:DotStrengthReduction",
    "dynamic-index-splitter": "expanders.dynamic_index_splitter:DynamicIndexSplitter",
    "dynamic-padder": "dynamic_padder:DynamicPadder",
    "fft-decomposer": "expanders.fft_decomposer:FftDecomposer",
    "flatten-call-graph": "scheduling.flatten_call_graph:FlattenCallGraph",
    "float-upcaster": "expanders.float_upcaster:FloatUpcaster",
    "gather-expander": "expanders.gather_expander:GatherExpander",
    "gather-simplifier": "expanders.gather_simplifier:GatherSimplifier",
    "hlo-constant-folding": "simplifiers.hlo_constant_folding:HloConstantFolding",
    "hlo-cse": "simplifiers.hlo_cse:HloCse",
    "hlo-dce": "simplifiers.hlo_dce:HloDce",
    "instruction-fusion": "fusion.instruction_fusion:InstructionFusion",
    "layout-assignment": "layout_assignment:LayoutAssignment",
    "map-inliner": "simplifiers.map_inliner:MapInliner",
    "memory-scheduler": "scheduling.memory_scheduler:HloMemoryScheduler",
    "multi-output-fusion": "fusion.multi_output_fusion:MultiOutputFusion",
    "operand-converter": "expanders.operand_converter:OperandConverter",
    "operand-upcaster": "expanders.operand_upcaster:OperandUpcaster",
    "optimization-barrier-expander": "expanders.optimization_barrier_expander:OptimizationBarrierExpander",
    "optimize-input-output-buffer-alias": "scheduling.optimize_input_output_buffer_alias"
    ":OptimizeInputOutputBufferAlias",
    "ragged-dot-expander": "expanders.grouped_dot_expander:RaggedDotExpander",
    "reduce-window-rewriter": "expanders.reduce_window_rewriter:ReduceWindowRewriter",
    "reduction-splitter": "expanders.reduction_splitter:ReductionSplitter",
    "reshape-mover": "simplifiers.reshape_mover:ReshapeMover",
    "rng-bit-generator-expander": "expanders.rng_bit_generator_expander:RngBitGeneratorExpander",
    "rng-expander": "expanders.rng_expander:RngExpander",
    "scaled-dot-expander": "expanders.grouped_dot_expander:ScaledDotExpander",
    "scan-expander": "expanders.scan_expander:ScanExpander",
    "scatter-expander": "expanders.scatter_expander:ScatterExpander",
    "select-and-scatter-expander": "expanders.select_and_scatter_expander:SelectAndScatterExpander",
    "simplification": "simplification:simplification_pipeline",
    "simplify-fp-conversions": "simplifiers.simplify_fp_conversions:SimplifyFpConversions",
    "sort-simplifier": "simplifiers.sort_simplifier:SortSimplifier",
    "topk-decomposer": "expanders.topk_decomposer:TopkDecomposer",
    "transpose-folding": "simplifiers.transpose_folding:TransposeFolding",
    "triangular-solve-expander": "expanders.triangular_solve_expander:TriangularSolveExpander",
    "tuple-simplifier": "simplifiers.tuple_simplifier:TupleSimplifier",
    "while-loop-constant-sinking": "control_flow.while_loop_constant_sinking:WhileLoopConstantSinking",
    "while-loop-invariant-code-motion": "control_flow.while_loop_invariant_code_motion:WhileLoopInvariantCodeMotion",
    "while-loop-simplifier": "control_flow.while_loop_simplifier:WhileLoopSimplifier",
    "zero-sized-hlo-elimination": "simplifiers.zero_sized_hlo_elimination:ZeroSizedHloElimination",
}
"""Name -> a callable that makes the pass, or "module:Class" below xla_core.passes."""

_ALIASES = {
    "algsimp": "algebraic-simplifier",
    "cse": "hlo-cse",
    "dce": "hlo-dce",
    "constant-folding": "hlo-constant-folding",
    "inline": "call-inliner",
}


def register_pass(name: str, factory: PassFactory) -> None:
    """Registers a pass, for example one of a plugin, under a name.

    Raises:
        AlreadyExistsError: the name is taken.
    """
    require("name", name, str, "a pass's")
    if name in PASSES:
        raise AlreadyExistsError(f"there is a pass {name!r} already")
    PASSES[name] = factory


def create_pass(name: str, **options: Any) -> HloPass:
    """A new instance of the pass `name` ("algebraic-simplifier", "algebraic_simplifier", or XLA's "algsimp").

    `options` are keyword arguments of the pass's constructor.

    Raises:
        InvalidArgumentError: there is no pass of that name.
    """
    require("name", name, str, "a pass's")
    key = name.strip().replace("_", "-")
    key = _ALIASES.get(key, key)
    factory = PASSES.get(key) or PASSES.get(name.strip())
    if factory is None:
        near = difflib.get_close_matches(key, [*PASSES, *_ALIASES], 3)
        raise InvalidArgumentError(
            f"there is no pass {name!r}",
            hint=f"did you mean {', '.join(near)}?" if near else "`xla opt` lists them all (docs/passes.md)",
        )
    if isinstance(factory, str):
        module, _, attribute = factory.partition(":")
        factory = getattr(importlib.import_module(f"xla_core.passes.{module}"), attribute)
    made: HloPass = factory(**options)
    return made
