"""HLO passes, each in a file of its own under XLA's name, and the pipelines that run them.

Rooms, from the ground up:

- here: what passes are made with (`pass_manager`, `rewriter`, `patterns`, `while_util`, `inlining`, `dump`), and the
  pipelines (`simplification`, `pipeline`), the only code that names passes of several rooms;
- `expanders`: an op written in other ops;
- `simplifiers`: the same program, smaller, on any target;
- `control_flow`: loops and branches;
- `dynamic_padder`: dynamic dimensions made static;
- `legalization`: what a target lacks, written in what it has;
- `fusion`: what becomes one kernel;
- `scheduling`: the order of execution, and the copies that buffers need then.

A pass changes the module that it is given through `rewriter.Builder` and the computation's own methods. It asks the op
table what an op is and a TargetConfig what the target does; it touches no device, no file and no global state.
"""

from xla_core.passes.dump import ModuleDump
from xla_core.passes.expanders.convolution_canonicalizer import ConvolutionCanonicalizer, is_canonical_convolution
from xla_core.passes.expanders.expander import OpExpander
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
