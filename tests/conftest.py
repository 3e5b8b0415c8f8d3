"""Fixtures of all tests."""

from __future__ import annotations

import gc
import signal

import pytest


@pytest.hookimpl(trylast=True)
def pytest_collection_finish() -> None:
    """Leaves twenty thousand collected tests out of each search for garbage, of which some tests make many."""
    gc.collect()
    gc.freeze()


@pytest.fixture(autouse=True, scope="session")
def _interruptible() -> None:
    """Restores the handler of SIGINT for the tests and their child processes.

    A background job of a shell (`pytest &`, `nohup`) starts with SIGINT ignored.
    """
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
