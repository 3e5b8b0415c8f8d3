from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Iterator

import pytest
from xla_conformance.runner.processors import Processors, processor_for

_ONE_THREAD = """
import numpy
from threadpoolctl import threadpool_info
from xla_conformance.runner.processors import use_one_blas_thread
use_one_blas_thread()
pools = [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"]
assert pools and set(pools) == {1}, pools
"""

pytestmark = pytest.mark.skipif(
    not hasattr(os, "sched_getaffinity") or len(os.sched_getaffinity(0)) < 2, reason="needs two processors, and Linux"
)


@pytest.fixture
def allowed() -> Iterator[set[int]]:
    before = os.sched_getaffinity(0)
    yield before
    os.sched_setaffinity(0, before)


def test_workers_that_fill_the_machine_have_a_processor_each(allowed: set[int]) -> None:
    taken: list[int | None] = []
    for _ in allowed:
        taken.append(processor_for(len(allowed), taken))
    assert set(taken) == allowed
    assert processor_for(len(allowed), taken[1:]) == taken[0]  # for the worker that replaces the first one


def test_workers_have_all_processors_if_there_are_more_of_them(allowed: set[int]) -> None:
    assert processor_for(len(allowed) - 1, []) is None
    assert processor_for(len(allowed) + 1, []) is None


def test_all_threads_keep_to_the_processor_in_tests_of_data(allowed: set[int]) -> None:
    own, other = sorted(allowed)[:2]
    ended = threading.Event()
    threads = [threading.Thread(target=ended.wait) for _ in range(2)]
    for thread in threads:
        thread.start()
    try:
        plain, bound = (thread.native_id for thread in threads)
        assert plain is not None
        assert bound is not None
        os.sched_setaffinity(bound, {other})  # as a driver may do for a thread of its own
        processors = Processors(own)
        processors.enter("test_ops_values.py")
        assert [os.sched_getaffinity(t) for t in (0, plain, bound)] == [{own}, {own}, {other}]
        processors.enter("test_streams_edges.py")
        assert [os.sched_getaffinity(t) for t in (0, plain, bound)] == [allowed, allowed, {other}]
    finally:
        ended.set()


def test_a_worker_without_a_processor_of_its_own_keeps_all(allowed: set[int]) -> None:
    Processors(None).enter("test_ops.py")
    assert os.sched_getaffinity(0) == allowed


def test_numpy_multiplies_matrices_in_one_thread() -> None:
    subprocess.run([sys.executable, "-c", _ONE_THREAD], check=True)
