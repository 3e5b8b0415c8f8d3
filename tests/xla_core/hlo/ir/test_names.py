from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import xla_core
from tests.xla_core.hlo.structural_equality import structurally_equal
from xla_core.hlo import HloComputation, HloModule, Shape
from xla_core.hlo.ir.names import NameUniquer, sanitized_name
from xla_core.hlo.values.element_type import ElementType

WORDS = st.text() | st.sampled_from(["ROOT", "ENTRY", "HloModule", "FileNames", "f32", "nan", "constant", "p0: f32[]"])
NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.\-]*")


@pytest.mark.parametrize(
    ("wanted", "name"),
    [
        ("add.1", "add.1"),
        ("_x-y.Z", "_x-y.Z"),
        ("0", "_0"),
        ("-a", "_-a"),
        (".a", "_.a"),
        ("my fn", "my_fn"),
        ("é", "_"),
        ("%%", "a_"),
        ("a\nb", "a_b"),
        ("%a", "_a"),
        ("", "_"),
        ("f32", "f32_"),
        ("token", "token_"),
        ("tuple", "tuple"),
        ("f32.1", "f32.1"),
        ("__x", "a_x"),
        ("é b", "a_b"),
        ("__xla_x", "__xla_x"),
    ],
)
def test_only_some_characters_are_left(wanted, name):
    assert sanitized_name(wanted) == name


def test_each_name_once():
    names = NameUniquer()
    assert [names.unique(n) for n in ("a b", "a_b", "a*b", "a_b.1", "x.7", "x.7")] == [
        "a_b", "a_b.1", "a_b.2", "a_b.3", "x.7", "x.1",
    ]  # fmt: skip


@settings(deadline=None)
@given(st.lists(st.text(), max_size=20))
def test_any_names_are_told_apart(wanted):
    names = NameUniquer()
    made = [names.unique(n) for n in wanted]
    assert len(set(made)) == len(made)
    assert all(NAME.fullmatch(name) for name in made)


@settings(deadline=None)
@given(WORDS, WORDS, st.lists(WORDS, min_size=1, max_size=5))
def test_any_names_are_read_back(module_name, computation_name, names):
    computation = HloComputation(computation_name)
    value = computation.parameter(0, Shape(ElementType.F32, (2,)), name=names[0])
    for name in names[1:]:
        value = computation.add("negate", value, name=name)
    module = HloModule(module_name)
    module.add_computation(computation, entry=True)
    again = xla_core.parse(module.to_text())
    assert structurally_equal(module, again)
    assert again.to_text() == module.to_text()


@pytest.mark.parametrize(
    "text",
    [
        "func.func @main(%0: tensor<f32>) -> tensor<f32> { %1 = stablehlo.add %0, %0 : tensor<f32>\n return %1 : tensor<f32> }",
        'module @"a b" { func.func @main(%a: tensor<f32>) -> tensor<f32> { return %a : tensor<f32> } }',
        'module @"é" { func.func @main(%a: tensor<f32>) -> tensor<f32> { return %a : tensor<f32> } }',
        'func.func private @"my fn"(%a: tensor<f32>) -> tensor<f32> { %0 = stablehlo.negate %a : tensor<f32>\n return %0 : tensor<f32> }\n'
        'func.func @main(%a: tensor<f32>) -> tensor<f32> { %0 = call @"my fn"(%a) : (tensor<f32>) -> tensor<f32>\n return %0 : tensor<f32> }',
    ],
)  # fmt: skip
def test_names_of_stablehlo_are_read_back(text):
    module = xla_core.parse(text)
    assert structurally_equal(module, xla_core.parse(module.to_text()))
    for computation in module.computations:
        assert all(NAME.fullmatch(i.name) for i in computation.instructions)


@pytest.mark.parametrize("name", ["f32", "token", "tuple", "__x", "0", "a b", "é", "constant", "__xla_x", "_"])
def test_xla_takes_these_names(name):
    hlo = pytest.importorskip("jaxlib._hlo", reason="this jaxlib has no HLO reader")
    computation = HloComputation(name)
    computation.add("negate", computation.parameter(0, Shape(ElementType.F32), name=name), name=name)
    module = HloModule(name)
    module.add_computation(computation, entry=True)
    theirs = hlo.hlo_module_from_text(module.to_text()).to_string(hlo.HloPrintOptions())
    assert f"HloModule {module.name}," in theirs
    assert all(f"%{i.name} = " in theirs for i in computation.instructions)


def test_a_modules_name_is_sanitized_whenever_it_is_set():
    module = HloModule("a b")
    assert module.name == "a_b"
    module.name = "7"
    assert module.name == "_7"
