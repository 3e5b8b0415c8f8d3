"""HLO passes, each in a file of its own under XLA's name, and the pipelines that run them.

The modules and subpackages, from the bottom up:

- The modules here contain the tools for passes (`pass_manager`, `rewriter`, `patterns`, `dot_operands`, `while_util`,
  `inlining`, `dump`), the pipelines (`simplification`, `pipeline`), the table of passes by name (`registry`), and
  `plan`, which finds what a target would have to support for a set of programs. Only the pipelines name passes of
  several subpackages.
- `expanders` rewrites an op in terms of other ops.
- `simplifiers` makes a program smaller on every target.
- `control_flow` simplifies loops and branches.
- `dynamic_padder` makes dynamic dimensions static.
- `legalization` rewrites ops that a target does not support.
- `host_offloading` divides a program between the device and the host.
- `layout_assignment` chooses the layouts of arrays.
- `fusion` chooses the instructions that become one kernel.
- `scheduling` orders instructions and inserts the copies that buffer assignment needs.

A pass changes its module through a `Builder` and the methods of computations. It reads properties of ops from
the op table and properties of the target from a TargetConfig. It accesses no device, no file and no global state.
"""

from xla_core.hlo.ir.builder import Builder
from xla_core.passes.dump import ModuleDump
from xla_core.passes.expanders.convolution_canonicalizer import ConvolutionCanonicalizer, is_canonical_convolution
from xla_core.passes.expanders.expander import OpExpander
from xla_core.passes.pass_manager import (
    HloPass,
    HloPassFix,
    HloPassPipeline,
    InstructionPass,
    Invariant,
    PassContext,
    PassGroup,
    PassObserver,
    PassTiming,
    observe_passes,
)
from xla_core.passes.pipeline import STAGES, default_pipeline, run_hlo_passes, scheduling_pipeline
from xla_core.passes.registry import PASSES, create_pass, register_pass
from xla_core.passes.simplification import SimplificationOptions, simplification_pipeline
from xla_core.passes.support_plan import PlanStep, SupportPlan, plan_support

__all__ = [
    "PASSES",
    "STAGES",
    "Builder",
    "ConvolutionCanonicalizer",
    "HloPass",
    "HloPassFix",
    "HloPassPipeline",
    "InstructionPass",
    "Invariant",
    "ModuleDump",
    "OpExpander",
    "PassContext",
    "PassGroup",
    "PassObserver",
    "PassTiming",
    "PlanStep",
    "SimplificationOptions",
    "SupportPlan",
    "create_pass",
    "default_pipeline",
    "is_canonical_convolution",
    "observe_passes",
    "plan_support",
    "register_pass",
    "run_hlo_passes",
    "scheduling_pipeline",
    "simplification_pipeline",
]
