"""The evaluator's limits hold within an op, not only between ops."""

from __future__ import annotations

import time

import numpy as np
import pytest

import xla_core as xla
from xla_core.hlo import evaluate

ADD = "add {\n a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT c = f32[] add(a, b)\n}\n"
GREATER = "ge {\n a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT c = pred[] compare(a, b), direction=GE\n}\n"
X = np.arange(1, 5, dtype=np.float32)


def reduce_window(half: int) -> xla.HloModule:
    """The initial value is not the identity, so the padding counts and the evaluator must read it."""
    window = f"{{size={2 * half + 1} pad={half}_{half}}}"
    return xla.parse(
        f"HloModule m\n{ADD}ENTRY e {{\n p = f32[4] parameter(0)\n z = f32[] constant(1)\n"
        f" ROOT r = f32[4] reduce-window(p, z), window={window}, to_apply=add\n}}\n"
    )


def convolution(dilation: int) -> xla.HloModule:
    half = dilation // 2
    return xla.parse(
        "HloModule m\nENTRY e {\n p = f32[1,4,1] parameter(0)\n k = f32[2,1,1] parameter(1)\n ROOT r = f32[1,4,1] "
        f"convolution(p, k), window={{size=2 pad={half}_{half} rhs_dilate={dilation}}}, dim_labels=b0f_0io->b0f\n}}\n"
    )


def scatter(window: int) -> xla.HloModule:
    pads = f"{window - 1}_0"
    return xla.parse(
        f"HloModule m\n{ADD}{GREATER}ENTRY e {{\n p = f32[4] parameter(0)\n s = f32[4] parameter(1)\n"
        f" z = f32[] constant(0)\n ROOT r = f32[4] select-and-scatter(p, s, z), window={{size={window} pad={pads}}}, "
        "select=ge, scatter=add\n}\n"
    )


PROGRAMS = {
    "reduce-window": (lambda size: reduce_window(size // 2), [X]),
    "convolution": (convolution, [X.reshape(1, 4, 1), np.ones((2, 1, 1), np.float32)]),
    "select-and-scatter": (scatter, [X, X]),
}
LIMITS = {
    "max_bytes": ({"max_bytes": 1000}, xla.ResourceExhaustedError, "max_bytes = 1000"),
    "max_steps": ({"max_steps": 2}, xla.DeadlineExceededError, "2 steps"),
}


@pytest.mark.parametrize("limit", LIMITS)
@pytest.mark.parametrize("op", PROGRAMS)
@pytest.mark.parametrize("size", [20_000_000, 2_000_000_000])
def test_an_op_is_refused_before_it_begins(op, limit, size):
    make, arrays = PROGRAMS[op]
    given, kind, words = LIMITS[limit]
    start = time.process_time()
    with pytest.raises(kind, match=words) as caught:
        evaluate(make(size), *arrays, **given)
    assert caught.value.op == op
    assert time.process_time() - start < 1


def test_an_op_that_cannot_end_in_time_is_not_begun():
    start = time.process_time()
    with pytest.raises(xla.DeadlineExceededError, match="would take more than 5 s"):
        evaluate(reduce_window(1_000_000_000), X, timeout=5)
    assert time.process_time() - start < 1


@pytest.mark.parametrize("op", PROGRAMS)
def test_small_windows_are_within_the_limits(op):
    make, arrays = PROGRAMS[op]
    (limited,) = evaluate(make(4), *arrays, max_bytes=1000, max_steps=100, timeout=60)
    (free,) = evaluate(make(4), *arrays)
    assert (limited == free).all()


def test_a_product_counts_its_sums():
    module = xla.parse(
        "HloModule m\nENTRY e {\n a = f32[256,256] parameter(0)\n b = f32[256,256] parameter(1)\n"
        " ROOT d = f32[256,256] dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n}\n"
    )
    ones = np.ones((256, 256), np.float32)
    with pytest.raises(xla.DeadlineExceededError, match="50 steps"):
        evaluate(module, ones, ones, max_steps=50)
    assert evaluate(module, ones, ones, max_steps=100)[0][0, 0] == 256


@pytest.mark.parametrize("count", [0, 3])
def test_windows_of_nothing_end(count):
    """A source of no elements has no windows to look at, however large they are."""
    module = xla.parse(
        f"HloModule m\n{ADD}{GREATER}ENTRY e {{\n p = f32[{count}] parameter(0)\n s = f32[0] parameter(1)\n"
        f" z = f32[] constant(7)\n ROOT r = f32[{count}] select-and-scatter(p, s, z), window={{size=1000000000}}, "
        "select=ge, scatter=add\n}\n"
    )
    (result,) = evaluate(module, np.ones(count, np.float32), np.ones(0, np.float32), timeout=5)
    assert result.tolist() == [7.0] * count


def test_an_iota_of_no_elements_needs_no_memory():
    module = xla.parse(f"HloModule m\nENTRY e {{\n ROOT i = s32[0,{1 << 40}] iota(), iota_dimension=1\n}}\n")
    assert evaluate(module)[0].shape == (0, 1 << 40)


RANK = ",".join(["1"] * 70)


def test_more_dimensions_than_numpy_has_are_refused_at_their_op():
    module = xla.parse(
        f"HloModule m\nENTRY e {{\n p = f32[2] parameter(0)\n"
        f' b = f32[{RANK},2] reshape(p), metadata={{source_file="a.py" source_line=3}}\n ROOT r = f32[2] reshape(b)\n}}\n'
    )
    with pytest.raises(xla.UnimplementedError, match="at most 64 dimensions") as caught:
        evaluate(module, np.ones(2, np.float32))
    assert caught.value.op == "reshape"
    assert caught.value.location.line == 3


def test_a_parameter_of_more_dimensions_is_refused_likewise():
    module = xla.parse(f"HloModule m\nENTRY e {{\n p = f32[{RANK}] parameter(0)\n ROOT r = f32[1] reshape(p)\n}}\n")
    with pytest.raises(xla.UnimplementedError, match="at most 64 dimensions"):
        evaluate(module, np.ones(1, np.float32))


def test_sixty_four_dimensions_are_computed():
    rank = ",".join(["1"] * 63 + ["2"])
    module = xla.parse(
        f"HloModule m\n{ADD}ENTRY e {{\n p = f32[2] parameter(0)\n b = f32[{rank}] reshape(p)\n n = f32[{rank}] negate(b)\n"
        f" z = f32[] constant(0)\n ROOT r = f32[] reduce(n, z), dimensions={{{','.join(map(str, range(64)))}}}, to_apply=add\n}}\n"
    )
    assert evaluate(module, np.array([1, 2], np.float32))[0] == -3
