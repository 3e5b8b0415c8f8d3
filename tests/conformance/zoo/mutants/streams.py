"""Mutants whose streams break their order, their waits, or what a failure does."""

from __future__ import annotations

import contextlib
import ctypes
import itertools
import signal
import threading
import time

import numpy as np

from tests.conformance.zoo.mutant import Mutant
from tests.conformance.zoo.parts import Executor, Stream, broken
from xla_core.errors import InternalError

MUTANTS: list[Mutant] = []
says = broken("streams", "streams or events or transfers", MUTANTS)
_turns = itertools.count(1)


def sometimes(count: int) -> bool:
    """True once in `count` calls."""
    return next(_turns) % count == 0


@says("stream.wait", "`wait` does nothing.")
class WaitIgnored(Stream):
    def wait(self, event):
        pass


@says("stream.wait", "`wait` does nothing once in ten.")
class WaitIgnoredSometimes(Stream):
    def wait(self, event):
        if not sometimes(10):
            super().wait(event)


@says("stream.wait-for-error", "`wait` drops the event's error.")
class WaitDropsTheError(Stream):
    def wait(self, event):
        self.enqueue(lambda: event.synchronize() and None)


@says("stream.enqueue-never-blocks", "`wait` blocks the host.")
class WaitBlocksTheHost(Stream):
    def wait(self, event):
        event.synchronize()
        super().wait(event)


@says("stream.synchronize", "`synchronize` waits for at most a millisecond.")
class SynchronizeReturnsEarly(Stream):
    def synchronize(self):
        event = self.create_event()
        self.record(event)
        event.synchronize(0.001)


@says("stream.synchronize", "`synchronize` does nothing once in five.")
class SynchronizeReturnsEarlySometimes(Stream):
    def synchronize(self):
        if not sometimes(5):
            super().synchronize()


@says("stream.in-order", "A copy to the device is done late, once in twenty.")
class CopyLateSometimes(Stream):
    def memcpy_h2d(self, destination, source):
        if sometimes(20):
            threading.Timer(0.02, lambda: self.write(destination, source)).start()
        else:
            super().memcpy_h2d(destination, source)


@says("stream.in-order", "A copy from the device is done at once, whatever is enqueued.")
class ReadsEarly(Stream):
    def memcpy_d2h(self, destination, source):
        self.read(destination, source)


@says("stream.in-order", "A copy on the device is done at once, whatever is enqueued.")
class CopiesEarly(Stream):
    def memcpy_d2d(self, destination, source):
        self.copy(destination, source)


@says("stream.in-order", "`memset` is done at once, whatever is enqueued.")
class FillsEarly(Stream):
    def memset(self, destination, value):
        self.fill(destination, value)


@says("stream.in-order", "Two copies on the device change places, once in ten.")
class CopiesChangePlaces(Stream):
    kept = None

    def memcpy_d2d(self, destination, source):
        if self.kept is None and sometimes(10):
            self.kept = (destination, source)
            super().host_callback(self._late)
        else:
            super().memcpy_d2d(destination, source)
            self._late()

    def _late(self):
        kept, self.kept = self.kept, None
        if kept is not None:
            super().memcpy_d2d(*kept)


@says("stream.in-order", "A `memset` overtakes the copy before it, once in ten.")
class FillOvertakes(Stream):
    def memset(self, destination, value):
        if sometimes(10):
            self.fill(destination, value)
        else:
            super().memset(destination, value)


@says("stream.in-order", "A host callback is called while earlier copies are under way.")
class CallbackEarly(Stream):
    def memcpy_d2h(self, destination, source):
        def late():
            time.sleep(0.001)
            self.read(destination, source)

        self.enqueue(lambda: threading.Thread(target=late).start())


@says("stream.enqueue-never-blocks", "Copies from the device are synchronous.")
class ReadBlocks(Stream):
    def memcpy_d2h(self, destination, source):
        super().memcpy_d2h(destination, source)
        self.synchronize()


@says("stream.enqueue-never-blocks", "Copies on the device are synchronous.")
class CopyBlocks(Stream):
    def memcpy_d2d(self, destination, source):
        super().memcpy_d2d(destination, source)
        self.synchronize()


@says("stream.enqueue-never-blocks", "`upload` waits until the copy is done.")
class UploadBlocks(Stream):
    def upload(self, destination, source):
        super().memcpy_h2d(destination, source)
        self.synchronize()


@says("stream.enqueue-never-blocks", "A queue of more than 1,000 items blocks.")
class QueueIsShort(Stream):
    def host_callback(self, callback):
        while len(self._queue) > 1000:
            time.sleep(0.001)
        super().host_callback(callback)


@says("stream.upload", "`upload` reads the array when its turn comes.")
class UploadKeepsTheArray(Stream):
    def upload(self, destination, source):
        self.memcpy_h2d(destination, source)


@says("stream.h2d-keeps-source", "`memcpy_h2d` keeps no reference to its source.")
class SourceIsDropped(Stream):
    def memcpy_h2d(self, destination, source):
        import weakref

        kept = weakref.ref(source)
        size = source.size

        def write():
            data = kept()
            self.write(destination, np.full(size, 0xA5, np.uint8) if data is None else data)

        self.enqueue(write)


@says("stream.later-work-skipped", "Copies run after a failure.")
class CopiesAfterAFailure(Stream):
    def memcpy_d2d(self, destination, source):
        self._always(lambda: self.copy(destination, source))

    def _always(self, work):
        def run():
            error, self._error = self._error, None
            try:
                work()
            finally:
                self._error = error

        run() if self._error is not None else self.enqueue(run)


@says("stream.later-work-skipped", "Copies to the host run after a failure.")
class ReadsAfterAFailure(CopiesAfterAFailure):
    def memcpy_d2d(self, destination, source):
        Stream.memcpy_d2d(self, destination, source)

    def memcpy_d2h(self, destination, source):
        self._always(lambda: self.read(destination, source))


@says("stream.later-work-skipped", "Copies to the device run after a failure.")
class WritesAfterAFailure(CopiesAfterAFailure):
    def memcpy_d2d(self, destination, source):
        Stream.memcpy_d2d(self, destination, source)

    def memcpy_h2d(self, destination, source):
        self._always(lambda: self.write(destination, source))


@says("stream.failure-poisons", "An exception in a callback poisons nothing.")
class ExceptionIsForgotten(Stream):
    def host_callback(self, callback):
        def guarded():
            with contextlib.suppress(Exception):
                callback()

        super().host_callback(guarded)


@says("stream.failure-poisons", "Only the next item is skipped after a failure.")
class OneItemIsSkipped(Stream):
    def host_callback(self, callback):
        super().host_callback(callback)
        super().host_callback(lambda: None)
        self._push(self._forget_later)

    def _forget_later(self):
        self._error = None

    def _do(self, item):
        if item == self._forget_later:
            self._error = None if sometimes(2) else self._error
        else:
            super()._do(item)


@says("stream.no-raise-for-earlier-work", "Enqueueing on a poisoned stream raises.")
class EnqueueingRaises(Stream):
    def memcpy_h2d(self, destination, source):
        if self.error is not None:
            raise self.error
        super().memcpy_h2d(destination, source)


@says("stream.no-raise-for-earlier-work", "`record` on a poisoned stream raises.")
class RecordRaises(Stream):
    def record(self, event):
        if self.error is not None:
            raise self.error
        super().record(event)


@says("event.first-error", "The last failure replaces the first.")
class LastErrorWins(Stream):
    def host_callback(self, callback):
        def run():
            error, self._error = self._error, None
            try:
                callback()
            except Exception as e:
                self._error = InternalError(str(e))
                self._error.__cause__ = e
            else:
                self._error = error

        self._push(run)

    def _do(self, item):
        if getattr(item, "__name__", "") == "run":
            item()
        else:
            super()._do(item)


@says("stream.host-callback-raises", "The cause of an error in a callback is lost.")
class CauseIsLost(Stream):
    def host_callback(self, callback):
        def run():
            try:
                callback()
            except Exception as error:
                raise InternalError("a callback failed") from (error if isinstance(error, InternalError) else None)

        super().host_callback(run)


@says("stream.recover", "`recover` takes effect at once.")
class RecoversAtOnce(Stream):
    def recover(self):
        self._forget()


@says("stream.recover", "`recover` does nothing.")
class NeverRecovers(Stream):
    def recover(self):
        pass


@says("stream.recover", "`recover` drops the work that is enqueued.")
class RecoverDropsWork(Stream):
    def recover(self):
        def drop():
            self._forget()

        self._push(self._forget)
        del drop
        with self._changed:
            kept = [item for item in itertools.islice(self._queue, 1, None) if not callable(item)]
            first = self._queue[0] if self._queue else None
            self._queue.clear()
            self._queue.extend(([first] if first is not None else []) + kept)
            self._queue.append(self._forget)


@says("stream.error", "`error` stays None.")
class ErrorIsNone(Stream):
    @property
    def error(self):
        return None


@says("stream.finish-event", "`finish` returns an event without the failure.")
class FinishDropsTheError(Stream):
    def finish(self):
        self.recover()
        event = self.create_event()
        self.record(event)
        return event


@says("stream.finish-recovers", "`finish` leaves the stream poisoned.")
class FinishDoesNotRecover(Stream):
    def finish(self):
        event = self.create_event()
        self.record(event)
        return event


@says("stream.finish-never-waits", "`finish` waits.")
class FinishWaits(Stream):
    def finish(self):
        event = super().finish()
        event.synchronize()
        return event


@says("stream.close", "`close` leaves a thread behind.")
class CloseLeavesAThread(Stream):
    def __init__(self, executor):
        super().__init__(executor)
        threading.Thread(target=threading.Event().wait, daemon=True, name="left behind").start()


_ONE = threading.Lock()


@says("stream.concurrent", "The streams take turns: one callback at a time runs.")
class OneCallbackAtATime(Stream):
    def host_callback(self, callback):
        def run():
            with _ONE:
                callback()

        super().host_callback(run)


@says("stream.in-order", "Threads that share a stream lose items.")
class ThreadsLoseItems(Stream):
    def host_callback(self, callback):
        count = len(self._queue)
        time.sleep(0)
        if len(self._queue) <= count + 2 or threading.active_count() < 6:
            super().host_callback(callback)


@says("stream.d2d", "`memcpy_d2d` copies the destination's size.")
class CopiesTooMuch(Stream):
    def copy(self, destination, source):
        data = np.resize(self.ram.block(source.handle)[: source.size], destination.size)
        self.ram.block(destination.handle)[: destination.size] = data


@says("stream.memset", "`memset` takes the value's low seven bits.")
class SevenBits(Stream):
    def fill(self, destination, value):
        super().fill(destination, value & 0x7F)


@says("stream.memset", "`memset` sets whole words of 4 bytes.")
class FillsWords(Stream):
    def fill(self, destination, value):
        self.ram.block(destination.handle)[: destination.size // 4 * 4] = value


@says("stream.h2d", "`memcpy_h2d` fills the destination with zeros after the source.")
class WritesBeyondTheSource(Stream):
    def write(self, destination, source):
        super().write(destination, source)
        self.ram.block(destination.handle)[source.size : destination.size] = 0


@says("executor.create-stream", "All streams of a device are one.")
class OneStream(Executor):
    def create_stream(self):
        if not hasattr(self, "only"):
            self.only = type("Shared", (self.stream,), {"close": lambda self, timeout=None: self.synchronize()})(self)
        return self.only


@says("stream.host-callbacks-meet", "All callbacks of a device run on one thread.")
class OneThread(Executor):
    def create_stream(self):
        stream, executor = super().create_stream(), self
        if not hasattr(self, "thread"):
            self.thread = Stream(self)
        plain = stream.host_callback

        def host_callback(callback):
            def run():
                done = threading.Event()
                failed = []

                def call():
                    try:
                        callback()
                    except Exception as error:
                        failed.append(error)
                    finally:
                        done.set()

                executor.thread._push(call)
                done.wait()
                if failed:
                    raise failed[0]

            plain(run)

        stream.host_callback = host_callback
        return stream


@says("executor.synchronize", "`synchronize` of the device doesn't wait for its streams' poisoned state.")
class SynchronizeOfTheDeviceRaises(Executor):
    def synchronize(self):
        raise InternalError("it never works")


@says("stream.synchronize-lets-ctrl-c", "The driver ignores Ctrl-C from when a device is opened.")
class IgnoresCtrlC(Executor):
    def __init__(self, *arguments, **named):
        super().__init__(*arguments, **named)
        ctypes.CDLL(None).signal(int(signal.SIGINT), ctypes.c_void_p(1))


@says("stream.synchronize-lets-ctrl-c", "`synchronize` holds back Ctrl-C.")
class HoldsBackCtrlC(Stream):
    def synchronize(self):
        done = threading.Event()

        def wait():
            Stream.synchronize(self)
            done.set()

        threading.Thread(target=wait).start()
        while True:
            try:
                if done.wait(0.05):
                    return
            except KeyboardInterrupt:
                continue
