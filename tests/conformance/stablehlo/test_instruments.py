"""Probes, prints and checks of StableHLO's test files, at any place of a program."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import xla_core as xla

suite = pytest.importorskip("xla_conformance.stablehlo.suite")
parallel = pytest.importorskip("xla_conformance.stablehlo.parallel")


@pytest.fixture(scope="module", params=["evaluator", "cpu", "template"])
def check(request, tmp_path_factory):
    """Runs a program's text; its outcome."""
    files = (tmp_path_factory.mktemp("cases") / f"{n}.mlir" for n in itertools.count())
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XLA_FLAGS", "--xla_force_host_platform_device_count=2")
        client = None if request.param == "evaluator" else xla.Client(request.param)

        def run(module, arrays):
            return [np.asarray(r) for r in client.compile(module)(*arrays)]

        def run_parallel(programs):
            if request.param == "template":
                pytest.skip("a device of the template runs programs alone")
            program = parallel.one_program(programs)
            options = xla.CompileOptions(num_replicas=len(programs.names))
            rows = client.compile(program.module, options).execute_sharded(program.arguments)
            return program.results([[np.asarray(r) for r in results] for results in rows])

        def checked(source):
            file = next(files)
            file.write_text(source)
            (case,) = suite.cases(file)
            return suite.run_case(case) if client is None else suite.run_case(case, run, run_parallel)

        yield checked
        if client is not None:
            client.close()


def passes(outcome, checks):
    assert outcome.passed, outcome.detail
    assert outcome.checks == checks


def loop(body, after="", count=3):
    """A loop of %i from 0 to `count`."""
    return f"""
func.func @f() {{
  %c0 = stablehlo.constant dense<0> : tensor<i64>
  %c1 = stablehlo.constant dense<1> : tensor<i64>
  %c2 = stablehlo.constant dense<2> : tensor<i64>
  %c7 = stablehlo.constant dense<7> : tensor<i64>
  %n = stablehlo.constant dense<{count}> : tensor<i64>
  %r = stablehlo.while(%i = %c0) : tensor<i64> cond {{
    %p = stablehlo.compare LT, %i, %n : (tensor<i64>, tensor<i64>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  }} do {{
    {body}
    %j = stablehlo.add %x, %c1 : tensor<i64>
    stablehlo.return %j : tensor<i64>
  }}
  {after}
  func.return
}}
"""


PROBE = '%x = interpreter.probe %i, probe_id = "w" : tensor<i64>'


def test_a_probe_in_a_while(check):
    after = """
  check.expect_serialized_eq %c0, probe_id = "w" : tensor<i64>
  check.expect_serialized_eq %c1, probe_id = "w", iter = 1 : tensor<i64>
  check.expect_serialized_eq %c2, probe_id = "w", iter = 2 : tensor<i64>
  check.expect_eq_const %r, dense<3> : tensor<i64>"""
    passes(check(loop(PROBE, after)), 4)


def test_generic_forms(check):
    body = '%x = "interpreter.probe"(%i) <{probe_id = "w"}> : (tensor<i64>) -> tensor<i64>'
    after = '"check.expect_serialized_eq"(%c1) <{probe_id = "w", iteration = 1 : ui32}> : (tensor<i64>) -> ()'
    passes(check(loop(body, after)), 1)


@pytest.mark.parametrize(
    ("compared", "detail"),
    [
        ('%c7, probe_id = "w"', "elements differ"),
        ('%c0, probe_id = "w", iter = 3', "probe 'w' ran 3 times, so that it has no iteration 3"),
        ('%c0, probe_id = "v"', "no probe 'v' ran; 'w' did"),
    ],
)
def test_an_iteration_that_a_probe_did_not_record(check, compared, detail):
    outcome = check(loop(PROBE, f"check.expect_serialized_eq {compared} : tensor<i64>"))
    assert not outcome.passed
    assert detail in outcome.detail


def test_a_probe_that_did_not_run(check):
    outcome = check(loop(PROBE, 'check.expect_serialized_eq %c0, probe_id = "w" : tensor<i64>', count=0))
    assert not outcome.passed
    assert "no probe 'w' ran" in outcome.detail


def test_iterations_count_what_all_probes_saw_or_else_the_probe(check):
    before = '%a = interpreter.probe %i, probe_id = "a" : tensor<i64>\n%x = interpreter.probe %a, probe_id = "b" : tensor<i64>'
    after = """
  check.expect_serialized_eq %c1, probe_id = "b", iter = 3 : tensor<i64>
  check.expect_serialized_eq %c0, probe_id = "b", iter = 0 : tensor<i64>
  check.expect_serialized_eq %c2, probe_id = "a", iter = 4 : tensor<i64>"""
    passes(check(loop(before, after)), 3)


def test_probes_of_one_name_in_and_around_a_while_are_in_order(check):
    after = """
  %y = interpreter.probe %c7, probe_id = "w" : tensor<i64>
  check.expect_serialized_eq %c1, probe_id = "w", iter = 1 : tensor<i64>
  check.expect_serialized_eq %c7, probe_id = "w", iter = 3 : tensor<i64>
  check.expect_eq %y, %c7 : tensor<i64>"""
    passes(check(loop(PROBE, after)), 3)


def test_a_probe_in_the_condition_of_a_while(check):
    source = loop(
        "%x = stablehlo.add %i, %c0 : tensor<i64>",
        'check.expect_serialized_eq %n, probe_id = "c", iter = 3 : tensor<i64>',
    )
    probe = '%q = interpreter.probe %i, probe_id = "c" : tensor<i64>'
    source = source.replace("%p = stablehlo.compare LT, %i", f"{probe}\n%p = stablehlo.compare LT, %q")
    passes(check(source), 1)


def test_a_while_whose_results_nobody_needs_is_run(check):
    body = """%x = stablehlo.add %i, %c0 : tensor<i64>
    check.expect_eq_const %x, dense<0> : tensor<i64>"""
    passes(check(loop(body, count=1)), 1)
    outcome = check(loop(body, count=2))
    assert not outcome.passed
    assert "check 1: " in outcome.detail


NESTED = """
    %x, %sum = stablehlo.while(%k = %c0, %s = %i) : tensor<i64>, tensor<i64> cond {
      %p = stablehlo.compare LT, %k, %c2 : (tensor<i64>, tensor<i64>) -> tensor<i1>
      stablehlo.return %p : tensor<i1>
    } do {
      %tens = stablehlo.add %s, %c7 : tensor<i64>
      %seen = interpreter.probe %tens, probe_id = "inner" : tensor<i64>
      %next = stablehlo.add %k, %c1 : tensor<i64>
      stablehlo.return %next, %seen : tensor<i64>, tensor<i64>
    }"""


def test_a_while_in_a_while(check):
    body = NESTED.replace("%x, %sum", "%u, %sum") + "\n%x = stablehlo.add %i, %c0 : tensor<i64>"
    after = "\n".join(
        f"""%e{n} = stablehlo.constant dense<{want}> : tensor<i64>
  check.expect_serialized_eq %e{n}, probe_id = "inner", iter = {n} : tensor<i64>"""
        for n, want in enumerate([7, 14, 8, 15, 9, 16])
    )
    passes(check(loop(body, after)), 6)


BRANCH = """
    %is = stablehlo.compare EQ, %i, %c1 : (tensor<i64>, tensor<i64>) -> tensor<i1>
    %x = "stablehlo.if"(%is) ({
      %a = interpreter.probe %i, probe_id = "then" : tensor<i64>
      check.expect_eq_const %a, dense<1> : tensor<i64>
      stablehlo.return %a : tensor<i64>
    }, {
      check.expect_serialized_eq %i, probe_id = "all", iter = ITER : tensor<i64>
      stablehlo.return %i : tensor<i64>
    }) : (tensor<i1>) -> tensor<i64>"""


def test_branches_that_do_not_run_check_nothing(check):
    branch = BRANCH.replace('check.expect_serialized_eq %i, probe_id = "all", iter = ITER', "check.expect_eq %i, %i")
    after = 'check.expect_serialized_eq %c1, probe_id = "then" : tensor<i64>'
    passes(check(loop(branch, after)), 4)
    outcome = check(loop(branch.replace("dense<1>", "dense<2>"), after))
    assert not outcome.passed
    assert "got 1, expected 2" in outcome.detail.replace("np.int64(1)", "1").replace("np.int64(2)", "2")
    passes(check(loop(branch.replace("dense<1>", "dense<2>"), count=1)), 1)


def test_branches_of_a_case(check):
    body = """
    %to = stablehlo.convert %i : (tensor<i64>) -> tensor<i32>
    %x = "stablehlo.case"(%to) ({
      %a = interpreter.probe %c7, probe_id = "zero" : tensor<i64>
      stablehlo.return %i : tensor<i64>
    }, {
      %a = interpreter.probe %i, probe_id = "one" : tensor<i64>
      interpreter.print %a : tensor<i64>
      stablehlo.return %a : tensor<i64>
    }, {
      stablehlo.return %i : tensor<i64>
    }) : (tensor<i32>) -> tensor<i64>"""
    after = """check.expect_serialized_eq %c7, probe_id = "zero" : tensor<i64>
  check.expect_serialized_eq %c1, probe_id = "one", iter = 1 : tensor<i64>"""
    passes(check(loop(body, after)), 2)


CALLEE = """
func.func private @inner(%v: tensor<i64>) -> tensor<i64> {
  %one = stablehlo.constant dense<1> : tensor<i64>
  %yes = stablehlo.constant dense<true> : tensor<i1>
  %w = "stablehlo.if"(%yes) ({
    %a = interpreter.probe %v, probe_id = "called" : tensor<i64>
    %b = stablehlo.add %a, %one : tensor<i64>
    stablehlo.return %b : tensor<i64>
  }, {
    stablehlo.return %v : tensor<i64>
  }) : (tensor<i1>) -> tensor<i64>
  func.return %w : tensor<i64>
}
func.func private @outer(%v: tensor<i64>) -> tensor<i64> {
  %w = func.call @inner(%v) : (tensor<i64>) -> tensor<i64>
  func.return %w : tensor<i64>
}
"""


def test_functions_that_are_called(check):
    source = CALLEE + loop(
        "%y = func.call @outer(%i) : (tensor<i64>) -> tensor<i64>\n%x = stablehlo.add %y, %c0 : tensor<i64>",
        """
  %last = func.call @outer(%c7) : (tensor<i64>) -> tensor<i64>
  check.expect_eq_const %last, dense<8> : tensor<i64>
  check.expect_serialized_eq %c0, probe_id = "called" : tensor<i64>
  check.expect_serialized_eq %c2, probe_id = "called", iter = 1 : tensor<i64>
  check.expect_serialized_eq %c7, probe_id = "called", iter = 2 : tensor<i64>""",
    ).replace("@f()", "@main()")
    passes(check(source), 4)


def test_a_composite_is_its_decomposition(check):
    body = """%y = stablehlo.composite "acme.op" %i {decomposition = @outer} : (tensor<i64>) -> tensor<i64>
    %x = stablehlo.subtract %y, %c1 : tensor<i64>"""
    after = 'check.expect_serialized_eq %c2, probe_id = "called", iter = 2 : tensor<i64>'
    passes(check(CALLEE + loop(body, after).replace("@f()", "@main()")), 1)


@pytest.mark.parametrize(
    ("type", "value"),
    [
        ("i1", "[true, false]"),
        ("i4", "[-3, 7]"),
        ("ui8", "[200, 3]"),
        ("bf16", "[1.5, -2.0]"),
        ("f8E4M3FN", "[1.5, -2.0]"),
        ("f64", "[1.5, -2.0]"),
        ("complex<f32>", "[(1.5, 2.0), (0.0, -1.0)]"),
        ("!quant.uniform<i8:f32, 0.5:3>", "[1.5, -2.0]"),
    ],
)
def test_types(check, type, value):
    quantized = type.startswith("!quant")
    given = "f32" if quantized else type
    made = f"%v = stablehlo.uniform_quantize %u : (tensor<2xf32>) -> tensor<2x{type}>" if quantized else ""
    text = loop(
        f"""%p0 = interpreter.probe %v, probe_id = "v" : tensor<2x{type}>
    check.expect_eq %p0, %v : tensor<2x{type}>
    %x = stablehlo.add %i, %c0 : tensor<i64>""",
        f'check.expect_serialized_eq %v, probe_id = "v", iter = 1 : tensor<2x{type}>',
        count=2,
    )
    constant = f"{'%u' if quantized else '%v'} = stablehlo.constant dense<{value}> : tensor<2x{given}>\n{made}"
    passes(check(text.replace("%n =", f"{constant}\n  %n =")), 3)


def test_programs_in_parallel(check):
    source = """
func.func @double(%v: tensor<i64>) -> tensor<i64> {
  %w = stablehlo.add %v, %v : tensor<i64>
  %a = interpreter.probe %w, probe_id = "p" : tensor<i64>
  %b = func.call @checked(%a) : (tensor<i64>) -> tensor<i64>
  func.return %b : tensor<i64>
}
func.func private @checked(%v: tensor<i64>) -> tensor<i64> {
  interpreter.print %v : tensor<i64>
  check.expect_eq_const %v, dense<6> : tensor<i64>
  func.return %v : tensor<i64>
}
func.func @main() {
  %c = stablehlo.constant dense<3> : tensor<i64>
  %d = interpreter.probe %c, probe_id = "p" : tensor<i64>
  %r:2 = "interpreter.run_parallel"(%d, %d) {programs = [[@double], [PROGRAM]]} :
    (tensor<i64>, tensor<i64>) -> (tensor<i64>, tensor<i64>)
  %s = stablehlo.add %r#0, %r#1 : tensor<i64>
  %e = interpreter.probe %s, probe_id = "p" : tensor<i64>
  check.expect_eq_const %e, dense<TOTAL> : tensor<i64>
  check.expect_serialized_eq %c, probe_id = "p" : tensor<i64>
  check.expect_serialized_eq %r#0, probe_id = "p", iter = 1 : tensor<i64>
  check.expect_serialized_eq %s, probe_id = "p", iter = LAST : tensor<i64>
  func.return
}
func.func @same(%v: tensor<i64>) -> tensor<i64> {
  func.return %v : tensor<i64>
}
"""
    both = {"PROGRAM": "@double", "TOTAL": "12", "LAST": "3"}
    different = {"PROGRAM": "@same", "TOTAL": "9", "LAST": "2"}
    for names, checks in ((both, 6), (different, 5)):
        text = source
        for name, value in names.items():
            text = text.replace(name, value)
        passes(check(text), checks)


@pytest.mark.parametrize(
    ("middle", "want"),
    [
        ("%s = stablehlo.add %r#0, %c : tensor<i64>", "9"),
        ("%s = stablehlo.add %r#1, %c : tensor<i64>", "6"),
        ("%s = stablehlo.add %r#1, %r#0 : tensor<i64>", "9"),
        (
            """%p = stablehlo.constant dense<true> : tensor<i1>
  %s = "stablehlo.if"(%p) ({
    stablehlo.return %r#1 : tensor<i64>
  }, {
    stablehlo.return %c : tensor<i64>
  }) : (tensor<i1>) -> tensor<i64>""",
            "3",
        ),
        (
            """%s2:2 = "stablehlo.optimization_barrier"(%c, %r#1) : (tensor<i64>, tensor<i64>) -> (tensor<i64>, tensor<i64>)
  %t:2 = "interpreter.run_parallel"(%s2#1, %c) {programs = [[@double], [@same]]} :
    (tensor<i64>, tensor<i64>) -> (tensor<i64>, tensor<i64>)
  %s = stablehlo.add %t#0, %s2#0 : tensor<i64>
  %o = stablehlo.add %s2#0, %s2#1 : tensor<i64>
  check.expect_eq %o, %t#0 : tensor<i64>
  check.expect_eq %c, %s2#1 : tensor<i64>""",
            "9",
        ),
    ],
    ids=["first", "second", "both", "in a region", "of several results"],
)
def test_programs_in_parallel_take_what_earlier_ones_gave(check, middle, want):
    source = f"""
func.func @double(%v: tensor<i64>) -> tensor<i64> {{
  %w = stablehlo.add %v, %v : tensor<i64>
  func.return %w : tensor<i64>
}}
func.func @same(%v: tensor<i64>) -> tensor<i64> {{
  func.return %v : tensor<i64>
}}
func.func @main() {{
  %c = stablehlo.constant dense<3> : tensor<i64>
  %r:2 = "interpreter.run_parallel"(%c, %c) {{programs = [[@double], [@same]]}} :
    (tensor<i64>, tensor<i64>) -> (tensor<i64>, tensor<i64>)
  {middle}
  %q:2 = "interpreter.run_parallel"(%s, %s) {{programs = [[@same], [@same]]}} :
    (tensor<i64>, tensor<i64>) -> (tensor<i64>, tensor<i64>)
  check.expect_eq_const %q#0, dense<{want}> : tensor<i64>
  check.expect_eq %s, %q#1 : tensor<i64>
  func.return
}}
"""
    passes(check(source), source.count("  check."))


def test_prints(check, capsys):
    passes(check(loop("interpreter.print %i : tensor<i64>\n%x = stablehlo.add %i, %c0 : tensor<i64>", count=2)), 0)
    assert capsys.readouterr().out == "%i = tensor<i64> 0\n%i = tensor<i64> 1\n"
    source = "func.func @f() {\n %v = stablehlo.iota dim = 0 : tensor<3xi32>\n interpreter.print %v : tensor<3xi32>\n func.return\n}"
    passes(check(source), 0)
    assert capsys.readouterr().out == "%v = tensor<3xi32> [0, 1, 2]\n"


def test_instruments_outside_control_flow_are_refused(check):
    body = """
    %v = stablehlo.broadcast_in_dim %i, dims = [] : (tensor<i64>) -> tensor<3xi64>
    %x = stablehlo.reduce(%v init: %c0) across dimensions = [0] : (tensor<3xi64>, tensor<i64>) -> tensor<i64>
      reducer(%a: tensor<i64>, %b: tensor<i64>) {
        %s = stablehlo.add %a, %b : tensor<i64>
        %t = interpreter.probe %s, probe_id = "w" : tensor<i64>
        stablehlo.return %t : tensor<i64>
      }"""
    outcome = check(loop(body, 'check.expect_serialized_eq %c0, probe_id = "w" : tensor<i64>'))
    assert not outcome.passed
    assert "interpreter.probe inside stablehlo.reduce" in outcome.detail


def test_a_target_without_custom_calls(tmp_path, monkeypatch):
    from xla_backend_template.compiler import TemplateCompiler
    from xla_conformance.claims import ClaimingClient, NotSupported

    from xla_core.target import Capabilities, TargetConfig

    without = TargetConfig(name="template", capabilities=Capabilities.all_of(without=["custom-call"]))
    monkeypatch.setattr(TemplateCompiler, "target_config", without)
    file = tmp_path / "loop.mlir"
    file.write_text(loop(PROBE, 'check.expect_serialized_eq %c0, probe_id = "w" : tensor<i64>'))
    (case,) = suite.cases(file)
    with ClaimingClient("template") as client, pytest.raises(NotSupported, match="record"):
        suite.run_case(case, lambda module, arrays: [np.asarray(r) for r in client.compile(module)(*arrays)])
