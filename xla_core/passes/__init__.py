"""HLO passes: one pass, or one set of rules, a file; pipelines of them; dumps between them."""

from xla_core.passes.convolution_canonicalizer import ConvolutionCanonicalizer, is_canonical_convolution
from xla_core.passes.dump import ModuleDump
from xla_core.passes.expander import OpExpander
from xla_core.passes.pass_manager import (
    HloPass,
    HloPassFix,
    HloPassPipeline,
    Invariant,
    PassContext,
    PassGroup,
    PassTiming,
)
from xla_core.passes.pipeline import STAGES, default_pipeline, run_hlo_passes, scheduling_pipeline
from xla_core.passes.registry import PASSES, create_pass, register_pass
from xla_core.passes.rewriter import Builder
from xla_core.passes.simplification import SimplificationOptions, simplification_pipeline

__all__ = [
    "PASSES",
    "STAGES",
    "Builder",
    "ConvolutionCanonicalizer",
    "HloPass",
    "HloPassFix",
    "HloPassPipeline",
    "Invariant",
    "ModuleDump",
    "OpExpander",
    "PassContext",
    "PassGroup",
    "PassTiming",
    "SimplificationOptions",
    "create_pass",
    "default_pipeline",
    "is_canonical_convolution",
    "register_pass",
    "run_hlo_passes",
    "scheduling_pipeline",
    "simplification_pipeline",
]
