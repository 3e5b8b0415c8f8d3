"""The simplification pipeline, which makes a program smaller on every target.

(XLA: the simplification pipelines of xla/service/cpu/cpu_compiler.cc and xla/service/gpu/gpu_compiler.cc.)
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.passes.control_flow.conditional_simplifier import ConditionalSimplifier
from xla_core.passes.control_flow.while_loop_constant_sinking import WhileLoopConstantSinking
from xla_core.passes.control_flow.while_loop_invariant_code_motion import WhileLoopInvariantCodeMotion
from xla_core.passes.control_flow.while_loop_simplifier import WhileLoopSimplifier
from xla_core.passes.expanders.dot_decomposer import DotDecomposer
from xla_core.passes.expanders.gather_simplifier import GatherSimplifier
from xla_core.passes.pass_manager import HloPassFix, HloPassPipeline
from xla_core.passes.simplifiers.algebraic_simplifier import AlgebraicSimplifier, AlgebraicSimplifierOptions
from xla_core.passes.simplifiers.call_inliner import CallInliner
from xla_core.passes.simplifiers.convert_mover import ConvertMover
from xla_core.passes.simplifiers.hlo_constant_folding import HloConstantFolding
from xla_core.passes.simplifiers.hlo_cse import HloCse
from xla_core.passes.simplifiers.hlo_dce import HloDce
from xla_core.passes.simplifiers.map_inliner import MapInliner
from xla_core.passes.simplifiers.reshape_mover import ReshapeMover
from xla_core.passes.simplifiers.sort_simplifier import SortSimplifier
from xla_core.passes.simplifiers.transpose_folding import TransposeFolding
from xla_core.passes.simplifiers.tuple_simplifier import TupleSimplifier
from xla_core.passes.simplifiers.zero_sized_hlo_elimination import ZeroSizedHloElimination


@dataclasses.dataclass(frozen=True, slots=True)
class SimplificationOptions:
    """Options of the simplification pipeline.

    Attributes:
        fast_math: whether rules may change rounding, NaN, infinities and the sign of zero.
        accept: whether the target supports an instruction that a pass adds; None before legalization.
        keep_call: whether a call is not inlined, because it is a composite that the target runs.
        canonical_dots: whether every dot becomes a (batched) product of matrices.
        limit: the most times that the simplification passes run.
    """

    fast_math: bool = False
    accept: Callable[[HloInstruction], bool] | None = None
    keep_call: Callable[[HloInstruction], bool] | None = None
    canonical_dots: bool = True
    limit: int = 6


def simplification_pipeline(
    options: SimplificationOptions | None = None, *, name: str = "simplification"
) -> HloPassPipeline:
    """Inlines calls, simplifies to a fixed point, then makes dots canonical and simplifies again."""
    options = options or SimplificationOptions()
    # A pass that occurs several times is one object, so that it is skipped where it has nothing left to do.
    algebra = AlgebraicSimplifier(AlgebraicSimplifierOptions(fast_math=options.fast_math, accept=options.accept))
    tuples, folding, cse, dce = TupleSimplifier(), HloConstantFolding(accept=options.accept), HloCse(), HloDce()
    reshapes = ReshapeMover(options.accept)
    rounds = HloPassPipeline(
        "simplify",
        [
            ZeroSizedHloElimination(),
            tuples,
            algebra,
            folding,
            cse,
            WhileLoopConstantSinking(),
            WhileLoopSimplifier(),
            ConditionalSimplifier(),
            SortSimplifier(),
            reshapes,
            ConvertMover(options.accept),
            WhileLoopInvariantCodeMotion(),
            dce,
        ],
    )
    pipeline = HloPassPipeline(name, [CallInliner(options.keep_call), MapInliner(), tuples, dce])
    if options.accept is None:
        pipeline.add(GatherSimplifier())
    pipeline.add(HloPassFix(rounds, options.limit))
    if options.canonical_dots:
        tidy = [TransposeFolding(), algebra, reshapes, folding, cse, dce]
        pipeline.add(DotDecomposer())
        pipeline.add(HloPassFix(HloPassPipeline("simplify-products", tidy), options.limit))
    return pipeline
