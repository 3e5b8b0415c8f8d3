"""The environment of a run, for its report: versions, machine and device."""

from __future__ import annotations

import platform
from collections.abc import Sequence
from typing import Any

import xla_core as xla
from xla_conformance import __version__
from xla_core.backend import CONTRACT_VERSION

_HOST = 1  # DLPack's kDLCPU


def describe_environment(client: xla.Client | None = None, settings: Sequence[str] = ()) -> dict[str, Any]:
    """Describes this process, and the client's device if there is one. `settings` are options of the backend."""
    found: dict[str, Any] = {
        "suite_version": __version__,
        "core_version": xla.__version__,
        "python": platform.python_version(),
        "machine": platform.machine(),
    }
    if client is None:
        return found
    description = client.devices[0].description
    return found | {
        "contract_version": ".".join(map(str, CONTRACT_VERSION)),
        "backend_version": client.backend_version,
        "device": description.name,
        "vendor": description.vendor,
        "devices": len(client.devices),
        "marks": [*_marks(client), *(f"with {setting}" for setting in settings)],
        "settings": list(settings),
    }


def _marks(client: xla.Client) -> list[str]:
    """The declarations of the backend that a reader of its results must know."""
    executor = client.platform.executor(0)
    marks = []
    if executor.description.simulated:
        marks.append("simulated")
    if executor.features.host_addressable and executor.dlpack_device_type == _HOST:
        marks.append("runs on the host")
    if client.platform.compiler.host_fallback:
        marks.append("with fallback")
    return marks
