"""Wrong results grouped by root."""

from __future__ import annotations

from collections.abc import Callable

from xla_conformance.results import Result, State
from xla_conformance.root_causes import find_root_causes
from xla_conformance.runner import run_suite


def wrong(
    opcode: str, *runs_as: str, case: str = "f32", element_type: str = "f32", state: State = State.FAIL
) -> Result:
    """A test of an op that is compiled to others, of f32 unless they name another type."""
    ops = [name if " " in name else f"{name} f32" for name in runs_as]
    properties = {"opcode": opcode, "element_type": element_type, "runs_as": ops}
    return Result(f"test_op[{opcode}-{case}]", state, properties=properties)


def test_an_op_that_others_are_compiled_to_is_their_root() -> None:
    results = [
        wrong("tanh", "convert", "exponential"),
        wrong("convert", "convert"),
        wrong("cbrt", "convert", "power"),
        wrong("power", "power"),
        wrong("sine", "sine"),
    ]
    found = {root.opcode: root for root in find_root_causes(results)}
    assert set(found) == {"convert", "power"}
    assert found["convert"].tests == ("test_op[convert-f32]",)
    assert found["convert"].dependents == ("test_op[tanh-f32]", "test_op[cbrt-f32]")
    assert found["power"].dependents == ("test_op[cbrt-f32]",)


def test_an_op_that_is_wrong_alone_too_is_no_dependent() -> None:
    """Its cases in fusions have neighbours, which are not the cause if it is wrong without them."""
    results = [wrong("sine", "sine", "add"), wrong("sine", "sine", case="alone"), wrong("add", "add")]
    assert find_root_causes(results) == []


def test_an_op_is_a_root_only_in_the_types_in_which_it_is_wrong() -> None:
    """The device computes the comparison of a narrow type in s32, where nothing is known to be wrong."""
    compare = wrong("compare", "compare s32", element_type="f8e5m2")
    assert find_root_causes([compare, wrong("power", "compare s32")]) == []
    (root,) = find_root_causes(
        [compare, wrong("compare", "compare s32", element_type="s32"), wrong("power", "compare s32")]
    )
    assert (root.opcode, root.dependents) == ("compare", ("test_op[power-f32]",))


def test_what_passes_is_no_root() -> None:
    assert find_root_causes([wrong("tanh", "convert"), wrong("convert", "convert", state=State.PASS)]) == []


WRONG_MAXIMUM = """
class Kernel(HloKernel):
    def _run(self, stream, arguments):
        super()._run(stream, arguments)
        if "maximum" in self.name:
            stream.executor.ram.block(arguments[-1].handle)[:1] ^= 1

import xla_backend_template.compiler as compiler
compiler.HloKernel = Kernel

class Compiler(TemplateCompiler):
    @property
    def target_config(self):
        config = super().target_config
        return config.model_copy(update={"capabilities": config.capabilities.without_ops("clamp")})

class Platform(TemplatePlatform):
    def create_compiler(self):
        return Compiler()

@hookimpl
def xla_backend():
    return spec(platform=Platform, compiler=Compiler)
"""


def test_a_backend_whose_decompositions_use_a_wrong_op(put_backend: Callable[[str, str], str]) -> None:
    run = run_suite(put_backend("rooted", WRONG_MAXIMUM), expression="test_op and s32 and ([maximum or [clamp)")
    opcodes = {r.properties["opcode"] for r in run.wrong}
    assert opcodes == {"maximum", "clamp"}
    (root,) = find_root_causes(run.results)
    assert root.opcode == "maximum"
    assert {r.properties["opcode"] for r in run.wrong if r.id in root.dependents} == {"clamp"}
