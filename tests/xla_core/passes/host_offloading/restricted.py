"""A simulated device that lacks some ops."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator

import xla_core as xla
from xla_core.target import Capabilities, HostCosts, TargetConfig

Open = Callable[[Capabilities], xla.Client]
"""Takes capabilities, and returns a client of the simulated device whose compiler has them."""


@contextlib.contextmanager
def restricted(host: HostCosts | None = None) -> Iterator[Open]:
    with xla.Client("template") as client:
        full: TargetConfig = client.platform.compiler.target_config
        state = {"target": full}
        compiler = client.platform.create_compiler()
        compiler.__class__ = type(
            "Restricted", (type(compiler),), {"target_config": property(lambda self: state["target"])}
        )
        client.platform.compiler = compiler

        def having(capabilities: Capabilities) -> xla.Client:
            state["target"] = full.model_copy(update={"capabilities": capabilities, "host": host or HostCosts()})
            return client

        yield having
