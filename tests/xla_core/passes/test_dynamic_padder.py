"""Programs of dynamic sizes, padded: the reference evaluator gives the same before and after, and native code does."""

from __future__ import annotations

import numpy as np
import pytest

import xla_core as xla
from xla_core.errors import InvalidArgumentError, UnimplementedError
from xla_core.hlo.evaluation.dynamic_results import dynamic_results
from xla_core.hlo.evaluator import evaluate
from xla_core.passes import create_pass

COMPUTATIONS = """
add { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT r = f32[] add(a, b) }
largest { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT r = f32[] maximum(a, b) }
difference { a = f32[] parameter(0)  b = f32[] parameter(1)  x = f32[] subtract(a, b)  y = f32[] multiply(x, x)  ROOT r = f32[] add(a, b) }
best { a = f32[] parameter(0)  i = s32[] parameter(1)  b = f32[] parameter(2)  j = s32[] parameter(3)
  c = pred[] compare(a, b), direction=GE  x = f32[] select(c, a, b)  k = s32[] select(c, i, j)  ROOT r = (f32[], s32[]) tuple(x, k) }
best_of { a = f32[] parameter(0)  i = s32[] parameter(1)  b = f32[] parameter(2)  j = s32[] parameter(3)
  x = f32[] maximum(a, b)  k = s32[] add(i, j)  ROOT r = (f32[], s32[]) tuple(x, k) }
greater { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT r = pred[] compare(a, b), direction=GT }
below { s = (s32[], f32[<=5,4], f32[4]) parameter(0)  i = s32[] get-tuple-element(s), index=0  three = s32[] constant(3)  ROOT r = pred[] compare(i, three), direction=LT }
step { s = (s32[], f32[<=5,4], f32[4]) parameter(0)  i = s32[] get-tuple-element(s), index=0  x = f32[<=5,4] get-tuple-element(s), index=1
  t = f32[4] get-tuple-element(s), index=2  one = s32[] constant(1)  z = f32[] constant(0)  j = s32[] add(i, one)  y = f32[<=5,4] add(x, x)
  u = f32[4] reduce(y, z), dimensions={0}, to_apply=add  v = f32[4] add(t, u)  n = s32[] get-dimension-size(x), dimensions={0}
  l = s32[] subtract(n, one)  o = s32[] constant(0)  m = s32[] maximum(l, o)  w = f32[<=5,4] set-dimension-size(y, m), dimensions={0}  ROOT r = (s32[], f32[<=5,4], f32[4]) tuple(j, w, v) }
inner_below { s = (s32[], f32[4]) parameter(0)  i = s32[] get-tuple-element(s), index=0  three = s32[] constant(3)  ROOT r = pred[] compare(i, three), direction=LT }
inner_step { s = (s32[], f32[4]) parameter(0)  i = s32[] get-tuple-element(s), index=0  t = f32[4] get-tuple-element(s), index=1  one = s32[] constant(1)
  z = f32[] constant(0)  j = s32[] add(i, one)  d = f32[<=4] set-dimension-size(t, j), dimensions={0}  u = f32[] reduce(d, z), dimensions={0}, to_apply=add
  v = f32[4] broadcast(u), dimensions={}  ROOT r = (s32[], f32[4]) tuple(j, v) }
negated { x = f32[<=5,4] parameter(0)  ROOT r = f32[<=5,4] negate(x) }
shortened { p = (f32[<=5,4], s32[]) parameter(0)  x = f32[<=5,4] get-tuple-element(p), index=0  k = s32[] get-tuple-element(p), index=1  ROOT r = f32[<=5,4] set-dimension-size(x, k), dimensions={0} }
by_key { a = f32[] parameter(0)  b = f32[] parameter(1)  i = s32[] parameter(2)  j = s32[] parameter(3)  ROOT r = pred[] compare(a, b), direction=LT }
"""
HEAD = """
  x = f32[5,4] parameter(0)
  y = f32[4,6] parameter(1)
  n = s32[] parameter(2)
  m = s32[] parameter(3)
  zero = f32[] constant(0)
  seven = f32[] constant(7)
  lowest = f32[] constant(-inf)
  dx = f32[<=5,4] set-dimension-size(x, n), dimensions={0}
  dxx = f32[<=5,<=4] set-dimension-size(dx, m), dimensions={1}
  dy = f32[<=4,6] set-dimension-size(y, m), dimensions={0}
  numbers = s32[5,4] iota(), iota_dimension=0
  five = s32[5] iota(), iota_dimension=0
  dn = s32[<=5,4] set-dimension-size(numbers, n), dimensions={0}
"""
BODIES = {
    "elementwise": "e = f32[<=5,4] exponential(dx)\n ROOT r = f32[<=5,4] add(e, dx)",
    "two sizes": "ROOT r = f32[<=5,<=4] negate(dxx)",
    "sizes": "a = s32[] get-dimension-size(dxx), dimensions={0}\n b = s32[] get-dimension-size(dxx), dimensions={1}\n c = s32[] get-dimension-size(x), dimensions={0}\n ROOT r = (s32[], s32[], s32[]) tuple(a, b, c)",
    "select and compare": "w = f32[5,4] broadcast(zero), dimensions={}\n z = f32[<=5,4] set-dimension-size(w, n), dimensions={0}\n c = pred[<=5,4] compare(dx, z), direction=GT\n ROOT r = f32[<=5,4] select(c, dx, z)",
    "reduce": "ROOT r = f32[4] reduce(dx, zero), dimensions={0}, to_apply=add",
    "reduce, an initial value that counts": "ROOT r = f32[4] reduce(dx, seven), dimensions={0}, to_apply=add",
    "reduce, the other dimension": "ROOT r = f32[<=5] reduce(dx, zero), dimensions={1}, to_apply=add",
    "reduce, both": "ROOT r = f32[] reduce(dxx, lowest), dimensions={0,1}, to_apply=largest",
    "reduce, a body of several ops": "ROOT r = f32[] reduce(dxx, zero), dimensions={0,1}, to_apply=difference",
    "reduce, several operands": "i = s32[] constant(0)\n ROOT r = (f32[4], s32[4]) reduce(dx, dn, lowest, i), dimensions={0}, to_apply=best",
    "reduce-window": "ROOT r = f32[<=3,4] reduce-window(dx, lowest), window={size=2x1 stride=2x1 pad=0_1x0_0}, to_apply=largest",
    "reduce-window, dilated": "ROOT r = f32[<=4,4] reduce-window(dx, zero), window={size=2x1 stride=2x1 lhs_dilate=2x1 rhs_dilate=2x1 pad=1_0x0_0}, to_apply=add",
    "dot": "ROOT r = f32[<=5,6] dot(dxx, dy), lhs_contracting_dims={1}, rhs_contracting_dims={0}",
    "transpose and broadcast": "t = f32[4,<=5] transpose(dx), dimensions={1,0}\n ROOT r = f32[2,4,<=5] broadcast(t), dimensions={1,2}",
    "reverse": "ROOT r = f32[<=5,4] reverse(dx), dimensions={0,1}",
    "pad": "ROOT r = f32[<=12,5] pad(dx, seven), padding=1_2_1x0_1",
    "elementwise with a static operand": "e = f32[<=5,4] add(x, dx)\n ROOT r = f32[<=5,<=4] multiply(e, dxx)",
    "static again": "s = s32[] constant(5)\n a = f32[5,4] set-dimension-size(dx, s), dimensions={0}\n ROOT r = f32[5,4] add(a, x)",
    "more again": "s = s32[] constant(4)\n ROOT r = f32[<=5,4] set-dimension-size(dx, s), dimensions={0}",
    "pad by less than nothing": "ROOT r = f32[<=6,4] pad(dx, seven), padding=-1_-2_1x0_0",
    "slice of a part": "ROOT r = f32[2,4] slice(dx), slice={[1:4:2], [0:4]}",
    "dynamic-slice of more than there is": "ROOT r = f32[3,3] dynamic-slice(dxx, n, m), dynamic_slice_sizes={3,3}",
    "dynamic-update-slice of more than there is": "u = f32[3,3] slice(x), slice={[0:3], [0:3]}\n ROOT r = f32[<=5,<=4] dynamic-update-slice(dxx, u, m, n)",
    "gather from dynamic sizes": "i = s32[3,2] slice(numbers), slice={[0:3], [0:2]}\n ROOT r = f32[3,2,2] gather(dxx, i), offset_dims={1,2}, collapsed_slice_dims={}, start_index_map={0,1}, index_vector_dim=1, slice_sizes={2,2}",
    "gather of whole rows": "i = s32[3] slice(five), slice={[0:3]}\n ROOT r = f32[3,<=4] gather(dxx, i), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1,4}",
    "reduce with a static operand": "i = s32[] constant(0)\n ROOT r = (f32[4], s32[4]) reduce(dx, numbers, lowest, i), dimensions={0}, to_apply=best",
    "sort with a static operand": "ROOT r = (f32[<=5,4], s32[<=5,4]) sort(dx, numbers), dimensions={0}, is_stable=true, to_apply=by_key",
    "concatenate with a static operand": "ROOT r = f32[<=5,8] concatenate(x, dx), dimensions={1}",
    "dot with a static operand": "ROOT r = f32[4,4] dot(x, dx), lhs_contracting_dims={0}, rhs_contracting_dims={0}",
    "slice": "ROOT r = f32[<=2,4] slice(dx), slice={[1:4:2], [0:4]}",
    "concatenate": "t = f32[<=5,4] negate(dx)\n ROOT r = f32[<=15,4] concatenate(dx, x, t), dimensions={0}",
    "concatenate, the other dimension": "t = f32[<=5,4] negate(dx)\n ROOT r = f32[<=5,8] concatenate(dx, t), dimensions={1}",
    "reshape": "ROOT r = f32[<=20] reshape(dx)",
    "reshape and back": "a = f32[<=20] reshape(dx)\n ROOT r = f32[<=5,2,2] reshape(a)",
    "dynamic-reshape": "a = s32[] constant(20)\n b = s32[] divide(a, m)\n ROOT r = f32[<=20,<=4] dynamic-reshape(x, b, m)",
    "dynamic-reshape to fewer than the bound": "o = s32[] constant(20)\n ROOT r = f32[<=50] dynamic-reshape(x, o)",
    "dynamic-reshape of a dynamic array": "ROOT r = f32[<=4,<=5] dynamic-reshape(dxx, m, n)",
    "dynamic-reshape to one dimension": "k = s32[] multiply(n, m)\n o = s32[] constant(1)\n ROOT r = f32[1,<=20] dynamic-reshape(dxx, o, k)",
    "sort": "ROOT r = f32[<=5,4] sort(dx), dimensions={0}, to_apply=greater",
    "sort, several operands": "ROOT r = (f32[<=5,4], s32[<=5,4]) sort(dx, dn), dimensions={0}, is_stable=true, to_apply=by_key",
    "gather": "i = s32[<=5,1] slice(dn), slice={[0:5], [0:1]}\n ROOT r = f32[<=5,6] gather(y, i), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1,6}",
    "dynamic-slice": "d = f32[5,<=4] set-dimension-size(x, m), dimensions={1}\n ROOT r = f32[2,1] dynamic-slice(d, n, n), dynamic_slice_sizes={2,1}",
    "dynamic-update-slice": "d = f32[5,<=4] set-dimension-size(x, m), dimensions={1}\n u = f32[2,1] slice(y), slice={[0:2], [0:1]}\n ROOT r = f32[5,<=4] dynamic-update-slice(d, u, n, n)",
    "dynamic-update-slice of a dynamic update": "t = f32[2,4] slice(x), slice={[0:2], [0:4]}\n u = f32[2,<=4] set-dimension-size(t, m), dimensions={1}\n o = u8[] constant(255)\n k = u8[] convert(n)\n z = f32[5,4] broadcast(seven), dimensions={}\n a = f32[5,4] dynamic-update-slice(z, u, k, o)\n d = f32[5,<=4] set-dimension-size(z, m), dimensions={1}\n b = f32[5,<=4] dynamic-update-slice(d, u, k, k)\n ROOT r = (f32[5,4], f32[5,<=4]) tuple(a, b)",
    "scatter by a dynamic number of indices": "i = s32[<=5,1] slice(dn), slice={[0:5], [0:1]}\n v = f32[5,6] broadcast(seven), dimensions={}\n u = f32[<=5,6] set-dimension-size(v, n), dimensions={0}\n ROOT r = f32[4,6] scatter(y, i, u), update_window_dims={1}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=add",
    "scatter into dynamic sizes": "i = s32[5] slice(five), slice={[0:5]}\n u = f32[5,6] broadcast(seven), dimensions={}\n ROOT r = f32[<=4,6] scatter(dy, i, u), update_window_dims={1}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=add",
    "scatter of windows into dynamic sizes": "i = s32[5,2] slice(numbers), slice={[0:5], [0:2]}\n u = f32[5,1,2] broadcast(seven), dimensions={}\n ROOT r = f32[<=4,6] scatter(dy, i, u), update_window_dims={1,2}, inserted_window_dims={}, scatter_dims_to_operand_dims={0,1}, index_vector_dim=1, to_apply=add",
    "scatter of dynamic windows": "c = f32[6,<=4] transpose(dy), dimensions={1,0}\n i = s32[2] constant({1, 1})\n u = f32[2,<=4] slice(c), slice={[0:2], [0:4]}\n ROOT r = f32[6,<=4] scatter(c, i, u), update_window_dims={1}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=add",
    "scatter of several operands": "i = s32[<=5,1] slice(dn), slice={[0:5], [0:1]}\n u = f32[<=5,4] exponential(dx)\n ROOT r = (f32[5,4], s32[5,4]) scatter(x, numbers, i, u, dn), update_window_dims={1}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=best_of",
    "scatter of dynamic updates by static indices": "v = f32[5,6] broadcast(seven), dimensions={}\n u = f32[<=5,6] set-dimension-size(v, n), dimensions={0}\n i = s32[5,1] slice(numbers), slice={[0:5], [0:1]}\n ROOT r = f32[4,6] scatter(y, i, u), update_window_dims={1}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=add",
    "barrier": "a = f32[<=5,4] opt-barrier(dx)\n ROOT r = f32[<=5,4] negate(a)",
    "several results": "s = f32[4] reduce(dx, zero), dimensions={0}, to_apply=add\n t = f32[<=5,4] negate(dx)\n ROOT r = (f32[<=5,4], f32[4], f32[5,4]) tuple(t, s, x)",
    "while": "i = s32[] constant(0)\n t = f32[4] broadcast(zero), dimensions={}\n s = (s32[], f32[<=5,4], f32[4]) tuple(i, dx, t)\n ROOT r = (s32[], f32[<=5,4], f32[4]) while(s), condition=below, body=step",
    "while, dynamic within": "i = s32[] constant(0)\n t = f32[4] reduce(x, zero), dimensions={0}, to_apply=add\n s = (s32[], f32[4]) tuple(i, t)\n ROOT r = (s32[], f32[4]) while(s), condition=inner_below, body=inner_step",
    "conditional": "one = s32[] constant(1)\n k = s32[] minimum(one, n)\n p = pred[] compare(n, m), direction=GE\n t = (f32[<=5,4], s32[]) tuple(dx, k)\n ROOT r = f32[<=5,4] conditional(p, dx, t), true_computation=negated, false_computation=shortened",
    "conditional, by number": "one = s32[] constant(1)\n k = s32[] minimum(one, n)\n t = (f32[<=5,4], s32[]) tuple(dx, k)\n a = f32[<=5,4] conditional(m, dx, t), branch_computations={negated, shortened}\n ROOT r = f32[<=5,4] add(a, a)",
    "tuples between": "t = (f32[<=5,4], f32[5,4]) tuple(dx, x)\n a = f32[<=5,4] get-tuple-element(t), index=0\n b = f32[5,4] get-tuple-element(t), index=1\n ROOT r = (f32[<=5,4], f32[5,4]) tuple(a, b)",
}
GENERATOR = np.random.default_rng(0)
X, Y = GENERATOR.normal(size=(5, 4)).astype(np.float32), GENERATOR.normal(size=(4, 6)).astype(np.float32)
CASES = pytest.mark.parametrize("name", BODIES)
SIZES = [(n, m) for n in (0, 1, 3, 5) for m in (1, 4)]


def text_of(body: str) -> str:
    return f"HloModule padded\n{COMPUTATIONS}\nENTRY main {{{HEAD}{body}\n}}\n"


def check(got, want) -> None:
    assert len(got) == len(want)
    for a, b in zip(got, want, strict=True):
        assert (a.dtype, a.shape) == (b.dtype, b.shape)
        np.testing.assert_allclose(a, b, rtol=1e-6, atol=1e-6)


@CASES
def test_the_evaluator_agrees_before_and_after(name: str) -> None:
    module = xla.parse(text_of(BODIES[name]))
    padded = module.clone()
    assert create_pass("dynamic-padder").run(padded)
    assert not any(i.shape.is_dynamic for c in padded.computations for i in c.instructions)
    padded = xla.parse(padded.to_text())  # what it says of its results is in its text
    count, sizes = dynamic_results(padded)
    for n, m in SIZES:
        arguments = X, Y, np.int32(n), np.int32(m)
        made = evaluate(padded, *arguments)
        got = list(made[:count])
        for result, each in sizes.items():
            got[result] = got[result][
                tuple(slice(made[each[d]]) if d in each else slice(None) for d in range(got[result].ndim))
            ]
        check(got, evaluate(module, *arguments))


@CASES
def test_native_code_agrees(name: str) -> None:
    if "cpu" not in xla.backends():
        pytest.skip("no backend named cpu is installed")
    module = xla.parse(text_of(BODIES[name]))
    with xla.Client("cpu") as client:
        exe = client.compile(module)
        for n, m in SIZES:
            arguments = X, Y, np.int32(n), np.int32(m)
            check([np.asarray(r) for r in exe(*arguments)], evaluate(module, *arguments))
        again = client.deserialize(exe.serialize())
        assert again.result_shapes == exe.result_shapes
        check([np.asarray(r) for r in again(*arguments)], evaluate(module, *arguments))


def test_static_programs_are_left_alone() -> None:
    module = xla.parse("HloModule m\nENTRY main {\n ROOT x = f32[3] parameter(0)\n}")
    assert not create_pass("dynamic-padder").run(module)
    assert dynamic_results(module) == (1, {})


@pytest.mark.parametrize("record", ["x", "2", "-1", "1;0,0,7", "1;0,1,0", "1;0,0", "0;0,0,1"])
def test_a_record_of_dynamic_results_must_fit_the_program(record: str) -> None:
    text = f'HloModule m, frontend_attributes={{xla_core.dynamic_results="{record}"}}\nENTRY e {{ ROOT p = f32[4] parameter(0) }}'
    with pytest.raises(InvalidArgumentError, match=r"xla_core\.dynamic_results=.* doesn't fit the program's 1 result"):
        dynamic_results(xla.parse(text))


def test_an_attribute_of_the_users_is_no_record() -> None:
    text = 'HloModule m, frontend_attributes={dynamic_results="x"}\nENTRY e { ROOT p = f32[4] parameter(0) }'
    assert dynamic_results(xla.parse(text)) == (1, {})


def test_sizes_beyond_the_bound_are_the_bound() -> None:
    module = xla.parse(text_of(BODIES["elementwise"]))
    create_pass("dynamic-padder").run(module)
    assert evaluate(module, X, Y, np.int32(9), np.int32(1))[1] == 5
    assert evaluate(module, X, Y, np.int32(-2), np.int32(1))[1] == 0


def test_what_has_no_padded_form_is_named_with_its_place() -> None:
    module = xla.parse(
        text_of(
            "ROOT r = f32[<=5,4] reduce-window(dx, zero), window={size=3x1 pad=-1_3x0_0}, to_apply=add, "
            'metadata={source_file="model.py" source_line=7}'
        )
    )
    with pytest.raises(UnimplementedError, match=r"^model\.py:7: .*reduce-window of f32\[<=5,4\]"):
        create_pass("dynamic-padder").run(module)
    module = xla.parse("HloModule m\nENTRY main {\n x = f32[<=3] parameter(0)\n ROOT r = f32[<=3] negate(x)\n}")
    with pytest.raises(UnimplementedError, match=r"parameter x is f32\[<=3\]"):
        create_pass("dynamic-padder").run(module)


BOUNDED = """
HloModule bounded, input_output_alias={ {0}: (0, {}, may-alias) }
add { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT r = f32[] add(a, b) }
ENTRY main {
  x = f32[<=5,3] parameter(0)
  pair = (f32[<=5], s32[]) parameter(1)
  y = f32[<=5] get-tuple-element(pair), index=0
  k = s32[] get-tuple-element(pair), index=1
  zero = f32[] constant(0)
  s = f32[<=5] reduce(x, zero), dimensions={1}, to_apply=add
  t = f32[<=5] add(s, y)
  u = f32[] reduce(t, zero), dimensions={0}, to_apply=add
  n = s32[] get-dimension-size(x), dimensions={0}
  m = s32[] add(n, k)
  ROOT r = (f32[<=5,3], f32[<=5], f32[], s32[]) tuple(x, t, u, m)
}
"""


def test_hlo_of_bounded_parameters_is_compiled_for_each_size() -> None:
    """Flat at the boundary; what the program aliases to a dynamic parameter is donated, but not its result's memory."""
    if "cpu" not in xla.backends():
        pytest.skip("no backend named cpu is installed")
    with xla.Client("cpu") as client:
        exe = client.compile(BOUNDED)
        assert [str(s) for s in exe.parameter_shapes] == ["f32[<=5,3]", "f32[<=5]", "s32[]"]
        assert exe.donated_parameters == (0,)
        for again in (exe, client.deserialize(exe.serialize())):
            for n in (0, 2, 5, 2):
                arguments = X[:n, :3], X[:n, 3], np.int32(7)
                check([np.asarray(r) for r in again(*arguments)], evaluate(xla.parse(BOUNDED), *arguments))
            assert len(again.signatures()) == 3
        with pytest.raises(
            InvalidArgumentError, match=r"argument 1 of bounded must be f32\[<=5\], not f32\[6\].*bound"
        ):
            exe(X[:, :3], np.zeros(6, np.float32), np.int32(1))
        module = xla.parse("HloModule m\nENTRY main {\n ROOT x = f32[<=3] parameter(0)\n}")
        assert np.asarray(client.compile(module)(np.ones(2, np.float32))[0]).tolist() == [1, 1]


@pytest.mark.parametrize(("size", "taken"), [(-1, 0), (6, 5), (-(2**31), 0), (2**31 - 1, 5)])
def test_a_size_beyond_its_bound_is_refused_by_the_evaluator_and_the_nearest_for_code(size, taken):
    text = (
        f"HloModule m\n{COMPUTATIONS}ENTRY e {{ x = f32[5] parameter(0)\n n = s32[] parameter(1)\n z = f32[] constant(0)\n"
        " d = f32[<=5] set-dimension-size(x, n), dimensions={0}\n ROOT r = f32[] reduce(d, z), dimensions={0}, to_apply=add }"
    )
    arrays = np.ones(5, np.float32), np.int32(size)
    with pytest.raises(InvalidArgumentError, match="not within its bound 5"):
        evaluate(xla.parse(text), *arrays)
    (result,) = xla.Client("cpu").compile(text)(*arrays)
    assert np.asarray(result) == taken
