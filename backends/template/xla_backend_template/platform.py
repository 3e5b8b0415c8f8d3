"""The platform: counts and opens the simulated devices."""

from __future__ import annotations

from typing import ClassVar

from pydantic import BaseModel, ConfigDict, Field

from xla_backend_template.compiler import TemplateCompiler
from xla_backend_template.executor import TemplateExecutor
from xla_core.backend import Compiler, Platform, StreamExecutor
from xla_core.config import plugin_flags


class TemplateFlags(BaseModel):
    """Flags in XLA_CORE_FLAGS: the number of simulated devices, and the bytes of memory that each has."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    xla_template_device_count: int = Field(default=2, ge=0, le=4096)
    xla_template_memory_bytes: int = Field(default=1 << 30, ge=1 << 10)


class TemplatePlatform(Platform):
    """The simulated devices of this process."""

    compiler_class: ClassVar[type[Compiler]] = TemplateCompiler
    executor_class: ClassVar[type[TemplateExecutor]] = TemplateExecutor
    device_count_flag = "xla_template_device_count"

    def visible_device_count(self) -> int:
        return plugin_flags("template", TemplateFlags).xla_template_device_count

    def create_executor(self, ordinal: int) -> StreamExecutor:
        return self.executor_class(ordinal, plugin_flags("template", TemplateFlags).xla_template_memory_bytes)

    def create_compiler(self) -> Compiler:
        return self.compiler_class()
