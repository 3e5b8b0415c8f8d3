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
    found = {root.name: root for root in find_root_causes(results)}
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
    assert (root.name, root.dependents) == ("compare", ("test_op[power-f32]",))


def test_what_passes_is_no_root() -> None:
    assert find_root_causes([wrong("tanh", "convert"), wrong("convert", "convert", state=State.PASS)]) == []


def of_loading(name: str, message: str, **failure: str) -> Result:
    return Result(f"test_loading.py::{name}", State.FAIL, message=message, failure=failure)


def test_what_needs_a_stage_that_failed_depends_on_it() -> None:
    first = of_loading("test_each_stage_of_loading_ends[hook]", "Calling the hook must work.", stage="hook")
    probe = of_loading("test_each_stage_of_loading_ends[probe]", "Probing was not reached.", stage="hook")
    touching = of_loading("test_loading_touches_no_device[import]", "It opens /dev/acme.")
    (root,) = find_root_causes([touching, first, probe])
    assert (root.name, root.tests, root.dependents) == ("hook", (first.id,), (probe.id,))
    assert root.why == "could not run, because stage 'hook' of loading failed"


def test_a_device_that_does_not_open_is_the_root_of_all_that_need_it() -> None:
    opening = of_loading("open", "no such driver")
    stage = of_loading("test_each_stage_of_loading_ends[open]", "Opening must work.", stage="open")
    spec = of_loading("test_probe_answers", "UNAVAILABLE: no such driver")
    (root,) = find_root_causes([opening, stage, spec, of_loading("test_options_have_defaults", "They lack one.")])
    assert (root.name, root.tests, root.dependents) == ("open", (opening.id,), (stage.id, spec.id))


def test_a_backend_that_can_not_be_imported_has_one_failure(put_backend: Callable[[str, str], str]) -> None:
    run = run_suite(put_backend("lost", "raise RuntimeError('no such driver')"))
    (root,) = find_root_causes(run.results)
    alone = {result.name for result in run.wrong} - {id.partition("::")[2] for id in root.dependents}
    assert root.name == "open"
    assert len(root.dependents) > 55
    assert alone == {"open"}, alone


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
    assert root.name == "maximum"
    assert {r.properties["opcode"] for r in run.wrong if r.id in root.dependents} == {"clamp"}
