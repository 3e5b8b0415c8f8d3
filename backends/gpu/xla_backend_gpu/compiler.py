"""GpuCompiler: runs the core's pipeline and a few passes for GPUs, and generates PTX with LLVM.

The compilation itself is in `code_generation`, which is imported at the first compilation, so that a serialized
program runs where LLVM is not installed.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal

from xla_backend_gpu.chips import DEFAULT, Chip, chip_named
from xla_backend_gpu.device import GpuExecutor
from xla_backend_gpu.executable import GpuExecutable
from xla_backend_gpu.processors import check_processor
from xla_backend_gpu.program import ChipName, Engine, GpuProgram, Processor, Products
from xla_core.backend import BackendOptions, CompileOptions, Compiler, Executable, StreamExecutor
from xla_core.errors import InvalidArgumentError, XlaError
from xla_core.hlo import Opcode, parse_hlo

if TYPE_CHECKING:
    from xla_backend_gpu.cublas.rewriter import Chooses
    from xla_core.hlo import HloModule
    from xla_core.passes import HloPass
    from xla_core.target import TargetConfig


class GpuOptions(BackendOptions):
    """Options of the GPU backend.

    Attributes:
        sm: the processor to compile for, such as "sm_90"; by default, that of the chip. "sm_90a" has the features
            that devices of compute capability 9.0 alone have, such as products by warpgroups.
        chip: the chip to plan for, such as "a100": how many blocks keep it busy, and how it weighs arithmetic against
            memory. By default, the device itself; where it is emulated, an H100. Programs run on other chips too.
        engine: how an emulated device runs kernels. "fast" runs native code; "checked" checks every memory access and
            counts instructions. A GPU ignores it.
        math: "strict" rounds each operation, "contract" allows fused multiply-add in place of a product and a sum.
        deterministic: whether a program gives the same result in each run. If not, the updates of a scatter of floats
            are combined in any order, by atomics, and so are the parts of a reduction that is divided between blocks.
        tf32: whether dots of f32 of default precision may round their operands to tf32, which has 10 bits of mantissa.
            Tensor cores compute them then.
        graphs: whether a GPU runs a program of several steps as one graph, when its buffers are where they were before.
        autotune: whether the plans of kernels are chosen during the compilation, by their time on the device or by an
            emulated device's counts.
        autotune_cache: a file that keeps the chosen plans for later compilations, also those of other processes. It
            also keeps what is faster for "measured" products.
        products: what multiplies matrices, where the device has cuBLASLt. "auto" calls it where the estimated cost of
            kernels of our own is higher, "library" wherever it computes the product, "own" never. "measured" runs both
            once, while the program is compiled, and takes what is faster.
    """

    sm: Processor | None = None
    chip: ChipName | None = None
    engine: Engine = "fast"
    math: Literal["strict", "contract"] = "strict"
    deterministic: bool = True
    tf32: bool = False
    graphs: bool = True
    autotune: bool = False
    autotune_cache: str = ""
    products: Products = "auto"


class GpuCompiler(Compiler):
    """Compiles for one chip. The options `chip` and `sm` of a program choose another.

    Args:
        processor: whose code is made; by default, the chip's own.
        chip: what programs are planned for.
    """

    host_fallback = True

    def __init__(self, processor: str = "", chip: Chip = DEFAULT) -> None:
        self.processor = check_processor(processor or chip.processor)
        self.chip = chip

    @functools.cached_property
    def target_config(self) -> TargetConfig:
        from xla_backend_gpu import code_generation

        return code_generation.target_config(self.processor, self.chip)

    def _chip(self, own: GpuOptions) -> Chip:
        return self.chip if own.chip is None else chip_named(own.chip)

    def _processor(self, own: GpuOptions) -> str:
        return own.sm or (self.processor if own.chip is None else self._chip(own).processor)

    def _target(self, own: GpuOptions) -> TargetConfig:
        """Returns the target of a program's options."""
        if own.chip is None:
            return self.target_config
        from xla_backend_gpu import code_generation

        return code_generation.target_config(self._processor(own), self._chip(own))

    def hlo_stages(self, options: CompileOptions) -> Mapping[str, HloPass]:
        """Returns the `target` and `scheduling` stages."""
        from xla_backend_gpu import code_generation

        own = _options(options)
        return code_generation.hlo_stages(self._target(own), deterministic=own.deterministic, tf32=own.tf32)

    def run_hlo_passes(
        self, module: HloModule, options: CompileOptions, executor: StreamExecutor | None = None
    ) -> HloModule:
        """Runs the core's pipeline. If the device has cuBLASLt, products become calls of it before fusion."""
        from xla_core.passes import run_hlo_passes

        own = _options(options)
        target = self._target(own)
        if (
            own.products != "own"
            and isinstance(executor, GpuExecutor)
            and _has_dots(module)
            and executor.driver.blas is not None
        ):
            stages = self._stages_with_library(options, executor)
        else:
            stages = self.hlo_stages(options)
        return run_hlo_passes(module, target, options, stages)

    def _stages_with_library(self, options: CompileOptions, executor: GpuExecutor) -> Mapping[str, HloPass]:
        """Returns the stages of `hlo_stages`, and one that replaces products with calls of cuBLASLt before fusion."""
        from xla_backend_gpu import code_generation, products
        from xla_core.passes import STAGES, HloPassPipeline

        own = _options(options)
        target = self._target(own)
        rewriter = products.rewriter(executor.driver, self._chooses(own.products, options, executor))
        rest = [
            code_generation.product_splitter(target),
            STAGES["layout"](target, options),
        ]  # of products that are left
        return {
            **code_generation.hlo_stages(target, deterministic=own.deterministic, tf32=own.tf32, split_products=False),
            "fusion": HloPassPipeline("fusion", [rewriter, *rest, STAGES["fusion"](target, options)]),
        }

    def _chooses(self, wanted: Products, options: CompileOptions, executor: GpuExecutor) -> Chooses:
        """Returns what chooses between the library and our own kernels."""
        from xla_backend_gpu import products

        own = _options(options)
        if wanted == "library":
            return products.always
        if wanted == "auto":
            return products.by_cost(self._target(own).fusion.costs)

        def compile(module: HloModule, by: Products) -> GpuExecutable:
            chosen = own.model_copy(update={"products": by, "autotune": False, "engine": "checked"})
            found = options.model_copy(update={"backend": chosen, "keep_artifacts": False})
            if by == "own":
                self.run_hlo_passes(module, found, executor)
                return self.run_backend(module, found)
            return self._compile_kernel(module, found)

        return products.Measured(executor, self._chip(own), compile, own.autotune_cache)

    def run_backend(
        self, module: HloModule, options: CompileOptions, executor: StreamExecutor | None = None
    ) -> GpuExecutable:
        """Assigns buffers, and compiles the kernels of all instructions to one module of PTX."""
        from xla_backend_gpu import code_generation
        from xla_backend_gpu.abi import PtxAbi

        own = _options(options)
        fast_math = "contract" if own.math == "contract" or options.precision == "fast" else ""
        chip, processor = self._chip(own), self._processor(own)
        abi = PtxAbi(processor, chip, fast_math=fast_math, deterministic=own.deterministic)
        tuner = None
        if own.autotune and isinstance(executor, GpuExecutor):
            from xla_backend_gpu.autotuning import autotuner

            measured = own.model_copy(update={"autotune": False, "engine": "checked"})
            compile = functools.partial(self._compile_kernel, options=options.model_copy(update={"backend": measured}))
            tuner = autotuner(executor, chip, abi, compile, own.autotune_cache)
        executable = code_generation.compile_module(
            module,
            abi,
            engine=own.engine,
            graphs=own.graphs,
            level=2 if options.optimization_level else 0,
            supports=self._target(own).supports if options.fallback == "host" else None,
            tuner=tuner,
            keep_artifacts=options.keep_artifacts,
        )
        executable.prepare(executor)
        return executable

    def _compile_kernel(self, module: HloModule, options: CompileOptions) -> GpuExecutable:
        """Compiles an unscheduled module of one instruction."""
        self.hlo_stages(options)["scheduling"].run(module)
        return self.run_backend(module, options)

    def deserialize(
        self, data: bytes, options: CompileOptions | None = None, executor: StreamExecutor | None = None
    ) -> Executable:
        """Restores a program from its PTX. LLVM is not needed."""
        program = GpuProgram.from_bytes(data)
        try:
            from xla_backend_gpu.assignment import assign

            executable = GpuExecutable(program, assign(parse_hlo(program.hlo)))
        except XlaError as error:
            raise InvalidArgumentError(f"the serialized GPU program is damaged: {error.message}") from error
        executable.prepare(executor)
        return executable


def _has_dots(module: HloModule) -> bool:
    return any(i.opcode == Opcode.DOT for c in module.computations for i in c.instructions)


def _options(options: CompileOptions) -> GpuOptions:
    own: Any = options.backend
    return own if isinstance(own, GpuOptions) else GpuOptions.model_validate(own or {})
