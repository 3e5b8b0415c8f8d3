"""Old objects are skipped by collections, until tests have failed when another file's tests begin."""

from __future__ import annotations

import gc
import weakref

from xla_conformance.device.old_objects import OldObjects


class Cycle:
    def __init__(self) -> None:
        self.own = self


def test_what_a_test_of_the_file_leaves_is_freed() -> None:
    old = OldObjects()
    old.skip("test_memory.py", 0)
    held = Cycle()  # as by the traceback of a failure
    found = weakref.ref(held)
    old.skip("test_memory.py", 0)
    del held
    gc.collect()
    assert found() is None


def test_what_was_there_before_is_skipped_until_a_file_after_a_failure() -> None:
    old, held = OldObjects(), Cycle()
    found = weakref.ref(held)
    old.skip("test_memory.py", 0)
    del held
    gc.collect()
    assert found() is not None
    old.skip("test_executables_leaks.py", 0)
    assert found() is not None
    old.skip("test_memory_device.py", 1)
    assert found() is None
