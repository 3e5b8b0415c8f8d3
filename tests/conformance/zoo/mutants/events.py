"""Mutants whose events break waits, callbacks and errors."""

from __future__ import annotations

import ctypes
import threading
import time

from tests.conformance.zoo.mutant import Mutant
from tests.conformance.zoo.parts import Stream, broken
from xla_core.runtime import HostEvent

MUTANTS: list[Mutant] = []
_says = broken("events", "streams or events", MUTANTS)


def event_mutant(breaks: str, fault: str, says=_says, **fields):
    """A decorator of event classes: it makes a stream with such events."""

    def add(cls: type) -> type:
        class Events(Stream):
            def create_event(self):
                return cls()

            def finish(self):
                event = self.create_event()
                self.record(event)
                self.recover()
                return event

        Events.__name__ = cls.__name__
        says(breaks, fault, **fields)(Events)
        return cls

    return add


@event_mutant("event.ready", "`ready` is always true.")
class ReadyAtOnce(HostEvent):
    @property
    def ready(self):
        return True


@event_mutant("event.ready-never-blocks", "`ready` waits.")
class ReadyBlocks(HostEvent):
    @property
    def ready(self):
        return super().synchronize()


@event_mutant("event.never-recorded", "A new event isn't ready.")
class NewIsNotReady(HostEvent):
    def __init__(self):
        super().__init__()
        self.arm()


@event_mutant("event.synchronize-timeout", "`synchronize` ignores its timeout.")
class TimeoutIgnored(HostEvent):
    def synchronize(self, timeout=None):
        return super().synchronize()


@event_mutant("event.synchronize-timeout", "`synchronize` returns True after a timeout.")
class TimeoutIsReady(HostEvent):
    def synchronize(self, timeout=None):
        super().synchronize(timeout)
        return True


@event_mutant("event.synchronize-timeout", "`synchronize` takes its timeout as milliseconds.")
class TimeoutInMilliseconds(HostEvent):
    def synchronize(self, timeout=None):
        return super().synchronize(None if timeout is None else timeout / 1000)


@event_mutant("event.synchronize-raises-nothing", "`synchronize` raises the error.")
class SynchronizeRaises(HostEvent):
    def synchronize(self, timeout=None):
        ready = super().synchronize(timeout)
        if ready and self.error is not None:
            raise self.error
        return ready


@event_mutant("event.synchronize-holds-no-lock", "`synchronize` holds the GIL.")
class HoldsTheGil(HostEvent):
    def synchronize(self, timeout=None):
        if not self.ready:
            ctypes.PyDLL(None).usleep(200_000)
        return super().synchronize(timeout)


@event_mutant("event.synchronize-lets-ctrl-c", "`synchronize` holds back Ctrl-C.")
class HoldsBackCtrlC(HostEvent):
    def synchronize(self, timeout=None):
        end = None if timeout is None else time.monotonic() + timeout
        while end is None or time.monotonic() < end:
            try:
                if super().synchronize(0.05):
                    return True
            except KeyboardInterrupt:
                continue
        return self.ready


@event_mutant("event.first-error", "`error` is None until it is asked twice.")
class ErrorComesLate(HostEvent):
    asked = False

    @property
    def error(self):
        if not self.asked:
            self.asked = True
            return None
        return super().error


@event_mutant("event.wait-for-last-record", "A wait is prolonged by a later record.")
class RecordProlongsTheWait(HostEvent):
    def synchronize(self, timeout=None):
        end = None if timeout is None else time.monotonic() + timeout
        while not self.point.ready:
            left = None if end is None else end - time.monotonic()
            if left is not None and left <= 0:
                return False
            time.sleep(0.001)
        return True


@event_mutant("event.when-ready-once", "`when_ready` calls twice.")
class CalledTwice(HostEvent):
    def when_ready(self, callback):
        super().when_ready(callback)
        super().when_ready(callback)


@event_mutant("event.when-ready-once", "`when_ready` never calls for an event that is ready.")
class NeverCalled(HostEvent):
    def when_ready(self, callback):
        if not self.ready:
            super().when_ready(callback)


@event_mutant("event.when-ready-once", "`when_ready` gives no error.")
class CalledWithoutTheError(HostEvent):
    def when_ready(self, callback):
        super().when_ready(lambda error: callback(None))


@event_mutant("event.when-ready-thread", "The device's own thread calls `when_ready`'s callbacks.")
class CalledByTheDevice(HostEvent):
    def when_ready(self, callback):
        point = self.point
        if not point.on_completion(lambda: callback(point.error)):
            callback(point.error)


@event_mutant("event.when-ready-thread", "A ready event's callback comes from another thread.")
class CalledElsewhere(HostEvent):
    def when_ready(self, callback):
        threading.Thread(target=lambda: (super(CalledElsewhere, self).synchronize(), callback(self.error))).start()


@event_mutant("event.thread-safe", "Two threads that wait for one event wake only one.")
class OneIsWoken(HostEvent):
    def __init__(self):
        super().__init__()
        self.lock = threading.Lock()

    def synchronize(self, timeout=None):
        if not self.lock.acquire(blocking=False):
            return threading.Event().wait(timeout) if timeout is not None else threading.Event().wait()
        try:
            return super().synchronize(timeout)
        finally:
            self.lock.release()


class _Driver:
    """A driver's events, which must be destroyed once, and not used after that."""

    live = 0

    def __init__(self):
        self.destroyed = 0


class _DriverEvent(HostEvent):
    _closed = False

    def __init__(self):
        super().__init__()
        self.driver = _Driver()

    def destroy(self):
        self.driver.destroyed += 1


@event_mutant("event.destroy-any-thread", "`destroy` from another thread than the event's ends the process.")
class DestroyedElsewhere(_DriverEvent):
    def __init__(self):
        super().__init__()
        self.owner = threading.get_ident()

    def destroy(self):
        if threading.get_ident() != self.owner:
            ctypes.CDLL(None).abort()


@event_mutant("event.destroy", "`destroy` leaves a file open.")
class FileLeftOpen(_DriverEvent):
    def __init__(self):
        super().__init__()
        import os

        self.file = os.dup(0)


@event_mutant("event.close-once", "`close` destroys the event as often as it is called.")
class DestroyedTwice(_DriverEvent):
    def close(self):
        if self.driver.destroyed:
            ctypes.CDLL(None).abort()
        self.destroy()


@event_mutant("event.dropped", "Dropping an event while a stream still has to reach it destroys it: the stream hangs.")
class UsedAfterItsFinalizer(_DriverEvent):
    def destroy(self):
        if not self.ready:
            ctypes.CDLL(None).abort()


@_says("event.synchronize-holds-no-lock", "`Stream.synchronize` asks the driver again and again with the GIL held.")
class SynchronizePollsWithTheGil(Stream):
    def synchronize(self):
        event = self.create_event()
        self.record(event)
        while not event.ready:
            ctypes.PyDLL(None).usleep(3000)


@event_mutant("event.synchronize-timeout", "Timeouts of over a second are taken as none.")
class ForgetsLongTimeouts(HostEvent):
    def synchronize(self, timeout=None):
        return super().synchronize(None if timeout is None or timeout > 1 else timeout)
