"""Programs that read an infeed and write an outfeed, and the queues of both."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from xla_conformance.bits import require_bits
from xla_conformance.claims import not_supported, require_devices
from xla_conformance.failures import Failure
from xla_conformance.patience import FACTOR
from xla_core import CancelledError, Client, CompileOptions, DeadlineExceededError, XlaError
from xla_core.backend import LiteralQueue
from xla_core.hlo import Literal, Shape, parse_hlo

SECONDS = 30.0 * FACTOR
FEEDS = """\
HloModule feeds

ENTRY e {
  x = f32[3] parameter(0)
  t = token[] after-all()
  in = ((f32[3], s32[2]), token[]) infeed(t)
  v = (f32[3], s32[2]) get-tuple-element(in), index=0
  a = f32[3] get-tuple-element(v), index=0
  b = s32[2] get-tuple-element(v), index=1
  u = token[] get-tuple-element(in), index=1
  sum = f32[3] add(a, x)
  out = token[] outfeed(sum, u), outfeed_shape=f32[3]
  ROOT r = (f32[3], s32[2]) tuple(sum, b)
}
"""

FEEDS_IN_CONTROL_FLOW = """\
HloModule feeds_in_control_flow

more {
  i = s32[] parameter(0)
  n = s32[] constant(3)
  ROOT r = pred[] compare(i, n), direction=LT
}

step {
  i = s32[] parameter(0)
  t = token[] after-all()
  in = (s32[], token[]) infeed(t)
  a = s32[] get-tuple-element(in), index=0
  u = token[] get-tuple-element(in), index=1
  sum = s32[] add(a, i)
  out = token[] outfeed(sum, u), outfeed_shape=s32[]
  one = s32[] constant(1)
  ROOT r = s32[] add(i, one)
}

fed {
  x = s32[] parameter(0)
  t = token[] after-all()
  out = token[] outfeed(x, t), outfeed_shape=s32[]
  ROOT r = s32[] negate(x)
}

not_fed {
  x = s32[] parameter(0)
  ROOT r = s32[] abs(x)
}

"""
LOOP_THAT_FEEDS = """\
ENTRY e {
  i = s32[] parameter(0)
  loop = s32[] while(i), condition=more, body=step
  ROOT r = s32[] negate(i)
}
"""
BRANCHES_OF_WHICH_ONE_FEEDS = """\
ENTRY e {
  p = pred[] parameter(0)
  x = s32[] parameter(1)
  ROOT r = s32[] conditional(p, x, x), true_computation=fed, false_computation=not_fed
}
"""
UNREAD_BRANCHES = """\
ENTRY e {
  p = pred[] parameter(0)
  x = s32[] parameter(1)
  unread = s32[] conditional(p, x, x), true_computation=fed, false_computation=not_fed
  ROOT r = s32[] abs(x)
}
"""

QUESTIONS = """\
HloModule questions

more {
  s = (s32[], s32[]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  n = s32[] constant(3)
  ROOT r = pred[] compare(i, n), direction=LT
}

ask {
  s = (s32[], s32[]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  x = s32[] get-tuple-element(s), index=1
  t = token[] after-all()
  out = token[] outfeed(x, t), outfeed_shape=s32[]
  in = (s32[], token[]) infeed(out)
  y = s32[] get-tuple-element(in), index=0
  one = s32[] constant(1)
  j = s32[] add(i, one)
  ROOT r = (s32[], s32[]) tuple(j, y)
}

ENTRY e {
  x = s32[] parameter(0)
  zero = s32[] constant(0)
  s = (s32[], s32[]) tuple(zero, x)
"""
QUESTION = "  r = (s32[], s32[]) call(s), to_apply=ask\n  ROOT y = s32[] get-tuple-element(r), index=1\n}\n"
QUESTIONS_IN_A_LOOP = QUESTION.replace("call(s), to_apply=ask", "while(s), condition=more, body=ask")

LEVELS = [CompileOptions(optimization_level=0), CompileOptions(optimization_level=2)]


@pytest.mark.promise("transfer-manager.infeed", "transfer-manager.outfeed", "compiler.run-backend")
@pytest.mark.parametrize("options", LEVELS, ids=["O0", "O2"])
def test_a_loop_feeds_though_nobody_reads_its_values(client: Client, options: CompileOptions) -> None:
    executable = client.compile(FEEDS_IN_CONTROL_FLOW + LOOP_THAT_FEEDS, options)
    for value in (10, 20, 30):
        client.transfer_to_infeed(np.int32(value))
    executable(np.int32(0))
    out = [np.asarray(client.transfer_from_outfeed(timeout=SECONDS)) for _ in range(3)]
    require_bits(
        "A loop feeds in and out in each of its steps.",
        out,
        [np.array(n, np.int32) for n in (10, 21, 32)],
        promise="transfer-manager.outfeed",
    )


@pytest.mark.promise("transfer-manager.outfeed", "compiler.run-backend")
@pytest.mark.parametrize("entry", [BRANCHES_OF_WHICH_ONE_FEEDS, UNREAD_BRANCHES], ids=["read", "unread"])
@pytest.mark.parametrize("options", LEVELS, ids=["O0", "O2"])
def test_a_branch_feeds_if_it_is_taken(client: Client, entry: str, options: CompileOptions) -> None:
    executable = client.compile(FEEDS_IN_CONTROL_FLOW + entry, options)
    outfeed = client.platform.transfer_manager.outfeed(0)
    for taken, x in ((False, 5), (True, 6), (False, 7), (True, 8)):
        (result,) = executable(np.array(taken), np.int32(x))
        result.block_until_ready()
        if taken:
            out = [np.asarray(client.transfer_from_outfeed(timeout=SECONDS))]
            require_bits(
                "The branch that is taken feeds out.", out, [np.array(x, np.int32)], promise="transfer-manager.outfeed"
            )
        assert not len(outfeed), "A branch that isn't taken feeds nothing out."


@pytest.mark.promise("transfer-manager.infeed", "transfer-manager.outfeed", "compiler.run-backend")
@pytest.mark.parametrize(("text", "count"), [(QUESTION, 1), (QUESTIONS_IN_A_LOOP, 3)], ids=["once", "in a loop"])
def test_the_host_answers_while_a_program_runs(client: Client, text: str, count: int) -> None:
    """What is fed out is there before the program ends: it waits for an answer, which depends on that."""
    executable = client.compile(QUESTIONS + text)
    got: list[int] = []
    run = threading.Thread(target=lambda: got.extend(map(int, executable(np.int32(5)))), daemon=True)
    run.start()
    asked = []
    try:
        for _ in range(count):
            asked.append(int(np.asarray(client.transfer_from_outfeed(timeout=SECONDS / 3))))
            client.transfer_to_infeed(np.int32(2 * asked[-1] + 1))
    except DeadlineExceededError:
        for _ in range(count - len(asked)):  # so that the program ends
            client.transfer_to_infeed(np.int32(0))
        raise Failure(
            "A program feeds in and out in the order of its tokens, but "
            f"number {len(asked) + 1} isn't fed out while the program waits for the infeed behind it.",
            promise="transfer-manager.outfeed",
        ) from None
    finally:
        run.join(SECONDS)
    assert asked == [5, 11, 23][:count], f"Each answer is the next question, but the questions were {asked}."
    assert got == [2 * asked[-1] + 1], f"The last answer is the result, but it was {got}."


@pytest.mark.promise("transfer-manager.infeed", "transfer-manager.outfeed", "executable.run")
def test_feeds_are_in_order(client: Client) -> None:
    executable = client.compile(FEEDS)
    x = np.arange(3, dtype=np.float32)
    runs = [executable(x) for _ in range(3)] if _may_wait(client) else []
    given = [(np.full(3, 10 * i, np.float32), np.array([i, -i], np.int32)) for i in range(40)]
    for value in given:
        client.transfer_to_infeed(value)
    runs += [executable(x) for _ in range(40 - len(runs))]
    for (a, b), results in zip(given, runs, strict=True):
        out = np.asarray(client.transfer_from_outfeed(timeout=SECONDS))
        require_bits(
            "Values leave a program's outfeed in the order of its runs.",
            [out],
            [x + a],
            promise="transfer-manager.outfeed",
        )
        got = [np.asarray(r) for r in results]
        require_bits(
            "Values enter a program from the infeed in order.", got, [x + a, b], promise="transfer-manager.infeed"
        )


@pytest.mark.promise("transfer-manager.infeed", "transfer-manager.outfeed")
@pytest.mark.parametrize("form", ["s32[{0}]", "(s32[{0}], s32[{0}])", "(f32[{0},3], (s32[{0}], s32[{0}]), s32[])"])
@pytest.mark.parametrize("count", [1, 1025, 65_537])
def test_feeds_of_every_size(client: Client, random: np.random.Generator, form: str, count: int) -> None:
    """What goes in comes out again: an array, arrays of one shape, arrays of several types in nested tuples."""
    shape = form.format(count)
    module = parse_hlo(
        f"HloModule sizes\n\nENTRY e {{\n  t = token[] after-all()\n  in = ({shape}, token[]) infeed(t)\n"
        f"  v = {shape} get-tuple-element(in), index=0\n  u = token[] get-tuple-element(in), index=1\n"
        f"  ROOT out = token[] outfeed(v, u), outfeed_shape={shape}\n}}\n"
    )
    value = _filled(module.entry.root.operand(0).shape, random)
    executable = client.compile(module)
    client.transfer_to_infeed(value)
    executable()
    out = client.transfer_from_outfeed(timeout=SECONDS)
    require_bits(
        "Values go through infeed and outfeed as they are.",
        _arrays(out),
        _arrays(value),
        promise="transfer-manager.outfeed",
    )


@pytest.mark.promise("transfer-manager.infeed", "transfer-manager.outfeed", "compiler.run-backend")
def test_arrays_and_tuples_are_fed_in_order(client: Client, random: np.random.Generator) -> None:
    """One after another, each kind of value after each kind."""
    forms = ("s32[3]", "(s32[3], f32[])", "((s32[], f32[2]), s32[3])")
    for first, second in itertools.product(forms, repeat=2):
        module = parse_hlo(
            f"HloModule feeds\n\nENTRY e {{\n  t = token[] after-all()\n  i = ({first}, token[]) infeed(t)\n"
            f"  x = {first} get-tuple-element(i), index=0\n  u = token[] get-tuple-element(i), index=1\n"
            f"  j = ({second}, token[]) infeed(u)\n  y = {second} get-tuple-element(j), index=0\n"
            f"  v = token[] get-tuple-element(j), index=1\n  o = token[] outfeed(x, v), outfeed_shape={first}\n"
            f"  ROOT p = token[] outfeed(y, o), outfeed_shape={second}\n}}\n"
        )
        values = [_filled(o.operand(0).shape, random) for o in module.entry.instructions if o.opcode == "outfeed"]
        executable = client.compile(module)
        for value in values:
            client.transfer_to_infeed(value)
        executable()
        out = [client.transfer_from_outfeed(timeout=SECONDS) for _ in values]
        require_bits(
            f"Values of the shapes {first} and {second} go through infeed and outfeed in order.",
            _arrays(tuple(out)),
            _arrays(tuple(values)),
            promise="transfer-manager.outfeed",
        )


def _filled(shape: Shape, random: np.random.Generator) -> Any:
    if shape.is_tuple:
        return tuple(_filled(part, random) for part in shape.tuple_shapes)
    return random.integers(1, 1 << 20, shape.dimensions).astype(shape.dtype)


def _arrays(value: Any) -> list[np.ndarray]:
    return [a for part in value for a in _arrays(part)] if isinstance(value, tuple) else [np.asarray(value)]


def _may_wait(client: Client) -> bool:
    """Whether a run may be enqueued before its infeed has a value."""
    return client.devices[0].executor.features.callbacks_may_enqueue


@pytest.mark.promise("transfer-manager.infeed", "transfer-manager.outfeed")
def test_feeds_are_of_one_device(client: Client) -> None:
    require_devices(client, 2)
    x = np.zeros(3, np.float32)
    client.compile(FEEDS)
    for index in (1, 0):
        client.transfer_to_infeed((np.full(3, index, np.float32), np.array([index, 0], np.int32)), index)
    for index in (0, 1):
        executable = client.compile(FEEDS, CompileOptions(device_assignment=((index,),)))
        got = [np.asarray(r) for r in executable(x)]
        require_bits(
            "A program reads the infeed of its device.",
            got[:1],
            [np.full(3, index, np.float32)],
            promise="transfer-manager.infeed",
        )
    for index in (1, 0):
        out = np.asarray(client.transfer_from_outfeed(index, timeout=SECONDS))
        require_bits(
            "A program writes the outfeed of its device.",
            [out],
            [np.full(3, index, np.float32)],
            promise="transfer-manager.outfeed",
        )


@pytest.mark.promise("transfer-manager.close", "platform.close-transfers", "platform.create-transfer-manager")
def test_closing_ends_programs_that_wait_for_the_host(open_client: Callable[[], Client], client: Client) -> None:
    client.compile(FEEDS)
    if not _may_wait(client):
        not_supported("without callbacks_may_enqueue, a call of a program with an infeed waits for the host")
    other = open_client()
    executable = other.compile(FEEDS)
    results = executable(np.zeros(3, np.float32))
    other.platform.close_transfers()
    for result in results:
        seen: list[XlaError | None] = []
        done = threading.Event()

        def note(error: XlaError | None, seen: list[XlaError | None] = seen, done: threading.Event = done) -> None:
            seen.append(error)
            done.set()

        result.when_ready(note)
        assert done.wait(SECONDS), "Closing the queues ends programs that wait for the host."
        assert isinstance(seen[0], CancelledError), "Closing the queues ends programs with CancelledError."
    other.close()


@pytest.mark.promise("transfer-manager.close", "transfer-manager.infeed")
def test_a_closed_queue_takes_nothing(open_client: Callable[[], Client]) -> None:
    with open_client() as other:
        manager = other.platform.transfer_manager
        queue = manager.infeed(0)
        assert isinstance(queue, LiteralQueue), "The infeed of a device is a LiteralQueue."
        assert manager.infeed(0) is queue, "A device has one infeed."
        assert manager.outfeed(0) is not queue, "A device's outfeed isn't its infeed."
        manager.close()
        for closed in (queue, manager.outfeed(0)):
            with pytest.raises(CancelledError):
                closed.put(Literal(np.zeros(3, np.float32)))
            with pytest.raises(CancelledError):
                closed.get(timeout=0)
