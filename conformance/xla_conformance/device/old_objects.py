"""Lets collections of garbage skip the objects that earlier tests left: hundreds of thousands, in caches."""

from __future__ import annotations

import gc


class OldObjects:
    """The objects that were there when the first test of a file began.

    Only they are skipped. What a failed test holds, such as buffers in a traceback, is freed by a later collection.
    """

    def __init__(self) -> None:
        self._files: set[str] = set()
        self._failed = 0

    def skip(self, file: str, failed: int) -> None:
        """Called by each test of a file, with the number of tests that have failed.

        What became garbage since the last file's first test is freed, too. Objects that were skipped are examined again
        only after a test failed, because that takes a second. Tests that pass leave no garbage that holds buffers.
        """
        if file not in self._files:
            self._files.add(file)
            if failed != self._failed:
                self._failed = failed
                gc.unfreeze()
            gc.collect()
            gc.freeze()
