"""LLVM emission shared by every LLVM target.

How a backend uses it::

    abi = LoopAbi(triple, cpu, features, vector_width=512)     # or a TargetAbi of its own
    emitter = KernelEmitter(abi)                               # one IrModule; KernelEmitter(abi, module) adds to one
    kernel = emitter.emit(instruction, "fusion_1", aliasing={(0, 1)})
    compiled = compile_ir(emitter.module.to_text(), abi, jit=True)   # .module (llvmlite), .assembly(), .object(), .ir()

`emit` takes a fusion, or one instruction that stands alone, and adds one function to the module. Its buffers are
`kernel.parameters`: each operand's array leaves, then the result's leaves. Its work is `kernel.partition_count`
independent units. A call works on units [begin, end), so a thread pool or a grid of threads may divide them at any
multiples of `kernel.grain`. A kernel of 0 units need not be called. On targets with blocks of threads, some
kernels are several functions, `kernel.phases`, which run one after another, and may take scratch memory.
`aliasing` names the pairs (result leaf, operand leaf) that are one buffer; `may_share_buffer` says which pairs may be.
All other buffers must not overlap.

With `LoopAbi` the function is ``void @name(ptr %buffers, i64 %begin, i64 %end)``, where %buffers points to an array of
buffer pointers, each aligned to `abi.alignment`. It is `noinline` and writes nothing but its results. It calls these
functions outside of the module: those that `abi.math` declares, `malloc` and `free` for sorts of long rows (by
`abi.allocate`), and `fmod` and `fmodf` for floating-point remainders. LLVM may also replace the loop that copies a row
by a call of `memcpy` or `memset`.

The packages, from the lowest one up. Each imports only from those above it in this table:

======================  ====================================================================================
`ir`                    LLVM IR as text: types, values, functions, modules, and a builder of instructions
`target_abi`            the properties and hooks of a target
`loop_abi`, `grid_abi`  the two usual kinds of target: kernels are loops, or run on a grid of threads
`gpu_abi`               the common properties of GPU targets, which are grids
`loops`                 loops under construction, values of index expressions, loads and stores of elements
`scalars`               elementwise ops on single elements
`elements`              any instruction of a computation, for the element at any index
`blocks`                cooperation of the threads of a block
`forms`                 the loops of a kernel, planned and emitted: elementwise, rows, tiled, scatter, sort, fft, ...
`planner`               chooses a form for a kernel and plans it; a backend may override it
`autotuner`             chooses plans by measured time
`kernel_emitter`        a fusion or an instruction becomes a function, as planned
`capabilities`          the ops that can be emitted, as data
`processors`            the processors that LLVM knows
`llvm_compiler`         IR text to optimized IR, assembly, object code
======================  ====================================================================================

A new op is one function under a decorator (`elemental` in `scalars`, `generator` in `elements`) or a kernel form.
"""

from xla_core.codegen.kernel_choice import KernelChoice
from xla_core.codegen.llvm.autotuner import Autotuner, TuningCache
from xla_core.codegen.llvm.capabilities import emitter_capabilities, may_share_buffer
from xla_core.codegen.llvm.elements.element_emitter import ElementEmitter
from xla_core.codegen.llvm.forms.kernel_form import EmittedKernel, KernelBody, KernelForm, KernelPlan
from xla_core.codegen.llvm.gpu_abi import GpuAbi
from xla_core.codegen.llvm.grid_abi import GridAbi
from xla_core.codegen.llvm.ir.builder import IrBuilder
from xla_core.codegen.llvm.ir.debug_locations import instruction_at_line
from xla_core.codegen.llvm.ir.module import Block, IrFunction, IrModule, Value
from xla_core.codegen.llvm.ir.parts import IrPart
from xla_core.codegen.llvm.ir.resources import KernelResources
from xla_core.codegen.llvm.kernel_emitter import KernelEmitter
from xla_core.codegen.llvm.llvm_compiler import (
    CompiledModule,
    compile_ir,
    compile_objects,
)
from xla_core.codegen.llvm.loop_abi import LoopAbi
from xla_core.codegen.llvm.loops.ir_array import Complex, IrArray
from xla_core.codegen.llvm.planner import Planner
from xla_core.codegen.llvm.processors import check_processor
from xla_core.codegen.llvm.target_abi import KernelFrame, KernelParameter, SharedMatrix, TargetAbi

__all__ = [
    "Autotuner",
    "Block",
    "CompiledModule",
    "Complex",
    "ElementEmitter",
    "EmittedKernel",
    "GpuAbi",
    "GridAbi",
    "IrArray",
    "IrBuilder",
    "IrFunction",
    "IrModule",
    "IrPart",
    "KernelBody",
    "KernelChoice",
    "KernelEmitter",
    "KernelForm",
    "KernelFrame",
    "KernelParameter",
    "KernelPlan",
    "KernelResources",
    "LoopAbi",
    "Planner",
    "SharedMatrix",
    "TargetAbi",
    "TuningCache",
    "Value",
    "check_processor",
    "compile_ir",
    "compile_objects",
    "emitter_capabilities",
    "instruction_at_line",
    "may_share_buffer",
]
