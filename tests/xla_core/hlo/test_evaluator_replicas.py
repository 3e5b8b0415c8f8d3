"""Collectives between replicas and partitions, each on its own thread."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

from tests.xla_core.hlo.ops.ops_testing import F32, S32, build
from xla_core.errors import DeadlineExceededError, FailedPreconditionError, InvalidArgumentError, XlaError
from xla_core.hlo import (
    ElementType,
    Environment,
    HloComputation,
    HloInstruction,
    Shape,
    evaluate,
    evaluate_parallel,
    evaluate_replicas,
    scalar_computation,
    verify,
)
from xla_core.hlo.evaluation.environment import Rendezvous


def run_on(
    count: int,
    opcode: str,
    arrays: list[np.ndarray],
    *,
    partitions: int = 1,
    shape: Shape | None = None,
    **attributes: Any,
) -> list[np.ndarray]:
    """One collective on each device's own array; the result of each."""

    def root(c: HloComputation, x: HloInstruction) -> HloInstruction:
        if "to_apply" in attributes:
            assert c.module is not None
            c.module.add_computation(attributes["to_apply"])
        return c.add(opcode, x, shape=shape, **attributes)

    module = build(root, arrays[0])
    verify(module)
    results = evaluate_replicas(module, [[a] for a in arrays], num_partitions=partitions, timeout=10)
    assert len(results) == count
    return [r[0] for r in results]


def numbers(count: int) -> list[np.ndarray]:
    return [np.arange(4, dtype=np.int32) + 10 * i for i in range(count)]


def test_all_reduce_in_groups() -> None:
    x = numbers(4)
    attributes = {"replica_groups": ((0, 3), (2, 1)), "to_apply": scalar_computation("add", S32)}
    results = run_on(4, "all-reduce", x, **attributes)
    for i, other in ((0, 3), (1, 2), (2, 1), (3, 0)):
        np.testing.assert_array_equal(results[i], x[i] + x[other])


@pytest.mark.parametrize(
    ("attributes", "groups"),
    [
        ({}, [[0, 2], [1, 3]]),  # replicas of the same partition
        ({"channel_id": 1}, [[0, 1, 2, 3]]),  # replicas with all their partitions
        ({"channel_id": 1, "use_global_device_ids": True, "replica_groups": ((0, 1), (2, 3))}, [[0, 1], [2, 3]]),
    ],
)
def test_all_reduce_modes(attributes: dict, groups: list[list[int]]) -> None:
    """Two replicas of two partitions: device i is replica i // 2, partition i % 2."""
    x = numbers(4)
    results = run_on(4, "all-reduce", x, partitions=2, to_apply=scalar_computation("add", S32), **attributes)
    for group in groups:
        for device in group:
            np.testing.assert_array_equal(results[device], sum(x[d] for d in group))


def test_all_gather_and_reduce_scatter() -> None:
    x = numbers(2)
    shape = Shape.array(S32, (8,))
    for result in run_on(2, "all-gather", x, shape=shape, dimensions=(0,), replica_groups=((1, 0),)):
        np.testing.assert_array_equal(result, np.concatenate([x[1], x[0]]))
    parts = run_on(
        2, "reduce-scatter", x, dimensions=(0,), replica_groups=((0, 1),), to_apply=scalar_computation("add", S32)
    )
    np.testing.assert_array_equal(np.concatenate(parts), x[0] + x[1])


def test_all_to_all() -> None:
    x = numbers(2)
    results = run_on(2, "all-to-all", x, dimensions=(0,), replica_groups=((0, 1),))
    np.testing.assert_array_equal(results[0], [0, 1, 10, 11])
    np.testing.assert_array_equal(results[1], [2, 3, 12, 13])


def test_collective_permute_and_broadcast() -> None:
    x = numbers(3)
    results = run_on(3, "collective-permute", x, source_target_pairs=((0, 1), (1, 2)))
    np.testing.assert_array_equal(results, [0 * x[0], x[0], x[1]])
    results = run_on(3, "collective-broadcast", x, replica_groups=((2, 0),))
    np.testing.assert_array_equal(results, [x[2], 0 * x[0], x[2]])


def test_collective_permute_of_partitions() -> None:
    x = numbers(2)
    results = run_on(2, "collective-permute", x, partitions=2, channel_id=1, source_target_pairs=((1, 0),))
    np.testing.assert_array_equal(results, [x[1], 0 * x[0]])


def test_ids() -> None:
    def root(c: HloComputation) -> HloInstruction:
        return c.add("tuple", c.add("replica-id"), c.add("partition-id"))

    results = evaluate_replicas(build(root), [[]] * 4, num_partitions=2)
    assert [(int(r), int(p)) for r, p in results] == [(0, 0), (0, 1), (1, 0), (1, 1)]


def test_start_and_done() -> None:
    def root(c: HloComputation, x: HloInstruction) -> HloInstruction:
        assert c.module is not None
        body = c.module.add_computation(scalar_computation("add", S32))
        reduced = c.add("all-reduce-done", c.add("all-reduce-start", x, to_apply=body))
        gathered = Shape.array(S32, (8,))
        start = c.add("all-gather-start", x, shape=Shape.tuple([x.shape, gathered]), dimensions=(0,))
        moved = c.add(
            "collective-permute-start",
            x,
            shape=Shape.tuple([x.shape, x.shape, Shape(ElementType.U32), Shape(ElementType.U32)]),
            source_target_pairs=((0, 1), (1, 0)),
        )
        return c.add("tuple", reduced, c.add("all-gather-done", start), c.add("collective-permute-done", moved))

    x = numbers(2)
    module = build(root, x[0])
    verify(module)
    for i, (reduced, gathered, moved) in enumerate(evaluate_replicas(module, [[a] for a in x])):
        np.testing.assert_array_equal(reduced, x[0] + x[1])
        np.testing.assert_array_equal(gathered, np.concatenate(x))
        np.testing.assert_array_equal(moved, x[1 - i])


def test_ragged_all_to_all() -> None:
    operands = [np.array([1, 2, 3], np.int32), np.array([4, 5, 6], np.int32)]
    sends = [np.array([1, 2], np.int32), np.array([2, 1], np.int32)]

    def root(c: HloComputation, *p: HloInstruction) -> HloInstruction:
        return c.add("ragged-all-to-all", *p, replica_groups=((0, 1),))

    arguments = []
    for i in range(2):
        starts = np.array([0, sends[i][0]], np.int32)
        targets = np.array([0, 0] if i == 0 else [sends[0][0], sends[0][1]], np.int32)
        received = np.array([sends[0][i], sends[1][i]], np.int32)
        arguments.append([operands[i], np.full(4, -1, np.int32), starts, sends[i], targets, received])
    results = evaluate_replicas(build(root, *arguments[0]), arguments)
    np.testing.assert_array_equal(results[0][0], [1, 4, 5, -1])
    np.testing.assert_array_equal(results[1][0], [2, 3, 6, -1])


def test_a_loop_of_collectives_meets_again_and_again() -> None:
    def root(c: HloComputation, x: HloInstruction) -> HloInstruction:
        assert c.module is not None
        add = c.module.add_computation(scalar_computation("add", F32))
        body, condition = (c.module.add_computation(HloComputation(n)) for n in ("body", "condition"))
        p = body.parameter(0, x.shape)
        body.add("all-reduce", p, to_apply=add)
        q = condition.parameter(0, x.shape)
        condition.add("compare", q, condition.constant(np.float32(1000)), direction="LT")
        return c.add("while", x, condition=condition, body=body)

    results = evaluate_replicas(build(root, np.float32(1)), [[np.float32(1)], [np.float32(3)]])
    assert [float(r[0]) for r in results] == [1024, 1024]  # 4, 8, ..., 1024


def test_send_and_receive_between_devices() -> None:
    def sender(c: HloComputation, x: HloInstruction) -> HloInstruction:
        return c.add("send-done", c.add("send", x, c.add("after-all"), channel_id=3), channel_id=3)

    def receiver(c: HloComputation, x: HloInstruction) -> HloInstruction:
        shape = Shape.tuple([x.shape, Shape(ElementType.U32), Shape.token()])
        return c.add("recv-done", c.add("recv", c.add("after-all"), shape=shape, channel_id=3), channel_id=3)

    x, y = np.float32(5), np.float32(0)
    entries = [build(sender, x).entry, build(receiver, y).entry]
    assert evaluate_parallel(entries, [[x], [y]], timeout=10)[1][0] == 5


# -- what goes wrong -----------------------------------------------------------------------------------------------


def one_of_two(first: Callable[..., HloInstruction], timeout: float = 10) -> None:
    """Device 1 runs an all-reduce with device 0, which runs something else."""

    def reduce(c: HloComputation, x: HloInstruction) -> HloInstruction:
        assert c.module is not None
        return c.add("all-reduce", x, to_apply=c.module.add_computation(scalar_computation("add", F32)))

    x = np.float32(1)
    evaluate_parallel([build(first, x).entry, build(reduce, x).entry], [[x], [x]], timeout=timeout)


def test_a_device_that_ends_early_is_named() -> None:
    with pytest.raises(FailedPreconditionError, match="replica 0, partition 0 ended before it reached"):
        one_of_two(lambda c, x: c.add("negate", x))


def test_a_device_that_fails_is_the_cause() -> None:
    started = time.monotonic()
    with pytest.raises(XlaError, match="infeed is empty"):
        one_of_two(lambda c, x: c.add("infeed", c.add("after-all"), shape=Shape.tuple([x.shape, Shape.token()])))
    assert time.monotonic() - started < 5


def test_a_device_that_never_comes_is_named_after_the_timeout() -> None:
    def endless(c: HloComputation, x: HloInstruction) -> HloInstruction:
        assert c.module is not None
        body, condition = (c.module.add_computation(HloComputation(n)) for n in ("body", "condition"))
        body.add("negate", body.parameter(0, x.shape))
        condition.parameter(0, x.shape)
        condition.set_root(condition.constant(np.asarray(True)))
        return c.add("while", x, condition=condition, body=body)

    with pytest.raises(DeadlineExceededError, match=r"did not reach|more than"):
        one_of_two(endless, timeout=0.3)


def test_all_who_wait_are_told_who_is_late() -> None:
    rendezvous = Rendezvous(0.4)
    everyone = [(i, 0) for i in range(4)]
    errors: dict[int, XlaError] = {}

    def device(i: int) -> None:
        try:
            time.sleep({0: 1.0, 3: 0.2}.get(i, 0))
            if i == 3:  # waits for one of those that wait for the late one
                rendezvous.exchange("pair", everyone[2:], everyone[3], i)
            else:
                rendezvous.exchange("all", everyone[:3], everyone[i], i)
        except XlaError as error:
            errors[i] = error
            rendezvous.end(everyone[i], error)

    threads = [threading.Thread(target=device, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({id(error) for error in errors.values()}) == 4  # each will have its own place
    for error in errors.values():
        assert type(error) is DeadlineExceededError
        assert error.message == "replica 0, partition 0 did not reach a meeting of 3 devices within 0.4 s"


def test_a_device_in_no_group_is_an_error() -> None:
    with pytest.raises(InvalidArgumentError, match="replica 1 in no group; the program runs on 2"):
        run_on(2, "all-reduce", numbers(2), replica_groups=((0,),), to_apply=scalar_computation("add", S32))


def test_infeeds_are_each_devices_own() -> None:
    def root(c: HloComputation) -> HloInstruction:
        fed = c.add("infeed", c.add("after-all"), shape=Shape.tuple([Shape(F32), Shape.token()]))
        return c.add("get-tuple-element", fed, index=0)

    environments = [Environment(), Environment()]
    for i, environment in enumerate(environments):
        environment.infeed.append(np.asarray(np.float32(i + 1)))
    results = evaluate_replicas(build(root), [[], []], environments=environments)
    assert [float(r[0]) for r in results] == [1, 2]


def test_sends_of_both_directions_on_one_channel_reach_their_targets() -> None:
    """The first device must take neither its own message nor one for another device."""
    pairs = {"frontend_attributes": (("_xla_send_recv_source_target_pairs", "{{0,1},{1,2},{2,0}}"),), "channel_id": 5}

    def root(c: HloComputation) -> HloInstruction:
        x = c.parameter(0, Shape(F32))
        token = c.add("after-all")
        sent = c.add("send-done", c.add("send", x, token, **pairs), **pairs)
        shape = Shape.tuple([x.shape, Shape(ElementType.U32), Shape.token()])
        received = c.add("recv-done", c.add("recv", sent, shape=shape, **pairs), **pairs)
        return c.add("get-tuple-element", received, index=0)

    for _ in range(20):
        results = evaluate_replicas(build(root), [[np.float32(i)] for i in range(3)])
        assert [float(r[0]) for r in results] == [2, 0, 1]


def test_a_device_that_is_no_target_receives_zeros() -> None:
    pairs = {"frontend_attributes": (("_xla_send_recv_source_target_pairs", "{{0,1}}"),), "channel_id": 5}

    def root(c: HloComputation) -> HloInstruction:
        x = c.parameter(0, Shape(F32))
        sent = c.add("send-done", c.add("send", x, c.add("after-all"), **pairs), **pairs)
        shape = Shape.tuple([x.shape, Shape(ElementType.U32), Shape.token()])
        received = c.add("recv-done", c.add("recv", sent, shape=shape, **pairs), **pairs)
        return c.add("get-tuple-element", received, index=0)

    results = evaluate_replicas(build(root), [[np.float32(3)], [np.float32(4)]])
    assert [float(r[0]) for r in results] == [0, 3]


@pytest.mark.parametrize("pairs", ["{{0,7}}", "{{7,1}}"])
def test_a_channel_to_a_device_that_is_not_there(pairs: str) -> None:
    """The error comes immediately: no device waits for replica 7."""
    attributes = {"frontend_attributes": (("_xla_send_recv_source_target_pairs", pairs),), "channel_id": 5}

    def root(c: HloComputation) -> HloInstruction:
        x = c.parameter(0, Shape(F32))
        sent = c.add("send-done", c.add("send", x, c.add("after-all"), **attributes), **attributes)
        shape = Shape.tuple([x.shape, Shape(ElementType.U32), Shape.token()])
        received = c.add("recv-done", c.add("recv", sent, shape=shape, **attributes), **attributes)
        return c.add("get-tuple-element", received, index=0)

    with pytest.raises(InvalidArgumentError, match="names replica 7; the program runs on 2"):
        evaluate_replicas(build(root), [[np.float32(3)], [np.float32(4)]], timeout=5)


@pytest.mark.parametrize("groups", [(), ((0, 1, 2, 3),)])
def test_one_device_of_several_is_an_error_at_once(groups: tuple) -> None:
    x = numbers(1)[0]
    gathered = Shape(ElementType.S32, (16,))
    module = build(lambda c, x: c.add("all-gather", x, replica_groups=groups, dimensions=(0,), shape=gathered), x)
    module.num_replicas = 4
    with pytest.raises(FailedPreconditionError, match=r"runs on 4 devices \(4 replicas x 1 partition\)") as caught:
        evaluate(module, x)
    assert "xla_core.hlo.evaluate_replicas" in str(caught.value.hint)


def test_a_collective_of_more_devices_than_run() -> None:
    """A module that says nothing runs on one device, where nothing is gathered from others."""
    x = numbers(1)[0]
    gathered = Shape(ElementType.S32, (16,))
    module = build(lambda c, x: c.add("all-gather", x, dimensions=(0,), shape=gathered), x)
    verify(module)
    with pytest.raises(InvalidArgumentError, match=r"all-gather of s32\[4\] along 0 on 1 device is not s32\[16\]"):
        evaluate(module, x)


def test_one_device_may_meet_itself() -> None:
    x = numbers(1)[0]
    module = build(lambda c, x: c.add("all-gather", x, replica_groups=((0,), (1,)), dimensions=(0,), shape=x.shape), x)
    module.num_replicas = 2
    np.testing.assert_array_equal(evaluate(module, x)[0], x)


def test_a_channel_of_several_senders_needs_pairs() -> None:
    """Without pairs, it would be undefined which device receives which value."""

    def root(c: HloComputation) -> HloInstruction:
        x = c.parameter(0, Shape(F32))
        sent = c.add("send-done", c.add("send", x, c.add("after-all"), channel_id=5), channel_id=5)
        shape = Shape.tuple([x.shape, Shape(ElementType.U32), Shape.token()])
        received = c.add("recv-done", c.add("recv", sent, shape=shape, channel_id=5), channel_id=5)
        return c.add("get-tuple-element", received, index=0)

    with pytest.raises(XlaError, match=r"both send to channel 5, and nothing says which value is whose") as caught:
        evaluate_replicas(build(root), [[np.float32(i)] for i in range(3)], timeout=5)
    assert "source_target_pairs" in str(caught.value)


def test_the_last_device_combines_for_all() -> None:
    rendezvous, group = Rendezvous(10), [(0, p) for p in range(4)]
    calls: list[list[int]] = []
    taken: list[object] = []

    def total(values: Sequence[int]) -> list[int]:
        calls.append(list(values))
        return [sum(values)]

    def bring(me: int) -> None:
        for turn in range(3):
            taken.append(rendezvous.combine(turn, group, group[me], 10**me, total))

    run_in_threads(bring, 4)
    assert calls == [[1, 10, 100, 1000]] * 3
    assert taken == [[1111]] * 12
    assert len(set(map(id, taken))) == 3


def test_devices_that_wait_for_a_combination_that_fails_get_an_error() -> None:
    rendezvous, group = Rendezvous(10), [(0, p) for p in range(3)]
    errors: list[str] = []

    def fail(values: Sequence[int]) -> None:
        raise InvalidArgumentError("the values don't fit")

    def bring(me: int) -> None:
        try:
            rendezvous.combine("k", group, group[me], me, fail)
        except XlaError as error:
            rendezvous.end(group[me], error)
            errors.append(error.message)

    run_in_threads(bring, 3)
    assert errors == ["the values don't fit"] * 3


def test_a_combination_may_take_longer_than_the_timeout() -> None:
    """The timeout is for devices that don't come. Those that wait must keep what they brought until it is read."""
    rendezvous, group, taken = Rendezvous(0.2), [(0, p) for p in range(3)], []

    def slow(values: Sequence[int]) -> int:
        time.sleep(0.6)
        return sum(values)

    run_in_threads(lambda me: taken.append(rendezvous.combine("k", group, group[me], me, slow)), 3)
    assert taken == [3] * 3


def test_a_device_that_comes_too_late_combines_nothing() -> None:
    rendezvous, group, read = Rendezvous(0.1), [(0, p) for p in range(2)], []
    with pytest.raises(DeadlineExceededError):
        rendezvous.combine("k", group, group[0], 0, read.append)
    with pytest.raises(DeadlineExceededError):
        rendezvous.combine("k", group, group[1], 1, read.append)
    assert not read


def test_the_results_of_a_collective_are_each_devices_own() -> None:
    a, b = run_on(2, "all-reduce", numbers(2), to_apply=scalar_computation("add", S32))
    a += 1
    assert np.array_equal(b, sum(numbers(2)))


def run_in_threads(function: Callable[[int], None], count: int) -> None:
    threads = [threading.Thread(target=function, args=(number,)) for number in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
