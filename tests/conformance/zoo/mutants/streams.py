"""Mutants whose streams and events break their order, their waits or their errors."""

from __future__ import annotations

from tests.conformance.zoo.mutant import Mutant
from tests.conformance.zoo.parts import Stream, template

SELECT = "streams or events"


def _mutant(name: str, breaks: str, fault: str, cls: type, **fields: object) -> Mutant:
    return Mutant(
        name=f"streams/{name}",
        breaks=breaks,
        fault=fault,
        make=lambda: template(stream=cls),
        **{"select": SELECT, **fields},
    )


class _WaitIgnored(Stream):
    def wait(self, event):
        pass


class _SynchronizeReturnsEarly(Stream):
    def synchronize(self):
        event = self.create_event()
        self.record(event)
        event.synchronize(0.001)


MUTANTS = [
    _mutant("wait-ignored", "stream.wait", "`wait` does nothing.", _WaitIgnored),
    _mutant(
        "synchronize-early",
        "stream.synchronize",
        "`synchronize` waits for at most a millisecond.",
        _SynchronizeReturnsEarly,
    ),
]
