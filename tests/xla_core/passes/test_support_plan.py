"""The features that a target must add to run programs."""

from __future__ import annotations

import pytest

import xla_core as xla
from tests.programs import PROGRAMS
from tests.xla_core.passes.legalization.devices import PRIMITIVES
from xla_core.hlo import HloModule, Layout
from xla_core.hlo.values.element_type import ElementType
from xla_core.passes import SupportPlan, plan_support
from xla_core.target import Capabilities, Lack, LackKind, LayoutRules, TargetConfig

F32, S32, PRED, BF16 = ElementType.F32, ElementType.S32, ElementType.PRED, ElementType.BF16
ARITHMETIC = ("add", "subtract", "multiply", "divide", "maximum", "compare", "select", "broadcast", "constant")
FEW = Capabilities.all_of([F32, PRED], opcodes=ARITHMETIC)


def unary(opcode: str, kind: str = "f32") -> HloModule:
    return xla.parse(f"HloModule m\n\nENTRY e {{\n  x = {kind}[4] parameter(0)\n  ROOT y = {kind}[4] {opcode}(x)\n}}\n")


def plan(capabilities: Capabilities, **programs: HloModule) -> SupportPlan:
    return plan_support(TargetConfig(name="few", capabilities=capabilities), programs)


def additions(made: SupportPlan) -> list[tuple[list[str], tuple[str, ...]]]:
    return [([str(lack) for lack in step.lacks], step.unlocks) for step in made.steps]


def test_one_op_that_several_decompositions_need_is_added_once() -> None:
    made = plan(FEW, negative=unary("negate"), logistic=unary("logistic"), plain=unary("exponential"))
    assert made.runs == ("negative",)
    assert additions(made) == [(["exponential of f32"], ("logistic", "plain"))]
    (step,) = made.steps
    assert step.serves == {Lack("exponential", F32): ("logistic", "exponential")}


def test_an_op_itself_is_less_than_what_its_decomposition_needs() -> None:
    assert additions(plan(FEW, wave=unary("sine"))) == [(["sine of f32"], ("wave",))]


def test_the_step_that_unlocks_most_comes_first() -> None:
    wave = "HloModule m\n\nENTRY e {\n  x = f32[4] parameter(0)\n  y = f32[4] sine(x)\n  ROOT z = f32[4] floor(y)\n}\n"
    made = plan(FEW, both=xla.parse(wave), one=unary("floor"), other=unary("floor"))
    assert additions(made) == [(["floor of f32"], ("one", "other")), (["sine of f32"], ("both",))]


def test_conversions_alone_let_ops_run_in_wider_types() -> None:
    programs = {opcode: unary(opcode, "bf16") for opcode in ("negate", "abs", "sign")}
    assert additions(plan(FEW, **programs)) == [(["convert of bf16", "convert of f32"], tuple(programs))]


def test_custom_calls_indices_and_limits_are_additions_too() -> None:
    def short(i: xla.HloModule) -> str | None:
        return "it is longer than 2" if i.shape.num_elements > 2 else None

    text = """HloModule m

ENTRY e {
  x = f32[4] parameter(0)
  n = s32[] parameter(1)
  k = f32[4] custom-call(x), custom_call_target="mine"
  p = f32[2] dynamic-slice(k, n), dynamic_slice_sizes={2}
  m = f32[4] multiply(x, x)
  ROOT t = (f32[2], f32[4]) tuple(p, m)
}
"""
    capabilities = Capabilities.all_of([F32, PRED], opcodes=(*ARITHMETIC, "dynamic-slice"))
    capabilities = capabilities.model_copy(update={"index_types": frozenset()}).with_constraint("multiply", short)
    ((lacks, unlocked),) = additions(plan(capabilities, whole=xla.parse(text)))
    assert unlocked == ("whole",)
    assert "custom call 'mine'" in lacks
    assert "indices of s32" in lacks
    assert "multiply where it is longer than 2" in lacks


def test_what_a_program_could_do_is_not_changed() -> None:
    module = unary("logistic")
    before = module.to_text()
    plan(FEW, one=module)
    assert module.to_text() == before


STORED = [p for p in PROGRAMS if p.name in ("gather_forms", "bfloat16")]


def test_stored_programs_run_with_the_plan_and_with_nothing_less() -> None:
    capabilities = Capabilities.all_of([F32, S32, PRED], opcodes=PRIMITIVES).without_ops("dynamic-slice", "concatenate")
    modules = {program.name: xla.parse(program.text) for program in STORED}
    made = plan(capabilities, **modules)

    def runs(name: str, lacks: list[Lack]) -> bool:
        return bool(plan(capabilities.with_lacks(lacks), **{name: modules[name]}).runs)

    have: list[Lack] = []
    unlocked = list(made.runs)
    for step in made.steps:
        have += step.lacks
        unlocked += step.unlocks
        assert all(runs(name, have) for name in unlocked)
    assert sorted(unlocked) == sorted(modules)
    for lack in have:
        assert not all(runs(name, [other for other in have if other != lack]) for name in modules), str(lack)


def test_many_programs_need_the_primitive_ops_and_not_the_ops_that_these_decompose() -> None:
    names = ("gather_forms", "cumulatives", "attention", "rms_and_group_norm", "sorts", "random_floats", "lstm_grad")
    names += ("cross_entropy_grad", "scatter_forms")
    programs = {p.name: xla.parse(p.text) for p in PROGRAMS if p.name in names}
    made = plan(Capabilities.all_of([F32, S32, PRED], opcodes=("add",)), **programs)
    added = [lack for step in made.steps for lack in step.lacks]
    assert [str(lack) for lack in added if lack.opcode is not None and lack.opcode not in PRIMITIVES] == []
    assert sorted(name for step in made.steps for name in step.unlocks) == sorted(names)


@pytest.mark.parametrize(
    ("lack", "words"),
    [
        (Lack("add", F32), "add of f32"),
        (Lack("tuple"), "tuple"),
        (Lack(None, BF16, LackKind.MEMORY), "memory of bf16"),
        (Lack(None, S32, LackKind.INDICES), "indices of s32"),
        (Lack("custom-call", None, LackKind.CUSTOM_CALL, "k"), "custom call 'k'"),
        (Lack("custom-call", None, LackKind.LIMIT, "it is long"), "custom-call where it is long"),
    ],
)
def test_every_lack_has_its_words(lack: Lack, words: str) -> None:
    assert str(lack) == words


def test_a_limit_of_a_custom_call_is_no_custom_call() -> None:
    text = 'HloModule m\n\nENTRY e {\n  x = f32[4] parameter(0)\n  ROOT k = f32[4] custom-call(x), custom_call_target="k"\n}\n'
    capabilities = FEW.model_copy(update={"custom_calls": frozenset({"k"})})
    limited = capabilities.with_constraint("custom-call", lambda call: "it is long")
    made = plan(limited, program=xla.parse(text))
    assert additions(made) == [(["custom-call where it is long"], ("program",))]
    more = limited.with_lacks(made.steps[0].lacks)
    assert more.custom_calls == {"k"}
    assert plan(more, program=xla.parse(text)).runs == ("program",)


def test_a_reshape_in_another_order_is_planned_as_it_is_compiled() -> None:
    program = xla.parse("HloModule m ENTRY e { x = f32[2,6] parameter(0) ROOT y = f32[4,3] reshape(x) }")
    rules = LayoutRules(default=lambda shape: Layout(tuple(range(shape.rank))))
    target = TargetConfig(name="columns", capabilities=FEW, layouts=rules)
    assert plan_support(target, {"p": program}).runs == ()
    assert plan_support(target.model_copy(update={"layouts": LayoutRules()}), {"p": program}).runs == ("p",)


def test_an_op_brings_memory_of_its_type_to_other_programs() -> None:
    copied = xla.parse("HloModule m\n\nENTRY e {\n  x = f32[4] parameter(0)\n  ROOT t = (f32[4]) tuple(x)\n}\n")
    assert additions(plan(Capabilities(), rounds=unary("floor"), copies=copied)) == [
        (["floor of f32"], ("rounds", "copies"))
    ]


CHOLESKY = """HloModule m

ENTRY e {
  x = f32[4,4] parameter(0)
  call = (f32[4,4]{0,1}, s32[]) custom-call(x), custom_call_target="lapack_spotrf_ffi", operand_layout_constraints={f32[4,4]{0,1}}, backend_config="{uplo = 76 : ui8}"
  y = f32[4,4] get-tuple-element(call), index=0
  ROOT z = f32[2,8] reshape(y)
}
"""


def test_calls_of_lapack_are_planned_as_the_loops_that_they_become() -> None:
    primitive = Capabilities.all_of([F32, S32, PRED], opcodes=PRIMITIVES)
    assert plan(primitive, cholesky=xla.parse(CHOLESKY)).runs == ("cholesky",)


def test_a_call_of_lapack_is_less_than_the_ops_of_its_loops() -> None:
    needed = ("parameter", "constant", "reshape", "tuple", "get-tuple-element", "transpose", "copy")
    few = Capabilities.all_of([F32, S32, PRED], opcodes=needed)
    assert additions(plan(few, cholesky=xla.parse(CHOLESKY))) == [(["custom call 'lapack_spotrf_ffi'"], ("cholesky",))]
