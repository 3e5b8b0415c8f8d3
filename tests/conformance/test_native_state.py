"""What native code changes of the process is seen, though Python's own copies stay as they were."""

from __future__ import annotations

import ctypes
import os
import signal
import sys

import pytest
from xla_conformance.process_state import ProcessState

from tests.fresh_process import in_fresh_process

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the names and numbers of the C library of Linux")
_IGNORE = ctypes.c_void_p(1)


@in_fresh_process
def test_native_code_that_ignores_a_signal_is_seen() -> None:
    before = ProcessState()
    ctypes.CDLL(None).signal(int(signal.SIGTERM), _IGNORE)
    assert list(before.changes(ProcessState())) == ["changes the native handlers of signals (SIGTERM)"]


@in_fresh_process
def test_native_code_that_changes_variables_is_seen() -> None:
    before = ProcessState()
    ctypes.CDLL(None).setenv(b"LD_PRELOAD", b"/opt/acme/libacme.so", 1)
    ctypes.CDLL(None).unsetenv(b"PATH")
    assert list(before.changes(ProcessState())) == ["changes environment variables in native code (LD_PRELOAD, PATH)"]


@in_fresh_process
def test_python_s_own_changes_of_variables_are_no_native_ones() -> None:
    before = ProcessState()
    os.environ["ACME_CACHE"] = "/tmp/a=b"
    assert list(before.changes(ProcessState())) == ["changes environment variables (ACME_CACHE)"]


@in_fresh_process
def test_nothing_changes_by_itself() -> None:
    assert list(ProcessState().changes(ProcessState())) == []
