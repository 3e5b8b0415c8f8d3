"""A compiler that refuses ops which the backend claims, so that the core decomposes them or the host runs them."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator

from xla_conformance.claims import not_supported
from xla_core import Client
from xla_core.hlo import Opcode
from xla_core.target import TargetConfig

Refuse = Callable[..., Client]
"""Takes opcodes, and returns a client whose compiler claims what the backend claims, without these opcodes."""


@contextlib.contextmanager
def refusing(open_client: Callable[[], Client]) -> Iterator[Refuse]:
    with open_client() as client:
        full: TargetConfig = client.platform.compiler.target_config
        compiler = client.platform.create_compiler()
        state: dict[str, TargetConfig] = {"target": full}
        made = type("Refusing", (type(compiler),), {"target_config": property(lambda self: state["target"])})
        try:
            compiler.__class__ = made
        except TypeError as error:
            not_supported(f"its compiler can't be given another target: {error}")
        client.platform.compiler = compiler

        def without(*opcodes: Opcode) -> Client:
            state["target"] = full.model_copy(update={"capabilities": full.capabilities.without_ops(*opcodes)})
            return client

        yield without
