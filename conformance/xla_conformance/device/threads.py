"""Work in several threads at the same time."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence

from xla_conformance.failures import Failure


def run_at_once(tasks: Sequence[Callable[[], object]], seconds: float, promise: str = "executor.thread-safe") -> None:
    """Runs each task in a thread, all at the same time, and raises the first exception of one.

    Args:
        tasks: functions without arguments, one for each thread.
        seconds: how long to wait for each of them, one after the other.
        promise: the sentence of the contract that a task breaks by not ending.

    Raises:
        Failure: a task did not end.
    """
    start = threading.Barrier(len(tasks))
    problems: list[BaseException] = []

    def run(task: Callable[[], object]) -> None:
        try:
            start.wait(seconds)
            task()
        except BaseException as problem:  # the caller's thread raises it
            problems.append(problem)

    threads = [threading.Thread(target=run, args=(task,), daemon=True) for task in tasks]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(seconds)
    if problems:
        raise problems[0]
    if any(thread.is_alive() for thread in threads):
        raise Failure("Threads that use the device at the same time hang.", promise=promise)
