"""Backends put together from the template's parts, of which a mutant replaces some.

A part reaches those below it by a class attribute, so that a mutant needs one subclass only.
"""

from __future__ import annotations

import dataclasses
import functools
import re
from collections.abc import Callable
from typing import Any

import numpy as np
from xla_backend_template import xla_backend
from xla_backend_template.compiler import TemplateCompiler
from xla_backend_template.executable import TemplateExecutable
from xla_backend_template.executor import TemplateExecutor, TemplateStream
from xla_backend_template.kernel import HloKernel
from xla_backend_template.platform import TemplatePlatform

from tests.conformance.zoo.mutant import Mutant
from tests.conformance.zoo.own_mistakes import note
from xla_core.backend import BackendSpec
from xla_core.hlo import Literal
from xla_core.target import TargetConfig


class Stream(TemplateStream):
    """The template's stream. It notes which exceptions of its work are mistakes of a mutant."""

    def _run(self, work, *, in_worker=False):
        super()._run(work, in_worker=in_worker)
        note(self._error)


class Executor(TemplateExecutor):
    """The template's device, with streams of another class."""

    stream: type = Stream

    def create_stream(self):
        return self.stream(self)


class Compiler(TemplateCompiler):
    """The template's compiler, with kernels and executables of other classes, for another target."""

    kernel: type = HloKernel
    executable: type = TemplateExecutable
    target: dict[str, Any] = {}  # noqa: RUF012  (a subclass replaces it)

    @property
    def target_config(self) -> TargetConfig:
        return super().target_config.model_copy(update=self.target)

    def make_kernel(self, instruction, environment):
        return self.kernel(instruction, environment)

    def make_executable(self, module, program, report, artifacts):
        return self.executable(module, program, report, artifacts)


class Rewriter(Compiler):
    """Replaces each instruction for which `rewrite` returns another one, before the core's passes run.

    `levels` are the levels of optimization at which it does so.
    """

    levels: tuple[int, ...] = (1, 2)

    def run_hlo_passes(self, module, options, executor=None):
        if options.optimization_level in self.levels:
            for computation in list(module.computations):
                for instruction in list(computation.post_order()):
                    new = self.rewrite(computation, instruction) if instruction in computation else None
                    if new is not None:
                        computation.replace_with(instruction, new)
        return super().run_hlo_passes(module, options, executor)

    def rewrite(self, computation, instruction):
        """Returns what replaces the instruction, or None."""


class Platform(TemplatePlatform):
    """The template's platform, with a device and a compiler of other classes."""

    executor_class: type = Executor
    compiler_class: type = Compiler
    memory_bytes = 1 << 28

    device_count_flag = ""

    def visible_device_count(self) -> int:
        return 2

    def create_executor(self, ordinal: int):
        return self.executor_class(ordinal, self.memory_bytes)

    def create_compiler(self):
        return self.compiler_class()


def template(
    *,
    stream: type = Stream,
    executor: type = Executor,
    kernel: type | None = None,
    executable: type | None = None,
    compiler: type = Compiler,
    platform: type = Platform,
    target: dict[str, Any] | None = None,
    **fields: Any,
) -> BackendSpec:
    """Returns the template with other parts.

    Args:
        kernel, executable: by default those of the compiler.
        target: fields of the `TargetConfig` that differ from the compiler's.
        fields: fields of the spec that differ from the template's.
    """
    device = type("ZooExecutor", (executor,), {"stream": stream})
    given = {"kernel": kernel, "executable": executable, "target": target}
    code = type("ZooCompiler", (compiler,), {name: part for name, part in given.items() if part is not None})
    root = type("ZooPlatform", (platform,), {"executor_class": device, "compiler_class": code})
    parts = {
        "stream": stream,
        "stream_executor": device,
        "kernel": code.kernel,
        "executable": code.executable,
        "compiler": code,
        "platform": root,
        "flags": None,
    }
    return dataclasses.replace(xla_backend(), **{**parts, **fields})


def with_constants(module, change):
    """A copy of the module whose constants are what `change` makes of their arrays."""
    module = module.clone()
    for computation in module.computations:
        for i in computation.instructions:
            if i.opcode == "constant" and i.shape.is_array:
                i.attributes["literal"] = Literal(change(np.array(i.literal.value)))
    return module


def broken(level: str, select: str, mutants: list[Mutant]) -> Callable[..., Callable[[type], type]]:
    """Makes a decorator `(breaks, fault)` of parts: it adds the template with this part to `mutants`."""

    def says(breaks: str, fault: str, **fields: Any) -> Callable[[type], type]:
        def add(part: type) -> type:
            name = re.sub(r"(?<!^)(?=[A-Z])", "-", part.__name__).lower()
            field = next(f for f, base in _PARTS.items() if issubclass(part, base))
            make = functools.partial(template, **{field: part})
            given = {"select": select, **fields}
            mutants.append(Mutant(name=f"{level}/{name}", breaks=breaks, fault=fault, make=make, **given))
            return part

        return add

    return says


def rewriter(select: str, mutants: list[Mutant]) -> Callable[..., Callable[[Any], Any]]:
    """Makes a decorator `(fault)` of functions `(computation, instruction)`: it adds a compiler that rewrites by them."""

    def says(fault: str, **fields: Any) -> Callable[[Any], Any]:
        def add(rewrite: Any) -> Any:
            name = rewrite.__name__.title().replace("_", "")
            part = type(name, (Rewriter,), {"rewrite": staticmethod(rewrite)})
            broken("executables", select, mutants)("compiler.run-backend", fault, **fields)(part)
            return rewrite

        return add

    return says


_PARTS = {
    "stream": Stream,
    "executor": Executor,
    "kernel": HloKernel,
    "executable": TemplateExecutable,
    "compiler": Compiler,
    "platform": Platform,
}
