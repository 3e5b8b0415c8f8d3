"""The results of a worker's tests: of one that ended, and of one that ended with its process."""

from __future__ import annotations

from typing import Any

from xla_conformance.results import Result, State
from xla_conformance.runner.process import WorkerProcess


def lost_result(worker: WorkerProcess, id: str, state: State, failure: dict[str, Any]) -> Result:
    """The result of a test that ended with its process."""
    return Result(
        id=id,
        state=state,
        seconds=worker.seconds,
        message=worker.cause(),
        properties=_placed(worker, state, worker.properties),
        details=worker.remains(),
        failure=failure,
    )


def _placed(worker: WorkerProcess, state: State, properties: dict[str, Any]) -> dict[str, Any]:
    """Properties with the process of a test, and of a wrong one with the tests of its program that come after it."""
    after = {"beside": list(worker.queue)} if state.is_wrong and worker.queue else {}
    return {**properties, "process": worker.number, **after}


def ended_result(worker: WorkerProcess, event: dict[str, Any]) -> Result:
    state, properties = State(event["state"]), event["properties"]
    message = event.get("message", "")
    if state is State.PASS and "file_wrong" in properties:
        state, message = State.FILE_WRONG, properties["file_wrong"]
    return Result(
        id=event["id"],
        state=state,
        seconds=event["seconds"],
        message=message,
        properties=_placed(worker, state, properties),
        details=event.get("details", ""),
        failure=event.get("failure", {}),
    )
