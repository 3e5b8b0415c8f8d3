"""The evaluator as a whole: arguments, control flow, limits, effects, constant folding."""

from __future__ import annotations

import threading
import time

import numpy as np
import pytest

from tests.xla_core.hlo.ops.ops_testing import F32, PRED, S32, build, run_built
from xla_core.errors import (
    CancelledError,
    DeadlineExceededError,
    FailedPreconditionError,
    InvalidArgumentError,
    ResourceExhaustedError,
    StatusCode,
    UnimplementedError,
    XlaError,
)
from xla_core.hlo import (
    OPS,
    TOKEN,
    ElementType,
    Environment,
    EvaluationContext,
    HloComputation,
    HloInstruction,
    HloModule,
    Literal,
    OpMetadata,
    Shape,
    evaluate,
    flatten_value,
    is_custom_call_registered,
    parse_hlo,
    register_custom_call,
    unflatten_value,
    verify,
)

ONE = np.float32(1)


def counting_loop(limit: int) -> HloModule:
    """while (i < limit) i += 1, over an s32."""
    module = HloModule("loop")
    entry = module.add_computation(HloComputation("main"), entry=True)
    body, condition = (module.add_computation(HloComputation(n)) for n in ("body", "condition"))
    scalar = Shape(S32)
    body.add("add", body.parameter(0, scalar), body.constant(np.int32(1)))
    condition.add("compare", condition.parameter(0, scalar), condition.constant(np.int32(limit)), direction="LT")
    entry.add("while", entry.parameter(0, scalar), condition=condition, body=body)
    verify(module)
    return module


def test_every_op_has_a_meaning() -> None:
    for op in OPS.values():
        assert op.evaluate is not None, op.opcode
        assert op.doc.endswith((".", ".)")), op.opcode


def test_arguments_are_checked() -> None:
    module = build(lambda c, p, q: c.add("add", p, q), np.zeros((2, 3), np.float32), np.zeros((2, 3), np.float32))
    good = np.ones((2, 3), np.float32)
    with pytest.raises(InvalidArgumentError, match=r"main takes 2 arguments \(f32\[2,3\], f32\[2,3\]\), not 1"):
        evaluate(module, good)
    with pytest.raises(InvalidArgumentError, match=r"argument 1 must be f32\[2,3\], not f64\[2,3\]"):
        evaluate(module, good, good.astype(np.float64))
    with pytest.raises(InvalidArgumentError, match=r"argument 0 must be f32\[2,3\], not f32\[3,2\]"):
        evaluate(module, good.T, good)
    swapped = good.astype(good.dtype.newbyteorder())
    (result,) = evaluate(module, swapped, np.asfortranarray(good))
    np.testing.assert_array_equal(result, 2 * good)


def test_results_belong_to_the_caller() -> None:
    x = np.zeros(3, np.float32)
    module = build(
        lambda c, p: c.add(
            "tuple", p, c.constant(np.ones(2)), c.add("broadcast", c.constant(ONE), shape=Shape.array(F32, (4,)))
        ),
        x,
    )
    for result in evaluate(module, x):
        result[:] = 7
    np.testing.assert_array_equal(x, 0)
    np.testing.assert_array_equal(evaluate(module, x)[1], 1)


def test_tuples_are_flattened_and_tokens_vanish() -> None:
    module = HloModule("t")
    c = module.add_computation(HloComputation("main"), entry=True)
    pair = c.parameter(0, Shape.tuple([Shape(F32), Shape.tuple([Shape(S32), Shape.token()])]))
    token = c.parameter(1, Shape.token())
    inner = c.add("get-tuple-element", pair, index=1)
    c.add("tuple", token, c.add("get-tuple-element", inner, index=0), pair)
    verify(module)
    assert [r.item() for r in evaluate(module, np.float32(2), np.int32(3))] == [3, 2, 3]


def test_dynamic_parameters_take_smaller_arrays() -> None:
    module = HloModule("t")
    c = module.add_computation(HloComputation("main"), entry=True)
    p = c.parameter(0, Shape(F32, (4, 2), None, (True, False)))
    c.add("tuple", c.add("negate", p), c.add("get-dimension-size", p, dimensions=(0,)))
    verify(module)
    result, size = evaluate(module, np.ones((3, 2), np.float32))
    assert result.shape == (3, 2)
    assert size == 3
    with pytest.raises(InvalidArgumentError, match=r"not f32\[5,2\]: the size of dimension 0, 5, is over its bound"):
        evaluate(module, np.ones((5, 2), np.float32))


# -- control flow --------------------------------------------------------------------------------------------------


def test_while() -> None:
    assert evaluate(counting_loop(10), np.int32(3))[0] == 10
    assert evaluate(counting_loop(10), np.int32(30))[0] == 30


@pytest.mark.parametrize(("index", "expected"), [(0, 3), (1, 7), (2, 10), (-1, 10), (9, 10)])
def test_conditional_by_index(index: int, expected: int) -> None:
    def root(c: HloComputation, i: HloInstruction) -> HloInstruction:
        branches = []
        for value in (3, 7, 10):
            branch = c.module.add_computation(HloComputation("branch"))
            branch.parameter(0, Shape(S32))
            branch.set_root(branch.constant(np.int32(value)))
            branches.append(branch)
        return c.add("conditional", i, i, i, i, branch_computations=tuple(branches))

    assert run_built(root, np.int32(index))[0] == expected


def test_call_fusion_and_async() -> None:
    def root(c: HloComputation, x: HloInstruction) -> HloInstruction:
        assert c.module is not None
        bodies = [c.module.add_computation(HloComputation("negate")) for _ in range(3)]
        for b in bodies:
            b.add("negate", b.parameter(0, x.shape))
        start = c.add("async-start", x, calls=bodies[2])
        done = c.add("async-done", c.add("async-update", start))
        copied = c.add("copy-done", c.add("copy-start", done))
        return c.add(
            "tuple", c.add("call", x, to_apply=bodies[0]), c.add("fusion", x, kind="kLoop", calls=bodies[1]), copied
        )

    assert [float(v) for v in run_built(root, ONE)] == [-1, -1, -1]


def test_barriers_and_dependencies() -> None:
    def root(c: HloComputation, x: HloInstruction) -> HloInstruction:
        token = c.add("after-all")
        both = c.add("opt-barrier", c.add("tuple", x, c.add("add-dependency", x, c.add("after-all", token, token))))
        return c.add("domain", both, domain='{kind="sharding", entry={replicated}, exit={replicated}}')

    assert [float(v) for v in run_built(root, ONE)] == [1, 1]


# -- limits --------------------------------------------------------------------------------------------------------


def test_an_endless_loop_ends_at_the_step_limit() -> None:
    with pytest.raises(DeadlineExceededError, match="more than 1000 steps"):
        evaluate(counting_loop(2**31 - 1), np.int32(0), max_steps=1000)


def test_an_endless_loop_ends_at_the_timeout() -> None:
    started = time.monotonic()
    with pytest.raises(DeadlineExceededError, match=r"more than 0\.05 s"):
        evaluate(counting_loop(2**31 - 1), np.int32(0), timeout=0.05)
    assert time.monotonic() - started < 5


def test_an_evaluation_can_be_cancelled() -> None:
    environment = Environment()
    timer = threading.Timer(0.05, environment.cancelled.set)
    timer.start()
    with pytest.raises(CancelledError):
        evaluate(counting_loop(2**31 - 1), np.int32(0), environment=environment, timeout=30)
    timer.join()


def test_large_results_are_refused() -> None:
    big = Shape.array(F32, (1 << 20, 1 << 20))
    module = build(lambda c, x: c.add("broadcast", x, shape=big), ONE)
    with pytest.raises(ResourceExhaustedError, match="more than max_bytes = 1000000"):
        evaluate(module, ONE, max_bytes=1_000_000)


def test_steps_count_elements() -> None:
    shape = Shape.array(F32, (1 << 20,))
    module = build(lambda c, x: c.add("negate", c.add("broadcast", x, shape=shape)), ONE)
    with pytest.raises(DeadlineExceededError):
        evaluate(module, ONE, max_steps=300)
    evaluate(module, ONE, max_steps=600)


# -- errors --------------------------------------------------------------------------------------------------------


def test_errors_say_where() -> None:
    metadata = OpMetadata(op_name="jit(f)/call", source_file="model.py", source_line=12)
    module = build(
        lambda c, x: c.add("custom-call", x, shape=x.shape, custom_call_target="nobody", metadata=metadata),
        ONE,
    )
    with pytest.raises(UnimplementedError, match="custom call 'nobody' is not registered") as caught:
        evaluate(module, ONE)
    assert str(caught.value).startswith("model.py:12 (jit(f)/call)")
    assert caught.value.op == "custom-call"
    assert "give it a meaning with xla_core.hlo.register_custom_call" in caught.value.hint


def test_what_a_custom_call_raises_is_not_our_defect() -> None:
    @register_custom_call("test.raises")
    def _raises(context: object, instruction: HloInstruction, values: list) -> np.ndarray:
        raise LookupError("no such table")

    metadata = OpMetadata(op_name="jit(f)/call", source_file="model.py", source_line=12)
    module = build(
        lambda c, x: c.add("custom-call", x, shape=x.shape, custom_call_target="test.raises", metadata=metadata), ONE
    )
    with pytest.raises(XlaError, match=r"'test\.raises' raised LookupError: no such table") as caught:
        evaluate(module, ONE)
    assert caught.value.code is StatusCode.UNKNOWN
    assert str(caught.value).startswith("model.py:12")
    assert isinstance(caught.value.__cause__, LookupError)


def test_custom_calls_are_registered_by_name() -> None:
    @register_custom_call("test.twice")
    def _twice(context: object, instruction: HloInstruction, values: list) -> np.ndarray:
        return values[0] * 2

    module = build(lambda c, x: c.add("custom-call", x, shape=x.shape, custom_call_target="test.twice"), ONE)
    assert evaluate(module, ONE)[0] == 2


# -- feeds and channels --------------------------------------------------------------------------------------------


def feeding_module() -> HloModule:
    """A module that reads two values, writes their sum, and receives and sends on channels 1 and 2."""
    module = HloModule("feeds")
    c = module.add_computation(HloComputation("main"), entry=True)
    scalar, token = Shape(F32), c.add("after-all")
    values = []
    for _ in range(2):
        fed = c.add("infeed", token, shape=Shape.tuple([scalar, Shape.token()]))
        values.append(c.add("get-tuple-element", fed, index=0))
        token = c.add("get-tuple-element", fed, index=1)
    total = c.add("add", *values)
    token = c.add("outfeed", total, token, outfeed_shape=scalar)
    received = c.add(
        "recv",
        token,
        shape=Shape.tuple([scalar, Shape(ElementType.U32), Shape.token()]),
        channel_id=1,
        is_host_transfer=True,
    )
    done = c.add("recv-done", received, channel_id=1, is_host_transfer=True)
    difference = c.add("subtract", total, c.add("get-tuple-element", done, index=0))
    sent = c.add("send", difference, c.add("get-tuple-element", done, index=1), channel_id=2, is_host_transfer=True)
    c.set_root(c.add("tuple", total, c.add("send-done", sent, channel_id=2, is_host_transfer=True)))
    verify(module)
    return module


def test_feeds_and_host_channels() -> None:
    from collections import deque

    environment = Environment()
    environment.infeed.extend([np.asarray(np.float32(2)), np.asarray(np.float32(5))])
    environment.to_receive[1] = deque([np.asarray(np.float32(3))])
    assert evaluate(feeding_module(), environment=environment)[0] == 7
    assert [float(v) for v in environment.outfeed] == [7]
    assert [float(v) for v in environment.sent[2]] == [4]


def test_a_number_that_was_computed_goes_through_a_channel() -> None:
    module = parse_hlo("""HloModule m
ENTRY e {
  x = s32[] parameter(0)
  sum = s32[] add(x, x)
  t = token[] after-all()
  s = (s32[], u32[], token[]) send(sum, t), channel_id=7
  sd = token[] send-done(s), channel_id=7
  r = (s32[], u32[], token[]) recv(sd), channel_id=7
  d = (s32[], token[]) recv-done(r), channel_id=7
  ROOT y = s32[] get-tuple-element(d), index=0
}""")
    assert evaluate(module, np.int32(2))[0] == 4


def test_an_empty_infeed_and_a_wrong_value_are_errors() -> None:
    with pytest.raises(FailedPreconditionError, match="infeed is empty"):
        evaluate(feeding_module())
    environment = Environment()
    environment.infeed.append(np.zeros(3))
    with pytest.raises(InvalidArgumentError, match=r"the infeed has f64\[3\]; expected f32\[\]"):
        evaluate(feeding_module(), environment=environment)


def test_effects_happen_in_order_even_where_nothing_needs_them() -> None:
    def root(c: HloComputation, x: HloInstruction) -> HloInstruction:
        token = c.add("after-all")
        token = c.add("outfeed", x, token)
        c.add("outfeed", c.add("negate", x), token)
        return x

    environment = Environment()
    evaluate(build(root, ONE), ONE, environment=environment)
    assert [float(v) for v in environment.outfeed] == [1, -1]


# -- one instruction -----------------------------------------------------------------------------------------------


def test_an_instruction_is_evaluated_alone() -> None:
    def evaluated(instruction: HloInstruction, *operands: Literal) -> Literal:
        value = EvaluationContext().evaluate(instruction, [o.value for o in operands])
        return Literal.of_value(value, instruction.shape)

    c = HloComputation("c")
    x = c.parameter(0, Shape.array(F32, (3,)))
    added = c.add("add", x, x)
    one = Literal(np.array([1, 2, 3], np.float32))
    assert evaluated(added, one, one) == Literal(np.array([2, 4, 6], np.float32))
    pair = evaluated(c.add("tuple", x, added), one, one)
    assert pair.elements == (one, one)
    splat = c.add("broadcast", c.constant(ONE), shape=Shape.array(F32, (1 << 30,)))
    assert evaluated(splat, Literal(ONE)).is_splat  # costs one element


def test_pred_arrays() -> None:
    on = np.array([True, False])
    assert run_built(lambda c, p: c.add("not", p), on)[0].dtype == PRED.dtype


def test_one_instruction_by_its_definition() -> None:
    computation = HloComputation("main")
    x = computation.parameter(0, Shape.array(F32, (2,)))
    negate = computation.add("negate", x)
    value = EvaluationContext().evaluate(negate, [np.array([1, -2], np.float32)])
    np.testing.assert_array_equal(value, [-1, 2])


def test_values_of_literals_and_their_leaves() -> None:
    inner = Literal([Literal(np.float32(1)), Literal(np.int32([2, 3]))])
    literal = Literal([inner, Literal(np.bool_(True))])
    (one, two), true = literal.value
    assert (one, true) == (1, True)
    np.testing.assert_array_equal(two, [2, 3])
    leaves = flatten_value(literal.value)
    assert len(leaves) == 3
    assert unflatten_value(literal.shape, iter([1, 2, 3])) == ((1, 2), 3)
    assert unflatten_value(Shape.tuple([Shape.token()]), iter([])) == (TOKEN,)


def test_registered_custom_calls() -> None:
    assert is_custom_call_registered("Sharding")
    assert not is_custom_call_registered("nobody.knows")


def test_text_is_not_evaluated() -> None:
    with pytest.raises(InvalidArgumentError, match="takes an HloModule, not str") as caught:
        evaluate("HloModule m")
    assert "xla_core.parse" in (caught.value.hint or "")


TOP_K = """HloModule jit__lambda, is_scheduled=true, entry_computation_layout={(f32[2,5]{1,0})->(f32[2,3]{1,0}, s32[2,3]{1,0})}

%compare-greater-than.1.clone (p.0.lhs.0: f32[], p.0.rhs.0: f32[], p.1.lhs.0: s32[], p.1.rhs.0: s32[]) -> pred[] {
  %p.0.lhs.0 = f32[] parameter(0)
  %p.0.rhs.0 = f32[] parameter(1)
  %p.1.lhs.0 = s32[] parameter(2)
  %p.1.rhs.0 = s32[] parameter(3)
  %constant.3 = s32[] constant(0)
  %constant.4 = s32[] constant(2147483647)
  %bitcast.2 = s32[] bitcast(%p.0.lhs.0)
  %bitcast.3 = s32[] bitcast(%p.0.rhs.0)
  %xor.2 = s32[] xor(%constant.4, %bitcast.2)
  %compare.4 = pred[] compare(%bitcast.2, %constant.3), direction=LT
  %xor.3 = s32[] xor(%constant.4, %bitcast.3)
  %compare.5 = pred[] compare(%bitcast.3, %constant.3), direction=LT
  %select.2 = s32[] select(%compare.4, %xor.2, %bitcast.2)
  %select.3 = s32[] select(%compare.5, %xor.3, %bitcast.3)
  ROOT %compare.6 = pred[] compare(%select.2, %select.3), direction=GT
}

ENTRY %main.1 (x.1: f32[2,5]) -> (f32[2,3], s32[2,3]) {
  %x.1 = f32[2,5]{1,0} parameter(0), metadata={op_name="x"}
  ROOT %custom-call = (f32[2,3]{1,0}, s32[2,3]{1,0}) custom-call(%x.1), custom_call_target="TopK", called_computations={%compare-greater-than.1.clone}, metadata={op_name="jit(<lambda>)/top_k" stack_frame_id=2}
}
"""
"""As JAX prints a compiled `lax.top_k`."""


def test_top_k_as_xla_compiles_it() -> None:
    x = np.array([[1, np.inf, np.nan, -3, 1], [-0.0, 0.0, -1, 2, 2]], np.float32)
    values, places = evaluate(parse_hlo(TOP_K), x)
    np.testing.assert_array_equal(values, np.array([[np.nan, np.inf, 1], [2, 2, 0]], np.float32))
    np.testing.assert_array_equal(places, [[2, 1, 0], [3, 4, 1]])
