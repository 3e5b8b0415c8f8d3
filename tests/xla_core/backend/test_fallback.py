"""CompileOptions.fallback="host": with backends that can, and with those that can't."""

from __future__ import annotations

import pytest

from xla_core.backend import CompileOptions, Compiler, Executable
from xla_core.errors import UnimplementedError
from xla_core.hlo import parse_hlo
from xla_core.target import Capabilities, TargetConfig

TEXT = """HloModule m
ENTRY e {
  p = f32[4]{0} parameter(0)
  ROOT s = f32[4]{0} OP(p), metadata={source_file="model.py" source_line=3}
}"""


class Poor(Compiler):
    target_config = TargetConfig(
        name="poor", capabilities=Capabilities.all_of(without=("sine", "bitcast-convert", "custom-call"))
    )

    def run_backend(self, module, options, executor=None) -> Executable:
        self.fallback = options.fallback
        return _Ran(module)


class _Ran(Executable):
    def execute_async_on_stream(self, run_options, arguments):
        raise NotImplementedError


class Rich(Poor):
    host_fallback = True


def module(op: str):
    return parse_hlo(TEXT.replace("OP", op), file="program.hlo")


def test_a_backend_that_cannot_fall_back_says_so() -> None:
    with pytest.raises(UnimplementedError, match="sine") as caught:
        Poor().compile(module("sine"), CompileOptions(fallback="host"))
    assert 'poor has no fallback="host"' in str(caught.value.hint)
    assert caught.value.location is not None


def test_what_no_host_could_run_keeps_its_hint() -> None:
    text = TEXT.replace("OP(p)", 'custom-call(p), custom_call_target="nobodys"')
    with pytest.raises(UnimplementedError, match="nobodys") as caught:
        Poor().compile(parse_hlo(text), CompileOptions(fallback="host"))
    assert "fallback" not in str(caught.value.hint)


def test_what_the_target_can_run_needs_no_fallback() -> None:
    compiler = Poor()
    compiler.compile(module("cosine"), CompileOptions(fallback="host"))
    assert compiler.fallback == "none"


def test_a_backend_that_can_is_asked() -> None:
    compiler = Rich()
    compiler.compile(module("sine"), CompileOptions(fallback="host"))
    assert compiler.fallback == "host"
