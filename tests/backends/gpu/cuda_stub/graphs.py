"""Captures and graphs."""

from __future__ import annotations

from ctypes import POINTER, c_int, c_uint64, c_void_p

from tests.backends.gpu.cuda_stub.state import (
    CAPTURE_INVALIDATED,
    CAPTURE_UNJOINED,
    CAPTURE_UNSUPPORTED,
    GLOBAL,
    RELAXED,
    THREAD_LOCAL,
    Capture,
    Graph,
    Stream,
    function,
    handles,
    new,
    require,
    take,
)


@function(c_void_p, c_int)
def cuStreamBeginCapture(stream, mode):
    own = take(stream, Stream)
    require(mode in (GLOBAL, THREAD_LOCAL, RELAXED) and own.capture is None, CAPTURE_UNSUPPORTED)
    own.capture, own.captured, own.known = Capture(own, mode), 0, {}


@function(c_void_p, POINTER(c_void_p))
def cuStreamEndCapture(stream, graph):
    own = take(stream, Stream)
    capture = own.capture
    require(capture is not None and capture.origin is own, CAPTURE_UNSUPPORTED)
    for joined in capture.open:
        joined.capture = None
    require(capture.valid, CAPTURE_INVALIDATED)
    require(capture.joined, CAPTURE_UNJOINED)
    graph[0] = new(Graph(capture.nodes, len(capture.open)))


@function(POINTER(c_void_p), c_void_p, c_uint64)
def cuGraphInstantiateWithFlags(executable, graph, flags):
    require(not flags)
    made = take(graph, Graph)
    executable[0] = new(Graph(list(made.nodes), made.streams))


@function(c_void_p, c_void_p)
def cuGraphLaunch(executable, stream):
    own = take(stream, Stream)
    for node in take(executable, Graph).nodes:
        own.enqueue(node)


@function(c_void_p)
def cuGraphDestroy(graph):
    take(graph, Graph).check()
    del handles[graph]


@function(c_void_p)
def cuGraphExecDestroy(executable):
    cuGraphDestroy(executable)
