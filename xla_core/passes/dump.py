"""Dumps a module during compilation, under XLA's file names (XLA: xla/service/dump.cc)."""

from __future__ import annotations

import contextlib
import contextvars
import errno
import functools
import itertools
import os
import re
import threading
from collections.abc import Iterator
from pathlib import Path

from xla_core import config
from xla_core.errors import FailedPreconditionError, InvalidArgumentError, ResourceExhaustedError, XlaError
from xla_core.hlo.ir.module import HloModule
from xla_core.hlo.ir.names import sanitized_name
from xla_core.hlo.ir.printer import PrintOptions, module_to_text

_SUBDIRECTORY = "xla_core"
_ELIDE_OVER = 10  # elements; XLA's limit
_numbers = itertools.count(1)
_active: contextvars.ContextVar[ModuleDump | None] = contextvars.ContextVar("active_dump", default=None)
_lock = threading.Lock()


def _after_fork() -> None:
    """Replaces the lock, which another thread of the parent may have held."""
    global _lock
    _lock = threading.Lock()


os.register_at_fork(after_in_child=_after_fork)


_FULL: tuple[type[XlaError], str] = (ResourceExhaustedError, "free space there, or dump elsewhere")
_LIMITED: tuple[type[XlaError], str] = (ResourceExhaustedError, "raise the limits on files (ulimit -f, ulimit -n)")
_KINDS = {
    errno.ENOSPC: _FULL,
    errno.EDQUOT: _FULL,
    errno.EFBIG: _LIMITED,
    errno.EMFILE: _LIMITED,
    errno.ENFILE: _LIMITED,
}


class ModuleDump:
    """Writes the dump files of one compilation: `module_0001.NAME.SUFFIX` in DIR/xla_core/."""

    def __init__(
        self, directory: str | Path, module_name: str, *, pass_re: str = "", large_constants: bool = False
    ) -> None:
        self.directory = Path(directory) / _SUBDIRECTORY
        with _lock:
            number = next(_numbers)
        self.prefix = f"module_{number:04d}.{_file_name(module_name)}"
        self._pass_re = _compiled(pass_re, "xla_dump_hlo_pass_re") if pass_re else None
        self._options = PrintOptions(elide_constants_over=None if large_constants else _ELIDE_OVER)
        self._step = 0

    @staticmethod
    def from_flags(module_name: str, dump_to: str | None = None) -> ModuleDump | None:
        """The dump that XLA_FLAGS requests, or None.

        `dump_to` overrides --xla_dump_to. It also keeps large constants, so that the dumped module can be run again.
        """
        flags = config.xla_flags()
        directory = dump_to or flags.xla_dump_to
        wanted = flags.xla_dump_hlo_module_re
        if not directory or (wanted and not _compiled(wanted, "xla_dump_hlo_module_re").search(module_name)):
            return None
        return ModuleDump(
            directory,
            module_name,
            pass_re=flags.xla_dump_hlo_pass_re,
            large_constants=flags.xla_dump_large_constants or bool(dump_to),
        )

    @staticmethod
    def active() -> ModuleDump | None:
        """The dump of the current compilation, or None."""
        return _active.get()

    @staticmethod
    @contextlib.contextmanager
    def of_compilation(module_name: str, dump_to: str | None = None) -> Iterator[ModuleDump | None]:
        """Makes the dump of `from_flags` the active one, so that all files of a compilation have the same number."""
        dump = ModuleDump.active() or ModuleDump.from_flags(module_name, dump_to)
        token = _active.set(dump)
        try:
            yield dump
        finally:
            _active.reset(token)

    def write(self, suffix: str, content: str | bytes) -> Path:
        """Writes `module_0001.NAME.SUFFIX` and returns its path; a suffix is "ir-no-opt.ll", for example.

        Raises:
            ResourceExhaustedError: the disk is full, or a limit on files is reached.
            FailedPreconditionError: the file cannot be written for another reason.
            InvalidArgumentError: the directory's name is not valid.
        """
        path = self.directory / f"{self.prefix}.{suffix}"
        try:
            self.directory.mkdir(parents=True, exist_ok=True)
            if isinstance(content, bytes):
                path.write_bytes(content)
            else:
                path.write_text(content, encoding="utf-8", errors="surrogateescape")
        except OSError as error:
            kind, hint = _KINDS.get(
                error.errno or 0, (FailedPreconditionError, "dump to a directory that can be written")
            )
            raise kind(f"cannot write the dump {path}: {error}", hint=hint) from error
        except ValueError as error:  # NUL, or a surrogate that the file system's encoding doesn't have
            raise InvalidArgumentError(
                f"{str(self.directory.parent)!r} is not the name of a directory: {error}",
                hint="dump_to, or --xla_dump_to, must name a directory that can be written",
            ) from error
        return path

    def hlo(self, stage: str, module: HloModule) -> Path:
        """Writes the module as text; `stage` is "before_optimizations", for example. Returns the path."""
        return self.write(f"{stage}.txt", module_to_text(module, self._options))

    def pipeline_start(self, module: HloModule, pipeline: str, first: str) -> None:
        """Dumps the module before a pipeline's first pass, if the flags select that pass."""
        if self._wanted(first):
            self._step_file(module, pipeline, f"after_pipeline-start.before_{first}")

    def after_pass(self, module: HloModule, pipeline: str, name: str, following: str, changed: bool) -> None:
        """Dumps the module if the flags select the following pass, or select this pass and it changed the module."""
        if self._wanted(following) or (changed and self._wanted(name)):
            self._step_file(module, pipeline, f"after_{name}.before_{following or 'pipeline-end'}")

    def _wanted(self, name: str) -> bool:
        return self._pass_re is not None and bool(name) and self._pass_re.search(name) is not None

    def _step_file(self, module: HloModule, pipeline: str, what: str) -> None:
        self.hlo(f"{self._step:04d}.{_file_name(pipeline)}.{what}", module)
        self._step += 1


@functools.lru_cache(maxsize=16)
def _compiled(pattern: str, flag: str) -> re.Pattern[str]:
    try:
        return re.compile(pattern)
    except re.error as error:
        raise InvalidArgumentError(f"--{flag}={pattern} is not a regular expression: {error}") from None


def _file_name(name: str) -> str:
    return sanitized_name(name)[:120]
