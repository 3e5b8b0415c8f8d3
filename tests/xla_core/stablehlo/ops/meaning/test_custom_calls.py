"""Custom calls in every form that StableHLO writes, by meanings that plugins give them."""

from __future__ import annotations

import itertools
import re
import sys
from pathlib import Path

import numpy as np
import pytest

import xla_core as xla
from tests.xla_core.stablehlo.ops.meaning.programs import main, type_of
from xla_core.errors import InvalidArgumentError, UnimplementedError
from xla_core.hlo import evaluate_replicas, register_custom_call
from xla_core.hlo.ops.custom_calls import broken_custom_calls

X = np.arange(12, dtype=np.float32).reshape(3, 4)
T = type_of(X)
_numbers = itertools.count()


def meaning(function) -> str:
    """Registers a meaning under a name of its own; returns the name."""
    name = f"test.meaning.{next(_numbers)}"
    register_custom_call(name)(function)
    return name


@pytest.mark.parametrize(
    ("version", "config", "seen"),
    [
        (0, '"text"', "text"),
        (1, '"text"', "text"),
        (2, '"more"', "more"),
        (3, '""', None),
        (4, '{factor = 2.5 : f32, name = "a"}', '{factor = 2.5 : f32, name = "a"}'),
    ],
)
def test_api_versions_carry_their_configuration(run, version: int, config: str, seen: str | None) -> None:
    configs = []

    def double(context, instruction, values):
        configs.append(instruction.attribute("backend_config") or None)
        return values[0] * 2

    line = (
        f'%0 = "stablehlo.custom_call"(%a0) {{call_target_name = "{meaning(double)}", api_version = {version} : i32, '
        f"backend_config = {config}}} : ({T}) -> {T}"
    )
    (got,) = run(main([T], [line], [("%0", T)]), X)
    np.testing.assert_array_equal(got, X * 2)
    assert configs == [seen]


def test_several_results_and_a_tuple(run) -> None:
    def parts(context, instruction, values):
        return values[0] + 1, values[0].sum(axis=1).astype(np.float32)

    name = meaning(parts)
    lines = [
        f'%0:2 = "stablehlo.custom_call"(%a0) {{call_target_name = "{name}"}} : ({T}) -> ({T}, tensor<3xf32>)',
        f'%1 = "stablehlo.custom_call"(%a0) {{call_target_name = "{name}"}} : ({T}) -> tuple<{T}, tensor<3xf32>>',
        f"%2 = stablehlo.get_tuple_element %1[1] : (tuple<{T}, tensor<3xf32>>) -> tensor<3xf32>",
    ]
    outs = run(main([T], lines, [("%0#0", T), ("%0#1", "tensor<3xf32>"), ("%2", "tensor<3xf32>")]), X)
    np.testing.assert_array_equal(outs[0], X + 1)
    np.testing.assert_array_equal(outs[1], X.sum(1))
    np.testing.assert_array_equal(outs[2], X.sum(1))


def test_called_computations_and_aliases(run) -> None:
    """The meaning runs what the call carries; a result in an operand's place leaves the operand's own readers alone."""
    from xla_core.hlo import evaluate_computation

    def apply(context, instruction, values):
        return evaluate_computation(instruction.called_computations[0], [values[0]], context)[0]

    text = f"""func.func private @body(%x: {T}) -> {T} {{
      %0 = stablehlo.multiply %x, %x : {T}
      return %0 : {T}
    }}
    func.func @main(%x: {T}) -> ({T}, {T}) {{
      %0 = stablehlo.add %x, %x : {T}
      %1 = stablehlo.custom_call @{meaning(apply)}(%0) {{called_computations = [@body], output_operand_aliases = [
        #stablehlo.output_operand_alias<output_tuple_indices = [], operand_index = 0, operand_tuple_indices = []>]}} : ({T}) -> {T}
      return %1, %0 : {T}, {T}
    }}"""
    squared, doubled = run(text, X)
    np.testing.assert_array_equal(squared, 4 * X * X)
    np.testing.assert_array_equal(doubled, 2 * X)


@pytest.mark.parametrize("effect", [True, False])
def test_only_side_effects_keep_a_call_whose_results_nobody_reads(clients, effect: bool) -> None:
    calls = []

    def note(context, instruction, values):
        calls.append(values[0].copy())
        return values[0]

    attribute = ", has_side_effect = true" if effect else ""
    line = f'%0 = "stablehlo.custom_call"(%a0) {{call_target_name = "{meaning(note)}"{attribute}}} : ({T}) -> {T}'
    clients["cpu"].compile(main([T], [line], [("%a0", T)]))(X)[0].block_until_ready()
    assert len(calls) == effect


def test_layouts_of_the_call_do_not_change_values(run) -> None:
    line = (
        f'%0 = "stablehlo.custom_call"(%a0) {{call_target_name = "{meaning(lambda c, i, v: v[0] - 1)}", operand_layouts = '
        f"[dense<[0, 1]> : tensor<2xindex>], result_layouts = [dense<[0, 1]> : tensor<2xindex>]}} : ({T}) -> {T}"
    )
    (got,) = run(main([T], [line], [("%0", T)]), X)
    np.testing.assert_array_equal(got, X - 1)


def test_tokens_order_calls(run) -> None:
    seen = []

    def note(context, instruction, values):
        seen.append(instruction.attribute("backend_config"))
        return values[-1]

    name = meaning(note)
    lines = ["%t = stablehlo.create_token : !stablehlo.token"]
    lines += [
        f'%t{i} = "stablehlo.custom_call"(%a0, %{"t" if i == 0 else f"t{i - 1}"}) {{call_target_name = "{name}", '
        f'backend_config = "{i}", has_side_effect = true}} : ({T}, !stablehlo.token) -> !stablehlo.token'
        for i in range(4)
    ]
    run(main([T], lines, [("%a0", T)]), X)
    assert seen == ["0", "1", "2", "3"]


def test_an_unknown_target_says_what_to_do(run) -> None:
    line = f'%0 = "stablehlo.custom_call"(%a0) {{call_target_name = "acme_unheard_of"}} : ({T}) -> {T}'
    with pytest.raises(xla.UnimplementedError, match="acme_unheard_of") as caught:
        run(main([T], [line], [("%0", T)]), X)
    assert "register_custom_call" in str(caught.value) or "decomposition" in str(caught.value)


def test_an_error_of_the_meaning_names_the_call(run) -> None:
    def fails(context, instruction, values):
        raise xla.InvalidArgumentError("the scale is zero")

    line = f'%0 = "stablehlo.custom_call"(%a0) {{call_target_name = "{meaning(fails)}"}} : ({T}) -> {T}'
    with pytest.raises(xla.InvalidArgumentError, match="the scale is zero"):
        run(main([T], [line], [("%0", T)]), X)


def install(site: Path, distribution: str, target: str, source: str, monkeypatch: pytest.MonkeyPatch) -> None:
    module = distribution.replace("-", "_")
    site.mkdir(exist_ok=True)
    (site / f"{module}.py").write_text(source)
    info = site / f"{module}-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {distribution}\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[xla_core.custom_calls]\n{target} = {module}:meaning\n")
    monkeypatch.syspath_prepend(str(site))
    monkeypatch.delitem(sys.modules, module, raising=False)


def test_an_installed_distribution_gives_meanings(run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target = f"plugged_{next(_numbers)}"
    install(
        tmp_path,
        f"plug-{next(_numbers)}",
        target,
        "def meaning(context, instruction, values):\n    return values[0] * 7\n",
        monkeypatch,
    )
    line = f'%0 = "stablehlo.custom_call"(%a0) {{call_target_name = "{target}"}} : ({T}) -> {T}'
    (got,) = run(main([T], [line], [("%0", T)]), X)
    np.testing.assert_array_equal(got, X * 7)


def test_two_distributions_with_one_target_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target = f"plugged_{next(_numbers)}"
    for name in ("left-plug", "right-plug"):
        install(
            tmp_path, name, target, "def meaning(context, instruction, values):\n    return values[0]\n", monkeypatch
        )
    line = f'%0 = "stablehlo.custom_call"(%a0) {{call_target_name = "{target}"}} : ({T}) -> {T}'
    with pytest.raises(xla.AlreadyExistsError, match="left-plug and right-plug"):
        xla.evaluate(xla.parse(main([T], [line], [("%0", T)])), X)


def test_a_distribution_that_breaks_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target = f"plugged_{next(_numbers)}"
    install(tmp_path, f"broken-{next(_numbers)}", target, "import no_such_module_anywhere\n", monkeypatch)
    line = f'%0 = "stablehlo.custom_call"(%a0) {{call_target_name = "{target}"}} : ({T}) -> {T}'
    with pytest.raises(xla.FailedPreconditionError, match="no_such_module_anywhere"):
        xla.evaluate(xla.parse(main([T], [line], [("%0", T)])), X)


@pytest.mark.parametrize("what", ["3", "None", "'text'"])
def test_a_distribution_that_names_no_function_says_so(what: str, tmp_path: Path, monkeypatch, clients) -> None:
    target, name = f"plugged_{next(_numbers)}", f"thing-{next(_numbers)}"
    install(tmp_path, name, target, f"meaning = {what}\n", monkeypatch)
    text = main([T], [f"%0 = stablehlo.custom_call @{target}(%a0) : ({T}) -> {T}"], [("%0", T)])
    for run in (xla.evaluate, lambda text, x: [np.asarray(r) for r in clients["cpu"].compile(text)(x)]):
        with pytest.raises(xla.FailedPreconditionError, match=f"of {name} .*:meaning.* is {what}, not a function"):
            run(text, X)


def test_a_distribution_that_ends_the_process_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target = f"plugged_{next(_numbers)}"
    install(tmp_path, f"ending-{next(_numbers)}", target, "import sys\nsys.exit(3)\n", monkeypatch)
    text = main([T], [f"%0 = stablehlo.custom_call @{target}(%a0) : ({T}) -> {T}"], [("%0", T)])
    with pytest.raises(xla.FailedPreconditionError, match="does not load: SystemExit: 3"):
        xla.evaluate(text, X)


def test_broken_custom_calls_are_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    names = {kind: f"{kind}_{next(_numbers)}" for kind in ("right", "broken", "number")}
    sources = {
        "right": "def meaning(c, i, v): return v[0]\n",
        "broken": "import nowhere_at_all\n",
        "number": "meaning = 3\n",
    }
    for kind, target in names.items():
        install(tmp_path, f"found-{kind}-{next(_numbers)}", target, sources[kind], monkeypatch)
    found = {target: error.message for target, error in broken_custom_calls().items() if target in names.values()}
    assert set(found) == {names["broken"], names["number"]}
    assert "found-broken" in found[names["broken"]]
    assert "nowhere_at_all" in found[names["broken"]]


def test_a_target_that_is_nearly_one_is_pointed_at(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, clients) -> None:
    install(tmp_path, f"near-{next(_numbers)}", "nearby_scale", "def meaning(c, i, v): return v[0]\n", monkeypatch)
    xla.hlo.register_in_place_call(f"typed_thing_{next(_numbers)}", lambda call: None)
    text = main([T], [f"%0 = stablehlo.custom_call @nearby_scael(%a0) : ({T}) -> {T}"], [("%0", T)])
    for run in (xla.evaluate, lambda text, x: clients["cpu"].compile(text)):
        with pytest.raises(xla.UnimplementedError, match="nearby_scael") as caught:
            run(text, X)
        assert "did you mean nearby_scale?" in str(caught.value.hint)
    with pytest.raises(xla.UnimplementedError, match="no custom call 'typed_thin'") as caught:
        clients["cpu"].compile(text.replace("nearby_scael", "typed_thin"))
    assert re.search(r"did you mean typed_thing_\d+\?", str(caught.value.hint))


@pytest.mark.parametrize(
    ("gives", "said", "hint"),
    [
        (lambda x: (x, x.sum(1).astype(np.float64)), r"gave float64\[3\] as result 1, .* expects f32\[3\]", "float32"),
        (lambda x: (x[0], x.sum(1)), r"gave float32\[4\] as result 0, .* expects f32\[3,4\]", r"\[3, 4\]"),
        (lambda x: x, r"gave 1 results, the program expects 2", "tuple of 2 arrays"),
    ],
)
def test_a_meaning_that_gives_what_the_program_does_not_declare(clients, gives, said: str, hint: str) -> None:
    name = meaning(lambda c, i, v: gives(v[0]))
    line = f'%0:2 = "stablehlo.custom_call"(%a0) {{call_target_name = "{name}"}} : ({T}) -> ({T}, tensor<3xf32>)'
    text = main([T], [line], [("%0#0", T), ("%0#1", "tensor<3xf32>")])
    for run in (xla.evaluate, lambda text, x: [np.asarray(r) for r in clients["cpu"].compile(text)(x)]):
        with pytest.raises(InvalidArgumentError, match=f"custom call '{name}' {said}") as caught:
            run(text, X)
        assert re.search(hint, str(caught.value.hint))


def test_an_unknown_target_is_refused_with_both_ways_to_name_it(clients) -> None:
    text = main([T], [f"%0 = stablehlo.custom_call @nobody.knows(%a0) : ({T}) -> {T}"], [("%0", T)])
    with pytest.raises(UnimplementedError, match=r"no custom call 'nobody\.knows'") as caught:
        clients["cpu"].compile(text)
    assert "xla_core.hlo.register_custom_call" in str(caught.value.hint)
    assert "group xla_core.custom_calls" in str(caught.value.hint)


def test_ragged_all_to_all() -> None:
    """The example of JAX's documentation (jax.lax.ragged_all_to_all), on two partitions."""
    text = """\
func.func @main(%x: tensor<3xi32>, %o: tensor<4xi32>, %at: tensor<2xi32>, %n: tensor<2xi32>, %to: tensor<2xi32>,
    %m: tensor<2xi32>) -> tensor<4xi32> {
  %0 = stablehlo.custom_call @ragged_all_to_all(%x, %o, %at, %n, %to, %m) {api_version = 4 : i32,
    backend_config = {channel_id = 1 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}}
    : (tensor<3xi32>, tensor<4xi32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) -> tensor<4xi32>
  return %0 : tensor<4xi32>
}
"""
    devices = [
        [[1, 2, 2], [0, 0, 0, 0], [0, 1], [1, 2], [0, 0], [1, 1]],
        [[3, 4, 0], [0, 0, 0, 0], [0, 1], [1, 1], [1, 2], [2, 1]],
    ]
    rows = [[np.array(values, np.int32) for values in each] for each in devices]
    results = evaluate_replicas(xla.parse(text), rows, num_partitions=2)
    assert [row[0].tolist() for row in results] == [[1, 3, 0, 0], [2, 2, 4, 0]]


def test_ragged_all_to_all_needs_its_groups() -> None:
    text = """\
func.func @main(%x: tensor<3xi32>, %n: tensor<1xi32>) -> tensor<3xi32> {
  %0 = stablehlo.custom_call @ragged_all_to_all(%x, %x, %n, %n, %n, %n) : (tensor<3xi32>, tensor<3xi32>, tensor<1xi32>,
    tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<3xi32>
  return %0 : tensor<3xi32>
}
"""
    with pytest.raises(InvalidArgumentError, match="needs replica_groups in its backend_config"):
        xla.parse(text)
