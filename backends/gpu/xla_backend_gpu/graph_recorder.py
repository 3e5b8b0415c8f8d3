"""GraphRecorder: a stream that keeps its work as the steps of a graph."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from xla_backend_gpu.driver import Driver, Step
from xla_backend_gpu.events import GpuEvent, Point
from xla_backend_gpu.work_stream import WorkStream
from xla_core.backend import Event
from xla_core.errors import InternalError, XlaError


class GraphRecorder(WorkStream):
    """A stream that keeps the work that is enqueued on it, for a graph. It has no queue, and no work on the host.

    Args:
        driver: the device's.
        work: a list for the steps of the graph.
        branch: the stream's number in the graph.
    """

    def __init__(self, driver: Driver, work: list[Step], branch: int = 0) -> None:
        super().__init__(driver)
        self._work, self._branch = work, branch

    def branch(self, number: int) -> GraphRecorder:
        """Returns the stream of a branch of the same graph."""
        return GraphRecorder(self.driver, self._work, number)

    def enqueue_work(
        self, work: Callable[[Any], None], microseconds: float = 0.0, is_short: Callable[[Any], bool] | None = None
    ) -> None:
        self._work.append(Step(work, self._branch))

    def record(self, event: Event) -> None:
        assert isinstance(event, GpuEvent)
        point = event.point = Point(self.driver)

        def mark(queue: Any) -> None:
            point.mark = self.driver.record(queue)

        self.enqueue_work(mark)

    def wait(self, event: Event) -> None:
        assert isinstance(event, GpuEvent)
        assert event.point is not None
        point = event.point
        self.enqueue_work(lambda queue: self.driver.wait(queue, point.mark))

    def host_callback(self, callback: Callable[[], None]) -> None:
        raise InternalError("a graph of the device has no work on the host")

    def synchronize(self) -> None:
        raise InternalError("the work of a graph has not been enqueued, so there is nothing to wait for")

    @property
    def error(self) -> XlaError | None:
        return None

    def recover(self) -> None:
        """A failure is that of the stream that runs the graph."""

    def close(self) -> None:
        self._work.clear()
