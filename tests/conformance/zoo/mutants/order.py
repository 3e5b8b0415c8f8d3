"""Mutants whose streams break the order of work: copies that are late, waits that don't hold, ends that come early."""

from __future__ import annotations

import contextlib
import itertools
import random
import threading
import time
import weakref

from tests.conformance.zoo.mutant import Mutant
from tests.conformance.zoo.parts import Stream, template

LATE = 0.004  # seconds


def _mutant(name: str, breaks: str, fault: str, cls: type, **fields: object) -> Mutant:
    return Mutant(
        name=f"streams/{name}",
        breaks=breaks,
        fault=fault,
        make=lambda: template(stream=cls),
        **{"select": "streams or events", **fields},
    )


def _late(method: str, rate: float, smallest: int = 0, seconds: float = LATE) -> type:
    """A stream on which one copy of so many is done later than its turn, by a thread of its own."""
    draw = random.Random(5)

    def turn(self, *arguments):
        size = min(getattr(a, "size", 1 << 62) for a in arguments)
        original = getattr(Stream, method)
        if size < smallest or draw.random() >= rate:
            original(self, *arguments)
        else:
            threading.Timer(seconds, lambda: original(self, *arguments)).start()

    return type("_Late", (Stream,), {method: turn})


TURNS = {"write": "h2d", "read": "d2h", "copy": "d2d", "fill": "memset"}
TURNS_OF = {"memcpy_h2d": "write", "memcpy_d2h": "read", "memcpy_d2d": "copy", "memset": "fill"}


class _WaitSometimesIgnored(Stream):
    count = itertools.count()

    def wait(self, event):
        if next(self.count) % 20:
            super().wait(event)


class _WaitForLaterRecord(Stream):
    """The wait reads the event's record when the stream reaches it."""

    def wait(self, event):
        self.enqueue(lambda: event.synchronize())


class _WaitDropsError(Stream):
    def wait(self, event):
        self.enqueue(lambda: event.synchronize() and None)


class _WaitTimesOut(Stream):
    """A wait ends after a second."""

    def wait(self, event):
        point = event.point
        self.enqueue(lambda: point.wait(1.0) and None)


class _SynchronizeSkipsLast(Stream):
    """The last piece of work may still run."""

    def synchronize(self):
        while len(self._queue) > 1:
            time.sleep(0.0005)


class _SynchronizeTimesOut(Stream):
    def synchronize(self):
        event = self.create_event()
        self.record(event)
        event.synchronize(1.0)


class _SynchronizeSometimesEarly(Stream):
    count = itertools.count()

    def synchronize(self):
        if next(self.count) % 20:
            super().synchronize()


class _SynchronizeRaises(Stream):
    def synchronize(self):
        super().synchronize()
        if self.error is not None:
            raise self.error


class _SynchronizeDeaf(Stream):
    """It doesn't let Ctrl-C through."""

    def synchronize(self):
        event = self.create_event()
        self.record(event)
        done = False
        while not done:
            with contextlib.suppress(KeyboardInterrupt):
                done = event.synchronize()


class _RecordEarly(Stream):
    """A record is ready when the work before the last piece is done."""

    def record(self, event):
        with self._changed:
            last = self._queue.pop() if len(self._queue) > 1 else None
        super().record(event)
        if last is not None:
            with self._changed:
                self._queue.append(last)


class _BlockingUpload(Stream):
    def upload(self, destination, source):
        self.synchronize()
        super().upload(destination, source)


def _blocking(method: str, rate: float = 1.0) -> type:
    draw = random.Random(3)

    def do(self, *arguments):
        result = getattr(Stream, method)(self, *arguments)
        if draw.random() < rate:
            Stream.synchronize(self)
        return result

    return type("_Blocking", (Stream,), {method: do})


class _BoundedQueue(Stream):
    """The queue has a thousand places; enqueueing waits for one."""

    def _push(self, item):
        while len(self._queue) > 1000:
            time.sleep(0.001)
        super()._push(item)


class _CloseDropsWork(Stream):
    def close(self, timeout=None):
        with self._changed:
            while len(self._queue) > 1:
                self._queue.pop()
        super().close(timeout)


class _CloseDoesNotWait(Stream):
    def close(self, timeout=None):
        super().close(0.0)


class _CloseKeepsThread(Stream):
    def __init__(self, executor):
        super().__init__(executor)
        self._end = threading.Event()
        threading.Thread(target=self._end.wait, args=(60,), daemon=True).start()


class _CloseNothing(Stream):
    def close(self, timeout=None):
        pass


class _CallbackInline(Stream):
    """Callbacks run in the caller's thread."""

    def host_callback(self, callback):
        self.synchronize()
        self.enqueue(callback, 0.0)


class _OneCallbackThread(Stream):
    lock = threading.Lock()

    def host_callback(self, callback):
        def locked():
            with self.lock:
                callback()

        super().host_callback(locked)


class _PoisonForgets(Stream):
    """The second failure replaces the first."""

    def _do(self, item):
        if not hasattr(item, "complete") and self._error is not None and item != self._forget:
            self._error = None
        super()._do(item)


def _unpoisoned(method: str) -> type:
    """A stream that does this kind of work even when it is poisoned."""

    def do(self, *arguments):
        if self._queue or self._error:
            event = self.create_event()
            self.record(event)
            turn = getattr(self, TURNS_OF[method])
            threading.Thread(target=lambda: event.synchronize() and turn(*arguments)).start()
        else:
            getattr(Stream, method)(self, *arguments)

    return type("_Unpoisoned", (Stream,), {method: do})


class _FinishKeepsPoison(Stream):
    def finish(self):
        event = self.create_event()
        self.record(event)
        return event


class _FinishSometimesKeepsPoison(Stream):
    count = itertools.count()

    def finish(self):
        if next(self.count) % 4:
            return super().finish()
        event = self.create_event()
        self.record(event)
        return event


class _RecoverEarly(Stream):
    """`recover` acts when it is called, not in its turn."""

    def recover(self):
        self._forget()


class _ErrorWithoutCause(Stream):
    def _run(self, work, *, in_worker=False):
        super()._run(work, in_worker=in_worker)
        if self._error is not None:
            self._error.__cause__ = None


class _ErrorOfItsOwn(Stream):
    """An XlaError becomes another one."""

    def _run(self, work, *, in_worker=False):
        from xla_core.errors import InternalError

        super()._run(work, in_worker=in_worker)
        if self._error is not None and type(self._error) is not InternalError:
            self._error = InternalError(self._error.message)


class _OnlyLastSource(Stream):
    """The stream keeps only the last source alive, so that it copies from memory that is used again."""

    def memcpy_h2d(self, destination, source):
        copy = source.copy()
        self.enqueue(lambda: self.write(destination, copy))
        if len(self._queue) > 2:
            copy[:] = 0


class _SnapshotAtEnqueue(Stream):
    def memcpy_h2d(self, destination, source):
        super().memcpy_h2d(destination, source.copy())


class _StaleReads(Stream):
    """A copy to the host takes the bytes that are there when it is enqueued, one time in twenty."""

    count = itertools.count()

    def memcpy_d2h(self, destination, source):
        if next(self.count) % 20 or not self._queue:
            super().memcpy_d2h(destination, source)
        else:
            self.read(destination, source)


def _swapped(rate: float) -> type:
    """A stream that swaps two neighbours in the queue, sometimes."""
    draw = random.Random(1)

    def push(self, item):
        Stream._push(self, item)
        with self._changed:
            q = self._queue
            if (
                len(q) > 3
                and draw.random() < rate
                and not hasattr(q[-1], "complete")
                and not hasattr(q[-2], "complete")
            ):
                q[-1], q[-2] = q[-2], q[-1]

    return type("_Swapped", (Stream,), {"_push": push})


class _RecordDropped(Stream):
    """A stream that waits for an event doesn't keep the event, so that the wait ends when the event is dropped."""

    def wait(self, event):
        kept = weakref.ref(event)

        def wait_for_event():
            while (event := kept()) is not None and not event.ready:
                del event
                time.sleep(0.0001)

        self.enqueue(wait_for_event)


MUTANTS = [
    *(
        _mutant(f"late-{name}", "stream.in-order", f"One {name} of twenty is done {LATE} s late.", _late(turn, 0.05))
        for turn, name in TURNS.items()
    ),
    *(
        _mutant(f"rarely-late-{name}", "stream.in-order", f"One {name} of 200 is done late.", _late(turn, 0.005))
        for turn, name in TURNS.items()
    ),
    *(
        _mutant(
            f"late-large-{name}",
            "stream.in-order",
            f"Half of the {name}s of more than 100,000 bytes are done late.",
            _late(turn, 0.5, 100_000),
        )
        for turn, name in TURNS.items()
        if name != "memset"
    ),
    *(
        _mutant(
            f"blocking-{method}", "stream.enqueue-never-blocks", f"`{method}` waits for its work.", _blocking(method)
        )
        for method in (
            "memcpy_h2d",
            "memcpy_d2h",
            "memcpy_d2d",
            "memset",
            "record",
            "wait",
            "host_callback",
            "upload",
            "finish",
            "recover",
            "create_event",
        )
    ),
    _mutant(
        "blocking-upload-before", "stream.enqueue-never-blocks", "`upload` waits for earlier work.", _BlockingUpload
    ),
    _mutant("wait-sometimes-ignored", "stream.wait", "One `wait` of twenty does nothing.", _WaitSometimesIgnored),
    _mutant("wait-later-record", "stream.wait", "`wait` waits for the record of its turn.", _WaitForLaterRecord),
    _mutant("wait-drops-error", "stream.wait-for-error", "`wait` drops the event's error.", _WaitDropsError),
    _mutant("wait-times-out", "stream.wait", "A wait ends after a second.", _WaitTimesOut),
    _mutant(
        "synchronize-skips-last",
        "stream.synchronize",
        "`synchronize` returns while the last work runs.",
        _SynchronizeSkipsLast,
    ),
    _mutant("synchronize-times-out", "stream.synchronize", "`synchronize` waits for a second.", _SynchronizeTimesOut),
    _mutant(
        "synchronize-sometimes-early",
        "stream.synchronize",
        "One `synchronize` of twenty returns at once.",
        _SynchronizeSometimesEarly,
    ),
    _mutant(
        "synchronize-raises", "stream.synchronize-raises-nothing", "`synchronize` raises the error.", _SynchronizeRaises
    ),
    _mutant("synchronize-deaf", "stream.synchronize-lets-ctrl-c", "`synchronize` swallows Ctrl-C.", _SynchronizeDeaf),
    _mutant("record-early", "stream.record", "An event is ready before the last work is done.", _RecordEarly),
    _mutant("bounded-queue", "stream.enqueue-never-blocks", "The queue has a thousand places.", _BoundedQueue),
    _mutant("close-drops-work", "stream.close", "`close` drops the enqueued work.", _CloseDropsWork),
    _mutant("close-does-not-wait", "stream.close", "`close` returns at once.", _CloseDoesNotWait),
    _mutant("close-keeps-thread", "stream.close", "`close` leaves a thread.", _CloseKeepsThread),
    _mutant("close-nothing", "stream.close", "`close` does nothing.", _CloseNothing),
    _mutant("callback-inline", "stream.enqueue-never-blocks", "Callbacks run in the caller.", _CallbackInline),
    _mutant("one-callback-thread", "stream.host-callbacks-meet", "All callbacks run one by one.", _OneCallbackThread),
    *(
        _mutant(f"unpoisoned-{m}", "stream.later-work-skipped", f"`{m}` works on a poisoned stream.", _unpoisoned(m))
        for m in TURNS_OF
    ),
    _mutant("finish-keeps-poison", "stream.finish-recovers", "`finish` doesn't recover.", _FinishKeepsPoison),
    _mutant(
        "finish-sometimes-keeps-poison",
        "stream.finish-recovers",
        "One `finish` of four doesn't recover.",
        _FinishSometimesKeepsPoison,
    ),
    _mutant("recover-early", "stream.recover", "`recover` acts at once.", _RecoverEarly),
    _mutant("error-without-cause", "stream.host-callback-raises", "The cause is dropped.", _ErrorWithoutCause),
    _mutant("error-of-its-own", "stream.host-callback-raises", "An XlaError is replaced.", _ErrorOfItsOwn),
    _mutant("snapshot-at-enqueue", "stream.in-order", "`memcpy_h2d` reads its source at once.", _SnapshotAtEnqueue),
    _mutant("source-not-kept", "stream.h2d-keeps-source", "Sources are lost in a long queue.", _OnlyLastSource),
    _mutant("stale-reads", "stream.in-order", "One d2h of twenty in a queue runs at once.", _StaleReads),
    _mutant("swapped", "stream.in-order", "One piece of work of 50 is swapped with its neighbour.", _swapped(0.02)),
    _mutant("record-dropped", "stream.wait", "An event that is dropped in flight is ready.", _RecordDropped),
]
