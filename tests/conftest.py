"""Fixtures of all tests."""

from __future__ import annotations

import signal

import pytest


@pytest.fixture(autouse=True, scope="session")
def _interruptible() -> None:
    """Lets Ctrl-C interrupt the tests and their child processes also in a background job of a shell (`pytest &`,
    `nohup`), which starts with SIGINT ignored; children inherit that.
    """
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
