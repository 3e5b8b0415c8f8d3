"""GraphExecutor: runs a program whose buffers are where they were before as one graph of the device."""

from __future__ import annotations

import dataclasses
import functools
import threading
import weakref
from collections import OrderedDict
from collections.abc import Sequence
from typing import Any

from xla_backend_gpu.device import GpuStream
from xla_backend_gpu.driver import Driver, Step
from xla_backend_gpu.graph_recorder import GraphRecorder
from xla_backend_gpu.kernel import GpuKernel
from xla_backend_gpu.matmul_thunk import HANDLERS, MatmulThunk
from xla_core.runtime import ThunkExecutor, ThunkRun
from xla_core.schedule import CopyThunk, FillThunk, KernelThunk, ThunkProgram

_LEAST = 2  # steps; a graph of one launch saves nothing
_MOST = 8  # graphs of a program on a device

Addresses = tuple[int, ...]


class _Graph:
    """The graph of a program for buffers at certain addresses. `captured` is the driver's, once there is one."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.captured: Any = None

    def capture(self, driver: Driver, program: ThunkProgram, work: Sequence[Step]) -> Any:
        """Returns the driver's graph of a program's steps. `work` enqueues them."""
        with self._lock:
            if self.captured is None:
                for step in program.thunks:
                    if isinstance(step, KernelThunk) and isinstance(step.kernel, GpuKernel):
                        step.kernel.code.function(driver, step.kernel.name)  # nothing is loaded during the capture
                self.captured = driver.capture(work)
            return self.captured


class GraphExecutor(ThunkExecutor):
    """Enqueues a program's steps, or launches them as one graph.

    The steps become a graph when all buffers have had their addresses before. If the same work is repeated, the same
    memory is allocated again, as in a training loop with donated parameters. Independent branches are branches of the
    graph. Programs with work on the host have no graphs.

    Args:
        program, streams: see `ThunkExecutor`.
        graphs: whether there are graphs at all.
    """

    def __init__(self, program: ThunkProgram, *, streams: int, graphs: bool) -> None:
        super().__init__(program, HANDLERS, streams=streams)
        steps, kinds = program.thunks, (KernelThunk, CopyThunk, FillThunk, MatmulThunk)
        can = len(steps) >= _LEAST and all(isinstance(step, kinds) for step in steps)
        self._has_graphs = graphs and can
        self._lock = threading.Lock()
        self._graphs: weakref.WeakKeyDictionary[Driver, OrderedDict[Addresses, _Graph]] = weakref.WeakKeyDictionary()

    def enqueue_program(self, run: ThunkRun) -> None:
        """Launches the graph for the addresses of this run, or enqueues its steps if they are new."""
        stream = run.stream
        if not (self._has_graphs and isinstance(stream, GpuStream) and stream.driver.has_graphs):
            super().enqueue_program(run)
            return
        addresses = tuple(memory.handle + memory.offset for memory in run.memory_of.values())
        graph = self._known(stream.driver, addresses)
        if graph is None:
            super().enqueue_program(run)
            return
        captured = graph.captured
        if captured is not None:
            stream.launch_graph(lambda: captured)
            return
        work: list[Step] = []
        recorder = GraphRecorder(stream.driver, work)
        options = dataclasses.replace(run.options, further_stream=recorder.branch)
        super().enqueue_program(dataclasses.replace(run, options=options, stream=recorder))
        stream.launch_graph(functools.partial(graph.capture, stream.driver, self.program, work))

    def _known(self, driver: Driver, addresses: Addresses) -> _Graph | None:
        """Returns the graph for some addresses, or None if they were not seen recently."""
        with self._lock:
            graphs = self._graphs.setdefault(driver, OrderedDict())
            known = graphs.get(addresses)
            if known is not None:
                graphs.move_to_end(addresses)
                return known
            graphs[addresses] = _Graph()
            while len(graphs) > _MOST:
                graphs.popitem(last=False)
            return None
