"""The backend `zoo`: the mutant that the environment names, or the template without a fault."""

from __future__ import annotations

import os

from tests.conformance.zoo.mutant import VARIABLE, at_address
from tests.conformance.zoo.parts import template
from xla_core.backend import BackendSpec, hookimpl

_mutant = at_address(os.environ[VARIABLE]) if os.environ.get(VARIABLE) else None

if _mutant is not None and _mutant.on_import is not None:
    _mutant.on_import()


@hookimpl
def xla_backend() -> BackendSpec:
    """The mutant's description."""
    return template() if _mutant is None else _mutant.make()
