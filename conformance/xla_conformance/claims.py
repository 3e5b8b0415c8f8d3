"""The claims of a backend. A test that needs more than the backend claims ends with NOT_SUPPORTED."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import NoReturn

from _pytest.outcomes import Skipped  # `pytest.skip.Exception`, as a class that mypy knows

import xla_core as xla
from xla_conformance.clients import SettingsClient
from xla_conformance.last_program import LastProgram
from xla_conformance.results import Unclaimed
from xla_conformance.subjects import claims
from xla_core.backend import load_backend
from xla_core.errors import UnimplementedError
from xla_core.hlo import ElementType, HloModule
from xla_core.passes.legalization import NeedsFallbackError
from xla_core.target import LackKind


class NotSupported(Skipped):
    """Ends a test with NOT_SUPPORTED, because the backend doesn't claim what the test needs.

    Attributes:
        reason: why, as the report shows it.
        kind: what the test needs.
    """

    def __init__(self, reason: str, kind: Unclaimed = Unclaimed.FEATURE) -> None:
        super().__init__(reason)
        self.reason, self.kind = reason, kind


def not_supported(reason: str, kind: Unclaimed = Unclaimed.FEATURE) -> NoReturn:
    """Raises NotSupported."""
    raise NotSupported(reason, kind)


def require_devices(client: xla.Client, count: int) -> None:
    """Ends a test with NOT_SUPPORTED if the platform has fewer devices than the test needs."""
    if len(client.devices) < count:
        not_supported(f"the platform has {len(client.devices)} devices here; a flag of the backend may give it more")


@functools.cache
def held_types(backend: str) -> tuple[ElementType, ...]:
    """Returns the element types that the backend's devices hold. Raises the backend's error if it can't be loaded."""
    held = load_backend(backend).platform().compiler.target_config.capabilities.held_types
    return tuple(t for t in ElementType if t in held)


def all_types() -> tuple[ElementType, ...]:
    """Returns the element types to test. Tests of types that the devices don't hold end with NOT_SUPPORTED."""
    return tuple(t for t in ElementType if t.is_array)


class ClaimingClient(SettingsClient):
    """A client that ends the test with NOT_SUPPORTED if the backend can't compile a program and doesn't claim to.

    Args:
        platform, settings: see SettingsClient.
        kept: where each program is written before it is compiled, for reports of crashes.

    Attributes:
        last: the executable that was compiled last.
    """

    def __init__(
        self, platform: str | None = None, settings: Sequence[str] = (), *, kept: LastProgram | None = None
    ) -> None:
        super().__init__(platform, settings)
        self.last: xla.LoadedExecutable | None = None
        self._kept = kept

    def compile(
        self, program: str | bytes | HloModule, options: xla.CompileOptions | None = None, *, file: str = ""
    ) -> xla.LoadedExecutable:
        if self._kept is not None:
            self._kept.write(program)
        try:
            made = super().compile(program, options, file=file)
        except UnimplementedError as error:
            if claims(self.platform.compiler.target_config, xla.parse(program, file=file)):
                raise
            lacks = error.lacks if isinstance(error, NeedsFallbackError) else ()
            is_type = any(lack.kind is LackKind.MEMORY for lack in lacks)
            kind = Unclaimed.ELEMENT_TYPE if is_type else Unclaimed.FEATURE
            not_supported(" ".join(line.strip() for line in error.message.splitlines()[:2]), kind)
        self.last = made
        return made  # not `self.last`, which another thread may have set meanwhile
